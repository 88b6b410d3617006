//! Which datasets are neighbours, and the check that the two sides of a pair are.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Dataset, Record};

/// The neighbour relation that a claim is made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// One record more or less.
    AddRemove,
    /// One record replaced by another; the size is unchanged.
    ReplaceOne,
    /// Vectors of query answers of equal length; no component differs by more than 1.
    ComponentWise,
    /// Vectors of query answers of equal length; exactly one component differs, by at most 1.
    SingleComponent,
    /// Any other relation; the audit explains why its pairs are neighbours.
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
            Self::ComponentWise => "component-wise",
            Self::SingleComponent => "single-component",
            Self::Custom { .. } => "custom",
        })
    }
}

impl Relation {
    /// Checks that two datasets are neighbours: component by component, or as multisets where the
    /// order does not matter.
    ///
    /// # Errors
    /// When they are not. The error says what differs and what the relation allows.
    pub fn check(&self, left: &Dataset, right: &Dataset) -> Result<(), String> {
        self.check_within(1.0, left, right)
    }

    /// Checks that two datasets are different and at most so many steps of the relation apart:
    /// records, or for vectors of answers the difference in a component.
    ///
    /// # Errors
    /// When they are not. The error says what differs and what the relation allows.
    pub fn check_within(
        &self,
        distance: f64,
        left: &Dataset,
        right: &Dataset,
    ) -> Result<(), String> {
        let difference = match self {
            Self::ComponentWise => component_problem(left, right, left.len(), distance),
            Self::SingleComponent => component_problem(left, right, 1, distance),
            Self::AddRemove | Self::ReplaceOne | Self::Custom { .. } => {
                self.multiset_problem(left, right, distance)
            }
        };
        let Some(difference) = difference else { return Ok(()) };
        if distance != 1.0 {
            return Err(format!(
                "left and right must differ, and be at most {distance} {self} steps apart: {difference}. Correct the pair, or the input \
                 distance of the claim, or set relation = \"custom\" with a reason"
            ));
        }
        let expected = match self {
            Self::AddRemove => {
                "of two add-remove neighbours, one has exactly one record more than the other"
            }
            Self::ReplaceOne => {
                "replace-one neighbours have the same size and differ in exactly one record"
            }
            Self::ComponentWise => {
                "component-wise neighbours are numbers, the same count on both sides, and differ, by at most 1 in each component"
            }
            Self::SingleComponent => {
                "single-component neighbours are numbers, the same count on both sides, and differ in exactly one component, by at most 1"
            }
            Self::Custom { .. } => "the two sides of a pair must differ",
        };
        Err(format!(
            "left and right are not neighbours: {difference}; {expected}. Correct the pair, or set relation = \"custom\" with a reason"
        ))
    }

    /// Why two multisets are not neighbours; None if they are.
    fn multiset_problem(&self, left: &Dataset, right: &Dataset, distance: f64) -> Option<String> {
        let (only_left, only_right) = difference(&left.sorted(), &right.sorted());
        let within = |records: usize| records > 0 && records as f64 <= distance;
        let allowed = match self {
            Self::AddRemove => within(only_left.len() + only_right.len()),
            Self::ReplaceOne => only_left.len() == only_right.len() && within(only_left.len()),
            _ => left != right,
        };
        (!allowed).then(|| {
            format!("only in left {}, only in right {}", listing(&only_left), listing(&only_right))
        })
    }
}

/// Why two vectors are not neighbours; None if they are.
///
/// Neighbours differ by at most `distance`, in at least one and at most `max_differing` components.
fn component_problem(
    left: &Dataset,
    right: &Dataset,
    max_differing: usize,
    distance: f64,
) -> Option<String> {
    if left.len() != right.len() {
        return Some(format!("left has {} components and right {}", left.len(), right.len()));
    }
    let mut differing = Vec::new();
    for (component, (l, r)) in (1..).zip(left.records().iter().zip(right.records())) {
        let close = match (l.number(), r.number()) {
            // Because of rounding, decimal fractions such as 2.2 and 1.2 differ by slightly more
            // than 1.
            (Some(l), Some(r)) => (l - r).abs() <= distance + f64::EPSILON * (l.abs() + r.abs()),
            _ => false,
        };
        if !close {
            return Some(format!("component {component} is {l} in left and {r} in right"));
        }
        if l != r {
            differing.push(component.to_string());
        }
    }
    match differing.len() {
        0 => Some("they are equal".to_owned()),
        count if count > max_differing => {
            Some(format!("components {} differ", abridged(&differing, "components")))
        }
        _ => None,
    }
}

/// The records that only one of two sorted lists has, as multisets.
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
    if records.is_empty() {
        return "nothing".to_owned();
    }
    abridged(&records.iter().map(ToString::to_string).collect::<Vec<_>>(), "records")
}

/// The first few items; if there are more, also their number.
fn abridged(items: &[String], what: &str) -> String {
    const SHOWN: usize = 3;
    let shown = items[..items.len().min(SHOWN)].join(", ");
    if items.len() > SHOWN { format!("{shown}, … ({} {what})", items.len()) } else { shown }
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
    fn component_wise_neighbours_differ_by_at_most_one_in_each_component() {
        let check =
            |left: &[f64], right: &[f64]| Relation::ComponentWise.check(&data(left), &data(right));
        assert!(check(&[1.0, 1.0, 1.0], &[2.0, 0.0, 1.5]).is_ok());
        assert!(check(&[2.2], &[1.2]).is_ok());
        // The order matters: as multisets these two are equal.
        assert!(check(&[1.0, 0.0], &[0.0, 1.0]).is_ok());
        assert!(check(&[1.0, 2.0], &[1.0, 2.0]).unwrap_err().contains("they are equal"));
        assert!(
            check(&[1.0], &[1.0, 2.0]).unwrap_err().contains("left has 1 components and right 2")
        );
        assert!(
            check(&[0.0, 1.0], &[0.0, 2.1])
                .unwrap_err()
                .contains("component 2 is 1 in left and 2.1 in right")
        );
        let text = Dataset::new(vec![Record::Text("x".into())]);
        assert!(
            Relation::ComponentWise
                .check(&text, &data(&[1.0]))
                .unwrap_err()
                .contains("component 1 is x in left")
        );
    }

    #[test]
    fn single_component_neighbours_differ_in_one_component() {
        let check = |left: &[f64], right: &[f64]| {
            Relation::SingleComponent.check(&data(left), &data(right))
        };
        assert!(check(&[1.0, 1.0], &[1.0, 2.0]).is_ok());
        assert!(check(&[1.0, 1.0], &[1.0, 1.0]).is_err());
        assert!(check(&[1.0, 1.0], &[1.0, 2.5]).is_err());
        assert!(check(&[1.0, 1.0], &[2.0, 2.0]).unwrap_err().contains("components 1, 2 differ"));
    }

    #[test]
    fn datasets_may_be_several_steps_apart_if_the_claim_says_so() {
        let far = |relation: Relation, left: &[f64], right: &[f64]| {
            relation.check_within(2.0, &data(left), &data(right)).is_err()
        };
        assert!(
            !far(Relation::AddRemove, &[], &[1.0, 2.0])
                && !far(Relation::AddRemove, &[1.0], &[2.0])
        );
        assert!(
            far(Relation::AddRemove, &[], &[1.0, 2.0, 3.0])
                && far(Relation::AddRemove, &[1.0], &[1.0])
        );
        assert!(
            !far(Relation::ReplaceOne, &[1.0, 2.0, 5.0], &[3.0, 4.0, 5.0])
                && far(Relation::ReplaceOne, &[1.0], &[1.0, 2.0])
        );
        assert!(
            !far(Relation::ComponentWise, &[0.0, 0.0], &[2.0, -2.0])
                && far(Relation::ComponentWise, &[0.0], &[2.5])
        );
        assert!(
            !far(Relation::SingleComponent, &[0.0, 0.0], &[2.0, 0.0])
                && far(Relation::SingleComponent, &[0.0, 0.0], &[1.0, 1.0])
        );
        let error =
            Relation::AddRemove.check_within(2.0, &data(&[]), &data(&[1.0, 2.0, 3.0])).unwrap_err();
        assert!(
            error.contains(
                "at most 2 add-remove steps apart: only in left nothing, only in right 1, 2, 3"
            ),
            "{error}"
        );
    }

    #[test]
    fn custom_neighbours_must_differ_at_least_in_order() {
        let relation = Relation::Custom { reason: "order is visible".into() };
        assert!(relation.check(&data(&[1.0, 2.0]), &data(&[2.0, 1.0])).is_ok());
        assert!(relation.check(&data(&[1.0, 2.0]), &data(&[1.0, 2.0])).is_err());
    }
}
