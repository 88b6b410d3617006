//! Two-sided geometric noise on a grid.
//!
//! *Claim*: with `P(k) ∝ e^(-|k|·ε/Δ)` over the multiples of a grid step it is ε-DP, exactly. Answers are rounded to the grid first; one record then moves
//! them by at most `⌈Δ/step⌉` steps.
//! *Neighbours*: those under which Δ is the query's sensitivity.
//! *Source*: Ghosh, Roughgarden, Sundararajan 2009, the geometric mechanism. A power of two as the step makes every output exact in floating
//! point, so that its bits tell nothing that the output does not.
//! *The bugs*, one parameter away: a `scale_factor` below 1, with true ε of `ε / scale_factor`; a `cut`, which draws again until the noise is at most
//! so many steps. *True leakage* of the cut: infinite, for only one of two neighbours reaches the outermost value; at ε it is
//! `δ = P(the last Δ steps)`, for Δ = 1 step `e^(-cut·ε)/Z` with Z the sum of `e^(-|k|·ε)` up to the cut.

use serde::Deserialize;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::claim::{Epsilon, Positive};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

fn one() -> Positive {
    Positive::ONE
}

/// Parameters of discrete Laplace noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    query: Query,
    epsilon: Epsilon,
    /// Replaces the query's own sensitivity.
    sensitivity: Option<Positive>,
    /// Multiplies the noise; 1 is correct.
    #[serde(default = "one")]
    scale_factor: Positive,
    /// The step of the grid.
    #[serde(default = "one")]
    grid: Positive,
    /// The largest noise, in steps; no limit is correct.
    cut: Option<u32>,
}

/// `f(D)` on a grid plus discrete Laplace noise, on every component.
pub struct DiscreteLaplace {
    /// The answers, in steps of the grid.
    values: Vec<f64>,
    rate: f64,
    grid: f64,
    cut: f64,
}

impl Mechanism for DiscreteLaplace {
    const NAME: &'static str = "discrete-laplace";
    const SUMMARY: &'static str = "a query on a grid plus two-sided geometric noise, P(k) ∝ e^(-|k|ε/Δ)";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        let grid = params.grid.get();
        let steps = (params.sensitivity.map_or(answers.sensitivity, Positive::get) / grid).ceil();
        Ok(Self {
            values: answers.values.iter().map(|value| (value / grid).round()).collect(),
            rate: params.epsilon.get() / (steps * params.scale_factor.get()),
            grid,
            cut: params.cut.map_or(f64::INFINITY, f64::from),
        })
    }

    fn width(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, value) in row.iter_mut().zip(&self.values) {
            let noise = loop {
                let noise = noise::discrete_laplace(rng, self.rate);
                if noise.abs() <= self.cut {
                    break noise;
                }
            };
            *cell = Cell::number((value + noise) * self.grid);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::catalogue::registry::read_toml;

    fn prepared(params: &str, value: f64) -> DiscreteLaplace {
        let data = Dataset::of_numbers(&[value]);
        let params = read_toml(params);
        DiscreteLaplace::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
    }

    #[test]
    fn a_finer_grid_has_the_same_scale_and_rounds_the_answers() {
        let fine = prepared("query = 'values'\nepsilon = 0.5\ngrid = 0.125", 1.3);
        assert_eq!((fine.values[0], fine.rate), (10.0, 0.5 / 8.0));
        // A step that does not divide the sensitivity is on the safe side.
        assert_eq!(prepared("query = 'values'\nepsilon = 0.5\ngrid = 0.3", 0.0).rate, 0.125);
        let mut row = [Cell::ABSENT];
        let mut rng = Generator::seed_from_u64(1);
        for _ in 0..1000 {
            fine.run(&mut rng, &mut row);
            assert_eq!((row[0].raw() * 8.0).fract(), 0.0);
        }
    }

    #[test]
    fn cut_noise_has_its_exact_probabilities() {
        // Hoeffding: a frequency of n draws is off by more than √(ln(2/α)/2n) with probability at most α.
        const FALSE_ALARM: f64 = 1e-6;
        const N: u32 = 400_000;
        let mechanism = prepared("query = 'values'\nepsilon = 1.0\ncut = 3", 5.0);
        let weight = |k: i32| (-f64::from(k.abs())).exp();
        let total: f64 = (-3..=3).map(weight).sum();
        let mut seen = [0_u32; 7];
        let mut rng = Generator::seed_from_u64(2);
        let mut row = [Cell::ABSENT];
        for _ in 0..N {
            mechanism.run(&mut rng, &mut row);
            seen[(-3..=3).position(|k| row[0].raw() == 5.0 + f64::from(k)).unwrap()] += 1;
        }
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * f64::from(N))).sqrt();
        for (k, count) in (-3..=3).zip(seen) {
            let p = weight(k) / total;
            assert!((f64::from(count) / f64::from(N) - p).abs() <= allowed, "{k}: {count} of {N}, expected {p}, α = {FALSE_ALARM}");
        }
    }
}
