//! What is claimed of a mechanism.
//!
//! A claim limits how far the outputs on neighbours may differ. There are many units for this, and
//! one meaning: a limit for every event. So the rest of the program asks a claim for its limits and
//! does not need to know how it was spelled.
//!
//! | file | |
//! |---|---|
//! | `mod.rs` | a claim and its limits |
//! | `measure.rs` | numbers that measure how far outputs differ |
//! | `metric.rs` | distances between outputs without noise |
//! | `spelling.rs` | a claim as it is written in files |

mod measure;
mod metric;
mod spelling;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::checked::{Delta, NonNegative};
pub use measure::{Limit, Measure};
pub use metric::Metric;
pub use spelling::{Spelling, Stability};

/// The δ at which ε is reported if a claim in another unit does not say.
pub const DEFAULT_DELTA: f64 = 1e-5;

/// What is claimed of a mechanism.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Spelling", into = "Spelling")]
pub struct Claim {
    spelling: Spelling,
    limits: Arc<[Limit]>,
    delta: f64,
}

impl Claim {
    /// The claim (ε, δ).
    ///
    /// # Errors
    /// When ε is negative or not finite, or δ is not at least 0 and less than 1.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, String> {
        let epsilon = NonNegative::try_from(epsilon).map_err(|reason| format!("ε {reason}"))?;
        let delta = Delta::try_from(delta).map_err(|reason| format!("δ {reason}"))?;
        Ok((epsilon, delta).into())
    }

    /// The claim μ of Gaussian differential privacy.
    ///
    /// # Errors
    /// When μ is not positive and finite.
    pub fn mu(mu: f64) -> Result<Self, String> {
        let mu = mu.try_into().map_err(|reason| format!("μ {reason}"))?;
        Spelling { mu: Some(mu), ..Spelling::default() }.try_into()
    }

    /// The claim ρ of zero-concentrated differential privacy.
    ///
    /// # Errors
    /// When ρ is not positive and finite.
    pub fn rho(rho: f64) -> Result<Self, String> {
        let rho = rho.try_into().map_err(|reason| format!("ρ {reason}"))?;
        Spelling { rho: Some(rho), ..Spelling::default() }.try_into()
    }

    /// The claim that the Rényi divergence of this order is at most this.
    ///
    /// # Errors
    /// When the order is not above 1, or the divergence is not positive and finite.
    pub fn renyi(order: f64, epsilon: f64) -> Result<Self, String> {
        let order = order.try_into().map_err(|reason| format!("the order {reason}"))?;
        let epsilon = epsilon.try_into().map_err(|reason| format!("the divergence {reason}"))?;
        Spelling {
            renyi: Some(spelling::Renyi::One(spelling::RenyiPoint { order, epsilon })),
            ..Spelling::default()
        }
        .try_into()
    }

    /// The claim that all points (ε, δ) hold.
    ///
    /// # Errors
    /// When there is no point, or a value is out of its range.
    pub fn profile(points: impl IntoIterator<Item = (f64, f64)>) -> Result<Self, String> {
        let points = points.into_iter().map(|(epsilon, delta)| [epsilon, delta]).collect();
        Spelling { profile: Some(spelling::Profile::Points(points)), ..Spelling::default() }
            .try_into()
    }

    /// The claim that datasets at most `input` steps apart have outputs at most `output` apart: the
    /// stability of a transformation without noise.
    ///
    /// # Errors
    /// When `input` is not positive and finite, or `output` is not at least 0 and finite.
    pub fn stability(metric: Metric, input: f64, output: f64) -> Result<Self, String> {
        let input = input.try_into().map_err(|reason| format!("the input distance {reason}"))?;
        let output = output.try_into().map_err(|reason| format!("the output distance {reason}"))?;
        Spelling { stability: Some(Stability { input, output, metric }), ..Spelling::default() }
            .try_into()
    }

    /// How far apart the two datasets of a pair may be, in steps of the neighbour relation: 1 for a
    /// claim about privacy.
    #[must_use]
    pub fn input_distance(&self) -> f64 {
        if let Measure::Distance { input, .. } = self.main().measure { input } else { 1.0 }
    }

    /// The metric, if the claim is about the stability of a transformation without noise. Such a
    /// claim is decided exactly.
    #[must_use]
    pub fn metric(&self) -> Option<Metric> {
        if let Measure::Distance { metric, .. } = self.main().measure { Some(metric) } else { None }
    }

    /// The limits, of which each must hold: one, or that of ε and that of δ.
    #[must_use]
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// The limit in the unit of the claim; for (ε, δ) that of ε.
    #[must_use]
    pub fn main(&self) -> &Limit {
        &self.limits[0]
    }

    /// The limit of δ at the claimed ε, if the claim is (ε, δ).
    #[must_use]
    pub fn second(&self) -> Option<&Limit> {
        self.limits.get(1)
    }

    /// The claimed δ; for a claim in another unit, the δ at which ε is reported.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// The default precision that is asked for, in the unit of the claim.
    #[must_use]
    pub fn resolution(&self) -> f64 {
        const LEAST: f64 = 0.01;
        let Limit { measure, value } = self.main();
        // A small ε is hard to tell from 0, and nothing can be told with a precision of 0.
        if matches!(measure, Measure::Epsilon { .. }) || *value == 0.0 {
            (0.1 * value).max(LEAST)
        } else {
            0.1 * value
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.main().fmt(f)
    }
}
