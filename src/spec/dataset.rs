//! Datasets as audit files write them: numbers, categories and small records, with run-length notation.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cell::Brief;

/// One record of a dataset.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Record {
    /// A number.
    Number(f64),
    /// A category.
    Text(String),
    /// Several attributes of one person.
    Fields(Vec<Record>),
}

impl Record {
    /// The number, if the record is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Fields(a), Self::Fields(b)) => a.cmp(b),
            (Self::Number(_), _) | (Self::Text(_), Self::Fields(_)) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Record {}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{}", Brief(*number)),
            Self::Text(text) => f.write_str(text),
            Self::Fields(fields) => {
                let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", fields.join(", "))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_toml(toml::Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Record {
    #[allow(clippy::cast_precision_loss)] // integers of an audit file; those beyond 2^53 are refused
    fn from_toml(value: toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::Integer(integer) if integer.unsigned_abs() > 1 << 53 => {
                Err(format!("the record {integer} is beyond 2^53 and would be rounded; write it as a float or a string"))
            }
            toml::Value::Integer(integer) => Ok(Self::Number(integer as f64)),
            toml::Value::Float(float) if float.is_finite() => Ok(Self::Number(float)),
            toml::Value::String(text) => Ok(Self::Text(text)),
            toml::Value::Array(fields) => Ok(Self::Fields(fields.into_iter().map(Self::from_toml).collect::<Result<_, _>>()?)),
            other => Err(format!(
                "the record {other} is neither a finite number, a string nor an array of these; \
                 write repeated records as {{ value = …, times = … }}"
            )),
        }
    }
}

/// An item of a dataset in an audit file: a record, or the same record several times.
#[derive(Clone, Debug)]
struct Run {
    value: Record,
    times: usize,
}

/// More records than this in one dataset is taken for a slip of the pen.
const MOST_RECORDS: usize = 10_000_000;

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        match toml::Value::deserialize(deserializer)? {
            toml::Value::Table(mut table) => {
                let value = table.remove("value").ok_or_else(|| D::Error::missing_field("value"))?;
                let value = Record::from_toml(value).map_err(D::Error::custom)?;
                let times = table.remove("times").ok_or_else(|| D::Error::missing_field("times"))?;
                let times = times
                    .as_integer()
                    .and_then(|times| usize::try_from(times).ok())
                    .filter(|times| *times <= MOST_RECORDS)
                    .ok_or_else(|| D::Error::custom(format!("times is {times}, must be a whole number from 0 to {MOST_RECORDS}")))?;
                match table.keys().next() {
                    Some(key) => Err(D::Error::unknown_field(key, &["value", "times"])),
                    None => Ok(Self { value, times }),
                }
            }
            other => Ok(Self { value: Record::from_toml(other).map_err(D::Error::custom)?, times: 1 }),
        }
    }
}

/// A list of records, in the order in which the file gives them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Dataset(Vec<Record>);

impl<'de> Deserialize<'de> for Dataset {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let runs = Vec::<Run>::deserialize(deserializer)?;
        let total = runs.iter().fold(0usize, |total, run| total.saturating_add(run.times));
        if total > MOST_RECORDS {
            return Err(serde::de::Error::custom(format!("{total} records, must be at most {MOST_RECORDS}")));
        }
        Ok(Self(runs.into_iter().flat_map(|run| std::iter::repeat_n(run.value, run.times)).collect()))
    }
}

impl Dataset {
    /// A dataset of these records.
    #[must_use]
    pub fn new(records: Vec<Record>) -> Self {
        Self(records)
    }

    /// A dataset of numbers.
    #[must_use]
    pub fn of_numbers(numbers: &[f64]) -> Self {
        Self(numbers.iter().copied().map(Record::Number).collect())
    }

    /// The records in order.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.0
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All records as numbers, or which one is not.
    ///
    /// # Errors
    /// When a record is a category or has several fields.
    pub fn numbers(&self) -> Result<Vec<f64>, String> {
        self.0
            .iter()
            .map(|record| record.number().ok_or_else(|| format!("the record {record} is not a number, which this mechanism needs")))
            .collect()
    }

    /// The records sorted: two datasets are the same multiset when these are equal.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Record> {
        let mut records: Vec<&Record> = self.0.iter().collect();
        records.sort_unstable();
        records
    }
}

impl fmt::Display for Dataset {
    /// Run-length notation, the first few runs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let mut runs: Vec<(&Record, usize)> = Vec::new();
        for record in &self.0 {
            match runs.last_mut() {
                Some((value, times)) if *value == record => *times += 1,
                _ => runs.push((record, 1)),
            }
        }
        let text: Vec<String> = runs
            .iter()
            .take(SHOWN)
            .map(|(value, times)| if *times == 1 { value.to_string() } else { format!("{value} × {times}") })
            .collect();
        let rest = if runs.len() > SHOWN { format!(", … ({} records)", self.len()) } else { String::new() };
        write!(f, "[{}{rest}]", text.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct File {
        data: Dataset,
    }

    fn parse(text: &str) -> Result<Dataset, String> {
        toml::from_str::<File>(&format!("data = {text}")).map(|file| file.data).map_err(|error| error.to_string())
    }

    #[test]
    fn runs_numbers_categories_and_records_are_read() {
        let data = parse(r#"[1, 2.5, "a", ["b", 3], { value = 0, times = 3 }]"#).unwrap();
        assert_eq!(data.len(), 7);
        assert_eq!(data.to_string(), "[1, 2.5, a, [b, 3], 0 × 3]");
    }

    #[test]
    fn bad_records_are_named() {
        assert!(parse("[true]").unwrap_err().contains("the record true"));
        assert!(parse("[nan]").unwrap_err().contains("the record nan"));
        assert!(parse("[{ value = 1, times = -1 }]").unwrap_err().contains("times is -1"));
        assert!(parse("[{ value = 1, time = 2 }]").unwrap_err().contains("times"));
        assert!(parse("[{ value = 1, times = 2, step = 1 }]").unwrap_err().contains("step"));
        assert!(parse("[9007199254740993]").unwrap_err().contains("2^53"));
    }
}
