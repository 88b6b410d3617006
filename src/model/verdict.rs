//! The verdict of an audit, and whether it was expected.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AskedReach, Bounds, Claim};

/// The conclusion about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The claim is refuted at the run's confidence.
    Violated,
    /// Not refuted, there were enough draws, and the attack was seen to reach as much of the claim
    /// as the audit asks for.
    Consistent,
    /// Not refuted, and nothing can be concluded from that.
    Inconclusive(Reason),
}

/// Why nothing can be concluded from a claim that is not refuted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// A column has texts or identifiers that never repeat, so the attack cannot read it.
    UnreadColumns,
    /// The draws are too few to tell a claim that just holds from one that just fails.
    TooFewDraws,
    /// The attack sees no difference between the two sides, on any pair.
    NoDifferenceSeen,
    /// The attack shows less of the claim than the audit asks for.
    ClaimNotReached,
    /// A control, which leaks more than is claimed, was not refuted.
    ControlNotCaught,
    /// The canaries are too few to tell a claim that just holds from one that just fails.
    TooFewCanaries,
    /// The canaries show less of the claim than the audit asks for.
    CanariesTooWeak,
}

impl Reason {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UnreadColumns => "unread-columns",
            Self::TooFewDraws => "too-few-draws",
            Self::NoDifferenceSeen => "no-difference-seen",
            Self::ClaimNotReached => "claim-not-reached",
            Self::ControlNotCaught => "control-not-caught",
            Self::TooFewCanaries => "too-few-canaries",
            Self::CanariesTooWeak => "canaries-too-weak",
        }
    }

    /// What it means, and what to do about it.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::UnreadColumns => {
                "a part of the output never repeats and has no order, like a hash or an identifier, so a leak there would not be seen; add a \
                 feature that undoes it, leave it out of the output, or say why it cannot leak: ignore = { \"column\" = \"why\" }"
            }
            Self::TooFewDraws => {
                "the draws are too few to tell a claim that just holds from one that just fails; use more draws"
            }
            Self::NoDifferenceSeen => {
                "the attack sees no difference between the two sides; choose a pair on which the outputs differ, or, if nothing can leak there, \
                 state reach = { at_least = 0, because = \"…\" }"
            }
            Self::ClaimNotReached => {
                "the attack shows less of the claim than the audit asks for; choose a pair on which more leaks or use more draws, or, if the \
                 claim is known to be generous, state a lower reach and why"
            }
            Self::ControlNotCaught => {
                "the same mechanism with a known leak beyond the claim was not refuted, so a real leak might be missed too; use more draws \
                 or another pair, or state a control that leaks more"
            }
            Self::TooFewCanaries => {
                "the canaries are too few to tell a claim that just holds from one that just fails; use more canaries, more runs, or fresh \
                 coins at every step; `dp-audit canaries --plan` says how many a claim needs"
            }
            Self::CanariesTooWeak => {
                "the canaries show less of the claim than the audit asks for; use canaries that the model remembers better, scores that see \
                 gradients, more runs, or fresh coins at every step, or, if the claim is known to be generous, state a lower reach and why"
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whether the control of an audit was refuted. A control leaks more than is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ControlResult {
    /// It was refuted, so the audit can see such a leak.
    Caught,
    /// It was not refuted.
    NotCaught,
}

impl fmt::Display for ControlResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Caught => "caught",
            Self::NotCaught => "not-caught",
        })
    }
}

/// Everything that the verdict on a pair depends on.
#[derive(Clone, Debug)]
pub struct Grounds {
    /// What is claimed.
    pub claim: Claim,
    /// What is known about the pair.
    pub bounds: Bounds,
    /// Whether there are columns that the attack cannot read and that are not ignored.
    pub unread: bool,
    /// The reach of the whole audit.
    pub reach: f64,
    /// The reach that the audit asks for.
    pub asked_reach: f64,
    /// The excess of ε over the claim that the audit should be able to detect.
    pub resolution: f64,
    /// What became of the control; `None` if there is none.
    pub control: Option<ControlResult>,
}

impl Verdict {
    /// The verdict on a claim. It is enough that ε or δ is refuted: both belong to the same claim.
    /// A claim that is not refuted is consistent only if nothing speaks against the audit itself.
    #[must_use]
    pub fn new(grounds: &Grounds) -> Self {
        let Grounds { ref claim, bounds, unread, reach, asked_reach, resolution, control } =
            *grounds;
        // Written so that a number that is not comparable never counts as enough. If the attack
        // sees a part of the leak, an excess in that part stands for a larger excess in the whole
        // leak. Below a half, the reach itself is what is missing, and not the draws.
        let enough_draws = bounds.resolved <= resolution * reach.clamp(AskedReach::DEFAULT, 1.0);
        let reached = reach >= asked_reach;
        if bounds.refute(claim) {
            Self::Violated
        } else if unread {
            Self::Inconclusive(Reason::UnreadColumns)
        } else if !enough_draws {
            Self::Inconclusive(Reason::TooFewDraws)
        } else if !reached {
            Self::Inconclusive(if reach > 0.0 {
                Reason::ClaimNotReached
            } else {
                Reason::NoDifferenceSeen
            })
        } else if control == Some(ControlResult::NotCaught) {
            Self::Inconclusive(Reason::ControlNotCaught)
        } else {
            Self::Consistent
        }
    }

    /// The verdict on a mechanism, from those on several pairs: one refuting pair refutes the
    /// claim. If several pairs are inconclusive, the reason is that of the first.
    #[must_use]
    pub fn of_all(verdicts: impl IntoIterator<Item = Self>) -> Option<Self> {
        verdicts.into_iter().reduce(|all, one| match (all, one) {
            (Self::Violated, _) | (_, Self::Violated) => Self::Violated,
            (Self::Inconclusive(reason), _) | (_, Self::Inconclusive(reason)) => {
                Self::Inconclusive(reason)
            }
            _ => Self::Consistent,
        })
    }

    /// Why it is inconclusive; `None` if it is not.
    #[must_use]
    pub fn reason(self) -> Option<Reason> {
        if let Self::Inconclusive(reason) = self { Some(reason) } else { None }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Conclusion::from(Some(*self)).fmt(f)
    }
}

/// The conclusion about a pair: a verdict, or an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    #[default]
    Error,
}

impl From<Option<Verdict>> for Conclusion {
    fn from(verdict: Option<Verdict>) -> Self {
        match verdict {
            Some(Verdict::Violated) => Self::Violated,
            Some(Verdict::Consistent) => Self::Consistent,
            Some(Verdict::Inconclusive(_)) => Self::Inconclusive,
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
    /// Compares a verdict with the expectation. An expected violation must be shown: an audit that
    /// is too weak to show it differs.
    #[must_use]
    pub fn new(verdict: Verdict, expected: Expectation) -> Self {
        match (verdict, expected) {
            (Verdict::Violated, Expectation::Violated)
            | (Verdict::Consistent, Expectation::Consistent) => Self::Agrees,
            (Verdict::Inconclusive(_), Expectation::Consistent) => Self::Undecided,
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

    const ALL: [Verdict; 3] =
        [Verdict::Violated, Verdict::Consistent, Verdict::Inconclusive(Reason::ClaimNotReached)];

    /// The claim (1, 0.25); everything that is asked for is just met.
    fn grounds() -> Grounds {
        Grounds {
            claim: Claim::new(1.0, 0.25).unwrap(),
            bounds: Bounds {
                lower: 1.0,
                epsilon_lower: 1.0,
                delta_lower: 0.25,
                detectable: 7.0,
                resolved: 0.375,
            },
            unread: false,
            reach: 0.75,
            asked_reach: 0.75,
            resolution: 0.5,
            control: None,
        }
    }

    #[test]
    fn a_bound_above_the_claim_refutes_it_whatever_else_is_known() {
        assert_eq!(Verdict::new(&grounds()), Verdict::Consistent);
        let nothing = Bounds {
            lower: 0.0,
            epsilon_lower: 0.0,
            delta_lower: 0.0,
            detectable: f64::INFINITY,
            resolved: f64::INFINITY,
        };
        for bounds in [
            Bounds { lower: 1.0_f64.next_up(), epsilon_lower: 1.0_f64.next_up(), ..nothing },
            Bounds { delta_lower: 0.25_f64.next_up(), ..nothing },
        ] {
            let weak = Grounds {
                bounds,
                unread: true,
                reach: 0.0,
                control: Some(ControlResult::NotCaught),
                ..grounds()
            };
            assert_eq!(Verdict::new(&weak), Verdict::Violated);
        }
    }

    #[test]
    fn everything_that_is_missing_makes_it_inconclusive() {
        let because = |change: &dyn Fn(&mut Grounds)| {
            let mut grounds = grounds();
            change(&mut grounds);
            Verdict::new(&grounds).reason()
        };
        assert_eq!(because(&|_| ()), None);
        assert_eq!(
            because(&|g| g.bounds.resolved = 0.375_f64.next_up()),
            Some(Reason::TooFewDraws)
        );
        assert_eq!(because(&|g| g.bounds.resolved = f64::NAN), Some(Reason::TooFewDraws));
        assert_eq!(
            because(&|g| (g.reach, g.bounds.resolved) = (0.75_f64.next_down(), 0.25)),
            Some(Reason::ClaimNotReached)
        );
        assert_eq!(
            because(&|g| (g.reach, g.bounds.resolved) = (0.0, 0.25)),
            Some(Reason::NoDifferenceSeen)
        );
        assert_eq!(because(&|g| g.reach = f64::NAN), Some(Reason::TooFewDraws));
        // A precision that is enough for an attack that reaches the whole claim is not enough for
        // one that reaches a part of it.
        assert_eq!(
            because(&|g| (g.reach, g.asked_reach) = (0.625, 0.625)),
            Some(Reason::TooFewDraws)
        );
        assert_eq!(because(&|g| (g.reach, g.bounds.resolved) = (f64::INFINITY, 0.5)), None);
        assert_eq!(
            because(&|g| g.control = Some(ControlResult::NotCaught)),
            Some(Reason::ControlNotCaught)
        );
        assert_eq!(because(&|g| g.control = Some(ControlResult::Caught)), None);
        // More draws are of no use for a column that never repeats, and a low asked reach is no
        // excuse.
        let blind = |g: &mut Grounds| {
            (g.bounds.lower, g.bounds.delta_lower, g.bounds.resolved) = (0.0, 0.0, f64::INFINITY);
            (g.unread, g.asked_reach) = (true, 0.0);
        };
        assert_eq!(because(&blind), Some(Reason::UnreadColumns));
        // What another column shows does not help.
        assert_eq!(because(&|g| g.unread = true), Some(Reason::UnreadColumns));
    }

    #[test]
    fn an_audit_that_asks_for_no_reach_needs_only_enough_draws() {
        let mut none = Grounds { reach: 0.0, asked_reach: 0.0, resolution: 0.75, ..grounds() };
        (none.bounds.epsilon_lower, none.bounds.delta_lower) = (0.0, 0.0);
        assert_eq!(Verdict::new(&none), Verdict::Consistent);
        none.bounds.resolved = 1.0;
        assert_eq!(Verdict::new(&none), Verdict::Inconclusive(Reason::TooFewDraws));
    }

    #[test]
    fn reasons_are_written_as_in_reports_and_say_what_to_do() {
        let reasons = [
            Reason::UnreadColumns,
            Reason::TooFewDraws,
            Reason::NoDifferenceSeen,
            Reason::ClaimNotReached,
            Reason::ControlNotCaught,
        ];
        for reason in reasons {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.to_string());
            assert!(reason.advice().contains("; "), "{reason}: the second part says what to do");
        }
        for control in [ControlResult::Caught, ControlResult::NotCaught] {
            assert_eq!(serde_json::to_value(control).unwrap(), control.to_string());
        }
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
        assert_eq!(
            with(Expectation::Violated),
            [Agreement::Agrees, Agreement::Differs, Agreement::Differs]
        );
        assert_eq!(
            with(Expectation::Consistent),
            [Agreement::Differs, Agreement::Agrees, Agreement::Undecided]
        );
    }

    #[test]
    fn agreements_are_ordered_by_severity_and_have_marks() {
        let by_severity =
            [Agreement::Agrees, Agreement::Undecided, Agreement::NotRun, Agreement::Differs];
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
        assert_eq!(
            ALL.map(|verdict| verdict.to_string()),
            ["violated", "consistent", "inconclusive"]
        );
        assert_eq!(
            [Expectation::Violated, Expectation::Consistent].map(|one| one.to_string()),
            ["violated", "consistent"]
        );
    }
}
