//! Canary audits of scores, guesses and counts.

use std::sync::Arc;

use dp_audit::fronts::Stop;
use dp_audit::parts::canary::{Sides, ceiling, needed_canaries};
use dp_audit::{
    Canaries, CanaryCounts, CanaryScores, Claim, Confidence, PairPlan, PrepareError, ScoreSource,
    ScoredTrial, Target, Truth,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::audits::{Spec, from_json};
use crate::report::Report;
use crate::supervise::supervise;

/// How canaries are judged, as Python describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is an argument of the function in Python
struct Options {
    sides: Sides,
    independent_coins: bool,
    fixed_guesses: bool,
    /// Whether trials are steps with fresh coins.
    steps: bool,
    /// Whether the scores are guesses: 1, −1 or 0.
    guesses: bool,
    /// Counts in place of scores.
    counts: Option<CanaryCounts>,
}

/// Audits canaries. `trials` has the name, the scores and the coins of each run or step.
#[pyfunction]
pub fn canaries(
    py: Python<'_>,
    spec: &str,
    options: &str,
    trials: Vec<(String, Vec<f64>, Vec<bool>)>,
) -> PyResult<Report> {
    let spec: Spec = from_json(spec)?;
    let options: Options = from_json(options)?;
    let settings = spec.settings;
    let mut audit = spec.audit([]);
    let trials = trials
        .into_iter()
        .map(|(name, scores, included)| ScoredTrial::new(name, scores, included))
        .collect();
    let scores = match options.counts {
        Some(counts) => ScoreSource::Counts(counts),
        None => ScoreSource::Given(Arc::new(CanaryScores {
            trials,
            steps: options.steps,
            guesses: options.guesses,
        })),
    };
    audit.canaries.push(Canaries {
        name: "canaries".to_owned(),
        scores,
        sides: options.sides,
        independent_coins: options.independent_coins,
        fixed_guesses: options.fixed_guesses,
        expect: None,
        truth: Truth::default(),
    });
    // Scores are no draws: there is no target.
    let source = |plan: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
        Err(PrepareError::Given(plan.subject.mechanism().to_owned()))
    };
    let stop = Stop::default();
    let (run, interrupted) = supervise(py, None, &stop, None, |progress| {
        dp_audit::run(&[audit], settings, &source, progress)
    })?;
    match interrupted {
        Some(interrupted) => Err(interrupted),
        None => Ok(Report { run }),
    }
}

/// How many canaries one run needs to be able to refute the claim, and what `canaries` of them in each of
/// `runs` runs can show at most.
#[pyfunction]
pub fn canaries_needed(
    claim: &str,
    sides: &str,
    confidence: f64,
    canaries: Option<u64>,
    runs: usize,
) -> PyResult<(Option<u64>, Option<f64>)> {
    let claim: Claim = from_json(claim)?;
    let sides: Sides = from_json(sides)?;
    let confidence = Confidence::try_from(confidence)
        .map_err(|reason| PyValueError::new_err(format!("confidence {reason}")))?;
    let (limit, alpha) = (claim.main(), 1.0 - confidence.get());
    let most = canaries.map(|canaries| ceiling(canaries, runs, sides, limit, alpha));
    Ok((needed_canaries(limit.value, sides, limit, alpha), most))
}
