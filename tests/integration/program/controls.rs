//! Controls: mechanisms that leak more than is claimed must be caught, and say nothing about the
//! claim.

use crate::harness::program::{
    GOOD, Table, assert_has, code, dp_audit, errors, folder, laplace, shown, witnesses,
};

fn with_control(control: &str) -> String {
    GOOD.replace(
        "expect = \"consistent\"",
        &format!("expect = \"consistent\"\ncontrol = {control}"),
    )
}

#[test]
fn a_control_that_is_caught_changes_nothing_and_one_that_is_not_makes_its_audit_inconclusive() {
    let run = |control: &str, args: &[&str]| {
        let folder = folder(&[("good", &with_control(control))]);
        let output = dp_audit(folder.path(), &[&["run", "--draws", "200000"], args].concat());
        assert!(witnesses(folder.path()).is_empty(), "a control leaves no witness");
        let table = Table::of_run(folder.path());
        let cells = ["verdict", "reason", "control", "as_expected"]
            .map(|column| table.cell(0, column).to_owned());
        (
            code(&output),
            shown(&output) + &errors(&output),
            cells,
            table.cell(0, "epsilon_lower").to_owned(),
        )
    };
    // Twice the leak is caught: ε ≥ 1.961 ± 0.014. Without the option nothing is audited.
    let (without, _, cells, bound) = run("{ epsilon = 2.0 }", &[]);
    assert_eq!(
        (without, cells.each_ref().map(String::as_str)),
        (0, ["consistent", "", "", "true"])
    );
    let (caught, text, cells, same) = run("{ epsilon = 2.0 }", &["--controls"]);
    assert_eq!(
        (caught, cells.each_ref().map(String::as_str)),
        (0, ["consistent", "", "caught", "true"])
    );
    assert_eq!(bound, same, "the level of the audit is the same");
    assert_has(&text, &["0 claims refuted"]);
    // A control that does not leak is refuted with probability 0.001 at most.
    let (missed, text, cells, same) = run("{ epsilon = 0.9 }", &["--controls"]);
    assert_eq!(
        (missed, cells.each_ref().map(String::as_str)),
        (3, ["inconclusive", "control-not-caught", "not-caught", ""])
    );
    assert_eq!(bound, same);
    assert_has(&text, &["Inconclusive, control-not-caught", "The run fails with exit code 3"]);
}

#[test]
fn a_broken_twin_in_the_same_run_is_a_control() {
    let twin = laplace("twin", 0.5, "violated");
    let files = [("a-good", with_control("{ audit = \"twin\" }")), ("b-twin", twin)];
    let folder = folder(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "200000"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = Table::of_run(folder.path());
    assert_eq!(table.column("audit"), ["twin", "good"], "the twin comes first");
    assert_eq!(table.column("control"), ["", "caught"]);
    // Alone, there is nothing to compare with.
    assert_eq!(
        code(&dp_audit(folder.path(), &["run", "-q", "--draws", "200000", "--filter", "good"])),
        0
    );
    assert_eq!(Table::of_part(folder.path()).column("control"), [""]);
}

#[test]
fn a_control_must_break_the_same_claim() {
    let other = laplace("twin", 0.5, "violated")
        .replace("claim = { epsilon = 1.0 }", "claim = { epsilon = 1.5 }");
    let folder = folder(&[("good", &with_control("{ audit = \"twin\" }")), ("twin", &other)]);
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "1000"]);
    assert_eq!(code(&output), 1);
    assert_has(
        &errors(&output),
        &["audits/good.toml", "control.audit is \"twin\", which has another claim"],
    );
}
