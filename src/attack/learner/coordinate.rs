//! One component of several.

use serde::{Deserialize, Serialize};

use super::preselect::preselect;
use super::view::{View, has_cell};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::coordinate::MAX_COORDINATES;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "coordinate",
    sees: "the most significant components, each by itself",
    cost: Cost::Quick,
    attacks: &[Attack::Coordinates],
    widths: 2..=usize::MAX,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let all = (0..lesson.width()).map(Coordinate).collect();
    preselect(lesson, all, MAX_COORDINATES).into_iter().map(Score::Coordinate).collect()
}

/// The component with this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coordinate(pub usize);

impl View for Coordinate {
    fn score(&self, row: &[Cell]) -> Cell {
        row[self.0]
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.0, width)
    }

    fn describe(&self, names: &Symbols) -> String {
        names.column(self.0)
    }
}
