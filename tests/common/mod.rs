//! Shared by the integration tests: audits from text, run in this process.
#![allow(dead_code)] // each test file uses its own part

pub mod program;

use std::path::PathBuf;

use dp_audit::report::PairReport;
use dp_audit::run::{self, Settings, Until};
use dp_audit::spec::{self, Audit};

/// The audit in this text.
pub fn audit(text: &str) -> Vec<Audit> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("audit.toml");
    std::fs::write(&file, text).expect("a temporary file");
    spec::load(&[file]).unwrap_or_else(|error| panic!("{error}"))
}

/// The committed audit file.
pub fn committed(file: &str) -> Vec<Audit> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits", file].iter().collect();
    spec::load(&[path]).unwrap_or_else(|error| panic!("{error}"))
}

/// Settings for a run at the literature's confidence of 95 %.
pub fn settings(draws: u64, seed: u64) -> Settings {
    Settings { draws: Some(draws), seed, confidence: 0.95.try_into().expect("a confidence"), until: Until::Budget }
}

/// The only pair's report.
pub fn report(audits: &[Audit], settings: Settings) -> PairReport {
    let mut report = run::run(audits, settings, &[]);
    report.audits.remove(0).pairs.remove(0).1.expect("an in-process mechanism runs")
}

/// A Laplace count that claims ε = 1 and has `factor` times the noise it should have.
pub fn laplace(factor: f64) -> Vec<Audit> {
    audit(&format!(
        r#"
        name = "laplace"
        mechanism = "laplace"
        params = {{ query = "count", epsilon = 1.0, scale_factor = {factor:?} }}
        claim = {{ epsilon = 1.0 }}
        relation = "add-remove"
        [[pair]]
        name = "one more"
        left = ["x"]
        right = ["x", "x"]
        "#
    ))
}
