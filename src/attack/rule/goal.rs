//! What a rule is optimised for, and the value of a rule for this goal.

use crate::attack::tuning::select::STEADY;
use crate::model::Measure;

/// What a rule is optimised for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal<'a> {
    /// The largest ε bound at this δ.
    Epsilon {
        /// The claimed δ.
        delta: f64,
    },
    /// An ε bound at this δ from many guesses. It is hardly ever misled by chance.
    Steady {
        /// The claimed δ.
        delta: f64,
    },
    /// The largest δ bound at the ε of these odds.
    Delta {
        /// `e^ε` of the claimed ε.
        odds: f64,
    },
    /// The largest bound on another measure.
    Measure {
        /// What is measured.
        measure: &'a Measure,
        /// How many times more pessimistic than usual to be.
        patience: f64,
    },
}

/// How often a rule is correct and wrong.
#[derive(Clone, Copy, Debug)]
pub struct Odds {
    /// The share of draws on which it is correct.
    pub correct: f64,
    /// The share of draws on which it is wrong.
    pub wrong: f64,
    /// How many of the two answers it gives.
    pub regions: f64,
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
        match measure {
            Measure::Epsilon { delta } => Self::Epsilon { delta: *delta },
            Measure::Delta { epsilon } => Self::Delta { odds: epsilon.exp() },
            _ => Self::Measure { measure, patience: 1.0 },
        }
    }

    /// A bound on this measure from many guesses; none for δ, whose rules are chosen in another
    /// way.
    pub fn steady(measure: &'a Measure) -> Option<Self> {
        match measure {
            Measure::Epsilon { delta } => Some(Self::Steady { delta: *delta }),
            Measure::Delta { .. } => None,
            _ => Some(Self::Measure { measure, patience: STEADY }),
        }
    }

    /// Whether it is about δ.
    pub fn is_delta(self) -> bool {
        matches!(self, Self::Delta { .. })
    }

    /// The bound that a value of [`value`](Self::value) stands for.
    pub fn bound(self, value: f64) -> f64 {
        if self.is_delta() { value } else { value.ln() }
    }

    /// The pessimistic value of a rule.
    #[inline]
    pub fn value(self, odds: Odds, Caution { draws: n, z }: Caution) -> f64 {
        let (correct, wrong, regions) = (odds.correct, odds.wrong + 0.5 / n, odds.regions);
        match self {
            // P(correct) ≤ e^ε·P(wrong) + δ_eff. The value is the odds x = e^ε at which correct −
            // δ_eff − x·wrong is z standard errors above zero: (a − x·wrong)² = (z²/n)·(correct +
            // x²·wrong) with a = correct − δ_eff. It is the smaller positive root.
            Self::Epsilon { delta } => {
                let (a, v) = (correct - delta * regions / 2.0, z * z / n);
                let rest = a * a - v * correct;
                if a <= 0.0 || rest <= 0.0 {
                    return 0.0;
                }
                // The discriminant (a·wrong)² − wrong·(wrong − v)·rest, simplified so that nothing
                // cancels.
                let discriminant = v * wrong * (a * a + correct * (wrong - v));
                rest / (a * wrong + discriminant.max(0.0).sqrt())
            }
            Self::Steady { delta } => {
                Self::Epsilon { delta }.value(odds, Caution { draws: n, z: STEADY * z })
            }
            // In other units the logarithm of the value is the bound, as it is for ε.
            Self::Measure { measure, patience } => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0, 1 or 2
                let bound = measure.cautious(correct, wrong, regions as u8, n, z * patience);
                if bound > 0.0 { bound.exp() } else { 0.0 }
            }
            // The same inequality solved for δ: δ_eff ≥ correct − x·wrong, minus z standard errors;
            // then δ = δ_eff·2/r.
            Self::Delta { odds: x } => {
                (correct - x * wrong - z * ((correct + x * x * wrong) / n).sqrt()) * 2.0
                    / regions.max(1.0)
            }
        }
    }
}
