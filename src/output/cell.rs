//! A cell: one number or one symbol of an output.
//!
//! Everything that an attacker could see is part of the output: ⊥, an error, a NaN, a missing key.
//! A cell has eight bytes, so that millions of rows stay cheap. A number is stored as it is; a
//! symbol is a NaN whose payload is a hash of its name. Two names with the same hash would be
//! merged into one symbol. Merging outputs is post-processing: it can hide a leak but never create
//! one.
//!
//! −0 is not 0: an attacker sees the sign. Floats compare them as equal, so −0 is stored as the
//! negative number closest to zero.

use serde::{Deserialize, Serialize};

use super::Mix;
use crate::model::exact::Exact;

/// The exponent and the quiet bit of a NaN; the bits below them are the symbol's payload.
const QUIET_NAN: u64 = 0x7ff8_0000_0000_0000;
const PAYLOAD: u64 = 0x0007_ffff_ffff_ffff;

/// One number or one symbol of an output.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Cell(f64);

impl Cell {
    /// A component that the row does not have: in a shorter vector, or for a key that was not
    /// released.
    pub const ABSENT: Self = Self::symbol("∅");
    /// The output of a mechanism that panics.
    pub const PANIC: Self = Self::symbol("panic");
    const NOT_A_NUMBER: Self = Self::symbol("NaN");

    /// A numeric output. A NaN is visible to an attacker and becomes the symbol `NaN`. −0 becomes
    /// the largest negative number, −2^-1074.
    #[inline]
    #[must_use]
    pub const fn number(value: f64) -> Self {
        const NEGATIVE_ZERO: u64 = 1 << 63;
        let bits = value.to_bits();
        // The next bits after those of −0.
        if value.is_nan() {
            Self::not_a_number()
        } else {
            Self(f64::from_bits(bits + (bits == NEGATIVE_ZERO) as u64))
        }
    }

    /// Out of line, so that the loop over draws has a branch that is always predicted.
    #[cold]
    #[inline(never)]
    const fn not_a_number() -> Self {
        Self::NOT_A_NUMBER
    }

    /// A symbol such as ⊥ or the name of a category. Reports show its name if the target's table of
    /// symbols has it.
    #[must_use]
    pub const fn symbol(name: &str) -> Self {
        let bytes = name.as_bytes();
        let (mut mix, mut index) = (Mix::new(), 0);
        while index < bytes.len() {
            mix = mix.word(bytes[index] as u64);
            index += 1;
        }
        Self::with_payload(mix.end())
    }

    /// One symbol for a whole row; two rows give the same symbol only if all their cells agree.
    #[inline]
    #[must_use]
    pub fn of_row(row: &[Cell]) -> Self {
        Self::with_payload(row.iter().fold(Mix::new(), |mix, cell| mix.word(cell.key())).end())
    }

    const fn with_payload(hash: u64) -> Self {
        Self(f64::from_bits(QUIET_NAN | (hash & PAYLOAD)))
    }

    /// One of two cells, without a branch: the processor cannot predict a random bit.
    #[inline]
    #[must_use]
    pub fn select(first: bool, one: Self, other: Self) -> Self {
        let mask = u64::from(first).wrapping_neg();
        Self(f64::from_bits((one.0.to_bits() & mask) | (other.0.to_bits() & !mask)))
    }

    /// The payload, which identifies a symbol; None for a number.
    #[must_use]
    pub fn payload(self) -> Option<u64> {
        self.0.is_nan().then(|| self.0.to_bits() & PAYLOAD)
    }

    /// The number, if it is one.
    #[inline]
    #[must_use]
    pub fn as_number(self) -> Option<f64> {
        if self.0.is_nan() { None } else { Some(self.0) }
    }

    /// The raw bits as a float: numbers as they are, symbols as NaN. For branch-free loops.
    #[inline]
    #[must_use]
    pub fn raw(self) -> f64 {
        self.0
    }

    /// Equal cells have equal keys.
    #[inline]
    #[must_use]
    pub fn key(self) -> u64 {
        self.0.to_bits()
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Cell {}

/// How a cell is written to a file: a number, or the payload of a symbol, whose name is in a table
/// of [`Symbols`](super::Symbols).
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(Exact),
    Symbol { symbol: String },
}

impl Serialize for Cell {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.payload() {
            None => Written::Number(Exact(self.0)),
            Some(payload) => Written::Symbol { symbol: format!("{payload:x}") },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Self::number(number.0)),
            Written::Symbol { symbol } => u64::from_str_radix(&symbol, 16)
                .map(Self::with_payload)
                .map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_not_a_number_and_its_name_identifies_it() {
        let bottom = Cell::symbol("⊥");
        assert_eq!(bottom.as_number(), None);
        assert_eq!(bottom, Cell::symbol("⊥"));
        assert_ne!(bottom, Cell::symbol("⊤"));
    }

    #[test]
    fn a_nan_is_a_symbol_and_minus_zero_is_just_below_zero() {
        assert_eq!(Cell::number(f64::NAN), Cell::symbol("NaN"));
        assert_ne!(Cell::number(-0.0), Cell::number(0.0));
        assert!(Cell::number(-0.0).raw() < 0.0 && Cell::number(-0.0).raw() > -f64::MIN_POSITIVE);
        assert_eq!(Cell::number(f64::INFINITY).as_number(), Some(f64::INFINITY));
    }

    #[test]
    fn symbols_made_by_the_compiler_and_at_run_time_are_equal() {
        for (constant, name) in
            [(Cell::ABSENT, "∅"), (Cell::PANIC, "panic"), (Cell::NOT_A_NUMBER, "NaN")]
        {
            let made = Cell::symbol(std::hint::black_box(name));
            assert_eq!(
                (constant, constant.key(), constant.payload()),
                (made, made.key(), made.payload()),
                "{name}"
            );
        }
    }

    #[test]
    fn rows_have_equal_symbols_only_if_all_cells_are_equal() {
        let row = [Cell::number(1.0), Cell::symbol("⊥")];
        assert_eq!(Cell::of_row(&row), Cell::of_row(&row.clone()));
        assert_ne!(Cell::of_row(&row), Cell::of_row(&[row[1], row[0]]));
    }

    #[test]
    fn cells_are_read_back_from_a_file() {
        for cell in [
            Cell::number(0.1),
            Cell::number(f64::NEG_INFINITY),
            Cell::symbol("⊥"),
            Cell::of_row(&[Cell::PANIC]),
        ] {
            let text = serde_json::to_string(&cell).unwrap();
            assert_eq!(serde_json::from_str::<Cell>(&text).unwrap(), cell, "{text}");
        }
    }
}
