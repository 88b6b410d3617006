//! Predictions from values that come again: symbols, and numbers of which there are few.

use std::collections::HashMap;

use super::logistic::probability;
use crate::output::Cell;

/// By which factors the summed log-ratios are tried. Columns that depend on each other say less
/// together than their sum.
const SLOPES: [f64; 6] = [0.0, 0.15, 0.3, 0.5, 0.75, 1.0];

/// How often each value of a column was seen on either side.
#[derive(Clone, Debug, Default)]
struct Counts {
    seen: HashMap<u64, [f64; 2]>,
    /// Values that were seen once.
    once: [f64; 2],
}

impl Counts {
    fn of(cells: impl Iterator<Item = (Cell, bool)>) -> Self {
        let mut counts = Self::default();
        for (cell, is_left) in cells {
            counts.seen.entry(cell.key()).or_default()[usize::from(!is_left)] += 1.0;
        }
        for [left, right] in counts.seen.values() {
            if left + right == 1.0 {
                counts.once[0] += left;
                counts.once[1] += right;
            }
        }
        counts
    }

    /// The log-odds of D at this value, half a draw added to each side. A value that is new says
    /// what those that were seen once said when they were new (Good and Turing). `out` is a draw
    /// that is left out.
    fn log_odds(&self, cell: Cell, out: Option<bool>) -> f64 {
        let mut counts = self.seen.get(&cell.key()).copied().unwrap_or_default();
        let mut once = self.once;
        if let Some(is_left) = out {
            let side = usize::from(!is_left);
            if counts[0] + counts[1] == 1.0 {
                once[side] -= 1.0;
            }
            counts[side] -= 1.0;
        }
        let [left, right] = if counts[0] + counts[1] > 0.0 { counts } else { once };
        ((left + 0.5) / (right + 0.5)).ln()
    }
}

/// Naive Bayes over some columns, and over the whole row as one more.
#[derive(Clone, Debug, Default)]
pub struct Names {
    columns: Vec<(Option<usize>, Counts)>,
    slope: f64,
}

impl Names {
    /// Learns from rows of either side: from the one column that says most, and from all together.
    #[must_use]
    pub fn learn(width: usize, rows: &[(&[Cell], bool)]) -> [Self; 2] {
        let places: Vec<Option<usize>> =
            if width == 1 { vec![Some(0)] } else { (0..width).map(Some).chain([None]).collect() };
        let columns: Vec<(Option<usize>, Counts)> = places
            .into_iter()
            .map(|place| {
                let cells = rows.iter().map(|(row, is_left)| (value(row, place), *is_left));
                (place, Counts::of(cells))
            })
            // A column whose values are all different or all the same says nothing.
            .filter(|(_, counts)| counts.seen.len() > 1 && counts.seen.len() < rows.len())
            .collect();
        let alone = columns
            .iter()
            .map(|column| Self::with_best_slope(vec![column.clone()], rows))
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        let alone = alone.map_or_else(Self::default, |(names, _)| names);
        let all = if columns.len() > 1 {
            Self::with_best_slope(columns, rows).0
        } else {
            Self::default()
        };
        [alone, all]
    }

    /// The slope that predicts each row best from all others, and the logarithm of its likelihood.
    fn with_best_slope(
        columns: Vec<(Option<usize>, Counts)>,
        rows: &[(&[Cell], bool)],
    ) -> (Self, f64) {
        let names = Self { columns, slope: 1.0 };
        let odds: Vec<f64> = rows
            .iter()
            .map(|(row, is_left)| {
                let odds = names.log_odds(row, Some(*is_left));
                if *is_left { odds } else { -odds }
            })
            .collect();
        let fit = |slope: f64| odds.iter().map(|odds| probability(slope * odds).ln()).sum::<f64>();
        let (slope, likelihood) = SLOPES
            .map(|slope| (slope, fit(slope)))
            .into_iter()
            .fold((0.0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best });
        (Self { slope, ..names }, likelihood)
    }

    fn log_odds(&self, row: &[Cell], out: Option<bool>) -> f64 {
        self.columns.iter().map(|(place, counts)| counts.log_odds(value(row, *place), out)).sum()
    }

    /// Whether it may say something.
    #[must_use]
    pub fn is_something(&self) -> bool {
        !self.columns.is_empty()
    }

    /// The probability of D.
    #[must_use]
    pub fn left(&self, row: &[Cell]) -> f64 {
        if self.slope == 0.0 { 0.5 } else { probability(self.slope * self.log_odds(row, None)) }
    }
}

/// A column of a row, or the whole row as a symbol.
fn value(row: &[Cell], place: Option<usize>) -> Cell {
    place.map_or_else(|| Cell::of_row(row), |place| row[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[(f64, bool)]) -> Vec<([Cell; 1], bool)> {
        values.iter().map(|(value, is_left)| ([Cell::number(*value)], *is_left)).collect()
    }

    fn alone(rows: &[([Cell; 1], bool)]) -> Names {
        let rows: Vec<(&[Cell], bool)> =
            rows.iter().map(|(row, is_left)| (&row[..], *is_left)).collect();
        let [alone, _] = Names::learn(1, &rows);
        alone
    }

    #[test]
    fn a_value_predicts_the_side_that_it_was_seen_on() {
        let names =
            alone(&rows(&[(0.0, true), (0.0, true), (0.0, true), (1.0, false), (1.0, false)]));
        assert!((names.left(&[Cell::number(0.0)]) - 3.5 / 4.0).abs() < 1e-12);
        assert!((names.left(&[Cell::number(1.0)]) - 0.5 / 3.0).abs() < 1e-12);
        assert_eq!(names.left(&[Cell::number(2.0)]), 0.5, "no value was seen once");
    }

    #[test]
    fn values_that_never_repeat_predict_nothing() {
        assert!(!alone(&rows(&[(0.0, true), (1.0, true), (2.0, false)])).is_something());
        // Values that are independent of the side get no slope, or a small one.
        let coins: Vec<(f64, bool)> =
            (0..64).map(|i| (f64::from(i % 2), (i / 2) % 2 == 0)).collect();
        assert!((alone(&rows(&coins)).left(&[Cell::number(0.0)]) - 0.5).abs() < 0.05);
    }
}
