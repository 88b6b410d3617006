//! Outputs as another process or language sends them: numbers, and symbols by their names.

use serde_json::value::RawValue;

use super::json::Json;
use super::{Cell, CellNotes, Forms, Probe, Reading, Rows, Symbols, Texts};

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
    /// What the outputs are beside their cells.
    pub forms: Forms,
}

impl OutputBlock {
    fn new(count: usize, width: usize) -> Self {
        let mut rows = Rows::new(width);
        rows.resize(count);
        Self { rows, ..Self::of_numbers(&[], width) }
    }

    /// Outputs from JSON values: each is an array of cells, or a single cell. Missing cells are
    /// absent.
    ///
    /// # Errors
    /// When an output has more cells than `width`.
    pub fn of_values(values: &[Box<RawValue>], width: usize) -> Result<Self, String> {
        let mut block = Self::new(values.len(), width);
        let Self { rows, texts, names, forms } = &mut block;
        let mut notes = CellNotes::default();
        for (index, (row, value)) in rows.iter_mut().zip(values).enumerate() {
            let is_array = value.get().starts_with('[');
            let cells: Vec<&RawValue> = if is_array {
                serde_json::from_str(value.get()).map_err(|error| error.to_string())?
            } else {
                vec![value]
            };
            if cells.len() > width {
                return Err(format!(
                    "an output has {} cells, but its hello said width {width}",
                    cells.len()
                ));
            }
            row.fill(Cell::ABSENT);
            notes.clear();
            if is_array && cells.len() == 1 {
                notes.add(0, "a list");
            }
            for (place, (cell, value)) in row.iter_mut().zip(cells).enumerate() {
                let mut symbol = |name: &str| symbol(2 * index as u64, name, texts, names);
                *cell = cell_of_value(value, place, &mut notes, &mut symbol);
            }
            if !notes.text().is_empty() {
                forms.set(index, notes.text());
            }
        }
        Ok(block)
    }

    /// Outputs without symbols, from `count × width` numbers.
    #[must_use]
    pub fn of_numbers(numbers: &[f64], width: usize) -> Self {
        let mut block = Self {
            rows: Rows::of_numbers(numbers, width),
            texts: Texts::default(),
            names: Symbols::default(),
            forms: Forms::all(Some(String::new())),
        };
        block.remark_nans(numbers.iter().map(|number| number.to_bits()), width, |_| false);
        block
    }

    /// Outputs from the bits of `count × width` doubles. A NaN with certain upper bits is the
    /// symbol of `symbols` whose index its lower bits are.
    ///
    /// # Errors
    /// When there is no symbol with such an index.
    pub fn of_bits(
        bits: impl ExactSizeIterator<Item = u64> + Clone,
        symbols: &[String],
        width: usize,
    ) -> Result<Self, String> {
        let mut block = Self::new(bits.len() / width, width);
        let Self { rows, texts, names, .. } = &mut block;
        let symbols: Vec<Cell> = symbols
            .iter()
            .zip(0..)
            .map(|(name, rank)| symbol(2 * rank, name, texts, names))
            .collect();
        for (cell, bits) in rows.iter_mut().flatten().zip(bits.clone()) {
            let is_symbol = bits >> 48 == SYMBOL_BITS;
            *cell = if is_symbol {
                listed(bits & ((1 << 48) - 1), &symbols)?
            } else {
                Cell::number(f64::from_bits(bits))
            };
        }
        block.remark_nans(bits, width, |bits| bits >> 48 == SYMBOL_BITS);
        Ok(block)
    }

    /// The same outputs with these forms: one for each, or one for all of them.
    ///
    /// # Errors
    /// When there are neither one nor as many as outputs.
    pub fn with_forms(mut self, forms: Vec<Option<String>>) -> Result<Self, String> {
        let (count, rows) = (forms.len(), self.rows.len());
        let forms = match count {
            0 => return Ok(self),
            1 => Forms::all(forms.into_iter().next().flatten()),
            _ if count == rows => Forms::each(forms),
            _ => return Err(format!("there are {count} forms of {rows} outputs")),
        };
        self.forms = forms.with_remarks(&self.forms);
        Ok(self)
    }

    /// Notes which NaNs are not the usual one.
    fn remark_nans(
        &mut self,
        bits: impl Iterator<Item = u64>,
        width: usize,
        is_symbol: impl Fn(u64) -> bool,
    ) {
        let is_odd = |bits: u64| {
            f64::from_bits(bits).is_nan() && bits != f64::NAN.to_bits() && !is_symbol(bits)
        };
        for (place, bits) in bits.enumerate().filter(|(_, bits)| is_odd(*bits)) {
            self.forms.remark(place / width, &format!("y[{}] is NaN {bits:x}", place % width + 1));
        }
    }

    /// Shows the outputs to a probe.
    pub fn show(&self, probe: &mut Probe) {
        for (index, row) in self.rows.iter().enumerate() {
            probe.see(row, &self.texts, self.forms.get(index));
        }
    }

    /// The rows, the texts of their symbols, the names of these, and the forms.
    #[must_use]
    pub fn into_parts(self) -> (Rows, Texts, Symbols, Forms) {
        (self.rows, self.texts, self.names, self.forms)
    }

    /// The rows with the columns that a reading adds, and the names of their symbols. Only rules
    /// use the names, and rules are learned in exploration; otherwise `named` is false, and the
    /// names of the new columns' symbols are left out.
    #[must_use]
    pub fn read(self, reading: &Reading, named: bool) -> (Rows, Symbols) {
        let Self { rows, texts, mut names, forms } = self;
        if reading.is_plain() && forms.are_same() && reading.is_usual(forms.get(0)) {
            return (rows, names);
        }
        let mut wider = Rows::new(reading.width());
        wider.resize(rows.len());
        for (index, (row, cells)) in wider.iter_mut().zip(&rows).enumerate() {
            let rank = 2 * index as u64;
            reading.read(cells, &texts, forms.get(index), row, |name| {
                if named { names.ranked_symbol(rank, name) } else { Cell::symbol(name) }
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
/// numbers. Other strings are symbols. An array or an object is a text: its JSON as it is written.
fn cell_of_value(
    value: &RawValue,
    place: usize,
    notes: &mut CellNotes,
    symbol: &mut impl FnMut(&str) -> Cell,
) -> Cell {
    match Json::of_raw(value) {
        Some(Json::Number(written)) => {
            notes.add_number(place, written);
            Cell::number(written.parse().unwrap_or(f64::NAN))
        }
        Some(Json::Text(text)) => match text.as_str() {
            "inf" => Cell::number(f64::INFINITY),
            "-inf" => Cell::number(f64::NEG_INFINITY),
            text => {
                // These are symbols of other values too.
                if matches!(text, "null" | "true" | "false" | "∅") || text.starts_with(['{', '['])
                {
                    notes.add(place, "a text");
                }
                symbol(text)
            }
        },
        _ => symbol(value.get()),
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
