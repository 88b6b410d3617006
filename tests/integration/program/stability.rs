//! Stability claims through the program: exact verdicts, exit codes, reports, messages.

use crate::harness::program::{
    Table, assert_has, code, dp_audit, errors, folder, json, python, read, shown, write,
};

/// A histogram of which one record is replaced: it moves by 2 in l1.
const HISTOGRAM: &str = r#"
name = "histogram"
mechanism = "transformation"
params.step = { query = "histogram" }
stability = { input = 1, output = 2, metric = "l1" }
relation = "replace-one"

[[pair]]
name = "replaced"
left = ["a", "b"]
right = ["b", "b"]
"#;

/// Runs a file and returns the exit code, the text and the table.
fn run(text: &str) -> (i32, String, Table) {
    let folder = folder(&[("a", text)]);
    let output = dp_audit(folder.path(), &["run"]);
    (code(&output), shown(&output) + &errors(&output), Table::of_run(folder.path()))
}

/// The message about a file that is refused.
fn refused(text: &str) -> String {
    let folder = folder(&[("a", text)]);
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1, "{}", shown(&output));
    errors(&output)
}

#[test]
fn the_distance_is_exact_and_decides() {
    for (output, verdict, reason, exit, reach) in [
        ("1.9999999999999998", "violated", "", 2, 1.0),
        ("2", "consistent", "", 0, 1.0),
        ("4", "consistent", "", 0, 0.5),
        ("4.5", "inconclusive", "claim-not-reached", 3, 0.444_444),
    ] {
        let (code, text, table) =
            run(&HISTOGRAM.replace("output = 2", &format!("output = {output}")));
        assert_eq!(
            (code, table.cell(0, "verdict"), table.cell(0, "reason")),
            (exit, verdict, reason),
            "{text}"
        );
        assert_eq!((table.number(0, "lower"), table.cell(0, "unit")), (2.0, "l1-distance"));
        assert!((table.number(0, "reach") - reach).abs() < 1e-5, "{output}");
        assert_eq!(table.cell(0, "rule"), "[1, 1] on left, [0, 2] on right");
        for column in [
            "claim_epsilon",
            "claim_delta",
            "epsilon_lower",
            "delta_lower",
            "correct",
            "wrong",
            "abstained",
            "resolved",
        ] {
            assert_eq!(table.cell(0, column), "", "{column}");
        }
    }
}

#[test]
fn every_report_says_what_was_compared() {
    let broken = HISTOGRAM.replace("output = 2", "output = 1");
    let folder = folder(&[("a", &broken)]);
    let reports = [
        "--html",
        "r.html",
        "--json",
        "r.json",
        "--junit",
        "r.xml",
        "--markdown",
        "r.md",
        "--witnesses",
        "w",
    ];
    let output = dp_audit(folder.path(), &[&["run"], &reports[..]].concat());
    assert_eq!(code(&output), 2);
    let sentence = "sees outputs at l1 distance 2; the claim allows 1";
    assert_has(&shown(&output), &[sentence]);
    for file in ["r.html", "r.xml"] {
        assert_has(&read(folder.path(), file), &[sentence]);
    }
    assert_has(&read(folder.path(), "r.md"), &["l1-distance ≥ 2 of 1"]);
    let report = json(folder.path(), "r.json");
    assert_eq!(report["audits"][0]["claim"]["stability"]["metric"], "l1");
    assert_eq!(report["audits"][0]["pairs"][0]["sentence"], sentence);
    let explained = dp_audit(folder.path(), &["show", "histogram", "--report", "r.json"]);
    assert_has(
        &shown(&explained),
        &["claimed to be stable", "l1 distance ≤ 1", "this is certain", sentence],
    );
}

#[test]
fn it_takes_no_share_of_the_confidence() {
    // The same seed and the same share of α give the same bounds to the last digit.
    let laplace = "name = \"count\"\nmechanism = \"laplace\"\nparams = { query = \"count\", epsilon = 1.0 }\nclaim = { epsilon = 1.0 }\n\
                   relation = \"add-remove\"\n[[pair]]\nname = \"more\"\nleft = [\"x\"]\nright = [\"x\", \"x\"]\n";
    let lower = |files: &[(&str, &str)]| {
        let folder = folder(files);
        let output = dp_audit(folder.path(), &["run", "--draws", "50000"]);
        let table = Table::of_run(folder.path());
        let row = table
            .column("audit")
            .iter()
            .position(|name| *name == "count")
            .unwrap_or_else(|| panic!("{}", errors(&output)));
        table.cell(row, "epsilon_lower").to_owned()
    };
    assert_eq!(lower(&[("a", laplace)]), lower(&[("a", laplace), ("b", HISTOGRAM)]));
}

#[test]
fn bad_claims_are_refused_with_line_and_remedy() {
    for (from, to, parts) in [
        ("output = 2", "output = -2", ["a.toml", "output is -2, must be at least 0 and finite"]),
        (
            "metric = \"l1\"",
            "metric = \"l3\"",
            ["a.toml", "unknown variant `l3`, expected one of `l1`, `l2`"],
        ),
        (
            "relation",
            "claim = { epsilon = 1 }\nrelation",
            ["a.toml", "stability and claim are both given"],
        ),
        (
            "relation",
            "attacks = [\"coordinates\"]\nrelation",
            ["a.toml", "attacks is about privacy"],
        ),
        (
            "right = [\"b\", \"b\"]",
            "right = [\"b\", \"b\"]\ntruth = { epsilon = 1 }",
            ["a.toml", "pair.0.truth is about privacy"],
        ),
        (
            "right = [\"b\", \"b\"]",
            "right = [\"c\", \"c\"]",
            ["a.toml", "left and right are not neighbours"],
        ),
        ("input = 1", "input = 0", ["a.toml", "input is 0, must be positive and finite"]),
    ] {
        assert_has(&refused(&HISTOGRAM.replace(from, to)), &parts);
    }
    // Two steps apart is what this claim is about.
    let two = HISTOGRAM
        .replace("input = 1, output = 2", "input = 2, output = 4")
        .replace("right = [\"b\", \"b\"]", "right = [\"c\", \"c\"]");
    assert_eq!(run(&two).2.number(0, "lower"), 4.0);
    // The same claim in the table of claims.
    let spelled = HISTOGRAM.replace(
        "stability = { input = 1, output = 2, metric = \"l1\" }",
        "claim = { stability = { input = 1, output = 2, metric = \"l1\" } }",
    );
    assert_eq!(run(&spelled).0, 0);
}

#[test]
fn noise_is_an_error_and_not_a_verdict() {
    let noisy = HISTOGRAM.replace("\"transformation\"", "\"laplace\"").replace(
        "params.step = { query = \"histogram\" }",
        "params = { query = \"histogram\", epsilon = 1.0 }",
    );
    let (code, text, table) = run(&noisy);
    assert_eq!((code, table.cell(0, "verdict")), (5, "error"), "{text}");
    assert_has(
        &text,
        &["differ from draw to draw", "A stability claim is about a transformation without noise"],
    );
}

#[test]
fn programs_are_compared_too() {
    if !python("programs_are_compared_too", "") {
        return;
    }
    let audit = |metric: &str, function: &str| {
        format!(
            "name = \"a\"\nmechanism = \"command\"\ncommand = [\"python3\", \"{{worker}}\", \"{function}\"]\n\
             stability = {{ input = 1, output = 1, metric = \"{metric}\" }}\nrelation = \"add-remove\"\n\
             [[pair]]\nname = \"p\"\nleft = [1, 2]\nright = [1, 2, 3]\n"
        )
    };
    let verdict = |metric: &str, function: &str| {
        let folder = folder(&[("a", &audit(metric, &format!("t.py:{function}")))]);
        write(
            &folder.path().join("audits"),
            "t.py",
            "def total(data, rng):\n    return sum(data)\n\ndef size(data, rng):\n    return len(data)\n\ndef words(data, rng):\n    return 'big' if len(data) > 2 else 'small'\n",
        );
        let output = dp_audit(folder.path(), &["run"]);
        let table = Table::of_run(folder.path());
        (
            table.cell(0, "verdict").to_owned(),
            table.cell(0, "lower").to_owned(),
            shown(&output) + &errors(&output),
        )
    };
    let (found, lower, text) = verdict("l1", "total");
    assert_eq!((found.as_str(), lower.as_str()), ("violated", "3.0"), "{text}");
    assert_eq!(verdict("l1", "size").0, "consistent");
    // A distance of texts is not a number of l1, so nothing is said about the claim.
    let (found, _, text) = verdict("l1", "words");
    assert_eq!(found, "error", "{text}");
    assert_has(&text, &["l1 is a distance of numbers", "hamming"]);
}

#[test]
fn a_value_with_parts_is_an_error_and_not_one_step() {
    if !python("a_value_with_parts_is_an_error_and_not_one_step", "") {
        return;
    }
    // Ten members more, and four entries that change: as one text each would be a distance of 1 or
    // 2.
    let functions = "def many(data, rng):\n    return set(f'k{i}' for i in range(10 * len(data)))\n\n\
                     def entries(data, rng):\n    n = len(data)\n    return {'a': n, 'b': 2 * n, 'c': 3 * n, 'd': -n}\n\n\
                     def records(data, rng):\n    return [f'k{i}' for i in range(2 * len(data))]\n\n\
                     def seldom(data, rng):\n    return len(data) + (rng.random() < 0.2)\n";
    for (function, metric, verdict) in [
        ("many", "symmetric", "error"),
        ("entries", "hamming", "error"),
        ("records", "symmetric", "consistent"),
        ("seldom", "hamming", "error"),
    ] {
        let text = format!(
            "name = \"a\"\nmechanism = \"command\"\ncommand = [\"python3\", \"{{worker}}\", \"t.py:{function}\"]\n\
             stability = {{ input = 1, output = 2, metric = \"{metric}\" }}\nrelation = \"add-remove\"\n\
             [[pair]]\nname = \"p\"\nleft = [1, 2]\nright = [1, 2, 3]\n"
        );
        let folder = folder(&[("a", &text)]);
        write(&folder.path().join("audits"), "t.py", functions);
        let output = dp_audit(folder.path(), &["run"]);
        assert_eq!(
            Table::of_run(folder.path()).cell(0, "verdict"),
            verdict,
            "{function}: {}",
            shown(&output) + &errors(&output)
        );
    }
}
