//! What a report says about one pair or one accuracy claim, in words that are the same in terminal
//! and HTML.

use crate::audit::{AccuracyResult, AuditReport, PairResult};
use crate::model::number::{Brief, round_down};
use crate::model::{Agreement, Conclusion, Expectation, Reason, Verdict};

/// Significant digits of numbers for people.
const DIGITS: i32 = 3;

/// The result of a pair or of an accuracy claim.
#[derive(Clone, Copy)]
pub enum Statement<'a> {
    /// A pair, and the audit that it belongs to.
    Pair(&'a AuditReport, &'a PairResult),
    /// An accuracy claim, and the audit that it belongs to.
    Accuracy(&'a AuditReport, &'a AccuracyResult),
}

impl<'a> Statement<'a> {
    /// All statements of an audit, in order.
    pub fn all(report: &'a AuditReport) -> impl Iterator<Item = Self> {
        let pairs = report.results.iter().map(move |result| Self::Pair(report, result));
        pairs.chain(report.accuracy.iter().map(move |result| Self::Accuracy(report, result)))
    }

    /// The statement that speaks for an audit: the most unexpected one, then a refuted one, then
    /// one that is not settled, then the one with the largest reach. Pairs can share an
    /// expectation, so a pair that passes may be as unexpected as another that does not.
    #[must_use]
    pub fn worst(report: &'a AuditReport) -> Option<Self> {
        let rank = |conclusion| match conclusion {
            Conclusion::Violated => 3,
            Conclusion::Error => 2,
            Conclusion::Inconclusive => 1,
            Conclusion::Consistent => 0,
        };
        let severity = |statement: &Self| {
            (
                statement.agreement() as u8,
                rank(statement.conclusion()),
                statement.reach().unwrap_or(0.0),
            )
        };
        // If several are equal, the first.
        Self::all(report)
            .reduce(|worst, next| if severity(&next) > severity(&worst) { next } else { worst })
    }

    /// The audit.
    #[must_use]
    pub fn report(self) -> &'a AuditReport {
        match self {
            Self::Pair(report, _) | Self::Accuracy(report, _) => report,
        }
    }

    /// The name of the pair or of the accuracy claim.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Pair(_, result) => &result.pair,
            Self::Accuracy(_, result) => &result.accuracy.name,
        }
    }

    /// How it compares with what was expected.
    #[must_use]
    pub fn agreement(self) -> Agreement {
        match self {
            Self::Pair(report, result) => report.agreement_of(result),
            Self::Accuracy(_, result) => result.agreement(),
        }
    }

    /// What was expected.
    #[must_use]
    pub fn expected(self) -> Expectation {
        match self {
            Self::Pair(report, result) => result.expect.unwrap_or(report.audit.expect),
            Self::Accuracy(_, result) => result.accuracy.expect,
        }
    }

    /// The conclusion.
    #[must_use]
    pub fn conclusion(self) -> Conclusion {
        self.verdict().into()
    }

    /// The verdict; `None` if the mechanism could not be run.
    #[must_use]
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Pair(_, result) => result.verdict(),
            Self::Accuracy(_, result) => result.verdict(),
        }
    }

    /// Why it is inconclusive.
    #[must_use]
    pub fn reason(self) -> Option<Reason> {
        self.verdict().and_then(Verdict::reason)
    }

    /// How much of the claim was seen; `None` if the mechanism could not be run.
    #[must_use]
    pub fn reach(self) -> Option<f64> {
        match self {
            Self::Pair(report, result) => {
                Some(result.outcome.as_ref().ok()?.bounds.reach(&report.audit.claim))
            }
            Self::Accuracy(_, result) => result.reach(),
        }
    }

    /// The bound against the claim, `ε ≥ 1.2 of 1`: that of δ if it shows more of the claim.
    #[must_use]
    pub fn bound(self) -> Option<String> {
        let text = |symbol: &str, lower: f64, claimed: f64| {
            // A run that stops as soon as a claim is refuted knows only that the limit is exceeded.
            let just_above = lower == claimed.next_up();
            let bound = if just_above {
                format!("> {}", nearest(claimed))
            } else {
                format!("≥ {}", short(lower, claimed))
            };
            format!("{symbol} {bound} of {}", nearest(claimed))
        };
        match self {
            Self::Pair(report, result) => {
                let (claim, bounds) = (&report.audit.claim, result.outcome.as_ref().ok()?.bounds);
                let main = claim.main();
                let of_main = if bounds.lower > 0.0 { bounds.lower / main.value } else { 0.0 };
                match claim.second() {
                    Some(second) if bounds.reach(claim) > of_main => {
                        Some(text("δ", bounds.delta_lower, second.value))
                    }
                    _ => Some(text(main.measure.symbol(), bounds.lower, main.value)),
                }
            }
            Self::Accuracy(_, result) => {
                let evidence = result.outcome.as_ref().ok()?;
                Some(text("fails", evidence.limits.lower, result.accuracy.claim.allowed()))
            }
        }
    }

    /// The draws.
    #[must_use]
    pub fn draws(self) -> Option<u64> {
        match self {
            Self::Pair(_, result) => result.outcome.as_ref().ok().map(|evidence| evidence.draws),
            Self::Accuracy(_, result) => {
                result.outcome.as_ref().ok().map(|evidence| evidence.draws)
            }
        }
    }

    /// About how many draws an inconclusive one needs.
    #[must_use]
    pub fn needed_draws(self) -> Option<u64> {
        match self {
            Self::Pair(report, result) => report.needed_draws(result),
            Self::Accuracy(_, result) => result.needed_draws(),
        }
    }

    /// What was found, in a sentence; or why nothing was.
    #[must_use]
    pub fn sentence(self) -> String {
        let text = match self {
            Self::Pair(report, result) => match &result.outcome {
                Ok(evidence)
                    if evidence.verdict == Verdict::Violated || evidence.outputs.is_some() =>
                {
                    format!("the attacker {}", evidence.sentence(&report.audit.claim))
                }
                Ok(evidence) => {
                    format!("the best attack {}", evidence.sentence(&report.audit.claim))
                }
                Err(error) => format!("could not be run: {error}"),
            },
            Self::Accuracy(_, result) => result.sentence(),
        };
        capitalised(&text)
    }

    /// What the attacker looks at in words, and what that is: a rule, or the two outputs of a
    /// transformation. `None` if there is nothing.
    #[must_use]
    pub fn rule(self) -> Option<(&'static str, String)> {
        let Self::Pair(_, result) = self else { return None };
        let evidence = result.outcome.as_ref().ok()?;
        let title = match (&evidence.rule, &evidence.outputs) {
            (_, Some(_)) => "Seen:",
            (Some(_), _) => "Rule:",
            _ => return None,
        };
        Some((title, evidence.rule_text()))
    }

    /// Whether the bounds contradict a truth that the audit file states.
    #[must_use]
    pub fn contradicts_truth(self) -> bool {
        match self {
            Self::Pair(_, result) => result.exceeds_truth(),
            Self::Accuracy(_, result) => result.excludes_truth(),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn next_step(self) -> Option<String> {
        match self {
            Self::Pair(report, result) => report.next_step(result),
            Self::Accuracy(_, result) => result.next_step(),
        }
    }
}

/// A bound with few digits, rounded down. If it exceeds the limit, it has enough digits to show
/// that.
#[must_use]
pub fn short(value: f64, limit: f64) -> String {
    rounded(value, DIGITS, limit)
}

/// A bound with this many digits, rounded down. If it exceeds the limit, it shows that: by more
/// digits, or, if it is the next number, in words.
#[must_use]
pub fn rounded(value: f64, digits: i32, limit: f64) -> String {
    /// Enough for every number.
    const ALL: i32 = 17;
    let shows = |digits: &i32| round_down(value, *digits) > limit;
    if value == limit.next_up() {
        return format!("above {}", Brief(limit));
    }
    match (digits..=ALL).find(shows) {
        Some(found) if found == digits => Brief(round_down(value, digits)).to_string(),
        Some(found) => round_down(value, found).to_string(),
        None if value > limit => value.to_string(),
        None => Brief(round_down(value, digits)).to_string(),
    }
}

/// A claimed number with few digits.
fn nearest(value: f64) -> String {
    let digits = usize::try_from(DIGITS - 1).unwrap_or(2);
    Brief(format!("{value:.digits$e}").parse().unwrap_or(value)).to_string()
}

/// The text with a capital letter and a full stop.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bounds, Claim};
    use crate::report::testing::{INCONCLUSIVE, audit, evidence, not_run, pair, run, run_of};

    fn worst(results: Vec<PairResult>) -> (Conclusion, Agreement) {
        let run = run(results);
        let statement = Statement::worst(&run.audits[0]).unwrap();
        (statement.conclusion(), statement.agreement())
    }

    #[test]
    fn the_most_unexpected_statement_speaks_for_the_audit() {
        let consistent = || pair(Verdict::Consistent, Expectation::Consistent);
        let (expected, surprise) = (
            pair(Verdict::Violated, Expectation::Violated),
            pair(Verdict::Violated, Expectation::Consistent),
        );
        assert_eq!(
            worst(vec![consistent(), expected.clone()]),
            (Conclusion::Violated, Agreement::Agrees)
        );
        // An error is never hidden behind a pair that passes.
        assert_eq!(
            worst(vec![consistent(), expected.clone(), not_run()]),
            (Conclusion::Error, Agreement::NotRun)
        );
        assert_eq!(
            worst(vec![not_run(), surprise, expected]),
            (Conclusion::Violated, Agreement::Differs)
        );
        assert_eq!(
            worst(vec![consistent(), pair(INCONCLUSIVE, Expectation::Consistent)]),
            (Conclusion::Inconclusive, Agreement::Undecided)
        );
    }

    #[test]
    fn a_pair_that_is_not_settled_is_not_hidden_behind_one_that_passes() {
        // Both share the expectation of the audit.
        let shared =
            |verdict| PairResult { expect: None, ..pair(verdict, Expectation::Consistent) };
        let mut passes = shared(Verdict::Consistent);
        if let Ok(evidence) = &mut passes.outcome {
            (evidence.bounds.lower, evidence.bounds.epsilon_lower) = (0.9, 0.9);
        }
        assert_eq!(
            worst(vec![passes, shared(INCONCLUSIVE)]),
            (Conclusion::Inconclusive, Agreement::Undecided)
        );
    }

    #[test]
    fn the_bound_is_the_one_that_shows_most_of_the_claim() {
        let bound = |epsilon_lower: f64, delta_lower: f64, delta: f64| {
            let mut audit = audit("count");
            audit.claim = Claim::new(1.0, delta).unwrap();
            let bounds = Bounds {
                lower: epsilon_lower,
                epsilon_lower,
                delta_lower,
                detectable: 2.0,
                resolved: 0.0,
            };
            let mut result = pair(Verdict::Violated, Expectation::Violated);
            result.outcome = Ok(crate::audit::Evidence { bounds, ..evidence(Verdict::Violated) });
            let run = run_of(vec![(audit, vec![result])]);
            Statement::worst(&run.audits[0]).unwrap().bound().unwrap()
        };
        assert_eq!(bound(1.2086, 0.1, 0.0), "ε ≥ 1.2 of 1");
        assert_eq!(bound(1.2086, 0.1, 0.01), "δ ≥ 0.1 of 0.01");
        assert_eq!(bound(0.5, 1e-9, 0.0), "δ ≥ 1e-9 of 0");
        assert_eq!(bound(0.0, 0.0, 0.01), "ε ≥ 0 of 1");
        // A small excess is not rounded away.
        assert_eq!(bound(1.000_432, 0.0, 0.0), "ε ≥ 1.0004 of 1");
        assert_eq!(bound(1_f64.next_up(), 0.0, 0.0), "ε > 1 of 1");
        assert_eq!(bound(0.999_999, 0.0, 0.0), "ε ≥ 0.999 of 1");
    }

    #[test]
    fn what_is_not_refuted_does_not_read_as_if_it_were() {
        // 80 of 100 guesses are right, and 73.1 % are allowed.
        let sentence = |verdict| {
            let run = run(vec![pair(verdict, Expectation::Consistent)]);
            Statement::worst(&run.audits[0]).unwrap().sentence()
        };
        assert_eq!(
            sentence(Verdict::Violated),
            "The attacker guessed right 80.0 % of the time; ε = 1 allows 73.1 %."
        );
        let chance = "The best attack guessed right 80.0 % of the time; ε = 1 allows 73.1 %, and 100 guesses cannot tell these apart.";
        assert_eq!(sentence(INCONCLUSIVE), chance);
    }
}
