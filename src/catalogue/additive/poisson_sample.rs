//! A noisy count or sum of a random sample.
//!
//! Each record is sampled independently with probability q: the sample hides a record from everyone
//! who does not know whether it was sampled. *Neighbours*: add-remove. *Source*: Li, Qardaji, Su
//! 2012; Balle, Barthe, Gaboardi 2018 (amplification by subsampling).
//!
//! *Claim* with noise `Lap(1/ε₀)`: `ln(1 + q·(e^ε₀ − 1))`-DP. *The bug* is in the claim: `q·ε₀`,
//! which is only the first term of the series. *True leakage*: `ln(1 + q·(e^ε₀ − 1))` exactly, at
//! every answer of 1 or more against an empty dataset: with q = 0.1 and ε₀ = 2, 0.494 instead of
//! 0.2.
//!
//! *Claim* with noise `N(0, σ²)`, against an empty dataset: `P'(y > t) − e^ε·P(y > t)` is the least
//! δ at ε. The density with the record is `1 − q + q·e^((2y − 1)/2σ²)` times the one without, which
//! grows with y, and t is where this ratio is e^ε. In the other direction the ratio is at most
//! `1/(1 − q)`. *The bug*, one parameter away: `scale_factor` below 1 adds too little noise. *True
//! leakage*: that of the smaller σ.
//!
//! With records in [L, U] and Δ = `max(|L|, |U|)`, the noisy sum is one step of DP-SGD with
//! clipping norm Δ and noise multiplier σ/Δ (Abadi et al. 2016). *Claim*: that of the count with
//! σ/Δ. A record of size Δ against none is the worst case.

use serde::Deserialize;

use crate::catalogue::additive::continuous::{Calibration, one};
use crate::catalogue::query::clamped;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Finite, Positive, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// A Poisson sample of the records.
struct Sample {
    /// What each record adds to the answer: 1 to a count.
    values: Vec<f64>,
    rate: f64,
}

impl Sample {
    /// A sample that is counted.
    fn counted(data: &Dataset, rate: PositiveDelta) -> Self {
        Self { values: vec![1.0; data.len()], rate: rate.get() }
    }

    /// The sum over one sample.
    #[inline]
    fn sum(&self, rng: &mut Generator) -> f64 {
        // Not an iterator's sum, which is −0 for an empty sample.
        self.values.iter().fold(0.0, |sum, value| {
            if noise::bernoulli(rng, self.rate) { sum + value } else { sum }
        })
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
    const SUMMARY: &'static str =
        "the number of records in a random sample plus Laplace noise of scale 1/ε₀";
    type Params = LaplaceParams;

    fn prepare(params: &LaplaceParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        Ok(Self { sample: Sample::counted(data, params.rate), scale: 1.0 / params.epsilon.get() })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.sample.sum(rng) + noise::laplace(rng, self.scale));
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
    const SUMMARY: &'static str =
        "the number of records in a random sample plus Gaussian noise of standard deviation σ";
    type Params = GaussianParams;

    fn prepare(params: &GaussianParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let sample = Sample::counted(data, params.rate);
        Ok(Self { sample, sigma: params.sigma.get() * params.scale_factor.get() })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.sample.sum(rng) + noise::gaussian(rng, self.sigma));
    }
}

/// Parameters of the sampled sum with Gaussian noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SumParams {
    /// The probability with which each record is sampled.
    rate: PositiveDelta,
    /// Smaller records count as this one.
    lower: Finite,
    /// Larger records count as this one.
    upper: Finite,
    /// The noise on the sum of a sample. It does not know of the sampling.
    calibration: Calibration,
    /// Multiplies the noise; 1 is correct.
    #[serde(default = "one")]
    scale_factor: Positive,
}

/// The sum of a Poisson sample plus Gaussian noise.
pub struct GaussianSampledSum {
    sample: Sample,
    sigma: f64,
}

impl Mechanism for GaussianSampledSum {
    const NAME: &'static str = "gaussian/sampled-sum";
    const SUMMARY: &'static str = "the sum of a random sample of the records, each clamped, plus Gaussian noise: a step of DP-SGD";
    type Params = SumParams;

    fn prepare(params: &SumParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let clamped = clamped(data, params.lower, params.upper, "lower")?;
        let sensitivity = params.lower.get().abs().max(params.upper.get().abs());
        let sample = Sample { values: clamped.collect(), rate: params.rate.get() };
        Ok(Self { sample, sigma: params.calibration.sigma(sensitivity, params.scale_factor)? })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.sample.sum(rng) + noise::gaussian(rng, self.sigma));
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use statrs::function::erf::erfc;

    use super::*;

    /// How often an answer is 1 or more.
    fn one_or_more(mechanism: &impl Mechanism, expected: f64) {
        // Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with
        // probability at most α.
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
        assert!(
            (hits as f64 / f64::from(N) - expected).abs() <= allowed,
            "{hits} of {N}, expected {expected}, α = {FALSE_ALARM}"
        );
    }

    #[test]
    fn answers_of_one_or_more_have_the_derived_probability() {
        let (rate, epsilon) = (0.1, 2.0_f64);
        let empty = 0.5 * (-epsilon).exp();
        for (records, expected) in [(0, empty), (1, empty * (1.0 + rate * (epsilon.exp() - 1.0)))] {
            one_or_more(
                &LaplaceSampledCount {
                    sample: Sample { values: vec![1.0; records], rate },
                    scale: 1.0 / epsilon,
                },
                expected,
            );
        }
        let sigma = 0.8;
        let empty = 0.5 * erfc(1.0 / (sigma * 2_f64.sqrt()));
        for (records, expected) in [(0, empty), (1, (1.0 - rate) * empty + rate * 0.5)] {
            one_or_more(
                &GaussianSampledCount {
                    sample: Sample { values: vec![1.0; records], rate },
                    sigma,
                },
                expected,
            );
        }
    }

    #[test]
    fn sampled_sums_have_the_derived_mean_and_variance() {
        const N: u32 = 1_000_000;
        let params: SumParams = crate::catalogue::registry::read_toml(
            "rate = 0.3\nlower = -1.0\nupper = 2.0\ncalibration = { mu = 4.0 }\nscale_factor = 0.5",
        );
        let data = Dataset::of_numbers(&[-7.0, 0.5, 2.0, 9.0]);
        let mechanism =
            GaussianSampledSum::prepare(&params, &data, &Universe::of(&data, &data)).unwrap();
        assert_eq!(
            (mechanism.sigma, mechanism.sample.values.as_slice()),
            (0.25, [-1.0, 0.5, 2.0, 2.0].as_slice())
        );
        // Each record is there with probability q: the mean is q·Σx, the variance q(1 − q)·Σx² +
        // σ².
        let (mean, variance) = (0.3 * 3.5, 0.21 * 9.25 + 0.0625);
        let mut rng = Generator::seed_from_u64(9);
        let mut row = [Cell::ABSENT];
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..N {
            mechanism.run(&mut rng, &mut row);
            let off = row[0].raw() - mean;
            (sum, squares) = (sum + off, squares + off * off);
        }
        // A fourth moment is at most that of a normal number here, so the mean square has a
        // standard error of at most variance·√(2/n). Five standard errors have probability 6e-7.
        let n = f64::from(N);
        assert!(
            (sum / n).abs() < 5.0 * (variance / n).sqrt(),
            "mean off by {} of {n} draws",
            sum / n
        );
        assert!(
            (squares / n - variance).abs() < 5.0 * variance * (2.0 / n).sqrt(),
            "variance {} instead of {variance}",
            squares / n
        );
    }

    #[test]
    fn bad_parameters_of_a_sum_are_named() {
        let problem = |more: &str| {
            let params: SumParams = crate::catalogue::registry::read_toml(&format!(
                "rate = 0.5\ncalibration = {{ sigma = 1.0 }}\n{more}"
            ));
            let data = Dataset::of_numbers(&[1.0]);
            GaussianSampledSum::prepare(&params, &data, &Universe::of(&data, &data))
                .err()
                .unwrap()
                .to_string()
        };
        assert_eq!(
            problem("lower = 2.0\nupper = 1.0"),
            "params.lower is 2, must be less than upper, which is 1"
        );
        let table: crate::model::Params =
            toml::from_str("rate = 1.5\nlower = 0.0\nupper = 1.0\ncalibration = { sigma = 1.0 }")
                .unwrap();
        let found =
            crate::catalogue::registry::read_params::<SumParams>(&table).err().unwrap().to_string();
        assert_eq!(found, "params.rate is 1.5, must be greater than 0 and less than 1");
    }

    #[test]
    fn the_broken_twin_has_less_noise_and_the_same_sample() {
        let prepared = |more: &str| {
            let params: GaussianParams =
                crate::catalogue::registry::read_toml(&format!("rate = 0.5\nsigma = 2.0\n{more}"));
            let data = Dataset::of_numbers(&[1.0, 1.0]);
            GaussianSampledCount::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
        };
        let (right, short) = (prepared(""), prepared("scale_factor = 0.9"));
        assert_eq!((right.sigma, right.sample.values.len(), right.sample.rate), (2.0, 2, 0.5));
        assert_eq!((short.sigma, short.sample.values.len(), short.sample.rate), (1.8, 2, 0.5));
    }
}
