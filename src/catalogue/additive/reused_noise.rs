//! Laplace noise that is reused.
//!
//! *Claim*: ε with noise of scale `Δ/ε`, drawn again for every component of every output.
//! *Neighbours*: those under which Δ is the query's sensitivity. *Source*: the Laplace mechanism
//! (Dwork, `McSherry`, Nissim, Smith 2006); the bugs are common programming mistakes. *The bugs*:
//! one draw shared by all components, or a generator with the same seed in every call. *True
//! leakage*: infinite. The difference of two components that share their noise is exact; with a
//! fixed seed the noise is a constant that can be subtracted.

use rand::SeedableRng;
use serde::Deserialize;

use crate::catalogue::additive::continuous::add_noise;
use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::Epsilon;
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// A typical hard-coded seed.
const SEED: u64 = 42;

/// How often noise is drawn.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum NoiseReuse {
    /// For every component of every output: correct.
    PerComponent,
    /// Once for all components of an output.
    PerOutput,
    /// For every component, but by a generator that starts from the same seed in every call.
    FromFixedSeed,
}

/// Parameters of Laplace noise that may be reused.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    query: Query,
    epsilon: Epsilon,
    drawn: NoiseReuse,
}

/// `f(D) + Lap(Δ/ε)`; `drawn` says how often noise is drawn.
pub struct ReusedNoise {
    values: Vec<f64>,
    scale: f64,
    drawn: NoiseReuse,
}

impl ReusedNoise {
    fn fresh(&self, rng: &mut Generator, row: &mut [Cell]) {
        add_noise(row, &self.values, || noise::laplace(rng, self.scale));
    }
}

impl Mechanism for ReusedNoise {
    const NAME: &'static str = "laplace/reused-noise";
    const SUMMARY: &'static str = "a query plus Laplace noise drawn per component (correct), per output, or from a fixed seed";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        Ok(Self {
            values: answers.values,
            scale: answers.sensitivity / params.epsilon.get(),
            drawn: params.drawn,
        })
    }

    fn width(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        match self.drawn {
            NoiseReuse::PerComponent => self.fresh(rng, row),
            NoiseReuse::PerOutput => {
                let noise = noise::laplace(rng, self.scale);
                row.iter_mut()
                    .zip(&self.values)
                    .for_each(|(cell, value)| *cell = Cell::number(value + noise));
            }
            NoiseReuse::FromFixedSeed => self.fresh(&mut Generator::seed_from_u64(SEED), row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn twice(drawn: NoiseReuse) -> [[f64; 2]; 2] {
        let mechanism = ReusedNoise { values: vec![3.0, 10.0], scale: 1.0, drawn };
        let mut rng = Generator::seed_from_u64(1);
        [0, 1].map(|_| {
            let mut row = [Cell::ABSENT; 2];
            mechanism.run(&mut rng, &mut row);
            [row[0].raw() - 3.0, row[1].raw() - 10.0]
        })
    }

    #[test]
    fn noise_is_reused_as_the_parameter_says() {
        let same = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let [first, second] = twice(NoiseReuse::PerComponent);
        assert!(
            !same(first[0], first[1]) && !same(first[0], second[0]) && !same(first[1], second[1])
        );
        let [first, second] = twice(NoiseReuse::PerOutput);
        assert!(same(first[0], first[1]) && !same(first[0], second[0]));
        let [first, second] = twice(NoiseReuse::FromFixedSeed);
        assert!(
            !same(first[0], first[1]) && same(first[0], second[0]) && same(first[1], second[1])
        );
    }
}
