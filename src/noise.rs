//! One home for every sampler.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// The generator that all mechanisms draw from.
pub type Generator = rand_pcg::Pcg64Mcg;

/// Laplace noise: density `e^(-|z|/scale) / (2·scale)`.
#[inline]
pub fn laplace(rng: &mut Generator, scale: f64) -> f64 {
    let magnitude: f64 = Exp1.sample(rng);
    let sign = if rng.random::<bool>() { scale } else { -scale };
    sign * magnitude
}

/// Exponential noise: density `e^(-z/scale) / scale` for `z ≥ 0`, none below.
#[inline]
pub fn exponential(rng: &mut Generator, scale: f64) -> f64 {
    let magnitude: f64 = Exp1.sample(rng);
    scale * magnitude
}

/// Gaussian noise with standard deviation `sigma`.
#[inline]
pub fn gaussian(rng: &mut Generator, sigma: f64) -> f64 {
    let z: f64 = StandardNormal.sample(rng);
    sigma * z
}

/// Discrete Laplace noise: integers with `P(z) ∝ e^(-|z|·rate)`.
///
/// The difference of two geometric variables with ratio `e^-rate`; each is a rounded-down exponential variable.
#[inline]
pub fn discrete_laplace(rng: &mut Generator, rate: f64) -> f64 {
    let a: f64 = Exp1.sample(rng);
    let b: f64 = Exp1.sample(rng);
    (a / rate).floor() - (b / rate).floor()
}

/// True with probability `p`.
#[inline]
pub fn bernoulli(rng: &mut Generator, p: f64) -> bool {
    rng.random::<f64>() < p
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// The Dvoretzky–Kiefer–Wolfowitz–Massart inequality: the largest distance between an empirical and the true
    /// distribution function exceeds √(ln(2/α)/2n) with probability at most α. One test in a million fails by chance.
    const FALSE_ALARM: f64 = 1e-6;

    fn follows(sample: impl Fn(&mut Generator) -> f64, cdf: impl Fn(f64) -> f64, points: &[f64]) {
        const N: usize = 1_000_000;
        let mut rng = Generator::seed_from_u64(7);
        let drawn: Vec<f64> = (0..N).map(|_| sample(&mut rng)).collect();
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        for &x in points {
            let k = drawn.iter().filter(|y| **y <= x).count();
            let distance = (k as f64 / N as f64 - cdf(x)).abs();
            assert!(distance <= allowed, "at {x}: {k} of {N}, expected {}, α = {FALSE_ALARM}", cdf(x));
        }
    }

    const POINTS: [f64; 11] = [-20.0, -6.0, -3.0, -1.0, -0.1, 0.0, 0.3, 1.0, 2.0, 5.0, 12.0];

    #[test]
    fn laplace_follows_its_distribution() {
        let scale = 1.7;
        let cdf = |x: f64| if x < 0.0 { 0.5 * (x / scale).exp() } else { 1.0 - 0.5 * (-x / scale).exp() };
        follows(|rng| laplace(rng, scale), cdf, &POINTS);
    }

    #[test]
    fn exponential_follows_its_distribution() {
        let scale = 1.7;
        follows(|rng| exponential(rng, scale), |x| if x < 0.0 { 0.0 } else { 1.0 - (-x / scale).exp() }, &POINTS);
    }

    #[test]
    fn gaussian_follows_its_distribution() {
        let sigma = 2.5;
        follows(|rng| gaussian(rng, sigma), |x| 0.5 * statrs::function::erf::erfc(-x / (sigma * 2f64.sqrt())), &POINTS);
    }

    #[test]
    fn discrete_laplace_follows_its_distribution() {
        let rate = 0.6_f64;
        let q = (-rate).exp();
        // P(Z ≤ k) = q^-k / (1 + q) for k < 0, and 1 − q^(k+1) / (1 + q) for k ≥ 0.
        let cdf = |x: f64| if x < 0.0 { q.powf(-x.floor()) / (1.0 + q) } else { 1.0 - q.powf(x.floor() + 1.0) / (1.0 + q) };
        follows(|rng| discrete_laplace(rng, rate), cdf, &POINTS);
    }

    #[test]
    fn bernoulli_follows_its_probability() {
        follows(
            |rng| f64::from(u8::from(bernoulli(rng, 0.3))),
            |x| {
                if x < 0.0 {
                    0.0
                } else if x < 1.0 {
                    0.7
                } else {
                    1.0
                }
            },
            &POINTS,
        );
    }
}
