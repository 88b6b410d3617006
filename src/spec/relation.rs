//! Which datasets count as neighbours, and the check that a pair is one.

use std::cmp::Ordering;
use std::fmt;

use super::dataset::{Dataset, Record};

/// The neighbour relation that a claim is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// One record more or less.
    AddRemove,
    /// One record replaced by another, the size unchanged.
    ReplaceOne,
    /// Anything else; the audit says why its pairs are neighbours.
    Custom {
        /// Why the pairs are neighbours.
        reason: String,
    },
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddRemove => "add-remove",
            Self::ReplaceOne => "replace-one",
            Self::Custom { .. } => "custom",
        })
    }
}

impl Relation {
    /// Checks that two datasets are neighbours, as multisets.
    ///
    /// # Errors
    /// What differs, and what the relation allows.
    pub fn check(&self, left: &Dataset, right: &Dataset) -> Result<(), String> {
        let (only_left, only_right) = difference(&left.sorted(), &right.sorted());
        let allowed = match self {
            Self::AddRemove => (only_left.len() + only_right.len()) == 1,
            Self::ReplaceOne => only_left.len() == 1 && only_right.len() == 1,
            Self::Custom { .. } => left != right,
        };
        if allowed {
            return Ok(());
        }
        let expected = match self {
            Self::AddRemove => "add-remove neighbours differ by exactly one record that one of them has in addition",
            Self::ReplaceOne => "replace-one neighbours have the same size and differ in exactly one record",
            Self::Custom { .. } => "the two sides of a pair must differ",
        };
        Err(format!(
            "left and right are not neighbours: only in left {}, only in right {}; {expected}. \
             Correct the pair, or set relation = \"custom\" with a reason",
            listing(&only_left),
            listing(&only_right)
        ))
    }
}

/// What each of two sorted lists has that the other has not, as multisets.
fn difference<'a>(left: &[&'a Record], right: &[&'a Record]) -> (Vec<&'a Record>, Vec<&'a Record>) {
    let (mut only_left, mut only_right) = (Vec::new(), Vec::new());
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        match left[l].cmp(right[r]) {
            Ordering::Less => {
                only_left.push(left[l]);
                l += 1;
            }
            Ordering::Greater => {
                only_right.push(right[r]);
                r += 1;
            }
            Ordering::Equal => {
                l += 1;
                r += 1;
            }
        }
    }
    only_left.extend(&left[l..]);
    only_right.extend(&right[r..]);
    (only_left, only_right)
}

fn listing(records: &[&Record]) -> String {
    const SHOWN: usize = 3;
    if records.is_empty() {
        return "nothing".to_owned();
    }
    let mut text: Vec<String> = records.iter().take(SHOWN).map(ToString::to_string).collect();
    if records.len() > SHOWN {
        text.push(format!("… ({} records)", records.len()));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(numbers: &[f64]) -> Dataset {
        Dataset::of_numbers(numbers)
    }

    #[test]
    fn add_remove_allows_one_record_more_or_less_in_any_order() {
        let relation = Relation::AddRemove;
        assert!(relation.check(&data(&[]), &data(&[1.0])).is_ok());
        assert!(relation.check(&data(&[1.0, 2.0, 1.0]), &data(&[1.0, 1.0])).is_ok());
        assert!(relation.check(&data(&[1.0]), &data(&[2.0])).is_err());
        assert!(relation.check(&data(&[1.0]), &data(&[1.0])).is_err());
        assert!(relation.check(&data(&[1.0]), &data(&[1.0, 1.0, 1.0])).is_err());
    }

    #[test]
    fn replace_one_keeps_the_size() {
        let relation = Relation::ReplaceOne;
        assert!(relation.check(&data(&[1.0, 2.0]), &data(&[2.0, 3.0])).is_ok());
        assert!(relation.check(&data(&[1.0, 2.0]), &data(&[3.0, 4.0])).is_err());
        let error = relation.check(&data(&[1.0]), &data(&[1.0, 5.0])).unwrap_err();
        assert!(error.contains("only in left nothing, only in right 5"), "{error}");
    }

    #[test]
    fn custom_neighbours_must_differ_at_least_in_order() {
        let relation = Relation::Custom { reason: "order is visible".into() };
        assert!(relation.check(&data(&[1.0, 2.0]), &data(&[2.0, 1.0])).is_ok());
        assert!(relation.check(&data(&[1.0, 2.0]), &data(&[1.0, 2.0])).is_err());
    }
}
