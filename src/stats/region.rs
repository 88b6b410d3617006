//! One confidence region for two probabilities: how often a rule guesses, and how often a guess is
//! right.
//!
//! Let γ = P(guess) and θ = P(correct | guess), and let G of n draws be guesses, of which c are
//! correct. At the true values, `p₂ = P(Bin(n, γ) ≥ G)` is a valid p-value, and given G so is `p₁ =
//! P(Bin(G, θ) ≥ c)`. Write z(p) for the normal score that exceeds a standard normal variable with
//! probability 1 − p; large scores are evidence that a probability is larger. With fixed weights
//! whose squares sum to 1, the weighted sum of both scores is at most standard normal
//! (stochastically), so it exceeds z(α') with probability at most α'. The true (θ, γ) is therefore
//! in the region where it does not. Two separate limits would exclude the corner of a rectangle;
//! the region also excludes what lies beside the corner.
//!
//! The border of the region is a curve along `u = z(p₂)`. It is covered by cells `[u, v]`: in each
//! cell γ is at least the Clopper–Pearson limit at v, and θ at least that at u. Whatever grows with
//! both is at least its smallest value over all cells. The cells may be chosen after the draws,
//! because every choice covers the same curve.
//!
//! u is kept between two limits that cost a small part of α together. Below the lower one, the
//! first cell is used: its limit on γ holds, and that on θ is the one at the lower limit, which can
//! only be exceeded more rarely.

use serde::{Deserialize, Serialize};

use super::binomial::{logistic, lower_limit, lower_log_odds, normal_quantile, normal_tail};
use crate::model::Tally;

/// The part of α that keeps u within its limits.
const CUT_SHARE: f64 = 0.02;

/// The most cells that are divided for one value.
const MAX_DIVISIONS: usize = 48;

/// A cell is divided while this matters for the bound, relative to the bound.
const TOLERANCE: f64 = 2e-4;

/// How much each of the two probabilities counts in the region. The squares sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    right: f64,
    guess: f64,
}

impl Weights {
    /// For a claim without δ it does not matter how often the rule guesses.
    pub const ONLY_RIGHT: Self = Self { right: 1.0, guess: 0.0 };

    /// Weights in this proportion.
    #[must_use]
    pub fn new(right: f64, guess: f64) -> Self {
        /// The least weight of a right guess. With less, the region would reach far to where the
        /// rule is hardly ever right, however many guesses were: what is best for small errors is
        /// bad for large ones.
        const LEAST: f64 = 0.8;
        let right = if guess > 0.0 { (right / right.hypot(guess)).max(LEAST) } else { 1.0 };
        Self { right, guess: (1.0 - right * right).max(0.0).sqrt() }
    }
}

/// The border of the region, in cells.
#[derive(Clone, Debug)]
pub struct Region {
    points: Vec<Point>,
}

/// A point of the border.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// The normal score of γ.
    score: f64,
    /// γ.
    guess: f64,
    /// The log-odds of θ.
    right: f64,
}

impl Region {
    /// The region of this tally at the level `alpha`. `values` are what will be bounded: functions
    /// of P(correct) and P(wrong) that grow with γ and θ. The cells are divided where these are
    /// smallest.
    #[must_use]
    pub fn new(
        tally: Tally,
        alpha: f64,
        weights: Weights,
        values: &[&dyn Fn(f64, f64) -> f64],
    ) -> Self {
        let guesses = tally.guesses();
        let cut = normal_quantile(alpha * CUT_SHARE / 2.0);
        let level = normal_quantile(alpha * (1.0 - CUT_SHARE));
        let point = |score: f64| Point {
            score,
            guess: lower_limit(guesses, tally.draws(), normal_tail(score)),
            right: lower_log_odds(
                tally.correct,
                guesses,
                normal_tail((level - weights.guess * score) / weights.right),
            ),
        };
        let mut region = Self { points: vec![point(-cut), point(cut)] };
        if weights == Weights::ONLY_RIGHT || alpha <= 0.0 || guesses == 0 {
            return region;
        }
        for value in values {
            for _ in 0..MAX_DIVISIONS {
                let (worst, least) = region.worst_cell(value);
                let [from, to] = [region.points[worst], region.points[worst + 1]];
                // The border passes through the lower end of the cell, so nothing above its value
                // can be gained.
                let (correct, wrong) = probabilities(from.guess, from.right);
                let most = value(correct, wrong);
                if most <= 0.0 || most - least <= TOLERANCE * most {
                    break;
                }
                region.points.insert(worst + 1, point(f64::midpoint(from.score, to.score)));
            }
        }
        region
    }

    /// The smallest value over the region, of a function of P(correct) and P(wrong) that grows with
    /// γ and θ.
    #[must_use]
    pub fn least(&self, value: impl Fn(f64, f64) -> f64) -> f64 {
        self.worst_cell(value).1
    }

    /// The cell with the smallest value, and this value.
    fn worst_cell(&self, value: impl Fn(f64, f64) -> f64) -> (usize, f64) {
        let of = |cell: &[Point]| {
            let (correct, wrong) = probabilities(cell[1].guess, cell[0].right);
            value(correct, wrong)
        };
        let cells = self.points.windows(2).map(of).enumerate();
        cells.fold((0, f64::INFINITY), |worst, next| if next.1 < worst.1 { next } else { worst })
    }
}

/// P(correct) and P(wrong), given γ and the log-odds of θ.
fn probabilities(guess: f64, right: f64) -> (f64, f64) {
    (guess * logistic(right), guess * logistic(-right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::binomial::upper_tail;

    /// `ln((p − δ_eff)/q)`.
    fn epsilon(correct: f64, wrong: f64, spent: f64) -> f64 {
        if correct > spent { ((correct - spent) / wrong).ln() } else { f64::NEG_INFINITY }
    }

    #[test]
    fn without_weight_on_guesses_there_are_two_separate_limits() {
        let tally = Tally { correct: 70, wrong: 20, abstained: 10 };
        let region = Region::new(
            tally,
            0.05,
            Weights::ONLY_RIGHT,
            &[&|correct, wrong| epsilon(correct, wrong, 0.01)],
        );
        let close = |found: f64, exact: f64| {
            assert!((found / exact - 1.0).abs() < 1e-6, "{found} against {exact}");
        };
        close(
            region.least(|correct, wrong| correct / (correct + wrong)),
            lower_limit(70, 90, 0.05 * 0.98),
        );
        close(region.least(|correct, wrong| correct + wrong), lower_limit(90, 100, 0.05 * 0.01));
    }

    /// The exact probabilities that the bounds on ε and on δ (at ε = 1) exceed the truth, for a
    /// rule that guesses with probability `guess` and is right with probability `right`. Tallies
    /// with a probability below 1e-9 count as if their bounds did.
    fn above_truth(
        n: u64,
        (guess, right): (f64, f64),
        spent: f64,
        weights: Weights,
        alpha: f64,
    ) -> (f64, f64) {
        let of_epsilon = |correct: f64, wrong: f64| epsilon(correct, wrong, spent);
        let of_delta = |correct: f64, wrong: f64| correct - 1_f64.exp() * wrong;
        let (correct, wrong) = (guess * right, guess * (1.0 - right));
        let (true_epsilon, true_delta) =
            (of_epsilon(correct, wrong), of_delta(correct, wrong).max(0.0));
        let point = |k: u64, n: u64, p: f64| upper_tail(k, n, p) - upper_tail(k + 1, n, p);
        let mut above = (0.0, 0.0);
        for guesses in 0..=n {
            let of_guesses = point(guesses, n, guess);
            for correct in 0..=guesses {
                let probability = of_guesses
                    * if of_guesses > 1e-9 {
                        point(correct, guesses, right)
                    } else {
                        1.0 / (guesses + 1) as f64
                    };
                let tally = Tally { correct, wrong: guesses - correct, abstained: n - guesses };
                let region = (probability > 1e-9)
                    .then(|| Region::new(tally, alpha, weights, &[&of_epsilon, &of_delta]));
                let exceeds = |bound: &dyn Fn(&Region) -> bool| region.as_ref().is_none_or(bound);
                above.0 += if exceeds(&|region| region.least(of_epsilon) > true_epsilon) {
                    probability
                } else {
                    0.0
                };
                above.1 += if exceeds(&|region| region.least(of_delta) > true_delta) {
                    probability
                } else {
                    0.0
                };
            }
        }
        above
    }

    #[test]
    fn bounds_exceed_the_truth_with_probability_at_most_alpha() {
        let alpha = 0.1;
        for truth in [(0.3, 0.9), (0.6, 0.8), (0.95, 0.75), (0.15, 0.97), (0.1, 0.999)] {
            let spent = 0.25 * truth.0;
            for (right, guess) in [(1.0, 0.0), (0.95, 0.3), (0.8, 0.6), (0.3, 0.95), (0.0, 1.0)] {
                let weights = Weights::new(right, guess);
                let (of_epsilon, of_delta) = above_truth(40, truth, spent, weights, alpha);
                assert!(
                    of_epsilon <= alpha && of_delta <= alpha,
                    "{truth:?}, {weights:?}: {of_epsilon} and {of_delta}"
                );
            }
        }
    }

    #[test]
    fn little_is_given_away() {
        // The derivatives times the standard errors, as `Method::for_epsilon` has them: (1 −
        // s)·√(θ/(1 − θ)) and s·√(1 − γ) with s = 0.2.
        let (of_epsilon, _) =
            above_truth(400, (0.5, 0.8), 0.1, Weights::new(0.8 * 2.0, 0.2 * 0.5_f64.sqrt()), 0.1);
        assert!((0.07..=0.1).contains(&of_epsilon), "{of_epsilon}");
    }

    #[test]
    fn one_region_is_worth_more_draws_than_two_limits() {
        // A rule that guesses on 6 % of the draws and is right in 83 % of the cases; δ takes a
        // fifth of its correct guesses.
        let (n, spent) = (1_000_000_u64, 0.01);
        let value = |correct: f64, wrong: f64| epsilon(correct, wrong, spent);
        let weights = Weights::new(5.0 / 6.0 * 5_f64.sqrt(), 0.94_f64.sqrt() / 6.0);
        let bound = |tally: Tally| Region::new(tally, 0.05, weights, &[&value]).least(value);
        let (right, guess) =
            (lower_limit(50_000, 60_000, 0.05 * 0.95), lower_limit(60_000, n, 0.05 * 0.05));
        let two_limits = value(guess * right, guess * (1.0 - right));
        let found = bound(Tally { correct: 50_000, wrong: 10_000, abstained: n - 60_000 });
        let with_fewer =
            bound(Tally { correct: 42_500, wrong: 8_500, abstained: 850_000 - 51_000 });
        assert!(with_fewer > two_limits, "{with_fewer} against {two_limits}");
        // And it is below what was seen.
        assert!(found > with_fewer && found < ((0.05 - spent) / 0.01_f64).ln());
    }

    #[test]
    fn more_cells_never_lower_the_bound() {
        let tally = Tally { correct: 500, wrong: 80, abstained: 9420 };
        let value = |correct: f64, wrong: f64| epsilon(correct, wrong, 0.01);
        for weights in [Weights::new(2.0, 0.17), Weights::new(0.8, 0.6)] {
            let coarse = Region::new(tally, 0.05, weights, &[]);
            let fine = Region::new(tally, 0.05, weights, &[&value]);
            assert_eq!(coarse.points.len(), 2);
            assert!(fine.points.len() > 8 && fine.points.len() <= MAX_DIVISIONS + 2);
            assert!(fine.least(value) > coarse.least(value));
            assert!(fine.points.is_sorted_by(|a, b| a.score < b.score));
        }
    }

    #[test]
    fn squares_of_weights_sum_to_one() {
        assert_eq!(Weights::new(3.0, 0.0), Weights::ONLY_RIGHT);
        for (right, guess) in [(3.0, 4.0), (0.0, 1.0), (1e-9, 2.0), (1.0, 1e-9)] {
            let weights = Weights::new(right, guess);
            assert!(
                (weights.right.powi(2) + weights.guess.powi(2) - 1.0).abs() < 1e-12
                    && weights.right >= 0.8
            );
        }
        assert!((Weights::new(4.0, 1.0).right - 4.0 / 17_f64.sqrt()).abs() < 1e-12);
    }
}
