//! How the limits of a rule are computed. It is chosen before the draws.

use serde::{Deserialize, Serialize};

use super::fixed::effective;
use super::rates::Rates;
use super::region::Weights;
use crate::model::Measure;

/// How the limits of a rule are computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// A confidence region, for bounds on ε and δ.
    Region(Weights),
    /// Bets against the claimed ε, for the δ of rare events. They have no bound on ε.
    Bets,
}

impl Method {
    /// For the bound on this measure, of a rule of which this is known before the draws, of which
    /// there will be `draws`.
    #[must_use]
    pub fn new(measure: &Measure, forecast: Rates, regions: u8, draws: u64) -> Self {
        match measure {
            Measure::Epsilon { delta } => Self::for_epsilon(forecast, effective(*delta, regions)),
            Measure::Delta { epsilon } => Self::for_delta(forecast, *epsilon, draws),
            _ => Self::for_measure(measure, forecast, regions),
        }
    }

    /// For a measure without a closed form: derivatives by θ and γ times the standard errors, as
    /// below.
    fn for_measure(measure: &Measure, Rates { correct, wrong, draws }: Rates, regions: u8) -> Self {
        let guess = (correct + wrong).min(1.0);
        if draws <= 0.0 || guess <= 0.0 {
            return Self::Region(Weights::ONLY_RIGHT);
        }
        let wrong = (wrong + 0.5 / draws).min(0.5 * guess);
        let (correct, right) = (guess - wrong, 1.0 - wrong / guess);
        let (by_correct, by_wrong) = measure.slopes(correct, wrong, regions);
        let by_right = guess * (by_correct - by_wrong) * (right * (1.0 - right) / guess).sqrt();
        let by_guess =
            (right * by_correct + (1.0 - right) * by_wrong) * (guess * (1.0 - guess)).sqrt();
        Self::Region(Weights::new(by_right.max(0.0), by_guess.max(0.0)))
    }

    /// For the bound on ε of a rule of which this is known before the draws.
    ///
    /// Weights are in proportion to the influence of each probability on the bound, times its
    /// standard error. The bound is `ε = ln((θ − s)/(1 − θ))` with `s = δ_eff/γ`. Times `θ − s`,
    /// its derivative by θ is `1 + e^ε = (1 − s)/(1 − θ)` and that by γ is `s/γ`. The standard
    /// errors are `√(θ(1 − θ)/(nγ))` and `√(γ(1 − γ)/n)`.
    #[must_use]
    pub fn for_epsilon(Rates { correct, wrong, draws }: Rates, delta_eff: f64) -> Self {
        let guess = (correct + wrong).min(1.0);
        if draws <= 0.0 || guess <= 0.0 {
            return Self::Region(Weights::ONLY_RIGHT);
        }
        let wrong = ((wrong + 0.5 / draws) / guess).min(0.5);
        let spent = (delta_eff / guess).min(1.0);
        Self::Region(Weights::new(
            (1.0 - spent) * ((1.0 - wrong) / wrong).sqrt(),
            spent * (1.0 - guess).sqrt(),
        ))
    }

    /// For the bound on δ at the claimed ε, of a rule of which this is known before the draws, of
    /// which there will be `draws`.
    ///
    /// The bound is `δ_eff = γ·a` with `a = 1 − (1 − θ)(1 + e^ε)`. Its derivative by θ is `γ·(1 +
    /// e^ε)`, that by γ is `a`. Where few guesses are expected, hardly anything is known about θ,
    /// and bets are better.
    #[must_use]
    pub fn for_delta(Rates { correct, wrong, .. }: Rates, epsilon: f64, draws: u64) -> Self {
        /// With fewer expected guesses than this, bets are better.
        const FEW: f64 = 3000.0;
        let (guess, odds) = ((correct + wrong).min(1.0), epsilon.min(30.0).exp());
        if guess * draws as f64 <= FEW {
            return Self::Bets;
        }
        let wrong = wrong / guess;
        let (right, mass) = (
            (1.0 + odds) * (wrong * (1.0 - wrong)).sqrt(),
            (1.0 - wrong * (1.0 + odds)).max(0.0) * (1.0 - guess).sqrt(),
        );
        Self::Region(Weights::new(right, mass))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(guess: f64, right: f64) -> Rates {
        Rates { correct: guess * right, wrong: guess * (1.0 - right), draws: 1e6 }
    }

    #[test]
    fn weights_follow_the_forecast() {
        let only_right = Method::Region(Weights::ONLY_RIGHT);
        assert_eq!(Method::for_epsilon(forecast(0.3, 0.8), 0.0), only_right);
        assert_eq!(
            Method::for_epsilon(Rates { correct: 0.0, wrong: 0.0, draws: 0.0 }, 0.1),
            only_right
        );
        // A rule that always guesses: there is nothing to learn about how often it does.
        assert_eq!(Method::for_epsilon(forecast(1.0, 0.8), 0.01), only_right);
        // A rule that shows no δ.
        assert_eq!(Method::for_delta(forecast(0.3, 0.6), 1.0, 100_000), only_right);
        // The standard errors of both terms, found by numerical differentiation.
        let (guess, right, spent, step) = (0.06, 0.8, 0.01, 1e-7);
        let epsilon = |guess: f64, right: f64| ((right - spent / guess) / (1.0 - right)).ln();
        let of_right = (epsilon(guess, right + step) - epsilon(guess, right)) / step
            * (right * (1.0 - right) / guess).sqrt();
        let of_guess = (epsilon(guess + step, right) - epsilon(guess, right)) / step
            * (guess * (1.0 - guess)).sqrt();
        let Method::Region(found) = Method::for_epsilon(forecast(guess, right), spent) else {
            panic!("bets")
        };
        let Method::Region(expected) = Method::Region(Weights::new(of_right, of_guess)) else {
            panic!("bets")
        };
        assert!(
            format!("{found:.4?}") == format!("{expected:.4?}"),
            "{found:?} against {expected:?}"
        );
    }

    #[test]
    fn rare_events_are_bet_on() {
        assert_eq!(Method::for_delta(forecast(0.001, 0.98), 1.0, 100_000), Method::Bets);
        assert!(matches!(
            Method::for_delta(forecast(0.001, 0.98), 1.0, 10_000_000),
            Method::Region(_)
        ));
    }
}
