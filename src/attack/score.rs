//! Scores: from a row of cells to the one cell that a rule looks at.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bins::Bins;
use crate::cell::{Cell, Rows};

/// What the attacker looks at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The output itself, when it has a single component.
    Output,
    /// One component of several.
    Coordinate(usize),
    /// The whole row as one symbol.
    WholeRow,
    /// The sum of the components' log-likelihood ratios.
    NaiveBayes(NaiveBayes),
}

impl Score {
    /// The scores of all rows.
    pub fn map(&self, rows: &Rows, scores: &mut Vec<Cell>) {
        scores.clear();
        match self {
            Self::Output => scores.extend_from_slice(rows.cells()),
            Self::Coordinate(index) => scores.extend(rows.iter().map(|row| row[*index])),
            Self::WholeRow => scores.extend(rows.iter().map(Cell::of_row)),
            Self::NaiveBayes(model) => scores.extend(rows.iter().map(|row| model.score(row))),
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coordinate(index) => write!(f, "y[{}]", index + 1),
            Self::Output | Self::WholeRow => f.write_str("y"),
            Self::NaiveBayes(_) => f.write_str("the sum of the components' log-ratios"),
        }
    }
}

/// Binned log-likelihood ratios of each component.
///
/// Exact for independent components, up to the bins. The ratios are whole numbers of 1/32: a sum of raw doubles would see the low bits of
/// floating-point noise and find a leak that the ideal mechanism does not have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayes {
    columns: Vec<(Bins, Vec<i32>)>,
}

/// Steps per unit of log-ratio.
const STEPS: f64 = 32.0;

impl NaiveBayes {
    /// Learns the ratios from rows of both sides.
    #[must_use]
    pub fn learn(left: &[&[Cell]], right: &[&[Cell]]) -> Self {
        let width = left.first().or(right.first()).map_or(0, |row| row.len());
        let column = |index: usize| {
            let of = |rows: &[&[Cell]]| rows.iter().map(|row| row[index]).collect::<Vec<Cell>>();
            let (left, right) = (of(left), of(right));
            let bins = Bins::learn(&[left.as_slice(), right.as_slice()].concat());
            let count = |cells: &[Cell]| {
                let mut counts = vec![0_u32; bins.len()];
                for cell in cells {
                    counts[bins.index(*cell)] += 1;
                }
                counts
            };
            let ratios = log_ratios(&count(&left), &count(&right));
            (bins, ratios)
        };
        Self { columns: (0..width).map(column).collect() }
    }

    #[inline]
    fn score(&self, row: &[Cell]) -> Cell {
        let sum: i32 = row.iter().zip(&self.columns).map(|(cell, (bins, ratios))| ratios[bins.index(*cell)]).sum();
        Cell::number(f64::from(sum) / STEPS)
    }
}

/// `ln(P(bin | left) / P(bin | right))` in steps, with half a count added to each side so that small bins say little.
fn log_ratios(left: &[u32], right: &[u32]) -> Vec<i32> {
    let total = |counts: &[u32]| counts.iter().map(|count| f64::from(*count)).sum::<f64>().max(1.0);
    let shift = (total(right) / total(left)).ln();
    left.iter()
        .zip(right)
        .map(|(l, r)| {
            if l + r == 0 {
                return 0;
            }
            let ratio = ((f64::from(*l) + 0.5) / (f64::from(*r) + 0.5)).ln() + shift;
            #[allow(clippy::cast_possible_truncation)] // |ratio| is at most ln(2^33)
            {
                (ratio * STEPS).round() as i32
            }
        })
        .collect()
}
