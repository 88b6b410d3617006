//! What an audit of a closure found, and assertions about it.

use std::fmt;

use crate::audit::{
    AFTER_REFUTATION, AuditReport, Evidence, Judged, PrivacyEvidence, RunReport, Words,
};
use crate::model::number::{grouped, percent};
use crate::model::{Reason, Tally, Verdict};
use crate::target::TargetError;

/// The result of an audit. Its `Display` describes it in words.
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

    fn evidence(&self) -> impl Iterator<Item = &PrivacyEvidence> {
        self.audits().flat_map(AuditReport::privacy).map(|(_, evidence)| evidence)
    }

    /// The verdict on the claim: one pair that refutes it is enough.
    ///
    /// # Errors
    /// When no pair refutes it and at least one pair could not be judged.
    pub fn verdict(&self) -> Result<Verdict, TargetError> {
        let verdict = Verdict::of_all(self.report.judged().filter_map(Judged::verdict));
        let error = self.audits().flat_map(AuditReport::errors).map(|(_, error)| error).next();
        match (verdict, error) {
            (Some(Verdict::Violated), _) => Ok(Verdict::Violated),
            (_, Some(error)) => Err(error.clone()),
            (verdict, None) => {
                Ok(verdict.unwrap_or(Verdict::Inconclusive(Reason::NoDifferenceSeen)))
            }
        }
    }

    /// What to do next about the first inconclusive pair.
    fn inconclusive_advice(&self) -> Option<String> {
        self.report.judged().find(|judged| judged.reason().is_some())?.next_step()
    }

    /// A lower bound on the mechanism's ε at the claimed δ, with the audit's confidence.
    #[must_use]
    pub fn epsilon_lower(&self) -> f64 {
        self.evidence().map(|evidence| evidence.bounds.epsilon_lower).fold(0.0, f64::max)
    }

    /// A lower bound on its δ at the claimed ε.
    #[must_use]
    pub fn delta_lower(&self) -> f64 {
        self.evidence().map(|evidence| evidence.bounds.delta_lower).fold(0.0, f64::max)
    }

    /// How much of its claim the mechanism was seen to use: `ε_lower/ε` or `δ_lower/δ`, whichever
    /// is larger. Above 1 the claim is refuted.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.audits().map(AuditReport::reach).fold(0.0, f64::max)
    }

    /// Asserts that the claim is not refuted *and* that this means something: there were enough
    /// draws, and the attacks were seen to reach as much of the claim as is asked for.
    ///
    /// # Panics
    /// When the claim is refuted, when the audit is inconclusive, or when the mechanism could not
    /// be judged. The message says why.
    #[track_caller]
    pub fn assert_consistent(&self) {
        assert!(self.verdict() == Ok(Verdict::Consistent), "{self}");
    }

    /// Asserts that the claim is not refuted. This also passes if the audit is inconclusive, even
    /// if the attacks see nothing at all.
    ///
    /// # Panics
    /// When the claim is refuted, or when the mechanism could not be judged.
    #[track_caller]
    pub fn assert_not_violated(&self) {
        assert!(
            matches!(self.verdict(), Ok(Verdict::Consistent | Verdict::Inconclusive(_))),
            "{self}"
        );
    }

    /// Asserts that the claim is refuted. Use it for a broken variant of a mechanism, to show that
    /// the audit detects the difference.
    ///
    /// # Panics
    /// When the claim is not refuted.
    #[track_caller]
    pub fn assert_violated(&self) {
        assert!(self.verdict() == Ok(Verdict::Violated), "{self}");
    }
}

impl fmt::Display for Finding {
    /// Claim, verdict and confidence; for each pair its bounds, rule and counts; and what to do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let confidence = percent(self.report.settings.confidence.get());
        for report in self.audits() {
            let (audit, claim) = (&report.audit, &report.audit.claim);
            match self.verdict() {
                Ok(Verdict::Violated) => writeln!(
                    f,
                    "{}: the claim {claim} is refuted with confidence {confidence}",
                    audit.name
                )?,
                Ok(Verdict::Consistent) => writeln!(
                    f,
                    "{}: the claim {claim} is not refuted (confidence {confidence})",
                    audit.name
                )?,
                Ok(Verdict::Inconclusive(reason)) => {
                    writeln!(
                        f,
                        "{}: inconclusive ({reason}): the claim {claim} is not refuted, but this says nothing",
                        audit.name
                    )?;
                }
                Err(_) => writeln!(f, "{}: the claim {claim} could not be judged", audit.name)?,
            }
            for judged in report.statements() {
                match (judged.verdict(), judged.error()) {
                    (Some(verdict), _) => describe(f, judged, verdict)?,
                    (None, Some(error)) => writeln!(f, "  {}: {error}", judged.name())?,
                    (None, None) => {}
                }
            }
        }
        let advice = match self.verdict() {
            Ok(Verdict::Violated) => {
                return write!(
                    f,
                    "What to do: {AFTER_REFUTATION}. By chance, a claim that holds is refuted for a few seeds: at most the share \
                     1 − confidence. A real leak is found again with another seed and more draws."
                );
            }
            Ok(Verdict::Consistent) => {
                "This is not a proof: another pair or a better attack may break the claim. If a violation was expected, choose a pair on \
                 which the claim is tightest."
            }
            Ok(Verdict::Inconclusive(reason)) => {
                let setting = match reason {
                    Reason::TooFewDraws => "raise .draws(…), or set a coarser .resolution(…)",
                    Reason::ClaimNotReached | Reason::NoDifferenceSeen => {
                        "set what is asked for with .reach(at_least, because)"
                    }
                    _ => "change what the closure returns",
                };
                let advice =
                    self.inconclusive_advice().unwrap_or_else(|| reason.advice().to_owned());
                return write!(f, "What to do: {advice}. In this test: {setting}.");
            }
            Err(_) => "What to do: follow the message above; no bound holds for such draws.",
        };
        f.write_str(advice)
    }
}

/// The verdict on a pair, its bounds, and what the attacker sees.
fn describe(f: &mut fmt::Formatter<'_>, judged: Judged<'_>, verdict: Verdict) -> fmt::Result {
    let (name, Words { bounds, sentence, rule, .. }) = (judged.name(), judged.words());
    let Some(evidence) = judged.evidence().and_then(Evidence::privacy) else {
        let seen = rule.map_or_else(String::new, |(_, seen)| format!(": {seen}"));
        return writeln!(f, "  {name}: {verdict}; the attacker {sentence}{seen}");
    };
    writeln!(f, "  {name}: {verdict}; {bounds}")?;
    if let Some((_, rule)) = rule {
        let Tally { correct, wrong, abstained } = evidence.tally;
        let (correct, wrong, abstained) = (grouped(correct), grouped(wrong), grouped(abstained));
        writeln!(f, "    the attacker {sentence}")?;
        writeln!(
            f,
            "    rule: {rule} ({correct} right, {wrong} wrong, {abstained} without a guess)"
        )?;
    }
    if let Some(note) = &evidence.note {
        writeln!(f, "    note: {note}")?;
    }
    Ok(())
}
