//! Evidence over many runs: what each of them won, and the wealth of all together.
//!
//! A run freezes a rule and then makes fresh draws. Whatever is staked on the rule before these
//! draws, the product of the payoffs of `wealth` has mean at most 1 under the
//! claim, given all earlier runs: it is an e-value. So the product over runs is a supermartingale,
//! and it ever reaches `1/α` with probability at most α (Ville), however many runs there are, and
//! whoever stops when.
//!
//! A run that cannot show a leak by itself cannot say how large the leak is either, and a stake that
//! is wrong wins nothing. So each *purse* assumes a leak of some size in every run, takes Kelly's
//! stake for it, and keeps its money from run to run. One more purse carries what the run's own bets
//! won. The wealth is the mean of the purses.
//!
//! A mechanism that leaks less than it claims ruins its purses, and a later version of it may leak
//! more. So new purses begin with every run. Of the wealth, the part `1/(k(k + 1))` begins with the
//! k-th run and lies idle before it: with purses that grow by factors `e`, the wealth after t runs is
//!
//! ```text
//! 1/(t + 1) + mean over purses of A_t,   A_t = (A_{t−1} + 1/(t(t + 1)))·e_t,   A_0 = 0
//! ```
//!
//! As `1/t = 1/(t(t + 1)) + 1/(t + 1)`, its mean given the past is at most what it was.

use super::binomial::log_mean_exp;
use super::fixed::effective;
use super::rates::Rates;
use super::wealth::Bet;
use crate::model::{Limit, Tally};

/// The sizes of leaks that purses assume, as parts of the claim.
const LEAKS: [f64; 6] = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32];

/// The purses: one for each size, and one for the run's own bets.
pub const PURSES: usize = LEAKS.len() + 1;

/// The logarithms of what the purses won in one run.
pub type Won = [f64; PURSES];

/// A rule that was frozen, and what it then did on fresh draws.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// How often it should be correct and wrong. It was known before the draws.
    pub forecast: Rates,
    /// How many of the two answers it gives.
    pub regions: u8,
    /// What it did.
    pub tally: Tally,
}

/// What the purses won in a run with this rule, if it had one, and whose own bets against the limit
/// have this logarithm of wealth at its end.
#[must_use]
pub fn won(rule: Option<Judged>, limit: &Limit, own: f64) -> Won {
    let mut won = [0.0; PURSES];
    if let Some(rule) = rule {
        for (won, leak) in won.iter_mut().zip(LEAKS) {
            *won = rule.bet(limit, leak).map_or(0.0, |bet| bet.against(limit));
        }
    }
    won[LEAKS.len()] = own;
    won
}

impl Judged {
    /// A bet on this rule that is best if the mechanism leaks this part more than the limit. There
    /// is none if the rule guesses too rarely to show anything beyond δ.
    fn bet(self, limit: &Limit, leak: f64) -> Option<Bet> {
        /// Steps that find the point of a curved limit at which the rule guesses so often.
        const STEPS: usize = 12;
        let Self { forecast: Rates { correct, wrong, .. }, regions, tally } = self;
        let guess = (correct + wrong).min(1.0);
        // A claim of 0 is exceeded by parts of 1.
        let unit = if limit.value > 0.0 { limit.value } else { 1.0 };
        let leaking = limit.value + leak * unit;
        // A mechanism that uses all of `leaking` has correct = e^ε·wrong + δ_eff for a line of it.
        let mut wrong = wrong.clamp(0.0, guess);
        for _ in 0..STEPS {
            let (epsilon, delta) =
                limit.measure.line(leaking, 2.0 * wrong / f64::from(regions.max(1)));
            wrong = (guess - effective(delta, regions)) / (1.0 + epsilon.exp());
            if wrong.is_nan() || wrong <= 0.0 {
                return None;
            }
        }
        let forecast = Rates { correct: guess - wrong, wrong, draws: f64::INFINITY };
        Some(Bet { forecast, regions, tally })
    }
}

/// The logarithm of the wealth after each of these runs.
#[must_use]
pub fn path(runs: &[Won]) -> Vec<f64> {
    let mut active = [f64::NEG_INFINITY; PURSES];
    let after = |(index, won): (usize, &Won)| {
        let t = (index + 1) as f64;
        let begins = -(t * (t + 1.0)).ln();
        for (log, won) in active.iter_mut().zip(won) {
            *log = log_add_exp(*log, begins) + won;
        }
        log_add_exp(log_mean_exp(&active), -(t + 1.0).ln())
    };
    runs.iter().enumerate().map(after).collect()
}

/// `ln(e^a + e^b)`.
fn log_add_exp(a: f64, b: f64) -> f64 {
    log_mean_exp(&[a, b]) + std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Claim, Measure};

    /// What the sized purses win by one draw of each kind: correct, wrong, none.
    fn payoffs(limit: &Limit, forecast: Rates, regions: u8) -> Vec<[f64; 3]> {
        let tally = |correct, wrong, abstained| Tally { correct, wrong, abstained };
        let of = |tally| won(Some(Judged { forecast, regions, tally }), limit, 0.0);
        let [correct, wrong, none] = [tally(1, 0, 0), tally(0, 1, 0), tally(0, 0, 1)].map(of);
        (0..LEAKS.len()).map(|purse| [correct[purse], wrong[purse], none[purse]]).collect()
    }

    #[test]
    fn a_draw_pays_at_most_one_on_average_for_all_that_a_claim_allows() {
        let limits = [
            Claim::new(1.0, 0.0).unwrap().main().clone(),
            Claim::new(0.3, 1e-3).unwrap().main().clone(),
            Claim::mu(0.8).unwrap().main().clone(),
            Claim::rho(0.5).unwrap().main().clone(),
            Limit { measure: Measure::Epsilon { delta: 0.05 }, value: 0.0 },
        ];
        let mut bets = 0;
        for limit in &limits {
            for regions in [1, 2] {
                for guess in [0.02, 0.2, 0.45] {
                    let forecast = Rates { correct: 0.7 * guess, wrong: 0.3 * guess, draws: 1e4 };
                    for pay in payoffs(limit, forecast, regions) {
                        bets += usize::from(pay[0] != 0.0);
                        // The most often correct that a claim allows at each frequency of errors:
                        // the least of its lines (ε, δ).
                        for wrong in [1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2] {
                            let here = 2.0 * wrong / f64::from(regions);
                            let places = (1..400).map(|step| f64::from(step) / 400.0);
                            let lines = places.chain([here]).map(|a| {
                                let (epsilon, delta) = limit.measure.line(limit.value, a);
                                epsilon.exp() * wrong + effective(delta, regions)
                            });
                            let correct = lines.fold(1.0 - wrong, f64::min);
                            let [a, b, c] = pay.map(f64::exp);
                            let mean = correct * a + wrong * b + (1.0 - correct - wrong) * c;
                            assert!(mean <= 1.0 + 1e-6, "{limit:?}, {guess}, {wrong}: {mean}");
                        }
                    }
                }
            }
        }
        assert!(bets > 100, "{bets} bets were made");
    }

    #[test]
    fn the_stake_is_best_for_the_leak_that_it_assumes() {
        let limit = Claim::new(1.0, 0.0).unwrap().main().clone();
        let guess = 0.6;
        for (place, leak) in LEAKS.into_iter().enumerate() {
            let odds = (1.0 + leak).exp();
            let forecast = Rates { correct: 0.4, wrong: 0.2, draws: 1e3 };
            let growth = |pay: &[f64; 3]| guess * (odds * pay[0] + pay[1]) / (1.0 + odds);
            let all = payoffs(&limit, forecast, 2);
            let best = growth(&all[place]);
            assert!(best > 0.0 && all.iter().all(|other| growth(other) <= best + 1e-15), "{leak}");
        }
    }

    #[test]
    fn a_rule_that_guesses_too_rarely_makes_no_bet() {
        let limit = Claim::new(1.0, 0.1).unwrap().main().clone();
        let forecast = Rates { correct: 0.01, wrong: 0.0, draws: 1e4 };
        assert!(payoffs(&limit, forecast, 2).iter().flatten().all(|pay| *pay == 0.0));
        let expected = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.5];
        assert_eq!(won(None, &limit, 1.5), expected);
    }

    /// Exact: over all sequences of outcomes of a fair bet.
    #[test]
    fn the_wealth_does_not_grow_on_average() {
        // In each run each purse doubles or is left with a tenth, with mean 1.
        let (up, down) = (2.0_f64, 0.1_f64);
        let lucky = (1.0 - down) / (up - down);
        let runs = 6;
        let mut means = vec![0.0; runs];
        for outcome in 0..(1_u32 << runs) {
            let is_up = |run: usize| (outcome >> run) & 1 == 1;
            let sequence: Vec<Won> =
                (0..runs).map(|run| [(if is_up(run) { up } else { down }).ln(); PURSES]).collect();
            let chance = |run| if is_up(run) { lucky } else { 1.0 - lucky };
            let weight: f64 = (0..runs).map(chance).product();
            for (mean, log) in means.iter_mut().zip(path(&sequence)) {
                *mean += weight * log.exp();
            }
        }
        assert!(means.iter().all(|mean| (mean - 1.0).abs() < 1e-12), "{means:?}");
    }

    #[test]
    fn purses_keep_their_money_and_new_ones_begin_with_every_run() {
        let with = |purse: usize, log: f64| {
            let mut won = [0.0; PURSES];
            won[purse] = log;
            won
        };
        let found = path(&[with(2, 3.0), with(2, 4.0)]);
        let others = PURSES as f64 - 1.0;
        let purse = |grown: f64| (others * (1.0 - 1.0 / 3.0) + grown) / PURSES as f64 + 1.0 / 3.0;
        let second = 0.5 * 7.0_f64.exp() + 4.0_f64.exp() / 6.0;
        assert!((found[1] - purse(second).ln()).abs() < 1e-12);
        // A hundred runs that lose everything, then a leak.
        let mut runs = vec![[-50.0; PURSES]; 100];
        runs.extend(vec![[4.0; PURSES]; 5]);
        let last = *path(&runs).last().unwrap();
        assert!(last > 20.0 - (101.0_f64 * 102.0).ln() - 0.1 && last < 20.0, "{last}");
        assert!(path(&[]).is_empty());
    }
}
