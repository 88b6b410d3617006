//! Rows and checks that the tests of several learners share.

use super::view::View;
use crate::attack::fit::table::STEPS;
use crate::output::Cell;

/// Rows per side.
pub const ROWS: usize = 8000;

pub fn number(value: f64) -> Cell {
    Cell::number(value)
}

pub fn borrowed(rows: &[Vec<Cell>]) -> Vec<&[Cell]> {
    rows.iter().map(Vec::as_slice).collect()
}

/// The score of one row is this log-ratio, up to rounding and shrinkage, and a whole number of
/// steps.
pub fn assert_score(score: &impl View, row: &[Cell], expected: f64) {
    assert_score_within(0.05, score, row, expected);
}

pub fn assert_score_within(error: f64, score: &impl View, row: &[Cell], expected: f64) {
    let found = score.score(row).raw();
    assert_eq!((found * STEPS).fract(), 0.0);
    assert!((found - expected).abs() < error, "{row:?}: {found} instead of {expected}");
}

/// Outputs of D and of D': two thirds `often(index)` and one third `rarely(index)` on D, and the
/// opposite on D'.
pub fn two_to_one(
    often: impl Fn(usize) -> Vec<Cell>,
    rarely: impl Fn(usize) -> Vec<Cell>,
) -> (Vec<Vec<Cell>>, Vec<Vec<Cell>>) {
    let side = |third: usize| {
        let row = |index: usize| {
            if index.is_multiple_of(3) == (third == 1) { rarely(index) } else { often(index) }
        };
        (0..ROWS).map(row).collect()
    };
    (side(1), side(2))
}
