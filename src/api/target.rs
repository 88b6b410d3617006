//! A closure as a target.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::SeedableRng;

use super::Output;
use crate::cell::{Cell, MOST_WIDTH, Mix, Rows};
use crate::error::TargetError;
use crate::mechanism::{Side, Target, caught};
use crate::noise::Generator;
use crate::sample::StreamSeed;

/// Calls per side that tell how many cells an output has.
const PROBES: usize = 64;

/// Rows per chunk.
const CHUNK: usize = 512;

/// A closure and the two datasets it is called with.
pub struct Closure<D, O, F> {
    mechanism: Arc<F>,
    left: D,
    right: D,
    width: usize,
    /// What the closure says if it does nothing but panic.
    always_panics: Option<String>,
    /// The first panic is shown, those after it are silent: there may be millions.
    panicked: AtomicBool,
    output: PhantomData<fn() -> O>,
}

impl<D, O: Output, F: Fn(&D, &mut Generator) -> O> Closure<D, O, F> {
    /// The closure on two datasets. A few calls, which count for nothing else, tell how wide its outputs are.
    pub fn new(mechanism: Arc<F>, left: D, right: D, seed: u64) -> Self {
        let (panicked, output) = (AtomicBool::new(false), PhantomData);
        let mut closure = Self { mechanism, left, right, width: 1, always_panics: None, panicked, output };
        let mut rng = Generator::seed_from_u64(Mix::new().text("width").word(seed).end());
        let mut row = Vec::new();
        let (mut panics, mut last) = (0, String::new());
        for data in [&closure.left, &closure.right] {
            for _ in 0..PROBES {
                if let Err(message) = closure.call(data, &mut rng, &mut row) {
                    (panics, last) = (panics + 1, message);
                }
                closure.width = closure.width.max(row.len());
            }
        }
        closure.always_panics = (panics == 2 * PROBES).then_some(last);
        closure
    }

    /// One call: its output, or the symbol `panic`.
    fn call(&self, data: &D, rng: &mut Generator, row: &mut Vec<Cell>) -> Result<(), String> {
        row.clear();
        caught(|| (self.mechanism)(data, rng).write(row)).inspect_err(|message| {
            if !self.panicked.swap(true, Ordering::Relaxed) {
                eprintln!("the mechanism panicked, which is an output like any other: {message}");
            }
            row.clear();
            row.push(Cell::symbol("panic"));
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
            None if self.width > MOST_WIDTH => Err(TargetError::TooWide { width: self.width }),
            None => Ok(self.width),
        }
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        let data = match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        };
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(self.width);
        let mut cells = Vec::new();
        let absent = Cell::absent();
        let mut left = count;
        while left > 0 {
            rows.resize(CHUNK.min(left));
            left -= rows.len();
            for row in &mut rows {
                // A panic is in the cells by now.
                let _ = self.call(data, &mut rng, &mut cells);
                fit(&cells, absent, row);
            }
            sink(&rows);
        }
        Ok(())
    }
}

/// Fills a row up, or closes it with one symbol for all that is too much.
fn fit(cells: &[Cell], absent: Cell, row: &mut [Cell]) {
    if cells.len() <= row.len() {
        row[..cells.len()].copy_from_slice(cells);
        row[cells.len()..].fill(absent);
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
    fn rows_are_filled_up_or_closed() {
        let (absent, number) = (Cell::absent(), |x: u8| Cell::number(f64::from(x)));
        let mut row = [number(0); 3];
        fit(&[number(1)], absent, &mut row);
        assert_eq!(row, [number(1), absent, absent]);
        fit(&[number(1), number(2), number(3)], absent, &mut row);
        assert_eq!(row, [number(1), number(2), number(3)]);
        fit(&[number(1), number(2), number(3), number(4)], absent, &mut row);
        assert_eq!(row[..2], [number(1), number(2)]);
        let closed = row[2];
        fit(&[number(1), number(2), number(3), number(5)], absent, &mut row);
        assert_ne!(row[2], closed);
    }
}
