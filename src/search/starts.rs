//! The first candidates: structures of datasets on which mechanisms are known to fail, and moves to
//! a neighbour.
//!
//! A new structure is a line in [`structures`] or in [`bases`], a new move a line in [`extras`] or
//! in [`steps`].

use super::genome::{Genome, Order};
use super::values::{landmarks, nasty};
use crate::model::{Domain, Kind, Record, Relation};

/// A first candidate and what it is.
pub struct Start {
    /// The pair.
    pub genome: Genome,
    /// In words.
    pub origin: String,
    /// How far from simple it is.
    rank: usize,
}

/// Sizes at which code often changes its behaviour, the small ones first.
#[must_use]
pub fn sizes(domain: &Domain) -> Vec<usize> {
    const SIZES: [usize; 31] = [
        0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 31, 32, 49, 50, 63, 64, 99, 100, 127, 128,
        200, 255, 256, 400, 1000, 1023, 4095,
    ];
    let given = (0..4).map(|more| domain.least + more);
    let largest = [domain.most.saturating_sub(1), domain.most, domain.most / 2];
    let mut sizes: Vec<usize> =
        given.chain(SIZES).chain(largest).filter(|size| domain.has_size(*size)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// All first candidates, the simplest first. With a number of records that is fixed, only that
/// number is tried.
#[must_use]
pub fn starts(domain: &Domain, relation: &Relation, distance: f64) -> Vec<Start> {
    let mut starts = match relation {
        Relation::ComponentWise | Relation::SingleComponent => vectors(domain, relation, distance),
        _ => lists(domain, relation),
    };
    starts.sort_by_key(|start| start.rank);
    starts
}

/// Datasets of `size` records with the values a and b, and what they are called.
fn structures(
    size: usize,
    a: &Record,
    b: &Record,
    spread: &[Record],
) -> Vec<(&'static str, Vec<Record>)> {
    let split = |first: usize| {
        (0..size).map(|index| if index < first { a.clone() } else { b.clone() }).collect::<Vec<_>>()
    };
    let alternating =
        || (0..size).map(|index| if index % 2 == 0 { a.clone() } else { b.clone() }).collect();
    let all = || (0..size).map(|index| spread[index % spread.len().max(1)].clone()).collect();
    let mut found = vec![("all equal", split(size))];
    if size >= 2 {
        found.push(("a tie", split(size / 2)));
        found.push(("one outlier", split(size - 1)));
        found.push(("majority by one", split(size / 2 + 1)));
    }
    if size >= 3 && !spread.is_empty() {
        found.push(("alternating", alternating()));
        found.push(("a spread", all()));
    }
    found
}

/// What is added to a dataset, or replaces its last record: what that is called, and its rank.
fn extras(
    a: &Record,
    b: &Record,
    spread: &[Record],
    nasty: &[Record],
) -> Vec<(String, Record, usize)> {
    let mut found =
        vec![("the farthest".to_owned(), b.clone(), 0), ("an equal one".to_owned(), a.clone(), 1)];
    // What programmers forget comes early: it is cheap to try and leaks a lot.
    found.extend(
        nasty
            .iter()
            .zip(0..)
            .map(|(record, place)| (format!("{record}"), record.clone(), 1 + place / 6)),
    );
    let others = spread.iter().filter(|record| *record != a && *record != b);
    found.extend(
        others.zip(2..).map(|(record, rank)| ("a landmark".to_owned(), record.clone(), rank)),
    );
    found
}

fn lists(domain: &Domain, relation: &Relation) -> Vec<Start> {
    let replace = *relation == Relation::ReplaceOne;
    let (spread, nasty) = (landmarks(&domain.record), nasty(&domain.record));
    let mut found = Vec::new();
    // Two values at a time: the first landmark with each of the others, then neighbours in the
    // list.
    let couples: Vec<(&Record, &Record)> = match spread.as_slice() {
        [] => return found,
        [only] => vec![(only, only)],
        [first, others @ ..] => {
            let with_first =
                others.iter().take(3).flat_map(|other| [(first, other), (other, first)]);
            with_first.chain(others.windows(2).take(3).map(|two| (&two[0], &two[1]))).collect()
        }
    };
    for (size_rank, size) in sizes(domain).into_iter().enumerate() {
        // Large datasets take memory and time, so there are few of them.
        let (most_couples, most_extras) = match size {
            0..=128 => (usize::MAX, usize::MAX),
            129..=4096 => (4, 3),
            _ => (2, 1),
        };
        for (couple_rank, (a, b)) in couples.iter().enumerate().take(most_couples) {
            for (structure_rank, (structure, records)) in
                structures(size, a, b, &spread).into_iter().enumerate()
            {
                // Nasty values are tried in small datasets only: in large ones they are found by
                // mutation.
                let extras =
                    extras(a, b, &spread, if size <= 5 && couple_rank == 0 { &nasty } else { &[] });
                for (name, extra, extra_rank) in extras.into_iter().take(most_extras) {
                    // One thing out of the ordinary is simpler than two: size 127 of equal records
                    // comes before size 12 of a spread.
                    let rank = (1 + size_rank)
                        * (1 + couple_rank / 2)
                        * (1 + structure_rank)
                        * (1 + extra_rank);
                    let mut add = |origin: String, genome: Genome, rank: usize| {
                        found.push(Start { genome, origin, rank });
                    };
                    if replace {
                        let mut common = records.clone();
                        let Some(last) = common.pop() else { continue };
                        let place = common.len();
                        // Replacing a record of the larger part, or the odd one.
                        let other = common.first().filter(|first| **first != last).cloned();
                        for (what, replaced) in [("the last", Some(last)), ("the first", other)] {
                            let Some(replaced) = replaced.filter(|replaced| *replaced != extra)
                            else {
                                continue;
                            };
                            let (left, right) =
                                (Some((place, replaced)), Some((place, extra.clone())));
                            let genome = Genome::Lists {
                                common: common.clone(),
                                left,
                                right,
                                order: Order::Same,
                            };
                            add(
                                format!("{structure}, {what} replaced by {name}"),
                                genome,
                                if what == "the last" { rank } else { 2 * rank },
                            );
                        }
                    } else if size < domain.most {
                        let genome = |place: usize, order| Genome::Lists {
                            common: records.clone(),
                            left: None,
                            right: Some((place, extra.clone())),
                            order,
                        };
                        add(
                            format!("{structure}, {name} added last"),
                            genome(size, Order::Same),
                            rank,
                        );
                        if size >= 2 && extra_rank < 2 {
                            add(
                                format!("{structure}, {name} added first"),
                                genome(0, Order::Same),
                                2 * rank,
                            );
                        }
                        // There are few of these, so they come early.
                        if size >= 2 && extra_rank == 0 && structure != "all equal" {
                            add(
                                format!("{structure}, {name} added, other order"),
                                genome(size, Order::Reversed),
                                rank.div_ceil(3),
                            );
                        }
                    }
                }
            }
        }
    }
    found
}

/// The left sides of pairs of vectors, and what they are called.
fn bases(size: usize, a: f64, b: f64) -> Vec<(&'static str, Vec<f64>)> {
    let split =
        |first: usize| (0..size).map(|index| if index < first { a } else { b }).collect::<Vec<_>>();
    vec![
        ("all equal", split(size)),
        ("two halves", split(size / 2)),
        ("one apart", split(1)),
        ("all but one", split(size.saturating_sub(1))),
    ]
}

/// How the right side differs from the left: the patterns of `StatDP` and some more.
fn steps(size: usize, relation: &Relation, d: f64) -> Vec<(&'static str, Vec<f64>)> {
    let of = |value: &dyn Fn(usize) -> f64| (0..size).map(value).collect::<Vec<_>>();
    let one = |place: usize, d: f64| of(&|index| if index == place { d } else { 0.0 });
    let mut found = Vec::new();
    if *relation == Relation::ComponentWise {
        let half = size / 2;
        // What all components leak adds up, so these come first.
        found.extend([
            ("all above", of(&|_| d)),
            ("all below", of(&|_| -d)),
            ("one above, rest below", of(&|index| if index == 0 { d } else { -d })),
            ("one below, rest above", of(&|index| if index == 0 { -d } else { d })),
            ("half above, half below", of(&|index| if index < half { d } else { -d })),
            ("half below, half above", of(&|index| if index < half { -d } else { d })),
            ("alternating", of(&|index| if index % 2 == 0 { d } else { -d })),
        ]);
    }
    found.extend([
        ("one above", one(0, d)),
        ("one below", one(0, -d)),
        ("the last above", one(size - 1, d)),
        ("the last below", one(size - 1, -d)),
    ]);
    found
}

fn vectors(domain: &Domain, relation: &Relation, distance: f64) -> Vec<Start> {
    let (Kind::Number { lower, upper } | Kind::Integer { lower, upper }) = domain.record.kind
    else {
        return Vec::new();
    };
    let within = |value: &f64| domain.record.has(&Record::Number(*value));
    let near = [
        0.0,
        1.0,
        2.0,
        -1.0,
        f64::midpoint(lower, upper).round(),
        lower,
        upper,
        lower + distance,
        upper - distance,
    ];
    let mut values: Vec<f64> = Vec::new();
    for value in near.into_iter().filter(|value| (lower..=upper).contains(value)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let mut found = Vec::new();
    // The most components first: what leaks in each adds up.
    for (size_rank, size) in sizes(domain).into_iter().rev().filter(|size| *size > 0).enumerate() {
        for (value_rank, a) in values.iter().enumerate() {
            let b = values[(value_rank + 1) % values.len()];
            for (base_rank, (base_name, base)) in bases(size, *a, b).into_iter().enumerate() {
                for (step_rank, (step_name, step)) in
                    steps(size, relation, distance).into_iter().enumerate()
                {
                    if base.iter().zip(&step).all(|(base, step)| within(&(base + step))) {
                        let genome = Genome::Vectors { base: base.clone(), step };
                        let rank = 4 * size_rank + 2 * value_rank + 2 * base_rank + step_rank;
                        found.push(Start {
                            genome,
                            origin: format!("{base_name}, {step_name}"),
                            rank,
                        });
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RecordDomain;

    fn domain(kind: Kind, least: usize, most: usize) -> Domain {
        Domain { record: RecordDomain::of(kind), least, most, ordered: false }
    }

    #[test]
    fn all_first_candidates_are_neighbours_within_the_domain() {
        let number = || Kind::Number { lower: -3.0, upper: 7.0 };
        let category = || Kind::Category { values: vec!["a".to_owned(), "b".to_owned()] };
        for (kind, relation) in [
            (number(), Relation::AddRemove),
            (number(), Relation::ReplaceOne),
            (category(), Relation::AddRemove),
            (category(), Relation::ReplaceOne),
            (number(), Relation::ComponentWise),
            (number(), Relation::SingleComponent),
        ] {
            let domain = domain(kind, 1, 9);
            let starts = starts(&domain, &relation, 1.0);
            assert!(starts.len() > 20, "{relation}: {}", starts.len());
            let mut seen = 0;
            for start in &starts {
                let (left, right) = start.genome.sides();
                if left == right {
                    continue;
                }
                seen += 1;
                assert_eq!(relation.check(&left, &right), Ok(()), "{}", start.origin);
                for side in [left, right] {
                    assert!(domain.has_size(side.len()), "{}: {side}", start.origin);
                    assert!(
                        side.records().iter().all(|record| domain.record.has(record)),
                        "{}: {side}",
                        start.origin
                    );
                }
            }
            assert!(seen > 20, "{relation}: {seen}");
        }
    }

    #[test]
    fn the_patterns_of_the_literature_are_among_them() {
        let starts = starts(
            &domain(Kind::Number { lower: 0.0, upper: 2.0 }, 4, 4),
            &Relation::ComponentWise,
            1.0,
        );
        let sides: Vec<String> = starts
            .iter()
            .map(|start| start.genome.sides())
            .map(|(left, right)| format!("{left} {right}"))
            .collect();
        for pattern in [
            "[1 × 4] [0, 1 × 3]",
            "[1 × 4] [2, 0 × 3]",
            "[1 × 4] [2 × 2, 0 × 2]",
            "[1 × 4] [0 × 4]",
            "[1 × 4] [2 × 4]",
        ] {
            assert!(sides.iter().any(|sides| sides == pattern), "{pattern}");
        }
        assert!(sides.iter().any(|sides| sides == "[0 × 2, 1 × 2] [1 × 2, 0 × 2]"), "X shape");
    }
}
