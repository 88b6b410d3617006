//! Groups of outputs for a bound on a Rényi divergence.

use serde::{Deserialize, Serialize};

use crate::attack::answer::Answer;
use crate::attack::fit::order::{CALIBRATED, ORDERS, Order, shares};
use crate::attack::learner::View;
use crate::attack::rule::gain::gain;
use crate::attack::rule::guess::GuessRule;
use crate::attack::rule::score_bins::ScoreBins;
use crate::attack::tuning::moment::{ENDS, GROUPS};
use crate::model::{Measure, Tally};
use crate::stats::Moment;

/// Groups of outputs, and the rules that recognise them: each guesses D on its group and abstains
/// elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grouped {
    /// What is bounded.
    pub moment: Moment,
    /// A rule for each group.
    pub rules: Vec<GuessRule>,
    /// The bound to expect, in the unit of the claim.
    #[serde(with = "crate::model::exact::number")]
    pub promise: f64,
}

/// The groups with the largest expected bound on this measure, in `draws` draws at the level α.
/// None if a measure has no such bound.
pub fn select(
    candidates: &[ScoreBins],
    measure: &Measure,
    draws: f64,
    alpha: f64,
) -> Option<Grouped> {
    let predicted = candidates.iter().flat_map(|candidate| {
        let ratio = candidate.score().is_ratio();
        let orders: &[Order] = if ratio { &CALIBRATED } else { &ORDERS };
        orders.iter().map(move |order| (gain(candidate, *order), candidate, *order))
    });
    // The score and the curve that predict the side of a draw best.
    let (_, candidate, curve) =
        predicted.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let counts = candidate.counts();
    let logs: Vec<f64> = shares(candidate.bins(), &counts, curve)
        .iter()
        .map(|share| (share / (1.0 - share)).ln())
        .collect();
    let mut best: Option<(f64, Moment, Vec<usize>)> = None;
    for end in ENDS {
        let groups: Vec<usize> = logs.iter().map(|log| group_of(*log, end)).collect();
        let (tallies, ratios) = tallies(candidate, &logs, &groups);
        for order in measure.moment_orders() {
            let moment = Moment::new(order, ratios.clone(), &tallies, draws, alpha);
            let promise = measure.of_divergence(order, moment.promise(&tallies, draws, alpha));
            if best.as_ref().is_none_or(|best| promise > best.0) {
                best = Some((promise, moment, groups.clone()));
            }
        }
    }
    let (promise, moment, groups) = best?;
    let rule = |group: usize| {
        let answers: Vec<Answer> = groups
            .iter()
            .map(|of| if *of == group { Answer::Left } else { Answer::Abstain })
            .collect();
        GuessRule::new(candidate.score().clone(), candidate.bins(), &answers)
    };
    Some(Grouped { moment, rules: (0..GROUPS).map(rule).collect(), promise })
}

/// The group of a log-ratio: equal steps from `−end` to `end`.
fn group_of(log: f64, end: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    // between 0 and the number of groups
    let group =
        ((log + end) / (2.0 * end) * GROUPS as f64).clamp(0.0, GROUPS as f64 - 1.0) as usize;
    group
}

/// The hits of each group, and its log-ratio as the curve says.
fn tallies(candidate: &ScoreBins, logs: &[f64], groups: &[usize]) -> (Vec<Tally>, Vec<f64>) {
    let counts = candidate.counts();
    let mut tallies = [Tally::default(); GROUPS];
    let mut smoothed = [(0.0, 0.0); GROUPS];
    for (bin, group) in groups.iter().enumerate() {
        let (left, right) = (counts.left[bin], counts.right[bin]);
        tallies[*group].correct += left;
        tallies[*group].wrong += right;
        let share = 1.0 / (1.0 + (-logs[bin]).exp());
        let hits = (left + right) as f64;
        smoothed[*group] =
            (smoothed[*group].0 + hits * share, smoothed[*group].1 + hits * (1.0 - share));
    }
    let draws: u64 = tallies.iter().map(|tally| tally.correct + tally.wrong).sum();
    tallies.iter_mut().for_each(|tally| tally.abstained = draws - tally.correct - tally.wrong);
    let ratio = |(left, right): &(f64, f64)| {
        if *left > 0.0 && *right > 0.0 { (left / right).ln() } else { 0.0 }
    };
    (tallies.to_vec(), smoothed.iter().map(ratio).collect())
}
