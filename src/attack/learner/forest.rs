//! A sum of small decision trees: interactions of several components that no table of one or two of
//! them shows.
//!
//! Gradient boosting with logistic loss on binned components. Each tree asks three questions in a
//! row ("is component 7 in bin 12 or above?") and has one log-ratio for each of the eight answers.
//! It is written here because the trees must be written to witnesses, must not depend on the number
//! of threads, and must read symbols as well as numbers; no crate does all of this.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::view::{View, complete, listed};
use super::{Cost, Learner, Score};
use crate::attack::bins::Bins;
use crate::attack::family::Attack;
use crate::attack::fit::table::{STEPS, in_steps};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::forest::{
    AT_A_TIME, DEPTH, HELD_OUT, MAX_ROWS, MAX_VALUES, MIN_ROWS, RATE, SHRINKAGE, TREES,
};
use crate::output::{Cell, Rows, Symbols};
use crate::stats::binomial::logistic;

pub const LEARNER: Learner = Learner {
    name: "forest",
    sees: "decision trees over all components",
    cost: Cost::Slow,
    attacks: &[Attack::Interactions],
    widths: 2..=usize::MAX,
    learn: |lesson| Forest::learn(lesson).map(Score::Forest).into_iter().collect(),
};

/// Trees over binned components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forest {
    columns: Vec<Bins>,
    trees: Vec<Tree>,
}

/// A complete tree: the questions level by level, and a correction of the log-ratio for each leaf,
/// in steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Tree {
    questions: Vec<Question>,
    leaves: Vec<i32>,
}

/// Is this component in this bin or above?
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Question {
    component: usize,
    bin: usize,
}

/// Binned training rows, component by component, with the side and the present log-ratio of each
/// row.
struct Table {
    columns: Vec<Vec<u16>>,
    left: Vec<bool>,
    ratios: Vec<f64>,
}

impl Forest {
    /// Learns trees from these rows; None if there are too few, or if trees predict nothing.
    fn learn(lesson: Lesson) -> Option<Self> {
        let width = lesson.width();
        let most = (MAX_VALUES / width.max(1) / 2).min(MAX_ROWS);
        let (left, right) = (
            &lesson.left[..lesson.left.len().min(most)],
            &lesson.right[..lesson.right.len().min(most)],
        );
        if left.len().min(right.len()) < MIN_ROWS {
            return None;
        }
        let cells = |index: usize| {
            left.iter().chain(right).map(move |row| row[index]).collect::<Vec<Cell>>()
        };
        let bins = |index: usize| {
            let cells = cells(index);
            let bins = Bins::learn_coarse(&cells);
            #[allow(clippy::cast_possible_truncation)] // a few thousand bins at most
            let column: Vec<u16> =
                bins.index_all(&cells).into_iter().map(|bin| bin as u16).collect();
            (bins, column)
        };
        let (bins, columns): (Vec<Bins>, Vec<Vec<u16>>) =
            (0..width).into_par_iter().map(bins).unzip();
        let sides: Vec<bool> =
            left.iter().map(|_| true).chain(right.iter().map(|_| false)).collect();
        // The different sizes of the sides are not evidence: both weigh the same from the start.
        let even = (left.len() as f64 / right.len() as f64).ln();
        let mut table = Table { columns, ratios: vec![even; sides.len()], left: sides };
        let trees = table.grow_while_better(&bins);
        (!trees.is_empty()).then_some(Self { columns: bins, trees })
    }

    /// The components that the trees ask about most, at most three, from 0.
    fn main_components(&self) -> Vec<usize> {
        let mut asked: BTreeMap<usize, usize> = BTreeMap::new();
        let questions =
            self.trees.iter().flat_map(|tree| &tree.questions).filter(|question| question.bin > 0);
        questions.for_each(|question| *asked.entry(question.component).or_default() += 1);
        let mut components: Vec<usize> = asked.keys().copied().collect();
        components.sort_by_key(|component| Reverse(asked[component]));
        components.truncate(3);
        components
    }

    /// The log-ratio of a row whose components are in these bins.
    fn sum(&self, bin: impl Fn(usize) -> usize) -> Cell {
        let steps: i64 =
            self.trees.iter().map(|tree| i64::from(tree.leaves[tree.leaf(&bin)])).sum();
        Cell::number(steps as f64 / STEPS)
    }
}

impl View for Forest {
    fn score(&self, row: &[Cell]) -> Cell {
        self.sum(|component| self.columns[component].index(row[component]))
    }

    fn check(&self, width: usize) -> Result<(), String> {
        let asks = |tree: &Tree| tree.questions.iter().all(|question| question.component < width);
        let tree = |tree: &Tree| {
            tree.questions.len() == (1 << DEPTH) - 1
                && tree.leaves.len() == 1 << DEPTH
                && asks(tree)
        };
        complete(self.columns.len() == width && self.trees.iter().all(tree))
    }

    /// The bin of each component that is asked for is looked up once for all trees.
    fn of<'a>(&self, rows: &'a Rows) -> Cow<'a, [Cell]> {
        let mut asked = vec![false; self.columns.len()];
        self.trees
            .iter()
            .flat_map(|tree| &tree.questions)
            .for_each(|question| asked[question.component] = true);
        let mut bins = vec![0; self.columns.len()];
        let score = |row: &[Cell]| {
            for component in (0..row.len()).filter(|component| asked[*component]) {
                bins[component] = self.columns[component].index(row[component]);
            }
            self.sum(|component| bins[component])
        };
        rows.iter().map(score).collect()
    }

    fn describe(&self, names: &Symbols) -> String {
        format!(
            "the log-ratio of decision trees, mostly on {}",
            listed(self.main_components(), names)
        )
    }

    fn is_ratio(&self) -> bool {
        true
    }

    fn is_late(&self) -> bool {
        true
    }
}

impl Tree {
    /// The leaf of a row, whose components are in these bins.
    fn leaf(&self, bin: impl Fn(usize) -> usize) -> usize {
        let mut node = 0;
        for _ in 0..DEPTH {
            let Question { component, bin: from } = self.questions[node];
            node = 2 * node + 1 + usize::from(bin(component) >= from);
        }
        node - self.questions.len()
    }
}

/// Whether a row is held out, to see whether more trees predict better.
fn is_held_out(row: usize) -> bool {
    row % HELD_OUT == HELD_OUT - 1
}

impl Table {
    /// Grows trees, a few at a time, until those of the last two times did not predict the rows that
    /// are held out better. Where there is nothing to find this ends early, and otherwise there may
    /// be many trees.
    fn grow_while_better(&mut self, bins: &[Bins]) -> Vec<Tree> {
        let mut trees: Vec<Tree> = Vec::new();
        let (mut best, mut kept) = (self.held_out_likelihood(), 0);
        while trees.len() < TREES.min(kept + 2 * AT_A_TIME) {
            trees.extend((0..AT_A_TIME).map(|_| self.grow(bins)));
            let likelihood = self.held_out_likelihood();
            if likelihood > best {
                (best, kept) = (likelihood, trees.len());
            }
        }
        trees.truncate(kept);
        trees
    }

    /// The log-likelihood of the rows that are held out.
    fn held_out_likelihood(&self) -> f64 {
        let rows = self.left.iter().zip(&self.ratios).enumerate();
        rows.filter(|(row, _)| is_held_out(*row))
            .map(|(_, (left, ratio))| logistic(if *left { *ratio } else { -ratio }).ln())
            .sum()
    }

    /// The tree that corrects the present log-ratios best, which are then corrected.
    fn grow(&mut self, bins: &[Bins]) -> Tree {
        // For logistic loss: the residual and the weight of each row.
        let rows: Vec<(f32, f32)> = self
            .left
            .iter()
            .zip(&self.ratios)
            .enumerate()
            .map(|(row, (left, ratio))| {
                if is_held_out(row) {
                    return (0.0, 0.0);
                }
                let share = logistic(*ratio);
                #[allow(clippy::cast_possible_truncation)]
                // precise enough for a sum of a few thousand
                ((f64::from(u8::from(*left)) - share) as f32, (share * (1.0 - share)) as f32)
            })
            .collect();
        let mut nodes = vec![0_usize; rows.len()];
        let mut questions = Vec::with_capacity((1 << DEPTH) - 1);
        for level in 0..DEPTH {
            let best = self.best_questions(bins, &rows, &nodes, 1 << level);
            for (node, bin) in nodes.iter_mut().enumerate().map(|(row, node)| (node, row)) {
                let Question { component, bin: from } = best[*node];
                *node = 2 * *node + usize::from(usize::from(self.columns[component][bin]) >= from);
            }
            questions.extend(best);
        }
        let mut sums = vec![(0.0_f64, 0.0_f64); 1 << DEPTH];
        for (node, (residual, weight)) in nodes.iter().zip(&rows) {
            sums[*node] =
                (sums[*node].0 + f64::from(*residual), sums[*node].1 + f64::from(*weight));
        }
        let leaves: Vec<i32> = sums
            .into_iter()
            .map(|(residual, weight)| in_steps(RATE * residual / (weight + SHRINKAGE)))
            .collect();
        self.ratios
            .iter_mut()
            .zip(&nodes)
            .for_each(|(ratio, node)| *ratio += f64::from(leaves[*node]) / STEPS);
        Tree { questions, leaves }
    }

    /// The best question for each node of a level. The question "bin 0 or above" is always answered
    /// with yes and divides nothing.
    fn best_questions(
        &self,
        bins: &[Bins],
        rows: &[(f32, f32)],
        nodes: &[usize],
        count: usize,
    ) -> Vec<Question> {
        let of_component = |component: usize| -> Vec<(f64, Question)> {
            let size = bins[component].len();
            let mut sums = vec![(0.0_f64, 0.0_f64); count * size];
            for ((bin, node), (residual, weight)) in
                self.columns[component].iter().zip(nodes).zip(rows)
            {
                let sum = &mut sums[node * size + usize::from(*bin)];
                *sum = (sum.0 + f64::from(*residual), sum.1 + f64::from(*weight));
            }
            sums.chunks(size).map(|sums| best_cut(sums, component)).collect()
        };
        let none = vec![(0.0, Question { component: 0, bin: 0 }); count];
        let all: Vec<Vec<(f64, Question)>> =
            (0..bins.len()).into_par_iter().map(of_component).collect();
        let better = |best: (f64, Question), next: (f64, Question)| {
            if next.0 > best.0 { next } else { best }
        };
        let best = all.into_iter().fold(none, |best, next| {
            best.into_iter().zip(next).map(|(best, next)| better(best, next)).collect()
        });
        best.into_iter().map(|(_, question)| question).collect()
    }
}

/// The cut between bins that gains most, given the residuals and weights of each bin.
fn best_cut(sums: &[(f64, f64)], component: usize) -> (f64, Question) {
    let value = |(residual, weight): (f64, f64)| residual * residual / (weight + SHRINKAGE);
    let all = sums.iter().fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    let (mut below, mut best) = ((0.0, 0.0), (0.0, Question { component, bin: 0 }));
    for (bin, sum) in sums.iter().enumerate().skip(1).map(|(bin, _)| (bin, sums[bin - 1])) {
        below = (below.0 + sum.0, below.1 + sum.1);
        let gain = value(below) + value((all.0 - below.0, all.1 - below.1)) - value(all);
        if gain > best.0 {
            best = (gain, Question { component, bin });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::noise::{Generator, bernoulli, uniform};

    fn rows(seed: u64, right: bool) -> Rows {
        let mut rng = Generator::seed_from_u64(seed);
        let mut rows = Rows::new(6);
        for _ in 0..4000 {
            let mut row: Vec<f64> = (0..6).map(|_| uniform(&mut rng)).collect();
            // On D', the fifth number is small in nine of ten outputs where the third is large.
            if right && row[2] > 0.7 && bernoulli(&mut rng, 0.9) {
                row[4] *= 0.3;
            }
            rows.push(&row.into_iter().map(Cell::number).collect::<Vec<_>>());
        }
        rows
    }

    fn learned() -> Forest {
        let (left, right) = (rows(1, false), rows(2, true));
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().collect(), right.iter().collect());
        Forest::learn(Lesson::of(&left, &right)).expect("enough rows")
    }

    #[test]
    fn trees_find_what_two_components_show_together() {
        let forest = learned();
        assert_eq!(
            forest.main_components().iter().take(2).collect::<std::collections::BTreeSet<_>>(),
            [2, 4].iter().collect()
        );
        let of = |third: f64, fifth: f64| {
            let mut row = [0.5; 6].map(Cell::number);
            (row[2], row[4]) = (Cell::number(third), Cell::number(fifth));
            let mut rows = Rows::new(6);
            rows.push(&row);
            forest.of(&rows)[0].raw()
        };
        // Where the third is large, a large fifth is nine or ten times as likely on D, and a small
        // one three times as likely on D'.
        assert!(of(0.9, 0.8) > 1.0, "{}", of(0.9, 0.8));
        assert!(of(0.9, 0.15) < -0.7, "{}", of(0.9, 0.15));
        // Elsewhere there is nothing to find.
        assert!(of(0.3, 0.8).abs() < 0.5 && of(0.3, 0.15).abs() < 0.5);
        // On other rows, D is scored higher than D' on average: by the sum of both divergences,
        // which is about 0.4.
        let mean = |rows: &Rows| {
            forest.of(rows).iter().map(|score| score.raw()).sum::<f64>() / rows.len() as f64
        };
        assert!(mean(&rows(3, false)) - mean(&rows(4, true)) > 0.2);
    }

    #[test]
    fn a_forest_with_missing_parts_is_not_complete() {
        let forest = learned();
        assert!(forest.check(6).is_ok() && forest.check(5).is_err());
        let mut fewer = forest.clone();
        fewer.trees[0].leaves.pop();
        assert!(fewer.check(6).is_err());
        let mut beyond = forest;
        beyond.trees[3].questions[0].component = 6;
        assert!(beyond.check(6).is_err());
        // Its words do not need the component to exist.
        assert!(beyond.main_components().len() <= 3);
    }

    #[test]
    fn few_rows_make_no_trees() {
        let (left, right) = (rows(1, false), rows(2, true));
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().take(200).collect(), right.iter().collect());
        assert_eq!(Forest::learn(Lesson::of(&left, &right)), None);
    }
}
