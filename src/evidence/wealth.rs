//! Evidence that may be looked at at any time: a gambler bets that the mechanism leaks more than claimed.
//!
//! Under a claim (ε, δ) every guess rule has `P(correct) ≤ e^ε·P(wrong) + δ_eff`. So with a stake `μ ∈ [0, 1/(e^ε + δ_eff))` fixed before the
//! draw, the payoff `1 + μ·(1[correct] − e^ε·1[wrong] − δ_eff)` is positive and has mean at most 1: the wealth is a supermartingale, and
//! `P(wealth ever ≥ 1/α) ≤ α` (Ville). Averages of such wealths are again valid.

use super::fixed::effective;
use crate::sample::Tally;

/// What was known of a rule before it was judged: how often it is right and wrong, from how many draws.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Estimated `P(correct)`.
    pub correct: f64,
    /// Estimated `P(wrong)`.
    pub wrong: f64,
    /// The draws behind the estimates.
    pub draws: f64,
}

impl Forecast {
    /// The estimates together with a further tally of the same rule.
    #[must_use]
    pub fn and(self, tally: Tally) -> Self {
        let draws = self.draws + tally.draws() as f64;
        if draws == 0.0 {
            return self;
        }
        Self {
            correct: (self.correct * self.draws + tally.correct as f64) / draws,
            wrong: (self.wrong * self.draws + tally.wrong as f64) / draws,
            draws,
        }
    }

    /// The Kelly stake for these estimates, shaded to the pessimistic side by one standard error each.
    fn stake(self, epsilon: f64, delta_eff: f64) -> f64 {
        let n = self.draws.max(1.0);
        let correct = (self.correct - (self.correct / n).sqrt()).max(0.0);
        let wrong = self.wrong + (self.wrong / n).sqrt() + 1.0 / n;
        let abstained = (1.0 - correct - wrong).max(0.0);
        let loss = epsilon.exp() + delta_eff;
        let gain = 1.0 - delta_eff;
        // The expected log-wealth is greatest where its slope
        //   correct·gain/(1 + μ·gain) − wrong·loss/(1 − μ·loss) − abstained·δ_eff/(1 − μ·δ_eff)
        // is zero; multiplied out that is a·μ² + b·μ + c = 0, and the maximum its smaller root.
        let (won, lost, paid) = (correct * gain, wrong * loss, abstained * delta_eff);
        let a = gain * loss * delta_eff * (correct + wrong + abstained);
        let b = -won * (loss + delta_eff) - lost * (gain - delta_eff) - paid * (gain - loss);
        let c = won - lost - paid;
        if c <= 0.0 {
            return 0.0;
        }
        let mu = 2.0 * c / (-b + (b * b - 4.0 * a * c).max(0.0).sqrt());
        // Rounding must not let a single wrong guess cost more than everything.
        mu.clamp(0.0, (1.0 - 1e-9) / loss)
    }
}

/// One rule's bet: the forecast that set the stake, and how the rule then did.
#[derive(Clone, Copy, Debug)]
pub struct Bet {
    /// Known before the draws.
    pub forecast: Forecast,
    /// How many of the two answers the rule gives.
    pub regions: u8,
    /// The draws.
    pub tally: Tally,
}

impl Bet {
    /// By how much the logarithm of the wealth grew under a claim.
    fn growth(&self, epsilon: f64, delta: f64) -> f64 {
        let delta_eff = effective(delta, self.regions);
        let mu = self.forecast.stake(epsilon, delta_eff);
        if mu == 0.0 {
            return 0.0;
        }
        let Tally { correct, wrong, abstained } = self.tally;
        let part = |count: u64, change: f64| if count == 0 { 0.0 } else { count as f64 * change.ln_1p() };
        part(correct, mu * (1.0 - delta_eff)) + part(wrong, -mu * (epsilon.exp() + delta_eff)) + part(abstained, -mu * delta_eff)
    }
}

/// The bets of all looks: `looks[t]` has one bet for each purse. Every purse starts with an equal share.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    looks: Vec<Vec<Bet>>,
}

impl Ledger {
    /// Adds a look. All looks have a bet for each purse.
    pub fn push(&mut self, bets: Vec<Bet>) {
        debug_assert!(self.looks.last().is_none_or(|last| last.len() == bets.len()));
        self.looks.push(bets);
    }

    /// The logarithm of the wealth after each look, against this claim.
    pub fn path(&self, epsilon: f64, delta: f64) -> impl Iterator<Item = f64> {
        let purses = self.looks.first().map_or(0, Vec::len);
        let mut logs = vec![0.0_f64; purses];
        self.looks.iter().map(move |bets| {
            for (log, bet) in logs.iter_mut().zip(bets) {
                *log += bet.growth(epsilon, delta);
            }
            log_mean_exp(&logs)
        })
    }

    /// The logarithm of the greatest wealth at any look, against this claim.
    #[must_use]
    pub fn log_wealth(&self, epsilon: f64, delta: f64) -> f64 {
        self.path(epsilon, delta).fold(0.0, f64::max)
    }

    /// Whether the claim is refuted at level α.
    #[must_use]
    pub fn refutes(&self, epsilon: f64, delta: f64, alpha: f64) -> bool {
        self.log_wealth(epsilon, delta) >= -alpha.ln()
    }

    /// The largest ε of a fixed grid up to which every ε is refuted at this δ; 0 if none is.
    ///
    /// The bound can exceed the truth only if the least grid point at or above the truth was refuted, which has probability at most α.
    #[must_use]
    pub fn epsilon_lower(&self, delta: f64, alpha: f64) -> f64 {
        last_refuted(1e-3, 2e-3, 1e3, |epsilon| self.refutes(epsilon, delta, alpha))
    }

    /// The largest δ of a fixed grid up to which every δ is refuted at this ε; 0 if none is.
    #[must_use]
    pub fn delta_lower(&self, epsilon: f64, alpha: f64) -> f64 {
        last_refuted(1e-9, 1e-2, 1.0, |delta| self.refutes(epsilon, delta, alpha))
    }
}

/// Walks the grid `first, first·(1 + step), …` and returns the last point before the first that is not refuted.
fn last_refuted(first: f64, step: f64, end: f64, refuted: impl Fn(f64) -> bool) -> f64 {
    let mut last = 0.0;
    let mut point = first;
    while point < end && refuted(point) {
        last = point;
        point *= 1.0 + step;
    }
    last
}

fn log_mean_exp(logs: &[f64]) -> f64 {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return f64::NEG_INFINITY;
    }
    largest + (logs.iter().map(|log| (log - largest).exp()).sum::<f64>() / logs.len() as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bet(correct: u64, wrong: u64, abstained: u64) -> Bet {
        Bet { forecast: Forecast { correct: 0.6, wrong: 0.1, draws: 1000.0 }, regions: 2, tally: Tally { correct, wrong, abstained } }
    }

    #[test]
    fn a_single_draw_pays_at_most_one_on_average_under_the_claim() {
        // The worst distribution that the claim allows: wrong = w, correct = e^ε·w + δ.
        for (epsilon, delta) in [(0.1_f64, 0.0), (1.0, 0.0), (1.0, 0.05), (2.0, 1e-3)] {
            for w in [0.0, 0.01, 0.05, 0.1] {
                let c = epsilon.exp() * w + delta;
                let pay = |correct, wrong, abstained| bet(correct, wrong, abstained).growth(epsilon, delta).exp();
                let mean = c * pay(1, 0, 0) + w * pay(0, 1, 0) + (1.0 - c - w) * pay(0, 0, 1);
                assert!(mean <= 1.0 + 1e-12, "ε {epsilon}, δ {delta}, w {w}: {mean}");
            }
        }
    }

    #[test]
    fn wealth_grows_when_the_leak_is_real_and_the_greatest_counts() {
        let mut ledger = Ledger::default();
        ledger.push(vec![bet(600, 100, 300)]);
        let good = ledger.log_wealth(1.0, 0.0);
        assert!(good > 10.0);
        ledger.push(vec![bet(100, 600, 300)]);
        assert_eq!(ledger.log_wealth(1.0, 0.0), good);
        assert!(ledger.refutes(1.0, 0.0, 1e-4));
    }

    #[test]
    fn the_bound_lies_below_the_observed_ratio() {
        let mut ledger = Ledger::default();
        ledger.push(vec![bet(60_000, 10_000, 30_000)]);
        let bound = ledger.epsilon_lower(0.0, 0.05);
        assert!(bound > 1.6 && bound < 6.0_f64.ln(), "{bound}");
        assert!(ledger.epsilon_lower(0.1, 0.05) < bound);
        let delta = ledger.delta_lower(1.0, 0.05);
        // c − e·i = 0.6 − 0.2718…
        assert!(delta > 0.2 && delta < 0.6 - 0.1 * 1.0_f64.exp(), "{delta}");
    }

    #[test]
    fn a_purse_that_loses_does_not_sink_the_other() {
        let mut ledger = Ledger::default();
        ledger.push(vec![bet(600, 100, 300), bet(10, 10, 980)]);
        let mut alone = Ledger::default();
        alone.push(vec![bet(600, 100, 300)]);
        assert!(ledger.log_wealth(1.0, 0.0) > alone.log_wealth(1.0, 0.0) - 2.0_f64.ln() - 1e-9);
    }

    #[test]
    fn the_stake_maximises_the_expected_growth() {
        for (epsilon, delta_eff) in [(1.0_f64, 0.0), (0.5, 0.01), (2.0, 1e-4)] {
            let forecast = Forecast { correct: 0.6, wrong: 0.05, draws: 1e12 };
            let growth = |mu: f64| {
                0.6 * (mu * (1.0 - delta_eff)).ln_1p()
                    + 0.05 * (-mu * (epsilon.exp() + delta_eff)).ln_1p()
                    + 0.35 * (-mu * delta_eff).ln_1p()
            };
            let mu = forecast.stake(epsilon, delta_eff);
            assert!(growth(mu) >= growth(mu * 0.99) && growth(mu) >= growth(mu * 1.01), "ε {epsilon}, δ {delta_eff}: {mu}");
        }
    }

    #[test]
    fn no_edge_no_stake() {
        let forecast = Forecast { correct: 0.5, wrong: 0.4, draws: 1e6 };
        assert_eq!(forecast.stake(1.0, 0.0), 0.0);
    }
}
