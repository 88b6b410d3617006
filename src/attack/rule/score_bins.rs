//! A score, its bins, and the hits of each bin: a candidate for a guess rule.

use crate::attack::bins::Counts;
use crate::attack::bins::{Bins, sort};
use crate::attack::learner::trend::TrendHits;
use crate::attack::learner::{Score, View};
use crate::attack::tuning::bins::MIN_CURVE;
use crate::attack::tuning::gain::UNKNOWN;
use crate::attack::tuning::select::FOLDS;
use crate::attack::tuning::trend::RELEARN;
use crate::model::Side;
use crate::output::{Cell, Rows};

/// A score with its bins and their hits.
#[derive(Clone)]
pub struct ScoreBins {
    score: Score,
    bins: Bins,
    hits: Hits,
}

/// The hits of the bins of a score.
#[derive(Clone)]
pub struct Hits {
    folds: Vec<Counts>,
    /// The numbers in the first and the last bin, each with its side and fold. Finer bins for the
    /// tails are made from them.
    ends: Vec<(f64, Side, usize)>,
    /// Hits from which a trend can be fitted again.
    trend: Option<TrendHits>,
}

impl Hits {
    /// Adds the hits of further draws.
    pub fn add(&mut self, other: Self) {
        self.folds.iter_mut().zip(&other.folds).for_each(|(fold, more)| fold.add(more));
        self.ends.extend(other.ends);
        match (&mut self.trend, other.trend) {
            (Some(trend), Some(more)) => trend.add(&more),
            (trend, more) => *trend = trend.take().or(more),
        }
    }
}

impl ScoreBins {
    /// Divides the scores of the rows into bins and counts them. The training rows of a learned
    /// score (every second row) are left out.
    #[must_use]
    pub fn new(score: Score, left: &Rows, right: &Rows) -> Self {
        let every_other =
            |scores: &[Cell]| scores.iter().skip(1).step_by(2).copied().collect::<Vec<Cell>>();
        let unused = |rows| {
            if score.is_learned() { every_other(&score.of(rows)).into() } else { score.of(rows) }
        };
        let (left, right) = (unused(left), unused(right));
        let sample = left.iter().chain(&*right);
        let bins = if score.is_learned() {
            Bins::learn(sample)
        } else {
            Bins::learn_with_rare_atoms(sample)
        };
        let mut score_bins =
            Self { hits: Hits { folds: Vec::new(), ends: Vec::new(), trend: None }, score, bins };
        let mut hits = score_bins.no_hits();
        score_bins.count(&mut hits, Side::Left, &left);
        score_bins.count(&mut hits, Side::Right, &right);
        score_bins.hits = hits;
        score_bins
    }

    /// The score.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// Its bins.
    #[must_use]
    pub fn bins(&self) -> &Bins {
        &self.bins
    }

    /// The hits of each fold.
    #[must_use]
    pub fn folds(&self) -> &[Counts] {
        &self.hits.folds
    }

    /// Whether another score has the same bins with the same hits, and so the same information.
    #[must_use]
    pub fn has_same_hits(&self, other: &Self) -> bool {
        self.bins == other.bins && self.hits.folds == other.hits.folds
    }

    /// The hits of all folds.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut all = Counts::new(self.bins.len());
        self.hits.folds.iter().for_each(|fold| all.add(fold));
        all
    }

    /// Whether the score distinguishes each output from all others, except for one in a thousand.
    /// Then no other score has more information.
    #[must_use]
    pub fn distinguishes_all(&self) -> bool {
        let all = self.counts();
        let unknown = all.left.last().zip(all.right.last()).map_or(0, |(left, right)| left + right);
        self.score == Score::WholeRow && unknown as f64 <= UNKNOWN * all.draws()
    }

    /// The draws counted; at least 1.
    #[must_use]
    pub fn draws(&self) -> f64 {
        self.hits.folds.iter().map(Counts::draws).sum::<f64>().max(1.0)
    }

    /// Whether there are enough numbers for a curve of log-odds along them.
    #[must_use]
    pub fn has_curve(&self) -> bool {
        self.bins.numeric() >= MIN_CURVE
    }

    /// No hits yet, for later draws.
    #[must_use]
    pub fn no_hits(&self) -> Hits {
        Hits { folds: vec![Counts::new(self.bins.len()); FOLDS], ends: Vec::new(), trend: None }
    }

    /// Counts the rows of one side.
    pub fn count_rows(&self, hits: &mut Hits, side: Side, rows: &Rows) {
        self.count(hits, side, &self.score.of(rows));
        if let Score::Trend(trend) = &self.score {
            let trend_hits = hits.trend.get_or_insert_with(|| trend.no_hits(rows.width()));
            rows.iter().for_each(|row| trend.count(trend_hits, side, row));
        }
    }

    /// The same with a trend that is fitted again to the rows counted so far. None if the score is
    /// not a trend, or if these rows are too few compared with the rows kept.
    #[must_use]
    pub fn relearned(&self, left: &Rows, right: &Rows) -> Option<Self> {
        let (Score::Trend(trend), Some(hits)) = (&self.score, &self.hits.trend) else {
            return None;
        };
        let (counted_left, counted_right) = hits.totals();
        if counted_left + counted_right < RELEARN * (left.len() + right.len()) as f64 {
            return None;
        }
        let mut trend = trend.clone();
        trend.fit(hits);
        Some(Self::new(Score::Trend(trend), left, right))
    }

    /// Counts scores of one side.
    pub fn count(&self, hits: &mut Hits, side: Side, scores: &[Cell]) {
        let last = self.bins.numeric() - 1;
        // Above an infinite edge there is only one value, and nothing to divide.
        let (low, high) =
            (0, if self.bins.edges().last() == Some(&f64::INFINITY) { 0 } else { last });
        let bins = self.bins.index_all(scores);
        let mut at_ends = 0_u64;
        for (fold, counts) in hits.folds.iter_mut().enumerate() {
            let counts = counts.side(side);
            let before = counts[low] + counts[high];
            bins.iter().skip(fold).step_by(FOLDS).for_each(|bin| counts[*bin as usize] += 1);
            at_ends += counts[low] + counts[high] - before;
        }
        if last > 0 && at_ends > 0 {
            let ends = bins
                .iter()
                .enumerate()
                .filter(|(_, bin)| **bin as usize == low || **bin as usize == high);
            hits.ends.extend(
                ends.filter_map(|(index, _)| {
                    Some((scores[index].as_number()?, side, index % FOLDS))
                }),
            );
        }
    }

    /// Adds the hits of further draws, and divides the first and the last bin if they have enough
    /// hits.
    pub fn add_hits(&mut self, hits: Hits) {
        self.hits.add(hits);
        let mut numbers: Vec<f64> = self.hits.ends.iter().map(|(number, ..)| *number).collect();
        sort(&mut numbers);
        let Some(finer) = self.bins.with_finer_ends(&numbers) else { return };
        let before = self.bins.numeric() - 1;
        let first = finer.edges().partition_point(|edge| Some(edge) < self.bins.edges().first());
        for (fold, counts) in self.hits.folds.iter_mut().enumerate() {
            for side in [Side::Left, Side::Right] {
                let old = counts.side(side).to_vec();
                let mut new = vec![0; finer.len()];
                // The bins between the ends and those of symbols keep their hits; the numbers at
                // the ends are counted again.
                new[first + 1..first + before].copy_from_slice(&old[1..before]);
                new[finer.numeric()..].copy_from_slice(&old[before + 1..]);
                for (number, of_side, of_fold) in &self.hits.ends {
                    if *of_side == side && *of_fold == fold {
                        new[finer.index(Cell::number(*number))] += 1;
                    }
                }
                counts.replace(side, new);
            }
        }
        let last = finer.numeric() - 1;
        self.hits
            .ends
            .retain(|(number, ..)| [0, last].contains(&finer.index(Cell::number(*number))));
        self.bins = finer;
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::attack::learner::coordinate::Coordinate;
    use crate::noise::{Generator, laplace};

    #[test]
    fn infinite_outputs_are_counted_but_not_stored() {
        // Half of all outputs are +∞. A list of them would grow with the number of draws.
        let mut rows = Rows::new(1);
        rows.resize(1000);
        rows.iter_mut().enumerate().for_each(|(index, row)| {
            row[0] = Cell::number(if index % 2 == 0 { f64::INFINITY } else { index as f64 });
        });
        let score_bins = ScoreBins::new(Score::Output, &rows, &rows);
        let mut hits = score_bins.no_hits();
        score_bins.count(&mut hits, Side::Left, rows.cells());
        assert!(hits.ends.len() < 20, "{} stored", hits.ends.len());
        assert_eq!(hits.folds.iter().map(|fold| fold.left.iter().sum::<u64>()).sum::<u64>(), 1000);
        assert_eq!(
            hits.folds
                .iter()
                .map(|fold| fold.left[score_bins.bins().index(Cell::number(f64::INFINITY))])
                .sum::<u64>(),
            500
        );
    }

    #[test]
    fn finer_ends_lose_no_hits() {
        let mut rng = Generator::seed_from_u64(11);
        let mut rows = |count: usize, at: f64| {
            let mut rows = Rows::new(1);
            rows.resize(count);
            rows.iter_mut().for_each(|row| {
                row[0] = if count % 2 == 1 {
                    Cell::symbol("⊥")
                } else {
                    Cell::number(at + laplace(&mut rng, 1.0))
                }
            });
            rows
        };
        let mut score_bins = ScoreBins::new(Score::Output, &rows(2000, 0.0), &rows(2000, 1.0));
        let (more_left, more_right) = (rows(200_000, 0.0), rows(200_000, 1.0));
        let mut hits = score_bins.no_hits();
        score_bins.count(&mut hits, Side::Left, more_left.cells());
        score_bins.count(&mut hits, Side::Right, more_right.cells());
        let before = score_bins.bins().numeric();
        score_bins.add_hits(hits);
        assert!(score_bins.bins().numeric() > before, "the tails were divided");
        // Counted again with the finer bins, the later draws give all hits except the first 4,000.
        let mut again = score_bins.no_hits();
        score_bins.count(&mut again, Side::Left, more_left.cells());
        score_bins.count(&mut again, Side::Right, more_right.cells());
        let mut missing = 0;
        for (fold, counted) in score_bins.folds().iter().zip(&again.folds) {
            for (all, later) in
                fold.left.iter().chain(&fold.right).zip(counted.left.iter().chain(&counted.right))
            {
                assert!(all >= later);
                missing += all - later;
            }
        }
        assert_eq!(missing, 4000);
    }

    fn of(width: usize, count: usize, cells: impl Fn(usize) -> Vec<Cell>) -> Rows {
        let mut rows = Rows::new(width);
        (0..count).for_each(|index| rows.push(&cells(index)));
        rows
    }

    #[test]
    fn every_draw_is_counted_once_in_its_fold() {
        let number = |index: usize| vec![Cell::number((index * 7919 % 4001) as f64)];
        let (left, right) = (of(1, 4003, number), of(1, 3001, number));
        let score_bins = ScoreBins::new(Score::Output, &left, &right);
        for (index, fold) in score_bins.folds().iter().enumerate() {
            let mut expected = Counts::new(score_bins.bins().len());
            left.iter()
                .skip(index)
                .step_by(FOLDS)
                .for_each(|row| expected.left[score_bins.bins().index(row[0])] += 1);
            right
                .iter()
                .skip(index)
                .step_by(FOLDS)
                .for_each(|row| expected.right[score_bins.bins().index(row[0])] += 1);
            assert_eq!(*fold, expected);
        }
        assert_eq!(score_bins.folds().len(), FOLDS);
        assert_eq!(score_bins.counts().draws(), 7004.0);
        // A score with the same hits, and two with other hits.
        assert!(score_bins.has_same_hits(&ScoreBins::new(
            Score::Coordinate(Coordinate(0)),
            &left,
            &right
        )));
        assert!(!score_bins.has_same_hits(&ScoreBins::new(Score::Output, &right, &left)));
        assert!(!score_bins.has_same_hits(&ScoreBins::new(
            Score::Output,
            &left,
            &of(1, 3001, |index| vec![Cell::number(index as f64)])
        )));
    }

    #[test]
    fn ends_that_are_divided_several_times_lose_no_hits() {
        let mut rng = Generator::seed_from_u64(12);
        let mut rows = |count: usize| {
            let mut rows = Rows::new(1);
            (0..count).for_each(|_| rows.push(&[Cell::number(laplace(&mut rng, 1.0))]));
            rows
        };
        let (mut left, right) = (rows(2000), rows(2000));
        let mut score_bins = ScoreBins::new(Score::Output, &left, &right);
        for count in [8000, 16_000, 32_000] {
            let (more, before) = (rows(count), score_bins.bins().numeric());
            let mut hits = score_bins.no_hits();
            score_bins.count(&mut hits, Side::Left, more.cells());
            score_bins.add_hits(hits);
            assert!(score_bins.bins().numeric() > before);
            left.append(&more);
            let mut expected = Counts::new(score_bins.bins().len());
            left.iter().for_each(|row| expected.left[score_bins.bins().index(row[0])] += 1);
            right.iter().for_each(|row| expected.right[score_bins.bins().index(row[0])] += 1);
            assert_eq!(score_bins.counts(), expected);
        }
    }

    #[test]
    fn draws_at_only_one_end_are_kept_for_finer_bins() {
        let even = of(1, 4000, |index| vec![Cell::number(index as f64)]);
        for (beyond, sign) in [(0.0, -1.0), (4000.0, 1.0)] {
            let mut score_bins = ScoreBins::new(Score::Output, &even, &even);
            let before = score_bins.bins().numeric();
            let far = of(1, 100, |index| vec![Cell::number(beyond + sign * (index + 1) as f64)]);
            for side in [Side::Left, Side::Right] {
                let mut hits = score_bins.no_hits();
                // Counted in three parts; the second part has no draws at the ends.
                let (some, others) = far.cells().split_at(50);
                [some, &even.cells()[1000..1500], others]
                    .into_iter()
                    .for_each(|part| score_bins.count(&mut hits, side, part));
                score_bins.add_hits(hits);
            }
            assert!(score_bins.bins().numeric() > before, "the end is divided");
            let mut expected = Counts::new(score_bins.bins().len());
            even.iter()
                .chain(even.iter().skip(1000).take(500))
                .chain(&far)
                .for_each(|row| expected.left[score_bins.bins().index(row[0])] += 1);
            expected.right.clone_from(&expected.left);
            assert_eq!(score_bins.counts(), expected);
        }
    }

    #[test]
    fn a_score_distinguishes_all_if_at_most_a_thousandth_of_the_rows_is_unknown() {
        let score_bins = |score: Score, unknown: usize| {
            let row = |index: usize| {
                vec![
                    Cell::number(if index < unknown { index as f64 } else { -1.0 }),
                    Cell::number(0.0),
                ]
            };
            // One more unknown row on D'.
            ScoreBins::new(
                score,
                &of(2, 1000, row),
                &of(2, 1000, |index| vec![Cell::number(if index == 0 { -2.0 } else { -1.0 }); 2]),
            )
        };
        assert!(score_bins(Score::WholeRow, 1).distinguishes_all());
        assert!(!score_bins(Score::WholeRow, 2).distinguishes_all());
        assert!(!score_bins(Score::Coordinate(Coordinate(0)), 0).distinguishes_all());
    }

    #[test]
    fn a_learned_score_is_counted_on_unused_rows_and_learned_again_from_later_ones() {
        use crate::attack::learner::trend::Trend;
        use crate::attack::lesson::Lesson;
        // A number with or without ⊥ next to it. On D the rows with an odd index have ⊥, on D' the
        // others.
        let bottom = Cell::symbol("⊥");
        let row = |index: usize, with: usize| {
            vec![
                Cell::number((index * 7919 % 997) as f64),
                if index % 2 == with { bottom } else { Cell::number(1e6) },
            ]
        };
        let (left, right) =
            (of(2, 1000, |index| row(index, 1)), of(2, 1000, |index| row(index, 0)));
        let lesson: (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().step_by(2).collect(), right.iter().step_by(2).collect());
        let trend = Trend::learn(Lesson::of(&lesson.0, &lesson.1)).expect("⊥ next to numbers");
        let mut score_bins = ScoreBins::new(Score::Trend(trend.clone()), &left, &right);
        // Only rows with an odd index are counted: with ⊥ on D, without ⊥ on D'.
        let score = |row: &[Cell]| score_bins.bins().index(trend.score(row));
        let mut expected = Counts::new(score_bins.bins().len());
        left.iter().skip(1).step_by(2).for_each(|row| expected.left[score(row)] += 1);
        right.iter().skip(1).step_by(2).for_each(|row| expected.right[score(row)] += 1);
        assert_eq!(score_bins.counts(), expected);
        assert_eq!(expected.draws(), 1000.0);
        assert!(score_bins.relearned(&left, &right).is_none(), "nothing was counted yet");
        // 1,999 further rows of each side are less than twice the 2,000 rows kept; one more row of
        // each side is enough.
        let more = |score_bins: &mut ScoreBins, count: usize| {
            let (mut hits, mut others) = (score_bins.no_hits(), score_bins.no_hits());
            score_bins.count_rows(&mut hits, Side::Left, &of(2, count, |index| row(index, 0)));
            score_bins.count_rows(&mut others, Side::Right, &of(2, count, |index| row(index, 0)));
            hits.add(others);
            score_bins.add_hits(hits);
        };
        more(&mut score_bins, 1000);
        more(&mut score_bins, 999);
        assert_eq!(score_bins.counts().draws(), 1000.0 + 2.0 * 1999.0);
        assert!(score_bins.relearned(&left, &right).is_none());
        more(&mut score_bins, 1);
        let again = score_bins.relearned(&left, &right).expect("enough rows");
        let Score::Trend(refitted) = again.score() else { panic!("still a trend") };
        // The later rows are the same on both sides, so ⊥ carries no further information.
        assert!(refitted.score(&row(1, 1)).raw().abs() < 0.05, "{:?}", refitted.score(&row(1, 1)));
        assert!(trend.score(&row(1, 1)).raw().abs() > 1.0);
    }
}
