//! How well a score predicts the side of a draw.
//!
//! The gain of log-likelihood uses all draws, so it compares scores far more precisely than a bound
//! does, which rests on a few bins. Scores that are computed from many components follow chance
//! where there is nothing to find. They are tried only if they predict clearly better than all
//! simpler ones, or if they exceed the claim by themselves: a leak in few draws adds hardly anything
//! to the likelihood of all draws.

use rayon::prelude::*;

use crate::attack::answer::Answer;
use crate::attack::fit::order::{CALIBRATED, ORDERS, Order, log_likelihood, shares};
use crate::attack::learner::View;
use crate::attack::rule::score_bins::ScoreBins;
use crate::attack::tuning::gain::{CHANCE, CLEARLY, EXCEEDS, REFUTES};
use crate::model::{Claim, Limit, Measure};

/// The gain of log-likelihood per draw of predictions in this order, over predictions that do not
/// look at the score. Each fold is predicted from the others.
pub fn gain(score_bins: &ScoreBins, order: Order) -> f64 {
    let all = score_bins.counts();
    let predicted: f64 = score_bins
        .folds()
        .iter()
        .map(|fold| log_likelihood(&shares(score_bins.bins(), &all.without(fold), order), fold))
        .sum();
    let left = all.left.iter().sum::<u64>() as f64 / all.draws().max(1.0);
    let none = log_likelihood(&vec![left; score_bins.bins().len()], &all);
    (predicted - none) / all.draws().max(1.0)
}

/// By how many standard errors a score exceeds the claim `P(S) ≤ e^ε·P'(S) + δ`, if the bins that do
/// so are chosen on three folds and judged on the fourth. The claim is the limit of δ at ε.
///
/// With `a` of `n` draws correct and `b` wrong, `a − e^ε·b − n·δ` has a variance of at most
/// `a + e^{2ε}·b`.
fn excess(score_bins: &ScoreBins, odds: f64, delta: f64) -> f64 {
    let all = score_bins.counts();
    let error = |hits: f64, others: f64| (hits + odds * odds * (others + 1.0)).sqrt();
    let exceeds = |hits: u64, others: u64| {
        let (hits, others) = (hits as f64, others as f64);
        hits - odds * others > EXCEEDS * error(hits, others)
    };
    let (mut correct, mut wrong) = (0, 0);
    for fold in score_bins.folds() {
        let others = all.without(fold);
        let answer = |(left, right): (&u64, &u64)| match () {
            () if exceeds(*left, *right) => Answer::Left,
            () if exceeds(*right, *left) => Answer::Right,
            () => Answer::Abstain,
        };
        let answers: Vec<Answer> = others.left.iter().zip(&others.right).map(answer).collect();
        let tally = fold.tally(&answers);
        (correct, wrong) = (correct + tally.0, wrong + tally.1);
    }
    let (correct, wrong) = (correct as f64, wrong as f64);
    (correct - odds * wrong - delta * all.draws()) / error(correct, wrong)
}

/// Removes late scores that neither predict clearly better than all others nor exceed the claim
/// more clearly than all others. If the components are `alike`, scores that prefer some of them are
/// late too.
pub fn drop_late(candidates: Vec<ScoreBins>, claim: &Claim, alike: bool) -> Vec<ScoreBins> {
    let is_late = |candidate: &ScoreBins| {
        candidate.score().is_late() || alike && !candidate.score().is_symmetric()
    };
    if !candidates.iter().any(is_late) {
        return candidates;
    }
    let best = |candidate: &ScoreBins| {
        let orders: &[Order] = if candidate.score().is_ratio() { &CALIBRATED } else { &ORDERS };
        orders.iter().map(|order| gain(candidate, *order)).fold(0.0, f64::max)
    };
    let gains: Vec<f64> = candidates.par_iter().map(best).collect();
    let excesses: Vec<f64> = match claim.second() {
        Some(Limit { measure: Measure::Delta { epsilon }, value }) => candidates
            .par_iter()
            .map(|candidate| excess(candidate, epsilon.exp(), *value))
            .collect(),
        _ => vec![0.0; candidates.len()],
    };
    let simple = |values: &[f64]| {
        let of_simple = candidates.iter().zip(values);
        of_simple
            .filter(|(candidate, _)| !is_late(candidate))
            .map(|(_, value)| *value)
            .fold(0.0, f64::max)
    };
    let (gain_of_simple, excess_of_simple) = (simple(&gains), simple(&excesses));
    let keeps = |candidate: &ScoreBins, gain: f64, excess: f64| {
        !is_late(candidate)
            || gain > CLEARLY * gain_of_simple + CHANCE / candidate.draws()
            || excess > REFUTES.0 + REFUTES.1 * excess_of_simple
    };
    candidates
        .into_iter()
        .zip(gains.into_iter().zip(excesses))
        .filter(|(candidate, (gain, excess))| keeps(candidate, *gain, *excess))
        .map(|(candidate, _)| candidate)
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::attack::learner::Score;
    use crate::attack::learner::fraction::Fraction;
    use crate::noise::{Generator, gaussian};
    use crate::output::{Cell, Rows};

    /// Outputs with two components. The first is Gaussian and differs by `shift`; the second is a
    /// number below one, plus the side's own whole number times `whole`.
    fn rows(shift: f64, fraction: f64) -> (Rows, Rows) {
        let mut rng = Generator::seed_from_u64(5);
        let mut side = |shift: f64, fraction: f64| {
            let mut rows = Rows::new(1);
            (0..20_000).for_each(|_| {
                rows.push(&[Cell::number((gaussian(&mut rng, 1000.0) + shift).round() + fraction)]);
            });
            rows
        };
        (side(0.0, 0.0), side(shift, fraction))
    }

    #[test]
    fn the_gain_is_the_information_about_the_side() {
        // Shifted by 0.4 standard deviations, the log-ratio has variance 0.16 and the gain is an
        // eighth of it, to first order.
        let (left, right) = rows(400.0, 0.0);
        let found = gain(&ScoreBins::new(Score::Output, &left, &right), Order::Falling);
        assert!((found / (0.16 / 8.0) - 1.0).abs() < 0.15, "{found}");
    }

    #[test]
    fn a_late_score_stays_only_if_it_predicts_better() {
        let kept = |(left, right): (Rows, Rows)| {
            let candidates = [Score::Output, Score::Fraction(Fraction(0))]
                .map(|score| ScoreBins::new(score, &left, &right));
            drop_late(candidates.into(), &toml::from_str("epsilon = 1.0").unwrap(), false)
                .iter()
                .map(|candidate| candidate.score().clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(rows(400.0, 0.0)), [Score::Output]);
        assert_eq!(kept(rows(0.0, 0.37)), [Score::Output, Score::Fraction(Fraction(0))]);
    }
}
