//! Two neighbours, written so that they stay neighbours whatever is changed: what both have, and
//! what only one of them has.

use crate::model::{Dataset, Record, Relation};

/// Two neighbours.
#[derive(Clone, Debug, PartialEq)]
pub enum Genome {
    /// Two lists of records.
    Lists {
        /// The records of both, in the order of the left side.
        common: Vec<Record>,
        /// What only the left side has, and before which common record.
        left: Option<(usize, Record)>,
        /// What only the right side has.
        right: Option<(usize, Record)>,
        /// The order of the common records on the right side.
        order: Order,
    },
    /// Two vectors of query answers.
    Vectors {
        /// The left side.
        base: Vec<f64>,
        /// What the right side has more in each component.
        step: Vec<f64>,
    },
}

/// The order of the common records on the right side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As on the left side.
    Same,
    /// The last one first.
    Reversed,
    /// From small to large.
    Sorted,
}

impl Order {
    /// The records in this order.
    pub fn apply(self, records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        match self {
            Self::Same => {}
            Self::Reversed => records.reverse(),
            Self::Sorted => records.sort(),
        }
        records
    }
}

impl Genome {
    /// The two sides.
    #[must_use]
    pub fn sides(&self) -> (Dataset, Dataset) {
        match self {
            Self::Lists { common, left, right, order } => {
                (with(common.clone(), left.as_ref()), with(order.apply(common), right.as_ref()))
            }
            Self::Vectors { base, step } => {
                let right: Vec<f64> =
                    base.iter().zip(step).map(|(base, step)| base + step).collect();
                (Dataset::of_numbers(base), Dataset::of_numbers(&right))
            }
        }
    }

    /// The same pair with its sides exchanged. The order of the common records is then that of the
    /// other side.
    #[must_use]
    pub fn swapped(&self) -> Self {
        match self.clone() {
            Self::Lists { common, left, right, order } => {
                Self::Lists { common, left: right, right: left, order }
            }
            Self::Vectors { base, step } => Self::Vectors {
                base: base.iter().zip(&step).map(|(base, step)| base + step).collect(),
                step: step.iter().map(|step| -step).collect(),
            },
        }
    }

    /// Whether both sides have their records in the same order, and what differs is at the same
    /// place.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        match self {
            Self::Lists { left: Some((left, _)), right: Some((right, _)), order, .. } => {
                *order == Order::Same && left == right
            }
            Self::Lists { order, .. } => *order == Order::Same,
            Self::Vectors { .. } => true,
        }
    }

    /// What two given neighbours are, as far as it can be written like this: an order that differs
    /// otherwise is lost.
    #[must_use]
    pub fn of(relation: &Relation, left: &Dataset, right: &Dataset) -> Option<Self> {
        if matches!(relation, Relation::ComponentWise | Relation::SingleComponent) {
            let (base, other) = (left.numbers().ok()?, right.numbers().ok()?);
            return (base.len() == other.len()).then(|| Self::Vectors {
                step: other.iter().zip(&base).map(|(other, base)| other - base).collect(),
                base,
            });
        }
        let mut unmatched: Vec<Option<&Record>> = right.records().iter().map(Some).collect();
        let (mut common, mut only_left) = (Vec::new(), Vec::new());
        for record in left.records() {
            match unmatched.iter_mut().find(|other| **other == Some(record)) {
                Some(other) => {
                    *other = None;
                    common.push(record.clone());
                }
                None => only_left.push((common.len(), record.clone())),
            }
        }
        let only_right: Vec<(usize, Record)> = unmatched
            .into_iter()
            .enumerate()
            .filter_map(|(index, record)| Some((index.min(common.len()), record?.clone())))
            .collect();
        (only_left.len() <= 1 && only_right.len() <= 1).then(|| Self::Lists {
            common,
            left: only_left.into_iter().next(),
            right: only_right.into_iter().next(),
            order: Order::Same,
        })
    }
}

fn with(mut records: Vec<Record>, extra: Option<&(usize, Record)>) -> Dataset {
    if let Some((place, record)) = extra {
        records.insert((*place).min(records.len()), record.clone());
    }
    Dataset::new(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(numbers: &[f64]) -> Vec<Record> {
        numbers.iter().copied().map(Record::Number).collect()
    }

    #[test]
    fn sides_are_neighbours_in_the_stated_order() {
        let genome = Genome::Lists {
            common: records(&[3.0, 1.0, 2.0]),
            left: None,
            right: Some((0, Record::Number(9.0))),
            order: Order::Reversed,
        };
        let (left, right) = genome.sides();
        assert_eq!(
            (left.to_string().as_str(), right.to_string().as_str()),
            ("[3, 1, 2]", "[9, 2, 1, 3]")
        );
        assert!(Relation::AddRemove.check(&left, &right).is_ok());
        let moved = Genome::Lists {
            common: records(&[1.0]),
            left: Some((0, Record::Number(2.0))),
            right: Some((1, Record::Number(3.0))),
            order: Order::Same,
        };
        assert!(!genome.is_ordered() && !moved.is_ordered(), "the order or the place differs");
        let vectors = Genome::Vectors { base: vec![1.0, 0.0], step: vec![-1.0, 1.0] };
        let (left, right) = vectors.sides();
        assert!(Relation::ComponentWise.check(&left, &right).is_ok());
        assert_eq!(vectors.swapped().sides(), (right, left));
    }

    #[test]
    fn given_pairs_are_taken_apart() {
        let (left, right) =
            (Dataset::of_numbers(&[1.0, 2.0, 1.0]), Dataset::of_numbers(&[1.0, 1.0, 5.0]));
        let genome = Genome::of(&Relation::ReplaceOne, &left, &right).unwrap();
        assert_eq!(genome.sides(), (left.clone(), right));
        let more = Dataset::of_numbers(&[1.0, 2.0, 1.0, 7.0]);
        assert_eq!(
            Genome::of(&Relation::AddRemove, &left, &more).unwrap().sides(),
            (left.clone(), more)
        );
        let vectors =
            Genome::of(&Relation::ComponentWise, &left, &Dataset::of_numbers(&[2.0, 1.5, 1.0]))
                .unwrap();
        assert_eq!(
            vectors,
            Genome::Vectors { base: vec![1.0, 2.0, 1.0], step: vec![1.0, -0.5, 0.0] }
        );
        let far = Dataset::of_numbers(&[8.0, 9.0, 7.0]);
        assert_eq!(Genome::of(&Relation::AddRemove, &left, &far), None);
    }
}
