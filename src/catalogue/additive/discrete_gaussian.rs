//! Discrete Gaussian noise on a grid.
//!
//! *Claim*: with `P(k) ∝ e^(-k²/2σ²)` over the steps of a grid, answers that move by at most Δ
//! steps are ρ-zCDP with `ρ = Δ²/2σ²`, like continuous Gaussian noise. Answers are first rounded to
//! the grid. Then one record moves them by at most `⌈Δ/step⌉` steps. *Neighbours*: those under
//! which Δ is the query's sensitivity. *Source*: Canonne, Kamath, Steinke 2020, "The discrete
//! Gaussian for differential privacy". *True leakage*: at every whole order α the Rényi divergence
//! of answers Δ steps apart is exactly `α·Δ²/2σ²`, because the shifted sum over all integers is the
//! sum itself.
//!
//! *The bugs*: a `scale_factor` below 1 adds too little noise, and the true ρ is `ρ /
//! scale_factor²`. Another one is in the claim: the noise is *not* Δ/σ-GDP. For σ = Δ = 1 the event
//! "at most 0" has probability 0.6995 on answer 0 and 0.3005 on answer 1, and needs μ ≥ 1.046. For
//! the same reason the calibrations to (ε, δ), which are those of continuous noise, are exact only
//! for large σ.

use serde::Deserialize;

use crate::catalogue::additive::continuous::{Calibration, one};
use crate::catalogue::additive::grid::GridAnswers;
use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::Positive;
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of discrete Gaussian noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    query: Query,
    calibration: Calibration,
    /// The ℓ₂ sensitivity that the calibration uses; the query's own when absent.
    sensitivity: Option<Positive>,
    /// Multiplies the noise; 1 is correct.
    #[serde(default = "one")]
    scale_factor: Positive,
    /// The step of the grid.
    #[serde(default = "one")]
    grid: Positive,
}

/// `f(D)` on a grid plus discrete Gaussian noise, on every component.
pub struct DiscreteGaussian {
    answers: GridAnswers,
    noise: noise::DiscreteGaussian,
}

impl Mechanism for DiscreteGaussian {
    const NAME: &'static str = "discrete-gaussian";
    const SUMMARY: &'static str =
        "a query on a grid plus discrete Gaussian noise, P(k) ∝ e^(-k²/2σ²), drawn with integers";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        let grid = params.grid.get();
        // Rounded up to whole steps, because answers are.
        let sensitivity =
            (params.sensitivity.map_or(answers.sensitivity, Positive::get) / grid).ceil() * grid;
        let steps = params.calibration.sigma(sensitivity, params.scale_factor)? / grid;
        let noise = noise::DiscreteGaussian::new(steps).map_err(|problem| {
            Misfit::params(
                "calibration",
                &format!("gives a standard deviation, in steps of the grid, that {problem}"),
            )
        })?;
        Ok(Self { answers: GridAnswers::new(&answers.values, grid), noise })
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

    fn prepared(text: &str, value: f64) -> Result<DiscreteGaussian, String> {
        let data = Dataset::of_numbers(&[value]);
        let params: Params = read_toml(&format!("query = 'values'\n{text}"));
        DiscreteGaussian::prepare(&params, &data, &Universe::of(&data, &data))
            .map_err(|misfit| misfit.to_string())
    }

    fn draws(mechanism: &DiscreteGaussian, count: usize) -> Vec<f64> {
        let mut rng = Generator::seed_from_u64(3);
        let mut row = [Cell::ABSENT];
        (0..count)
            .map(|_| {
                mechanism.run(&mut rng, &mut row);
                row[0].raw()
            })
            .collect()
    }

    #[test]
    fn noise_is_around_the_answer_and_on_the_grid() {
        let fine = prepared("calibration = { rho = 0.5 }\ngrid = 0.25", 1.3).unwrap();
        assert_eq!(fine.answers.steps, [5.0]);
        let drawn = draws(&fine, 100_000);
        assert!(drawn.iter().all(|y| (y * 4.0).fract() == 0.0));
        // Four steps are σ = 1; five standard errors of the mean and of the mean square have
        // probability 6e-7.
        let mean = drawn.iter().map(|y| y - 1.25).sum::<f64>() / 1e5;
        let square = drawn.iter().map(|y| (y - 1.25).powi(2)).sum::<f64>() / 1e5;
        assert!(mean.abs() < 5.0 / 1e5_f64.sqrt(), "{mean}");
        assert!((square - 1.0).abs() < 5.0 * (2.0 / 1e5_f64).sqrt(), "{square}");
    }

    #[test]
    fn the_broken_twin_draws_from_less_noise() {
        let short = prepared("calibration = { mu = 1.0 }\nscale_factor = 0.9", 0.0).unwrap();
        let same = prepared("calibration = { sigma = 0.9 }", 0.0).unwrap();
        assert_eq!(draws(&short, 1000), draws(&same, 1000));
        // A step that does not divide the sensitivity is on the safe side: two steps of 0.7.
        let coarse = prepared("calibration = { mu = 1.0 }\ngrid = 0.7", 0.0).unwrap();
        let two: Vec<f64> = draws(&prepared("calibration = { sigma = 2.0 }", 0.0).unwrap(), 1000);
        assert!(draws(&coarse, 1000).iter().zip(two).all(|(y, steps)| *y == steps * 0.7));
    }

    #[test]
    fn at_whole_orders_the_divergence_is_that_of_continuous_noise_and_the_best_event_needs_more_than_mu()
     {
        // The documentation's figures, summed up from the definition.
        for sigma in [0.5, 1.0, 2.0] {
            let p = |k: i32| (-f64::from(k * k) / (2.0 * sigma * sigma)).exp();
            let total: f64 = (-100..=100).map(p).sum();
            for order in [2, 3, 8] {
                let exponent = |k: i32| {
                    f64::from(order * k * k + (1 - order) * (k - 1) * (k - 1))
                        / (2.0 * sigma * sigma)
                };
                let sum: f64 = (-200..=200).map(|k| (-exponent(k)).exp()).sum::<f64>() / total;
                let found = sum.ln() / f64::from(order - 1);
                assert!(
                    (found - f64::from(order) / (2.0 * sigma * sigma)).abs() < 1e-9,
                    "σ = {sigma}, order {order}: {found}"
                );
            }
        }
        let total: f64 = (-40..=40).map(|k| (-f64::from(k * k) / 2.0).exp()).sum();
        let at_most_0 = (-40..=0).map(|k| (-f64::from(k * k) / 2.0).exp()).sum::<f64>() / total;
        assert!((at_most_0 - 0.6995).abs() < 5e-5, "{at_most_0}");
    }

    #[test]
    fn noise_out_of_range_is_refused() {
        let problem = prepared("calibration = { sigma = 1e13 }", 0.0).err().unwrap();
        assert!(
            problem.starts_with("params.calibration gives a standard deviation, in steps of the grid, that is 1e13, must be"),
            "{problem}"
        );
        assert!(prepared("calibration = { sigma = 1e9 }\ngrid = 1e-9", 0.0).is_err());
    }
}
