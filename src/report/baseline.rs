//! Comparison with an earlier report: what got worse.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::json::{JsonPair, JsonReport};
use crate::model::Conclusion;
use crate::model::number::Brief;

/// What differs between two reports, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What got worse: it fails the run.
    pub worse: Vec<String>,
    /// What got better.
    pub better: Vec<String>,
    /// What could not be compared, and what makes the comparison weaker.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Compares a report with an earlier one, pair by pair.
    #[must_use]
    pub fn new(before: &JsonReport, now: &JsonReport) -> Self {
        let mut found = Self::default();
        if before.settings.draws != now.settings.draws || before.settings.confidence != now.settings.confidence {
            found.notes.push("the baseline was made with other draws or another confidence, which alone can change verdicts".to_owned());
        }
        if !before.complete {
            found.notes.push("the baseline is of a run that was interrupted".to_owned());
        }
        let mut earlier = pairs(before);
        for (name, pair) in pairs(now) {
            match earlier.remove(&name) {
                Some(before) => found.compare(&name, before, pair),
                None => found.notes.push(format!("{name}: not in the baseline")),
            }
        }
        found.notes.extend(earlier.into_keys().map(|name| format!("{name}: in the baseline, but not run now")));
        found
    }

    /// Worse is a claim that is refuted now and was not before, a mechanism that cannot be run any more, or an ε bound that rose beyond chance: by more than
    /// the audit's resolution above the upper limit of what the earlier rules showed. That is a leakier mechanism or a better attack, not luck in the counts.
    fn compare(&mut self, name: &str, (_, before): (f64, &JsonPair), (resolution, now): (f64, &JsonPair)) {
        let claim = |pair: &JsonPair| (pair.row.claim_epsilon, pair.row.claim_delta);
        if claim(before) != claim(now) {
            self.notes.push(format!("{name}: the claim is another one, not compared"));
            return;
        }
        let (then, verdict) = (before.row.verdict, now.row.verdict);
        let change = format!("{name}: was {then}, is {verdict}");
        match (then, verdict) {
            (then, verdict) if then == verdict => {}
            (_, Conclusion::Violated | Conclusion::Error) => self.worse.push(change),
            (Conclusion::Violated | Conclusion::Error, _) => self.better.push(change),
            _ => self.notes.push(change),
        }
        if let (Some(upper), Some(lower)) = (before.rule_epsilon_upper, now.row.epsilon_lower)
            && lower > upper.0 + resolution
        {
            self.worse.push(format!("{name}: ε is at least {}; before, the attack showed at most {}", Brief(lower), Brief(upper.0)));
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
