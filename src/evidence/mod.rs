//! From tallies to bounds: pure functions of small integers.

pub mod binomial;
pub mod fixed;
pub mod independence;
pub mod power;
pub mod wealth;

use serde::{Deserialize, Serialize};

use crate::sample::Tally;
use crate::spec::Claim;
use fixed::Limits;
use wealth::Ledger;

/// The share of a pair's α that the anytime evidence may spend; the rest is for the fixed-sample limits.
const ANYTIME_SHARE: f64 = 0.0625;

/// The level of a pair's evidence, and how it is divided.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    alpha: f64,
}

impl Level {
    /// An equal share of a run's α for each of its pairs, so that all bounds of the run hold at once.
    #[must_use]
    pub fn of_pair(confidence: f64, pairs: usize) -> Self {
        Self { alpha: (1.0 - confidence) / pairs.max(1) as f64 }
    }

    /// For the anytime evidence.
    #[must_use]
    pub fn anytime(self) -> f64 {
        self.alpha * ANYTIME_SHARE
    }

    /// For the fixed-sample limits of the rule with this share.
    #[must_use]
    pub fn fixed(self, share: f64) -> f64 {
        self.alpha * (1.0 - ANYTIME_SHARE) * share
    }
}

/// A frozen rule's certify tally and its share of α.
#[derive(Clone, Copy, Debug)]
pub struct Certified {
    /// How the rule did on the certify draws.
    pub tally: Tally,
    /// How many of the two answers it gives.
    pub regions: u8,
    /// Its share of the fixed-sample α.
    pub share: f64,
}

/// What is known of a pair at the run's confidence. All parts hold together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The mechanism's ε at the claimed δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claimed ε is at least this.
    pub delta_lower: f64,
    /// The smallest ε that would have been flagged with probability 0.9.
    pub detectable_epsilon: f64,
}

impl Bounds {
    /// The better of the anytime bound and, once the whole budget is spent, the fixed-sample bounds.
    #[must_use]
    pub fn new(ledger: &Ledger, certified: &[Certified], claim: Claim, level: Level) -> Self {
        let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
        let mut bounds = Self {
            epsilon_lower: ledger.epsilon_lower(delta, level.anytime()),
            delta_lower: ledger.delta_lower(epsilon, level.anytime()),
            detectable_epsilon: f64::INFINITY,
        };
        for &Certified { tally, regions, share } in certified {
            let alpha = level.fixed(share);
            let limits = Limits::new(tally, regions, alpha);
            bounds.epsilon_lower = bounds.epsilon_lower.max(limits.epsilon_lower(delta));
            bounds.delta_lower = bounds.delta_lower.max(limits.delta_lower(epsilon));
            let detectable = power::detectable_epsilon(tally, regions, epsilon, delta, alpha);
            bounds.detectable_epsilon = bounds.detectable_epsilon.min(detectable);
        }
        bounds
    }
}
