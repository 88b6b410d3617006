//! Bets on blocks of draws and learns from them.

use super::predictor::{PREDICTORS, Predictors};
use crate::attack::tuning::predict::{
    BET_CELLS, BET_DRAWS, LEARN_CELLS, LEARN_DRAWS, MORE, SAMPLE,
};
use crate::model::{Limit, Side};
use crate::output::{Cell, Rows};
use crate::stats::prediction::{Copies, Stakes, lines};

/// A gambler who bets on predictions that are learned from earlier draws.
#[derive(Debug)]
pub struct Gambler {
    lines: Vec<(f64, f64)>,
    /// The rows that predictors learn from.
    left: Rows,
    right: Rows,
    /// All draws so far, and how many of them predictors have learned from.
    draws: u64,
    learned_from: u64,
    predictors: Predictors,
    stakes: Stakes,
    copies: Copies,
}

impl Gambler {
    /// A gambler against this limit of a claim, who has seen nothing yet.
    #[must_use]
    pub fn new(width: usize, limit: &Limit) -> Self {
        Self {
            lines: lines(&limit.measure, limit.value),
            left: Rows::new(width),
            right: Rows::new(width),
            draws: 0,
            learned_from: 0,
            predictors: Predictors::default(),
            stakes: Stakes::NONE,
            copies: Copies::default(),
        }
    }

    /// Whether bets are still made. After very many draws a frozen rule is as good, and cheaper.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.draws < BET_DRAWS.min(BET_CELLS / self.left.width() as u64)
    }

    /// The logarithm of the wealth.
    #[must_use]
    pub fn log_wealth(&self) -> f64 {
        self.copies.log_wealth()
    }

    /// Bets on these draws with what was learned before, then learns from them.
    pub fn see(&mut self, left: &Rows, right: &Rows) {
        if !self.is_playing() {
            return;
        }
        let (mut log, mut likelihoods) = (0.0, [0.0; PREDICTORS]);
        for (side, rows) in [(Side::Left, left), (Side::Right, right)] {
            for row in rows {
                let predicted = self.predictors.left(row);
                log += self.stakes.log_factor(self.predictors.mean(&predicted), side);
                Predictors::saw(&mut likelihoods, &predicted, side == Side::Left);
            }
        }
        self.copies.win(self.draws, log);
        self.predictors.add_likelihoods(&likelihoods);
        self.draws += (left.len() + right.len()) as u64;
        let room = LEARN_DRAWS.min(LEARN_CELLS / self.left.width() as u64);
        if self.learned_from < room {
            self.left.append(left);
            self.right.append(right);
            let is_last = self.draws >= room;
            if is_last || self.draws as f64 >= MORE * self.learned_from as f64 {
                self.learn();
            }
        }
    }

    fn learn(&mut self) {
        let sides = [(&self.left, true), (&self.right, false)];
        let rows: Vec<(&[Cell], bool)> = sides
            .into_iter()
            .flat_map(|(rows, is_left)| rows.iter().map(move |row| (row, is_left)))
            .collect();
        self.predictors.learn(self.left.width(), &rows);
        self.learned_from = self.draws;
        // What is predicted for outputs that were seen, equally many of all parts of the sample.
        let step = rows.len().div_ceil(SAMPLE).max(1);
        let predicted: Vec<f64> = rows
            .iter()
            .step_by(step)
            .map(|(row, _)| self.predictors.mean(&self.predictors.left(row)))
            .collect();
        self.stakes = Stakes::best(&self.lines, &predicted);
    }
}
