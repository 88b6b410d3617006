//! Numbers that are computed from a row, without their low bits, which would reveal floating-point
//! noise.

use crate::output::Cell;

/// The numbers of a row.
pub fn numbers(row: &[Cell]) -> impl Iterator<Item = f64> + '_ {
    row.iter().filter_map(|cell| cell.as_number())
}

/// A computed number without its low bits, which may reveal more than the ideal number would.
pub fn rounded(value: f64) -> Cell {
    #[allow(clippy::cast_possible_truncation)] // the loss of precision is intended
    Cell::number(f64::from(value as f32))
}

/// The difference of two numbers; if one is not a number, the first cell.
pub fn difference(a: Cell, b: Cell) -> Cell {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => rounded(a - b),
        _ => a,
    }
}
