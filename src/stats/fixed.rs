//! Bounds from a sample whose size was fixed in advance. They are the tightest bounds once the
//! whole budget is spent.

use super::binomial::{log_mean_exp, logistic, lower_limit, lower_log_odds};
use super::method::Method;
use super::region::Region;
use crate::model::{Claim, Measure, RuleEstimate, Tally};

/// The share of α of an upper limit that bounds how often the rule guesses; the rest bounds how
/// often a guess is right.
const MASS_SHARE: f64 = 0.05;

/// Lower limits that hold together with confidence `1 − α`.
///
/// An (ε, δ)-DP mechanism has `P(correct) ≤ e^ε·P(wrong) + δ·r/2` for every rule. Solved for ε or
/// δ, the smallest values over a `Region` of both probabilities are lower bounds. The region does
/// not depend on ε and δ, so all bounds hold at once. Bets are about one ε only.
#[derive(Clone, Debug)]
pub struct Limits {
    kind: Kind,
    /// `r`: how many of the two answers the rule ever gives.
    regions: u8,
}

#[derive(Clone, Debug)]
enum Kind {
    Region(Region),
    /// The only ε about which something is known, and `δ_eff` at it.
    Bets {
        epsilon: f64,
        delta_eff: f64,
    },
}

impl Limits {
    /// The limits from the tally of a rule that gives `regions` different answers. They are
    /// tightest near the claim. The method must not depend on the draws of the tally.
    #[must_use]
    pub fn new(tally: Tally, regions: u8, alpha: f64, claim: &Claim, method: Method) -> Self {
        let kind = match method {
            Method::Region(weights) => {
                let measures: Vec<_> = claim.limits().iter().map(|limit| &limit.measure).collect();
                let values: Vec<_> = measures
                    .iter()
                    .map(|measure| |correct, wrong| measure.of(correct, wrong, regions))
                    .collect();
                let values: Vec<&dyn Fn(f64, f64) -> f64> =
                    values.iter().map(|value| value as _).collect();
                Kind::Region(Region::new(tally, alpha, weights, &values))
            }
            Method::Bets => {
                let epsilon = claim.epsilon();
                Kind::Bets { epsilon, delta_eff: won_from_bets(tally, alpha, epsilon) }
            }
        };
        Self { kind, regions }
    }

    /// The largest value of this measure known to be exceeded or reached; 0 if none is.
    #[must_use]
    pub fn lower(&self, measure: &Measure) -> f64 {
        match (&self.kind, measure) {
            (_, Measure::Delta { epsilon }) => self.delta_lower(*epsilon),
            (Kind::Region(region), _) => {
                region.least(|correct, wrong| measure.of(correct, wrong, self.regions)).max(0.0)
            }
            (Kind::Bets { .. }, _) => 0.0,
        }
    }

    /// The largest ε known to be exceeded or reached at this δ; 0 if none is.
    #[must_use]
    pub fn epsilon_lower(&self, delta: f64) -> f64 {
        self.lower(&Measure::Epsilon { delta })
    }

    /// The largest δ known to be exceeded or reached at this ε; 0 if none is.
    #[must_use]
    pub fn delta_lower(&self, epsilon: f64) -> f64 {
        let delta = match &self.kind {
            Kind::Region(region) => region.least(|correct, wrong| {
                Measure::Delta { epsilon }.of(correct, wrong, self.regions)
            }),
            // At a larger ε less may be true; at a smaller one δ is at least as large.
            Kind::Bets { epsilon: known, delta_eff } => {
                if epsilon <= *known {
                    *delta_eff * 2.0 / f64::from(self.regions.max(1))
                } else {
                    0.0
                }
            }
        };
        // Not `clamp`, which keeps a negative zero.
        if delta > 0.0 && self.regions > 0 { delta.min(1.0) } else { 0.0 }
    }
}

/// The largest `δ_eff` that a gambler refutes at this ε.
///
/// If `P(correct) ≤ e^ε·P(wrong) + δ_eff`, a draw multiplies the wealth by `1 + μ·(1[correct] −
/// e^ε·1[wrong] − δ_eff)`, which is 1 on average at most. So the wealth after all draws is 1 at
/// most on average, and it reaches `1/α` with probability α at most (Markov). The same holds for
/// the mean of several gamblers with different stakes. Each factor falls as `δ_eff` grows, so all
/// smaller values are refuted too.
fn won_from_bets(tally: Tally, alpha: f64, epsilon: f64) -> f64 {
    /// Stakes, as parts of what a wrong guess must not cost. A bold one wins most on an event that
    /// never misleads.
    const STAKES: [f64; 5] = [0.25, 0.5, 0.75, 0.9, 0.98];
    const HALVINGS: usize = 60;
    let Tally { correct, wrong, abstained } = tally;
    let odds = epsilon.exp();
    let enough = |delta_eff: f64| {
        let log_wealth = STAKES.map(|stake| {
            // A wrong guess multiplies the wealth by one minus this part.
            let stake = stake / (odds + delta_eff);
            let part = |count: u64, gain: f64| {
                if count == 0 { 0.0 } else { count as f64 * (stake * (gain - delta_eff)).ln_1p() }
            };
            part(correct, 1.0) + part(wrong, -odds) + part(abstained, 0.0)
        });
        log_mean_exp(&log_wealth) >= -alpha.ln() * (1.0 + 1e-9)
    };
    if alpha <= 0.0 || !odds.is_finite() || !enough(0.0) {
        return 0.0;
    }
    let (mut known, mut unknown) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(known, unknown);
        if enough(middle) { known = middle } else { unknown = middle }
    }
    known
}

/// The ε that a rule shows at this δ, and an upper limit of it with confidence `1 − α`. Both are
/// about this rule only: the mechanism may leak more to another rule.
///
/// `P(correct) ≤ e^ε·P(wrong) + δ_eff`, so `ε ≥ ln((c − δ_eff)/w)`. The estimate uses the
/// frequencies of correct and wrong guesses for `c` and `w`; the upper limit uses limits of them.
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
    // One minus the lower limit of P(wrong | guess) is the upper limit of P(correct | guess); the
    // log-odds change their sign.
    let log_odds = -lower_log_odds(wrong, guesses, alpha * (1.0 - MASS_SHARE));
    let mass = 1.0 - lower_limit(abstained, tally.draws(), alpha * MASS_SHARE);
    RuleEstimate {
        epsilon: of((correct as f64 / wrong as f64).ln(), guesses as f64 / tally.draws() as f64),
        epsilon_upper: of(log_odds, mass),
    }
}

/// `δ_eff = δ·r/2`: each of the `r` answers that the rule gives may gain δ, on the half of the
/// draws for which it is correct.
#[must_use]
pub fn effective(delta: f64, regions: u8) -> f64 {
    delta * f64::from(regions) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Rates;
    use crate::stats::binomial::upper_tail;
    use crate::stats::region::Weights;

    const TALLY: Tally = Tally { correct: 7000, wrong: 2000, abstained: 1000 };

    fn limits(tally: Tally, regions: u8, delta: f64) -> Limits {
        let claim = &Claim::new(1.0, delta).unwrap();
        let forecast = Rates { correct: 0.7, wrong: 0.2, draws: 1e5 };
        Limits::new(
            tally,
            regions,
            0.05,
            claim,
            Method::for_epsilon(forecast, effective(delta, regions)),
        )
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
        for (correct, wrong, delta_eff) in
            [(0.3_f64, 0.1, 0.02), (0.01, 0.001, 0.001), (0.5, 0.4, 0.0)]
        {
            let epsilon = Measure::Epsilon { delta: delta_eff }.of(correct, wrong, 2);
            assert!((correct - epsilon.exp() * wrong - delta_eff).abs() < 1e-12);
            assert!((Measure::Delta { epsilon }.of(correct, wrong, 2) - delta_eff).abs() < 1e-12);
        }
        // Here δ alone explains every correct guess.
        assert_eq!(Measure::Epsilon { delta: 0.8 }.of(0.7, 0.2, 2), f64::NEG_INFINITY);
        assert_eq!(limits(TALLY, 2, 0.8).epsilon_lower(0.8), 0.0);
        assert_eq!(
            rule_estimate(TALLY, 2, 0.8, 0.05),
            RuleEstimate { epsilon: 0.0, epsilon_upper: 0.0 }
        );
    }

    #[test]
    fn an_upper_limit_solves_the_inequality_with_upper_limits() {
        let most = (
            1.0 - lower_limit(2000, 9000, 0.05 * 0.95),
            1.0 - lower_limit(1000, 10_000, 0.05 * 0.05),
        );
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
        assert!(
            (limits.delta_lower(epsilon) - 0.01).abs() < 1e-9,
            "{}",
            limits.delta_lower(epsilon)
        );
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
            assert!(
                limits(TALLY, 2, delta).epsilon_lower(delta) < shown.epsilon
                    && shown.epsilon < shown.epsilon_upper
            );
        }
        // Without a wrong guess the odds have no upper limit.
        let sure = rule_estimate(Tally { correct: 50, wrong: 0, abstained: 0 }, 2, 0.0, 0.05);
        assert!(sure.epsilon.is_infinite() && sure.epsilon_upper.is_infinite());
        assert!(
            rule_estimate(Tally { correct: 0, wrong: 0, abstained: 9 }, 1, 0.0, 0.05)
                .epsilon_upper
                .is_infinite()
        );
    }

    #[test]
    fn one_sided_rules_pay_half_the_delta() {
        let (one, two) = (limits(TALLY, 1, 0.02), limits(TALLY, 2, 0.01));
        assert_eq!(one.epsilon_lower(0.02), two.epsilon_lower(0.01));
        assert!((one.delta_lower(0.5) - 2.0 * two.delta_lower(0.5)).abs() < 1e-12);
    }

    #[test]
    fn bets_exceed_the_truth_with_probability_at_most_alpha() {
        // Correct guesses with probability p and wrong ones with probability q in 30 draws, with
        // their exact probabilities.
        let (n, alpha) = (30_u64, 0.1);
        let point = |k: u64, n: u64, p: f64| upper_tail(k, n, p) - upper_tail(k + 1, n, p);
        for (p, q, epsilon) in [(0.3, 0.0, 1.0), (0.4, 0.02, 1.0), (0.25, 0.05, 0.3)] {
            let truth = p - f64::exp(epsilon) * q;
            let mut above = 0.0;
            for wrong in 0..=n {
                for correct in 0..=n - wrong {
                    let tally = Tally { correct, wrong, abstained: n - correct - wrong };
                    let probability = point(wrong, n, q) * point(correct, n - wrong, p / (1.0 - q));
                    above += if won_from_bets(tally, alpha, epsilon) > truth {
                        probability
                    } else {
                        0.0
                    };
                }
            }
            assert!(above <= alpha, "{p} {q}: {above}");
        }
    }

    #[test]
    fn a_rare_event_without_errors_is_worth_more_with_bets() {
        // 44 correct guesses and no wrong one in 175,000 draws.
        let tally = Tally { correct: 44, wrong: 0, abstained: 174_956 };
        let claim = &Claim::new(1.0, 1e-4).unwrap();
        let of = |method: Method| Limits::new(tally, 1, 0.005, claim, method);
        let region = (0..20)
            .map(|weight| {
                of(Method::Region(Weights::new(1.0, f64::from(weight) / 20.0))).delta_lower(1.0)
            })
            .fold(0.0, f64::max);
        let found = of(Method::Bets).delta_lower(1.0);
        assert!(found > 1.1 * region, "{found} against {region}");
        assert!(found < 2.0 * 44.0 / 175e3);
        // Nothing is known about ε, nor at a larger ε.
        assert_eq!(
            (of(Method::Bets).epsilon_lower(1e-4), of(Method::Bets).delta_lower(1.1)),
            (0.0, 0.0)
        );
        assert_eq!(of(Method::Bets).delta_lower(0.5), found);
    }
}
