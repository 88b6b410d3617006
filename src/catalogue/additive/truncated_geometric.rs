//! Truncated geometric noise in exact integer arithmetic.
//!
//! *Claim*: `ln(1 + 2^-k)` with `k = ⌈ln(2/ε)⌉`, for a count in `[0, n]`. *Neighbours*: the count
//! differs by 1. *Source*: Balcer & Vadhan 2018, "Differential privacy on finite computers",
//! `GeoSample`, with the natural logarithm, as in the published benchmark. *The bug*, if the claim
//! is ε instead: with the natural logarithm `ln(1 + 2^-k)` can be larger than the requested ε. With
//! the logarithm to base 2, `base = "two"`, it cannot: `2^-k ≤ ε/2`. *True leakage*: `ln(1 + 2^-k)`
//! exactly; ε = 0.1 gives k = 3 and 0.1178.

use rand::distr::{Distribution, Uniform};
use serde::Deserialize;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::Epsilon;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of truncated geometric noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    query: Query,
    epsilon: Epsilon,
    /// The largest possible count, n.
    largest: u32,
    #[serde(default)]
    base: Base,
}

/// The base of the logarithm in `k = ⌈log(2/ε)⌉`.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Base {
    #[default]
    E,
    Two,
}

/// A count plus geometric noise, kept within `[0, n]`.
///
/// Draws u uniformly from 1…d and returns the smallest z with F(z) ≥ u. All values of F and d are
/// integers.
pub struct TruncatedGeometric {
    /// F(0) … F(n) for each answer; the last is d.
    cumulative: Vec<Vec<u64>>,
    uniform: Uniform<u64>,
}

/// `d = (2^(k+1) + 1)·(2^k + 1)^(n−1)`, unless it is too large for 64 bits.
fn denominator(k: u32, n: u32) -> Option<u64> {
    let last = 2u64.checked_pow(k + 1)?.checked_add(1)?;
    (2u64.pow(k) + 1).checked_pow(n - 1)?.checked_mul(last)
}

/// F(0) … F(n) for the count c. Every term is at most d, so nothing overflows if d does not.
fn cumulative(k: u32, n: u32, c: u32, d: u64) -> Vec<u64> {
    let (a, b) = (2u64.pow(k), 2u64.pow(k) + 1);
    let below = (0..c).map(|z| a.pow(c - z) * b.pow(n - (c - z)));
    let above = (c..n).map(|z| d - a.pow(z - c + 1) * b.pow(n - 1 - (z - c)));
    below.chain(above).chain([d]).collect()
}

impl Mechanism for TruncatedGeometric {
    const NAME: &'static str = "truncated-geometric";
    const SUMMARY: &'static str =
        "a count in [0, n] plus geometric noise, truncated, in exact integer arithmetic";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let n = params.largest;
        if n == 0 {
            return Err(Misfit::params("largest", "is 0, must be at least 1"));
        }
        let log = match params.base {
            Base::E => (2.0 / params.epsilon.get()).ln(),
            Base::Two => (2.0 / params.epsilon.get()).log2(),
        };
        // The logarithm is infinite for ε below 1e-308. Every k from 64 on is too large for 64
        // bits.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 64
        let k = log.ceil().clamp(0.0, 64.0) as u32;
        let d = denominator(k, n).ok_or_else(|| {
            format!(
                "params.largest is {n}; with 2^{k} it needs numbers of more than 64 bits; choose a smaller one or a larger params.epsilon"
            )
        })?;
        let counts = params.query.answer(data, universe)?.values;
        let cumulative = counts
            .into_iter()
            .map(|count| match (0..=n).find(|c| f64::from(*c) == count) {
                Some(c) => Ok(cumulative(k, n, c, d)),
                None => Err(Misfit::Data(format!(
                    "the count {count} is not one of 0 … {n}; correct it or params.largest"
                ))),
            })
            .collect::<Result<_, _>>()?;
        let uniform = Uniform::new_inclusive(1, d).map_err(|error| {
            Misfit::params("", &format!("cannot draw a uniform integer up to {d}: {error}"))
        })?;
        Ok(Self { cumulative, uniform })
    }

    fn width(&self) -> usize {
        self.cumulative.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, cumulative) in row.iter_mut().zip(&self.cumulative) {
            let u = self.uniform.sample(rng);
            *cell = Cell::number(cumulative.partition_point(|f| *f < u) as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// d times the probability of each output.
    fn weights(k: u32, n: u32, c: u32) -> Vec<u128> {
        let cumulative = cumulative(k, n, c, denominator(k, n).unwrap());
        let from_zero = std::iter::once(0).chain(cumulative.iter().copied());
        from_zero
            .zip(&cumulative)
            .map(|(before, upto)| u128::from(upto.checked_sub(before).unwrap()))
            .collect()
    }

    #[test]
    fn the_largest_ratio_of_neighbours_is_exactly_the_claim() {
        for (k, n) in [(0, 3), (1, 4), (3, 5), (5, 6), (3, 1)] {
            let (a, b) = (1u128 << k, (1u128 << k) + 1);
            for c in 0..n {
                let (here, there) = (weights(k, n, c), weights(k, n, c + 1));
                assert_eq!(here.iter().sum::<u128>(), u128::from(denominator(k, n).unwrap()));
                // p ≤ (1 + 2^-k)·q in both directions, with equality somewhere.
                let ratios = || here.iter().zip(&there).flat_map(|(p, q)| [(*p, *q), (*q, *p)]);
                assert!(ratios().all(|(p, q)| p * a <= q * b), "k = {k}, n = {n}, c = {c}");
                assert!(ratios().any(|(p, q)| p * a == q * b), "k = {k}, n = {n}, c = {c}");
            }
        }
    }

    #[test]
    fn in_the_benchmark_k_is_three_and_the_weights_sum_to_111537() {
        let params = |base| Params {
            query: Query::Values,
            epsilon: Epsilon::try_from(0.1).unwrap(),
            largest: 5,
            base,
        };
        let data = Dataset::of_numbers(&[2.0]);
        let prepared =
            TruncatedGeometric::prepare(&params(Base::E), &data, &Universe::of(&data, &data))
                .unwrap();
        assert_eq!(prepared.cumulative[0].last(), Some(&111_537));
        let prepared =
            TruncatedGeometric::prepare(&params(Base::Two), &data, &Universe::of(&data, &data))
                .unwrap();
        assert_eq!(prepared.cumulative[0].last(), Some(&(65 * 33u64.pow(4))));
    }

    #[test]
    fn parameters_that_need_more_than_64_bits_are_rejected() {
        // In an earlier version k wrapped at 32 bits for ε below 1e-308, and d was 2.
        let data = Dataset::of_numbers(&[1.0]);
        for epsilon in [1e-30, 1e-320] {
            let params = Params {
                query: Query::Values,
                epsilon: Epsilon::try_from(epsilon).unwrap(),
                largest: 1,
                base: Base::Two,
            };
            let problem = TruncatedGeometric::prepare(&params, &data, &Universe::of(&data, &data))
                .err()
                .unwrap();
            assert!(
                problem.to_string().contains("with 2^64 it needs numbers of more than 64 bits"),
                "{problem}"
            );
        }
    }

    #[test]
    fn outputs_have_their_exact_probabilities() {
        const FALSE_ALARM: f64 = 1e-6;
        const N: usize = 400_000;
        let params = Params {
            query: Query::Values,
            epsilon: Epsilon::try_from(0.9).unwrap(),
            largest: 4,
            base: Base::E,
        };
        let data = Dataset::of_numbers(&[1.0]);
        let prepared =
            TruncatedGeometric::prepare(&params, &data, &Universe::of(&data, &data)).unwrap();
        let (weights, d) = (weights(1, 4, 1), denominator(1, 4).unwrap());
        let mut rng = Generator::seed_from_u64(5);
        let mut seen = [0usize; 5];
        for _ in 0..N {
            let mut row = [Cell::ABSENT];
            prepared.run(&mut rng, &mut row);
            let z = (0..5u8).position(|z| f64::from(z) == row[0].raw()).unwrap();
            seen[z] += 1;
        }
        // Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with
        // probability at most α.
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        for (k, weight) in seen.into_iter().zip(weights) {
            let p = weight as f64 / d as f64;
            assert!(
                (k as f64 / N as f64 - p).abs() <= allowed,
                "{k} of {N}, expected {p}, α = {FALSE_ALARM}"
            );
        }
    }
}
