//! The types that a closure may return, and how they become rows of cells.

use std::fmt::Display;

use super::{Cell, CellNotes, Reading, Symbols, Texts};

/// Something that an attacker sees, written as cells: numbers and symbols.
///
/// Numbers, `bool`, `char`, texts, `Option`, `Result`, tuples, arrays and lists of these are
/// outputs. Integers beyond 2^53 become the nearest `f64`, and their further digits other columns.
/// A list that is shorter than others is filled up with the symbol `∅`. A text is a symbol; if it is not one of a few names,
/// its numbers or the leaves of its JSON become further columns. For your own type, write
/// everything that an attacker can see of it:
///
/// ```
/// use dp_audit::{Output, OutputRow};
///
/// struct Release { sum: f64, suppressed: bool }
///
/// impl Output for Release {
///     fn write(&self, row: &mut OutputRow) {
///         (self.sum, self.suppressed).write(row);
///     }
/// }
/// ```
pub trait Output {
    /// Whether all values have the same number of cells. If not, a marker shows where one value
    /// ends and the next one begins.
    const FIXED: bool = false;

    /// Adds the cells to a row.
    fn write(&self, row: &mut OutputRow);
}

/// Whole numbers below this are doubles.
const MAX_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The symbols of values that are not texts.
const OTHER_VALUES: [&str; 7] = ["∅", "NaN", "panic", "end", "true", "false", "None"];

/// The cells of one output, and the names of its symbols.
#[derive(Debug, Default)]
pub struct OutputRow {
    cells: Vec<Cell>,
    /// None if no names are needed.
    symbols: Option<Symbols>,
    /// The rank of the draw, for the table of names.
    rank: u64,
    /// The texts of the draw's symbols; None if nobody reads them.
    texts: Option<Texts>,
    /// What the cells do not say.
    notes: CellNotes,
}

impl OutputRow {
    /// A row that remembers the names of symbols.
    pub(crate) fn with_names() -> Self {
        Self { symbols: Some(Symbols::default()), ..Self::default() }
    }

    /// The same row, which also remembers the texts of symbols.
    pub(crate) fn and_texts(self) -> Self {
        Self { texts: Some(Texts::default()), ..self }
    }

    /// Adds a cell.
    #[inline]
    pub fn push(&mut self, cell: Cell) {
        self.cells.push(cell);
    }

    /// Adds the symbol with this name, or a text.
    pub fn push_symbol(&mut self, name: &str) {
        let cell = named(&mut self.symbols, self.rank, name);
        if let (Some(texts), Some(payload)) = (&mut self.texts, cell.payload()) {
            texts.insert(payload, name.to_owned());
        }
        self.cells.push(cell);
    }

    /// Replaces the cells from this index on by one: the cell itself, if it is one, or a symbol for
    /// all of them.
    pub(crate) fn merge_from(&mut self, index: usize) {
        let cell = match &self.cells[index..] {
            [cell] => *cell,
            [] => Cell::ABSENT,
            several => Cell::of_row(several),
        };
        self.cells.truncate(index);
        self.cells.push(cell);
    }

    /// The texts of the symbols so far.
    pub(crate) fn texts(&self) -> Option<&Texts> {
        self.texts.as_ref()
    }

    /// Writes what a reading makes of these cells and of the texts of this output.
    pub(crate) fn read(&mut self, reading: &Reading, cells: &[Cell], row: &mut [Cell]) {
        let Self { symbols, rank, texts, notes, .. } = self;
        let (texts, form) = (texts.get_or_insert_default(), Some(notes.text()));
        reading.read(cells, texts, form, row, |name| named(symbols, *rank, name));
    }

    /// What the cells so far do not say.
    pub(crate) fn form(&self) -> &str {
        self.notes.text()
    }

    /// Adds a number. The bits of a NaN are part of it.
    #[inline]
    fn push_float(&mut self, number: f64) {
        if number.is_nan() {
            self.note_nan(number);
        }
        self.push(Cell::number(number));
    }

    #[cold]
    #[inline(never)]
    fn note_nan(&mut self, number: f64) {
        self.notes.add_nan(self.cells.len(), number.to_bits());
    }

    /// Adds a whole number that may have more digits than a double.
    #[cold]
    #[inline(never)]
    fn push_large(&mut self, written: &str) {
        self.notes.add_number(self.cells.len(), written);
        self.push(Cell::number(written.parse().unwrap_or(f64::NAN)));
    }

    /// Adds a text. A text that reads like another value is noted.
    fn push_text(&mut self, text: &str) {
        if OTHER_VALUES.contains(&text) || text.starts_with("error: ") {
            self.notes.add(self.cells.len(), "a text");
        }
        self.push_symbol(text);
    }

    /// The cells so far.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Begins the output of the draw with this rank.
    pub(crate) fn clear(&mut self, rank: u64) {
        self.cells.clear();
        self.notes.clear();
        self.rank = rank;
        if let Some(texts) = &mut self.texts {
            texts.clear();
        }
    }

    /// The names that occurred.
    pub(crate) fn into_symbols(self) -> Symbols {
        self.symbols.unwrap_or_default()
    }
}

/// The symbol with this name, which is added to the table, if there is one.
fn named(symbols: &mut Option<Symbols>, rank: u64, name: &str) -> Cell {
    match symbols {
        Some(symbols) => symbols.ranked_symbol(rank, name),
        None => Cell::symbol(name),
    }
}

/// Writes a part of a larger output, which other parts may follow.
fn write_part<T: Output + ?Sized>(part: &T, row: &mut OutputRow) {
    part.write(row);
    if !T::FIXED {
        const END: Cell = Cell::symbol("end");
        row.push(END);
    }
}

macro_rules! small_number {
    ($($type:ty)*) => {$(
        impl Output for $type {
            const FIXED: bool = true;

            #[inline]
            fn write(&self, row: &mut OutputRow) {
                row.push(Cell::number(f64::from(*self)));
            }
        }
    )*};
}

small_number!(i8 i16 i32 u8 u16 u32);

macro_rules! large_number {
    ($($type:ty)*) => {$(
        impl Output for $type {
            const FIXED: bool = true;

            #[inline]
            fn write(&self, row: &mut OutputRow) {
                #[allow(clippy::cast_precision_loss)] // up to 2^53 nothing is lost
                let number = *self as f64;
                if number.abs() < MAX_WHOLE {
                    row.push(Cell::number(number));
                } else {
                    row.push_large(&self.to_string());
                }
            }
        }
    )*};
}

large_number!(i64 i128 isize u64 u128 usize);

impl Output for f64 {
    const FIXED: bool = true;

    #[inline]
    fn write(&self, row: &mut OutputRow) {
        row.push_float(*self);
    }
}

impl Output for f32 {
    const FIXED: bool = true;

    #[inline]
    fn write(&self, row: &mut OutputRow) {
        row.push_float(f64::from(*self));
    }
}

impl Output for bool {
    const FIXED: bool = true;

    #[inline]
    fn write(&self, row: &mut OutputRow) {
        const FALSE: Cell = Cell::symbol("false");
        const TRUE: Cell = Cell::symbol("true");
        row.push(Cell::select(*self, TRUE, FALSE));
    }
}

impl Output for char {
    const FIXED: bool = true;

    fn write(&self, row: &mut OutputRow) {
        row.push_text(self.encode_utf8(&mut [0; 4]));
    }
}

impl Output for str {
    const FIXED: bool = true;

    fn write(&self, row: &mut OutputRow) {
        row.push_text(self);
    }
}

impl Output for String {
    const FIXED: bool = true;

    fn write(&self, row: &mut OutputRow) {
        self.as_str().write(row);
    }
}

impl Output for () {
    const FIXED: bool = true;

    fn write(&self, _: &mut OutputRow) {}
}

impl Output for Cell {
    const FIXED: bool = true;

    fn write(&self, row: &mut OutputRow) {
        row.push(*self);
    }
}

impl<T: Output + ?Sized> Output for &T {
    const FIXED: bool = T::FIXED;

    fn write(&self, row: &mut OutputRow) {
        (**self).write(row);
    }
}

impl<T: Output + ?Sized> Output for Box<T> {
    const FIXED: bool = T::FIXED;

    fn write(&self, row: &mut OutputRow) {
        (**self).write(row);
    }
}

/// `None` is a symbol.
impl<T: Output> Output for Option<T> {
    fn write(&self, row: &mut OutputRow) {
        match self {
            Some(value) => value.write(row),
            None => {
                const NONE: Cell = Cell::symbol("None");
                row.push(NONE);
            }
        }
    }
}

/// An error is a symbol that contains its message.
impl<T: Output, E: Display> Output for Result<T, E> {
    fn write(&self, row: &mut OutputRow) {
        match self {
            Ok(value) => value.write(row),
            Err(error) => row.push_symbol(&format!("error: {error}")),
        }
    }
}

impl<T: Output> Output for [T] {
    fn write(&self, row: &mut OutputRow) {
        self.iter().for_each(|value| write_part(value, row));
    }
}

impl<T: Output> Output for Vec<T> {
    fn write(&self, row: &mut OutputRow) {
        self.as_slice().write(row);
    }
}

impl<T: Output, const N: usize> Output for [T; N] {
    const FIXED: bool = T::FIXED;

    fn write(&self, row: &mut OutputRow) {
        self.as_slice().write(row);
    }
}

macro_rules! tuple {
    ($($name:ident)+) => {
        impl<$($name: Output),+> Output for ($($name,)+) {
            const FIXED: bool = $($name::FIXED)&&+;

            fn write(&self, row: &mut OutputRow) {
                #[allow(non_snake_case)] // each value has the name of its type parameter
                let ($($name,)+) = self;
                $(write_part($name, row);)+
            }
        }
    };
}

tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C E);
tuple!(A B C E G);
tuple!(A B C E G H);

#[cfg(test)]
mod tests {
    use super::*;

    fn as_text(output: &(impl Output + ?Sized)) -> String {
        let mut row = OutputRow::with_names();
        output.write(&mut row);
        let cells = row.cells().to_vec();
        let symbols = row.into_symbols();
        cells.into_iter().map(|cell| symbols.text(cell)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn outputs_are_rows_of_cells() {
        assert_eq!(as_text(&1.5_f64), "1.5");
        assert_eq!(as_text(&f64::NAN), "NaN");
        assert_eq!(as_text(&-3_i64), "-3");
        assert_eq!(as_text(&true), "true");
        assert_eq!(as_text(&'x'), "x");
        assert_eq!(as_text("⊥"), "⊥");
        assert_eq!(as_text(&String::from("top")), "top");
        assert_eq!(as_text(&()), "");
        assert_eq!(as_text(&[1_u8, 2]), "1 2");
        assert_eq!(as_text(&(1.0, "a", [true, false])), "1 a true false");
        assert_eq!(as_text(&Err::<f64, _>("too few")), "error: too few");
        assert_eq!(as_text(&vec![1, 2, 3]), "1 2 3");
    }

    #[test]
    fn different_outputs_have_different_rows() {
        let lists = [
            vec![vec![1], vec![2]],
            vec![vec![1, 2]],
            vec![vec![1, 2], vec![]],
            vec![vec![], vec![1, 2]],
        ];
        for (index, list) in lists.iter().enumerate() {
            assert!(lists[..index].iter().all(|other| as_text(other) != as_text(list)), "{list:?}");
        }
        assert_ne!(as_text(&vec![Some(1.0), None]), as_text(&vec![Some(1.0)]));
        assert_ne!(as_text(&(vec![1], vec![2, 3])), as_text(&(vec![1, 2], vec![3])));
        assert_ne!(as_text(&(Some((1, 2)), 3)), as_text(&(Some((1, 2)), 4)));
    }
}
