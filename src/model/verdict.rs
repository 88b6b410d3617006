//! The verdict of an audit, and whether it was expected.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Bounds, Claim};

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
    /// The verdict on a claim. It is enough that ε or δ is refuted: both belong to the same claim.
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

    /// The verdict on a mechanism, from those on several pairs: one refuting pair refutes the claim.
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
        Conclusion::from(Some(*self)).fmt(f)
    }
}

/// The conclusion about a pair: a verdict, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Conclusion {
    /// See [`Verdict::Violated`].
    Violated,
    /// See [`Verdict::Consistent`].
    Consistent,
    /// See [`Verdict::Inconclusive`].
    Inconclusive,
    /// The mechanism could not be run, so there is no verdict.
    Error,
}

impl From<Option<Verdict>> for Conclusion {
    fn from(verdict: Option<Verdict>) -> Self {
        match verdict {
            Some(Verdict::Violated) => Self::Violated,
            Some(Verdict::Consistent) => Self::Consistent,
            Some(Verdict::Inconclusive) => Self::Inconclusive,
            None => Self::Error,
        }
    }
}

impl fmt::Display for Conclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Violated => "violated",
            Self::Consistent => "consistent",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
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
    /// Consistent was expected, and the audit was inconclusive.
    Undecided,
    /// The mechanism could not be run.
    NotRun,
    /// Not as expected.
    Differs,
}

impl Agreement {
    /// Compares a verdict with the expectation. An expected violation must be shown: an audit that is too weak to show it differs.
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

    /// The worse of two.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if self as u8 >= other as u8 { self } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Verdict; 3] = [Verdict::Violated, Verdict::Consistent, Verdict::Inconclusive];

    fn bounds(epsilon_lower: f64, delta_lower: f64, detectable_epsilon: f64) -> Bounds {
        Bounds { epsilon_lower, delta_lower, detectable_epsilon }
    }

    #[test]
    fn a_bound_above_the_claim_refutes_it_and_the_resolution_separates_the_rest() {
        let claim = Claim { epsilon: 1.0.try_into().unwrap(), delta: 0.25.try_into().unwrap() };
        let verdict = |epsilon, delta, detectable| Verdict::new(&bounds(epsilon, delta, detectable), claim, 0.5);
        assert_eq!(verdict(1.0, 0.25, 1.5), Verdict::Consistent);
        assert_eq!(verdict(1.0, 0.25, 1.5_f64.next_up()), Verdict::Inconclusive);
        assert_eq!(verdict(1.0_f64.next_up(), 0.0, 1.0), Verdict::Violated);
        assert_eq!(verdict(0.0, 0.25_f64.next_up(), f64::INFINITY), Verdict::Violated);
    }

    #[test]
    fn one_violated_pair_decides_and_then_one_inconclusive_pair() {
        for one in ALL {
            assert_eq!(Verdict::of_all([one, Verdict::Violated]), Some(Verdict::Violated));
            assert_eq!(Verdict::of_all([Verdict::Violated, one]), Some(Verdict::Violated));
            assert_eq!(Verdict::of_all([Verdict::Consistent, one]), Some(one));
            assert_eq!(Verdict::of_all([one, Verdict::Consistent]), Some(one));
        }
        assert_eq!(Verdict::of_all([]), None);
    }

    #[test]
    fn an_expected_violation_must_be_shown_and_an_inconclusive_audit_is_undecided() {
        let with = |expected| ALL.map(|verdict| Agreement::new(verdict, expected));
        assert_eq!(with(Expectation::Violated), [Agreement::Agrees, Agreement::Differs, Agreement::Differs]);
        assert_eq!(with(Expectation::Consistent), [Agreement::Differs, Agreement::Agrees, Agreement::Undecided]);
    }

    #[test]
    fn agreements_are_ordered_by_severity_and_have_marks() {
        let by_severity = [Agreement::Agrees, Agreement::Undecided, Agreement::NotRun, Agreement::Differs];
        assert_eq!(by_severity.map(Agreement::mark), ["✓", "?", "✗", "✗"]);
        for (index, worse) in by_severity.into_iter().enumerate() {
            for better in &by_severity[..=index] {
                assert_eq!(worse.worse(*better), worse);
                assert_eq!(better.worse(worse), worse);
            }
        }
    }

    #[test]
    fn verdicts_are_written_as_in_audit_files() {
        assert_eq!(ALL.map(|verdict| verdict.to_string()), ["violated", "consistent", "inconclusive"]);
        assert_eq!([Expectation::Violated, Expectation::Consistent].map(|one| one.to_string()), ["violated", "consistent"]);
    }
}
