//! Mechanisms that are programs: what `docs/protocol.md` promises, with workers that are a few
//! lines of shell.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dp_audit::parts::{PairStream, Phase};
use dp_audit::{Cell, Rows, Side};

use crate::harness::program::{
    GOOD, Table, assert_has, code, documented, dp_audit, errors, folder, named, of_program, read,
    script, shown, write,
};
use crate::harness::{committed, load, repository, target};

/// The beginning of a worker: `greet` says hello and `next` reads a request, of which `n` outputs
/// are wanted.
const PROLOGUE: &str = r#"
greet() { read -r greeting && echo '{"dp_audit": 1, "width": 1, "seeded": false}'; }
next() { read -r line && n=${line#*\"count\":} && n=${n%%,*}; }
zeros() { awk -v n="$1" 'BEGIN { printf "["; for (i = 1; i < n; i++) printf "0,"; print "0]" }'; }
"#;

// A claim that holds is refuted with probability 0.001 at most in each run of this file: the
// default confidence.

#[test]
fn the_documented_shell_worker_gives_the_same_report_on_any_number_of_threads() {
    // The bound is 0.981 ± 0.005, what could be caught 1.024 ± 0.001.
    let folder = script(&documented("sh"));
    let report = |threads: &str| {
        let output =
            dp_audit(folder.path(), &["run", "-q", "--draws", "300000", "--threads", threads]);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        Table::of_run(folder.path())
    };
    let one = report("1");
    assert_eq!(one.cell(0, "verdict"), "consistent");
    assert_eq!(one.cell(0, "reproducible"), "true");
    assert_eq!(one.cell(0, "draws"), "300000");
    let bound = one.number(0, "epsilon_lower");
    assert!((0.8..1.0).contains(&bound), "noise for ε = 1 shows most of it and not more: {bound}");
    assert_eq!(one, report("2"));
    assert_eq!(one, report("5"));
}

#[test]
fn parameters_reach_the_program_and_a_broken_claim_is_refuted() {
    // The bound is 1.948 ± 0.021, above 1.5 on each of 1,000 seeds, and above 2 with probability
    // 0.001 at most.
    let folder = script(&documented("sh"));
    let text = read(folder.path(), "audits/count.toml");
    write(
        folder.path(),
        "audits/count.toml",
        &text.replace("epsilon = 1.0 }\nclaim", "epsilon = 2.0 }\nclaim"),
    );
    let output = dp_audit(folder.path(), &["run", "--draws", "100000"]);
    assert_eq!(code(&output), 2, "{}", errors(&output));
    let bound = Table::of_run(folder.path()).number(0, "epsilon_lower");
    assert!((1.5..2.0).contains(&bound), "noise for ε = 2: {bound}");
}

/// Each fault: its name, the keys of the audit, the worker's text after the prologue, what the
/// report says.
const FAULTS: &[(&str, &str, &str, &[&str])] = &[
    (
        "killed",
        "",
        "greet; next; zeros $n; next; kill -9 $$",
        &["ended (signal: 9", "to answer a request for"],
    ),
    (
        "exits early",
        "",
        "greet; next; zeros $n; exit 0",
        &["ended (exit status: 0)", "to answer a request for"],
    ),
    (
        "exits at once",
        "",
        "echo no licence found >&2; exit 3",
        &["ended (exit status: 3)", "to say hello", "no licence found"],
    ),
    ("closes its output", "", "greet; next; exec >&-; exec sleep 60", &["closed its output"]),
    ("garbage hello", "", "echo Welcome!", &["not JSON", "Welcome!"]),
    (
        "garbage answer",
        "",
        "greet; next; zeros $n; next; echo '[0, nan]'",
        &["not JSON", "[0, nan]"],
    ),
    ("floods", "", "exec yes", &["not JSON", ": y;"]),
    ("floods without end", "", "exec cat /dev/zero", &["without an end of line"]),
    ("too few", "", "greet; while next; do zeros $((n - 1)); done", &["asked for", "got"]),
    ("too many", "", "greet; while next; do zeros $((n + 1)); done", &["asked for", "got"]),
    ("none", "", "greet; while next; do echo '[]'; done", &["got 0"]),
    (
        "short block",
        "",
        "greet; next; echo \"{\\\"count\\\": $n}\"; printf 01234567",
        &["ended (exit status: 0)"],
    ),
    (
        "wrong block",
        "",
        "greet; while next; do echo '{\"count\": 1}'; printf 01234567; done",
        &["asked for", "got 1"],
    ),
    (
        "long block",
        "",
        "greet; while next; do echo \"{\\\"count\\\": $n}\"; head -c $((8 * n + 8)) /dev/zero; sleep 0.2; done",
        &["it wrote", "docs/protocol.md"],
    ),
    ("negative count", "", "greet; next; echo '{\"count\": -1}'", &["-1", "docs/protocol.md"]),
    (
        "version 2",
        "",
        "echo '{\"dp_audit\": 2, \"size\": 1}'; sleep 60",
        &["speaks version 2", "dp-audit speaks 1"],
    ),
    (
        "no version",
        "",
        "echo '{\"width\": 1, \"seeded\": true}'",
        &["its hello is wrong", "it has no dp_audit"],
    ),
    (
        "no width",
        "",
        "echo '{\"dp_audit\": 1, \"seeded\": true}'",
        &["its hello is wrong", "width"],
    ),
    ("no seeded", "", "echo '{\"dp_audit\": 1, \"width\": 1}'", &["its hello is wrong", "seeded"]),
    (
        "width 0",
        "",
        "echo '{\"dp_audit\": 1, \"width\": 0, \"seeded\": true}'",
        &["width is 0, must be a whole number from 1"],
    ),
    (
        "unknown key",
        "",
        "echo '{\"dp_audit\": 1, \"width\": 1, \"seeded\": true, \"with\": 1}'",
        &["its hello is wrong", "with"],
    ),
    (
        "too wide",
        "",
        "greet; while next; do zeros $n | sed 's/0]/[0,0]]/'; done",
        &["an output has 2 cells", "width 1"],
    ),
    (
        "wrong columns",
        "",
        "echo '{\"dp_audit\": 1, \"width\": 1, \"seeded\": true, \"columns\": [\"a\", \"b\"]}'",
        &["width is 1, but columns has 2 names"],
    ),
    (
        "unknown symbol",
        "",
        "greet; while next; do echo \"{\\\"count\\\": $n, \\\"symbols\\\": [\\\"a\\\"]}\"; head -c $((8 * n - 8)) /dev/zero; printf '\\001\\0\\0\\0\\0\\0\\375\\177'; done",
        &["names symbol 1", "lists 1"],
    ),
    (
        "gives up",
        "",
        "greet; next; echo '{\"error\": \"no such table\"}'",
        &["gave up: no such table"],
    ),
    (
        "silent at first",
        "timeout = 0.4",
        "exec sleep 60",
        &["was silent for 0.4 s", "to say hello", "killed"],
    ),
    (
        "silent later",
        "timeout = 2",
        "greet; next; zeros $n; next; exec sleep 60",
        &["was silent for 2 s", "to answer a request for"],
    ),
    (
        "half an answer",
        "timeout = 2",
        "greet; next; printf '[0,'; exec sleep 60",
        &["was silent for 2 s"],
    ),
];

#[test]
fn every_fault_is_an_error_and_the_other_audits_still_finish() {
    let mut audits: Vec<(String, String)> =
        vec![("00".to_owned(), GOOD.to_owned()), ("99".to_owned(), named("last"))];
    for (index, (name, keys, _, _)) in FAULTS.iter().enumerate() {
        audits.push((
            format!("{:02}", index + 10),
            of_program(name, &["sh", &format!("fault{index}.sh")], keys),
        ));
    }
    audits.push((
        "90".to_owned(),
        of_program("not found", &["./no-such-program"], "setup = \"run install.sh\""),
    ));
    let audits: Vec<(&str, &str)> =
        audits.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let folder = folder(&audits);
    for (index, (_, _, text, _)) in FAULTS.iter().enumerate() {
        write(folder.path(), &format!("audits/fault{index}.sh"), &format!("{PROLOGUE}{text}\n"));
    }
    let output = dp_audit(folder.path(), &["run", "--draws", "20000"]);
    assert_eq!(code(&output), 5, "{}", errors(&output));
    let not_run = format!("COULD NOT BE RUN: {} results", FAULTS.len() + 1);
    assert_has(&shown(&output), &[&not_run, "✗ killed / one more", "✗ exits early / one more"]);
    let table = Table::of_run(folder.path());
    assert_eq!(table.rows.len(), audits.len(), "every audit has its row");
    let missing: &[&str] = &["cannot be started", "run install.sh", "./no-such-program"];
    let faults =
        FAULTS.iter().map(|(name, _, _, wanted)| (*name, *wanted)).chain([("not found", missing)]);
    for (row, (name, wanted)) in (1..).zip(faults) {
        let value = |column| table.cell(row, column);
        assert_eq!(value("audit"), name);
        assert_eq!((value("verdict"), value("as_expected")), ("error", "false"), "{name}");
        for column in [
            "epsilon_lower",
            "delta_lower",
            "detectable_epsilon",
            "draws",
            "correct",
            "wrong",
            "abstained",
            "reproducible",
        ] {
            assert_eq!(value(column), "", "{name}: nothing of it counts, {column}");
        }
        let rule = value("rule");
        assert!(rule.starts_with("not run: "), "{name}: {rule}");
        for part in wanted {
            assert!(rule.contains(part), "{name}: no «{part}» in: {rule}");
        }
    }
    for row in [0, table.rows.len() - 1] {
        assert_eq!(table.cell(row, "draws"), "20000");
        assert_ne!(table.cell(row, "verdict"), "error");
    }
}

#[test]
fn a_fault_on_one_thread_of_many_spoils_the_pair() {
    // The first process to ask for its turn dies after ten answers; the others are well.
    let dies = "greet; turn=0; mkdir first 2>/dev/null && turn=10\n\
                while next; do zeros $n; turn=$((turn - 1)); if [ $turn = 0 ]; then exit 0; fi; done";
    let folder = script(&format!("{PROLOGUE}{dies}\n"));
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "2e6", "--threads", "4"]);
    assert_eq!(code(&output), 5, "{}", errors(&output));
    assert_eq!(Table::of_run(folder.path()).cell(0, "verdict"), "error");
}

#[test]
fn processes_end_with_their_pair_even_if_they_hang() {
    for (keys, text) in [
        ("", "greet; while next; do zeros $n; done; exec sleep 600"),
        ("timeout = 0.5", "greet; next; exec sleep 600"),
    ] {
        let folder = script(&format!("echo $$ >> pids\n{PROLOGUE}{text}\n"));
        write(folder.path(), "audits/count.toml", &of_program("count", &["sh", "worker.sh"], keys));
        dp_audit(folder.path(), &["run", "-q", "--draws", "200000", "--threads", "2"]);
        let pids = read(folder.path(), "audits/pids");
        assert!(!pids.is_empty());
        for pid in pids.lines() {
            let alive = Command::new("kill").args(["-0", pid]).output().unwrap().status.success();
            assert!(!alive, "{text}: process {pid} is still there");
        }
    }
}

/// Whether a process runs. One that has ended and that nobody has waited for does not.
fn runs(pid: &str) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
        Err(_) if Path::new("/proc/self/stat").exists() => false,
        Err(_) => Command::new("kill").args(["-0", pid]).output().unwrap().status.success(),
    }
}

/// Waits until something is so, for ten seconds at most.
fn soon(what: &str, is_so: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < limit, "in ten seconds: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A worker that hangs after its hello, deaf to the end of its input, and so does a process that it
/// has started. Their numbers go to `pids`.
const HANGS: &str = "sleep 600 & printf '%s\\n%s\\n' $$ $! >> pids\ngreet; next; wait; sleep 600\n";

/// The numbers of worker and its process, once both are there.
fn hanging(folder: &Path) -> Vec<String> {
    let file = folder.join("audits/pids");
    let read = || {
        std::fs::read_to_string(&file)
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    soon("the worker has started", || read().len() >= 2);
    assert!(read().iter().all(|pid| runs(pid)));
    read()
}

/// Runs the program on one thread, after `before` in the same shell.
fn started(folder: &Path, before: &str) -> Child {
    let script = format!("{before} exec \"$0\" run -q --draws 2000 --threads 1");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, env!("CARGO_BIN_EXE_dp-audit")])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

fn send(signal: &str, process: &Child) {
    assert!(
        Command::new("kill")
            .args([&format!("-{signal}"), &process.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// Whether this process ignores a signal, and hence those that it starts.
fn ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map_or("0", str::trim);
    u64::from_str_radix(mask, 16).unwrap() >> (number - 1) & 1 == 1
}

#[test]
fn a_signal_ends_hanging_programs_and_what_they_have_started_and_the_run_can_be_resumed() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1), ("QUIT", 3)] {
        if ignored(number) {
            eprintln!("SKIPPED: SIG{signal} is ignored here");
            continue;
        }
        let folder = folder(&[("a", GOOD), ("b", &of_program("b", &["sh", "worker.sh"], ""))]);
        write(folder.path(), "audits/worker.sh", &format!("{PROLOGUE}{HANGS}"));
        let mut child = started(folder.path(), "");
        let pids = hanging(folder.path());
        send(signal, &child);
        assert_eq!(
            child.wait().unwrap().code(),
            Some(128 + i32::try_from(number).unwrap()),
            "SIG{signal}"
        );
        pids.iter().for_each(|pid| soon("a signal ends all processes", || !runs(pid)));
        assert_eq!(Table::of_run(folder.path()).cell(0, "audit"), "good", "what is finished stays");
        write(folder.path(), "audits/worker.sh", &documented("sh"));
        let output = dp_audit(
            folder.path(),
            &["run", "--draws", "2000", "--threads", "1", "--resume", "--allow-inconclusive"],
        );
        assert_eq!(code(&output), 0, "{}", errors(&output));
        assert!(
            errors(&output).contains("Resuming: 1 of 2 audits finished already"),
            "{}",
            errors(&output)
        );
        assert_eq!(Table::of_run(folder.path()).rows.len(), 2);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_to_be_ignored_is() {
    let folder = script(&format!("{PROLOGUE}{HANGS}"));
    let mut child = started(folder.path(), "trap '' HUP;");
    let pids = hanging(folder.path());
    send("HUP", &child);
    std::thread::sleep(Duration::from_millis(500));
    assert!(
        child.try_wait().unwrap().is_none() && pids.iter().all(|pid| runs(pid)),
        "as under nohup"
    );
    send("TERM", &child);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    pids.iter().for_each(|pid| soon("a signal ends all processes", || !runs(pid)));
}

#[test]
fn what_a_program_has_started_ends_with_it() {
    // One whose process keeps its output open, and one whose process does not.
    let well =
        "sleep 600 & printf '%s\\n%s\\n' $$ $! >> pids\ngreet; while next; do zeros $n; done\n";
    let dies =
        "sleep 600 >/dev/null 2>&1 & printf '%s\\n%s\\n' $$ $! >> pids\ngreet; next; exit 3\n";
    for (text, keys, wanted) in [
        (HANGS, "timeout = 0.5", "was silent for 0.5 s"),
        (dies, "", "ended (exit status: 3)"),
        (well, "", ""),
    ] {
        let folder = script(&format!("{PROLOGUE}{text}"));
        write(folder.path(), "audits/count.toml", &of_program("count", &["sh", "worker.sh"], keys));
        dp_audit(folder.path(), &["run", "-q", "--draws", "20000", "--threads", "1"]);
        let table = Table::of_run(folder.path());
        let rule = table.cell(0, "rule");
        assert!(rule.contains(wanted), "{rule}");
        let pids = std::fs::read_to_string(folder.path().join("audits/pids")).unwrap();
        assert!(pids.lines().count() >= 2);
        pids.lines().for_each(|pid| soon(&format!("{text}: process {pid} ends"), || !runs(pid)));
    }
}

#[test]
fn too_few_threads_for_the_pipes_are_an_error() {
    const AGAIN: &str = "DP_AUDIT_TEST_WITHOUT_THREADS";
    if std::env::var_os(AGAIN).is_none() {
        // The same test with stacks that no thread can have.
        let name = "outside::processes::too_few_threads_for_the_pipes_are_an_error";
        let mut again = Command::new(std::env::current_exe().unwrap());
        again
            .args(["--exact", name, "--nocapture", "--test-threads", "1"])
            .env(AGAIN, "1")
            .env("RUST_MIN_STACK", (1_u64 << 60).to_string());
        let output = again.output().unwrap();
        assert!(
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains("1 passed"),
            "{output:?}"
        );
        return;
    }
    let folder = script(&format!("echo $$ >> pids\n{PROLOGUE}greet; sleep 600\n"));
    let error = draw(folder.path(), Side::Left, 1).unwrap_err();
    assert!(error.contains("sh worker.sh: cannot be started: "), "{error}");
    assert!(
        error.contains("allows no more processes or threads; choose fewer with --threads"),
        "{error}"
    );
}

#[test]
fn a_program_that_ignores_seeds_is_marked_as_not_reproducible() {
    let folder = script(&documented("sh").replace("\"seeded\": true", "\"seeded\": false"));
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "60000"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert_eq!(Table::of_run(folder.path()).cell(0, "reproducible"), "false");
}

#[test]
fn copies_of_draws_are_refused_and_constants_are_not() {
    let run = |text: &str| {
        let folder = script(text);
        let output = dp_audit(folder.path(), &["run", "-q", "--draws", "20000"]);
        (code(&output), Table::of_run(folder.path()).cell(0, "rule").to_owned())
    };
    let (code, rule) = run(&documented("sh").replace("srand(seed)", "srand(1)"));
    assert_eq!(code, 5, "{rule}");
    assert!(rule.contains("gave the same draws for two different seeds"), "{rule}");
    let (code, rule) = run(&format!("{PROLOGUE}greet; while next; do zeros $n; done\n"));
    assert_eq!(code, 3, "a mechanism may always say 0, but then no difference is seen: {rule}");
    assert!(!rule.contains("same draws"), "{rule}");
}

#[test]
fn the_committed_opt_in_audits_are_valid() {
    for suite in ["examples", "libraries"] {
        assert!(repository("audits").join(suite).join("OPT-IN").exists());
        assert!(!committed(suite).is_empty());
    }
}

#[test]
fn programs_are_neither_started_to_be_listed_nor_shown() {
    let folder = script("touch started\n");
    write(folder.path(), "audits/other.toml", &named("other"));
    for args in [&["show"][..], &["show", "count"]] {
        let output = dp_audit(folder.path(), args);
        assert_eq!(code(&output), 0, "{}", errors(&output));
    }
    assert!(!folder.path().join("audits/started").exists());
}

/// Draws straight from the target of the audit in this folder.
fn draw(folder: &Path, side: Side, count: usize) -> Result<Rows, String> {
    let audits = load(folder.join("audits"));
    let target = target(&audits[0]);
    let mut all = Rows::new(target.open().map_err(|error| error.to_string())?);
    // As if a million draws had been made before: the very first ones are asked for one by one.
    let seed = PairStream::new(0, "", "").side(Phase::Explore, 0, side).after(1 << 20);
    target
        .draw(side, count, seed, &mut |rows| all.append(rows))
        .map_err(|error| error.to_string())?;
    Ok(all)
}

const WIDE: &str = "read -r greeting; echo '{\"dp_audit\": 1, \"width\": 3, \"seeded\": true}'\n";

#[test]
fn arrays_and_blocks_say_the_same() {
    let symbol = Cell::symbol;
    let expected: Vec<[Cell; 3]> = vec![
        [Cell::number(0.1), Cell::number(-0.0), Cell::number(5e-324)],
        [Cell::number(f64::INFINITY), Cell::number(f64::NEG_INFINITY), symbol("NaN")],
        [symbol("⊥"), symbol("null"), symbol("true")],
        [symbol("error: E"), Cell::ABSENT, Cell::ABSENT],
        [Cell::number(1.797_693_134_862_315_7e308), Cell::number(3.0), Cell::ABSENT],
    ];
    let array = r#"[[0.1,-0.0,5e-324],["inf","-inf","NaN"],["⊥",null,true],"error: E",[1.7976931348623157e308,3]]"#;
    let names = ["⊥", "null", "true", "error: E", "∅"];
    let place = |place: u64| f64::from_bits((0x7ffd << 48) | place);
    // The NaN that processors make has its sign bit set.
    let nan = f64::from_bits(0xfff8_0000_0000_0000);
    let block: Vec<u8> = [
        [0.1, -0.0, 5e-324],
        [f64::INFINITY, f64::NEG_INFINITY, nan],
        [place(0), place(1), place(2)],
        [place(3), place(4), place(4)],
        [f64::MAX, 3.0, place(4)],
    ]
    .iter()
    .flatten()
    .flat_map(|number| number.to_le_bytes())
    .collect();
    let line = format!("{{\"count\": 5, \"symbols\": [\"{}\"]}}", names.join("\", \""));
    let folder = script(&format!(
        "{PROLOGUE}{WIDE}while next; do case $n$line in 5*left*) echo '{array}';; 5*) echo '{line}'; cat block;; *) zeros $n;; esac; done\n"
    ));
    std::fs::write(folder.path().join("audits/block"), block).unwrap();
    for side in [Side::Left, Side::Right] {
        let rows = draw(folder.path(), side, 5).unwrap();
        for (index, (row, expected)) in rows.iter().zip(&expected).enumerate() {
            // The first outputs are whole numbers in an array. An array with other numbers has
            // another form, which takes the place of the first cell; so has the sign of a NaN.
            let form = match side {
                Side::Left => [0, 4].contains(&index),
                Side::Right => index == 1,
            };
            assert_eq!(row[0] == expected[0], !form, "{side:?} {index}");
            assert_eq!(row[1..], expected[1..], "{side:?} {index}");
        }
        assert_eq!(rows.len(), expected.len());
    }
}

#[test]
fn many_outputs_are_asked_for_in_parts_with_seeds_of_their_own() {
    let folder = script(&format!(
        "{WIDE}while read -r line; do echo \"$line\" >> requests; n=${{line#*\\\"count\\\":}}; n=${{n%%,*}}\n\
         echo \"{{\\\"count\\\": $n}}\"; head -c $((24 * n)) /dev/zero; done\n"
    ));
    assert_eq!(draw(folder.path(), Side::Left, 40_000).unwrap().len(), 40_000);
    let requests = read(folder.path(), "audits/requests");
    let seeds: std::collections::HashSet<&str> =
        requests.lines().map(|line| line.split("\"seed\":").nth(1).unwrap()).collect();
    let counts: Vec<usize> = requests
        .lines()
        .map(|line| line.split("\"count\":").nth(1).unwrap())
        .map(|rest| rest[..rest.find(',').unwrap()].parse().unwrap())
        .collect();
    // Both sides are asked five times by two processes, to see which columns the outputs have: 2 ·
    // 2 · (1 + 1 + 6 + 24 + 224).
    assert_eq!(counts.iter().sum::<usize>(), 1024 + 40_000);
    assert_eq!(seeds.len(), counts.len(), "{requests}");
    assert_eq!(counts.len(), 20 + 3, "{requests}");
}

/// A worker that accepts another greeting if `reusable` says so. Its outputs depend on the size of
/// the dataset and on the seed.
fn reusable(reusable: &str) -> String {
    format!(
        r#"echo $$ >> pids
while read -r line; do
    case $line in
    *dp_audit*)
        left=$(printf '%s' "$line" | sed 's/.*"left":\[\([^]]*\)\].*/\1/' | tr ',' '\n' | grep -c '"')
        right=$(printf '%s' "$line" | sed 's/.*"right":\[\([^]]*\)\].*/\1/' | tr ',' '\n' | grep -c '"')
        echo '{{"dp_audit": 1, "width": 1, "seeded": true{reusable}}}';;
    *)
        n=${{line#*\"count\":}}; n=${{n%%,*}}; seed=${{line#*\"seed\":\"}}
        case $line in *left*) records=$left;; *) records=$right;; esac
        awk -v n="$n" -v records="$records" -v seed="$((0x$(printf '%s' "$seed" | cut -c 1-7)))" 'BEGIN {{
            srand(seed); for (i = 0; i < n; i++) printf "%s%d", i ? "," : "[", records + int(20 * rand()); print "]" }}';;
    esac
done
"#
    )
}

#[test]
fn a_process_that_accepts_another_greeting_serves_the_next_pair() {
    let run = |hello: &str| {
        let folder = script(&reusable(hello));
        let text = read(folder.path(), "audits/count.toml");
        let more = "[[pair]]\nname = \"three\"\nleft = [\"x\", \"x\", \"x\"]\nright = [\"x\", \"x\", \"x\", \"x\"]\n";
        write(folder.path(), "audits/count.toml", &format!("{text}\n{more}"));
        dp_audit(folder.path(), &["run", "-q", "--draws", "4000", "--threads", "1"]);
        (read(folder.path(), "audits/pids").lines().count(), Table::of_run(folder.path()))
    };
    let (fresh, expected) = run("");
    let (reused, found) = run(", \"reusable\": true, \"start_up\": 0.5");
    assert_eq!((fresh, reused), (4, 2), "two processes for each pair, or for both");
    assert_eq!(found, expected, "the second pair has its own data");
    assert_ne!(found.cell(0, "verdict"), "error");
}

#[test]
fn processes_of_a_pair_that_failed_are_not_used_again() {
    // Each process fails after a few answers, whatever the pair.
    let text = reusable(", \"reusable\": true").replace(
        "    *)\n        n=",
        "    *)\n        turn=$((turn + 1)); if [ $turn = 30 ]; then exit 1; fi\n        n=",
    );
    let folder = script(&text);
    let audit = read(folder.path(), "audits/count.toml");
    write(
        folder.path(),
        "audits/count.toml",
        &format!("{audit}\n[[pair]]\nname = \"none\"\nleft = []\nright = [\"x\"]\n"),
    );
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "4000", "--threads", "1"]);
    assert_eq!(code(&output), 5, "{}", errors(&output));
    assert_eq!(read(folder.path(), "audits/pids").lines().count(), 4);
}

#[test]
fn a_dataset_larger_than_a_pipe_arrives_or_runs_into_the_time_limit() {
    let large = |text: &str, keys: &str| {
        let folder = script(&format!("{PROLOGUE}{text}"));
        let many = of_program("count", &["sh", "worker.sh"], keys)
            .replace("left = [\"x\"]", "left = [{ value = \"x\", times = 100000 }]")
            .replace("right = [\"x\", \"x\"]", "right = [{ value = \"x\", times = 100001 }]");
        write(folder.path(), "audits/count.toml", &many);
        draw(folder.path(), Side::Left, 1)
    };
    let counts = "left=$(head -n 1 | tr ',' '\\n' | grep -c x)\necho '{\"dp_audit\": 1, \"width\": 1, \"seeded\": true}'\nwhile next; do zeros $n | sed \"s/0/$left/g\"; done\n";
    assert_eq!(large(counts, "").unwrap().row(0), [Cell::number(200_001.0)]);
    let deaf = large("exec sleep 60\n", "timeout = 0.4").unwrap_err();
    assert!(deaf.contains("was silent for 0.4 s"), "{deaf}");
}

#[test]
fn all_processes_of_a_command_are_equally_wide() {
    let hello = "read -r greeting; w=2; mkdir first 2>/dev/null && w=1; echo \"{\\\"dp_audit\\\": 1, \\\"width\\\": $w, \\\"seeded\\\": true}\"";
    let folder = script(&format!("{PROLOGUE}{hello}; while next; do zeros $n; done\n"));
    let audits = load(folder.path().join("audits"));
    let error = target(&audits[0]).open().unwrap_err().to_string();
    assert!(error.contains("and an earlier child of the same command said"), "{error}");
}
