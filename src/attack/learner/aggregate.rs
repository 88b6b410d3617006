//! Plain functions of the whole row: sum, maximum, minimum, where the maximum is, and how many
//! values differ.

use super::plain::{numbers, rounded};
use super::view::View;
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "aggregate",
    sees: "sum, maximum and minimum, where the maximum is, and how many values differ",
    cost: Cost::Quick,
    attacks: &[Attack::Aggregates],
    widths: 2..=usize::MAX,
    learn: |_| vec![Score::Sum, Score::Max, Score::Min, Score::ArgMax, Score::Distinct],
};

/// A score without parameters: its name, its words, whether the order of the components does not
/// matter, and its function.
macro_rules! aggregate {
    ($(#[$doc:meta])* $name:ident, $words:literal, $symmetric:literal, $function:expr) => {
        $(#[$doc])*
        pub struct $name;

        impl View for $name {
            fn score(&self, row: &[Cell]) -> Cell {
                let function: fn(&[Cell]) -> Cell = $function;
                function(row)
            }

            fn check(&self, _: usize) -> Result<(), String> {
                Ok(())
            }

            fn describe(&self, _: &Symbols) -> String {
                $words.to_owned()
            }

            fn is_symmetric(&self) -> bool {
                $symmetric
            }
        }
    };
}

aggregate! {
    /// The sum of the numbers.
    Sum, "the sum of y", true, |row| rounded(numbers(row).sum())
}
aggregate! {
    /// The largest number.
    Max, "the maximum of y", true,
    |row| Cell::number(numbers(row).fold(f64::NEG_INFINITY, f64::max))
}
aggregate! {
    /// The smallest number.
    Min, "the minimum of y", true,
    |row| Cell::number(numbers(row).fold(f64::INFINITY, f64::min))
}
aggregate! {
    /// The position of the largest number.
    ArgMax, "the index of the maximum of y (from 0)", false, argmax
}
aggregate! {
    /// How many different values the row has.
    Distinct, "the number of different values in y", true, distinct
}

/// The position of the largest number; the first one if there are several, −1 if there is none.
fn argmax(row: &[Cell]) -> Cell {
    let numbers =
        row.iter().enumerate().filter_map(|(index, cell)| Some((index, cell.as_number()?)));
    let largest = numbers.reduce(|best, next| if next.1 > best.1 { next } else { best });
    Cell::number(largest.map_or(-1.0, |(index, _)| index as f64))
}

/// How many different values a row has.
fn distinct(row: &[Cell]) -> Cell {
    let mut keys: Vec<u64> = row.iter().map(|cell| cell.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    Cell::number(keys.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregates_have_their_definition() {
        let of = |view: &dyn View, row: &[Cell]| view.score(row).raw();
        let [two, seven] = [2.0, 7.5].map(Cell::number);
        let row = [two, Cell::symbol("a"), seven, two, Cell::symbol("a")];
        assert_eq!((of(&Sum, &row), of(&Max, &row), of(&Min, &row)), (11.5, 7.5, 2.0));
        assert_eq!((of(&ArgMax, &row), of(&Distinct, &row)), (2.0, 3.0));
        assert_eq!((of(&ArgMax, &row[1..2]), of(&Distinct, &[])), (-1.0, 0.0));
        // 0.1 + 0.2 differs from 0.3 only in the low bits, which are removed.
        assert_eq!(of(&Sum, &[0.1, 0.2].map(Cell::number)), f64::from(0.3_f32));
    }
}
