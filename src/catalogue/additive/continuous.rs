//! A query's answer plus noise.
//!
//! *Claim*: Laplace noise of scale `Δ/ε` is ε-DP, exactly; Gaussian as its calibration says.
//! *Neighbours*: those under which `Δ` is the query's sensitivity.
//! *The bug*, one parameter away: `scale_factor` below 1 adds too little noise, and the true ε is `ε / scale_factor`;
//! a `sensitivity` that is too small does the same.

use std::num::NonZeroUsize;

use serde::Deserialize;
use statrs::function::erf::erfc;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::claim::{Epsilon, Positive, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::{Cell, MAX_WIDTH};
use crate::target::{Mechanism, Misfit, Universe};

fn one() -> Positive {
    Positive::ONE
}

fn once() -> NonZeroUsize {
    NonZeroUsize::MIN
}

/// Parameters of noise in proportion to sensitivity over ε.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PureParams {
    query: Query,
    epsilon: Epsilon,
    /// Replaces the query's own sensitivity.
    sensitivity: Option<Positive>,
    /// Multiplies the noise; 1 is correct.
    #[serde(default = "one")]
    scale_factor: Positive,
    /// How often all answers are released, each time with noise of its own: the leaks add up.
    #[serde(default = "once")]
    copies: NonZeroUsize,
}

impl PureParams {
    /// The exact answers and the scale of the noise on each.
    fn prepare(&self, data: &Dataset, universe: &Universe) -> Result<(Vec<f64>, f64), Misfit> {
        let answers = self.query.answer(data, universe)?;
        let sensitivity = self.sensitivity.map_or(answers.sensitivity, Positive::get);
        if answers.values.len().saturating_mul(self.copies.get()) > MAX_WIDTH {
            return Err(Misfit::Params(format!(
                "params.copies is {}, which makes an output of more than {MAX_WIDTH} cells; release less",
                self.copies
            )));
        }
        Ok((answers.values.repeat(self.copies.get()), sensitivity / self.epsilon.get() * self.scale_factor.get()))
    }
}

/// `f(D) + Lap(Δ/ε)` on every component.
pub struct Laplace {
    values: Vec<f64>,
    scale: f64,
}

impl Mechanism for Laplace {
    const NAME: &'static str = "laplace";
    const SUMMARY: &'static str = "a query plus Laplace noise of scale Δ/ε, once or several times";
    type Params = PureParams;

    fn prepare(params: &PureParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let (values, scale) = params.prepare(data, universe)?;
        Ok(Self { values, scale })
    }

    fn width(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        add_noise(row, &self.values, || noise::laplace(rng, self.scale));
    }
}

/// Each value with noise of its own. A single one, the most frequent case by far, is spared the loop.
#[inline]
pub(super) fn add_noise(row: &mut [Cell], values: &[f64], mut noise: impl FnMut() -> f64) {
    match (row, values) {
        ([cell], [value]) => *cell = Cell::number(value + noise()),
        (row, values) => row.iter_mut().zip(values).for_each(|(cell, value)| *cell = Cell::number(value + noise())),
    }
}

/// The running sums of `f(D) + Lap(Δ/ε)`.
///
/// *Claim*: ε. *Neighbours*: single-component. *True leakage*: differences undo the sums, so it is that of the noisy
/// values themselves: ε times the number of components that differ, by 1 each.
pub struct PrefixSum(Laplace);

impl Mechanism for PrefixSum {
    const NAME: &'static str = "prefix-sum";
    const SUMMARY: &'static str = "running sums of a query's answers, each with Laplace noise of scale Δ/ε";
    type Params = PureParams;

    fn prepare(params: &PureParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        Laplace::prepare(params, data, universe).map(Self)
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let mut sum = 0.0;
        for (cell, value) in row.iter_mut().zip(&self.0.values) {
            sum += value + noise::laplace(rng, self.0.scale);
            *cell = Cell::number(sum);
        }
    }
}

/// How much Gaussian noise to add.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Calibration {
    /// This standard deviation, whatever ε and δ.
    Sigma(Positive),
    /// `σ = Δ·√(2 ln(1.25/δ))/ε`, proven for ε ≤ 1.
    Classic { epsilon: Epsilon, delta: PositiveDelta },
    /// The least σ that is (ε, δ)-DP (Balle & Wang 2018).
    Analytic { epsilon: Epsilon, delta: PositiveDelta },
    /// `σ = 2Δ·√(ln(1/δ))/ε`, as lecture slides print it.
    Slides { epsilon: Epsilon, delta: PositiveDelta },
}

/// The least δ at ε of Gaussian noise on answers that differ by μ standard deviations: `Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ)`.
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let phi = |x: f64| 0.5 * erfc(-x / std::f64::consts::SQRT_2);
    phi(mu / 2.0 - epsilon / mu) - epsilon.exp() * phi(-mu / 2.0 - epsilon / mu)
}

/// The least σ for answers that differ by 1, by bisection and from above.
fn analytic_sigma(epsilon: f64, delta: f64) -> f64 {
    // δ falls from 1 to 0 as σ grows.
    let (mut low, mut high) = (0.0, 1.0);
    while gaussian_delta(1.0 / high, epsilon) > delta {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if gaussian_delta(1.0 / middle, epsilon) > delta { low = middle } else { high = middle }
    }
    high
}

/// Parameters of Gaussian noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianParams {
    query: Query,
    calibration: Calibration,
    /// The ℓ₂ sensitivity that the calibration uses; the query's own when absent.
    sensitivity: Option<Positive>,
    /// Multiplies the noise; 1 is correct.
    #[serde(default = "one")]
    scale_factor: Positive,
}

/// `f(D) + N(0, σ²)` on every component.
pub struct Gaussian {
    values: Vec<f64>,
    sigma: f64,
}

impl Mechanism for Gaussian {
    const NAME: &'static str = "gaussian";
    const SUMMARY: &'static str = "a query plus Gaussian noise, σ given or calibrated to (ε, δ)";
    type Params = GaussianParams;

    fn prepare(params: &GaussianParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        let sensitivity = params.sensitivity.map_or(answers.sensitivity, Positive::get);
        let sigma = match &params.calibration {
            Calibration::Sigma(sigma) => sigma.get(),
            Calibration::Classic { epsilon, delta } => sensitivity * (2.0 * (1.25 / delta.get()).ln()).sqrt() / epsilon.get(),
            Calibration::Analytic { epsilon, delta } => sensitivity * analytic_sigma(epsilon.get(), delta.get()),
            Calibration::Slides { epsilon, delta } => 2.0 * sensitivity * (1.0 / delta.get()).ln().sqrt() / epsilon.get(),
        };
        Ok(Self { values: answers.values, sigma: sigma * params.scale_factor.get() })
    }

    fn width(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        add_noise(row, &self.values, || noise::gaussian(rng, self.sigma));
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::catalogue::registry::read_toml;

    fn params(text: &str) -> PureParams {
        read_toml(text)
    }

    #[test]
    fn copies_repeat_all_answers_and_leave_the_scale() {
        let data = Dataset::of_numbers(&[3.0, 4.0]);
        let universe = Universe::of(&data, &data);
        let prepared = Laplace::prepare(&params("query = 'values'\nepsilon = 0.5\ncopies = 3"), &data, &universe).unwrap();
        assert_eq!(prepared.values, [3.0, 4.0, 3.0, 4.0, 3.0, 4.0]);
        assert_eq!(prepared.scale, 2.0);
    }

    #[test]
    fn the_least_gaussian_noise_is_the_published_one() {
        // By bisection with 25 digits.
        for (epsilon, delta, sigma) in [(1.0, 1e-5, 3.730_631_634_815_942), (1.0, 0.01, 1.877_875_560_907_386)] {
            let found = analytic_sigma(epsilon, delta);
            assert!((found / sigma - 1.0).abs() < 1e-7, "{found} instead of {sigma}");
        }
    }

    #[test]
    fn running_sums_are_those_of_the_noisy_values() {
        let data = Dataset::of_numbers(&[1.0, 5.0, -2.0, 0.5]);
        let universe = Universe::of(&data, &data);
        let params = params("query = 'values'\nepsilon = 0.1");
        let mut noisy = [Cell::ABSENT; 4];
        Laplace::prepare(&params, &data, &universe).unwrap().run(&mut Generator::seed_from_u64(1), &mut noisy);
        let mut sums = [Cell::ABSENT; 4];
        PrefixSum::prepare(&params, &data, &universe).unwrap().run(&mut Generator::seed_from_u64(1), &mut sums);
        for i in 0..4 {
            let expected: f64 = noisy[..=i].iter().map(|cell| cell.raw()).sum();
            assert!((sums[i].raw() - expected).abs() < 1e-12);
        }
    }
}
