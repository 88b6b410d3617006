//! Whether a bound still grows with exploration: a rule that was learned from more draws shows
//! clearly more than the rule before it.

use serde::{Deserialize, Serialize};

use crate::model::{Measure, Tally};
use crate::stats::Rates;

/// How many standard errors a rise must have. By chance, two rules that are equally good differ by
/// as much in one of forty pairs.
const CLEARLY: f64 = 2.0;

/// The rule for the main limit that was replaced by the final one, and what it did on the draws
/// between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Earlier {
    /// The draws that it was learned from.
    pub learned_from: u64,
    /// The answers that it gives.
    pub regions: u8,
    /// Its counts on later draws.
    pub tally: Tally,
}

/// What two rules show, of which one was learned from more draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Growth {
    /// What the earlier rule shows, in the unit of the claim.
    pub before: f64,
    /// What the final rule shows.
    pub now: f64,
    /// How many times as many draws bring what is still missing down to a standard error.
    pub factor: f64,
}

impl Earlier {
    /// The growth up to a rule that was learned from `learned_from` draws and has this tally;
    /// `None` if it is not clear.
    ///
    /// What a learned rule misses is taken to fall with the root of the draws that it was learned
    /// from, so a rule from `n` draws shows `A − c/√n`. Then the rise `g` from `m` to `n` draws
    /// leaves `c/√n = g/(√(n/m) − 1)` to be gained.
    #[must_use]
    pub fn growth(
        self,
        measure: &Measure,
        learned_from: u64,
        regions: u8,
        tally: Tally,
    ) -> Option<Growth> {
        let (before, error_before) = shown(measure, self.tally, self.regions)?;
        let (now, error) = shown(measure, tally, regions)?;
        let rise = now - before;
        let missing = rise / ((learned_from as f64 / self.learned_from as f64).sqrt() - 1.0);
        let is_clear = rise > CLEARLY * error.hypot(error_before) && missing.is_finite();
        (is_clear && missing > 0.0).then(|| Growth {
            before,
            now,
            factor: (missing / error).powi(2).max(1.0),
        })
    }
}

/// What a tally shows, and its standard error; `None` if it has none.
fn shown(measure: &Measure, tally: Tally, regions: u8) -> Option<(f64, f64)> {
    let Rates { correct, wrong, draws } = Rates::of(tally);
    // Without a wrong guess there is no upper end. One wrong guess is on the careful side.
    let wrong = wrong.max(1.0 / draws);
    let value = measure.of(correct, wrong, regions);
    let error = value - measure.cautious(correct, wrong, regions, draws, 1.0);
    (draws > 0.0 && value.is_finite() && error > 0.0 && error < f64::INFINITY)
        .then_some((value, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule that guesses on all of `draws` draws and is right as often as ε allows.
    fn tally(epsilon: f64, draws: u64) -> Tally {
        let right = epsilon.exp() / (1.0 + epsilon.exp());
        Rates { correct: right, wrong: 1.0 - right, draws: 1.0 }.expected(draws)
    }

    fn growth(before: f64, now: f64) -> Option<Growth> {
        let earlier = Earlier { learned_from: 1_000, regions: 2, tally: tally(before, 10_000) };
        earlier.growth(&Measure::Epsilon { delta: 0.0 }, 4_000, 2, tally(now, 10_000))
    }

    #[test]
    fn a_clear_rise_says_how_many_draws_would_do() {
        // The standard error of ln(p/(1 − p)) at ε = 1 is 1/√(n·p·(1 − p)) = 0.0226, and √4 − 1 = 1.
        let Growth { before, now, factor } = growth(0.8, 1.0).unwrap();
        assert!((before - 0.8).abs() < 1e-3 && (now - 1.0).abs() < 1e-3, "{before}, {now}");
        let expected = (0.2_f64 / 0.0226).powi(2);
        assert!((factor / expected - 1.0).abs() < 0.1, "{factor} against {expected}");
    }

    #[test]
    fn a_rise_that_may_be_chance_is_none() {
        assert_eq!(growth(0.95, 1.0), None);
        assert_eq!(growth(1.0, 0.8), None);
        let none = Earlier { learned_from: 0, regions: 2, tally: Tally::default() };
        assert_eq!(none.growth(&Measure::Epsilon { delta: 0.0 }, 8, 2, tally(1.0, 100)), None);
    }
}
