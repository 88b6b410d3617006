//! The auditor audited, as its users meet it.

use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::harness::program::{
    Table, assert_has, code, dp_audit, errors, files, folder, laplace, read, shown,
};
use crate::harness::repository;

fn calibrate(folder: &Path, args: &[&str]) -> Output {
    dp_audit(folder, &[&["calibrate"], args].concat())
}

/// A folder with the audit of a Laplace count that claims ε = 1 and is expected to hold, whatever
/// its noise and its stated truth.
fn count(factor: f64, truth: f64) -> TempDir {
    let text = laplace("laplace", factor, "consistent")
        .replace("expect", &format!("truth = {{ epsilon = {truth:?} }}\nexpect"));
    folder(&[("count", &text)])
}

fn rates(folder: &Path) -> Table {
    Table::read(folder, "results/calibration.csv")
}

#[test]
fn every_boundary_mechanism_has_a_row_and_the_picture_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = calibrate(
        folder.path(),
        &["--seeds", "10", "--draws", "2000", "--confidence", "0.999", "--pictures", "pictures"],
    );
    // A correct harness fails this if 2 of 10 runs are false alarms at 0.1 %, which has probability
    // 4.5e-5; for 23 rates about 0.001.
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let rates = rates(folder.path());
    assert_eq!(rates.rows.len(), files(&repository("src/calibrate/boundary")).len());
    for (column, expected) in
        [("seeds", "10"), ("draws", "2000"), ("confidence", "0.999"), ("holds", "true")]
    {
        assert!(rates.column(column).iter().all(|cell| *cell == expected), "{rates:?}");
    }
    assert_has(&read(folder.path(), "pictures/false-alarms.svg"), &rates.column("audit"));
    assert!(!folder.path().join("pictures/power.svg").exists());
}

#[test]
fn false_alarms_beyond_the_confidence_end_with_two() {
    // Half the noise it should have, expected to hold all the same: every run is an alarm that the
    // file calls false. At 99.999 % a bound is 1.667 ± 0.073: above 1 on all of 500 seeds, and
    // above 2 with probability 2e-4 at most in one of twenty runs.
    let folder = count(0.5, 2.0);
    let output = calibrate(
        folder.path(),
        &["audits", "--seeds", "20", "--draws", "4000", "--confidence", "0.99999"],
    );
    assert_eq!(code(&output), 2);
    assert_has(&shown(&output), &["MORE FALSE ALARMS"]);
    assert_eq!(rates(folder.path()).column("violated"), ["20"]);
    assert_eq!(rates(folder.path()).column("above_truth"), ["0"]);
}

#[test]
fn bounds_above_a_stated_truth_end_with_two() {
    // A bound is 0.893 ± 0.059: one of twenty is below 0.5 with probability 3e-10.
    let folder = count(1.0, 0.5);
    let output =
        calibrate(folder.path(), &["audits", "--seeds", "20", "--draws", "4000", "--quiet"]);
    assert_eq!(code(&output), 2);
    assert!(output.stdout.is_empty());
    assert_eq!(rates(folder.path()).column("above_truth"), ["20"]);
}

#[test]
fn power_grows_with_the_draws_and_with_the_leak() {
    let folder = tempfile::tempdir().unwrap();
    let args =
        ["--power", "--seeds", "20", "--draws", "1000,10000", "--csv", "p.csv", "--pictures", "."];
    let output = calibrate(folder.path(), &args);
    // A rate counts as too high from 5 bounds of 20 above the truth on; at the 2 % that are usual,
    // one of 14 rates is with probability 5e-4.
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = Table::read(folder.path(), "p.csv");
    assert_eq!(table.rows.len(), 14);
    let caught = |audit: &str, draws: &str| -> f64 {
        let row = (0..14).find(|row| {
            table.cell(*row, "audit").contains(audit) && table.cell(*row, "draws") == draws
        });
        table.number(row.unwrap_or_else(|| panic!("{audit}")), "violated")
    };
    // With 10,000 draws, 1.01 and 2 lie some 0.2 and 20 standard errors beyond the claim: the first
    // is caught in 6 % of the runs, in half of twenty with probability 4e-8; 1.5 is ten standard
    // deviations beyond it.
    assert!(caught("1.01 ", "10000") < 10.0 && caught("noise 2 ", "10000") == 20.0, "{table:?}");
    assert!(caught("1.5 ", "1000") <= caught("1.5 ", "10000"));
    assert_has(&read(folder.path(), "power.svg"), &["noise 1.01 times"]);
}

#[test]
fn wrong_usage_is_told_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &["--seeds", "0"][..],
        &["--confidence", "1"],
        &["missing.toml"],
        &["--power", "audit.toml"],
        &["--csv", "."],
    ] {
        let output = calibrate(folder.path(), args);
        assert_eq!(code(&output), 1, "{args:?}");
        assert!(!output.stderr.is_empty());
    }
}
