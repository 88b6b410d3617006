//! Checked numbers. A value of one of these types is within its range, so no other code has to
//! check it again.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number type that can only hold values for which `$ok` is true.
macro_rules! checked_number {
    ($(#[$doc:meta])* $name:ident, $ok:expr, $must:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// The plain number.
            #[inline]
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = String;

            fn try_from(value: f64) -> Result<Self, String> {
                let ok: fn(f64) -> bool = $ok;
                if ok(value) { Ok(Self(value)) } else { Err(format!(concat!("is {}, must be ", $must), value)) }
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let value: f64 = text.parse().map_err(|_| format!("is '{text}', must be a number"))?;
                Self::try_from(value)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

checked_number!(
    /// A privacy loss ε: positive and finite.
    Epsilon, |x| x > 0.0 && x.is_finite(), "positive and finite"
);
checked_number!(
    /// A failure probability δ: at least 0 and less than 1.
    Delta, |x| (0.0..1.0).contains(&x), "at least 0 and less than 1"
);
checked_number!(
    /// A failure probability that a mechanism uses in its computation: strictly between 0 and 1.
    PositiveDelta, |x| x > 0.0 && x < 1.0, "greater than 0 and less than 1"
);
checked_number!(
    /// The confidence of a run: strictly between ½ and 1.
    Confidence, |x| x > 0.5 && x < 1.0, "greater than 0.5 and less than 1"
);
checked_number!(
    /// A scale, factor or sensitivity: positive and finite.
    Positive, |x| x > 0.0 && x.is_finite(), "positive and finite"
);
checked_number!(
    /// A part of a whole: at least 0 and at most 1.
    Share, |x| (0.0..=1.0).contains(&x), "at least 0 and at most 1"
);
checked_number!(
    /// Any number except infinity and NaN.
    Finite, f64::is_finite, "finite"
);

checked_number!(
    /// A claimed ε or distance. It may be 0: then the outputs must not differ at all, except for δ.
    NonNegative, |x| x >= 0.0 && x.is_finite(), "at least 0 and finite"
);
checked_number!(
    /// The order of a Rényi divergence.
    Order, |x| x > 1.0 && x.is_finite(), "greater than 1 and finite"
);

impl Default for NonNegative {
    fn default() -> Self {
        Self(0.0)
    }
}

impl Default for Delta {
    fn default() -> Self {
        Self(0.0)
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self(0.999)
    }
}

impl Share {
    /// One half.
    pub const HALF: Self = Self(0.5);
}

impl Positive {
    /// The neutral factor.
    pub const ONE: Self = Self(1.0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_values_are_rejected() {
        assert_eq!(Epsilon::try_from(-1.0), Err("is -1, must be positive and finite".into()));
        assert!(Epsilon::try_from(f64::NAN).is_err());
        assert!(Epsilon::try_from(f64::INFINITY).is_err());
        assert!(Delta::try_from(1.0).is_err());
        assert!(Delta::try_from(0.0).is_ok());
        assert!(Confidence::try_from(1.0).is_err());
        assert!(PositiveDelta::try_from(0.0).is_err());
    }
}
