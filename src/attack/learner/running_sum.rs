//! The sum of the log-ratios of successive differences, which undoes running sums.

use super::naive_bayes::{Features, learn_both};
use super::{Cost, Learner};
use crate::attack::family::Attack;

pub const LEARNER: Learner = Learner {
    name: "running-sum",
    sees: "the log-ratios of all successive differences, added up; also with one ratio for all",
    cost: Cost::Slow,
    attacks: &[Attack::Differences],
    widths: 2..=usize::MAX,
    learn: |lesson| learn_both(lesson, Features::Differences),
};
