//! What the guesses about one run, or about one step with fresh coins, came to.

use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// Which answers the guesses give. It is fixed before the scores are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// High scores are guessed in, low scores out.
    #[default]
    Both,
    /// High scores are guessed in; nothing is guessed out.
    In,
    /// Low scores are guessed out; nothing is guessed in.
    Out,
}

impl Sides {
    /// How many canaries the budget of δ counts. A guess "in" can profit only from the half of the
    /// definition that is about outputs on the dataset with the canary; the same with "out".
    pub(super) fn effective(self, canaries: u64) -> f64 {
        match self {
            Self::Both => canaries as f64,
            Self::In | Self::Out => canaries as f64 / 2.0,
        }
    }
}

/// The guesses about the canaries of one run, or of one step with fresh coins.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The number of canaries, guessed or not.
    canaries: u64,
    sides: Sides,
    /// How sure each guess is, the surest first: from 1 down to 0, by rank.
    sureness: Vec<f64>,
    /// Whether each guess is right.
    right: Vec<bool>,
}

impl Trial {
    /// Guesses by rank, so they do not depend on the scale of the scores: with both sides, those
    /// above the median are guessed in and the others out, the outermost first. Equal scores are
    /// ordered by `rng` alone, because their position may carry the coin.
    ///
    /// `scores` must be numbers, one for each coin.
    #[must_use]
    pub fn of_scores(scores: &[f64], included: &[bool], sides: Sides, rng: &mut Pcg64Mcg) -> Self {
        let mut order: Vec<usize> = (0..scores.len().min(included.len())).collect();
        order.shuffle(rng);
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let canaries = order.len();
        // The place from the top and from the bottom.
        let mut guesses: Vec<(usize, bool, usize)> = match sides {
            Sides::In => order.iter().enumerate().map(|(place, one)| (place, true, *one)).collect(),
            Sides::Out => {
                order.iter().rev().enumerate().map(|(place, one)| (place, false, *one)).collect()
            }
            Sides::Both => {
                let middle = canaries / 2;
                let (top, bottom) = order.split_at(middle);
                let tops = top.iter().enumerate().map(|(place, one)| (2 * place, true, *one));
                let bottoms =
                    bottom.iter().rev().enumerate().map(|(place, one)| (2 * place, false, *one));
                tops.chain(bottoms).collect()
            }
        };
        // A top and a bottom at the same distance from the middle are equally sure.
        guesses.shuffle(rng);
        guesses.sort_by_key(|(place, ..)| *place);
        let (sureness, right) = guesses
            .into_iter()
            .map(|(place, says_in, one)| {
                (1.0 - place as f64 / canaries as f64, says_in == included[one])
            })
            .unzip();
        Self { canaries: canaries as u64, sides, sureness, right }
    }

    /// So many guesses about `canaries` canaries, of which so many are right. Nothing is known
    /// about their order.
    #[must_use]
    pub fn of_counts(canaries: u64, guesses: u64, correct: u64, sides: Sides) -> Counted {
        Counted { canaries: sides.effective(canaries), guesses, correct: correct.min(guesses) }
    }

    /// The number of canaries.
    #[must_use]
    pub fn canaries(&self) -> u64 {
        self.canaries
    }

    /// Which answers the guesses give.
    #[must_use]
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// The first `guesses` guesses.
    #[must_use]
    pub fn first(&self, guesses: u64) -> Counted {
        let correct = self.right.iter().take(index(guesses)).filter(|right| **right).count();
        Self::of_counts(self.canaries, guesses, correct as u64, self.sides)
    }

    /// Several runs as one: all guesses, ordered by their ranks within their own runs.
    #[must_use]
    pub fn pooled(trials: &[Self]) -> Self {
        let mut all: Vec<(f64, usize, bool)> = trials
            .iter()
            .enumerate()
            .flat_map(|(run, trial)| {
                let guesses = trial.sureness.iter().zip(&trial.right);
                guesses.map(move |(sureness, right)| (*sureness, run, *right))
            })
            .collect();
        // Neither the rank nor the run carries a coin.
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Self {
            canaries: trials.iter().map(|trial| trial.canaries).sum(),
            sides: trials.first().map_or_else(Sides::default, |trial| trial.sides),
            sureness: all.iter().map(|(sureness, ..)| *sureness).collect(),
            right: all.iter().map(|(_, _, right)| *right).collect(),
        }
    }

    /// The right guesses among the first so many, for each of these growing numbers.
    #[must_use]
    pub fn correct_at(&self, sizes: &[u64]) -> Vec<u64> {
        let mut correct = 0;
        let mut counted = 0;
        sizes
            .iter()
            .map(|size| {
                let next = index(*size).min(self.right.len());
                let more = &self.right[counted.min(next)..next];
                correct += more.iter().filter(|right| **right).count() as u64;
                counted = next;
                correct
            })
            .collect()
    }
}

/// A count as an index: one that is too large reaches the end.
fn index(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// A number of guesses that was fixed beforehand, and how many of them are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// The effective number of canaries: half of them if all guesses are the same.
    pub canaries: f64,
    /// The guesses.
    pub guesses: u64,
    /// The right ones.
    pub correct: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn rng() -> Pcg64Mcg {
        Pcg64Mcg::seed_from_u64(1)
    }

    #[test]
    fn the_outermost_scores_are_guessed_first() {
        let scores = [0.1, 5.0, -7.0, 0.2, 1.0, -1.0];
        let included = [true, true, false, true, false, true];
        // Pairs from the outside: (5, −7), (1, −1), (.2, .1).
        let trial = Trial::of_scores(&scores, &included, Sides::Both, &mut rng());
        assert_eq!(trial.correct_at(&[2, 4, 6]), [2, 2, 3]);
        let trial = Trial::of_scores(&scores, &included, Sides::In, &mut rng());
        assert_eq!(trial.correct_at(&[1, 2, 3, 6]), [1, 1, 2, 4]);
        let trial = Trial::of_scores(&scores, &included, Sides::Out, &mut rng());
        assert_eq!(trial.correct_at(&[1, 2, 3]), [1, 1, 1]);
        assert_eq!(trial.first(3), Counted { canaries: 3.0, guesses: 3, correct: 1 });
    }

    #[test]
    fn guesses_do_not_depend_on_the_scale_of_the_scores() {
        let scores: Vec<f64> = (0..101).map(|i| f64::from((i * 37) % 101)).collect();
        let included: Vec<bool> = (0..101).map(|i| i % 3 == 0).collect();
        let cubes: Vec<f64> = scores.iter().map(|score| score.powi(3) - 5.0).collect();
        for sides in [Sides::Both, Sides::In, Sides::Out] {
            assert_eq!(
                Trial::of_scores(&scores, &included, sides, &mut rng()),
                Trial::of_scores(&cubes, &included, sides, &mut rng())
            );
        }
    }

    #[test]
    fn equal_scores_are_not_ordered_by_position() {
        // Every included canary comes first, and the scores say nothing. The first 500 guesses "in"
        // would all be right by position. Chance: 500 ± 6·11.
        let included: Vec<bool> = (0..1000).map(|i| i < 500).collect();
        let trial = Trial::of_scores(&[0.0; 1000], &included, Sides::In, &mut rng());
        let correct = trial.first(500).correct;
        assert!((184..=316).contains(&correct), "{correct}: chance has this below 1e-6");
    }

    #[test]
    fn pooled_runs_keep_the_ranks_within_each_run() {
        // The scores of the second run are a thousand times as large.
        let included = [true, false, true, false];
        let small = Trial::of_scores(&[4.0, 1.0, 3.0, 2.0], &included, Sides::Both, &mut rng());
        let large = Trial::of_scores(&[1e3, 4e3, 2e3, 3e3], &included, Sides::Both, &mut rng());
        let pooled = Trial::pooled(&[small.clone(), large]);
        assert_eq!(pooled.canaries(), 8);
        // The two surest of each run: both of the first are right, both of the second wrong.
        assert_eq!(pooled.first(4).correct, 2);
        assert_eq!(Trial::pooled(std::slice::from_ref(&small)), small);
    }
}
