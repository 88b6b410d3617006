//! Outputs as another process or language sends them: numbers, and symbols by their names.

use serde_json::Value;

use super::{Cell, Reading, Rows, Symbols, Texts};

/// The upper 16 bits of a NaN that encodes a symbol. The lower 48 bits are the symbol's index in
/// the list of its block.
const SYMBOL_BITS: u64 = 0x7ffd;

/// Some outputs of one side, before their texts are read.
pub struct OutputBlock {
    /// The cells.
    pub rows: Rows,
    /// The texts of the symbols in them.
    pub texts: Texts,
    /// The names of these symbols, in the order of the outputs.
    names: Symbols,
}

impl OutputBlock {
    fn new(count: usize, width: usize) -> Self {
        let mut rows = Rows::new(width);
        rows.resize(count);
        Self { rows, texts: Texts::default(), names: Symbols::default() }
    }

    /// Outputs from JSON values: each is an array of cells, or a single cell. Missing cells are
    /// absent.
    ///
    /// # Errors
    /// When an output has more cells than `width`.
    pub fn of_values(values: &[Value], width: usize) -> Result<Self, String> {
        let mut block = Self::new(values.len(), width);
        let Self { rows, texts, names } = &mut block;
        for (index, (row, value)) in rows.iter_mut().zip(values).enumerate() {
            let cells = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            if cells.len() > width {
                return Err(format!(
                    "an output has {} cells, but its hello said width {width}",
                    cells.len()
                ));
            }
            row.fill(Cell::ABSENT);
            for (cell, value) in row.iter_mut().zip(cells) {
                *cell =
                    cell_of_value(value, &mut |name| symbol(2 * index as u64, name, texts, names));
            }
        }
        Ok(block)
    }

    /// Outputs without symbols, from `count × width` numbers.
    #[must_use]
    pub fn of_numbers(numbers: &[f64], width: usize) -> Self {
        Self {
            rows: Rows::of_numbers(numbers, width),
            texts: Texts::default(),
            names: Symbols::default(),
        }
    }

    /// Outputs from the bits of `count × width` doubles. A NaN with certain upper bits is the
    /// symbol of `symbols` whose index its lower bits are.
    ///
    /// # Errors
    /// When there is no symbol with such an index.
    pub fn of_bits(
        bits: impl ExactSizeIterator<Item = u64>,
        symbols: &[String],
        width: usize,
    ) -> Result<Self, String> {
        let mut block = Self::new(bits.len() / width, width);
        let Self { rows, texts, names } = &mut block;
        let symbols: Vec<Cell> = symbols
            .iter()
            .zip(0..)
            .map(|(name, rank)| symbol(2 * rank, name, texts, names))
            .collect();
        for (cell, bits) in rows.iter_mut().flatten().zip(bits) {
            let is_symbol = bits >> 48 == SYMBOL_BITS;
            *cell = if is_symbol {
                listed(bits & ((1 << 48) - 1), &symbols)?
            } else {
                Cell::number(f64::from_bits(bits))
            };
        }
        Ok(block)
    }

    /// The rows, the texts of their symbols, and the names of these.
    #[must_use]
    pub fn into_parts(self) -> (Rows, Texts, Symbols) {
        (self.rows, self.texts, self.names)
    }

    /// The rows with the columns that a reading adds, and the names of their symbols. Only rules
    /// use the names, and rules are learned in exploration; otherwise `named` is false, and the
    /// names of the new columns' symbols are left out.
    #[must_use]
    pub fn read(self, reading: &Reading, named: bool) -> (Rows, Symbols) {
        let Self { rows, texts, mut names } = self;
        if reading.is_plain() {
            return (rows, names);
        }
        let mut wider = Rows::new(reading.width());
        wider.resize(rows.len());
        for ((row, cells), rank) in wider.iter_mut().zip(&rows).zip(0..) {
            reading.read(cells, &texts, row, |name| {
                if named { names.ranked_symbol(2 * rank, name) } else { Cell::symbol(name) }
            });
        }
        (wider, names)
    }
}

/// The symbol with this name, which is remembered.
fn symbol(rank: u64, name: &str, texts: &mut Texts, names: &mut Symbols) -> Cell {
    let cell = names.ranked_symbol(rank, name);
    if let Some(payload) = cell.payload() {
        texts.entry(payload).or_insert_with(|| name.to_owned());
    }
    cell
}

/// A cell from a JSON value. JSON has no infinities, so the strings `inf` and `-inf` are these
/// numbers. Other strings are symbols. An array or an object is a text: its JSON.
fn cell_of_value(value: &Value, symbol: &mut impl FnMut(&str) -> Cell) -> Cell {
    match value {
        Value::Number(number) => Cell::number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) if text == "inf" => Cell::number(f64::INFINITY),
        Value::String(text) if text == "-inf" => Cell::number(f64::NEG_INFINITY),
        Value::String(text) => symbol(text),
        other => symbol(&other.to_string()),
    }
}

fn listed(index: u64, symbols: &[Cell]) -> Result<Cell, String> {
    usize::try_from(index).ok().and_then(|index| symbols.get(index)).copied().ok_or_else(|| {
        format!(
            "a cell names symbol {index}, but the block's line lists {} (the first is 0)",
            symbols.len()
        )
    })
}
