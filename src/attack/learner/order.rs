//! Orders: where each item of a permutation is. A component of a permutation says which item is at
//! one place, so the place of an item is spread over all components.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::preselect::preselect;
use super::view::{View, complete};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::fit::table::{STEPS, Table};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::order::{EXAMINED, MAX_ITEMS, MAX_POSITIONS};
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "order",
    sees: "where the items of a permutation are: the most significant ones, and all together",
    cost: Cost::Quick,
    attacks: &[Attack::Orders],
    widths: 3..=MAX_ITEMS,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let Some(items) = items(lesson) else { return Vec::new() };
    let all: Vec<Position> = items.iter().map(|item| Position(*item)).collect();
    let single = preselect(lesson, all, MAX_POSITIONS).into_iter().map(Score::Position);
    single.chain([Score::Positions(Positions::learn(lesson, items))]).collect()
}

/// The items, if each row of both sides has the same ones in some order, each once.
fn items(lesson: Lesson) -> Option<Vec<Cell>> {
    let sorted = |row: &[Cell]| {
        let mut row = row.to_vec();
        row.sort_unstable_by_key(|cell| cell.key());
        row
    };
    let first = lesson.first_rows(EXAMINED);
    let mut rows = first.labelled().map(|(row, _)| row);
    let start = rows.next()?;
    let items = sorted(start);
    let distinct = items.windows(2).all(|pair| pair[0] != pair[1]);
    let mut moved = false;
    let same = distinct
        && rows.all(|row| {
            moved |= row != start;
            sorted(row) == items
        });
    (same && moved).then_some(items)
}

/// The place of an item, from 0; −1 if the row does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position(Cell);

impl View for Position {
    fn score(&self, row: &[Cell]) -> Cell {
        let place = row.iter().position(|cell| *cell == self.0);
        Cell::number(place.map_or(-1.0, |place| place as f64))
    }

    fn check(&self, _: usize) -> Result<(), String> {
        Ok(())
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("the place of {} in y (from 0)", names.text(self.0))
    }
}

/// The sum of the log-ratios of all items' places.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Positions {
    /// The items, sorted by key.
    items: Vec<Cell>,
    /// For each of them, the log-ratio of its place.
    tables: Vec<Table>,
}

impl Positions {
    fn learn(lesson: Lesson, items: Vec<Cell>) -> Self {
        let tables = items
            .par_iter()
            .map(|item| lesson.table(|row| Position(*item).score(row)).0.compact())
            .collect();
        Self { items, tables }
    }
}

impl View for Positions {
    fn score(&self, row: &[Cell]) -> Cell {
        let steps = |(place, cell): (usize, &Cell)| {
            let item = self.items.binary_search_by_key(&cell.key(), |item| item.key()).ok()?;
            Some(i64::from(self.tables[item].steps(Cell::number(place as f64))))
        };
        let sum: i64 = row.iter().enumerate().filter_map(steps).sum();
        Cell::number(sum as f64 / STEPS)
    }

    fn check(&self, _: usize) -> Result<(), String> {
        complete(
            self.items.len() == self.tables.len() && self.tables.iter().all(Table::is_complete),
        )
    }

    fn describe(&self, _: &Symbols) -> String {
        "the log-ratio of the places of all items".to_owned()
    }

    fn is_ratio(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::testing::{borrowed, number};
    use super::*;
    use crate::noise::{Generator, bernoulli};

    /// Seven items in random order. The item `a` is before all others in three of four rows of D.
    fn side(seed: u64, first: f64) -> Vec<Vec<Cell>> {
        let mut rng = Generator::seed_from_u64(seed);
        let names = ["a", "b", "c", "d", "e", "f", "g"].map(Cell::symbol);
        (0..4000)
            .map(|_| {
                let mut items = names[1..].to_vec();
                (1..6).rev().for_each(|last| items.swap(last, rng.random_range(0..=last)));
                let place = if bernoulli(&mut rng, first) { 0 } else { rng.random_range(1..7) };
                items.insert(place, names[0]);
                items
            })
            .collect()
    }

    #[test]
    fn the_item_that_tells_the_side_is_found() {
        let (left, right) = (side(1, 0.75), side(2, 0.25));
        let scores = LEARNER.learn(Lesson::of(&borrowed(&left), &borrowed(&right)));
        let item = Cell::symbol("a");
        assert!(scores.contains(&Score::Position(Position(item))), "{scores:?}");
        let Some(Score::Positions(all)) = scores.last() else { panic!("all places together") };
        // Three to one for D if the item is first, and for D' if it is elsewhere. The places of the
        // others depend on it and add to this.
        let score = |place: usize| {
            let mut row = left[0].clone();
            let now = row.iter().position(|cell| *cell == item).expect("has every item");
            row.swap(place, now);
            all.score(&row).raw()
        };
        assert!(score(0) > 0.8 && score(6) < -0.8, "{} and {}", score(0), score(6));
        assert!(all.check(7).is_ok());
    }

    #[test]
    fn rows_that_are_not_permutations_have_no_places() {
        let rows: Vec<Vec<Cell>> =
            (0..100).map(|index| vec![number(f64::from(index)), number(1.0), number(2.0)]).collect();
        assert!(LEARNER.learn(Lesson::of(&borrowed(&rows), &borrowed(&rows))).is_empty());
        let same = vec![vec![number(0.0), number(1.0), number(2.0)]; 50];
        assert!(LEARNER.learn(Lesson::of(&borrowed(&same), &borrowed(&same))).is_empty());
    }
}
