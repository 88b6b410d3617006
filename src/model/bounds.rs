//! What an audit knows about a pair: bounds on ε and δ.

use serde::{Deserialize, Serialize};

use super::Claim;

/// What is known about a pair at the run's confidence. All bounds hold at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The mechanism's ε at the claimed δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claimed ε is at least this.
    pub delta_lower: f64,
    /// A leak of the same shape is flagged with probability 0.9 from this ε on. What the reported rule sees must grow by the same factor
    /// for that. Infinite if the rule sees nothing.
    #[serde(with = "crate::model::exact::number")]
    pub detectable_epsilon: f64,
    /// The precision of the draws: an excess of ε over the claim *in what the reported rule sees* is flagged with probability 0.9 from this
    /// on.
    #[serde(with = "crate::model::exact::number")]
    pub resolved: f64,
}

impl Bounds {
    /// How much of the claim the mechanism was seen to use: the larger of `ε_lower/ε` and `δ_lower/δ`. Above 1 the claim is refuted. A claim
    /// without δ is measured in ε; the reach is infinite if the bound on δ refutes it and the bound on ε does not.
    #[must_use]
    pub fn reach(&self, claim: Claim) -> f64 {
        let in_epsilon = self.epsilon_lower / claim.epsilon.get();
        if self.delta_lower <= 0.0 || claim.delta.get() == 0.0 && in_epsilon > 1.0 {
            return in_epsilon;
        }
        in_epsilon.max(self.delta_lower / claim.delta.get())
    }

    /// Whether a bound is above the claim.
    #[must_use]
    pub fn refute(&self, claim: Claim) -> bool {
        self.epsilon_lower > claim.epsilon.get() || self.delta_lower > claim.delta.get()
    }
}

/// The ε that a rule shows, without and with uncertainty. It is about this rule only: the mechanism may leak more to another rule.
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
            let claim = Claim { epsilon: 2.0.try_into().unwrap(), delta: delta.try_into().unwrap() };
            Bounds { epsilon_lower, delta_lower, detectable_epsilon: 0.0, resolved: 0.0 }.reach(claim)
        };
        assert_eq!(reach(0.5, 0.0, 0.0), 0.25);
        assert_eq!(reach(0.5, 0.05, 0.1), 0.5);
        assert_eq!(reach(1.5, 0.05, 0.1), 0.75);
        assert_eq!(reach(0.0, 0.0, 0.0), 0.0);
        assert_eq!(reach(3.0, 0.1, 0.0), 1.5);
        assert_eq!(reach(0.5, 1e-9, 0.0), f64::INFINITY);
    }
}
