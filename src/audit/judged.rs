//! A statement, what was found about it, and the verdict: what every report is made of.

use super::statement::capitalised;
use super::{AuditReport, Evidence, Kind, Statement, StatementResult, Words};
use crate::model::{Agreement, Conclusion, Expectation, Reason, Verdict};
use crate::target::TargetError;

/// A statement of an audit that was run.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The audit.
    pub report: &'a AuditReport,
    /// What it states.
    pub statement: Statement<'a>,
    /// What was found.
    pub result: &'a StatementResult,
    judgement: Judgement,
}

/// The verdict on a statement, and how it compares with what was expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    pub verdict: Option<Verdict>,
    pub agreement: Agreement,
}

impl AuditReport {
    /// Its statements, in order.
    pub fn statements(&self) -> impl Iterator<Item = Judged<'_>> {
        let results = self.results.iter().zip(&self.judgements);
        self.audit.statements().zip(results).map(|(statement, (result, judgement))| Judged {
            report: self,
            statement,
            result,
            judgement: *judgement,
        })
    }

    /// The statement that speaks for the audit: the most unexpected one, then a refuted one, then
    /// one that is not settled, then the one with the largest reach. Statements can share an
    /// expectation, so one that passes may be as unexpected as another that does not.
    #[must_use]
    pub fn worst(&self) -> Option<Judged<'_>> {
        let rank = |conclusion| match conclusion {
            Conclusion::Violated => 3,
            Conclusion::Error => 2,
            Conclusion::Inconclusive => 1,
            Conclusion::Consistent => 0,
        };
        let severity = |judged: &Judged<'_>| {
            (judged.agreement() as u8, rank(judged.conclusion()), judged.reach().unwrap_or(0.0))
        };
        // If several are equal, the first.
        self.statements()
            .reduce(|worst, next| if severity(&next) > severity(&worst) { next } else { worst })
    }

    /// The most significant statement about its claim: the one with the largest bound, among the
    /// refuted ones if there are any.
    #[must_use]
    pub fn most_significant(&self) -> Option<Judged<'_>> {
        let weight = |judged: &Judged<'_>| {
            (judged.verdict() == Some(Verdict::Violated), judged.kind().weight())
        };
        let about_claim = self.statements().filter(|judged| judged.kind().is_about_claim());
        // If several are equal, the first.
        about_claim
            .filter(|judged| judged.evidence().is_some())
            .reduce(|best, next| if weight(&next) > weight(&best) { next } else { best })
    }
}

impl<'a> Judged<'a> {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'a str {
        self.statement.name()
    }

    /// The evidence; `None` if the mechanism could not be run.
    #[must_use]
    pub fn evidence(self) -> Option<&'a Evidence> {
        self.result.outcome.as_ref().ok()
    }

    /// Why the mechanism could not be run, if it could not.
    #[must_use]
    pub fn error(self) -> Option<&'a TargetError> {
        self.result.outcome.as_ref().err()
    }

    /// What its kind says about it.
    #[must_use]
    pub fn kind(self) -> Box<dyn Kind + 'a> {
        self.statement.kind(self.evidence())
    }

    /// What people read about it.
    #[must_use]
    pub fn words(self) -> Words {
        self.kind().words()
    }

    /// The verdict; `None` if the mechanism could not be run.
    #[must_use]
    pub fn verdict(self) -> Option<Verdict> {
        self.judgement.verdict
    }

    /// The conclusion: the verdict, or that the mechanism could not be run.
    #[must_use]
    pub fn conclusion(self) -> Conclusion {
        self.verdict().into()
    }

    /// Why it is inconclusive.
    #[must_use]
    pub fn reason(self) -> Option<Reason> {
        self.verdict().and_then(Verdict::reason)
    }

    /// How it compares with what was expected.
    #[must_use]
    pub fn agreement(self) -> Agreement {
        self.judgement.agreement
    }

    /// What was expected.
    #[must_use]
    pub fn expected(self) -> Expectation {
        self.kind().expected().unwrap_or(self.report.audit.expect)
    }

    /// How much of the claim was seen; `None` if the mechanism could not be run.
    #[must_use]
    pub fn reach(self) -> Option<f64> {
        self.kind().reach()
    }

    /// The draws.
    #[must_use]
    pub fn draws(self) -> Option<u64> {
        self.evidence().map(Evidence::draws)
    }

    /// About how many draws an inconclusive result needs; `None` if more draws alone are not known
    /// to help.
    #[must_use]
    pub fn needed_draws(self) -> Option<u64> {
        self.kind().needed_draws(self.verdict()?, self.report.whole())
    }

    /// The bound against the claim, `ε ≥ 1.2 of 1`: the one that shows most of it.
    #[must_use]
    pub fn bound(self) -> Option<String> {
        self.kind().shown().map(|shown| shown.to_string())
    }

    /// What was found, in a sentence; or why nothing was.
    #[must_use]
    pub fn sentence(self) -> String {
        let Words { observer, sentence, .. } = self.words();
        capitalised(&match (self.error(), observer) {
            (Some(error), _) => format!("could not be run: {error}"),
            (None, Some(observer)) => format!("the {observer} {sentence}"),
            (None, None) => sentence,
        })
    }

    /// What a pass could have missed; `None` if the claim is refuted or nothing is known.
    #[must_use]
    pub fn missed(self) -> Option<String> {
        let consistent = self.verdict()? == Verdict::Consistent;
        self.kind().missed().filter(|_| consistent)
    }

    /// Whether the bounds contradict a truth that the audit file states.
    #[must_use]
    pub fn contradicts_truth(self) -> bool {
        self.kind().contradicts_truth()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Bounds, Claim};
    use crate::report::testing::{INCONCLUSIVE, Ran, audit, not_run, pair, run, run_of};

    fn worst(results: Vec<Ran>) -> (Conclusion, Agreement) {
        let run = run(results);
        let statement = run.audits[0].worst().unwrap();
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
        let shared = |verdict| {
            let mut ran = pair(verdict, Expectation::Consistent);
            ran.pair.expect = None;
            ran
        };
        let passes = shared(Verdict::Consistent).with(|evidence| {
            (evidence.bounds.lower, evidence.bounds.epsilon_lower) = (0.9, 0.9);
        });
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
            let result = pair(Verdict::Violated, Expectation::Violated)
                .with(|evidence| evidence.bounds = bounds);
            let run = run_of(vec![(audit, vec![result])]);
            run.audits[0].worst().unwrap().bound().unwrap()
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
            run.audits[0].worst().unwrap().sentence()
        };
        assert_eq!(
            sentence(Verdict::Violated),
            "The attacker guessed right 80.0 % of the time; ε = 1 allows 73.1 %."
        );
        let chance = "The best attack guessed right 80.0 % of the time; ε = 1 allows 73.1 %, and 100 guesses cannot tell these apart.";
        assert_eq!(sentence(INCONCLUSIVE), chance);
    }
}
