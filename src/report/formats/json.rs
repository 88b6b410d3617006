//! The JSON report: the columns of the CSV, the evidence, and a witness for each refuted claim.
//! `--baseline`, `compare` and `show --report` read it again, and `report` makes every other format
//! of it.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::audit::{AuditReport, Evidence, Judged, LISTS, Row, RunReport, as_expected};
use crate::model::exact::Exact;
use crate::model::file::read_text;
use crate::model::number::round_down;
use crate::model::{
    Agreement, AskedReach, Claim, Conclusion, ControlResult, Error, Reason, Relation, Settings,
    Verdict,
};
use crate::report::persistence::files::Format;
use crate::report::persistence::shard_file::Selection;
use crate::report::persistence::witness::Witness;
use crate::target::Timing;

/// The name and version of the schema. The version changes if the meaning of a key changes, but not
/// if keys are added.
pub const SCHEMA: &str = "dp-audit-report/1";

/// A complete report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonReport {
    /// The name and version of the schema.
    pub schema: String,
    /// The version of dp-audit.
    pub version: String,
    /// How it was run.
    pub settings: Settings,
    /// Which audits were selected; absent if all were.
    #[serde(default, skip_serializing_if = "is_everything")]
    pub selection: Selection,
    /// Whether all audits have ended; false if the run was interrupted.
    pub complete: bool,
    /// Counts over the whole run.
    pub summary: Summary,
    /// The audits, in the order in which they ran.
    pub audits: Vec<JsonAudit>,
    /// Everything that was found, as this version of dp-audit keeps it: what `dp-audit report`
    /// reads. It is not read with the rest.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunReport>,
}

fn is_everything(selection: &Selection) -> bool {
    *selection == Selection::default()
}

/// What `dp-audit report` reads of a report.
#[derive(Deserialize)]
struct Kept<'a> {
    version: String,
    #[serde(default)]
    selection: Selection,
    #[serde(borrow)]
    run: Option<&'a RawValue>,
}

/// Counts of audits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Audits that have ended.
    pub audits: usize,
    /// The number of statements, which the confidence is divided over.
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
    /// Why the datasets are neighbours, if that is stated and not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_reason: Option<String>,
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
    /// The results of the statements, in a list for each kind.
    #[serde(flatten, with = "lists")]
    pub statements: Vec<JsonStatement>,
    /// The witness of a refuted claim. `dp-audit replay` can read it if it is saved as a file.
    pub witness: Option<serde_json::Value>,
}

/// One statement: the columns of the CSV, and what its kind has besides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonStatement {
    /// The list that has it.
    #[serde(skip)]
    pub list: &'static str,
    /// The columns of the CSV.
    #[serde(flatten)]
    pub row: Row,
    /// A note about the draws, for example that a time limit cut them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where the time went, if the mechanism is a program: seconds of all its processes together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// What the kind adds.
    #[serde(flatten)]
    pub details: serde_json::Map<String, serde_json::Value>,
}

/// Statements are in lists by kind.
mod lists {
    use std::collections::BTreeMap;

    use serde::de::Error as _;
    use serde::ser::SerializeMap as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use serde_json::Value;

    use super::{JsonStatement, LISTS};

    pub fn serialize<S: Serializer>(
        statements: &[JsonStatement],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(LISTS.len()))?;
        for [list, _] in LISTS {
            let of_list = statements.iter().filter(|statement| statement.list == list);
            map.serialize_entry(list, &of_list.collect::<Vec<_>>())?;
        }
        map.end()
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<JsonStatement>, D::Error> {
        let mut keys: BTreeMap<String, Value> = BTreeMap::deserialize(deserializer)?;
        let mut all = Vec::new();
        for [list, _] in LISTS {
            let Some(value) = keys.remove(list) else { continue };
            let of_list: Vec<JsonStatement> =
                serde_json::from_value(value).map_err(D::Error::custom)?;
            all.extend(of_list.into_iter().map(|statement| JsonStatement { list, ..statement }));
        }
        Ok(all)
    }
}

impl JsonReport {
    /// Converts a report to this form.
    #[must_use]
    pub fn new(report: &RunReport) -> Self {
        let settings = report.settings;
        let counts = report.counts();
        let count =
            |noun: &str| counts.iter().filter(|(of, _)| *of == noun).map(|(_, count)| count).sum();
        Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings,
            selection: Selection::default(),
            complete: report.is_complete(),
            summary: Summary {
                audits: report.audits.len(),
                pairs: count("pair"),
                accuracy_claims: count("accuracy claim"),
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
            run: Some(report.clone()),
        }
    }

    /// The part of the report that a run with these filters makes: audits whose name, mechanism or
    /// file contains one text, and their statements whose name contains another one.
    #[must_use]
    pub fn selected(mut self, filter: Option<&str>, pair: Option<&str>) -> Self {
        if let Some(text) = filter {
            self.audits.retain(|audit| {
                [&audit.audit, &audit.mechanism, &audit.file].iter().any(|name| name.contains(text))
            });
        }
        if let Some(text) = pair {
            for audit in &mut self.audits {
                audit.statements.retain(|statement| statement.row.pair.contains(text));
            }
        }
        self
    }

    /// Reads a report.
    ///
    /// # Errors
    /// When the file cannot be read, or is not a report of this schema.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (_, value) = read_value(path)?;
        serde_json::from_value(value).map_err(|error| unreadable(path, &error))
    }

    /// Whether a report may be written here: nothing is there yet, or a file that begins like one.
    #[must_use]
    pub fn may_be_at(path: &Path) -> bool {
        const BEGINNING: &str = "{\"schema\":\"dp-audit-report/";
        let Ok(file) = File::open(path) else { return !path.exists() };
        let mut beginning = Vec::new();
        let length = BEGINNING.len() as u64;
        let read = file.take(length).read_to_end(&mut beginning);
        read.is_ok() && (beginning.is_empty() || beginning == BEGINNING.as_bytes())
    }

    /// Reads everything that the run of a report found, and which audits it had selected.
    ///
    /// # Errors
    /// When the file cannot be read, is not a report of this schema, or was written by another
    /// version.
    pub fn read_run(path: &Path) -> Result<(RunReport, Selection), Error> {
        const VERSION: &str = env!("CARGO_PKG_VERSION");
        let (text, _) = read_value(path)?;
        let kept: Kept = serde_json::from_str(&text).map_err(|error| unreadable(path, &error))?;
        let Kept { version, selection, run } = kept;
        if version != VERSION {
            let reason = format!(
                "dp-audit {version} wrote it, and this is {VERSION}; make the reports with that \
                 version, or run the audits again"
            );
            return Err(unreadable(path, &reason));
        }
        let run = run.ok_or_else(|| {
            let reason = "it has no \"run\", from which reports are made; run the audits again";
            unreadable(path, &reason)
        })?;
        let report = serde_json::from_str(run.get()).map_err(|error| {
            let reason = format!(
                "its \"run\" is not one of this build ({error}); make the reports with the \
                 dp-audit that wrote it"
            );
            unreadable(path, &reason)
        })?;
        Ok((report, selection))
    }
}

fn unreadable(path: &Path, reason: &dyn Display) -> Error {
    Error::Read { path: path.to_owned(), reason: reason.to_string() }
}

/// The text of a report, and its JSON, which has the right schema.
fn read_value(path: &Path) -> Result<(String, serde_json::Value), Error> {
    let unreadable = |reason: String| unreadable(path, &reason);
    let text = read_text(path).map_err(|error| unreadable(error.to_string()))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| {
        unreadable(format!("it is not JSON ({error}); use a file that was written with --json"))
    })?;
    let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or("none");
    if schema != SCHEMA {
        return Err(unreadable(format!(
            "its schema is {schema}, must be {SCHEMA}; use a file that was written with --json"
        )));
    }
    Ok((text, value))
}

/// What to do about the first inconclusive result of an audit.
fn advice(report: &AuditReport) -> Option<String> {
    report.statements().find(|judged| judged.reason().is_some())?.next_step()
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
            relation_reason: match &audit.relation {
                Relation::Custom { reason } => Some(reason.clone()),
                _ => None,
            },
            source: audit.source.clone(),
            claim: audit.is_about_claim().then(|| audit.claim.clone()),
            resolution: audit.resolution,
            asked_reach: audit.reach.clone(),
            reach: report.most_significant().map(|_| Exact(round_down(report.reach(), 6))),
            verdict: report.verdict().map(|verdict| Some(verdict).into()),
            reason,
            advice: reason
                .map(|reason| advice(report).unwrap_or_else(|| reason.advice().to_owned())),
            control: report.control,
            as_expected: as_expected(report.agreement()),
            statements: report
                .statements()
                .map(|judged| JsonStatement::new(run.settings, judged))
                .collect(),
            witness: Witness::of(run.settings, report).map(|witness| witness.sealed()),
        }
    }
}

impl JsonStatement {
    fn new(settings: Settings, judged: Judged<'_>) -> Self {
        let kind = judged.kind();
        Self {
            list: kind.list()[0],
            row: Row::new(settings, judged),
            note: judged.evidence().and_then(Evidence::note).map(str::to_owned),
            timing: judged.result.timing,
            details: kind.details(),
        }
    }

    /// A number that its kind adds.
    #[must_use]
    pub fn detail(&self, key: &str) -> Option<f64> {
        let value = self.details.get(key)?;
        serde_json::from_value::<Option<Exact>>(value.clone()).ok()?.map(|exact| exact.0)
    }

    /// A text that its kind adds.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.details.get(key)?.as_str()
    }
}

/// The format of `--json`.
#[derive(Default)]
pub struct Json {
    /// Which audits were selected.
    pub selection: Selection,
}

impl Format for Json {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        let report = JsonReport { selection: self.selection.clone(), ..JsonReport::new(report) };
        let mut text = serde_json::to_vec(&report)?;
        text.push(b'\n');
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::audit::PrivacyEvidence;
    use crate::model::{Expectation, RuleEstimate};
    use crate::report::testing::{INCONCLUSIVE, Ran, audit, evidence, not_run, pair, run, run_of};

    fn written(report: &RunReport) -> Value {
        serde_json::from_slice(&Json::default().render(report).unwrap()).unwrap()
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
            let outcome = Ok(PrivacyEvidence { estimate, ..evidence(Verdict::Consistent) });
            let run =
                run(vec![Ran { outcome, ..pair(Verdict::Consistent, Expectation::Consistent) }]);
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
        assert_eq!([&pair["left"], &pair["right"]], ["[1]", "[1 × 2]"], "what was to be audited");
        for key in [
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
        std::fs::write(&file, Json::default().render(&run).unwrap()).unwrap();
        let read = JsonReport::read(&file).unwrap();
        let mut whole = written(&run);
        // `dp-audit report` reads it by itself.
        assert!(whole.as_object_mut().unwrap().remove("run").is_some());
        assert_eq!(serde_json::to_value(read).unwrap(), whole);
        assert!(whole["complete"] == true);
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
            ("no".to_owned(), "not JSON"),
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
