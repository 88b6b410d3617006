//! The three answers of a guess rule: D, D', or no guess.

use serde::{Deserialize, Serialize};

/// The answer of a rule to an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// It came from D.
    Left,
    /// It came from D'.
    Right,
    /// No guess.
    #[default]
    Abstain,
}

/// How often a rule gave each answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerCounts {
    /// Guessed D.
    pub left: u64,
    /// Guessed D'.
    pub right: u64,
    /// Did not guess.
    pub abstained: u64,
}

impl AnswerCounts {
    pub(super) fn add(&mut self, answer: Answer, times: u64) {
        match answer {
            Answer::Left => self.left += times,
            Answer::Right => self.right += times,
            Answer::Abstain => self.abstained += times,
        }
    }
}
