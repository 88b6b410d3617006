//! Test privately that the data is far from an unsafe dataset, then release: the test itself, and
//! one general instance.
//!
//! *Claim* and *Neighbours*: see [`GuardedMean`]. *Source*: slides "Gap-based mechanisms"
//! (stability-based mode; propose–test–release around a mechanism B on a safe set Y) and lecture
//! notes "Beyond global sensitivity" (mode).
//!
//! `dist` is a function of the data that one record moves by at most 1. The test passes iff `dist +
//! Lap(1/ε)` exceeds a threshold. *The bug* of a [`Threshold`] without the "+1": a pass is rare at
//! distance 0, but the dangerous step is from a dataset that is still safe, at distance 1, to its
//! neighbour that is not.

use serde::Deserialize;

use crate::catalogue::test_release::threshold::Threshold;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// The private test of a distance.
pub struct DistanceTest {
    scale: f64,
    threshold: f64,
}

impl DistanceTest {
    /// The test for these parameters.
    #[must_use]
    pub fn new(epsilon: Epsilon, delta: PositiveDelta, threshold: Threshold) -> Self {
        Self { scale: 1.0 / epsilon.get(), threshold: threshold.at(epsilon, delta) }
    }

    /// The noisy distance, and whether it passes.
    #[inline]
    pub fn run(&self, distance: f64, rng: &mut Generator) -> (f64, bool) {
        let noisy = distance + noise::laplace(rng, self.scale);
        (noisy, noisy > self.threshold)
    }
}

/// Parameters of the guarded mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    delta: PositiveDelta,
    /// The size k: data with at least k records is safe.
    least: usize,
    threshold: Threshold,
}

/// General propose–test–release, with B the mean of at least k records.
///
/// *Claim*: (2ε, δ). *Neighbours*: add-remove; the records are in [0, 1].
///
/// Y is the set of datasets with at least k records. On Y, B answers the mean plus `Lap(1/(kε))`
/// and is ε-DP: one record more or less moves the mean of n ≥ k records by at most 1/(n+1) < 1/k.
/// Outside Y, B answers "too few", as a careful function does. This reveals everything: B is
/// private inside Y but not across its boundary, and no more is required of it. The distance to the
/// complement is `max(0, n − k + 1)`. The output is the noisy distance, and B's answer or ⊥.
///
/// Neighbours inside Y: ε for the distance and ε for B. Both outside: the same distance, 0, and a
/// pass with probability `½·δ` (printed). On the boundary, n = k against k − 1: ε, except for a
/// pass at distance 1. *True leakage* there: δ at 2ε is `½·e^ε·δ` with the printed threshold, `½·δ`
/// with the corrected one.
pub struct GuardedMean {
    test: DistanceTest,
    distance: f64,
    /// Absent outside Y.
    mean: Option<f64>,
    scale: f64,
    refusal: Cell,
    bottom: Cell,
}

impl Mechanism for GuardedMean {
    const NAME: &'static str = "test-release/guarded-mean";
    const SUMMARY: &'static str = "mean of at least k records by propose–test–release, with the printed or the corrected threshold";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        if params.least == 0 {
            return Err(Misfit::params("least", "is 0, must be at least 1"));
        }
        let values = data.numbers()?;
        if let Some(value) = values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
            return Err(Misfit::Data(format!("the record {value} is outside [0, 1]; correct it")));
        }
        let n = values.len();
        Ok(Self {
            test: DistanceTest::new(params.epsilon, params.delta, params.threshold),
            distance: (n + 1).saturating_sub(params.least) as f64,
            mean: (n >= params.least).then(|| values.iter().sum::<f64>() / n as f64),
            scale: 1.0 / (params.least as f64 * params.epsilon.get()),
            refusal: universe.symbol("too few"),
            bottom: universe.symbol("⊥"),
        })
    }

    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let (noisy, passed) = self.test.run(self.distance, rng);
        row[0] = Cell::number(noisy);
        row[1] = match self.mean {
            _ if !passed => self.bottom,
            Some(mean) => Cell::number(mean + noise::laplace(rng, self.scale)),
            None => self.refusal,
        };
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with probability
    /// at most α, here one in a million.
    const FALSE_ALARM: f64 = 1e-6;

    #[test]
    fn at_distance_one_the_test_passes_with_the_derived_probability() {
        const N: u32 = 1_000_000;
        let (epsilon, delta) = (1.0_f64, 0.1_f64);
        for (threshold, expected) in
            [(Threshold::Printed, 0.5 * epsilon.exp() * delta), (Threshold::Corrected, 0.5 * delta)]
        {
            let test = DistanceTest::new(
                Epsilon::try_from(epsilon).unwrap(),
                PositiveDelta::try_from(delta).unwrap(),
                threshold,
            );
            let mut rng = Generator::seed_from_u64(5);
            let passes = (0..N).filter(|_| test.run(1.0, &mut rng).1).count();
            let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * f64::from(N))).sqrt();
            let distance = (passes as f64 / f64::from(N) - expected).abs();
            assert!(
                distance <= allowed,
                "{passes} of {N} passed, expected {expected}, α = {FALSE_ALARM}"
            );
        }
    }

    fn prepared(n: usize, least: usize) -> GuardedMean {
        let params = Params {
            epsilon: Epsilon::try_from(1.0).unwrap(),
            delta: PositiveDelta::try_from(0.01).unwrap(),
            least,
            threshold: Threshold::Corrected,
        };
        let data = Dataset::of_numbers(&vec![0.25; n]);
        GuardedMean::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
    }

    #[test]
    fn the_distance_is_the_number_of_records_to_remove_until_the_data_is_unsafe() {
        for n in 0..12 {
            let fewest = (0..=n).find(|removed| prepared(n - removed, 5).mean.is_none());
            assert_eq!(
                fewest.map(|removed| removed as f64),
                Some(prepared(n, 5).distance),
                "{n} records"
            );
        }
    }

    #[test]
    fn the_safe_set_bounds_the_sensitivity_of_the_mean() {
        let least = 3_usize;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        for n in least..8 {
            for ones in 0..=n {
                let values: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i < ones))).collect();
                for added in [0.0, 0.5, 1.0] {
                    let more = [values.as_slice(), &[added]].concat();
                    assert!((mean(&values) - mean(&more)).abs() <= 1.0 / least as f64);
                }
            }
        }
    }
}
