//! What an audit knows about a pair: bounds on ε and δ.

use serde::{Deserialize, Serialize};

use super::number::{Brief, round_down};
use super::{Claim, Limit};

/// What is known about a pair at the run's confidence. All bounds hold at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The measure of the claim's main limit is at least this, in the claim's unit; for (ε, δ) it
    /// is `epsilon_lower`.
    #[serde(with = "crate::model::exact::number")]
    pub lower: f64,
    /// The mechanism's ε at the claim's δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claim's ε is at least this.
    pub delta_lower: f64,
    /// A leak of the same shape is flagged with probability 0.9 or more from this value on, in the
    /// claim's unit. What the reported rule sees must grow by the same factor for that. Infinite if
    /// the rule sees nothing.
    #[serde(with = "crate::model::exact::number")]
    pub detectable: f64,
    /// The precision of the draws: an excess over the claim *in what the reported rule sees* is
    /// flagged with probability 0.9 or more from this on.
    #[serde(with = "crate::model::exact::number")]
    pub resolved: f64,
}

impl Bounds {
    /// How much of the claim the mechanism was seen to use: the bound as a part of the limit, for
    /// (ε, δ) the larger of both. Above 1 the claim is refuted. A claim without δ is measured in ε;
    /// the reach is infinite if the bound on δ refutes it and the bound on ε does not.
    #[must_use]
    pub fn reach(&self, claim: &Claim) -> f64 {
        let share = |lower: f64, claimed: f64| if lower > 0.0 { lower / claimed } else { 0.0 };
        let main = share(self.lower, claim.main().value);
        match claim.second().map(|limit| limit.value) {
            Some(delta) if delta > 0.0 || main <= 1.0 => main.max(share(self.delta_lower, delta)),
            _ => main,
        }
    }

    /// The bound in the unit of the claim, in words, if that is another one than (ε, δ).
    #[must_use]
    pub fn in_unit(&self, claim: &Claim) -> Option<String> {
        let Limit { measure, value } = claim.main();
        claim.second().is_none().then(|| {
            format!(
                "{} ≥ {} of {}",
                measure.symbol(),
                Brief(round_down(self.lower, 4)),
                Brief(*value)
            )
        })
    }

    /// Whether a bound is above the claim.
    #[must_use]
    pub fn refute(&self, claim: &Claim) -> bool {
        self.lower > claim.main().value
            || claim.second().is_some_and(|limit| self.delta_lower > limit.value)
    }
}

/// The ε that a rule shows, without and with uncertainty. It is about this rule only: the mechanism
/// may leak more to another rule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleEstimate {
    /// The plain estimate; infinite when no guess was wrong.
    #[serde(with = "crate::model::exact::number")]
    pub epsilon: f64,
    /// The upper limit; infinite if the run stopped early.
    #[serde(with = "crate::model::exact::number")]
    pub epsilon_upper: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_is_the_larger_share_and_a_claim_without_delta_is_measured_in_epsilon() {
        let reach = |epsilon_lower, delta_lower, delta: f64| {
            let claim = Claim::new(2.0, delta).unwrap();
            Bounds {
                lower: epsilon_lower,
                epsilon_lower,
                delta_lower,
                detectable: 0.0,
                resolved: 0.0,
            }
            .reach(&claim)
        };
        assert_eq!(reach(0.5, 0.0, 0.0), 0.25);
        assert_eq!(reach(0.5, 0.05, 0.1), 0.5);
        assert_eq!(reach(1.5, 0.05, 0.1), 0.75);
        assert_eq!(reach(0.0, 0.0, 0.0), 0.0);
        assert_eq!(reach(3.0, 0.1, 0.0), 1.5);
        assert_eq!(reach(0.5, 1e-9, 0.0), f64::INFINITY);
    }
}
