//! The program as its users meet it: exit codes, messages, files.

mod common;

use std::process::{Command, Stdio};

use common::program::{GOOD, code, dp_audit, errors, folder, rows};

#[test]
fn a_good_audit_ends_with_zero_and_a_complete_row() {
    let folder = folder(&[("good", GOOD)]);
    let output = dp_audit(folder.path(), &["run", "--draws", "200000"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let rows = rows(folder.path(), "results/audit.csv");
    let expected = "audit,mechanism,relation,pair,claim_epsilon,claim_delta,verdict,expected,as_expected,epsilon_lower,delta_lower,delta_excess,\
                    detectable_epsilon,truth_epsilon,confidence,draws,correct,wrong,abstained,rule,seed,reproducible";
    assert_eq!(rows[0].join(","), expected);
    let value = |column: &str| rows[1][rows[0].iter().position(|name| name == column).unwrap()].clone();
    assert_eq!(value("verdict"), "consistent");
    assert_eq!(value("as_expected"), "true");
    assert_eq!(value("truth_epsilon"), "");
    let count = |column: &str| value(column).parse::<u64>().unwrap();
    assert_eq!(count("draws"), 200_000);
    assert_eq!(count("correct") + count("wrong") + count("abstained"), 175_000);
    assert!(value("rule").contains("left if ") && value("rule").contains("right if "), "{}", value("rule"));
}

#[test]
fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
    let wide = GOOD
        .replace("\"good\"", "\"wide\"")
        .replace("\"count\"", "\"histogram\"")
        .replace("[\"x\"]", "[\"x\", \"a\", \"b\"]")
        .replace("[\"x\", \"x\"]", "[\"x\", \"x\", \"a\", \"b\"]");
    let folder = folder(&[("good", GOOD), ("wide", &wide)]);
    let report = |threads: &str, seed: &str| {
        let csv = format!("{threads}-{seed}.csv");
        let output = dp_audit(folder.path(), &["run", "-q", "--draws", "1e6", "--threads", threads, "--seed", seed, "--csv", &csv]);
        assert!(output.status.code().is_some_and(|code| code == 0), "{}", errors(&output));
        rows(folder.path(), &csv)
    };
    let one = report("1", "5");
    assert_eq!(one, report("2", "5"));
    assert_eq!(one, report("8", "5"));
    assert_ne!(one, report("2", "6"));
}

#[test]
fn a_verdict_that_differs_from_the_expectation_ends_with_two() {
    let broken = GOOD.replace("epsilon = 1.0 }\nclaim", "epsilon = 1.0, scale_factor = 0.5 }\nclaim");
    let broken_folder = folder(&[("broken", &broken)]);
    let output = dp_audit(broken_folder.path(), &["run", "--draws", "100000"]);
    assert_eq!(code(&output), 2);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("guessed right") && text.contains("ε = 1 allows 73.1 %"), "{text}");
    let missed = folder(&[("missed", &GOOD.replace("\"consistent\"", "\"violated\""))]);
    assert_eq!(code(&dp_audit(missed.path(), &["run", "-q", "--draws", "100000"])), 2);
}

#[test]
fn too_little_power_fails_only_where_it_is_required() {
    let folder = folder(&[("good", GOOD)]);
    assert_eq!(code(&dp_audit(folder.path(), &["run", "-q", "--draws", "1000"])), 0);
    assert_eq!(code(&dp_audit(folder.path(), &["run", "-q", "--draws", "1000", "--require-power"])), 3);
    assert_eq!(rows(folder.path(), "results/audit.csv")[1][8], "", "as_expected is empty when the audit cannot tell");
}

#[test]
fn a_bound_above_the_stated_truth_is_a_surprise() {
    let folder = folder(&[("wrong", &GOOD.replace("relation", "truth = { epsilon = 0.5 }\nrelation"))]);
    let output = dp_audit(folder.path(), &["run", "--draws", "100000"]);
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8_lossy(&output.stdout).contains("above the truth"));
}

/// Each bad audit file, and what the message must name.
#[test]
fn bad_audit_files_are_explained() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("claim = { epsilon = 1.0 }", "claim = { epsilon = -1.0 }", &["line 5", "claim.epsilon is -1, must be positive and finite"]),
        ("claim = { epsilon = 1.0 }", "claim = { epsilon = 1.0, delta = 2.0 }", &["claim.delta is 2, must be at least 0 and less than 1"]),
        ("claim = { epsilon = 1.0 }", "claim = { epsilon = 1.0, detla = 0.0 }", &["claim", "unknown field `detla`", "delta"]),
        ("claim = { epsilon = 1.0 }", "", &["missing field `claim`"]),
        ("expect = \"consistent\"", "expects = \"consistent\"", &["unknown field `expects`", "expect"]),
        ("expect = \"consistent\"", "expect = \"fine\"", &["expect", "unknown variant `fine`", "violated"]),
        ("expect = \"consistent\"", "draws = 0", &["draws is 0, must be a whole number from 1 to 1e12"]),
        ("expect = \"consistent\"", "draws = 1_000_000_000_001", &["draws is 1000000000001, must be a whole number from 1 to 1e12"]),
        ("expect = \"consistent\"", "resolution = 0", &["resolution is 0, must be positive"]),
        ("expect = \"consistent\"", "attacks = []", &["attacks is empty"]),
        ("expect = \"consistent\"", "attacks = [\"guessing\"]", &["attacks[0]", "unknown variant `guessing`", "naive-bayes"]),
        ("expect = \"consistent\"", "truth = { epsilon = -2 }", &["truth.epsilon is -2"]),
        ("mechanism = \"laplace\"", "mechanism = \"command\"", &["mechanism is \"command\", which needs one", "my_mechanism.py"]),
        ("mechanism = \"laplace\"", "mechanism = \"command\"\ncommand = []", &["command is empty"]),
        ("mechanism = \"laplace\"", "mechanism = \"command\"\ncommand = \"sh x\"", &["command", "string", "sequence"]),
        ("mechanism = \"laplace\"", "mechanism = \"command\"\ncommand = [\"sh\"]\ntimeout = 0", &["timeout is 0, must be positive"]),
        ("mechanism = \"laplace\"", "mechanism = \"laplace\"\ntimeout = 5", &["timeout: is for mechanism = \"command\" only"]),
        (
            "mechanism = \"laplace\"\nparams = {",
            "mechanism = \"command\"\ncommand = [\"sh\"]\nparams = { x = [nan],",
            &["params.x is nan", "string"],
        ),
        ("mechanism = \"laplace\"", "mechanism = \"laplac\"", &["mechanism is \"laplac\"", "not known", "laplace"]),
        ("epsilon = 1.0 }\nclaim", "epsilon = 0 }\nclaim", &["params.epsilon is 0, must be positive"]),
        ("epsilon = 1.0 }\nclaim", "epsilon = 1.0, noise = 2 }\nclaim", &["params", "unknown field `noise`", "scale_factor"]),
        ("query = \"count\"", "query = \"size\"", &["params.query", "unknown variant `size`", "count"]),
        (
            "query = \"count\"",
            "query = { sum = { lower = 1, upper = 0 } }",
            &["params.query", "lower is 1, must be less than upper, which is 0"],
        ),
        ("query = \"count\"", "query = { sum = { lower = 0, upper = 1 } }", &["left", "the record x is not a number"]),
        ("relation = \"add-remove\"", "relation = \"replace-one\"", &["pair \"one more\"", "not neighbours", "only in right x"]),
        ("relation = \"add-remove\"", "relation = \"custom\"", &["relation is \"custom\"", "reason"]),
        ("relation = \"add-remove\"", "relation = \"add-remove\"\nreason = \"no\"", &["reason", "custom"]),
        ("relation = \"add-remove\"", "relation = \"add\"", &["relation", "unknown variant `add`", "add-remove"]),
        (
            "relation = \"add-remove\"",
            "relation = \"component-wise\"",
            &["pair \"one more\"", "left has 1 components and right 2", "at most 1"],
        ),
        ("relation = \"add-remove\"", "relation = \"single-component\"", &["pair \"one more\"", "left has 1 components and right 2"]),
        ("relation = \"add-remove\"", "relation = \"component-wise\"\nreason = \"no\"", &["reason", "custom"]),
        ("expect = \"consistent\"", "pairs = {}", &["pairs", "missing field `patterns`"]),
        ("expect = \"consistent\"", "pairs = { pattern = 3 }", &["pairs", "unknown field `pattern`", "patterns"]),
        (
            "expect = \"consistent\"",
            "pairs = { patterns = { components = 0 } }",
            &["pairs.patterns.components is 0, must be a whole number from 1"],
        ),
        ("expect = \"consistent\"", "pairs = { patterns = { components = -2 } }", &["pairs.patterns.components is -2"]),
        ("expect = \"consistent\"", "pairs = { patterns = { components = \"5\" } }", &["pairs.patterns.components", "string"]),
        ("expect = \"consistent\"", "pairs = { patterns = { components = 5, size = 1 } }", &["pairs.patterns", "unknown field `size`"]),
        (
            "expect = \"consistent\"",
            "pairs = { patterns = { components = 5 } }",
            &["pairs.patterns: relation is \"add-remove\"", "component-wise"],
        ),
        ("epsilon = 1.0 }\nclaim", "epsilon = 1.0, copies = 0 }\nclaim", &["params.copies", "nonzero"]),
        ("query = \"count\"", "query = \"values\"", &["left", "the record x is not a number"]),
        ("right = [\"x\", \"x\"]", "right = [\"x\"]", &["not neighbours", "only in left nothing, only in right nothing"]),
        ("right = [\"x\", \"x\"]", "right = [true]", &["pair[0].right", "the record true"]),
        ("right = [\"x\", \"x\"]", "right = [{ value = \"x\", times = -2 }]", &["times is -2"]),
        ("right = [\"x\", \"x\"]", "", &["pair[0]", "missing field `right`"]),
        ("[[pair]]\nname = \"one more\"\nleft = [\"x\"]\nright = [\"x\", \"x\"]", "", &["pair", "there is none", "[[pair]]"]),
        ("name = \"good\"", "name = \"\"", &["name is empty"]),
        ("name = \"good\"", "name = good", &["line 2"]),
    ];
    for (old, new, wanted) in cases {
        assert!(GOOD.contains(old), "the case {old} tests nothing");
        let folder = folder(&[("bad", &GOOD.replace(old, new))]);
        let output = dp_audit(folder.path(), &["run", "--draws", "1000"]);
        let message = errors(&output);
        assert_eq!(code(&output), 1, "{new}: {message}");
        assert!(message.contains("audits/bad.toml: "), "{new}: {message}");
        for part in *wanted {
            assert!(message.contains(part), "{new}: no «{part}» in: {message}");
        }
        assert!(!folder.path().join("results").exists(), "{new}: nothing is written");
    }
}

#[test]
fn patterns_are_pairs_that_need_not_be_written_out() {
    let patterns = r#"
name = "patterns"
mechanism = "laplace"
params = { query = "values", epsilon = 1.0 }
claim = { epsilon = 1.0 }
relation = "single-component"
pairs = { patterns = { components = 3 } }

[[pair]]
name = "written out"
left = [1, 1, 1]
right = [2, 1, 1]
"#;
    let good = folder(&[("patterns", patterns)]);
    let output = dp_audit(good.path(), &["run", "-q", "--draws", "1000"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let pairs: Vec<String> = rows(good.path(), "results/audit.csv")[1..].iter().map(|row| row[3].clone()).collect();
    assert_eq!(pairs, ["written out", "one above", "one above, swapped", "one below, swapped"]);
    let clash = folder(&[("clash", &patterns.replace("written out", "one above"))]);
    let output = dp_audit(clash.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("pair \"one above\": another pair has this name"), "{}", errors(&output));
}

#[test]
fn all_bad_files_are_reported_at_once_and_earlier_results_stay() {
    let folder = folder(&[("a", &GOOD.replace("1.0 }\nrelation", "0 }\nrelation")), ("b", "name = 3"), ("c", GOOD), ("d", GOOD)]);
    std::fs::create_dir(folder.path().join("results")).unwrap();
    std::fs::write(folder.path().join("results/audit.csv"), "earlier").unwrap();
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1);
    let message = errors(&output);
    for part in ["audits/a.toml: ", "audits/b.toml: ", "audits/d.toml: name is \"good\", which audits/c.toml has already"] {
        assert!(message.contains(part), "no «{part}» in: {message}");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("results/audit.csv")).unwrap(), "earlier");
}

#[test]
fn wrong_usage_ends_with_one_and_help_with_zero() {
    let folder = folder(&[("good", GOOD)]);
    let cases: &[(&[&str], &str)] = &[
        (&["run", "--draws", "0"], "whole number from 1"),
        (&["run", "--draws", "1e13"], "whole number from 1 to 1e12"),
        (&["run", "--draws", "many"], "whole number"),
        (&["run", "--draws", "1.5"], "whole number"),
        (&["run", "--confidence", "1"], "less than 1"),
        (&["run", "--threads", "0"], "threads"),
        (&["run", "--until", "tomorrow"], "budget"),
        (&["run", "--frobnicate"], "--frobnicate"),
        (&["run", "--filter", "nothing like it"], "no audit matches"),
        (&["run", "elsewhere"], "elsewhere: cannot be read"),
        (&["show", "nobody"], "no audit matches"),
        (&["run", "--csv", "audits"], "it is a folder"),
        (&["run", "--csv", "audits/good.toml/x.csv"], "cannot write"),
        (&[], "Usage"),
    ];
    for (args, wanted) in cases {
        let output = dp_audit(folder.path(), args);
        assert_eq!(code(&output), 1, "{args:?}: {}", errors(&output));
        assert!(errors(&output).contains(wanted), "{args:?}: no «{wanted}» in: {}", errors(&output));
    }
    for args in [&["--help"][..], &["run", "--help"], &["--version"]] {
        assert_eq!(code(&dp_audit(folder.path(), args)), 0);
    }
}

#[test]
fn a_folder_marked_opt_in_runs_only_when_it_is_named() {
    let folder = folder(&[("good", GOOD)]);
    let suite = folder.path().join("audits/suite");
    std::fs::create_dir(&suite).unwrap();
    std::fs::write(suite.join("more.toml"), GOOD.replace("\"good\"", "\"more\"")).unwrap();
    let names = |args: &[&str]| {
        assert_eq!(code(&dp_audit(folder.path(), &[&["run", "-q", "--draws", "1000"], args].concat())), 0);
        rows(folder.path(), "results/audit.csv")[1..].iter().map(|row| row[0].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["good", "more"]);
    std::fs::write(suite.join("OPT-IN"), "").unwrap();
    assert_eq!(names(&[]), ["good"]);
    assert_eq!(names(&["audits/suite"]), ["more"]);
    assert_eq!(names(&["audits", "audits/suite/more.toml"]), ["good", "more"]);
}

#[test]
fn list_and_show_tell_what_there_is() {
    let folder = folder(&[("good", GOOD)]);
    let text = |args: &[&str]| {
        let output = dp_audit(folder.path(), args);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(text(&["list"]).contains("good"));
    assert!(text(&["list", "--mechanisms"]).contains("median/propose-test-release"));
    let shown = text(&["show", "good"]);
    for part in ["laplace", "ε = 1", "add-remove", "one more", "[x × 2]"] {
        assert!(shown.contains(part), "no «{part}» in: {shown}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_every_finished_audit() {
    let slow = GOOD.replace("\"good\"", "\"slow\"").replace("expect", "draws = 1000000000000\nexpect");
    let folder = folder(&[("a-good", &GOOD.replace("expect", "draws = 20000\nexpect")), ("b-slow", &slow)]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_dp-audit")).args(["run", "-q"]).current_dir(folder.path()).spawn().unwrap();
    let csv = folder.path().join("results/audit.csv");
    // Waits for the first audit; the second would run for hours.
    let patience = std::time::Instant::now();
    while !csv.exists() && patience.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(child.try_wait().unwrap().is_none(), "the second audit is still running");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert!(!child.wait().unwrap().success());
    let rows = rows(folder.path(), "results/audit.csv");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1][0], "good");
}

#[test]
fn a_reader_who_goes_away_ends_nothing() {
    let folder = folder(&[("good", GOOD)]);
    for args in [["list", "audits"].as_slice(), &["run", "--draws", "100000"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dp-audit"));
        let mut child = command.args(args).current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    }
    assert_eq!(rows(folder.path(), "results/audit.csv").len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_with_one_and_a_message_and_the_reports_are_written() {
    let folder = folder(&[("good", GOOD)]);
    for args in [["list"].as_slice(), &["show", "good"], &["run", "--draws", "20000"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_dp-audit")).args(args).current_dir(folder.path()).stdout(full).output().unwrap();
        let message = errors(&output);
        assert_eq!(code(&output), 1, "{args:?}: {message}");
        assert!(message.contains("cannot write to standard output: No space left on device"), "{args:?}: {message}");
        assert!(!message.contains("panicked"), "{args:?}: {message}");
    }
    assert_eq!(rows(folder.path(), "results/audit.csv").len(), 2);
    assert!(!folder.path().join("results/audit.csv.journal").exists(), "the run came to its end");
}
