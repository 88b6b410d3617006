//! A fixed number of guesses under (ε, δ): the sharp bound.
//!
//! Let r guesses be made, W of them right, with `p_c = P[W = c]`. Flip the coin of a canary that is
//! guessed right: at the same output it is guessed wrong, and W = c becomes c − 1. So the definition
//! of (ε, δ), summed over the canaries, says for every set C of counts
//!
//! ```text
//! Σ_{c ∈ C} ( c·p_c − e^ε·(r − c + 1)·p_{c−1} ) ≤ m·δ
//! ```
//!
//! Let b and f be the mass and the upper tail of Binomial(r, q), `q = e^ε/(1 + e^ε)`. Because
//! `c·b_c = e^ε·(r − c + 1)·b_{c−1}`, the ratio `p_c/b_c` exceeds `p_{c−1}/b_{c−1}` by at most
//! `e_c/(c·b_c)`, where the `e_c ≥ 0` sum to at most mδ. Each `e_c` adds at most
//! `e_c·f(max(c,v))·(1 − f(min(c,v)))/(c·b_c)` to `P[W ≥ v] − f(v)`. Binomials are log-concave, so
//! this is largest at c = v:
//!
//! ```text
//! P[W ≥ v] ≤ f(v) + m·δ·f(v)·(1 − f(v)) / (v·b(v))
//! ```
//!
//! Equality holds for a mechanism that is binomial below v and jumps at v. So the bound is the
//! largest value over all laws that obey the inequalities. More of them do if ε grows, so the bound
//! grows with ε: a refuted ε refutes all smaller ones. Steinke, Nasr, Jagielski (2023) have
//! `2mδ·max_i (f(v−i) − f(v))/i` in place of the last term, which is several times as large.

use super::Counted;
use crate::stats::binomial::{logistic, upper_tail};

/// The largest probability that (ε, δ) gives to so many right guesses or more; 1 if there are fewer
/// than expected.
#[must_use]
pub fn count_p(counted: Counted, epsilon: f64, delta: f64) -> f64 {
    let Counted { canaries, guesses, correct } = counted;
    let (q, v, r) = (logistic(epsilon), correct as f64, guesses as f64);
    if correct == 0 || v < r * q {
        return 1.0;
    }
    let tail = upper_tail(correct, guesses, q);
    let jump = (canaries * delta * tail_over_mass(correct, guesses, epsilon) / v).min(1.0);
    (tail + jump * (1.0 - tail)).min(1.0)
}

/// `f(v)/b(v)` for v at or above the mean: each next mass is the last one times `odds·(r − j)/(j + 1)`.
fn tail_over_mass(correct: u64, guesses: u64, epsilon: f64) -> f64 {
    let (odds, r) = (epsilon.exp(), guesses as f64);
    let (mut sum, mut term, mut j) = (1.0, 1.0, correct as f64);
    while j < r && term > 1e-17 * sum {
        term *= (r - j) / (j + 1.0) * odds;
        sum += term;
        j += 1.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::binomial::point;

    /// The worst law: binomial below v, with a jump at v that uses the whole budget of δ.
    fn worst(counted: Counted, epsilon: f64, delta: f64) -> Vec<f64> {
        let Counted { canaries, guesses, correct } = counted;
        let q = logistic(epsilon);
        let b: Vec<f64> = (0..=guesses).map(|c| point(c, guesses, q, 1.0 - q)).collect();
        let v = usize::try_from(correct).unwrap();
        let extra = |c: usize| {
            if c >= v { canaries * delta / correct as f64 * b[c] / b[v] } else { 0.0 }
        };
        let all: f64 = (0..b.len()).map(extra).sum();
        (0..b.len()).map(|c| b[c] * (1.0 - all) + extra(c)).collect()
    }

    #[test]
    fn the_worst_law_attains_the_bound_and_obeys_the_inequality() {
        for (canaries, guesses, correct, epsilon, delta) in
            [(1000.0, 100, 83, 1.0, 1e-4), (40.0, 10, 10, 0.5, 1e-3), (500.0, 500, 480, 2.5, 1e-5)]
        {
            let counted = Counted { canaries, guesses, correct };
            let law = worst(counted, epsilon, delta);
            assert!(law.iter().all(|p| *p >= 0.0) && (law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let v = usize::try_from(correct).unwrap();
            let (tail, bound) = (law[v..].iter().sum::<f64>(), count_p(counted, epsilon, delta));
            assert!((tail / bound - 1.0).abs() < 1e-9, "{tail} against {bound}");
            let excess: f64 = (1..law.len())
                .map(|c| {
                    let wrong = (guesses as f64 - c as f64 + 1.0) * law[c - 1];
                    (c as f64 * law[c] - epsilon.exp() * wrong).max(0.0)
                })
                .sum();
            assert!((excess / (canaries * delta) - 1.0).abs() < 1e-9, "{excess}");
        }
    }

    #[test]
    fn the_bound_grows_with_epsilon_and_with_delta_and_falls_with_the_right_guesses() {
        for (guesses, correct) in [(10, 10), (100, 70), (1000, 990)] {
            let counted = Counted { canaries: 1000.0, guesses, correct };
            let mut last = 0.0;
            for epsilon in (0..=80).map(|i| f64::from(i) * 0.1) {
                let p = count_p(counted, epsilon, 1e-5);
                assert!(p >= last * (1.0 - 1e-12) && p >= count_p(counted, epsilon, 0.0));
                let fewer = Counted { correct: correct - 1, ..counted };
                assert!(count_p(fewer, epsilon, 1e-5) >= p, "{counted:?} at {epsilon}");
                last = p;
            }
        }
    }
}
