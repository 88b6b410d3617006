//! A query's answer plus noise.
//!
//! *Claim*: Laplace noise of scale `Δ/ε` is ε-DP, exactly; Gaussian as its calibration says.
//! *Neighbours*: those under which `Δ` is the query's sensitivity. *The bug*, one parameter away:
//! `scale_factor` below 1 adds too little noise, and the true ε is `ε / scale_factor`; a
//! `sensitivity` that is too small does the same.

use std::f64::consts::{PI, SQRT_2};
use std::num::NonZeroUsize;

use serde::Deserialize;
use statrs::function::erf::erfc;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Positive, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::{Cell, MAX_WIDTH};
use crate::target::{Mechanism, Misfit, Universe};

pub(super) fn one() -> Positive {
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
            return Err(Misfit::params(
                "copies",
                &format!(
                    "is {}, which makes an output of more than {MAX_WIDTH} cells; release less",
                    self.copies
                ),
            ));
        }
        Ok((
            answers.values.repeat(self.copies.get()),
            sensitivity / self.epsilon.get() * self.scale_factor.get(),
        ))
    }
}

/// `f(D) + Lap(Δ/ε)` on every component.
pub struct Laplace {
    pub(super) values: Vec<f64>,
    pub(super) scale: f64,
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

/// Each value with noise of its own. A single one, the most frequent case by far, is spared the
/// loop.
#[inline]
pub(super) fn add_noise(row: &mut [Cell], values: &[f64], mut noise: impl FnMut() -> f64) {
    match (row, values) {
        ([cell], [value]) => *cell = Cell::number(value + noise()),
        (row, values) => row
            .iter_mut()
            .zip(values)
            .for_each(|(cell, value)| *cell = Cell::number(value + noise())),
    }
}

/// The running sums of `f(D) + Lap(Δ/ε)`.
///
/// *Claim*: ε. *Neighbours*: single-component. *True leakage*: differences undo the sums, so it is
/// that of the noisy values themselves: ε times the number of components that differ, by 1 each.
pub struct PrefixSum(Laplace);

impl Mechanism for PrefixSum {
    const NAME: &'static str = "prefix-sum";
    const SUMMARY: &'static str =
        "running sums of a query's answers, each with Laplace noise of scale Δ/ε";
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
pub(super) enum Calibration {
    /// This standard deviation, whatever ε and δ.
    Sigma(Positive),
    /// `σ = Δ·√(2 ln(1.25/δ))/ε`, proven for ε ≤ 1.
    Classic { epsilon: Epsilon, delta: PositiveDelta },
    /// The least σ that is (ε, δ)-DP (Balle & Wang 2018).
    Analytic { epsilon: Epsilon, delta: PositiveDelta },
    /// `σ = 2Δ·√(ln(1/δ))/ε`, as lecture slides print it.
    Slides { epsilon: Epsilon, delta: PositiveDelta },
    /// `σ = Δ/μ`: exactly μ-GDP (Dong, Roth, Su 2022).
    Mu(Positive),
    /// `σ = Δ/√(2ρ)`: exactly ρ-zCDP (Bun, Steinke 2016).
    Rho(Positive),
}

impl Calibration {
    /// The standard deviation for answers of this ℓ₂ sensitivity, multiplied by `scale_factor`.
    pub(super) fn sigma(&self, sensitivity: f64, scale_factor: Positive) -> Result<f64, Misfit> {
        let sigma = match self {
            Self::Sigma(sigma) => sigma.get(),
            Self::Classic { epsilon, delta } => {
                sensitivity * (2.0 * (1.25 / delta.get()).ln()).sqrt() / epsilon.get()
            }
            Self::Analytic { epsilon, delta } => {
                sensitivity * analytic_sigma(epsilon.get(), delta.get())
            }
            Self::Slides { epsilon, delta } => {
                2.0 * sensitivity * (1.0 / delta.get()).ln().sqrt() / epsilon.get()
            }
            Self::Mu(mu) => sensitivity / mu.get(),
            Self::Rho(rho) => sensitivity / (2.0 * rho.get()).sqrt(),
        };
        let sigma = sigma * scale_factor.get();
        if sigma > 0.0 && sigma.is_finite() {
            Ok(sigma)
        } else {
            Err(Misfit::params(
                "calibration",
                &format!(
                    "gives a standard deviation of {sigma}, must be positive and finite; \
                 change its numbers, sensitivity or scale_factor"
                ),
            ))
        }
    }
}

/// `Φ(−x)`.
fn tail(x: f64) -> f64 {
    0.5 * erfc(x / SQRT_2)
}

/// `Φ(−x)/φ(x)`, Mills' ratio, for x ≥ −1.
fn mills(x: f64) -> f64 {
    if x < 10.0 {
        return (2.0 * PI).sqrt() * (0.5 * x * x).exp() * tail(x);
    }
    // The continued fraction x + 1/(x + 2/(x + …)): from 10 up forty terms are more than double
    // precision needs.
    1.0 / (1..=40).rev().fold(x, |rest, term| x + f64::from(term) / rest)
}

/// The least δ at ε of Gaussian noise on answers that differ by μ standard deviations: `Φ(−x) −
/// e^ε·Φ(−y)` with `x = ε/μ − μ/2` and `y = ε/μ + μ/2`.
///
/// As `φ(x) = e^ε·φ(y)`, the second term is `φ(x)·mills(y)`, in which nothing overflows. For small
/// μ the two terms are nearly equal, and what is left is `φ(x)` times the integral of `1 −
/// t·mills(t) = −mills'(t)` from x to y.
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let (x, y) = (epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0);
    if x > 40.0 {
        // Below the least number there is.
        return 0.0;
    }
    let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
    if mu < 0.01 {
        // Gauss–Legendre with three points.
        let slope = |place: f64| 1.0 - place * mills(place);
        let (middle, off) = (f64::midpoint(x, y), mu / 2.0 * 0.6_f64.sqrt());
        return density
            * mu
            * (5.0 * slope(middle - off) + 8.0 * slope(middle) + 5.0 * slope(middle + off))
            / 18.0;
    }
    // As ε ≤ y²/2, neither factor of the plain form leaves the range of numbers here.
    tail(x) - if y < 30.0 { epsilon.exp() * tail(y) } else { density * mills(y) }
}

/// The least σ for answers that differ by 1, by bisection and from above.
fn analytic_sigma(epsilon: f64, delta: f64) -> f64 {
    // δ falls from 1 to 0 as σ grows.
    let enough = |sigma: f64| gaussian_delta(1.0 / sigma, epsilon) <= delta;
    let mut high = 1.0;
    while !enough(high) {
        high *= 2.0;
    }
    while high.is_finite() && enough(0.5 * high) {
        high *= 0.5;
    }
    let mut low = 0.5 * high;
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if enough(middle) { high = middle } else { low = middle }
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
    const SUMMARY: &'static str =
        "a query plus Gaussian noise, σ given or calibrated to (ε, δ), μ or ρ";
    type Params = GaussianParams;

    fn prepare(
        params: &GaussianParams,
        data: &Dataset,
        universe: &Universe,
    ) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        let sensitivity = params.sensitivity.map_or(answers.sensitivity, Positive::get);
        Ok(Self {
            values: answers.values,
            sigma: params.calibration.sigma(sensitivity, params.scale_factor)?,
        })
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
        let prepared = Laplace::prepare(
            &params("query = 'values'\nepsilon = 0.5\ncopies = 3"),
            &data,
            &universe,
        )
        .unwrap();
        assert_eq!(prepared.values, [3.0, 4.0, 3.0, 4.0, 3.0, 4.0]);
        assert_eq!(prepared.scale, 2.0);
    }

    #[test]
    fn the_least_gaussian_noise_is_the_published_one() {
        // Balle & Wang's formula, by bisection with 60 digits and more.
        for (epsilon, delta, sigma) in [
            (1.0, 1e-5, 3.730_631_634_815_94),
            (1.0, 0.01, 1.877_875_560_907_386),
            (3.0, 0.9, 0.225_538_503_612_804),
            (20.0, 1e-3, 0.246_721_797_384_339),
            // From here on e^ε is infinite.
            (710.0, 1e-5, 0.029_688_223_194_158_7),
            (800.0, 1e-5, 0.027_789_114_082_250_8),
            (5000.0, 1e-10, 0.010_655_250_662_462_1),
            (1e6, 1e-6, 7.094_871_322_697_31e-4),
            // Here the second term is below all numbers, or next to the first one.
            (100.0, 1e-300, 0.382_798_397_497_762),
            (1e-6, 1e-9, 2_436_407.913_810_17),
            (1e-9, 1e-20, 6_146_352_868.483_54),
            (1e-9, 0.01, 39.893_181_606_800_7),
            (1e-12, 1e-6, 398_942.080_930_519),
            (1e-15, 1e-15, 276_029_804_798_143.4),
        ] {
            let found = analytic_sigma(epsilon, delta);
            // `erfc` has some ten digits.
            assert!(
                (found / sigma - 1.0).abs() < 1e-9,
                "ε = {epsilon}, δ = {delta}: {found} instead of {sigma}"
            );
        }
    }

    /// δ as the expectation of `1 − e^(ε − L)` where that is positive; the loss L is normal with
    /// mean μ²/2 and variance μ². By Simpson's rule.
    fn expected_delta(mu: f64, epsilon: f64) -> f64 {
        const STEPS: u32 = 200_000;
        // L = μ²/2 + μ·z exceeds ε where z is above this; beyond 40 there is nothing.
        let from = (epsilon / mu - mu / 2.0).max(-40.0);
        let h = (40.0 - from) / f64::from(STEPS);
        let value = |i: u32| {
            let z = from + f64::from(i) * h;
            -(-0.5 * z * z).exp() * (epsilon - mu * mu / 2.0 - mu * z).exp_m1() / (2.0 * PI).sqrt()
        };
        let weight = |i: u32| if i == 0 || i == STEPS { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        (0..=STEPS).map(|i| weight(i) * value(i)).sum::<f64>() * h / 3.0
    }

    #[test]
    fn the_least_gaussian_noise_has_exactly_the_expected_delta() {
        for epsilon in [0.01, 1.0, 30.0, 709.0, 711.0, 800.0, 10_000.0] {
            for delta in [1e-12, 1e-5, 0.3] {
                let sigma = analytic_sigma(epsilon, delta);
                let found = expected_delta(1.0 / sigma, epsilon);
                assert!((found / delta - 1.0).abs() < 1e-7, "ε = {epsilon}, δ = {delta}: {found}");
            }
        }
    }

    #[test]
    fn noise_that_is_no_number_is_refused() {
        let data = Dataset::of_numbers(&[1.0]);
        let prepared = |calibration: &str| {
            let text = format!("query = 'count'\ncalibration = {calibration}");
            let params: GaussianParams = read_toml(&text);
            Gaussian::prepare(&params, &data, &Universe::of(&data, &data))
                .map(|gaussian| gaussian.sigma)
        };
        let problem = prepared("{ analytic = { epsilon = 1e-320, delta = 1e-320 } }")
            .unwrap_err()
            .to_string();
        assert!(
            problem.starts_with(
                "params.calibration gives a standard deviation of inf, must be positive and finite"
            ),
            "{problem}"
        );
        assert!(prepared("{ classic = { epsilon = 1e-320, delta = 0.1 } }").is_err());
        assert!(
            prepared("{ analytic = { epsilon = 1e300, delta = 0.1 } }")
                .is_ok_and(|sigma| sigma > 0.0)
        );
    }

    #[test]
    fn every_calibration_has_its_formula_and_a_factor() {
        let data = Dataset::of_numbers(&[1.0]);
        let sigma = |calibration: &str, more: &str| {
            let params: GaussianParams = read_toml(&format!(
                "query = {{ sum = {{ lower = 0.0, upper = 3.0 }} }}\ncalibration = {calibration}\n{more}"
            ));
            Gaussian::prepare(&params, &data, &Universe::of(&data, &data)).unwrap().sigma
        };
        for (calibration, expected) in [
            ("{ sigma = 0.7 }", 0.7),
            ("{ classic = { epsilon = 0.5, delta = 0.01 } }", 6.0 * (2.0 * 125_f64.ln()).sqrt()),
            ("{ analytic = { epsilon = 1.0, delta = 0.01 } }", 3.0 * 1.877_875_560_907_386),
            ("{ slides = { epsilon = 0.5, delta = 0.01 } }", 12.0 * 100_f64.ln().sqrt()),
            ("{ mu = 0.5 }", 6.0),
            ("{ rho = 0.125 }", 6.0),
        ] {
            let found = sigma(calibration, "");
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{calibration}: {found} instead of {expected}"
            );
            let short = sigma(calibration, "scale_factor = 0.9");
            assert!((short / found - 0.9).abs() < 1e-12, "{calibration}: {short} of {found}");
        }
        // ρ of σ is Δ²/2σ², so μ²/2: the same noise.
        assert_eq!(sigma("{ mu = 1.0 }", ""), sigma("{ rho = 0.5 }", ""));
        assert_eq!(sigma("{ mu = 1.0 }", "sensitivity = 1.0"), 1.0);
    }

    #[test]
    fn a_calibration_out_of_range_is_refused() {
        let problem = |calibration: &str| {
            let table: crate::model::Params =
                toml::from_str(&format!("query = 'count'\ncalibration = {calibration}")).unwrap();
            crate::catalogue::registry::read_params::<GaussianParams>(&table)
                .err()
                .unwrap()
                .to_string()
        };
        assert_eq!(
            problem("{ mu = 0.0 }"),
            "params.calibration.mu is 0, must be positive and finite"
        );
        assert_eq!(
            problem("{ rho = -0.5 }"),
            "params.calibration.rho is -0.5, must be positive and finite"
        );
        assert!(problem("{ tau = 1.0 }").contains("`mu`, `rho`"), "{}", problem("{ tau = 1.0 }"));
    }

    #[test]
    fn running_sums_are_those_of_the_noisy_values() {
        let data = Dataset::of_numbers(&[1.0, 5.0, -2.0, 0.5]);
        let universe = Universe::of(&data, &data);
        let params = params("query = 'values'\nepsilon = 0.1");
        let mut noisy = [Cell::ABSENT; 4];
        Laplace::prepare(&params, &data, &universe)
            .unwrap()
            .run(&mut Generator::seed_from_u64(1), &mut noisy);
        let mut sums = [Cell::ABSENT; 4];
        PrefixSum::prepare(&params, &data, &universe)
            .unwrap()
            .run(&mut Generator::seed_from_u64(1), &mut sums);
        for i in 0..4 {
            let expected: f64 = noisy[..=i].iter().map(|cell| cell.raw()).sum();
            assert!((sums[i].raw() - expected).abs() < 1e-12);
        }
    }
}
