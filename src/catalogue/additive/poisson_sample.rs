//! A noisy count of a random sample.
//!
//! *Claim*: each record is sampled independently with probability q, and the sample size gets noise `Lap(1/ε₀)`. That is
//! `ln(1 + q·(e^ε₀ − 1))`-DP: the sample hides a record from everyone who does not know whether it was sampled.
//! *Neighbours*: add-remove. *Source*: Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018 (amplification by subsampling).
//! *The bug* is in the claim: `q·ε₀`, which is only the first term of the series.
//! *True leakage*: `ln(1 + q·(e^ε₀ − 1))` exactly, at every answer of 1 or more against an empty dataset: with q = 0.1 and ε₀ = 2,
//! 0.494 instead of 0.2.

use serde::Deserialize;

use crate::model::Dataset;
use crate::model::claim::{Epsilon, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of the sampled count.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The probability with which each record is sampled.
    rate: PositiveDelta,
    /// ε₀, for the count of the sample.
    epsilon: Epsilon,
}

/// The size of a Poisson sample plus Laplace noise.
pub struct SampledCount {
    records: usize,
    rate: f64,
    scale: f64,
}

impl Mechanism for SampledCount {
    const NAME: &'static str = "laplace/sampled-count";
    const SUMMARY: &'static str = "the number of records in a random sample plus Laplace noise of scale 1/ε₀";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        Ok(Self { records: data.len(), rate: params.rate.get(), scale: 1.0 / params.epsilon.get() })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let sampled = (0..self.records).filter(|_| noise::bernoulli(rng, self.rate)).count();
        row[0] = Cell::number(sampled as f64 + noise::laplace(rng, self.scale));
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn answers_of_one_or_more_have_the_derived_probability() {
        // Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with probability at most α.
        const FALSE_ALARM: f64 = 1e-6;
        const N: u32 = 1_000_000;
        let (rate, epsilon) = (0.1, 2.0_f64);
        let empty = 0.5 * (-epsilon).exp();
        for (records, expected) in [(0, empty), (1, empty * (1.0 + rate * (epsilon.exp() - 1.0)))] {
            let mechanism = SampledCount { records, rate, scale: 1.0 / epsilon };
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
    }
}
