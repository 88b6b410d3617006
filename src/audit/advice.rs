//! What to do next about a result. Terminal, reports and tests give the same advice.

use super::Judged;
use crate::model::number::counted;
use crate::model::{Agreement, Reason, Verdict};

/// The advice about a refuted privacy claim.
pub const AFTER_REFUTATION: &str = "look at the outputs that the rule names; check the \
     sensitivity, the noise scale and the code branch that makes these outputs";

/// The advice about a refuted privacy claim if every guess was right.
pub const AFTER_CERTAINTY: &str = "every guess was right, so hardly any output is possible on both \
     datasets; check that there is noise at all, and that the mechanism draws from the generator \
     that it gets, not from one with a fixed seed, which would make all its outputs equal";

/// The advice about a mechanism that could not be run.
const AFTER_ERROR: &str = "follow the message; nothing is known about this claim";

/// The advice about a bound that contradicts a stated truth.
const AFTER_EXCESS: &str =
    "one of the two is wrong: check the truth, and run with another --seed to exclude bad luck";

/// Draws are estimated with this margin, because precision varies from run to run.
const MARGIN: f64 = 1.3;

impl Judged<'_> {
    /// What to do next; `None` if there is nothing to do.
    #[must_use]
    pub fn next_step(self) -> Option<String> {
        if self.contradicts_truth() {
            return Some(AFTER_EXCESS.to_owned());
        }
        let advice = match self.verdict() {
            None => AFTER_ERROR,
            Some(Verdict::Violated) => self.words().after_refutation,
            Some(Verdict::Inconclusive(reason)) => {
                return Some(with_draws(reason, self.needed_draws()));
            }
            Some(Verdict::Consistent) if self.agreement() == Agreement::Differs => {
                self.words().after_survival
            }
            Some(Verdict::Consistent) => return None,
        };
        Some(advice.to_owned())
    }
}

/// The draws for a precision that is `factor` times finer: more than now, with a margin, rounded up
/// to two digits.
pub fn more(draws: u64, factor: f64) -> u64 {
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
