//! What a run found, and who hears of it. One format a file.

pub mod csv;
pub mod explain;
pub mod file;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod picture;
pub mod terminal;
pub mod witnesses;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::attack::GuessRule;
use crate::error::TargetError;
use crate::evidence::Bounds;
use crate::evidence::fixed::{Shown, effective};
use crate::run::Settings;
use crate::sample::Tally;
use crate::spec::{Audit, Claim, Truth};
use crate::verdict::{Agreement, Expectation, Verdict};
use crate::witness::Witness;
use picture::Picture;

/// Hears of a run's progress. Called from several threads.
pub trait Listener: Sync {
    /// An audit begins; it may make so many draws for each pair.
    fn audit_started(&self, _audit: &Audit, _budget: u64) {}
    /// So many more draws are done.
    fn drawn(&self, _draws: u64) {}
    /// The ε bound so far.
    fn looked(&self, _epsilon_lower: f64) {}
    /// The last audit of the report has ended.
    fn audit_finished(&self, _report: &RunReport) {}
}

/// All that a run found.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// How it was run.
    pub settings: Settings,
    /// Over how many pairs the confidence is divided.
    pub pairs: usize,
    /// The audits that have ended, in order.
    pub audits: Vec<AuditReport>,
}

/// What one audit found.
#[derive(Clone, Debug)]
pub struct AuditReport {
    /// The audit's name.
    pub audit: String,
    /// Its file.
    pub file: PathBuf,
    /// Its mechanism.
    pub mechanism: String,
    /// The command line, where the mechanism is a program.
    pub command: Option<String>,
    /// The mechanism's parameters.
    pub params: toml::Table,
    /// Where mechanism and claim come from.
    pub source: Option<String>,
    /// Its neighbour relation.
    pub relation: String,
    /// What was claimed.
    pub claim: Claim,
    /// The smallest excess over the claim that counts.
    pub resolution: f64,
    /// What was expected of the pairs that do not say so themselves.
    pub expect: Expectation,
    /// The pairs, by name: a report, or why the mechanism could not be run.
    pub pairs: Vec<(String, Result<PairReport, TargetError>)>,
}

/// What one pair showed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PairReport {
    /// The pair's name.
    pub pair: String,
    /// The dataset D in short.
    pub left: String,
    /// Its neighbour D' in short.
    pub right: String,
    /// What was expected of this pair alone, if anything.
    pub expect: Option<Expectation>,
    /// The exact leakage, where it is known. It may be infinite, and whoever reads a report has the audit, which says it.
    #[serde(skip)]
    pub truth: Truth,
    /// The verdict.
    pub verdict: Verdict,
    /// The bounds behind it.
    pub bounds: Bounds,
    /// The ε that the reported rule shows, without uncertainty, and the most that any of the frozen rules can be showing.
    pub shown: Shown,
    /// All draws, exploration included.
    pub draws: u64,
    /// How the reported rule did on the draws it was judged on.
    pub tally: Tally,
    /// How many of the two answers it gives.
    pub regions: u8,
    /// The rule; absent when the budget was too small to learn one.
    pub rule: Option<GuessRule>,
    /// The evidence as curves.
    pub picture: Picture,
    /// What refuted the claim, if anything did.
    pub witness: Option<Witness>,
    /// Whether the same seed gives this report again: a program may ignore the seeds it is given.
    pub reproducible: bool,
    /// How long it took.
    pub seconds: f64,
}

impl RunReport {
    /// Whether all audits have ended.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.audits.iter().map(|audit| audit.pairs.len()).sum::<usize>() == self.pairs
    }

    /// The audits: surprises first, then those that could not be run, then what was refuted, then the rest; within that as run.
    #[must_use]
    pub fn gravest_first(&self) -> Vec<&AuditReport> {
        let mut audits: Vec<&AuditReport> = self.audits.iter().collect();
        audits.sort_by_key(|audit| (std::cmp::Reverse(audit.agreement() as u8), audit.verdict() != Some(Verdict::Violated)));
        audits
    }

    /// How many audits ended with this verdict; none is for those that could not be run.
    #[must_use]
    pub fn count(&self, verdict: Option<Verdict>) -> usize {
        self.audits.iter().filter(|audit| audit.verdict() == verdict).count()
    }

    /// The audits that compare in this way with what was expected.
    pub fn with(&self, agreement: Agreement) -> impl Iterator<Item = &AuditReport> {
        self.audits.iter().filter(move |audit| audit.agreement() == agreement)
    }
}

impl PairReport {
    /// `max(0, δ_lower − δ)`: by how much the claimed δ is known to be exceeded.
    #[must_use]
    pub fn delta_excess(&self, claim: Claim) -> f64 {
        (self.bounds.delta_lower - claim.delta.get()).max(0.0)
    }

    /// Whether a bound lies above a known truth: a wrong truth in the file, an error of the harness, or the rare bad luck that the confidence allows.
    #[must_use]
    pub fn exceeds_truth(&self) -> bool {
        self.truth.epsilon.is_some_and(|truth| self.bounds.epsilon_lower > truth)
            || self.truth.delta.is_some_and(|truth| self.bounds.delta_lower > truth)
    }

    /// One sentence about what the attacker could do and what the claim allows.
    #[must_use]
    pub fn sentence(&self, claim: Claim) -> String {
        let guesses = self.tally.guesses() as f64;
        let draws = self.tally.draws() as f64;
        let right = self.tally.correct as f64 / guesses.max(1.0);
        let odds = claim.epsilon.get().exp();
        // P(correct) ≤ e^ε·P(wrong) + δ_eff, divided by P(guess).
        let spent = effective(claim.delta.get(), self.regions) * draws / guesses.max(1.0);
        let allowed = if odds.is_finite() { ((odds + spent) / (1.0 + odds)).min(1.0) } else { 1.0 };
        let share = if guesses < draws { format!(" when answering on {} of the outputs", percent(guesses / draws)) } else { String::new() };
        format!("guessed right {} of the time{share}; {claim} allows {}", percent(right), percent(allowed))
    }
}

/// So many significant digits, towards −∞: a bound never grows by being written down.
#[must_use]
pub fn round_down(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    #[allow(clippy::cast_possible_truncation)] // the exponent of a finite float
    let scale = 10_f64.powi(digits - 1 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).floor() / scale;
    // Powers of ten are not all exact: this makes sure of the direction.
    if rounded.is_finite() && rounded <= value { rounded } else { value }
}

/// A share as people say it: `73.1 %`, with more digits near 0 and 100.
#[must_use]
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let distance = percent.min(100.0 - percent);
    if distance <= 0.0 {
        return format!("{percent:.0} %");
    }
    let mut decimals = 1;
    while decimals < 8 && distance * 1.000_001 < 10_f64.powi(-decimals) {
        decimals += 1;
    }
    format!("{percent:.*} %", usize::try_from(decimals).unwrap_or(1))
}

impl AuditReport {
    /// Collects the outcomes of an audit's pairs, in order.
    #[must_use]
    pub fn new(audit: &Audit, outcomes: Vec<Result<PairReport, TargetError>>) -> Self {
        Self {
            audit: audit.name.clone(),
            file: audit.file.clone(),
            mechanism: audit.mechanism.clone(),
            command: audit.command.as_ref().map(ToString::to_string),
            params: audit.params.clone(),
            source: audit.source.clone(),
            relation: audit.relation.to_string(),
            claim: audit.claim,
            resolution: audit.resolution,
            expect: audit.expect,
            pairs: audit.pairs.iter().map(|pair| pair.name.clone()).zip(outcomes).collect(),
        }
    }

    /// The pairs that could be run.
    pub fn reports(&self) -> impl Iterator<Item = &PairReport> {
        self.pairs.iter().filter_map(|(_, outcome)| outcome.as_ref().ok())
    }

    /// The pair that tells most: of the refuted ones if there are any, the one with the largest ε bound.
    #[must_use]
    pub fn telling(&self) -> Option<&PairReport> {
        let weight = |report: &PairReport| (report.verdict == Verdict::Violated, report.bounds.epsilon_lower);
        // The first of equals.
        self.reports().reduce(|best, next| if weight(next) > weight(best) { next } else { best })
    }

    /// The verdict on the mechanism: one refuting pair refutes the claim. None when nothing could be run.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        Verdict::of_all(self.reports().map(|report| report.verdict))
    }

    /// How one pair compares with its expectation. A pair without one of its own shares the audit's: a violation is expected of the mechanism, on some pair.
    #[must_use]
    pub fn agreement_of(&self, outcome: &Result<PairReport, TargetError>) -> Agreement {
        let Ok(report) = outcome else { return Agreement::NotRun };
        if report.exceeds_truth() {
            return Agreement::Differs;
        }
        match report.expect {
            Some(expected) => Agreement::new(report.verdict, expected),
            None => {
                let shared = Verdict::of_all(self.reports().filter(|report| report.expect.is_none()).map(|report| report.verdict));
                Agreement::new(shared.unwrap_or(report.verdict), self.expect)
            }
        }
    }

    /// How the audit compares with what was expected: the gravest of its pairs.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        self.pairs.iter().map(|(_, outcome)| self.agreement_of(outcome)).fold(Agreement::Agrees, Agreement::worse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_downwards() {
        assert_eq!(round_down(0.998_765_49, 6), 0.998_765);
        assert_eq!(round_down(1_234_567.9, 6), 1_234_560.0);
        assert_eq!(round_down(1.234_567_9e-9, 6), 1.234_56e-9);
        assert_eq!(-round_down(-1.000_001_1, 6), 1.000_01);
        assert_eq!(round_down(1.9975, 4), 1.997);
        assert_eq!(round_down(f64::INFINITY, 6), f64::INFINITY);
        assert_eq!(round_down(0.0, 6), 0.0);
    }

    #[test]
    fn shares_have_enough_digits() {
        assert_eq!(percent(0.731_058), "73.1 %");
        assert_eq!(percent(0.999), "99.9 %");
        assert_eq!(percent(0.999_95), "99.995 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(2.5e-5), "0.003 %");
    }
}
