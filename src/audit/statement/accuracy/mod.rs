//! Accuracy claims: plan → run → result.
//!
//! An accuracy claim is about one dataset. The mechanism is prepared as for a pair whose two sides
//! are this dataset, so the draws of both sides have the same distribution and all of them count.
//! Their number is fixed in advance.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::stability::EVALUATIONS_OF_PAIR;
use super::time_limit::PairClock;
use super::{Audit, Event, Listener, Pair, PairPlan, TargetSource};
use crate::model::checked::Share;
use crate::model::number::{Brief, counted, grouped, percent};
use crate::model::{
    AccuracyClaim, Agreement, Conclusion, Dataset, Expectation, FailureLimits, Settings, Truth,
    Until, Verdict,
};
use crate::output::OutputEvent;
use crate::sample::{Sampler, Schedule};
use crate::stats::failure_limits;
use crate::target::{PairStream, Phase, PrepareError, Subject, Target, TargetError};

/// A claim about the accuracy of a mechanism on one dataset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The name, unique among the pairs and accuracy claims of an audit.
    pub name: String,
    /// The dataset.
    pub data: Dataset,
    /// What the output should be.
    pub event: OutputEvent,
    /// How probable that is.
    pub claim: AccuracyClaim,
    /// The expected verdict.
    #[serde(default)]
    pub expect: Expectation,
    /// The exact probability of the event, if it is known from theory.
    #[serde(default)]
    pub truth: Option<Share>,
    /// Where the claim is made.
    #[serde(default)]
    pub source: Option<String>,
    /// The draws, if they differ from those of the audit.
    #[serde(default)]
    pub draws: Option<u64>,
}

/// One accuracy claim of an audit, with everything that its result depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccuracyPlan {
    /// The claim.
    pub accuracy: Accuracy,
    /// What makes the outputs: a plan of the dataset with itself. Its number of draws and its level
    /// are those of the claim.
    pub pair: PairPlan,
}

/// What was found about an accuracy claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccuracyResult {
    /// What is claimed.
    pub accuracy: Accuracy,
    /// The evidence, or why the mechanism could not be run.
    pub outcome: Result<AccuracyEvidence, TargetError>,
    /// How long it took.
    pub seconds: f64,
}

/// The evidence on an accuracy claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccuracyEvidence {
    /// The verdict.
    pub verdict: Verdict,
    /// All draws.
    pub draws: u64,
    /// How many of them are not in the event.
    pub failures: u64,
    /// The limits of the failure probability.
    pub limits: FailureLimits,
    /// Whether the same seed gives the same result. A program may ignore its seeds.
    pub reproducible: bool,
    /// A note about the draws for the reader of a report.
    pub note: Option<String>,
}

impl Audit {
    /// The number of its pairs and accuracy claims.
    #[must_use]
    pub fn statements(&self) -> usize {
        self.pairs.len() + self.accuracy.len()
    }

    /// How many of them are decided by statistics: the run's confidence is divided over those of
    /// all audits. Pairs of a stability claim are compared exactly. What is reserved for a search
    /// counts, whatever it finds.
    #[must_use]
    pub fn uncertain_statements(&self) -> usize {
        self.accuracy.len()
            + if self.claim.metric().is_some() { 0 } else { self.pairs.len() + self.reserved }
    }

    /// Whether it audits a claim about pairs: about privacy or stability. Without pairs, given or
    /// to be searched, its claim means nothing.
    #[must_use]
    pub fn is_about_pairs(&self) -> bool {
        !self.pairs.is_empty() || self.search.is_some()
    }

    /// All draws that it may make.
    #[must_use]
    pub fn all_draws(&self, settings: Settings) -> u64 {
        let accuracy = self.accuracy.iter().map(|accuracy| self.accuracy_draws(accuracy, settings));
        let of_pair =
            if self.claim.metric().is_some() { EVALUATIONS_OF_PAIR } else { self.budget(settings) };
        accuracy.fold(of_pair.saturating_mul(self.pairs.len() as u64), u64::saturating_add)
    }

    /// The draws of an accuracy claim.
    fn accuracy_draws(&self, accuracy: &Accuracy, settings: Settings) -> u64 {
        settings.draws.or(accuracy.draws).unwrap_or_else(|| self.budget(settings))
    }

    /// The plans of its accuracy claims, in a run with `statements` pairs and accuracy claims that
    /// are decided by statistics.
    pub fn accuracy_plans(
        &self,
        settings: Settings,
        statements: usize,
    ) -> impl Iterator<Item = AccuracyPlan> {
        self.accuracy.iter().map(move |accuracy| {
            let Accuracy { name, data, .. } = accuracy.clone();
            let pair = Pair {
                name,
                left: data.clone(),
                right: data,
                expect: None,
                truth: Truth::default(),
            };
            let mut pair = self.plan(&pair, settings, statements);
            pair.draws = self.accuracy_draws(accuracy, settings);
            pair.view = accuracy.event.view();
            AccuracyPlan { accuracy: accuracy.clone(), pair }
        })
    }
}

/// Makes the target of a plan and judges the claim.
pub fn prepare_and_judge(
    plan: &AccuracyPlan,
    source: &dyn TargetSource,
    listener: &(impl Listener + ?Sized),
) -> AccuracyResult {
    match source.target(&plan.pair) {
        Ok(target) => run_accuracy(plan, target.as_ref(), listener),
        Err(error) => AccuracyResult {
            accuracy: plan.accuracy.clone(),
            outcome: Err(TargetError::NotPrepared(error)),
            seconds: 0.0,
        },
    }
}

/// Judges one accuracy claim on the rayon pool that it is called in. The result depends only on the
/// plan and the target.
pub fn run_accuracy(
    plan: &AccuracyPlan,
    target: &dyn Target,
    listener: &(impl Listener + ?Sized),
) -> AccuracyResult {
    let started = Instant::now();
    let outcome = judge(plan, target, listener);
    target.close();
    AccuracyResult {
        accuracy: plan.accuracy.clone(),
        outcome,
        seconds: started.elapsed().as_secs_f64(),
    }
}

fn judge(
    plan: &AccuracyPlan,
    target: &dyn Target,
    listener: &(impl Listener + ?Sized),
) -> Result<AccuracyEvidence, TargetError> {
    let (Accuracy { event, claim, .. }, pair) = (&plan.accuracy, &plan.pair);
    let drawn = |draws| listener.hear(Event::Drawn { draws });
    let stream = PairStream::new(pair.seed, &pair.audit, &pair.pair.name);
    let mut clock = PairClock::start(pair.max_seconds, Until::Budget);
    let mut sampler = Sampler::open(target, stream, Phase::Accuracy, &drawn)?;
    let exact = !matches!(pair.subject, Subject::Program { .. });
    event
        .check(sampler.width(), exact)
        .map_err(|problem| TargetError::NotPrepared(PrepareError::Event(problem)))?;
    let draws = if pair.max_seconds.is_some() {
        draws_in_time(&mut clock, target, stream, pair.draws)?
    } else {
        pair.draws
    };
    if draws < pair.draws {
        listener.hear(Event::Cut { draws: pair.draws - draws });
    }
    let failures = sampler.fold(
        draws,
        || 0_u64,
        |failures, _, rows| *failures += rows.iter().filter(|row| !event.has(row)).count() as u64,
        |all, more| *all += more,
    )?;
    sampler.check_independence()?;
    let limits = failure_limits(failures, draws, pair.level.whole());
    Ok(AccuracyEvidence {
        verdict: claim.verdict(limits),
        draws,
        failures,
        limits,
        reproducible: target.reproducible(),
        note: clock
            .note(draws, pair.draws, true)
            .into_iter()
            .chain(target.note())
            .reduce(|cut, note| format!("{cut}; {note}")),
    })
}

/// How many draws there is time for. The speed is measured with draws that are not judged, so the
/// number does not depend on those that are.
fn draws_in_time(
    clock: &mut PairClock,
    target: &dyn Target,
    stream: PairStream,
    planned: u64,
) -> Result<u64, TargetError> {
    clock.open(target.timing(), rayon::current_num_threads());
    let mut pilot = Sampler::open(target, stream, Phase::Explore, &|_| ())?;
    for round in clock.rounds(&Schedule::new(planned)) {
        if !clock.allows_round(round) {
            break;
        }
        let begun = Instant::now();
        pilot.fold(round, || (), |(), _, _| (), |(), ()| ())?;
        clock.drew(round, begun.elapsed());
    }
    Ok(clock.certify(planned))
}

impl AccuracyResult {
    /// The conclusion: the verdict, or that the mechanism could not be run.
    #[must_use]
    pub fn conclusion(&self) -> Conclusion {
        self.verdict().into()
    }

    /// The verdict; None if the mechanism could not be run.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.outcome.as_ref().ok().map(|evidence| evidence.verdict)
    }

    /// Whether the limits exclude a known truth.
    #[must_use]
    pub fn excludes_truth(&self) -> bool {
        let truth = self.accuracy.truth.zip(self.outcome.as_ref().ok());
        truth.is_some_and(|(truth, evidence)| AccuracyClaim::excludes(truth, evidence.limits))
    }

    /// How it compares with what was expected.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        match self.verdict() {
            None => Agreement::NotRun,
            Some(_) if self.excludes_truth() => Agreement::Differs,
            Some(verdict) => Agreement::new(verdict, self.accuracy.expect),
        }
    }

    /// How much of the allowed failures was seen; None if the mechanism could not be run.
    #[must_use]
    pub fn reach(&self) -> Option<f64> {
        self.outcome.as_ref().ok().map(|evidence| self.accuracy.claim.reach(evidence.limits))
    }

    /// One sentence: how often the event failed, and what is allowed. If the mechanism could not be
    /// run, why.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Accuracy { event, claim, .. } = &self.accuracy;
        match &self.outcome {
            Ok(evidence) => format!(
                "“{event}” fails in {} of {}, so with probability {}, and {} is allowed",
                grouped(evidence.failures),
                counted(evidence.draws, "draw"),
                evidence.limits,
                Brief(claim.allowed()),
            ),
            Err(error) => format!("could not be run: {error}"),
        }
    }

    /// What the verdict means.
    #[must_use]
    pub fn meaning(&self) -> String {
        let claim = self.accuracy.claim;
        match self.verdict() {
            Some(Verdict::Violated) => format!(
                "The claim is refuted: its event fails more often than {}.",
                percent(claim.allowed())
            ),
            Some(Verdict::Consistent) => {
                format!(
                    "The claim holds, as far as it was asked: its event does not fail more often than {}.",
                    percent(claim.noticed())
                )
            }
            Some(Verdict::Inconclusive(reason)) => format!(
                "Neither refuted nor confirmed ({reason}): the event may fail more often than {}; use more draws, or ask for a wider resolution.",
                percent(claim.noticed())
            ),
            None => "The claim was not judged.".to_owned(),
        }
    }
}
