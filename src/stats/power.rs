//! The power of a rule: the smallest leak that it would have detected.

use super::binomial::normal_quantile;
use super::certified::Certified;
use super::fixed::effective;
use crate::model::Tally;

/// The probability with which a leak must be flagged to count as detectable.
const POWER: f64 = 0.9;

/// The smallest ε that a rule that guesses as often as this one flags with probability 0.9, if the leak is visible to the rule; infinite if
/// there is none.
///
/// Take the tally of a rule that shows exactly this leak. Its bound is below the leak by z(α) standard errors, in effect. The leak is flagged
/// with probability 0.9 if the bound is above the claim by another z(0.1) standard errors.
#[must_use]
pub fn detectable_epsilon(part: &Certified) -> f64 {
    let claimed = part.claim().epsilon.get();
    let sure = normal_quantile(part.alpha());
    let mut leak = claimed;
    // The standard error changes slowly with the leak.
    for _ in 0..3 {
        let Some(exact) = tally_of(part, leak).map(|tally| part.with(tally)) else { return f64::INFINITY };
        let (shown, bound) = (exact.estimate().epsilon, exact.epsilon_lower());
        if bound <= 0.0 || !shown.is_finite() || sure <= 0.0 {
            return f64::INFINITY;
        }
        leak = claimed + (shown - bound) * (1.0 + normal_quantile(1.0 - POWER) / sure);
    }
    leak
}

/// The tally of a rule that guesses as often and shows this ε at the claimed δ; none if no tally does.
fn tally_of(part: &Certified, epsilon: f64) -> Option<Tally> {
    let Tally { abstained, .. } = part.tally;
    let guesses = part.tally.guesses();
    // P(correct) = e^ε·P(wrong) + δ_eff, divided by P(guess): 1 − wrong = e^ε·wrong + spent.
    let spent = effective(part.claim().delta.get(), part.regions) * part.tally.draws() as f64 / guesses as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and the number of guesses
    let wrong = ((1.0 - spent) / (1.0 + epsilon.exp()) * guesses as f64).round() as u64;
    (guesses > 0 && spent < 1.0).then(|| Tally { correct: guesses - wrong, wrong, abstained })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Claim;
    use crate::stats::binomial::upper_tail;
    use crate::stats::{Forecast, Method};

    fn part(tally: Tally, regions: u8, epsilon: f64, delta: f64, alpha: f64) -> Certified {
        let claim = Claim { epsilon: epsilon.try_into().unwrap(), delta: delta.try_into().unwrap() };
        let method = Method::for_epsilon(Forecast::of(tally), effective(delta, regions));
        Certified::new(tally, regions, alpha, claim, method)
    }

    #[test]
    fn more_draws_detect_smaller_leaks() {
        let at = |n: u64| detectable_epsilon(&part(Tally { correct: n * 73 / 100, wrong: n * 27 / 100, abstained: 0 }, 2, 1.0, 0.0, 0.001));
        assert!(at(1_000) > at(10_000));
        assert!(at(10_000) > at(1_000_000));
        assert!(at(1_000_000) > 1.0 && at(1_000_000) < 1.02);
    }

    #[test]
    fn it_agrees_with_the_normal_approximation() {
        // logit(p) of n guesses has standard error 1/√(n·p·(1−p)). A leak is flagged if it is z(α) standard errors above the claim; this has
        // probability 0.9 if the truth is another 1.2816 standard errors above.
        let n = 1_000_000;
        let p: f64 = 1.0 / (1.0 + (-1.0_f64).exp());
        let z = 1.654; // z(0.05·0.98)
        let expected = 1.0 + (z + 1.2816) / (n as f64 * p * (1.0 - p)).sqrt();
        let found = detectable_epsilon(&part(Tally { correct: n / 2, wrong: n - n / 2, abstained: 0 }, 2, 1.0, 0.0, 0.05));
        assert!((found - expected).abs() < 1e-4, "{found} against {expected}");
    }

    #[test]
    fn a_just_detectable_leak_is_flagged_with_the_stated_probability() {
        let (draws, guesses) = (10_000_u64, 4_000_u64);
        let tally = |correct| Tally { correct, wrong: guesses - correct, abstained: draws - guesses };
        for (epsilon, delta, regions, alpha) in [(1.0_f64, 0.0, 2, 0.01), (1.0, 0.05, 2, 0.01), (0.5, 0.05, 1, 0.01), (1.0, 0.0, 2, 1e-6)] {
            let rule = part(tally(2_900), regions, epsilon, delta, alpha);
            let found = detectable_epsilon(&rule);
            // The fewest correct guesses whose bound exceeds the claim, found by trying all numbers.
            let enough = (2_000..=guesses).find(|correct| rule.with(tally(*correct)).epsilon_lower() > epsilon).unwrap();
            // A mechanism with this leak reaches the limit of P(correct) ≤ e^ε·P(wrong) + δ_eff.
            let spent = effective(delta, regions) * draws as f64 / guesses as f64;
            let right = (found.exp() + spent) / (1.0 + found.exp());
            let flagged = upper_tail(enough, guesses, right);
            assert!((flagged - 0.9).abs() < 0.02, "ε {epsilon}, δ {delta}: {flagged}");
        }
    }

    #[test]
    fn nothing_is_detectable_without_guesses_or_below_delta() {
        assert!(detectable_epsilon(&part(Tally { correct: 0, wrong: 0, abstained: 50 }, 0, 1.0, 0.0, 0.05)).is_infinite());
        assert!(detectable_epsilon(&part(Tally { correct: 3, wrong: 0, abstained: 100_000 }, 1, 1.0, 0.01, 0.05)).is_infinite());
        assert!(detectable_epsilon(&part(Tally { correct: 3, wrong: 0, abstained: 0 }, 2, 1.0, 0.0, 1e-6)).is_infinite());
    }
}
