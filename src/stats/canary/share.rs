//! A fixed number of guesses under a claim that is a whole trade-off curve.
//!
//! With `p_c = P[W = c]`, let `R_i = Σ_{c ≥ i} c·p_c/m` and `H_i = Σ_{c ≥ i} (r − c)·p_c/m`: the shares
//! of canaries that are guessed right and wrong while W ≥ i. Flipping the coin of one that is guessed
//! right turns W into W − 1, so by the concavity of F (Mahloujifar, Melis, Chaudhuri 2024)
//!
//! ```text
//! R_{i+1} ≤ F(H_i),    R_i = R_{i+1} + i/(r − i)·(H_i − H_{i+1}),    R_0 + H_0 = r/m
//! ```
//!
//! So the points `(H_i, R_i)` are the corners of a concave path whose piece i has slope i/(r − i), and no
//! piece may end before `H = F⁻¹(R)` of its beginning. If `P[W ≥ v] ≥ p`, then `R_v ≥ p·v/m`, and the
//! path lies above the one that starts at `(p·(r − v)/m, p·v/m)` and ends every piece as early as it
//! may: wherever the latter turns to a smaller slope, the former is above it and turns later. If
//! the lowest path has `R + H > r/m`, no mechanism of the claim has `P[W ≥ v] ≥ p`.
//!
//! A larger claim allows more paths. So with r, v and p fixed a refuted value refutes all smaller
//! ones, and halving finds the bound. r must not depend on the data: `planned.rs` has it.

use super::curve::Curve;
use super::{Counted, SPENT};
use crate::model::Limit;

/// p-values below this are not told apart.
const LEAST_P: f64 = 1e-12;

/// Halvings of the logarithm of a p-value.
const P_HALVINGS: usize = 30;

/// Halvings of a bound.
const HALVINGS: usize = 24;

/// The largest value of a unit that is shown.
const LARGEST: f64 = 64.0;

/// Whether so many right guesses have a probability below `level` under every mechanism of the claim.
#[must_use]
pub fn refutes(counted: Counted, curve: &Curve, level: f64) -> bool {
    let Counted { canaries: m, guesses, correct } = counted;
    let (r, v) = (guesses as f64, correct as f64);
    // Rounding errors of the sums are far below this.
    let whole = r / m * (1.0 + 1e-9);
    let (mut right, mut wrong) = (level * v / m, level * (r - v) / m);
    for i in (0..correct).rev() {
        let needed = curve.inverse(right);
        if needed <= wrong {
            break; // Nothing changes from here on.
        }
        right += i as f64 / (guesses - i) as f64 * (needed - wrong);
        wrong = needed;
        if right + wrong > whole {
            return true;
        }
    }
    right + wrong > whole
}

/// The largest probability of so many right guesses or more under the claim, from above.
#[must_use]
pub fn share_p(counted: Counted, curve: &Curve) -> f64 {
    let (mut low, mut high) = (LEAST_P.ln(), 0.0);
    if refutes(counted, curve, LEAST_P) {
        return LEAST_P;
    }
    for _ in 0..P_HALVINGS {
        let middle = f64::midpoint(low, high);
        if refutes(counted, curve, middle.exp()) { high = middle } else { low = middle }
    }
    high.exp()
}

/// The largest value of the claim's unit that `refuted` holds for, if it holds for all smaller values
/// too; 0 if it holds for none.
pub(super) fn largest_refuted(limit: &Limit, refuted: impl Fn(&Curve) -> bool) -> f64 {
    let holds = |value: f64| {
        let limit = Limit { value, ..limit.clone() };
        Curve::new(&limit).is_some_and(|curve| refuted(&curve))
    };
    // The claim itself is met exactly, so that a verdict does not hang on a rounding error.
    let (mut low, mut high) =
        if holds(limit.value) { (limit.value, 2.0 * limit.value) } else { (0.0, limit.value) };
    while low > 0.0 && high < LARGEST && holds(high) {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// The bound of one run, in the unit of the claim.
#[must_use]
pub fn share_lower(counted: Counted, limit: &Limit, alpha: f64) -> f64 {
    largest_refuted(limit, |curve| refutes(counted, curve, alpha * SPENT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Claim;
    use crate::stats::canary::count::count_p;

    fn curve(claim: &Claim) -> Curve {
        Curve::new(claim.main()).unwrap()
    }

    #[test]
    fn under_pure_claims_the_p_value_is_at_least_the_sharp_one() {
        // The curve of (ε, δ) is one of many; `count_p` is the largest probability of all laws.
        for (guesses, correct) in [(20, 20), (100, 90), (100, 80)] {
            for (epsilon, delta) in [(0.5, 0.0), (1.0, 1e-4), (2.0, 1e-3)] {
                let counted = Counted { canaries: 100.0, guesses, correct };
                let found = share_p(counted, &curve(&Claim::new(epsilon, delta).unwrap()));
                let sharp = count_p(counted, epsilon, delta).max(LEAST_P);
                assert!(found >= sharp * (1.0 - 1e-6), "{counted:?}: {found} below {sharp}");
            }
        }
    }

    #[test]
    fn refuted_values_are_an_interval_from_zero() {
        for (guesses, correct) in [(30, 30), (200, 150), (1000, 640)] {
            let counted = Counted { canaries: 1000.0, guesses, correct };
            let claim = Claim::mu(1.0).unwrap();
            let found = share_lower(counted, claim.main(), 0.05);
            for value in (1..200).map(|i| f64::from(i) * 0.02) {
                let holds = refutes(counted, &Curve::Gaussian(value), 0.05 * SPENT);
                assert_eq!(holds, value <= found, "{counted:?}: {value} beside {found}");
            }
        }
    }

    #[test]
    fn p_values_fall_with_the_right_guesses() {
        let gaussian = Curve::Gaussian(1.0);
        let p = |correct| share_p(Counted { canaries: 400.0, guesses: 40, correct }, &gaussian);
        let values: Vec<f64> = (20..=40).map(p).collect();
        assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
        assert!(values[0] > 0.9 && values[20] < 0.1, "{values:?}");
    }
}
