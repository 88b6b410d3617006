//! One component minus another.

use serde::{Deserialize, Serialize};

use super::plain::difference;
use super::preselect::preselect;
use super::view::{View, has_cell};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::pair::MAX_COMPONENTS;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "difference",
    sees: "the most significant difference of two components",
    cost: Cost::Slow,
    attacks: &[Attack::Pairs],
    widths: 2..=MAX_COMPONENTS,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let all = lesson.pairs().into_iter().map(|(a, b)| Difference(a, b)).collect();
    preselect(lesson, all, 1).into_iter().map(Score::Difference).collect()
}

/// The first of two components minus the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference(pub usize, pub usize);

impl View for Difference {
    fn score(&self, row: &[Cell]) -> Cell {
        difference(row[self.0], row[self.1])
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.0.max(self.1), width)
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("{} − {}", names.column(self.0), names.column(self.1))
    }
}
