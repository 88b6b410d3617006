//! What the program says, word for word: help, tables, messages.
//!
//! Each text is compared with its file in `snapshots`. Where one was meant to change,
//! `INSTA_UPDATE=always cargo test --release --test integration terminal::` writes the files again,
//! and `git diff` shows what is different. CI sets `INSTA_UPDATE=no`: there a text that differs
//! fails, and nothing is written.

use std::path::Path;
use std::process::Output;

use insta::{Settings, assert_snapshot};

use crate::harness::program::{
    GOOD, command, dp_audit, errors, folder, laplace, named, of_program, shown, with_draws,
    witnesses, write,
};
use crate::harness::repository;

/// What varies from run to run and from version to version, and what stands for it.
const VARYING: [(&str, &str); 5] = [
    (r"draws in [\d,]+ seconds?", "draws in [n] seconds"),
    (r"; \d+\.\d s\)", "; [n] s)"),
    (r"[\d.]+ before, [\d.]+ now\.", "[n] before, [n] now."),
    (r"dp-audit \d+\.\d+\.\d+", "dp-audit [version]"),
    // Blanks at the end of table rows.
    (r"(?m) +$", ""),
];

/// Compares exit code, standard output and standard error with the snapshot of this name.
fn compare(name: &str, args: &[&str], output: &Output) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(format!("dp-audit {}", args.join(" ")));
    VARYING.iter().for_each(|(pattern, replacement)| settings.add_filter(pattern, *replacement));
    let streams = [("standard output", shown(output)), ("standard error", errors(output))];
    let said = streams
        .iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(stream, text)| format!("[{stream}]\n{}", text.trim_end()));
    let text: Vec<String> = [output.status.to_string()].into_iter().chain(said).collect();
    settings.bind(|| assert_snapshot!(name, text.join("\n\n")));
}

/// Runs the program in a folder and compares all it says.
fn says(folder: &Path, name: &str, args: &[&str]) {
    compare(name, args, &dp_audit(folder, args));
}

#[test]
fn help() {
    let root = repository("");
    says(&root, "version", &["--version"]);
    says(&root, "help", &["--help"]);
    for subcommand in [
        "run",
        "search",
        "init",
        "samples",
        "measure",
        "canaries",
        "show",
        "report",
        "compare",
        "merge",
        "replay",
        "calibrate",
        "export",
        "completions",
        "man",
    ] {
        says(&root, &format!("help-{subcommand}"), &[subcommand, "--help"]);
        let text = shown(&dp_audit(&root, &[subcommand, "--help"]));
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(100), "{subcommand} --help has a line of {longest:?} characters");
    }
    says(&root, "help-run-short", &["run", "-h"]);
    let length = |option| shown(&dp_audit(&root, &["run", option])).lines().count();
    assert!(3 * length("-h") < length("--help"), "-h is short");
}

#[test]
fn what_there_is() {
    let root = repository("");
    says(&root, "show-mechanisms", &["show", "--mechanisms"]);
    says(&root, "show-several", &["show", "audits/basics"]);
    says(&root, "show", &["show", "gaussian-exact"]);
    says(&root, "show-program", &["show", "noisy-sum-vectorised", "audits/examples"]);
    says(&root, "show-plain", &["show", "laplace-count-short", "--plain"]);
}

/// One audit of each verdict.
fn every_verdict() -> tempfile::TempDir {
    let error = of_program("an error", &["./no-such-program"], "setup = \"run install.sh\"");
    folder(&[
        ("consistent", &with_draws(&laplace("consistent", 1.0, "consistent"), 200_000)),
        ("error", &error),
        ("inconclusive", &with_draws(&laplace("inconclusive", 1.0, "consistent"), 1000)),
        ("surprise", &with_draws(&laplace("a surprise", 0.8, "consistent"), 100_000)),
        ("violated", &with_draws(&laplace("violated", 0.5, "violated"), 100_000)),
    ])
}

#[test]
fn runs_and_what_follows_them() {
    let folder = every_verdict();
    let folder = folder.path();
    says(folder, "run", &["run", "--json", "before.json"]);
    says(folder, "show-report", &["show", "audits/violated.toml", "--report", "before.json"]);
    says(folder, "report", &["report", "before.json", "--markdown", "before.md"]);
    says(folder, "compare", &["compare", "before.json", "before.json"]);
    let witness =
        witnesses(folder).pop().unwrap().strip_prefix(folder).unwrap().display().to_string();
    says(folder, "replay", &["replay", &witness, "--seed", "0"]);
    says(folder, "replay-not-confirmed", &["replay", &witness, "--seed", "0", "--draws", "20"]);
    write(
        folder,
        "audits/consistent.toml",
        &with_draws(&laplace("consistent", 0.8, "consistent"), 200_000),
    );
    says(
        folder,
        "run-baseline",
        &["run", "--filter", "consistent.toml", "--baseline", "before.json"],
    );
    let args = ["run", "-q", "--filter", "i"];
    compare(
        "run-github",
        &args,
        &command(folder).args(args).env("GITHUB_ACTIONS", "true").output().unwrap(),
    );
}

#[test]
fn collected_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Powers of a primitive root modulo a prime look random, and none of them occurs twice.
    let outputs = |shift: u64| -> Vec<String> {
        let powers = std::iter::successors(Some(1), |power| Some(power * 3 % 4001));
        powers.take(3999).map(|power: u64| (power + shift).to_string()).collect()
    };
    write(folder, "left.csv", &format!("answer\n{}\n", outputs(0).join("\n")));
    write(folder, "right.csv", &format!("answer\n{}\n", outputs(2000).join("\n")));
    says(
        folder,
        "samples",
        &[
            "samples",
            "--left",
            "left.csv",
            "--right",
            "right.csv",
            "--claim-epsilon",
            "0.5",
            "--unordered",
        ],
    );
    write(folder, "right.csv", "answer\n");
    says(
        folder,
        "samples-bad",
        &["samples", "--left", "left.csv", "--right", "right.csv", "--claim-epsilon", "0.5"],
    );
}

#[test]
fn calibration() {
    let folder = folder(&[]);
    says(
        folder.path(),
        "calibrate",
        &["calibrate", "--seeds", "10", "--draws", "2000", "--confidence", "0.999"],
    );
    says(
        folder.path(),
        "calibrate-power",
        &["calibrate", "--power", "--seeds", "5", "--draws", "1000"],
    );
}

#[test]
fn messages_for_bad_audit_files() {
    let cases = [
        ("bad-toml", "name = \"good\"", "name = good"),
        ("bad-key", "expect = ", "expects = "),
        ("bad-parameter", "query = \"count\"", "query = \"count\", noise = 2"),
        ("bad-mechanism", "\"laplace\"", "\"laplac\""),
        ("bad-value", "claim = { epsilon = 1.0 }", "claim = { epsilon = -1.0 }"),
        ("bad-neighbours", "add-remove", "replace-one"),
        ("bad-relation", "add-remove", "custom"),
    ];
    for (name, old, new) in cases {
        assert!(GOOD.contains(old), "the case {name} changes nothing");
        let folder = folder(&[("bad", &GOOD.replace(old, new))]);
        says(folder.path(), name, &["run", "--draws", "1000"]);
    }
    let folder = folder(&[
        ("a", "name = 3"),
        ("b", &GOOD.replace("1.0 }\nrelation", "-1 }\nrelation")),
        ("c", GOOD),
        ("d", GOOD),
    ]);
    says(folder.path(), "bad-several", &["run", "--draws", "1000"]);
}

#[test]
fn messages_for_wrong_usage() {
    let folder = folder(&[("good", GOOD), ("other", &named("other"))]);
    let folder = folder.path();
    write(folder, "odd.json", "{}");
    let cases: &[(&str, &[&str])] = &[
        ("usage", &["run", "--frobnicate"]),
        ("usage-draws", &["run", "--draws", "many"]),
        ("no-match", &["run", "--filter", "nothing like it"]),
        ("no-match-pair", &["run", "--pair", "nothing like it"]),
        ("no-match-show", &["show", "nobody"]),
        ("two-matches", &["search", "o"]),
        ("no-folder", &["run", "elsewhere"]),
        ("unwritable", &["run", "--csv", "audits/good.toml/x.csv"]),
        ("unwritable-folder", &["run", "--html", "audits"]),
        ("unwritable-twice", &["run", "--html", "same", "--json", "same"]),
        ("bad-baseline", &["run", "--baseline", "odd.json"]),
        ("bad-witness", &["replay", "odd.json"]),
        ("no-witness", &["replay", "nowhere.json"]),
    ];
    for (name, args) in cases {
        says(folder, name, args);
    }
}
