//! The JSON report: the columns of the CSV, the evidence, and a witness for each refuted claim.
//! `--baseline` and `show --report` read it again.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::audit::{AccuracyResult, AuditReport, Curves, PairResult, RunReport};
use crate::model::exact::Exact;
use crate::model::number::round_down;
use crate::model::{
    Agreement, AskedReach, Claim, Conclusion, ControlResult, Error, Reason, Settings, Verdict,
};
use crate::report::formats::csv::{PairRow, as_expected};
use crate::report::persistence::files::Format;
use crate::report::persistence::witness::Witness;
use crate::report::statement::Statement;
use crate::target::Timing;

/// The name and version of the schema. The version changes if the meaning of a key changes, but not
/// if keys are added.
pub const SCHEMA: &str = "dp-audit-report/1";

/// A complete report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonReport {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of dp-audit.
    pub version: String,
    /// How it was run.
    pub settings: Settings,
    /// Whether all audits have ended; false if the run was interrupted.
    pub complete: bool,
    /// Counts over the whole run.
    pub summary: Summary,
    /// The audits, in the order in which they ran.
    pub audits: Vec<JsonAudit>,
}

/// Counts of audits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Audits that have ended.
    pub audits: usize,
    /// The number of pairs and accuracy claims that the confidence is divided over.
    pub pairs: usize,
    /// How many of them are accuracy claims.
    #[serde(default)]
    pub accuracy_claims: usize,
    /// All draws.
    pub draws: u64,
    /// Audits whose claim is refuted.
    pub violated: usize,
    /// Audits whose claim is not refuted although they reach what they ask for.
    pub consistent: usize,
    /// Audits that are inconclusive.
    pub inconclusive: usize,
    /// Audits of which no pair could be run.
    pub not_run: usize,
    /// The names of the audits whose result was not expected.
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
    /// The command line, if the mechanism is a program.
    pub command: Option<String>,
    /// The mechanism's parameters.
    pub params: serde_json::Value,
    /// The neighbour relation.
    pub relation: String,
    /// Where mechanism and claim come from.
    pub source: Option<String>,
    /// What is claimed about privacy; null if there are only accuracy claims.
    #[serde(default)]
    pub claim: Option<Claim>,
    /// The smallest excess of ε over the claim that the audit should detect.
    pub resolution: f64,
    /// How much of the claim the attack must be seen to reach, and why.
    #[serde(default)]
    pub asked_reach: AskedReach,
    /// How much of the claim it was seen to reach on the best pair; infinite if a positive δ is
    /// shown where none is claimed.
    #[serde(default)]
    pub reach: Option<Exact>,
    /// The verdict on the mechanism; null if no pair could be run.
    pub verdict: Option<Conclusion>,
    /// Why it is inconclusive.
    #[serde(default)]
    pub reason: Option<Reason>,
    /// What that means, and what to do about it.
    #[serde(default)]
    pub advice: Option<String>,
    /// Whether its control was refuted; null if there is none.
    #[serde(default)]
    pub control: Option<ControlResult>,
    /// Whether the result was expected; null if the audit is inconclusive.
    pub as_expected: Option<bool>,
    /// The results of the pairs.
    pub pairs: Vec<JsonPair>,
    /// The results of the accuracy claims.
    #[serde(default)]
    pub accuracy: Vec<JsonAccuracy>,
    /// The witness of a refuted claim. `dp-audit replay` can read it if it is saved as a file.
    pub witness: Option<serde_json::Value>,
}

/// One pair: the columns of the CSV and the evidence.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonPair {
    /// The columns of the CSV.
    #[serde(flatten)]
    pub row: PairRow,
    /// The exact δ at the claimed ε, if the audit file states it.
    pub truth_delta: Option<f64>,
    /// A short form of the dataset D.
    pub left: Option<String>,
    /// A short form of its neighbour D'.
    pub right: Option<String>,
    /// How often the attacker guessed right, and what the claim allows.
    pub sentence: Option<String>,
    /// The point estimate of ε from the reported rule. It is not a bound.
    pub rule_epsilon_estimate: Option<Exact>,
    /// The upper limit of the ε that the frozen rules can show. The mechanism may leak more to
    /// other rules.
    pub rule_epsilon_upper: Option<Exact>,
    /// A note about the draws, for example that a time limit cut them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where the time went, if the mechanism is a program: seconds of all its processes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// The curves of the pictures.
    pub picture: Option<Curves>,
}

/// One accuracy claim: the columns of the CSV, and the result in words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonAccuracy {
    /// The columns of the CSV.
    #[serde(flatten)]
    pub row: PairRow,
    /// A short form of the dataset.
    pub data: String,
    /// Where the claim is made.
    pub source: Option<String>,
    /// How often the event failed, and what is allowed.
    pub sentence: String,
    /// What the verdict means.
    pub meaning: String,
}

impl JsonReport {
    /// Converts a report to this form.
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
                accuracy_claims: report.accuracy_claims(),
                draws: report.draws(),
                violated: report.count(Conclusion::Violated),
                consistent: report.count(Conclusion::Consistent),
                inconclusive: report.count(Conclusion::Inconclusive),
                not_run: report.count(Conclusion::Error),
                surprises: report
                    .with(Agreement::Differs)
                    .map(|report| report.audit.name.clone())
                    .collect(),
            },
            audits: report.audits.iter().map(|audit| JsonAudit::new(report, audit)).collect(),
        }
    }

    /// The part of the report that a run with these filters makes: audits whose name, mechanism or
    /// file contains one text, and their pairs and accuracy claims whose name contains another one.
    #[must_use]
    pub fn selected(mut self, filter: Option<&str>, pair: Option<&str>) -> Self {
        if let Some(text) = filter {
            self.audits.retain(|audit| {
                [&audit.audit, &audit.mechanism, &audit.file].iter().any(|name| name.contains(text))
            });
        }
        if let Some(text) = pair {
            for audit in &mut self.audits {
                audit.pairs.retain(|pair| pair.row.pair.contains(text));
                audit.accuracy.retain(|accuracy| accuracy.row.pair.contains(text));
            }
        }
        self
    }

    /// Reads a report.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a report of this schema.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let unreadable = |reason: String| Error::Read { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
            unreadable(format!("it is no JSON ({error}); use a file that was written with --json"))
        })?;
        let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("none");
        if schema != SCHEMA {
            return Err(unreadable(format!(
                "its schema is {schema}, must be {SCHEMA}; use a file that was written with --json"
            )));
        }
        serde_json::from_value(value).map_err(|error| unreadable(error.to_string()))
    }
}

/// What to do about the first inconclusive result of an audit.
fn advice(report: &AuditReport) -> Option<String> {
    Statement::all(report).find(|statement| statement.reason().is_some())?.next_step()
}

impl JsonAudit {
    fn new(run: &RunReport, report: &AuditReport) -> Self {
        let audit = &report.audit;
        let reason = report.verdict().and_then(Verdict::reason);
        Self {
            audit: audit.name.clone(),
            file: audit.file.display().to_string(),
            mechanism: audit.subject.mechanism().to_owned(),
            command: audit.subject.command().map(ToString::to_string),
            params: audit.subject.params().cloned().unwrap_or_default().into(),
            relation: audit.relation.to_string(),
            source: audit.source.clone(),
            claim: audit.is_about_pairs().then(|| audit.claim.clone()),
            resolution: audit.resolution,
            asked_reach: audit.reach.clone(),
            reach: report.most_significant().map(|_| Exact(round_down(report.reach(), 6))),
            verdict: report.verdict().map(|verdict| Some(verdict).into()),
            reason,
            advice: reason
                .map(|reason| advice(report).unwrap_or_else(|| reason.advice().to_owned())),
            control: report.control,
            as_expected: as_expected(report.agreement()),
            pairs: report.results.iter().map(|result| JsonPair::new(run, report, result)).collect(),
            accuracy: report
                .accuracy
                .iter()
                .map(|result| JsonAccuracy::new(run, report, result))
                .collect(),
            witness: Witness::of(run.settings, report).map(|witness| witness.sealed()),
        }
    }
}

impl JsonPair {
    fn new(run: &RunReport, report: &AuditReport, result: &PairResult) -> Self {
        let evidence = result.outcome.as_ref().ok();
        Self {
            row: PairRow::new(run, report, result),
            truth_delta: evidence.and(result.truth.delta),
            left: evidence.map(|_| result.left.clone()),
            right: evidence.map(|_| result.right.clone()),
            sentence: evidence.map(|evidence| evidence.sentence(&report.audit.claim)),
            rule_epsilon_estimate: evidence
                .map(|evidence| Exact(round_down(evidence.estimate.epsilon, 6))),
            rule_epsilon_upper: evidence
                .map(|evidence| Exact(-round_down(-evidence.estimate.epsilon_upper, 6))),
            note: evidence.and_then(|evidence| evidence.note.clone()),
            timing: result.timing,
            picture: evidence.map(|evidence| evidence.curves.clone()),
        }
    }
}

impl JsonAccuracy {
    fn new(run: &RunReport, report: &AuditReport, result: &AccuracyResult) -> Self {
        Self {
            row: PairRow::of_accuracy(run, report, result),
            data: result.accuracy.data.to_string(),
            source: result.accuracy.source.clone(),
            sentence: result.sentence(),
            meaning: result.meaning(),
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::audit::Evidence;
    use crate::model::{Expectation, RuleEstimate};
    use crate::report::testing::{INCONCLUSIVE, audit, evidence, not_run, pair, run, run_of};

    fn written(report: &RunReport) -> Value {
        serde_json::from_slice(&Json.render(report).unwrap()).unwrap()
    }

    #[test]
    fn the_summary_counts_each_kind_of_audit() {
        let results = [
            ("refuted", pair(Verdict::Violated, Expectation::Violated)),
            ("surprise", pair(Verdict::Violated, Expectation::Consistent)),
            ("consistent", pair(Verdict::Consistent, Expectation::Consistent)),
            ("inconclusive", pair(INCONCLUSIVE, Expectation::Consistent)),
            ("failed", not_run()),
        ];
        let report = JsonReport::new(&run_of(
            results.into_iter().map(|(name, result)| (audit(name), vec![result])).collect(),
        ));
        let Summary {
            audits,
            pairs,
            accuracy_claims: _,
            draws,
            violated,
            consistent,
            inconclusive,
            not_run,
            surprises,
        } = report.summary;
        assert_eq!(
            (audits, pairs, violated, consistent, inconclusive, not_run),
            (5, 5, 2, 1, 1, 1)
        );
        assert_eq!(draws, 4 * 128, "the draws of the pair that failed do not count");
        assert_eq!(surprises, ["surprise"]);
        let as_expected: Vec<Option<bool>> =
            report.audits.iter().map(|audit| audit.as_expected).collect();
        assert_eq!(as_expected, [Some(true), Some(false), Some(true), None, Some(false)]);
        let witnesses: Vec<bool> =
            report.audits.iter().map(|audit| audit.witness.is_some()).collect();
        assert_eq!(witnesses, [true, true, false, false, false]);
    }

    #[test]
    fn estimates_are_rounded_in_the_direction_that_keeps_them_valid() {
        let with = |epsilon, epsilon_upper| {
            let estimate = RuleEstimate { epsilon, epsilon_upper };
            let outcome = Ok(Evidence { estimate, ..evidence(Verdict::Consistent) });
            let run = run(vec![PairResult {
                outcome,
                ..pair(Verdict::Consistent, Expectation::Consistent)
            }]);
            written(&run)["audits"][0]["pairs"][0].clone()
        };
        let finite = with(0.123_456_78, 0.123_456_78);
        assert_eq!(
            (&finite["rule_epsilon_estimate"], &finite["rule_epsilon_upper"]),
            (&0.123_456.into(), &0.123_457.into())
        );
        let infinite = with(f64::INFINITY, f64::INFINITY);
        assert_eq!(
            (&infinite["rule_epsilon_estimate"], &infinite["rule_epsilon_upper"]),
            (&"inf".into(), &"inf".into())
        );
    }

    #[test]
    fn a_pair_that_could_not_be_run_has_nulls() {
        let report = written(&run(vec![not_run()]));
        let pair = &report["audits"][0]["pairs"][0];
        assert_eq!(pair["verdict"], "error");
        for key in [
            "left",
            "right",
            "sentence",
            "rule_epsilon_estimate",
            "rule_epsilon_upper",
            "picture",
            "epsilon_lower",
            "draws",
        ] {
            assert_eq!(pair[key], Value::Null, "{key}");
        }
        assert_eq!(report["audits"][0]["verdict"], Value::Null);
    }

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let run = run(vec![pair(INCONCLUSIVE, Expectation::Consistent), not_run()]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.json");
        std::fs::write(&file, Json.render(&run).unwrap()).unwrap();
        let read = JsonReport::read(&file).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), written(&run));
        assert!(written(&run)["complete"] == true);
    }

    #[test]
    fn other_files_are_rejected_with_their_name_and_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.json");
        let rejected = || JsonReport::read(&file).unwrap_err().to_string();
        let prefix = format!("cannot read {}: ", file.display());
        assert!(rejected().starts_with(&prefix), "there is no file");
        let mut newer = written(&run(vec![]));
        newer["schema"] = "dp-audit-report/2".into();
        let mut incomplete = written(&run(vec![]));
        incomplete["audits"] = Value::Null;
        for (content, reason) in [
            ("no".to_owned(), "no JSON"),
            ("{}".to_owned(), "its schema is none, must be dp-audit-report/1"),
            (newer.to_string(), "its schema is dp-audit-report/2, must be dp-audit-report/1"),
            (incomplete.to_string(), "null"),
        ] {
            std::fs::write(&file, content).unwrap();
            assert!(
                rejected().starts_with(&prefix) && rejected().contains(reason),
                "{}",
                rejected()
            );
        }
    }
}
