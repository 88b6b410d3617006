//! Answers on a grid, to which noise in whole steps is added.

use crate::output::Cell;

/// Answers that were rounded to a grid.
pub struct GridAnswers {
    /// In steps of the grid.
    pub(super) steps: Vec<f64>,
    step: f64,
}

impl GridAnswers {
    /// The answers, rounded to the nearest step.
    pub(super) fn new(answers: &[f64], step: f64) -> Self {
        Self { steps: answers.iter().map(|answer| (answer / step).round()).collect(), step }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Writes the answers, each with noise of its own.
    #[inline]
    pub(super) fn write(&self, row: &mut [Cell], mut noise: impl FnMut() -> f64) {
        for (cell, steps) in row.iter_mut().zip(&self.steps) {
            *cell = Cell::number((steps + noise()) * self.step);
        }
    }
}
