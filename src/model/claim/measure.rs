//! Numbers that measure how far the outputs on neighbours differ.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::Metric;
use crate::model::number::Brief;

/// A number that measures how far the outputs on neighbours differ: a leak, or the distance of
/// outputs without noise.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// The smallest ε at this δ.
    Epsilon {
        /// The δ.
        delta: f64,
    },
    /// The smallest δ at this ε.
    Delta {
        /// The ε.
        epsilon: f64,
    },
    /// μ of Gaussian differential privacy.
    Mu,
    /// ρ of zero-concentrated differential privacy.
    Rho,
    /// The Rényi divergence of this order, the larger of both directions.
    Renyi {
        /// The order λ.
        order: f64,
    },
    /// How many times larger the Rényi divergences `(order, divergence)` are than a claim allows;
    /// the largest of these factors.
    Orders(Arc<[(f64, f64)]>),
    /// By which factor every ε of a privacy profile `(ε, δ)` must be multiplied, so that the
    /// profile holds.
    Profile(Arc<[(f64, f64)]>),
    /// How far apart the outputs of a transformation without noise are.
    Distance {
        /// How that is measured.
        metric: Metric,
        /// How far apart the datasets may be, in steps of the neighbour relation.
        input: f64,
    },
}

impl Measure {
    /// The name of ε, the unit of claims (ε, δ).
    pub const EPSILON: &str = "epsilon";

    /// The symbol of the number.
    #[must_use]
    pub fn symbol(&self) -> &'static str {
        match self {
            Self::Epsilon { .. } => "ε",
            Self::Delta { .. } => "δ",
            Self::Mu => "μ",
            Self::Rho => "ρ",
            Self::Renyi { .. } => "τ",
            Self::Orders(_) | Self::Profile(_) => "factor",
            Self::Distance { .. } => "distance",
        }
    }

    /// Its name in reports that programs read.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Epsilon { .. } => Self::EPSILON,
            Self::Delta { .. } => "delta",
            Self::Mu => "mu",
            Self::Rho => "rho",
            Self::Renyi { .. } => "renyi",
            Self::Orders(_) => "renyi-factor",
            Self::Profile(_) => "profile-factor",
            Self::Distance { metric, .. } => return Cow::Owned(format!("{metric}-distance")),
        })
    }
}

/// The largest value of a measure that a claim allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// What is measured.
    pub measure: Measure,
    /// The largest value.
    pub value: f64,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { measure, value } = self;
        match measure {
            Measure::Epsilon { delta } | Measure::Delta { epsilon: delta } if *delta == 0.0 => {
                write!(f, "{} = {value}", measure.symbol())
            }
            Measure::Epsilon { delta } => write!(f, "ε = {value}, δ = {delta}"),
            Measure::Delta { epsilon } => write!(f, "ε = {epsilon}, δ = {value}"),
            Measure::Mu | Measure::Rho => write!(f, "{} = {value}", measure.symbol()),
            Measure::Renyi { order } => write!(f, "τ = {value} at order {order}"),
            Measure::Orders(orders) => {
                let texts: Vec<String> = orders
                    .iter()
                    .map(|(order, value)| {
                        format!("τ = {} at order {}", Brief(*value), Brief(*order))
                    })
                    .collect();
                f.write_str(&shortened(&texts))
            }
            Measure::Profile(points) => {
                let texts: Vec<String> = points
                    .iter()
                    .map(|(epsilon, delta)| format!("({}, {})", Brief(*epsilon), Brief(*delta)))
                    .collect();
                write!(f, "profile {}", shortened(&texts))
            }
            Measure::Distance { metric, input } if *input == 1.0 => {
                write!(f, "{metric} distance ≤ {}", Brief(*value))
            }
            Measure::Distance { metric, input } => write!(
                f,
                "{metric} distance ≤ {} at input distance {}",
                Brief(*value),
                Brief(*input)
            ),
        }
    }
}

/// A list in words; the middle of a long one is left out.
fn shortened(texts: &[String]) -> String {
    match texts {
        [first, .., last] if texts.len() > 3 => format!("{first}, …, {last}"),
        _ => texts.join(", "),
    }
}
