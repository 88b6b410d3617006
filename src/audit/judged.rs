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

    /// Whether the bounds contradict a truth that the audit file states.
    #[must_use]
    pub fn contradicts_truth(self) -> bool {
        self.kind().contradicts_truth()
    }
}
