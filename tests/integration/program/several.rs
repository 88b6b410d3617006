//! Several audits in one file: they run, are listed, filtered, compared and replayed like audits in
//! files of their own.

use crate::harness::program::{
    GOOD, Table, assert_has, code, dp_audit, errors, folder, json, shown, witnesses, write,
};

/// Three Laplace counts with shared keys: exact, with half the noise, and a sum with its own pair.
const THREE: &str = r#"
mechanism = "laplace"
params = { query = "count", epsilon = 1.0 }
claim = { epsilon = 1.0 }
relation = "add-remove"
draws = 2e5

[[pair]]
name = "one more"
left = ["x"]
right = ["x", { value = "x", times = 1.0 }]

[[audit]]
name = "exact"

[[audit]]
name = "half the noise"
params = { scale_factor = 0.5 }
expect = "violated"

[[audit]]
name = "sum"
params = { query = { sum = { lower = 0, upper = 5 } } }
draws = 100_000
reach = { at_least = 0.1, because = "the records differ by 1 and may differ by 5" }
[[audit.pair]]
name = "a small record"
left = [1]
right = [1, 1]
"#;

#[test]
fn audits_of_one_file_run_as_those_of_many() {
    let together = folder(&[("three", THREE)]);
    let output = dp_audit(together.path(), &["run", "--json", "report.json"]);
    assert_eq!(code(&output), 0, "{}{}", shown(&output), errors(&output));
    let table = Table::of_run(together.path());
    let column = |name| table.column(name);
    assert_eq!(column("audit"), ["exact", "half the noise", "sum"]);
    assert_eq!(column("verdict"), ["consistent", "violated", "consistent"]);
    assert_eq!(column("draws"), ["200000", "200000", "100000"]);
    assert_eq!(column("pair"), ["one more", "one more", "a small record"]);
    // The same audit in a file of its own: the streams derive from its name.
    let alone = folder(&[("alone", &GOOD.replace("\"good\"", "\"exact\""))]);
    assert_eq!(code(&dp_audit(alone.path(), &["run", "-q", "--draws", "2e5"])), 0);
    // Where they stand among the audits of a run decides the share of α.
    assert_eq!(Table::of_run(alone.path()).cell(0, "verdict"), table.cell(0, "verdict"));
    let one = folder(&[("three", THREE)]);
    assert_eq!(code(&dp_audit(one.path(), &["run", "-q", "--filter", "exact"])), 0);
    let (part, alone) = (Table::of_part(one.path()), Table::of_run(alone.path()));
    for column in part.columns.iter().filter(|column| *column != "file") {
        assert_eq!(part.column(column), alone.column(column), "{column}");
    }
    assert_eq!(part.columns, alone.columns);

    let output = dp_audit(together.path(), &["run", "-q", "--baseline", "report.json"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let stricter =
        json(together.path(), "report.json").to_string().replace("\"exact\"", "\"gone\"");
    write(together.path(), "report.json", &stricter);
    let output = dp_audit(together.path(), &["run", "--baseline", "report.json"]);
    assert_has(&shown(&output), &["gone"]);
}

#[test]
fn they_are_listed_shown_and_replayed_by_name() {
    let folder = folder(&[("three", THREE)]);
    assert_has(
        &shown(&dp_audit(folder.path(), &["show"])),
        &["exact", "half the noise", "sum", "audits/three.toml"],
    );
    assert_has(&shown(&dp_audit(folder.path(), &["show", "sum"])), &["a small record", "upper"]);
    let of_file = shown(&dp_audit(folder.path(), &["show", "audits/three.toml"]));
    assert_has(&of_file, &["exact", "half the noise", "sum"]);
    let of_names = shown(&dp_audit(folder.path(), &["show", "sum", "half"]));
    assert!(of_names.contains("half the noise") && !of_names.contains("exact"), "{of_names}");
    assert_eq!(code(&dp_audit(folder.path(), &["run", "-q"])), 0);
    let found = witnesses(folder.path());
    assert_eq!(found.len(), 1, "{found:?}");
    let output = dp_audit(folder.path(), &["replay", found[0].to_str().unwrap(), "--seed", "1"]);
    assert_eq!(code(&output), 0, "{}{}", shown(&output), errors(&output));
}

#[test]
fn problems_are_shown_where_they_are() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "name = \"sum\"",
            "name = \"exact\"",
            &["line 22, column 8: name is \"exact\"", "another audit of the file"],
        ),
        ("name = \"exact\"", "", &["line 13", "missing field `name`"]),
        (
            "name = \"exact\"",
            "name = \"exact\"\ndraw = 5",
            &["line 15, column 1", "unknown field `draw`; did you mean `draws`?"],
        ),
        (
            "name = \"exact\"",
            "name = \"exact\"\ndraws = 1.5",
            &["line 15, column 9: draws is 1.5, must be a whole number"],
        ),
        (
            "name = \"exact\"",
            "name = \"exact\"\ndraws = -5",
            &["draws is -5, must be a whole number from 1 to 1e12"],
        ),
        (
            "scale_factor",
            "scale_factr",
            &["line 18, column 12", "unknown field `scale_factr`; did you mean `scale_factor`?"],
        ),
        ("upper = 5", "upper = 0", &["line 23", "lower is 0, must be less than upper"]),
        ("left = [1]", "left = [1, 1]", &["line 29", "pair \"a small record\"", "not neighbours"]),
        // A shared key that is wrong is reported once.
        (
            "claim = { epsilon = 1.0 }",
            "claim = { epsilon = -1 }",
            &["line 4", "claim.epsilon is -1"],
        ),
        (
            "epsilon = 1.0 }\nclaim",
            "epsilom = 1.0 }\nclaim",
            &["line 3", "unknown field `epsilom`; did you mean `epsilon`?"],
        ),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"lapalce\"",
            &["line 2", "did you mean \"laplace\"?"],
        ),
        (
            "mechanism = \"laplace\"",
            "name = \"x\"\nmechanism = \"laplace\"",
            &["line 2", "give each [[audit]] its own name"],
        ),
        (
            "mechanism = \"laplace\"",
            "mechanism = \"laplace\"\nmechanisms = 3",
            &["line 3", "unknown field `mechanisms`; did you mean `mechanism`?"],
        ),
        ("draws = 2e5", "draws = 2e5\ndraws = 3", &["line 7", "duplicate key"]),
    ];
    for (old, new, wanted) in cases {
        assert!(THREE.contains(old), "the case {old} tests nothing");
        let folder = folder(&[("bad", &THREE.replacen(old, new, 1))]);
        let output = dp_audit(folder.path(), &["run", "--draws", "1000"]);
        let message = errors(&output);
        assert_eq!(code(&output), 1, "{new}: {message}");
        assert_eq!(message.matches("audits/bad.toml: ").count(), 1, "{new}: {message}");
        assert_has(&message, wanted);
    }
}

#[test]
fn a_name_may_not_be_in_two_files() {
    let folder = folder(&[("three", THREE), ("two", &GOOD.replace("\"good\"", "\"sum\""))]);
    let output = dp_audit(folder.path(), &["show"]);
    assert_eq!(code(&output), 1);
    assert_has(
        &errors(&output),
        &[
            "audits/two.toml: line 2, column 8: name is \"sum\", which audits/three.toml has already",
        ],
    );
}
