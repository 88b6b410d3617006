//! The CSV report: one row per pair.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::file::Format;
use super::{AuditReport, PairReport, RunReport, round_down};
use crate::error::TargetError;
use crate::exact::Exact;
use crate::verdict::Agreement;

/// Significant digits of bounds.
const DIGITS: i32 = 6;

/// What is reported of a pair, in CSV as columns in this order and in JSON as keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // results/README.md explains each column
pub struct Row {
    pub audit: String,
    pub mechanism: String,
    pub relation: String,
    pub pair: String,
    pub claim_epsilon: f64,
    pub claim_delta: f64,
    pub verdict: String,
    pub expected: String,
    pub as_expected: Option<bool>,
    pub epsilon_lower: Option<f64>,
    pub delta_lower: Option<f64>,
    pub delta_excess: Option<f64>,
    pub detectable_epsilon: Option<Exact>,
    pub truth_epsilon: Option<Exact>,
    pub confidence: f64,
    pub draws: Option<u64>,
    pub correct: Option<u64>,
    pub wrong: Option<u64>,
    pub abstained: Option<u64>,
    pub rule: String,
    pub seed: u64,
    pub seconds: Option<f64>,
}

impl Row {
    /// The row of a pair.
    #[must_use]
    pub fn new(run: &RunReport, audit: &AuditReport, pair: &str, outcome: &Result<PairReport, TargetError>) -> Self {
        let report = outcome.as_ref().ok();
        let claim = audit.claim;
        Self {
            audit: audit.audit.clone(),
            mechanism: audit.mechanism.clone(),
            relation: audit.relation.clone(),
            pair: pair.to_owned(),
            claim_epsilon: claim.epsilon.get(),
            claim_delta: claim.delta.get(),
            verdict: report.map_or_else(|| "error".to_owned(), |report| report.verdict.to_string()),
            expected: report.and_then(|report| report.expect).unwrap_or(audit.expect).to_string(),
            as_expected: match audit.agreement_of(outcome) {
                Agreement::Agrees => Some(true),
                Agreement::Undecided => None,
                Agreement::NotRun | Agreement::Differs => Some(false),
            },
            epsilon_lower: report.map(|report| round_down(report.bounds.epsilon_lower, DIGITS)),
            delta_lower: report.map(|report| round_down(report.bounds.delta_lower, DIGITS)),
            delta_excess: report.map(|report| round_down(report.delta_excess(claim), DIGITS)),
            detectable_epsilon: report.map(|report| Exact(-round_down(-report.bounds.detectable_epsilon, DIGITS))),
            truth_epsilon: report.and_then(|report| report.truth.epsilon).map(Exact),
            confidence: run.settings.confidence.get(),
            draws: report.map(|report| report.draws),
            correct: report.map(|report| report.tally.correct),
            wrong: report.map(|report| report.tally.wrong),
            abstained: report.map(|report| report.tally.abstained),
            rule: match outcome {
                Ok(report) => report.rule.as_ref().map_or_else(|| "none: too few draws to learn one".to_owned(), ToString::to_string),
                Err(error) => format!("not run: {error}"),
            },
            seed: run.settings.seed,
            seconds: report.map(|report| (report.seconds * 1e3).round() / 1e3),
        }
    }
}

/// Writes the report of a run so far, in full.
///
/// # Errors
/// When the writer fails.
pub fn write(report: &RunReport, writer: impl Write) -> io::Result<()> {
    let mut csv = ::csv::Writer::from_writer(writer);
    for audit in &report.audits {
        for (pair, outcome) in &audit.pairs {
            csv.serialize(Row::new(report, audit, pair, outcome)).map_err(io::Error::other)?;
        }
    }
    csv.flush()
}

/// The format of `--csv`.
pub struct Csv;

impl Format for Csv {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        write(report, &mut text)?;
        Ok(text)
    }
}
