//! A closure as a target.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rand::SeedableRng;

use super::columns::{Columns, FIRST_OUTPUTS, more_requests};
use super::panics::catch_panic;
use super::{Phase, Share, StreamSeed, Target, TargetError, Turns};
use crate::model::Side;
use crate::noise::Generator;
use crate::output::{Cell, Mix, Output, OutputRow, Probe, Reading, Rows, Symbols, TextView};

/// The most draws of one turn of a side.
const CHUNK: usize = 512;

/// The fewest, unless there are not so many. Shorter turns would hide from the tests of
/// independence which draw follows which.
const MIN_CHUNK: usize = 64;

/// A side has at least this many turns in a batch, if they are not too short.
const TURNS: usize = 64;

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
        let mut see = |closure: &mut Self, probe: &mut Probe, count: usize| {
            for data in [&data.0, &data.1] {
                for _ in 0..count {
                    row.clear(0);
                    if let Err(message) = closure.call(data, &mut rng, &mut row) {
                        (panics, last) = (panics + 1, message);
                    }
                    let (output, features) =
                        row.cells().split_at(row.cells().len() - closure.features.len());
                    closure.width = closure.width.max(output.len());
                    if let Some(texts) = row.texts() {
                        probe.see(output, texts, Some(row.form()));
                        of_features.see(features, texts, None);
                    }
                }
            }
        };
        let begun = Instant::now();
        see(&mut closure, &mut probe, FIRST_OUTPUTS);
        if probe.has_texts() {
            for (count, _) in more_requests(begun, None) {
                see(&mut closure, &mut probe, count);
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

    /// Cells per output, if anything can be drawn.
    fn checked_width(&self) -> Result<usize, TargetError> {
        self.broken.clone().map_or_else(|| Ok(self.reading.width()), Err)
    }

    /// Keeps the names of the symbols that were drawn.
    fn end(&self, draws: Draws<'_, D, O, F>) {
        let mut symbols = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        symbols.merge(draws.output.into_symbols());
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
        self.checked_width()
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let mut draws = Draws::new(self, side, seed)?;
        chunks(count, CHUNK).into_iter().for_each(|count| sink(draws.next(count)));
        self.end(draws);
        Ok(())
    }

    /// The closure may remember what it did before, so the sides take turns.
    fn draw_both(
        &self,
        shares: [Share; 2],
        order: StreamSeed,
        sink: &mut dyn FnMut(Side, &Rows),
    ) -> Result<(), TargetError> {
        let seed = |side: Side| shares[side as usize].seed;
        let mut left = Draws::new(self, Side::Left, seed(Side::Left))?;
        let mut right = Draws::new(self, Side::Right, seed(Side::Right))?;
        let most = shares.map(|share| share.count).into_iter().max().unwrap_or(0);
        let turn = (most / TURNS).clamp(MIN_CHUNK, CHUNK);
        let pieces = shares.map(|share| chunks(share.count, turn));
        for (side, count) in Turns::new(order).interleave(pieces) {
            let draws = match side {
                Side::Left => &mut left,
                Side::Right => &mut right,
            };
            sink(side, draws.next(count));
        }
        [left, right].into_iter().for_each(|draws| self.end(draws));
        Ok(())
    }

    fn symbols(&self) -> Symbols {
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn own_cells(&self) -> Option<usize> {
        Some(self.width + self.features.len())
    }

    fn note(&self) -> Option<String> {
        self.panicked.get().map(|message| {
            format!("the mechanism panicked; a panic is an output like any other: {message}")
        })
    }
}

/// Draws of one side in progress.
struct Draws<'a, D, O, F> {
    closure: &'a Closure<D, O, F>,
    data: &'a D,
    rng: Generator,
    output: OutputRow,
    /// The cells of an output before it is read.
    cells: Vec<Cell>,
    /// Whether the cells of an output are the whole row if its form is the usual one.
    is_simple: bool,
    rows: Rows,
    /// The rank of the next draw among those of both sides.
    rank: u64,
}

impl<'a, D, O: Output, F: Fn(&D, &mut Generator) -> O> Draws<'a, D, O, F> {
    fn new(
        closure: &'a Closure<D, O, F>,
        side: Side,
        seed: StreamSeed,
    ) -> Result<Self, TargetError> {
        let rows = Rows::new(closure.checked_width()?);
        let place = seed.place();
        // Only rules need names, and rules are learned in exploration.
        let mut output = if place.phase == Phase::Explore {
            OutputRow::with_names()
        } else {
            OutputRow::default()
        };
        if !closure.reading.is_plain() {
            output = output.and_texts();
        }
        let is_simple = closure.reading.is_plain() && closure.features.is_empty();
        Ok(Self {
            closure,
            data: match side {
                Side::Left => &closure.data.0,
                Side::Right => &closure.data.1,
            },
            rng: Generator::from_seed(seed.bytes()),
            output,
            cells: vec![Cell::ABSENT; closure.width + closure.features.len()],
            is_simple,
            rows,
            rank: 2 * place.first + side as u64,
        })
    }

    /// Makes the next draws.
    fn next(&mut self, count: usize) -> &Rows {
        self.rows.resize(count);
        for row in &mut self.rows {
            self.output.clear(self.rank);
            self.rank += 2;
            // After a panic, the row already holds the symbol `panic`.
            let _ = self.closure.call(self.data, &mut self.rng, &mut self.output);
            let form = Some(self.output.form());
            if self.is_simple && self.closure.reading.is_usual(form) {
                fit(self.output.cells(), row);
            } else {
                self.closure.fit_all(self.output.cells(), &mut self.cells);
                self.output.read(&self.closure.reading, &self.cells, row);
            }
        }
        &self.rows
    }
}

/// So many draws in chunks.
fn chunks(draws: usize, chunk: usize) -> Vec<usize> {
    (0..draws).step_by(chunk).map(|first| chunk.min(draws - first)).collect()
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

    #[test]
    fn sides_take_turns_and_their_draws_do_not_depend_on_it() {
        use crate::target::PairStream;
        use rand::RngExt;

        let called = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&called);
        let mechanism = move |side: &Side, rng: &mut Generator| {
            log.lock().unwrap().push(*side);
            rng.random::<f64>()
        };
        let data = Arc::new((Side::Left, Side::Right));
        let closure = Closure::new(Arc::new(mechanism), Arc::default(), data, 1);
        called.lock().unwrap().clear();
        let stream = PairStream::new(1, "", "");
        let share = |side, count| Share { count, seed: stream.side(Phase::Certify, 0, side) };
        let shares = [share(Side::Left, 9000), share(Side::Right, 9100)];
        let mut both = [Rows::new(1), Rows::new(1)];
        let order = stream.order(Phase::Certify, 0);
        closure
            .draw_both(shares, order, &mut |side, rows| both[side as usize].append(rows))
            .unwrap();
        // At no time a side is ahead by more than a turn, which is 142 draws here, and what it has
        // more.
        let (mut ahead, mut most) = (0_i32, 0);
        for side in called.lock().unwrap().iter() {
            ahead += if *side == Side::Left { 1 } else { -1 };
            most = most.max(ahead.abs());
        }
        assert_eq!(ahead, -100);
        assert!((50..=142).contains(&most), "{most}");
        for (side, Share { count, seed }) in Side::BOTH.into_iter().zip(shares) {
            let mut alone = Rows::new(1);
            closure.draw(side, count, seed, &mut |rows| alone.append(rows)).unwrap();
            assert_eq!(alone.cells(), both[side as usize].cells());
        }
    }
}
