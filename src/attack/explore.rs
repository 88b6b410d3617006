//! Learning from exploration draws, in constant memory.

use rayon::prelude::*;

use super::Attack;
use super::bins::Bins;
use super::counts::Counts;
use super::rule::GuessRule;
use super::score::{NaiveBayes, Score};
use super::select::{FOLDS, Goal, Selected, select};
use crate::cell::{Cell, Rows};
use crate::error::TargetError;
use crate::evidence::wealth::Forecast;
use crate::mechanism::Side;
use crate::sample::{Sampler, Tallies};
use crate::spec::Claim;

/// Rows kept for learning, both sides together; later draws are only counted.
const KEPT: usize = 1 << 18;

/// A rule, and what is known of it before it is judged.
#[derive(Clone, Debug)]
pub struct Learned {
    /// The rule.
    pub rule: GuessRule,
    /// How it should do.
    pub forecast: Forecast,
}

/// Collects exploration draws and learns rules from them.
pub struct Explorer<'a> {
    attacks: &'a [Attack],
    claim: Claim,
    left: Rows,
    right: Rows,
    boards: Vec<Board>,
}

/// One score, its bins, and the hits of each bin.
struct Board {
    score: Score,
    bins: Bins,
    folds: Vec<Counts>,
}

impl Board {
    /// Counts rows of one side; row `i` belongs to fold `i mod FOLDS`.
    fn count(&self, folds: &mut [Counts], side: Side, rows: &Rows, scores: &mut Vec<Cell>) {
        self.score.map(rows, scores);
        for (index, score) in scores.iter().enumerate() {
            folds[index % FOLDS].side(side)[self.bins.index(*score)] += 1;
        }
    }

    fn empty_folds(&self) -> Vec<Counts> {
        vec![Counts::new(self.bins.len()); FOLDS]
    }
}

impl<'a> Explorer<'a> {
    /// An explorer that has seen nothing yet.
    #[must_use]
    pub fn new(width: usize, attacks: &'a [Attack], claim: Claim) -> Self {
        Self { attacks, claim, left: Rows::new(width), right: Rows::new(width), boards: Vec::new() }
    }

    /// Takes the next draws in, judging the rules learned from earlier ones on the way.
    ///
    /// # Errors
    /// When the mechanism could not be run.
    pub fn absorb(&mut self, sampler: &mut Sampler, draws: u64, rules: &[GuessRule]) -> Result<Tallies, TargetError> {
        let room = (KEPT - self.left.len() - self.right.len()) as u64;
        let kept = draws.min(room);
        let mut tallies = Tallies::new(rules.len());
        if kept > 0 {
            tallies.add(&self.keep(sampler, kept, rules)?);
            self.boards = self.boards();
        }
        if draws > kept {
            tallies.add(&self.count(sampler, draws - kept, rules)?);
        }
        Ok(tallies)
    }

    /// Draws that are kept, row by row.
    fn keep(&mut self, sampler: &mut Sampler, draws: u64, rules: &[GuessRule]) -> Result<Tallies, TargetError> {
        let width = self.left.width();
        let (left, right, tallies) = sampler.fold(
            draws,
            || (Rows::new(width), Rows::new(width), Tallies::new(rules.len())),
            |(left, right, tallies), side, rows| {
                match side {
                    Side::Left => left.append(rows),
                    Side::Right => right.append(rows),
                }
                tallies.judge(rules, side, rows);
            },
            |(left, right, tallies), (more_left, more_right, more)| {
                left.append(&more_left);
                right.append(&more_right);
                tallies.add(&more);
            },
        )?;
        self.left.append(&left);
        self.right.append(&right);
        Ok(tallies)
    }

    /// Draws that only add to the counts of the bins.
    fn count(&mut self, sampler: &mut Sampler, draws: u64, rules: &[GuessRule]) -> Result<Tallies, TargetError> {
        let boards = &self.boards;
        let (counted, tallies, _) = sampler.fold(
            draws,
            || {
                let folds: Vec<Vec<Counts>> = boards.iter().map(Board::empty_folds).collect();
                (folds, Tallies::new(rules.len()), Vec::new())
            },
            |(counted, tallies, scores), side, rows| {
                for (board, folds) in boards.iter().zip(counted) {
                    board.count(folds, side, rows, scores);
                }
                tallies.judge(rules, side, rows);
            },
            |(counted, tallies, _), (more_counted, more, _)| {
                for (folds, more) in counted.iter_mut().zip(&more_counted) {
                    folds.iter_mut().zip(more).for_each(|(fold, more)| fold.add(more));
                }
                tallies.add(&more);
            },
        )?;
        for (board, counted) in self.boards.iter_mut().zip(counted) {
            board.folds.iter_mut().zip(&counted).for_each(|(fold, more)| fold.add(more));
        }
        Ok(tallies)
    }

    /// Scores and bins for the rows kept so far.
    fn boards(&self) -> Vec<Board> {
        let mut boards: Vec<Board> = self.scores().into_par_iter().map(|score| self.board(score)).collect();
        boards.iter().filter(|board| board.score == Score::WholeRow).for_each(|board| self.name_symbols(&board.bins));
        boards.retain(|board| !board.folds.is_empty());
        boards
    }

    fn scores(&self) -> Vec<Score> {
        let width = self.left.width();
        let mut scores = Vec::new();
        for attack in self.attacks {
            match attack {
                Attack::Coordinates if width == 1 => scores.push(Score::Output),
                Attack::Coordinates => scores.extend((0..width).map(Score::Coordinate)),
                Attack::WholeRow if width > 1 => scores.push(Score::WholeRow),
                Attack::NaiveBayes if width > 1 => {
                    // Learned from every second row; the others count it.
                    let half = |rows: &'_ Rows| -> Vec<usize> { (0..rows.len()).step_by(2).collect() };
                    let left: Vec<&[Cell]> = half(&self.left).into_iter().map(|index| self.left.row(index)).collect();
                    let right: Vec<&[Cell]> = half(&self.right).into_iter().map(|index| self.right.row(index)).collect();
                    scores.push(Score::NaiveBayes(NaiveBayes::learn(&left, &right)));
                }
                Attack::WholeRow | Attack::NaiveBayes => {}
            }
        }
        if scores.is_empty() {
            scores.push(Score::Output);
        }
        scores
    }

    fn board(&self, score: Score) -> Board {
        let fresh = |rows: &Rows| {
            let mut scores = Vec::new();
            score.map(rows, &mut scores);
            if matches!(score, Score::NaiveBayes(_)) {
                scores = scores.into_iter().skip(1).step_by(2).collect();
            }
            scores
        };
        let (left, right) = (fresh(&self.left), fresh(&self.right));
        let bins = Bins::learn(&[left.as_slice(), right.as_slice()].concat());
        let mut folds = vec![Counts::new(bins.len()); FOLDS];
        for (side, scores) in [(Side::Left, &left), (Side::Right, &right)] {
            for (index, cell) in scores.iter().enumerate() {
                folds[index % FOLDS].side(side)[bins.index(*cell)] += 1;
            }
        }
        Board { score, bins, folds }
    }

    /// Gives whole rows that have a bin of their own a name to be read by.
    fn name_symbols(&self, bins: &Bins) {
        for row in self.left.iter().chain(&self.right) {
            if bins.symbols().binary_search_by_key(&Cell::of_row(row).key(), |symbol| symbol.key()).is_ok() {
                Cell::name_row(row);
            }
        }
    }

    /// The best rules so far: one for the ε bound and, where it promises much more δ, one for the δ bound.
    #[must_use]
    pub fn learn(&self) -> Vec<Learned> {
        let goals = [Goal::Epsilon { delta: self.claim.delta.get() }, Goal::Delta { epsilon: self.claim.epsilon.get() }];
        goals.into_iter().filter_map(|goal| self.best(goal)).collect()
    }

    fn best(&self, goal: Goal) -> Option<Learned> {
        let selected: Vec<(&Board, Selected)> =
            self.boards.par_iter().map(|board| (board, select(&board.bins, &board.folds, goal))).collect();
        let mut best: Option<(&Board, Selected)> = None;
        for candidate in selected {
            if best.as_ref().is_none_or(|(_, best)| candidate.1.value > best.value) {
                best = Some(candidate);
            }
        }
        best.map(|(board, selected)| Learned {
            rule: GuessRule::new(board.score.clone(), &board.bins, &selected.answers),
            forecast: selected.forecast,
        })
    }
}
