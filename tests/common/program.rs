//! The program as its users call it.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a folder.
pub fn dp_audit(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dp-audit")).args(args).current_dir(folder).output().expect("the program starts")
}

/// Its exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ends by itself")
}

/// What it wrote to standard error.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An audit of a mechanism that is as good as its claim.
pub const GOOD: &str = r#"
name = "good"
mechanism = "laplace"
params = { query = "count", epsilon = 1.0 }
claim = { epsilon = 1.0 }
relation = "add-remove"
expect = "consistent"

[[pair]]
name = "one more"
left = ["x"]
right = ["x", "x"]
"#;

/// A folder with `audits/NAME.toml` for each text.
pub fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("audits")).unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join("audits").join(format!("{name}.toml")), text).unwrap();
    }
    folder
}

/// All rows of the CSV report but its last column, the seconds.
pub fn rows(folder: &Path, csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(folder.join(csv)).unwrap();
    let mut rows: Vec<Vec<String>> = vec![reader.headers().unwrap().iter().map(str::to_owned).collect()];
    rows.extend(reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()));
    rows.iter_mut().for_each(|row| assert!(row.pop().is_some()));
    rows
}

/// Puts a worker beside the audits.
pub fn worker(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join("audits").join(name), text).unwrap();
}
