//! Writes the measured rates as CSV: one row per audit and budget.

use std::io::{self, Write};

use serde::Serialize;

use super::Outcome;
use crate::model::exact::Exact;
use crate::model::number::round_down;

/// Significant digits.
const DIGITS: i32 = 6;

/// One row. The fields are the columns, in this order.
#[derive(Serialize)]
struct RateRow<'a> {
    audit: &'a str,
    mechanism: &'a str,
    claim_epsilon: Exact,
    claim_delta: f64,
    holds: bool,
    draws: u64,
    confidence: f64,
    seeds: u64,
    violated: u64,
    violated_rate: f64,
    violated_low: f64,
    violated_high: f64,
    above_truth: u64,
    above_truth_rate: f64,
    above_truth_low: f64,
    above_truth_high: f64,
    mean_epsilon_lower: f64,
}

/// Writes all outcomes.
///
/// # Errors
/// When the writer fails.
pub fn write(outcomes: &[Outcome], writer: impl Write) -> io::Result<()> {
    let mut csv = ::csv::Writer::from_writer(writer);
    let (down, up) = (|x| round_down(x, DIGITS), |x: f64| -round_down(-x, DIGITS));
    for outcome in outcomes {
        let (violated, above_truth) = (outcome.violated.interval(), outcome.above_truth.interval());
        let row = RateRow {
            audit: &outcome.audit,
            mechanism: &outcome.mechanism,
            claim_epsilon: Exact(outcome.claim.epsilon()),
            claim_delta: outcome.claim.delta(),
            holds: outcome.holds,
            draws: outcome.draws,
            confidence: outcome.confidence.get(),
            seeds: outcome.violated.trials,
            violated: outcome.violated.hits,
            violated_rate: outcome.violated.observed(),
            violated_low: down(violated.0),
            violated_high: up(violated.1),
            above_truth: outcome.above_truth.hits,
            above_truth_rate: outcome.above_truth.observed(),
            above_truth_low: down(above_truth.0),
            above_truth_high: up(above_truth.1),
            mean_epsilon_lower: down(outcome.mean_epsilon_lower),
        };
        csv.serialize(row).map_err(io::Error::other)?;
    }
    csv.flush()
}
