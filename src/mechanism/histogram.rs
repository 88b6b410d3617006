//! Histograms that release only what is there, above a threshold.
//!
//! *Claim*: (ε, δ). Bins with a count above 0 get Lap(1/ε); what stays below the threshold is not released.
//! *Neighbours*: add-remove. The weak spot is the empty bin: present in one dataset, impossible in the other.
//! *Source*: stable histogram, threshold `1 + ln(1/δ)/ε`: lecture notes "Beyond global sensitivity";
//! truncated histogram, threshold `ln(1/δ)/ε`: slides "Gap-based mechanisms".
//! *The bug* of the truncated one: without the "+1" a single record is released with probability `½·e^ε·δ`,
//! which exceeds δ when ε > ln 2. With it, `½·δ`.

use serde::Deserialize;

use super::{Mechanism, Universe};
use crate::cell::Cell;
use crate::noise::{self, Generator};
use crate::spec::Dataset;
use crate::spec::claim::{Epsilon, PositiveDelta};

/// Parameters of a thresholded histogram.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    delta: PositiveDelta,
    threshold: Threshold,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Threshold {
    /// `1 + ln(1/δ)/ε`: correct.
    Stable,
    /// `ln(1/δ)/ε`: the largest count that is harmless is forgotten.
    Truncated,
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
    const SUMMARY: &'static str = "noisy counts of non-empty bins above a threshold: stable (correct) or truncated";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, String> {
        let epsilon = params.epsilon.get();
        let tail = (1.0 / params.delta.get()).ln() / epsilon;
        Ok(Self {
            counts: universe.counts(data).into_iter().map(|count| count as f64).collect(),
            scale: 1.0 / epsilon,
            threshold: match params.threshold {
                Threshold::Stable => 1.0 + tail,
                Threshold::Truncated => tail,
            },
            absent: Cell::absent(),
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
