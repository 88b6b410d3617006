//! A score for rows in which the log-ratio of a number grows with the count of a symbol: each ⊥
//! before a released number adds evidence.
//!
//! Rows are grouped by their smallest number. Within a group the log-odds of D are a straight line
//! in the count of the symbol, fitted by logistic regression. The line also covers rows that are
//! too rare to have their own bin.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::plain::numbers;
use super::view::{View, complete};
use super::{Cost, Learner, Score};
use crate::attack::bins::sort;
use crate::attack::family::Attack;
use crate::attack::fit::smooth;
use crate::attack::fit::table::{STEPS, in_steps};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::trend::{GROUPS, MAX_ROWS, REACH};
use crate::model::Side;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "trend",
    sees: "the smallest number, given how often a symbol occurs in the row",
    cost: Cost::Quick,
    attacks: &[Attack::Patterns],
    widths: 2..=usize::MAX,
    learn: |lesson| Trend::learn(lesson).map(Score::Trend).into_iter().collect(),
};

/// Log-odds as lines in the count of a symbol, one for each group of numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    symbol: Cell,
    /// The lower edges of all groups of the smallest number, except the first. Rows without numbers
    /// are the last group.
    #[serde(with = "crate::model::exact::list")]
    edges: Vec<f64>,
    /// The log-odds at count 0, and the slope per occurrence.
    lines: Vec<(f64, f64)>,
}

/// For each group, how many rows of each side have the symbol 0, 1, 2 … times.
#[derive(Clone, Debug)]
pub struct TrendHits {
    groups: Vec<Vec<(f64, f64)>>,
}

impl TrendHits {
    /// Adds the hits of further rows.
    pub fn add(&mut self, other: &Self) {
        let pairs = self.groups.iter_mut().flatten().zip(other.groups.iter().flatten());
        pairs.for_each(|(sum, hits)| *sum = (sum.0 + hits.0, sum.1 + hits.1));
    }

    /// The number of rows of each side.
    #[must_use]
    pub fn totals(&self) -> (f64, f64) {
        self.groups.iter().flatten().fold((0.0, 0.0), |sum, hits| (sum.0 + hits.0, sum.1 + hits.1))
    }
}

impl Trend {
    /// Learns the lines; None if rows do not mix numbers with a symbol of varying count.
    #[must_use]
    pub fn learn(lesson: Lesson) -> Option<Self> {
        let rows = || lesson.left.iter().chain(lesson.right);
        let symbol = most_varied_symbol(rows().copied())?;
        let mut numbers: Vec<f64> = rows().filter_map(|row| smallest_number(row)).collect();
        if numbers.len() < GROUPS {
            return None;
        }
        sort(&mut numbers);
        let mut edges: Vec<f64> =
            (1..GROUPS).map(|group| numbers[group * numbers.len() / GROUPS]).collect();
        edges.dedup();
        let mut trend = Self { symbol, lines: vec![(0.0, 0.0); edges.len() + 2], edges };
        let mut hits = trend.no_hits(lesson.width());
        lesson.left.iter().for_each(|row| trend.count(&mut hits, Side::Left, row));
        lesson.right.iter().for_each(|row| trend.count(&mut hits, Side::Right, row));
        trend.fit(&hits);
        Some(trend)
    }

    /// No hits yet, for rows of this width.
    #[must_use]
    pub fn no_hits(&self, width: usize) -> TrendHits {
        TrendHits { groups: vec![vec![(0.0, 0.0); width + 1]; self.lines.len()] }
    }

    /// Adds a row to the hits.
    pub fn count(&self, hits: &mut TrendHits, side: Side, row: &[Cell]) {
        let (left, right) = &mut hits.groups[self.group(row)][self.times(row)];
        *match side {
            Side::Left => left,
            Side::Right => right,
        } += 1.0;
    }

    /// Fits the lines to these hits.
    pub fn fit(&mut self, hits: &TrendHits) {
        let (left, right) = hits.totals();
        // The different sizes of the sides are not evidence, so their ratio is removed.
        let even = (left.max(1.0) / right.max(1.0)).ln();
        let with_number = hits.groups.len() - 1;
        let lines = (0..with_number).map(|group| line(&pooled(&hits.groups[..with_number], group)));
        let lines = lines.chain(hits.groups.last().map(|without_number| line(without_number)));
        self.lines = lines.map(|(start, slope)| (start - even, slope)).collect();
    }

    fn group(&self, row: &[Cell]) -> usize {
        smallest_number(row).map_or(self.edges.len() + 1, |number| {
            self.edges.partition_point(|edge| *edge <= number)
        })
    }

    fn times(&self, row: &[Cell]) -> usize {
        row.iter().filter(|cell| **cell == self.symbol).count()
    }
}

impl View for Trend {
    fn score(&self, row: &[Cell]) -> Cell {
        let (start, slope) = self.lines[self.group(row)];
        Cell::number(f64::from(in_steps(start + slope * self.times(row) as f64)) / STEPS)
    }

    fn check(&self, _: usize) -> Result<(), String> {
        complete(self.lines.len() == self.edges.len() + 2)
    }

    fn describe(&self, _: &Symbols) -> String {
        "the log-ratio of the number and the symbols beside it".to_owned()
    }

    fn is_ratio(&self) -> bool {
        true
    }
}

fn smallest_number(row: &[Cell]) -> Option<f64> {
    numbers(row).reduce(f64::min)
}

/// The symbol whose count varies most from row to row, if any does.
fn most_varied_symbol<'a>(rows: impl Iterator<Item = &'a [Cell]>) -> Option<Cell> {
    let mut counts: BTreeMap<u64, (Cell, Vec<f64>)> = BTreeMap::new();
    let mut examined = 0.0;
    for row in rows.take(MAX_ROWS) {
        examined += 1.0;
        for cell in row.iter().filter(|cell| cell.as_number().is_none()) {
            let times = row.iter().filter(|other| *other == cell).count() as f64;
            // Each occurrence adds 1 to the first sum and the count to the second, so that a row
            // adds its count and its squared count.
            let entry = counts.entry(cell.key()).or_insert((*cell, vec![0.0; 2]));
            entry.1[0] += 1.0;
            entry.1[1] += times;
        }
    }
    let variance = |sums: &[f64]| sums[1] / examined - (sums[0] / examined).powi(2);
    let (cell, sums) =
        counts.into_values().max_by(|a, b| variance(&a.1).total_cmp(&variance(&b.1)))?;
    (variance(&sums) > 1e-9).then_some(cell)
}

/// The hits of a group and of its neighbours on both sides, because the slope is small compared
/// with the standard error of a single group.
fn pooled(groups: &[Vec<(f64, f64)>], group: usize) -> Vec<(f64, f64)> {
    let near = &groups[group.saturating_sub(REACH)..groups.len().min(group + REACH + 1)];
    let mut sum = vec![(0.0, 0.0); groups[group].len()];
    for hits in near {
        sum.iter_mut().zip(hits).for_each(|(sum, hits)| *sum = (sum.0 + hits.0, sum.1 + hits.1));
    }
    sum
}

/// The straight line of log-odds through `(left, right)` hits at counts 0, 1, 2 ….
fn line(hits: &[(f64, f64)]) -> (f64, f64) {
    let points: Vec<(f64, f64, f64)> = hits
        .iter()
        .enumerate()
        .map(|(times, (left, right))| (times as f64, *left, *right))
        .collect();
    smooth::line(&points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_symbols_have_no_trend() {
        let numbers = [Cell::number(1.0), Cell::number(2.0)];
        let rows: Vec<&[Cell]> = vec![&numbers; 100];
        assert!(Trend::learn(Lesson::of(&rows, &rows)).is_none());
    }

    #[test]
    fn refitted_lines_follow_the_later_rows() {
        // Various numbers, and the symbol 0 or 1 times. In later rows the symbol is evidence for D
        // with log-odds ln 4; in the first rows it carries no information.
        let (bottom, other) = (Cell::symbol("⊥"), Cell::symbol("other"));
        let row = |index: usize, symbol: Cell| [Cell::number((index % 97) as f64), symbol];
        let plain: Vec<[Cell; 2]> =
            (0..960).map(|index| row(index, if index % 2 == 0 { bottom } else { other })).collect();
        let rows: Vec<&[Cell]> = plain.iter().map(<[Cell; 2]>::as_slice).collect();
        let mut trend = Trend::learn(Lesson::of(&rows, &rows)).unwrap();
        let mut hits = trend.no_hits(2);
        for index in 0..97_000 {
            // With the symbol 4 of 5 rows are from D; without it one half.
            let from_left = index / 97 % 5 < 4;
            trend.count(
                &mut hits,
                if from_left { Side::Left } else { Side::Right },
                &row(index, trend.symbol),
            );
            let absent = if trend.symbol == bottom { other } else { bottom };
            trend.count(
                &mut hits,
                if index / 97 % 2 == 0 { Side::Left } else { Side::Right },
                &row(index, absent),
            );
        }
        trend.fit(&hits);
        for (_, slope) in &trend.lines[..trend.lines.len() - 1] {
            assert!((slope - 4.0_f64.ln()).abs() < 0.05, "{slope}");
        }
    }

    fn borrowed(rows: &[Vec<Cell>]) -> Vec<&[Cell]> {
        rows.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn a_trend_gives_the_log_odds_of_the_smallest_number_and_the_symbols_next_to_it() {
        let bottom = Cell::symbol("⊥");
        // The smallest number and two more cells, ⊥ or larger numbers.
        let row = |smallest: u32, times: usize| -> Vec<Cell> {
            let other = |index: usize| {
                if index < times { bottom } else { Cell::number(f64::from(smallest) + 1000.0) }
            };
            vec![other(0), Cell::number(f64::from(smallest)), other(1)]
        };
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for smallest in 0..96 {
            for times in 0..3 {
                // Below 48 each ⊥ doubles the odds of D; from 48 on it carries no information.
                let of_left = if smallest < 48 { [15, 20, 24][times] } else { 15 };
                left.extend(vec![row(smallest, times); of_left]);
                right.extend(vec![row(smallest, times); 30 - of_left]);
            }
        }
        // Of the rows without a number, 1 of 5 is from D.
        left.extend(vec![vec![bottom; 3]; 200]);
        right.extend(vec![vec![bottom; 3]; 800]);
        let even = (left.len() as f64 / right.len() as f64).ln();
        let mut trend = Trend::learn(Lesson::of(&borrowed(&left), &borrowed(&right)))
            .expect("⊥ next to numbers");
        assert_eq!(trend.symbol, bottom);
        assert_eq!(trend.check(3), Ok(()));
        let check = |row: &[Cell], expected: f64| {
            let found = trend.score(row).raw();
            assert_eq!((found * STEPS).fract(), 0.0);
            assert!(
                (found - (expected - even)).abs() < 0.05,
                "{row:?}: {found} instead of {}",
                expected - even
            );
        };
        for times in 0..3 {
            check(&row(0, times), times as f64 * 2_f64.ln());
            check(&row(30, times), times as f64 * 2_f64.ln());
            check(&row(60, times), 0.0);
            check(&row(95, times), 0.0);
        }
        check(&[bottom; 3], -4_f64.ln());
        trend.lines.pop();
        assert!(trend.check(3).is_err());
    }

    #[test]
    fn the_symbol_is_the_one_whose_count_varies_most() {
        let [constant, little, much] = ["constant", "little", "much"].map(Cell::symbol);
        // Three times in every row; 0 or 1 times; 0 or 2 times: variances 0, ¼ and 1.
        let row = |index: usize| {
            let few = [[Cell::number(0.0); 3], [little, much, much]][index % 2];
            [[constant; 3], few].concat()
        };
        let rows: Vec<Vec<Cell>> = (0..100).map(row).collect();
        assert_eq!(most_varied_symbol(borrowed(&rows).into_iter()), Some(much));
        let even: Vec<Vec<Cell>> = rows.into_iter().step_by(2).collect();
        assert_eq!(most_varied_symbol(borrowed(&even).into_iter()), None);
    }

    #[test]
    fn hits_are_added_and_pooled_with_both_neighbours() {
        let groups = |by: f64| {
            (0..4)
                .map(|group| vec![(by * f64::from(1 << group), 1.0), (by, 10.0 * f64::from(group))])
                .collect()
        };
        let mut hits = TrendHits { groups: groups(1.0) };
        hits.add(&TrendHits { groups: groups(100.0) });
        assert_eq!(hits.groups[3], [(808.0, 2.0), (101.0, 60.0)]);
        assert_eq!(hits.totals(), (101.0 * 15.0 + 404.0, 8.0 + 120.0));
        assert_eq!(pooled(&hits.groups, 0), [(101.0 * 3.0, 4.0), (202.0, 20.0)]);
        assert_eq!(pooled(&hits.groups, 2), [(101.0 * 14.0, 6.0), (303.0, 120.0)]);
        assert_eq!(pooled(&hits.groups, 3), [(101.0 * 12.0, 4.0), (202.0, 100.0)]);
    }
}
