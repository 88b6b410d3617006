//! The evidence as curves, for pictures. They use counts of the run itself; nothing is sampled
//! again.

use serde::{Deserialize, Serialize};

use crate::attack::{Distribution, Learned};
use crate::model::number::round_down;
use crate::model::{Bounds, Claim, Tally};
use crate::output::Symbols;
use crate::stats::wealth::Ledger;
use crate::stats::{Certified, Level};

/// The number of intervals between the points of a privacy profile.
const POINTS: u32 = 40;

/// The evidence on one pair as curves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// The outputs of both sides in exploration, as values of the score that the reported rule
    /// uses; absent if there is no rule.
    pub distribution: Option<Distribution>,
    /// The privacy profile: δ as a function of ε.
    pub profile: Vec<ProfilePoint>,
    /// The logarithm of the wealth against the claim after each look.
    pub wealth: Vec<WealthPoint>,
    /// The logarithm of the wealth that refutes the claim: `ln(1/α)`.
    pub threshold: f64,
}

/// One point of a privacy profile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfilePoint {
    /// At this ε …
    pub epsilon: f64,
    /// … δ is at least this, at the run's confidence and for all ε at once. Absent if a run stopped
    /// early: the anytime evidence is about one claim only.
    pub delta_lower: Option<f64>,
    /// … and about this. It is an estimate from exploration and from the rules' counts; it is not
    /// certified.
    pub delta_estimate: Option<f64>,
}

/// The wealth after a look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WealthPoint {
    /// All draws up to this look.
    pub draws: u64,
    /// The logarithm of the wealth.
    pub log_wealth: f64,
}

/// The input for a pair's curves.
pub struct CurveData<'a> {
    /// The reported rule.
    pub learned: Option<&'a Learned>,
    /// The tallies of the frozen rules; empty if the run stopped early.
    pub certified: &'a [Certified],
    /// The bets against the claim.
    pub ledger: &'a Ledger,
    /// The number of draws before each look.
    pub draws_at_looks: &'a [u64],
    /// What is claimed.
    pub claim: &'a Claim,
    /// The bounds on ε and δ.
    pub bounds: Bounds,
    /// The level of the bounds.
    pub level: Level,
    /// The names of the symbols.
    pub symbols: &'a Symbols,
}

impl CurveData<'_> {
    /// Computes the curves.
    #[must_use]
    pub fn curves(&self) -> Curves {
        let path = self.draws_at_looks.iter().zip(self.ledger.path(self.claim.main()));
        Curves {
            distribution: self.learned.map(|learned| learned.histogram.distribution(self.symbols)),
            profile: self.profile(),
            wealth: path
                .map(|(draws, log)| WealthPoint { draws: *draws, log_wealth: round_down(log, 4) })
                .collect(),
            threshold: -self.level.anytime().ln(),
        }
    }

    fn profile(&self) -> Vec<ProfilePoint> {
        // The limits do not depend on ε, so all points of the curve hold at once.
        let claimed = Some(self.claim.epsilon())
            .filter(|epsilon| epsilon.is_finite() && *epsilon > 0.0)
            .unwrap_or(1.0);
        let end = 1.5 * claimed.max(self.bounds.epsilon_lower);
        let point = |index: u32| {
            let epsilon = round_down(end * f64::from(index) / f64::from(POINTS), 4);
            let lower = self
                .certified
                .iter()
                .map(|part| round_down(part.limits().delta_lower(epsilon), 4))
                .reduce(f64::max);
            // From all bins of exploration, or from the rules. Both are estimates from below.
            let explored = self.learned.map(|learned| learned.histogram.delta_estimate(epsilon));
            let estimate = explored
                .into_iter()
                .chain(self.certified.iter().map(|part| observed_delta(part, epsilon)))
                .reduce(f64::max);
            let estimate = estimate.map(|delta| round_down(delta, 4));
            ProfilePoint { epsilon, delta_lower: lower, delta_estimate: estimate }
        };
        falling((0..=POINTS).map(point).collect())
    }
}

/// A privacy profile never rises: δ at an ε is at least δ at any larger one. So what is known or
/// estimated from below at a larger ε holds at each smaller one too.
fn falling(mut points: Vec<ProfilePoint>) -> Vec<ProfilePoint> {
    let [mut lower, mut estimate] = [None, None];
    for point in points.iter_mut().rev() {
        lower = larger(point.delta_lower, lower);
        estimate = larger(point.delta_estimate, estimate);
        (point.delta_lower, point.delta_estimate) = (lower, estimate);
    }
    points
}

/// The larger of two numbers that may be absent.
fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

/// `(2/r)·(c − e^ε·w)` with the observed frequencies of a rule's correct and wrong guesses.
fn observed_delta(part: &Certified, epsilon: f64) -> f64 {
    let Tally { correct, wrong, .. } = part.tally;
    let advantage =
        (correct as f64 - epsilon.exp() * wrong as f64) / part.tally.draws().max(1) as f64;
    (advantage * 2.0 / f64::from(part.regions.max(1))).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_never_rises_and_no_point_falls() {
        let point = |epsilon, delta_lower, delta_estimate| ProfilePoint {
            epsilon,
            delta_lower,
            delta_estimate,
        };
        let found = falling(vec![
            point(0.0, Some(0.5), Some(0.6)),
            point(1.0, Some(0.1), Some(0.2)),
            point(2.0, None, Some(0.3)),
            point(3.0, None, Some(0.0)),
        ]);
        let expected =
            [(Some(0.5), Some(0.6)), (Some(0.1), Some(0.3)), (None, Some(0.3)), (None, Some(0.0))];
        for (point, expected) in found.iter().zip(expected) {
            assert_eq!((point.delta_lower, point.delta_estimate), expected);
        }
    }
}
