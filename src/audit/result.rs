//! What was found, complete and without interpretation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::curves::Curves;
use super::{AccuracyResult, Audit, PairPlan, SearchHistory};
use crate::attack::GuessRule;
use crate::model::number::{counted, percent};
use crate::model::{
    Agreement, AskedReach, Bounds, Claim, Conclusion, ControlResult, Expectation, Grounds,
    RuleEstimate, Settings, Tally, Truth, Verdict,
};
use crate::output::Symbols;
use crate::target::{TargetError, Timing};

/// Everything that a run found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// How it was run.
    pub settings: Settings,
    /// The number of pairs and accuracy claims. The confidence is divided over them, except for
    /// pairs that are decided without statistics.
    pub pairs: usize,
    /// The finished audits, in order.
    pub audits: Vec<Arc<AuditReport>>,
}

/// What one audit found.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditReport {
    /// What was audited.
    pub audit: Arc<Audit>,
    /// The results of its pairs, in order.
    pub results: Vec<PairResult>,
    /// The results of its accuracy claims, in order.
    pub accuracy: Vec<AccuracyResult>,
    /// What became of its control; `None` if none was audited.
    pub control: Option<ControlResult>,
    /// What a search for pairs did; `None` if there was none.
    pub search: Option<Arc<SearchHistory>>,
}

/// What was found on one pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PairResult {
    /// The pair's name.
    pub pair: String,
    /// A short form of the dataset D.
    pub left: String,
    /// A short form of its neighbour D'.
    pub right: String,
    /// The verdict expected for this pair alone, if any.
    pub expect: Option<Expectation>,
    /// The exact leakage, if it is known.
    pub truth: Truth,
    /// The evidence, or why the mechanism could not be run.
    pub outcome: Result<Evidence, TargetError>,
    /// How long it took.
    pub seconds: f64,
    /// Where the time went, if the mechanism is a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// What groups of outputs are called in a sentence.
const GROUPS: &str = "groups of outputs together";

/// The evidence on one pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Evidence {
    /// The verdict. A pair of an audit is consistent only if the audit as a whole reaches what it
    /// asks for.
    pub verdict: Verdict,
    /// The bounds behind it.
    pub bounds: Bounds,
    /// Whether every output was a different symbol.
    pub outputs_never_repeat: bool,
    /// The point estimate of ε from the reported rule, and an upper limit for the ε that any of the
    /// frozen rules can show.
    pub estimate: RuleEstimate,
    /// All draws, including exploration.
    pub draws: u64,
    /// The counts of the reported rule on the draws it was judged on.
    pub tally: Tally,
    /// How many of the two answers, left and right, the rule ever gives.
    pub regions: u8,
    /// Whether groups of outputs show more than the rules, none of which refutes the claim.
    #[serde(default)]
    pub by_groups: bool,
    /// The rule; absent if the budget was too small to learn one.
    pub rule: Option<GuessRule>,
    /// The outputs on the left and on the right in words, if there is no noise and they were
    /// compared.
    #[serde(default)]
    pub outputs: Option<[String; 2]>,
    /// The names of the symbols that the rule uses.
    pub symbols: Symbols,
    /// The evidence as curves.
    pub curves: Curves,
    /// A hash of the first outputs on a fixed stream, if the claim is refuted. Different code has a
    /// different hash.
    pub behaviour: Option<String>,
    /// Whether the same seed gives the same result. A program may ignore its seeds.
    pub reproducible: bool,
    /// A note about the draws for the reader of a report.
    pub note: Option<String>,
}

impl RunReport {
    /// The report of a run so far.
    #[must_use]
    pub fn new(settings: Settings, pairs: usize, audits: Vec<Arc<AuditReport>>) -> Self {
        Self { settings, pairs, audits }
    }

    /// Whether all audits have finished.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.audits.iter().map(|audit| audit.results.len() + audit.accuracy.len()).sum::<usize>()
            == self.pairs
    }

    /// All draws.
    #[must_use]
    pub fn draws(&self) -> u64 {
        let pairs = self
            .audits
            .iter()
            .flat_map(|audit| audit.evidence())
            .map(|(_, evidence)| evidence.draws);
        let accuracy = self
            .audits
            .iter()
            .flat_map(|audit| &audit.accuracy)
            .filter_map(|result| result.outcome.as_ref().ok());
        pairs.chain(accuracy.map(|evidence| evidence.draws)).sum()
    }

    /// The number of accuracy claims that were judged.
    #[must_use]
    pub fn accuracy_claims(&self) -> usize {
        self.audits.iter().map(|audit| audit.accuracy.len()).sum()
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
    /// What an audit found. The verdicts on its pairs depend on the whole audit: on its reach, and
    /// on its control.
    #[must_use]
    pub fn new(
        audit: Arc<Audit>,
        results: Vec<PairResult>,
        control: Option<ControlResult>,
    ) -> Self {
        let mut report = Self { audit, results, accuracy: Vec::new(), control, search: None };
        let Audit { ref claim, resolution, reach: ref asked, .. } = *report.audit;
        let (reach, asked_reach) = (report.reach(), asked.at_least());
        for evidence in report.results.iter_mut().filter_map(|result| result.outcome.as_mut().ok())
        {
            let Evidence { bounds, outputs_never_repeat, .. } = *evidence;
            let grounds = Grounds {
                claim: claim.clone(),
                bounds,
                outputs_never_repeat,
                reach,
                asked_reach,
                resolution,
                control,
            };
            evidence.verdict = Verdict::new(&grounds);
        }
        report
    }

    /// The same report with the results of its accuracy claims.
    #[must_use]
    pub fn with_accuracy(mut self, accuracy: Vec<AccuracyResult>) -> Self {
        self.accuracy = accuracy;
        self
    }

    /// The same report with what a search did.
    #[must_use]
    pub fn with_search(mut self, search: Option<Arc<SearchHistory>>) -> Self {
        self.search = search;
        self
    }

    /// The precision that the draws must have, so that a claim that is not refuted is consistent.
    /// See [`Verdict::new`].
    #[must_use]
    pub fn resolution_needed(&self) -> f64 {
        self.audit.resolution * self.reach().clamp(AskedReach::DEFAULT, 1.0)
    }

    /// How much of its claim the mechanism was seen to use: the reach of the best pair. Above 1 the
    /// claim is refuted.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.evidence()
            .map(|(_, evidence)| evidence.bounds.reach(&self.audit.claim))
            .fold(0.0, f64::max)
    }

    /// The pairs that could be run, with their evidence.
    pub fn evidence(&self) -> impl Iterator<Item = (&PairResult, &Evidence)> {
        self.results.iter().filter_map(|result| Some((result, result.outcome.as_ref().ok()?)))
    }

    /// The pairs that could not be run, and why.
    pub fn errors(&self) -> impl Iterator<Item = (&PairResult, &TargetError)> {
        self.results.iter().filter_map(|result| Some((result, result.outcome.as_ref().err()?)))
    }

    /// The most significant pair: the one with the largest ε bound or distance, among the refuted
    /// pairs if there are any.
    #[must_use]
    pub fn most_significant(&self) -> Option<(&PairResult, &Evidence)> {
        let weight = |evidence: &Evidence| {
            let Bounds { lower, epsilon_lower, .. } = evidence.bounds;
            (
                evidence.verdict == Verdict::Violated,
                if self.audit.claim.metric().is_some() { lower } else { epsilon_lower },
            )
        };
        // If several are equal, the first.
        self.evidence()
            .reduce(|best, next| if weight(next.1) > weight(best.1) { next } else { best })
    }

    /// The verdict on the mechanism: one pair that refutes the privacy claim is enough, and so is
    /// one accuracy claim that is refuted. `None` if none does and something could not be run.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        together(
            self.results
                .iter()
                .map(PairResult::verdict)
                .chain(self.accuracy.iter().map(AccuracyResult::verdict)),
        )
    }

    /// The verdict on the privacy claim alone.
    #[must_use]
    pub fn privacy_verdict(&self) -> Option<Verdict> {
        together(self.results.iter().map(PairResult::verdict))
    }

    /// The most significant accuracy claim: the one with the largest reach.
    #[must_use]
    pub fn worst_accuracy(&self) -> Option<&AccuracyResult> {
        // If several are equal, the first.
        self.accuracy
            .iter()
            .reduce(|worst, next| if next.reach() > worst.reach() { next } else { worst })
    }

    /// How one pair compares with its expectation. Pairs without their own expectation share the
    /// audit's: if a violation is expected, it is enough that one of these pairs shows it.
    #[must_use]
    pub fn agreement_of(&self, result: &PairResult) -> Agreement {
        let Ok(evidence) = &result.outcome else { return Agreement::NotRun };
        if result.truth.is_exceeded(evidence.bounds) {
            return Agreement::Differs;
        }
        match result.expect {
            Some(expected) => Agreement::new(evidence.verdict, expected),
            None => {
                let others = self.evidence().filter(|(other, _)| other.expect.is_none());
                let shared = Verdict::of_all(others.map(|(_, evidence)| evidence.verdict));
                Agreement::new(shared.unwrap_or(evidence.verdict), self.audit.expect)
            }
        }
    }

    /// How the audit compares with what was expected: the worst agreement of its pairs and accuracy
    /// claims.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        let pairs = self.results.iter().map(|result| self.agreement_of(result));
        pairs
            .chain(self.accuracy.iter().map(AccuracyResult::agreement))
            .fold(Agreement::Agrees, Agreement::worse)
    }
}

/// One verdict for several statements. What could not be run has none, and then there is none for
/// all, unless another statement is refuted.
fn together(verdicts: impl Iterator<Item = Option<Verdict>> + Clone) -> Option<Verdict> {
    let all = Verdict::of_all(verdicts.clone().flatten());
    all.filter(|all| {
        *all == Verdict::Violated || verdicts.into_iter().all(|verdict| verdict.is_some())
    })
}

impl PairResult {
    /// The result of a plan with this outcome.
    #[must_use]
    pub fn new(plan: &PairPlan, outcome: Result<Evidence, TargetError>, seconds: f64) -> Self {
        let pair = &plan.pair;
        let (left, right) = (pair.left.to_string(), pair.right.to_string());
        Self {
            pair: pair.name.clone(),
            left,
            right,
            expect: pair.expect,
            truth: pair.truth,
            outcome,
            seconds,
            timing: None,
        }
    }

    /// The verdict; `None` if the pair could not be run.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.outcome.as_ref().ok().map(|evidence| evidence.verdict)
    }

    /// The conclusion: the verdict, or that the pair could not be run.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        self.verdict().into()
    }

    /// Whether a bound is above a known truth.
    #[must_use]
    pub fn exceeds_truth(&self) -> bool {
        self.outcome.as_ref().is_ok_and(|evidence| self.truth.is_exceeded(evidence.bounds))
    }
}

impl Evidence {
    /// `max(0, δ_lower − δ)`: by how much the claimed δ is exceeded at least.
    #[must_use]
    pub fn delta_excess(&self, claim: &Claim) -> f64 {
        (self.bounds.delta_lower - claim.delta()).max(0.0)
    }

    /// The rule in words.
    #[must_use]
    pub fn rule_text(&self) -> String {
        if let Some([left, right]) = &self.outputs {
            return format!("{left} on left, {right} on right");
        }
        self.rule.as_ref().map_or_else(
            || "none: too few draws to learn one".to_owned(),
            |rule| rule.describe(&self.symbols),
        )
    }

    /// One sentence: how often the attacker guessed right, and what the claim allows. If the claim
    /// is not refuted, the sentence does not read as if it were.
    #[must_use]
    pub fn sentence(&self, claim: &Claim) -> String {
        if let Some(metric) = claim.metric() {
            // In full: an excess may be as small as a rounding error.
            return format!(
                "sees outputs at {metric} distance {}; the claim allows {}",
                self.bounds.lower,
                claim.main().value
            );
        }
        let guesses = self.tally.guesses() as f64;
        let draws = self.tally.draws() as f64;
        if guesses == 0.0 {
            return "made no guess".to_owned();
        }
        let right = self.tally.correct as f64 / guesses;
        let allowed = claim.main().allowed_right(guesses / draws.max(1.0), self.regions);
        let share = if guesses < draws {
            format!(" when answering on {} of the outputs", percent(guesses / draws))
        } else {
            String::new()
        };
        let groups = if self.by_groups {
            format!("; {GROUPS} show {}", self.bounds.in_unit(claim).unwrap_or_default())
        } else {
            String::new()
        };
        let chance = if self.verdict != Verdict::Violated && right > allowed {
            format!(", and {} cannot tell these apart", counted(self.tally.guesses(), "guess"))
        } else {
            String::new()
        };
        format!(
            "guessed right {} of the time{share}; {claim} allows {}{chance}{groups}",
            percent(right),
            percent(allowed)
        )
    }
}
