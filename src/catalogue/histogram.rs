//! Histograms that release only non-empty bins above a threshold.
//!
//! *Claim*: (ε, δ). Bins with a count above 0 get Lap(1/ε). A noisy count below the threshold is
//! not released. *Neighbours*: add-remove. The critical case is the empty bin: a record creates a
//! bin that the other dataset can never release. *Source*: stable histogram, corrected
//! [`Threshold`]: lecture notes "Beyond global sensitivity"; truncated histogram, printed
//! threshold: slides "Gap-based mechanisms". *The bug* of a threshold without the "+1": a single
//! record is released e^ε times as often as with it. *True leakage* then: δ is `½·e^ε·δ` with the
//! printed threshold, and `e^ε·δ` with the tight one; see [`Threshold`].

use serde::Deserialize;

use crate::catalogue::test_release::threshold::Threshold;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of a thresholded histogram.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    delta: PositiveDelta,
    threshold: Threshold,
}

/// Noisy counts of the non-empty bins that exceed a threshold.
pub struct Thresholded {
    counts: Vec<f64>,
    scale: f64,
    threshold: f64,
    absent: Cell,
}

impl Mechanism for Thresholded {
    const NAME: &'static str = "histogram/thresholded";
    const SUMMARY: &'static str =
        "noisy counts of non-empty bins above a threshold, printed, or larger by 1 (correct)";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        Ok(Self {
            counts: universe.counts(data).into_iter().map(|count| count as f64).collect(),
            scale: 1.0 / params.epsilon.get(),
            threshold: params.threshold.at(params.epsilon, params.delta),
            absent: Cell::ABSENT,
        })
    }

    fn width(&self) -> usize {
        self.counts.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, &count) in row.iter_mut().zip(&self.counts) {
            *cell = self.absent;
            if count > 0.0 {
                let noisy = count + noise::laplace(rng, self.scale);
                if noisy >= self.threshold {
                    *cell = Cell::number(noisy);
                }
            }
        }
    }
}
