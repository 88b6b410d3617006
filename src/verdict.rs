//! What an audit concludes, and whether that was expected.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::evidence::Bounds;
use crate::spec::Claim;

/// The conclusion about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The claim is refuted at the run's confidence.
    Violated,
    /// Not refuted, and a leak larger by the audit's resolution would have been flagged.
    Consistent,
    /// Not refuted, but the draws or the rule were too weak to flag such a leak.
    Inconclusive,
}

impl Verdict {
    /// The verdict on a claim. A refuted ε and a refuted δ are two sides of one refutation.
    #[must_use]
    pub fn new(bounds: &Bounds, claim: Claim, resolution: f64) -> Self {
        if bounds.epsilon_lower > claim.epsilon.get() || bounds.delta_lower > claim.delta.get() {
            Self::Violated
        } else if bounds.detectable_epsilon <= claim.epsilon.get() + resolution {
            Self::Consistent
        } else {
            Self::Inconclusive
        }
    }

    /// The verdict on a mechanism, given those on several pairs: one refuting pair refutes the claim.
    #[must_use]
    pub fn of_all(verdicts: impl IntoIterator<Item = Self>) -> Option<Self> {
        verdicts.into_iter().reduce(|all, one| match (all, one) {
            (Self::Violated, _) | (_, Self::Violated) => Self::Violated,
            (Self::Inconclusive, _) | (_, Self::Inconclusive) => Self::Inconclusive,
            _ => Self::Consistent,
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Violated => "violated",
            Self::Consistent => "consistent",
            Self::Inconclusive => "inconclusive",
        })
    }
}

/// What an audit file expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expectation {
    /// The claim is broken and the audit must show it.
    Violated,
    /// The claim holds.
    #[default]
    Consistent,
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Violated => "violated",
            Self::Consistent => "consistent",
        })
    }
}

/// How a verdict compares with what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// As expected.
    Agrees,
    /// Consistent was expected, and the audit could not tell.
    Undecided,
    /// The mechanism could not be run.
    NotRun,
    /// Not as expected.
    Differs,
}

impl Agreement {
    /// Compares. An expected violation must be shown; an audit too weak to show it is a surprise, not a doubt.
    #[must_use]
    pub fn new(verdict: Verdict, expected: Expectation) -> Self {
        match (verdict, expected) {
            (Verdict::Violated, Expectation::Violated) | (Verdict::Consistent, Expectation::Consistent) => Self::Agrees,
            (Verdict::Inconclusive, Expectation::Consistent) => Self::Undecided,
            _ => Self::Differs,
        }
    }

    /// A mark for tables.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Agrees => "✓",
            Self::Undecided => "?",
            Self::NotRun | Self::Differs => "✗",
        }
    }

    /// The graver of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if self as u8 >= other as u8 { self } else { other }
    }
}
