//! A noisy count of a random sample.
//!
//! Each record is sampled independently with probability q: the sample hides a record from everyone who does not know whether it was sampled.
//! *Neighbours*: add-remove. *Source*: Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018 (amplification by subsampling).
//!
//! *Claim* with noise `Lap(1/ε₀)`: `ln(1 + q·(e^ε₀ − 1))`-DP.
//! *The bug* is in the claim: `q·ε₀`, which is only the first term of the series.
//! *True leakage*: `ln(1 + q·(e^ε₀ − 1))` exactly, at every answer of 1 or more against an empty dataset: with q = 0.1 and ε₀ = 2,
//! 0.494 instead of 0.2.
//!
//! *Claim* with noise `N(0, σ²)`, against an empty dataset: `P'(y > t) − e^ε·P(y > t)` is the least δ at ε. The density with the record is
//! `1 − q + q·e^((2y − 1)/2σ²)` times the one without, which grows with y, and t is where this ratio is e^ε. In the other direction the ratio is at
//! most `1/(1 − q)`.
//! *The bug*, one parameter away: `scale_factor` below 1 adds too little noise. *True leakage*: that of the smaller σ.

use serde::Deserialize;

use crate::catalogue::additive::continuous::one;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Positive, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// A Poisson sample of the records.
struct Sample {
    records: usize,
    rate: f64,
}

impl Sample {
    /// The size of one sample.
    #[inline]
    fn size(&self, rng: &mut Generator) -> f64 {
        (0..self.records).filter(|_| noise::bernoulli(rng, self.rate)).count() as f64
    }
}

/// Parameters of the sampled count with Laplace noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaplaceParams {
    /// The probability with which each record is sampled.
    rate: PositiveDelta,
    /// ε₀, for the count of the sample.
    epsilon: Epsilon,
}

/// The size of a Poisson sample plus Laplace noise.
pub struct LaplaceSampledCount {
    sample: Sample,
    scale: f64,
}

impl Mechanism for LaplaceSampledCount {
    const NAME: &'static str = "laplace/sampled-count";
    const SUMMARY: &'static str = "the number of records in a random sample plus Laplace noise of scale 1/ε₀";
    type Params = LaplaceParams;

    fn prepare(params: &LaplaceParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        Ok(Self { sample: Sample { records: data.len(), rate: params.rate.get() }, scale: 1.0 / params.epsilon.get() })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.sample.size(rng) + noise::laplace(rng, self.scale));
    }
}

/// Parameters of the sampled count with Gaussian noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianParams {
    /// The probability with which each record is sampled.
    rate: PositiveDelta,
    /// The standard deviation of the noise.
    sigma: Positive,
    /// Multiplies the noise; 1 is correct.
    #[serde(default = "one")]
    scale_factor: Positive,
}

/// The size of a Poisson sample plus Gaussian noise.
pub struct GaussianSampledCount {
    sample: Sample,
    sigma: f64,
}

impl Mechanism for GaussianSampledCount {
    const NAME: &'static str = "gaussian/sampled-count";
    const SUMMARY: &'static str = "the number of records in a random sample plus Gaussian noise of standard deviation σ";
    type Params = GaussianParams;

    fn prepare(params: &GaussianParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let sample = Sample { records: data.len(), rate: params.rate.get() };
        Ok(Self { sample, sigma: params.sigma.get() * params.scale_factor.get() })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.sample.size(rng) + noise::gaussian(rng, self.sigma));
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use statrs::function::erf::erfc;

    use super::*;

    /// How often an answer is 1 or more.
    fn one_or_more(mechanism: &impl Mechanism, expected: f64) {
        // Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with probability at most α.
        const FALSE_ALARM: f64 = 1e-6;
        const N: u32 = 1_000_000;
        let mut rng = Generator::seed_from_u64(6);
        let mut row = [Cell::ABSENT];
        let hits = (0..N).filter(|_| {
            mechanism.run(&mut rng, &mut row);
            row[0].raw() >= 1.0
        });
        let hits = hits.count();
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * f64::from(N))).sqrt();
        assert!((hits as f64 / f64::from(N) - expected).abs() <= allowed, "{hits} of {N}, expected {expected}, α = {FALSE_ALARM}");
    }

    #[test]
    fn answers_of_one_or_more_have_the_derived_probability() {
        let (rate, epsilon) = (0.1, 2.0_f64);
        let empty = 0.5 * (-epsilon).exp();
        for (records, expected) in [(0, empty), (1, empty * (1.0 + rate * (epsilon.exp() - 1.0)))] {
            one_or_more(&LaplaceSampledCount { sample: Sample { records, rate }, scale: 1.0 / epsilon }, expected);
        }
        let sigma = 0.8;
        let empty = 0.5 * erfc(1.0 / (sigma * 2_f64.sqrt()));
        for (records, expected) in [(0, empty), (1, (1.0 - rate) * empty + rate * 0.5)] {
            one_or_more(&GaussianSampledCount { sample: Sample { records, rate }, sigma }, expected);
        }
    }

    #[test]
    fn the_broken_twin_has_less_noise_and_the_same_sample() {
        let prepared = |more: &str| {
            let params: GaussianParams = crate::catalogue::registry::read_toml(&format!("rate = 0.5\nsigma = 2.0\n{more}"));
            let data = Dataset::of_numbers(&[1.0, 1.0]);
            GaussianSampledCount::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
        };
        let (right, short) = (prepared(""), prepared("scale_factor = 0.9"));
        assert_eq!((right.sigma, right.sample.records, right.sample.rate), (2.0, 2, 0.5));
        assert_eq!((short.sigma, short.sample.records, short.sample.rate), (1.8, 2, 0.5));
    }
}
