//! Rules for the tails of learned scores.
//!
//! All the pessimism of [`select`](super::select) keeps rules away from bins with few hits, and there the leaks of long vectors and sums of many ratios lie.
//! A learned score is a log-ratio up to calibration, so a ordered or a stiff curve through all of its log-odds tells what a tail is worth long before its own hits do. The cut
//! that promises the largest bound *on the draws to come* is then a matter of arithmetic, and hits are only asked whether they contradict it.

use crate::attack::answer::Answer;
use crate::attack::fit::order::{CALIBRATED, Order, log_likelihood, shares};
use crate::attack::rule::goal::{Caution, Goal, Odds};
use crate::attack::rule::ordered::OrderedBins;
use crate::attack::rule::score_bins::ScoreBins;
use crate::stats::wealth::Forecast;

/// So much log-likelihood must a more flexible curve gain.
const GAIN: f64 = 3.0;

/// Hits this many standard errors below the promise contradict it.
const CONTRADICTED: f64 = 3.0;

/// A rule that a calibrated score promises much of.
pub struct TailRule {
    /// An answer for each bin.
    pub answers: Vec<Answer>,
    /// What the curve promises.
    pub forecast: Forecast,
    /// The odds that the draws to come should show, on the safe side.
    pub value: f64,
}

/// The rule with the largest promise, unless hits contradict it. `caution` is about the draws that it will be certified on.
pub fn select(score_bins: &ScoreBins, delta: f64, caution: Caution) -> Option<TailRule> {
    let (bins, goal, all) = (score_bins.bins(), Goal::Epsilon { delta }, score_bins.counts());
    let order = calibration(score_bins);
    let ordered = OrderedBins::new(bins, &all, order);
    let cut = ordered.best_cut(goal, caution);
    let Odds { correct, wrong, .. } = cut.odds;
    let forecast = Forecast { correct, wrong, draws: all.draws() };
    let (shown, promised) = tried(score_bins, order, goal, caution);
    (!contradict(shown, promised)).then(|| TailRule { answers: ordered.answers(cut), forecast, value: goal.value(cut.odds, caution) })
}

/// The same procedure on parts of the draws: how many correct and wrong guesses the others show, and how many it promises of them.
fn tried(score_bins: &ScoreBins, order: Order, goal: Goal, caution: Caution) -> ((u64, u64), (f64, f64)) {
    let all = score_bins.counts();
    let (mut promised, mut shown) = ((0.0, 0.0), (0, 0));
    for fold in score_bins.folds() {
        let ordered = OrderedBins::new(score_bins.bins(), &all.without(fold), order);
        let cut = ordered.best_cut(goal, caution);
        let (draws, judged) = (fold.draws(), fold.judge(&ordered.answers(cut)));
        promised = (promised.0 + draws * cut.odds.correct, promised.1 + draws * cut.odds.wrong);
        shown = (shown.0 + judged.0, shown.1 + judged.1);
    }
    (shown, promised)
}

/// Whether so many correct and wrong guesses are clearly worse than promised.
fn contradict(shown: (u64, u64), promised: (f64, f64)) -> bool {
    let (correct, wrong) = (shown.0 as f64 + 0.5, shown.1 as f64 + 0.5);
    (correct / wrong).ln() + CONTRADICTED * (1.0 / correct + 1.0 / wrong).sqrt() < (promised.0 / promised.1).ln()
}

/// The curve that best predicts hits it has not seen.
fn calibration(score_bins: &ScoreBins) -> Order {
    let all = score_bins.counts();
    let predicts = |order: Order| -> f64 {
        score_bins.folds().iter().map(|fold| log_likelihood(&shares(score_bins.bins(), &all.without(fold), order), fold)).sum()
    };
    let mut best = (f64::NEG_INFINITY, CALIBRATED[0]);
    for order in CALIBRATED {
        let likelihood = predicts(order);
        if likelihood > best.0 + GAIN {
            best = (likelihood, order);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::attack::score::Score;
    use crate::noise::{Generator, gaussian};
    use crate::output::{Cell, Rows};

    /// The spread of the scores. Around ±½·SPREAD² their log-ratio is the score itself.
    const SPREAD: f64 = 0.2;
    const ROWS: usize = 400_000;

    /// A million draws to come, and two standard errors.
    const CAUTION: Caution = Caution { draws: 1e6, z: 2.0 };

    fn score_bins(mut score: impl FnMut(f64) -> f64) -> ScoreBins {
        let mut rng = Generator::seed_from_u64(8);
        let mut side = |sign: f64| {
            let mut rows = Rows::new(1);
            (0..ROWS).for_each(|_| rows.push(&[Cell::number(score(sign * SPREAD * SPREAD / 2.0 + gaussian(&mut rng, SPREAD)))]));
            rows
        };
        let (left, right) = (side(1.0), side(-1.0));
        ScoreBins::new(Score::Output, &left, &right)
    }

    #[test]
    fn a_calibrated_score_promises_what_its_tails_hold() {
        let score_bins = score_bins(|score| score);
        let bold = select(&score_bins, 0.0, CAUTION).expect("nothing contradicts it");
        // The slope of the ordered is known up to 2/(√800,000 · 0.2) = 0.011; five of these, and as much for the hits' own chance.
        let promised = (bold.forecast.correct / bold.forecast.wrong).ln();
        let (correct, wrong) = score_bins.counts().judge(&bold.answers);
        let (correct, wrong) = (correct as f64, wrong as f64);
        let chance = (1.0 / correct + 1.0 / wrong).sqrt();
        assert!(((correct / wrong).ln() - promised).abs() < 5.0 * (0.011 * promised + chance), "{promised} against {correct}, {wrong}");
        // It goes for a tail: two and a half spreads out the ratio is e^0.5, and a thousandth of the draws is enough to show it.
        assert!(promised > 2.0 * SPREAD, "{promised}");
        assert!(bold.answers.contains(&Answer::Left) && bold.answers.contains(&Answer::Right));
    }

    #[test]
    fn a_tail_that_does_not_keep_the_promise_is_no_rule() {
        // Beyond two spreads the score is turned around: the ordered through the middle promises the opposite of what is there.
        let turned = |score: f64| if score.abs() > 2.0 * SPREAD { -score } else { score };
        let bold = select(&score_bins(turned), 0.0, CAUTION);
        let promised = bold.map_or(0.0, |bold| (bold.forecast.correct / bold.forecast.wrong).ln());
        assert!(promised < 2.0 * SPREAD, "{promised}");
    }

    #[test]
    fn parts_show_and_promise_what_is_there() {
        // Three quarters 1 and one quarter −1 from D, the other way round from D'; the same in every part of the draws.
        let side = |often: f64| {
            let mut rows = Rows::new(1);
            (0..4000).for_each(|index| rows.push(&[Cell::number(if index / 8 % 4 < 3 { often } else { -often })]));
            rows
        };
        let score_bins = ScoreBins::new(Score::Output, &side(1.0), &side(-1.0));
        for order in CALIBRATED {
            let (shown, promised) = tried(&score_bins, order, Goal::Epsilon { delta: 0.0 }, CAUTION);
            assert_eq!(shown, (6000, 2000));
            // Curves are pulled towards even odds, a little.
            assert!((promised.0 - 6000.0).abs() < 20.0 && (promised.1 - 2000.0).abs() < 20.0, "{order:?}: {promised:?}");
        }
    }

    #[test]
    fn hits_contradict_from_three_standard_errors_on() {
        // Half a hit is added to each count; then ln(c/w) has the variance 1/c + 1/w.
        for (correct, wrong) in [(100, 100), (300, 20), (7, 2), (0, 0)] {
            let (c, w) = (correct as f64 + 0.5, wrong as f64 + 0.5);
            let limit = (c / w).ln() + 3.0 * (1.0 / c + 1.0 / w).sqrt();
            for promise in [3.0, 400.0] {
                let promised = |log_odds: f64| (promise * log_odds.exp(), promise);
                assert!(contradict((correct, wrong), promised(limit + 1e-6)), "{correct} and {wrong}");
                assert!(!contradict((correct, wrong), promised(limit - 1e-6)), "{correct} and {wrong}");
            }
        }
    }

    #[test]
    fn a_curve_is_taken_where_a_line_does_not_fit() {
        assert_eq!(calibration(&score_bins(|score| score)), Order::Calibrated(f64::INFINITY));
        // The log-ratio is now the cube root of the score: steep in the middle, flat outside.
        let order = calibration(&score_bins(|score| (score / SPREAD).powi(3)));
        assert!(matches!(order, Order::Calibrated(stiffness) if stiffness.is_finite()), "{order:?}");
    }
}
