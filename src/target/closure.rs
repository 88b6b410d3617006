//! A closure as a target.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rand::SeedableRng;

use super::columns::{Columns, FIRST_OUTPUTS};
use super::panics::catch_panic;
use super::{Phase, StreamSeed, Target, TargetError};
use crate::model::Side;
use crate::noise::Generator;
use crate::output::{Cell, Mix, Output, OutputRow, Probe, Reading, Rows, Symbols, TextView};

/// Rows per chunk.
const CHUNK: usize = 512;

/// What the attacker knows how to compute from an output: one more column.
pub struct Feature<O> {
    name: String,
    write: Box<WriteFeature<O>>,
}

type WriteFeature<O> = dyn Fn(&O, &mut OutputRow) + Send + Sync;

impl<O> Feature<O> {
    /// The column with this name. A value of several cells is one symbol.
    pub fn new<P: Output>(name: &str, feature: impl Fn(&O) -> P + Send + Sync + 'static) -> Self {
        Self {
            name: name.to_owned(),
            write: Box::new(move |output, row| feature(output).write(row)),
        }
    }
}

/// A closure and the two datasets it is called with.
pub struct Closure<D, O, F> {
    mechanism: Arc<F>,
    features: Arc<Vec<Feature<O>>>,
    data: Arc<(D, D)>,
    /// The cells of an output without its features.
    width: usize,
    reading: Reading,
    /// Why nothing can be drawn: every call panics, or outputs are too wide.
    broken: Option<TargetError>,
    /// The message of the first panic. Later ones are not kept, because there may be millions.
    panicked: OnceLock<String>,
    symbols: Mutex<Symbols>,
}

impl<D, O: Output, F: Fn(&D, &mut Generator) -> O> Closure<D, O, F> {
    /// The closure on two datasets. A few extra calls determine which columns its outputs have;
    /// their outputs are not used for anything else.
    pub fn new(
        mechanism: Arc<F>,
        features: Arc<Vec<Feature<O>>>,
        data: Arc<(D, D)>,
        seed: u64,
    ) -> Self {
        let (panicked, symbols, reading) = (OnceLock::new(), Mutex::default(), Reading::default());
        let mut closure =
            Self { mechanism, features, data, width: 1, reading, broken: None, panicked, symbols };
        let mut rng = Generator::seed_from_u64(Mix::new().text("width").word(seed).end());
        let mut row = OutputRow::default().and_texts();
        let (mut panics, mut last) = (0, String::new());
        let (mut probe, mut of_features) = (Probe::default(), Probe::default());
        let data = Arc::clone(&closure.data);
        for data in [&data.0, &data.1] {
            for _ in 0..FIRST_OUTPUTS {
                row.clear(0);
                if let Err(message) = closure.call(data, &mut rng, &mut row) {
                    (panics, last) = (panics + 1, message);
                }
                let (output, features) =
                    row.cells().split_at(row.cells().len() - closure.features.len());
                closure.width = closure.width.max(output.len());
                if let Some(texts) = row.texts() {
                    probe.see(output, texts);
                    of_features.see(features, texts);
                }
            }
        }
        probe.append(closure.width, of_features);
        if panics == 2 * FIRST_OUTPUTS {
            closure.broken = Some(TargetError::AlwaysPanics { message: last });
            return closure;
        }
        let (names, cells) = (closure.names(), closure.width + closure.features.len());
        match Columns::decide(probe, &TextView::Everything, cells, &names) {
            Ok(columns) => {
                closure.symbols = Mutex::new(columns.symbols());
                closure.reading = columns.reading;
            }
            Err(error) => closure.broken = Some(error),
        }
        closure
    }

    /// The names of the cells of an output and of its features; empty if there are no features.
    fn names(&self) -> Vec<String> {
        if self.features.is_empty() {
            return Vec::new();
        }
        let own = (0..self.width).map(|index| Symbols::unnamed_column(index, self.width));
        own.chain(self.features.iter().map(|feature| feature.name.clone())).collect()
    }

    /// One call: its output is added to the row, or the symbol `panic`; then one cell for each
    /// feature.
    fn call(&self, data: &D, rng: &mut Generator, row: &mut OutputRow) -> Result<(), String> {
        let mut run = || {
            let output = (self.mechanism)(data, rng);
            output.write(row);
            for feature in self.features.iter() {
                let start = row.cells().len();
                (feature.write)(&output, row);
                row.merge_from(start);
            }
        };
        catch_panic(&mut run).inspect_err(|message| {
            self.panicked.get_or_init(|| message.clone());
            row.clear(0);
            row.push(Cell::PANIC);
            self.features.iter().for_each(|_| row.push(Cell::ABSENT));
        })
    }

    /// The cells of an output and of its features, each in its place.
    fn fit_all(&self, output: &[Cell], cells: &mut [Cell]) {
        let (output, features) = output.split_at(output.len() - self.features.len());
        fit(output, &mut cells[..self.width]);
        cells[self.width..].copy_from_slice(features);
    }
}

impl<D, O, F> Target for Closure<D, O, F>
where
    D: Send + Sync,
    O: Output,
    F: Fn(&D, &mut Generator) -> O + Send + Sync,
{
    fn open(&self) -> Result<usize, TargetError> {
        self.broken.clone().map_or_else(|| Ok(self.reading.width()), Err)
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let width = self.open()?;
        let data = match side {
            Side::Left => &self.data.0,
            Side::Right => &self.data.1,
        };
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(width);
        let place = seed.place();
        // Only rules need names, and rules are learned in exploration.
        let mut output = if place.phase == Phase::Explore {
            OutputRow::with_names()
        } else {
            OutputRow::default()
        };
        if !self.reading.is_plain() {
            output = output.and_texts();
        }
        let is_simple = self.reading.is_plain() && self.features.is_empty();
        let mut cells = vec![Cell::ABSENT; self.width + self.features.len()];
        let mut drawn = 0;
        while drawn < count {
            rows.resize(CHUNK.min(count - drawn));
            for row in &mut rows {
                output.clear(2 * (place.first + drawn as u64) + side as u64);
                // After a panic, the row already holds the symbol `panic`.
                let _ = self.call(data, &mut rng, &mut output);
                if is_simple {
                    fit(output.cells(), row);
                } else {
                    self.fit_all(output.cells(), &mut cells);
                    output.read(&self.reading, &cells, row);
                }
                drawn += 1;
            }
            sink(&rows);
        }
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner).merge(output.into_symbols());
        Ok(())
    }

    fn symbols(&self) -> Symbols {
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self) -> Option<String> {
        self.panicked.get().map(|message| {
            format!("the mechanism panicked; a panic is an output like any other: {message}")
        })
    }
}

/// Pads a short output with absent cells. In a long output, one symbol replaces all cells from the
/// last column on.
fn fit(cells: &[Cell], row: &mut [Cell]) {
    // Most outputs are single cells.
    if let ([cell], [only]) = (cells, &mut *row) {
        *only = *cell;
        return;
    }
    if cells.len() <= row.len() {
        row[..cells.len()].copy_from_slice(cells);
        row[cells.len()..].fill(Cell::ABSENT);
    } else {
        let last = row.len() - 1;
        row[..last].copy_from_slice(&cells[..last]);
        row[last] = Cell::of_row(&cells[last..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_rows_are_padded_and_long_rows_end_with_a_symbol() {
        let (absent, number) = (Cell::ABSENT, |x: u8| Cell::number(f64::from(x)));
        let mut row = [number(0); 3];
        fit(&[number(1)], &mut row);
        assert_eq!(row, [number(1), absent, absent]);
        fit(&[number(1), number(2), number(3)], &mut row);
        assert_eq!(row, [number(1), number(2), number(3)]);
        fit(&[number(1), number(2), number(3), number(4)], &mut row);
        assert_eq!(row[..2], [number(1), number(2)]);
        let rest = row[2];
        fit(&[number(1), number(2), number(3), number(5)], &mut row);
        assert_ne!(row[2], rest);
    }
}
