//! The tally of a guess rule: three integers, which are all the evidence.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// How often a guess rule was correct, was wrong, or abstained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Guessed the side that was run.
    pub correct: u64,
    /// Guessed the other side.
    pub wrong: u64,
    /// Did not guess.
    pub abstained: u64,
}

impl Tally {
    /// The number of all draws.
    #[must_use]
    pub fn draws(self) -> u64 {
        self.correct + self.wrong + self.abstained
    }

    /// The number of draws on which the rule guessed.
    #[must_use]
    pub fn guesses(self) -> u64 {
        self.correct + self.wrong
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            correct: self.correct + other.correct,
            wrong: self.wrong + other.wrong,
            abstained: self.abstained + other.abstained,
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Add::add)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
