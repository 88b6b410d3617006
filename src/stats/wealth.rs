//! Evidence that is valid at any time: a gambler bets that the mechanism leaks more than it claims.
//!
//! Under a claim (ε, δ) every guess rule has `P(correct) ≤ e^ε·P(wrong) + δ_eff`. Take a stake `μ ∈
//! [0, 1/(e^ε + δ_eff))` that is fixed before the draw. Then the payoff `1 + μ·(1[correct] −
//! e^ε·1[wrong] − δ_eff)` is positive and has mean at most 1. So the wealth is a supermartingale,
//! and `P(wealth ever ≥ 1/α) ≤ α` (Ville).
//!
//! Each rule bets with its own *purse*, and the wealth is the mean of all purses. A mean of
//! supermartingales is a supermartingale, so it is valid too.
//!
//! A run that ends as soon as its claim is refuted also bets on [predictions](super::prediction).
//! These bets are against the claim itself, so they count against every value up to the claimed
//! one: what allows less than the claim is refuted if the claim is. Values beyond the claim are
//! refuted by purses of rules alone.

use serde::{Deserialize, Serialize};

use super::binomial::log_mean_exp;
use super::fixed::effective;
use super::rates::Rates;
use crate::model::{Limit, Measure, Tally};

impl Rates {
    /// The Kelly stake for these estimates, each moved a little to the pessimistic side. More
    /// caution would make no bet after few draws.
    fn stake(self, epsilon: f64, delta_eff: f64) -> f64 {
        /// In standard errors.
        const CAUTION: f64 = 0.25;
        let n = self.draws.max(1.0);
        let correct = (self.correct - CAUTION * (self.correct / n).sqrt()).max(0.0);
        let wrong = self.wrong + CAUTION * (self.wrong / n).sqrt() + 0.5 / n;
        let abstained = (1.0 - correct - wrong).max(0.0);
        let loss = epsilon.exp() + delta_eff;
        let gain = 1.0 - delta_eff;
        // The expected log-wealth has its maximum where its slope
        //   correct·gain/(1 + μ·gain) − wrong·loss/(1 − μ·loss) − abstained·δ_eff/(1 − μ·δ_eff)
        // is zero. Multiplied out, this is a·μ² + b·μ + c = 0; the maximum is at the smaller root.
        let (won, lost, paid) = (correct * gain, wrong * loss, abstained * delta_eff);
        let a = gain * loss * delta_eff * (correct + wrong + abstained);
        let b = -won * (loss + delta_eff) - lost * (gain - delta_eff) - paid * (gain - loss);
        let c = won - lost - paid;
        if c <= 0.0 {
            return 0.0;
        }
        let mu = 2.0 * c / (-b + (b * b - 4.0 * a * c).max(0.0).sqrt());
        // Despite rounding, a single wrong guess must not cost more than the whole purse.
        mu.clamp(0.0, (1.0 - 1e-9) / loss)
    }
}

/// One rule's bet: the forecast that set the stake, and the tally of the rule afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bet {
    /// The forecast before the draws.
    pub forecast: Rates,
    /// How many of the two answers the rule gives.
    pub regions: u8,
    /// The tally on the draws.
    pub tally: Tally,
}

impl Bet {
    /// A pair (ε, δ) that holds if the measure is at most `value`: the best one to bet against with
    /// this rule.
    fn point(&self, measure: &Measure, value: f64) -> Point {
        let (epsilon, delta) =
            measure.line(value, 2.0 * self.forecast.wrong / f64::from(self.regions.max(1)));
        Point { epsilon, delta }
    }

    /// The growth of the log-wealth against this limit.
    pub(super) fn against(&self, limit: &Limit) -> f64 {
        let point = self.point(&limit.measure, limit.value);
        self.growth(point, point)
    }

    /// The growth of the log-wealth against the claim `against`, with the best stake against the
    /// claim `staked`, which may be weaker.
    ///
    /// It decreases as `against` gets weaker.
    fn growth(&self, against: Point, staked: Point) -> f64 {
        let mu = self.forecast.stake(staked.epsilon, effective(staked.delta, self.regions));
        if mu == 0.0 {
            return 0.0;
        }
        let delta_eff = effective(against.delta, self.regions);
        let Tally { correct, wrong, abstained } = self.tally;
        let part =
            |count: u64, change: f64| if count == 0 { 0.0 } else { count as f64 * change.ln_1p() };
        part(correct, mu * (1.0 - delta_eff))
            + part(wrong, -mu * (against.epsilon.exp() + delta_eff))
            + part(abstained, -mu * delta_eff)
    }
}

/// A pair (ε, δ) to bet against.
#[derive(Clone, Copy, Debug)]
struct Point {
    epsilon: f64,
    delta: f64,
}

/// The bets of all looks: `looks[t]` has one bet for each purse. All purses start with the same
/// share of the wealth.
///
/// Before the first rule is learned, a look has no bets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    looks: Vec<Vec<Bet>>,
    /// The logarithm of the wealth of the bets on predictions after each look; none if there are no
    /// such bets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    predicted: Vec<f64>,
}

/// The share of the wealth that bets on predictions, if there are such bets. Frozen rules see what
/// small predictors do not, but later.
const PREDICTED_SHARE: f64 = 0.85;

impl Ledger {
    /// Adds a look. Every look must have one bet for each purse, or none before the first rule.
    pub fn push(&mut self, bets: Vec<Bet>) {
        debug_assert!(
            self.looks.last().is_none_or(|last| last.is_empty() || last.len() == bets.len())
        );
        self.looks.push(bets);
    }

    /// Adds a look after which the bets on predictions have this logarithm of wealth. Either all
    /// looks have it, or none.
    pub fn push_predicted(&mut self, bets: Vec<Bet>, log_wealth: f64) {
        self.push(bets);
        self.predicted.push(log_wealth);
    }

    /// The logarithm of the wealth after each look, against this limit.
    pub fn path(&self, limit: &Limit) -> impl Iterator<Item = f64> {
        let Limit { measure, value } = limit.clone();
        let against = move |bet: &Bet| bet.point(&measure, value);
        self.with_predicted(self.staked_path(against.clone(), against))
    }

    /// The wealth of rules and predictions together.
    fn with_predicted(&self, rules: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
        let share = if self.predicted.is_empty() { 0.0 } else { PREDICTED_SHARE };
        rules.zip(self.predicted.iter().copied().chain(std::iter::repeat(0.0))).map(
            move |(rules, predicted)| {
                if share == 0.0 {
                    return rules;
                }
                let most = rules.max(predicted);
                let sum = (1.0 - share) * (rules - most).exp() + share * (predicted - most).exp();
                most + sum.ln()
            },
        )
    }

    /// The logarithm of the largest wealth at any look, against this limit.
    #[must_use]
    pub fn log_wealth(&self, limit: &Limit) -> f64 {
        self.path(limit).fold(0.0, f64::max)
    }

    fn staked_path(
        &self,
        against: impl Fn(&Bet) -> Point,
        staked: impl Fn(&Bet) -> Point,
    ) -> impl Iterator<Item = f64> {
        let purses = self.looks.iter().map(Vec::len).max().unwrap_or(0);
        let mut logs = vec![0.0_f64; purses];
        self.looks.iter().map(move |bets| {
            for (log, bet) in logs.iter_mut().zip(bets) {
                *log += bet.growth(against(bet), staked(bet));
            }
            if logs.is_empty() { 0.0 } else { log_mean_exp(&logs) }
        })
    }

    /// What rules alone would show, without the bets on predictions.
    #[must_use]
    pub fn lower_by_rules(&self, limit: &Limit, alpha: f64) -> f64 {
        Self { looks: self.looks.clone(), predicted: Vec::new() }.lower(limit, alpha)
    }

    /// The largest value of a measure that is known at level α to be exceeded; 0 if there is none.
    /// The limit is one of the values that are tested.
    #[must_use]
    pub fn lower(&self, limit: &Limit, alpha: f64) -> f64 {
        let Limit { measure, value: claimed } = limit;
        // Whether the wealth ever reached 1/α.
        let refuted = |against: f64, staked: f64| {
            let rules = self
                .staked_path(|bet| bet.point(measure, against), |bet| bet.point(measure, staked));
            // Which evidence counts is fixed for each interval, because it ends at the claim or is
            // on one side of it.
            let wealth = if staked <= *claimed {
                self.with_predicted(rules).fold(0.0, f64::max)
            } else {
                rules.fold(0.0, f64::max)
            };
            wealth >= -alpha.ln()
        };
        match measure {
            Measure::Epsilon { .. } => largest_refuted(*claimed, 1e-3, 1e3, refuted),
            Measure::Delta { .. } => largest_refuted(*claimed, 1e-9, 1.0, refuted),
            _ => largest_on_grid(*claimed, |value| refuted(value, value)),
        }
    }
}

/// The largest value of a grid such that all values of the grid up to it are refuted. The limit is
/// on the grid. If the bound exceeds the truth, then the smallest value of the grid that is not
/// below the truth is refuted. The grid is fixed in advance, so that is one test, and `P(bound >
/// truth) ≤ α`.
fn largest_on_grid(claimed: f64, refuted: impl Fn(f64) -> bool) -> f64 {
    const RATIO: f64 = 1.02;
    /// From an eighth of the claim to forty times the claim.
    const POWERS: std::ops::Range<i32> = -105..187;
    let refuted =
        POWERS.map(|power| claimed * RATIO.powi(power)).take_while(|value| refuted(*value));
    refuted.last().map_or(0.0, f64::next_up)
}

/// The largest value such that all values up to it are refuted. It returns the next float, because
/// a refuted value is exceeded.
///
/// The values are divided into intervals that end at `claimed` and at its multiples by powers of a
/// fixed ratio. Within an interval all bets have the stake of its upper end, so refuting a value
/// also refutes all smaller values of the interval. So if the bound exceeds the truth, then the
/// truth is refuted with the stakes of its own interval, and these are fixed in advance: `P(bound >
/// truth) ≤ α`.
fn largest_refuted(claimed: f64, min: f64, max: f64, refuted: impl Fn(f64, f64) -> bool) -> f64 {
    const RATIO: f64 = 1.05;
    const HALVINGS: usize = 16;
    let anchor = if claimed > 0.0 { claimed } else { min };
    let steps = (min / anchor).ln().min(0.0) / RATIO.ln();
    #[allow(clippy::cast_possible_truncation)] // a few hundred
    let first = steps.floor() as i32;
    let mut known = 0.0;
    for end in (first..).map(|power| anchor * RATIO.powi(power)) {
        if end < max && refuted(end, end) {
            known = end;
            continue;
        }
        if known > 0.0 {
            let mut unknown = end;
            for _ in 0..HALVINGS {
                let middle = f64::midpoint(known, unknown);
                if refuted(middle, end) { known = middle } else { unknown = middle }
            }
        }
        break;
    }
    if known > 0.0 { known.next_up() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_epsilon(epsilon: f64, delta: f64) -> Limit {
        Limit { measure: Measure::Epsilon { delta }, value: epsilon }
    }

    fn bet(correct: u64, wrong: u64, abstained: u64) -> Bet {
        Bet {
            forecast: Rates { correct: 0.6, wrong: 0.1, draws: 1000.0 },
            regions: 2,
            tally: Tally { correct, wrong, abstained },
        }
    }

    #[test]
    fn a_forecast_is_the_frequency_in_all_draws() {
        let forecast = Rates { correct: 0.5, wrong: 0.25, draws: 8.0 };
        let all = forecast.and(Tally { correct: 1, wrong: 4, abstained: 3 });
        assert_eq!(all, Rates { correct: 5.0 / 16.0, wrong: 6.0 / 16.0, draws: 16.0 });
        let none = Rates { correct: 0.0, wrong: 0.0, draws: 0.0 };
        assert_eq!(none.and(Tally::default()), none);
    }

    #[test]
    fn a_draw_pays_one_on_average_at_the_limit_of_the_claim() {
        // The worst distribution that the claim allows: wrong = w, correct = e^ε·w + δ·r/2. With
        // any stake the mean payoff is 1 + μ(correct − e^ε·wrong − δ_eff) = 1.
        for (epsilon, delta, regions) in
            [(0.1_f64, 0.0, 2), (1.0, 0.0, 1), (1.0, 0.05, 2), (0.5, 0.2, 1), (1.2, 1e-3, 2)]
        {
            let (against, staked) =
                (Point { epsilon, delta }, Point { epsilon: epsilon * 1.02, delta });
            let growth = |correct, wrong, abstained| {
                Bet { regions, ..bet(correct, wrong, abstained) }.growth(against, staked)
            };
            let [correct, wrong, none] = [growth(1, 0, 0), growth(0, 1, 0), growth(0, 0, 1)];
            assert!(correct > 0.0 && wrong < 0.0 && none <= 0.0);
            for w in [0.0, 0.01, 0.05, 0.1] {
                let c = epsilon.exp() * w + delta * f64::from(regions) / 2.0;
                let mean = c * correct.exp() + w * wrong.exp() + (1.0 - c - w) * none.exp();
                assert!((mean - 1.0).abs() < 1e-12, "ε {epsilon}, δ {delta}, w {w}: {mean}");
            }
            let sum = 3.0 * correct + 2.0 * wrong + 7.0 * none;
            assert!((growth(3, 2, 7) - sum).abs() < 1e-12, "{} against {sum}", growth(3, 2, 7));
        }
    }

    #[test]
    fn the_wealth_is_the_mean_of_the_purses() {
        let looks = [[bet(60, 10, 30), bet(50, 15, 35)], [bet(5, 30, 65), bet(40, 12, 48)]];
        let claim = Point { epsilon: 1.0, delta: 0.01 };
        let mut ledger = Ledger::default();
        looks.iter().for_each(|bets| ledger.push(bets.to_vec()));
        let payoffs = looks.map(|bets| bets.map(|bet| bet.growth(claim, claim).exp()));
        let wealth = [
            f64::midpoint(payoffs[0][0], payoffs[0][1]),
            f64::midpoint(payoffs[0][0] * payoffs[1][0], payoffs[0][1] * payoffs[1][1]),
        ];
        let path: Vec<f64> = ledger.path(&of_epsilon(1.0, 0.01)).collect();
        assert_eq!(path.len(), 2);
        assert!(
            path.iter().zip(wealth).all(|(log, wealth)| (log - wealth.ln()).abs() < 1e-12),
            "{path:?} against {wealth:?}"
        );
        // Logarithms whose exponentials overflow, and empty purses.
        assert_eq!(log_mean_exp(&[2000.0, 2000.0]), 2000.0);
        assert!((log_mean_exp(&[f64::NEG_INFINITY, 4.0_f64.ln()]) - 2.0_f64.ln()).abs() < 1e-15);
        assert_eq!(
            [log_mean_exp(&[]), log_mean_exp(&[f64::NEG_INFINITY; 2])],
            [f64::NEG_INFINITY; 2]
        );
    }

    #[test]
    fn wealth_grows_when_the_leak_is_real_and_its_maximum_counts() {
        let mut ledger = Ledger::default();
        ledger.push(vec![bet(600, 100, 300)]);
        let good = ledger.log_wealth(&of_epsilon(1.0, 0.0));
        assert!(good > 10.0);
        ledger.push(vec![bet(100, 600, 300)]);
        assert_eq!(ledger.log_wealth(&of_epsilon(1.0, 0.0)), good);
        assert!(ledger.lower(&of_epsilon(1.0, 0.0), 1e-4) > 1.0);
    }

    #[test]
    fn the_bound_is_below_the_observed_ratio() {
        let mut ledger = Ledger::default();
        ledger.push(vec![bet(60_000, 10_000, 30_000)]);
        let bound = ledger.lower(&of_epsilon(1.0, 0.0), 0.05);
        assert!(bound > 1.6 && bound < 6.0_f64.ln(), "{bound}");
        assert!(ledger.lower(&of_epsilon(1.0, 0.1), 0.05) < bound);
        let delta =
            ledger.lower(&Limit { measure: Measure::Delta { epsilon: 1.0 }, value: 0.0 }, 0.05);
        // correct − e·wrong = 0.6 − 0.2718…
        assert!(delta > 0.2 && delta < 0.6 - 0.1 * 1.0_f64.exp(), "{delta}");
    }

    #[test]
    fn values_below_the_bound_are_refuted_with_the_stake_of_their_interval() {
        // This does not depend on the search: every ε of a fine grid below the bound is refuted
        // with the stake of the end of its interval, and an ε just above the bound is not.
        let mut ledger = Ledger::default();
        ledger.push(vec![bet(60_000, 10_000, 30_000)]);
        for claimed in [0.5, 1.0, 1.7, 3.0] {
            let bound = ledger.lower(&of_epsilon(claimed, 0.0), 0.05);
            let end = |epsilon: f64| {
                claimed * 1.05_f64.powf(((epsilon / claimed).ln() / 1.05_f64.ln()).ceil())
            };
            let refuted = |epsilon: f64| {
                let point = |epsilon| move |_: &Bet| Point { epsilon, delta: 0.0 };
                ledger.staked_path(point(epsilon), point(end(epsilon))).fold(0.0, f64::max)
                    >= -0.05_f64.ln()
            };
            assert!(
                (1..1000)
                    .map(|step| f64::from(step) / 1000.0 * bound)
                    .filter(|epsilon| *epsilon > 2e-3)
                    .all(refuted)
            );
            assert!(!refuted(bound * 1.0001));
        }
    }

    #[test]
    fn a_losing_purse_does_not_ruin_the_other() {
        let mut ledger = Ledger::default();
        ledger.push(vec![bet(600, 100, 300), bet(10, 10, 980)]);
        let mut alone = Ledger::default();
        alone.push(vec![bet(600, 100, 300)]);
        assert!(
            ledger.log_wealth(&of_epsilon(1.0, 0.0))
                > alone.log_wealth(&of_epsilon(1.0, 0.0)) - 2.0_f64.ln() - 1e-9
        );
    }

    #[test]
    fn predictions_count_up_to_the_claim_and_not_beyond() {
        for limit in [
            of_epsilon(1.0, 0.0),
            of_epsilon(0.01, 1e-5),
            Limit { measure: Measure::Delta { epsilon: 1.0 }, value: 0.01 },
            Limit { measure: Measure::Mu, value: 0.8 },
        ] {
            let mut ledger = Ledger::default();
            ledger.push_predicted(Vec::new(), 0.0);
            assert_eq!(ledger.lower(&limit, 0.05), 0.0);
            // 85 % of the wealth of e^4 is 46, more than 20; of e^3 it is 17.
            ledger.push_predicted(vec![bet(0, 0, 10), bet(0, 0, 10)], 3.0);
            assert_eq!(ledger.lower(&limit, 0.05), 0.0);
            ledger.push_predicted(vec![bet(0, 0, 10), bet(0, 0, 10)], 4.0);
            let bound = ledger.lower(&limit, 0.05);
            assert!(bound > limit.value && bound < 1.000_001 * limit.value, "{limit:?}: {bound}");
            let path: Vec<f64> = ledger.path(&limit).collect();
            let rules = ledger.looks.len();
            assert_eq!(path.len(), rules);
            assert!((path[1] - (0.15 + 0.85 * 3.0_f64.exp()).ln()).abs() < 1e-2, "{path:?}");
        }
    }

    #[test]
    fn the_largest_refuted_value_is_found_for_every_claim() {
        for claimed in [0.0, 1e-5, 0.3, 1.0, 40.0, 5000.0] {
            let search = |largest: f64| {
                largest_refuted(claimed, 1e-3, 1e3, |against, staked| {
                    assert!(
                        against <= staked && staked <= 1.050_001 * against,
                        "{against} with the stake of {staked}"
                    );
                    against <= largest
                })
            };
            for largest in [1.1e-3, 0.25, 1.0, 7.0, 900.0] {
                // An interval of 5 % is halved sixteen times.
                let found = search(largest);
                assert!(
                    found <= largest.next_up() && found > largest * (1.0 - 1e-6),
                    "claim {claimed}: {found} for {largest}"
                );
            }
            if (1e-3..1e3).contains(&claimed) {
                // A claim that is only just refuted is itself tested, so it is found.
                assert_eq!(search(claimed), claimed.next_up());
                assert_eq!(search(0.95e-3), 0.0);
            }
        }
        assert!(largest_refuted(1.0, 1e-9, 1.0, |_, _| true) <= 1.0);
    }

    #[test]
    fn the_stake_maximises_the_pessimistic_expected_growth() {
        for (epsilon, delta_eff, correct, wrong) in
            [(1.0_f64, 0.0, 0.6_f64, 0.05_f64), (0.5, 0.1, 0.5, 0.1), (0.1, 0.3, 0.8, 0.1)]
        {
            for draws in [50.0, 1e4] {
                let mu = Rates { correct, wrong, draws }.stake(epsilon, delta_eff);
                // A quarter of a standard error fewer correct guesses, as much more wrong guesses,
                // and half a wrong guess more.
                let (correct, wrong) = (
                    correct - (correct / draws).sqrt() / 4.0,
                    wrong + (wrong / draws).sqrt() / 4.0 + 0.5 / draws,
                );
                let (gain, loss) = (1.0 - delta_eff, epsilon.exp() + delta_eff);
                let slope = correct * gain / (1.0 + mu * gain)
                    - wrong * loss / (1.0 - mu * loss)
                    - (1.0 - correct - wrong) * delta_eff / (1.0 - mu * delta_eff);
                assert!(
                    mu > 0.0 && slope.abs() < 1e-12,
                    "ε {epsilon}, δ {delta_eff}, {draws} draws: slope {slope} at {mu}"
                );
            }
        }
    }

    #[test]
    fn a_wrong_guess_never_costs_everything() {
        // No wrong guess in very many draws, so that only rounding matters: all but a billionth is
        // staked.
        let mu = Rates { correct: 1.0, wrong: 0.0, draws: 1e300 }.stake(1.0, 0.0);
        let left = 1.0 - mu * 1.0_f64.exp();
        assert!(left > 0.9e-9 && left < 1.1e-9, "{left}");
    }

    #[test]
    fn without_an_advantage_nothing_is_staked() {
        let forecast = Rates { correct: 0.5, wrong: 0.4, draws: 1e6 };
        assert_eq!(forecast.stake(1.0, 0.0), 0.0);
    }
}
