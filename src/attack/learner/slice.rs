//! Rare slices: an extreme of one component, or a rare symbol, marks the draws in which another
//! component tells everything.
//!
//! Such a slice has one draw in a thousand to ten thousand. Tables and trees cannot see it, because
//! their smallest parts are far larger. A few slices are proposed, and the draws that are counted
//! afterwards decide by the δ bound that each of them promises.

use std::cmp::Reverse;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cluster::{Clusters, Wanted};
use super::view::{View, complete, has_cell};
use super::{Cost, Learner, Score};
use crate::attack::bins::sort;
use crate::attack::family::Attack;
use crate::attack::fit::table::STEPS;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::slice::{
    GROWTH, LARGEST, LEAST, MAX_COMPARED, MAX_COMPONENTS, MAX_SCORES, SMALLEST,
};
use crate::model::number::Brief;
use crate::output::{Cell, KeyMap, Symbols};

pub const LEARNER: Learner = Learner {
    name: "slice",
    sees: "one component where another is extreme or has a rare value",
    cost: Cost::Quick,
    attacks: &[Attack::Slices],
    widths: 2..=MAX_COMPONENTS,
    learn,
};

/// All numbers of a component, in order.
struct Sorted(Vec<f64>);

impl Sorted {
    fn of(lesson: Lesson, component: usize) -> Self {
        let numbers = lesson.labelled().filter_map(|(row, _)| row[component].as_number());
        let mut numbers: Vec<f64> = numbers.collect();
        sort(&mut numbers);
        Self(numbers)
    }

    /// How surprising it is, in bits, that `inside` of `rows` rows are between these ends, if they
    /// are a sample of all rows. A window with a share `w` of all rows that begins at one of the
    /// rows has `k − 1` of the `m − 1` others with probability at most `C(m − 1, k − 1)·w^(k − 1)`,
    /// and there are m such windows.
    fn concentration(&self, (low, high): (f64, f64), inside: usize, rows: usize) -> f64 {
        let up_to = |limit: f64| self.0.partition_point(|number| *number <= limit);
        let below = self.0.partition_point(|number| *number < low);
        // The rows of the slice are among all rows.
        let others = (up_to(high) - below).saturating_sub(inside) + 1;
        let share = others as f64 / (self.0.len().saturating_sub(rows) + 1) as f64;
        let (k, m) = (inside as f64, rows as f64);
        let ways: f64 =
            (1..inside).map(|i| ((m - i as f64) / i as f64).log2()).sum();
        ((k - 1.0) * -share.log2() - ways - m.log2()).max(0.0)
    }
}

/// A row of the lesson, with its side.
type Labelled<'a> = (&'a [Cell], bool);

fn learn(lesson: Lesson) -> Vec<Score> {
    let all: Vec<Sorted> =
        (0..lesson.width()).into_par_iter().map(|shown| Sorted::of(lesson, shown)).collect();
    let of_mark = |mark: usize| -> Vec<(f64, Slice)> {
        slices(lesson, mark)
            .into_iter()
            .flat_map(|(part, rows)| {
                (0..lesson.width())
                    .filter(|shown| *shown != mark)
                    .map(|shown| Slice::learn((mark, part), shown, &rows, &all[shown]))
                    .collect::<Vec<_>>()
            })
            .filter(|(surprise, _)| *surprise > 0.0)
            .collect()
    };
    let mut found: Vec<(f64, Slice)> =
        (0..lesson.width()).into_par_iter().flat_map_iter(of_mark).collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    // Of the same end or value, only the best size is proposed.
    let mut proposed: Vec<(usize, usize, Part)> = Vec::new();
    found.retain(|(_, Slice { mark, part, shown, .. })| {
        let known =
            |(m, s, p): &(usize, usize, Part)| m == mark && s == shown && p.is_like(*part);
        let is_new = !proposed.iter().any(known);
        if is_new {
            proposed.push((*mark, *shown, *part));
        }
        is_new
    });
    found.into_iter().take(MAX_SCORES).map(|(_, slice)| Score::Slice(slice)).collect()
}

/// The draws that a slice has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Part {
    /// The component is at least this number.
    From(Cell),
    /// The component is at most this number.
    UpTo(Cell),
    /// The component is this symbol or number.
    Is(Cell),
}

impl Part {
    /// Whether it is the same end with another size, or the same value.
    fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::From(_), Self::From(_)) | (Self::UpTo(_), Self::UpTo(_)) => true,
            (one, other) => one == other,
        }
    }

    #[inline]
    fn has(self, cell: Cell) -> bool {
        match self {
            // A symbol is NaN, which neither is at least nor at most any number.
            Self::From(low) => cell.raw() >= low.raw(),
            Self::UpTo(high) => cell.raw() <= high.raw(),
            Self::Is(value) => cell == value,
        }
    }
}

/// One-sided places of a component, in a rare slice of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    mark: usize,
    part: Part,
    shown: usize,
    clusters: Clusters,
}

impl Slice {
    /// What a component shows in a slice, and how surprising it is, in bits: how much longer its
    /// one-sided runs are than those of as many tosses of a coin, whose longest run of heads is
    /// about log₂ of their number, and so is that of tails. If they are surprising, it also counts
    /// how much closer together the runs are than numbers of all rows. Numbers without noise are.
    fn learn(
        (mark, part): (usize, Part),
        shown: usize,
        rows: &[Labelled],
        all: &Sorted,
    ) -> (f64, Self) {
        let values = rows.iter().map(|(row, left)| (row[shown], *left)).collect();
        let (clusters, excess) = Clusters::learn(values, LEAST, Wanted::Largest);
        let surprise = excess - 2.0 * (rows.len() as f64).log2();
        if surprise <= 0.0 {
            return (surprise, Self { mark, part, shown, clusters });
        }
        let inside = |(low, high): (f64, f64)| {
            rows.iter().filter(|(row, _)| (low..=high).contains(&row[shown].raw())).count()
        };
        let closer: f64 = clusters
            .intervals()
            .map(|ends| all.concentration(ends, inside(ends), rows.len()))
            .sum();
        (surprise + closer, Self { mark, part, shown, clusters })
    }
}

/// The slices of a component with their rows: both ends of its numbers at several sizes, and its
/// rare values.
fn slices(lesson: Lesson<'_>, mark: usize) -> Vec<(Part, Vec<Labelled<'_>>)> {
    let all = lesson.left.len() + lesson.right.len();
    let largest = all / LARGEST;
    if largest < SMALLEST {
        return Vec::new();
    }
    let mut numbers: Vec<Labelled> =
        lesson.labelled().filter(|(row, _)| row[mark].as_number().is_some()).collect();
    let mut found = Vec::new();
    let order = |a: &Labelled, b: &Labelled| a.0[mark].raw().total_cmp(&b.0[mark].raw());
    if numbers.len() > 2 * largest {
        let sizes = || {
            std::iter::successors(Some(SMALLEST), |size| Some(size * GROWTH.0 / GROWTH.1))
                .take_while(|size| *size <= largest)
        };
        let (low, _, _) = numbers.select_nth_unstable_by(largest, order);
        low.sort_unstable_by(order);
        for size in sizes() {
            let last = low[size - 1].0[mark];
            let end = low.partition_point(|(row, _)| row[mark].raw() <= last.raw());
            found.push((Part::UpTo(last), low[..end].to_vec()));
        }
        let first = numbers.len() - largest;
        let (_, _, high) = numbers.select_nth_unstable_by(first - 1, order);
        high.sort_unstable_by(order);
        for size in sizes() {
            let first = high[high.len() - size].0[mark];
            let start = high.partition_point(|(row, _)| row[mark].raw() < first.raw());
            found.push((Part::From(first), high[start..].to_vec()));
        }
        found.dedup_by(|a, b| a.0 == b.0);
        // An end that is an atom may have far more rows than asked for.
        found.retain(|(_, rows)| rows.len() <= largest);
    }
    let mut times: KeyMap<(Cell, usize)> = KeyMap::default();
    lesson
        .labelled()
        .map(|(row, _)| row[mark])
        .for_each(|cell| times.entry(cell.key()).or_insert((cell, 0)).1 += 1);
    let mut rare: Vec<(Cell, usize)> = times
        .into_values()
        .filter(|(_, times)| (SMALLEST..=largest).contains(times))
        .collect();
    rare.sort_unstable_by_key(|(cell, times)| (Reverse(*times), cell.key()));
    // Each of them is compared with all other components, and so is every other mark.
    let most = MAX_COMPARED / (lesson.width() * lesson.width());
    let mut compared = 0;
    let tried: Vec<Cell> = rare
        .into_iter()
        .take_while(|(_, times)| {
            compared += times;
            compared <= most
        })
        .map(|(cell, _)| cell)
        .collect();
    let mut of_value: KeyMap<Vec<Labelled>> =
        tried.iter().map(|cell| (cell.key(), Vec::new())).collect();
    for row in lesson.labelled() {
        if let Some(rows) = of_value.get_mut(&row.0[mark].key()) {
            rows.push(row);
        }
    }
    let rows = |cell: Cell| of_value.remove(&cell.key()).map(|rows| (Part::Is(cell), rows));
    found.extend(tried.into_iter().filter_map(rows));
    found
}

impl View for Slice {
    fn score(&self, row: &[Cell]) -> Cell {
        let steps =
            if self.part.has(row[self.mark]) { self.clusters.steps(row[self.shown]) } else { 0 };
        Cell::number(f64::from(steps) / STEPS)
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.mark.max(self.shown), width)?;
        complete(self.clusters.is_complete())
    }

    fn describe(&self, names: &Symbols) -> String {
        let [mark, shown] = [self.mark, self.shown].map(|index| names.column(index));
        let part = match self.part {
            Part::From(low) => format!("≥ {}", Brief(low.raw())),
            Part::UpTo(high) => format!("≤ {}", Brief(high.raw())),
            Part::Is(value) => format!("= {}", names.text(value)),
        };
        format!("the log-ratio of {shown} where {mark} {part}")
    }

    fn is_ratio(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::testing::{borrowed, number};
    use super::*;
    use crate::noise::{Generator, bernoulli, laplace};

    fn learned(mut row: impl FnMut(&mut Generator, f64) -> Vec<Cell>) -> Vec<Score> {
        let mut side = |seed: u64, answer: f64| -> Vec<Vec<Cell>> {
            let mut rng = Generator::seed_from_u64(seed);
            (0..30_000).map(|_| row(&mut rng, answer)).collect()
        };
        let (left, right) = (side(1, 40.0), side(2, 41.0));
        LEARNER.learn(Lesson::of(&borrowed(&left), &borrowed(&right)))
    }

    #[test]
    fn the_largest_numbers_mark_draws_without_noise() {
        // Above 7.6, which has a share of 2.5e-4, the second number has no noise.
        let scores = learned(|rng, answer| {
            let mark = laplace(rng, 1.0);
            let noise = if mark > 7.6 { 0.0 } else { laplace(rng, 1.0) };
            vec![number(mark), number(answer + noise)]
        });
        let tells = |score: &Score| {
            let of = |mark: f64, shown: f64| score.score(&[number(mark), number(shown)]).raw();
            of(20.0, 40.0) > 1.0 && of(20.0, 41.0) < -1.0 && of(1.0, 40.0) == 0.0
        };
        assert!(scores.iter().any(tells), "{scores:?}");
        assert!(scores.iter().all(|score| score.check(2).is_ok() && score.check(1).is_err()));
    }

    #[test]
    fn a_rare_symbol_marks_draws_without_noise() {
        let [usual, debug] = ["usual", "debug"].map(Cell::symbol);
        let scores = learned(|rng, answer| {
            let marked = bernoulli(rng, 5e-4);
            let noise = if marked { 0.0 } else { laplace(rng, 1.0) };
            vec![number(answer + noise), if marked { debug } else { usual }]
        });
        let tells = |score: &Score| {
            let of = |shown: f64, mark: Cell| score.score(&[number(shown), mark]).raw();
            of(40.0, debug) > 1.0 && of(41.0, debug) < -1.0 && of(40.0, usual) == 0.0
        };
        assert!(scores.iter().any(tells), "{scores:?}");
    }

    #[test]
    fn one_of_thousands_of_values_marks_draws_without_noise() {
        let scores = learned(|rng, answer| {
            let mark = (laplace(rng, 1e3).abs() % 2000.0).floor();
            let noise = if mark == 77.0 { 1e-4 } else { 1.0 };
            vec![number(mark), number(answer + laplace(rng, noise))]
        });
        let tells = |score: &Score| {
            let of = |mark: f64, shown: f64| score.score(&[number(mark), number(shown)]).raw();
            of(77.0, 40.0) > 1.0 && of(77.0, 41.0) < -1.0 && of(78.0, 40.0) == 0.0
        };
        assert!(scores.iter().any(tells), "{scores:?}");
    }

    #[test]
    fn numbers_close_together_are_surprising() {
        let all = Sorted((0..1000).map(f64::from).collect());
        // Four of four rows among five of 1,000: each of the other three has a share of 0.002.
        let found = all.concentration((100.0, 104.0), 4, 4);
        let expected = 3.0 * -(2.0_f64 / 997.0).log2() - 2.0;
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        // Four of eight rows among half of all: nothing to be surprised about.
        assert_eq!(all.concentration((0.0, 499.0), 4, 8), 0.0);
    }
}
