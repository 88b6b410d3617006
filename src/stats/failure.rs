//! The failure probability of an event, from a sample whose size was fixed in advance.

use super::binomial::{logistic, lower_limit, lower_log_odds};
use crate::model::FailureLimits;

/// Exact limits of the failure probability after `failures` failures in `draws` draws.
///
/// Half of α is for each limit. `P(lower > p) ≤ α/2` and `P(upper < p) ≤ α/2` for every failure
/// probability p (Clopper–Pearson), so both hold at once with probability at least `1 − α`. The
/// upper limit of the failures is the lower limit of the successes.
#[must_use]
pub fn failure_limits(failures: u64, draws: u64, alpha: f64) -> FailureLimits {
    let successes = draws.saturating_sub(failures);
    // Taken from the log-odds, because 1 − (1 − p) has no digits left where p is small.
    FailureLimits {
        lower: lower_limit(failures, draws, alpha / 2.0),
        upper: logistic(-lower_log_odds(successes, draws, alpha / 2.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccuracyClaim, Verdict};
    use crate::stats::binomial::upper_tail;

    /// The probability of each number of failures in n draws.
    fn points(n: u64, p: f64) -> Vec<f64> {
        (0..=n).map(|k| upper_tail(k, n, p) - upper_tail(k + 1, n, p)).collect()
    }

    fn claim(probability: f64) -> AccuracyClaim {
        AccuracyClaim { probability: probability.try_into().unwrap(), resolution: None }
    }

    #[test]
    fn each_limit_errs_with_at_most_half_of_alpha() {
        for alpha in [0.1, 1e-3] {
            for n in [1, 2, 10, 57, 300] {
                for p in [0.0, 1e-3, 0.05, 0.31, 0.5, 0.9, 1.0] {
                    let points = points(n, p);
                    let limits: Vec<_> =
                        (0..=n).map(|failures| failure_limits(failures, n, alpha)).collect();
                    let chance = |wrong: &dyn Fn(&FailureLimits) -> bool| {
                        points
                            .iter()
                            .zip(&limits)
                            .filter(|(_, limits)| wrong(limits))
                            .map(|(point, _)| point)
                            .sum::<f64>()
                    };
                    let (above, below) =
                        (chance(&|limits| limits.lower > p), chance(&|limits| limits.upper < p));
                    assert!(
                        above <= alpha / 2.0 && below <= alpha / 2.0,
                        "n = {n}, p = {p}, α = {alpha}: {above}, {below}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_claim_that_just_holds_is_refuted_with_probability_at_most_alpha() {
        for alpha in [0.05, 1e-4] {
            for n in [1, 20, 400, 1500] {
                for probability in [0.5, 0.95, 0.99] {
                    let claim = claim(probability);
                    let verdict = |failures| claim.verdict(failure_limits(failures, n, alpha));
                    let chance = |p: f64, wrong: Verdict| {
                        (0..=n)
                            .zip(points(n, p))
                            .filter(|(k, _)| verdict(*k) == wrong)
                            .map(|(_, point)| point)
                            .sum::<f64>()
                    };
                    let refuted = chance(claim.allowed(), Verdict::Violated);
                    assert!(refuted <= alpha, "n = {n}, probability {probability}: {refuted}");
                    // A claim that fails just beyond the resolution is called consistent as rarely.
                    let passed = chance(claim.noticed().next_up(), Verdict::Consistent);
                    assert!(passed <= alpha, "n = {n}, probability {probability}: {passed}");
                }
            }
        }
    }

    #[test]
    fn limits_at_the_ends_are_those_of_the_formulas() {
        let none = failure_limits(0, 1000, 0.02);
        // (1 − p)^n = α/2.
        assert!(
            none.lower == 0.0 && (none.upper - (1.0 - 0.01_f64.powf(1e-3))).abs() < 1e-8,
            "{none:?}"
        );
        let all = failure_limits(1000, 1000, 0.02);
        assert!(all.upper == 1.0 && (all.lower - 0.01_f64.powf(1e-3)).abs() < 1e-8, "{all:?}");
        assert_eq!(failure_limits(0, 0, 0.02), FailureLimits { lower: 0.0, upper: 1.0 });
        // Small limits keep their digits.
        let rare = failure_limits(3, 1_000_000_000, 0.02);
        assert!(
            rare.lower > 4e-10 && rare.lower < 3e-9 && rare.upper > 3e-9 && rare.upper < 1.1e-8,
            "{rare:?}"
        );
    }

    #[test]
    fn enough_draws_decide_both_ways() {
        // 1 % may fail. With 0.9 % or 1.1 % failures, 10^6 draws decide; 10^3 do not.
        let claim = claim(0.99);
        let verdicts = |draws: u64| {
            [9, 12].map(|share| claim.verdict(failure_limits(draws * share / 1000, draws, 1e-6)))
        };
        assert_eq!(verdicts(1_000_000), [Verdict::Consistent, Verdict::Violated]);
        assert!(verdicts(1000).iter().all(|verdict| verdict.reason().is_some()));
    }
}
