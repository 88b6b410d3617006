//! Columns that no learner can read.
//!
//! A value that occurs once teaches nothing about the next one. Numbers have an order, so numbers
//! that never repeat are read by where they lie. Texts, hashes and identifiers have none that means
//! anything: if nearly all values of such a column are new, the attack is blind there, whatever it
//! sees in other columns.

use crate::attack::fit::table::Table;
use crate::attack::tuning::unread::{FEWEST, LARGE, NEW, OFTEN, PATTERN, RARE, ROWS};
use crate::output::{Cell, KeyMap, Rows};

/// The columns of these rows that nobody can have read, in order. Columns for which `covered`
/// holds are left out: others have what they say.
#[must_use]
pub fn unread(left: &Rows, right: &Rows, covered: impl Fn(usize) -> bool) -> Vec<usize> {
    let is_unread = |column: usize| {
        let of =
            |rows: &Rows| -> Vec<Cell> { rows.iter().take(ROWS).map(|row| row[column]).collect() };
        let (left, right) = (of(left), of(right));
        is_new(&left, &right) && !shows_pattern(&left, &right)
    };
    (0..left.width()).filter(|column| !covered(*column) && is_unread(*column)).collect()
}

/// Whether a value has no order that means anything: it is a symbol, or an integer as large as an
/// identifier.
fn is_opaque(cell: Cell) -> bool {
    let is_large = |number: f64| LARGE.contains(&number.abs()) && number.fract() == 0.0;
    cell.as_number().is_none_or(is_large)
}

/// Whether opaque values occur that are nearly always new. Values that occur often are read, and
/// do not hide the others.
fn is_new(left: &[Cell], right: &[Cell]) -> bool {
    let mut times: KeyMap<usize> = KeyMap::default();
    for cell in left.iter().chain(right).filter(|cell| is_opaque(**cell)) {
        *times.entry(cell.key()).or_default() += 1;
    }
    let rare: usize = times.values().filter(|times| **times < OFTEN).sum();
    let new = times.values().filter(|times| **times == 1).count();
    rare >= FEWEST.max((left.len() + right.len()) / RARE) && new as f64 >= NEW * rare as f64
}

/// Whether the order of numbers tells the sides apart, so that there is something to judge.
fn shows_pattern(left: &[Cell], right: &[Cell]) -> bool {
    let are_numbers = left.iter().chain(right).all(|cell| cell.as_number().is_some());
    are_numbers && Table::learn_and_rate(left, right).1 > PATTERN
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Whether the second column is unread, if it has these cells on either side; the first column
    /// is a small number.
    fn is_unread(mut cell: impl FnMut(u64, bool) -> Cell) -> bool {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let mut rows = |right| {
            let mut rows = Rows::new(2);
            for _ in 0..4_000 {
                rows.push(&[
                    Cell::number((rng.next_u64() % 10) as f64),
                    cell(rng.next_u64(), right),
                ]);
            }
            rows
        };
        let found = unread(&rows(false), &rows(true), |_| false);
        assert!(found.is_empty() || found == [1], "{found:?}");
        !found.is_empty()
    }

    fn token(bits: u64) -> Cell {
        Cell::symbol(&format!("{bits:x}"))
    }

    #[test]
    fn tokens_and_identifiers_are_unread_even_if_they_are_rare() {
        assert!(is_unread(|bits, _| token(bits)));
        assert!(is_unread(|bits, _| Cell::number((bits >> 12) as f64)));
        assert!(is_unread(|bits, _| if bits % 64 == 0 { token(bits) } else { Cell::ABSENT }));
        let named =
            |bits: u64, _| if bits.is_multiple_of(64) { token(bits) } else { token(bits % 5) };
        assert!(is_unread(named), "names that occur often do not hide the others");
    }

    #[test]
    fn what_repeats_or_has_an_order_is_read() {
        assert!(!is_unread(|_, _| Cell::ABSENT));
        assert!(!is_unread(|bits, _| token(bits % 3_000)), "about three times each");
        assert!(!is_unread(|bits, _| Cell::number(bits as f64 / 1e25)), "a density");
        assert!(!is_unread(|bits, _| Cell::number((bits >> 40) as f64)), "a large count");
        assert!(!is_unread(|bits, _| if bits < u64::MAX / 4_000 {
            token(bits)
        } else {
            Cell::ABSENT
        }));
        // Large integers that are larger on one side have an order that means something.
        let shifted = |bits: u64, right| (bits >> 12) + if right { 1 << 51 } else { 0 };
        assert!(!is_unread(|bits, right| Cell::number(shifted(bits, right) as f64)));
    }

    #[test]
    fn a_column_that_others_cover_is_read() {
        let mut rows = Rows::new(1);
        (0..4_000).for_each(|bits| rows.push(&[token(bits)]));
        assert_eq!(unread(&rows, &Rows::new(1), |_| false), [0]);
        assert_eq!(unread(&rows, &Rows::new(1), |column| column == 0), [0; 0]);
    }
}
