//! The evidence as curves, for pictures: from counts of the run itself, nothing is sampled again.

use serde::{Deserialize, Serialize};

use crate::attack::{Distribution, Learned};
use crate::model::number::round_down;
use crate::model::{Bounds, Claim, Tally};
use crate::output::Symbols;
use crate::stats::wealth::Ledger;
use crate::stats::{Certified, Level};

/// Points of a privacy profile.
const POINTS: u32 = 40;

/// The evidence on one pair as curves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    /// The outputs of both sides as exploration saw them, through the score that the reported rule looks at; absent without a rule.
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
    /// … δ is at least this, at the run's confidence and for all ε at once. Absent where a run stopped early: the anytime evidence is about one claim.
    pub delta_lower: Option<f64>,
    /// … and about this, estimated from exploration and from the rules' counts; nothing is certified about it.
    pub delta_estimate: Option<f64>,
}

/// The wealth after a look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WealthPoint {
    /// All draws up to then.
    pub draws: u64,
    /// The logarithm of the wealth.
    pub log_wealth: f64,
}

/// What a pair's curves are made from.
pub struct CurveData<'a> {
    /// The reported rule.
    pub learned: Option<&'a Learned>,
    /// The tallies of the frozen rules; none if the run stopped early.
    pub certified: &'a [Certified],
    /// The bets.
    pub ledger: &'a Ledger,
    /// After how many draws each look was taken.
    pub looked_at: &'a [u64],
    /// What is claimed.
    pub claim: Claim,
    /// What is known.
    pub bounds: Bounds,
    /// At which level.
    pub level: Level,
    /// What symbols are called.
    pub symbols: &'a Symbols,
}

impl CurveData<'_> {
    /// Computes the curves.
    #[must_use]
    pub fn curves(&self) -> Curves {
        let (epsilon, delta) = (self.claim.epsilon.get(), self.claim.delta.get());
        let path = self.looked_at.iter().zip(self.ledger.path(epsilon, delta));
        Curves {
            distribution: self.learned.map(|learned| learned.histogram.distribution(self.symbols)),
            profile: self.profile(),
            wealth: path.map(|(draws, log)| WealthPoint { draws: *draws, log_wealth: round_down(log, 4) }).collect(),
            threshold: -self.level.anytime().ln(),
        }
    }

    fn profile(&self) -> Vec<ProfilePoint> {
        // The limits do not depend on ε, so all points of the curve hold together.
        let end = 1.5 * self.claim.epsilon.get().max(self.bounds.epsilon_lower);
        let point = |index: u32| {
            let epsilon = round_down(end * f64::from(index) / f64::from(POINTS), 4);
            let lower = self.certified.iter().map(|part| round_down(part.limits().delta_lower(epsilon), 4)).reduce(f64::max);
            // What exploration saw in all bins, or what the rules made of it: both estimate from below.
            let explored = self.learned.map(|learned| learned.histogram.delta_estimate(epsilon));
            let estimate = explored.into_iter().chain(self.certified.iter().map(|part| plain_delta(part, epsilon))).reduce(f64::max);
            let estimate = estimate.map(|delta| round_down(delta, 4));
            ProfilePoint { epsilon, delta_lower: lower, delta_estimate: estimate }
        };
        (0..=POINTS).map(point).collect()
    }
}

/// `(2/r)·(c − e^ε·w)` with the plain frequencies of a rule's correct and wrong guesses.
fn plain_delta(part: &Certified, epsilon: f64) -> f64 {
    let Tally { correct, wrong, .. } = part.tally;
    let advantage = (correct as f64 - epsilon.exp() * wrong as f64) / part.tally.draws().max(1) as f64;
    (advantage * 2.0 / f64::from(part.regions.max(1))).clamp(0.0, 1.0)
}
