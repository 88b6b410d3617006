//! The power of an audit: the smallest leak that it would have detected.

use super::binomial::{logistic, solve, upper_tail};
use super::certified::Certified;
use super::fixed::{alpha_of_odds, effective};

/// The probability with which a leak must be flagged to count as detectable.
const POWER: f64 = 0.9;

/// The smallest ε that a rule that guesses as often as this one would have flagged with probability 0.9; infinite if there is none.
///
/// The number of guesses is the observed one; only the number of correct guesses varies.
#[must_use]
pub fn detectable_epsilon(part: &Certified, epsilon: f64, delta: f64) -> f64 {
    let guesses = part.tally.guesses();
    let needed = part.limits().refuting_log_odds(epsilon, delta);
    if guesses == 0 || needed.is_infinite() {
        return f64::INFINITY;
    }
    // The fewest correct guesses whose lower limit exceeds what is needed.
    let refuted = |correct: u64| upper_tail(correct, guesses, logistic(needed)) < alpha_of_odds(part.alpha()) * (1.0 - 1e-6);
    if !refuted(guesses) {
        return f64::INFINITY;
    }
    let (mut too_few, mut enough) = (0, guesses);
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if refuted(middle) { enough = middle } else { too_few = middle }
    }
    // How likely a correct guess must be, so that at least `enough` guesses are correct with probability 0.9.
    let right = logistic(solve(enough, guesses, POWER));
    let spent = effective(delta, part.regions) * part.tally.draws() as f64 / guesses as f64;
    // P(correct) ≤ e^ε·P(wrong) + δ_eff, divided by P(guess): right ≤ e^ε·(1 − right) + spent. With equality, solved for ε.
    if right <= spent { f64::INFINITY } else { ((right - spent) / (1.0 - right)).ln() }
}

#[cfg(test)]
mod tests {
    use super::super::fixed::Limits;
    use super::*;
    use crate::model::Tally;

    fn detectable(tally: Tally, regions: u8, epsilon: f64, delta: f64, alpha: f64) -> f64 {
        detectable_epsilon(&Certified::new(tally, regions, alpha), epsilon, delta)
    }

    #[test]
    fn more_draws_detect_smaller_leaks() {
        let at = |n: u64| detectable(Tally { correct: n * 73 / 100, wrong: n * 27 / 100, abstained: 0 }, 2, 1.0, 0.0, 0.001);
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
        let alpha = 0.05;
        let z = 1.670; // z(0.05·0.95)
        let expected = 1.0 + (z + 1.2816) / (n as f64 * p * (1.0 - p)).sqrt();
        let found = detectable(Tally { correct: n / 2, wrong: n - n / 2, abstained: 0 }, 2, 1.0, 0.0, alpha);
        assert!((found - expected).abs() < 1e-4, "{found} against {expected}");
    }

    #[test]
    fn a_just_detectable_leak_is_flagged_with_the_stated_probability() {
        let (draws, guesses) = (10_000_u64, 4_000_u64);
        let tally = |correct| Tally { correct, wrong: guesses - correct, abstained: draws - guesses };
        // At the last level 3,000 correct guesses are just not flagged: the missing part is the millionth of α that limits hold back.
        let narrow = upper_tail(3_000, guesses, logistic(1.0)) * (1.0 + 5e-7) / 0.95;
        for (epsilon, delta, regions, alpha) in [(1.0_f64, 0.0, 2, 0.01), (1.0, 0.05, 2, 0.01), (0.5, 0.05, 1, 0.01), (1.0, 0.0, 2, narrow)]
        {
            let found = detectable(tally(2_000), regions, epsilon, delta, alpha);
            // The fewest correct guesses whose bound exceeds the claim, found by trying all numbers.
            let flags = |correct: &u64| Limits::new(tally(*correct), regions, alpha).epsilon_lower(delta) > epsilon;
            let enough = (0..=guesses).find(flags).unwrap();
            // A mechanism with this leak reaches the limit of P(correct) ≤ e^ε·P(wrong) + δ_eff.
            let spent = effective(delta, regions) * draws as f64 / guesses as f64;
            let right = (found.exp() + spent) / (1.0 + found.exp());
            let flagged = upper_tail(enough, guesses, right);
            assert!((flagged - 0.9).abs() < 1e-6, "ε {epsilon}, δ {delta}: {flagged}");
        }
    }

    #[test]
    fn nothing_is_detectable_without_guesses_or_below_delta() {
        assert!(detectable(Tally { correct: 0, wrong: 0, abstained: 50 }, 0, 1.0, 0.0, 0.05).is_infinite());
        assert!(detectable(Tally { correct: 3, wrong: 0, abstained: 100_000 }, 1, 1.0, 0.01, 0.05).is_infinite());
        assert!(detectable(Tally { correct: 3, wrong: 0, abstained: 0 }, 2, 1.0, 0.0, 1e-6).is_infinite());
    }
}
