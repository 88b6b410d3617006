//! The bound of a canary audit in the unit of its claim; what it can show at most; how many canaries
//! it needs.

use super::ladder::Ladder;
use super::planned::planned_guesses;
use super::several::several_lower;
use super::share::share_lower;
use super::{Counted, Sides, Trial};
use crate::model::{Limit, Measure};

/// A bound and the guesses that it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct CanaryBound {
    /// Every value up to this is refuted; 0 if none is.
    pub lower: f64,
    /// The guesses that count, and the right ones among them, summed over all runs. For a ladder,
    /// the size that shows most for itself.
    pub counted: Counted,
}

/// The bound of these runs, or of these steps with fresh coins, at level α.
///
/// Under a claim (ε, δ) the runs are pooled by rank and judged by the ladder. Under another claim a
/// planned number of guesses counts in each run.
#[must_use]
pub fn canary_bound(trials: &[Trial], limit: &Limit, alpha: f64) -> CanaryBound {
    if let Measure::Epsilon { delta } = limit.measure {
        let ladder = Ladder::new(&Trial::pooled(trials));
        let lower = ladder.epsilon_lower(delta, alpha, limit.value);
        let counted = best_rung(&ladder, delta, alpha);
        return CanaryBound { lower, counted };
    }
    let runs: Vec<Counted> = trials
        .iter()
        .map(|trial| trial.first(planned_guesses(trial.canaries(), trial.sides(), limit, alpha)))
        .collect();
    CanaryBound { lower: counted_bound(&runs, limit, alpha), counted: together(&runs) }
}

/// The bound of counts whose numbers of guesses were fixed beforehand, one for each run.
#[must_use]
pub fn counted_bound(runs: &[Counted], limit: &Limit, alpha: f64) -> f64 {
    match (&limit.measure, runs) {
        (Measure::Epsilon { delta }, _) => {
            Ladder::single(together(runs)).epsilon_lower(*delta, alpha, limit.value)
        }
        (_, [one]) => share_lower(*one, limit, alpha),
        _ => several_lower(runs, limit, alpha),
    }
}

/// The bound on ε of counts whose numbers of guesses the attacker decided from what was released.
#[must_use]
pub fn open_bound(runs: &[Counted], delta: f64, claimed: f64, alpha: f64) -> f64 {
    Ladder::open(together(runs)).epsilon_lower(delta, alpha, claimed)
}

/// The sums of several counts.
#[must_use]
pub fn together(runs: &[Counted]) -> Counted {
    runs.iter().fold(Counted { canaries: 0.0, guesses: 0, correct: 0 }, |all, run| Counted {
        canaries: all.canaries + run.canaries,
        guesses: all.guesses + run.guesses,
        correct: all.correct + run.correct,
    })
}

/// What each size would show for itself: a picture, and where the evidence is.
#[must_use]
pub fn rung_bounds(ladder: &Ladder, delta: f64, alpha: f64) -> Vec<(Counted, f64)> {
    let bound = |rung: Counted| Ladder::single(rung).epsilon_lower(delta, alpha, 1.0);
    ladder.rungs().map(|rung| (rung, bound(rung))).collect()
}

fn best_rung(ladder: &Ladder, delta: f64, alpha: f64) -> Counted {
    let rungs = rung_bounds(ladder, delta, alpha);
    let best = rungs.into_iter().reduce(|one, other| if other.1 > one.1 { other } else { one });
    best.map_or(Counted { canaries: 0.0, guesses: 0, correct: 0 }, |(rung, _)| rung)
}

/// The largest bound that `runs` runs with so many canaries each can show: all guesses are right.
#[must_use]
pub fn ceiling(canaries: u64, runs: usize, sides: Sides, limit: &Limit, alpha: f64) -> f64 {
    let all_right = |guesses: u64| Trial::of_counts(canaries, guesses, guesses, sides);
    if let Measure::Epsilon { delta } = limit.measure {
        let pooled = canaries * runs as u64;
        let counted = Trial::of_counts(pooled, pooled, pooled, sides);
        return Ladder::single(counted).epsilon_lower(delta, alpha, limit.value);
    }
    let guesses = planned_guesses(canaries, sides, limit, alpha);
    counted_bound(&vec![all_right(guesses); runs], limit, alpha)
}

/// How many canaries one run needs so that its ceiling lies above `value`, up to a tenth more;
/// `None` if 10^9 are not enough.
#[must_use]
pub fn needed_canaries(value: f64, sides: Sides, limit: &Limit, alpha: f64) -> Option<u64> {
    const STEP: f64 = 1.1;
    let mut canaries = 10.0_f64;
    while canaries < 1e9 {
        // A positive number below 10^9.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let whole = canaries.ceil() as u64;
        if ceiling(whole, 1, sides, limit, alpha) > value {
            return Some(whole);
        }
        canaries *= STEP;
    }
    None
}
