//! The `[search]` section of an audit file: what a dataset may be.

use serde::Deserialize;

use super::file;
use super::problem::KeyProblem;
use crate::audit::Audit;
use crate::model::checked::Positive;
use crate::model::{Domain, Kind, Nasty, RecordDomain, Relation, SearchRequest, Whole};
use crate::search::DomainPairs;

/// The section as parsed, before its values are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchFile {
    record: RecordFile,
    size: SizeFile,
    relation: Option<String>,
    #[serde(default)]
    order: OrderName,
    draws: Option<Whole>,
    seconds: Option<Positive>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordFile {
    /// The name of a column.
    name: Option<String>,
    #[serde(rename = "type")]
    kind: KindName,
    lower: Option<f64>,
    upper: Option<f64>,
    values: Option<Vec<String>>,
    length: Option<Whole>,
    columns: Option<Vec<RecordFile>>,
    #[serde(default)]
    nullable: bool,
    never: Option<Never>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindName {
    Number,
    Integer,
    Category,
    Label,
    Text,
    Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SizeFile {
    least: Whole,
    most: Whole,
}

/// Whether neighbours may have their records in another order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OrderName {
    #[default]
    Any,
    Fixed,
}

/// What cannot occur: a list, or `"nasty"` for all of it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Never {
    All(AllNasty),
    Some(Vec<Nasty>),
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum AllNasty {
    Nasty,
}

const ALL_NASTY: [Nasty; 8] = [
    Nasty::Nan,
    Nasty::Infinite,
    Nasty::NegativeZero,
    Nasty::Subnormal,
    Nasty::Outside,
    Nasty::Unseen,
    Nasty::Empty,
    Nasty::Long,
];

/// Larger datasets are refused: each candidate has two of them.
const MOST_RECORDS: i64 = 1_000_000;
/// Longer texts are refused.
const MOST_CHARACTERS: i64 = 10_000;

/// Checks the section.
pub fn check(raw: SearchFile, relation: &Relation) -> Result<SearchRequest, Vec<KeyProblem>> {
    let mut problems = Vec::new();
    let mut problem = |path: &str, text: String| {
        problems.push(KeyProblem::new(format!("search.{path}"), format!("search.{path} {text}")));
    };
    if raw.relation.as_ref().is_some_and(|name| *name != relation.to_string()) {
        problem(
            "relation",
            format!(
                "is not that of the audit, which is \"{relation}\"; remove it, because neighbours are those of the claim"
            ),
        );
    }
    let draws = raw.draws.map(file::draws).transpose().unwrap_or_else(|text| {
        problem("draws", text);
        None
    });
    let (least, most) = (raw.size.least.get(), raw.size.most.get());
    if !(0..=MOST_RECORDS).contains(&least) {
        problem(
            "size.least",
            format!("is {least}, must be a whole number from 0 to {MOST_RECORDS}"),
        );
    }
    if !(1..=MOST_RECORDS).contains(&most) {
        problem("size.most", format!("is {most}, must be a whole number from 1 to {MOST_RECORDS}"));
    } else if most < least {
        problem("size.most", format!("is {most}, must be at least size.least, which is {least}"));
    } else if most == least && *relation == Relation::AddRemove {
        problem(
            "size.most",
            format!(
                "is {most}, like size.least; add-remove neighbours have different sizes, so allow {} more",
                1
            ),
        );
    }
    let record = record("search.record", raw.record).map_err(|found| problems.push(found)).ok();
    match record {
        Some(record) if problems.is_empty() => {
            let size = |number: i64| usize::try_from(number).unwrap_or_default();
            Ok(SearchRequest {
                domain: Domain {
                    record,
                    least: size(least),
                    most: size(most),
                    ordered: raw.order == OrderName::Fixed,
                },
                draws,
                seconds: raw.seconds,
            })
        }
        _ => Err(problems),
    }
}

/// Checks that the section has candidates for its audit.
pub fn check_candidates(audit: &Audit) -> Option<KeyProblem> {
    let request = audit.search.as_ref()?;
    DomainPairs::new(audit, &request.domain)
        .err()
        .map(|problem| KeyProblem::new("search", format!("search: {problem}")))
}

fn record(path: &str, raw: RecordFile) -> Result<RecordDomain, KeyProblem> {
    let problem = |key: &str, text: &str| {
        Err(KeyProblem::new(format!("{path}.{key}"), format!("{path}.{key} {text}")))
    };
    let kind = raw.kind;
    let is_number = matches!(kind, KindName::Number | KindName::Integer);
    let is_category = matches!(kind, KindName::Category | KindName::Label);
    let misplaced = [
        ("lower", raw.lower.is_some() && !is_number, "number and integer"),
        ("upper", raw.upper.is_some() && !is_number, "number and integer"),
        ("values", raw.values.is_some() && !is_category, "category and label"),
        ("length", raw.length.is_some() && kind != KindName::Text, "text"),
        ("columns", raw.columns.is_some() && kind != KindName::Table, "table"),
    ];
    if let Some((key, _, kinds)) = misplaced.into_iter().find(|(_, misplaced, _)| *misplaced) {
        return problem(
            key,
            &format!("is for records of type {kinds}; remove it, or change the type"),
        );
    }
    let never = match raw.never {
        None => Vec::new(),
        Some(Never::Some(list)) => list,
        Some(Never::All(AllNasty::Nasty)) => ALL_NASTY.to_vec(),
    };
    let kind = match kind {
        KindName::Number | KindName::Integer => {
            let (Some(lower), Some(upper)) = (raw.lower, raw.upper) else {
                return problem(
                    if raw.lower.is_none() { "lower" } else { "upper" },
                    "is missing; numbers have bounds: lower = 0, upper = 100",
                );
            };
            if !(lower.is_finite() && upper.is_finite() && lower < upper) {
                return problem(
                    "upper",
                    &format!("is {upper}, must be finite and greater than lower, which is {lower}"),
                );
            }
            let whole = lower.fract() == 0.0 && upper.fract() == 0.0;
            match kind {
                KindName::Integer if !whole => {
                    return problem(
                        "lower",
                        "and upper must be whole numbers for records of type integer",
                    );
                }
                KindName::Integer => Kind::Integer { lower, upper },
                _ => Kind::Number { lower, upper },
            }
        }
        KindName::Category | KindName::Label => match raw.values {
            Some(values) if !values.is_empty() => Kind::Category { values },
            _ => {
                return problem(
                    "values",
                    "is missing or empty; list the categories: values = [\"a\", \"b\"]",
                );
            }
        },
        KindName::Text => match raw.length.map_or(20, Whole::get) {
            length if (1..=MOST_CHARACTERS).contains(&length) => {
                Kind::Text { length: usize::try_from(length).unwrap_or_default() }
            }
            length => {
                return problem(
                    "length",
                    &format!("is {length}, must be a whole number from 1 to {MOST_CHARACTERS}"),
                );
            }
        },
        KindName::Table => {
            let columns = raw.columns.unwrap_or_default();
            if columns.is_empty() {
                return problem(
                    "columns",
                    "is missing or empty; list the columns: columns = [{ name = \"age\", type = \"integer\", lower = 0, upper = 120 }]",
                );
            }
            let mut checked: Vec<(String, RecordDomain)> = Vec::new();
            for (index, mut column) in columns.into_iter().enumerate() {
                let path = format!("{path}.columns.{index}");
                let name = column.name.take().unwrap_or_else(|| format!("column {}", index + 1));
                if checked.iter().any(|(other, _)| *other == name) {
                    return Err(KeyProblem::new(
                        format!("{path}.name"),
                        format!("{path}.name is \"{name}\", which another column has already"),
                    ));
                }
                checked.push((name, record(&path, column)?));
            }
            Kind::Table { columns: checked }
        }
    };
    if raw.name.is_some() {
        return problem("name", "is for the columns of a table; remove it");
    }
    Ok(RecordDomain { kind, nullable: raw.nullable, never })
}
