//! A target is what is audited. It gets a side, a number of draws and a seed, and returns rows.
//!
//! | file | a target created from |
//! |---|---|
//! | `in_process.rs` | a mechanism in Rust, prepared once for each dataset |
//! | `closure.rs` | a closure in a test |
//! | `recorded/` | two files of outputs; draws are looked up in them |
//! | `process/` | a program in any language |
//!
//! `turns.rs` decides in which order the draws of both sides are made. `columns.rs` decides from first outputs which columns there are. `stop.rs` interrupts the draws of
//! any of them.
//!
//! `subject.rs` describes what a target is created from, in a form that can be sent to another
//! process. `seed.rs` defines the random streams. `timing.rs` says where the time of a program
//! goes. `training.rs` is what a canary audit needs instead of a target.

mod closure;
pub mod columns;
mod error;
mod in_process;
mod panics;
pub mod process;
pub mod recorded;
mod seed;
mod stop;
mod subject;
mod timing;
mod training;
mod turns;

pub use closure::{Closure, Feature};
pub use error::{PrepareError, ProcessError, ProcessProblem, TargetError};
pub use in_process::{InProcess, Mechanism, Misfit, Universe};
pub use seed::{PairStream, Phase, StreamSeed};
pub use stop::{Stop, Stoppable};
pub use subject::Subject;
pub use timing::Timing;
pub use training::Training;
pub use turns::{Share, Turns};

use std::sync::Arc;

use crate::model::Side;
use crate::output::{Rows, Symbols};

/// A mechanism prepared for both datasets of a pair.
///
/// Draws are made in batches: the call of a batch is dynamic, the loop inside it is static code.
pub trait Target: Send + Sync {
    /// Prepares for drawing and returns the number of cells per output.
    ///
    /// # Errors
    /// When the mechanism cannot be run at all.
    fn open(&self) -> Result<usize, TargetError>;

    /// Draws `count` outputs of one side and passes them to `sink` in chunks.
    ///
    /// # Errors
    /// When the mechanism could not be run `count` times.
    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError>;

    /// Draws the outputs of both sides of a batch. A target whose draws may depend on what it did
    /// before lets the sides take turns in the random [order](Turns) of this seed, so that a slow
    /// change is no difference between the sides. What is drawn is the same in any order. Without
    /// more knowledge, only the side that comes first is random.
    ///
    /// # Errors
    /// When the mechanism could not be run so often.
    fn draw_both(
        &self,
        shares: [Share; 2],
        order: StreamSeed,
        sink: &mut dyn FnMut(Side, &Rows),
    ) -> Result<(), TargetError> {
        Turns::new(order).both().into_iter().try_for_each(|side| {
            let Share { count, seed } = shares[side as usize];
            self.draw(side, count, seed, &mut |rows| sink(side, rows))
        })
    }

    /// The names of the symbols that have occurred so far, or may occur.
    fn symbols(&self) -> Symbols {
        Symbols::default()
    }

    /// How many of the columns, from the first on, are the outputs themselves. The others are read
    /// from texts and forms. None if all are.
    fn own_cells(&self) -> Option<usize> {
        None
    }

    /// Whether the same seeds always give the same draws.
    fn reproducible(&self) -> bool {
        true
    }

    /// Whether a draw depends on the [place](StreamSeed::place) of its stream. If not, a part of
    /// the draws can be made without counting those before it.
    fn needs_places(&self) -> bool {
        true
    }

    /// How many further draws may be made after a decision from few draws, to look for dependence:
    /// none where dependence is looked for elsewhere, or where a draw may take a second.
    fn further_draws(&self) -> u64 {
        512
    }

    /// A note about the draws for the reader of a report.
    fn note(&self) -> Option<String> {
        None
    }

    /// Where its time went, if it is a program.
    fn timing(&self) -> Option<Timing> {
        None
    }

    /// Releases what is only needed for drawing. A later draw prepares again.
    fn close(&self) {}
}

/// A shared target is a target.
impl<T: Target + ?Sized> Target for Arc<T> {
    fn open(&self) -> Result<usize, TargetError> {
        self.as_ref().open()
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        self.as_ref().draw(side, count, seed, sink)
    }

    fn draw_both(
        &self,
        shares: [Share; 2],
        order: StreamSeed,
        sink: &mut dyn FnMut(Side, &Rows),
    ) -> Result<(), TargetError> {
        self.as_ref().draw_both(shares, order, sink)
    }

    fn symbols(&self) -> Symbols {
        self.as_ref().symbols()
    }

    fn own_cells(&self) -> Option<usize> {
        self.as_ref().own_cells()
    }

    fn reproducible(&self) -> bool {
        self.as_ref().reproducible()
    }

    fn needs_places(&self) -> bool {
        self.as_ref().needs_places()
    }

    fn further_draws(&self) -> u64 {
        self.as_ref().further_draws()
    }

    fn note(&self) -> Option<String> {
        self.as_ref().note()
    }

    fn timing(&self) -> Option<Timing> {
        self.as_ref().timing()
    }

    fn close(&self) {
        self.as_ref().close();
    }
}
