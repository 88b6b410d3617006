//! What a rule is for, and what it is worth.

/// How many times more pessimistic a rule is chosen that is to guess often.
const POWER_CAUTION: f64 = 6.0;

/// What a rule is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The largest ε bound at this δ.
    Epsilon {
        /// The claimed δ.
        delta: f64,
    },
    /// An ε bound at this δ from many guesses: what a rule that guesses often would have caught counts for more than the bound.
    Power {
        /// The claimed δ.
        delta: f64,
    },
    /// The largest δ bound at the ε of these odds.
    Delta {
        /// `e^ε` of the claimed ε.
        odds: f64,
    },
}

/// How a rule does.
#[derive(Clone, Copy, Debug)]
pub struct Odds {
    /// How often it is right.
    pub correct: f64,
    /// How often it is wrong.
    pub wrong: f64,
    /// How many of the two answers it gives.
    pub regions: f64,
}

/// How pessimistic to be: so many standard errors of a frequency in so many draws.
#[derive(Clone, Copy, Debug)]
pub struct Caution {
    /// Draws.
    pub draws: f64,
    /// Standard errors.
    pub z: f64,
}

impl Goal {
    /// The value of a rule, on the safe side.
    #[inline]
    pub fn value(self, odds: Odds, Caution { draws: n, z }: Caution) -> f64 {
        let (correct, wrong, regions) = (odds.correct, odds.wrong + 0.5 / n, odds.regions);
        match self {
            // The odds x at which correct − δ_eff − x·wrong is z standard errors above zero:
            // (a − x·wrong)² = (z²/n)·(correct + x²·wrong) with a = correct − δ_eff; its smaller positive root.
            Self::Epsilon { delta } => {
                let (a, v) = (correct - delta * regions / 2.0, z * z / n);
                let rest = a * a - v * correct;
                if a <= 0.0 || rest <= 0.0 {
                    return 0.0;
                }
                // The discriminant (a·wrong)² − wrong·(wrong − v)·rest, multiplied out, so that nothing cancels.
                let discriminant = v * wrong * (a * a + correct * (wrong - v));
                rest / (a * wrong + discriminant.max(0.0).sqrt())
            }
            Self::Power { delta } => Self::Epsilon { delta }.value(odds, Caution { draws: n, z: POWER_CAUTION * z }),
            Self::Delta { odds: x } => (correct - x * wrong - z * ((correct + x * x * wrong) / n).sqrt()) * 2.0 / regions.max(1.0),
        }
    }
}
