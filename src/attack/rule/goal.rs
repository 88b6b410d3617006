//! What a rule is optimised for, and the value of a rule for this goal.

/// How many times more pessimistic the choice of a steady rule is.
const STEADY: f64 = 6.0;

/// What a rule is optimised for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
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

impl Goal {
    /// The pessimistic value of a rule.
    #[inline]
    pub fn value(self, odds: Odds, Caution { draws: n, z }: Caution) -> f64 {
        let (correct, wrong, regions) = (odds.correct, odds.wrong + 0.5 / n, odds.regions);
        match self {
            // P(correct) ≤ e^ε·P(wrong) + δ_eff. The value is the odds x = e^ε at which correct − δ_eff − x·wrong is z standard errors
            // above zero: (a − x·wrong)² = (z²/n)·(correct + x²·wrong) with a = correct − δ_eff. It is the smaller positive root.
            Self::Epsilon { delta } => {
                let (a, v) = (correct - delta * regions / 2.0, z * z / n);
                let rest = a * a - v * correct;
                if a <= 0.0 || rest <= 0.0 {
                    return 0.0;
                }
                // The discriminant (a·wrong)² − wrong·(wrong − v)·rest, simplified so that nothing cancels.
                let discriminant = v * wrong * (a * a + correct * (wrong - v));
                rest / (a * wrong + discriminant.max(0.0).sqrt())
            }
            Self::Steady { delta } => Self::Epsilon { delta }.value(odds, Caution { draws: n, z: STEADY * z }),
            // The same inequality solved for δ: δ_eff ≥ correct − x·wrong, minus z standard errors; then δ = δ_eff·2/r.
            Self::Delta { odds: x } => (correct - x * wrong - z * ((correct + x * x * wrong) / n).sqrt()) * 2.0 / regions.max(1.0),
        }
    }
}
