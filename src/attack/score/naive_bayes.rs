//! Components one by one, their log-ratios added up.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::plain::difference;
use crate::attack::fit::table::{STEPS, Table};
use crate::attack::lesson::Lesson;
use crate::output::Cell;

/// What a learned score is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// The components.
    Cells,
    /// The first component, then the difference of each from the one before: what running sums are made of.
    Differences,
}

impl Features {
    /// One of them.
    #[inline]
    #[must_use]
    pub fn of(self, row: &[Cell], index: usize) -> Cell {
        match self {
            Self::Differences if index > 0 => difference(row[index], row[index - 1]),
            _ => row[index],
        }
    }
}

/// Binned log-likelihood ratios of each component; their sum is exact for independent components, up to the bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayes {
    pub(super) features: Features,
    /// One table per component, or a single one that all share.
    pub(super) tables: Vec<Table>,
}

impl NaiveBayes {
    /// Learns one table per component. Components that say nothing beside the most telling one are left out: together their chance errors would blur what it says.
    #[must_use]
    pub fn learn(lesson: Lesson, features: Features) -> Self {
        /// A component that adds less log-likelihood than this may do so by chance.
        const CHANCE: f64 = 3.0;
        /// And is left out if it adds less than this part of what the best one adds.
        const LITTLE: f64 = 0.01;
        let rated: Vec<(Table, f64)> =
            (0..lesson.width()).into_par_iter().map(|index| lesson.table(|row| features.of(row, index))).collect();
        let most = rated.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
        let says_nothing = |gain: f64| gain < CHANCE.min(LITTLE * most);
        let tables = rated.into_iter().map(|(table, gain)| if says_nothing(gain) { Table::silent() } else { table.compact() });
        Self { features, tables: tables.collect() }
    }

    /// Learns one table that all components share: right for repeated releases, and with that many more cells to learn from.
    #[must_use]
    pub fn learn_tied(lesson: Lesson, features: Features) -> Self {
        let cells = |rows: &[&[Cell]]| -> Vec<Cell> {
            rows.iter().flat_map(|row| (0..row.len()).map(move |index| features.of(row, index))).collect()
        };
        Self { features, tables: vec![Table::learn(&cells(lesson.left), &cells(lesson.right)).compact()] }
    }

    /// What it is computed from.
    #[must_use]
    pub fn features(&self) -> Features {
        self.features
    }

    /// Whether there is a ratio for every cell.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.tables.iter().all(Table::is_whole)
    }

    /// The log-ratio of a row.
    #[inline]
    #[must_use]
    pub fn score(&self, row: &[Cell]) -> Cell {
        let cells = (0..row.len()).map(|index| self.features.of(row, index));
        let sum: i64 = match self.tables.as_slice() {
            [table] => cells.map(|cell| i64::from(table.steps(cell))).sum(),
            tables => cells.zip(tables).map(|(cell, table)| i64::from(table.steps(cell))).sum(),
        };
        Cell::number(sum as f64 / STEPS)
    }
}
