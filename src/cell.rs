//! What a mechanism puts out: rows of cells, each a number or a symbol.
//!
//! Whatever an attacker could see is part of the output: ⊥, an error, a NaN, a missing key. A cell is eight bytes, so
//! that millions of rows stay cheap: a number is itself, a symbol is a NaN whose payload is a hash of its name. Two
//! names with one hash would merge two symbols into one; merging outputs is post-processing, which can hide a leak but
//! never invent one.

use std::collections::HashMap;
use std::fmt;
use std::sync::{LazyLock, RwLock};

use serde::{Deserialize, Serialize};

use crate::exact::Exact;

/// The exponent and quiet bit of a NaN; what is below is the symbol's payload.
const QUIET_NAN: u64 = 0x7ff8_0000_0000_0000;
const PAYLOAD: u64 = 0x0007_ffff_ffff_ffff;

/// Names of the first symbols seen, for people; computation never reads it.
static NAMES: LazyLock<RwLock<HashMap<u64, String>>> = LazyLock::new(RwLock::default);

/// So many names are kept: a program may put out a new text with every draw.
const MOST_NAMES: usize = 1 << 16;

/// Wider outputs are taken for a mistake, wherever they come from: mechanisms, programs, files or closures.
pub const MOST_WIDTH: usize = 100_000;

/// One number or one symbol of an output.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Cell(f64);

impl Cell {
    /// A numeric output. A NaN is visible to an attacker and becomes the symbol `NaN`.
    #[inline]
    #[must_use]
    pub fn number(value: f64) -> Self {
        if value.is_nan() { Self::not_a_number() } else { Self(value) }
    }

    #[cold]
    #[inline(never)]
    fn not_a_number() -> Self {
        Self::symbol("NaN")
    }

    /// A symbol such as ⊥ or a category's name. Make symbols once, when a mechanism is prepared, not in every draw.
    #[must_use]
    pub fn symbol(name: &str) -> Self {
        let payload = name.bytes().fold(Mix::new(), |mix, byte| mix.word(u64::from(byte))).end() & PAYLOAD;
        Self::named_symbol(payload, || name.to_owned())
    }

    /// The cell of a row that has no such component: a shorter vector, a key that was not released.
    #[must_use]
    pub fn absent() -> Self {
        Self::symbol("∅")
    }

    /// One symbol for a whole row; two rows give the same symbol only if all their cells agree.
    #[inline]
    #[must_use]
    pub fn of_row(row: &[Cell]) -> Self {
        let payload = row.iter().fold(Mix::new(), |mix, cell| mix.word(cell.key())).end() & PAYLOAD;
        Self(f64::from_bits(QUIET_NAN | payload))
    }

    /// Gives the symbol of a whole row its name, so that a rule built on it can be read.
    pub fn name_row(row: &[Cell]) {
        let payload = Self::of_row(row).0.to_bits() & PAYLOAD;
        Self::named_symbol(payload, || {
            let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
            format!("({})", cells.join(", "))
        });
    }

    fn named_symbol(payload: u64, name: impl FnOnce() -> String) -> Self {
        let known = NAMES.read().is_ok_and(|names| names.len() >= MOST_NAMES || names.contains_key(&payload));
        if !known {
            // The name of a row is made of its cells' names: it must be ready before the lock is taken.
            let name = name();
            if let Ok(mut names) = NAMES.write() {
                names.entry(payload).or_insert(name);
            }
        }
        Self(f64::from_bits(QUIET_NAN | payload))
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

    /// Equal cells have equal keys; −0 and 0 are one value.
    #[inline]
    #[must_use]
    pub fn key(self) -> u64 {
        (self.0 + 0.0).to_bits()
    }
}

impl PartialEq for Cell {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Cell {}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_number() {
            Some(number) => write!(f, "{}", Brief(number)),
            None => {
                let payload = self.0.to_bits() & PAYLOAD;
                match NAMES.read().ok().and_then(|names| names.get(&payload).cloned()) {
                    Some(name) => f.write_str(&name),
                    None => write!(f, "#{payload:x}"),
                }
            }
        }
    }
}

/// How a cell is written to a file: a number, or a symbol with its identity and its name.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(Exact),
    Symbol { symbol: String, id: String },
}

impl Serialize for Cell {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_number() {
            Some(number) => Written::Number(Exact(number)),
            None => Written::Symbol { symbol: self.to_string(), id: format!("{:x}", self.0.to_bits() & PAYLOAD) },
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Self::number(number.0)),
            Written::Symbol { symbol, id } => {
                let payload = u64::from_str_radix(&id, 16).map_err(serde::de::Error::custom)?;
                Ok(Self::named_symbol(payload & PAYLOAD, || symbol))
            }
        }
    }
}

/// A number with at most five significant digits, as people write it.
pub struct Brief(pub f64);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        if magnitude != 0.0 && !(1e-4..1e7).contains(&magnitude) && magnitude.is_finite() {
            let text = format!("{:.3e}", self.0);
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let digits = digits.trim_end_matches('0').trim_end_matches('.');
            return write!(f, "{digits}e{exponent}");
        }
        let decimals = if magnitude >= 10_000.0 || magnitude == 0.0 {
            0
        } else {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1e-4 ≤ magnitude < 1e4
            {
                (4.0 - magnitude.log10().floor()).clamp(0.0, 8.0) as usize
            }
        };
        let text = format!("{:.decimals$}", self.0);
        if text.contains('.') { f.write_str(text.trim_end_matches('0').trim_end_matches('.')) } else { f.write_str(&text) }
    }
}

/// A small 64-bit hash with good diffusion (multiply, rotate, finish as `SplitMix64` does), the same on every platform.
#[derive(Clone, Copy)]
pub struct Mix(u64);

impl Mix {
    /// The empty hash.
    #[inline]
    #[must_use]
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    /// The hash with one more word.
    #[inline]
    #[must_use]
    pub fn word(self, word: u64) -> Self {
        Self((self.0 ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29).wrapping_add(0x52dc_e729))
    }

    /// The hash with one more text; its length is part of it.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        text.bytes().fold(self.word(text.len() as u64), |mix, byte| mix.word(u64::from(byte)))
    }

    /// The finished hash.
    #[inline]
    #[must_use]
    pub fn end(self) -> u64 {
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self::new()
    }
}

/// Outputs of one side, all of the same width, one after another.
#[derive(Clone, Debug)]
pub struct Rows {
    width: usize,
    cells: Vec<Cell>,
}

impl Rows {
    /// No rows yet; each will have `width` cells.
    ///
    /// # Panics
    /// When the width is 0.
    #[must_use]
    pub fn new(width: usize) -> Self {
        assert!(width > 0, "a row has at least one cell");
        Self { width, cells: Vec::new() }
    }

    /// Cells per row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Makes room for exactly `count` rows, whose cells the caller then writes.
    pub fn resize(&mut self, count: usize) {
        self.cells.resize(count * self.width, Cell(0.0));
    }

    /// Adds the other rows.
    ///
    /// # Panics
    /// When they are not as wide.
    pub fn append(&mut self, other: &Rows) {
        assert_eq!(self.width, other.width, "rows of one target are equally wide");
        self.cells.extend_from_slice(&other.cells);
    }

    /// Adds one row.
    ///
    /// # Panics
    /// When it is not as wide.
    pub fn push(&mut self, row: &[Cell]) {
        assert_eq!(self.width, row.len(), "rows of one target are equally wide");
        self.cells.extend_from_slice(row);
    }

    /// Makes all rows wider; what they lack is absent. The new width must not be smaller.
    pub fn widen(&mut self, width: usize) {
        if width == self.width {
            return;
        }
        let mut wider = Self { width, cells: Vec::with_capacity(self.len() * width) };
        for row in self.iter() {
            wider.cells.extend_from_slice(row);
            wider.cells.resize(wider.cells.len() + width - row.len(), Cell::absent());
        }
        *self = wider;
    }

    /// Exchanges two rows.
    pub fn swap(&mut self, a: usize, b: usize) {
        (0..self.width).for_each(|cell| self.cells.swap(a * self.width + cell, b * self.width + cell));
    }

    /// One row.
    #[must_use]
    pub fn row(&self, index: usize) -> &[Cell] {
        &self.cells[index * self.width..(index + 1) * self.width]
    }

    /// All cells, row after row.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The rows.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, Cell> {
        self.cells.chunks_exact(self.width)
    }

    /// The rows, to be written.
    pub fn iter_mut(&mut self) -> std::slice::ChunksExactMut<'_, Cell> {
        self.cells.chunks_exact_mut(self.width)
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a [Cell];
    type IntoIter = std::slice::ChunksExact<'a, Cell>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Rows {
    type Item = &'a mut [Cell];
    type IntoIter = std::slice::ChunksExactMut<'a, Cell>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_no_number_and_knows_its_name() {
        let bottom = Cell::symbol("⊥");
        assert_eq!(bottom.as_number(), None);
        assert_eq!(bottom.to_string(), "⊥");
        assert_eq!(bottom, Cell::symbol("⊥"));
        assert_ne!(bottom, Cell::symbol("⊤"));
    }

    #[test]
    fn a_nan_is_visible_and_both_zeros_are_one() {
        assert_eq!(Cell::number(f64::NAN), Cell::symbol("NaN"));
        assert_eq!(Cell::number(-0.0), Cell::number(0.0));
        assert_eq!(Cell::number(f64::INFINITY).as_number(), Some(f64::INFINITY));
    }

    #[test]
    fn rows_are_equal_as_symbols_only_when_all_cells_are() {
        let row = [Cell::number(1.0), Cell::symbol("⊥")];
        assert_eq!(Cell::of_row(&row), Cell::of_row(&row.clone()));
        assert_ne!(Cell::of_row(&row), Cell::of_row(&[row[1], row[0]]));
        Cell::name_row(&row);
        assert_eq!(Cell::of_row(&row).to_string(), "(1, ⊥)");
    }

    #[test]
    fn numbers_are_written_briefly() {
        let brief = |x: f64| Brief(x).to_string();
        assert_eq!(brief(0.0), "0");
        assert_eq!(brief(-1.5), "-1.5");
        assert_eq!(brief(1e6), "1000000");
        assert_eq!(brief(123_456.7), "123457");
        assert_eq!(brief(2.5e-9), "2.5e-9");
        assert_eq!(brief(0.731_058_6), "0.73106");
        assert_eq!(brief(f64::INFINITY), "inf");
    }
}
