//! Accuracy claims through the program: verdicts, exit codes, reports, messages.

use serde_json::Value;

use crate::harness::program::{
    GOOD, Table, assert_has, between, code, documented, dp_audit, errors, folder, json, of_program,
    read, shown, write,
};

/// A Laplace count of 1 with scale 1, which is within 3 with probability 1 − e^−3 = 0.9502.
const NEAR: &str = r#"
name = "near"
mechanism = "laplace"
params = { query = "count", epsilon = 1.0 }

[[accuracy]]
name = "within 3"
data = ["x"]
event = { within = 3, of = 1 }
probability = 0.95
"#;

/// The same with another claim.
fn claiming(probability: &str) -> String {
    NEAR.replace("probability = 0.95", probability)
}

/// Runs a file and returns the exit code, the text and the table.
fn run(text: &str, args: &[&str]) -> (i32, String, Table) {
    let folder = folder(&[("near", text)]);
    let output = dp_audit(folder.path(), &[&["run"], args].concat());
    (code(&output), shown(&output) + &errors(&output), Table::of_run(folder.path()))
}

#[test]
fn a_claim_is_consistent_violated_or_inconclusive() {
    // All limits hold together with probability 0.999 in each run. With 200,000 draws the standard
    // error is 0.0005.
    let (passes, text, table) = run(NEAR, &["--draws", "200000"]);
    assert_eq!(
        (passes, table.cell(0, "verdict"), table.cell(0, "as_expected")),
        (0, "consistent", "true"),
        "{text}"
    );
    assert_has(
        &text,
        &[
            "1 audit, 1 accuracy claim, 200,000 draws",
            "0 claims refuted, 1 of 1 verdict as expected",
        ],
    );
    let (lower, upper) = (table.number(0, "failure_lower"), table.number(0, "failure_upper"));
    assert!(lower < 0.049_787 && upper > 0.049_787 && upper < 0.055, "{lower} to {upper}");
    assert!((table.number(0, "reach") - lower / 0.05).abs() < 1e-4);
    let failures = table.number(0, "failures") / 200_000.0;
    assert!(lower < failures && failures < upper);
    for column in [
        "claim_epsilon",
        "claim_delta",
        "relation",
        "epsilon_lower",
        "rule",
        "asked_reach",
        "unit",
        "claimed",
    ] {
        assert_eq!(table.cell(0, column), "", "{column}");
    }
    assert_eq!(
        (table.cell(0, "pair"), table.cell(0, "accuracy_event")),
        ("within 3", "every value is within 3 of 1")
    );

    let (fails, text, table) = run(&claiming("probability = 0.97"), &["--draws", "200000"]);
    assert_eq!((fails, table.cell(0, "verdict")), (2, "violated"), "{text}");
    assert_has(
        &text,
        &[
            "“every value is within 3 of 1” fails in",
            "and 0.03 is allowed",
            "NOT AS EXPECTED",
            "exit code 2",
        ],
    );
    let (expected, text, _) =
        run(&claiming("probability = 0.97\nexpect = \"violated\""), &["--draws", "200000"]);
    assert_eq!(expected, 0, "{text}");
    assert_has(&text, &["1 claim refuted, 1 of 1 verdict as expected"]);
    assert_eq!(
        run(
            &claiming("probability = 0.97\nexpect = \"violated\""),
            &["--draws", "200000", "--fail-on", "violated"]
        )
        .0,
        2
    );

    let (undecided, text, table) = run(NEAR, &["--draws", "1000"]);
    assert_eq!(
        (undecided, table.cell(0, "verdict"), table.cell(0, "reason")),
        (3, "inconclusive", "too-few-draws"),
        "{text}"
    );
    assert_has(&text, &["inconclusive", "too-few-draws", "exit code 3"]);
    // A wider resolution needs fewer draws.
    assert_eq!(run(&claiming("probability = 0.95\nresolution = 3"), &["--draws", "1000"]).0, 0);
}

#[test]
fn certainty_is_refuted_by_a_single_failure() {
    let (code, text, table) = run(&claiming("probability = 1"), &["--draws", "1000"]);
    assert_eq!(
        (code, table.cell(0, "verdict"), table.cell(0, "reach")),
        (2, "violated", "inf"),
        "{text}"
    );
    let certain = "name = \"exact\"\nmechanism = \"mode/exact\"\n[[accuracy]]\nname = \"the mode\"\ndata = [\"a\", \"a\", \"b\"]\n\
                   event = { equals = \"a\" }\nprobability = 1\ntruth = 1.0\n";
    let (code, text, table) = run(certain, &["--draws", "100000"]);
    assert_eq!((code, table.cell(0, "failures")), (0, "0"), "{text}");
    assert!(table.number(0, "failure_upper") < 1e-4);
    assert_eq!(run(certain, &["--draws", "1000"]).0, 3);
}

#[test]
fn a_truth_outside_the_limits_fails_the_run() {
    assert_eq!(run(&claiming("probability = 0.9\ntruth = 0.950213"), &["--draws", "200000"]).0, 0);
    for wrong in ["0.94", "0.96"] {
        let (code, text, _) =
            run(&claiming(&format!("probability = 0.9\ntruth = {wrong}")), &["--draws", "200000"]);
        assert_eq!(code, 2, "{text}");
        assert_has(&text, &["the bound contradicts the truth that the audit file states"]);
    }
}

#[test]
fn an_accuracy_claim_counts_like_a_pair_and_leaves_its_audit_as_it_is() {
    let accuracy = "\n[[accuracy]]\nname = \"within 3\"\ndata = [\"x\"]\nevent = { within = 3, of = 1 }\nprobability = 0.9\n";
    let pair =
        "\n[[pair]]\nname = \"two more\"\nleft = [\"x\", \"x\"]\nright = [\"x\", \"x\", \"x\"]\n";
    let [with_accuracy, with_pair] =
        [accuracy, pair].map(|more| run(&format!("{GOOD}{more}"), &["--draws", "100000"]).2);
    // The pair has half of α in both runs.
    assert_eq!(with_accuracy.rows[0], with_pair.rows[0]);
    assert_eq!(with_accuracy.column("verdict"), ["consistent", "consistent"]);
    let (_, text, table) = run(
        &format!("{GOOD}{accuracy}"),
        &["--draws", "100000", "--pair", "within", "--csv", "results/audit.csv"],
    );
    assert_eq!(table.column("pair"), ["within 3"], "{text}");
}

#[test]
fn reports_are_the_same_on_any_number_of_threads() {
    let text = format!(
        "{NEAR}draws = 300000\n\n{}",
        NEAR.split_once("\n\n").unwrap().1.replace("within 3", "again").replace("0.95", "0.97")
    );
    let folder = folder(&[("near", &text.replace("0.97", "0.97\nexpect = \"violated\""))]);
    let report = |threads: &str, seed: &str| {
        let output = dp_audit(
            folder.path(),
            &["run", "-q", "--threads", threads, "--seed", seed, "--draws", "300000"],
        );
        assert_eq!(code(&output), 0, "{}", errors(&output));
        Table::of_run(folder.path())
    };
    let one = report("1", "3");
    assert_eq!(one, report("2", "3"));
    assert_ne!(one.column("failures"), report("2", "4").column("failures"));
    assert_ne!(one.cell(0, "failures"), one.cell(1, "failures"), "each claim has its own draws");
}

#[test]
fn all_reports_say_the_same() {
    let text = format!(
        "{GOOD}{}",
        NEAR.split_once("\n\n")
            .unwrap()
            .1
            .replace("probability = 0.95", "probability = 0.97\nsource = \"<a> & b\"")
    );
    let folder = folder(&[("near", &text)]);
    let files = ["--html", "r.html", "--json", "r.json", "--junit", "r.xml", "--markdown", "r.md"];
    let output = dp_audit(folder.path(), &[&["run", "--draws", "100000"], &files[..]].concat());
    assert_eq!(code(&output), 2, "{}", errors(&output));
    let table = Table::of_run(folder.path());
    let json = json(folder.path(), "r.json");
    let claim = &json["audits"][0]["accuracy"][0];
    for (column, cell) in table.columns.iter().zip(&table.rows[1]) {
        match &claim[column] {
            Value::Null => assert_eq!(cell, "", "{column}"),
            Value::String(text) => assert_eq!(text, cell, "{column}"),
            Value::Number(number) => assert_eq!(number.as_f64(), cell.parse().ok(), "{column}"),
            other => assert_eq!(&other.to_string(), cell, "{column}"),
        }
    }
    assert_eq!(
        (&json["audits"][0]["verdict"], &json["summary"]["accuracy_claims"]),
        (&"violated".into(), &1.into())
    );
    let (lower, upper) = (table.cell(1, "failure_lower"), table.cell(1, "failure_upper"));
    let xml = read(folder.path(), "r.xml");
    let case = between(&xml, "<testcase name=\"within 3\"", "</testcase>");
    assert_has(
        case,
        &[
            "<failure",
            "violated, expected consistent",
            &format!("name=\"failure_lower\" value=\"{lower}\""),
        ],
    );
    assert_has(
        &read(folder.path(), "r.md"),
        &[&format!(
            "| ✗ | violated | good | within 3 | every value is within 3 of 1 | 0.97 | 0.03 | {lower} | {upper} |"
        )],
    );
    let html = read(folder.path(), "r.html");
    assert_has(
        &html,
        &[
            "1 pair and 1 accuracy claim",
            "The claim is refuted: its event fails more often than 3.0 %.",
            "&lt;a&gt; &amp; b",
        ],
    );
    // A report is a baseline and can be explained.
    let again = dp_audit(folder.path(), &["run", "--draws", "100000", "--baseline", "r.json"]);
    assert_has(&shown(&again), &["Nothing is worse than in the baseline."]);
    let explained = dp_audit(folder.path(), &["show", "good", "--report", "r.json"]);
    assert_has(
        &shown(&explained),
        &["What is claimed about accuracy", "within 3: violated. The claim is refuted"],
    );
    let less = text.replace("epsilon = 1.0 }\nclaim", "epsilon = 1.0, scale_factor = 1.2 }\nclaim");
    write(folder.path(), "audits/near.toml", &less);
    let worse = dp_audit(folder.path(), &["run", "--draws", "100000", "--baseline", "r.json"]);
    assert_has(
        &shown(&worse),
        &["WORSE than the baseline: good / within 3: fails with probability at least"],
    );
    assert_has(
        &shown(&dp_audit(folder.path(), &["show", "good"])),
        &["accuracy     within 3", "every value is within 3 of 1"],
    );
}

#[cfg(unix)]
#[test]
fn a_program_is_judged_and_one_that_cannot_be_run_is_an_error() {
    let claim = "[[accuracy]]\nname = \"within 3\"\ndata = [\"x\"]\nevent = { within = 3, of = 1 }\nprobability = 0.93\n";
    let text = of_program("count", &["sh", "worker.sh"], "") + claim;
    let folder = folder(&[("count", &text)]);
    write(folder.path(), "audits/worker.sh", &documented("sh"));
    let output = dp_audit(
        folder.path(),
        &["run", "-q", "--draws", "60000", "--pair", "within", "--csv", "results/audit.csv"],
    );
    assert_eq!(code(&output), 0, "{}{}", shown(&output), errors(&output));
    write(folder.path(), "audits/worker.sh", "echo no licence found >&2; exit 3");
    let output = dp_audit(
        folder.path(),
        &["run", "--draws", "60000", "--pair", "within", "--csv", "results/audit.csv"],
    );
    assert_eq!(code(&output), 5, "{}", shown(&output));
    assert_has(
        &shown(&output),
        &["count / within 3", "Could not be run", "no licence found", "COULD NOT BE RUN"],
    );
    let table = Table::of_run(folder.path());
    assert_eq!((table.cell(0, "verdict"), table.cell(0, "failures")), ("error", ""));
    assert!(table.cell(0, "rule").starts_with("not run: "));
    // What the outputs are is known only when it runs.
    write(folder.path(), "audits/worker.sh", &documented("sh"));
    write(folder.path(), "audits/count.toml", &text.replace("of = 1 }", "of = 1, component = 2 }"));
    let output = dp_audit(
        folder.path(),
        &["run", "--draws", "1000", "--pair", "within", "--csv", "results/audit.csv"],
    );
    assert_eq!(code(&output), 5);
    assert_has(
        &shown(&output),
        &["event: component is 2, but an output has 1; choose one of these"],
    );
}

#[cfg(unix)]
#[test]
fn a_resumed_run_has_the_results_of_an_uninterrupted_one() {
    let text = of_program("program", &["sh", "worker.sh"], "")
        + &NEAR.split_once("\n\n").unwrap().1.replace("0.95", "0.93");
    let folder = folder(&[("a", NEAR), ("b", &text)]);
    let run = |worker: &str, args: &[&str]| {
        write(folder.path(), "audits/worker.sh", worker);
        dp_audit(
            folder.path(),
            &[&["run", "--draws", "20000", "--allow-inconclusive"], args].concat(),
        )
    };
    assert_eq!(code(&run("exit 3", &[])), 5);
    let resumed = run(&documented("sh"), &["--resume"]);
    assert_eq!(code(&resumed), 0, "{}{}", shown(&resumed), errors(&resumed));
    assert_has(&errors(&resumed), &["Resuming: 1 of 2 audits finished already."]);
    let table = Table::of_run(folder.path());
    assert_eq!(table.column("pair"), ["within 3", "one more", "within 3"]);
    assert_eq!(code(&run(&documented("sh"), &[])), 0);
    assert_eq!(table, Table::of_run(folder.path()));
    // A claim that has changed is not what was finished.
    assert_eq!(code(&run("exit 3", &[])), 5);
    write(folder.path(), "audits/a.toml", &claiming("probability = 0.94"));
    let refused = run(&documented("sh"), &["--resume"]);
    assert_eq!(code(&refused), 1);
    assert_has(&errors(&refused), &["the audit \"near\" was finished and has changed since"]);
}

/// Each bad claim, and what the message must name.
#[test]
fn bad_claims_are_explained() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("probability = 0.95", "", &["accuracy[0]", "missing field `probability`"]),
        (
            "probability = 0.95",
            "probability = 1.5",
            &["line 10", "accuracy[0].probability is 1.5, must be at least 0 and at most 1"],
        ),
        (
            "probability = 0.95",
            "probability = 0",
            &["line 10", "accuracy \"within 3\": probability is 0, must be greater than 0"],
        ),
        ("probability = 0.95", "probability = 0.95\ntruth = 2", &["accuracy[0].truth is 2"]),
        (
            "probability = 0.95",
            "probability = 0.95\ndraws = 0",
            &["line 11", "draws is 0, must be a whole number from 1 to 1e12"],
        ),
        (
            "probability = 0.95",
            "probability = 0.95\nresolution = 0",
            &["accuracy[0].resolution is 0, must be positive"],
        ),
        (
            "probability = 0.95",
            "probability = 0.95\nexpect = \"fine\"",
            &["accuracy[0].expect", "unknown variant `fine`"],
        ),
        (
            "probability = 0.95",
            "probability = 0.95\nsize = 1",
            &["accuracy[0]", "unknown field `size`"],
        ),
        ("event = { within = 3, of = 1 }", "", &["accuracy[0]", "missing field `event`"]),
        (
            "{ within = 3, of = 1 }",
            "{ within = 3 }",
            &["line 9", "accuracy[0].event", "has within without of"],
        ),
        (
            "{ within = 3, of = 1 }",
            "{ within = -3, of = 1 }",
            &["line 9", "has within = -3, must be at least 0"],
        ),
        (
            "{ within = 3, of = 1 }",
            "{}",
            &["accuracy[0].event", "has no condition; give one of equals"],
        ),
        (
            "{ within = 3, of = 1 }",
            "{ equal = 1 }",
            &["accuracy[0].event", "unknown field `equal`", "equals"],
        ),
        (
            "{ within = 3, of = 1 }",
            "{ equals = 1, component = 2 }",
            &["line 9", "event: component is 2, but an output has 1"],
        ),
        (
            "{ within = 3, of = 1 }",
            "{ within = 1, of = [1, 2] }",
            &["line 9", "its list has 2 values, but an output has 1"],
        ),
        ("data = [\"x\"]", "data = [true]", &["accuracy[0].data", "the record true"]),
        ("data = [\"x\"]", "left = [\"x\"]", &["accuracy[0]", "unknown field `left`", "data"]),
        (
            "query = \"count\"",
            "query = \"values\"",
            &["line 8", "accuracy \"within 3\": data: the record x is not a number"],
        ),
        ("epsilon = 1.0", "epsilon = 0", &["line 4", "params.epsilon is 0, must be positive"]),
        ("name = \"within 3\"", "name = \"\"", &["the name of the accuracy claim is empty"]),
        (
            "[[accuracy]]",
            "expect = \"violated\"\n[[accuracy]]",
            &["expect is about pairs, and there is none", "add a [[pair]], or remove expect"],
        ),
        (
            "[[accuracy]]",
            "claim = { epsilon = 1 }\n[[accuracy]]",
            &["line 6", "claim is about pairs, and there is none"],
        ),
        (
            "[[accuracy]]",
            "[[accuracy]]\nname = \"within 3\"\ndata = []\nevent = { equals = 1 }\nprobability = 1\n[[accuracy]]",
            &["another accuracy claim or pair has this name"],
        ),
    ];
    for (old, new, wanted) in cases {
        assert!(NEAR.contains(old), "the case {old} tests nothing");
        let folder = folder(&[("bad", &NEAR.replacen(old, new, 1))]);
        let output = dp_audit(folder.path(), &["run", "--draws", "1000"]);
        let message = errors(&output);
        assert_eq!(code(&output), 1, "{new}: {message}");
        assert!(message.contains("audits/bad.toml: "), "{new}: {message}");
        assert_has(&message, wanted);
        assert!(!folder.path().join("results").exists(), "{new}: nothing is written");
    }
}
