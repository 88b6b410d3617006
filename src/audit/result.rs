//! What was found, complete and without interpretation, and the verdicts on it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::judged::Judgement;
use super::statement::{Evidence, Kind, LISTS, Plan, PrivacyEvidence, Whole};
use super::{Audit, Judged, SearchHistory};
use crate::model::{Agreement, Conclusion, ControlResult, Settings, Verdict};
use crate::target::{TargetError, Timing};

/// Everything that a run found. Journals, shards and other processes exchange it in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunReport {
    /// How it was run.
    pub settings: Settings,
    /// The number of statements of all audits. The confidence is divided over those that are
    /// decided by statistics.
    pub statements: usize,
    /// The finished audits, in order.
    pub audits: Vec<Arc<AuditReport>>,
}

/// What one audit found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Findings")]
#[non_exhaustive]
pub struct AuditReport {
    /// What was audited.
    pub audit: Arc<Audit>,
    /// The results of its statements, in order.
    pub results: Vec<StatementResult>,
    /// What became of its control; `None` if none was audited.
    pub control: Option<ControlResult>,
    /// What a search for pairs did; `None` if there was none.
    pub search: Option<Arc<SearchHistory>>,
    #[serde(skip)]
    pub(super) judgements: Vec<Judgement>,
    #[serde(skip)]
    whole: Whole,
}

/// What was found, before it is judged.
#[derive(Deserialize)]
struct Findings {
    audit: Arc<Audit>,
    results: Vec<StatementResult>,
    control: Option<ControlResult>,
    search: Option<Arc<SearchHistory>>,
}

impl TryFrom<Findings> for AuditReport {
    type Error = String;

    fn try_from(findings: Findings) -> Result<Self, String> {
        let Findings { audit, results, control, search } = findings;
        let named = results.iter().map(|result| result.name.as_str());
        if !named.eq(audit.statements().map(super::Statement::name)) {
            return Err(format!("the results are not those of the audit \"{}\"", audit.name));
        }
        Ok(Self::new(audit, results, control).with_search(search))
    }
}

/// What was found about one statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatementResult {
    /// The statement's name.
    pub name: String,
    /// The evidence, or why the mechanism could not be run.
    pub outcome: Result<Evidence, TargetError>,
    /// How long it took.
    pub seconds: f64,
    /// Where the time went, if the mechanism is a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

impl StatementResult {
    /// The result of a plan with this outcome.
    #[must_use]
    pub fn new(plan: &Plan, outcome: Result<Evidence, TargetError>, seconds: f64) -> Self {
        Self { name: plan.name().to_owned(), outcome, seconds, timing: None }
    }
}

impl RunReport {
    /// The report of a run so far.
    #[must_use]
    pub fn new(settings: Settings, statements: usize, audits: Vec<Arc<AuditReport>>) -> Self {
        Self { settings, statements, audits }
    }

    /// Whether all audits have finished.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.audits.iter().map(|audit| audit.results.len()).sum::<usize>() == self.statements
    }

    /// All statements that were run.
    pub fn judged(&self) -> impl Iterator<Item = Judged<'_>> {
        self.audits.iter().flat_map(|audit| audit.statements())
    }

    /// All draws.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.judged().filter_map(Judged::draws).sum()
    }

    /// How many statements were run, for each of their nouns: the pairs, and what else there is.
    #[must_use]
    pub fn counts(&self) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<(&'static str, usize)> = Vec::new();
        for [list, _] in LISTS {
            let kinds = self.judged().map(Judged::kind);
            for kind in kinds.filter(|kind| kind.list()[0] == list) {
                match counts.iter_mut().find(|(noun, _)| *noun == kind.noun()) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((kind.noun(), 1)),
                }
            }
        }
        counts
    }

    /// The audits in this order: unexpected results, audits that could not be run, refuted claims,
    /// all others. Within each group in the order of the run.
    #[must_use]
    pub fn most_severe_first(&self) -> Vec<&AuditReport> {
        let mut audits: Vec<&AuditReport> = self.audits.iter().map(AsRef::as_ref).collect();
        audits.sort_by_key(|audit| {
            (std::cmp::Reverse(audit.agreement() as u8), audit.verdict() != Some(Verdict::Violated))
        });
        audits
    }

    /// How many audits have this conclusion.
    #[must_use]
    pub fn count(&self, conclusion: Conclusion) -> usize {
        self.audits.iter().filter(|audit| Conclusion::from(audit.verdict()) == conclusion).count()
    }

    /// The audits with this agreement between result and expectation.
    pub fn with(&self, agreement: Agreement) -> impl Iterator<Item = &AuditReport> {
        self.audits
            .iter()
            .map(AsRef::as_ref)
            .filter(move |audit: &&AuditReport| audit.agreement() == agreement)
    }
}

impl AuditReport {
    /// What an audit found, judged. `results` are those of its statements, in order. A verdict on
    /// the claim of the audit depends on the whole audit: on its reach, and on its control.
    #[must_use]
    pub fn new(
        audit: Arc<Audit>,
        results: Vec<StatementResult>,
        control: Option<ControlResult>,
    ) -> Self {
        let kinds: Vec<Box<dyn Kind + '_>> = audit
            .statements()
            .zip(&results)
            .map(|(statement, result)| statement.kind(result.outcome.as_ref().ok()))
            .collect();
        let whole = Whole { reach: reach(&kinds), control };
        let verdicts: Vec<Option<Verdict>> = kinds.iter().map(|kind| kind.verdict(whole)).collect();
        // Statements without their own expectation share the audit's: if a violation is expected,
        // it is enough that one of them shows it.
        let share = kinds.iter().zip(&verdicts).filter(|(kind, _)| kind.expected().is_none());
        let shared = Verdict::of_all(share.filter_map(|(_, verdict)| *verdict));
        let judgements = kinds.iter().zip(verdicts).map(|(kind, verdict)| {
            let agreement = match (verdict, kind.expected()) {
                (None, _) => Agreement::NotRun,
                (Some(_), _) if kind.contradicts_truth() => Agreement::Differs,
                (Some(verdict), Some(expected)) => Agreement::new(verdict, expected),
                (Some(verdict), None) => Agreement::new(shared.unwrap_or(verdict), audit.expect),
            };
            Judgement { verdict, agreement }
        });
        let judgements = judgements.collect();
        drop(kinds);
        Self { audit, results, control, search: None, judgements, whole }
    }

    /// The same report with what a search did.
    #[must_use]
    pub fn with_search(mut self, search: Option<Arc<SearchHistory>>) -> Self {
        self.search = search;
        self
    }

    /// The suite of the audit: the folder of its file.
    #[must_use]
    pub fn suite(&self) -> String {
        let folder = self.audit.file.parent().map(|folder| folder.display().to_string());
        folder.filter(|folder| !folder.is_empty()).unwrap_or_else(|| "(no folder)".to_owned())
    }

    /// What its statements contribute to the verdict on each of them.
    #[must_use]
    pub fn whole(&self) -> Whole {
        self.whole
    }

    /// How much of its claim the mechanism was seen to use: the reach of the best statement about
    /// it. Above 1 the claim is refuted.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.whole().reach
    }

    /// The evidence about a privacy claim, with the statements that it belongs to.
    pub fn privacy(&self) -> impl Iterator<Item = (Judged<'_>, &PrivacyEvidence)> {
        self.statements().filter_map(|judged| Some((judged, judged.evidence()?.privacy()?)))
    }

    /// The statements that could not be run, and why.
    pub fn errors(&self) -> impl Iterator<Item = (Judged<'_>, &TargetError)> {
        self.statements().filter_map(|judged| Some((judged, judged.error()?)))
    }

    /// The verdict on the mechanism: one refuted statement is enough. `None` if none is and
    /// something could not be run.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        together(self.statements())
    }

    /// The verdict on the claim of the audit alone.
    #[must_use]
    pub fn claim_verdict(&self) -> Option<Verdict> {
        together(self.statements().filter(|judged| judged.kind().is_about_claim()))
    }

    /// How the audit compares with what was expected: the worst agreement of its statements.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        self.statements().map(Judged::agreement).fold(Agreement::Agrees, Agreement::worse)
    }
}

/// The reach of the best of those that are about the claim.
fn reach(kinds: &[Box<dyn Kind + '_>]) -> f64 {
    let about_claim = kinds.iter().filter(|kind| kind.is_about_claim());
    about_claim.filter_map(|kind| kind.reach()).fold(0.0, f64::max)
}

/// One verdict for several statements. What could not be run has none, and then there is none for
/// all, unless another statement is refuted.
fn together<'a>(statements: impl Iterator<Item = Judged<'a>>) -> Option<Verdict> {
    let verdicts: Vec<Option<Verdict>> = statements.map(Judged::verdict).collect();
    let all = Verdict::of_all(verdicts.iter().copied().flatten());
    all.filter(|all| *all == Verdict::Violated || verdicts.iter().all(Option::is_some))
}
