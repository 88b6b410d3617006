//! The columns of all kinds of statements, in one place.

use serde::{Deserialize, Serialize};

use crate::audit::Judged;
use crate::model::exact::Exact;
use crate::model::number::{Brief, round_down};
use crate::model::{Agreement, Conclusion, ControlResult, Expectation, Measure, Reason, Settings};
use crate::target::TargetError;

/// The unit of reports that do not name one.
fn epsilon() -> String {
    Measure::EPSILON.to_owned()
}

/// Significant digits of bounds.
const DIGITS: i32 = 6;

/// The result of a statement as reported: the columns of the CSV in this order, and keys of the JSON.
/// A kind fills those that it has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // results/README.md explains each column
pub struct Row {
    pub audit: String,
    pub mechanism: String,
    pub relation: String,
    pub pair: String,
    pub claim_epsilon: Option<Exact>,
    pub claim_delta: Option<f64>,
    pub verdict: Conclusion,
    #[serde(default)]
    pub reason: Option<Reason>,
    pub expected: Expectation,
    pub as_expected: Option<bool>,
    pub epsilon_lower: Option<f64>,
    pub delta_lower: Option<f64>,
    pub delta_excess: Option<f64>,
    #[serde(default)]
    pub reach: Option<Exact>,
    #[serde(default)]
    pub asked_reach: Option<f64>,
    #[serde(default)]
    pub control: Option<ControlResult>,
    pub detectable_epsilon: Option<Exact>,
    #[serde(default)]
    pub resolved: Option<Exact>,
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
    #[serde(default = "epsilon")]
    pub unit: String,
    #[serde(default)]
    pub claimed: Option<f64>,
    #[serde(default)]
    pub lower: Option<Exact>,
    #[serde(default)]
    pub detectable: Option<Exact>,
    #[serde(default)]
    pub accuracy_event: Option<String>,
    #[serde(default)]
    pub accuracy_probability: Option<f64>,
    #[serde(default)]
    pub accuracy_truth: Option<f64>,
    #[serde(default)]
    pub failures: Option<u64>,
    #[serde(default)]
    pub failure_lower: Option<f64>,
    #[serde(default)]
    pub failure_upper: Option<f64>,
    #[serde(default)]
    pub error: Option<String>,
    #[serde(default)]
    pub needed_draws: Option<u64>,
    #[serde(default)]
    pub runs: Option<u64>,
    #[serde(default)]
    pub ceiling: Option<Exact>,
    #[serde(default)]
    pub file: String,
    #[serde(default)]
    pub left: Option<String>,
    #[serde(default)]
    pub right: Option<String>,
    #[serde(default)]
    pub simplest_rule: Option<String>,
    #[serde(default)]
    pub simplest_lower: Option<Exact>,
    #[serde(default)]
    pub evidence_runs: Option<u64>,
    #[serde(default)]
    pub evidence_share: Option<f64>,
}

impl Row {
    /// The row of a statement: what all kinds have, and what its own kind adds.
    #[must_use]
    pub fn new(settings: Settings, judged: Judged<'_>) -> Self {
        let (audit, result, evidence) = (&judged.report.audit, judged.result, judged.evidence());
        let (kind, error) = (judged.kind(), result.outcome.as_ref().err());
        let mut row = Self {
            audit: audit.name.clone(),
            mechanism: audit.subject.mechanism().to_owned(),
            pair: result.name.clone(),
            verdict: judged.conclusion(),
            reason: judged.reason(),
            expected: judged.expected(),
            as_expected: as_expected(judged.agreement()),
            reach: judged.reach().map(lower),
            control: judged.report.control.filter(|_| kind.is_about_claim()),
            confidence: settings.confidence.get(),
            draws: evidence.map(super::Evidence::draws),
            rule: error.map(not_run).unwrap_or_default(),
            seed: settings.seed,
            reproducible: evidence.map(super::Evidence::reproducible),
            seconds: evidence.map(|_| milliseconds(result.seconds)),
            unit: String::new(),
            error: error.map(one_line),
            needed_draws: judged.needed_draws(),
            file: audit.file.display().to_string(),
            ..Self::default()
        };
        kind.columns(&mut row);
        row
    }

    /// What is claimed. Results of different claims are not compared.
    #[must_use]
    pub fn claim(&self) -> impl PartialEq + use<> {
        let in_unit = self.claimed.filter(|_| self.unit != Measure::EPSILON);
        let accuracy = (self.accuracy_event.clone(), self.accuracy_probability);
        (self.claim_epsilon, self.claim_delta, self.unit.clone(), in_unit, accuracy)
    }

    /// The bound in the unit of the claim, in words, if that is another one than ε.
    #[must_use]
    pub fn in_unit(&self) -> Option<String> {
        let (claimed, lower) =
            (self.claimed.filter(|_| self.unit != Measure::EPSILON)?, self.lower?);
        Some(format!("{} ≥ {} of {}", self.unit, Brief(lower.0), Brief(claimed)))
    }
}

/// A lower bound as it is reported: rounded down.
pub fn lower(value: f64) -> Exact {
    Exact(round_down(value, DIGITS))
}

/// An upper bound as it is reported: rounded up.
pub fn upper(value: f64) -> Exact {
    Exact(-round_down(-value, DIGITS))
}

/// What the column `rule` says if there is no result.
fn not_run(error: &TargetError) -> String {
    format!("not run: {}", one_line(error))
}

/// A row is one line.
fn one_line(error: &TargetError) -> String {
    error.to_string().replace('\n', " | ")
}

fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
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
