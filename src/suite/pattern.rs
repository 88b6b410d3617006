//! Generates pairs of neighbours from patterns, for mechanisms that answer many queries of
//! sensitivity 1.
//!
//! *Source*: Ding et al. 2018, "Detecting violations of differential privacy" (`StatDP`). Later
//! black-box auditors use the same patterns. Mechanisms typically fail on inputs where one
//! component differs from the rest, or one half from the other half.

use serde::Deserialize;

use crate::model::{Dataset, Relation, Whole};

/// The number of queries.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "Whole")]
pub struct Components(usize);

/// A larger number is rejected as a typo.
const MAX_COMPONENTS: usize = 10_000;

impl TryFrom<Whole> for Components {
    type Error = String;

    fn try_from(value: Whole) -> Result<Self, String> {
        let value = value.get();
        let count =
            usize::try_from(value).ok().filter(|count| (1..=MAX_COMPONENTS).contains(count));
        count
            .map(Self)
            .ok_or_else(|| format!("is {value}, must be a whole number from 1 to {MAX_COMPONENTS}"))
    }
}

/// A generated pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Its name, which describes it.
    pub name: String,
    /// The dataset D.
    pub left: Dataset,
    /// Its neighbour D'.
    pub right: Dataset,
}

impl Pattern {
    /// All patterns that are neighbours under the relation, each also with its sides swapped. With
    /// few components some patterns are equal; only the first of them is kept.
    ///
    /// # Errors
    /// When the relation is not between vectors.
    pub fn all(relation: &Relation, components: Components) -> Result<Vec<Self>, String> {
        let patterns = match relation {
            Relation::SingleComponent => single_component(components.0),
            Relation::ComponentWise => {
                [single_component(components.0), component_wise(components.0)].concat()
            }
            other => {
                return Err(format!(
                    "relation is \"{other}\", which has no patterns; \
                     set relation = \"component-wise\" or \"single-component\", or add the pairs as [[pair]]"
                ));
            }
        };
        let mut kept: Vec<Self> = Vec::new();
        for pattern in patterns.into_iter().flat_map(|pattern| [pattern.clone(), pattern.swapped()])
        {
            if !kept.iter().any(|other| other.left == pattern.left && other.right == pattern.right)
            {
                kept.push(pattern);
            }
        }
        Ok(kept)
    }

    fn new(name: &str, left: &[f64], right: &[f64]) -> Self {
        Self {
            name: name.to_owned(),
            left: Dataset::of_numbers(left),
            right: Dataset::of_numbers(right),
        }
    }

    fn swapped(self) -> Self {
        Self { name: format!("{}, swapped", self.name), left: self.right, right: self.left }
    }
}

/// A vector of `k` components: the first `times` are `first`, all others are `second`.
fn split(k: usize, first: f64, times: usize, second: f64) -> Vec<f64> {
    (0..k).map(|i| if i < times { first } else { second }).collect()
}

/// The patterns where one component differs.
fn single_component(k: usize) -> Vec<Pattern> {
    let ones = split(k, 1.0, k, 1.0);
    vec![
        Pattern::new("one above", &ones, &split(k, 0.0, 1, 1.0)),
        Pattern::new("one below", &ones, &split(k, 2.0, 1, 1.0)),
    ]
}

/// The patterns where all components differ. If `k` is odd, the first half is the smaller one.
fn component_wise(k: usize) -> Vec<Pattern> {
    let ones = split(k, 1.0, k, 1.0);
    let half = k / 2;
    vec![
        Pattern::new("one above, rest below", &ones, &split(k, 2.0, 1, 0.0)),
        Pattern::new("one below, rest above", &ones, &split(k, 0.0, 1, 2.0)),
        Pattern::new("half half", &ones, &split(k, 2.0, half, 0.0)),
        Pattern::new("all above", &ones, &split(k, 2.0, k, 2.0)),
        Pattern::new("all below", &ones, &split(k, 0.0, k, 0.0)),
        Pattern::new("X shape", &split(k, 1.0, half, 0.0), &split(k, 0.0, half, 1.0)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(relation: &Relation, k: i64) -> Vec<Pattern> {
        Pattern::all(relation, Components::try_from(Whole::from(k)).unwrap()).unwrap()
    }

    #[test]
    fn all_patterns_are_distinct_neighbours() {
        for relation in [Relation::ComponentWise, Relation::SingleComponent] {
            for k in 1..=11 {
                let patterns = all(&relation, k);
                for (i, pattern) in patterns.iter().enumerate() {
                    relation.check(&pattern.left, &pattern.right).unwrap();
                    let same = |other: &Pattern| {
                        other.name == pattern.name
                            || (other.left == pattern.left && other.right == pattern.right)
                    };
                    assert!(!patterns[..i].iter().any(same), "{k}: {}", pattern.name);
                }
            }
        }
        assert_eq!(all(&Relation::SingleComponent, 5).len(), 4);
        assert_eq!(all(&Relation::ComponentWise, 5).len(), 16);
        assert_eq!(all(&Relation::ComponentWise, 1).len(), 4);
    }

    #[test]
    fn patterns_look_as_published() {
        let patterns = all(&Relation::ComponentWise, 4);
        let find = |name: &str| {
            let pattern = patterns.iter().find(|pattern| pattern.name == name).unwrap();
            format!("{} / {}", pattern.left, pattern.right)
        };
        assert_eq!(find("one above"), "[1 × 4] / [0, 1 × 3]");
        assert_eq!(find("one below, swapped"), "[2, 1 × 3] / [1 × 4]");
        assert_eq!(find("one above, rest below"), "[1 × 4] / [2, 0 × 3]");
        assert_eq!(find("half half"), "[1 × 4] / [2 × 2, 0 × 2]");
        assert_eq!(find("X shape"), "[1 × 2, 0 × 2] / [0 × 2, 1 × 2]");
        let odd = all(&Relation::ComponentWise, 5);
        assert!(odd.iter().any(
            |pattern| pattern.name == "X shape" && pattern.left.to_string() == "[1 × 2, 0 × 3]"
        ));
    }

    #[test]
    fn other_relations_have_no_patterns() {
        let problem = Pattern::all(&Relation::AddRemove, Components(3)).unwrap_err();
        assert!(
            problem.contains("relation is \"add-remove\"") && problem.contains("component-wise"),
            "{problem}"
        );
    }
}
