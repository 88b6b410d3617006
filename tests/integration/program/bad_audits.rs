//! Bad audit files: every message names the file, the place and what would be right, and nothing is
//! written.

use crate::harness::program::{GOOD, assert_has, code, dp_audit, errors, folder, read, write};

/// Each bad audit file, and what the message must name.
#[test]
fn bad_audit_files_are_explained() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "claim = { epsilon = 1.0 }",
            "claim = { epsilon = -1.0 }",
            &["line 5", "claim.epsilon is -1, must be at least 0 and finite"],
        ),
        (
            "claim = { epsilon = 1.0 }",
            "claim = { epsilon = 1.0, delta = 2.0 }",
            &["claim.delta is 2, must be at least 0 and less than 1"],
        ),
        (
            "claim = { epsilon = 1.0 }",
            "claim = { epsilon = 1.0, detla = 0.0 }",
            &["claim", "unknown field `detla`", "delta"],
        ),
        ("claim = { epsilon = 1.0 }", "", &["missing field `claim`"]),
        (
            "expect = \"consistent\"",
            "expects = \"consistent\"",
            &["unknown field `expects`", "expect"],
        ),
        (
            "expect = \"consistent\"",
            "expect = \"fine\"",
            &["expect", "unknown variant `fine`", "violated"],
        ),
        (
            "expect = \"consistent\"",
            "draws = 0",
            &["draws is 0, must be a whole number from 1 to 1e12"],
        ),
        (
            "expect = \"consistent\"",
            "draws = 1_000_000_000_001",
            &["draws is 1000000000001, must be a whole number from 1 to 1e12"],
        ),
        ("expect = \"consistent\"", "resolution = 0", &["resolution is 0, must be positive"]),
        (
            "expect = \"consistent\"",
            "reach = { at_least = 0.3 }",
            &["line 7", "reach is 0.3, and less than 0.5 needs a reason", "add because = "],
        ),
        (
            "expect = \"consistent\"",
            "reach = { at_least = 0.3, because = \" \" }",
            &["needs a reason"],
        ),
        (
            "expect = \"consistent\"",
            "reach = { at_least = 1.5 }",
            &["reach.at_least is 1.5, must be at least 0 and at most 1"],
        ),
        (
            "expect = \"consistent\"",
            "reach = { at_least = -0.5, because = \"x\" }",
            &["reach.at_least is -0.5, must be at least 0"],
        ),
        (
            "expect = \"consistent\"",
            "reach = { least = 1 }",
            &["reach", "unknown field `least`", "at_least"],
        ),
        ("expect = \"consistent\"", "reach = 0.3", &["reach", "0.3", "struct"]),
        ("expect = \"consistent\"", "control = {}", &["control is empty", "parameter"]),
        (
            "expect = \"consistent\"",
            "control = { epsilon = -1 }",
            &["line 7", "control", "epsilon is -1, must be positive"],
        ),
        (
            "expect = \"consistent\"",
            "control = { noise = 2 }",
            &["with the control's parameters", "unknown field `noise`"],
        ),
        ("expect = \"consistent\"", "control = { epsilon = nan }", &["control.epsilon is nan"]),
        (
            "expect = \"consistent\"",
            "control = { audit = 3 }",
            &["control.audit must be the name of an audit"],
        ),
        (
            "expect = \"consistent\"",
            "control = { audit = \"a\", epsilon = 2 }",
            &["control.audit", "the only key"],
        ),
        (
            "expect = \"consistent\"",
            "control = { audit = \"good\" }",
            &["is \"good\", which is not expected to be violated"],
        ),
        (
            "expect = \"consistent\"",
            "expect = \"violated\"\ncontrol = { epsilon = 2 }",
            &["control is only for an audit that is expected"],
        ),
        ("expect = \"consistent\"", "attacks = []", &["attacks is empty"]),
        (
            "expect = \"consistent\"",
            "attacks = [\"guessing\"]",
            &["attacks[0]", "unknown variant `guessing`", "naive-bayes"],
        ),
        ("expect = \"consistent\"", "truth = { epsilon = -2 }", &["truth.epsilon is -2"]),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"command\"",
            &["mechanism is \"command\", which needs one", "my_mechanism.py"],
        ),
        ("mechanism = \"laplace\"", "mechanism = \"command\"\ncommand = []", &["command is empty"]),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"command\"\ncommand = \"sh x\"",
            &["command", "string", "sequence"],
        ),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"command\"\ncommand = [\"sh\"]\ntimeout = 0",
            &["timeout is 0, must be positive"],
        ),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"laplace\"\ntimeout = 5",
            &["timeout: is for mechanism = \"command\" only"],
        ),
        (
            "mechanism = \"laplace\"\nparams = {",
            "mechanism = \"command\"\ncommand = [\"sh\"]\nparams = { x = [nan],",
            &["params.x is nan", "string"],
        ),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"laplac\"",
            &["mechanism is \"laplac\"", "not known", "laplace"],
        ),
        (
            "epsilon = 1.0 }\nclaim",
            "epsilon = 0 }\nclaim",
            &["params.epsilon is 0, must be positive"],
        ),
        (
            "epsilon = 1.0 }\nclaim",
            "epsilon = 1.0, noise = 2 }\nclaim",
            &["params", "unknown field `noise`", "scale_factor"],
        ),
        (
            "query = \"count\"",
            "query = \"size\"",
            &["params.query", "unknown variant `size`", "count"],
        ),
        (
            "query = \"count\"",
            "query = { sum = { lower = 1, upper = 0 } }",
            &["params.query", "lower is 1, must be less than upper, which is 0"],
        ),
        (
            "query = \"count\"",
            "query = { sum = { lower = 0, upper = 1 } }",
            &["left", "the record x is not a number"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"replace-one\"",
            &["pair \"one more\"", "not neighbours", "only in right x"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"custom\"",
            &["relation is \"custom\"", "reason"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"add-remove\"\nreason = \"no\"",
            &["reason", "custom"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"add\"",
            &["relation", "unknown variant `add`", "add-remove"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"component-wise\"",
            &["pair \"one more\"", "left has 1 components and right 2", "at most 1"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"single-component\"",
            &["pair \"one more\"", "left has 1 components and right 2"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"component-wise\"\nreason = \"no\"",
            &["reason", "custom"],
        ),
        ("expect = \"consistent\"", "pairs = {}", &["pairs", "missing field `patterns`"]),
        (
            "expect = \"consistent\"",
            "pairs = { pattern = 3 }",
            &["pairs", "unknown field `pattern`", "patterns"],
        ),
        (
            "expect = \"consistent\"",
            "pairs = { patterns = { components = 0 } }",
            &["pairs.patterns.components is 0, must be a whole number from 1"],
        ),
        (
            "expect = \"consistent\"",
            "pairs = { patterns = { components = -2 } }",
            &["pairs.patterns.components is -2"],
        ),
        (
            "expect = \"consistent\"",
            "pairs = { patterns = { components = \"5\" } }",
            &["pairs.patterns.components", "string"],
        ),
        (
            "expect = \"consistent\"",
            "pairs = { patterns = { components = 5, size = 1 } }",
            &["pairs.patterns", "unknown field `size`"],
        ),
        (
            "expect = \"consistent\"",
            "pairs = { patterns = { components = 5 } }",
            &["pairs.patterns: relation is \"add-remove\"", "component-wise"],
        ),
        (
            "epsilon = 1.0 }\nclaim",
            "epsilon = 1.0, copies = 0 }\nclaim",
            &["params.copies", "nonzero"],
        ),
        ("query = \"count\"", "query = \"values\"", &["left", "the record x is not a number"]),
        (
            "right = [\"x\", \"x\"]",
            "right = [\"x\"]",
            &["not neighbours", "only in left nothing, only in right nothing"],
        ),
        ("right = [\"x\", \"x\"]", "right = [true]", &["pair[0].right", "the record true"]),
        ("right = [\"x\", \"x\"]", "right = [{ value = \"x\", times = -2 }]", &["times is -2"]),
        ("right = [\"x\", \"x\"]", "", &["pair[0]", "missing field `right`"]),
        (
            "[[pair]]\nname = \"one more\"\nleft = [\"x\"]\nright = [\"x\", \"x\"]",
            "",
            &["pair", "there is none", "[[pair]]"],
        ),
        ("name = \"good\"", "name = \"\"", &["name is empty"]),
        ("name = \"good\"", "name = good", &["line 2"]),
    ];
    explained(cases);
}

/// Names that are nearly right, and what was meant.
#[test]
fn what_was_meant_is_suggested() {
    explained(&[
        (
            "mechanism = \"laplace\"",
            "mechanism = \"comand\"\ncommand = [\"true\"]",
            &["line 3", "mechanism is \"comand\", which is not known; did you mean \"command\"?"],
        ),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"python\"\ncommand = [\"true\"]",
            &["did you mean \"command\"?"],
        ),
        ("[[pair]]", "[[pairs]]", &["unknown field `pairs`; did you mean [[pair]]?"]),
        ("[[pair]]", "[[audits]]", &["unknown field `audits`; did you mean [[audit]]?"]),
    ]);
}

/// Each replacement in a good file makes it bad, and the message names these parts.
fn explained(cases: &[(&str, &str, &[&str])]) {
    for (old, new, wanted) in cases {
        assert!(GOOD.contains(old), "the case {old} tests nothing");
        let folder = folder(&[("bad", &GOOD.replace(old, new))]);
        let output = dp_audit(folder.path(), &["run", "--draws", "1000"]);
        let message = errors(&output);
        assert_eq!(code(&output), 1, "{new}: {message}");
        assert!(message.contains("audits/bad.toml: "), "{new}: {message}");
        assert_has(&message, wanted);
        assert!(!folder.path().join("results").exists(), "{new}: nothing is written");
    }
}

#[test]
fn all_bad_files_are_reported_at_once_and_earlier_results_stay() {
    let folder = folder(&[
        ("a", &GOOD.replace("1.0 }\nrelation", "-1 }\nrelation")),
        ("b", "name = 3"),
        ("c", GOOD),
        ("d", GOOD),
    ]);
    std::fs::create_dir(folder.path().join("results")).unwrap();
    write(folder.path(), "results/audit.csv", "earlier");
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert_has(
        &errors(&output),
        &[
            "audits/a.toml: ",
            "audits/b.toml: ",
            "audits/d.toml: line 2, column 8: name is \"good\", which audits/c.toml has already",
        ],
    );
    assert_eq!(read(folder.path(), "results/audit.csv"), "earlier");
}
