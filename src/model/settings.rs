//! The settings of a run.

use serde::{Deserialize, Serialize};

use super::Confidence;
use super::checked::Positive;

/// Draws per pair if neither the command line nor the audit file sets them.
pub const DEFAULT_DRAWS: u64 = 10_000_000;

/// More draws than this are rejected as a typo.
pub const MAX_DRAWS: u64 = 1_000_000_000_000;

/// The most threads, and processes of a program at the same time. More than there are cores help
/// only programs that wait; a system that starts this many is slow, but does not fail.
pub const MAX_THREADS: u16 = 1024;

/// Checks a number of draws per pair.
///
/// # Errors
/// When it is out of range. The error says what it must be.
pub fn check_draws(draws: u64) -> Result<u64, String> {
    if (1..=MAX_DRAWS).contains(&draws) {
        Ok(draws)
    } else {
        Err(format!("is {draws}, must be a whole number from 1 to {MAX_DRAWS:e}"))
    }
}

/// When to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Until {
    /// When the budget is spent: the tightest bounds.
    #[default]
    Budget,
    /// As soon as the claim is refuted, at almost the same bounds as with `budget` if it is not.
    Refuted,
    /// As soon as the claim is refuted, after as few draws as possible. Bounds of a claim that is
    /// not refuted are smaller.
    Decided,
}

impl Until {
    /// Whether a run may end before its budget is spent.
    #[must_use]
    pub fn ends_early(self) -> bool {
        self != Self::Budget
    }

    /// As on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Refuted => "refuted",
            Self::Decided => "decided",
        }
    }
}

/// The settings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Draws per pair; overrides the audit files.
    pub draws: Option<u64>,
    /// The seed from which all random streams are derived.
    pub seed: u64,
    /// The confidence of all bounds of the run together.
    pub confidence: Confidence,
    /// When to stop.
    pub until: Until,
    /// Whether to audit the controls too.
    #[serde(default)]
    pub controls: bool,
    /// The seconds that each pair may take; overrides the audit files. With a limit, results depend
    /// on the speed of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<Positive>,
    /// The seconds that the whole run may take. What is left is divided over the pairs that are
    /// left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds_total: Option<Positive>,
    /// Whether half of the error rate is for the evidence over many runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub evidence: bool,
}

impl Settings {
    /// The error rate of the bounds of this run alone. The other half is for the evidence over many
    /// runs, if there is any.
    #[must_use]
    pub fn own_alpha(&self) -> f64 {
        let all = 1.0 - self.confidence.get();
        if self.evidence { 0.5 * all } else { all }
    }
}
