//! What the datasets of a mechanism may be: the space in which a search looks for a pair.

use serde::{Deserialize, Serialize};

use super::Record;
use super::checked::Positive;

/// What a search is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRequest {
    /// What a dataset may be.
    pub domain: Domain,
    /// All draws that the search may make, those that certify included.
    #[serde(default)]
    pub draws: Option<u64>,
    /// The seconds that it may take.
    #[serde(default)]
    pub seconds: Option<Positive>,
}

/// What a dataset may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// What a record may be.
    pub record: RecordDomain,
    /// The fewest records.
    pub least: usize,
    /// The most records.
    pub most: usize,
    /// Whether neighbours have their records in the same order, for a mechanism whose outputs have
    /// the order of its records.
    #[serde(default)]
    pub ordered: bool,
}

/// What a record may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordDomain {
    /// Its type.
    pub kind: Kind,
    /// Whether it may be missing.
    #[serde(default)]
    pub nullable: bool,
    /// The nasty values that cannot occur.
    #[serde(default)]
    pub never: Vec<Nasty>,
}

/// The type of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A number in this range.
    Number {
        /// The smallest one.
        lower: f64,
        /// The largest one.
        upper: f64,
    },
    /// A whole number in this range.
    Integer {
        /// The smallest one.
        lower: f64,
        /// The largest one.
        upper: f64,
    },
    /// One of these texts.
    Category {
        /// The texts.
        values: Vec<String>,
    },
    /// A text.
    Text {
        /// The most characters.
        length: usize,
    },
    /// Several columns. A record of a single column is a list of one field.
    Table {
        /// The names and domains of the columns.
        columns: Vec<(String, RecordDomain)>,
    },
}

/// A value that programmers forget. A domain has it unless it says that it cannot occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nasty {
    /// Not a number.
    Nan,
    /// ∞ and −∞.
    Infinite,
    /// −0.0, which is equal to 0 and prints otherwise.
    NegativeZero,
    /// A number so close to 0 that it has fewer bits.
    Subnormal,
    /// A number outside its bounds.
    Outside,
    /// A category that is not listed.
    Unseen,
    /// The empty text.
    Empty,
    /// A text that is longer than stated.
    Long,
}

impl Domain {
    /// Whether a dataset of this many records is in it.
    #[must_use]
    pub fn has_size(&self, records: usize) -> bool {
        (self.least..=self.most).contains(&records)
    }
}

impl RecordDomain {
    /// A domain of this type, with all nasty values.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self { kind, nullable: false, never: Vec::new() }
    }

    /// Whether a record is in it, as a plain or as a nasty value.
    #[must_use]
    pub fn has(&self, record: &Record) -> bool {
        match (&self.kind, record) {
            (_, Record::Missing) => self.nullable,
            (Kind::Table { columns }, Record::Fields(fields)) => {
                columns.len() == fields.len()
                    && columns.iter().zip(fields).all(|((_, column), field)| column.has(field))
            }
            (Kind::Integer { .. }, Record::Number(number)) if number.fract() != 0.0 => false,
            (Kind::Number { .. } | Kind::Integer { .. }, Record::Number(_))
            | (Kind::Category { .. } | Kind::Text { .. }, Record::Text(_)) => {
                self.allows(self.kind.nasty(record))
            }
            _ => false,
        }
    }

    /// Whether it has such values.
    #[must_use]
    pub fn allows(&self, nasty: Option<Nasty>) -> bool {
        nasty.is_none_or(|nasty| !self.never.contains(&nasty))
    }
}

impl Kind {
    /// What is nasty about a value of this type; `None` if it is a plain one.
    #[must_use]
    pub fn nasty(&self, record: &Record) -> Option<Nasty> {
        match (self, record) {
            (Self::Number { .. } | Self::Integer { .. }, Record::Number(number))
                if number.is_nan() =>
            {
                Some(Nasty::Nan)
            }
            (Self::Number { .. } | Self::Integer { .. }, Record::Number(number))
                if number.is_infinite() =>
            {
                Some(Nasty::Infinite)
            }
            (
                Self::Number { lower, upper } | Self::Integer { lower, upper },
                Record::Number(number),
            ) => {
                let outside = !(*lower..=*upper).contains(number);
                let negative_zero = *number == 0.0 && number.is_sign_negative();
                if outside {
                    Some(Nasty::Outside)
                } else if negative_zero {
                    Some(Nasty::NegativeZero)
                } else {
                    number.is_subnormal().then_some(Nasty::Subnormal)
                }
            }
            (Self::Category { values }, Record::Text(text)) => {
                (!values.contains(text)).then_some(Nasty::Unseen)
            }
            (Self::Text { .. }, Record::Text(text)) if text.is_empty() => Some(Nasty::Empty),
            (Self::Text { length }, Record::Text(text)) => {
                (text.chars().count() > *length).then_some(Nasty::Long)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_nasty_values_are_told_apart() {
        let kind = Kind::Number { lower: -1.0, upper: 2.0 };
        let nasty = |number: f64| kind.nasty(&Record::Number(number));
        assert_eq!((nasty(-1.0), nasty(0.0), nasty(2.0), nasty(1e-300)), (None, None, None, None));
        assert_eq!(
            (nasty(f64::NAN), nasty(f64::NEG_INFINITY)),
            (Some(Nasty::Nan), Some(Nasty::Infinite))
        );
        assert_eq!(
            (nasty(-0.0), nasty(5e-324), nasty(2.0_f64.next_up())),
            (Some(Nasty::NegativeZero), Some(Nasty::Subnormal), Some(Nasty::Outside))
        );
        let domain =
            RecordDomain { never: vec![Nasty::Nan, Nasty::Outside], ..RecordDomain::of(kind) };
        assert!(domain.has(&Record::Number(-0.0)) && domain.has(&Record::Number(f64::INFINITY)));
        assert!(
            !domain.has(&Record::Number(f64::NAN))
                && !domain.has(&Record::Number(3.0))
                && !domain.has(&Record::Missing)
        );
    }

    #[test]
    fn a_record_has_the_columns_of_its_table() {
        let text = |text: &str| Record::Text(text.to_owned());
        let label = RecordDomain::of(Kind::Category { values: vec!["a".to_owned()] });
        let age = RecordDomain {
            nullable: true,
            ..RecordDomain::of(Kind::Integer { lower: 0.0, upper: 9.0 })
        };
        let table = RecordDomain::of(Kind::Table {
            columns: vec![("label".to_owned(), label), ("age".to_owned(), age)],
        });
        assert!(table.has(&Record::Fields(vec![text("a"), Record::Number(3.0)])));
        assert!(table.has(&Record::Fields(vec![text("unseen"), Record::Missing])));
        assert!(!table.has(&Record::Fields(vec![text("a"), Record::Number(3.5)])), "not whole");
        assert!(!table.has(&Record::Fields(vec![text("a")])) && !table.has(&text("a")));
    }
}
