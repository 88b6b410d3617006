//! A score for rows that mix symbols and numbers: which symbols are at which positions, together
//! with the numbers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::view::{View, complete};
use super::{Cost, Learner, Score};
use crate::attack::bins::Bins;
use crate::attack::family::Attack;
use crate::attack::fit::table::{STEPS, Table, in_steps};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::pattern::MIN_ROWS;
use crate::output::{Cell, Mix, Symbols};

pub const LEARNER: Learner = Learner {
    name: "pattern",
    sees: "which symbols and repeated values are at which positions, together with the numbers",
    cost: Cost::Quick,
    attacks: &[Attack::Patterns],
    widths: 2..=usize::MAX,
    learn: |lesson| Pattern::learn(lesson).map(Score::Pattern).into_iter().collect(),
};

/// A pattern says which components are which symbols or repeated values, and which are numbers. The
/// score adds the log-ratio of the row's pattern and the log-ratios of its numbers given the
/// pattern.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// For each component, the bins that distinguish atoms from other numbers.
    columns: Vec<Bins>,
    known: BTreeMap<u64, KnownPattern>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KnownPattern {
    /// The log-ratio of the pattern itself.
    steps: i32,
    /// One table for each of its numbers, in order.
    numbers: Vec<Table>,
}

impl Pattern {
    /// Learns the frequent patterns; None if no row has both a number and an atom.
    #[must_use]
    pub fn learn(lesson: Lesson) -> Option<Self> {
        let columns: Vec<Bins> =
            (0..lesson.width()).map(|index| lesson.bins(|row| row[index])).collect();
        if !columns.iter().any(Bins::has_atoms) {
            return None;
        }
        let mut found: BTreeMap<u64, [Vec<Vec<Cell>>; 2]> = BTreeMap::new();
        for (side, rows) in [lesson.left, lesson.right].into_iter().enumerate() {
            for row in rows {
                let (key, numbers) = split(&columns, row);
                found.entry(key).or_default()[side].push(numbers);
            }
        }
        let mixed = |rows: &Vec<Vec<Cell>>| {
            rows.first().is_some_and(|numbers| !numbers.is_empty() && numbers.len() < columns.len())
        };
        if !found.values().flatten().any(mixed) {
            return None;
        }
        // The different sizes of the sides are not evidence, so their ratio is removed.
        let even = (lesson.left.len().max(1) as f64 / lesson.right.len().max(1) as f64).ln();
        found.retain(|_, [left, right]| left.len() + right.len() >= MIN_ROWS);
        let known = found.into_iter().map(|(key, [left, right])| {
            let numbers = left.first().or(right.first()).map_or(0, Vec::len);
            let column = |rows: &[Vec<Cell>], index: usize| {
                rows.iter().map(|numbers| numbers[index]).collect::<Vec<Cell>>()
            };
            let tables = (0..numbers)
                .map(|index| Table::learn(&column(&left, index), &column(&right, index)).compact())
                .collect();
            let ratio = ((left.len() as f64 + 0.5) / (right.len() as f64 + 0.5)).ln() - even;
            (key, KnownPattern { steps: in_steps(ratio), numbers: tables })
        });
        let known = known.collect();
        Some(Self { columns, known })
    }
}

impl View for Pattern {
    fn score(&self, row: &[Cell]) -> Cell {
        let (key, numbers) = split(&self.columns, row);
        let steps = self.known.get(&key).map_or(0, |pattern| {
            i64::from(pattern.steps)
                + pattern
                    .numbers
                    .iter()
                    .zip(&numbers)
                    .map(|(table, number)| i64::from(table.steps(*number)))
                    .sum::<i64>()
        });
        Cell::number(steps as f64 / STEPS)
    }

    fn check(&self, _: usize) -> Result<(), String> {
        complete(
            self.known.values().flat_map(|pattern| &pattern.numbers).all(Table::is_complete),
        )
    }

    fn describe(&self, _: &Symbols) -> String {
        "the log-ratio of the pattern and its numbers".to_owned()
    }

    fn is_ratio(&self) -> bool {
        true
    }
}

/// A row's pattern as a key, and its numbers in order.
fn split(columns: &[Bins], row: &[Cell]) -> (u64, Vec<Cell>) {
    // The key of any number that is not an atom. No atom has this key, because the key of −0 is
    // that of 0.
    const NUMBER: u64 = (-0.0_f64).to_bits();
    let mut numbers = Vec::new();
    let key = row.iter().zip(columns).fold(Mix::new(), |mix, (cell, column)| {
        if cell.as_number().is_none() || column.is_atom(column.index(*cell)) {
            mix.word(cell.key())
        } else {
            numbers.push(*cell);
            mix.word(NUMBER)
        }
    });
    (key.end(), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::learner::testing::{
        ROWS, assert_score, assert_score_within, borrowed, number, two_to_one,
    };

    #[test]
    fn a_pattern_adds_its_own_ratio_and_those_of_its_numbers() {
        let (bottom, top, rare) = (Cell::symbol("⊥"), Cell::symbol("⊤"), Cell::symbol("rare"));
        let size = |index: usize| (index * 7919 % ROWS) as f64 + 0.5;
        // ⊥ is twice as frequent on D as on D', and the number next to it carries no information. ⊤
        // is half as frequent on D; the number next to it is positive on D and negative on D', each
        // in 4 of 5 rows.
        let next_to_top = |index: usize, sign: f64| {
            number(if index / 3 % 5 < 4 { sign * size(index) } else { -sign * size(index) })
        };
        let side = |third: usize, sign: f64, rares: usize| -> Vec<Vec<Cell>> {
            let row = |index: usize| {
                if index % 3 < third {
                    vec![bottom, number(size(index))]
                } else {
                    vec![top, next_to_top(index, sign)]
                }
            };
            (0..ROWS)
                .map(row)
                .chain((0..rares).map(|index| vec![rare, number((index * 48 / rares) as f64)]))
                .collect()
        };
        let (left, right) = (side(2, 1.0, 47), side(1, -1.0, 16));
        let (all_left, all_right) = (borrowed(&left), borrowed(&right));
        let model = Pattern::learn(Lesson::of(&all_left, &all_right)).expect("mixed rows");
        assert_score(&model, &[bottom, number(100.5)], 2_f64.ln());
        assert_score(&model, &[top, number(100.5)], 4_f64.ln() - 2_f64.ln());
        assert_score(&model, &[top, number(-100.5)], -4_f64.ln() - 2_f64.ln());
        // A pattern that is too rare, and one that never occurred.
        assert_score(&model, &[rare, number(1.0)], 0.0);
        assert_score(&model, &[bottom, bottom], 0.0);
        assert_eq!(model.check(2), Ok(()));
        // With one more row it is frequent enough: 48 on D and 16 on D'; one half is added to each.
        let (left, right) = (side(2, 1.0, 48), side(1, -1.0, 16));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let known = Pattern::learn(Lesson::of(&left, &right)).expect("mixed rows");
        assert_score(&known, &[rare, number(1.0)], (48.5_f64 / 16.5).ln());
        // Symbols alone, numbers alone.
        let learned = |row: &dyn Fn(usize) -> Vec<Cell>| {
            let rows: Vec<Vec<Cell>> = (0..ROWS).map(row).collect();
            Pattern::learn(Lesson::of(&borrowed(&rows), &borrowed(&rows))).is_some()
        };
        assert!(!learned(&|_| vec![bottom, top]));
        assert!(!learned(&|index| if index % 2 == 0 {
            vec![bottom, top]
        } else {
            vec![number(size(index)), number(-size(index))]
        }));
        assert!(!learned(&|index| vec![number(size(index)), number(-size(index))]));
        assert!(
            learned(&|index| vec![number(3.0), number(size(index))]),
            "a repeated number is an atom too"
        );
    }

    #[test]
    fn a_repeated_zero_is_its_own_pattern_for_any_sizes_of_the_sides() {
        // Zero or some other number, next to a number that carries no information. D has twice as
        // many rows.
        let noise = |index: usize| number((index * 7919 % ROWS) as f64 + 0.5);
        let (left, right) = two_to_one(
            |index| vec![number(0.0), noise(index)],
            |index| vec![noise(index), noise(index)],
        );
        let (left, right) = (borrowed(&left).repeat(2), borrowed(&right));
        let model = Pattern::learn(Lesson::of(&left, &right)).expect("mixed rows");
        assert_score_within(0.1, &model, &[number(0.0), number(4000.5)], 2_f64.ln());
        assert_score_within(0.1, &model, &[number(4000.5), number(4000.5)], -2_f64.ln());
    }

    #[test]
    fn a_table_without_one_of_its_ratios_is_rejected() {
        let rows: Vec<Vec<Cell>> = (0..400)
            .map(|index| vec![Cell::symbol("⊥"), number(f64::from(index))])
            .collect();
        let rows = borrowed(&rows);
        let mut pattern = Pattern::learn(Lesson::of(&rows, &rows)).expect("mixed rows");
        assert_eq!(pattern.check(2), Ok(()));
        let known = pattern.known.values_mut().next().expect("a frequent pattern");
        let mut table = serde_json::to_value(&known.numbers[0]).unwrap();
        table["steps"].as_array_mut().unwrap().pop();
        known.numbers[0] = serde_json::from_value(table).unwrap();
        assert!(pattern.check(2).is_err());
    }
}
