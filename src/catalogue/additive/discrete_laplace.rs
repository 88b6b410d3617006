//! Two-sided geometric noise on a grid.
//!
//! *Claim*: with `P(k) ∝ e^(-|k|·ε/Δ)` over the multiples of a grid step it is exactly ε-DP.
//! Answers are first rounded to the grid. Then one record moves them by at most `⌈Δ/step⌉` steps.
//! *Neighbours*: those under which Δ is the query's sensitivity. *Source*: Ghosh, Roughgarden,
//! Sundararajan 2009, the geometric mechanism. A power of two as the step makes every output exact
//! in floating point, so its bits reveal nothing more than the output. *The bugs*, one parameter
//! away: a `scale_factor` below 1, with a true ε of `ε / scale_factor`; a `cut`, which draws again
//! until the noise is at most `cut` steps. *True leakage* of the cut: infinite, because only one of
//! two neighbours reaches the outermost value. At ε it is `δ = P(the last Δ steps)`, for Δ = 1 step
//! `e^(-cut·ε)/Z` with Z the sum of `e^(-|k|·ε)` up to the cut.

use serde::Deserialize;

use crate::catalogue::additive::continuous::one;
use crate::catalogue::additive::grid::GridAnswers;
use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Positive};
use crate::noise::{CutDiscreteLaplace, Generator, LEAST_RATE};
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

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

impl Params {
    /// The rate of the noise, per step of the grid.
    fn rate(&self, sensitivity: f64) -> Result<f64, Misfit> {
        let steps = (self.sensitivity.map_or(sensitivity, Positive::get) / self.grid.get()).ceil();
        let rate = self.epsilon.get() / (steps * self.scale_factor.get());
        if rate >= LEAST_RATE {
            return Ok(rate);
        }
        let (epsilon, factor) = (self.epsilon.get(), self.scale_factor.get());
        Err(Misfit::params(
            "epsilon",
            &format!(
                "is {epsilon:e}, too little for noise that is finite with a sensitivity of {steps:e} steps of the grid and scale_factor {factor:e}: \
             epsilon/(steps·scale_factor) must be at least {LEAST_RATE:e}"
            ),
        ))
    }
}

/// `f(D)` on a grid plus discrete Laplace noise, on every component.
pub struct DiscreteLaplace {
    answers: GridAnswers,
    noise: CutDiscreteLaplace,
}

impl Mechanism for DiscreteLaplace {
    const NAME: &'static str = "discrete-laplace";
    const SUMMARY: &'static str =
        "a query on a grid plus two-sided geometric noise, P(k) ∝ e^(-|k|ε/Δ)";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        let noise = CutDiscreteLaplace::new(params.rate(answers.sensitivity)?, params.cut);
        Ok(Self { answers: GridAnswers::new(&answers.values, params.grid.get()), noise })
    }

    fn width(&self) -> usize {
        self.answers.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        self.answers.write(row, || self.noise.sample(rng));
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::catalogue::registry::read_toml;

    fn params(text: &str) -> Params {
        read_toml(text)
    }

    fn rate(text: &str) -> Result<f64, String> {
        params(text).rate(1.0).map_err(|misfit| misfit.to_string())
    }

    fn prepared(text: &str, value: f64) -> DiscreteLaplace {
        let data = Dataset::of_numbers(&[value]);
        let params = params(text);
        DiscreteLaplace::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
    }

    #[test]
    fn a_finer_grid_has_the_same_scale_and_rounds_the_answers() {
        let fine = prepared("query = 'values'\nepsilon = 0.5\ngrid = 0.125", 1.3);
        assert_eq!(
            (fine.answers.steps[0], rate("query = 'values'\nepsilon = 0.5\ngrid = 0.125")),
            (10.0, Ok(0.5 / 8.0))
        );
        // A step that does not divide the sensitivity is on the safe side.
        assert_eq!(rate("query = 'values'\nepsilon = 0.5\ngrid = 0.3"), Ok(0.125));
        let mut row = [Cell::ABSENT];
        let mut rng = Generator::seed_from_u64(1);
        for _ in 0..1000 {
            fine.run(&mut rng, &mut row);
            assert_eq!((row[0].raw() * 8.0).fract(), 0.0);
        }
    }

    #[test]
    fn noise_without_end_is_refused_and_a_cut_one_is_drawn() {
        // Once all but the last never ended, and ten million draws of the last took years.
        let problem = rate("query = 'count'\nepsilon = 1e-320").unwrap_err();
        assert!(problem.starts_with("params.epsilon is 1e-320, too little"), "{problem}");
        assert!(rate("query = 'count'\nepsilon = 1e-200\nscale_factor = 1e200").is_err());
        assert!(
            rate("query = 'count'\nepsilon = 1.0\nsensitivity = 1e300\ngrid = 1e-300").is_err(),
            "infinitely many steps"
        );
        let mechanism = prepared("query = 'values'\nepsilon = 1e-9\ncut = 0", 5.0);
        let mut row = [Cell::ABSENT];
        mechanism.run(&mut Generator::seed_from_u64(1), &mut row);
        assert_eq!(row[0], Cell::number(5.0));
    }

    #[test]
    fn cut_noise_has_its_exact_probabilities() {
        // Hoeffding: a frequency of n draws is off by more than √(ln(2/α)/2n) with probability at
        // most α.
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
            assert!(
                (f64::from(count) / f64::from(N) - p).abs() <= allowed,
                "{k}: {count} of {N}, expected {p}, α = {FALSE_ALARM}"
            );
        }
    }
}
