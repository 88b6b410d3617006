//! What a frozen rule is for, and how α is divided over the rules.

/// What a frozen rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The bound on ε, from hits alone.
    Epsilon,
    /// The bound on ε, from many guesses: what is left if chance misled the first rule.
    Steady,
    /// The bound on δ.
    Delta,
    /// The bound on ε, from a tail that a curve predicts.
    Tail,
}

impl Role {
    /// The share of the fixed sample's α that a rule with this role gets; the rule for ε gets what the others leave.
    #[must_use]
    pub fn share(self) -> f64 {
        match self {
            Self::Epsilon => 1.0,
            Self::Steady | Self::Delta => 0.1,
            Self::Tail => 0.4,
        }
    }
}
