//! Shards of a run, merged, are the run: the same reports and exit codes, or a refusal that says
//! why.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dp_audit::fronts::bytes_hash;
use serde_json::Value;

use super::resume::{BIT, contents, json, timeless};
use crate::harness::program::{
    Table, assert_has, code, command, dp_audit, errors, files, folder, laplace, named, of_program,
    read, wait_until, with_draws, write,
};
use crate::harness::repository;

/// A count that is claimed in another unit, so that groups of outputs are judged too.
const RENYI: &str = r#"
name = "renyi"
mechanism = "gaussian"
params = { query = "count", calibration = { mu = 1.0 } }
claim = { renyi = { order = 2, epsilon = 1.0 } }
relation = "add-remove"
draws = 40000
[[pair]]
name = "one more"
left = ["x"]
right = ["x", "x"]
"#;

/// An accuracy claim, and a control that leaks twice as much.
const ACCURATE: &str = r#"
name = "accurate"
mechanism = "laplace"
params = { query = "count", epsilon = 1.0 }
claim = { epsilon = 1.0 }
relation = "add-remove"
draws = 40000
control = { scale_factor = 0.4 }
[[pair]]
name = "one more"
left = ["x"]
right = ["x", "x"]
[[pair]]
name = "another"
left = ["x", "x"]
right = ["x", "x", "x"]
[[accuracy]]
name = "close"
data = ["x", "x"]
event = { within = 3, of = 2 }
probability = 0.9
"#;

/// Audits of all kinds and of very different cost: two pairs are cut into parts.
fn suite() -> tempfile::TempDir {
    let texts = [
        ("a", with_draws(&named("large"), 9_000_000)),
        ("b", with_draws(&laplace("large and broken", 0.5, "violated"), 6_000_000)),
        ("c", with_draws(&named("small"), 20_000)),
        ("d", with_draws(&of_program("program", &["sh", "bit.sh"], ""), 4000)),
        ("e", with_draws(&of_program("absent", &["./no-such-program"], ""), 4000)),
        ("f", RENYI.to_owned()),
        ("g", ACCURATE.to_owned()),
    ];
    let folder = folder(&texts.each_ref().map(|(name, text)| (*name, text.as_str())));
    write(
        folder.path(),
        "audits/bit.sh",
        &BIT.replace("while [ ! -e go ]; do sleep 0.02; done", ""),
    );
    folder
}

/// Options for every report, below `results/NAME`.
fn every_report(name: &str) -> Vec<String> {
    let file = |option: &str, end: &str| [format!("--{option}"), format!("results/{name}/{end}")];
    let reports = [
        file("csv", "audit.csv"),
        file("json", "audit.json"),
        file("html", "audit.html"),
        file("junit", "audit.xml"),
        file("markdown", "audit.md"),
        file("code-quality", "quality.json"),
        file("plots", "plots"),
        file("witnesses", "witnesses"),
    ];
    reports.into_iter().flatten().collect()
}

fn call(folder: &Path, first: &[&str], then: &[String]) -> i32 {
    let output = command(folder).args(first).args(then).output().unwrap();
    assert!(!errors(&output).contains("cannot"), "{}", errors(&output));
    code(&output)
}

/// The exit code of a run on one machine, whose reports go to a folder of their own.
fn on_one_machine(folder: &Path) -> i32 {
    code(&dp_audit(
        folder,
        &["run", "--csv", "single/audit.csv", "--witnesses", "single/witnesses"],
    ))
}

/// Fails unless all reports of two runs are equal but for the seconds.
#[track_caller]
fn assert_equal(folder: &Path, one: &str, other: &str) {
    let [a, b] = [one, other].map(|name| folder.join("results").join(name));
    assert_eq!(Table::read(&a, "audit.csv"), Table::read(&b, "audit.csv"));
    assert_eq!(json(&a, "audit.json"), json(&b, "audit.json"));
    let same_folder =
        |text: String| text.replace(&format!("results/{other}"), &format!("results/{one}"));
    for file in ["audit.html", "audit.md", "quality.json"] {
        assert_eq!(read(&a, file), same_folder(read(&b, file)), "{file}");
    }
    assert_eq!(timeless(&read(&a, "audit.xml")), timeless(&read(&b, "audit.xml")));
    for files in ["plots", "witnesses"] {
        assert_eq!(contents(&a.join(files)), contents(&b.join(files)), "{files}");
    }
}

#[test]
fn shards_in_any_order_on_any_threads_are_the_run_on_one_machine() {
    let folder = suite();
    let folder = folder.path();
    let whole = call(folder, &["run", "--controls", "--seed", "5"], &every_report("whole"));
    assert_eq!(whole, 5, "one program does not exist");
    for shard in [4, 2, 5, 1, 3] {
        let (number, threads) = (format!("{shard}/5"), shard.to_string());
        let output = dp_audit(
            folder,
            &[
                "run",
                "--controls",
                "--seed",
                "5",
                "--shard",
                &number,
                "--threads",
                &threads,
                "--out",
                "shards",
            ],
        );
        assert_eq!(code(&output), 0, "{}", errors(&output));
    }
    let texts: Vec<String> = files(&folder.join("shards"))
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    assert!(
        texts.iter().filter(|text| text.contains("{\"batches\":[")).count() > 2,
        "pairs are cut into parts"
    );
    assert_eq!(
        texts.iter().map(|text| text.matches("\"definition\"").count()).sum::<usize>(),
        7,
        "each audit is written once"
    );
    assert_eq!(call(folder, &["merge", "shards"], &every_report("merged")), whole);
    assert_equal(folder, "whole", "merged");
}

#[test]
fn shards_divided_by_measured_seconds_are_the_run_on_one_machine() {
    let folder = suite();
    let folder = folder.path();
    let whole = call(folder, &["run"], &every_report("whole"));
    let shard = |number: &str, costs: &[&str]| {
        let shard = ["run", "--shard", number, "--out", "shards"];
        dp_audit(folder, &[&shard[..], costs].concat())
    };
    let measured = ["--costs", "results/whole/audit.csv"];
    for number in ["3/3", "1/3", "2/3"] {
        assert_eq!(code(&shard(number, &measured)), 0);
    }
    assert_eq!(call(folder, &["merge", "shards"], &every_report("merged")), whole);
    assert_equal(folder, "whole", "merged");
    // A shard of another division.
    std::fs::remove_file(folder.join("shards/shard-2-of-3.jsonl")).unwrap();
    assert_eq!(code(&shard("2/3", &[])), 0);
    let merged = dp_audit(folder, &["merge", "shards"]);
    assert_eq!(code(&merged), 1);
    assert_has(&errors(&merged), &["shard-2-of-3", "divided by other --costs", "the same file"]);
    for (text, reason) in [
        ("audit,pair,draws\n", "line 1 has no column \"seconds\""),
        ("audit,pair,draws,seconds\na,b,1,soon\n", "line 2, column seconds: \"soon\" is not"),
        ("audit,pair,draws,seconds\na,b,1,1\n", "no row with seconds is about an audit of"),
    ] {
        write(folder, "bad.csv", text);
        let refused = shard("1/3", &["--costs", "bad.csv"]);
        assert_eq!(code(&refused), 1);
        assert_has(&errors(&refused), &["cannot read bad.csv", reason, "CSV report of an earlier"]);
    }
    let alone = dp_audit(folder, &["run", "--costs", "bad.csv"]);
    assert_eq!(code(&alone), 1);
    assert_has(&errors(&alone), &["--shard"]);
}

#[test]
fn a_killed_shard_is_resumed_or_run_again() {
    let gated = BIT.replace("echo started >> starts", "");
    let audits = [
        ("a", with_draws(&named("a"), 20_000)),
        ("b", with_draws(&of_program("b", &["sh", "gated.sh"], ""), 4000)),
        ("c", with_draws(&named("c"), 20_000)),
    ];
    let folder = folder(&audits.each_ref().map(|(name, text)| (*name, text.as_str())));
    let folder = folder.path();
    write(folder, "audits/gated.sh", &gated);
    let (file, shard) = ("shards/shard-1-of-1.jsonl", ["run", "--shard", "1/1", "--out", "shards"]);
    for resumed in [true, false] {
        let _ = std::fs::remove_file(folder.join("audits/go"));
        let _ = std::fs::remove_file(folder.join(file));
        let mut child = command(folder)
            .args(shard)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(&mut child, || {
            std::fs::read_to_string(folder.join(file)).unwrap_or_default().lines().count() == 2
        });
        let second = dp_audit(folder, &shard);
        assert_eq!(code(&second), 1);
        assert_has(&errors(&second), &["another run is writing it"]);
        child.kill().unwrap();
        assert!(child.wait().unwrap().code().is_none(), "it was killed");
        let merged = dp_audit(folder, &["merge", "shards"]);
        assert_eq!(code(&merged), 1);
        assert_has(&errors(&merged), &["shard 1 of 1 is not complete", "--resume"]);
        assert!(!folder.join("results").exists() || !resumed, "nothing was written");
        write(folder, "audits/go", "");
        let again =
            dp_audit(folder, &[&shard[..], if resumed { &["--resume"] } else { &[] }].concat());
        assert_eq!(code(&again), 0, "{}", errors(&again));
        assert_eq!(
            errors(&again).contains("Resuming shard 1 of 1: 1 of 3 items"),
            resumed,
            "{}",
            errors(&again)
        );
        let whole = call(folder, &["run"], &every_report("whole"));
        assert_eq!(call(folder, &["merge", "shards"], &every_report("merged")), whole);
        assert_equal(folder, "whole", "merged");
    }
    // A complete shard is not overwritten.
    let before = read(folder, file);
    let twice = dp_audit(folder, &shard);
    assert_eq!(code(&twice), 1);
    assert_has(&errors(&twice), &["exists and is complete"]);
    let other = dp_audit(folder, &[&shard[..], &["--seed", "9"]].concat());
    assert_eq!(code(&other), 1);
    assert_has(&errors(&other), &["belongs to another run: --seed was 0, now it is 9"]);
    assert_eq!(code(&dp_audit(folder, &[&shard[..], &["--resume"]].concat())), 0);
    assert_eq!(read(folder, file), before);
}

#[test]
fn what_could_not_be_run_is_run_again_when_a_shard_is_resumed() {
    let folder = folder(&[
        ("a", &with_draws(&named("a"), 20_000)),
        ("b", &with_draws(&of_program("b", &["sh", "late.sh"], ""), 4000)),
    ]);
    let folder = folder.path();
    let shard = ["run", "--shard", "1/1", "--out", "shards"];
    let first = dp_audit(folder, &shard);
    assert_eq!(code(&first), 0);
    assert_has(&errors(&first), &["1 of which could not be run"]);
    assert_eq!(code(&dp_audit(folder, &["merge", "shards"])), 5);
    // The fingerprint of an audit has the files that its command names: this one was missing and is
    // now there.
    write(folder, "audits/late.sh", &BIT.replace("while [ ! -e go ]; do sleep 0.02; done", ""));
    let changed = dp_audit(folder, &[&shard[..], &["--resume"]].concat());
    assert_eq!(code(&changed), 1);
    assert_has(&errors(&changed), &["the files that their commands name"]);
}

/// The shards of a small run with a pair in two parts, in a folder that already has a report.
struct TwoShards {
    folder: tempfile::TempDir,
    original: [String; 2],
}

impl TwoShards {
    const FILES: [&str; 2] = ["shards/shard-1-of-2.jsonl", "shards/shard-2-of-2.jsonl"];

    fn new() -> Self {
        let folder = folder(&[
            ("a", &with_draws(&named("a"), 3_000_000)),
            ("b", &with_draws(&named("b"), 20_000)),
        ]);
        for shard in ["1/2", "2/2"] {
            assert_eq!(
                code(&dp_audit(folder.path(), &["run", "--shard", shard, "--out", "shards"])),
                0
            );
        }
        std::fs::create_dir(folder.path().join("results")).unwrap();
        write(folder.path(), "results/audit.csv", "of an earlier run");
        let original = Self::FILES.map(|name| read(folder.path(), name));
        assert!(
            original.iter().all(|text| text.contains("\"part\"")),
            "both have a part of the large pair"
        );
        Self { folder, original }
    }

    /// Replaces the file of the second shard.
    fn second(&self, text: &str) {
        write(self.folder.path(), Self::FILES[1], text);
    }

    /// Changes both files and their hashes.
    fn both(&self, change: impl Fn(&mut Value)) {
        Self::FILES
            .iter()
            .zip(&self.original)
            .for_each(|(name, text)| write(self.folder.path(), name, &forged(text, &change)));
    }

    /// Fails unless they are refused for this reason and nothing is written. Then the files are as
    /// they were.
    #[track_caller]
    fn refused(&self, what: &str, reason: &[&str]) {
        let folder = self.folder.path();
        let merged = dp_audit(folder, &["merge", "shards", "--json", "results/audit.json"]);
        assert_eq!(code(&merged), 1, "{what}: {}", errors(&merged));
        assert_has(&errors(&merged), reason);
        assert_has(&errors(&merged), &["nothing was written"]);
        assert_eq!(read(folder, "results/audit.csv"), "of an earlier run", "{what}");
        assert_eq!(files(&folder.join("results")).len(), 1, "{what}");
        Self::FILES.iter().zip(&self.original).for_each(|(name, text)| write(folder, name, text));
    }
}

/// The text of a shard file after a change of its lines, with a new hash: what only the content can
/// show.
fn forged(text: &str, change: impl Fn(&mut Value)) -> String {
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.pop();
    lines.iter_mut().for_each(change);
    let content: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    format!("{content}{{\"hash\":\"{}\"}}\n", bytes_hash(content.as_bytes()))
}

/// Changes a value of a line, if the line has it.
fn set(line: &mut Value, place: &str, value: impl Into<Value>) {
    if let Some(found) = line.pointer_mut(place) {
        *found = value.into();
    }
}

#[test]
fn files_that_are_missing_or_damaged_are_refused() {
    let shards = TwoShards::new();
    let (folder, text) = (shards.folder.path(), &shards.original[1]);
    std::fs::remove_file(folder.join(TwoShards::FILES[0])).unwrap();
    shards.refused("missing", &["missing of 2 shards: 1"]);
    write(folder, "shards/copy.jsonl", text);
    shards.refused("twice", &["shard 2 of 2 occurs twice", "copy.jsonl"]);
    std::fs::remove_file(folder.join("shards/copy.jsonl")).unwrap();
    shards.second(&text[..text.len() - 10]);
    shards.refused("truncated in its last line", &["shard 2 of 2 is not complete"]);
    shards.second(&text[..text.len() / 2]);
    shards.refused("truncated", &["shard 2 of 2 is not complete"]);
    shards.second("");
    shards.refused("empty", &["it is empty"]);
    shards.second("{}\n");
    shards.refused("no shard", &["its first line is not that of a shard"]);
    shards.second(&text.replacen("\"correct\":", "\"correct\":1", 1));
    shards.refused("changed", &["its hash is wrong"]);
    shards.second(&format!("{text}{}", text.lines().nth(1).unwrap()));
    shards.refused("longer", &["it goes on after its last line"]);
}

#[test]
fn files_that_contradict_themselves_are_refused_although_their_hash_fits() {
    let shards = TwoShards::new();
    let (folder, text) = (shards.folder.path(), &shards.original[1]);
    shards.second(&forged(text, |_| ()));
    let unchanged = dp_audit(
        folder,
        &["merge", "shards", "--csv", "other/audit.csv", "--witnesses", "other/witnesses"],
    );
    assert_eq!(code(&unchanged), on_one_machine(folder), "lines that were only written again");
    shards.both(|line| {
        for look in line
            .pointer_mut("/result/part/outcome/Ok/looks")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            look["tallies"][0]["correct"] =
                (look["tallies"][0]["correct"].as_u64().unwrap() + 1).into();
        }
    });
    shards.refused("tallies", &["do not count each draw of each look once"]);
    shards.both(|line| set(line, "/result/part/outcome/Ok/exploration", "0123456789abcdef"));
    shards.refused("other rules", &["were judged with other rules"]);
    shards.both(|line| {
        let start = line.pointer("/item/part/batches/1/start").and_then(Value::as_u64);
        // The second part begins one batch too early.
        start
            .filter(|start| *start > 0)
            .into_iter()
            .for_each(|start| set(line, "/item/part/batches/1/start", start - 1));
    });
    shards.refused("overlap", &["would overlap those of another shard"]);
    shards.both(|line| set(line, "/result/statement/outcome/Ok/privacy/draws", 7));
    shards.refused("draws", &["it has 7 draws of 20000"]);
    shards.both(|line| set(line, "/result/statement/name", "another"));
    shards.refused("pair", &["it is about another statement"]);
    shards.both(|line| set(line, "/definition/audit/resolution", 0.5));
    shards.refused("audits", &["are not those that the shards say they ran"]);
    shards.second(&forged(text, |line| set(line, "/run/build", "other")));
    shards.refused("one other build", &["another build of dp-audit wrote it than"]);
    shards.both(|line| set(line, "/run/build", "other"));
    shards.refused("another build", &["merge with the dp-audit that ran the shards"]);
    shards.second(&forged(text, |line| set(line, "/dp_audit_shard", 2)));
    shards.refused("format", &["it has format 2", "reads format 3", "one version of dp-audit"]);
    shards.second(&forged(text, |line| set(line, "/run/version", "9.9.9")));
    shards.refused("version", &["the version of dp-audit is 9.9.9"]);
    shards.second(&forged(text, |line| set(line, "/shard", 3)));
    shards.refused("number", &["there is no shard 3 of 2"]);
}

#[test]
fn shards_of_other_runs_are_refused() {
    let shards = TwoShards::new();
    let folder = shards.folder.path();
    let other = |args: &[&str]| {
        let _ = std::fs::remove_dir_all(folder.join("elsewhere"));
        assert_eq!(
            code(&dp_audit(folder, &[&["run", "--shard"], args, &["--out", "elsewhere"]].concat())),
            0
        );
        shards.second(&std::fs::read_to_string(&files(&folder.join("elsewhere"))[0]).unwrap());
    };
    other(&["2/2", "--seed", "3"]);
    shards.refused("seed", &["--seed is 3, and 0 in"]);
    other(&["2/2", "--confidence", "0.9"]);
    shards.refused("confidence", &["--confidence is 0.9, and 0.999 in"]);
    other(&["2/3"]);
    shards.refused("number of shards", &["the number of shards is 3, and 2 in"]);
    other(&["2/2", "--pair", "one"]);
    shards.refused("selection", &["its selection is --filter absent, --pair one"]);
    write(folder, "audits/b.toml", &with_draws(&named("b"), 30_000));
    other(&["2/2"]);
    shards.refused(
        "another audit",
        &["its audits, or the files that their commands name, are not those of"],
    );
    write(folder, "audits/c.toml", &with_draws(&named("c"), 30_000));
    other(&["2/2"]);
    shards.refused(
        "more audits",
        &["its run is 3 audits with 3 pairs, and 2 audits with 2 pairs in"],
    );
}

#[test]
fn a_shard_is_given_or_found_in_the_environment_and_writes_no_reports() {
    let folder =
        folder(&[("a", &with_draws(&named("a"), 20_000)), ("b", &with_draws(&named("b"), 20_000))]);
    let folder = folder.path();
    for args in [
        &["--shard", "1/2"][..],
        &["--out", "x"],
        &["--shard", "0/2", "--out", "x"],
        &["--shard", "1/2", "--out", "x", "--html", "h"],
    ] {
        assert_eq!(code(&dp_audit(folder, &[&["run"], args].concat())), 1, "{args:?}");
    }
    let none = command(folder)
        .args(["run", "--shard", "auto", "--out", "x"])
        .env_remove("CI_NODE_INDEX")
        .output()
        .unwrap();
    assert_eq!(code(&none), 1);
    assert_has(&errors(&none), &["SLURM_ARRAY_TASK_ID"]);
    let variables: [&[(&str, &str)]; 2] = [
        &[
            ("SLURM_ARRAY_TASK_ID", "0"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_TASK_MIN", "0"),
        ],
        &[("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "2")],
    ];
    for set in variables {
        let output = command(folder)
            .args(["run", "--shard", "auto", "--out", "shards"])
            .envs(set.iter().copied())
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{}", errors(&output));
    }
    assert!(!folder.join("results").exists());
    assert_eq!(code(&dp_audit(folder, &["merge", "shards"])), on_one_machine(folder));
    assert_eq!(Table::of_run(folder).rows.len(), 2);
}

/// The command of a recipe, with the variables that its engine sets. `scripts/try_slurm.sh` runs
/// the script in Slurm itself.
#[test]
fn the_recipes_for_clusters_run() {
    let folder =
        folder(&[("a", &with_draws(&named("a"), 20_000)), ("b", &with_draws(&named("b"), 20_000))]);
    let folder = folder.path();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_dp-audit"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for task in 1..=16 {
        let mut shard = Command::new("bash");
        shard
            .arg(repository("examples/cluster/slurm.sh"))
            .arg("audits")
            .current_dir(folder)
            .env("PATH", &path);
        // Task 7 is run alone, after the others.
        let count = if task == 7 { "1" } else { "16" };
        let variables = [
            ("SLURM_ARRAY_TASK_ID", task.to_string()),
            ("SLURM_ARRAY_TASK_COUNT", count.to_owned()),
        ];
        let output = shard
            .envs(variables)
            .env("SLURM_ARRAY_TASK_MIN", if task == 7 { "7" } else { "1" })
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", errors(&output));
    }
    assert_eq!(code(&dp_audit(folder, &["merge", "shards"])), on_one_machine(folder));
    // The words of the Kubernetes job, and the variable that Kubernetes sets.
    let text = std::fs::read_to_string(repository("examples/cluster/kubernetes.yaml")).unwrap();
    let words = text.split_once("command: [").unwrap().1.split_once(']').unwrap().0;
    let words: Vec<&str> = words
        .split(", ")
        .skip(1)
        .map(|word| if word == "shards" { "pods" } else { word })
        .collect();
    for index in 0..16 {
        let output = command(folder)
            .args(&words)
            .env("JOB_COMPLETION_INDEX", index.to_string())
            .output()
            .unwrap();
        assert_eq!(code(&output), 0, "{}", errors(&output));
    }
    assert_eq!(code(&dp_audit(folder, &["merge", "pods"])), on_one_machine(folder));
    // The steps of the workflow.
    let text = std::fs::read_to_string(repository("examples/cluster/github-matrix.yml")).unwrap();
    let steps: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once("./dp-audit "))
        .map(|(_, words)| words)
        .collect();
    let [shard, merge] = steps[..] else { panic!("{steps:?}") };
    let (shard, merge) = (shard.replace("shards", "jobs"), merge.replace("shards", "jobs"));
    for node in 1..=16 {
        let variables = [("CI_NODE_INDEX", node.to_string()), ("CI_NODE_TOTAL", "16".to_owned())];
        let output = command(folder).args(shard.split(' ')).envs(variables).output().unwrap();
        assert_eq!(code(&output), 0, "{}", errors(&output));
    }
    assert_eq!(
        code(&dp_audit(folder, &merge.split(' ').collect::<Vec<_>>())),
        on_one_machine(folder)
    );
    assert!(folder.join("report/report.html").exists());
}
