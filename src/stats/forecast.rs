//! What is known about a rule before it is judged.

use serde::{Deserialize, Serialize};

use crate::model::Tally;

/// What is known about a rule before it is judged: how often it is correct and wrong, estimated
/// from how many draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Estimated `P(correct)`.
    pub correct: f64,
    /// Estimated `P(wrong)`.
    pub wrong: f64,
    /// The draws behind the estimates.
    pub draws: f64,
}

impl Forecast {
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
}
