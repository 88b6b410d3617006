//! Rules for the tails of learned scores.
//!
//! All the pessimism of [`select`](super::select) keeps rules away from bins with few hits, and there the leaks of long vectors and sums of many ratios lie.
//! A learned score is a log-ratio up to calibration, so a line or a stiff curve through all of its log-odds tells what a tail is worth long before its own hits do. The cut
//! that promises the largest bound *on the draws to come* is then a matter of arithmetic, and hits are only asked whether they contradict it.

use super::board::Board;
use super::line::Line;
use super::order::{CALIBRATED, Order, log_likelihood, shares};
use super::rule::Answer;
use super::select::{Caution, Goal, Odds};
use crate::evidence::wealth::Forecast;

/// So much log-likelihood must a more flexible curve gain.
const GAIN: f64 = 3.0;

/// Hits this many standard errors below the promise contradict it.
const CONTRADICTED: f64 = 3.0;

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
    // The same procedure on parts of the draws: what it promises of the others, and what these show.
    let (mut promised, mut shown) = ((0.0, 0.0), (0, 0));
    for fold in board.folds() {
        let line = Line::new(bins, &all.without(fold), order);
        let cut = line.best_cut(goal, caution);
        let (draws, judged) = (fold.draws(), fold.judge(&line.answers(cut)));
        promised = (promised.0 + draws * cut.odds.correct, promised.1 + draws * cut.odds.wrong);
        shown = (shown.0 + judged.0, shown.1 + judged.1);
    }
    let (correct, wrong) = (shown.0 as f64 + 0.5, shown.1 as f64 + 0.5);
    let contradicted = (correct / wrong).ln() + CONTRADICTED * (1.0 / correct + 1.0 / wrong).sqrt() < (promised.0 / promised.1).ln();
    let Odds { correct, wrong, .. } = cut.odds;
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::score::Score;
    use super::*;
    use crate::cell::{Cell, Rows};
    use crate::noise::{Generator, gaussian};

    /// The spread of the scores. Around ±½·SPREAD² their log-ratio is the score itself.
    const SPREAD: f64 = 0.2;
    const ROWS: usize = 400_000;

    /// A million draws to come, and two standard errors.
    const CAUTION: Caution = Caution { draws: 1e6, z: 2.0 };

    fn board(mut score: impl FnMut(f64) -> f64) -> Board {
        let mut rng = Generator::seed_from_u64(8);
        let mut side = |sign: f64| {
            let mut rows = Rows::new(1);
            (0..ROWS).for_each(|_| rows.push(&[Cell::number(score(sign * SPREAD * SPREAD / 2.0 + gaussian(&mut rng, SPREAD)))]));
            rows
        };
        let (left, right) = (side(1.0), side(-1.0));
        Board::new(Score::Output, &left, &right)
    }

    #[test]
    fn a_calibrated_score_promises_what_its_tails_hold() {
        let board = board(|score| score);
        let bold = select(&board, 0.0, CAUTION).expect("nothing contradicts it");
        // The slope of the line is known up to 2/(√800,000 · 0.2) = 0.011; five of these, and as much for the hits' own chance.
        let promised = (bold.forecast.correct / bold.forecast.wrong).ln();
        let (correct, wrong) = board.counts().judge(&bold.answers);
        let (correct, wrong) = (correct as f64, wrong as f64);
        let chance = (1.0 / correct + 1.0 / wrong).sqrt();
        assert!(((correct / wrong).ln() - promised).abs() < 5.0 * (0.011 * promised + chance), "{promised} against {correct}, {wrong}");
        // It goes for a tail: two and a half spreads out the ratio is e^0.5, and a thousandth of the draws is enough to show it.
        assert!(promised > 2.0 * SPREAD, "{promised}");
        assert!(bold.answers.contains(&Answer::Left) && bold.answers.contains(&Answer::Right));
    }

    #[test]
    fn a_tail_that_does_not_keep_the_promise_is_no_rule() {
        // Beyond two spreads the score is turned around: the line through the middle promises the opposite of what is there.
        let turned = |score: f64| if score.abs() > 2.0 * SPREAD { -score } else { score };
        let bold = select(&board(turned), 0.0, CAUTION);
        let promised = bold.map_or(0.0, |bold| (bold.forecast.correct / bold.forecast.wrong).ln());
        assert!(promised < 2.0 * SPREAD, "{promised}");
    }
}
