//! Tests by swaps: what independent draws can show if any two of them may change places.
//!
//! Pair up draws, so that no draw is in two pairs, and let `D` be the difference of some numbers
//! (or vectors) of a pair's two draws. If draws are independent and alike, then swapping the two
//! draws of a pair does not change the joint distribution and flips the sign of `D`. So given all
//! `|D|` the signs are independent fair coins.

/// An upper bound on `P(|heads − tails| ≥ excess)` for `flips` fair coin flips: `2·exp(−excess² /
/// (2·flips))` (Hoeffding 1963).
#[must_use]
pub fn coins_bound(excess: u64, flips: u64) -> f64 {
    if flips == 0 {
        return 1.0;
    }
    2.0 * (-0.5 * (excess as f64).powi(2) / flips as f64).exp()
}

/// An upper bound on `P(Q ≥ value)` for a sum `Q` of squares with `freedoms` degrees of freedom in
/// all, each `S²/V` or `Sᵀ·V⁻¹·S`, where `S = ∑ ±D` has fair signs and `V ⪰ ∑ D·Dᵀ`.
///
/// Proof. Let `g` be a standard normal vector and `0 ≤ λ < 1`. `E exp(aᵀS) ≤ exp(aᵀVa/2)` because
/// `cosh x ≤ exp(x²/2)`. With `a = √λ·V^(−½)·g` this is `E exp(λQ/2) = E exp(√λ·gᵀV^(−½)S) ≤ E
/// exp(λ|g|²/2) = (1 − λ)^(−d/2)`. These factors multiply over independent `S`. Markov's inequality
/// with `λ = 1 − d/value` gives `exp(−d/2·(r − 1 − ln r))`, `r = value/d`.
///
/// A single square has Hoeffding's bound `2·exp(−value/2)`, which is smaller where it matters.
#[must_use]
pub fn squares_bound(value: f64, freedoms: usize) -> f64 {
    if freedoms == 1 {
        return (2.0 * (-0.5 * value).exp()).min(1.0);
    }
    let freedoms = freedoms as f64;
    let ratio = value / freedoms;
    if ratio.is_nan() || ratio <= 1.0 {
        return 1.0; // also for no freedoms
    }
    (-0.5 * freedoms * (ratio - 1.0 - ratio.ln())).exp()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::noise::Generator;
    use crate::stats::binomial::upper_tail;

    #[test]
    fn the_bound_on_coins_is_above_the_exact_tail() {
        for flips in [1, 2, 10, 101, 4000] {
            for heads in flips / 2 + 1..=flips {
                let exact = (2.0 * upper_tail(heads, flips, 0.5)).min(1.0);
                assert!(coins_bound(2 * heads - flips, flips) >= exact - 1e-12, "{heads}/{flips}");
            }
        }
        assert!((coins_bound(0, 0) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_bound_on_squares_holds_for_all_signs() {
        // All 2^10 signs of ten differences: the exact distribution of one square.
        let mut rng = Generator::seed_from_u64(1);
        for _ in 0..20 {
            let differences: Vec<f64> = (0..10).map(|_| rng.random::<f64>().powi(3)).collect();
            let variance: f64 = differences.iter().map(|d| d * d).sum();
            let mut squares: Vec<f64> = (0..1 << 10)
                .map(|signs: u32| {
                    let signed = differences.iter().zip(0..);
                    let sum: f64 =
                        signed.map(|(d, bit)| if signs >> bit & 1 == 1 { *d } else { -d }).sum();
                    sum * sum / variance
                })
                .collect();
            squares.sort_unstable_by(|a, b| b.total_cmp(a));
            for (index, square) in squares.iter().enumerate() {
                let exact = (index + 1) as f64 / 1024.0;
                assert!(squares_bound(square - 1e-9, 1) >= exact, "{square}: {exact}");
            }
        }
        assert!((squares_bound(3.0, 3) - 1.0).abs() < 1e-15);
        // At r = 2 a freedom is worth (1 − ln 2)/2 = 0.1534 nats.
        assert!((squares_bound(200.0, 100).ln() + 15.3426).abs() < 1e-3);
    }
}
