//! All noise samplers. Every mechanism in Rust draws its noise with them.
//!
//! `discrete_gaussian.rs` has the discrete Gaussian, in integers; all others are here.

mod discrete_gaussian;

pub use discrete_gaussian::{DiscreteGaussian, LARGEST_SIGMA, LEAST_SIGMA};

use rand::RngExt;
use rand_distr::{Distribution, Exp1, OpenClosed01, StandardNormal};

/// The generator that all mechanisms draw from.
pub type Generator = rand_pcg::Pcg64Mcg;

/// Laplace noise: density `e^(-|z|/scale) / (2·scale)`.
#[inline]
pub fn laplace(rng: &mut Generator, scale: f64) -> f64 {
    let magnitude: f64 = Exp1.sample(rng);
    // The sign is set as a bit: a branch on it could not be predicted.
    let negative = u64::from(!rng.random::<bool>());
    scale * f64::from_bits(magnitude.to_bits() | negative << 63)
}

/// Exponential noise: density `e^(-z/scale) / scale` for `z ≥ 0`, and 0 below.
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
/// It is the difference of two geometric variables with ratio `e^-rate`; each of them is an
/// exponential variable, rounded down.
#[inline]
pub fn discrete_laplace(rng: &mut Generator, rate: f64) -> f64 {
    let a: f64 = Exp1.sample(rng);
    let b: f64 = Exp1.sample(rng);
    (a / rate).floor() - (b / rate).floor()
}

/// The smallest rate of [`discrete_laplace`]: from this rate on its noise is finite.
pub const LEAST_RATE: f64 = 1e-300;

/// Discrete Laplace noise of limited size: `P(z) ∝ e^(-|z|·rate)` for `|z| ≤ cut`, else 0.
///
/// Exact, by rejection sampling. For all parameters a candidate is accepted with probability at
/// least ½: a thousand in a row are rejected with probability at most 2^-1000. Candidates are
/// unlimited noise if more than half of it is within the cut. Otherwise `q^(cut+1) ≥ (1+q)/4` with
/// `q = e^-rate`. Then all weights `q^|z|` are at least ½, and candidates are uniform.
#[derive(Clone, Copy, Debug)]
pub struct CutDiscreteLaplace {
    rate: f64,
    /// Infinite if there is no cut.
    cut: f64,
    /// The cut, if candidates are uniform.
    narrow: Option<i64>,
}

impl CutDiscreteLaplace {
    /// The distribution with this rate and this cut; without a cut the noise is unlimited.
    #[must_use]
    pub fn new(rate: f64, cut: Option<u32>) -> Self {
        // The share of unlimited noise within the cut: 1 − 2q^(cut+1)/(1+q), without cancellation.
        let within = |cut: u32| {
            let q = (-rate).exp();
            (-(-rate * (f64::from(cut) + 1.0)).exp_m1() - q * (-rate * f64::from(cut)).exp_m1())
                / (1.0 + q)
        };
        let narrow = cut.filter(|cut| within(*cut) <= 0.5).map(i64::from);
        Self { rate, cut: cut.map_or(f64::INFINITY, f64::from), narrow }
    }

    /// One draw.
    #[inline]
    pub fn sample(&self, rng: &mut Generator) -> f64 {
        match self.narrow {
            None => loop {
                let noise = discrete_laplace(rng, self.rate);
                if noise.abs() <= self.cut {
                    return noise;
                }
            },
            Some(cut) => loop {
                let noise = rng.random_range(-cut..=cut) as f64;
                if uniform(rng) < (-noise.abs() * self.rate).exp() {
                    return noise;
                }
            },
        }
    }
}

/// Noise with density proportional to `1/(1 + |z|^γ)`, for any γ > 1; γ = 2 is the Cauchy
/// distribution.
///
/// Exact, by rejection sampling. For a magnitude u, `½·min(1, u^-γ) ≤ 1/(1 + u^γ) ≤ min(1, u^-γ)`,
/// so a candidate is accepted with probability at least ½. Below 1 the upper bound is uniform, `u =
/// v`; above 1 it is a Pareto tail, `u = v^(-1/(γ-1))`. The areas of these two parts have the ratio
/// γ−1 to 1. In both parts the density is the bound divided by `1 + v^q`, with q = γ below 1 and q
/// = γ/(γ−1) above.
#[derive(Clone, Copy, Debug)]
pub struct PowerTail {
    gamma: f64,
    /// The share of the bound's area below 1, in units of 2^-53.
    body: f64,
    /// `-1/(γ−1)`.
    tail_power: f64,
}

impl PowerTail {
    /// The distribution with this γ.
    ///
    /// # Errors
    /// When γ is not a finite number greater than 1: the density then has no finite integral.
    pub fn new(gamma: f64) -> Result<Self, String> {
        if gamma > 1.0 && gamma.is_finite() {
            Ok(Self {
                gamma,
                body: (gamma - 1.0) / gamma * (1_u64 << 53) as f64,
                tail_power: -1.0 / (gamma - 1.0),
            })
        } else {
            Err(format!("is {gamma}, must be greater than 1 and finite"))
        }
    }

    /// One draw.
    #[inline]
    pub fn sample(&self, rng: &mut Generator) -> f64 {
        loop {
            // One random word: the upper 53 bits choose the part, the lowest bit becomes the sign.
            let word: u64 = rng.random();
            let in_body = ((word >> 11) as f64) < self.body;
            let v: f64 = OpenClosed01.sample(rng);
            let height: f64 = rng.random();
            // Because q > 1 and v ≤ 1, v^q ≤ v. So most draws are accepted without computing a
            // power.
            let accepted = height * (1.0 + v) <= 1.0 || {
                let q = if in_body { self.gamma } else { -self.gamma * self.tail_power };
                height * (1.0 + v.powf(q)) <= 1.0
            };
            if accepted {
                let magnitude = if in_body { v } else { v.powf(self.tail_power) };
                return f64::from_bits(magnitude.to_bits() | (word << 63));
            }
        }
    }
}

/// Uniform in [0, 1).
#[inline]
pub fn uniform(rng: &mut Generator) -> f64 {
    rng.random()
}

/// A whole number below `n`, each with the same probability; 0 if `n` is 0.
#[inline]
pub fn below(rng: &mut Generator, n: u16) -> u16 {
    // 48 random bits times n, without the 48 lowest bits: no number is more likely than another by
    // more than 2^-48.
    let bits = rng.random::<u64>() >> 16;
    #[allow(clippy::cast_possible_truncation)] // less than n
    let number = ((bits * u64::from(n)) >> 48) as u16;
    number
}

/// True with probability `p`.
#[inline]
pub fn bernoulli(rng: &mut Generator, p: f64) -> bool {
    uniform(rng) < p
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// The Dvoretzky–Kiefer–Wolfowitz–Massart inequality: the largest distance between an empirical
    /// and the true distribution function exceeds √(ln(2/α)/2n) with probability at most α. So one
    /// test in a million fails by chance.
    const FALSE_ALARM: f64 = 1e-6;

    fn follows(sample: impl Fn(&mut Generator) -> f64, cdf: impl Fn(f64) -> f64, points: &[f64]) {
        const N: usize = 1_000_000;
        let mut rng = Generator::seed_from_u64(7);
        let drawn: Vec<f64> = (0..N).map(|_| sample(&mut rng)).collect();
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        for &x in points {
            let k = drawn.iter().filter(|y| **y <= x).count();
            let distance = (k as f64 / N as f64 - cdf(x)).abs();
            assert!(
                distance <= allowed,
                "at {x}: {k} of {N}, expected {}, α = {FALSE_ALARM}",
                cdf(x)
            );
        }
    }

    const POINTS: [f64; 11] = [-20.0, -6.0, -3.0, -1.0, -0.1, 0.0, 0.3, 1.0, 2.0, 5.0, 12.0];

    #[test]
    fn whole_numbers_below_a_limit_are_uniform() {
        for n in [1_u16, 2, 7] {
            let points: Vec<f64> = (0..n).map(f64::from).collect();
            follows(|rng| below(rng, n).into(), |x| (x + 1.0) / f64::from(n), &points);
        }
        follows(
            |rng| below(rng, u16::MAX).into(),
            |x| (x + 1.0) / 65_535.0,
            &[0.0, 1000.0, 30_000.0, 65_000.0],
        );
    }

    #[test]
    fn laplace_follows_its_distribution() {
        let scale = 1.7;
        let cdf =
            |x: f64| if x < 0.0 { 0.5 * (x / scale).exp() } else { 1.0 - 0.5 * (-x / scale).exp() };
        follows(|rng| laplace(rng, scale), cdf, &POINTS);
    }

    #[test]
    fn exponential_follows_its_distribution() {
        let scale = 1.7;
        follows(
            |rng| exponential(rng, scale),
            |x| if x < 0.0 { 0.0 } else { 1.0 - (-x / scale).exp() },
            &POINTS,
        );
    }

    #[test]
    fn gaussian_follows_its_distribution() {
        let sigma = 2.5;
        follows(
            |rng| gaussian(rng, sigma),
            |x| 0.5 * statrs::function::erf::erfc(-x / (sigma * 2f64.sqrt())),
            &POINTS,
        );
    }

    #[test]
    fn discrete_laplace_follows_its_distribution() {
        let rate = 0.6_f64;
        let q = (-rate).exp();
        // P(Z ≤ k) = q^-k / (1 + q) for k < 0, and 1 − q^(k+1) / (1 + q) for k ≥ 0.
        let cdf = |x: f64| {
            if x < 0.0 {
                q.powf(-x.floor()) / (1.0 + q)
            } else {
                1.0 - q.powf(x.floor() + 1.0) / (1.0 + q)
            }
        };
        follows(|rng| discrete_laplace(rng, rate), cdf, &POINTS);
    }

    /// The distribution function of `CutDiscreteLaplace`, summed up from its definition.
    fn cut_cdf(rate: f64, cut: i32, x: f64) -> f64 {
        let weight = |k: i32| (-rate * f64::from(k.abs())).exp();
        let below = (-cut..=cut).filter(|k| f64::from(*k) <= x).map(weight);
        below.sum::<f64>() / (-cut..=cut).map(weight).sum::<f64>()
    }

    #[test]
    fn cut_discrete_laplace_follows_its_distribution_with_either_kind_of_candidate() {
        // At most half of the noise is within the narrow cuts, and more than half within the wide
        // cuts.
        let narrow = [(1e-300, 0), (1e-9, 3), (0.05, 7), (0.6, 0), (1e-4, 40)];
        let wide = [(1.0, 3), (0.6, 1), (2.0, 0), (0.05, 40), (800.0, 0)];
        for ((rate, cut), is_narrow) in
            narrow.map(|case| (case, true)).into_iter().chain(wide.map(|case| (case, false)))
        {
            let noise = CutDiscreteLaplace::new(rate, Some(cut));
            assert_eq!(noise.narrow.is_some(), is_narrow, "rate {rate}, cut {cut}");
            let cut = i32::try_from(cut).unwrap();
            let places: Vec<f64> = (-cut..=cut).map(f64::from).collect();
            follows(|rng| noise.sample(rng), |x| cut_cdf(rate, cut, x), &places);
        }
    }

    #[test]
    fn without_a_narrow_cut_the_stream_is_that_of_unlimited_noise() {
        for cut in [None, Some(40)] {
            let (mut one, mut other) = (Generator::seed_from_u64(3), Generator::seed_from_u64(3));
            let noise = CutDiscreteLaplace::new(1.0, cut);
            assert!(
                (0..10_000).all(|_| noise.sample(&mut one) == discrete_laplace(&mut other, 1.0))
            );
        }
    }

    #[test]
    fn sampling_ends_for_every_cut_and_every_rate() {
        // Earlier versions did not end here: with a tiny rate all noise was infinite, and with a
        // small rate it was hardly ever 0.
        let mut rng = Generator::seed_from_u64(4);
        assert!((0..1000).all(|_| discrete_laplace(&mut rng, LEAST_RATE).is_finite()));
        for (rate, cut) in
            [(1e-9, 0), (LEAST_RATE, u32::MAX), (1e-12, u32::MAX), (f64::INFINITY, 0)]
        {
            let noise = CutDiscreteLaplace::new(rate, Some(cut));
            assert!(
                (0..1000).all(|_| noise.sample(&mut rng).abs() <= f64::from(cut)),
                "rate {rate}, cut {cut}"
            );
        }
    }

    /// The distribution function of `PowerTail` by Simpson's rule.
    fn power_tail_cdf(gamma: f64, x: f64) -> f64 {
        let simpson = |f: &dyn Fn(f64) -> f64, to: f64| {
            const STEPS: u32 = 20_000;
            let h = to / f64::from(STEPS);
            let weight =
                |i: u32| if i == 0 || i == STEPS { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            (0..=STEPS).map(|i| weight(i) * f(f64::from(i) * h)).sum::<f64>() * h / 3.0
        };
        // ∫ du/(1+u^γ) from 0 to `to` ≤ 1, and from `from` ≥ 1 to ∞, where s = u^(1-γ) gives
        // (1/(γ-1)) ∫ ds/(1+s^(γ/(γ-1))).
        let body = |to: f64| simpson(&|u| 1.0 / (1.0 + u.powf(gamma)), to);
        let tail = |from: f64| {
            simpson(&|s| 1.0 / (1.0 + s.powf(gamma / (gamma - 1.0))), from.powf(1.0 - gamma))
                / (gamma - 1.0)
        };
        let half = body(1.0) + tail(1.0);
        let above = if x.abs() < 1.0 { half - body(x.abs()) } else { tail(x.abs()) } / (2.0 * half);
        if x < 0.0 { above } else { 1.0 - above }
    }

    #[test]
    fn power_tail_follows_its_distribution() {
        let cauchy = |x: f64| 0.5 + x.atan() / std::f64::consts::PI;
        for x in POINTS {
            assert!(
                (power_tail_cdf(2.0, x) - cauchy(x)).abs() < 1e-9,
                "at {x}: {}",
                power_tail_cdf(2.0, x)
            );
        }
        for gamma in [1.1, 1.5, 2.0, 3.0, 4.0, 7.5, 40.0] {
            let noise = PowerTail::new(gamma).unwrap();
            let points =
                [POINTS.as_slice(), &[-1e6, -300.0, -1.05, -0.97, 0.7, 0.9, 1.2, 1.5, 90.0, 1e4]]
                    .concat();
            follows(|rng| noise.sample(rng), |x| power_tail_cdf(gamma, x), &points);
        }
    }

    #[test]
    fn power_tail_needs_an_integrable_density() {
        assert_eq!(PowerTail::new(1.0).unwrap_err(), "is 1, must be greater than 1 and finite");
        assert!(PowerTail::new(f64::NAN).is_err());
        assert!(PowerTail::new(f64::INFINITY).is_err());
    }

    #[test]
    fn uniform_follows_its_distribution() {
        follows(uniform, |x| x.clamp(0.0, 1.0), &POINTS);
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
