//! The power of an audit: which leaks it would have detected.

use super::binomial::{logistic, normal_quantile, solve, upper_tail};
use super::certified::Certified;
use super::fixed::{alpha_of_odds, effective};
use crate::model::{Claim, Tally};

/// The probability with which a leak must be flagged to count as detectable.
const POWER: f64 = 0.9;

/// What would have been detected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// See [`Bounds::detectable_epsilon`](crate::model::Bounds::detectable_epsilon).
    pub detectable_epsilon: f64,
    /// See [`Bounds::resolved`](crate::model::Bounds::resolved).
    pub resolved: f64,
}

impl Power {
    /// Nothing would have been detected.
    pub const NONE: Self = Self { detectable_epsilon: f64::INFINITY, resolved: f64::INFINITY };

    /// A rule sees `seen` of a leak and flags it with probability 0.9 from `flagged` on, where `claimed` is allowed. A leak of the same
    /// shape must grow by the factor `flagged/seen`. All three are an ε or a δ; as a share of the claim, both become an ε.
    fn of_rule(seen: f64, flagged: f64, claimed: f64, epsilon: f64) -> Self {
        if flagged.is_infinite() {
            return Self::NONE;
        }
        let growth = if seen > 0.0 { (flagged / seen).max(1.0) } else { f64::INFINITY };
        Self { detectable_epsilon: epsilon * growth, resolved: epsilon * (flagged / claimed - 1.0).max(0.0) }
    }
}

/// What these rules would have detected. The rule that counts is the one that shows most of the claim, in ε or in δ. If none shows anything,
/// the precision is that of the rule that has most of it.
#[must_use]
pub fn power(parts: &[Certified], claim: Claim) -> Power {
    let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
    // If several are equal, the first.
    let best = |share: &dyn Fn(&Certified) -> f64| {
        let of = |part: &'_ Certified| (share(part), *part);
        parts.iter().map(of).reduce(|best, next| if next.0 > best.0 { next } else { best })
    };
    let Some((by_epsilon, shows_epsilon)) = best(&|part| part.limits().epsilon_lower(delta) / epsilon) else { return Power::NONE };
    let by_delta = best(&|part| part.limits().delta_lower(epsilon)).filter(|(lower, _)| delta > 0.0 && lower / delta > by_epsilon);
    if let Some((lower, part)) = by_delta {
        let (seen, flagged) = growth_of_delta(&part, lower, claim);
        return Power::of_rule(seen, flagged, delta, epsilon);
    }
    let of_epsilon = |part: &Certified| {
        let (seen, flagged) = (cautious_epsilon(part, delta), detectable_epsilon(part, epsilon, delta));
        Power::of_rule(seen, flagged, epsilon, epsilon)
    };
    let power = of_epsilon(&shows_epsilon);
    if by_epsilon > 0.0 {
        return power;
    }
    let resolved = parts.iter().map(|part| of_epsilon(part).resolved).fold(f64::INFINITY, f64::min);
    Power { resolved, ..power }
}

/// The ε that a rule shows, two standard errors below its plain estimate `ln((c − n·δ_eff)/w)`; 0 if it shows none. The estimate varies, and so
/// does the rule that is learned: a promise from a lucky one would not be kept.
///
/// The counts c and w are nearly independent, so the variance of the estimate is about `c/(c − n·δ_eff)² + 1/w`.
fn cautious_epsilon(part: &Certified, delta: f64) -> f64 {
    let Tally { correct, wrong, .. } = part.tally;
    // Without a wrong guess the estimate has no upper end. One wrong guess is on the careful side.
    let (correct, wrong) = (correct as f64, wrong.max(1) as f64);
    let excess = correct - part.tally.draws() as f64 * effective(delta, part.regions);
    if excess <= 0.0 {
        return 0.0;
    }
    ((excess / wrong).ln() - 2.0 * (correct / (excess * excess) + 1.0 / wrong).sqrt()).max(0.0)
}

/// The δ at the claimed ε that a rule shows, and the δ from which on it would have been flagged with probability 0.9.
///
/// The rule's event becomes more likely as the leak grows. If it is `f` times as likely, the rule shows `f·δ̂`, with a standard error that
/// is `√f` times as large. Let `k·g` be the distance from the claim at which the bound exceeds it with probability 0.9, where `g` is the
/// distance between estimate and bound. Then `f·δ̂ − √f·k·g = δ`, a quadratic in `√f`.
fn growth_of_delta(part: &Certified, lower: f64, claim: Claim) -> (f64, f64) {
    let Tally { correct, wrong, .. } = part.tally;
    let advantage = (correct as f64 - claim.epsilon.get().exp() * wrong as f64) / part.tally.draws() as f64;
    let seen = advantage * 2.0 / f64::from(part.regions);
    // g is z(α) standard errors or more.
    let distance = (seen - lower) * (1.0 + normal_quantile(1.0 - POWER) / normal_quantile(part.alpha()));
    let root = (distance + (distance * distance + 4.0 * seen * claim.delta.get()).sqrt()) / (2.0 * seen);
    let flagged = seen * root * root;
    // δ is a probability.
    (seen, if flagged <= 1.0 { flagged } else { f64::INFINITY })
}

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
