//! From counts per bin to a guess rule.
//!
//! Bins are put in an order from "speaks for D" to "speaks for D'"; a rule guesses D on the first few, D' on the last few and abstains between.
//! Which order and how few is decided by cross-validation: maximising a noisy ratio runs into the tail, so each candidate
//! procedure is pessimistic to a different degree, and the draws that a procedure has not seen tell which degree pays.

use rayon::prelude::*;

use crate::attack::answer::Answer;
use crate::attack::bins::Counts;
use crate::attack::fit::order::{Order, orders};
use crate::attack::rule::goal::{Caution, Goal, Odds};
use crate::attack::rule::ordered::OrderedBins;
use crate::attack::rule::score_bins::ScoreBins;
use crate::stats::wealth::Forecast;

/// Standard errors by which a procedure may be pessimistic when it chooses its cuts.
const PESSIMISM: [f64; 3] = [2.0, 4.0, 8.0];

/// Standard errors by which the comparison of procedures is pessimistic.
const JUDGE: f64 = 5.0;

/// A learned score is a log-ratio already: with only the cuts to choose, less pessimism is enough for the ε bound. Whether there is any δ to be found stays a question of
/// significance.
const LEARNED: f64 = 0.7;

/// A selected set of answers, with what cross-validation says of it.
pub struct Selected {
    /// An answer for each bin.
    pub answers: Vec<Answer>,
    /// How often such a rule is right and wrong on draws that it was not learned from.
    pub forecast: Forecast,
    /// The pessimistic value of the goal, for comparison with other scores.
    pub value: f64,
}

/// A way to a rule, and what it promises.
#[derive(Clone, Copy)]
struct Attempt {
    value: f64,
    order: Order,
    z: f64,
    odds: Odds,
}

/// Selects the best rule for each goal from the counts of each fold.
///
/// `seen` draws were explored. Learned scores are counted on fewer, because the others taught them; that must not make them look worse, so all are as
/// pessimistic as if every draw had been counted.
pub fn select(score_bins: &ScoreBins, goals: &[Goal], seen: f64) -> Vec<Selected> {
    let (bins, folds, all) = (score_bins.bins(), score_bins.folds(), score_bins.counts());
    let n = all.draws().max(1.0);
    let learned = score_bins.score().is_learned();
    let ease = |goal: Goal| (n / seen.max(n)).sqrt() * if learned && matches!(goal, Goal::Epsilon { .. }) { LEARNED } else { 1.0 };
    // For each order, for each goal: what every degree of pessimism leads to.
    let tried = orders(learned).par_iter().map(|&order| {
        let folds_in_order: Vec<OrderedBins> = folds.iter().map(|fold| OrderedBins::new(bins, &all.without(fold), order)).collect();
        let attempt = |goal: Goal, z: f64| {
            let odds = cross_validated(&folds_in_order, folds, goal, z * ease(goal));
            let value = goal.value(odds, Caution { draws: n, z: (JUDGE + order.caution()) * ease(goal) });
            Attempt { value, order, z, odds }
        };
        goals.iter().map(|&goal| PESSIMISM.map(|z| attempt(goal, z))).collect::<Vec<_>>()
    });
    let tried: Vec<_> = tried.collect();
    let best = (0..goals.len()).filter_map(|goal| {
        // Simple orders come first; a later one must gain a tenth of a per cent.
        let better = |best: Attempt, next: Attempt| if next.value > best.value + 1e-3 * best.value.abs() { next } else { best };
        tried.iter().flat_map(|of_order| of_order[goal]).reduce(better)
    });
    let selected = goals.iter().zip(best).map(|(&goal, Attempt { value, order, z, odds })| {
        let ordered = OrderedBins::new(bins, &all, order);
        let answers = ordered.answers(ordered.best_cut(goal, ordered.caution(z * ease(goal))));
        Selected { answers, forecast: Forecast { correct: odds.correct, wrong: odds.wrong, draws: n }, value }
    });
    selected.collect()
}

/// How rules do that are cut on folds_in_order of all folds but one, each judged on the one it has not seen.
fn cross_validated(folds_in_order: &[OrderedBins], folds: &[Counts], goal: Goal, z: f64) -> Odds {
    let (mut correct, mut wrong, mut draws, mut regions) = (0, 0, 0.0, 0.0_f64);
    for (ordered, fold) in folds_in_order.iter().zip(folds) {
        let cut = ordered.best_cut(goal, ordered.caution(z));
        let judged = fold.judge(&ordered.answers(cut));
        (correct, wrong, draws) = (correct + judged.0, wrong + judged.1, draws + fold.draws());
        regions = regions.max(cut.odds.regions);
    }
    Odds { correct: correct as f64 / f64::max(draws, 1.0), wrong: wrong as f64 / f64::max(draws, 1.0), regions }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::lesson::Lesson;
    use crate::attack::score::Score;
    use crate::attack::score::naive_bayes::{Features, NaiveBayes};
    use crate::output::{Cell, Rows};

    #[test]
    fn a_value_lies_the_asked_standard_errors_below_what_is_seen() {
        for (correct, wrong) in [(0.3, 0.1), (0.02, 0.001), (0.6, 0.4), (0.004, 0.0), (0.1, 0.3)] {
            for (delta, regions) in [(0.0, 2.0), (0.001, 1.0), (0.003, 2.0), (0.05, 1.0)] {
                for (n, z) in [(1e3, 2.0), (1e4, 0.5), (1e5, 8.0), (1e6, 5.0)] {
                    let (odds, caution) = (Odds { correct, wrong, regions }, Caution { draws: n, z });
                    // Half a wrong guess more than was seen.
                    let wrong = wrong + 0.5 / n;
                    let excess = |x: f64| correct - delta * regions / 2.0 - x * wrong;
                    let error = |x: f64| ((correct + x * x * wrong) / n).sqrt();
                    for (goal, z) in [(Goal::Epsilon { delta }, z), (Goal::Power { delta }, 6.0 * z)] {
                        let x = goal.value(odds, caution);
                        if excess(0.0) <= z * error(0.0) {
                            assert_eq!(x, 0.0);
                        } else {
                            assert!(x > 0.0 && (excess(x) - z * error(x)).abs() < 1e-9 * correct, "{odds:?} {caution:?}: {x}");
                        }
                    }
                    let x = 0.7_f64.exp();
                    let value = Goal::Delta { odds: x }.value(odds, caution);
                    assert!((value * regions / 2.0 - (correct - x * wrong - z * error(x))).abs() < 1e-12);
                }
            }
        }
    }

    /// Three quarters `a` and one quarter `b` from D, the other way round from D'; the same in every part of the draws.
    fn rows() -> (Rows, Rows) {
        let side = |often: &str, seldom: &str| {
            let mut rows = Rows::new(1);
            (0..4000).for_each(|index| rows.push(&[Cell::symbol(if index / 8 % 4 < 3 { often } else { seldom })]));
            rows
        };
        (side("a", "b"), side("b", "a"))
    }

    #[test]
    fn a_selected_rule_is_forecast_as_the_parts_show_it() {
        let goals = [Goal::Epsilon { delta: 0.01 }, Goal::Delta { odds: 0.5_f64.exp() }, Goal::Power { delta: 0.01 }];
        let odds = Odds { correct: 0.75, wrong: 0.25, regions: 2.0 };
        let (left, right) = rows();
        let lesson = |rows: &Rows| rows.iter().map(<[Cell]>::to_vec).collect::<Vec<_>>();
        let (of_left, of_right) = (lesson(&left), lesson(&right));
        let (of_left, of_right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (of_left.iter().map(Vec::as_slice).collect(), of_right.iter().map(Vec::as_slice).collect());
        let learned = Score::NaiveBayes(NaiveBayes::learn(Lesson { left: &of_left, right: &of_right }, Features::Cells));
        // Five standard errors for an order with no freedom; 0.7 of them for the ε of a learned score, of which half of the rows are counted.
        for (score, n, ease) in [(Score::Output, 8000.0, 1.0), (learned, 4000.0, 0.7)] {
            let score_bins = ScoreBins::new(score, &left, &right);
            for (seen, more) in [(n, 1.0), (4.0 * n, 0.5)] {
                let all = select(&score_bins, &goals, seen);
                assert_eq!(all.len(), goals.len());
                for (goal, selected) in goals.into_iter().zip(all) {
                    let Forecast { correct, wrong, draws } = selected.forecast;
                    assert_eq!((correct, wrong, draws), (0.75, 0.25, n));
                    let (right, wrong) = score_bins.counts().judge(&selected.answers);
                    assert_eq!((right as f64, wrong as f64), (0.75 * n, 0.25 * n));
                    let ease = if matches!(goal, Goal::Epsilon { .. }) { ease } else { 1.0 };
                    let expected = goal.value(odds, Caution { draws: n, z: 5.0 * ease * more });
                    assert!((selected.value - expected).abs() < 1e-9, "{goal:?}: {} instead of {expected}", selected.value);
                }
            }
        }
    }
}
