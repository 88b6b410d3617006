//! How often a rule is correct and wrong.

use serde::{Deserialize, Serialize};

use crate::model::Tally;

/// How often a rule is correct and wrong, estimated from how many draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Estimated `P(correct)`.
    pub correct: f64,
    /// Estimated `P(wrong)`.
    pub wrong: f64,
    /// The draws behind the estimates.
    pub draws: f64,
}

impl Rates {
    /// That the rule does again what it did in this tally.
    #[must_use]
    pub fn of(tally: Tally) -> Self {
        Self { correct: 0.0, wrong: 0.0, draws: 0.0 }.and(tally)
    }

    /// The estimates updated with a further tally of the same rule.
    #[must_use]
    pub fn and(self, tally: Tally) -> Self {
        let draws = self.draws + tally.draws() as f64;
        if draws == 0.0 {
            return self;
        }
        Self {
            correct: (self.correct * self.draws + tally.correct as f64) / draws,
            wrong: (self.wrong * self.draws + tally.wrong as f64) / draws,
            draws,
        }
    }

    /// The counts that are to be expected in so many draws.
    #[must_use]
    pub fn expected(self, draws: u64) -> Tally {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of the draws
        let count = |share: f64| (share * draws as f64).round() as u64;
        let correct = count(self.correct).min(draws);
        let wrong = count(self.wrong).min(draws - correct);
        Tally { correct, wrong, abstained: draws - correct - wrong }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_counts_add_up_to_the_draws() {
        let expected = |correct, wrong, draws| Rates { correct, wrong, draws: 7.0 }.expected(draws);
        assert_eq!(expected(0.5, 0.25, 1000), Tally { correct: 500, wrong: 250, abstained: 250 });
        assert_eq!(expected(0.9, 0.2, 10), Tally { correct: 9, wrong: 1, abstained: 0 });
    }
}
