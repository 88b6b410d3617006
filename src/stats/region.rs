//! One confidence region for two probabilities: how often a rule guesses, and how often a guess is right.
//!
//! Let γ = P(guess) and θ = P(correct | guess), and let G of n draws be guesses, of which c are correct. At the true values,
//! `p₂ = P(Bin(n, γ) ≥ G)` is a valid p-value, and given G so is `p₁ = P(Bin(G, θ) ≥ c)`. Write z(p) for the normal score that exceeds a
//! standard normal variable with probability 1 − p; large scores are evidence that a probability is larger. With fixed weights
//! `w₁² + w₂² = 1` the sum `w₁·z(p₁) + w₂·z(p₂)` is at most standard normal (stochastically), so it exceeds z(α') with probability at most
//! α'. The true (θ, γ) is therefore in the region where it does not. Two separate limits would exclude the corner of a rectangle; the
//! region also excludes what lies beside the corner.
//!
//! The border of the region is a curve along `u = z(p₂)`. It is covered by cells `[u, v]`: in each cell γ is at least the Clopper–Pearson
//! limit at v and θ at least that at u. Whatever grows with θ and γ is at least its smallest value over all cells. The cells may be chosen
//! after the draws, because every choice covers the same curve.
//!
//! `u` is kept between two limits that cost a small part of α each. Below the lower one, the first cell is used: its limit on γ holds, and
//! that on θ is the one at the lower limit, which can only be exceeded more rarely.

use super::binomial::{lower_limit, lower_log_odds, normal_quantile, normal_tail};
use super::forecast::Forecast;
use crate::model::Tally;

/// The part of α that keeps `u` within its limits.
const CUT_SHARE: f64 = 0.02;

/// The most cells.
const MAX_CELLS: usize = 48;

/// A cell is divided while this matters for the bound, relative to the bound.
const TOLERANCE: f64 = 2e-4;

/// How much each of the two probabilities counts in the region. The squares sum to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of how often a guess is right.
    pub right: f64,
    /// Of how often the rule guesses.
    pub guess: f64,
}

impl Weights {
    /// For a claim without δ it does not matter how often the rule guesses.
    pub const ONLY_RIGHT: Self = Self { right: 1.0, guess: 0.0 };

    /// The weights for the bound on ε of a rule of which this is known *before* the draws.
    ///
    /// They are in proportion to the influence of each probability on the bound, times its standard error. The bound is
    /// `ε = ln((θ − s)/(1 − θ))` with `s = δ_eff/γ`. Times `θ − s`, its derivative by θ is `1 + e^ε = (1 − s)/(1 − θ)` and that by γ is
    /// `s/γ`. The standard errors are `√(θ(1 − θ)/(nγ))` and `√(γ(1 − γ)/n)`.
    #[must_use]
    pub fn for_epsilon(forecast: Forecast, delta_eff: f64) -> Self {
        let Some((guess, wrong)) = probabilities(forecast) else { return Self::ONLY_RIGHT };
        let spent = (delta_eff / guess).min(1.0);
        Self::of((1.0 - spent) * ((1.0 - wrong) / wrong).sqrt(), spent * (1.0 - guess).sqrt())
    }

    /// The weights for the bound on δ at this ε: `δ_eff = γ·a` with `a = 1 − (1 − θ)(1 + e^ε)`. Its derivative by θ is `γ·(1 + e^ε)`, that
    /// by γ is `a`.
    #[must_use]
    pub fn for_delta(forecast: Forecast, epsilon: f64) -> Self {
        let Some((guess, wrong)) = probabilities(forecast) else { return Self::ONLY_RIGHT };
        let odds = 1.0 + epsilon.min(30.0).exp();
        Self::of(odds * (wrong * (1.0 - wrong)).sqrt(), (1.0 - wrong * odds).max(0.0) * (1.0 - guess).sqrt())
    }

    /// Weights in this proportion.
    fn of(right: f64, guess: f64) -> Self {
        /// The weight of a correct guess never vanishes: a forecast without a wrong guess is not certain.
        const LEAST: f64 = 0.05;
        let right = if guess > 0.0 { (right / right.hypot(guess)).max(LEAST) } else { 1.0 };
        Self { right, guess: (1.0 - right * right).max(0.0).sqrt() }
    }
}

/// The forecast of P(guess) and of P(wrong | guess), which is never 0; none if no guess is expected.
fn probabilities(Forecast { correct, wrong, draws }: Forecast) -> Option<(f64, f64)> {
    let guess = (correct + wrong).min(1.0);
    (draws > 0.0 && guess > 0.0).then(|| (guess, ((wrong + 0.5 / draws) / guess).min(0.5)))
}

/// The border of the region, from the smallest `u` to the largest.
#[derive(Clone, Debug)]
pub struct Region {
    points: Vec<Point>,
}

/// A point of the border, in both coordinates.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// The normal score of γ.
    score: f64,
    /// The log-odds of θ.
    log_odds: f64,
    /// γ.
    mass: f64,
}

impl Region {
    /// The region of this tally at the level `alpha`. `values` are what will be bounded: functions of (log-odds of θ, γ) that grow with
    /// both. The cells are divided where these are smallest.
    #[must_use]
    pub fn new(tally: Tally, alpha: f64, weights: Weights, values: &[&dyn Fn(f64, f64) -> f64]) -> Self {
        let cut = normal_quantile(alpha * CUT_SHARE / 2.0);
        let level = normal_quantile(alpha * (1.0 - CUT_SHARE));
        let point = |score: f64| Point {
            score,
            log_odds: lower_log_odds(tally.correct, tally.guesses(), normal_tail((level - weights.guess * score) / weights.right)),
            mass: lower_limit(tally.guesses(), tally.draws(), normal_tail(score)),
        };
        let mut region = Self { points: vec![point(-cut), point(cut)] };
        if weights.guess == 0.0 || alpha <= 0.0 || tally.guesses() == 0 {
            return region;
        }
        for value in values {
            while region.points.len() <= MAX_CELLS {
                let worst = region.worst_cell(value);
                let [from, to] = [region.points[worst], region.points[worst + 1]];
                // The border passes through the lower end of the cell, so nothing above its value can be gained.
                let (least, best) = (value(from.log_odds, to.mass), value(from.log_odds, from.mass));
                if best <= 0.0 || best - least <= TOLERANCE * best {
                    break;
                }
                region.points.insert(worst + 1, point(f64::midpoint(from.score, to.score)));
            }
        }
        region
    }

    /// The smallest value over the region, of a function of (log-odds of θ, γ) that grows with both.
    #[must_use]
    pub fn least(&self, value: impl Fn(f64, f64) -> f64) -> f64 {
        self.points.windows(2).map(|cell| value(cell[0].log_odds, cell[1].mass)).fold(f64::INFINITY, f64::min)
    }

    /// The cell with the smallest value.
    fn worst_cell(&self, value: impl Fn(f64, f64) -> f64) -> usize {
        let of = |cell: usize| value(self.points[cell].log_odds, self.points[cell + 1].mass);
        (0..self.points.len() - 1).min_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::binomial::{logistic, upper_tail};

    /// `ln((L − d/g)/(1 − L))`.
    fn epsilon(log_odds: f64, mass: f64, spent: f64) -> f64 {
        let right = logistic(log_odds);
        if mass > 0.0 && right > spent / mass { ((right - spent / mass) / (1.0 - right)).ln() } else { f64::NEG_INFINITY }
    }

    fn forecast(guess: f64, right: f64) -> Forecast {
        Forecast { correct: guess * right, wrong: guess * (1.0 - right), draws: 1e6 }
    }

    #[test]
    fn without_weight_on_guesses_there_are_two_separate_limits() {
        let tally = Tally { correct: 70, wrong: 20, abstained: 10 };
        let region = Region::new(tally, 0.05, Weights::ONLY_RIGHT, &[&|log_odds, mass| epsilon(log_odds, mass, 0.01)]);
        let close = |found: f64, exact: f64| assert!((found / exact - 1.0).abs() < 1e-6, "{found} against {exact}");
        close(region.least(|log_odds, _| logistic(log_odds)), lower_limit(70, 90, 0.05 * 0.98));
        close(region.least(|_, mass| mass), lower_limit(90, 100, 0.05 * 0.01));
    }

    /// The exact probabilities that the bounds on ε and on δ (at ε = 1) exceed the truth, for a rule that guesses with probability `guess`
    /// and is right with probability `right`. Tallies with a probability below 1e-9 count as if their bounds did.
    fn above_truth(n: u64, (guess, right): (f64, f64), spent: f64, weights: Weights, alpha: f64) -> (f64, f64) {
        let truth = epsilon((right / (1.0 - right)).ln(), guess, spent);
        let delta = |log_odds: f64, mass: f64| mass * (1.0 - logistic(-log_odds) * (1.0 + 1_f64.exp()));
        let true_delta = delta((right / (1.0 - right)).ln(), guess).max(0.0);
        let point = |k: u64, n: u64, p: f64| upper_tail(k, n, p) - upper_tail(k + 1, n, p);
        let mut above = (0.0, 0.0);
        for guesses in 0..=n {
            let of_guesses = point(guesses, n, guess);
            for correct in 0..=guesses {
                let probability = of_guesses * if of_guesses > 1e-9 { point(correct, guesses, right) } else { 1.0 / (guesses + 1) as f64 };
                let value = |log_odds: f64, mass: f64| epsilon(log_odds, mass, spent);
                let tally = Tally { correct, wrong: guesses - correct, abstained: n - guesses };
                let region = (probability > 1e-9).then(|| Region::new(tally, alpha, weights, &[&value]));
                let exceeds = |bound: &dyn Fn(&Region) -> bool| region.as_ref().is_none_or(bound);
                above.0 += if exceeds(&|region| region.least(value) > truth) { probability } else { 0.0 };
                above.1 += if exceeds(&|region| region.least(delta) > true_delta) { probability } else { 0.0 };
            }
        }
        above
    }

    #[test]
    fn bounds_exceed_the_truth_with_probability_at_most_alpha() {
        let alpha = 0.1;
        for true_values in [(0.3, 0.9), (0.6, 0.8), (0.95, 0.75), (0.15, 0.97)] {
            // Weights for the right forecast, and for wrong ones.
            for (guess, right) in [true_values, (0.5, 0.99), (0.05, 0.6)] {
                let spent = 0.25 * true_values.0;
                let weights = Weights::for_epsilon(forecast(guess, right), spent);
                let (of_epsilon, of_delta) = above_truth(40, true_values, spent, weights, alpha);
                assert!(of_epsilon <= alpha && of_delta <= alpha, "{true_values:?}, {weights:?}: {of_epsilon} and {of_delta}");
            }
        }
    }

    #[test]
    fn little_is_given_away() {
        let (true_values, spent) = ((0.5, 0.8), 0.1);
        let (of_epsilon, _) = above_truth(400, true_values, spent, Weights::for_epsilon(forecast(0.5, 0.8), spent), 0.1);
        assert!((0.07..=0.1).contains(&of_epsilon), "{of_epsilon}");
    }

    #[test]
    fn one_region_is_worth_more_draws_than_two_limits() {
        // A rule that guesses on 6 % of the draws and is right in 83 % of the cases; δ takes a third of its advantage.
        let (n, spent) = (1_000_000_u64, 0.01);
        let tally = Tally { correct: 50_000, wrong: 10_000, abstained: n - 60_000 };
        let value = |log_odds: f64, mass: f64| epsilon(log_odds, mass, spent);
        let bound = |n: u64, tally: Tally| {
            debug_assert_eq!(n, tally.draws());
            Region::new(tally, 0.05, Weights::for_epsilon(forecast(0.06, 5.0 / 6.0), spent), &[&value]).least(value)
        };
        let two_limits = value(lower_log_odds(50_000, 60_000, 0.05 * 0.95), lower_limit(60_000, n, 0.05 * 0.05));
        let fewer = Tally { correct: 42_500, wrong: 8_500, abstained: 850_000 - 51_000 };
        assert!(bound(n, tally) > two_limits);
        assert!(bound(850_000, fewer) > two_limits, "{} against {two_limits}", bound(850_000, fewer));
        // And it is below what was seen.
        assert!(bound(n, tally) < ((0.05 - spent) / 0.01_f64).ln());
    }

    #[test]
    fn more_cells_never_lower_the_bound() {
        let tally = Tally { correct: 500, wrong: 80, abstained: 9420 };
        let value = |log_odds: f64, mass: f64| epsilon(log_odds, mass, 0.01);
        let weights = Weights::for_epsilon(forecast(0.058, 0.86), 0.01);
        let coarse = Region::new(tally, 0.05, weights, &[]);
        let fine = Region::new(tally, 0.05, weights, &[&value]);
        assert_eq!(coarse.points.len(), 2);
        assert!(fine.points.len() > 8 && fine.points.len() <= MAX_CELLS + 1);
        assert!(fine.least(value) > coarse.least(value));
        assert!(fine.points.is_sorted_by(|a, b| a.score < b.score));
    }

    #[test]
    fn weights_follow_the_forecast() {
        let squares = |weights: Weights| weights.right.powi(2) + weights.guess.powi(2);
        assert_eq!(Weights::for_epsilon(forecast(0.3, 0.8), 0.0), Weights::ONLY_RIGHT);
        assert_eq!(Weights::for_epsilon(Forecast { correct: 0.0, wrong: 0.0, draws: 0.0 }, 0.1), Weights::ONLY_RIGHT);
        // A rule that always guesses: there is nothing to learn about how often it does.
        assert_eq!(Weights::for_epsilon(forecast(1.0, 0.8), 0.01).guess, 0.0);
        // A rule that shows no δ.
        assert_eq!(Weights::for_delta(forecast(0.3, 0.6), 1.0), Weights::ONLY_RIGHT);
        // A rare event that only one side shows: all that matters is how often it occurs.
        let rare = Weights::for_delta(forecast(1e-4, 1.0), 1.0);
        assert!(rare.guess > 0.95 && rare.right >= 0.05, "{rare:?}");
        let epsilon = Weights::for_epsilon(forecast(0.06, 0.8), 0.01);
        for weights in [rare, epsilon, Weights::for_epsilon(forecast(0.5, 0.9), 0.6)] {
            assert!((squares(weights) - 1.0).abs() < 1e-12);
        }
        // Where a rule shows exactly (ε, δ), both bounds are the same inequality.
        let shown = ((0.8 - 0.01 / 0.06) / 0.2_f64).ln();
        assert!((Weights::for_delta(forecast(0.06, 0.8), shown).guess - epsilon.guess).abs() < 1e-4);
    }
}
