//! Evidence over many runs through the program: refutations, seeds, beginnings, broken files.

use std::fs;
use std::path::Path;

use crate::harness::program::{
    Table, assert_has, code, dp_audit, errors, folder, json, laplace, named, read, shown,
};

/// A night with this seed and these options: exit code and text.
fn night(folder: &Path, seed: u64, more: &[&str]) -> (i32, String) {
    let seed = seed.to_string();
    let args = ["run", "--draws", "50000", "--seed", &seed, "--evidence", "evidence.jsonl"];
    let output = dp_audit(folder, &[&args, more].concat());
    (code(&output), shown(&output) + &errors(&output))
}

#[test]
fn a_leak_that_no_run_shows_is_refuted_by_all_of_them() {
    // 2 % more than is claimed: a night wins about 1, and 11 refute at 99.9 %. By itself a night
    // refutes the claim with probability 0.03; the seeds are fixed.
    let folder = folder(&[("leak", &laplace("leak", 1.0 / 1.02, "consistent"))]);
    let mut seed = 1;
    let refuted = loop {
        let (code, text) = night(folder.path(), seed, &["--json", "report.json"]);
        let table = Table::of_run(folder.path());
        assert_eq!(table.number(0, "evidence_runs"), seed as f64);
        let share = table.number(0, "evidence_share");
        assert_has(&text, &["Evidence: evidence.jsonl, this run added to 1 pair; leak / one more"]);
        if share >= 1.0 {
            assert_eq!(code, 2, "{text}");
            break text;
        }
        assert!(seed < 60, "{text}");
        seed += 1;
    };
    assert!(seed > 3, "few nights show it");
    assert_has(&refuted, &[&format!("refuted by the evidence of {seed} runs"), "refuted by it"]);
    let report = json(folder.path(), "report.json");
    let all = &report["audits"][0]["pairs"][0]["across_runs"];
    assert_eq!(all["path"].as_array().map(Vec::len), usize::try_from(seed).ok());
    // Half of 0.001 is for the evidence, and half of that for the first group, of one pair.
    assert!((all["alpha"].as_f64().unwrap() - 0.00025).abs() < 1e-12, "{all}");
    assert_eq!(report["settings"]["evidence"], true);
    // It remains refuted, until a version begins anew. What came before stays in the file.
    let before = read(folder.path(), "evidence.jsonl");
    let html = ["--html", "report.html"];
    assert_eq!(night(folder.path(), 100, &html).0, 2);
    assert!(read(folder.path(), "report.html").contains("<b>All runs</b>"));
    let (code, text) = night(folder.path(), 101, &["--since", "2.0"]);
    assert_ne!(code, 2, "{text}");
    assert_eq!(Table::of_run(folder.path()).cell(0, "evidence_runs"), "1");
    night(folder.path(), 102, &[]);
    assert_eq!(Table::of_run(folder.path()).cell(0, "evidence_runs"), "2");
    let after = read(folder.path(), "evidence.jsonl");
    let first = before.lines().nth(1).unwrap().trim_end_matches("]}");
    assert!(after.lines().count() == 3 && after.lines().nth(1).unwrap().starts_with(first));
}

#[test]
fn what_would_count_twice_or_is_broken_is_refused_and_nothing_is_changed() {
    let folder = folder(&[("a", &named("a"))]);
    let path = folder.path().join("evidence.jsonl");
    night(folder.path(), 1, &[]);
    let good = fs::read_to_string(&path).unwrap();
    let line = good.lines().nth(1).unwrap();
    let refused = |seed, more: &[&str], words: &[&str]| {
        let content = fs::read(&path).unwrap();
        let (code, text) = night(folder.path(), seed, more);
        assert_eq!(code, 1, "{text}");
        assert_has(&text, words);
        assert_eq!(fs::read(&path).unwrap(), content);
    };
    let twice = ["a / one more was run with the seed 1 before", "choose a seed"];
    refused(1, &[], &twice);
    refused(1, &["--since", "2"], &twice);
    refused(2, &["--confidence", "0.99"], &["begun with confidence 0.999", "0.99"]);
    refused(2, &["--resume"], &["--resume"]);
    for (broken, words) in [
        ("", "it is empty"),
        ("{}\n", "line 1: missing field"),
        (&good[..good.len() - 9], "line 2: "),
        (good.replace("\"group\":1", "\"group\":0").as_str(), "line 2: group 0"),
        (good.replace("evidence 1", "evidence 2").as_str(), "line 1: the format is"),
        (format!("{good}{line}\n").as_str(), "line 3: a / one more is there"),
    ] {
        fs::write(&path, broken).unwrap();
        refused(3, &[], &[words, "restore it from a copy, or begin another file"]);
    }
    // A seed of other pairs is another stream.
    fs::write(&path, &good).unwrap();
    fs::write(folder.path().join("audits/b.toml"), named("b")).unwrap();
    let (code, text) = night(folder.path(), 1, &["--filter", "b.toml"]);
    assert_ne!(code, 1, "{text}");
    let lines = fs::read_to_string(&path).unwrap();
    assert!(lines.lines().nth(2).unwrap().contains("\"group\":2,\"of\":1"), "{lines}");
}

#[cfg(unix)]
#[test]
fn the_lock_is_no_link() {
    let folder = folder(&[("a", &named("a"))]);
    let victim = folder.path().join("victim");
    std::os::unix::fs::symlink(&victim, folder.path().join("evidence.jsonl.lock")).unwrap();
    let (code, text) = night(folder.path(), 1, &[]);
    assert_eq!(code, 1, "{text}");
    assert_has(&text, &["cannot lock", "it is a symbolic link"]);
    assert!(!victim.exists());
}

#[test]
fn evidence_and_reports_have_files_of_their_own() {
    let folder = folder(&[("good", &named("good"))]);
    for option in ["--csv", "--json", "--html"] {
        let output = dp_audit(
            folder.path(),
            &["run", "--draws", "1e12", "--evidence", "shared", option, "shared"],
        );
        assert_eq!(code(&output), 1, "{option}");
        assert_has(&errors(&output), &["shared", "it is the file of a report"]);
    }
}
