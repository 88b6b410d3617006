//! The JSON report: all that the CSV has, the evidence behind it, and a witness for each refuted claim. Read again as a baseline and by `explain`.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv::{PairRow, as_expected};
use super::files::Format;
use super::witness::Witness;
use crate::audit::{AuditReport, Curves, PairResult, RunReport};
use crate::model::exact::Exact;
use crate::model::number::round_down;
use crate::model::{Agreement, Claim, Error, Settings, Verdict};

/// The name and version of the schema. Keys may be added to it; a change of meaning changes the number.
pub const SCHEMA: &str = "dp-audit-report/1";

/// A whole report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of dp-audit.
    pub version: String,
    /// How it was run.
    pub settings: Settings,
    /// Whether all audits have ended; false in what an interrupted run leaves.
    pub complete: bool,
    /// What there is in all.
    pub summary: Summary,
    /// The audits, in the order in which they ran.
    pub audits: Vec<JsonAudit>,
}

/// Counts of audits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Audits that have ended.
    pub audits: usize,
    /// Pairs over which the confidence is divided.
    pub pairs: usize,
    /// All draws.
    pub draws: u64,
    /// Audits whose claim is refuted.
    pub violated: usize,
    /// Audits whose claim is not refuted although a leak would have been seen.
    pub consistent: usize,
    /// Audits that cannot tell.
    pub inconclusive: usize,
    /// Audits of which nothing could be run.
    pub not_run: usize,
    /// The names of the audits that ended otherwise than expected.
    pub surprises: Vec<String>,
}

/// One audit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonAudit {
    /// Its name.
    pub audit: String,
    /// Its file.
    pub file: String,
    /// The mechanism.
    pub mechanism: String,
    /// The command line, where the mechanism is a program.
    pub command: Option<String>,
    /// The mechanism's parameters.
    pub params: serde_json::Value,
    /// The neighbour relation.
    pub relation: String,
    /// Where mechanism and claim come from.
    pub source: Option<String>,
    /// What is claimed.
    pub claim: Claim,
    /// The smallest excess of ε over the claim that counts.
    pub resolution: f64,
    /// The verdict on the mechanism; null when nothing could be run.
    pub verdict: Option<Verdict>,
    /// Whether it was expected; null when the audit cannot tell.
    pub as_expected: Option<bool>,
    /// What the pairs showed.
    pub pairs: Vec<JsonPair>,
    /// What refuted the claim; in a file of its own, `dp-audit replay` reads it.
    pub witness: Option<serde_json::Value>,
}

/// One pair: the columns of the CSV and the evidence.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonPair {
    /// The columns of the CSV.
    #[serde(flatten)]
    pub row: PairRow,
    /// The exact δ at the claimed ε, where the audit file states it.
    pub truth_delta: Option<f64>,
    /// The dataset D in short.
    pub left: Option<String>,
    /// Its neighbour D' in short.
    pub right: Option<String>,
    /// What the attacker could do and what the claim allows.
    pub sentence: Option<String>,
    /// The ε that the reported rule shows, without uncertainty; an estimate, not a bound.
    pub rule_epsilon_estimate: Option<Exact>,
    /// The upper limit of what the frozen rules show; the mechanism may leak more to others.
    pub rule_epsilon_upper: Option<Exact>,
    /// The curves of the pictures.
    pub picture: Option<Curves>,
}

impl JsonReport {
    /// The report in this form.
    #[must_use]
    pub fn new(report: &RunReport) -> Self {
        let settings = report.settings;
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings,
            complete: report.is_complete(),
            summary: Summary {
                audits: report.audits.len(),
                pairs: report.pairs,
                draws: report.draws(),
                violated: report.count(Some(Verdict::Violated)),
                consistent: report.count(Some(Verdict::Consistent)),
                inconclusive: report.count(Some(Verdict::Inconclusive)),
                not_run: report.count(None),
                surprises: report.with(Agreement::Differs).map(|report| report.audit.name.clone()).collect(),
            },
            audits: report.audits.iter().map(|audit| JsonAudit::new(report, audit)).collect(),
        }
    }

    /// Reads a report.
    ///
    /// # Errors
    /// When there is none at this place, or none of this schema.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let unreadable = |reason: String| Error::Read { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        let value: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| unreadable(format!("it is no JSON ({error}); name a file that --json wrote")))?;
        let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("none");
        if schema != SCHEMA {
            return Err(unreadable(format!("its schema is {schema}, must be {SCHEMA}; name a file that --json wrote")));
        }
        serde_json::from_value(value).map_err(|error| unreadable(error.to_string()))
    }
}

impl JsonAudit {
    fn new(run: &RunReport, report: &AuditReport) -> Self {
        let audit = &report.audit;
        Self {
            audit: audit.name.clone(),
            file: audit.file.display().to_string(),
            mechanism: audit.subject.mechanism().to_owned(),
            command: audit.subject.command().map(ToString::to_string),
            params: audit.subject.params().cloned().unwrap_or_default().into(),
            relation: audit.relation.to_string(),
            source: audit.source.clone(),
            claim: audit.claim,
            resolution: audit.resolution,
            verdict: report.verdict(),
            as_expected: as_expected(report.agreement()),
            pairs: report.results.iter().map(|result| JsonPair::new(run, report, result)).collect(),
            witness: Witness::of(run.settings, report).map(|witness| witness.sealed()),
        }
    }
}

impl JsonPair {
    fn new(run: &RunReport, report: &AuditReport, result: &PairResult) -> Self {
        let found = result.outcome.as_ref().ok();
        Self {
            row: PairRow::new(run, report, result),
            truth_delta: found.and(result.truth.delta),
            left: found.map(|_| result.left.clone()),
            right: found.map(|_| result.right.clone()),
            sentence: found.map(|found| found.sentence(report.audit.claim)),
            rule_epsilon_estimate: found.map(|found| Exact(round_down(found.estimate.epsilon, 6))),
            rule_epsilon_upper: found.map(|found| Exact(-round_down(-found.estimate.epsilon_upper, 6))),
            picture: found.map(|found| found.curves.clone()),
        }
    }
}

/// The format of `--json`.
pub struct Json;

impl Format for Json {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec(&JsonReport::new(report))?;
        text.push(b'\n');
        Ok(text)
    }
}
