//! The program as its users meet it: exit codes, messages, files.
//!
//! A claim that holds is refuted with probability 0.001 at most in each run: the default
//! confidence. What could be caught is 1.030 ± 0.001 with 200,000 draws, which is consistent, and
//! no less than 1.35 with 1,000, which is inconclusive; half the noise shows ε ≥ 1.95 ± 0.02 with
//! 100,000.

use std::process::Stdio;

use crate::harness::program::{
    GOOD, Table, assert_has, code, command, dp_audit, errors, folder, laplace, named, of_program,
    shown, write,
};
use crate::harness::repository;

#[test]
fn a_good_audit_ends_with_zero_and_a_complete_row() {
    let folder = folder(&[("good", GOOD)]);
    let output = dp_audit(folder.path(), &["run", "--draws", "200000"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = Table::of_run(folder.path());
    let expected = "audit,mechanism,relation,pair,claim_epsilon,claim_delta,verdict,reason,expected,as_expected,epsilon_lower,delta_lower,delta_excess,\
                    reach,asked_reach,control,detectable_epsilon,resolved,truth_epsilon,confidence,draws,correct,wrong,abstained,rule,seed,reproducible,\
                    unit,claimed,lower,detectable,\
                    accuracy_event,accuracy_probability,accuracy_truth,failures,failure_lower,failure_upper,error,needed_draws,runs,ceiling,\
                    file,left,right,simplest_rule,simplest_lower,evidence_runs,evidence_share";
    assert_eq!(table.columns.join(","), expected);
    let value = |column| table.cell(0, column);
    assert_eq!(value("verdict"), "consistent");
    assert_eq!(value("as_expected"), "true");
    assert_eq!(value("truth_epsilon"), "");
    let count = |column| value(column).parse::<u64>().unwrap();
    assert_eq!(count("draws"), 200_000);
    assert_eq!(count("correct") + count("wrong") + count("abstained"), 175_000);
    assert_has(value("rule"), &["left if ", "right if "]);
}

#[test]
fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
    let wide = named("wide")
        .replace("\"count\"", "\"histogram\"")
        .replace("[\"x\"]", "[\"x\", \"a\", \"b\"]")
        .replace("[\"x\", \"x\"]", "[\"x\", \"x\", \"a\", \"b\"]");
    let folder = folder(&[("good", GOOD), ("wide", &wide)]);
    let report = |threads: &str, seed: &str| {
        let csv = format!("{threads}-{seed}.csv");
        let output = dp_audit(
            folder.path(),
            &["run", "-q", "--draws", "1e6", "--threads", threads, "--seed", seed, "--csv", &csv],
        );
        assert_eq!(code(&output), 0, "{}", errors(&output));
        Table::read(folder.path(), &csv)
    };
    let one = report("1", "5");
    assert_eq!(one, report("2", "5"));
    assert_eq!(one, report("8", "5"));
    assert_ne!(one, report("2", "6"));
}

#[test]
fn a_verdict_that_differs_from_the_expectation_ends_with_two() {
    let broken = folder(&[("broken", &laplace("broken", 0.5, "consistent"))]);
    let output = dp_audit(broken.path(), &["run", "--draws", "100000"]);
    assert_eq!(code(&output), 2);
    assert_has(&shown(&output), &["guessed right", "ε = 1 allows 73.1 %"]);
    let missed = folder(&[("missed", &laplace("missed", 1.0, "violated"))]);
    assert_eq!(code(&dp_audit(missed.path(), &["run", "-q", "--draws", "100000"])), 2);
}

#[test]
fn an_inconclusive_audit_fails_unless_it_is_allowed() {
    let folder = folder(&[("good", GOOD)]);
    let output = dp_audit(folder.path(), &["run", "--draws", "1000"]);
    assert_eq!(code(&output), 3);
    assert_has(
        &shown(&output),
        &[
            "The run fails with exit code 3. Inconclusive: good (--allow-inconclusive lets this pass).",
        ],
    );
    assert_eq!(Table::of_run(folder.path()).column("reason"), ["too-few-draws"]);
    assert_eq!(
        code(&dp_audit(folder.path(), &["run", "-q", "--draws", "1000", "--allow-inconclusive"])),
        0
    );
    assert_eq!(
        Table::of_run(folder.path()).column("as_expected"),
        [""],
        "empty when the audit cannot tell"
    );
}

#[test]
fn the_draws_that_an_inconclusive_audit_asks_for_settle_it() {
    let accuracy = "\n[[accuracy]]\nname = \"within 3\"\ndata = [\"x\"]\nevent = { within = 3, of = 1 }\nprobability = 0.93\n";
    let only_accuracy = GOOD.split("claim =").next().unwrap().to_owned() + accuracy;
    for (kind, audit) in [("privacy", GOOD), ("accuracy", only_accuracy.as_str())] {
        let folder = folder(&[("good", audit)]);
        let run = |draws: &str| {
            let output = dp_audit(folder.path(), &["run", "--draws", draws]);
            (code(&output), shown(&output), Table::of_run(folder.path()))
        };
        let (few, text, table) = run("1000");
        let needed = table.cell(0, "needed_draws").to_owned();
        assert_eq!(few, 3, "{kind}");
        assert_has(
            &text,
            &["draws would do", &format!("dp-audit run audits/good.toml --draws {needed}")],
        );
        assert!(!text.contains("leak") || kind == "privacy", "accuracy is no leak: {text}");
        // Enough, and not far too many.
        let (enough, text, table) = run(&needed);
        assert_eq!(
            (enough, table.cell(0, "verdict"), table.cell(0, "needed_draws")),
            (0, "consistent", ""),
            "{kind}: {needed} draws: {text}"
        );
        let tenth = (needed.parse::<u64>().unwrap() / 10).to_string();
        assert_eq!(run(&tenth).0, 3, "{kind}: {tenth} draws are enough");
    }
}

#[test]
fn no_line_is_longer_than_eighty_characters_and_no_word_is_broken() {
    let name = "a count with a name that is so long that it does not fit in one line of a terminal, not even without anything else";
    let audits = [
        ("good", laplace(name, 1.0, "consistent")),
        ("bad", laplace("bad", 0.5, "consistent")),
        ("twin", laplace("twin", 0.5, "violated")),
    ];
    let folder = folder(&audits.each_ref().map(|(file, text)| (*file, text.as_str())));
    for options in [&["--draws", "50000"][..], &["--draws", "2000", "--verbose"]] {
        let output = dp_audit(folder.path(), &[&["run"], options].concat());
        let text = shown(&output);
        // A path that is to be copied is in one line.
        for line in text.lines().filter(|line| !line.contains("dp-audit ")) {
            assert!(line.chars().count() <= 80, "{} characters: {line}", line.chars().count());
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(
            name.split(' ').all(|word| words
                .iter()
                .any(|shown| shown.trim_matches([',', ':']) == word.trim_matches(','))),
            "{text}"
        );
    }
}

#[test]
fn a_large_run_shows_what_is_unexpected_last_and_does_not_list_what_passes() {
    let audits: Vec<(String, String)> = (0..60)
        .map(|index| {
            let factor = if index == 17 { 0.4 } else { 1.0 };
            (
                format!("{index:02}"),
                laplace(&format!("count {index:02}"), factor, "consistent")
                    .replace("expect", "resolution = 0.3\nexpect"),
            )
        })
        .collect();
    let folder = folder(
        &audits.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect::<Vec<_>>(),
    );
    let run = |options: &[&str]| {
        shown(&dp_audit(folder.path(), &[&["run", "--draws", "50000"], options].concat()))
    };
    let text = run(&[]);
    let (table, rest) = text.split_once("NOT AS EXPECTED: 1 audit").expect("a surprise");
    let suite: Vec<&str> = table.lines().nth(3).unwrap().split_whitespace().collect();
    assert_eq!(suite, ["✗", "audits", "60", "1", "59"], "{table}");
    assert_eq!(table.matches("\n✗  violated  count 17").count(), 1, "{table}");
    assert_eq!((table.matches("✓").count(), table.matches("count").count()), (0, 1), "{table}");
    // Which, how much, why, what to type: on the last screen, of 24 lines with the prompt.
    assert!(rest.lines().count() < 24, "{rest}");
    assert_has(
        rest,
        &[
            "✗ count 17 / one more: violated, expected consistent",
            "of 1 claimed, reach 2",
            "The attacker guessed right",
        ],
    );
    assert_has(
        rest,
        &[
            "Rule: left if y",
            "Next: Look at the outputs",
            "dp-audit replay results/witnesses/count-17-",
            "exit code 2",
        ],
    );
    assert_eq!(run(&["--verbose"]).matches("✓").count(), 59);
}

#[test]
fn where_nothing_was_drawn_no_bound_is_shown() {
    let folder = folder(&[("missing", &of_program("missing", &["./no-such-program"], ""))]);
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 5);
    assert_has(&errors(&output), &["Running 1 audit.", "missing  (nothing could be run; "]);
    assert!(!shown(&output).contains("All bounds hold"), "{}", shown(&output));
}

#[test]
fn a_mechanism_without_noise_is_said_to_have_none() {
    let folder = folder(&[("a", &laplace("no noise", 1e-9, "consistent"))]);
    let output = dp_audit(folder.path(), &["run", "--draws", "20000"]);
    assert_eq!(code(&output), 2);
    assert_has(&shown(&output), &["Next: Every guess was right", "one with a fixed seed"]);
}

#[test]
fn a_bound_above_the_stated_truth_is_a_surprise() {
    let folder =
        folder(&[("wrong", &GOOD.replace("relation", "truth = { epsilon = 0.5 }\nrelation"))]);
    let output = dp_audit(folder.path(), &["run", "--draws", "100000"]);
    assert_eq!(code(&output), 2);
    assert_has(&shown(&output), &["contradicts the truth that the audit file states"]);
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
    let output = dp_audit(good.path(), &["run", "-q", "--draws", "1000", "--allow-inconclusive"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let pairs = ["written out", "one above", "one above, swapped", "one below, swapped"];
    assert_eq!(Table::of_run(good.path()).column("pair"), pairs);
    let clash = folder(&[("clash", &patterns.replace("written out", "one above"))]);
    let output = dp_audit(clash.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["pair \"one above\": another pair has this name"]);
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
        assert_has(&errors(&output), &[wanted]);
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
    write(&suite, "more.toml", &named("more"));
    let runs = |args: &[&str], expected: &[&str]| {
        assert_eq!(
            code(&dp_audit(
                folder.path(),
                &[&["run", "-q", "--draws", "1000", "--allow-inconclusive"], args].concat()
            )),
            0
        );
        assert_eq!(Table::of_run(folder.path()).column("audit"), expected);
    };
    runs(&[], &["good", "more"]);
    write(&suite, "OPT-IN", "");
    runs(&[], &["good"]);
    runs(&["audits/suite"], &["more"]);
    runs(&["audits", "audits/suite/more.toml"], &["good", "more"]);
}

#[test]
fn show_lists_several_audits_and_shows_one_in_full() {
    let folder = folder(&[("good", GOOD), ("other", &named("other"))]);
    let text = |args: &[&str]| {
        let output = dp_audit(folder.path(), args);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        shown(&output)
    };
    let in_full = ["laplace", "ε = 1", "add-remove", "one more", "[x × 2]"];
    let all = text(&["show"]);
    assert_has(&all, &["good", "audits/good.toml", "other", "audits/other.toml"]);
    assert!(!all.contains("[x × 2]"), "{all}");
    assert_eq!(text(&["show", "audits"]), all);
    assert_eq!(text(&["show", "o"]), all, "each name contains it");
    assert_has(&text(&["show", "--mechanisms"]), &["median/propose-test-release"]);
    let one = text(&["show", "good"]);
    assert_has(&one, &in_full);
    for same in [&["audits/good.toml"][..], &["good.toml"], &["good", "audits"]] {
        assert_eq!(text(&[&["show"], same].concat()), one, "{same:?}");
    }
    assert_has(&text(&["show", "--plain", "good", "other"]), &["good\n\nWhat", "other\n\nWhat"]);
    let output = dp_audit(folder.path(), &["show", "audits/bad.toml"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["audits/bad.toml: cannot be read"]);
}

#[test]
fn show_takes_a_file_where_there_is_no_folder_of_audits() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "mine.toml", GOOD);
    for (args, wanted) in [
        (&["show", "mine.toml"][..], "[x × 2]"),
        (&["show", "good", "mine.toml"], "[x × 2]"),
        (&["show", "mine.toml", "--plain"], "What is claimed"),
    ] {
        let output = dp_audit(folder.path(), args);
        assert_eq!(code(&output), 0, "{args:?}: {}", errors(&output));
        assert_has(&shown(&output), &[wanted]);
    }
    for (args, wanted) in [
        (&["show", "yours.toml"][..], "yours.toml: cannot be read"),
        (&["show"], "audits: cannot be read"),
        (&["show", "yours", "mine.toml"], "no audit matches 'yours'"),
        (&["show", "mine.toml", "--mechanisms"], "cannot be used with"),
    ] {
        let output = dp_audit(folder.path(), args);
        assert_eq!(code(&output), 1, "{args:?}");
        assert_has(&errors(&output), &[wanted]);
    }
}

#[test]
fn without_a_terminal_lines_have_at_most_a_hundred_characters() {
    // Its parameters are tables within tables.
    let nested = "audits/notes/k-anonymity-joined.toml";
    for args in [&["show"][..], &["show", "--mechanisms"], &["show", nested]] {
        let text = shown(&dp_audit(&repository(""), args));
        let longest = text.lines().max_by_key(|line| line.chars().count()).unwrap();
        assert!(longest.chars().count() <= 100, "{args:?}: {longest}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_every_finished_audit() {
    use crate::harness::program::{interrupted, with_draws};
    // The file is there when the first audit has ended; the second would run for hours.
    let folder = folder(&[
        ("a-good", &with_draws(GOOD, 20_000)),
        ("b-slow", &with_draws(&named("slow"), 1_000_000_000_000)),
    ]);
    let said = interrupted(folder.path(), &["run"], "results/audit.csv");
    assert_has(&said, &["Interrupted.", "the same command with --resume continues"]);
    assert_eq!(Table::of_run(folder.path()).column("audit"), ["good"]);
    // The result that reports are made of has it too, and cannot pass.
    let report = dp_audit(folder.path(), &["report", "results/audit.json", "--report-only"]);
    assert_eq!(code(&report), 5);
    assert_has(&shown(&report), &["good", "It was interrupted"]);
    let said = interrupted(folder.path(), &["run", "-q"], "results/audit.csv");
    assert_eq!(said, "");
}

#[test]
fn a_reader_who_goes_away_ends_nothing() {
    let folder = folder(&[("good", GOOD)]);
    for args in [["show", "audits"].as_slice(), &["run", "--draws", "100000"]] {
        let mut child = command(folder.path())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{args:?}");
    }
    assert_eq!(Table::of_run(folder.path()).rows.len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_with_one_and_a_message_and_the_reports_are_written() {
    let folder = folder(&[("good", GOOD)]);
    for args in [["show"].as_slice(), &["show", "--mechanisms"], &["run", "--draws", "20000"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(folder.path()).args(args).stdout(full).output().unwrap();
        let message = errors(&output);
        assert_eq!(code(&output), 1, "{args:?}: {message}");
        assert!(
            message.contains("cannot write to standard output: No space left on device"),
            "{args:?}: {message}"
        );
        assert!(!message.contains("panicked"), "{args:?}: {message}");
    }
    assert_eq!(Table::of_run(folder.path()).rows.len(), 1);
    assert!(!folder.path().join("results/audit.csv.journal").exists(), "the run came to its end");
}

#[test]
fn two_reports_never_share_a_file_whatever_it_is_called() {
    let folder = folder(&[("good", GOOD)]);
    for other in ["out.csv", "./out.csv", "sub/../out.csv"] {
        let output = dp_audit(
            folder.path(),
            &["run", "-q", "--draws", "1000", "--csv", "out.csv", "--html", other],
        );
        assert_eq!(code(&output), 1, "{other}");
        assert!(errors(&output).contains("two reports cannot share a file"), "{}", errors(&output));
        assert!(!folder.path().join("out.csv").exists(), "nothing was written");
    }
}

#[test]
fn reports_can_go_to_standard_output_and_the_words_then_go_elsewhere() {
    let folder = folder(&[("good", GOOD)]);
    let output = dp_audit(folder.path(), &["run", "--draws", "20000", "--csv", "-"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.starts_with("audit,mechanism,"));
    assert!(errors(&output).contains("1 audit, 1 pair"), "{}", errors(&output));
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "20000", "--json", "-"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["complete"], true);
    let output = dp_audit(folder.path(), &["run", "--csv", "-", "--resume"]);
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("no journal"), "{}", errors(&output));
    assert!(!folder.path().join("-").exists());
}

#[test]
fn names_that_programs_take_for_formulas_or_commands_are_harmless() {
    let formula = GOOD.replace("\"good\"", "\"=HYPERLINK(1)\"");
    let folder1 = folder(&[("good", &formula)]);
    assert_eq!(
        code(&dp_audit(folder1.path(), &["run", "-q", "--draws", "20000", "--allow-inconclusive"])),
        0
    );
    let csv = std::fs::read_to_string(folder1.path().join("results/audit.csv")).unwrap();
    assert!(csv.lines().nth(1).unwrap().starts_with("'=HYPERLINK(1),"), "{csv}");
    let control = GOOD.replace("\"good\"", "\"go\\u001b[31mod\"");
    let folder2 = folder(&[("good", &control)]);
    let output = dp_audit(folder2.path(), &["run", "-q"]);
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("control character"), "{}", errors(&output));
    assert!(!errors(&output).contains('\u{1b}'));
}

#[test]
fn a_long_name_loses_no_results() {
    let long = GOOD
        .replace("\"good\"", &format!("\"{}\"", "long ".repeat(80)))
        .replace("epsilon = 1.0 }\nclaim", "epsilon = 4.0 }\nclaim");
    let folder = folder(&[("good", &long)]);
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "20000", "--report-only"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert_eq!(crate::harness::program::witnesses(folder.path()).len(), 1);
}

#[test]
fn completions_the_manual_and_the_built_in_audits_come_with_the_program() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = dp_audit(folder.path(), &["completions", shell]);
        assert_eq!(code(&output), 0);
        assert!(String::from_utf8_lossy(&output.stdout).contains("calibrate"), "{shell}");
    }
    let output = dp_audit(folder.path(), &["man"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains(".TH dp-audit 1"));
    assert_eq!(code(&dp_audit(folder.path(), &["man", "pages"])), 0);
    assert!(folder.path().join("pages/dp-audit-run.1").exists());
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert!(errors(&output).contains("dp-audit export"), "{}", errors(&output));
    assert_eq!(code(&dp_audit(folder.path(), &["export"])), 0);
    let output = dp_audit(folder.path(), &["show"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("median, noise at local sensitivity"));
    assert!(folder.path().join("dp_audit_worker.py").exists());
}
