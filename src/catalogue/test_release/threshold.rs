//! Thresholds for a value that no neighbour may be able to release.
//!
//! A count (or a distance to an unsafe dataset) of 1 may be 0 in a neighbour, which has nothing to
//! release. So the threshold must make it rare that `1 + Lap(1/ε)` exceeds it: the probability must
//! be at most δ. *The bug*: without the "+1" it is only rare that `0 + Lap(1/ε)` exceeds it. A
//! value of 1 exceeds it e^ε times as often.

use serde::Deserialize;

use crate::model::checked::{Epsilon, PositiveDelta};

/// How the threshold is computed.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Threshold {
    /// `ln(1/δ)/ε`, as lecture notes print it. A value of 1 exceeds it with probability `½·e^ε·δ`:
    /// too often when ε > ln 2.
    Printed,
    /// `1 + ln(1/δ)/ε`. A value of 1 exceeds it with probability `½·δ`.
    Corrected,
    /// `ln(1/2δ)/ε`. A value of 1 exceeds it with probability `e^ε·δ`: always too often.
    TightWithoutOne,
    /// `1 + ln(1/2δ)/ε`. A value of 1 exceeds it with probability δ exactly.
    Tight,
}

impl Threshold {
    /// Its value. For δ above ½, the tight thresholds stay at 0 or 1.
    #[must_use]
    pub fn at(self, epsilon: Epsilon, delta: PositiveDelta) -> f64 {
        let tail = |p: f64| (1.0 / p).ln().max(0.0) / epsilon.get();
        match self {
            Self::Printed => tail(delta.get()),
            Self::Corrected => 1.0 + tail(delta.get()),
            Self::TightWithoutOne => tail(2.0 * delta.get()),
            Self::Tight => 1.0 + tail(2.0 * delta.get()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_one_exceeds_each_threshold_with_the_documented_probability() {
        let (epsilon, delta) = (0.8_f64, 0.03);
        let exceeded = |threshold: Threshold| {
            let at = threshold
                .at(Epsilon::try_from(epsilon).unwrap(), PositiveDelta::try_from(delta).unwrap());
            assert!(at > 1.0);
            0.5 * (-epsilon * (at - 1.0)).exp()
        };
        let expected = [
            (Threshold::Printed, 0.5 * epsilon.exp() * delta),
            (Threshold::Corrected, 0.5 * delta),
            (Threshold::TightWithoutOne, epsilon.exp() * delta),
            (Threshold::Tight, delta),
        ];
        for (threshold, p) in expected {
            assert!((exceeded(threshold) / p - 1.0).abs() < 1e-12, "{threshold:?}");
        }
    }
}
