//! What an audit knows about a pair: bounds on ε and δ.

use serde::{Deserialize, Serialize};

/// What is known about a pair at the run's confidence. All bounds hold at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The mechanism's ε at the claimed δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claimed ε is at least this.
    pub delta_lower: f64,
    /// The smallest ε that would have been flagged with probability 0.9.
    #[serde(with = "crate::model::exact::number")]
    pub detectable_epsilon: f64,
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
