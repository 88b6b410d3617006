//! The joint log-ratio of two components.

use serde::{Deserialize, Serialize};

use crate::attack::bins::sort;
use crate::attack::fit::table::{STEPS, Table};
use crate::attack::lesson::Lesson;
use crate::output::Cell;

/// Two components together. It finds leaks that neither component shows alone, such as the parity
/// of two signs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    pub(super) first: usize,
    pub(super) second: usize,
    /// Where the first component is divided; each part has a table for the second component.
    #[serde(with = "crate::model::exact::list")]
    pub(super) edges: Vec<f64>,
    pub(super) parts: Vec<Table>,
}

impl Joint {
    /// The number of parts of the first component.
    const PARTS: usize = 8;

    /// Learns the joint ratio of two components. Symbols of the first component belong to the
    /// lowest part.
    #[must_use]
    pub fn learn(lesson: Lesson, first: usize, second: usize) -> Self {
        let mut values: Vec<f64> = lesson
            .left
            .iter()
            .chain(lesson.right)
            .filter_map(|row| row[first].as_number())
            .collect();
        sort(&mut values);
        let mut edges: Vec<f64> = (1..Self::PARTS)
            .filter_map(|part| values.get(part * values.len() / Self::PARTS).copied())
            .collect();
        edges.dedup();
        let part = |row: &[Cell]| part_of(&edges, row[first]);
        let (mut left, mut right) =
            (vec![Vec::new(); edges.len() + 1], vec![Vec::new(); edges.len() + 1]);
        lesson.left.iter().for_each(|row| left[part(row)].push(row[second]));
        lesson.right.iter().for_each(|row| right[part(row)].push(row[second]));
        let parts = left
            .iter()
            .zip(&right)
            .map(|(left, right)| Table::learn(left, right).compact())
            .collect();
        Self { first, second, edges, parts }
    }

    /// The same two components, learned from other rows.
    #[must_use]
    pub fn relearn(&self, lesson: Lesson) -> Self {
        Self::learn(lesson, self.first, self.second)
    }

    /// The two components.
    #[must_use]
    pub fn components(&self) -> (usize, usize) {
        (self.first, self.second)
    }

    /// Whether every part has a complete table.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.parts.len() == self.edges.len() + 1 && self.parts.iter().all(Table::is_complete)
    }

    /// The log-ratio of a row.
    #[must_use]
    pub fn score(&self, row: &[Cell]) -> Cell {
        let steps = self.parts[part_of(&self.edges, row[self.first])].steps(row[self.second]);
        Cell::number(f64::from(steps) / STEPS)
    }
}

/// The part of the first component that a cell belongs to.
pub(super) fn part_of(edges: &[f64], cell: Cell) -> usize {
    cell.as_number().map_or(0, |number| edges.partition_point(|edge| *edge <= number))
}
