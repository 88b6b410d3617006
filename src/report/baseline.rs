//! Compares a run with an earlier report: what is worse, what is better.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::json::{JsonPair, JsonReport};
use crate::model::Conclusion;
use crate::model::number::Brief;

/// The differences between two reports, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What is worse than before. It fails the run.
    pub worse: Vec<String>,
    /// What is better than before.
    pub better: Vec<String>,
    /// What could not be compared, and what weakens the comparison.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Compares a report with an earlier one, pair by pair.
    #[must_use]
    pub fn new(before: &JsonReport, now: &JsonReport) -> Self {
        let mut comparison = Self::default();
        if before.settings.draws != now.settings.draws || before.settings.confidence != now.settings.confidence {
            comparison.notes.push("the baseline has a different --draws or --confidence, which alone can change verdicts".to_owned());
        }
        if !before.complete {
            comparison.notes.push("the run of the baseline was interrupted, so audits may be missing in it".to_owned());
        }
        let mut earlier = pairs(before);
        for (name, pair) in pairs(now) {
            match earlier.remove(&name) {
                Some(before) => comparison.compare(&name, before, pair),
                None => comparison.notes.push(format!("{name}: not in the baseline")),
            }
        }
        comparison.notes.extend(earlier.into_keys().map(|name| format!("{name}: in the baseline, but not run now")));
        comparison
    }

    /// Compares one pair. It is worse if its claim was not refuted before and is now, if its mechanism can no longer be run, or if its ε bound has
    /// risen by more than chance explains: more than the audit's resolution above the upper limit of what the earlier rules showed. Then the
    /// mechanism leaks more or the attack is better; random variation of the counts is not enough.
    fn compare(&mut self, name: &str, (_, before): (f64, &JsonPair), (resolution, now): (f64, &JsonPair)) {
        let claim = |pair: &JsonPair| (pair.row.claim_epsilon, pair.row.claim_delta);
        if claim(before) != claim(now) {
            self.notes.push(format!("{name}: the claim has changed, so the results are not compared"));
            return;
        }
        let (earlier, present) = (before.row.verdict, now.row.verdict);
        let change = format!("{name}: was {earlier}, is {present}");
        match (earlier, present) {
            (earlier, present) if earlier == present => {}
            (_, Conclusion::Violated | Conclusion::Error) => self.worse.push(change),
            (Conclusion::Violated | Conclusion::Error, _) => self.better.push(change),
            _ => self.notes.push(change),
        }
        if let (Some(upper), Some(lower)) = (before.rule_epsilon_upper, now.row.epsilon_lower)
            && lower > upper.0 + resolution
        {
            self.worse.push(format!("{name}: ε is at least {}; in the baseline, the attack showed at most {}", Brief(lower), Brief(upper.0)));
        }
    }

    /// The comparison for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (title, lines) in [("WORSE than the baseline", &self.worse), ("Better than the baseline", &self.better), ("Note", &self.notes)]
        {
            for line in lines {
                let _ = writeln!(text, "{title}: {line}.");
            }
        }
        if self.worse.is_empty() {
            text.push_str("Nothing is worse than in the baseline.\n");
        }
        text
    }
}

/// The pairs by name, with the resolution of their audits.
fn pairs(report: &JsonReport) -> BTreeMap<String, (f64, &JsonPair)> {
    let pairs = report.audits.iter().flat_map(|audit| audit.pairs.iter().map(|pair| (audit.resolution, pair)));
    pairs.map(|(resolution, pair)| (format!("{} / {}", pair.row.audit, pair.row.pair), (resolution, pair))).collect()
}
