//! Whole numbers in files. `1e4` is one, as on the command line.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// The largest whole number up to which every whole number is a float of its own.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A whole number, written as an integer or as a float without a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole(i64);

impl Whole {
    /// The number.
    #[must_use]
    pub fn get(self) -> i64 {
        self.0
    }

    /// The whole number that a float is, if it is one.
    #[must_use]
    pub fn of_float(number: f64) -> Option<Self> {
        let is_whole = number.fract() == 0.0 && number.abs() <= MAX_EXACT;
        #[allow(clippy::cast_possible_truncation)] // checked
        is_whole.then_some(Self(number as i64))
    }
}

impl From<i64> for Whole {
    fn from(number: i64) -> Self {
        Self(number)
    }
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeVisitor;
        impl Visitor<'_> for WholeVisitor {
            type Value = Whole;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number, for example 20_000 or 2e4")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Whole, E> {
                Ok(Whole(number))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
                i64::try_from(number)
                    .map(Whole)
                    .map_err(|_| E::custom(format!("is {number}, which is too large")))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Whole, E> {
                Whole::of_float(number).ok_or_else(|| {
                    E::custom(format!(
                        "is {number}, must be a whole number, for example 20_000 or 2e4"
                    ))
                })
            }
        }
        deserializer.deserialize_any(WholeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_without_a_fraction_are_whole() {
        let read = |text: &str| {
            serde_json::from_str::<Whole>(text).map(Whole::get).map_err(|error| error.to_string())
        };
        assert_eq!((read("20000"), read("2e4"), read("-3.0")), (Ok(20_000), Ok(20_000), Ok(-3)));
        for (wrong, message) in [
            ("1.5", "is 1.5, must be a whole number"),
            ("1e300", "must be a whole number"),
            ("\"7\"", "a whole number"),
        ] {
            let found = read(wrong).unwrap_err();
            assert!(found.contains(message), "{wrong}: {found}");
        }
    }
}
