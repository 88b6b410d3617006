//! The CSV report: one row per pair.

use std::io;

use serde::{Deserialize, Serialize};

use crate::audit::{AuditReport, PairResult, RunReport};
use crate::model::exact::Exact;
use crate::model::number::round_down;
use crate::model::{Agreement, Conclusion, Expectation};

/// Significant digits of bounds.
const DIGITS: i32 = 6;

/// What is reported of a pair, in CSV as columns in this order and in JSON as keys.
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
        let (audit, found) = (&report.audit, result.outcome.as_ref().ok());
        let claim = audit.claim;
        Self {
            audit: audit.name.clone(),
            mechanism: audit.subject.mechanism().to_owned(),
            relation: audit.relation.to_string(),
            pair: result.pair.clone(),
            claim_epsilon: claim.epsilon.get(),
            claim_delta: claim.delta.get(),
            verdict: result.conclusion(),
            expected: found.and(result.expect).unwrap_or(audit.expect),
            as_expected: as_expected(report.agreement_of(result)),
            epsilon_lower: found.map(|found| round_down(found.bounds.epsilon_lower, DIGITS)),
            delta_lower: found.map(|found| round_down(found.bounds.delta_lower, DIGITS)),
            delta_excess: found.map(|found| round_down(found.delta_excess(claim), DIGITS)),
            detectable_epsilon: found.map(|found| Exact(-round_down(-found.bounds.detectable_epsilon, DIGITS))),
            truth_epsilon: found.and(result.truth.epsilon).map(Exact),
            confidence: run.settings.confidence.get(),
            draws: found.map(|found| found.draws),
            correct: found.map(|found| found.tally.correct),
            wrong: found.map(|found| found.tally.wrong),
            abstained: found.map(|found| found.tally.abstained),
            rule: match &result.outcome {
                Ok(found) => found.rule_text(),
                Err(error) => format!("not run: {}", error.to_string().replace('\n', " | ")),
            },
            seed: run.settings.seed,
            reproducible: found.map(|found| found.reproducible),
            seconds: found.map(|_| (result.seconds * 1e3).round() / 1e3),
        }
    }

    /// The row for programs that take some texts for formulas: such a text gets an apostrophe in front, which they show as text.
    fn harmless(mut self) -> Self {
        for text in [&mut self.audit, &mut self.pair, &mut self.rule] {
            if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
                text.insert(0, '\'');
            }
        }
        self
    }
}

/// Whether something was expected; None when the audit cannot tell.
#[must_use]
pub fn as_expected(agreement: Agreement) -> Option<bool> {
    match agreement {
        Agreement::Agrees => Some(true),
        Agreement::Undecided => None,
        Agreement::NotRun | Agreement::Differs => Some(false),
    }
}

/// The rows of an audit, with the line of column names before them if it is the first.
///
/// # Errors
/// When they cannot be written.
pub fn rows(run: &RunReport, audit: Option<&AuditReport>, first: bool) -> io::Result<Vec<u8>> {
    let mut csv = ::csv::WriterBuilder::new().has_headers(first).from_writer(Vec::new());
    for (audit, result) in audit.iter().flat_map(|audit| audit.results.iter().map(move |result| (audit, result))) {
        csv.serialize(PairRow::new(run, audit, result).harmless()).map_err(io::Error::other)?;
    }
    csv.into_inner().map_err(|error| io::Error::other(error.to_string()))
}
