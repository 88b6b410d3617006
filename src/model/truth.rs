//! The true leakage of a mechanism, where theory gives it.

use serde::{Deserialize, Serialize};

use super::Bounds;

/// The exact leakage of a mechanism on a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// The smallest ε that holds at the claimed δ; may be infinite.
    #[serde(default, with = "crate::model::exact::option")]
    pub epsilon: Option<f64>,
    /// The smallest δ that holds at the claimed ε.
    pub delta: Option<f64>,
}

impl Truth {
    /// Whether a bound is above the truth. The reason is a wrong truth in the file, an error in
    /// this program, or the rare bad luck that the confidence allows.
    #[must_use]
    pub fn is_exceeded(self, bounds: Bounds) -> bool {
        self.epsilon.is_some_and(|truth| bounds.epsilon_lower > truth)
            || self.delta.is_some_and(|truth| bounds.delta_lower > truth)
    }
}
