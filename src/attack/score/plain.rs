//! Numbers computed from a row, without the low bits in which floating-point noise would show.

use crate::output::Cell;

/// The numbers of a row.
pub fn numbers(row: &[Cell]) -> impl Iterator<Item = f64> + '_ {
    row.iter().filter_map(|cell| cell.as_number())
}

/// A computed number without its low bits, which may tell what the ideal number would not.
pub fn rounded(value: f64) -> Cell {
    #[allow(clippy::cast_possible_truncation)] // that is what it is for
    Cell::number(f64::from(value as f32))
}

/// The difference of two numbers; of anything else, the first.
pub fn difference(a: Cell, b: Cell) -> Cell {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => rounded(a - b),
        _ => a,
    }
}
