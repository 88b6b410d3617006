//! The whole row as one symbol.

use super::view::View;
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "whole-row",
    sees: "the whole output as one symbol, for outputs that repeat",
    cost: Cost::Quick,
    attacks: &[Attack::WholeRow],
    widths: 2..=usize::MAX,
    learn: |_| vec![Score::WholeRow],
};

/// The whole row as one symbol.
pub struct WholeRow;

impl View for WholeRow {
    fn score(&self, row: &[Cell]) -> Cell {
        Cell::of_row(row)
    }

    fn check(&self, _: usize) -> Result<(), String> {
        Ok(())
    }

    fn describe(&self, _: &Symbols) -> String {
        "y".to_owned()
    }

    /// It prefers no component: it has all of them.
    fn is_symmetric(&self) -> bool {
        true
    }
}
