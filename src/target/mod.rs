//! Whatever is audited, wherever it runs: asked for so many draws of a side with a seed, it hands over rows.
//!
//! | file | a target made from |
//! |---|---|
//! | `in_process.rs` | a mechanism in Rust, prepared once for each dataset |
//! | `closure.rs` | a closure of a test |
//! | `recorded/` | two files of outputs: draws are looked up, not made |
//! | `process/` | a program in any language |
//!
//! `subject.rs` says what a target is made from, in a form that can be sent to another process; `seed.rs` has the random streams.

mod closure;
mod error;
mod in_process;
mod panics;
pub mod process;
pub mod recorded;
mod seed;
mod subject;

pub use closure::Closure;
pub use error::{PrepareError, Problem, ProcessError, TargetError};
pub use in_process::{InProcess, Mechanism, Misfit, Universe};
pub use seed::{PairStream, Phase, Place, StreamSeed};
pub use subject::Subject;

use std::sync::Arc;

use crate::model::Side;
use crate::output::{Rows, Symbols};

/// A mechanism prepared for both datasets of a pair, wherever it runs.
///
/// Batch-wise, so that the inner loop is static code and the registry is dynamic.
pub trait Target: Send + Sync {
    /// Gets ready to draw; returns the cells per output.
    ///
    /// # Errors
    /// When the mechanism cannot be run at all.
    fn open(&self) -> Result<usize, TargetError>;

    /// Draws `count` outputs of one side and hands them to `sink` in chunks.
    ///
    /// # Errors
    /// When the mechanism could not be run as often as asked.
    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError>;

    /// The names of the symbols that have come up so far, or may come up.
    fn symbols(&self) -> Symbols {
        Symbols::default()
    }

    /// Whether the same seeds have given, and will give, the same draws.
    fn reproducible(&self) -> bool {
        true
    }

    /// What a person should know about the draws that were made.
    fn note(&self) -> Option<String> {
        None
    }

    /// Lets go of what only drawing needs; a later draw gets ready again.
    fn close(&self) {}
}

/// A shared target is a target.
impl<T: Target + ?Sized> Target for Arc<T> {
    fn open(&self) -> Result<usize, TargetError> {
        self.as_ref().open()
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        self.as_ref().draw(side, count, seed, sink)
    }

    fn symbols(&self) -> Symbols {
        self.as_ref().symbols()
    }

    fn reproducible(&self) -> bool {
        self.as_ref().reproducible()
    }

    fn note(&self) -> Option<String> {
        self.as_ref().note()
    }

    fn close(&self) {
        self.as_ref().close();
    }
}
