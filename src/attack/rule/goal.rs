//! What a rule is optimised for, and the value of a rule for this goal.

use crate::attack::tuning::select::STEADY;
use crate::model::Measure;
use crate::stats::Rates;

/// What a rule is optimised for: the largest bound on a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal<'a> {
    measure: &'a Measure,
    /// `e^ε`, where δ at this ε is measured.
    odds: f64,
    /// How many times more pessimistic than usual to be. A bound from many guesses is hardly ever
    /// misled by chance.
    patience: f64,
}

/// How pessimistic to be: `z` standard errors of a frequency in `draws` draws.
#[derive(Clone, Copy, Debug)]
pub struct Caution {
    /// The number of draws.
    pub draws: f64,
    /// The number of standard errors.
    pub z: f64,
}

impl<'a> Goal<'a> {
    /// The largest bound on this measure.
    pub fn new(measure: &'a Measure) -> Self {
        let odds = if let Measure::Delta { epsilon } = measure { epsilon.exp() } else { 1.0 };
        Self { measure, odds, patience: 1.0 }
    }

    /// A bound on this measure from many guesses; none for δ, whose rules are chosen in another
    /// way.
    pub fn steady(measure: &'a Measure) -> Option<Self> {
        let goal = Self { patience: STEADY, ..Self::new(measure) };
        (!goal.is_delta()).then_some(goal)
    }

    /// Whether it is about δ.
    pub fn is_delta(self) -> bool {
        matches!(self.measure, Measure::Delta { .. })
    }

    /// The bound that a value of [`value`](Self::value) stands for.
    pub fn bound(self, value: f64) -> f64 {
        if self.is_delta() { value } else { value.ln() }
    }

    /// The pessimistic value of a rule that gives so many of the two answers.
    #[inline]
    pub fn value(self, rates: Rates, regions: u8, Caution { draws: n, z }: Caution) -> f64 {
        let (correct, wrong) = (rates.correct, rates.wrong + 0.5 / n);
        let z = z * self.patience;
        match self.measure {
            // P(correct) ≤ e^ε·P(wrong) + δ_eff. The value is the odds x = e^ε at which correct −
            // δ_eff − x·wrong is z standard errors above zero: (a − x·wrong)² = (z²/n)·(correct +
            // x²·wrong) with a = correct − δ_eff. It is the smaller positive root.
            Measure::Epsilon { delta } => {
                let (a, v) = (correct - delta * f64::from(regions) / 2.0, z * z / n);
                let rest = a * a - v * correct;
                if a <= 0.0 || rest <= 0.0 {
                    return 0.0;
                }
                // The discriminant (a·wrong)² − wrong·(wrong − v)·rest, simplified so that nothing
                // cancels.
                let discriminant = v * wrong * (a * a + correct * (wrong - v));
                rest / (a * wrong + discriminant.max(0.0).sqrt())
            }
            // The same inequality solved for δ: δ_eff ≥ correct − x·wrong, minus z standard errors;
            // then δ = δ_eff·2/r.
            Measure::Delta { .. } => {
                let x = self.odds;
                (correct - x * wrong - z * ((correct + x * x * wrong) / n).sqrt()) * 2.0
                    / f64::from(regions.max(1))
            }
            // In other units the logarithm of the value is the bound, as it is for ε.
            measure => {
                let bound = measure.cautious(correct, wrong, regions, n, z);
                if bound > 0.0 { bound.exp() } else { 0.0 }
            }
        }
    }
}
