//! What an audit knows of a pair.

use serde::{Deserialize, Serialize};

/// What is known of a pair at the run's confidence. All parts hold together.
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

/// The ε that a rule shows, without and with uncertainty. It speaks of this rule: the mechanism may leak more to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleEstimate {
    /// The plain estimate; infinite when no guess was wrong.
    #[serde(with = "crate::model::exact::number")]
    pub epsilon: f64,
    /// The upper limit.
    #[serde(with = "crate::model::exact::number")]
    pub epsilon_upper: f64,
}
