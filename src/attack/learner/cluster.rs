//! Places where nearly all values are of one side: intervals of numbers, and symbols.

use serde::{Deserialize, Serialize};

use crate::attack::fit::table::in_steps;
use crate::attack::tuning::cluster::{DENSE, MAX_CLUSTERS, ODDS, REACH};
use crate::output::Cell;

/// One-sided places of a component, with their log-ratios.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clusters {
    /// Disjoint intervals in order; both ends belong to them.
    #[serde(with = "crate::model::exact::list")]
    lows: Vec<f64>,
    #[serde(with = "crate::model::exact::list")]
    highs: Vec<f64>,
    steps: Vec<i32>,
    /// Symbols, sorted by key.
    symbols: Vec<(Cell, i32)>,
}

/// A run of sorted values with nearly all of one side.
struct Run {
    from: usize,
    to: usize,
    left: bool,
    /// Values of this side, minus `ODDS` times those of the other.
    excess: f64,
}

/// Which places are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Places where the numbers are far closer together than around them. Such a place is an event
    /// of its own and not a tail.
    Dense,
    /// The largest place of each side.
    Largest,
}

impl Clusters {
    /// The places where one side has at least `least` more values than `ODDS` times those of the
    /// other, and the sum of what it has more.
    pub fn learn(mut values: Vec<(Cell, bool)>, least: f64, wanted: Wanted) -> (Self, f64) {
        // Numbers in order, then symbols by key.
        values.sort_unstable_by(|(a, of_left), (b, of_other)| {
            let order = a.raw().partial_cmp(&b.raw()).unwrap_or_else(|| {
                a.raw().is_nan().cmp(&b.raw().is_nan()).then(a.key().cmp(&b.key()))
            });
            order.then(of_left.cmp(of_other))
        });
        let numbers = values.partition_point(|(cell, _)| cell.as_number().is_some());
        let of_side = |left: bool| {
            let runs = one_sided(&values[..numbers], left, least).into_iter();
            let cores = runs.map(|run| core(&values[..numbers], &run));
            let mut runs: Vec<Run> = cores.filter(|run| run.excess >= least).collect();
            match wanted {
                Wanted::Dense => runs.retain(|run| is_dense(&values[..numbers], run)),
                Wanted::Largest => runs.extend(symbols(&values, numbers, left, least)),
            }
            runs.sort_by(|a, b| b.excess.total_cmp(&a.excess));
            runs.truncate(if wanted == Wanted::Largest { 1 } else { MAX_CLUSTERS });
            runs
        };
        let mut runs: Vec<Run> = of_side(true).into_iter().chain(of_side(false)).collect();
        runs.sort_by_key(|run| run.from);
        // Runs of different sides overlap only where one has taken in a few values of the other.
        runs.dedup_by(|next, kept| next.from <= kept.to);
        let mut found = Self::default();
        for Run { from, to, .. } in &runs {
            let (low, high) = (values[*from].0, values[*to].0);
            let steps = log_ratio(&values[*from..=*to]);
            if low.as_number().is_some() {
                found.lows.push(low.raw());
                found.highs.push(high.raw());
                found.steps.push(steps);
            } else {
                found.symbols.push((low, steps));
            }
        }
        (found, runs.iter().map(|run| run.excess).sum())
    }

    /// The log-ratio of a cell, in steps; 0 outside all places.
    #[inline]
    pub fn steps(&self, cell: Cell) -> i32 {
        match cell.as_number() {
            Some(number) => {
                let after = self.lows.partition_point(|low| *low <= number);
                match after.checked_sub(1) {
                    Some(at) if number <= self.highs[at] => self.steps[at],
                    _ => 0,
                }
            }
            None => {
                let known = self.symbols.binary_search_by_key(&cell.key(), |(cell, _)| cell.key());
                known.map_or(0, |at| self.symbols[at].1)
            }
        }
    }

    /// The intervals, each with both ends.
    pub fn intervals(&self) -> impl Iterator<Item = (f64, f64)> {
        self.lows.iter().copied().zip(self.highs.iter().copied())
    }

    /// Whether every interval has its ends and its log-ratio.
    pub fn is_complete(&self) -> bool {
        self.lows.len() == self.highs.len() && self.lows.len() == self.steps.len()
    }
}

/// Values of a side minus `ODDS` times those of the other.
fn excess(values: &[(Cell, bool)], left: bool) -> f64 {
    values.iter().map(|(_, of_left)| if *of_left == left { 1.0 } else { -ODDS }).sum()
}

fn log_ratio(values: &[(Cell, bool)]) -> i32 {
    let left = values.iter().filter(|(_, left)| *left).count() as f64;
    in_steps(((left + 0.5) / (values.len() as f64 - left + 0.5)).ln())
}

/// The runs of sorted numbers with the largest excess of one side: the sum of the excesses is
/// followed until it is below zero (the maximal segments of Kadane's algorithm). Equal numbers stay
/// together.
fn one_sided(numbers: &[(Cell, bool)], left: bool, least: f64) -> Vec<Run> {
    let mut runs = Vec::new();
    let (mut sum, mut from) = (0.0, 0);
    let mut best = Run { from: 0, to: 0, left, excess: 0.0 };
    let mut start = 0;
    for same in numbers.chunk_by(|a, b| a.0 == b.0) {
        let end = start + same.len();
        sum += excess(same, left);
        if sum <= 0.0 {
            if best.excess >= least {
                runs.push(best);
            }
            (sum, from) = (0.0, end);
            best = Run { from, to: from, left, excess: 0.0 };
        } else if sum > best.excess {
            best = Run { from, to: end - 1, left, excess: sum };
        }
        start = end;
    }
    if best.excess >= least {
        runs.push(best);
    }
    runs
}

/// The symbols of which one side has nearly all; they come after so many numbers.
fn symbols(values: &[(Cell, bool)], numbers: usize, left: bool, least: f64) -> Vec<Run> {
    let mut from = numbers;
    let mut runs = Vec::new();
    for same in values[numbers..].chunk_by(|a, b| a.0 == b.0) {
        let run = Run { from, to: from + same.len() - 1, left, excess: excess(same, left) };
        from += same.len();
        if run.excess >= least {
            runs.push(run);
        }
    }
    runs
}

/// The part of a run within a few times its middle half. The ends of a run have taken in numbers
/// that only happen to be of the same side.
fn core(numbers: &[(Cell, bool)], run: &Run) -> Run {
    let at = |index: usize| numbers[index].0.raw();
    let quarter = (run.to - run.from) / 4;
    let (low, high) = (at(run.from + quarter), at(run.to - quarter));
    // Equal infinities have no distance.
    let reach = if high > low { REACH * (high - low) } else { 0.0 };
    let inside = &numbers[run.from..=run.to];
    let from = run.from + inside.partition_point(|(cell, _)| cell.raw() < low - reach);
    let to = run.from + inside.partition_point(|(cell, _)| cell.raw() <= high + reach) - 1;
    Run { from, to, left: run.left, excess: excess(&numbers[from..=to], run.left) }
}

/// Whether the numbers of a run are closer together than as many numbers on either side of it.
fn is_dense(numbers: &[(Cell, bool)], run: &Run) -> bool {
    let at = |index: usize| numbers[index].0.raw();
    let width = at(run.to) - at(run.from);
    let count = run.to - run.from + 1;
    let below = (run.from > 0).then(|| at(run.from) - at(run.from.saturating_sub(count)));
    let above =
        numbers.get(run.to + 1).map(|_| at((run.to + count).min(numbers.len() - 1)) - at(run.to));
    // An atom is not a cluster: it has a bin of its own in other scores.
    width > 0.0 && below.into_iter().chain(above).all(|beside| beside > DENSE * width)
}

#[cfg(test)]
mod tests {
    use super::super::testing::number;
    use super::*;

    #[test]
    fn one_sided_places_are_found() {
        // Even numbers of both sides from 0 to 1, a cluster of D near 0.3 and one of D' near 0.7.
        let even = (0..2000).map(|index| (number(f64::from(index) / 2000.0), index % 2 == 0));
        let cluster = |at: f64, left: bool| {
            (0..20).map(move |index| (number(at + f64::from(index) * 1e-7), left))
        };
        let values: Vec<(Cell, bool)> =
            even.chain(cluster(0.30001, true)).chain(cluster(0.70001, false)).collect();
        let (found, sum) = Clusters::learn(values, 10.0, Wanted::Dense);
        assert_eq!((found.lows.len(), sum), (2, 40.0));
        assert!(found.is_complete());
        assert!(found.steps(number(0.300_011)) > 0 && found.steps(number(0.700_011)) < 0);
        assert_eq!(found.steps(number(0.5)) + found.steps(Cell::symbol("a")), 0);
    }

    #[test]
    fn a_tail_is_not_dense_and_symbols_are_places_too() {
        // All numbers beyond 0.9 are of D, as close together as the others.
        let mut values: Vec<(Cell, bool)> = (0..1000)
            .map(|index| (number(f64::from(index) / 1000.0), index % 2 == 0 || index > 900))
            .collect();
        assert_eq!(Clusters::learn(values.clone(), 10.0, Wanted::Dense).1, 0.0);
        assert!(Clusters::learn(values.clone(), 10.0, Wanted::Largest).1 > 90.0);
        values.extend([(Cell::symbol("a"), false); 12]);
        let (found, _) = Clusters::learn(values, 10.0, Wanted::Largest);
        assert!(found.steps(Cell::symbol("a")) < 0 && found.steps(Cell::symbol("b")) == 0);
    }
}
