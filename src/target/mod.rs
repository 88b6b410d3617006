//! A target is what is audited. It gets a side, a number of draws and a seed, and returns rows.
//!
//! | file | a target created from |
//! |---|---|
//! | `in_process.rs` | a mechanism in Rust, prepared once for each dataset |
//! | `closure.rs` | a closure in a test |
//! | `recorded/` | two files of outputs; draws are looked up in them |
//! | `process/` | a program in any language |
//!
//! `columns.rs` decides from first outputs which columns there are. `stop.rs` interrupts the draws of
//! any of them.
//!
//! `subject.rs` describes what a target is created from, in a form that can be sent to another
//! process. `seed.rs` defines the random streams. `timing.rs` says where the time of a program
//! goes.

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

pub use closure::{Closure, Feature};
pub use error::{PrepareError, ProcessError, ProcessProblem, TargetError};
pub use in_process::{InProcess, Mechanism, Misfit, Universe};
pub use seed::{PairStream, Phase, StreamSeed};
pub use stop::{Stop, Stoppable};
pub use subject::Subject;
pub use timing::Timing;

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

    /// The names of the symbols that have occurred so far, or may occur.
    fn symbols(&self) -> Symbols {
        Symbols::default()
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

    fn symbols(&self) -> Symbols {
        self.as_ref().symbols()
    }

    fn reproducible(&self) -> bool {
        self.as_ref().reproducible()
    }

    fn needs_places(&self) -> bool {
        self.as_ref().needs_places()
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
