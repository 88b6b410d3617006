//! A bound on a Rényi divergence from several groups of outputs.
//!
//! One event shows only a part of a divergence. Let outputs be divided into groups, and let `s` be
//! a positive number for each group that was fixed before the draws: the best is the ratio of its
//! probabilities on D and D'. For every ratio r, `r^λ ≥ λ·r·s^(λ−1) − (λ−1)·s^λ`, so
//!
//! `λ·E[s^(λ−1)] on D − (λ−1)·E[s^λ] on D' ≤ e^((λ−1)·τ)`
//!
//! if τ is the divergence of order λ, and the same with 1/s in the other direction. A draw comes
//! from either side with probability ½. So
//!
//! `Y = λ·s^(λ−1) − (λ−1)·s^(−λ)` on D and `Y = λ·s^(1−λ) − (λ−1)·s^λ` on D'
//!
//! has a mean of at most `M = e^((λ−1)·τ)`. A gambler multiplies the wealth by `1 + μ·(Y − M)` with
//! each draw, which is 1 on average at most, so it reaches 1/α with probability α at most (Markov).
//! The same holds for the mean of several gamblers with different stakes μ. The factors fall as M
//! grows, so all smaller values are refuted too.

use serde::{Deserialize, Serialize};

use super::binomial::log_mean_exp;
use crate::model::{Measure, Tally};

/// The stakes, as multiples of the one that is best for what is expected.
const STAKES: [f64; 3] = [0.6, 1.0, 1.7];

/// The most that a stake may risk.
const RISK: f64 = 0.9;

/// What is bounded, fixed before the draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// The order λ.
    pub order: f64,
    /// `ln s` of each group. Outputs in no group have 0.
    #[serde(with = "crate::model::exact::list")]
    pub log_ratios: Vec<f64>,
    /// The stake that is best for what is expected.
    #[serde(with = "crate::model::exact::number")]
    pub stake: f64,
}

/// What groups of outputs show, in the unit of a claim.
#[derive(Clone, Copy, Debug)]
pub struct GroupEvidence {
    /// The bound.
    pub lower: f64,
    /// The plain estimate.
    pub shown: f64,
    /// Its level.
    pub alpha: f64,
}

impl Moment {
    /// What these tallies show in the unit of this measure, with confidence 1 − α.
    #[must_use]
    pub fn evidence(&self, tallies: &[Tally], measure: &Measure, alpha: f64) -> GroupEvidence {
        let of = |divergence: f64| measure.of_divergence(self.order, divergence);
        GroupEvidence {
            lower: of(self.lower(tallies, alpha)),
            shown: of(self.estimate(tallies)),
            alpha,
        }
    }

    /// For these groups, of which these `tallies` are expected, scaled to `draws` draws. A tally's
    /// correct guesses are draws from D.
    #[must_use]
    pub fn new(
        order: f64,
        log_ratios: Vec<f64>,
        expected: &[Tally],
        draws: f64,
        alpha: f64,
    ) -> Self {
        let mut moment = Self { order, log_ratios, stake: 0.0 };
        let (_, variance) = moment.mean_and_variance(expected);
        moment.stake = (-2.0 * alpha.ln() / (draws * variance.max(1e-12))).sqrt();
        moment
    }

    /// The bound to expect, if the tallies are as these and there are `draws` draws.
    #[must_use]
    pub fn promise(&self, expected: &[Tally], draws: f64, alpha: f64) -> f64 {
        let (mean, variance) = self.mean_and_variance(expected);
        self.divergence(mean - self.stake * variance / 2.0 + alpha.ln() / (draws * self.stake))
    }

    /// The divergence that the tallies show.
    #[must_use]
    pub fn estimate(&self, tallies: &[Tally]) -> f64 {
        self.divergence(self.mean_and_variance(tallies).0)
    }

    /// The divergence is at least this, with confidence 1 − α; 0 if nothing is known.
    #[must_use]
    pub fn lower(&self, tallies: &[Tally], alpha: f64) -> f64 {
        const HALVINGS: usize = 60;
        let values = self.values(tallies);
        let least = values.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min).min(1.0);
        let most = values.iter().map(|(value, _)| *value).fold(1.0, f64::max);
        let refuted = |mean: f64| {
            let logs = STAKES.map(|factor| {
                let stake = (factor * self.stake).min(RISK / (mean - least).max(1e-12));
                values
                    .iter()
                    .filter(|(_, count)| *count > 0.0)
                    .map(|(value, count)| count * (stake * (value - mean)).ln_1p())
                    .sum()
            });
            log_mean_exp(&logs) >= -alpha.ln() * (1.0 + 1e-9)
        };
        let known = alpha > 0.0
            && self.stake > 0.0
            && [self.stake, least, most].iter().all(|value| value.is_finite());
        if !known || !refuted(1.0) {
            return 0.0;
        }
        let (mut known, mut unknown) = (1.0, most);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(known, unknown);
            if refuted(middle) { known = middle } else { unknown = middle }
        }
        self.divergence(known)
    }

    /// `ln M/(λ − 1)`; 0 if it is negative.
    fn divergence(&self, mean: f64) -> f64 {
        if mean > 1.0 { mean.ln() / (self.order - 1.0) } else { 0.0 }
    }

    /// Each value of Y, and how often it occurred.
    fn values(&self, tallies: &[Tally]) -> Vec<(f64, f64)> {
        let order = self.order;
        let draws = tallies.first().map_or(0.0, |tally| tally.draws() as f64);
        let mut rest = draws;
        let mut values = Vec::with_capacity(2 * tallies.len() + 1);
        for (log, tally) in self.log_ratios.iter().zip(tallies) {
            let value = |log: f64| {
                order * ((order - 1.0) * log).exp() - (order - 1.0) * (-order * log).exp()
            };
            let (left, right) = (tally.correct as f64, tally.wrong as f64);
            values.extend([(value(*log), left), (value(-log), right)]);
            rest -= left + right;
        }
        values.push((1.0, rest.max(0.0)));
        values
    }

    fn mean_and_variance(&self, tallies: &[Tally]) -> (f64, f64) {
        let values = self.values(tallies);
        let draws = values.iter().map(|(_, count)| count).sum::<f64>().max(1.0);
        let mean = values.iter().map(|(value, count)| value * count).sum::<f64>() / draws;
        (
            mean,
            values.iter().map(|(value, count)| (value - mean).powi(2) * count).sum::<f64>() / draws,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::binomial::normal_tail;

    /// Groups of N(0, 1) and N(1, 1) between these cuts: the probabilities on both sides.
    fn gaussian_groups(cuts: &[f64]) -> Vec<(f64, f64)> {
        let ends: Vec<f64> = [f64::NEG_INFINITY]
            .into_iter()
            .chain(cuts.iter().copied())
            .chain([f64::INFINITY])
            .collect();
        let mass =
            |from: f64, to: f64, centre: f64| normal_tail(from - centre) - normal_tail(to - centre);
        ends.windows(2)
            .map(|ends| (mass(ends[0], ends[1], 0.0), mass(ends[0], ends[1], 1.0)))
            .collect()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts
    fn tallies(groups: &[(f64, f64)], draws: f64) -> Vec<Tally> {
        let count = |share: f64| (draws * share / 2.0).round() as u64;
        let of = |(left, right): &(f64, f64)| {
            let (correct, wrong) = (count(*left), count(*right));
            Tally { correct, wrong, abstained: draws as u64 - correct - wrong }
        };
        groups.iter().map(of).collect()
    }

    #[test]
    fn many_groups_show_nearly_the_whole_divergence_and_never_more() {
        let cuts: Vec<f64> = (-12..=16).map(|step| f64::from(step) / 4.0).collect();
        let groups = gaussian_groups(&cuts);
        for order in [1.5, 2.0, 3.0] {
            let logs: Vec<f64> = groups.iter().map(|(left, right)| (left / right).ln()).collect();
            let expected = tallies(&groups, 1e8);
            let moment = Moment::new(order, logs, &expected, 1e8, 0.05);
            let (estimate, lower) = (moment.estimate(&expected), moment.lower(&expected, 0.05));
            // The divergence of order λ is λ/2. Groups lose a little of it.
            assert!(
                lower < estimate && estimate <= order / 2.0,
                "order {order}: {lower} {estimate}"
            );
            assert!(lower > 0.95 * order / 2.0, "order {order}: {lower} {estimate}");
            assert!((moment.promise(&expected, 1e8, 0.05) - lower).abs() < 0.01 * lower);
        }
    }

    #[test]
    fn wrong_ratios_show_less() {
        let groups = gaussian_groups(&[-1.0, 0.5, 2.0]);
        let right: Vec<f64> = groups.iter().map(|(left, right)| (left / right).ln()).collect();
        let expected = tallies(&groups, 1e6);
        let estimate =
            |logs: Vec<f64>| Moment::new(2.0, logs, &expected, 1e6, 0.05).estimate(&expected);
        let best = estimate(right.clone());
        for factor in [0.0, 0.5, 0.9, 1.1, 2.0] {
            assert!(estimate(right.iter().map(|log| factor * log).collect()) <= best);
        }
    }

    #[test]
    fn the_bound_exceeds_the_truth_with_probability_alpha_at_most() {
        // All outcomes of 40 draws in two groups, with probabilities 0.3 and 0.7 on D and the
        // reverse on D'.
        let (n, alpha) = (40_u64, 0.05);
        let (p, a): (f64, f64) = (0.3, 0.7);
        let logs = vec![(p / a).ln(), (a / p).ln()];
        for order in [1.5_f64, 2.0, 4.0] {
            let truth = (p.powf(order) * a.powf(1.0 - order) + a.powf(order) * p.powf(1.0 - order))
                .ln()
                / (order - 1.0);
            let expected = [
                Tally { correct: 150, wrong: 350, abstained: 500 },
                Tally { correct: 350, wrong: 150, abstained: 500 },
            ];
            let moment = Moment::new(order, logs.clone(), &expected, n as f64, alpha);
            let ln_factorial = |k: u64| (1..=k).map(|i| (i as f64).ln()).sum::<f64>();
            let mut above = 0.0;
            for b in 0..=n {
                for c in 0..=n - b {
                    for d in 0..=n - b - c {
                        let counts = [b, c, d, n - b - c - d];
                        let tally = |correct, wrong| Tally {
                            correct,
                            wrong,
                            abstained: n - correct - wrong,
                        };
                        if moment.lower(
                            &[tally(counts[0], counts[1]), tally(counts[2], counts[3])],
                            alpha,
                        ) > truth
                        {
                            let probabilities = [p / 2.0, a / 2.0, a / 2.0, p / 2.0];
                            let log: f64 = counts
                                .iter()
                                .zip(probabilities)
                                .map(|(k, p)| *k as f64 * p.ln() - ln_factorial(*k))
                                .sum();
                            above += (log + ln_factorial(n)).exp();
                        }
                    }
                }
            }
            assert!(above <= alpha, "order {order}: {above}");
            assert!(above > 0.0, "order {order}: the test can fail");
        }
    }
}
