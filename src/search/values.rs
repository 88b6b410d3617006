//! The values that candidates are made of: landmarks of a domain, values that programmers forget,
//! and random ones.
//!
//! A new nasty value goes into [`nasty`]; what it is called in audit files is in `model/domain.rs`.

use rand::RngExt;

use crate::model::{Kind, Record, RecordDomain};
use crate::noise::Generator;

/// A longer text is hardly ever worth its time.
const LONG_TEXT: usize = 10_000;

/// What random texts are made of: words, numbers, and what code splits texts at.
const TEXT_CHARS: &[u8] = b"abcdeAB019 ,.-_";

/// Values at which code often changes its behaviour: bounds first, then 0, 1, the middle and the
/// neighbours of the bounds.
#[must_use]
pub fn landmarks(domain: &RecordDomain) -> Vec<Record> {
    let mut values = match &domain.kind {
        Kind::Number { lower, upper } => {
            let (middle, quarter) = (f64::midpoint(*lower, *upper), lower + (upper - lower) / 4.0);
            numbers(&[
                *lower,
                *upper,
                0.0,
                1.0,
                -1.0,
                middle,
                2.0,
                0.5,
                lower.next_up(),
                upper.next_down(),
                lower + 1.0,
                upper - 1.0,
                quarter,
            ])
        }
        Kind::Integer { lower, upper } => {
            let middle = f64::midpoint(*lower, *upper).floor();
            let limits =
                INTEGER_LIMITS.iter().flat_map(|limit| [*limit, -limit, limit - 1.0, 1.0 - limit]);
            let near = [*lower, *upper, 0.0, 1.0, -1.0, middle, 2.0, lower + 1.0, upper - 1.0];
            numbers(&near.into_iter().chain(limits).collect::<Vec<_>>())
        }
        Kind::Category { values } => values.iter().cloned().map(Record::Text).collect(),
        Kind::Text { length } => ["a", "b", "aa", "0", " "]
            .iter()
            .map(|text| Record::Text(text.chars().take(*length).collect()))
            .collect(),
        Kind::Table { columns } => varied(columns, landmarks),
    };
    if domain.nullable {
        // After the bounds.
        values.insert(values.len().min(2), Record::Missing);
    }
    distinct(
        values.into_iter().filter(|value| domain.has(value) && domain.kind.nasty(value).is_none()),
    )
}

/// Limits of integer types and of what a float counts exactly.
const INTEGER_LIMITS: [f64; 5] = [
    32_768.0,
    2_147_483_648.0,
    9_007_199_254_740_992.0,
    4_611_686_018_427_387_904.0,
    9_223_372_036_854_774_784.0,
];

/// The values that programmers forget and that the domain does not exclude.
#[must_use]
pub fn nasty(domain: &RecordDomain) -> Vec<Record> {
    let mut values = match &domain.kind {
        Kind::Number { lower, upper } => {
            let beyond = [
                upper.next_up(),
                lower.next_down(),
                upper + 1.0,
                lower - 1.0,
                2.0 * upper.abs() + 1.0,
                -2.0 * lower.abs() - 1.0,
            ];
            let limits = [
                1e308,
                -1e308,
                9_223_372_036_854_774_784.0,
                4_611_686_018_427_387_904.0,
                2_147_483_648.0,
            ];
            let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324];
            numbers(&special.into_iter().chain(beyond).chain(limits).collect::<Vec<_>>())
        }
        Kind::Integer { lower, upper } => {
            let limits =
                INTEGER_LIMITS.iter().flat_map(|limit| [*limit, -limit, limit - 1.0, limit + 1.0]);
            numbers(&[upper + 1.0, lower - 1.0].into_iter().chain(limits).collect::<Vec<_>>())
        }
        Kind::Category { values } => {
            let unseen = (0..).map(|number| {
                if number == 0 { "unseen".to_owned() } else { format!("unseen {number}") }
            });
            let unseen = unseen.into_iter().find(|name| !values.contains(name)).unwrap_or_default();
            vec![Record::Text(unseen), Record::Text(String::new())]
        }
        Kind::Text { length } => vec![
            Record::Text(String::new()),
            Record::Text("x".repeat((length + 1).min(LONG_TEXT))),
            Record::Text("x".repeat((10 * length).clamp(100, LONG_TEXT))),
            Record::Text("é\u{0}\u{202e}".chars().take(*length).collect()),
        ],
        Kind::Table { columns } => varied(columns, nasty),
    };
    if domain.nullable {
        values.insert(0, Record::Missing);
    }
    distinct(values.into_iter().filter(|value| domain.has(value)))
}

/// Records of a table in which one column takes its special values in turn, and the others their
/// first landmark.
fn varied(columns: &[(String, RecordDomain)], of: fn(&RecordDomain) -> Vec<Record>) -> Vec<Record> {
    let first: Vec<Record> =
        columns.iter().filter_map(|(_, column)| landmarks(column).into_iter().next()).collect();
    if first.len() < columns.len() {
        return Vec::new();
    }
    let of_columns: Vec<Vec<Record>> = columns.iter().map(|(_, column)| of(column)).collect();
    let most = of_columns.iter().map(Vec::len).max().unwrap_or(0);
    // The columns in turn: first the first value of each.
    let special = (0..most).flat_map(|place| {
        of_columns
            .iter()
            .enumerate()
            .filter_map(move |(index, values)| Some((index, values.get(place)?.clone())))
    });
    let with = |(index, value): (usize, Record)| {
        let mut fields = first.clone();
        fields[index] = value;
        Record::Fields(fields)
    };
    // All columns at once, and one at a time.
    let all = (0..most).map(|place| {
        let of_column =
            |(values, first): (&Vec<Record>, &Record)| values.get(place).unwrap_or(first).clone();
        Record::Fields(of_columns.iter().zip(&first).map(of_column).collect())
    });
    let one = special.map(with);
    all.clone().take(2).chain(one).chain(all.skip(2)).collect()
}

/// Any value of the domain: often a landmark, sometimes a nasty one.
pub fn any(domain: &RecordDomain, rng: &mut Generator) -> Record {
    if let Kind::Table { columns } = &domain.kind
        && rng.random_range(0..4) > 0
    {
        return Record::Fields(columns.iter().map(|(_, column)| any(column, rng)).collect());
    }
    let from = match rng.random_range(0..8) {
        0 => nasty(domain),
        1..5 => landmarks(domain),
        _ => Vec::new(),
    };
    pick(&from, rng).cloned().unwrap_or_else(|| plain(domain, rng))
}

/// A random plain value.
pub fn plain(domain: &RecordDomain, rng: &mut Generator) -> Record {
    match &domain.kind {
        Kind::Number { lower, upper } => Record::Number(number(*lower, *upper, rng)),
        Kind::Integer { lower, upper } => {
            Record::Number(number(*lower, *upper, rng).round().clamp(*lower, *upper))
        }
        Kind::Category { values } => {
            pick(values, rng).cloned().map_or(Record::Missing, Record::Text)
        }
        Kind::Text { length } => {
            let length = rng.random_range(1..=(*length).clamp(1, 20));
            Record::Text(
                (0..length)
                    .filter_map(|_| pick(TEXT_CHARS, rng).copied().map(char::from))
                    .collect(),
            )
        }
        Kind::Table { columns } => {
            Record::Fields(columns.iter().map(|(_, column)| plain(column, rng)).collect())
        }
    }
}

/// A number in a range: anywhere, whole, near zero on a logarithmic scale, or a power of two.
fn number(lower: f64, upper: f64, rng: &mut Generator) -> f64 {
    let uniform = lower + rng.random::<f64>() * (upper - lower);
    let value = match rng.random_range(0..4) {
        0 => uniform,
        1 => uniform.round(),
        2 => {
            let most = lower.abs().max(upper.abs()).max(1e-300);
            most * (-20.0 * rng.random::<f64>()).exp2() * uniform.signum()
        }
        _ => uniform.abs().log2().round().exp2() * uniform.signum(),
    };
    if (lower..=upper).contains(&value) { value } else { uniform.clamp(lower, upper) }
}

/// A value close to another one: for numbers the next float, the next whole number, a tenth more;
/// otherwise another landmark.
pub fn near(domain: &RecordDomain, record: &Record, rng: &mut Generator) -> Record {
    let changed = match (&domain.kind, record) {
        (Kind::Number { .. }, Record::Number(number)) => {
            Record::Number(match rng.random_range(0..8) {
                0 => number.next_up(),
                1 => number.next_down(),
                2 => number + 1.0,
                3 => number - 1.0,
                4 => number * 2.0,
                5 => number / 2.0,
                6 => number + number.abs().max(1e-3) * 0.1 * (rng.random::<f64>() - 0.5),
                _ => number.round(),
            })
        }
        (Kind::Integer { .. }, Record::Number(number)) => {
            Record::Number(match rng.random_range(0..4) {
                0 => number + 1.0,
                1 => number - 1.0,
                2 => number * 2.0,
                _ => (number / 2.0).trunc(),
            })
        }
        (Kind::Table { columns }, Record::Fields(fields))
            if !columns.is_empty() && fields.len() == columns.len() =>
        {
            let index = rng.random_range(0..columns.len());
            let mut fields = fields.clone();
            fields[index] = any(&columns[index].1, rng);
            Record::Fields(fields)
        }
        _ => any(domain, rng),
    };
    if domain.has(&changed) { changed } else { any(domain, rng) }
}

/// One of some things.
pub fn pick<'a, T>(of: &'a [T], rng: &mut Generator) -> Option<&'a T> {
    (!of.is_empty()).then(|| &of[rng.random_range(0..of.len())])
}

fn numbers(values: &[f64]) -> Vec<Record> {
    values.iter().copied().map(Record::Number).collect()
}

fn distinct(values: impl Iterator<Item = Record>) -> Vec<Record> {
    let mut kept: Vec<Record> = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::model::Nasty;

    fn of(kind: Kind) -> RecordDomain {
        RecordDomain::of(kind)
    }

    #[test]
    fn every_value_is_in_its_domain() {
        let text = |text: &str| text.to_owned();
        let number = of(Kind::Number { lower: -2.0, upper: 5.0 });
        let strict = RecordDomain {
            never: vec![Nasty::Outside, Nasty::Nan],
            nullable: true,
            ..number.clone()
        };
        let category = of(Kind::Category { values: vec![text("a"), text("unseen")] });
        let table = of(Kind::Table {
            columns: vec![(text("x"), strict.clone()), (text("y"), category.clone())],
        });
        let domains = [
            number,
            strict,
            category,
            of(Kind::Integer { lower: 0.0, upper: 9.0 }),
            of(Kind::Text { length: 3 }),
            table,
        ];
        let mut rng = Generator::seed_from_u64(1);
        for domain in &domains {
            assert!(!landmarks(domain).is_empty() && !nasty(domain).is_empty(), "{domain:?}");
            assert!(
                landmarks(domain).iter().chain(&nasty(domain)).all(|value| domain.has(value)),
                "{domain:?}"
            );
            let mut last = any(domain, &mut rng);
            for _ in 0..500 {
                assert!(domain.has(&last), "{last} in {domain:?}");
                last = if rng.random() {
                    near(domain, &last, &mut rng)
                } else {
                    any(domain, &mut rng)
                };
            }
        }
    }

    #[test]
    fn what_cannot_occur_is_not_tried() {
        let domain = RecordDomain {
            never: vec![Nasty::Nan, Nasty::Infinite, Nasty::Outside],
            ..of(Kind::Number { lower: 0.0, upper: 1.0 })
        };
        let written: Vec<String> = nasty(&domain).iter().map(ToString::to_string).collect();
        assert_eq!(written.first().map(String::as_str), Some("-0.0"));
        assert!(
            !written.iter().any(|value| value.contains("nan") || value.contains("inf")),
            "{written:?}"
        );
        let all: Vec<String> = nasty(&of(Kind::Number { lower: 0.0, upper: 1.0 }))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert!(all.contains(&"nan".to_owned()) && all.contains(&"-inf".to_owned()), "{all:?}");
    }
}
