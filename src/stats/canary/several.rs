//! Several runs, or the steps of one run with fresh coins, under a trade-off curve.
//!
//! Given all earlier runs or steps, each is a mechanism of the claim in coins of its own. So its p-value
//! is at most u with probability at most u, given the past.
//!
//! *A few* (Fisher): `−2·Σ ln p_t` is at most χ² with 2k degrees of freedom, so the combined p-value is
//! `P·Σ_{j<k} (−ln P)^j/j!` with `P = Π p_t`.
//!
//! *Many*: a count v is chosen from the first quarter. Each later run reaches v with probability at most
//! its p-value `p_v`, given the past, so the number that do is at most `Binomial(k', p_v)`. Half of α is for
//! this and half for the single run with the smallest p-value (k times it, by the union bound): a fault
//! of one step alone.
//!
//! All p-values grow with the claim, so a refuted value refutes all smaller ones.

use super::curve::Curve;
use super::share::{largest_refuted, share_p};
use super::{Counted, MOST_FISHER, SPENT};
use crate::model::Limit;
use crate::stats::binomial::upper_tail;

/// Which part of many runs the count is chosen from.
const LEARNED_FROM: usize = 4;

/// The count that this share of those runs does not reach is chosen.
const MISSED: f64 = 0.1;

/// The bound of several runs in the unit of the claim. The number of guesses in each was fixed
/// beforehand.
#[must_use]
pub fn several_lower(runs: &[Counted], limit: &Limit, alpha: f64) -> f64 {
    let alpha = alpha * SPENT;
    largest_refuted(limit, |curve| several_p(runs, curve) <= alpha)
}

/// The p-value of several runs.
#[must_use]
pub fn several_p(runs: &[Counted], curve: &Curve) -> f64 {
    match runs {
        [] => 1.0,
        [one] => share_p(*one, curve),
        few if few.len() <= MOST_FISHER => fisher(few.iter().map(|run| share_p(*run, curve))),
        many => {
            let worst = distinct(many).map(|run| share_p(run, curve)).fold(1.0, f64::min);
            let single = many.len() as f64 * worst;
            (2.0 * exceedance_p(many, curve)).min(2.0 * single).min(1.0)
        }
    }
}

/// The counts that no other run with as many canaries and guesses exceeds.
fn distinct(runs: &[Counted]) -> impl Iterator<Item = Counted> {
    let mut best: Vec<Counted> = Vec::new();
    for run in runs {
        let same = |one: &&mut Counted| one.canaries == run.canaries && one.guesses == run.guesses;
        match best.iter_mut().find(same) {
            Some(one) => one.correct = one.correct.max(run.correct),
            None => best.push(*run),
        }
    }
    best.into_iter()
}

/// Fisher's combination of p-values.
fn fisher(p_values: impl Iterator<Item = f64>) -> f64 {
    let (mut log, mut k) = (0.0, 0_u32);
    for p in p_values {
        log -= p.ln();
        k += 1;
    }
    let (mut sum, mut term) = (0.0, 1.0);
    for j in 0..k {
        sum += term;
        term *= log / f64::from(j + 1);
    }
    ((-log).exp() * sum).min(1.0)
}

/// The p-value of how many of the later runs reach a share of right guesses that the first ones
/// usually reach.
fn exceedance_p(runs: &[Counted], curve: &Curve) -> f64 {
    let (first, rest) = runs.split_at((runs.len() / LEARNED_FROM).max(1));
    let mut shares: Vec<f64> =
        first.iter().map(|run| run.correct as f64 / run.guesses.max(1) as f64).collect();
    shares.sort_by(f64::total_cmp);
    // A place in a list.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let share = shares[((shares.len() - 1) as f64 * MISSED) as usize];
    let goal = |run: &Counted| {
        // A whole number of guesses; a rounding error must not lift it.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let correct = (run.guesses as f64 * share - 1e-9).ceil().max(0.0) as u64;
        Counted { correct, ..*run }
    };
    // Runs of different sizes have different probabilities; the largest of them is on the safe side.
    let goals: Vec<Counted> = rest.iter().map(goal).collect();
    let p = distinct(&goals).map(|goal| share_p(goal, curve)).fold(0.0, f64::max);
    let reached = rest.iter().zip(&goals).filter(|(run, goal)| run.correct >= goal.correct);
    upper_tail(reached.count() as u64, rest.len() as u64, p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Claim;

    #[test]
    fn fisher_agrees_with_the_chi_square_distribution() {
        // P[χ²(4) ≥ −2 ln(.05·.05)] = x(1 − ln x), x = .0025.
        let exact = 0.0025 * (1.0 - 0.0025_f64.ln());
        assert!((fisher([0.05, 0.05].into_iter()) - exact).abs() < 1e-15);
        assert!((fisher([0.3].into_iter()) - 0.3).abs() < 1e-15);
        assert_eq!(fisher([1.0, 1.0, 1.0].into_iter()), 1.0);
    }

    #[test]
    fn more_runs_of_the_same_kind_show_more() {
        let claim = Claim::mu(1.0).unwrap();
        let run = Counted { canaries: 500.0, guesses: 50, correct: 46 };
        let bounds: Vec<f64> = [1, 4, 10, 40, 160]
            .iter()
            .map(|k| several_lower(&vec![run; *k], claim.main(), 0.05))
            .collect();
        assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
    }

    #[test]
    fn a_single_bad_step_among_many_is_seen() {
        let claim = Claim::mu(1.0).unwrap();
        let mut steps = vec![Counted { canaries: 500.0, guesses: 50, correct: 30 }; 60];
        assert!(several_lower(&steps, claim.main(), 0.05) < 1.0);
        steps[59].correct = 50;
        assert!(several_lower(&steps, claim.main(), 0.05) > 0.0);
        // 60 steps, half of α, and at most 2e-4 for 50 of 50: far below what 30 of 50 show.
        assert!(several_p(&steps, &Curve::Gaussian(0.5)) < 0.03);
        steps[59].correct = 30;
        assert!(several_p(&steps, &Curve::Gaussian(0.5)) > 0.5);
    }
}
