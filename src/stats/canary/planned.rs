//! The number of guesses under a trade-off curve, fixed before the scores are seen.
//!
//! Any number is valid if it does not depend on the data, so the plan may rest on a guess: that the
//! scores are Gaussian and that the mechanism leaks half as much again as it claims. The number of
//! guesses that shows most then is taken.

use super::curve::Curve;
use super::ladder::sizes;
use super::share::refutes;
use super::{Counted, PLANNED_EXCESS, PLANNED_RATIO, SPENT, Sides};
use crate::model::{Limit, Measure};
use crate::stats::binomial::normal_tail;

const HALVINGS: usize = 40;

/// How many of the surest guesses count.
#[must_use]
pub fn planned_guesses(canaries: u64, sides: Sides, limit: &Limit, alpha: f64) -> u64 {
    let truth = PLANNED_EXCESS * equivalent_mu(limit);
    let mut best = (0.0, canaries);
    for guesses in sizes(canaries, PLANNED_RATIO) {
        let right = expected_right(canaries, guesses, sides, truth);
        // A whole number of guesses.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let correct = (guesses as f64 * right).floor() as u64;
        let counted = Counted { canaries: sides.effective(canaries), guesses, correct };
        let shown = gaussian_lower(counted, alpha);
        if shown > best.0 {
            best = (shown, guesses);
        }
    }
    best.1
}

/// The largest μ that is refuted.
fn gaussian_lower(counted: Counted, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..12 {
        let middle = f64::midpoint(low, high);
        let refuted = refutes(counted, &Curve::Gaussian(middle), alpha * SPENT);
        if refuted { low = middle } else { high = middle }
    }
    low
}

/// The share of right guesses among the surest, if scores are N(±μ/2, 1): those at least `cut` from
/// the middle are guessed.
fn expected_right(canaries: u64, guesses: u64, sides: Sides, mu: f64) -> f64 {
    let each = guesses as f64 / sides.effective(canaries);
    let parts = |cut: f64| [normal_tail(cut - mu / 2.0), normal_tail(cut + mu / 2.0)];
    let (mut low, mut high) = (-mu - 9.0, mu + 9.0);
    for _ in 0..HALVINGS {
        let cut = f64::midpoint(low, high);
        if parts(cut).iter().sum::<f64>() > each { low = cut } else { high = cut }
    }
    let [right, wrong] = parts(f64::midpoint(low, high));
    right / (right + wrong)
}

/// The μ of Gaussian noise that has about this claim.
pub(super) fn equivalent_mu(limit: &Limit) -> f64 {
    let Limit { measure, value } = limit;
    // Gaussian noise has the Rényi divergence λ·μ²/2 of order λ.
    let from_renyi = |order: f64, divergence: f64| (2.0 * divergence / order).sqrt();
    let from_points = |points: &[(f64, f64)]| {
        let each = points.iter().map(|(epsilon, delta)| mu_at(*epsilon, *delta));
        each.fold(f64::INFINITY, f64::min)
    };
    match measure {
        Measure::Mu => *value,
        Measure::Rho => from_renyi(1.0, *value),
        Measure::Renyi { order } => from_renyi(*order, *value),
        Measure::Orders(orders) => orders
            .iter()
            .map(|(order, claimed)| from_renyi(*order, value * claimed))
            .fold(f64::INFINITY, f64::min),
        Measure::Profile(points) => {
            let scaled: Vec<_> = points.iter().map(|(at, delta)| (value * at, *delta)).collect();
            from_points(&scaled)
        }
        Measure::Epsilon { delta } => from_points(&[(*value, *delta)]),
        Measure::Delta { epsilon } => from_points(&[(*epsilon, *value)]),
        Measure::Distance { .. } => 1.0,
    }
}

/// The largest μ with at most this δ at this ε. No Gaussian has δ = 0, so a tiny one stands for it.
fn mu_at(epsilon: f64, delta: f64) -> f64 {
    let delta = delta.max(1e-6);
    let (mut low, mut high) = (0.0, 30.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if Measure::Mu.delta_at(middle, epsilon) <= delta { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Claim;

    #[test]
    fn claims_of_the_same_gaussian_plan_the_same_guesses() {
        let mu = Claim::mu(1.0).unwrap();
        let same = [
            Claim::rho(0.5).unwrap(),
            Claim::renyi(4.0, 2.0).unwrap(),
            Claim::profile([(1.0, mu.delta_at(1.0)), (3.0, mu.delta_at(3.0))]).unwrap(),
        ];
        for sides in [Sides::Both, Sides::In] {
            let planned = planned_guesses(1000, sides, mu.main(), 0.05);
            for claim in &same {
                assert_eq!(planned_guesses(1000, sides, claim.main(), 0.05), planned, "{claim}");
            }
        }
    }

    #[test]
    fn guesses_are_rarer_and_surer_where_there_are_more_canaries() {
        let claim = Claim::mu(1.0).unwrap();
        let planned =
            [100, 1000, 10_000].map(|m| planned_guesses(m, Sides::Both, claim.main(), 0.05));
        let shares: Vec<f64> =
            planned.iter().zip([100.0, 1e3, 1e4]).map(|(r, m)| *r as f64 / m).collect();
        assert!(shares.is_sorted_by(|a, b| a >= b), "{planned:?}");
        assert!(planned.is_sorted(), "{planned:?}");
    }
}
