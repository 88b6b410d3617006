//! Datasets in the notation of audit files: numbers, categories and small records, with run
//! lengths.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::Whole;
use super::number::Brief;
use super::text::printable;

/// One record of a dataset.
#[derive(Clone, Debug)]
pub enum Record {
    /// A number. It may be NaN or infinite.
    Number(f64),
    /// A category.
    Text(String),
    /// Several attributes of one person.
    Fields(Vec<Record>),
    /// A value that is not known: `None` in Python.
    Missing,
}

impl Record {
    /// The number, if the record is a finite one. Mechanisms in Rust accept no others.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self {
            Some(*number).filter(|number| number.is_finite())
        } else {
            None
        }
    }
}

/// What JSON has no number for is `{ "number": "nan" }`, with `nan`, `inf` or `-inf`.
const NUMBER: &str = "number";
/// A missing value is `null` in JSON, and `{ missing = true }` in TOML, which has no `null`.
const MISSING: &str = "missing";

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Number(number) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(NUMBER, &number.to_string().to_lowercase())?;
                map.end()
            }
            Self::Text(text) => serializer.serialize_str(text),
            Self::Fields(fields) => serializer.collect_seq(fields),
            Self::Missing => serializer.serialize_unit(),
        }
    }
}

impl Record {
    /// The place of its kind in the order of records.
    fn rank(&self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::Text(_) => 1,
            Self::Fields(_) => 2,
            Self::Missing => 3,
        }
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Fields(a), Self::Fields(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
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
            Self::Number(number) if *number == 0.0 && number.is_sign_negative() => {
                f.write_str("-0.0")
            }
            Self::Number(number) if !number.is_finite() => {
                f.write_str(&number.to_string().to_lowercase())
            }
            Self::Number(number) => write!(f, "{}", Brief(*number)),
            Self::Text(text) => f.write_str(text),
            Self::Missing => f.write_str(MISSING),
            Self::Fields(fields) => {
                let fields: Vec<String> = fields.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", fields.join(", "))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Run::deserialize(deserializer)? {
            Run { value, times: None } => Ok(value),
            Run { .. } => Err(de::Error::custom("a single record is expected, not a repeated one")),
        }
    }
}

/// An item of a dataset in an audit file: a record, or the same record several times.
struct Run {
    value: Record,
    /// Absent for a plain record.
    times: Option<usize>,
}

/// Larger datasets are rejected as typos.
const MAX_RECORDS: usize = 10_000_000;

impl Run {
    fn times(&self) -> usize {
        self.times.unwrap_or(1)
    }
}

impl<'de> Deserialize<'de> for Run {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RunVisitor)
    }
}

struct RunVisitor;

/// The error for a value that is not a record.
fn not_a_record<E: de::Error>(value: impl fmt::Display) -> E {
    E::custom(format!(
        "the record {value} is neither a number, a string nor an array of these; \
         write repeated records as {{ value = …, times = … }} and missing values as {{ missing = true }}"
    ))
}

impl<'de> Visitor<'de> for RunVisitor {
    type Value = Run;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "a number, a string, an array of these, { value = …, times = … } or { missing = true }",
        )
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<Run, E> {
        if integer.unsigned_abs() > 1 << 53 {
            return Err(E::custom(format!(
                "the record {integer} is beyond 2^53 and would be rounded; write it as a float or a string"
            )));
        }
        self.visit_f64(integer as f64)
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<Run, E> {
        self.visit_i64(i64::try_from(integer).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Run, E> {
        Ok(Run { value: Record::Number(number), times: None })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Run, E> {
        Ok(Run { value: Record::Text(text.to_owned()), times: None })
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Run, E> {
        Err(not_a_record(value))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Run, E> {
        Ok(Run { value: Record::Missing, times: None })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Run, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = items.next_element()? {
            fields.push(field);
        }
        Ok(Run { value: Record::Fields(fields), times: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<Run, A::Error> {
        let (mut value, mut times, mut special) = (None, None, None);
        while let Some(key) = keys.next_key::<String>()? {
            match key.as_str() {
                "value" => value = Some(keys.next_value::<Record>()?),
                "times" => times = Some(keys.next_value::<Whole>()?.get()),
                MISSING if keys.next_value::<bool>()? => special = Some(Record::Missing),
                MISSING => {
                    return Err(de::Error::custom(
                        "missing is false, must be true; write the value instead",
                    ));
                }
                NUMBER => {
                    let text = keys.next_value::<String>()?;
                    let number: Option<f64> =
                        text.parse().ok().filter(|number: &f64| !number.is_finite());
                    let number = number.ok_or_else(|| {
                        de::Error::custom(format!("number is {text}, must be nan, inf or -inf"))
                    })?;
                    special = Some(Record::Number(number));
                }
                other => return Err(de::Error::unknown_field(other, &["value", "times", MISSING])),
            }
        }
        match (special, value.is_some() || times.is_some()) {
            (Some(special), false) => return Ok(Run { value: special, times: None }),
            (Some(special), true) => {
                let problem = format!(
                    "{special} has other keys beside it; repeat it as {{ value = {{ missing = true }}, times = … }}"
                );
                return Err(de::Error::custom(problem));
            }
            (None, _) => {}
        }
        let value = value.ok_or_else(|| de::Error::missing_field("value"))?;
        let times = times.ok_or_else(|| de::Error::missing_field("times"))?;
        let checked = usize::try_from(times).ok().filter(|times| *times <= MAX_RECORDS);
        let times = checked.ok_or_else(|| {
            de::Error::custom(format!(
                "times is {times}, must be a whole number from 0 to {MAX_RECORDS}"
            ))
        })?;
        Ok(Run { value, times: Some(times) })
    }
}

/// A list of records, in the order of the file.
///
/// Clones share the records.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Dataset(Arc<[Record]>);

impl Serialize for Dataset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl<'de> Deserialize<'de> for Dataset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let runs = Vec::<Run>::deserialize(deserializer)?;
        let total = runs.iter().fold(0usize, |total, run| total.saturating_add(run.times()));
        if total > MAX_RECORDS {
            return Err(de::Error::custom(format!(
                "{total} records, must be at most {MAX_RECORDS}"
            )));
        }
        Ok(Self(
            runs.into_iter()
                .flat_map(|run| {
                    let times = run.times();
                    std::iter::repeat_n(run.value, times)
                })
                .collect(),
        ))
    }
}

impl Dataset {
    /// A dataset of these records.
    #[must_use]
    pub fn new(records: Vec<Record>) -> Self {
        Self(records.into())
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

    /// The records in run-length notation: equal neighbours once, with their number.
    #[must_use]
    pub fn runs(&self) -> Vec<(&Record, usize)> {
        let mut runs: Vec<(&Record, usize)> = Vec::new();
        for record in self.0.iter() {
            match runs.last_mut() {
                Some((value, times)) if *value == record => *times += 1,
                _ => runs.push((record, 1)),
            }
        }
        runs
    }

    /// A short text for reports, without characters that could change what is around it.
    #[must_use]
    pub fn brief(&self) -> String {
        const CHARS: usize = 200;
        let mut text = printable(&self.to_string());
        if let Some((end, _)) = text.char_indices().nth(CHARS) {
            text.truncate(end);
            text.push('…');
        }
        text
    }

    /// All records as numbers.
    ///
    /// # Errors
    /// When a record is a category or has several fields; the error names it.
    pub fn numbers(&self) -> Result<Vec<f64>, String> {
        let what = |record: &Record| {
            if matches!(record, Record::Number(_)) { "not finite" } else { "not a number" }
        };
        let number = |record: &Record| {
            record.number().ok_or_else(|| {
                format!("the record {record} is {}, which this mechanism needs", what(record))
            })
        };
        self.0.iter().map(number).collect()
    }

    /// The sorted records. Two datasets are the same multiset if and only if these are equal.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Record> {
        let mut records: Vec<&Record> = self.0.iter().collect();
        records.sort_unstable();
        records
    }
}

impl fmt::Display for Dataset {
    /// The first few runs, in run-length notation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 8;
        let runs = self.runs();
        let text: Vec<String> = runs
            .iter()
            .take(SHOWN)
            .map(
                |(value, times)| {
                    if *times == 1 { value.to_string() } else { format!("{value} × {times}") }
                },
            )
            .collect();
        let rest = if runs.len() > SHOWN {
            format!(", … ({} records)", self.len())
        } else {
            String::new()
        };
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
        toml::from_str::<File>(&format!("data = {text}"))
            .map(|file| file.data)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn runs_numbers_categories_and_records_are_read() {
        let data = parse(r#"[1, 2.5, "a", ["b", 3], { value = 0, times = 3 }]"#).unwrap();
        assert_eq!(data.len(), 7);
        assert_eq!(data.to_string(), "[1, 2.5, a, [b, 3], 0 × 3]");
    }

    #[test]
    fn values_that_few_expect_are_read_and_written() {
        let data = parse("[nan, inf, -inf, -0.0, { missing = true }, [{ missing = true }, nan], { value = nan, times = 2 }]").unwrap();
        assert_eq!(data.to_string(), "[nan, inf, -inf, -0.0, missing, [missing, nan], nan × 2]");
        let json = serde_json::to_string(&data).unwrap();
        assert!(json.starts_with(r#"[{"number":"nan"},{"number":"inf"},{"number":"-inf"},-0.0,null,[null,{"number":"nan"}],"#), "{json}");
        let again: Dataset = serde_json::from_str(&json).unwrap();
        assert_eq!(again, data, "the sign of zero and NaN count");
        assert_ne!(parse("[0.0]").unwrap(), parse("[-0.0]").unwrap());
        assert!(data.numbers().unwrap_err().contains("the record nan"));
        assert!(
            serde_json::from_str::<Dataset>(r#"[{"number":"7"}]"#)
                .unwrap_err()
                .to_string()
                .contains("must be nan")
        );
    }

    #[test]
    fn the_text_for_reports_is_short_and_printable() {
        assert_eq!(parse("[1, 1, \"a\"]").unwrap().brief(), "[1 × 2, a]");
        let long = Dataset::new(vec![Record::Text("\u{1b}x".repeat(1000))]).brief();
        assert_eq!(long.chars().count(), 201);
        assert!(long.starts_with("[\u{fffd}x") && long.ends_with('…'), "{long}");
    }

    #[test]
    fn errors_name_the_bad_record() {
        assert!(parse("[true]").unwrap_err().contains("the record true"));
        assert!(parse("[{ missing = false }]").unwrap_err().contains("must be true"));
        assert!(parse("[{ missing = true, times = 3 }]").unwrap_err().contains("other keys"));
        assert_eq!(parse("[{ value = { missing = true }, times = 3 }]").unwrap().len(), 3);
        assert!(parse("[{ value = 1, times = -1 }]").unwrap_err().contains("times is -1"));
        assert!(parse("[{ value = 1, time = 2 }]").unwrap_err().contains("times"));
        assert!(parse("[{ value = 1, times = 2, step = 1 }]").unwrap_err().contains("step"));
        assert!(parse("[9007199254740993]").unwrap_err().contains("2^53"));
    }
}
