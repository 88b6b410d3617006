//! What an audit of a closure found, and assertions about it.

use std::fmt;

use crate::audit::{AuditReport, Evidence, RunReport};
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Claim, Verdict};
use crate::target::TargetError;

/// What an audit found. Its `Display` says it in words.
#[derive(Clone, Debug)]
pub struct Finding {
    report: RunReport,
}

impl Finding {
    /// The finding of a run with one audit.
    pub(super) fn new(report: RunReport) -> Self {
        Self { report }
    }

    /// The whole report.
    #[must_use]
    pub fn report(&self) -> &RunReport {
        &self.report
    }

    fn audits(&self) -> impl Iterator<Item = &AuditReport> {
        self.report.audits.iter().map(AsRef::as_ref)
    }

    fn evidence(&self) -> impl Iterator<Item = &Evidence> {
        self.audits().flat_map(AuditReport::evidence).map(|(_, evidence)| evidence)
    }

    /// The verdict on the claim: one pair that refutes it is enough.
    ///
    /// # Errors
    /// When no pair refutes it and one could not be judged.
    pub fn verdict(&self) -> Result<Verdict, TargetError> {
        let verdict = Verdict::of_all(self.evidence().map(|evidence| evidence.verdict));
        let error = self.audits().flat_map(AuditReport::errors).map(|(_, error)| error).next();
        match (verdict, error) {
            (Some(Verdict::Violated), _) => Ok(Verdict::Violated),
            (_, Some(error)) => Err(error.clone()),
            (verdict, None) => Ok(verdict.unwrap_or(Verdict::Inconclusive)),
        }
    }

    /// The mechanism's ε at the claimed δ is at least this, with the audit's confidence.
    #[must_use]
    pub fn epsilon_lower(&self) -> f64 {
        self.evidence().map(|evidence| evidence.bounds.epsilon_lower).fold(0.0, f64::max)
    }

    /// Its δ at the claimed ε is at least this.
    #[must_use]
    pub fn delta_lower(&self) -> f64 {
        self.evidence().map(|evidence| evidence.bounds.delta_lower).fold(0.0, f64::max)
    }

    /// Asserts that the claim is not refuted *and* that a leak beyond the resolution, visible to the attack, would have been noticed.
    ///
    /// # Panics
    /// When the claim is refuted, when there were too few draws to tell, or when the mechanism could not be judged.
    #[track_caller]
    pub fn assert_consistent(&self) {
        assert!(self.verdict() == Ok(Verdict::Consistent), "{self}");
    }

    /// Asserts that the claim is not refuted, for example because there were too few draws.
    ///
    /// # Panics
    /// When the claim is refuted, or when the mechanism could not be judged.
    #[track_caller]
    pub fn assert_not_violated(&self) {
        assert!(matches!(self.verdict(), Ok(Verdict::Consistent | Verdict::Inconclusive)), "{self}");
    }

    /// Asserts that the claim is refuted: for the broken twin of a mechanism, which shows that the audit can tell.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn assert_violated(&self) {
        assert!(self.verdict() == Ok(Verdict::Violated), "{self}");
    }
}

impl fmt::Display for Finding {
    /// Claim, verdict and confidence; for each pair bounds, rule and counts; what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let confidence = percent(self.report.settings.confidence.get());
        for report in self.audits() {
            let (audit, claim) = (&report.audit, report.audit.claim);
            match self.verdict() {
                Ok(Verdict::Violated) => writeln!(f, "{}: the claim {claim} is refuted with confidence {confidence}", audit.name)?,
                Ok(Verdict::Consistent) => writeln!(f, "{}: the claim {claim} is not refuted (confidence {confidence})", audit.name)?,
                Ok(Verdict::Inconclusive) => writeln!(f, "{}: too few draws to tell whether the claim {claim} holds", audit.name)?,
                Err(_) => writeln!(f, "{}: the claim {claim} could not be judged", audit.name)?,
            }
            for result in &report.results {
                match &result.outcome {
                    Ok(evidence) => describe(f, &result.pair, evidence, claim)?,
                    Err(error) => writeln!(f, "  {}: {error}", result.pair)?,
                }
            }
        }
        f.write_str(match self.verdict() {
            Ok(Verdict::Violated) => {
                "What to do: look at the outputs that the rule names; check sensitivity, noise scale and the branch that makes them. \
                 A claim that holds is refuted by chance in the share of seeds that the confidence leaves; with another seed and more draws a real leak stays."
            }
            Ok(Verdict::Consistent) => {
                "That is no proof: another pair or a cleverer attack may break the claim. If a violation was expected, choose a pair on which the claim is tightest."
            }
            Ok(Verdict::Inconclusive) => "What to do: raise .draws(…) until the ε that could be caught is near the claim, or set .resolution(…).",
            Err(_) => "What to do: as the message says; no bound holds for such draws.",
        })
    }
}

fn describe(f: &mut fmt::Formatter<'_>, pair: &str, found: &Evidence, claim: Claim) -> fmt::Result {
    let bounds = found.bounds;
    writeln!(
        f,
        "  {pair}: {}; ε ≥ {}, δ ≥ {} at ε = {}; after {} draws ε = {} could have been caught",
        found.verdict,
        Brief(round_down(bounds.epsilon_lower, 4)),
        Brief(round_down(bounds.delta_lower, 4)),
        claim.epsilon,
        grouped(found.draws),
        Brief(-round_down(-bounds.detectable_epsilon, 4)),
    )?;
    if found.rule.is_some() {
        let (correct, wrong, abstained) = (grouped(found.tally.correct), grouped(found.tally.wrong), grouped(found.tally.abstained));
        writeln!(f, "    the attacker {}", found.sentence(claim))?;
        writeln!(f, "    rule: {} ({correct} right, {wrong} wrong, {abstained} without a guess)", found.rule_text())?;
    }
    if let Some(note) = &found.note {
        writeln!(f, "    note: {note}")?;
    }
    Ok(())
}
