//! Naive Bayes: the sum of the components' log-ratios.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::plain::difference;
use crate::attack::fit::table::{STEPS, Table};
use crate::attack::lesson::Lesson;
use crate::output::Cell;

/// What the score is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// The components.
    Cells,
    /// The first component, then the difference of each from the previous one: the terms of running
    /// sums.
    Differences,
}

impl Features {
    /// The feature with this index.
    #[inline]
    #[must_use]
    pub fn of(self, row: &[Cell], index: usize) -> Cell {
        match self {
            Self::Differences if index > 0 => difference(row[index], row[index - 1]),
            _ => row[index],
        }
    }
}

/// Binned log-likelihood ratios of each component. For independent components their sum is the
/// exact log-ratio, up to the bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayes {
    pub(super) features: Features,
    /// One table per component, or a single one that all share.
    pub(super) tables: Vec<Table>,
}

impl NaiveBayes {
    /// Learns one table per component. Components that add hardly anything to the most informative
    /// one are left out: the sum of their chance errors would blur it.
    #[must_use]
    pub fn learn(lesson: Lesson, features: Features) -> Self {
        /// A gain of log-likelihood below this may be chance.
        const CHANCE: f64 = 3.0;
        /// A component is left out if its gain is also below this share of the largest gain.
        const LITTLE: f64 = 0.01;
        let rated: Vec<(Table, f64)> = (0..lesson.width())
            .into_par_iter()
            .map(|index| lesson.table(|row| features.of(row, index)))
            .collect();
        let largest = rated.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
        let is_negligible = |gain: f64| gain < CHANCE.min(LITTLE * largest);
        let tables = rated.into_iter().map(|(table, gain)| {
            if is_negligible(gain) { Table::uninformative() } else { table.compact() }
        });
        Self { features, tables: tables.collect() }
    }

    /// Learns one table that all components share. It suits repeated releases and has more cells to
    /// learn from.
    #[must_use]
    pub fn learn_tied(lesson: Lesson, features: Features) -> Self {
        let cells = |rows: &[&[Cell]]| -> Vec<Cell> {
            rows.iter()
                .flat_map(|row| (0..row.len()).map(move |index| features.of(row, index)))
                .collect()
        };
        Self {
            features,
            tables: vec![Table::learn(&cells(lesson.left), &cells(lesson.right)).compact()],
        }
    }

    /// What it is computed from.
    #[must_use]
    pub fn features(&self) -> Features {
        self.features
    }

    /// Whether all tables have a ratio for every bin.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.tables.iter().all(Table::is_complete)
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
