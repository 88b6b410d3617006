//! How a caller interrupts a run: no new draws begin after that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Share, StreamSeed, Target, TargetError, Timing};
use crate::model::Side;
use crate::output::{Rows, Symbols};

/// A switch that ends a run. Its clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the run.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the run goes on.
    ///
    /// # Errors
    /// When it was interrupted.
    pub fn check(&self) -> Result<(), TargetError> {
        if self.0.load(Ordering::Relaxed) { Err(TargetError::Interrupted) } else { Ok(()) }
    }
}

/// A target that makes no more draws after an interruption.
pub struct Stoppable {
    target: Box<dyn Target>,
    stop: Stop,
}

impl Stoppable {
    /// The target with a switch.
    #[must_use]
    pub fn new(target: Box<dyn Target>, stop: Stop) -> Self {
        Self { target, stop }
    }
}

impl Target for Stoppable {
    fn open(&self) -> Result<usize, TargetError> {
        self.target.open()
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        self.stop.check()?;
        self.target.draw(side, count, seed, sink)
    }

    fn draw_both(
        &self,
        shares: [Share; 2],
        order: StreamSeed,
        sink: &mut dyn FnMut(Side, &Rows),
    ) -> Result<(), TargetError> {
        self.stop.check()?;
        self.target.draw_both(shares, order, sink)
    }

    fn symbols(&self) -> Symbols {
        self.target.symbols()
    }

    fn own_cells(&self) -> Option<usize> {
        self.target.own_cells()
    }

    fn reproducible(&self) -> bool {
        self.target.reproducible()
    }

    fn needs_places(&self) -> bool {
        self.target.needs_places()
    }

    fn further_draws(&self) -> u64 {
        self.target.further_draws()
    }

    fn note(&self) -> Option<String> {
        self.target.note()
    }

    fn timing(&self) -> Option<Timing> {
        self.target.timing()
    }

    fn close(&self) {
        self.target.close();
    }
}
