//! The auditor audited, as its users meet it.

use std::path::Path;
use std::process::{Command, Output};

fn calibrate(folder: &Path, args: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_dp-audit");
    Command::new(program).arg("calibrate").args(args).current_dir(folder).output().expect("the program starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

/// The named columns of a CSV file's rows.
fn columns(file: &Path, names: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(file).unwrap();
    let headers = reader.headers().unwrap().clone();
    let places: Vec<usize> = names.iter().map(|name| headers.iter().position(|header| header == *name).unwrap()).collect();
    reader.records().map(|row| places.iter().map(|place| row.as_ref().unwrap()[*place].to_owned()).collect()).collect()
}

/// A Laplace count that claims ε = 1 and is expected to hold, whatever its noise.
fn laplace(scale_factor: f64, truth: f64) -> String {
    format!(
        r#"
        name = "laplace"
        mechanism = "laplace"
        params = {{ query = "count", epsilon = 1.0, scale_factor = {scale_factor:?} }}
        claim = {{ epsilon = 1.0 }}
        relation = "add-remove"
        truth = {{ epsilon = {truth:?} }}
        [[pair]]
        name = "one more"
        left = ["x"]
        right = ["x", "x"]
        "#
    )
}

#[test]
fn every_boundary_mechanism_has_a_row_and_the_picture_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = calibrate(folder.path(), &["--seeds", "10", "--draws", "2000", "--confidence", "0.999", "--pictures", "pictures"]);
    // A correct harness fails this if 2 of 10 runs are false alarms at 0.1 %, which has probability 4.5e-5; for 14 rates less than 0.001.
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let rows = columns(&folder.path().join("results/calibration.csv"), &["audit", "seeds", "draws", "confidence", "holds"]);
    assert_eq!(rows.len(), dp_audit::calibrate::boundary().unwrap().len());
    assert!(rows.iter().all(|row| row[1..] == ["10", "2000", "0.999", "true"]), "{rows:?}");
    let picture = std::fs::read_to_string(folder.path().join("pictures/false-alarms.svg")).unwrap();
    assert!(rows.iter().all(|row| picture.contains(&row[0])));
    assert!(!folder.path().join("pictures/power.svg").exists());
}

#[test]
fn false_alarms_beyond_the_confidence_end_with_two() {
    // Half the noise it should have, expected to hold all the same: every run is an alarm that the file calls false.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("audit.toml"), laplace(0.5, 2.0)).unwrap();
    let output = calibrate(folder.path(), &["audit.toml", "--seeds", "20", "--draws", "4000"]);
    assert_eq!(code(&output), 2);
    assert!(String::from_utf8_lossy(&output.stdout).contains("MORE FALSE ALARMS"));
    assert_eq!(columns(&folder.path().join("results/calibration.csv"), &["violated", "above_truth"]), [["20", "0"]]);
}

#[test]
fn bounds_above_a_stated_truth_end_with_two() {
    let folder = tempfile::tempdir().unwrap();
    let text = laplace(1.0, 0.5);
    std::fs::write(folder.path().join("audit.toml"), text).unwrap();
    let output = calibrate(folder.path(), &["audit.toml", "--seeds", "20", "--draws", "4000", "--quiet"]);
    assert_eq!(code(&output), 2);
    assert!(output.stdout.is_empty());
    assert_eq!(columns(&folder.path().join("results/calibration.csv"), &["above_truth"]), [["20"]]);
}

#[test]
fn power_grows_with_the_draws_and_with_the_leak() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--power", "--seeds", "20", "--draws", "1000,10000", "--csv", "p.csv", "--pictures", "."];
    let output = calibrate(folder.path(), &args);
    assert_eq!(code(&output), 0, "{}", String::from_utf8_lossy(&output.stderr));
    let rows = columns(&folder.path().join("p.csv"), &["audit", "draws", "violated"]);
    assert_eq!(rows.len(), 14);
    let caught = |audit: &str, draws: &str| -> u32 {
        rows.iter().find(|row| row[0].contains(audit) && row[1] == draws).map_or_else(|| panic!("{audit}"), |row| row[2].parse().unwrap())
    };
    // With 10,000 draws, 1.01 and 2 lie some 0.2 and 20 standard errors beyond the claim.
    assert!(caught("1.01 ", "10000") < 10 && caught("noise 2 ", "10000") == 20, "{rows:?}");
    assert!(caught("1.5 ", "1000") <= caught("1.5 ", "10000"));
    assert!(std::fs::read_to_string(folder.path().join("power.svg")).unwrap().contains("noise 1.01 times"));
}

#[test]
fn wrong_usage_is_told_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["--seeds", "0"][..], &["--confidence", "1"], &["missing.toml"], &["--power", "audit.toml"], &["--csv", "."]] {
        let output = calibrate(folder.path(), args);
        assert_eq!(code(&output), 1, "{args:?}");
        assert!(!output.stderr.is_empty());
    }
}
