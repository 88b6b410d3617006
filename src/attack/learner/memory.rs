//! Memory: how often a value was seen on D and on D' among the training rows.
//!
//! A value that repeats too rarely to have a ratio of its own still has a class: seen `a` times on
//! D and `b` times on D'. What a class says is learned from all its values together. Leave each
//! training row out in turn: a row of D whose value was seen `a + 1` times on D and `b` times on D'
//! is a row of D in the class `(a, b)` of the other rows. So no row votes on itself, and the hits
//! of the classes are those of fresh rows (Good 1953, Turing's estimate, for two samples).
//!
//! It sees noise from few random bits, odd values among many, identifiers, and hashes of rows.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::view::{View, complete, listed};
use super::{Cost, Learner, Score};
use crate::attack::bins::Counts;
use crate::attack::family::Attack;
use crate::attack::fit::table::{STEPS, in_steps};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::memory::{
    CONTRAST, MAX_CELLS, MAX_KEYS, MAX_SCORES, MEETINGS, NEW, RARE,
};
use crate::output::{Cell, Mix, Symbols};

pub const LEARNER: Learner = Learner {
    name: "memory",
    sees: "how often a value or a row was seen on each side before, for values that repeat rarely",
    cost: Cost::Quick,
    attacks: &[Attack::Memory],
    widths: 1..=usize::MAX,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let lesson = lesson.first_rows(MAX_CELLS / lesson.width().max(1) / 2);
    let width = lesson.width();
    let mut sets: Vec<Vec<usize>> = (0..width).map(|column| vec![column]).collect();
    if width > 1 {
        sets.push((0..width).collect());
        let repeating: Vec<usize> =
            (0..width).into_par_iter().filter(|column| !is_new(lesson, *column)).collect();
        if repeating.len() > 1 && repeating.len() < width {
            sets.push(repeating);
        }
    }
    let mut found: Vec<(f64, Memory)> = sets
        .into_par_iter()
        .filter_map(|columns| Memory::learn(lesson, columns))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(MAX_SCORES).map(|(_, memory)| Score::Memory(memory)).collect()
}

/// Whether the values of a column hardly ever repeat: nearly every one is new. Only learners that
/// look inside the values can say something about such a column.
fn is_new(lesson: Lesson, column: usize) -> bool {
    let brief = lesson.brief();
    let rows = brief.left.iter().chain(brief.right);
    let mut keys: Vec<u64> = rows.map(|row| row[column].key()).collect();
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    keys.len() as f64 > NEW * all as f64
}

/// What was seen before in some columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    columns: Vec<usize>,
    /// The log-ratio of values that were never seen, in steps.
    unseen: i32,
    /// Hashes of the values that were seen, sorted. Two values with the same hash are merged, which
    /// can hide a leak but never create one.
    keys: Vec<u32>,
    /// For each of them, the index of its log-ratio.
    classes: Vec<u8>,
    /// The log-ratios of the classes, in steps.
    ratios: Vec<i32>,
}

impl Memory {
    /// Learns what the number of times that a value was seen says about the side, and how
    /// significant it is; None if it is not.
    fn learn(lesson: Lesson, columns: Vec<usize>) -> Option<(f64, Self)> {
        let mut seen: Vec<(u32, bool)> = [(lesson.left, true), (lesson.right, false)]
            .into_iter()
            .flat_map(|(rows, left)| rows.iter().map(move |row| (row, left)))
            .map(|(row, left)| (hash(row, &columns), left))
            .collect();
        if !repeat(&seen) {
            return None;
        }
        seen.sort_unstable();
        let times = |run: &[(u32, bool)]| {
            let left = run.iter().filter(|(_, left)| *left).count();
            (left, run.len() - left)
        };
        let runs = || seen.chunk_by(|a, b| a.0 == b.0);
        let mut hits = Counts::new(CLASSES);
        for (left, right) in runs().map(times) {
            if left > 0 {
                hits.left[class(left - 1, right)] += left as u64;
            }
            if right > 0 {
                hits.right[class(left, right - 1)] += right as u64;
            }
        }
        // Frequent values have bins of their own in other scores, so they are no reason for this.
        let rare = Counts {
            left: hits.left[..OFTEN].to_vec(),
            right: hits.right[..OFTEN].to_vec(),
        };
        let contrast = rare.contrast();
        if contrast < CONTRAST {
            return None;
        }
        // The different sizes of the sides are not evidence, so their ratio is removed.
        let even = (lesson.left.len().max(1) as f64 / lesson.right.len().max(1) as f64).ln();
        let ratios: Vec<i32> = hits
            .left
            .iter()
            .zip(&hits.right)
            .map(|(left, right)| ((*left as f64 + 0.5) / (*right as f64 + 0.5)).ln() - even)
            .map(in_steps)
            .collect();
        let mut known: Vec<(u32, u8)> = runs()
            .map(|run| (run[0].0, times(run)))
            .map(|(key, (left, right))| (key, class(left, right)))
            .filter(|(_, class)| ratios[*class] != ratios[0])
            .filter_map(|(key, class)| Some((key, u8::try_from(class).ok()?)))
            .collect();
        if known.len() > MAX_KEYS {
            // The values that say most stay.
            known.sort_by_key(|(_, class)| {
                std::cmp::Reverse(ratios[usize::from(*class)].abs_diff(ratios[0]))
            });
            known.truncate(MAX_KEYS);
            known.sort_unstable();
        }
        let (keys, classes) = known.into_iter().unzip();
        Some((contrast, Self { columns, unseen: ratios[0], keys, classes, ratios }))
    }
}

/// A quick test whether values repeat, so that most columns need not be sorted: whether more hashes
/// fall into the same of `m` cells than those of `n` different values do. These leave
/// `m·(1 − 1/m)^n` cells empty, and the number that meet has at most the variance of a Poisson
/// variable.
fn repeat(seen: &[(u32, bool)]) -> bool {
    const CELLS: u32 = 1 << 20;
    let mut cells = vec![0_u64; CELLS as usize / 64];
    let mut met = 0.0;
    for (hash, _) in seen {
        let (word, bit) = ((hash % CELLS / 64) as usize, 1 << (hash % 64));
        met += f64::from(u8::from(cells[word] & bit != 0));
        cells[word] |= bit;
    }
    let (n, m) = (seen.len() as f64, f64::from(CELLS));
    let expected = n - m * -f64::exp_m1(-n / m);
    met > expected + MEETINGS * expected.sqrt()
}

/// The classes of values that were seen at most `RARE` times, then those of frequent values by
/// their share of D.
const OFTEN: usize = (RARE + 1) * (RARE + 2) / 2;
const CLASSES: usize = OFTEN + SHARES;
const SHARES: usize = 16;

/// The class of a value that was seen so often on D and on D'; 0 if it was never seen.
fn class(left: usize, right: usize) -> usize {
    let all = left + right;
    if all <= RARE {
        all * (all + 1) / 2 + left
    } else {
        OFTEN + (left * SHARES / all).min(SHARES - 1)
    }
}

/// The hash of a row's cells in these columns.
#[inline]
fn hash(row: &[Cell], columns: &[usize]) -> u32 {
    let mix = columns.iter().fold(Mix::new(), |mix, column| mix.word(row[*column].key()));
    #[allow(clippy::cast_possible_truncation)] // the lower half of a hash is a hash
    {
        mix.end() as u32
    }
}

impl View for Memory {
    fn score(&self, row: &[Cell]) -> Cell {
        let known = self.keys.binary_search(&hash(row, &self.columns));
        let steps = known.map_or(self.unseen, |at| self.ratios[usize::from(self.classes[at])]);
        Cell::number(f64::from(steps) / STEPS)
    }

    fn check(&self, width: usize) -> Result<(), String> {
        complete(
            self.columns.iter().all(|column| *column < width)
                && self.keys.len() == self.classes.len()
                && self.classes.iter().all(|class| usize::from(*class) < self.ratios.len()),
        )
    }

    fn describe(&self, names: &Symbols) -> String {
        let columns = listed(self.columns.iter().copied(), names);
        format!("the log-ratio of how often {columns} was seen before on each side")
    }

    fn is_ratio(&self) -> bool {
        true
    }

    fn is_late(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::testing::{borrowed, number};
    use super::*;
    use crate::noise::{Generator, gaussian};

    /// One of `values` numbers, of which each side has its own, beside a number that never repeats.
    fn rows(seed: u64, values: u32, own: f64) -> Vec<Vec<Cell>> {
        let mut rng = Generator::seed_from_u64(seed);
        let row = |_| {
            let value = f64::from(rng.random_range(0..values)) + own;
            vec![number(value), number(gaussian(&mut rng, 1.0))]
        };
        (0..8000).map(row).collect()
    }

    fn learned(left: &[Vec<Cell>], right: &[Vec<Cell>]) -> Vec<Memory> {
        let (left, right) = (borrowed(left), borrowed(right));
        let scores = LEARNER.learn(Lesson::of(&left, &right)).into_iter();
        scores.filter_map(|score| if let Score::Memory(memory) = score { Some(memory) } else { None })
            .collect()
    }

    #[test]
    fn values_that_were_seen_once_tell_the_side() {
        let (left, right) = (rows(1, 40_000, 0.0), rows(2, 40_000, 0.5));
        let found = learned(&left, &right);
        let memory = found.first().expect("significant");
        assert_eq!(memory.columns, [0]);
        assert!(memory.check(2).is_ok() && memory.check(0).is_err());
        for (rows, sign) in [(&left, 1.0), (&right, -1.0)] {
            let mut unseen = rows[0].clone();
            assert!(sign * memory.score(&unseen).raw() > 5.0, "seen on one side only");
            unseen[0] = number(-1.0);
            assert!(memory.score(&unseen).raw().abs() < 0.1, "never seen");
        }
        // Fresh rows: 8,000 of 40,000 values were drawn, so 1 − e^(−1/5) = 18 % were seen.
        let fresh = rows(3, 40_000, 0.0);
        let known = fresh.iter().filter(|row| memory.score(row).raw() > 1.0).count();
        assert!((1250..1650).contains(&known), "{known} of 8,000; five standard errors are 170");
    }

    #[test]
    fn equal_sides_have_nothing_to_remember() {
        // A false alarm needs five standard deviations of a chi-square statistic on one of two sets.
        assert!(learned(&rows(1, 40_000, 0.0), &rows(2, 40_000, 0.0)).is_empty());
        // Values that never repeat are never seen before.
        assert!(learned(&rows(1, u32::MAX, 0.0), &rows(2, u32::MAX, 0.5)).is_empty());
    }

    #[test]
    fn rows_are_remembered_without_their_new_columns() {
        let with_parity = |rows: Vec<Vec<Cell>>, odd: f64| -> Vec<Vec<Cell>> {
            rows.into_iter()
                .map(|row| {
                    let value = row[0].raw();
                    vec![number(value % 211.0), row[1], number((value / 2.0).floor() * 2.0 + odd)]
                })
                .collect()
        };
        // Both columns have the same values on both sides; only together they differ.
        let (left, right) = (rows(4, 20_000, 0.0), rows(5, 20_000, 0.0));
        let swapped: Vec<Vec<Cell>> = with_parity(right, 0.0)
            .into_iter()
            .map(|row| vec![number((row[0].raw() + 100.0) % 211.0), row[1], row[2]])
            .collect();
        let found = learned(&with_parity(left, 0.0), &swapped);
        assert!(found.iter().any(|memory| memory.columns == [0, 2]), "{:?}", found.len());
    }
}
