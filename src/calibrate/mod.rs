//! The auditor audited: how often it raises a false alarm over mechanisms that sit exactly on their claims, and how often it catches one that falls short.
//!
//! Every audit is run with many seeds, each run for itself, so that its confidence is that of one audit. The rates have Clopper–Pearson intervals
//! of their own.

mod audits;
mod csv;
pub mod files;
mod picture;
mod rate;

use rayon::prelude::*;

pub use audits::{all_short, boundary, short};
pub use rate::Rate;

use crate::audit::{self, Audit, AuditReport};
use crate::model::{Claim, Confidence, Expectation, Settings, Until, Verdict};
use crate::target::TargetError;

/// Draws per audit for false-alarm rates: few, so that many seeds are affordable.
pub const FALSE_ALARM_DRAWS: u64 = 20_000;

/// Seeds for false-alarm rates.
pub const FALSE_ALARM_SEEDS: u64 = 2_000;

/// Draws per audit for power curves: half decades.
pub const POWER_DRAWS: [u64; 8] = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000];

/// Seeds for each point of a power curve.
pub const POWER_SEEDS: u64 = 200;

/// How each audit is repeated.
#[derive(Clone, Copy, Debug)]
pub struct Repetition {
    /// The first seed.
    pub first_seed: u64,
    /// How many seeds, one run each.
    pub seeds: u64,
    /// The confidence of each run.
    pub confidence: Confidence,
}

/// What many runs of one audit with one budget came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The audit's name.
    pub audit: String,
    /// Its mechanism.
    pub mechanism: String,
    /// What was claimed.
    pub claim: Claim,
    /// Whether the claim holds: then every refutation is a false alarm.
    pub holds: bool,
    /// Draws per pair.
    pub draws: u64,
    /// The confidence of each run.
    pub confidence: Confidence,
    /// How often the claim was refuted.
    pub violated: Rate,
    /// How often a bound lay above the truth.
    pub above_truth: Rate,
    /// The mean of the ε bounds, the greatest of each run.
    pub mean_epsilon_lower: f64,
}

impl Outcome {
    /// What the confidence allows: the greatest rate of false alarms, and of bounds above the truth.
    #[must_use]
    pub fn allowed(&self) -> f64 {
        1.0 - self.confidence.get()
    }

    /// Whether either rate is known to be greater than the confidence allows.
    #[must_use]
    pub fn broken(&self) -> bool {
        (self.holds && self.violated.exceeds(self.allowed())) || self.above_truth.exceeds(self.allowed())
    }
}

/// Runs one audit with every seed, in parallel; `done` hears of each run.
///
/// # Errors
/// When the mechanism could not be run: a rate over the runs that worked would be of nothing in particular.
pub fn repeat(audit: &Audit, draws: u64, repetition: Repetition, done: &(dyn Fn() + Sync)) -> Result<Outcome, TargetError> {
    let runs: Vec<Run> = (repetition.first_seed..repetition.first_seed.saturating_add(repetition.seeds))
        .into_par_iter()
        .map(|seed| {
            let settings = Settings { draws: Some(draws), seed, confidence: repetition.confidence, until: Until::Budget };
            let found = audit::run(std::slice::from_ref(audit), settings, &crate::prepare, &());
            done();
            found.audits.iter().map(|report| Run::new(report)).collect::<Result<Vec<_>, _>>()
        })
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    let trials = runs.len() as u64;
    let rate = |hit: fn(&Run) -> bool| Rate { hits: runs.iter().filter(|run| hit(run)).count() as u64, trials };
    Ok(Outcome {
        audit: audit.name.clone(),
        mechanism: audit.subject.mechanism().to_owned(),
        claim: audit.claim,
        holds: audit.expect == Expectation::Consistent,
        draws,
        confidence: repetition.confidence,
        violated: rate(|run| run.violated),
        above_truth: rate(|run| run.above_truth),
        mean_epsilon_lower: runs.iter().map(|run| run.epsilon_lower).sum::<f64>() / trials.max(1) as f64,
    })
}

/// What counts of one run.
#[derive(Clone, Copy)]
struct Run {
    violated: bool,
    above_truth: bool,
    epsilon_lower: f64,
}

impl Run {
    fn new(report: &AuditReport) -> Result<Self, TargetError> {
        let mut run = Self { violated: report.verdict() == Some(Verdict::Violated), above_truth: false, epsilon_lower: 0.0 };
        for result in &report.results {
            let found = result.outcome.as_ref().map_err(Clone::clone)?;
            run.above_truth |= result.exceeds_truth();
            run.epsilon_lower = run.epsilon_lower.max(found.bounds.epsilon_lower);
        }
        Ok(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(holds: bool, violated: u64, above_truth: u64) -> Outcome {
        let audit = &boundary().unwrap()[0];
        let rate = |hits| Rate { hits, trials: 1000 };
        Outcome {
            audit: audit.name.clone(),
            mechanism: audit.subject.mechanism().to_owned(),
            claim: audit.claim,
            holds,
            draws: 1,
            confidence: 0.95.try_into().unwrap(),
            violated: rate(violated),
            above_truth: rate(above_truth),
            mean_epsilon_lower: 0.0,
        }
    }

    #[test]
    fn too_many_false_alarms_or_bounds_above_the_truth_are_broken_and_power_is_not() {
        // 50 of 1,000 are allowed; 80 are 4.4 standard deviations more, 60 are 1.5.
        assert!(outcome(true, 80, 0).broken());
        assert!(outcome(true, 0, 80).broken());
        assert!(outcome(false, 0, 80).broken());
        assert!(!outcome(true, 60, 60).broken());
        assert!(!outcome(false, 1000, 0).broken());
    }

    #[test]
    fn rates_count_runs_and_do_not_depend_on_the_order_of_threads() {
        let repetition = Repetition { first_seed: 5, seeds: 12, confidence: 0.95.try_into().unwrap() };
        let heard = std::sync::atomic::AtomicU64::new(0);
        let done = || {
            heard.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        // Twice too little noise is seen every time with so many draws.
        let audit = &short(2.0).unwrap();
        let found = repeat(audit, 4_000, repetition, &done).unwrap();
        assert_eq!(found.violated, Rate { hits: 12, trials: 12 });
        assert_eq!(heard.into_inner(), 12);
        assert!(!found.holds && found.mean_epsilon_lower > 1.0 && found.mean_epsilon_lower < 2.0, "{found:?}");
        assert_eq!(repeat(audit, 4_000, repetition, &|| ()).unwrap(), found);
        // Half of the seeds by themselves are the same runs.
        let halves = [5, 11].map(|first_seed| repeat(audit, 4_000, Repetition { first_seed, seeds: 6, ..repetition }, &|| ()).unwrap());
        assert!((f64::midpoint(halves[0].mean_epsilon_lower, halves[1].mean_epsilon_lower) - found.mean_epsilon_lower).abs() < 1e-12);
    }
}
