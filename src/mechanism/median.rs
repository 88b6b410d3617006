//! Medians whose noise adapts to the data.
//!
//! *Neighbours*: replace-one; the records lie in the public range `[lower, upper]`.
//! *Source*: lecture notes "Beyond global sensitivity" (example f = median, propose–test–release).
//!
//! With the records sorted and `m` the median's rank, the largest local sensitivity among the datasets at distance at most
//! `k` is `A(k) = max over 0 ≤ t ≤ k+1 of x[m+t] − x[m+t−k−1]`, where ranks below 1 stand for `lower` and above n for `upper`.

use serde::Deserialize;

use super::{Mechanism, Universe};
use crate::cell::Cell;
use crate::noise::{self, Generator};
use crate::spec::Dataset;
use crate::spec::claim::{Epsilon, Finite, Positive, PositiveDelta};

/// Sorted records in a public range.
struct Sorted {
    values: Vec<f64>,
    lower: f64,
    upper: f64,
}

impl Sorted {
    fn new(data: &Dataset, lower: Finite, upper: Finite) -> Result<Self, String> {
        let (lower, upper) = (lower.get(), upper.get());
        if lower >= upper {
            return Err(format!("params.lower is {lower}, must be less than params.upper, which is {upper}"));
        }
        let mut values = data.numbers()?;
        if values.is_empty() {
            return Err("the median of no records is not defined; give the dataset at least one".to_owned());
        }
        if let Some(value) = values.iter().find(|value| !(lower..=upper).contains(*value)) {
            return Err(format!("the record {value} lies outside the range [{lower}, {upper}]; correct it or the range"));
        }
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self { values, lower, upper })
    }

    /// The rank of the median, counted from 1: the lower of the two middle ones.
    fn rank(&self) -> usize {
        self.values.len().div_ceil(2)
    }

    fn median(&self) -> f64 {
        self.values[self.rank() - 1]
    }

    /// The value at an offset from the median's rank, or the range's end beyond the records.
    fn at(&self, rank: usize, up: usize, down: usize) -> f64 {
        match (rank + up).checked_sub(down) {
            None | Some(0) => self.lower,
            Some(rank) => self.values.get(rank - 1).copied().unwrap_or(self.upper),
        }
    }

    /// `A(k)`: the largest local sensitivity within distance `k`. O(k).
    fn sensitivity_at(&self, k: usize) -> f64 {
        let m = self.rank();
        (0..=k + 1).map(|t| self.at(m, t, 0) - self.at(m, t, k + 1)).fold(0.0, f64::max)
    }

    /// γ: the least `k` with `A(k) ≥ bound`; at most n, for n changes reach any dataset. A(k) grows with k, so halving finds it.
    fn distance_to_sensitivity(&self, bound: f64) -> usize {
        let (mut below, mut reached) = (0, self.values.len());
        while below < reached {
            let middle = usize::midpoint(below, reached);
            if self.sensitivity_at(middle) >= bound {
                reached = middle;
            } else {
                below = middle + 1;
            }
        }
        reached
    }
}

/// Parameters of the median at local sensitivity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalSensitivityParams {
    epsilon: Epsilon,
    lower: Finite,
    upper: Finite,
}

/// Median plus Lap(LS(D)/ε), where LS is the local sensitivity at the very data.
///
/// *Claim*: ε. *The bug*: the scale of the noise is itself a function of the data.
/// *True leakage*: infinite where one neighbour has local sensitivity 0 and the other has not.
pub struct LocalSensitivity {
    median: f64,
    scale: f64,
}

impl Mechanism for LocalSensitivity {
    const NAME: &'static str = "median/local-sensitivity";
    const SUMMARY: &'static str = "median plus noise at the data's own local sensitivity (broken)";
    type Params = LocalSensitivityParams;

    fn prepare(params: &LocalSensitivityParams, data: &Dataset, _: &Universe) -> Result<Self, String> {
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

/// The correct mechanism and the ways to get it wrong.
#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Variant {
    #[default]
    Correct,
    /// The distance γ is compared with the threshold as it is.
    NoiselessTest,
    /// The threshold is `ln(1/δ)`, not divided by ε.
    ThresholdWithoutEpsilon,
    /// The release has noise at the data's local sensitivity, not at the proposed bound.
    ReleaseAtLocalSensitivity,
}

/// Propose a bound β on the local sensitivity, test privately how far the data is from exceeding it, release with
/// noise at β or answer ⊥.
///
/// *Claim*: (2ε, δ). With γ the distance to the nearest dataset of local sensitivity at least β, `f(D) + Lap(β/ε)` is
/// released iff `γ + Lap(1/ε) > ln(1/δ)/ε`.
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
    const SUMMARY: &'static str = "median by propose–test–release, correct or with one of three mistakes";
    type Params = ProposeTestReleaseParams;

    fn prepare(params: &ProposeTestReleaseParams, data: &Dataset, _: &Universe) -> Result<Self, String> {
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
            threshold: if params.variant == Variant::ThresholdWithoutEpsilon { log_delta } else { log_delta / epsilon },
            bottom: Cell::symbol("⊥"),
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let noisy_distance = self.distance + noise::laplace(rng, self.test_scale);
        row[0] = if noisy_distance > self.threshold { Cell::number(self.median + noise::laplace(rng, self.scale)) } else { self.bottom };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(values: &[f64], lower: f64, upper: f64) -> Sorted {
        let finite = |x| Finite::try_from(x).unwrap();
        Sorted::new(&Dataset::of_numbers(values), finite(lower), finite(upper)).unwrap()
    }

    /// The largest local sensitivity within distance k, by trying all datasets over a small universe.
    fn brute_force(values: &[f64], universe: &[f64], k: usize) -> f64 {
        let median = |values: &[f64]| {
            let mut values = values.to_vec();
            values.sort_unstable_by(f64::total_cmp);
            values[values.len().div_ceil(2) - 1]
        };
        let local = |values: &[f64]| {
            let here = median(values);
            let mut worst = 0.0_f64;
            for i in 0..values.len() {
                for &x in universe {
                    let mut other = values.to_vec();
                    other[i] = x;
                    worst = worst.max((median(&other) - here).abs());
                }
            }
            worst
        };
        let mut worst = local(values);
        if k > 0 {
            for i in 0..values.len() {
                for &x in universe {
                    let mut other = values.to_vec();
                    other[i] = x;
                    worst = worst.max(brute_force(&other, universe, k - 1));
                }
            }
        }
        worst
    }

    #[test]
    fn sensitivity_at_a_distance_agrees_with_brute_force() {
        let universe = [0.0, 1.0, 3.0, 7.0];
        for values in [vec![0.0, 1.0, 1.0, 3.0, 7.0], vec![1.0, 1.0, 1.0], vec![0.0, 0.0, 7.0, 7.0], vec![3.0]] {
            let data = sorted(&values, 0.0, 7.0);
            for k in 0..=2 {
                assert_eq!(data.sensitivity_at(k), brute_force(&values, &universe, k), "{values:?} at distance {k}");
            }
        }
    }

    #[test]
    fn the_notes_example_has_local_sensitivity_zero_and_a_million() {
        let mut left = vec![0.0; 51];
        left.extend([1e6; 49]);
        let mut right = vec![0.0; 50];
        right.extend([1e6; 50]);
        assert_eq!(sorted(&left, 0.0, 1e6).sensitivity_at(0), 0.0);
        assert_eq!(sorted(&right, 0.0, 1e6).sensitivity_at(0), 1e6);
        assert_eq!(sorted(&left, 0.0, 1e6).median(), 0.0);
        assert_eq!(sorted(&right, 0.0, 1e6).median(), 0.0);
    }

    #[test]
    fn the_distance_is_the_least_k_that_reaches_the_bound() {
        let values: Vec<f64> = (0..21).map(|i| f64::from(i) * 0.5).collect();
        let data = sorted(&values, 0.0, 10.0);
        for bound in [0.2, 0.5, 0.6, 2.0, 9.9] {
            let k = data.distance_to_sensitivity(bound);
            assert!(data.sensitivity_at(k) >= bound);
            assert!(k == 0 || data.sensitivity_at(k - 1) < bound);
        }
    }
}
