//! Rules for tails that a curve predicts.
//!
//! The pessimism of [`select`](super::select) keeps rules away from bins with few hits. But the
//! leaks of Gaussian noise, of long vectors and of sums of many ratios are in such bins. The
//! log-odds of a learned score are nearly a straight line, and those of noise with a density are
//! smooth. So a line or a stiff curve through all of them predicts the odds in a tail long before
//! the tail has many hits. From this the cut with the largest expected bound *on the certify draws*
//! can be computed. The hits are only used to check that they do not contradict the prediction.

use crate::attack::answer::Answer;
use crate::attack::fit::order::{CALIBRATED, Order};
use crate::attack::rule::gain::gain;
use crate::attack::rule::goal::{Caution, Goal};
use crate::attack::rule::ordered::OrderedBins;
use crate::attack::rule::score_bins::ScoreBins;
use crate::attack::tuning::tail::{CONTRADICTED, GAIN};
use crate::stats::Rates;

/// A rule for the tails of a score.
pub struct TailRule {
    /// An answer for each bin.
    pub answers: Vec<Answer>,
    /// What the curve promises.
    pub forecast: Rates,
    /// The pessimistic odds that the certify draws should show.
    pub value: f64,
    /// How well the curve predicts the side of a draw: the gain of log-likelihood per draw.
    pub gain: f64,
}

/// The rule with the largest promised value, unless the hits contradict it. `caution` is that of
/// the certify draws.
pub fn select(score_bins: &ScoreBins, goal: Goal, caution: Caution) -> Option<TailRule> {
    let (bins, all) = (score_bins.bins(), score_bins.counts());
    let (order, gain) = calibration(score_bins);
    let ordered = OrderedBins::new(bins, &all, order);
    let cut = ordered.best_cut(goal, caution);
    let (observed, promised) = cross_validated(score_bins, order, goal, caution);
    (!contradicts(observed, promised)).then(|| TailRule {
        answers: ordered.answers(cut),
        forecast: cut.rates,
        value: goal.value(cut.rates, cut.regions, caution),
        gain,
    })
}

/// The same procedure on all folds except one, for each fold: how many correct and wrong guesses
/// are observed on this fold, and how many are promised.
fn cross_validated(
    score_bins: &ScoreBins,
    order: Order,
    goal: Goal,
    caution: Caution,
) -> ((u64, u64), (f64, f64)) {
    let all = score_bins.counts();
    let (mut promised, mut observed) = ((0.0, 0.0), (0, 0));
    for fold in score_bins.folds() {
        let ordered = OrderedBins::new(score_bins.bins(), &all.without(fold), order);
        let cut = ordered.best_cut(goal, caution);
        let (draws, tally) = (fold.draws(), fold.tally(&ordered.answers(cut)));
        promised = (promised.0 + draws * cut.rates.correct, promised.1 + draws * cut.rates.wrong);
        observed = (observed.0 + tally.0, observed.1 + tally.1);
    }
    (observed, promised)
}

/// Whether the observed numbers of correct and wrong guesses are clearly worse than the promised
/// ones.
///
/// `ln(correct/wrong)` has the standard error `√(1/correct + 1/wrong)`.
fn contradicts(observed: (u64, u64), promised: (f64, f64)) -> bool {
    let (correct, wrong) = (observed.0 as f64 + 0.5, observed.1 as f64 + 0.5);
    (correct / wrong).ln() + CONTRADICTED * (1.0 / correct + 1.0 / wrong).sqrt()
        < (promised.0 / promised.1).ln()
}

/// The curve that best predicts the hits of the fold that was left out, and its gain of
/// log-likelihood per draw over no curve at all.
fn calibration(score_bins: &ScoreBins) -> (Order, f64) {
    let mut best = (f64::NEG_INFINITY, CALIBRATED[0]);
    for order in CALIBRATED {
        let gain = gain(score_bins, order);
        if gain > best.0 + GAIN / score_bins.draws() {
            best = (gain, order);
        }
    }
    (best.1, best.0)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::attack::learner::Score;
    use crate::model::Measure;
    use crate::noise::{Generator, gaussian};
    use crate::output::{Cell, Rows};

    /// The standard deviation of the scores. With means ±½·SPREAD² their log-ratio is the score
    /// itself.
    const SPREAD: f64 = 0.2;
    const ROWS: usize = 400_000;

    const PURE: Measure = Measure::Epsilon { delta: 0.0 };

    /// A million certify draws, and two standard errors.
    const CAUTION: Caution = Caution { draws: 1e6, z: 2.0 };

    fn score_bins(mut score: impl FnMut(f64) -> f64) -> ScoreBins {
        let mut rng = Generator::seed_from_u64(8);
        let mut side = |sign: f64| {
            let mut rows = Rows::new(1);
            (0..ROWS).for_each(|_| {
                rows.push(&[Cell::number(score(
                    sign * SPREAD * SPREAD / 2.0 + gaussian(&mut rng, SPREAD),
                ))]);
            });
            rows
        };
        let (left, right) = (side(1.0), side(-1.0));
        ScoreBins::new(Score::Output, &left, &right)
    }

    #[test]
    fn the_promise_of_a_calibrated_score_agrees_with_its_tails() {
        let score_bins = score_bins(|score| score);
        let rule = select(&score_bins, Goal::new(&PURE), CAUTION).expect("no contradiction");
        // The slope of the line is known up to 2/(√800,000 · 0.2) = 0.011. The tolerance is five
        // times this, plus five standard errors of the hits.
        let promised = (rule.forecast.correct / rule.forecast.wrong).ln();
        let (correct, wrong) = score_bins.counts().tally(&rule.answers);
        let (correct, wrong) = (correct as f64, wrong as f64);
        let chance = (1.0 / correct + 1.0 / wrong).sqrt();
        assert!(
            ((correct / wrong).ln() - promised).abs() < 5.0 * (0.011 * promised + chance),
            "{promised} against {correct}, {wrong}"
        );
        // It chooses the tails: at 2.5 standard deviations the ratio is e^0.5, and a thousandth of
        // the draws is enough to show it.
        assert!(promised > 2.0 * SPREAD, "{promised}");
        assert!(rule.answers.contains(&Answer::Left) && rule.answers.contains(&Answer::Right));
    }

    #[test]
    fn a_promise_that_the_hits_contradict_is_not_made() {
        // Beyond two standard deviations the sign of the score is flipped: there a line through the
        // middle would promise the opposite.
        let flipped = |score: f64| if score.abs() > 2.0 * SPREAD { -score } else { score };
        let score_bins = score_bins(flipped);
        if let Some(rule) = select(&score_bins, Goal::new(&PURE), CAUTION) {
            let promised = (rule.forecast.correct / rule.forecast.wrong).ln();
            let (correct, wrong) = score_bins.counts().tally(&rule.answers);
            let chance = (1.0 / (correct as f64 + 1.0) + 1.0 / (wrong as f64 + 1.0)).sqrt();
            assert!(
                (correct as f64 / wrong as f64).ln() > promised - 5.0 * chance,
                "{promised} against {correct}, {wrong}"
            );
        }
    }

    #[test]
    fn observed_and_promised_guesses_agree_with_the_distribution() {
        // Three quarters 1 and one quarter −1 from D, the opposite from D', in the same proportions
        // in every fold.
        let side = |often: f64| {
            let mut rows = Rows::new(1);
            (0..4000).for_each(|index| {
                rows.push(&[Cell::number(if index / 8 % 4 < 3 { often } else { -often })]);
            });
            rows
        };
        let score_bins = ScoreBins::new(Score::Output, &side(1.0), &side(-1.0));
        for order in CALIBRATED {
            let (observed, promised) =
                cross_validated(&score_bins, order, Goal::new(&PURE), CAUTION);
            assert_eq!(observed, (6000, 2000));
            // Curves are shrunk a little towards even odds.
            assert!(
                (promised.0 - 6000.0).abs() < 20.0 && (promised.1 - 2000.0).abs() < 20.0,
                "{order:?}: {promised:?}"
            );
        }
    }

    #[test]
    fn hits_contradict_a_promise_from_three_standard_errors_on() {
        // Half a hit is added to each count; then ln(c/w) has the variance 1/c + 1/w.
        for (correct, wrong) in [(100, 100), (300, 20), (7, 2), (0, 0)] {
            let (c, w) = (correct as f64 + 0.5, wrong as f64 + 0.5);
            let limit = (c / w).ln() + 3.0 * (1.0 / c + 1.0 / w).sqrt();
            for promise in [3.0, 400.0] {
                let promised = |log_odds: f64| (promise * log_odds.exp(), promise);
                assert!(
                    contradicts((correct, wrong), promised(limit + 1e-6)),
                    "{correct} and {wrong}"
                );
                assert!(
                    !contradicts((correct, wrong), promised(limit - 1e-6)),
                    "{correct} and {wrong}"
                );
            }
        }
    }

    #[test]
    fn a_curve_is_chosen_if_a_straight_line_does_not_fit() {
        let (order, gain) = calibration(&score_bins(|score| score));
        assert_eq!(order, Order::Calibrated(f64::INFINITY));
        // The mean log-ratio is SPREAD²/2, of which a fourth is the gain: for a small leak, ln 2
        // minus the entropy of the side is the mean square of half the log-ratio, divided by two.
        assert!((gain / (SPREAD * SPREAD / 8.0) - 1.0).abs() < 0.1, "{gain}");
        // Now the log-ratio grows like the cube root of the score: steep in the middle, flat
        // outside.
        let (order, _) = calibration(&score_bins(|score| (score / SPREAD).powi(3)));
        assert!(
            matches!(order, Order::Calibrated(stiffness) if stiffness.is_finite()),
            "{order:?}"
        );
    }
}
