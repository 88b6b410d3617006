//! A closure as a target.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rand::SeedableRng;

use super::panics::catch_panic;
use super::{Phase, StreamSeed, Target, TargetError};
use crate::model::Side;
use crate::noise::Generator;
use crate::output::{Cell, MAX_WIDTH, Mix, Output, OutputRow, Rows, Symbols};

/// Calls per side that determine how many cells an output has.
const PROBES: usize = 64;

/// Rows per chunk.
const CHUNK: usize = 512;

/// A closure and the two datasets it is called with.
pub struct Closure<D, O, F> {
    mechanism: Arc<F>,
    data: Arc<(D, D)>,
    width: usize,
    /// The panic message, if every call panics.
    always_panics: Option<String>,
    /// The message of the first panic. Later ones are not kept, because there may be millions.
    panicked: OnceLock<String>,
    symbols: Mutex<Symbols>,
    output: PhantomData<fn() -> O>,
}

impl<D, O: Output, F: Fn(&D, &mut Generator) -> O> Closure<D, O, F> {
    /// The closure on two datasets. A few extra calls determine how wide its outputs are; their outputs are not used for anything else.
    pub fn new(mechanism: Arc<F>, data: Arc<(D, D)>, seed: u64) -> Self {
        let (panicked, symbols, output) = (OnceLock::new(), Mutex::default(), PhantomData);
        let mut closure = Self { mechanism, data, width: 1, always_panics: None, panicked, symbols, output };
        let mut rng = Generator::seed_from_u64(Mix::new().text("width").word(seed).end());
        let mut row = OutputRow::default();
        let (mut panics, mut last) = (0, String::new());
        let data = Arc::clone(&closure.data);
        for data in [&data.0, &data.1] {
            for _ in 0..PROBES {
                row.clear(0);
                if let Err(message) = closure.call(data, &mut rng, &mut row) {
                    (panics, last) = (panics + 1, message);
                }
                closure.width = closure.width.max(row.cells().len());
            }
        }
        closure.always_panics = (panics == 2 * PROBES).then_some(last);
        closure
    }

    /// One call: its output is added to the row, or the symbol `panic`.
    fn call(&self, data: &D, rng: &mut Generator, row: &mut OutputRow) -> Result<(), String> {
        catch_panic(|| (self.mechanism)(data, rng).write(row)).inspect_err(|message| {
            self.panicked.get_or_init(|| message.clone());
            row.clear(0);
            row.push(Cell::PANIC);
        })
    }
}

impl<D, O, F> Target for Closure<D, O, F>
where
    D: Send + Sync,
    O: Output,
    F: Fn(&D, &mut Generator) -> O + Send + Sync,
{
    fn open(&self) -> Result<usize, TargetError> {
        match &self.always_panics {
            Some(message) => Err(TargetError::AlwaysPanics { message: message.clone() }),
            None if self.width > MAX_WIDTH => Err(TargetError::TooWide { width: self.width }),
            None => Ok(self.width),
        }
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        let data = match side {
            Side::Left => &self.data.0,
            Side::Right => &self.data.1,
        };
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(self.width);
        let place = seed.place();
        // Only rules need names, and rules are learned in exploration.
        let mut output = if place.phase == Phase::Explore { OutputRow::with_names() } else { OutputRow::default() };
        let mut drawn = 0;
        while drawn < count {
            rows.resize(CHUNK.min(count - drawn));
            for row in &mut rows {
                output.clear(2 * (place.first + drawn as u64) + side as u64);
                // After a panic, the row already holds the symbol `panic`.
                let _ = self.call(data, &mut rng, &mut output);
                fit(output.cells(), row);
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
        self.panicked.get().map(|message| format!("the mechanism panicked; a panic is an output like any other: {message}"))
    }
}

/// Pads a short output with absent cells. In a long output, one symbol replaces all cells from the last column on.
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
