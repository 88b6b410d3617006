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

/// The position of the largest number; the first one if there are several, −1 if there is none.
pub fn argmax(row: &[Cell]) -> Cell {
    let numbers =
        row.iter().enumerate().filter_map(|(index, cell)| Some((index, cell.as_number()?)));
    let largest = numbers.reduce(|best, next| if next.1 > best.1 { next } else { best });
    Cell::number(largest.map_or(-1.0, |(index, _)| index as f64))
}

/// How many different values a row has.
pub fn distinct(row: &[Cell]) -> Cell {
    let mut keys: Vec<u64> = row.iter().map(|cell| cell.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    Cell::number(keys.len() as f64)
}

/// The fractional part of a number, in steps of 2⁻²⁰: which of the grids with spacing 1 it is on.
/// Keeps symbols.
pub fn fraction(cell: Cell) -> Cell {
    const STEPS: f64 = 1_048_576.0;
    cell.as_number().map_or(cell, |number| {
        let steps = ((number - number.floor()) * STEPS).round();
        // Just below a whole number is as near to it as just above.
        Cell::number(if steps < STEPS { steps / STEPS } else { 0.0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_functions_of_a_row() {
        let row = [
            Cell::number(2.0),
            Cell::symbol("a"),
            Cell::number(7.5),
            Cell::number(2.0),
            Cell::symbol("a"),
        ];
        assert_eq!((argmax(&row).raw(), distinct(&row).raw()), (2.0, 3.0));
        assert_eq!((argmax(&row[1..2]).raw(), distinct(&[]).raw()), (-1.0, 0.0));
        // The steps are 2⁻²⁰, about a millionth.
        for (number, part) in [
            (3.25, 0.25),
            (-3.25, 0.75),
            (7.0, 0.0),
            (0.1 + 0.2, 0.3),
            (1.0 - 1e-9, 0.0),
            (1e300, 0.0),
        ] {
            assert!((fraction(Cell::number(number)).raw() - part).abs() < 1e-6, "{number}");
        }
        assert_eq!(fraction(Cell::symbol("a")), Cell::symbol("a"));
        assert!(fraction(Cell::number(f64::INFINITY)).as_number().is_none_or(f64::is_finite));
    }
}
