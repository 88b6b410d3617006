//! Logistic regression on a few bounded features, for a few draws.

use crate::attack::fit::matrix::Square;
use crate::attack::tuning::predict::{FREE_INTERCEPT, RIDGE, STEPS};

/// A table of features: one row for each draw, and whether the draw was made on D.
#[derive(Clone, Debug, Default)]
pub struct Table {
    width: usize,
    features: Vec<f64>,
    is_left: Vec<bool>,
}

impl Table {
    /// An empty table of rows with so many features.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds a draw.
    pub fn push(&mut self, features: &[f64], is_left: bool) {
        self.features.extend_from_slice(features);
        self.is_left.push(is_left);
    }

    fn rows(&self) -> impl Iterator<Item = (&[f64], bool)> {
        self.features.chunks_exact(self.width.max(1)).zip(self.is_left.iter().copied())
    }
}

/// The weights of the features, after the constant: the log-odds of D are linear in the features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Logistic {
    weights: Vec<f64>,
}

impl Logistic {
    /// Penalised maximum likelihood by a few of Newton's steps, from these weights on if there are
    /// as many as are needed.
    #[must_use]
    pub fn fit(table: &Table, from: &Self) -> Self {
        let size = table.width + 1;
        let mut weights =
            if from.weights.len() == size { from.weights.clone() } else { vec![0.0; size] };
        let ridge = |index: usize| if index == 0 { FREE_INTERCEPT } else { RIDGE };
        for _ in 0..STEPS {
            let mut slope: Vec<f64> =
                weights.iter().enumerate().map(|(i, weight)| -ridge(i) * weight).collect();
            let mut curvature = vec![0.0; size * size];
            let mut row = vec![1.0; size];
            for (features, is_left) in table.rows() {
                row[1..].copy_from_slice(features);
                let p = probability(dot(&weights, &row));
                let (error, weight) = (f64::from(u8::from(is_left)) - p, p * (1.0 - p));
                for (i, x) in row.iter().enumerate() {
                    slope[i] += error * x;
                    let scaled = weight * x;
                    for (cell, y) in curvature[i * size..=i * size + i].iter_mut().zip(&row) {
                        *cell += scaled * y;
                    }
                }
            }
            let matrix = Square::from_fn(size, |i, j| {
                curvature[i.max(j) * size + i.min(j)] + if i == j { ridge(i) } else { 0.0 }
            });
            let Some(factor) = matrix.factor(0.0) else { break };
            let step = factor.solve(slope);
            let longest = step.iter().fold(0.0_f64, |longest, part| longest.max(part.abs()));
            let length = (2.0 / longest.max(1e-9)).min(1.0);
            weights.iter_mut().zip(&step).for_each(|(weight, part)| *weight += length * part);
            if longest < 1e-4 {
                break;
            }
        }
        let is_usable = weights.iter().all(|weight| weight.is_finite());
        Self { weights: if is_usable { weights } else { vec![0.0; size] } }
    }

    /// The log-odds of D without the constant.
    #[must_use]
    pub fn direction(&self, features: &[f64]) -> f64 {
        self.weights.get(1..).map_or(0.0, |weights| dot(weights, features))
    }

    /// The probability of D.
    #[must_use]
    pub fn left(&self, features: &[f64]) -> f64 {
        let constant = self.weights.first().copied().unwrap_or(0.0);
        probability(constant + self.direction(features))
    }
}

/// The probability with these log-odds.
#[must_use]
pub fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds.clamp(-30.0, 30.0)).exp())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_the_likelihood_is_that_of_the_penalty() {
        let mut table = Table::new(2);
        let draws = [(0.2, 1.0, true), (0.4, -1.0, false), (-0.7, 0.5, true), (0.9, 0.0, true)];
        for (a, b, is_left) in draws.into_iter().cycle().take(200) {
            table.push(&[a, b], is_left);
        }
        let fitted = Logistic::fit(&table, &Logistic::default());
        for (index, ridge) in [FREE_INTERCEPT, RIDGE, RIDGE].into_iter().enumerate() {
            let slope: f64 = table
                .rows()
                .map(|(x, is_left)| {
                    let feature = if index == 0 { 1.0 } else { x[index - 1] };
                    (f64::from(u8::from(is_left)) - fitted.left(x)) * feature
                })
                .sum();
            assert!((slope - ridge * fitted.weights[index]).abs() < 1e-2, "{index}: {slope}");
        }
    }

    #[test]
    fn without_draws_or_features_nothing_is_predicted() {
        let none = Logistic::fit(&Table::new(3), &Logistic::default());
        assert_eq!(none.left(&[1.0, 2.0, 3.0]), 0.5);
        assert_eq!(Logistic::default().left(&[]), 0.5);
    }
}
