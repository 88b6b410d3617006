//! A table of learned log-likelihood ratios for one cell.

use serde::{Deserialize, Serialize};

use crate::attack::bins::Bins;
use crate::attack::bins::Counts;
use crate::attack::fit::order::{ORDERS, Order, log_likelihood, shares};
use crate::attack::tuning::fit::{BINNED, LEVELS};
use crate::model::Side;
use crate::output::Cell;

/// Steps per unit of log-ratio. Scores are whole numbers of steps: a sum of raw floats would depend
/// on the low bits of floating-point noise and find a leak that the ideal mechanism does not have.
pub const STEPS: f64 = 4096.0;

/// The log-likelihood ratio of D against D' for each bin of a cell, in whole steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    bins: Bins,
    steps: Vec<i32>,
}

impl Table {
    /// Learns the ratios from cells of both sides. It smooths them in the way that best predicts
    /// the other half of the cells.
    #[must_use]
    pub fn learn(left: &[Cell], right: &[Cell]) -> Self {
        Self::learn_and_rate(left, right).0
    }

    /// The same, and the gain: the log-likelihood of the other half with these ratios, minus that
    /// without any ratios.
    #[must_use]
    pub fn learn_and_rate(left: &[Cell], right: &[Cell]) -> (Self, f64) {
        let bins =
            Bins::learn(&thinned(left).chain(thinned(right)).copied().collect::<Vec<Cell>>());
        let mut halves = [Counts::new(bins.len()), Counts::new(bins.len())];
        for (side, cells) in [(Side::Left, left), (Side::Right, right)] {
            for (index, cell) in cells.iter().enumerate() {
                halves[index % 2].side(side)[bins.index(*cell)] += 1;
            }
        }
        let prediction = |order: Order| {
            log_likelihood(&shares(&bins, &halves[0], order), &halves[1])
                + log_likelihood(&shares(&bins, &halves[1], order), &halves[0])
        };
        let mut best = (f64::NEG_INFINITY, ORDERS[0]);
        for order in ORDERS {
            let likelihood = prediction(order);
            if likelihood > best.0 {
                best = (likelihood, order);
            }
        }
        let mut all = halves[0].clone();
        all.add(&halves[1]);
        // The different sizes of the sides are not evidence, so their ratio is removed.
        let even = (left.len().max(1) as f64 / right.len().max(1) as f64).ln();
        let steps = shares(&bins, &all, best.1)
            .into_iter()
            .map(|share| in_steps((share / (1.0 - share)).ln() - even))
            .collect();
        let overall = left.len().max(1) as f64 / (left.len() + right.len()).max(1) as f64;
        let gain = best.0 - log_likelihood(&vec![overall; bins.len()], &all);
        (Self { bins, steps }, gain)
    }

    /// A table whose log-ratio is always 0.
    #[must_use]
    pub fn uninformative() -> Self {
        let bins = Bins::learn(&[]);
        Self { steps: vec![0; bins.len()], bins }
    }

    /// The same ratios rounded to a few levels, with neighbouring numeric bins of the same level
    /// merged. It is nearly as informative and faster to look up.
    #[must_use]
    pub fn compact(self) -> Self {
        let (smallest, largest) =
            self.steps.iter().fold((i32::MAX, i32::MIN), |(smallest, largest), steps| {
                (smallest.min(*steps), largest.max(*steps))
            });
        let unit = (largest.saturating_sub(smallest) / LEVELS).max(1);
        let rounded: Vec<i32> =
            self.steps.iter().map(|steps| (steps + unit / 2).div_euclid(unit) * unit).collect();
        let (bins, first_bins) = self.bins.merged(|before, bin| rounded[before] == rounded[bin]);
        Self { bins, steps: first_bins.into_iter().map(|bin| rounded[bin]).collect() }
    }

    /// The log-ratio of a cell, in steps.
    #[inline]
    #[must_use]
    pub fn steps(&self, cell: Cell) -> i32 {
        self.steps[self.bins.index(cell)]
    }

    /// Whether there is a ratio for every cell.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.steps.len() == self.bins.len()
    }
}

/// Evenly spaced items: all of them, or about `BINNED` if there are more.
pub fn thinned<T>(all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().step_by((all.len() / BINNED).max(1))
}

/// A log-ratio in whole steps.
#[must_use]
pub fn in_steps(log_ratio: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation)] // clamped
    {
        (log_ratio.clamp(-100.0, 100.0) * STEPS).round() as i32
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::noise::{Generator, laplace};

    #[test]
    fn the_ratio_of_laplace_noise_is_found() {
        // Lap(2) around 0 and 1: log-ratio ½ below 0, −½ above 1. With 100,000 cells per side the
        // standard error is about 0.01.
        let mut rng = Generator::seed_from_u64(3);
        let mut cells = |at: f64| {
            (0..100_000).map(|_| Cell::number(at + laplace(&mut rng, 2.0))).collect::<Vec<_>>()
        };
        let table = Table::learn(&cells(0.0), &cells(1.0));
        for (at, expected) in [(-5.0, 0.5), (-1.0, 0.5), (0.5, 0.0), (2.0, -0.5), (8.0, -0.5)] {
            let found = f64::from(table.steps(Cell::number(at))) / STEPS;
            assert!((found - expected).abs() < 0.08, "at {at}: {found} instead of {expected}");
        }
    }

    #[test]
    fn a_compact_table_has_nearly_the_same_ratios() {
        let mut rng = Generator::seed_from_u64(4);
        let mut cells = |at: f64| {
            (0..50_000)
                .map(|_| Cell::number(at + laplace(&mut rng, 1.0)))
                .chain([Cell::symbol("⊥"); 9])
                .collect::<Vec<_>>()
        };
        let (left, right) = (cells(0.0), cells(1.0));
        let table = Table::learn(&left, &right);
        let compact = table.clone().compact();
        assert!(compact.steps.len() <= table.steps.len());
        let range = table.steps.iter().max().unwrap() - table.steps.iter().min().unwrap();
        for cell in left.iter().chain(&right) {
            let error = (table.steps(*cell) - compact.steps(*cell)).abs();
            assert!(error <= range / 64, "{error} of {range}");
        }
    }

    #[test]
    fn the_sizes_of_the_sides_are_not_evidence() {
        let (a, b) = (Cell::symbol("a"), Cell::symbol("b"));
        // `a` in 3 of 4 cells of D and in 1 of 4 cells of D'; D' has half as many cells.
        let side = |count: usize, of_four: usize| {
            (0..count).map(|index| if index / 2 % 4 < of_four { a } else { b }).collect::<Vec<_>>()
        };
        let table = Table::learn(&side(8000, 3), &side(4000, 1));
        for (cell, expected) in [(a, 3_f64.ln()), (b, -3_f64.ln())] {
            let found = f64::from(table.steps(cell)) / STEPS;
            assert!((found - expected).abs() < 0.01, "{found} instead of {expected}");
        }
        assert!(table.is_complete());
        assert!(!Table { steps: table.steps[1..].to_vec(), ..table.clone() }.is_complete());
        // A level is a 64th of the range; no ratio changes by more than half a level.
        let spread = Table { bins: table.bins.clone(), steps: vec![-64_000, -1001, 999, 64_000] };
        assert_eq!(spread.bins.len(), 4);
        assert_eq!(spread.compact().steps, [-64_000, -2000, 0, 64_000]);
    }

    #[test]
    fn log_ratios_are_whole_steps_within_limits() {
        assert_eq!(
            [0.0, 1.0, -2.5, 1e9, f64::NEG_INFINITY].map(in_steps),
            [0, 4096, -10_240, 409_600, -409_600]
        );
        assert_eq!(in_steps(1.6 / 4096.0), 2);
    }

    #[test]
    fn cells_are_thinned_evenly() {
        let all: Vec<usize> = (0..3 * BINNED + 5).collect();
        assert!(thinned(&all).copied().eq((0..all.len()).step_by(3)));
        assert!(thinned(&all[..2 * BINNED - 1]).eq(&all[..2 * BINNED - 1]));
    }
}
