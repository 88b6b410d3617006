//! The output itself, when it has a single component.

use std::borrow::Cow;

use super::view::View;
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::output::{Cell, Rows, Symbols};

pub const LEARNER: Learner = Learner {
    name: "output",
    sees: "the output itself, when it has a single component",
    cost: Cost::Quick,
    attacks: &[
        Attack::Coordinates,
        Attack::WholeRow,
        Attack::Aggregates,
        Attack::NaiveBayes,
        Attack::Differences,
        Attack::Patterns,
        Attack::Pairs,
        Attack::Directions,
        Attack::Interactions,
    ],
    widths: 1..=1,
    learn: |_| vec![Score::Output],
};

/// The output itself.
pub struct Output;

impl View for Output {
    fn score(&self, row: &[Cell]) -> Cell {
        row[0]
    }

    fn of<'a>(&self, rows: &'a Rows) -> Cow<'a, [Cell]> {
        Cow::Borrowed(rows.cells())
    }

    fn check(&self, width: usize) -> Result<(), String> {
        if width > 1 {
            return Err(format!("it looks at a single cell, but the outputs have {width}"));
        }
        Ok(())
    }

    fn describe(&self, _: &Symbols) -> String {
        "y".to_owned()
    }
}
