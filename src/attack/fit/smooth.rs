//! Fits a smooth curve through noisy log-ratios, so that neighbouring bins support each other.
//!
//! The log-odds of D along the numbers are piecewise linear between a few knots. The knots are on a
//! normal-score scale, so that the tails have knots too. The fit is a penalised logistic regression
//! with one coefficient per knot: maximum likelihood with a penalty on second differences, solved
//! by Newton's method.

use statrs::function::erf::erf_inv;

use crate::attack::tuning::fit::{CURVE_RIDGE, KNOTS, LINE_RIDGE, REACH};
use crate::stats::binomial::logistic;

/// The maximum number of Newton steps. The log-likelihood is concave, and the start is at even
/// odds.
const STEPS: usize = 12;

/// The share of D in each of several consecutive bins, given their `(left, right)` hits;
/// `stiffness` is the weight of the penalty.
pub fn shares(hits: &[(f64, f64)], stiffness: f64) -> Vec<f64> {
    let positions = positions(hits);
    let mut curve = [0.0_f64; KNOTS];
    for _ in 0..STEPS {
        let mut gradient = [0.0_f64; KNOTS];
        let mut hessian = [[0.0_f64; KNOTS]; KNOTS];
        for ((left, right), (knot, weight)) in hits.iter().zip(&positions) {
            let n = left + right;
            if n == 0.0 {
                continue;
            }
            let share = logistic(curve[*knot] * (1.0 - weight) + curve[knot + 1] * weight);
            let residual = left - n * share;
            let information = n * share * (1.0 - share);
            let basis = [(*knot, 1.0 - weight), (knot + 1, *weight)];
            for (row, row_weight) in basis {
                gradient[row] += row_weight * residual;
                for (column, column_weight) in basis {
                    hessian[row][column] += information * row_weight * column_weight;
                }
            }
        }
        penalise(&curve, stiffness, &mut gradient, &mut hessian);
        let step = solve(hessian, gradient);
        let largest = step.iter().fold(0.0_f64, |largest, change| largest.max(change.abs()));
        // A step of more than two units of log-odds would overshoot.
        let damping = if largest > 2.0 { 2.0 / largest } else { 1.0 };
        curve.iter_mut().zip(step).for_each(|(value, change)| *value += damping * change);
        if largest < 1e-6 {
            break;
        }
    }
    positions
        .iter()
        .map(|(knot, weight)| logistic(curve[*knot] * (1.0 - weight) + curve[knot + 1] * weight))
        .collect()
}

/// The straight line `(start, slope)` of log-odds through `(x, left, right)` hits: logistic
/// regression with a weak ridge penalty, by Newton's method.
pub fn line(hits: &[(f64, f64, f64)]) -> (f64, f64) {
    let (mut start, mut slope) = (0.0_f64, 0.0_f64);
    for _ in 0..25 {
        let (mut g0, mut g1) = (-LINE_RIDGE * start, -LINE_RIDGE * slope);
        let (mut h00, mut h01, mut h11) = (LINE_RIDGE, 0.0, LINE_RIDGE);
        for &(x, left, right) in hits {
            let share = logistic(start + slope * x);
            let residual = left - (left + right) * share;
            let information = (left + right) * share * (1.0 - share);
            g0 += residual;
            g1 += residual * x;
            h00 += information;
            h01 += information * x;
            h11 += information * x * x;
        }
        let determinant = h00 * h11 - h01 * h01;
        let (d0, d1) = ((h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant);
        let damping = f64::min(1.0, 2.0 / d0.abs().max(d1.abs()).max(1e-300));
        start += damping * d0;
        slope += damping * d1;
        if d0.abs().max(d1.abs()) < 1e-9 {
            break;
        }
    }
    (start, slope)
}

/// The position of each bin on the normal-score scale: the knot before it, and the fraction of the
/// way to the next knot.
fn positions(hits: &[(f64, f64)]) -> Vec<(usize, f64)> {
    let total: f64 = hits.iter().map(|(left, right)| left + right).sum::<f64>().max(1.0);
    let mut before = 0.0;
    hits.iter()
        .map(|(left, right)| {
            let middle = (before + (left + right) / 2.0) / total;
            before += left + right;
            let score = std::f64::consts::SQRT_2
                * erf_inv((2.0 * middle - 1.0).clamp(-0.999_999_9, 0.999_999_9));
            let along = (score.clamp(-REACH, REACH) + REACH) / (2.0 * REACH) * (KNOTS - 1) as f64;
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // between 0 and KNOTS − 1
            let knot = (along as usize).min(KNOTS - 2);
            (knot, along - knot as f64)
        })
        .collect()
}

/// Adds the penalty `−stiffness/2 · Σ (second difference)²`, and a weak ridge penalty that makes
/// the solution unique.
fn penalise(
    curve: &[f64; KNOTS],
    stiffness: f64,
    gradient: &mut [f64; KNOTS],
    hessian: &mut [[f64; KNOTS]; KNOTS],
) {
    for knot in 0..KNOTS {
        gradient[knot] -= CURVE_RIDGE * curve[knot];
        hessian[knot][knot] += CURVE_RIDGE;
    }
    for knot in 1..KNOTS - 1 {
        let second_difference = curve[knot - 1] - 2.0 * curve[knot] + curve[knot + 1];
        let basis = [(knot - 1, 1.0), (knot, -2.0), (knot + 1, 1.0)];
        for (row, row_weight) in basis {
            gradient[row] -= stiffness * second_difference * row_weight;
            for (column, column_weight) in basis {
                hessian[row][column] += stiffness * row_weight * column_weight;
            }
        }
    }
}

/// Solves a symmetric positive definite system by Gaussian elimination.
fn solve(mut matrix: [[f64; KNOTS]; KNOTS], mut vector: [f64; KNOTS]) -> [f64; KNOTS] {
    for pivot in 0..KNOTS {
        for row in pivot + 1..KNOTS {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            let above = matrix[pivot];
            matrix[row].iter_mut().zip(above).for_each(|(value, above)| *value -= factor * above);
            vector[row] -= factor * vector[pivot];
        }
    }
    for row in (0..KNOTS).rev() {
        for column in row + 1..KNOTS {
            vector[row] -= matrix[row][column] * vector[column];
        }
        vector[row] /= matrix[row][row];
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_that_is_straight_is_recovered() {
        // Expected counts (no noise) of log-odds that are linear in the normal score.
        let bins = 200;
        let even = vec![(500.0, 500.0); bins];
        let hits: Vec<(f64, f64)> = positions(&even)
            .iter()
            .map(|(knot, weight)| {
                let score = (*knot as f64 + weight) / (KNOTS - 1) as f64 * 2.0 * REACH - REACH;
                let share = logistic(0.8 * score);
                (1000.0 * share, 1000.0 * (1.0 - share))
            })
            .collect();
        let found = shares(&hits, 10.0);
        for ((left, _), share) in hits.iter().zip(found) {
            assert!((left / 1000.0 - share).abs() < 2e-3, "{} against {share}", left / 1000.0);
        }
    }

    #[test]
    fn a_line_of_log_odds_is_recovered() {
        // Expected counts of log-odds −0.3 + 0.2·x, no noise. The ridge penalty has a weight of one
        // part in ten thousand.
        let hits = (0..6).map(|x| {
            let share = 1.0 / (1.0 + (0.3 - 0.2 * f64::from(x)).exp());
            (f64::from(x), 20_000.0 * share, 20_000.0 * (1.0 - share))
        });
        let (start, slope) = line(&hits.collect::<Vec<_>>());
        assert!((start + 0.3).abs() < 1e-3 && (slope - 0.2).abs() < 1e-3, "{start} {slope}");
    }

    #[test]
    fn bins_with_hits_of_one_side_only_do_not_diverge() {
        let found = shares(&[(1000.0, 0.0), (0.0, 1000.0)], 1.0);
        assert!(found[0] > 0.9 && found[1] < 0.1);
        assert!(shares(&[(0.0, 0.0)], 1.0)[0].is_finite());
    }

    #[test]
    fn the_position_of_a_bin_is_the_normal_score_of_its_middle() {
        // A share Φ(−2) of the hits is before the middle of the second bin, and the same share is
        // after the middle of the last but one.
        let tail = 2.0 * 0.022_750_131_948_179_2;
        let hits = [
            (1e-13, 0.0),
            (0.75 * tail, 0.25 * tail),
            (0.4 - tail, 0.6 - tail),
            (0.1 * tail, 0.9 * tail),
            (0.0, 1e-13),
        ];
        let hits = hits.map(|(left, right)| (1000.0 * left, 1000.0 * right));
        // Knots at −4, −3.2, …, 4; there is no position beyond them.
        for ((knot, weight), score) in positions(&hits).into_iter().zip([-4.0, -2.0, 0.0, 2.0, 4.0])
        {
            assert!(knot < KNOTS - 1 && (-1e-9..1.0 + 1e-9).contains(&weight));
            assert!(
                (-4.0 + 0.8 * (knot as f64 + weight) - score).abs() < 1e-6,
                "{knot} and {weight} at {score}"
            );
        }
    }

    #[test]
    fn a_line_through_a_single_hit_is_shrunk_towards_even_odds() {
        // At the maximum of log-likelihood − start²/2 − slope²/2 the derivatives are zero. For one
        // hit from D at 0 this gives start = 1 − logistic(start), and for one hit at 1 it gives
        // start = slope = 1 − logistic(start + slope).
        let (start, slope) = line(&[(0.0, 1.0, 0.0)]);
        assert!(
            (start - (1.0 - logistic(start))).abs() < 1e-9 && slope.abs() < 1e-9,
            "{start} {slope}"
        );
        let (start, slope) = line(&[(1.0, 1.0, 0.0)]);
        assert!(
            (start - (1.0 - logistic(start + slope))).abs() < 1e-9 && (start - slope).abs() < 1e-9,
            "{start} {slope}"
        );
    }

    #[test]
    fn a_stiff_curve_is_straight_and_a_loose_one_bends() {
        // Log-odds along a parabola of the normal score, no noise.
        let positions = positions(&vec![(500.0, 500.0); 200]);
        let along = |bin: usize| -4.0 + 0.8 * (positions[bin].0 as f64 + positions[bin].1);
        let truth = |bin: usize| logistic(0.3 * along(bin).powi(2) - 0.5);
        let hits: Vec<(f64, f64)> =
            (0..200).map(|bin| (1000.0 * truth(bin), 1000.0 * (1.0 - truth(bin)))).collect();
        let log_odds = |share: f64| (share / (1.0 - share)).ln();
        let stiff: Vec<f64> = shares(&hits, 1e7).into_iter().map(log_odds).collect();
        let slope = (stiff[199] - stiff[0]) / (along(199) - along(0));
        assert!(
            (0..200)
                .all(|bin| (stiff[bin] - stiff[0] - slope * (along(bin) - along(0))).abs() < 0.02),
            "{stiff:?}"
        );
        // Straight pieces of length 0.8 differ from the parabola by at most 0.3 · 0.4².
        let loose = shares(&hits, 1e-3);
        assert!(
            (0..200).all(|bin| (log_odds(loose[bin]) - log_odds(truth(bin))).abs() < 0.1),
            "{loose:?}"
        );
    }
}
