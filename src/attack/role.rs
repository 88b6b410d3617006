//! What a frozen rule is for, and how α is divided over the rules.

use serde::{Deserialize, Serialize};

use crate::attack::tuning::role::{GROUPS_SHARE, SIDE_SHARE, TAIL_SHARE};

/// What a frozen rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The bound on the main limit of the claim, from hits alone.
    Main,
    /// The same from many guesses: what is left if chance misled the first rule.
    Steady,
    /// The bound on δ at the claimed ε.
    Delta,
    /// The bound on the main limit, from a tail that a curve predicts.
    Tail,
}

impl Role {
    /// The share of the fixed sample's α for groups of outputs, where a claim limits a Rényi
    /// divergence.
    pub const GROUPS_SHARE: f64 = GROUPS_SHARE;

    /// The share of the fixed sample's α that a rule with this role gets; the main rule gets what
    /// the others leave.
    #[must_use]
    pub fn share(self) -> f64 {
        match self {
            Self::Main => 1.0,
            Self::Steady | Self::Delta => SIDE_SHARE,
            Self::Tail => TAIL_SHARE,
        }
    }
}
