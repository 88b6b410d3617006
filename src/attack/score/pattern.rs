//! A score for rows that mix symbols and numbers: which symbols are at which positions, together
//! with the numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::attack::bins::Bins;
use crate::attack::fit::table::{STEPS, Table, in_steps};
use crate::attack::lesson::Lesson;
use crate::output::{Cell, Mix};

/// A pattern says which components are which symbols or repeated values, and which are numbers. The
/// score adds the log-ratio of the row's pattern and the log-ratios of its numbers given the
/// pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// For each component, the bins that distinguish atoms from other numbers.
    columns: Vec<Bins>,
    pub(super) known: BTreeMap<u64, KnownPattern>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct KnownPattern {
    /// The log-ratio of the pattern itself.
    steps: i32,
    /// One table for each of its numbers, in order.
    pub(super) numbers: Vec<Table>,
}

impl Pattern {
    /// A pattern with fewer training rows than this has score 0.
    const MIN_ROWS: usize = 64;

    /// Learns the frequent patterns; None if no row has both a number and an atom.
    #[must_use]
    pub fn learn(lesson: Lesson) -> Option<Self> {
        let columns: Vec<Bins> =
            (0..lesson.width()).map(|index| lesson.bins(|row| row[index])).collect();
        if !columns.iter().any(Bins::has_atoms) {
            return None;
        }
        let mut found: BTreeMap<u64, [Vec<Vec<Cell>>; 2]> = BTreeMap::new();
        for (side, rows) in [lesson.left, lesson.right].into_iter().enumerate() {
            for row in rows {
                let (key, numbers) = split(&columns, row);
                found.entry(key).or_default()[side].push(numbers);
            }
        }
        let mixed = |rows: &Vec<Vec<Cell>>| {
            rows.first().is_some_and(|numbers| !numbers.is_empty() && numbers.len() < columns.len())
        };
        if !found.values().flatten().any(mixed) {
            return None;
        }
        // The different sizes of the sides are not evidence, so their ratio is removed.
        let even = (lesson.left.len().max(1) as f64 / lesson.right.len().max(1) as f64).ln();
        found.retain(|_, [left, right]| left.len() + right.len() >= Self::MIN_ROWS);
        let known = found.into_iter().map(|(key, [left, right])| {
            let numbers = left.first().or(right.first()).map_or(0, Vec::len);
            let column = |rows: &[Vec<Cell>], index: usize| {
                rows.iter().map(|numbers| numbers[index]).collect::<Vec<Cell>>()
            };
            let tables = (0..numbers)
                .map(|index| Table::learn(&column(&left, index), &column(&right, index)).compact())
                .collect();
            let ratio = ((left.len() as f64 + 0.5) / (right.len() as f64 + 0.5)).ln() - even;
            (key, KnownPattern { steps: in_steps(ratio), numbers: tables })
        });
        let known = known.collect();
        Some(Self { columns, known })
    }

    /// Whether all tables have a ratio for every bin.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.known.values().flat_map(|pattern| &pattern.numbers).all(Table::is_complete)
    }

    /// The log-ratio of a row.
    #[must_use]
    pub fn score(&self, row: &[Cell]) -> Cell {
        let (key, numbers) = split(&self.columns, row);
        let steps = self.known.get(&key).map_or(0, |pattern| {
            i64::from(pattern.steps)
                + pattern
                    .numbers
                    .iter()
                    .zip(&numbers)
                    .map(|(table, number)| i64::from(table.steps(*number)))
                    .sum::<i64>()
        });
        Cell::number(steps as f64 / STEPS)
    }
}

/// A row's pattern as a key, and its numbers in order.
fn split(columns: &[Bins], row: &[Cell]) -> (u64, Vec<Cell>) {
    // The key of any number that is not an atom. No atom has this key, because the key of −0 is
    // that of 0.
    const NUMBER: u64 = (-0.0_f64).to_bits();
    let mut numbers = Vec::new();
    let key = row.iter().zip(columns).fold(Mix::new(), |mix, (cell, column)| {
        if cell.as_number().is_none() || column.is_atom(column.index(*cell)) {
            mix.word(cell.key())
        } else {
            numbers.push(*cell);
            mix.word(NUMBER)
        }
    });
    (key.end(), numbers)
}
