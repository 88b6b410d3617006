//! Medians with noise that depends on the data.
//!
//! *Claim*: see each mechanism below.
//! *Neighbours*: replace-one; all records are in the public range `[lower, upper]`.
//! *Source*: lecture notes "Beyond global sensitivity" (example f = median, propose–test–release).

use serde::Deserialize;

use crate::catalogue::median::sorted::Sorted;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Finite, Positive, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of the median at local sensitivity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalSensitivityParams {
    epsilon: Epsilon,
    lower: Finite,
    upper: Finite,
}

/// Median plus Lap(LS(D)/ε), where LS is the local sensitivity at the dataset itself.
///
/// *Claim*: ε. *The bug*: the scale of the noise is a function of the data. *True leakage*:
/// infinite if the local sensitivity is 0 at one neighbour and positive at the other.
pub struct LocalSensitivity {
    median: f64,
    scale: f64,
}

impl Mechanism for LocalSensitivity {
    const NAME: &'static str = "median/local-sensitivity";
    const SUMMARY: &'static str = "median plus noise at the data's own local sensitivity (broken)";
    type Params = LocalSensitivityParams;

    fn prepare(
        params: &LocalSensitivityParams,
        data: &Dataset,
        _: &Universe,
    ) -> Result<Self, Misfit> {
        let sorted = Sorted::new(data, params.lower, params.upper)?;
        Ok(Self { median: sorted.median(), scale: sorted.sensitivity_at(0) / params.epsilon.get() })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.median + noise::laplace(rng, self.scale));
    }
}

/// Parameters of the propose–test–release median.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposeTestReleaseParams {
    epsilon: Epsilon,
    delta: PositiveDelta,
    lower: Finite,
    upper: Finite,
    /// The proposed bound β on the local sensitivity.
    bound: Positive,
    #[serde(default)]
    variant: Variant,
}

/// The correct mechanism and three mistakes.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Variant {
    #[default]
    Correct,
    /// The distance γ is compared with the threshold without noise.
    NoiselessTest,
    /// The threshold is `ln(1/δ)`, not divided by ε.
    ThresholdWithoutEpsilon,
    /// The release has noise at the data's local sensitivity, not at the proposed bound.
    ReleaseAtLocalSensitivity,
}

/// Propose a bound β on the local sensitivity. Test privately how far the data is from exceeding
/// it. Release with noise at β, or answer ⊥.
///
/// *Claim*: (2ε, δ). γ is the distance to the nearest dataset whose local sensitivity is at least
/// β. `f(D) + Lap(β/ε)` is released iff `γ + Lap(1/ε) > ln(1/δ)/ε`.
///
/// *The bug*, one for each `variant`, with its *true leakage* on the worst pair: `noiseless-test`
/// compares γ itself: ε is infinite and δ is 1 where the threshold is between the γ of the two
/// neighbours. `threshold-without-epsilon` passes at γ = 0 with probability `½·δ^ε`, which is more
/// than δ when ε is small: 0.05 at ε = ½, δ = 0.01. `release-at-local-sensitivity` takes the scale
/// from the data: where it is 0 on one side only, ε is infinite and δ is the probability that the
/// test passes.
pub struct ProposeTestRelease {
    median: f64,
    scale: f64,
    distance: f64,
    test_scale: f64,
    threshold: f64,
    bottom: Cell,
}

impl Mechanism for ProposeTestRelease {
    const NAME: &'static str = "median/propose-test-release";
    const SUMMARY: &'static str =
        "median by propose–test–release, correct or with one of three mistakes";
    type Params = ProposeTestReleaseParams;

    fn prepare(
        params: &ProposeTestReleaseParams,
        data: &Dataset,
        universe: &Universe,
    ) -> Result<Self, Misfit> {
        let sorted = Sorted::new(data, params.lower, params.upper)?;
        let epsilon = params.epsilon.get();
        let log_delta = (1.0 / params.delta.get()).ln();
        let noise_bound = match params.variant {
            Variant::ReleaseAtLocalSensitivity => sorted.sensitivity_at(0),
            _ => params.bound.get(),
        };
        Ok(Self {
            median: sorted.median(),
            scale: noise_bound / epsilon,
            distance: sorted.distance_to_sensitivity(params.bound.get()) as f64,
            test_scale: if params.variant == Variant::NoiselessTest { 0.0 } else { 1.0 / epsilon },
            threshold: if params.variant == Variant::ThresholdWithoutEpsilon {
                log_delta
            } else {
                log_delta / epsilon
            },
            bottom: universe.symbol("⊥"),
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let noisy_distance = self.distance + noise::laplace(rng, self.test_scale);
        row[0] = if noisy_distance > self.threshold {
            Cell::number(self.median + noise::laplace(rng, self.scale))
        } else {
            self.bottom
        };
    }
}
