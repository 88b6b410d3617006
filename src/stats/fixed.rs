//! Bounds from a sample whose size was fixed in advance. They are the tightest bounds once the whole budget is spent.

use super::binomial::{logistic, lower_limit, lower_log_odds};
use crate::model::{RuleEstimate, Tally};

/// The share of α that bounds how often the rule guesses; the rest bounds how often a guess is right.
const MASS_SHARE: f64 = 0.05;

/// Lower limits that hold together with confidence `1 − α`.
///
/// An (ε, δ)-DP mechanism has `P(correct) ≤ e^ε·P(wrong) + δ·r/2` for every rule. Let `L ≤ P(correct | guess)` and `g ≤ P(guess)`.
/// Division by `P(guess)` then gives `L ≤ e^ε·(1 − L) + (δ·r/2)/g`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// `ln(L/(1−L))`.
    log_odds: f64,
    /// `g`.
    mass: f64,
    /// `r`: how many of the two answers the rule ever gives.
    regions: u8,
}

impl Limits {
    /// The limits from the tally of a rule that gives `regions` different answers.
    #[must_use]
    pub fn new(tally: Tally, regions: u8, alpha: f64) -> Self {
        Self {
            log_odds: lower_log_odds(tally.correct, tally.guesses(), alpha * (1.0 - MASS_SHARE)),
            mass: lower_limit(tally.guesses(), tally.draws(), alpha * MASS_SHARE),
            regions,
        }
    }

    /// The largest ε known to be exceeded or reached at this δ: `ln((L − δ_eff/g)/(1 − L))`; 0 if none is.
    #[must_use]
    pub fn epsilon_lower(&self, delta: f64) -> f64 {
        let spent = effective(delta, self.regions) / self.mass;
        let likely = logistic(self.log_odds);
        if self.mass <= 0.0 || likely <= spent {
            return 0.0;
        }
        // ln((L − s)/(1 − L)) = logit(L) + ln(1 − s/L)
        (self.log_odds + (-spent / likely).ln_1p()).max(0.0)
    }

    /// The largest δ known to be exceeded or reached at this ε: `(2/r)·g·(L(1 + e^ε) − e^ε)`; 0 if none is.
    #[must_use]
    pub fn delta_lower(&self, epsilon: f64) -> f64 {
        if self.regions == 0 {
            return 0.0;
        }
        let unlikely = logistic(-self.log_odds);
        // L(1 + e^ε) − e^ε = 1 − (1 − L)(1 + e^ε)
        let advantage = 1.0 - unlikely * (1.0 + epsilon.exp());
        let delta = self.mass * advantage * 2.0 / f64::from(self.regions);
        // Not `clamp`, which keeps a negative zero.
        if delta > 0.0 { delta.min(1.0) } else { 0.0 }
    }

    /// The log-odds that the lower limit must exceed to refute a claim; infinity if that is impossible.
    ///
    /// The claim is refuted if `L > e^ε·(1 − L) + δ_eff/g`. With equality, solved for `L`.
    #[must_use]
    pub fn refuting_log_odds(&self, epsilon: f64, delta: f64) -> f64 {
        let spent = effective(delta, self.regions) / self.mass;
        if self.mass <= 0.0 || spent >= 1.0 {
            return f64::INFINITY;
        }
        // L = (e^ε + s)/(1 + e^ε), so L/(1 − L) = (e^ε + s)/(1 − s).
        let odds = epsilon.exp();
        if odds.is_finite() { (odds + spent).ln() - (-spent).ln_1p() } else { epsilon - (-spent).ln_1p() }
    }
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

/// The part of α that is spent on `L`.
#[must_use]
pub fn alpha_of_odds(alpha: f64) -> f64 {
    alpha * (1.0 - MASS_SHARE)
}

/// `δ_eff = δ·r/2`: each of the `r` answers that the rule gives may gain δ, on the half of the draws for which it is correct.
#[must_use]
pub fn effective(delta: f64, regions: u8) -> f64 {
    delta * f64::from(regions) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const TALLY: Tally = Tally { correct: 7000, wrong: 2000, abstained: 1000 };

    #[test]
    fn without_delta_the_bound_is_the_log_odds() {
        let limits = Limits::new(TALLY, 2, 0.05);
        assert_eq!(limits.epsilon_lower(0.0), lower_log_odds(7000, 9000, 0.05 * 0.95));
        assert!(limits.epsilon_lower(0.0) < (7000.0_f64 / 2000.0).ln());
    }

    #[test]
    fn bounds_solve_the_inequality_with_limits_in_place_of_probabilities() {
        let close = |found: f64, exact: f64| assert!((found / exact - 1.0).abs() < 1e-12, "{found} against {exact}");
        let (odds, mass) = (0.05 * 0.95, 0.05 * 0.05);
        let least = (lower_limit(7000, 9000, odds), lower_limit(9000, 10_000, mass));
        let most = (1.0 - lower_limit(2000, 9000, odds), 1.0 - lower_limit(1000, 10_000, mass));
        for (regions, delta, epsilon) in [(2, 0.0, 0.5_f64), (2, 0.1, 1.0), (1, 0.3, 0.2)] {
            // right = e^ε·(1 − right) + spent/guessed
            let spent = delta * f64::from(regions) / 2.0;
            let solved = |(right, guessed): (f64, f64)| ((right - spent / guessed) / (1.0 - right)).ln();
            let limits = Limits::new(TALLY, regions, 0.05);
            close(limits.epsilon_lower(delta), solved(least));
            close(rule_estimate(TALLY, regions, delta, 0.05).epsilon_upper, solved(most));
            let (right, guessed) = least;
            close(limits.delta_lower(epsilon), guessed * (right - epsilon.exp() * (1.0 - right)) * 2.0 / f64::from(regions));
            let needed = logistic(Limits::new(TALLY, regions, 0.05).refuting_log_odds(epsilon, delta));
            close(needed, epsilon.exp() * (1.0 - needed) + spent / guessed);
        }
        // Here δ alone explains every correct guess.
        assert_eq!(Limits::new(TALLY, 2, 0.05).epsilon_lower(0.8), 0.0);
        assert_eq!(rule_estimate(TALLY, 2, 0.8, 0.05), RuleEstimate { epsilon: 0.0, epsilon_upper: 0.0 });
    }

    #[test]
    fn bounds_shrink_as_more_is_allowed_and_agree_with_each_other() {
        let limits = Limits::new(TALLY, 2, 0.05);
        let epsilon = limits.epsilon_lower(0.01);
        assert!(epsilon < limits.epsilon_lower(0.0));
        // The same inequality solved for the other unknown.
        assert!((limits.delta_lower(epsilon) - 0.01).abs() < 1e-9, "{}", limits.delta_lower(epsilon));
        assert!(limits.delta_lower(epsilon + 0.1) < 0.01);
    }

    #[test]
    fn the_log_odds_that_refute_a_claim_give_the_claim_as_bound() {
        for (epsilon, delta, regions) in [(1.0, 0.0, 2), (1.0, 0.05, 2), (0.3, 0.2, 1), (2.0, 0.01, 1), (800.0, 0.05, 2)] {
            let needed = Limits::new(TALLY, regions, 0.05).refuting_log_odds(epsilon, delta);
            // Guesses that are known to be correct exactly this often, and that are made as often as these.
            let limits = Limits { log_odds: needed, ..Limits::new(TALLY, regions, 0.05) };
            assert!((limits.epsilon_lower(delta) / epsilon - 1.0).abs() < 1e-12, "ε {epsilon}, δ {delta}: {}", limits.epsilon_lower(delta));
        }
        assert_eq!(Limits::new(TALLY, 2, 0.05).refuting_log_odds(1.0, 0.95), f64::INFINITY);
    }

    #[test]
    fn without_guesses_every_bound_is_zero() {
        let limits = Limits::new(Tally { correct: 0, wrong: 0, abstained: 100 }, 0, 0.05);
        assert_eq!(limits.epsilon_lower(0.0), 0.0);
        assert_eq!(limits.delta_lower(1.0), 0.0);
        let none = Limits::new(Tally::default(), 1, 0.05);
        assert_eq!(none.epsilon_lower(0.1), 0.0);
        assert_eq!(none.delta_lower(1.0), 0.0);
        assert_eq!(none.refuting_log_odds(1.0, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_estimate_of_a_rule_is_between_its_limits() {
        for delta in [0.0, 0.01] {
            let shown = rule_estimate(TALLY, 2, delta, 0.05);
            let exact = ((0.7 - delta) / 0.2_f64).ln();
            assert!((shown.epsilon - exact).abs() < 1e-12, "{} against {exact}", shown.epsilon);
            assert!(Limits::new(TALLY, 2, 0.05).epsilon_lower(delta) < shown.epsilon && shown.epsilon < shown.epsilon_upper);
        }
        // Without a wrong guess the odds have no upper limit.
        let sure = rule_estimate(Tally { correct: 50, wrong: 0, abstained: 0 }, 2, 0.0, 0.05);
        assert!(sure.epsilon.is_infinite() && sure.epsilon_upper.is_infinite());
        assert!(rule_estimate(Tally { correct: 0, wrong: 0, abstained: 9 }, 1, 0.0, 0.05).epsilon_upper.is_infinite());
    }

    #[test]
    fn one_sided_rules_pay_half_the_delta() {
        let one = Limits::new(TALLY, 1, 0.05);
        let two = Limits::new(TALLY, 2, 0.05);
        assert_eq!(one.epsilon_lower(0.02), two.epsilon_lower(0.01));
        assert!((one.delta_lower(0.5) - 2.0 * two.delta_lower(0.5)).abs() < 1e-12);
    }
}
