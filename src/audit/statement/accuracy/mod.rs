//! Accuracy: an event is probable on one dataset.
//!
//! An accuracy claim is about one dataset. The mechanism is prepared as for a pair whose two sides
//! are this dataset, so the draws of both sides have the same distribution and all of them count.
//! Their number is fixed in advance.

mod explain;

use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(super) use explain::explanation;

use super::row::{Row, lower, upper};
use super::words::rounded;
use super::{Kind, Scale, Shown, TableCell, Whole, Words};
use crate::audit::advice::more;
use crate::audit::time_limit::PairClock;
use crate::audit::{Audit, Event, Listener, Pair, PairPlan};
use crate::model::checked::Share;
use crate::model::number::{Brief, counted, grouped, percent};
use crate::model::{
    AccuracyClaim, Dataset, Expectation, FailureLimits, Settings, Truth, Until, Verdict,
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

/// The evidence on an accuracy claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccuracyEvidence {
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

impl AccuracyPlan {
    /// The plan of a claim, in a run with `uncertain` statements that are decided by statistics.
    #[must_use]
    pub fn new(audit: &Audit, accuracy: &Accuracy, settings: Settings, uncertain: usize) -> Self {
        let Accuracy { name, data, .. } = accuracy.clone();
        let pair =
            Pair { name, left: data.clone(), right: data, expect: None, truth: Truth::default() };
        let mut pair = audit.plan(&pair, settings, uncertain);
        pair.draws = settings.draws.or(accuracy.draws).unwrap_or_else(|| audit.budget(settings));
        pair.view = accuracy.event.view();
        Self { accuracy: accuracy.clone(), pair }
    }
}

impl AccuracyEvidence {
    /// Checks what can be known without making the draws again.
    pub(super) fn check(&self, plan: &AccuracyPlan) -> Result<(), String> {
        plan.pair.check_draws(self.draws)?;
        let limits = failure_limits(self.failures, self.draws, plan.pair.level.whole());
        let claim = plan.accuracy.claim;
        if self.failures > self.draws || claim.verdict(self.limits) != claim.verdict(limits) {
            return Err("its figures contradict each other".to_owned());
        }
        Ok(())
    }
}

/// Counts the draws that are not in the event.
pub(super) fn judge(
    plan: &AccuracyPlan,
    target: &dyn Target,
    listener: &dyn Listener,
) -> Result<AccuracyEvidence, TargetError> {
    let (event, pair) = (&plan.accuracy.event, &plan.pair);
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

/// An accuracy claim and what was found about it.
pub struct AccuracyStatement<'a> {
    /// The claim.
    pub accuracy: &'a Accuracy,
    /// The evidence, if there is any.
    pub evidence: Option<&'a AccuracyEvidence>,
}

impl AccuracyStatement<'_> {
    /// How often the event failed, and what is allowed.
    fn sentence(&self) -> Option<String> {
        let (Accuracy { event, claim, .. }, evidence) = (self.accuracy, self.evidence?);
        Some(format!(
            "“{event}” fails in {} of {}, so with probability {}, and {} is allowed",
            grouped(evidence.failures),
            counted(evidence.draws, "draw"),
            evidence.limits,
            Brief(claim.allowed()),
        ))
    }

    fn explanation(&self, verdict: Option<Verdict>) -> String {
        let claim = self.accuracy.claim;
        match verdict {
            Some(Verdict::Violated) => format!(
                "The claim is refuted: its event fails more often than {}.",
                percent(claim.allowed())
            ),
            Some(Verdict::Consistent) => format!(
                "The claim holds, as far as it was asked: its event does not fail more often than \
                 {}.",
                percent(claim.noticed())
            ),
            Some(Verdict::Inconclusive(reason)) => format!(
                "Neither refuted nor confirmed ({reason}): the event may fail more often than {}; \
                 use more draws, or ask for a wider resolution.",
                percent(claim.noticed())
            ),
            None => "The claim was not judged.".to_owned(),
        }
    }
}

impl Kind for AccuracyStatement<'_> {
    fn noun(&self) -> &'static str {
        "accuracy claim"
    }

    fn list(&self) -> [&'static str; 2] {
        ["accuracy", "accuracy"]
    }

    fn is_about_claim(&self) -> bool {
        false
    }

    fn expected(&self) -> Option<Expectation> {
        Some(self.accuracy.expect)
    }

    fn verdict(&self, _: Whole) -> Option<Verdict> {
        Some(self.accuracy.claim.verdict(self.evidence?.limits))
    }

    fn reach(&self) -> Option<f64> {
        Some(self.accuracy.claim.reach(self.evidence?.limits))
    }

    fn weight(&self) -> f64 {
        self.reach().unwrap_or(0.0)
    }

    fn contradicts_truth(&self) -> bool {
        let known = self.accuracy.truth.zip(self.evidence);
        known.is_some_and(|(truth, evidence)| AccuracyClaim::excludes(truth, evidence.limits))
    }

    /// Below what should be noticed, the upper limit must come closer to the observed frequency;
    /// above what is allowed, the lower limit.
    fn needed_draws(&self, verdict: Verdict, _: Whole) -> Option<u64> {
        let (claim, evidence) = (self.accuracy.claim, self.evidence?);
        verdict.reason()?;
        let seen = evidence.failures as f64 / evidence.draws.max(1) as f64;
        let below = (evidence.limits.upper - seen) / (claim.noticed() - seen).max(0.0);
        let above = (seen - evidence.limits.lower) / (seen - claim.allowed()).max(0.0);
        let factor = below.min(above);
        factor.is_finite().then(|| more(evidence.draws, factor))
    }

    fn columns(&self, row: &mut Row) {
        let (Accuracy { event, claim, truth, .. }, evidence) = (self.accuracy, self.evidence);
        row.accuracy_event = Some(event.to_string());
        row.left = Some(self.accuracy.data.brief());
        row.accuracy_probability = Some(claim.probability.get());
        row.accuracy_truth = truth.map(Share::get);
        row.failures = evidence.map(|evidence| evidence.failures);
        row.failure_lower = evidence.map(|evidence| lower(evidence.limits.lower).0);
        row.failure_upper = evidence.map(|evidence| upper(evidence.limits.upper).0);
    }

    fn properties(&self) -> &'static [&'static str] {
        &[
            "accuracy_event",
            "accuracy_probability",
            "failures",
            "failure_lower",
            "failure_upper",
            "reach",
            "draws",
        ]
    }

    fn cells(&self, row: &Row) -> Vec<TableCell> {
        let allowed = Brief(self.accuracy.claim.allowed()).to_string();
        vec![
            TableCell::text("event", row.accuracy_event.clone().unwrap_or_default()),
            TableCell::number("probability ≥", row.accuracy_probability),
            TableCell { title: "may fail", is_number: true, text: allowed },
            TableCell::number("fails ≥", row.failure_lower),
            TableCell::number("fails ≤", row.failure_upper),
            TableCell::number("reach", row.reach.map(|value| value.0)),
        ]
    }

    fn details(&self) -> Map<String, Value> {
        let verdict = self.verdict(Whole::default());
        Map::from_iter([
            ("data".to_owned(), json!(self.accuracy.data.to_string())),
            ("source".to_owned(), json!(self.accuracy.source)),
            ("sentence".to_owned(), json!(self.sentence())),
            ("meaning".to_owned(), json!(self.explanation(verdict))),
        ])
    }

    fn shown(&self) -> Option<Shown> {
        let (lower, claimed) = (self.evidence?.limits.lower, self.accuracy.claim.allowed());
        Some(Shown { symbol: "fails", lower, claimed })
    }

    fn words(&self) -> Words {
        let Accuracy { name, event, claim, .. } = self.accuracy;
        let sentence = self.sentence().unwrap_or_default();
        Words {
            claim: format!(
                "accuracy (“{name}”): “{event}” with probability at least {}",
                Brief(claim.probability.get())
            ),
            observer: None,
            rule: None,
            clues: Vec::new(),
            bounds: sentence.clone(),
            measured: self.evidence.map_or_else(String::new, |evidence| {
                format!("it fails with probability {}", evidence.limits)
            }),
            truth: "What was measured excludes the truth that the audit file states".to_owned(),
            truth_excluded: "The limits exclude the truth that the audit file states",
            circumstances: format!("Measured: {sentence}."),
            sentence,
            after_refutation: "look at the draws that are not in the event; check the noise scale \
                               and the constants of the theorem; another --seed makes other draws",
            remedy: "make the mechanism more accurate, or claim less. If this is known, write \
                     expect = \"violated\" under this [[accuracy]]."
                .to_owned(),
            after_survival: "if the mechanism or the claim was corrected, state expect = \
                             \"consistent\"",
        }
    }

    fn meaning(&self, verdict: Verdict, _: &str) -> [String; 2] {
        let sentence = self.sentence().unwrap_or_default();
        [self.explanation(Some(verdict)), super::capitalised(&sentence)]
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let Accuracy { data, event, claim, expect, truth, source, .. } = self.accuracy;
        let mut facts = vec![
            (
                "accuracy claim",
                format!("{event}, with probability at least {}", Brief(claim.probability.get())),
            ),
            ("data", data.to_string()),
            ("expected", expect.to_string()),
        ];
        if let Some(evidence) = self.evidence {
            facts.push((
                "failure probability",
                format!("{}; {} is allowed", evidence.limits, Brief(claim.allowed())),
            ));
            facts.push((
                "failures",
                format!("{} of {}", grouped(evidence.failures), counted(evidence.draws, "draw")),
            ));
        }
        facts.extend(truth.map(Share::get).map(|truth| ("exact probability", truth.to_string())));
        facts.extend(source.clone().map(|source| ("source", source)));
        facts
    }

    fn scale(&self) -> Option<Scale> {
        let (lower, allowed) = (self.evidence?.limits.lower, self.accuracy.claim.allowed());
        let reach = self.reach()?;
        let shown = vec![(
            "fails ≥ ".to_owned(),
            rounded(lower, 4, allowed),
            format!(", allowed {}", Brief(allowed)),
        )];
        Some(Scale { reach, estimate: reach, asked: 0.0, shown })
    }
}
