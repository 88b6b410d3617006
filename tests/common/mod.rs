//! Shared by the integration tests: audits from text, run in this process.
#![allow(dead_code)] // each test file uses its own part

pub mod program;

use std::path::PathBuf;

use dp_audit::cell::{Cell, Rows};
use dp_audit::error::TargetError;
use dp_audit::mechanism::{Side, Target};
use dp_audit::noise::Generator;
use dp_audit::report::PairReport;
use dp_audit::run::{self, Settings, Until};
use dp_audit::sample::StreamSeed;
use dp_audit::spec::{self, Audit};
use rand::SeedableRng;

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

/// A target made of a function that writes one row.
pub struct Outputs<F> {
    pub width: usize,
    pub draw: F,
}

impl<F: Fn(Side, &mut Generator, &mut [Cell]) + Send + Sync> Target for Outputs<F> {
    fn open(&self) -> Result<usize, TargetError> {
        Ok(self.width)
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(self.width);
        rows.resize(count);
        rows.iter_mut().for_each(|row| (self.draw)(side, &mut rng, row));
        sink(&rows);
        Ok(())
    }
}

/// The audit of such a target.
pub fn audit_of(epsilon: f64, delta: f64, target: impl Target + 'static) -> Vec<Audit> {
    let mut audits = audit(&format!(
        r#"
        name = "outputs"
        mechanism = "laplace"
        params = {{ query = "count", epsilon = 1.0 }}
        claim = {{ epsilon = {epsilon:?}, delta = {delta:?} }}
        relation = "replace-one"
        [[pair]]
        name = "0 or 1"
        left = [0]
        right = [1]
        "#
    ));
    audits[0].pairs[0].target = Box::new(target);
    audits
}
