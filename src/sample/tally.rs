//! Three integers: all the evidence there is.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::attack::{Answers, GuessRule};
use crate::cell::Rows;
use crate::mechanism::Side;

/// How often a guess rule was right, wrong, or silent.
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
    /// The tally of answers given to outputs of one side.
    #[must_use]
    pub fn of(side: Side, answers: Answers) -> Self {
        let (correct, wrong) = match side {
            Side::Left => (answers.left, answers.right),
            Side::Right => (answers.right, answers.left),
        };
        Self { correct, wrong, abstained: answers.abstained }
    }

    /// All draws.
    #[must_use]
    pub fn draws(self) -> u64 {
        self.correct + self.wrong + self.abstained
    }

    /// The draws on which the rule guessed.
    #[must_use]
    pub fn guesses(self) -> u64 {
        self.correct + self.wrong
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { correct: self.correct + other.correct, wrong: self.wrong + other.wrong, abstained: self.abstained + other.abstained }
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

/// One tally for each of several rules that are judged on the same draws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallies(pub Vec<Tally>);

impl Tallies {
    /// Nothing judged yet.
    #[must_use]
    pub fn new(rules: usize) -> Self {
        Self(vec![Tally::default(); rules])
    }

    /// Judges each rule on rows of one side.
    pub fn judge(&mut self, rules: &[GuessRule], side: Side, rows: &Rows) {
        for (tally, rule) in self.0.iter_mut().zip(rules) {
            *tally += Tally::of(side, rule.answers(rows));
        }
    }

    /// Adds the tallies of other draws.
    pub fn add(&mut self, other: &Self) {
        for (tally, more) in self.0.iter_mut().zip(&other.0) {
            *tally += *more;
        }
    }
}
