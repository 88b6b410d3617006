//! Bounds from a sample whose size was fixed in advance. They are the tightest bounds once the whole budget is spent.

use super::binomial::{logistic, lower_limit, lower_log_odds};
use super::region::{Region, Weights};
use crate::model::{Claim, RuleEstimate, Tally};

/// The share of α of an upper limit that bounds how often the rule guesses; the rest bounds how often a guess is right.
const MASS_SHARE: f64 = 0.05;

/// Lower limits that hold together with confidence `1 − α`.
///
/// An (ε, δ)-DP mechanism has `P(correct) ≤ e^ε·P(wrong) + δ·r/2` for every rule. Let `L = P(correct | guess)` and `g = P(guess)`.
/// Division by `P(guess)` then gives `L ≤ e^ε·(1 − L) + (δ·r/2)/g`. Solved for ε or δ, both sides grow with L and g, so their smallest
/// values over a [`Region`] of (L, g) are lower bounds. The region does not depend on ε and δ, so all bounds hold at once.
#[derive(Clone, Debug)]
pub struct Limits {
    region: Region,
    /// `r`: how many of the two answers the rule ever gives.
    regions: u8,
}

impl Limits {
    /// The limits from the tally of a rule that gives `regions` different answers. They are tightest near the claim. The weights must not
    /// depend on the draws of the tally.
    #[must_use]
    pub fn new(tally: Tally, regions: u8, alpha: f64, claim: Claim, weights: Weights) -> Self {
        let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
        let of_epsilon = |log_odds: f64, mass: f64| solved_for_epsilon(log_odds, mass, effective(delta, regions));
        let of_delta = |log_odds: f64, mass: f64| solved_for_delta(log_odds, mass, epsilon);
        Self { region: Region::new(tally, alpha, weights, &[&of_epsilon, &of_delta]), regions }
    }

    /// The largest ε known to be exceeded or reached at this δ: `ln((L − δ_eff/g)/(1 − L))`; 0 if none is.
    #[must_use]
    pub fn epsilon_lower(&self, delta: f64) -> f64 {
        self.region.least(|log_odds, mass| solved_for_epsilon(log_odds, mass, effective(delta, self.regions))).max(0.0)
    }

    /// The largest δ known to be exceeded or reached at this ε: `(2/r)·g·(L(1 + e^ε) − e^ε)`; 0 if none is.
    #[must_use]
    pub fn delta_lower(&self, epsilon: f64) -> f64 {
        if self.regions == 0 {
            return 0.0;
        }
        let delta = self.region.least(|log_odds, mass| solved_for_delta(log_odds, mass, epsilon)) * 2.0 / f64::from(self.regions);
        // Not `clamp`, which keeps a negative zero.
        if delta > 0.0 { delta.min(1.0) } else { 0.0 }
    }
}

/// `ln((L − δ_eff/g)/(1 − L))`, given the log-odds of L; −∞ if δ alone explains the guesses.
fn solved_for_epsilon(log_odds: f64, mass: f64, delta_eff: f64) -> f64 {
    let (likely, spent) = (logistic(log_odds), if delta_eff > 0.0 { delta_eff / mass } else { 0.0 });
    // ln((L − s)/(1 − L)) = logit(L) + ln(1 − s/L)
    if mass > 0.0 && likely > spent { log_odds + (-spent / likely).ln_1p() } else { f64::NEG_INFINITY }
}

/// `δ_eff = g·(L(1 + e^ε) − e^ε) = g·(1 − (1 − L)(1 + e^ε))`, given the log-odds of L.
fn solved_for_delta(log_odds: f64, mass: f64, epsilon: f64) -> f64 {
    let advantage = 1.0 - logistic(-log_odds) * (1.0 + epsilon.exp());
    if mass > 0.0 { mass * advantage } else { 0.0 }
}

/// The ε that a rule shows at this δ, and an upper limit of it with confidence `1 − α`. Both are about this rule only: the mechanism may
/// leak more to another rule.
///
/// `P(correct) ≤ e^ε·P(wrong) + δ_eff`, so `ε ≥ ln((c − δ_eff)/w)`. The estimate uses the frequencies of correct and wrong guesses for `c`
/// and `w`; the upper limit uses limits of them.
#[must_use]
pub fn rule_estimate(tally: Tally, regions: u8, delta: f64, alpha: f64) -> RuleEstimate {
    let of = |log_odds: f64, mass: f64| {
        let (likely, spent) = (logistic(log_odds), effective(delta, regions) / mass);
        if likely > spent { (log_odds + (-spent / likely).ln_1p()).max(0.0) } else { 0.0 }
    };
    let Tally { correct, wrong, abstained } = tally;
    let guesses = tally.guesses();
    if guesses == 0 {
        return RuleEstimate { epsilon: 0.0, epsilon_upper: f64::INFINITY };
    }
    // One minus the lower limit of P(wrong | guess) is the upper limit of P(correct | guess); the log-odds change their sign.
    let log_odds = -lower_log_odds(wrong, guesses, alpha * (1.0 - MASS_SHARE));
    let mass = 1.0 - lower_limit(abstained, tally.draws(), alpha * MASS_SHARE);
    RuleEstimate {
        epsilon: of((correct as f64 / wrong as f64).ln(), guesses as f64 / tally.draws() as f64),
        epsilon_upper: of(log_odds, mass),
    }
}

/// `δ_eff = δ·r/2`: each of the `r` answers that the rule gives may gain δ, on the half of the draws for which it is correct.
#[must_use]
pub fn effective(delta: f64, regions: u8) -> f64 {
    delta * f64::from(regions) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Forecast;

    const TALLY: Tally = Tally { correct: 7000, wrong: 2000, abstained: 1000 };

    fn limits(tally: Tally, regions: u8, delta: f64) -> Limits {
        let claim = Claim { epsilon: 1.0.try_into().unwrap(), delta: delta.try_into().unwrap() };
        let forecast = Forecast { correct: 0.7, wrong: 0.2, draws: 1e5 };
        Limits::new(tally, regions, 0.05, claim, Weights::for_epsilon(forecast, effective(delta, regions)))
    }

    #[test]
    fn without_delta_the_bound_is_the_log_odds() {
        let found = limits(TALLY, 2, 0.0).epsilon_lower(0.0);
        let exact = lower_log_odds(7000, 9000, 0.05 * 0.98);
        assert!((found / exact - 1.0).abs() < 1e-7, "{found} against {exact}");
        assert!(found < (7000.0_f64 / 2000.0).ln());
    }

    #[test]
    fn the_two_formulas_solve_the_same_inequality() {
        for (log_odds, mass, delta_eff) in [(1.5, 0.3, 0.02), (3.0, 0.01, 0.001), (0.2, 0.9, 0.0)] {
            let epsilon = solved_for_epsilon(log_odds, mass, delta_eff);
            let right = logistic(log_odds);
            // right = e^ε·(1 − right) + spent/guessed
            assert!((right - epsilon.exp() * (1.0 - right) - delta_eff / mass).abs() < 1e-12);
            assert!((solved_for_delta(log_odds, mass, epsilon) - delta_eff).abs() < 1e-12);
        }
        // Here δ alone explains every correct guess.
        assert_eq!(solved_for_epsilon(1.0, 0.9, 0.8), f64::NEG_INFINITY);
        assert_eq!(limits(TALLY, 2, 0.8).epsilon_lower(0.8), 0.0);
        assert_eq!(rule_estimate(TALLY, 2, 0.8, 0.05), RuleEstimate { epsilon: 0.0, epsilon_upper: 0.0 });
    }

    #[test]
    fn an_upper_limit_solves_the_inequality_with_upper_limits() {
        let most = (1.0 - lower_limit(2000, 9000, 0.05 * 0.95), 1.0 - lower_limit(1000, 10_000, 0.05 * 0.05));
        for (regions, delta) in [(2, 0.0), (2, 0.1), (1, 0.3)] {
            let spent = delta * f64::from(regions) / 2.0;
            let exact = ((most.0 - spent / most.1) / (1.0 - most.0)).ln();
            let found = rule_estimate(TALLY, regions, delta, 0.05).epsilon_upper;
            assert!((found / exact - 1.0).abs() < 1e-12, "{found} against {exact}");
        }
    }

    #[test]
    fn bounds_shrink_as_more_is_allowed_and_agree_with_each_other() {
        let limits = limits(TALLY, 2, 0.01);
        let epsilon = limits.epsilon_lower(0.01);
        assert!(epsilon < limits.epsilon_lower(0.0));
        // The same inequality solved for the other unknown.
        assert!((limits.delta_lower(epsilon) - 0.01).abs() < 1e-9, "{}", limits.delta_lower(epsilon));
        assert!(limits.delta_lower(epsilon + 0.1) < 0.01);
    }

    #[test]
    fn without_guesses_every_bound_is_zero() {
        let silent = limits(Tally { correct: 0, wrong: 0, abstained: 100 }, 0, 0.1);
        assert_eq!(silent.epsilon_lower(0.0), 0.0);
        assert_eq!(silent.delta_lower(1.0), 0.0);
        let none = limits(Tally::default(), 1, 0.1);
        assert_eq!(none.epsilon_lower(0.1), 0.0);
        assert_eq!(none.delta_lower(1.0), 0.0);
    }

    #[test]
    fn the_estimate_of_a_rule_is_between_its_limits() {
        for delta in [0.0, 0.01] {
            let shown = rule_estimate(TALLY, 2, delta, 0.05);
            let exact = ((0.7 - delta) / 0.2_f64).ln();
            assert!((shown.epsilon - exact).abs() < 1e-12, "{} against {exact}", shown.epsilon);
            assert!(limits(TALLY, 2, delta).epsilon_lower(delta) < shown.epsilon && shown.epsilon < shown.epsilon_upper);
        }
        // Without a wrong guess the odds have no upper limit.
        let sure = rule_estimate(Tally { correct: 50, wrong: 0, abstained: 0 }, 2, 0.0, 0.05);
        assert!(sure.epsilon.is_infinite() && sure.epsilon_upper.is_infinite());
        assert!(rule_estimate(Tally { correct: 0, wrong: 0, abstained: 9 }, 1, 0.0, 0.05).epsilon_upper.is_infinite());
    }

    #[test]
    fn one_sided_rules_pay_half_the_delta() {
        let (one, two) = (limits(TALLY, 1, 0.02), limits(TALLY, 2, 0.01));
        assert_eq!(one.epsilon_lower(0.02), two.epsilon_lower(0.01));
        assert!((one.delta_lower(0.5) - 2.0 * two.delta_lower(0.5)).abs() < 1e-12);
    }
}
