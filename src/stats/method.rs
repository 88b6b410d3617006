//! How the limits of a rule are computed. It is chosen before the draws.

use super::fixed::effective;
use super::forecast::Forecast;
use super::region::Weights;
use crate::model::Claim;

/// How the limits of a rule are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// A confidence region, for bounds on ε and δ.
    Region(Weights),
    /// One bet with this stake against the claimed ε, for the δ of rare events. It has no bound on ε.
    Bet(f64),
}

impl Method {
    /// For the bound on ε of a rule of which this is known before the draws.
    ///
    /// Weights are in proportion to the influence of each probability on the bound, times its standard error. The bound is
    /// `ε = ln((θ − s)/(1 − θ))` with `s = δ_eff/γ`. Times `θ − s`, its derivative by θ is `1 + e^ε = (1 − s)/(1 − θ)` and that by γ is
    /// `s/γ`. The standard errors are `√(θ(1 − θ)/(nγ))` and `√(γ(1 − γ)/n)`.
    #[must_use]
    pub fn for_epsilon(Forecast { correct, wrong, draws }: Forecast, delta_eff: f64) -> Self {
        let guess = (correct + wrong).min(1.0);
        if draws <= 0.0 || guess <= 0.0 {
            return Self::Region(Weights::ONLY_RIGHT);
        }
        let wrong = ((wrong + 0.5 / draws) / guess).min(0.5);
        let spent = (delta_eff / guess).min(1.0);
        Self::Region(Weights::new((1.0 - spent) * ((1.0 - wrong) / wrong).sqrt(), spent * (1.0 - guess).sqrt()))
    }

    /// For the bound on δ at the claimed ε, of a rule of which this is known before the draws, of which there will be `draws`.
    ///
    /// The bound is `δ_eff = γ·a` with `a = 1 − (1 − θ)(1 + e^ε)`. Its derivative by θ is `γ·(1 + e^ε)`, that by γ is `a`. Where few guesses
    /// are expected, hardly anything is known about θ, and a bet with Kelly's stake is better.
    #[must_use]
    pub fn for_delta(Forecast { correct, wrong, .. }: Forecast, claim: Claim, regions: u8, draws: u64) -> Self {
        /// With fewer expected guesses than this, a bet is better.
        const FEW: f64 = 300.0;
        let (guess, odds) = ((correct + wrong).min(1.0), claim.epsilon.get().min(30.0).exp());
        if guess * draws as f64 > FEW {
            let wrong = wrong / guess;
            return Self::Region(Weights::new(
                (1.0 + odds) * (wrong * (1.0 - wrong)).sqrt(),
                (1.0 - wrong * (1.0 + odds)).max(0.0) * (1.0 - guess).sqrt(),
            ));
        }
        // Half a wrong guess more than expected, because a rule that was never wrong may be. Kelly's stake maximises
        // c·ln(1 + μ) + w·ln(1 − μx).
        let (correct, wrong) = (correct * draws as f64, wrong * draws as f64 + 0.5);
        let loss = odds + effective(claim.delta.get(), regions);
        Self::Bet(((correct - loss * wrong) / (loss * (correct + wrong))).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(guess: f64, right: f64) -> Forecast {
        Forecast { correct: guess * right, wrong: guess * (1.0 - right), draws: 1e6 }
    }

    fn claim(epsilon: f64, delta: f64) -> Claim {
        Claim { epsilon: epsilon.try_into().unwrap(), delta: delta.try_into().unwrap() }
    }

    #[test]
    fn weights_follow_the_forecast() {
        let only_right = Method::Region(Weights::ONLY_RIGHT);
        assert_eq!(Method::for_epsilon(forecast(0.3, 0.8), 0.0), only_right);
        assert_eq!(Method::for_epsilon(Forecast { correct: 0.0, wrong: 0.0, draws: 0.0 }, 0.1), only_right);
        // A rule that always guesses: there is nothing to learn about how often it does.
        assert_eq!(Method::for_epsilon(forecast(1.0, 0.8), 0.01), only_right);
        // A rule that shows no δ.
        assert_eq!(Method::for_delta(forecast(0.3, 0.6), claim(1.0, 0.01), 2, 10_000), only_right);
        // The standard errors of both terms, found by numerical differentiation.
        let (guess, right, spent, step) = (0.06, 0.8, 0.01, 1e-7);
        let epsilon = |guess: f64, right: f64| ((right - spent / guess) / (1.0 - right)).ln();
        let of_right = (epsilon(guess, right + step) - epsilon(guess, right)) / step * (right * (1.0 - right) / guess).sqrt();
        let of_guess = (epsilon(guess + step, right) - epsilon(guess, right)) / step * (guess * (1.0 - guess)).sqrt();
        let Method::Region(found) = Method::for_epsilon(forecast(guess, right), spent) else { panic!("a bet") };
        let Method::Region(expected) = Method::Region(Weights::new(of_right, of_guess)) else { panic!("a bet") };
        assert!(format!("{found:.4?}") == format!("{expected:.4?}"), "{found:?} against {expected:?}");
    }

    #[test]
    fn the_stake_maximises_the_expected_growth() {
        let Method::Bet(stake) = Method::for_delta(forecast(0.001, 0.98), claim(1.0, 0.0), 1, 100_000) else { panic!("no bet") };
        let growth = |stake: f64| 98.0 * stake.ln_1p() + 2.5 * (-stake * 1_f64.exp()).ln_1p();
        assert!(growth(stake) > growth(stake * 0.99) && growth(stake) > growth(stake * 1.01), "{stake}");
        // No stake where the rule does not show more than the claim.
        assert_eq!(Method::for_delta(forecast(0.001, 0.5), claim(1.0, 0.0), 1, 100_000), Method::Bet(0.0));
    }
}
