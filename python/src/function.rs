//! A Python function as a target.
//!
//! The object behind it is a `dp_audit._function.Function`. It calls the mechanism and packs the
//! outputs into an array, so that a call costs one crossing of the border for a whole block of
//! draws. The blocks and their seeds are those of the worker in another process, so both draw the
//! same numbers.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use dp_audit::Side;
use dp_audit::fronts::Stop;
use dp_audit::fronts::{Block, blocks};
use dp_audit::fronts::{Columns, FIRST_OUTPUTS, first_requests, first_seed, more_requests};
use dp_audit::fronts::{MAX_WIDTH, OutputBlock, Probe, Reading};
use dp_audit::parts::Phase;
use dp_audit::{Rows, Symbols, TextView};
use dp_audit::{Share, StreamSeed, Target, TargetError, Turns};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The first outputs of either side, in the calls that ask for them.
const REQUESTS: [usize; 3] = [8, 24, FIRST_OUTPUTS - 32];

/// Outputs of one side: an array of numbers with `width` cells for each output, the names of its
/// symbols, and the forms: one for each output, or one for all.
pub type Outputs<'py> = (Bound<'py, PyArray1<f64>>, Vec<String>, Vec<Option<String>>);

/// The outputs in the form of the core.
pub fn block_of((numbers, symbols, forms): &Outputs<'_>, width: usize) -> PyResult<OutputBlock> {
    let numbers = numbers.readonly();
    let numbers = numbers.as_slice()?;
    let block = if symbols.is_empty() {
        Ok(OutputBlock::of_numbers(numbers, width))
    } else {
        OutputBlock::of_bits(numbers.iter().map(|number| number.to_bits()), symbols, width)
    };
    block.and_then(|block| block.with_forms(forms.clone())).map_err(PyValueError::new_err)
}

/// A Python function on both datasets of a pair.
pub struct Function {
    object: Py<PyAny>,
    /// Whether other processes make the draws. Then all blocks of a call are asked for at once.
    remote: bool,
    /// Held during a call, if the function must not be called by two threads at once.
    turn: Option<Mutex<()>>,
    stop: Stop,
    shape: OnceLock<Shape>,
    symbols: Mutex<Symbols>,
}

/// What outputs look like.
struct Shape {
    /// Cells per output, before texts are read.
    width: usize,
    seeded: bool,
    reading: Reading,
}

impl Function {
    /// The target. If `shared`, several threads call the function at the same time.
    pub fn new(object: Py<PyAny>, shared: bool, stop: Stop) -> Self {
        let remote = Python::attach(|py| {
            object.bind(py).getattr("remote").is_ok_and(|remote| !remote.is_none())
        });
        let turn = (!shared && !remote).then(Mutex::default);
        Self { object, remote, turn, stop, shape: OnceLock::new(), symbols: Mutex::default() }
    }

    /// Calls Python. No thread waits for its turn while it holds the interpreter, so nobody waits
    /// in a circle.
    fn call<T>(
        &self,
        work: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Result<T, TargetError> {
        self.stop.check()?;
        let _turn =
            self.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        Python::attach(|py| {
            let failed = |error: PyErr| {
                let (error, message) = (error.value(py), error.value(py).to_string());
                if error.getattr("misfit").is_ok_and(|misfit| misfit.is_truthy().unwrap_or(false)) {
                    TargetError::Misfit { message }
                } else {
                    TargetError::Function { message }
                }
            };
            work(self.object.bind(py)).map_err(failed)
        })
    }

    /// A block of outputs.
    fn block(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        width: usize,
    ) -> Result<OutputBlock, TargetError> {
        // The function may still own the memory and write to it, so it is copied while the
        // interpreter waits.
        let block = self.call(|function| {
            let drawn: Outputs<'_> =
                function.call_method1("draw", (side as u8, count, seed.to_string()))?.extract()?;
            block_of(&drawn, width)
        })?;
        if block.rows.len() == count {
            Ok(block)
        } else {
            Err(TargetError::WrongCount { asked: count, got: block.rows.len() })
        }
    }

    /// Several blocks of one side, from other processes.
    fn remote_blocks(
        &self,
        side: Side,
        blocks: &[Block],
        seed: StreamSeed,
        width: usize,
    ) -> Result<Vec<OutputBlock>, TargetError> {
        let asked: Vec<(usize, String)> =
            blocks.iter().map(|block| (block.count, seed.part(block.part).to_string())).collect();
        self.call(|function| {
            let drawn: Vec<Outputs<'_>> =
                function.call_method1("draw_remotely", (side as u8, asked))?.extract()?;
            drawn.iter().map(|drawn| block_of(drawn, width)).collect()
        })
    }

    /// The rows of a block. Its symbols get names if rules are learned from it.
    fn read(
        &self,
        side: Side,
        seed: StreamSeed,
        block: Block,
        drawn: OutputBlock,
    ) -> Result<Rows, TargetError> {
        let place = seed.place();
        let explores = place.phase == Phase::Explore;
        let (rows, names) = drawn.read(&self.shape()?.reading, explores);
        if explores {
            self.named(names.ranked_from(2 * (place.first + block.first as u64) + side as u64));
        }
        Ok(rows)
    }

    /// Tries the function out. None of these outputs is judged.
    fn look(&self) -> Result<Shape, TargetError> {
        let (width, seeded, names): (usize, bool, Vec<String>) =
            self.call(|function| function.call_method0("open")?.extract())?;
        if width > MAX_WIDTH {
            return Err(TargetError::TooWide { width });
        }
        let (begun, mut probe) = (Instant::now(), Probe::default());
        let see = |probe: &mut Probe, count, part| {
            for side in Side::BOTH {
                self.block(side, count, first_seed(0, side).part(part), width)?.show(probe);
            }
            Ok(())
        };
        for (count, part) in first_requests(REQUESTS, None) {
            see(&mut probe, count, part)?;
        }
        if probe.has_texts() {
            for (count, part) in more_requests(begun, None) {
                see(&mut probe, count, part)?;
            }
        }
        let columns = Columns::decide(probe, &TextView::Everything, width, &names)?;
        self.named(columns.symbols());
        Ok(Shape { width, seeded, reading: columns.reading })
    }

    fn shape(&self) -> Result<&Shape, TargetError> {
        if let Some(shape) = self.shape.get() {
            return Ok(shape);
        }
        let shape = self.look()?;
        Ok(self.shape.get_or_init(|| shape))
    }

    fn named(&self, symbols: Symbols) {
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner).merge(symbols);
    }
}

impl Target for Function {
    fn open(&self) -> Result<usize, TargetError> {
        self.shape().map(|shape| shape.reading.width())
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let width = self.shape()?.width;
        let blocks = blocks(seed.place().first, count, width);
        if self.remote {
            let drawn = self.remote_blocks(side, &blocks, seed, width)?;
            for (block, drawn) in blocks.into_iter().zip(drawn) {
                sink(&self.read(side, seed, block, drawn)?);
            }
            return Ok(());
        }
        for block in blocks {
            let drawn = self.block(side, block.count, seed.part(block.part), width)?;
            sink(&self.read(side, seed, block, drawn)?);
        }
        Ok(())
    }

    /// The calls for both sides take turns. Other processes are asked for one side at a time.
    fn draw_both(
        &self,
        shares: [Share; 2],
        order: StreamSeed,
        sink: &mut dyn FnMut(Side, &Rows),
    ) -> Result<(), TargetError> {
        let mut turns = Turns::new(order);
        if self.remote {
            return turns.both().into_iter().try_for_each(|side| {
                let Share { count, seed } = shares[side as usize];
                self.draw(side, count, seed, &mut |rows| sink(side, rows))
            });
        }
        let width = self.shape()?.width;
        let pieces = shares.map(|Share { count, seed }| blocks(seed.place().first, count, width));
        for (side, block) in turns.interleave(pieces) {
            let seed = shares[side as usize].seed;
            let drawn = self.block(side, block.count, seed.part(block.part), width)?;
            sink(side, &self.read(side, seed, block, drawn)?);
        }
        Ok(())
    }

    fn symbols(&self) -> Symbols {
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn own_cells(&self) -> Option<usize> {
        self.shape.get().map(|shape| shape.width)
    }

    fn reproducible(&self) -> bool {
        self.shape.get().is_none_or(|shape| shape.seeded)
    }

    fn note(&self) -> Option<String> {
        Python::attach(|py| self.object.bind(py).getattr("note").ok()?.extract().ok()).flatten()
    }
}
