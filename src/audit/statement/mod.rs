//! The kinds of statements that an audit makes about a mechanism: one folder a kind.
//!
//! | folder | what is claimed | how it is decided |
//! |---|---|---|
//! | `privacy/` | (ε, δ), μ, ρ, … on a pair of neighbours | rules are learned, frozen and judged |
//! | `stability/` | a distance of two outputs without noise | the outputs are compared exactly |
//! | `accuracy/` | the probability of an event on one dataset | failures are counted |
//! | `canaries/` | (ε, δ), μ, ρ, … of a training run | which canaries were in is guessed |
//!
//! Everything else asks. A run asks a [`Statement`] for its [`Plan`] and runs it. Reports, gates and
//! journals ask a [`Judged`](super::Judged) statement, which passes the question on to its [`Kind`]. Nothing
//! outside this folder matches on the kind.
//!
//! A new kind is a folder with an implementation of [`Kind`], a field of [`Audit`] for what its
//! files state, and its lines in the enums and the matches of this file. `row.rs` has the columns of
//! all kinds, `pair.rs` what the two kinds about pairs share, and `words.rs` how bounds are written.

mod accuracy;
mod canaries;
mod pair;
mod privacy;
mod row;
mod stability;
mod words;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{AcrossRuns, Audit, Listener, PairPlan, StatementResult, TargetSource};
use crate::model::{Bounds, Claim, ControlResult, Expectation, Metric, Settings, Verdict};
use crate::target::{PrepareError, Target, TargetError};

pub use accuracy::{Accuracy, AccuracyEvidence, AccuracyPlan};
pub use canaries::{
    Canaries, CanaryCount, CanaryCounts, CanaryCurves, CanaryEvidence, CanaryPlan, CanaryScores,
    Rung, ScoreSource, ScoredTrial, TrainingPlan,
};
pub use pair::PairStatement;
pub use privacy::{
    CertifyPart, Curves, Earlier, EvidencePath, Exploration, FrozenTally, Growth, LookTallies,
    PartsError, Piece, PrivacyEvidence, ProfilePoint, RuleJudgement, SimplestRule, WealthPoint,
    behaviour, certify_range, conclude, explore,
};
pub use row::{Row, as_expected};
pub use stability::StabilityEvidence;
pub use words::{capitalised, short};

/// Something that an audit states about its mechanism.
#[derive(Clone, Copy, Debug)]
pub enum Statement<'a> {
    /// A pair on which the mechanism is private.
    Privacy(PairStatement<'a>),
    /// A pair on which the outputs are close in this metric.
    Stability(PairStatement<'a>, Metric),
    /// An event that is probable.
    Accuracy(&'a Accuracy),
    /// Training with canaries that is private.
    Canaries(&'a Audit, &'a Canaries),
}

/// The plan of a statement, with everything that its result depends on: the unit of work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plan {
    /// Learn rules, freeze them and judge them.
    Privacy(PairPlan),
    /// Compare two outputs in this metric.
    Stability(PairPlan, Metric),
    /// Count failures.
    Accuracy(Box<AccuracyPlan>),
    /// Guess which canaries were in.
    Canaries(Box<CanaryPlan>),
}

/// What was found about a statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// About a privacy claim.
    Privacy(Box<PrivacyEvidence>),
    /// About a stability claim.
    Stability(StabilityEvidence),
    /// About an accuracy claim.
    Accuracy(AccuracyEvidence),
    /// About training with canaries.
    Canaries(Box<CanaryEvidence>),
}

/// What the other statements of an audit contribute to the verdict on one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Whole {
    /// The reach of the best statement about the audit's own claim.
    pub reach: f64,
    /// What became of the control; `None` if there is none.
    pub control: Option<ControlResult>,
}

/// A bound against a claim: `ε ≥ 1.2 of 1`.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// What is bounded.
    pub symbol: &'static str,
    /// It is at least this.
    pub lower: f64,
    /// It should be at most this.
    pub claimed: f64,
}

/// A cell of a table for people.
#[derive(Clone, Debug)]
pub struct TableCell {
    /// The title of its column.
    pub title: &'static str,
    /// Whether the column has numbers.
    pub is_number: bool,
    /// What it says.
    pub text: String,
}

impl TableCell {
    /// A number; empty if there is none.
    fn number(title: &'static str, value: Option<f64>) -> Self {
        let text = value.map_or_else(String::new, |value| value.to_string());
        Self { title, is_number: true, text }
    }

    fn text(title: &'static str, text: String) -> Self {
        Self { title, is_number: false, text }
    }
}

/// A picture of the evidence.
pub enum Picture<'a> {
    /// The outputs on both sides, with what the rule guesses.
    Outputs(&'a crate::attack::Distribution),
    /// The privacy profile against the claim.
    Profile(&'a Curves, &'a Claim, Bounds),
    /// The growth of the evidence, and whether it refutes the claim.
    Wealth(&'a Curves, bool),
    /// The growth of the evidence from run to run.
    AcrossRuns(&'a AcrossRuns),
    /// The true against the false positives of canaries, the claim, and the bounds.
    Roc(&'a CanaryCurves, &'a Claim, Bounds),
    /// The bound of each number of guesses about canaries, the claimed value, and the bound of all.
    Rungs(&'a CanaryCurves, f64, f64),
    /// The scores of canaries that were in and out.
    Scores(&'a CanaryCurves),
}

/// How a result compares with its claim on a bar.
#[derive(Clone, Debug)]
pub struct Scale {
    /// How much of the claim was seen.
    pub reach: f64,
    /// How much of it is estimated.
    pub estimate: f64,
    /// How much of it the audit asks for.
    pub asked: f64,
    /// The bounds: symbol, number, and the claim behind it.
    pub shown: Vec<(String, String, String)>,
}

/// Something that people can act on.
#[derive(Clone, Debug)]
pub struct Clue {
    /// A word in the margin.
    pub margin: &'static str,
    /// What it is.
    pub title: &'static str,
    /// The text, without a full stop.
    pub text: String,
}

impl Clue {
    /// The word in the margin of an example output.
    pub const EXAMPLE: &'static str = "E.g.:";
    /// The word in the margin of the simplest rule.
    pub const SIMPLEST: &'static str = "Or:";
}

/// What people read about a statement. Fronts choose what they show and add nothing.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// What is claimed: `ε = 1`.
    pub claim: String,
    /// Who sees what the sentence says, if anybody does: "attacker".
    pub observer: Option<&'static str>,
    /// What was seen.
    pub sentence: String,
    /// What the observer looks at: a title, and a rule or outputs.
    pub rule: Option<(&'static str, String)>,
    /// What people can act on, beside the rule.
    pub clues: Vec<Clue>,
    /// The bounds in one line.
    pub bounds: String,
    /// What was measured, for people who do not know dp-audit: `its ε is at least 2`.
    pub measured: String,
    /// The truth that the audit file states, in front of a colon.
    pub truth: String,
    /// That the evidence contradicts that truth, if it does.
    pub truth_excluded: &'static str,
    /// On which data it was measured, and what was seen there.
    pub circumstances: String,
    /// What to do about a refuted claim.
    pub after_refutation: &'static str,
    /// The same for people who do not know dp-audit.
    pub remedy: String,
    /// What to do about a claim that was expected to be refuted and was not.
    pub after_survival: &'static str,
}

/// What a statement of some kind answers. What was found is absent while nothing was run, and where
/// the mechanism could not be run.
pub trait Kind {
    /// What one is called.
    fn noun(&self) -> &'static str {
        "pair"
    }
    /// The list of the JSON report that has it, and the table of an audit file that states it.
    fn list(&self) -> [&'static str; 2] {
        ["pairs", "pair"]
    }
    /// Whether it is about the audit's own claim. Such statements share reach, control and
    /// expectation.
    fn is_about_claim(&self) -> bool {
        true
    }
    /// The verdict that is expected of it alone.
    fn expected(&self) -> Option<Expectation>;

    /// The verdict; `None` without evidence.
    fn verdict(&self, whole: Whole) -> Option<Verdict>;
    /// How much of the claim was seen.
    fn reach(&self) -> Option<f64>;
    /// What decides which statement is the most significant one.
    fn weight(&self) -> f64;
    /// Whether the evidence contradicts a truth that the audit file states.
    fn contradicts_truth(&self) -> bool;
    /// About how many draws an inconclusive result needs; `None` if more draws alone are not known
    /// to help.
    fn needed_draws(&self, verdict: Verdict, whole: Whole) -> Option<u64>;

    /// Fills its columns.
    fn columns(&self, row: &mut Row);
    /// The columns that CI servers show.
    fn properties(&self) -> &'static [&'static str];
    /// Its cells in a table of statements with the same noun.
    fn cells(&self, row: &Row) -> Vec<TableCell>;
    /// What the JSON report has besides the columns.
    fn details(&self) -> serde_json::Map<String, serde_json::Value>;

    /// The strongest bound against the claim.
    fn shown(&self) -> Option<Shown>;
    /// What people read.
    fn words(&self) -> Words;
    /// The verdict in words, and what it rests on.
    fn meaning(&self, verdict: Verdict, confidence: &str) -> [String; 2];
    /// What a claim that is not refuted could have hidden: from which excess on it would have been
    /// caught. `None` if that is not known, or if nothing can be missed.
    fn missed(&self) -> Option<String> {
        None
    }
    /// The facts about what is stated and found, as names and values.
    fn facts(&self) -> Vec<(&'static str, String)>;
    /// The result on a bar.
    fn scale(&self) -> Option<Scale>;
    /// The pictures.
    fn pictures(&self) -> Vec<Picture<'_>> {
        Vec::new()
    }
}

/// The lists of the JSON report, in order, each with the table of an audit file that states what is
/// in it. Each kind names [its own](Kind::list).
pub const LISTS: [[&str; 2]; 3] =
    [["pairs", "pair"], ["accuracy", "accuracy"], ["canaries", "canaries"]];

impl Audit {
    /// What it states, in order: about its own claim on pairs, about accuracy, about canaries.
    pub fn statements(&self) -> impl Iterator<Item = Statement<'_>> {
        (0..self.statement_count()).filter_map(|index| self.statement(index))
    }

    /// The statement with this index.
    #[must_use]
    pub fn statement(&self, index: usize) -> Option<Statement<'_>> {
        let Some(pair) = self.pairs.get(index) else {
            let index = index - self.pairs.len();
            if let Some(accuracy) = self.accuracy.get(index) {
                return Some(Statement::Accuracy(accuracy));
            }
            let canaries = self.canaries.get(index - self.accuracy.len())?;
            return Some(Statement::Canaries(self, canaries));
        };
        let statement = PairStatement { audit: self, pair };
        Some(match self.claim.metric() {
            Some(metric) => Statement::Stability(statement, metric),
            None => Statement::Privacy(statement),
        })
    }

    /// The number of its statements.
    #[must_use]
    pub fn statement_count(&self) -> usize {
        self.pairs.len() + self.accuracy.len() + self.canaries.len()
    }

    /// What it states besides its own claim.
    pub fn statements_beside_claim(&self) -> impl Iterator<Item = Statement<'_>> {
        self.statements().filter(|statement| !statement.kind(None).is_about_claim())
    }

    /// Leaves out what it states besides its own claim.
    pub fn keep_own_claim(&mut self) {
        self.accuracy.clear();
    }

    /// Leaves out what the same mechanism with other parameters says nothing about: what is stated
    /// besides the claim, and scores that were made before.
    pub(super) fn keep_for_control(&mut self) {
        self.keep_own_claim();
        self.canaries.retain(Canaries::trains);
    }

    /// The files with outcomes that its statements read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.canaries.iter().filter_map(Canaries::file)
    }

    /// What it claims, how that is decided and what a verdict would mean, as titles and texts.
    #[must_use]
    pub fn explanation(&self) -> Vec<(&'static str, String)> {
        let mut paragraphs = match self.claim.metric() {
            _ if !self.is_about_claim() => Vec::new(),
            Some(_) => stability::explanation(self),
            None => privacy::explanation(self),
        };
        paragraphs.extend(accuracy::explanation(self));
        paragraphs.extend(canaries::explanation(self));
        paragraphs
    }

    /// How many of them are decided by statistics: the run's confidence is divided over those of
    /// all audits. What is reserved for a search counts, whatever it finds.
    #[must_use]
    pub fn uncertain_statements(&self) -> usize {
        let reserved = if self.claim.metric().is_some() { 0 } else { self.reserved };
        self.statements().filter(|statement| statement.is_uncertain()).count() + reserved
    }

    /// Whether it audits its claim: on pairs, given or to be searched, or with canaries. Without any
    /// of them the claim means nothing.
    #[must_use]
    pub fn is_about_claim(&self) -> bool {
        !self.pairs.is_empty() || self.search.is_some() || !self.canaries.is_empty()
    }

    /// The plans of its statements, in a run with `uncertain` statements that are decided by
    /// statistics. The run's confidence is divided over all of them.
    pub fn plans(&self, settings: Settings, uncertain: usize) -> impl Iterator<Item = Plan> {
        self.statements().map(move |statement| statement.plan(self, settings, uncertain))
    }

    /// Leaves out the statements whose name does not pass.
    pub fn retain(&mut self, passes: impl Fn(&str) -> bool) {
        self.pairs.retain(|pair| passes(&pair.name));
        self.accuracy.retain(|accuracy| passes(&accuracy.name));
        self.canaries.retain(|canaries| passes(&canaries.name));
    }
}

impl<'a> Statement<'a> {
    /// Its name, unique in its audit.
    #[must_use]
    pub fn name(self) -> &'a str {
        match self {
            Self::Privacy(statement) | Self::Stability(statement, _) => &statement.pair.name,
            Self::Accuracy(accuracy) => &accuracy.name,
            Self::Canaries(_, canaries) => &canaries.name,
        }
    }

    /// What an audit file states about it, as keys and values.
    #[must_use]
    pub fn stated(self) -> Vec<(&'static str, String)> {
        match self {
            Self::Privacy(statement) | Self::Stability(statement, _) => statement.stated(),
            Self::Accuracy(accuracy) => accuracy.stated(),
            Self::Canaries(audit, canaries) => canaries::stated(audit, canaries),
        }
    }

    /// Whether it is decided by statistics, and needs a share of the run's α.
    #[must_use]
    pub fn is_uncertain(self) -> bool {
        !matches!(self, Self::Stability(..))
    }

    /// Its plan, in a run with `uncertain` statements that are decided by statistics.
    #[must_use]
    pub fn plan(self, audit: &Audit, settings: Settings, uncertain: usize) -> Plan {
        match self {
            Self::Privacy(statement) | Self::Stability(statement, _) => {
                Plan::of_claim(audit.plan(statement.pair, settings, uncertain))
            }
            Self::Accuracy(accuracy) => {
                Plan::Accuracy(Box::new(AccuracyPlan::new(audit, accuracy, settings, uncertain)))
            }
            Self::Canaries(_, canaries) => {
                Plan::Canaries(Box::new(CanaryPlan::new(audit, canaries, settings, uncertain)))
            }
        }
    }

    /// What it answers about this evidence. The evidence of another kind is none.
    #[must_use]
    pub fn kind(self, evidence: Option<&'a Evidence>) -> Box<dyn Kind + 'a> {
        match self {
            Self::Privacy(statement) => {
                let evidence = evidence.and_then(Evidence::privacy);
                Box::new(privacy::Privacy { statement, evidence })
            }
            Self::Stability(statement, metric) => {
                let evidence = evidence.and_then(Evidence::stability);
                Box::new(stability::Stability { statement, metric, evidence })
            }
            Self::Accuracy(accuracy) => {
                let evidence = evidence.and_then(Evidence::accuracy);
                Box::new(accuracy::AccuracyStatement { accuracy, evidence })
            }
            Self::Canaries(audit, canaries) => {
                let evidence = evidence.and_then(Evidence::canaries);
                Box::new(canaries::CanaryStatement { audit, canaries, evidence })
            }
        }
    }
}

impl Plan {
    /// The plan of a statement about the claim of the audit.
    #[must_use]
    pub fn of_claim(pair: PairPlan) -> Self {
        match pair.claim.metric() {
            Some(metric) => Self::Stability(pair, metric),
            None => Self::Privacy(pair),
        }
    }

    /// The name of the statement.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.pair().pair.name
    }

    /// What makes the outputs.
    #[must_use]
    pub fn pair(&self) -> &PairPlan {
        match self {
            Self::Privacy(pair) | Self::Stability(pair, _) => pair,
            Self::Accuracy(plan) => &plan.pair,
            Self::Canaries(plan) => &plan.pair,
        }
    }

    /// The same, to change it.
    pub fn pair_mut(&mut self) -> &mut PairPlan {
        match self {
            Self::Privacy(pair) | Self::Stability(pair, _) => pair,
            Self::Accuracy(plan) => &mut plan.pair,
            Self::Canaries(plan) => &mut plan.pair,
        }
    }

    /// The draws that it may make.
    #[must_use]
    pub fn draws(&self) -> u64 {
        match self {
            Self::Stability(..) => stability::EVALUATIONS_OF_PAIR,
            Self::Privacy(_) | Self::Accuracy(_) | Self::Canaries(_) => self.pair().draws,
        }
    }

    /// Whether nothing about its result is left to chance.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        matches!(self, Self::Stability(..))
    }

    /// Its plan as one whose draws can be divided into parts, if they can.
    #[must_use]
    pub fn divisible(&self) -> Option<&PairPlan> {
        match self {
            Self::Privacy(pair) => pair.divisible_batches().map(|_| pair),
            _ => None,
        }
    }

    /// Audits the statement on the rayon pool that it is called in. The result depends only on the
    /// plan and the target.
    pub fn run(&self, target: &dyn Target, listener: &dyn Listener) -> StatementResult {
        let started = std::time::Instant::now();
        let outcome = match self {
            Self::Privacy(pair) => privacy::audit(pair, target, listener)
                .map(|evidence| Evidence::Privacy(Box::new(evidence))),
            Self::Stability(pair, metric) => {
                stability::compare(pair, *metric, target).map(Evidence::Stability)
            }
            Self::Accuracy(plan) => accuracy::judge(plan, target, listener).map(Evidence::Accuracy),
            // Scores are no draws of a target.
            Self::Canaries(plan) => canaries::audit(plan, listener)
                .map(|evidence| Evidence::Canaries(Box::new(evidence))),
        };
        target.close();
        StatementResult {
            timing: target.timing(),
            ..StatementResult::new(self, outcome, started.elapsed().as_secs_f64())
        }
    }

    /// Makes its target and audits it. Canaries need none.
    pub fn prepare_and_run(
        &self,
        source: &dyn TargetSource,
        listener: &dyn Listener,
    ) -> StatementResult {
        if let Self::Canaries(plan) = self {
            let started = std::time::Instant::now();
            let outcome = canaries::audit(plan, listener)
                .map(|evidence| Evidence::Canaries(Box::new(evidence)));
            return StatementResult::new(self, outcome, started.elapsed().as_secs_f64());
        }
        self.run_prepared(source.target(self.pair()), listener)
    }

    /// Audits its target, if that could be made.
    pub fn run_prepared(
        &self,
        target: Result<Box<dyn Target>, PrepareError>,
        listener: &dyn Listener,
    ) -> StatementResult {
        match target {
            Ok(target) => self.run(target.as_ref(), listener),
            Err(error) => StatementResult::new(self, Err(TargetError::NotPrepared(error)), 0.0),
        }
    }

    /// Whether this evidence refutes the claim. Evidence of another kind does not.
    #[must_use]
    pub fn refuted_by(&self, evidence: &Evidence) -> bool {
        match (self, evidence) {
            (Self::Privacy(pair), Evidence::Privacy(evidence)) => {
                evidence.bounds.refute(&pair.claim)
            }
            (Self::Stability(pair, _), Evidence::Stability(evidence)) => {
                evidence.distance > pair.claim.main().value
            }
            (Self::Accuracy(plan), Evidence::Accuracy(evidence)) => {
                plan.accuracy.claim.verdict(evidence.limits) == Verdict::Violated
            }
            (Self::Canaries(plan), Evidence::Canaries(evidence)) => {
                evidence.bounds.refute(&plan.pair.claim)
            }
            _ => false,
        }
    }

    /// Checks what can be known of evidence without making its draws again.
    ///
    /// # Errors
    /// When it cannot be the evidence of this plan.
    pub fn check(&self, evidence: &Evidence) -> Result<(), String> {
        match (self, evidence) {
            (Self::Privacy(pair), Evidence::Privacy(evidence)) => evidence.check(pair),
            (Self::Stability(..), Evidence::Stability(_)) => Ok(()),
            (Self::Accuracy(plan), Evidence::Accuracy(evidence)) => evidence.check(plan),
            (Self::Canaries(_), Evidence::Canaries(evidence)) => evidence.check(),
            _ => Err("it is the evidence of another kind of statement".to_owned()),
        }
    }
}

impl Evidence {
    /// All draws.
    #[must_use]
    pub fn draws(&self) -> u64 {
        match self {
            Self::Privacy(evidence) => evidence.draws,
            Self::Stability(evidence) => evidence.draws,
            Self::Accuracy(evidence) => evidence.draws,
            Self::Canaries(evidence) => evidence.canaries,
        }
    }

    /// What is bounded, in the unit of the claim, is at least this.
    #[must_use]
    pub fn lower(&self) -> f64 {
        match self {
            Self::Privacy(evidence) => evidence.bounds.lower,
            Self::Stability(evidence) => evidence.distance,
            Self::Accuracy(evidence) => evidence.limits.lower,
            Self::Canaries(evidence) => evidence.bounds.lower,
        }
    }

    /// Whether the same seed gives the same result. A program may ignore its seeds.
    #[must_use]
    pub fn reproducible(&self) -> bool {
        match self {
            Self::Privacy(evidence) => evidence.reproducible,
            Self::Stability(evidence) => evidence.reproducible,
            Self::Accuracy(evidence) => evidence.reproducible,
            Self::Canaries(evidence) => evidence.reproducible,
        }
    }

    /// A note about the draws for the reader of a report.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Privacy(evidence) => evidence.note.as_deref(),
            Self::Stability(evidence) => evidence.note.as_deref(),
            Self::Accuracy(evidence) => evidence.note.as_deref(),
            Self::Canaries(evidence) => evidence.note.as_deref(),
        }
    }

    /// The evidence about a privacy claim, if it is that.
    #[must_use]
    pub fn privacy(&self) -> Option<&PrivacyEvidence> {
        if let Self::Privacy(evidence) = self { Some(evidence) } else { None }
    }

    /// The evidence about a stability claim, if it is that.
    #[must_use]
    pub fn stability(&self) -> Option<&StabilityEvidence> {
        if let Self::Stability(evidence) = self { Some(evidence) } else { None }
    }

    /// The evidence about an accuracy claim, if it is that.
    #[must_use]
    pub fn accuracy(&self) -> Option<&AccuracyEvidence> {
        if let Self::Accuracy(evidence) = self { Some(evidence) } else { None }
    }

    /// The evidence about training with canaries, if it is that.
    #[must_use]
    pub fn canaries(&self) -> Option<&CanaryEvidence> {
        if let Self::Canaries(evidence) = self { Some(evidence) } else { None }
    }
}
