//! Report noisy max: add noise to every answer, then report the largest.
//!
//! *Claim*: ε, for queries of sensitivity 1 with noise of scale `2/ε`. *Neighbours*:
//! component-wise. *Source*: Dwork & Roth, "The algorithmic foundations of differential privacy",
//! section 3.3; the broken variants are from Ding et al. 2018 ("Detecting violations of
//! differential privacy"). *The bug*, by one parameter: `release = "value"` releases the largest
//! noisy answer instead of its index. *True leakage* of the value, if all of `k` answers rise by 1:
//! `k·ε/2` with Laplace noise, because the largest is below a low value only if all are; infinite
//! with exponential noise, which cannot make the largest smaller than the largest exact answer.

use serde::Deserialize;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::Epsilon;
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of report noisy max.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    query: Query,
    epsilon: Epsilon,
    noise: Noise,
    release: Release,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Noise {
    Laplace,
    Exponential,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Release {
    /// Which answer is largest, counted from 0: correct.
    Index,
    /// How large it is.
    Value,
}

/// The index, or the value, of the largest noisy answer.
pub struct ReportNoisyMax {
    values: Vec<f64>,
    scale: f64,
    noise: Noise,
    release: Release,
}

impl ReportNoisyMax {
    /// Inlined once for each kind of noise, so that `run` branches once per row.
    #[inline]
    fn largest(&self, mut draw: impl FnMut(f64) -> f64) -> (usize, f64) {
        let noisy = self.values.iter().map(|value| value + draw(self.scale)).enumerate();
        noisy.fold((0, f64::NEG_INFINITY), |best, next| if next.1 > best.1 { next } else { best })
    }
}

impl Mechanism for ReportNoisyMax {
    const NAME: &'static str = "report-noisy-max";
    const SUMMARY: &'static str = "index (correct) or value of the largest noisy answer, with Laplace or exponential noise of scale 2/ε";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let values = params.query.answer(data, universe)?.values;
        if values.is_empty() {
            return Err(Misfit::Data(
                "the largest of no answers is not defined; give the dataset at least one record"
                    .to_owned(),
            ));
        }
        Ok(Self {
            values,
            scale: 2.0 / params.epsilon.get(),
            noise: params.noise,
            release: params.release,
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let (index, value) = match self.noise {
            Noise::Laplace => self.largest(|scale| noise::laplace(rng, scale)),
            Noise::Exponential => self.largest(|scale| noise::exponential(rng, scale)),
        };
        row[0] = Cell::number(match self.release {
            Release::Index => index as f64,
            Release::Value => value,
        });
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with probability
    /// at most α.
    const FALSE_ALARM: f64 = 1e-6;
    const N: usize = 400_000;

    fn mechanism(noise: Noise, release: Release, values: &[f64]) -> ReportNoisyMax {
        let params = Params {
            query: Query::Values,
            epsilon: Epsilon::try_from(0.5).unwrap(),
            noise,
            release,
        };
        let data = Dataset::of_numbers(values);
        ReportNoisyMax::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
    }

    fn has_probability(mechanism: &ReportNoisyMax, event: impl Fn(f64) -> bool, p: f64) {
        let mut rng = Generator::seed_from_u64(3);
        let mut row = [Cell::ABSENT];
        let mut k = 0;
        for _ in 0..N {
            mechanism.run(&mut rng, &mut row);
            k += usize::from(event(row[0].raw()));
        }
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        assert!(
            (k as f64 / N as f64 - p).abs() <= allowed,
            "{k} of {N}, expected {p}, α = {FALSE_ALARM}"
        );
    }

    #[test]
    fn the_index_has_its_exact_probabilities() {
        // Scale 4. With exponential noise the lowest of three wins iff its noise exceeds the
        // distance 2 and it then wins among equals.
        has_probability(
            &mechanism(Noise::Exponential, Release::Index, &[0.0, 2.0, 2.0]),
            |i| i == 0.0,
            (-0.5_f64).exp() / 3.0,
        );
        // The difference of two Laplace variables exceeds d ≥ 0 with probability e^(-d/b)·(2 +
        // d/b)/4.
        has_probability(
            &mechanism(Noise::Laplace, Release::Index, &[1.0, 3.0]),
            |i| i == 0.0,
            (-0.5_f64).exp() * 2.5 / 4.0,
        );
    }

    #[test]
    fn the_value_is_the_largest_noisy_answer() {
        let below = |x: f64| 0.5 * (x / 4.0).exp();
        has_probability(
            &mechanism(Noise::Laplace, Release::Value, &[1.0, 2.0]),
            |v| v <= 0.0,
            below(-1.0) * below(-2.0),
        );
        let upto = |x: f64| 1.0 - (-x / 4.0).exp();
        has_probability(
            &mechanism(Noise::Exponential, Release::Value, &[1.0, 2.0]),
            |v| v <= 5.0,
            upto(4.0) * upto(3.0),
        );
    }
}
