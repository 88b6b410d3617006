//! An interrupted run is continued as if nothing had happened, or refused.

use std::path::Path;
use std::process::{Command, Stdio};

use dp_audit::fronts::Destination;
use dp_audit::fronts::Known;
use dp_audit::fronts::{Journal, Start};
use serde_json::Value;

use crate::harness::program::{
    self, GOOD, Table, assert_has, code, command, dp_audit, errors, files, folder, laplace, named,
    of_program, read, shown, wait_until, write,
};
use crate::harness::{committed, settings};

const JOURNAL: &str = "results/audit.csv.journal";

/// A program that flips a bit with probability 0.4 or 0.6, waits for the file `go`, and leaves a
/// line in `starts`.
pub(super) const BIT: &str = r#"
while [ ! -e go ]; do sleep 0.02; done
echo started >> starts
read -r greeting
echo '{"dp_audit": 1, "width": 1, "seeded": true}'
while read -r line; do
    case $line in *'"side":"left"'*) p=0.4 ;; *) p=0.6 ;; esac
    n=${line#*\"count\":} seed=${line#*\"seed\":\"}
    awk -v p=$p -v n="${n%%[!0-9]*}" -v seed="$((0x$(printf %.7s "$seed")))" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) printf "%s%d", i ? "," : "[", rand() < p
        print "]"
    }'
done
"#;

/// Half the noise it should have, on two pairs: with 20,000 draws ε ≥ 1.88 ± 0.04.
fn broken(name: &str) -> String {
    let text = laplace(name, 0.5, "violated");
    format!(
        "{text}\n[[pair]]\nname = \"one of many\"\nleft = [\"x\", \"x\"]\nright = [\"x\", \"x\", \"x\"]\n"
    )
}

fn program(name: &str, script: &str) -> String {
    of_program(name, &["sh", script], "")
}

/// The values of JSON without the time that each pair and accuracy claim took.
pub(super) fn json(folder: &Path, file: &str) -> Value {
    let mut value = program::json(folder, file);
    for audit in value["run"]["audits"].as_array_mut().unwrap() {
        for result in audit["results"].as_array_mut().unwrap() {
            result["seconds"] = 0.into();
            result["timing"] = Value::Null;
        }
    }
    for audit in value["audits"].as_array_mut().unwrap() {
        for statements in ["pairs", "accuracy"] {
            audit[statements].as_array_mut().unwrap().iter_mut().for_each(|statement| {
                statement["seconds"] = 0.into();
                statement["timing"] = Value::Null;
            });
        }
    }
    value
}

/// A text without what stands in ` time="…"`.
pub(super) fn timeless(text: &str) -> String {
    let mut parts = text.split(" time=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('"').unwrap().1)
}

/// The files of a folder: names and texts.
pub(super) fn contents(folder: &Path) -> Vec<(String, String)> {
    let name = |file: &Path| file.file_name().unwrap().to_string_lossy().into_owned();
    files(folder).iter().map(|file| (name(file), read(folder, &name(file)))).collect()
}

/// A run that writes every report, named after `to`.
fn every_report(to: &str) -> Vec<String> {
    let file = |option: &str, end: &str| [format!("--{option}"), format!("results/{to}.{end}")];
    let files = [
        file("csv", "csv"),
        file("json", "json"),
        file("html", "html"),
        file("junit", "xml"),
        file("markdown", "md"),
        file("witnesses", "witnesses"),
    ];
    ["run", "--draws", "20000", "--seed", "7"]
        .map(str::to_owned)
        .into_iter()
        .chain(files.into_iter().flatten())
        .collect()
}

/// Two audits that can be run and one that cannot until `audits/late.sh` is fixed: what it leaves
/// is an unfinished journal.
fn unfinished() -> tempfile::TempDir {
    let folder =
        folder(&[("a", &broken("a")), ("b", &named("b")), ("late", &program("late", "late.sh"))]);
    write(folder.path(), "audits/late.sh", "exit 3");
    let output = dp_audit(folder.path(), &["run", "--draws", "20000"]);
    assert_eq!(code(&output), 5, "{}", errors(&output));
    assert_has(
        &shown(&output),
        &["Journal: results/audit.csv.journal; with --resume only what could not be run"],
    );
    assert_eq!(read(folder.path(), JOURNAL).lines().count(), 3, "a header and two audits");
    folder
}

#[test]
fn a_killed_run_resumed_gives_the_reports_of_one_that_was_not() {
    let audits = [
        ("a", broken("a")),
        ("b", program("b", "bit.sh")),
        ("c", named("c")),
        ("d", program("d", "gated.sh")),
        ("e", broken("e")),
    ];
    let folder = folder(&audits.each_ref().map(|(name, text)| (*name, text.as_str())));
    let folder = folder.path();
    write(folder, "audits/bit.sh", BIT);
    write(
        folder,
        "audits/gated.sh",
        &BIT.replace("go ]", "second ]").replace("echo started >> starts", ""),
    );
    write(folder, "audits/go", "");
    let (args, whole) = (every_report("audit"), every_report("whole"));
    let mut child =
        command(folder).args(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until(&mut child, || {
        std::fs::read_to_string(folder.join(JOURNAL)).unwrap_or_default().lines().count() == 4
    });
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let second = dp_audit(folder, &[&args[..], &["--resume"]].concat());
    assert_eq!(code(&second), 1);
    assert_has(&errors(&second), &["audit.csv.journal: another run is writing it"]);
    child.kill().unwrap();
    assert!(child.wait().unwrap().code().is_none(), "it was killed");
    assert_eq!(Table::of_run(folder).rows.len(), 4, "the pairs of the three audits that ended");
    assert_eq!(json(folder, "results/audit.json")["complete"], false);
    let starts = read(folder, "audits/starts");
    write(folder, "audits/second", "");

    let resumed = dp_audit(folder, &[&args[..], &["--resume", "--threads", "1"]].concat());
    assert_has(&errors(&resumed), &["Resuming: 3 of 5 audits finished already."]);
    assert_eq!(
        read(folder, "audits/starts"),
        starts,
        "the program that had been audited is not started again"
    );
    assert!(!folder.join(JOURNAL).exists());
    let uninterrupted = dp_audit(
        folder,
        &[&whole.iter().map(String::as_str).collect::<Vec<_>>()[..], &["--threads", "1"]].concat(),
    );
    assert_eq!(code(&resumed), code(&uninterrupted));
    assert_eq!(Table::of_run(folder), Table::read(folder, "results/whole.csv"));
    assert_eq!(json(folder, "results/audit.json"), json(folder, "results/whole.json"));
    assert_eq!(json(folder, "results/audit.json")["complete"], true);
    // The page names the folder of the witnesses in its commands.
    let page = read(folder, "results/whole.html")
        .replace("results/whole.witnesses", "results/audit.witnesses");
    assert_eq!(read(folder, "results/audit.html"), page);
    assert_eq!(read(folder, "results/audit.md"), read(folder, "results/whole.md"));
    assert_eq!(
        timeless(&read(folder, "results/audit.xml")),
        timeless(&read(folder, "results/whole.xml"))
    );
    let found = contents(&folder.join("results/audit.witnesses"));
    assert_eq!(found, contents(&folder.join("results/whole.witnesses")));
    assert_eq!(found.len(), 2);
}

#[test]
fn what_could_not_be_run_is_run_again_and_nothing_else() {
    let folder = unfinished();
    let folder = folder.path();
    let before = read(folder, "results/audit.csv");
    write(folder, "audits/late.sh", &BIT.replace("while [ ! -e go ]; do sleep 0.02; done", ""));
    let output = dp_audit(folder, &["run", "--draws", "20000", "--resume"]);
    assert_has(&errors(&output), &["Resuming: 2 of 3 audits"]);
    assert!(!folder.join(JOURNAL).exists());
    // The seconds tell that these rows were not measured again.
    let after = read(folder, "results/audit.csv");
    let [before, after] =
        [&before, &after].map(|text| text.lines().take(1 + 3).collect::<Vec<_>>());
    assert_eq!(before, after);
    assert_ne!(Table::of_run(folder).cell(3, "verdict"), "error");
}

#[test]
fn another_run_than_the_interrupted_one_is_refused() {
    let folder = unfinished();
    let folder = folder.path();
    let (journal, csv) = (read(folder, JOURNAL), read(folder, "results/audit.csv"));
    let refused = |args: &[&str], reason: &str| {
        let output = dp_audit(folder, &[&["run", "--resume"], args].concat());
        assert_eq!(code(&output), 1, "{reason}: {}", errors(&output));
        assert_has(
            &errors(&output),
            &[&format!("cannot resume {JOURNAL}: "), reason, "start over without --resume"],
        );
        assert_eq!(read(folder, "results/audit.csv"), csv);
    };
    refused(&["--draws", "20000", "--seed", "1"], "--seed was 0, now it is 1");
    refused(&["--draws", "20001"], "--draws was 20000, now it is 20001");
    refused(&[], "--draws was 20000, now it is absent");
    refused(
        &["--draws", "20000", "--confidence", "0.95"],
        "--confidence was 0.999, now it is 0.95",
    );
    refused(&["--draws", "20000", "--until", "decided"], "--until was budget, now it is decided");
    refused(
        &["--draws", "20000", "--filter", "a.toml", "--csv", "results/audit.csv"],
        "3 audits with 4 pairs; now 1 audit with 2 pairs",
    );
    refused(
        &["--draws", "20000", "--pair", "one more", "--csv", "results/audit.csv"],
        "3 audits with 4 pairs; now 3 audits with 3 pairs",
    );
    let audit = read(folder, "audits/b.toml");
    for change in [
        ("epsilon = 1.0 }\nclaim", "epsilon = 0.9 }\nclaim"),
        ("[\"x\"]", "[\"y\"]"),
        ("relation", "resolution = 0.2\nrelation"),
        ("relation", "truth = { epsilon = 1.0 }\nrelation"),
    ] {
        let changed = audit.replacen(change.0, change.1, 1);
        assert_ne!(changed, audit);
        // Neighbours stay neighbours.
        write(
            folder,
            "audits/b.toml",
            &changed.replace("[\"y\"]\nright = [\"x\", \"x\"]", "[\"y\"]\nright = [\"y\", \"x\"]"),
        );
        refused(&["--draws", "20000"], "the audit \"b\" was finished and has changed since");
    }
    write(folder, "audits/b.toml", &audit);
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    write(folder, JOURNAL, &journal.replacen(&version, "\"version\":\"0.0.9\"", 1));
    refused(&["--draws", "20000"], "dp-audit 0.0.9 wrote it");
    write(folder, JOURNAL, &journal.replacen("\"build\":\"", "\"build\":\"f", 1));
    refused(&["--draws", "20000"], "another build of dp-audit wrote it");
    write(folder, JOURNAL, &journal.replacen('{', "{[", 1));
    refused(&["--draws", "20000"], "its first line cannot be read");
    // With everything as it was, it is resumed.
    write(folder, JOURNAL, &journal);
    assert_eq!(code(&dp_audit(folder, &["run", "-q", "--draws", "20000", "--resume"])), 5);
}

#[test]
fn a_program_that_changed_after_its_audit_is_refused() {
    let folder = folder(&[("a", &program("a", "bit.sh")), ("b", &program("b", "late.sh"))]);
    let folder = folder.path();
    write(folder, "audits/bit.sh", BIT);
    write(folder, "audits/late.sh", "exit 3");
    write(folder, "audits/go", "");
    assert_eq!(code(&dp_audit(folder, &["run", "-q", "--draws", "3000"])), 5);
    write(folder, "audits/bit.sh", &BIT.replace("0.4", "0.45"));
    let output = dp_audit(folder, &["run", "-q", "--draws", "3000", "--resume"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["the audit \"a\" was finished and has changed since"]);
}

#[test]
fn a_torn_line_is_run_again() {
    let folder = unfinished();
    let folder = folder.path();
    let (journal, whole) = (read(folder, JOURNAL), Table::of_run(folder));
    let resumes = |journal: &str, says: &str| {
        write(folder, JOURNAL, journal);
        let output = dp_audit(folder, &["run", "--draws", "20000", "--resume"]);
        assert_eq!(code(&output), 5, "{}", errors(&output));
        assert_has(&errors(&output), &[says]);
        assert_eq!(Table::of_run(folder), whole);
        assert_eq!(read(folder, JOURNAL).lines().count(), 3, "the torn line was replaced");
    };
    let second = journal.find('\n').unwrap() + 1;
    let third = second + journal[second..].find('\n').unwrap() + 1;
    resumes(&journal[..journal.len() - 1], "Resuming: 1 of 3 audits");
    resumes(&journal[..third + 100], "Resuming: 1 of 3 audits");
    resumes(&journal[..third - 1], "Nothing to resume");
    resumes(&journal[..second], "Nothing to resume");
    resumes(&journal[..20], "Nothing to resume");
    resumes("", "Nothing to resume");
}

#[test]
fn a_run_without_resume_starts_over_and_says_so() {
    let folder = unfinished();
    let folder = folder.path();
    let hint = "finished 2 of 3 audits, and --resume would continue it; this one starts over";
    let output = dp_audit(folder, &["run", "--draws", "20000"]);
    assert_has(&errors(&output), &[hint]);
    // What cannot be continued like this is not offered.
    let output = dp_audit(
        folder,
        &[
            "run",
            "--draws",
            "20000",
            "--seed",
            "1",
            "--filter",
            "a.toml",
            "--csv",
            "results/audit.csv",
        ],
    );
    assert!(!errors(&output).contains("--resume"), "{}", errors(&output));
    assert_eq!(code(&output), 0);
    assert!(!folder.join(JOURNAL).exists());
    let output = dp_audit(
        folder,
        &[
            "run",
            "--draws",
            "20000",
            "--filter",
            "a.toml",
            "--csv",
            "results/audit.csv",
            "--resume",
        ],
    );
    assert_eq!(code(&output), 0);
    assert_has(
        &errors(&output),
        &["Nothing to resume at results/audit.csv.journal: running from the start."],
    );
    assert!(!folder.join(JOURNAL).exists());
}

#[test]
fn a_full_disk_loses_nothing_that_was_written() {
    let names: Vec<String> = (10..22).map(|index| format!("audit {index}")).collect();
    let texts: Vec<(&str, String)> =
        names.iter().map(|name| (name.as_str(), named(name))).collect();
    let texts: Vec<(&str, &str)> =
        texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let folder = folder(&texts);
    let folder = folder.path();
    let args = ["run", "--draws", "20000", "--json", "results/audit.json", "--allow-inconclusive"];
    // No file may grow beyond some 25 or 50 kB, depending on the shell's unit: as on a full disk, a
    // write ends in the middle.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 50; exec {} {}",
        env!("CARGO_BIN_EXE_dp-audit"),
        args.join(" ")
    );
    let output = Command::new("sh").args(["-c", &limited]).current_dir(folder).output().unwrap();
    assert_eq!(code(&output), 1, "{}", errors(&output));
    assert_has(&errors(&output), &["cannot write results/audit.json: "]);
    assert_eq!(
        errors(&output).matches(&format!("cannot write {JOURNAL}: ")).count(),
        1,
        "said once: {}",
        errors(&output)
    );
    let table = Table::of_run(folder);
    assert_eq!(table.rows.len(), names.len());
    let written = json(folder, "results/audit.json")["audits"].as_array().unwrap().len();
    assert!(
        (1..names.len()).contains(&written),
        "{written} audits in the last JSON that could be written"
    );

    let output = dp_audit(folder, &[&args[..], &["--resume"]].concat());
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let taken: usize = errors(&output)
        .split("Resuming: ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse().ok())
        .unwrap();
    assert!((1..names.len()).contains(&taken), "{taken} audits fitted");
    assert_eq!(Table::of_run(folder), table);
    assert_eq!(json(folder, "results/audit.json")["complete"], true);
}

#[test]
fn a_journal_that_cannot_be_written_is_refused_before_anything_is_drawn() {
    let folder = folder(&[("good", GOOD)]);
    std::fs::create_dir_all(folder.path().join(JOURNAL)).unwrap();
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &[&format!("cannot write {JOURNAL}: ")]);
    assert!(!folder.path().join("results/audit.csv").exists());
    std::fs::remove_dir(folder.path().join(JOURNAL)).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join(JOURNAL)).unwrap();
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["is a symbolic link to /dev/full"]);
    std::fs::remove_file(folder.path().join(JOURNAL)).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path().join(JOURNAL)).status().unwrap().success());
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["it is no ordinary file"]);
}

#[test]
fn every_kind_of_report_comes_back_as_it_was() {
    let audits = committed("");
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("audit.csv");
    let settings = settings(4000, 3);
    let open = |start| {
        let place = Destination::open(&csv).unwrap();
        Journal::open(&place, &audits, settings, start, |warning| panic!("{warning}"))
            .unwrap()
            .expect("the CSV is a file")
    };
    let journal = open(Start::Over);
    let report = dp_audit::run(&audits, settings, &dp_audit::prepare, &journal);
    drop(journal);
    let journal = open(Start::Resumed);
    assert!(audits.len() > 50);
    assert_eq!(audits.len(), report.audits.len());
    for before in &report.audits {
        let name = &before.audit.name;
        let Some(Known::Finished(after)) = journal.found(&before.audit) else {
            panic!("{name} is not in the journal")
        };
        assert_eq!(*before, after, "{name}");
    }
}
