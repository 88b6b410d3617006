//! What to do next about a result. Terminal, reports and tests give the same advice.

use super::{AccuracyResult, AuditReport, PairResult};
use crate::model::number::counted;
use crate::model::{Agreement, Expectation, Reason, Verdict};

/// The advice about a refuted privacy claim.
pub const AFTER_REFUTATION: &str = "look at the outputs that the rule names; check the sensitivity, the noise scale and the code branch that makes these outputs";

/// The advice about a refuted stability claim.
const AFTER_INSTABILITY: &str = "compare the two outputs; correct the transformation or the claimed distance, because noise that is scaled to \
                                 this distance is too small";

/// The advice about a claim that was expected to be refuted and was not.
const AFTER_SURVIVAL: &str = "if the mechanism was corrected, state expect = \"consistent\"; otherwise choose a pair on which more leaks, or \
                              use more draws";

/// The advice about a mechanism that could not be run.
const AFTER_ERROR: &str = "follow the message; nothing is known about this claim";

/// The advice about a bound that contradicts a stated truth.
const AFTER_EXCESS: &str =
    "one of the two is wrong: check the truth, and run with another --seed to exclude bad luck";

/// The advice about a refuted accuracy claim.
const AFTER_FAILURE: &str = "look at the draws that are not in the event; check the noise scale and the constants of the theorem; another \
                             --seed makes other draws";

/// Draws are estimated with this margin, because precision varies from run to run.
const MARGIN: f64 = 1.3;

impl AuditReport {
    /// What to do next about a pair; `None` if there is nothing to do.
    #[must_use]
    pub fn next_step(&self, result: &PairResult) -> Option<String> {
        let Ok(evidence) = &result.outcome else { return Some(AFTER_ERROR.to_owned()) };
        if result.exceeds_truth() {
            return Some(AFTER_EXCESS.to_owned());
        }
        match (evidence.verdict, self.agreement_of(result)) {
            (Verdict::Violated, _) if evidence.outputs.is_some() => {
                Some(AFTER_INSTABILITY.to_owned())
            }
            (Verdict::Violated, _) => Some(AFTER_REFUTATION.to_owned()),
            (Verdict::Inconclusive(reason), _) => {
                Some(with_draws(reason, self.needed_draws(result)))
            }
            (Verdict::Consistent, Agreement::Differs) => Some(AFTER_SURVIVAL.to_owned()),
            (Verdict::Consistent, _) => None,
        }
    }

    /// About how many draws an inconclusive pair needs to be conclusive; `None` if more draws alone
    /// are not known to help.
    ///
    /// A standard error is proportional to `1/√n`. So a precision that should be `f` times finer
    /// needs `f²` times as many draws, and a bound that should be `f` times closer to its estimate
    /// does too.
    #[must_use]
    pub fn needed_draws(&self, result: &PairResult) -> Option<u64> {
        let evidence = result.outcome.as_ref().ok()?;
        let claim = self.audit.claim.main();
        let (lower, asked) = (evidence.bounds.lower, self.audit.reach.at_least() * claim.value);
        match evidence.verdict {
            Verdict::Inconclusive(Reason::TooFewDraws) => {
                let factor = evidence.bounds.resolved / self.resolution_needed();
                factor.is_finite().then(|| more(evidence.draws, factor))
            }
            // The estimate is an ε. It is compared only with claims in this unit.
            Verdict::Inconclusive(Reason::ClaimNotReached)
                if self.audit.claim.second().is_some() =>
            {
                let estimate = evidence.estimate.epsilon;
                (estimate.is_finite() && estimate > asked)
                    .then(|| more(evidence.draws, (estimate - lower) / (estimate - asked)))
            }
            _ => None,
        }
    }
}

impl AccuracyResult {
    /// What to do next; `None` if there is nothing to do.
    #[must_use]
    pub fn next_step(&self) -> Option<String> {
        if self.excludes_truth() {
            return Some(AFTER_EXCESS.to_owned());
        }
        match self.verdict() {
            None => Some(AFTER_ERROR.to_owned()),
            Some(Verdict::Violated) => Some(AFTER_FAILURE.to_owned()),
            Some(Verdict::Inconclusive(reason)) => Some(with_draws(reason, self.needed_draws())),
            Some(Verdict::Consistent) if self.accuracy.expect == Expectation::Violated => Some(
                "if the mechanism or the claim was corrected, state expect = \"consistent\""
                    .to_owned(),
            ),
            Some(Verdict::Consistent) => None,
        }
    }

    /// About how many draws an inconclusive accuracy claim needs; `None` if it is not inconclusive,
    /// or if nothing is known about the precision. Below what should be noticed, the upper limit
    /// must come closer to the observed frequency; above what is allowed, the lower limit.
    #[must_use]
    pub fn needed_draws(&self) -> Option<u64> {
        let evidence = self.outcome.as_ref().ok()?;
        evidence.verdict.reason()?;
        let claim = self.accuracy.claim;
        let seen = evidence.failures as f64 / evidence.draws.max(1) as f64;
        let below = (evidence.limits.upper - seen) / (claim.noticed() - seen).max(0.0);
        let above = (seen - evidence.limits.lower) / (seen - claim.allowed()).max(0.0);
        let factor = below.min(above);
        factor.is_finite().then(|| more(evidence.draws, factor))
    }
}

/// The draws for a precision that is `factor` times finer: more than now, with a margin, rounded up
/// to two digits.
fn more(draws: u64, factor: f64) -> u64 {
    let needed = draws as f64 * MARGIN * (factor * factor).max(1.0);
    let step = 10_f64.powf(needed.log10().floor() - 1.0).max(1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates, and is positive
    {
        ((needed / step).ceil() * step) as u64
    }
}

/// The advice about an inconclusive claim, with the number of draws where it is known.
fn with_draws(reason: Reason, draws: Option<u64>) -> String {
    match draws {
        Some(draws) => format!("{}; about {} would do", reason.advice(), counted(draws, "draw")),
        None if reason == Reason::ClaimNotReached => {
            format!("{}; more draws alone would not do", reason.advice())
        }
        None => reason.advice().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_times_as_many_draws_are_twice_as_precise_and_the_margin_is_added() {
        assert_eq!(more(1_000, 2.0), 5_200);
        assert_eq!(more(1_000_000, 1.0), 1_300_000);
        // Never fewer than now, and always rounded up.
        assert_eq!(more(1_000, 0.1), 1_300);
        assert_eq!(more(1_001, 1.0), 1_400);
        assert_eq!(more(3, 1.0), 4);
        assert_eq!(more(u64::MAX, 1e9), u64::MAX);
    }

    #[test]
    fn the_advice_names_the_draws_where_they_are_known() {
        assert!(
            with_draws(Reason::TooFewDraws, Some(5_200)).ends_with("about 5,200 draws would do")
        );
        assert!(
            with_draws(Reason::ClaimNotReached, None).ends_with("more draws alone would not do")
        );
        assert_eq!(with_draws(Reason::NoDifferenceSeen, None), Reason::NoDifferenceSeen.advice());
    }
}
