//! How well a score predicts the side of a draw.
//!
//! The gain of log-likelihood uses all draws, so it compares scores far more precisely than a bound
//! does, which rests on a few bins. Scores that are computed from many components follow chance
//! where there is nothing to find. They are tried only if they predict clearly better than all
//! simpler ones.

use rayon::prelude::*;

use crate::attack::fit::order::{CALIBRATED, ORDERS, Order, log_likelihood, shares};
use crate::attack::learner::View;
use crate::attack::rule::score_bins::ScoreBins;
use crate::attack::tuning::gain::{CHANCE, CLEARLY};

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

/// Removes late scores that do not predict clearly better than all others.
pub fn drop_late(candidates: Vec<ScoreBins>) -> Vec<ScoreBins> {
    if !candidates.iter().any(|candidate| candidate.score().is_late()) {
        return candidates;
    }
    let best = |candidate: &ScoreBins| {
        let orders: &[Order] = if candidate.score().is_ratio() { &CALIBRATED } else { &ORDERS };
        orders.iter().map(|order| gain(candidate, *order)).fold(0.0, f64::max)
    };
    let gains: Vec<f64> = candidates.par_iter().map(best).collect();
    let simple = candidates
        .iter()
        .zip(&gains)
        .filter(|(candidate, _)| !candidate.score().is_late())
        .map(|(_, gain)| *gain)
        .fold(0.0, f64::max);
    let keeps = |candidate: &ScoreBins, gain: f64| {
        !candidate.score().is_late() || gain > CLEARLY * simple + CHANCE / candidate.draws()
    };
    candidates
        .into_iter()
        .zip(gains)
        .filter(|(candidate, gain)| keeps(candidate, *gain))
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
            drop_late(candidates.into())
                .iter()
                .map(|candidate| candidate.score().clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(rows(400.0, 0.0)), [Score::Output]);
        assert_eq!(kept(rows(0.0, 0.37)), [Score::Output, Score::Fraction(Fraction(0))]);
    }
}
