//! From tallies to bounds: pure functions of small integers.

pub mod binomial;
pub mod fixed;
pub mod independence;
pub mod power;
pub mod wealth;

use serde::{Deserialize, Serialize};

use crate::sample::Tally;
use crate::spec::Claim;
use fixed::{Limits, Shown, shown_epsilon};
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

    /// For each of the two anytime bounds, that on ε and that on δ.
    #[must_use]
    pub fn anytime(self) -> f64 {
        self.alpha * ANYTIME_SHARE / 2.0
    }

    /// For the fixed-sample limits of the rule with this share.
    #[must_use]
    pub fn fixed(self, share: f64) -> f64 {
        self.alpha * (1.0 - ANYTIME_SHARE) * share
    }
}

/// A frozen rule's certify tally, and what it shows at the rule's own level.
#[derive(Clone, Copy, Debug)]
pub struct Certified {
    /// How the rule did on the certify draws.
    pub tally: Tally,
    /// How many of the two answers it gives.
    pub regions: u8,
    alpha: f64,
    limits: Limits,
}

impl Certified {
    /// What is known with confidence `1 − α` of a rule that gives `regions` different answers.
    #[must_use]
    pub fn new(tally: Tally, regions: u8, alpha: f64) -> Self {
        Self { tally, regions, alpha, limits: Limits::new(tally, regions, alpha) }
    }

    /// The level: 0 for a rule that is another one's double, of which nothing is claimed.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The limits at that level.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What the rule shows at this δ, without and with uncertainty.
    #[must_use]
    pub fn shown(&self, delta: f64) -> Shown {
        shown_epsilon(self.tally, self.regions, delta, self.alpha)
    }
}

/// What is known of a pair at the run's confidence. All parts hold together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The mechanism's ε at the claimed δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claimed ε is at least this.
    pub delta_lower: f64,
    /// The smallest ε that would have been flagged with probability 0.9.
    #[serde(with = "crate::exact::number")]
    pub detectable_epsilon: f64,
}

impl Bounds {
    /// The better of the anytime bound and, once the whole budget is spent, the fixed-sample bounds.
    #[must_use]
    pub fn new(ledger: &Ledger, certified: &[Certified], claim: Claim, level: Level) -> Self {
        let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
        let mut bounds = Self {
            epsilon_lower: ledger.epsilon_lower(epsilon, delta, level.anytime()),
            delta_lower: ledger.delta_lower(epsilon, delta, level.anytime()),
            detectable_epsilon: f64::INFINITY,
        };
        for part in certified {
            bounds.epsilon_lower = bounds.epsilon_lower.max(part.limits.epsilon_lower(delta));
            bounds.delta_lower = bounds.delta_lower.max(part.limits.delta_lower(epsilon));
            bounds.detectable_epsilon = bounds.detectable_epsilon.min(power::detectable_epsilon(part, epsilon, delta));
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use super::wealth::{Bet, Forecast};
    use super::*;

    #[test]
    fn the_parts_of_alpha_add_up_to_it() {
        for pairs in [1, 4] {
            let level = Level::of_pair(0.95, pairs);
            let parts = [level.anytime(), level.anytime(), level.fixed(0.9), level.fixed(0.1)];
            assert!(parts.iter().all(|part| *part > 0.0), "{parts:?}");
            assert!((parts.iter().sum::<f64>() * pairs as f64 - 0.05).abs() < 1e-15, "{parts:?}");
            assert!((level.fixed(0.9) / level.fixed(0.1) - 9.0).abs() < 1e-12);
            assert_eq!(level.fixed(0.0), 0.0);
        }
        // A run without pairs has nothing to divide by.
        assert!((Level::of_pair(0.95, 0).fixed(1.0) - Level::of_pair(0.95, 1).fixed(1.0)).abs() < 1e-15);
    }

    #[test]
    fn bounds_are_the_best_that_any_evidence_gives() {
        let claim = Claim { epsilon: 1.0.try_into().unwrap(), delta: 0.01.try_into().unwrap() };
        let level = Level::of_pair(0.95, 1);
        let strong = Tally { correct: 60_000, wrong: 10_000, abstained: 30_000 };
        let weak = Tally { correct: 30_000, wrong: 20_000, abstained: 50_000 };
        let forecast = Forecast { correct: 0.6, wrong: 0.1, draws: 1000.0 };
        let mut ledger = Ledger::default();
        assert_eq!(
            Bounds::new(&ledger, &[], claim, level),
            Bounds { epsilon_lower: 0.0, delta_lower: 0.0, detectable_epsilon: f64::INFINITY }
        );
        ledger.push(vec![Bet { forecast, regions: 2, tally: strong }]);
        let anytime = Bounds::new(&ledger, &[], claim, level);
        assert_eq!(anytime.epsilon_lower, ledger.epsilon_lower(1.0, 0.01, level.anytime()));
        assert_eq!(anytime.delta_lower, ledger.delta_lower(1.0, 0.01, level.anytime()));
        let part = |tally, share| Certified::new(tally, 2, level.fixed(share));
        assert_eq!(part(weak, 0.5).alpha(), level.fixed(0.5));
        assert_eq!(part(weak, 0.0).alpha(), 0.0);
        // The wealth decides where the fixed sample is weak, and the fixed sample where it is strong, whichever rule it belongs to.
        assert_eq!(Bounds::new(&ledger, &[part(weak, 1.0)], claim, level).epsilon_lower, anytime.epsilon_lower);
        let best = Limits::new(strong, 2, level.fixed(0.5));
        for parts in [[part(strong, 0.5), part(weak, 0.5)], [part(weak, 0.5), part(strong, 0.5)]] {
            let found = Bounds::new(&Ledger::default(), &parts, claim, level);
            assert_eq!(found.epsilon_lower, best.epsilon_lower(0.01));
            assert_eq!(found.delta_lower, best.delta_lower(1.0));
            assert_eq!(found.detectable_epsilon, power::detectable_epsilon(&part(strong, 0.5), 1.0, 0.01));
        }
    }
}
