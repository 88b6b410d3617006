//! Selects the best guess rule for each goal from the hits of each bin.
//!
//! The bins are put in an order from "evidence for D" to "evidence for D'". A rule guesses D on the
//! first bins, D' on the last bins, and abstains on those between. Cross-validation decides which
//! order is used and where it is cut. Maximising a noisy ratio would choose bins far out in the
//! tail, so the procedures are pessimistic to different degrees, and the draws that a procedure was
//! not given show which degree is best.

use rayon::prelude::*;

use crate::attack::answer::Answer;
use crate::attack::bins::Counts;
use crate::attack::fit::order::{Order, orders};
use crate::attack::learner::View;
use crate::attack::rule::goal::{Caution, Goal};
use crate::attack::rule::ordered::OrderedBins;
use crate::attack::rule::score_bins::ScoreBins;
use crate::attack::tuning::select::{BETTER, COMPARISON, DELTA_PESSIMISM, LUCK, PESSIMISM, RATIO};
use crate::stats::Rates;

/// A selected set of answers, with its cross-validated result.
pub struct Selected {
    /// An answer for each bin.
    pub answers: Vec<Answer>,
    /// How often such a rule is correct and wrong on draws that it was not learned from.
    pub forecast: Rates,
    /// The pessimistic value of the goal, for comparison with other scores.
    pub value: f64,
    /// The same with a standard error of the counts or more: what does not rest on their luck.
    pub sure: f64,
}

/// A procedure to make a rule, and its cross-validated result.
#[derive(Clone, Copy)]
struct Attempt {
    value: f64,
    sure: f64,
    order: Order,
    z: f64,
    rates: Rates,
}

/// Selects the best rule for each goal from the counts of each fold.
///
/// `explored` draws were made. Learned scores are counted on fewer draws, because they were learned
/// from the others. This must not make them look worse, so all scores are as pessimistic as if
/// every draw had been counted.
///
/// Rules for the δ bound are compared by the bound that is to be expected, with the caution of the
/// certify draws: their value is positive only if a bound above zero is.
pub fn select(
    score_bins: &ScoreBins,
    goals: &[Goal],
    explored: f64,
    certify: Caution,
) -> Vec<Selected> {
    let (bins, folds, all) = (score_bins.bins(), score_bins.folds(), score_bins.counts());
    let n = all.draws().max(1.0);
    let ratio = score_bins.score().is_ratio();
    let ease = (n / explored.max(n)).sqrt() * if ratio { RATIO } else { 1.0 };
    // The pessimism of the cuts, and of the comparison.
    let cautions = |goal: Goal, order: Order| {
        if goal.is_delta() {
            // The freer the order, the more of what was counted is chance. Errors of the counts are
            // added to those of the certify draws.
            let z = certify.z + order.delta_caution() * (certify.draws / n).sqrt();
            (DELTA_PESSIMISM, Caution { z, ..certify })
        } else {
            let z = (COMPARISON + order.caution()) * ease;
            (PESSIMISM.map(|z| z * ease), Caution { draws: n, z })
        }
    };
    // For each order and each goal: one attempt per degree of pessimism.
    let attempts = orders(ratio).par_iter().map(|&order| {
        let ordered: Vec<OrderedBins> =
            folds.iter().map(|fold| OrderedBins::new(bins, &all.without(fold), order)).collect();
        let attempts = |goal: Goal| {
            let (pessimism, comparison) = cautions(goal, order);
            pessimism.map(|z| {
                let (rates, regions) = cross_validated(&ordered, folds, goal, z);
                let value = goal.value(rates, regions, comparison);
                let luck = certify.z + LUCK * (certify.draws / n).sqrt();
                let sure = if goal.is_delta() {
                    let caution = Caution { z: comparison.z.max(luck), ..comparison };
                    goal.value(rates, regions, caution)
                } else {
                    value
                };
                Attempt { value, sure, order, z, rates }
            })
        };
        goals.iter().map(|&goal| attempts(goal)).collect::<Vec<_>>()
    });
    let attempts: Vec<_> = attempts.collect();
    let best = (0..goals.len()).filter_map(|goal| {
        // Simple orders come first; a later one must be better by a little.
        let better = |best: Attempt, next: Attempt| {
            if next.value > best.value + BETTER * best.value.abs() { next } else { best }
        };
        attempts.iter().flat_map(|of_order| of_order[goal]).reduce(better)
    });
    let selected =
        goals.iter().zip(best).map(|(&goal, Attempt { value, sure, order, z, rates })| {
            let ordered = OrderedBins::new(bins, &all, order);
            // A rule that guessed on the folds may be too pessimistic to guess on all of them: then a
            // bolder one is better than none.
            let bolder = cautions(goal, order).0.into_iter().filter(|other| *other < z);
            let cuts = std::iter::once(z)
                .chain(bolder)
                .map(|z| ordered.best_cut(goal, ordered.caution(z)));
            let cut = cuts.reduce(|first, next| if first.regions > 0 { first } else { next });
            let answers = cut.map(|cut| ordered.answers(cut)).unwrap_or_default();
            Selected { answers, forecast: Rates { draws: n, ..rates }, value, sure }
        });
    selected.collect()
}

/// The result of rules that are cut on all folds except one and tallied on this fold, and how many
/// answers they give.
/// `without_fold` has the bins ordered without it.
fn cross_validated(
    without_fold: &[OrderedBins],
    folds: &[Counts],
    goal: Goal,
    z: f64,
) -> (Rates, u8) {
    let (mut correct, mut wrong, mut draws, mut regions) = (0, 0, 0.0, 0);
    for (ordered, fold) in without_fold.iter().zip(folds) {
        let cut = ordered.best_cut(goal, ordered.caution(z));
        let tally = fold.tally(&ordered.answers(cut));
        (correct, wrong, draws) = (correct + tally.0, wrong + tally.1, draws + fold.draws());
        regions = regions.max(cut.regions);
    }
    let share = |count: u64| count as f64 / f64::max(draws, 1.0);
    (Rates { correct: share(correct), wrong: share(wrong), draws }, regions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::learner::Score;
    use crate::attack::learner::naive_bayes::{Features, NaiveBayes};
    use crate::attack::lesson::Lesson;
    use crate::model::Measure;
    use crate::output::{Cell, Rows};

    #[test]
    fn a_value_is_z_standard_errors_below_the_estimate() {
        for (correct, wrong) in [(0.3, 0.1), (0.02, 0.001), (0.6, 0.4), (0.004, 0.0), (0.1, 0.3)] {
            for (delta, regions) in [(0.0, 2), (0.001, 1), (0.003, 2), (0.05, 1)] {
                for (n, z) in [(1e3, 2.0), (1e4, 0.5), (1e5, 8.0), (1e6, 5.0)] {
                    let (rates, caution) =
                        (Rates { correct, wrong, draws: n }, Caution { draws: n, z });
                    let half = f64::from(regions) / 2.0;
                    // Half a wrong guess is added.
                    let wrong = wrong + 0.5 / n;
                    let excess = |x: f64| correct - delta * half - x * wrong;
                    let error = |x: f64| ((correct + x * x * wrong) / n).sqrt();
                    let measure = Measure::Epsilon { delta };
                    let steady = Goal::steady(&measure).expect("a goal for ε");
                    for (goal, z) in [(Goal::new(&measure), z), (steady, 6.0 * z)] {
                        let x = goal.value(rates, regions, caution);
                        if excess(0.0) <= z * error(0.0) {
                            assert_eq!(x, 0.0);
                        } else {
                            assert!(
                                x > 0.0 && (excess(x) - z * error(x)).abs() < 1e-9 * correct,
                                "{rates:?} {caution:?}: {x}"
                            );
                        }
                    }
                    let x = 0.7_f64.exp();
                    let measure = Measure::Delta { epsilon: 0.7 };
                    assert_eq!(Goal::steady(&measure), None);
                    let value = Goal::new(&measure).value(rates, regions, caution);
                    assert!((value * half - (correct - x * wrong - z * error(x))).abs() < 1e-12);
                }
            }
        }
    }

    /// Three quarters `a` and one quarter `b` from D, the opposite from D', in the same proportions
    /// in every fold.
    fn rows() -> (Rows, Rows) {
        let side = |often: &str, rarely: &str| {
            let mut rows = Rows::new(1);
            (0..4000).for_each(|index| {
                rows.push(&[Cell::symbol(if index / 8 % 4 < 3 { often } else { rarely })]);
            });
            rows
        };
        (side("a", "b"), side("b", "a"))
    }

    #[test]
    fn the_forecast_of_a_selected_rule_is_its_cross_validated_result() {
        let [epsilon, delta] = [Measure::Epsilon { delta: 0.01 }, Measure::Delta { epsilon: 0.5 }];
        let steady = Goal::steady(&epsilon).expect("a goal for ε");
        let goals = [Goal::new(&epsilon), steady, Goal::new(&delta)];
        let (left, right) = rows();
        let lesson = |rows: &Rows| rows.iter().map(<[Cell]>::to_vec).collect::<Vec<_>>();
        let (of_left, of_right) = (lesson(&left), lesson(&right));
        let (of_left, of_right): (Vec<&[Cell]>, Vec<&[Cell]>) = (
            of_left.iter().map(Vec::as_slice).collect(),
            of_right.iter().map(Vec::as_slice).collect(),
        );
        let learned =
            Score::NaiveBayes(NaiveBayes::learn(Lesson::of(&of_left, &of_right), Features::Cells));
        // Five standard errors for an order without a parameter per bin; 0.7 times as many for the
        // ε of a learned score, which is counted on half of the rows.
        for (score, n, ease) in [(Score::Output, 8000.0, 1.0), (learned, 4000.0, 0.7)] {
            let score_bins = ScoreBins::new(score, &left, &right);
            for (explored, factor) in [(n, 1.0), (4.0 * n, 0.5)] {
                let certify = Caution { draws: 1e5, z: 2.5 };
                let all = select(&score_bins, &goals, explored, certify);
                assert_eq!(all.len(), goals.len());
                for (goal, selected) in goals.into_iter().zip(all) {
                    let Rates { correct, wrong, draws } = selected.forecast;
                    assert_eq!((correct, wrong, draws), (0.75, 0.25, n));
                    let (right, wrong) = score_bins.counts().tally(&selected.answers);
                    assert_eq!((right as f64, wrong as f64), (0.75 * n, 0.25 * n));
                    let pessimistic = Caution { draws: n, z: 5.0 * ease * factor };
                    let cautious = Caution { z: 2.5 + (1e5 / n).sqrt(), ..certify };
                    let learned = score_bins.score().is_learned();
                    let for_delta = if learned { cautious } else { certify };
                    let expected = goal.value(
                        Rates { correct: 0.75, wrong: 0.25, draws: n },
                        2,
                        if goal.is_delta() { for_delta } else { pessimistic },
                    );
                    assert!(
                        (selected.value - expected).abs() < 1e-9,
                        "{goal:?}: {} instead of {expected}",
                        selected.value
                    );
                }
            }
        }
    }
}
