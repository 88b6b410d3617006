//! A quick look at many scores, to choose the few that deserve a close one.

use rayon::prelude::*;

use super::bins::Bins;
use super::counts::Counts;
use super::score::{Lesson, Score};
use crate::cell::{Cell, Rows};
use crate::mechanism::Side;

/// Rows per side that are looked at: as many as wide outputs allow.
const MOST_ROWS: usize = 1 << 16;
const LEAST_ROWS: usize = 1 << 12;
const MOST_CELLS: usize = 1 << 21;

/// Rows per side from which bins are made.
const BINNED: usize = 1 << 12;

/// The scores on which the two sides differ most, at most so many, in their old order.
pub fn screen(lesson: Lesson, scores: Vec<Score>, most: usize) -> Vec<Score> {
    if scores.len() <= most {
        return scores;
    }
    let rows = (MOST_CELLS / lesson.width().max(1)).clamp(LEAST_ROWS, MOST_ROWS);
    let (left, right) = (lesson.rows(Side::Left, rows), lesson.rows(Side::Right, rows));
    let mut ranked: Vec<(usize, f64)> = scores.par_iter().map(|score| contrast(score, &left, &right)).enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.truncate(most);
    ranked.sort_unstable_by_key(|(index, _)| *index);
    let mut kept = ranked.into_iter().map(|(index, _)| index).peekable();
    scores.into_iter().enumerate().filter(|(index, _)| kept.next_if_eq(index).is_some()).map(|(_, score)| score).collect()
}

/// How many standard deviations the chi-square statistic of the binned scores lies above its mean for equal sides.
fn contrast(score: &Score, left: &Rows, right: &Rows) -> f64 {
    let of = |rows: &Rows| {
        let mut scores = Vec::new();
        score.map(rows, &mut scores);
        scores
    };
    let (left, right): (Vec<Cell>, Vec<Cell>) = (of(left), of(right));
    let few = |scores: &[Cell]| scores[..scores.len().min(BINNED)].to_vec();
    let bins = Bins::learn_coarse(&[few(&left), few(&right)].concat());
    let mut counts = Counts::new(bins.len());
    for (side, scores) in [(Side::Left, &left), (Side::Right, &right)] {
        scores.iter().for_each(|score| counts.side(side)[bins.index(*score)] += 1);
    }
    let (total_left, total_right) = (left.len().max(1) as f64, right.len().max(1) as f64);
    let (mut chi_square, mut used) = (0.0, 0.0);
    for (l, r) in counts.left.iter().zip(&counts.right) {
        let (l, r) = (*l as f64, *r as f64);
        if l + r > 0.0 {
            let expected = (l + r) * total_left / (total_left + total_right);
            chi_square += (l - expected).powi(2) / expected + (l - expected).powi(2) / (l + r - expected).max(1e-9);
            used += 1.0;
        }
    }
    let freedom: f64 = used - 1.0;
    if freedom < 1.0 { 0.0 } else { (chi_square - freedom) / (2.0 * freedom).sqrt() }
}
