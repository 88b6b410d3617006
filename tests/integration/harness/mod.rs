//! Shared by all tests: audits from text, run in this process. [`program`] has the program as its
//! users call it.
//!
//! All tests share one process: none may change its environment, its current folder or its global
//! thread pool.

pub mod program;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dp_audit::noise::Generator;
use dp_audit::parts::upper_tail;
use dp_audit::{
    Audit, Cell, Claim, Confidence, PairPlan, PrepareError, PrivacyEvidence, Rows, RunReport,
    Settings, Side, StreamSeed, Target, TargetError, Until, Verdict, suite,
};
use rand::SeedableRng;

/// A right program fails a test with at most this probability, where the test can choose.
pub const FALSE_ALARM: f64 = 1e-6;

/// A file or folder of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// All audits of a file or folder.
pub fn load(path: PathBuf) -> Vec<Audit> {
    suite::load(&[path]).unwrap_or_else(|error| panic!("{error}"))
}

/// The audit in this text.
pub fn audit(text: &str) -> Vec<Audit> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("audit.toml");
    std::fs::write(&file, text).expect("a temporary file");
    load(file)
}

/// The committed audits of a file or folder below `audits`.
pub fn committed(file: &str) -> Vec<Audit> {
    load(repository("audits").join(file))
}

/// A probability as a confidence.
pub fn confidence(probability: f64) -> Confidence {
    probability.try_into().expect("a confidence")
}

/// What is claimed.
pub fn claim(epsilon: f64, delta: f64) -> Claim {
    Claim::new(epsilon, delta).expect("a claim")
}

/// Settings for a run at the literature's confidence of 95 %.
pub fn settings(draws: u64, seed: u64) -> Settings {
    Settings {
        draws: Some(draws),
        seed,
        confidence: confidence(0.95),
        until: Until::Budget,
        controls: false,
        ..Settings::default()
    }
}

/// The settings of `dp-audit run` without options, but for the seed.
pub fn defaults(seed: u64) -> Settings {
    Settings {
        draws: None,
        seed,
        confidence: confidence(0.999),
        until: Until::Budget,
        controls: false,
        ..Settings::default()
    }
}

/// Settings for a run in which a claim that holds is refuted, or a bound lies above the truth, with
/// probability [`FALSE_ALARM`] at most.
pub fn sure(draws: u64) -> Settings {
    Settings { confidence: confidence(1.0 - FALSE_ALARM), ..settings(draws, 1) }
}

/// What can be run: audits of the catalogue, or a target of a test's own.
pub trait Runnable {
    fn run(&self, settings: Settings) -> RunReport;
}

impl Runnable for [Audit] {
    fn run(&self, settings: Settings) -> RunReport {
        dp_audit::run(self, settings, &dp_audit::prepare, &())
    }
}

impl Runnable for Vec<Audit> {
    fn run(&self, settings: Settings) -> RunReport {
        self.as_slice().run(settings)
    }
}

impl Runnable for Given {
    fn run(&self, settings: Settings) -> RunReport {
        let source = |_: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
            Ok(Box::new(Arc::clone(&self.target)))
        };
        dp_audit::run(std::slice::from_ref(&self.audit), settings, &source, &())
    }
}

/// The evidence on a pair, and the verdict on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub verdict: Verdict,
    pub evidence: PrivacyEvidence,
}

impl Deref for Found {
    type Target = PrivacyEvidence;

    fn deref(&self) -> &PrivacyEvidence {
        &self.evidence
    }
}

/// What a run found on its first pair.
pub fn found(report: &RunReport) -> Result<Found, TargetError> {
    let judged = report.audits[0].statements().next().expect("a pair");
    let evidence = judged.result.outcome.clone()?.privacy().expect("a privacy claim").clone();
    Ok(Found { verdict: judged.verdict().expect("a verdict"), evidence })
}

/// What was found on the only pair.
pub fn outcome(
    audits: &(impl Runnable + ?Sized),
    settings: Settings,
) -> Result<Found, TargetError> {
    found(&audits.run(settings))
}

/// The only pair's evidence.
pub fn report(audits: &(impl Runnable + ?Sized), settings: Settings) -> Found {
    outcome(audits, settings).expect("the mechanism runs")
}

/// The target of an audit's first pair.
pub fn target(audit: &Audit) -> Box<dyn Target> {
    dp_audit::prepare(audit.plans(settings(1, 1), 1).next().expect("a pair").pair())
        .expect("a mechanism of the catalogue")
}

/// Fails if `count` of `runs` is more than a chance of `rate` each explains. A right program fails
/// this with probability [`FALSE_ALARM`] at most.
pub fn assert_rare(what: &str, count: usize, runs: u64, rate: f64) {
    let chance = upper_tail(count as u64, runs, rate);
    assert!(
        chance > FALSE_ALARM,
        "{what}: {count} of {runs} where {rate} of them are allowed; α = {FALSE_ALARM}"
    );
}

/// A Laplace count that claims ε = 1 and has `factor` times the noise it should have.
pub fn laplace(factor: f64) -> Vec<Audit> {
    audit(&program::laplace("laplace", factor, "consistent"))
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

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(self.width);
        rows.resize(count);
        rows.iter_mut().for_each(|row| (self.draw)(side, &mut rng, row));
        sink(&rows);
        Ok(())
    }
}

/// An audit with a target of the test's own.
pub struct Given {
    pub audit: Audit,
    pub target: Arc<dyn Target>,
}

/// The audit of a target under a claim.
pub fn audit_of(epsilon: f64, delta: f64, target: impl Target + 'static) -> Given {
    let audit =
        Audit::given("outputs", "a test's own", claim(epsilon, delta), ["0 or 1".to_owned()]);
    Given { audit, target: Arc::new(target) }
}
