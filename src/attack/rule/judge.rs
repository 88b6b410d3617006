//! Judges rules on draws: one tally for each rule.

use crate::attack::answer::AnswerCounts;
use crate::attack::rule::guess::GuessRule;
use crate::model::{Side, Tally};
use crate::output::Rows;
use crate::sample::Sampler;
use crate::target::TargetError;

/// Judges rules on the next draws of a sampler: one tally per rule.
///
/// # Errors
/// When the mechanism could not be run.
pub fn judge(
    sampler: &mut Sampler,
    draws: u64,
    rules: &[GuessRule],
) -> Result<Tallies, TargetError> {
    let step = |tallies: &mut Tallies, side, rows: &Rows| tallies.judge(rules, side, rows);
    sampler.fold(draws, || Tallies::new(rules.len()), step, |all, next| all.add(&next))
}

/// The same for draws whose rows are needed too, of both sides.
///
/// # Errors
/// When the mechanism could not be run.
pub fn judge_and_keep(
    sampler: &mut Sampler,
    draws: u64,
    rules: &[GuessRule],
) -> Result<(Tallies, [Rows; 2]), TargetError> {
    let width = sampler.width();
    sampler.fold(
        draws,
        || (Tallies::new(rules.len()), [Rows::new(width), Rows::new(width)]),
        |(tallies, kept), side, rows| {
            tallies.judge(rules, side, rows);
            kept[side as usize].append(rows);
        },
        |(tallies, kept), (more, of)| {
            tallies.add(&more);
            kept.iter_mut().zip(&of).for_each(|(kept, more)| kept.append(more));
        },
    )
}

/// One tally for each of several rules that are judged on the same draws.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tallies(pub Vec<Tally>);

impl Tallies {
    /// Empty tallies for this number of rules.
    #[must_use]
    pub fn new(rules: usize) -> Self {
        Self(vec![Tally::default(); rules])
    }

    /// Judges each rule on rows of one side.
    pub fn judge(&mut self, rules: &[GuessRule], side: Side, rows: &Rows) {
        for (tally, rule) in self.0.iter_mut().zip(rules) {
            *tally += tally_of(side, rule.answers(rows));
        }
    }

    /// Adds the tallies of other draws.
    pub fn add(&mut self, other: &Self) {
        for (tally, more) in self.0.iter_mut().zip(&other.0) {
            *tally += *more;
        }
    }
}

/// The tally of answers given to outputs of one side.
#[must_use]
pub fn tally_of(side: Side, answers: AnswerCounts) -> Tally {
    let (correct, wrong) = match side {
        Side::Left => (answers.left, answers.right),
        Side::Right => (answers.right, answers.left),
    };
    Tally { correct, wrong, abstained: answers.abstained }
}
