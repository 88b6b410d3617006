//! Naive Bayes: the sum of the components' log-ratios.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::plain::difference;
use super::view::{View, complete};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::fit::table::{STEPS, Table};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::naive_bayes::{CHANCE, LITTLE};
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "naive-bayes",
    sees: "the log-ratios of all components, added up; also with one ratio for all",
    cost: Cost::Quick,
    attacks: &[Attack::NaiveBayes],
    widths: 2..=usize::MAX,
    learn: |lesson| learn_both(lesson, Features::Cells),
};

/// With one table per component, and with one table that all share.
pub fn learn_both(lesson: Lesson, features: Features) -> Vec<Score> {
    let (each, tied) = rayon::join(
        || NaiveBayes::learn(lesson, features),
        || NaiveBayes::learn_tied(lesson, features),
    );
    vec![Score::NaiveBayes(each), Score::NaiveBayes(tied)]
}

/// What the score is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// The components.
    Cells,
    /// The first component, then the difference of each from the previous one: the terms of running
    /// sums.
    Differences,
}

impl Features {
    /// The feature with this index.
    #[inline]
    #[must_use]
    pub fn of(self, row: &[Cell], index: usize) -> Cell {
        match self {
            Self::Differences if index > 0 => difference(row[index], row[index - 1]),
            _ => row[index],
        }
    }
}

/// Binned log-likelihood ratios of each component. For independent components their sum is the
/// exact log-ratio, up to the bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayes {
    features: Features,
    /// One table per component, or a single one that all share.
    tables: Vec<Table>,
}

impl NaiveBayes {
    /// Learns one table per component. Components that add hardly anything to the most informative
    /// one are left out: the sum of their chance errors would blur it.
    #[must_use]
    pub fn learn(lesson: Lesson, features: Features) -> Self {
        let rated: Vec<(Table, f64)> = (0..lesson.width())
            .into_par_iter()
            .map(|index| lesson.table(|row| features.of(row, index)))
            .collect();
        let largest = rated.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
        let is_negligible = |gain: f64| gain < CHANCE.min(LITTLE * largest);
        let tables = rated.into_iter().map(|(table, gain)| {
            if is_negligible(gain) { Table::uninformative() } else { table.compact() }
        });
        Self { features, tables: tables.collect() }
    }

    /// Learns one table that all components share. It suits repeated releases and has more cells to
    /// learn from.
    #[must_use]
    pub fn learn_tied(lesson: Lesson, features: Features) -> Self {
        let cells = |rows: &[&[Cell]]| -> Vec<Cell> {
            rows.iter()
                .flat_map(|row| (0..row.len()).map(move |index| features.of(row, index)))
                .collect()
        };
        Self {
            features,
            tables: vec![Table::learn(&cells(lesson.left), &cells(lesson.right)).compact()],
        }
    }
}

impl View for NaiveBayes {
    #[inline]
    fn score(&self, row: &[Cell]) -> Cell {
        let cells = (0..row.len()).map(|index| self.features.of(row, index));
        let sum: i64 = match self.tables.as_slice() {
            [table] => cells.map(|cell| i64::from(table.steps(cell))).sum(),
            tables => cells.zip(tables).map(|(cell, table)| i64::from(table.steps(cell))).sum(),
        };
        Cell::number(sum as f64 / STEPS)
    }
    fn check(&self, _: usize) -> Result<(), String> {
        complete(self.tables.iter().all(Table::is_complete))
    }

    fn describe(&self, _: &Symbols) -> String {
        match self.features {
            Features::Cells => "the log-ratio of all components".to_owned(),
            Features::Differences => "the log-ratio of all successive differences".to_owned(),
        }
    }

    fn is_ratio(&self) -> bool {
        true
    }

    fn is_symmetric(&self) -> bool {
        self.features == Features::Cells && self.tables.len() == 1
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::attack::learner::testing::{ROWS, assert_score, borrowed, number, two_to_one};
    use crate::noise::{Generator, laplace};

    #[test]
    fn naive_bayes_adds_the_ratios_of_all_components() {
        let symbol = |is_a: bool| Cell::symbol(if is_a { "a" } else { "b" });
        // The first component is `a` in 3 of 4 rows of D and in 1 of 4 rows of D'; the second in 2
        // of 3 and in 1 of 3. The components are independent, in both halves of a lesson.
        let side = |first: usize, second: usize| -> Vec<Vec<Cell>> {
            (0..ROWS)
                .map(|index| vec![symbol(index / 2 % 4 < first), symbol(index / 8 % 3 < second)])
                .collect()
        };
        let (left, right) = (side(3, 2), side(1, 1));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let lesson = Lesson::of(&left, &right);
        let model = NaiveBayes::learn(lesson, Features::Cells);
        let tied = NaiveBayes::learn_tied(lesson, Features::Cells);
        // One table for both components: `a` in 17 of 24 and in 7 of 24.
        let (first, second, both) = (3_f64.ln(), 2_f64.ln(), (17.0_f64 / 7.0).ln());
        for (row, signs) in [
            ((true, true), (1.0, 1.0)),
            ((true, false), (1.0, -1.0)),
            ((false, false), (-1.0, -1.0)),
        ] {
            let row = [symbol(row.0), symbol(row.1)];
            assert_score(&model, &row, signs.0 * first + signs.1 * second);
            assert_score(&tied, &row, (signs.0 + signs.1) * both);
        }
        assert!(model.is_learned());
    }

    #[test]
    fn differences_undo_running_sums() {
        // The second component is the first plus 1 or 2; the first carries no information.
        let row = |index: usize, step: f64| {
            vec![number((index / 3 % 7) as f64), number((index / 3 % 7) as f64 + step)]
        };
        let (left, right) = two_to_one(|index| row(index, 1.0), |index| row(index, 2.0));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let model = NaiveBayes::learn(Lesson::of(&left, &right), Features::Differences);
        assert_score(&model, &row(0, 1.0), 2_f64.ln());
        assert_score(&model, &row(9, 2.0), -2_f64.ln());
        assert_eq!(Features::Differences.of(&[number(5.0), number(7.0)], 0), number(5.0));
        assert_eq!(Features::Cells.of(&[number(5.0), number(7.0)], 1), number(7.0));
    }

    #[test]
    fn uninformative_components_do_not_blur_an_informative_one() {
        // The first of four components is shifted by one, with Lap(1) noise. With 20,000 rows per
        // side its gain is hundreds of nats; the others gain only a few, by chance.
        let mut rng = Generator::seed_from_u64(12);
        let mut side = |at: f64| -> Vec<[Cell; 4]> {
            (0..20_000)
                .map(|_| [at, 0.0, 0.0, 0.0].map(|at| Cell::number(at + laplace(&mut rng, 1.0))))
                .collect()
        };
        let (left, right) = (side(0.0), side(1.0));
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().map(|row| &row[..]).collect(), right.iter().map(|row| &row[..]).collect());
        let model = NaiveBayes::learn(Lesson::of(&left, &right), Features::Cells);
        let score = |first: f64, others: f64| {
            model.score(&[first, others, others, others].map(Cell::number))
        };
        assert!(
            [-9.0, -0.3, 0.0, 0.4, 7.0]
                .iter()
                .all(|others| score(-1.0, *others) == score(-1.0, 0.1))
        );
        assert!(score(-1.0, 0.0).raw() > score(2.0, 0.0).raw());
    }

    #[test]
    fn a_table_without_one_of_its_ratios_is_rejected() {
        // As in a forged file.
        let rows: Vec<Vec<Cell>> = (0..400).map(|index| vec![number(f64::from(index))]).collect();
        let rows = borrowed(&rows);
        let mut table = serde_json::to_value(Lesson::of(&rows, &rows).table(|row| row[0]).0).unwrap();
        let model = |table: &serde_json::Value| NaiveBayes {
            features: Features::Cells,
            tables: vec![serde_json::from_value(table.clone()).unwrap()],
        };
        assert_eq!(model(&table).check(3), Ok(()));
        table["steps"].as_array_mut().unwrap().pop();
        assert!(model(&table).check(3).is_err());
    }
}
