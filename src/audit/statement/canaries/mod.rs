//! Canaries: which of them were in the training data.
//!
//! Each of m canaries is put into the training data by its own fair coin. Scores say of each how much
//! it seems to have been in, and the surest guesses are judged. `stats/canary/` has the bounds.
//!
//! | file | |
//! |---|---|
//! | `scores.rs` | scores and coins, from a file or from the caller |
//! | `counts.rs` | guesses that somebody else has made |
//! | `assumptions.rs` | what would break the bounds, as far as it can be seen |
//! | `evidence.rs` | what was found |
//! | `explain.rs` | the same in plain words |
//! | `kind.rs` | what reports say about it |

mod assumptions;
mod counts;
mod evidence;
mod explain;
mod kind;
mod scores;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::audit::{Audit, Event, Listener, Pair, PairPlan};
use crate::catalogue::training;
use crate::model::{Dataset, Expectation, Settings, Side, Truth};
use crate::noise::Generator;
use crate::stats::canary::{Sides, Trial};
use crate::target::{PairStream, Phase, PrepareError, TargetError};

pub use counts::{CanaryCount, CanaryCounts};
pub use evidence::{CanaryCurves, CanaryEvidence, Rung};
pub(super) use explain::{explanation, stated};
pub use kind::CanaryStatement;
pub use scores::{CanaryScores, ScoredTrial};

/// What an audit states about training with canaries: that its claim holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Canaries {
    /// The name, unique among the statements of an audit.
    pub name: String,
    /// Where the scores come from.
    pub scores: ScoreSource,
    /// Which answers the guesses give.
    #[serde(default)]
    pub sides: Sides,
    /// Whether the user has stated that each canary has a coin of its own.
    #[serde(default)]
    pub independent_coins: bool,
    /// Whether the number of guesses was fixed before the scores were seen, if somebody else made them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fixed_guesses: bool,
    /// The expected verdict, if it differs from the audit's.
    #[serde(default)]
    pub expect: Option<Expectation>,
    /// The exact leakage, if it is known from theory.
    #[serde(default)]
    pub truth: Truth,
}

impl Canaries {
    /// Whether the audit's mechanism makes the scores.
    pub(crate) fn trains(&self) -> bool {
        matches!(self.scores, ScoreSource::Training(_))
    }

    /// The file that the scores are in, if they are in one.
    pub(super) fn file(&self) -> Option<&Path> {
        if let ScoreSource::File(path) = &self.scores { Some(path) } else { None }
    }
}

/// Where scores come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreSource {
    /// The caller has them.
    Given(Arc<CanaryScores>),
    /// The caller has nothing but counts of guesses. Nobody can check the coins.
    Counts(CanaryCounts),
    /// A CSV file, read where the plan runs.
    File(PathBuf),
    /// The audit's mechanism is trained.
    Training(TrainingPlan),
}

/// How a mechanism is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingPlan {
    /// Canaries in each run.
    pub canaries: u64,
    /// The runs.
    pub runs: u64,
    /// The steps of a run, if each has fresh coins. The claim is then about one step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
}

/// A canary audit with everything that its result depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CanaryPlan {
    /// What is stated.
    pub canaries: Canaries,
    /// Mechanism, claim, seed and level, as the plan of a pair has them. It has no data.
    pub pair: PairPlan,
}

impl CanaryPlan {
    /// The plan, in a run with `uncertain` statements that are decided by statistics.
    #[must_use]
    pub fn new(audit: &Audit, canaries: &Canaries, settings: Settings, uncertain: usize) -> Self {
        let pair = Pair {
            name: canaries.name.clone(),
            left: Dataset::default(),
            right: Dataset::default(),
            expect: None,
            truth: Truth::default(),
        };
        let mut pair = audit.plan(&pair, settings, uncertain);
        pair.draws = canaries.scores.draws();
        Self { canaries: canaries.clone(), pair }
    }
}

impl ScoreSource {
    /// The canaries of all runs, if they are known before the run.
    fn draws(&self) -> u64 {
        match self {
            Self::Given(scores) => scores.canaries(),
            Self::Counts(counts) => counts.canaries(),
            Self::File(_) => 0,
            Self::Training(TrainingPlan { canaries, runs, steps }) => {
                canaries.saturating_mul(*runs).saturating_mul(steps.unwrap_or(1))
            }
        }
    }
}

/// Gets the scores, makes the guesses and judges them.
pub(super) fn audit(
    plan: &CanaryPlan,
    listener: &dyn Listener,
) -> Result<CanaryEvidence, TargetError> {
    let CanaryPlan { canaries, pair } = plan;
    let unusable = |problem: String| TargetError::NotPrepared(PrepareError::Scores(problem));
    let in_file = |path: &PathBuf, problem| unusable(format!("{}: {problem}", path.display()));
    let stream = PairStream::new(pair.seed, &pair.audit, &pair.pair.name);
    let mut reproducible = true;
    if pair.claim.metric().is_some() {
        return Err(unusable(
            "canaries are about privacy, and the claim is about stability; state \
                             another claim"
                .to_owned(),
        ));
    }
    let (limit, alpha) = (pair.claim.main(), pair.level.whole());
    let judged = |counts: &CanaryCounts| {
        counts.check(limit).map_err(unusable)?;
        listener.hear(Event::Drawn { draws: counts.canaries() });
        Ok(CanaryEvidence::of_counts(counts, canaries.sides, limit, alpha))
    };
    let scores = match &canaries.scores {
        ScoreSource::Counts(counts) => return judged(counts),
        ScoreSource::Given(scores) => {
            assumptions::check(scores, canaries.independent_coins).map_err(unusable)?;
            Arc::clone(scores)
        }
        ScoreSource::File(path) => {
            let scores = CanaryScores::read(path).map_err(|problem| in_file(path, problem))?;
            assumptions::check(&scores, canaries.independent_coins)
                .map_err(|problem| in_file(path, problem))?;
            Arc::new(scores)
        }
        ScoreSource::Training(training) => {
            let (scores, seeded) = train(plan, *training, stream, listener)?;
            reproducible = seeded;
            // The coins are ours.
            assumptions::check(&scores, true).map_err(unusable)?;
            Arc::new(scores)
        }
    };
    if scores.guesses {
        let guesses = CanaryCounts::of_guesses(&scores, canaries.sides, canaries.fixed_guesses);
        return judged(&guesses.map_err(unusable)?);
    }
    // Ties are broken by a stream of its own.
    let mut rng = Generator::from_seed(stream.side(Phase::Certify, 0, Side::Right).bytes());
    let trials: Vec<Trial> = scores
        .trials
        .iter()
        .map(|trial| Trial::of_scores(&trial.scores, &trial.included, canaries.sides, &mut rng))
        .collect();
    if !matches!(canaries.scores, ScoreSource::Training(_)) {
        listener.hear(Event::Drawn { draws: scores.canaries() });
    }
    let evidence = CanaryEvidence::new(&scores, &trials, canaries.sides, limit, alpha);
    Ok(CanaryEvidence { reproducible, ..evidence })
}

/// Flips the coins and trains.
fn train(
    plan: &CanaryPlan,
    TrainingPlan { canaries, runs, steps }: TrainingPlan,
    stream: PairStream,
    listener: &dyn Listener,
) -> Result<(CanaryScores, bool), TargetError> {
    let training = training::prepare(&plan.pair.subject).map_err(TargetError::NotPrepared)?;
    let mut trials = Vec::new();
    for run in 0..runs {
        let mut rng = Generator::from_seed(stream.coin(Phase::Certify, run).bytes());
        let coins: Vec<Vec<bool>> = (0..steps.unwrap_or(1))
            .map(|_| (0..canaries).map(|_| rng.random()).collect())
            .collect();
        let seed = stream.side(Phase::Certify, run, Side::Left);
        let scores = training.train(&coins, seed)?;
        let shape = |lists: usize, length: usize| format!("{lists} × {length}");
        if scores.len() != coins.len()
            || scores.iter().zip(&coins).any(|(scores, coins)| scores.len() != coins.len())
        {
            let found = scores.first().map_or(0, Vec::len);
            return Err(TargetError::NotPrepared(PrepareError::Scores(format!(
                "run {}: {} scores were asked for, and the training returned {}; return one score \
                 for each coin",
                run + 1,
                shape(coins.len(), coins[0].len()),
                shape(scores.len(), found)
            ))));
        }
        for (step, (scores, coins)) in scores.into_iter().zip(coins).enumerate() {
            let step = steps.map_or_else(String::new, |_| format!(", step {}", step + 1));
            listener.hear(Event::Drawn { draws: coins.len() as u64 });
            trials.push(ScoredTrial::new(format!("run {}{step}", run + 1), scores, coins));
        }
    }
    let scores = CanaryScores { trials, steps: steps.is_some(), guesses: false };
    Ok((scores, training.reproducible()))
}
