//! Guesses that somebody else has made, and counts of them.

use serde::{Deserialize, Serialize};

use super::scores::CanaryScores;
use crate::model::number::grouped;
use crate::model::{Limit, Measure};
use crate::stats::canary::{Counted, Sides, Trial};

/// Counts of guesses about the canaries of each run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CanaryCounts {
    /// The runs.
    pub runs: Vec<CanaryCount>,
    /// Whether the numbers of guesses were fixed before the scores were seen.
    #[serde(default)]
    pub fixed: bool,
}

/// Counts of the guesses about the canaries of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryCount {
    /// The canaries, guessed or not.
    pub canaries: u64,
    /// The guesses.
    pub guesses: u64,
    /// The right ones.
    pub correct: u64,
}

impl CanaryCounts {
    /// The counts of guesses that somebody else made: 1 for in, −1 for out, 0 for none.
    ///
    /// # Errors
    /// When a guess is none of these, or one that `sides` excludes.
    pub(super) fn of_guesses(
        scores: &CanaryScores,
        sides: Sides,
        fixed: bool,
    ) -> Result<Self, String> {
        let excluded = match sides {
            Sides::Both => None,
            Sides::In => Some((-1.0, "out", "in")),
            Sides::Out => Some((1.0, "in", "out")),
        };
        let mut runs = Vec::new();
        for trial in &scores.trials {
            let mut count =
                CanaryCount { canaries: trial.canaries() as u64, guesses: 0, correct: 0 };
            for (place, (guess, coin)) in trial.scores.iter().zip(&trial.included).enumerate() {
                if ![-1.0, 0.0, 1.0].contains(guess) {
                    return Err(format!(
                        "the guess about canary {} is {guess}, must be 1 for in, -1 for out, or 0 for \
                         none; for other numbers give scores",
                        place + 1
                    ));
                }
                if let Some((value, said, only)) = excluded
                    && *guess == value
                {
                    return Err(format!(
                        "the guess about canary {} is {said}, and with sides = \"{only}\" nothing else \
                         than {only} is guessed",
                        place + 1
                    ));
                }
                count.guesses += u64::from(*guess != 0.0);
                count.correct += u64::from(*guess != 0.0 && (*guess > 0.0) == *coin);
            }
            runs.push(count);
        }
        Ok(Self { runs, fixed })
    }

    /// All canaries of all runs.
    #[must_use]
    pub fn canaries(&self) -> u64 {
        self.runs.iter().fold(0, |all, run| all.saturating_add(run.canaries))
    }

    /// Whether the numbers of guesses do not depend on the scores: they were fixed, or there is a
    /// guess about each canary.
    pub(super) fn is_fixed(&self) -> bool {
        self.fixed || self.runs.iter().all(|run| run.guesses == run.canaries)
    }

    /// The counts as the bounds need them.
    pub(super) fn counted(&self, sides: Sides) -> Vec<Counted> {
        let one =
            |run: &CanaryCount| Trial::of_counts(run.canaries, run.guesses, run.correct, sides);
        self.runs.iter().map(one).collect()
    }

    /// Checks the counts for themselves.
    ///
    /// # Errors
    /// What is wrong, and what to do about it.
    pub(super) fn check(&self, limit: &Limit) -> Result<(), String> {
        if self.runs.is_empty() {
            return Err("there are no counts; give canaries, guesses and right ones".to_owned());
        }
        for run in &self.runs {
            let CanaryCount { canaries, guesses, correct } = *run;
            if canaries < super::assumptions::LEAST_CANARIES as u64 {
                return Err(super::assumptions::too_few(canaries, ""));
            }
            if guesses > canaries || correct > guesses {
                return Err(format!(
                    "there are {} right ones of {} guesses about {} canaries; give the numbers in the \
                     order canaries, guesses, right ones",
                    grouped(correct),
                    grouped(guesses),
                    grouped(canaries)
                ));
            }
        }
        if matches!(limit.measure, Measure::Epsilon { .. }) || self.is_fixed() {
            return Ok(());
        }
        Err(format!(
            "the number of guesses may depend on the scores, and no bound in {} holds for such a number; \
             give the scores, or state that it was fixed before they were seen (--fixed-guesses, \
             fixed_guesses in audit files and in Python), or claim (ε, δ)",
            limit.measure.symbol()
        ))
    }
}
