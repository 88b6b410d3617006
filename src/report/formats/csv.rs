//! The CSV report: one row per pair and per accuracy claim.

use std::collections::BTreeSet;
use std::io;

use serde::{Deserialize, Serialize};

use crate::audit::{Accuracy, AccuracyResult, Audit, AuditReport, Evidence, PairResult, RunReport};
use crate::model::checked::Share;
use crate::model::exact::Exact;
use crate::model::number::{Brief, round_down};
use crate::model::{Agreement, Conclusion, ControlResult, Expectation, Measure, Reason, Verdict};
use crate::report::persistence::store::Destination;
use crate::target::TargetError;

/// The unit of reports that do not name one.
fn epsilon() -> String {
    Measure::EPSILON.to_owned()
}

/// Significant digits of bounds.
const DIGITS: i32 = 6;

/// The results of a pair or an accuracy claim as reported: the columns of the CSV in this order,
/// and keys of the JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // results/README.md explains each column
pub struct PairRow {
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
}

impl PairRow {
    /// The row of a pair.
    #[must_use]
    pub fn new(run: &RunReport, report: &AuditReport, result: &PairResult) -> Self {
        let (audit, evidence) = (&report.audit, result.outcome.as_ref().ok());
        let claim = &audit.claim;
        // Columns about chances are empty where nothing is left to chance.
        let chance = claim.metric().is_none();
        let by_chance = evidence.filter(|_| chance);
        let detectable =
            evidence.map(|evidence| Exact(-round_down(-evidence.bounds.detectable, DIGITS)));
        Self {
            audit: audit.name.clone(),
            mechanism: audit.subject.mechanism().to_owned(),
            relation: audit.relation.to_string(),
            pair: result.pair.clone(),
            claim_epsilon: chance.then(|| Exact(claim.epsilon())),
            claim_delta: chance.then(|| claim.delta()),
            verdict: result.conclusion(),
            reason: evidence.and_then(|evidence| evidence.verdict.reason()),
            expected: evidence.and(result.expect).unwrap_or(audit.expect),
            as_expected: as_expected(report.agreement_of(result)),
            epsilon_lower: by_chance
                .map(|evidence| round_down(evidence.bounds.epsilon_lower, DIGITS)),
            delta_lower: by_chance.map(|evidence| round_down(evidence.bounds.delta_lower, DIGITS)),
            delta_excess: by_chance
                .map(|evidence| round_down(evidence.delta_excess(claim), DIGITS)),
            reach: evidence.map(|evidence| Exact(round_down(evidence.bounds.reach(claim), DIGITS))),
            asked_reach: Some(audit.reach.at_least()),
            control: report.control,
            detectable_epsilon: detectable.filter(|_| claim.second().is_some()),
            resolved: by_chance
                .map(|evidence| Exact(-round_down(-evidence.bounds.resolved, DIGITS))),
            truth_epsilon: evidence.and(result.truth.epsilon).map(Exact),
            confidence: run.settings.confidence.get(),
            draws: evidence.map(|evidence| evidence.draws),
            correct: by_chance.map(|evidence| evidence.tally.correct),
            wrong: by_chance.map(|evidence| evidence.tally.wrong),
            abstained: by_chance.map(|evidence| evidence.tally.abstained),
            rule: match &result.outcome {
                Ok(evidence) => evidence.rule_text(),
                Err(error) => not_run(error),
            },
            seed: run.settings.seed,
            reproducible: evidence.map(|evidence| evidence.reproducible),
            seconds: evidence.map(|_| milliseconds(result.seconds)),
            unit: claim.main().measure.name().into_owned(),
            claimed: Some(claim.main().value),
            // An exact distance may exceed the claim by a rounding error.
            lower: evidence.map(|Evidence { bounds, .. }| {
                Exact(if chance { round_down(bounds.lower, DIGITS) } else { bounds.lower })
            }),
            detectable,
            accuracy_event: None,
            accuracy_probability: None,
            accuracy_truth: None,
            failures: None,
            failure_lower: None,
            failure_upper: None,
            error: result.outcome.as_ref().err().map(one_line),
            needed_draws: report.needed_draws(result),
        }
    }

    /// The row of an accuracy claim. Columns about privacy are empty.
    #[must_use]
    pub fn of_accuracy(run: &RunReport, report: &AuditReport, result: &AccuracyResult) -> Self {
        let (audit, evidence) = (&report.audit, result.outcome.as_ref().ok());
        let Accuracy { name, event, claim, expect, truth, .. } = &result.accuracy;
        Self {
            audit: audit.name.clone(),
            mechanism: audit.subject.mechanism().to_owned(),
            relation: String::new(),
            pair: name.clone(),
            claim_epsilon: None,
            claim_delta: None,
            verdict: result.conclusion(),
            reason: result.verdict().and_then(Verdict::reason),
            expected: *expect,
            as_expected: as_expected(result.agreement()),
            epsilon_lower: None,
            delta_lower: None,
            delta_excess: None,
            reach: result.reach().map(|reach| Exact(round_down(reach, DIGITS))),
            asked_reach: None,
            control: None,
            detectable_epsilon: None,
            resolved: None,
            truth_epsilon: None,
            confidence: run.settings.confidence.get(),
            draws: evidence.map(|evidence| evidence.draws),
            correct: None,
            wrong: None,
            abstained: None,
            rule: result.outcome.as_ref().err().map(not_run).unwrap_or_default(),
            seed: run.settings.seed,
            reproducible: evidence.map(|evidence| evidence.reproducible),
            seconds: evidence.map(|_| milliseconds(result.seconds)),
            unit: String::new(),
            claimed: None,
            lower: None,
            detectable: None,
            accuracy_event: Some(event.to_string()),
            accuracy_probability: Some(claim.probability.get()),
            accuracy_truth: truth.map(Share::get),
            failures: evidence.map(|evidence| evidence.failures),
            failure_lower: evidence.map(|evidence| round_down(evidence.limits.lower, DIGITS)),
            failure_upper: evidence.map(|evidence| -round_down(-evidence.limits.upper, DIGITS)),
            error: result.outcome.as_ref().err().map(one_line),
            needed_draws: result.needed_draws(),
        }
    }

    /// The bound in the unit of the claim, in words, if that is another one than ε.
    #[must_use]
    pub fn in_unit(&self) -> Option<String> {
        let (claimed, lower) =
            (self.claimed.filter(|_| self.unit != Measure::EPSILON)?, self.lower?);
        Some(format!("{} ≥ {} of {}", self.unit, Brief(lower.0), Brief(claimed)))
    }

    /// Protects against spreadsheet programs, which treat texts with certain first characters as
    /// formulas: such a text gets an apostrophe in front and is then shown as text.
    fn escape_formulas(mut self) -> Self {
        for text in
            [&mut self.audit, &mut self.pair, &mut self.rule].into_iter().chain(&mut self.error)
        {
            if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
                text.insert(0, '\'');
            }
        }
        self
    }
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

/// How many audits an existing report has that are not among these.
#[must_use]
pub fn other_audits(report: &Destination, audits: &[Audit]) -> usize {
    let reader = report.file().and_then(|path| ::csv::Reader::from_path(path).ok());
    let rows = reader.map(::csv::Reader::into_records).into_iter().flatten().flatten();
    let names: BTreeSet<String> = rows.filter_map(|row| row.get(0).map(str::to_owned)).collect();
    names.iter().filter(|name| audits.iter().all(|audit| audit.name != **name)).count()
}

/// The rows of an audit. If it is the first one, the line with the column names comes before them.
///
/// # Errors
/// When they cannot be written.
pub fn rows(run: &RunReport, audit: &AuditReport, first: bool) -> io::Result<Vec<u8>> {
    let mut csv = ::csv::WriterBuilder::new().has_headers(first).from_writer(Vec::new());
    for result in &audit.results {
        csv.serialize(PairRow::new(run, audit, result).escape_formulas())
            .map_err(io::Error::other)?;
    }
    for result in &audit.accuracy {
        csv.serialize(PairRow::of_accuracy(run, audit, result).escape_formulas())
            .map_err(io::Error::other)?;
    }
    csv.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Bounds, Settings};
    use crate::report::testing::{INCONCLUSIVE, audit, evidence, not_run, pair, run, run_of};

    /// The rows of a run with one audit, as a CSV reader sees them.
    fn read(run: &RunReport, first: bool) -> Vec<Vec<String>> {
        let bytes = rows(run, &run.audits[0], first).unwrap();
        let mut reader =
            ::csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
        reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    /// The value of a column in the only row.
    fn value(run: &RunReport, column: &str) -> String {
        let table = read(run, true);
        assert_eq!(table.len(), 2);
        table[1][table[0].iter().position(|name| name == column).unwrap()].clone()
    }

    #[test]
    fn the_column_names_come_only_before_the_first_audit() {
        let run = run(vec![
            pair(Verdict::Violated, Expectation::Violated),
            pair(Verdict::Consistent, Expectation::Consistent),
        ]);
        let (with, without) = (read(&run, true), read(&run, false));
        assert_eq!(with[0][..4], ["audit", "mechanism", "relation", "pair"]);
        assert_eq!(with[1..], without);
        assert_eq!(without.len(), 2);
    }

    #[test]
    fn texts_that_programs_treat_as_formulas_get_an_apostrophe() {
        for (name, expected) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("a=1", "a=1"),
            ("'=1", "'=1"),
            ("", ""),
        ] {
            let result = PairResult {
                pair: name.to_owned(),
                ..pair(Verdict::Consistent, Expectation::Consistent)
            };
            let run = run_of(vec![(audit(name), vec![result])]);
            assert_eq!(
                (value(&run, "audit").as_str(), value(&run, "pair").as_str()),
                (expected, expected)
            );
        }
    }

    #[test]
    fn separators_and_quotes_in_names_do_not_add_columns() {
        let name = "a, \"b\"\nc";
        let run =
            run_of(vec![(audit(name), vec![pair(Verdict::Consistent, Expectation::Consistent)])]);
        assert_eq!(value(&run, "audit"), name);
    }

    #[test]
    fn bounds_are_rounded_in_the_direction_that_keeps_them_valid() {
        let bounds = Bounds {
            lower: 0.123_456_78,
            epsilon_lower: 0.123_456_78,
            delta_lower: 1.999_999_9e-5,
            detectable: 1.000_000_1,
            resolved: 0.0,
        };
        let result = |bounds| PairResult {
            outcome: Ok(Evidence { bounds, ..evidence(Verdict::Consistent) }),
            ..pair(Verdict::Consistent, Expectation::Consistent)
        };
        let rounded = run(vec![result(bounds)]);
        // Lower bounds down, the detectable ε up, to six significant digits.
        let number = |column: &str| value(&rounded, column).parse::<f64>().unwrap();
        assert_eq!(
            [number("epsilon_lower"), number("delta_lower"), number("detectable_epsilon")],
            [0.123_456, 1.999_99e-5, 1.000_01]
        );
        assert_eq!(value(&rounded, "reach"), "inf", "δ is not 0 as claimed");
        let only_epsilon = run(vec![result(Bounds { delta_lower: 0.0, ..bounds })]);
        assert_eq!(value(&only_epsilon, "reach").parse::<f64>(), Ok(0.123_456));
        let unlimited = run(vec![result(Bounds { detectable: f64::INFINITY, ..bounds })]);
        assert_eq!(value(&unlimited, "detectable_epsilon"), "inf");
    }

    #[test]
    fn an_inconclusive_pair_says_why_and_a_control_is_named() {
        let why = run(vec![pair(INCONCLUSIVE, Expectation::Consistent)]);
        assert_eq!(
            (value(&why, "verdict"), value(&why, "reason")),
            ("inconclusive".to_owned(), "too-few-draws".to_owned())
        );
        assert_eq!(
            (value(&why, "asked_reach"), value(&why, "control")),
            ("0.5".to_owned(), String::new())
        );
        // Nothing is known about the precision of these 128 draws.
        assert_eq!(
            (value(&why, "needed_draws"), value(&why, "error")),
            (String::new(), String::new())
        );
        let results = vec![pair(Verdict::Consistent, Expectation::Consistent)];
        let caught = |control| {
            let report = AuditReport::new(Arc::new(audit("count")), results.clone(), Some(control));
            let run = RunReport::new(Settings::default(), 1, vec![Arc::new(report)]);
            (value(&run, "verdict"), value(&run, "reason"), value(&run, "control"))
        };
        assert_eq!(
            caught(ControlResult::Caught),
            ("consistent".to_owned(), String::new(), "caught".to_owned())
        );
        let missed =
            ("inconclusive".to_owned(), "control-not-caught".to_owned(), "not-caught".to_owned());
        assert_eq!(caught(ControlResult::NotCaught), missed);
    }

    #[test]
    fn a_pair_that_could_not_be_run_has_no_numbers() {
        let error = TargetError::AlwaysPanics { message: "first line\nsecond line".to_owned() };
        let run = run(vec![PairResult { outcome: Err(error), ..not_run() }]);
        assert_eq!(
            (value(&run, "verdict"), value(&run, "as_expected")),
            ("error".to_owned(), "false".to_owned())
        );
        for column in [
            "epsilon_lower",
            "delta_lower",
            "delta_excess",
            "reach",
            "reason",
            "detectable_epsilon",
            "draws",
            "correct",
            "reproducible",
            "seconds",
        ] {
            assert_eq!(value(&run, column), "", "{column}");
        }
        let (rule, error) = (value(&run, "rule"), value(&run, "error"));
        assert!(error.ends_with("first line | second line"), "{error}");
        assert_eq!(rule, format!("not run: {error}"));
    }

    #[test]
    fn an_inconclusive_result_is_neither_expected_nor_unexpected() {
        let all = [Agreement::Agrees, Agreement::Undecided, Agreement::NotRun, Agreement::Differs];
        assert_eq!(all.map(as_expected), [Some(true), None, Some(false), Some(false)]);
    }
}
