//! Weighted sums of the numbers in a row.
//!
//! The linear discriminant undoes correlations: it gives weight to directions in which the sides
//! differ and the noise is small. If noise is used twice, it cancels in some direction, and what is
//! left there is the data. Where the means are equal and the noise is not, the directions in which
//! the sides' variances differ most are looked at.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::view::{View, complete};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::fit::matrix::{Factor, Square, sums_of_products};
use crate::attack::fit::table::STEPS;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::linear::{
    MAX_COMPONENTS, MAX_EIGEN, MIDDLE, RIDGE, ROWS_PER_COMPONENT, TIED_MIDDLE,
};
use crate::model::number::Brief;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "linear",
    sees: "weighted sums: linear discriminants, clipped ones, and directions of variance",
    cost: Cost::Slow,
    attacks: &[Attack::Directions],
    widths: 2..=MAX_COMPONENTS,
    learn: |lesson| Linear::learn(lesson).into_iter().map(Score::Linear).collect(),
};

/// Rows whose products are summed at a time. It is fixed, so that sums do not depend on the number
/// of threads.
const BLOCK: usize = 2048;

/// How the weights were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Weights {
    /// By linear discriminant analysis; the sum is a log-ratio.
    Discriminant,
    /// The same with one weight for all components. It has hardly any freedom to follow chance.
    Tied,
    /// The direction in which the variances of the sides differ most.
    Direction,
}

/// A weighted sum of numbers. Symbols count as the mean of their component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Linear {
    /// For each component: the mean, and the weight of the difference from it.
    #[serde(with = "crate::model::exact::list")]
    means: Vec<f64>,
    #[serde(with = "crate::model::exact::list")]
    weights: Vec<f64>,
    /// Each component is clipped to the range between these; empty if none is.
    #[serde(with = "crate::model::exact::list")]
    lows: Vec<f64>,
    #[serde(with = "crate::model::exact::list")]
    highs: Vec<f64>,
    kind: Weights,
}

impl Linear {
    /// The linear discriminants of these rows, and the directions in which the variances of the
    /// sides differ most.
    #[must_use]
    pub fn learn(lesson: Lesson) -> Vec<Self> {
        let rows = lesson.left.len().min(lesson.right.len());
        if rows < ROWS_PER_COMPONENT * lesson.width() {
            return Vec::new();
        }
        let raw = || {
            Scale::of(lesson, Vec::new()).map(|scale| Self::raw(lesson, &scale)).unwrap_or_default()
        };
        let clipped = |middle: f64, kind: Weights| {
            let scale = Scale::clipped(lesson, middle)?;
            Differences::new(lesson, &scale).discriminant(&scale, strong_ridge(lesson), kind)
        };
        let (raw, (clipped, tied)) = rayon::join(raw, || {
            rayon::join(
                || clipped(MIDDLE, Weights::Discriminant),
                || clipped(TIED_MIDDLE, Weights::Tied),
            )
        });
        raw.into_iter().chain(clipped).chain(tied).collect()
    }

    /// The discriminants of numbers that are not clipped, and the directions of variance.
    fn raw(lesson: Lesson, scale: &Scale) -> Vec<Self> {
        let found = Differences::new(lesson, scale);
        let discriminants = [RIDGE, strong_ridge(lesson)]
            .map(|ridge| found.discriminant(scale, ridge, Weights::Discriminant));
        let directions =
            (lesson.width() <= MAX_EIGEN).then(|| found.right.covariance.factor(RIDGE)).flatten();
        let directions = directions
            .map(|factor| extreme_directions(&found.left.covariance, &factor))
            .unwrap_or_default();
        let directions = directions
            .iter()
            .map(|direction| scale.linear(direction, &found.middle(), Weights::Direction));
        discriminants.into_iter().flatten().chain(directions).collect()
    }

}

impl View for Linear {
    fn check(&self, width: usize) -> Result<(), String> {
        let clips =
            [&self.lows, &self.highs].iter().all(|ends| ends.is_empty() || ends.len() == width)
                && self.lows.len() == self.highs.len();
        complete(self.means.len() == width && self.weights.len() == width && clips)
    }

    fn is_ratio(&self) -> bool {
        self.kind != Weights::Direction
    }

    fn is_learned(&self) -> bool {
        true
    }

    fn is_symmetric(&self) -> bool {
        self.kind == Weights::Tied
    }

    fn is_late(&self) -> bool {
        self.kind != Weights::Tied
    }

    /// The sum in words: its largest terms, `0.53·y[3] − 0.21·y[1] + 8 more terms`.
    fn describe(&self, names: &Symbols) -> String {
        const SHOWN: usize = 3;
        let mut terms: Vec<usize> =
            (0..self.weights.len()).filter(|index| self.weights[*index] != 0.0).collect();
        terms.sort_by(|a, b| self.weights[*b].abs().total_cmp(&self.weights[*a].abs()));
        let term = |(place, index): (usize, &usize)| {
            let weight = self.weights[*index];
            let sign = match (place, weight < 0.0) {
                (0, false) => "",
                (0, true) => "−",
                (_, false) => " + ",
                (_, true) => " − ",
            };
            format!("{sign}{}·{}", Brief(weight.abs()), names.column(*index))
        };
        let text: String = terms.iter().take(SHOWN).enumerate().map(term).collect();
        let clipped = if self.lows.is_empty() { "" } else { ", each clipped" };
        match terms.len().saturating_sub(SHOWN) {
            0 => format!("({text}{clipped})"),
            1 => format!("({text} + 1 more term{clipped})"),
            more => format!("({text} + {more} more terms{clipped})"),
        }
    }

    /// The sum, in whole steps.
    fn score(&self, row: &[Cell]) -> Cell {
        let clipped =
            |index: usize, number: f64| match (self.lows.get(index), self.highs.get(index)) {
                (Some(low), Some(high)) => number.max(*low).min(*high),
                _ => number,
            };
        let term = |(index, cell): (usize, &Cell)| {
            cell.as_number().map_or(0.0, |number| {
                (clipped(index, number) - self.means[index]) * self.weights[index]
            })
        };
        let sum: f64 = row.iter().enumerate().map(term).sum();
        // An infinite number times a weight of 0, or opposite infinities: no evidence.
        if sum.is_nan() {
            Cell::number(0.0)
        } else {
            Cell::number((sum * STEPS).clamp(-1e12, 1e12).round() / STEPS + 0.0)
        }
    }
}

/// Means and standard deviations of the components, both sides together, and where they are
/// clipped.
struct Scale {
    means: Vec<f64>,
    deviations: Vec<f64>,
    clips: Vec<(f64, f64)>,
}

impl Scale {
    /// None if fewer than two components vary.
    fn of(lesson: Lesson, clips: Vec<(f64, f64)>) -> Option<Self> {
        let mut scale = Self { means: Vec::new(), deviations: Vec::new(), clips };
        let all = || lesson.left.iter().chain(lesson.right);
        let of_component = |index: usize| {
            let (mut count, mut sum) = (0.0_f64, 0.0);
            for number in all().filter_map(|row| scale.number(row, index)) {
                (count, sum) = (count + 1.0, sum + number);
            }
            let mean = sum / count.max(1.0);
            let squares: f64 = all()
                .filter_map(|row| scale.number(row, index))
                .map(|number| (number - mean).powi(2))
                .sum();
            (mean, (squares / count.max(1.0)).sqrt())
        };
        let (means, deviations): (Vec<f64>, Vec<f64>) =
            (0..lesson.width()).into_par_iter().map(of_component).unzip();
        let varies = |deviation: &&f64| deviation.is_finite() && **deviation > 0.0;
        let enough = deviations.iter().filter(varies).count() >= 2;
        (scale.means, scale.deviations) = (means, deviations);
        enough.then_some(scale)
    }

    /// The same with each component clipped to this middle part of its numbers.
    fn clipped(lesson: Lesson, middle: f64) -> Option<Self> {
        let brief = lesson.brief();
        let clip = |index: usize| {
            let mut numbers: Vec<f64> =
                brief.left.iter().chain(brief.right).filter_map(|row| finite(row[index])).collect();
            numbers.sort_unstable_by(f64::total_cmp);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // between 0 and the number of numbers
            let quantile = |share: f64| {
                numbers.get((share * numbers.len() as f64) as usize).copied().unwrap_or(0.0)
            };
            (quantile(0.5 - middle / 2.0), quantile(0.5 + middle / 2.0))
        };
        Self::of(lesson, (0..lesson.width()).into_par_iter().map(clip).collect())
    }

    /// A component of a row, clipped; None for a symbol.
    fn number(&self, row: &[Cell], index: usize) -> Option<f64> {
        let number = finite(row[index]);
        self.clips
            .get(index)
            .map_or(number, |(low, high)| number.map(|number| number.max(*low).min(*high)))
    }

    /// The same, standardised; 0 for a symbol and for a component that does not vary.
    fn standardised(&self, row: &[Cell], index: usize) -> f64 {
        let deviation = self.deviations[index];
        let number = self.number(row, index).filter(|_| deviation.is_finite() && deviation > 0.0);
        number.map_or(0.0, |number| (number - self.means[index]) / deviation)
    }

    /// The score with these weights of standardised components; 0 at `middle`.
    fn linear(&self, weights: &[f64], middle: &[f64], kind: Weights) -> Linear {
        let varies =
            |index: usize| self.deviations[index].is_finite() && self.deviations[index] > 0.0;
        let weight = |index: usize| {
            if varies(index) { weights[index] / self.deviations[index] } else { 0.0 }
        };
        let mean = |index: usize| {
            if varies(index) {
                self.means[index] + middle[index] * self.deviations[index]
            } else {
                0.0
            }
        };
        let width = self.means.len();
        let (lows, highs) = self.clips.iter().copied().unzip();
        Linear {
            means: (0..width).map(mean).collect(),
            weights: (0..width).map(weight).collect(),
            lows,
            highs,
            kind,
        }
    }
}

/// The number of a cell, if it is finite.
fn finite(cell: Cell) -> Option<f64> {
    cell.as_number().filter(|number| number.is_finite())
}

/// The mean and the covariance of standardised rows.
struct Moments {
    mean: Vec<f64>,
    covariance: Square,
}

impl Moments {
    fn of(rows: &[&[Cell]], scale: &Scale) -> Self {
        let width = scale.means.len();
        let blocks: Vec<(Vec<f64>, Square)> = rows
            .par_chunks(BLOCK)
            .map(|rows| {
                sums_of_products(width, rows.len(), |index, row| {
                    scale.standardised(rows[row], index)
                })
            })
            .collect();
        let zero = (vec![0.0; width], Square::from_fn(width, |_, _| 0.0));
        let (sum, products) = blocks.iter().fold(zero, |(mut sum, mut products), block| {
            sum.iter_mut().zip(&block.0).for_each(|(sum, term)| *sum += term);
            products.add(&block.1);
            (sum, products)
        });
        let count = rows.len().max(1) as f64;
        let mean: Vec<f64> = sum.iter().map(|sum| sum / count).collect();
        let covariance = Square::from_fn(width, |row, column| {
            products.at(row, column) / count - mean[row] * mean[column]
        });
        Self { mean, covariance }
    }
}

/// The moments of both sides.
struct Differences {
    left: Moments,
    right: Moments,
}

impl Differences {
    fn new(lesson: Lesson, scale: &Scale) -> Self {
        let (left, right) =
            rayon::join(|| Moments::of(lesson.left, scale), || Moments::of(lesson.right, scale));
        Self { left, right }
    }

    fn middle(&self) -> Vec<f64> {
        self.left.mean.iter().zip(&self.right.mean).map(|(a, b)| (a + b) * 0.5).collect()
    }

    /// The linear discriminant with this ridge; `kind` says whether its weights are free. None if
    /// there is none.
    fn discriminant(&self, scale: &Scale, ridge: f64, kind: Weights) -> Option<Linear> {
        let difference: Vec<f64> =
            self.left.mean.iter().zip(&self.right.mean).map(|(a, b)| a - b).collect();
        let (left, right) = (&self.left.covariance, &self.right.covariance);
        let pooled = Square::from_fn(difference.len(), |row, column| {
            (left.at(row, column) + right.at(row, column)) * 0.5
        });
        let weights = if kind == Weights::Tied {
            vec![difference.iter().sum::<f64>() / pooled.sum(); difference.len()]
        } else {
            pooled.factor(ridge.max(RIDGE))?.solve(difference)
        };
        weights
            .iter()
            .all(|weight| weight.is_finite())
            .then(|| scale.linear(&weights, &self.middle(), kind))
    }
}

/// A strong ridge where there are few rows for each component.
fn strong_ridge(lesson: Lesson) -> f64 {
    lesson.width() as f64 / lesson.left.len().min(lesson.right.len()) as f64
}

/// The two directions in which this covariance is smallest and largest, compared with another one
/// that is given by its factor. Both have variance 1 in the other one.
fn extreme_directions(covariance: &Square, other: &Factor) -> Vec<Vec<f64>> {
    // With other = L·Lᵀ, the variance along Lᵀ⁻¹·u is uᵀ·(L⁻¹·covariance·Lᵀ⁻¹)·u.
    let Some(eigen) = other.whiten(covariance).eigen() else { return Vec::new() };
    let direction = |vector: &[f64]| {
        let mut direction = vector.to_vec();
        other.solve_upper(&mut direction);
        direction
    };
    eigen
        .extremes()
        .into_iter()
        .map(direction)
        .filter(|direction| direction.iter().all(|value| value.is_finite()))
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::noise::{Generator, gaussian, laplace};

    fn lesson<T>(rows: &mut dyn FnMut(f64) -> Vec<f64>, test: impl Fn(Lesson) -> T) -> T {
        let mut side = |shift: f64| -> Vec<Vec<Cell>> {
            (0..4000).map(|_| rows(shift).into_iter().map(Cell::number).collect()).collect()
        };
        let (left, right) = (side(0.0), side(1.0));
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().map(Vec::as_slice).collect(), right.iter().map(Vec::as_slice).collect());
        test(Lesson::of(&left, &right))
    }

    fn score(linear: &Linear, row: &[f64]) -> f64 {
        linear.score(&row.iter().copied().map(Cell::number).collect::<Vec<_>>()).raw()
    }

    #[test]
    fn the_discriminant_of_correlated_noise_is_its_log_ratio() {
        let mut rng = Generator::seed_from_u64(3);
        // Common noise of deviation 3 and own noise of deviation 1; only the first component is
        // shifted. The covariance is I + 9·J, so by Sherman–Morrison the log-ratio is −(y₁ −
        // 9/19·(y₁ + y₂)) + ½·10/19.
        let mut rows = |shift: f64| {
            let common = gaussian(&mut rng, 3.0);
            vec![shift + common + gaussian(&mut rng, 1.0), common + gaussian(&mut rng, 1.0)]
        };
        let found = lesson(&mut rows, Linear::learn);
        let exact = |y: [f64; 2]| -(y[0] - 9.0 / 19.0 * (y[0] + y[1])) + 5.0 / 19.0;
        // Slopes are known up to about √(2/8000)·3 = 0.05; five times this is allowed at a distance
        // of one.
        for row in [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]] {
            assert!(
                (score(&found[0], &row) - exact(row)).abs() < 0.25,
                "{row:?}: {} against {}",
                score(&found[0], &row),
                exact(row)
            );
        }
        assert!(
            found[0].is_ratio()
                && found.iter().all(|linear| linear.check(2).is_ok() && linear.check(3).is_err())
        );
    }

    #[test]
    fn noise_that_is_used_twice_cancels() {
        let mut rng = Generator::seed_from_u64(4);
        let mut rows = |shift: f64| {
            let (first, second) = (laplace(&mut rng, 5.0), laplace(&mut rng, 5.0));
            vec![first + shift, second, first + second]
        };
        let found = lesson(&mut rows, Linear::learn);
        // y₃ − y₁ − y₂ is 0 on D and −1 on D', so the sides are far apart whatever the noise.
        for (first, second) in [(0.3, -2.0), (40.0, 7.0), (-11.0, 0.0)] {
            assert!(score(&found[0], &[first, second, first + second]) > 100.0);
            assert!(score(&found[0], &[first + 1.0, second, first + second]) < -100.0);
        }
    }

    #[test]
    fn a_direction_in_which_only_the_variance_differs_is_found() {
        let mut rng = Generator::seed_from_u64(5);
        // On D' the second component repeats the first one's noise.
        let mut rows = |shift: f64| {
            let (first, second) = (gaussian(&mut rng, 1.0), gaussian(&mut rng, 1.0));
            vec![first, if shift > 0.0 { first + 0.01 * second } else { second }]
        };
        let found = lesson(&mut rows, Linear::learn);
        let directions: Vec<&Linear> = found.iter().filter(|linear| !linear.is_ratio()).collect();
        let along =
            |linear: &Linear, row: [f64; 2]| score(linear, &row) - score(linear, &[0.0, 0.0]);
        // Along y₁ − y₂ the deviation is 0.01 on D'.
        assert!(directions.iter().any(
            |linear| along(linear, [1.0, 1.0]).abs() < 0.05 * along(linear, [1.0, -1.0]).abs()
        ));
    }

    #[test]
    fn clipped_sums_see_only_the_side_of_the_middle() {
        let mut rng = Generator::seed_from_u64(6);
        let mut rows = |shift: f64| (0..3).map(|_| shift + laplace(&mut rng, 2.0)).collect();
        let found = lesson(&mut rows, Linear::learn);
        let clipped = found.last().expect("a clipped sum");
        assert_eq!(score(clipped, &[50.0, 50.0, -50.0]), score(clipped, &[5e9, 7.0, -9.0]));
        assert!(clipped.describe(&Symbols::default()).ends_with(", each clipped)"));
        // Symbols and constants count nothing.
        assert_eq!(
            clipped.score(&[Cell::symbol("a"); 3]).raw().abs().min(1.0),
            clipped.score(&[Cell::symbol("b"); 3]).raw().abs().min(1.0)
        );
    }

    #[test]
    fn the_tied_sum_counts_the_components_above_their_medians() {
        let mut rng = Generator::seed_from_u64(7);
        // The components differ in place and scale.
        let mut rows = |shift: f64| {
            (0..4)
                .map(|index| {
                    f64::from(10 * index) + f64::from(index + 1) * (shift + laplace(&mut rng, 2.0))
                })
                .collect()
        };
        let found = lesson(&mut rows, Linear::learn);
        let tied = found.iter().find(|linear| !linear.is_late()).expect("a tied sum");
        assert!(tied.is_ratio());
        let of = |above: [bool; 4]| {
            let row: Vec<f64> = (0..4_u8)
                .map(|index| {
                    f64::from(10 * index) + if above[usize::from(index)] { 1e3 } else { -1e3 }
                })
                .collect();
            score(tied, &row)
        };
        // Large numbers are evidence for D'. It does not matter which component is above its
        // median: standard deviations of clipped numbers are known to a few per cent.
        let by_count = [
            of([false; 4]),
            of([true, false, false, false]),
            of([true, true, false, false]),
            of([true, true, true, false]),
            of([true; 4]),
        ];
        assert!(by_count.windows(2).all(|pair| pair[0] > pair[1]), "{by_count:?}");
        let step = (by_count[0] - by_count[4]) / 4.0;
        for other in
            [[false, true, false, false], [false, false, true, false], [false, false, false, true]]
        {
            assert!((of(other) - by_count[1]).abs() < 0.2 * step, "{other:?}");
        }
    }

    #[test]
    fn too_few_rows_or_components_have_no_sum() {
        let learn = |lesson: Lesson| LEARNER.learn(lesson);
        let mut constant = |_| vec![1.0, 2.0, 3.0];
        assert!(lesson(&mut constant, learn).is_empty());
        let mut one = |shift: f64| vec![shift];
        assert!(lesson(&mut one, learn).is_empty());
        let mut wide = |shift: f64| vec![shift; 3000];
        assert!(
            lesson(&mut wide, |lesson| learn(lesson.brief().first_half().first_half()))
                .is_empty()
        );
    }

    #[test]
    fn a_sum_is_described_by_its_largest_terms() {
        let of = |weights: &[f64]| Linear {
            means: vec![0.0; weights.len()],
            weights: weights.to_vec(),
            lows: vec![],
            highs: vec![],
            kind: Weights::Discriminant,
        };
        let text = |weights: &[f64]| of(weights).describe(&Symbols::default());
        assert_eq!(text(&[0.5, -2.0]), "(−2·y[2] + 0.5·y[1])");
        assert_eq!(text(&[1.0, 0.0, 3.0, -2.0, 0.5]), "(3·y[3] − 2·y[4] + 1·y[1] + 1 more term)");
    }
}
