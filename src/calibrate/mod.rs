//! Calibration measures the auditor itself: how often it raises a false alarm for mechanisms that
//! leak exactly as much as they claim, and how often it detects mechanisms that leak more.
//!
//! Every audit is repeated with many seeds. Each repetition is a separate run, so its confidence is
//! that of a single audit. The rates have their own Clopper–Pearson intervals.

mod audits;
mod csv;
pub mod files;
mod picture;
mod rate;

use rayon::prelude::*;

pub use audits::{boundary_audits, power_audits};
pub use rate::Rate;

use crate::audit::{self, Audit, AuditReport, TargetSource};
use crate::model::{Claim, Confidence, Expectation, Settings, Until, Verdict};
use crate::target::TargetError;

/// Draws per pair for false-alarm rates: few, so that many seeds take little time.
pub const FALSE_ALARM_DRAWS: u64 = 20_000;

/// Seeds for false-alarm rates.
pub const FALSE_ALARM_SEEDS: u64 = 2_000;

/// Draws per pair for power curves: two values per decade.
pub const POWER_DRAWS: [u64; 8] =
    [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000];

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
    /// When a run ends.
    pub until: Until,
}

/// The result of many runs of one audit with one budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The audit's name.
    pub audit: String,
    /// Its mechanism.
    pub mechanism: String,
    /// What was claimed.
    pub claim: Claim,
    /// Whether the claim holds. If it does, every refutation is a false alarm.
    pub holds: bool,
    /// Draws per pair.
    pub draws: u64,
    /// The confidence of each run.
    pub confidence: Confidence,
    /// How often the claim was refuted.
    pub violated: Rate,
    /// How often a bound was above the truth.
    pub above_truth: Rate,
    /// The mean over all runs of the largest ε bound of the run.
    pub mean_epsilon_lower: f64,
}

impl Outcome {
    /// The largest rate of false alarms, and of bounds above the truth, that the confidence allows.
    #[must_use]
    pub fn allowed(&self) -> f64 {
        1.0 - self.confidence.get()
    }

    /// Whether one of these rates is significantly greater than the confidence allows.
    #[must_use]
    pub fn exceeds_allowed(&self) -> bool {
        (self.holds && self.violated.exceeds(self.allowed()))
            || self.above_truth.exceeds(self.allowed())
    }
}

/// Runs one audit with every seed, in parallel. Calls `done` after each run. `source` keeps the
/// processes of programs for the next seed.
///
/// # Errors
/// When the mechanism could not be run. A rate over the other runs only would have no clear
/// meaning.
pub fn repeat(
    audit: &Audit,
    draws: u64,
    repetition: Repetition,
    source: &(dyn TargetSource + Sync),
    done: &(dyn Fn() + Sync),
) -> Result<Outcome, TargetError> {
    let runs: Vec<SeedResult> = (repetition.first_seed
        ..repetition.first_seed.saturating_add(repetition.seeds))
        .into_par_iter()
        .map(|seed| {
            let settings = Settings {
                draws: Some(draws),
                seed,
                confidence: repetition.confidence,
                until: repetition.until,
                controls: false,
                ..Settings::default()
            };
            let run = audit::run(std::slice::from_ref(audit), settings, source, &());
            done();
            run.audits.iter().map(|report| SeedResult::new(report)).collect::<Result<Vec<_>, _>>()
        })
        .collect::<Result<Vec<_>, _>>()?
        .concat();
    let trials = runs.len() as u64;
    let rate = |hit: fn(&SeedResult) -> bool| Rate {
        hits: runs.iter().filter(|run| hit(run)).count() as u64,
        trials,
    };
    Ok(Outcome {
        audit: audit.name.clone(),
        mechanism: audit.subject.mechanism().to_owned(),
        claim: audit.claim.clone(),
        holds: audit.expect == Expectation::Consistent,
        draws,
        confidence: repetition.confidence,
        violated: rate(|run| run.violated),
        above_truth: rate(|run| run.above_truth),
        mean_epsilon_lower: runs.iter().map(|run| run.epsilon_lower).sum::<f64>()
            / trials.max(1) as f64,
    })
}

/// The result of the run with one seed.
#[derive(Clone, Copy)]
struct SeedResult {
    violated: bool,
    above_truth: bool,
    epsilon_lower: f64,
}

impl SeedResult {
    fn new(report: &AuditReport) -> Result<Self, TargetError> {
        let mut seed_result = Self {
            violated: report.verdict() == Some(Verdict::Violated),
            above_truth: false,
            epsilon_lower: 0.0,
        };
        for judged in report.statements() {
            if let Some(error) = judged.error() {
                return Err(error.clone());
            }
            seed_result.above_truth |= judged.contradicts_truth();
        }
        let canaries = report.statements().filter_map(|judged| judged.evidence()?.canaries());
        let bounds = report.privacy().map(|(_, evidence)| evidence.bounds);
        for bounds in bounds.chain(canaries.map(|evidence| evidence.bounds)) {
            seed_result.epsilon_lower = seed_result.epsilon_lower.max(bounds.epsilon_lower);
        }
        Ok(seed_result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Preparer;

    fn outcome(holds: bool, violated: u64, above_truth: u64) -> Outcome {
        let audit = &boundary_audits().unwrap()[0];
        let rate = |hits| Rate { hits, trials: 1000 };
        Outcome {
            audit: audit.name.clone(),
            mechanism: audit.subject.mechanism().to_owned(),
            claim: audit.claim.clone(),
            holds,
            draws: 1,
            confidence: 0.95.try_into().unwrap(),
            violated: rate(violated),
            above_truth: rate(above_truth),
            mean_epsilon_lower: 0.0,
        }
    }

    #[test]
    fn only_false_alarms_and_bounds_above_the_truth_can_exceed_what_is_allowed() {
        // 50 of 1,000 are allowed; 80 are 4.4 standard deviations more, 60 are 1.5.
        assert!(outcome(true, 80, 0).exceeds_allowed());
        assert!(outcome(true, 0, 80).exceeds_allowed());
        assert!(outcome(false, 0, 80).exceeds_allowed());
        assert!(!outcome(true, 60, 60).exceeds_allowed());
        assert!(!outcome(false, 1000, 0).exceeds_allowed());
    }

    #[test]
    fn rates_count_runs_and_do_not_depend_on_the_order_of_threads() {
        let repetition = Repetition {
            first_seed: 5,
            seeds: 12,
            confidence: 0.95.try_into().unwrap(),
            until: Until::Budget,
        };
        let calls = std::sync::atomic::AtomicU64::new(0);
        let done = || {
            calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        };
        // With 4,000 draws, half of the required noise is detected every time.
        let audit = &audits::too_little_noise(2.0).unwrap();
        let found = repeat(audit, 4_000, repetition, &Preparer::default(), &done).unwrap();
        assert_eq!(found.violated, Rate { hits: 12, trials: 12 });
        assert_eq!(calls.into_inner(), 12);
        assert!(
            !found.holds && found.mean_epsilon_lower > 1.0 && found.mean_epsilon_lower < 2.0,
            "{found:?}"
        );
        assert_eq!(repeat(audit, 4_000, repetition, &Preparer::default(), &|| ()).unwrap(), found);
        // Each half of the seeds gives the same runs as before.
        let halves = [5, 11].map(|first_seed| {
            let half = Repetition { first_seed, seeds: 6, ..repetition };
            repeat(audit, 4_000, half, &Preparer::default(), &|| ()).unwrap()
        });
        assert!(
            (f64::midpoint(halves[0].mean_epsilon_lower, halves[1].mean_epsilon_lower)
                - found.mean_epsilon_lower)
                .abs()
                < 1e-12
        );
    }
}
