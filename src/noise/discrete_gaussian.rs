//! Discrete Gaussian noise, drawn with integers (Canonne, Kamath, Steinke 2020).

use rand::Rng;

use super::Generator;

/// The smallest σ of [`DiscreteGaussian`]: from here on σ² and 1/σ² are ordinary numbers.
pub const LEAST_SIGMA: f64 = 1e-100;

/// The largest σ of [`DiscreteGaussian`], 2^40: up to here every integer that occurs is exact as a
/// double.
pub const LARGEST_SIGMA: f64 = 1_099_511_627_776.0;

/// Discrete Gaussian noise: integers with `P(z) ∝ e^(-z²/2σ²)`.
///
/// By rejection sampling. With the integer `t = ⌊σ⌋ + 1`, a candidate y has the discrete Laplace
/// distribution, `P(y) ∝ e^(-|y|/t)`. It is accepted with probability `e^(-(|y| − σ²/t)²/2σ²)`. The
/// product is `e^(-y²/2σ²)` times a constant. For every σ, a candidate is accepted with probability
/// 0.44 or more.
///
/// Candidates and coins are exact: no logarithm, no exponential, no rounded quotient. Only the
/// exponent of the acceptance is computed in doubles. So the probability of z standard deviations
/// is off by a relative 1e-15·(1 + z²) at most.
#[derive(Clone, Copy, Debug)]
pub struct DiscreteGaussian {
    /// `⌊σ⌋ + 1`.
    scale: u64,
    /// `σ²/t`.
    offset: f64,
    /// `2σ²`.
    twice_variance: f64,
}

impl DiscreteGaussian {
    /// The distribution with this σ. Its variance is a little below σ² where σ is small.
    ///
    /// # Errors
    /// When σ is not between [`LEAST_SIGMA`] and [`LARGEST_SIGMA`].
    pub fn new(sigma: f64) -> Result<Self, String> {
        if !(LEAST_SIGMA..=LARGEST_SIGMA).contains(&sigma) {
            return Err(format!("is {sigma:e}, must be at least {LEAST_SIGMA:e} and at most 2^40"));
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // just checked
        let scale = sigma as u64 + 1;
        Ok(Self {
            scale,
            offset: sigma * sigma / scale as f64,
            twice_variance: 2.0 * sigma * sigma,
        })
    }

    /// One draw.
    #[inline]
    pub fn sample(&self, rng: &mut Generator) -> f64 {
        loop {
            let (magnitude, negative) = discrete_laplace(rng, self.scale);
            let distance = magnitude as f64 - self.offset;
            if exp_coin(rng, distance * distance / self.twice_variance) {
                return if negative { -(magnitude as f64) } else { magnitude as f64 };
            }
        }
    }
}

/// The magnitude and the sign of an integer with `P(z) ∝ e^(-|z|/t)`. The sign of 0 is plus.
///
/// `u + t·v` has `P(x) ∝ e^(-x/t)` if u < t has `P(u) ∝ e^(-u/t)` and v has `P(v) ∝ e^(-v)`. Of 0
/// and its negative, only one may count.
fn discrete_laplace(rng: &mut Generator, t: u64) -> (u64, bool) {
    loop {
        let u = below(rng, t);
        if !series_coin(rng, |rng| below(rng, t) < u) {
            continue;
        }
        let mut magnitude = u;
        while series_coin(rng, |_| true) {
            // Each step has probability 1/e, so the sum does not get near the end of the range.
            magnitude = magnitude.saturating_add(t);
        }
        let negative = rng.next_u64() >> 63 == 1;
        if magnitude > 0 || !negative {
            return (magnitude, negative);
        }
    }
}

/// True with probability `e^(-x)`, for any x ≥ 0.
fn exp_coin(rng: &mut Generator, x: f64) -> bool {
    let mut rest = x;
    while rest > 1.0 {
        if !series_coin(rng, |_| true) {
            return false;
        }
        // Exact: the difference is a multiple of the last digit of `rest` and smaller.
        rest -= 1.0;
    }
    series_coin(rng, |rng| coin(|| rng.next_u64(), rest))
}

/// True with probability `e^(-x)`, from coins that are true with probability x ≤ 1.
///
/// Toss with probabilities x/1, x/2, x/3, … until one is false. The first k are true with
/// probability `x^k/k!`, so the number of tosses is odd with probability `1 − x + x²/2 − … =
/// e^(-x)`. A toss with probability x/k is one with x and one with 1/k.
fn series_coin(rng: &mut Generator, mut toss: impl FnMut(&mut Generator) -> bool) -> bool {
    let mut k = 1;
    while toss(rng) && (k == 1 || below(rng, k) == 0) {
        k += 1;
    }
    k % 2 == 1
}

/// True with probability exactly p, for every double p from 0 to 1: the binary digits of p and of a
/// uniform number are compared, 64 at a time.
fn coin(mut word: impl FnMut() -> u64, p: f64) -> bool {
    const BLOCK: f64 = 18_446_744_073_709_551_616.0;
    let mut rest = p;
    while rest > 0.0 {
        // A power of two and what is behind the point: both exact.
        let scaled = rest * BLOCK;
        let digits = scaled.floor();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole, from 0 to 2^64
        let (uniform, digits_of_p) = (u128::from(word()), digits as u128);
        if uniform != digits_of_p {
            return uniform < digits_of_p;
        }
        rest = scaled - digits;
    }
    false
}

/// A uniform integer below n ≥ 1. Multiplies a word by n; the words that would make some results
/// more likely are drawn again (Lemire 2019).
fn below(rng: &mut Generator, n: u64) -> u64 {
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(n);
        #[allow(clippy::cast_possible_truncation)] // the lower and the upper half
        let (low, high) = (product as u64, (product >> 64) as u64);
        if low >= n || low >= n.wrapping_neg() % n {
            return high;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Hoeffding: a frequency of n draws is off by more than √(ln(2/α)/2n) with probability at most
    /// α.
    const FALSE_ALARM: f64 = 1e-6;
    const N: u32 = 400_000;

    fn frequency_is(expected: f64, what: &str, mut hit: impl FnMut(&mut Generator) -> bool) {
        let mut rng = Generator::seed_from_u64(11);
        let hits = (0..N).filter(|_| hit(&mut rng)).count();
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * f64::from(N))).sqrt();
        assert!(
            (hits as f64 / f64::from(N) - expected).abs() <= allowed,
            "{what}: {hits} of {N}, expected {expected}, α = {FALSE_ALARM}"
        );
    }

    #[test]
    fn coins_have_their_probabilities() {
        for p in [0.0, 1e-300, 0.1, 0.5, 0.75, 1.0 - f64::EPSILON, 1.0] {
            frequency_is(p, &format!("coin {p}"), |rng| coin(|| rng.next_u64(), p));
        }
        for x in [0.0_f64, 1e-20, 0.3, 1.0, 1.5, 4.0, 1e300] {
            frequency_is((-x).exp(), &format!("exponential of {x}"), |rng| exp_coin(rng, x));
        }
        for n in [1_u64, 2, 3, 10, (1 << 63) + 1] {
            frequency_is(n.div_ceil(2) as f64 / n as f64, &format!("below {n}"), |rng| {
                below(rng, n) < n.div_ceil(2)
            });
        }
    }

    #[test]
    fn a_coin_looks_at_all_digits() {
        // 2^-65 has its only digit in the second block.
        let toss = |words: [u64; 2], p: f64| {
            let mut words = words.into_iter();
            coin(|| words.next().unwrap(), p)
        };
        assert!(toss([0, (1 << 63) - 1], 2_f64.powi(-65)));
        assert!(!toss([0, 1 << 63], 2_f64.powi(-65)));
        assert!(!toss([1, 0], 2_f64.powi(-65)));
        assert!(toss([u64::MAX, 0], 1.0));
    }

    #[test]
    fn candidates_are_discrete_laplace() {
        for t in [1_u64, 2, 7] {
            let q = (-1.0 / t as f64).exp();
            for z in [0_u64, 1, 2, 9] {
                let expected = (1.0 - q) / (1.0 + q) * q.powf(z as f64);
                frequency_is(expected, &format!("scale {t}, +{z}"), |rng| {
                    discrete_laplace(rng, t) == (z, false)
                });
                if z > 0 {
                    frequency_is(expected, &format!("scale {t}, -{z}"), |rng| {
                        discrete_laplace(rng, t) == (z, true)
                    });
                }
            }
        }
    }

    #[test]
    fn every_integer_has_its_exact_probability() {
        for sigma in [0.05, 0.5, 1.0, 1.9, 2.0, 5.3] {
            let noise = DiscreteGaussian::new(sigma).unwrap();
            let weight = |z: i32| (-f64::from(z * z) / (2.0 * sigma * sigma)).exp();
            let total: f64 = (-300..=300).map(weight).sum();
            let mut counts = [0_u32; 601];
            let mut rng = Generator::seed_from_u64(12);
            for _ in 0..N {
                let z = noise.sample(&mut rng);
                assert_eq!(z.fract(), 0.0);
                counts[(-300..=300).position(|k| f64::from(k) == z).unwrap()] += 1;
            }
            let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * f64::from(N))).sqrt();
            for (z, count) in (-300..=300).zip(counts) {
                let p = weight(z) / total;
                assert!(
                    (f64::from(count) / f64::from(N) - p).abs() <= allowed,
                    "σ = {sigma}, {z}: {count} of {N}, expected {p}, α = {FALSE_ALARM}"
                );
            }
        }
    }

    #[test]
    fn wide_noise_has_its_variance_and_tiny_noise_is_zero() {
        let sigma = 1000.0;
        let noise = DiscreteGaussian::new(sigma).unwrap();
        let mut rng = Generator::seed_from_u64(13);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..N {
            let z = noise.sample(&mut rng) / sigma;
            (sum, squares) = (sum + z, squares + z * z);
        }
        // Mean 0 ± n^-½, mean square 1 ± (2/n)^½; five standard errors have probability 6e-7.
        let n = f64::from(N);
        assert!((sum / n).abs() < 5.0 / n.sqrt(), "mean {}", sum / n);
        assert!((squares / n - 1.0).abs() < 5.0 * (2.0 / n).sqrt(), "mean square {}", squares / n);
        let tiny = DiscreteGaussian::new(LEAST_SIGMA).unwrap();
        assert!((0..1000).all(|_| tiny.sample(&mut rng) == 0.0));
        let widest = DiscreteGaussian::new(LARGEST_SIGMA).unwrap();
        assert!((0..1000).all(|_| widest.sample(&mut rng).abs() < 100.0 * LARGEST_SIGMA));
    }

    #[test]
    fn sigma_out_of_range_is_refused() {
        assert_eq!(
            DiscreteGaussian::new(1e-101).unwrap_err(),
            "is 1e-101, must be at least 1e-100 and at most 2^40"
        );
        for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e12] {
            assert!(DiscreteGaussian::new(sigma).is_err(), "{sigma}");
        }
    }
}
