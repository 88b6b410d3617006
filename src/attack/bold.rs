//! Rules for the tails of learned scores.
//!
//! All the pessimism of [`select`](super::select) keeps rules away from bins with few hits, and there the leaks of long vectors and sums of many ratios lie.
//! A learned score is a log-ratio up to calibration, so a line or a stiff curve through all of its log-odds tells what a tail is worth long before its own hits do. The cut
//! that promises the largest bound *on the draws to come* is then a matter of arithmetic, and hits are only asked whether they contradict it.

use super::board::Board;
use super::line::Line;
use super::order::{CALIBRATED, Order, log_likelihood, shares};
use super::rule::Answer;
use super::select::{Caution, Goal, Odds, cross_validated};
use crate::evidence::wealth::Forecast;

/// So much log-likelihood must a more flexible curve gain.
const GAIN: f64 = 3.0;

/// Hits this many standard errors below the promise contradict it.
const CONTRADICTED: f64 = 2.0;

/// A rule that a calibrated score promises much of.
pub struct Bold {
    /// An answer for each bin.
    pub answers: Vec<Answer>,
    /// What the curve promises.
    pub forecast: Forecast,
    /// The odds that the draws to come should show, on the safe side.
    pub value: f64,
}

/// The rule with the largest promise, unless hits contradict it. `caution` is about the draws that it will be certified on.
pub fn select(board: &Board, delta: f64, caution: Caution) -> Option<Bold> {
    let (bins, goal, all) = (board.bins(), Goal::Epsilon { delta }, board.counts());
    let order = calibration(board);
    let line = Line::new(bins, &all, order);
    let cut = line.best_cut(goal, caution);
    // The same procedure, judged on hits that it did not see.
    let lines: Vec<Line> = board.folds().iter().map(|fold| Line::new(bins, &all.without(fold), order)).collect();
    let kept = cross_validated(&lines, board.folds(), |line| line.best_cut(goal, caution));
    let (hits, misses) = (kept.correct * all.draws() + 0.5, kept.wrong * all.draws() + 0.5);
    let Odds { correct, wrong, .. } = cut.odds;
    let contradicted = (hits / misses).ln() + CONTRADICTED * (1.0 / hits + 1.0 / misses).sqrt() < (correct / wrong).ln();
    let forecast = Forecast { correct, wrong, draws: all.draws() };
    (!contradicted).then(|| Bold { answers: line.answers(cut), forecast, value: goal.value(cut.odds, caution) })
}

/// The curve that best predicts hits it has not seen.
fn calibration(board: &Board) -> Order {
    let all = board.counts();
    let predicts = |order: Order| -> f64 {
        board.folds().iter().map(|fold| log_likelihood(&shares(board.bins(), &all.without(fold), order), fold)).sum()
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
