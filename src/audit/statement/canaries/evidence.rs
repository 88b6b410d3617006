//! What a canary audit found: bound, ceiling, power, and what pictures need.

use serde::{Deserialize, Serialize};

use super::counts::CanaryCounts;
use super::scores::{CanaryScores, ScoredTrial};
use crate::model::{Bounds, Limit, Measure};
use crate::stats::binomial::{logistic, solve};
use crate::stats::canary::{
    CanaryBound, Counted, Curve, Ladder, Sides, Trial, canary_bound, ceiling, count_p,
    counted_bound, open_bound, rung_bounds, share_p, together,
};

/// A leak counts as detectable if it is flagged with this probability.
const POWER: f64 = 0.9;

/// Bins of the histogram of scores.
const BINS: usize = 48;

/// Points of a ROC curve, about.
const ROC_POINTS: usize = 96;

/// The evidence of a canary audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CanaryEvidence {
    /// All canaries of all runs.
    pub canaries: u64,
    /// The runs, or steps with fresh coins.
    pub runs: u64,
    /// The guesses that the bound rests on most, summed over the runs.
    pub guesses: u64,
    /// How many of them are right.
    pub correct: u64,
    /// The bounds. Nothing is known about δ, unless the claim is about δ alone (ε = 0).
    pub bounds: Bounds,
    /// The bound if all guesses were right.
    #[serde(with = "crate::model::exact::number")]
    pub ceiling: f64,
    /// What pictures need.
    pub curves: CanaryCurves,
    /// Whether the same seed gives the same result.
    pub reproducible: bool,
    /// A note for the reader of a report.
    pub note: Option<String>,
}

/// What pictures need.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CanaryCurves {
    /// Rates of false and of true positives, from the highest score down.
    pub roc: Vec<(f64, f64)>,
    /// What each number of guesses shows for itself; empty for claims other than (ε, δ).
    pub rungs: Vec<Rung>,
    /// The ends of the histogram.
    pub ends: (f64, f64),
    /// The canaries that were in, in bins of equal width.
    pub inside: Vec<u64>,
    /// Those that were out.
    pub outside: Vec<u64>,
}

/// A number of guesses and what it shows for itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The guesses.
    pub guesses: u64,
    /// The right ones.
    pub correct: u64,
    /// The ε that they show at the whole level.
    pub lower: f64,
}

impl CanaryEvidence {
    /// Judges the guesses about these scores at level α.
    pub(super) fn new(
        scores: &CanaryScores,
        trials: &[Trial],
        sides: Sides,
        limit: &Limit,
        alpha: f64,
    ) -> Self {
        let found = canary_bound(trials, limit, alpha);
        let runs = trials.len().max(1);
        let each = trials.iter().map(Trial::canaries).max().unwrap_or(0);
        let ceiling = ceiling(each, runs, sides, limit, alpha);
        let curves = CanaryCurves::new(&scores.trials, trials, limit, alpha);
        Self::found(found, scores.canaries(), runs, ceiling, curves, limit, alpha)
    }

    /// Judges counts of guesses at level α.
    pub(super) fn of_counts(
        counts: &CanaryCounts,
        sides: Sides,
        limit: &Limit,
        alpha: f64,
    ) -> Self {
        let runs = counts.counted(sides);
        let bound = |runs: &[Counted]| match limit.measure {
            Measure::Epsilon { delta } if !counts.is_fixed() => {
                open_bound(runs, delta, limit.value, alpha)
            }
            _ => counted_bound(runs, limit, alpha),
        };
        let all_right: Vec<Counted> =
            runs.iter().map(|run| Counted { correct: run.guesses, ..*run }).collect();
        let (lower, counted) = (bound(&runs), together(&runs));
        let rung = Rung { guesses: counted.guesses, correct: counted.correct, lower };
        let in_epsilon = matches!(limit.measure, Measure::Epsilon { .. });
        let curves = CanaryCurves {
            rungs: if in_epsilon { vec![rung] } else { Vec::new() },
            ..CanaryCurves::default()
        };
        let found = CanaryBound { lower, counted };
        let ceiling = bound(&all_right);
        Self::found(found, counts.canaries(), runs.len(), ceiling, curves, limit, alpha)
    }

    fn found(
        CanaryBound { lower, counted }: CanaryBound,
        canaries: u64,
        runs: usize,
        ceiling: f64,
        curves: CanaryCurves,
        limit: &Limit,
        alpha: f64,
    ) -> Self {
        let (detectable, resolved) = power(counted, limit, alpha);
        let in_epsilon = matches!(limit.measure, Measure::Epsilon { .. });
        let in_delta = matches!(limit.measure, Measure::Delta { .. });
        let bounds = Bounds {
            lower,
            epsilon_lower: if in_epsilon { lower } else { 0.0 },
            delta_lower: if in_delta { lower } else { 0.0 },
            detectable,
            resolved,
        };
        Self {
            canaries,
            runs: runs as u64,
            guesses: counted.guesses,
            correct: counted.correct,
            bounds,
            ceiling: ceiling.max(lower),
            curves,
            reproducible: true,
            note: None,
        }
    }

    /// Checks what can be known without the scores.
    pub(in crate::audit::statement) fn check(&self) -> Result<(), String> {
        if self.correct > self.guesses
            || self.guesses > self.canaries
            || self.bounds.lower > self.ceiling
        {
            return Err("its figures contradict each other".to_owned());
        }
        Ok(())
    }
}

/// From which value on a leak of the same shape is flagged with probability 0.9; and by how much
/// these guesses must show more than the claim for that. As if they were one run with this number of
/// guesses, each right or wrong for itself.
fn power(counted: Counted, limit: &Limit, alpha: f64) -> (f64, f64) {
    let Counted { canaries, guesses, correct } = counted;
    let curve = Curve::new(limit);
    let refuted = |correct: u64| {
        let counted = Counted { correct, ..counted };
        match (&limit.measure, &curve) {
            (Measure::Epsilon { delta }, _) => count_p(counted, limit.value, *delta) <= alpha,
            (_, Some(curve)) => share_p(counted, curve) <= alpha,
            _ => false,
        }
    };
    if guesses == 0 || !refuted(guesses) {
        return (f64::INFINITY, f64::INFINITY);
    }
    let (mut low, mut high) = (0, guesses);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if refuted(middle) { high = middle } else { low = middle }
    }
    // What guesses show of which this share is right.
    let shown = |share: f64| {
        let right = guesses as f64 * share / canaries;
        limit.measure.of(right, guesses as f64 / canaries - right, 2)
    };
    let needed = shown(logistic(solve(high, guesses, POWER)));
    let share = correct as f64 / guesses as f64;
    let error = (share * (1.0 - share) / guesses as f64).sqrt().max(0.5 / guesses as f64);
    let seen = shown(share - error);
    let detectable =
        if seen > 0.0 { limit.value * (needed / seen).max(1.0) } else { f64::INFINITY };
    (detectable, needed - limit.value)
}

impl CanaryCurves {
    fn new(scored: &[ScoredTrial], trials: &[Trial], limit: &Limit, alpha: f64) -> Self {
        let rungs = match limit.measure {
            Measure::Epsilon { delta } => {
                rung_bounds(&Ladder::new(&Trial::pooled(trials)), delta, alpha)
                    .into_iter()
                    .map(|(counted, lower)| Rung {
                        guesses: counted.guesses,
                        correct: counted.correct,
                        lower,
                    })
                    .collect()
            }
            _ => Vec::new(),
        };
        let (ends, inside, outside) = histogram(scored);
        Self { roc: roc(scored), rungs, ends, inside, outside }
    }
}

/// The curve of all runs together, ordered by rank within each run.
fn roc(scored: &[ScoredTrial]) -> Vec<(f64, f64)> {
    let mut ranked: Vec<(f64, bool)> = Vec::new();
    for trial in scored {
        let mut sorted = trial.scores.clone();
        sorted.sort_by(f64::total_cmp);
        let below = |score: f64| sorted.partition_point(|other| *other < score);
        ranked.extend(
            trial
                .scores
                .iter()
                .zip(&trial.included)
                .map(|(score, coin)| (below(*score) as f64 / sorted.len().max(1) as f64, *coin)),
        );
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let inside = ranked.iter().filter(|(_, coin)| *coin).count().max(1) as f64;
    let outside = (ranked.len() as f64 - inside).max(1.0);
    let (mut points, mut hits, mut alarms, mut next) = (Vec::new(), 0.0, 0.0, 1.0_f64);
    // The points are close together at both ends, which are what a logarithmic scale shows.
    let ratio = (ranked.len().max(2) as f64).powf(2.0 / ROC_POINTS as f64).max(1.02);
    for (index, group) in ranked.chunk_by(|a, b| a.0 == b.0).enumerate() {
        hits += group.iter().filter(|(_, coin)| *coin).count() as f64;
        alarms += group.iter().filter(|(_, coin)| !*coin).count() as f64;
        if hits + alarms >= next || index == 0 {
            points.push((alarms / outside, hits / inside));
            next = ((hits + alarms) * ratio).max(hits + alarms + 1.0);
        }
    }
    points.push((1.0, 1.0));
    points.dedup();
    points
}

/// The scores without their outermost two hundredths, which are in the last bins.
fn histogram(scored: &[ScoredTrial]) -> ((f64, f64), Vec<u64>, Vec<u64>) {
    let mut all: Vec<f64> = scored.iter().flat_map(|trial| trial.scores.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let (mut inside, mut outside) = (vec![0; BINS], vec![0; BINS]);
    let Some(last) = all.len().checked_sub(1) else { return ((0.0, 1.0), inside, outside) };
    let (low, high) = (all[last / 100], all[last - last / 100]);
    let (low, high) = if high > low { (low, high) } else { (low - 0.5, low + 0.5) };
    for trial in scored {
        for (score, coin) in trial.scores.iter().zip(&trial.included) {
            let place = ((score - low) / (high - low) * BINS as f64).clamp(0.0, BINS as f64 - 1.0);
            // A small number that is not negative.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let bin = place as usize;
            if *coin { inside[bin] += 1 } else { outside[bin] += 1 }
        }
    }
    ((low, high), inside, outside)
}
