//! The joint log-ratio of two components.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::preselect::preselect;
use super::view::{View, complete, has_cell};
use super::{Cost, Learner, Score};
use crate::attack::bins::sort;
use crate::attack::family::Attack;
use crate::attack::fit::table::{STEPS, Table};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::pair::{MAX_COMPONENTS, PARTS};
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "joint",
    sees: "the joint log-ratio of the most significant two components",
    cost: Cost::Slow,
    attacks: &[Attack::Pairs],
    widths: 2..=MAX_COMPONENTS,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    // The first rows are enough to choose a pair, which is then learned from all rows.
    let brief = lesson.brief();
    let all: Vec<Joint> = lesson
        .pairs()
        .into_par_iter()
        .map(|(first, second)| Joint::learn(brief.first_half(), first, second))
        .collect();
    let best = preselect(brief.second_half(), all, 1);
    best.into_iter().map(|joint| Score::Joint(joint.relearn(lesson))).collect()
}

/// Two components together. It finds leaks that neither component shows alone, such as the parity
/// of two signs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    first: usize,
    second: usize,
    /// Where the first component is divided; each part has a table for the second component.
    #[serde(with = "crate::model::exact::list")]
    edges: Vec<f64>,
    parts: Vec<Table>,
}

impl Joint {
    /// Learns the joint ratio of two components. Symbols of the first component belong to the
    /// lowest part.
    fn learn(lesson: Lesson, first: usize, second: usize) -> Self {
        let mut values: Vec<f64> = lesson
            .left
            .iter()
            .chain(lesson.right)
            .filter_map(|row| row[first].as_number())
            .collect();
        sort(&mut values);
        let mut edges: Vec<f64> = (1..PARTS)
            .filter_map(|part| values.get(part * values.len() / PARTS).copied())
            .collect();
        edges.dedup();
        let part = |row: &[Cell]| part_of(&edges, row[first]);
        let (mut left, mut right) =
            (vec![Vec::new(); edges.len() + 1], vec![Vec::new(); edges.len() + 1]);
        lesson.left.iter().for_each(|row| left[part(row)].push(row[second]));
        lesson.right.iter().for_each(|row| right[part(row)].push(row[second]));
        let parts = left
            .iter()
            .zip(&right)
            .map(|(left, right)| Table::learn(left, right).compact())
            .collect();
        Self { first, second, edges, parts }
    }

    /// The same two components, learned from other rows.
    fn relearn(&self, lesson: Lesson) -> Self {
        Self::learn(lesson, self.first, self.second)
    }
}

impl View for Joint {
    fn score(&self, row: &[Cell]) -> Cell {
        let steps = self.parts[part_of(&self.edges, row[self.first])].steps(row[self.second]);
        Cell::number(f64::from(steps) / STEPS)
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.first.max(self.second), width)?;
        complete(
            self.parts.len() == self.edges.len() + 1 && self.parts.iter().all(Table::is_complete),
        )
    }

    fn describe(&self, names: &Symbols) -> String {
        let [first, second] = [self.first, self.second].map(|index| names.column(index));
        format!("the joint log-ratio of {first} and {second}")
    }

    fn is_ratio(&self) -> bool {
        true
    }
}

/// The part of the first component that a cell belongs to.
fn part_of(edges: &[f64], cell: Cell) -> usize {
    cell.as_number().map_or(0, |number| edges.partition_point(|edge| *edge <= number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::learner::testing::{ROWS, assert_score_within, borrowed, number, two_to_one};

    #[test]
    fn a_parity_is_visible_in_two_components_together() {
        // On both sides each sign is positive in half of the rows. The two signs agree in 2 of 3
        // rows of D and in 1 of 3 rows of D'.
        let size = |index: usize| (index * 7919 % ROWS) as f64 + 0.5;
        let row = |index: usize, same: f64| {
            let sign = [1.0, -1.0][index / 3 % 2];
            vec![
                number(sign * size(index)),
                number(0.0),
                number(sign * same * ((index * 6661 % ROWS) as f64 + 0.5)),
            ]
        };
        let (left, right) = two_to_one(|index| row(index, 1.0), |index| row(index, -1.0));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let lesson = Lesson::of(&left, &right);
        let joint = Joint::learn(lesson, 0, 2);
        assert_eq!(joint, Joint::learn(lesson.first_half(), 0, 2).relearn(lesson));
        assert_eq!(joint.parts.len(), 8);
        let parts = [0.5, 1.0, 2.5, 3.0].map(|x| part_of(&[1.0, 2.0, 3.0], number(x)));
        assert_eq!((parts, part_of(&[1.0], Cell::symbol("⊥"))), ([0, 1, 2, 3], 0));
        for (first, second) in
            [(900.0, 900.0), (-900.0, 900.0), (3000.0, -500.0), (-5000.0, -2000.0)]
        {
            let sign = f64::signum(first * second);
            // About 500 rows per side in each quarter of a part: the standard error would be 0.1
            // for random rows.
            assert_score_within(
                0.2,
                &joint,
                &[number(first), number(0.0), number(second)],
                sign * 2_f64.ln(),
            );
        }
    }

    #[test]
    fn a_joint_ratio_that_lacks_a_part_is_rejected() {
        let rows: Vec<Vec<Cell>> =
            (0..400).map(|index| vec![Cell::symbol("⊥"), number(f64::from(index)), number(1.5)]).collect();
        let rows = borrowed(&rows);
        let joint = Joint::learn(Lesson::of(&rows, &rows), 1, 2);
        let fits = |joint: &Joint| (1..5).map(|width| joint.check(width).is_ok()).collect::<Vec<_>>();
        assert_eq!(fits(&joint), [false, false, true, true]);
        assert_eq!(fits(&Joint { parts: joint.parts[1..].to_vec(), ..joint.clone() }), [false; 4]);
        assert_eq!(fits(&Joint { first: 2, second: 1, ..joint }), [false, false, true, true]);
    }
}
