//! Selects the most significant of many scores by a quick chi-square test.

use rayon::prelude::*;

use super::view::View;
use crate::attack::bins::Bins;
use crate::attack::bins::Counts;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::preselect::{BINNED, MAX_CELLS, MAX_ROWS, MIN_ROWS};
use crate::model::Side;
use crate::output::Rows;

/// The scores on which the two sides differ most significantly, at most `max` of them, in their old
/// order.
pub fn preselect<V: View>(lesson: Lesson, scores: Vec<V>, max: usize) -> Vec<V> {
    if scores.len() <= max {
        return scores;
    }
    let rows = (MAX_CELLS / lesson.width().max(1)).clamp(MIN_ROWS, MAX_ROWS);
    let (left, right) = (lesson.rows(Side::Left, rows), lesson.rows(Side::Right, rows));
    let mut ranked: Vec<(usize, f64)> =
        scores.par_iter().map(|score| contrast(score, &left, &right)).enumerate().collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked.truncate(max);
    ranked.sort_unstable_by_key(|(index, _)| *index);
    let mut kept = ranked.into_iter().map(|(index, _)| index).peekable();
    scores
        .into_iter()
        .enumerate()
        .filter(|(index, _)| kept.next_if_eq(index).is_some())
        .map(|(_, score)| score)
        .collect()
}

/// How different the binned scores of the two sides are.
pub fn contrast(score: &impl View, left: &Rows, right: &Rows) -> f64 {
    let (left, right) = (score.of(left), score.of(right));
    let bins = Bins::learn_coarse(left.iter().take(BINNED).chain(right.iter().take(BINNED)));
    let mut counts = Counts::new(bins.len());
    for (side, scores) in [(Side::Left, &left), (Side::Right, &right)] {
        scores.iter().for_each(|score| counts.side(side)[bins.index(*score)] += 1);
    }
    counts.contrast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attack::learner::coordinate::Coordinate;
    use crate::attack::learner::output::Output;
    use crate::output::Cell;

    fn rows(cells: &[(Cell, usize)]) -> Rows {
        let mut rows = Rows::new(1);
        cells.iter().for_each(|(cell, times)| (0..*times).for_each(|_| rows.push(&[*cell])));
        rows
    }

    #[test]
    fn the_contrast_is_the_chi_square_of_the_table() {
        let [a, b, c] = ["a", "b", "c"].map(Cell::symbol);
        // Two rows and two columns: n·(ad − bc)² divided by the product of all row and column sums;
        // one degree of freedom.
        let found = contrast(&Output, &rows(&[(a, 60), (b, 40)]), &rows(&[(a, 70), (b, 130)]));
        let chi_square =
            300.0 * (60.0 * 130.0 - 40.0 * 70.0_f64).powi(2) / (100.0 * 200.0 * 130.0 * 170.0);
        assert!((found - (chi_square - 1.0) / 2_f64.sqrt()).abs() < 1e-9, "{found}");
        // Three columns: the sum of (observed − expected)²/expected over all six counts; two
        // degrees of freedom.
        let found = contrast(
            &Output,
            &rows(&[(a, 30), (b, 50), (c, 20)]),
            &rows(&[(a, 50), (b, 30), (c, 20)]),
        );
        let chi_square = 4.0 * 10.0_f64.powi(2) / 40.0;
        assert!((found - (chi_square - 2.0) / 2.0).abs() < 1e-9, "{found}");
        assert_eq!(contrast(&Output, &rows(&[(a, 30)]), &rows(&[(a, 50)])), 0.0);
        // A bin with hits from D only; these rows come after those that the bins are made from.
        let found = contrast(&Output, &rows(&[(a, 5000), (c, 5000)]), &rows(&[(a, 10_000)]));
        let chi_square =
            20_000.0 * (5000.0 * 10_000.0_f64).powi(2) / (1e4 * 1e4 * 15_000.0 * 5000.0);
        assert!((found - (chi_square - 1.0) / 2_f64.sqrt()).abs() < 1e-6, "{found}");
    }

    #[test]
    fn the_most_significant_scores_are_kept_in_their_order() {
        // Ten coordinates. The share of `a` is one half on D'. On D it is larger in the coordinates
        // 3 (six tenths), 7 (nine tenths) and 8 (seven tenths).
        let (a, b) = (Cell::symbol("a"), Cell::symbol("b"));
        let side = |tenths: [usize; 10]| -> Vec<Vec<Cell>> {
            (0..2000_usize)
                .map(|index| {
                    tenths
                        .iter()
                        .map(|tenths| if index * 7 % 10 < *tenths { a } else { b })
                        .collect()
                })
                .collect()
        };
        let (left, right) = (side([5, 5, 5, 6, 5, 5, 5, 9, 7, 5]), side([5; 10]));
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().map(Vec::as_slice).collect(), right.iter().map(Vec::as_slice).collect());
        let lesson = Lesson::of(&left, &right);
        let all = || (0..10).rev().map(Coordinate).collect::<Vec<_>>();
        assert_eq!(preselect(lesson, all(), 1), [7].map(Coordinate));
        assert_eq!(preselect(lesson, all(), 2), [8, 7].map(Coordinate));
        assert_eq!(preselect(lesson, all(), 3), [8, 7, 3].map(Coordinate));
        assert_eq!(preselect(lesson, all(), 10), all());
    }
}
