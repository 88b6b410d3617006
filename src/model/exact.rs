//! Numbers in JSON that are read back exactly as they were written. JSON has no infinities, so
//! these are written as `"inf"` and `"-inf"`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that may be infinite.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Exact(pub f64);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Word(String),
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.serialize_str(&self.0.to_string())
        }
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Self(number)),
            Written::Word(word) if word == "inf" => Ok(Self(f64::INFINITY)),
            Written::Word(word) if word == "-inf" => Ok(Self(f64::NEG_INFINITY)),
            Written::Word(word) => Err(serde::de::Error::custom(format!(
                "is \"{word}\", must be a number, \"inf\" or \"-inf\""
            ))),
        }
    }
}

/// A single number that may be infinite, for `#[serde(with = "crate::model::exact::number")]`.
pub mod number {
    use super::{Deserialize, Deserializer, Exact, Serialize, Serializer};

    /// Writes a number.
    ///
    /// # Errors
    /// When the serializer fails.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde requires this signature
    pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Exact(*number).serialize(serializer)
    }

    /// Reads a number.
    ///
    /// # Errors
    /// When it is not a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Exact::deserialize(deserializer)?.0)
    }
}

/// A number that may be infinite or absent, for `#[serde(default, with =
/// "crate::model::exact::option")]`.
pub mod option {
    use super::{Deserialize, Deserializer, Exact, Serialize, Serializer};

    /// Writes a number, or nothing.
    ///
    /// # Errors
    /// When the serializer fails.
    #[allow(clippy::ref_option)] // serde requires this signature
    pub fn serialize<S: Serializer>(
        number: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        number.map(Exact).serialize(serializer)
    }

    /// Reads a number, or nothing.
    ///
    /// # Errors
    /// When there is something other than a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Exact>::deserialize(deserializer)?.map(|number| number.0))
    }
}

/// A list of numbers that may be infinite, for `#[serde(with = "crate::model::exact::list")]`.
pub mod list {
    use super::{Deserialize, Deserializer, Exact, Serializer};

    /// Writes a list.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|number| Exact(*number)))
    }

    /// Reads a list.
    ///
    /// # Errors
    /// When an item is not a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Exact>::deserialize(deserializer)?.into_iter().map(|number| number.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_read_back_to_the_last_bit() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            0.1,
            1.0_f64.next_up(),
            -3.0_f64.next_down(),
            1e300,
            5e-324,
            f64::INFINITY,
            f64::NEG_INFINITY,
            20.0 / 3.0,
        ];
        for number in numbers {
            let text = serde_json::to_string(&Exact(number)).unwrap();
            let back: Exact = serde_json::from_str(&text).unwrap();
            assert_eq!(back.0.to_bits(), number.to_bits(), "{number} was written as {text}");
        }
        assert!(serde_json::from_str::<Exact>("\"many\"").is_err());
    }
}
