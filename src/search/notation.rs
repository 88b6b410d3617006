//! A pair as it is written in an audit file.

use std::fmt::Write as _;

use crate::audit::Pair;
use crate::model::{Dataset, Record};

/// The `[[pair]]` of an audit file, to paste.
#[must_use]
pub fn pair_toml(pair: &Pair, table: &str) -> String {
    format!(
        "[[{table}]]\nname = {}\nleft = {}\nright = {}\n",
        text(&pair.name),
        dataset(&pair.left),
        dataset(&pair.right)
    )
}

fn dataset(data: &Dataset) -> String {
    let mut runs: Vec<(&Record, usize)> = Vec::new();
    for record in data.records() {
        match runs.last_mut() {
            Some((value, times)) if *value == record => *times += 1,
            _ => runs.push((record, 1)),
        }
    }
    let item = |(value, times): &(&Record, usize)| match times {
        1 => record(value),
        // A missing value is a table already.
        _ => format!("{{ value = {}, times = {times} }}", record(value)),
    };
    let short = |run: &(&Record, usize)| {
        if run.1 <= 3 { vec![record(run.0); run.1] } else { vec![item(run)] }
    };
    format!("[{}]", runs.iter().flat_map(short).collect::<Vec<_>>().join(", "))
}

fn record(record: &Record) -> String {
    /// From here on an integer would be refused: it may not be a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match record {
        Record::Number(number) if number.is_nan() => "nan".to_owned(),
        Record::Number(number) if number.is_infinite() => {
            if *number > 0.0 { "inf" } else { "-inf" }.to_owned()
        }
        Record::Number(number) if *number == 0.0 && number.is_sign_negative() => "-0.0".to_owned(),
        Record::Number(number) if number.fract() == 0.0 && number.abs() < EXACT => {
            format!("{number}")
        }
        // The shortest text that is read as the same number; TOML needs a point or an exponent.
        Record::Number(number) => format!("{number:?}"),
        Record::Text(content) => text(content),
        Record::Fields(fields) => {
            format!("[{}]", fields.iter().map(self::record).collect::<Vec<_>>().join(", "))
        }
        Record::Missing => "{ missing = true }".to_owned(),
    }
}

/// A basic string of TOML.
fn text(content: &str) -> String {
    let mut quoted = String::from("\"");
    for c in content.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::model::Truth;

    #[derive(Deserialize)]
    struct File {
        pair: Vec<Written>,
    }

    #[derive(Deserialize)]
    struct Written {
        name: String,
        left: Dataset,
        right: Dataset,
    }

    #[test]
    fn what_is_written_is_read_as_the_same_pair() {
        let numbers = [
            0.0,
            -0.0,
            1.0,
            -17.0,
            0.1,
            1e300,
            5e-324,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            9_223_372_036_854_774_784.0,
            4_503_599_627_370_497.5,
        ];
        let mut records: Vec<Record> = numbers.map(Record::Number).to_vec();
        records.extend(
            ["a", "", "\"quoted\" \\ \n\u{202e}é"].map(|text| Record::Text(text.to_owned())),
        );
        records.push(Record::Fields(vec![
            Record::Missing,
            Record::Number(2.5),
            Record::Text("x".to_owned()),
        ]));
        records.push(Record::Missing);
        let left = Dataset::new(records.clone());
        let right = Dataset::new(
            records.iter().flat_map(|record| std::iter::repeat_n(record.clone(), 5)).collect(),
        );
        let pair = Pair {
            name: "found \"1\"".to_owned(),
            left,
            right,
            expect: None,
            truth: Truth::default(),
        };
        let File { pair: read } = toml::from_str(&pair_toml(&pair, "pair")).unwrap();
        assert_eq!(
            (&read[0].name, &read[0].left, &read[0].right),
            (&pair.name, &pair.left, &pair.right)
        );
    }
}
