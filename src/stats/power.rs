//! The power of an audit: which leaks it would have detected.

use super::binomial::normal_quantile;
use super::certified::{Certified, strongest};
use super::fixed::effective;
use super::moment::GroupEvidence;
use crate::model::{Claim, Limit, Measure, Tally};

/// The probability with which a leak must be flagged to count as detectable.
const POWER: f64 = 0.9;

/// What would have been detected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Power {
    /// See [`Bounds::detectable`](crate::model::Bounds::detectable).
    pub detectable: f64,
    /// See [`Bounds::resolved`](crate::model::Bounds::resolved).
    pub resolved: f64,
}

impl Power {
    /// Nothing would have been detected.
    pub const NONE: Self = Self { detectable: f64::INFINITY, resolved: f64::INFINITY };

    /// A rule sees `seen` of a leak and flags it with probability 0.9 from `flagged` on, where
    /// `claimed` is allowed. A leak of the same shape must grow by the factor `flagged/seen`. All
    /// three are an ε or a δ; as a share of the claim, both become an ε.
    fn of_rule(seen: f64, flagged: f64, claimed: f64, claim: f64) -> Self {
        if flagged.is_infinite() {
            return Self::NONE;
        }
        if claimed == 0.0 {
            return Self { detectable: flagged, resolved: flagged };
        }
        let growth = if seen > 0.0 { (flagged / seen).max(1.0) } else { f64::INFINITY };
        Self { detectable: claim * growth, resolved: claim * (flagged / claimed - 1.0).max(0.0) }
    }
}

/// What these rules would have detected. The rule that counts is the one that shows most of the
/// claim. If none shows anything, the precision is that of the rule that has most of it.
#[must_use]
pub fn power(parts: &[Certified], claim: &Claim) -> Power {
    let Limit { measure, value: claimed } = claim.main();
    let of_main = |part: &Certified| {
        let (seen, flagged) = match measure {
            Measure::Epsilon { delta } => {
                (cautious_epsilon(part, *delta), detectable_epsilon(part))
            }
            _ => growth(part, measure, *claimed),
        };
        Power::of_rule(seen, flagged, *claimed, *claimed)
    };
    match strongest(parts, claim) {
        None => Power::NONE,
        Some((index, true)) => {
            let delta = claim.second().map_or(0.0, |limit| limit.value);
            let (seen, flagged) = growth_of_delta(&parts[index], claim.epsilon(), delta);
            Power::of_rule(seen, flagged, delta, *claimed)
        }
        Some((index, false)) if parts[index].lower() > 0.0 => of_main(&parts[index]),
        Some((index, false)) => {
            let resolved =
                parts.iter().map(|part| of_main(part).resolved).fold(f64::INFINITY, f64::min);
            Power { resolved, ..of_main(&parts[index]) }
        }
    }
}

/// What groups of outputs would have detected. Their bound is `√(2·ln(1/α))` standard errors below
/// what they show, in effect.
#[must_use]
pub fn power_of_groups(groups: GroupEvidence, claim: &Claim) -> Power {
    let claimed = claim.main().value;
    let error = (groups.shown - groups.lower).max(0.0) / (-2.0 * groups.alpha.ln()).sqrt();
    let flagged =
        claimed + (groups.shown - groups.lower).max(0.0) + normal_quantile(1.0 - POWER) * error;
    Power::of_rule(groups.shown - error, flagged, claimed, claimed)
}

/// What a rule shows in this measure, one standard error below its plain estimate, and the value
/// from which on it would have been flagged with probability 0.9. The distance between estimate and
/// bound is taken to be the same there.
fn growth(part: &Certified, measure: &Measure, claimed: f64) -> (f64, f64) {
    let Tally { correct, wrong, .. } = part.tally;
    let draws = part.tally.draws().max(1) as f64;
    let (correct, wrong) = (correct as f64 / draws, wrong.max(1) as f64 / draws);
    let shown = measure.of(correct, wrong, part.regions);
    let sure = normal_quantile(part.alpha());
    if part.lower() <= 0.0 || !shown.is_finite() || sure <= 0.0 {
        return (0.0, f64::INFINITY);
    }
    let distance = (shown - part.lower()).max(0.0) * (1.0 + normal_quantile(1.0 - POWER) / sure);
    (measure.cautious(correct, wrong, part.regions, draws, 1.0).max(0.0), claimed + distance)
}

/// The ε that a rule shows, one standard error below its plain estimate `ln((c − n·δ_eff)/w)`; 0 if
/// it shows none. The estimate varies, and the rule that shows most is often a lucky one.
///
/// The counts c and w are nearly independent, so the variance of the estimate is about `c/(c −
/// n·δ_eff)² + 1/w`.
fn cautious_epsilon(part: &Certified, delta: f64) -> f64 {
    let Tally { correct, wrong, .. } = part.tally;
    // Without a wrong guess the estimate has no upper end. One wrong guess is on the careful side.
    let (correct, wrong) = (correct as f64, wrong.max(1) as f64);
    let excess = correct - part.tally.draws() as f64 * effective(delta, part.regions);
    if excess <= 0.0 {
        return 0.0;
    }
    ((excess / wrong).ln() - (correct / (excess * excess) + 1.0 / wrong).sqrt()).max(0.0)
}

/// The δ at the claimed ε that a rule shows, one standard error below its plain estimate, and the δ
/// from which on it would have been flagged with probability 0.9. The rule that shows most is often
/// a lucky one, and on other draws another rule is learned.
///
/// The rule's event becomes more likely as the leak grows. If it is `f` times as likely, the rule
/// shows `f·δ̂`, with a standard error that is `√f` times as large. Let `k·g` be the distance from
/// the claim at which the bound exceeds it with probability 0.9, where `g` is the distance between
/// estimate and bound. Then `f·δ̂ − √f·k·g = δ`, a quadratic in `√f`.
fn growth_of_delta(part: &Certified, epsilon: f64, claimed: f64) -> (f64, f64) {
    let Tally { correct, wrong, .. } = part.tally;
    let (correct, wrong) = (correct as f64, wrong as f64);
    let per_guess = 2.0 / (f64::from(part.regions) * part.tally.draws() as f64);
    let shown = (correct - epsilon.exp() * wrong) * per_guess;
    // The variances of the counts are about the counts.
    let error = (correct + (2.0 * epsilon).exp() * wrong).sqrt() * per_guess;
    let seen = shown - error;
    if seen <= 0.0 {
        return (0.0, f64::INFINITY);
    }
    // g is z(α) standard errors or more.
    let distance = (shown - part.second_lower())
        * (1.0 + normal_quantile(1.0 - POWER) / normal_quantile(part.alpha()));
    let root = (distance + (distance * distance + 4.0 * seen * claimed).sqrt()) / (2.0 * seen);
    let flagged = seen * root * root;
    // δ is a probability.
    (seen, if flagged <= 1.0 { flagged } else { f64::INFINITY })
}

/// The smallest ε that a rule that guesses as often as this one flags with probability 0.9, if the
/// leak is visible to the rule; infinite if there is none.
///
/// Take the tally of a rule that shows exactly this leak. Its bound is below the leak by z(α)
/// standard errors, in effect. The leak is flagged with probability 0.9 if the bound is above the
/// claim by another z(0.1) standard errors.
#[must_use]
pub fn detectable_epsilon(part: &Certified) -> f64 {
    let claimed = part.claim().epsilon();
    let sure = normal_quantile(part.alpha());
    let mut leak = claimed;
    // The standard error changes slowly with the leak.
    for _ in 0..3 {
        let Some(exact) = tally_of(part, leak).map(|tally| part.with(tally)) else {
            return f64::INFINITY;
        };
        let (shown, bound) = (exact.estimate().epsilon, exact.lower());
        if bound <= 0.0 || !shown.is_finite() || sure <= 0.0 {
            return f64::INFINITY;
        }
        leak = claimed + (shown - bound) * (1.0 + normal_quantile(1.0 - POWER) / sure);
    }
    leak
}

/// The tally of a rule that guesses as often and shows this ε at the claimed δ; none if no tally
/// does.
fn tally_of(part: &Certified, epsilon: f64) -> Option<Tally> {
    let Tally { abstained, .. } = part.tally;
    let guesses = part.tally.guesses();
    // P(correct) = e^ε·P(wrong) + δ_eff, divided by P(guess): 1 − wrong = e^ε·wrong + spent.
    let spent =
        effective(part.claim().delta(), part.regions) * part.tally.draws() as f64 / guesses as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    // between 0 and the number of guesses
    let wrong = ((1.0 - spent) / (1.0 + epsilon.exp()) * guesses as f64).round() as u64;
    (guesses > 0 && spent < 1.0).then(|| Tally { correct: guesses - wrong, wrong, abstained })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::binomial::upper_tail;
    use crate::stats::{Method, Rates};

    fn part(tally: Tally, regions: u8, epsilon: f64, delta: f64, alpha: f64) -> Certified {
        let claim = Claim::new(epsilon, delta).unwrap();
        let method = Method::for_epsilon(Rates::of(tally), effective(delta, regions));
        Certified::new(tally, regions, alpha, &claim, method)
    }

    #[test]
    fn more_draws_detect_smaller_leaks() {
        let at = |n: u64| {
            detectable_epsilon(&part(
                Tally { correct: n * 73 / 100, wrong: n * 27 / 100, abstained: 0 },
                2,
                1.0,
                0.0,
                0.001,
            ))
        };
        assert!(at(1_000) > at(10_000));
        assert!(at(10_000) > at(1_000_000));
        assert!(at(1_000_000) > 1.0 && at(1_000_000) < 1.02);
    }

    #[test]
    fn it_agrees_with_the_normal_approximation() {
        // logit(p) of n guesses has standard error 1/√(n·p·(1−p)). A leak is flagged if it is z(α)
        // standard errors above the claim; this has probability 0.9 if the truth is another 1.2816
        // standard errors above.
        let n = 1_000_000;
        let p: f64 = 1.0 / (1.0 + (-1.0_f64).exp());
        let z = 1.654; // z(0.05·0.98)
        let expected = 1.0 + (z + 1.2816) / (n as f64 * p * (1.0 - p)).sqrt();
        let found = detectable_epsilon(&part(
            Tally { correct: n / 2, wrong: n - n / 2, abstained: 0 },
            2,
            1.0,
            0.0,
            0.05,
        ));
        assert!((found - expected).abs() < 1e-4, "{found} against {expected}");
    }

    #[test]
    fn a_just_detectable_leak_is_flagged_with_the_stated_probability() {
        let (draws, guesses) = (10_000_u64, 4_000_u64);
        let tally =
            |correct| Tally { correct, wrong: guesses - correct, abstained: draws - guesses };
        for (epsilon, delta, regions, alpha) in [
            (1.0_f64, 0.0, 2, 0.01),
            (1.0, 0.05, 2, 0.01),
            (0.5, 0.05, 1, 0.01),
            (1.0, 0.0, 2, 1e-6),
        ] {
            let rule = part(tally(2_900), regions, epsilon, delta, alpha);
            let found = detectable_epsilon(&rule);
            // The fewest correct guesses whose bound exceeds the claim, found by trying all
            // numbers.
            let enough = (2_000..=guesses)
                .find(|correct| rule.with(tally(*correct)).lower() > epsilon)
                .unwrap();
            // A mechanism with this leak reaches the limit of P(correct) ≤ e^ε·P(wrong) + δ_eff.
            let spent = effective(delta, regions) * draws as f64 / guesses as f64;
            let right = (found.exp() + spent) / (1.0 + found.exp());
            let flagged = upper_tail(enough, guesses, right);
            assert!((flagged - 0.9).abs() < 0.02, "ε {epsilon}, δ {delta}: {flagged}");
        }
    }

    #[test]
    fn nothing_is_detectable_without_guesses_or_below_delta() {
        assert!(
            detectable_epsilon(&part(
                Tally { correct: 0, wrong: 0, abstained: 50 },
                0,
                1.0,
                0.0,
                0.05
            ))
            .is_infinite()
        );
        assert!(
            detectable_epsilon(&part(
                Tally { correct: 3, wrong: 0, abstained: 100_000 },
                1,
                1.0,
                0.01,
                0.05
            ))
            .is_infinite()
        );
        assert!(
            detectable_epsilon(&part(
                Tally { correct: 3, wrong: 0, abstained: 0 },
                2,
                1.0,
                0.0,
                1e-6
            ))
            .is_infinite()
        );
    }
}
