//! The CSV report: one row per pair.

use std::io;

use serde::{Deserialize, Serialize};

use crate::audit::{AuditReport, PairResult, RunReport};
use crate::model::exact::Exact;
use crate::model::number::round_down;
use crate::model::{Agreement, Conclusion, Expectation};

/// Significant digits of bounds.
const DIGITS: i32 = 6;

/// The results of a pair as reported: the columns of the CSV in this order, and keys of the JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // results/README.md explains each column
pub struct PairRow {
    pub audit: String,
    pub mechanism: String,
    pub relation: String,
    pub pair: String,
    pub claim_epsilon: f64,
    pub claim_delta: f64,
    pub verdict: Conclusion,
    pub expected: Expectation,
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
    pub reproducible: Option<bool>,
    pub seconds: Option<f64>,
}

impl PairRow {
    /// The row of a pair.
    #[must_use]
    pub fn new(run: &RunReport, report: &AuditReport, result: &PairResult) -> Self {
        let (audit, evidence) = (&report.audit, result.outcome.as_ref().ok());
        let claim = audit.claim;
        Self {
            audit: audit.name.clone(),
            mechanism: audit.subject.mechanism().to_owned(),
            relation: audit.relation.to_string(),
            pair: result.pair.clone(),
            claim_epsilon: claim.epsilon.get(),
            claim_delta: claim.delta.get(),
            verdict: result.conclusion(),
            expected: evidence.and(result.expect).unwrap_or(audit.expect),
            as_expected: as_expected(report.agreement_of(result)),
            epsilon_lower: evidence.map(|evidence| round_down(evidence.bounds.epsilon_lower, DIGITS)),
            delta_lower: evidence.map(|evidence| round_down(evidence.bounds.delta_lower, DIGITS)),
            delta_excess: evidence.map(|evidence| round_down(evidence.delta_excess(claim), DIGITS)),
            detectable_epsilon: evidence.map(|evidence| Exact(-round_down(-evidence.bounds.detectable_epsilon, DIGITS))),
            truth_epsilon: evidence.and(result.truth.epsilon).map(Exact),
            confidence: run.settings.confidence.get(),
            draws: evidence.map(|evidence| evidence.draws),
            correct: evidence.map(|evidence| evidence.tally.correct),
            wrong: evidence.map(|evidence| evidence.tally.wrong),
            abstained: evidence.map(|evidence| evidence.tally.abstained),
            rule: match &result.outcome {
                Ok(evidence) => evidence.rule_text(),
                Err(error) => format!("not run: {}", error.to_string().replace('\n', " | ")),
            },
            seed: run.settings.seed,
            reproducible: evidence.map(|evidence| evidence.reproducible),
            seconds: evidence.map(|_| (result.seconds * 1e3).round() / 1e3),
        }
    }

    /// Protects against spreadsheet programs, which treat texts with certain first characters as formulas: such a text gets an apostrophe in front
    /// and is then shown as text.
    fn escape_formulas(mut self) -> Self {
        for text in [&mut self.audit, &mut self.pair, &mut self.rule] {
            if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
                text.insert(0, '\'');
            }
        }
        self
    }
}

/// Whether a result is as expected; `None` if the audit is inconclusive.
#[must_use]
pub fn as_expected(agreement: Agreement) -> Option<bool> {
    match agreement {
        Agreement::Agrees => Some(true),
        Agreement::Undecided => None,
        Agreement::NotRun | Agreement::Differs => Some(false),
    }
}

/// The rows of an audit. If it is the first one, the line with the column names comes before them.
///
/// # Errors
/// When they cannot be written.
pub fn rows(run: &RunReport, audit: &AuditReport, first: bool) -> io::Result<Vec<u8>> {
    let mut csv = ::csv::WriterBuilder::new().has_headers(first).from_writer(Vec::new());
    for result in &audit.results {
        csv.serialize(PairRow::new(run, audit, result).escape_formulas()).map_err(io::Error::other)?;
    }
    csv.into_inner().map_err(|error| io::Error::other(error.to_string()))
}
