//! How telling a number is may grow with the symbols beside it: each ⊥ before a released number adds to what it says.
//!
//! Rows are grouped by their least number; within a group the log-odds of D are a straight line in how often a symbol occurs, fitted by
//! logistic regression. A line speaks of rows that are too rare to have a bin of their own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::score::Lesson;
use super::table::{STEPS, in_steps};
use crate::cell::Cell;
use crate::evidence::binomial::logistic;

/// Log-odds as lines in the count of a symbol, one for each group of numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    symbol: Cell,
    /// Where the least number's groups begin, but for the first; rows without numbers are the last group.
    edges: Vec<f64>,
    /// Log-odds at count 0, and per further occurrence.
    lines: Vec<(f64, f64)>,
}

/// Groups of numbers.
const GROUPS: usize = 24;

impl Trend {
    /// Learns the lines; None when rows do not mix numbers with a symbol of varying count.
    #[must_use]
    pub fn learn(lesson: Lesson) -> Option<Self> {
        let rows = || lesson.left.iter().chain(lesson.right);
        let symbol = most_varied_symbol(rows().copied())?;
        let mut numbers: Vec<f64> = rows().filter_map(|row| least_number(row)).collect();
        if numbers.len() < GROUPS {
            return None;
        }
        numbers.sort_unstable_by(f64::total_cmp);
        let mut edges: Vec<f64> = (1..GROUPS).map(|group| numbers[group * numbers.len() / GROUPS]).collect();
        edges.dedup();
        let groups = edges.len() + 2;
        let mut trend = Self { symbol, edges, lines: Vec::new() };
        // hits[group][count] = (left, right)
        let mut hits = vec![vec![(0.0, 0.0); lesson.width() + 1]; groups];
        lesson.left.iter().for_each(|row| hits[trend.group(row)][trend.count(row)].0 += 1.0);
        lesson.right.iter().for_each(|row| hits[trend.group(row)][trend.count(row)].1 += 1.0);
        let even = (lesson.left.len().max(1) as f64 / lesson.right.len().max(1) as f64).ln();
        trend.lines = hits.iter().map(|hits| line(hits)).map(|(start, slope)| (start - even, slope)).collect();
        Some(trend)
    }

    /// The log-odds of a row, in whole steps.
    #[must_use]
    pub fn score(&self, row: &[Cell]) -> Cell {
        let (start, slope) = self.lines[self.group(row)];
        Cell::number(f64::from(in_steps(start + slope * self.count(row) as f64)) / STEPS)
    }

    fn group(&self, row: &[Cell]) -> usize {
        least_number(row).map_or(self.edges.len() + 1, |number| self.edges.partition_point(|edge| *edge <= number))
    }

    fn count(&self, row: &[Cell]) -> usize {
        row.iter().filter(|cell| **cell == self.symbol).count()
    }
}

fn least_number(row: &[Cell]) -> Option<f64> {
    row.iter().filter_map(|cell| cell.as_number()).reduce(f64::min)
}

/// The symbol whose count varies most from row to row, if any does.
fn most_varied_symbol<'a>(rows: impl Iterator<Item = &'a [Cell]>) -> Option<Cell> {
    /// Rows that are looked at.
    const FEW: usize = 4096;
    let mut counts: BTreeMap<u64, (Cell, Vec<f64>)> = BTreeMap::new();
    let mut seen = 0.0;
    for row in rows.take(FEW) {
        seen += 1.0;
        for cell in row.iter().filter(|cell| cell.as_number().is_none()) {
            let times = row.iter().filter(|other| *other == cell).count() as f64;
            // Each occurrence adds its share, so that a row adds its count once.
            let entry = counts.entry(cell.key()).or_insert((*cell, vec![0.0; 2]));
            entry.1[0] += 1.0;
            entry.1[1] += times;
        }
    }
    let variance = |sums: &[f64]| sums[1] / seen - (sums[0] / seen).powi(2);
    let (cell, sums) = counts.into_values().max_by(|a, b| variance(&a.1).total_cmp(&variance(&b.1)))?;
    (variance(&sums) > 1e-9).then_some(cell)
}

/// The line of log-odds through `(left, right)` hits at counts 0, 1, 2 …, by Newton's method with a trace of pull towards zero.
fn line(hits: &[(f64, f64)]) -> (f64, f64) {
    const PULL: f64 = 1.0;
    let (mut start, mut slope) = (0.0_f64, 0.0_f64);
    for _ in 0..25 {
        let (mut g0, mut g1) = (-PULL * start, -PULL * slope);
        let (mut h00, mut h01, mut h11) = (PULL, 0.0, PULL);
        for (count, (left, right)) in hits.iter().enumerate() {
            let x = count as f64;
            let share = logistic(start + slope * x);
            let residual = left - (left + right) * share;
            let information = (left + right) * share * (1.0 - share);
            g0 += residual;
            g1 += residual * x;
            h00 += information;
            h01 += information * x;
            h11 += information * x * x;
        }
        let determinant = h00 * h11 - h01 * h01;
        let (d0, d1) = ((h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant);
        let damping = f64::min(1.0, 2.0 / d0.abs().max(d1.abs()).max(1e-300));
        start += damping * d0;
        slope += damping * d1;
        if d0.abs().max(d1.abs()) < 1e-9 {
            break;
        }
    }
    (start, slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_log_odds_is_recovered() {
        // Expected counts of log-odds −0.3 + 0.2·x, no noise; the pull is one part in ten thousand.
        let hits: Vec<(f64, f64)> = (0..6)
            .map(|x| {
                let share = 1.0 / (1.0 + (0.3 - 0.2 * f64::from(x)).exp());
                (20_000.0 * share, 20_000.0 * (1.0 - share))
            })
            .collect();
        let (start, slope) = line(&hits);
        assert!((start + 0.3).abs() < 1e-3 && (slope - 0.2).abs() < 1e-3, "{start} {slope}");
    }

    #[test]
    fn rows_without_mixture_have_no_trend() {
        let numbers = [Cell::number(1.0), Cell::number(2.0)];
        let rows: Vec<&[Cell]> = vec![&numbers; 100];
        assert!(Trend::learn(Lesson { left: &rows, right: &rows }).is_none());
    }
}
