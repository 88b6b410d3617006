//! Mutation and crossing: new candidates from those that look promising.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::genome::{Genome, Order};
use super::starts::sizes;
use super::values::{any, near, pick, plain};
use crate::model::{Domain, Record, Relation};
use crate::noise::Generator;

/// A random candidate.
pub fn random(domain: &Domain, relation: &Relation, distance: f64, rng: &mut Generator) -> Genome {
    let sizes = sizes(domain);
    let size = match rng.random_range(0..3) {
        0 if domain.most - domain.least < 1 << 16 => rng.random_range(domain.least..=domain.most),
        // Often a small one.
        1 => pick(&sizes[..sizes.len().div_ceil(2)], rng).copied().unwrap_or(domain.least),
        _ => pick(&sizes, rng).copied().unwrap_or(domain.least),
    };
    match relation {
        Relation::ComponentWise | Relation::SingleComponent => {
            let size = size.max(1);
            let mut value = || plain(&domain.record, rng).number().unwrap_or(0.0);
            let (a, b) = (value(), value());
            let base = match rng.random_range(0..4) {
                0 => vec![a; size],
                1 => (0..size).map(|index| if index < size / 2 { a } else { b }).collect(),
                2 => (0..size).map(|_| if rng.random() { a } else { b }).collect(),
                _ => {
                    (0..size).map(|_| plain(&domain.record, rng).number().unwrap_or(0.0)).collect()
                }
            };
            Genome::Vectors { step: step(size, relation, distance, rng), base }
        }
        _ => {
            let (a, b) = (any(&domain.record, rng), any(&domain.record, rng));
            let first = rng.random_range(0..=size);
            let structure = rng.random_range(0..4);
            let record = |index: usize, rng: &mut Generator| match structure {
                0 => a.clone(),
                1 => {
                    if index < first {
                        a.clone()
                    } else {
                        b.clone()
                    }
                }
                2 => {
                    if rng.random() {
                        a.clone()
                    } else {
                        b.clone()
                    }
                }
                _ => any(&domain.record, rng),
            };
            let mut common: Vec<Record> = (0..size).map(|index| record(index, rng)).collect();
            let extra = |records: &[Record], rng: &mut Generator| {
                let place =
                    if rng.random() { records.len() } else { rng.random_range(0..=records.len()) };
                let same = pick(records, rng).cloned().filter(|_| rng.random_range(0..3) == 0);
                Some((place, same.unwrap_or_else(|| any(&domain.record, rng))))
            };
            let order = if rng.random_range(0..8) == 0 { Order::Reversed } else { Order::Same };
            if *relation == Relation::ReplaceOne {
                common.truncate(size.saturating_sub(1));
                let left = extra(&common, rng);
                Genome::Lists {
                    right: left.as_ref().map(|(place, _)| (*place, any(&domain.record, rng))),
                    left,
                    common,
                    order,
                }
            } else {
                common.truncate(domain.most.saturating_sub(1));
                Genome::Lists { right: extra(&common, rng), left: None, common, order }
            }
        }
    }
}

fn step(size: usize, relation: &Relation, distance: f64, rng: &mut Generator) -> Vec<f64> {
    if *relation == Relation::SingleComponent {
        let (place, sign) =
            (rng.random_range(0..size), if rng.random() { distance } else { -distance });
        return (0..size).map(|index| if index == place { sign } else { 0.0 }).collect();
    }
    let part = if rng.random_range(0..4) == 0 { rng.random::<f64>() } else { 1.0 };
    (0..size).map(|_| distance * part * f64::from(rng.random_range(-1_i8..=1))).collect()
}

/// A promising candidate with one or two changes.
pub fn mutated(
    genome: &Genome,
    domain: &Domain,
    relation: &Relation,
    distance: f64,
    rng: &mut Generator,
) -> Genome {
    let mut changed = genome.clone();
    for _ in 0..=rng.random_range(0..2) {
        match &mut changed {
            Genome::Lists { common, left, right, order } => {
                mutate_lists(common, [left, right], order, domain, rng);
            }
            Genome::Vectors { base, step: steps } => match rng.random_range(0..4) {
                0 => *steps = step(base.len(), relation, distance, rng),
                1 if !base.is_empty() => {
                    let (place, value) = (
                        rng.random_range(0..base.len()),
                        plain(&domain.record, rng).number().unwrap_or(0.0),
                    );
                    base[place] = value;
                }
                2 => {
                    let shift = plain(&domain.record, rng).number().unwrap_or(0.0)
                        - base.first().copied().unwrap_or(0.0);
                    base.iter_mut().for_each(|value| *value += shift);
                }
                _ => {
                    let shift = [1.0, -1.0, 0.5, -0.5, 10.0, -10.0][rng.random_range(0..6)];
                    base.iter_mut().for_each(|value| *value += shift);
                }
            },
        }
    }
    changed
}

fn mutate_lists(
    common: &mut Vec<Record>,
    extras: [&mut Option<(usize, Record)>; 2],
    order: &mut Order,
    domain: &Domain,
    rng: &mut Generator,
) {
    let size = common.len();
    match rng.random_range(0..12) {
        0 if size > 0 => _ = common.remove(rng.random_range(0..size)),
        1 => common.insert(
            rng.random_range(0..=size),
            pick(common, rng).cloned().unwrap_or_else(|| any(&domain.record, rng)),
        ),
        2 => common.truncate(size / 2),
        3 => {
            let room = domain.most.saturating_sub(size + 1);
            let more: Vec<Record> = common.iter().take(room).cloned().collect();
            common.extend(more);
        }
        4 if size > 0 => {
            let place = rng.random_range(0..size);
            common[place] = near(&domain.record, &common[place], rng);
        }
        5 if size > 0 => {
            // All records with one value.
            let (old, new) = (common[rng.random_range(0..size)].clone(), any(&domain.record, rng));
            common
                .iter_mut()
                .filter(|record| **record == old)
                .for_each(|record| *record = new.clone());
        }
        6 if size > 1 => common.shuffle(rng),
        7 if size > 1 => {
            *order = [Order::Same, Order::Reversed, Order::Sorted][rng.random_range(0..3)];
        }
        8 if size > 0 => {
            // From one value to the other: a majority grows or shrinks.
            let (from, to) = (rng.random_range(0..size), rng.random_range(0..size));
            common[from] = common[to].clone();
        }
        9 => {
            extras.into_iter().flatten().for_each(|(place, _)| *place = rng.random_range(0..=size));
        }
        _ => {
            let mut present: Vec<&mut (usize, Record)> = extras.into_iter().flatten().collect();
            let index = rng.random_range(0..present.len().max(1));
            if let Some((_, record)) = present.get_mut(index) {
                *record = if rng.random() {
                    near(&domain.record, record, rng)
                } else {
                    any(&domain.record, rng)
                };
            }
        }
    }
}

/// What two promising candidates have in part each: the common records of one, and what differs in
/// the other.
pub fn crossed(one: &Genome, other: &Genome, rng: &mut Generator) -> Genome {
    match (one, other) {
        (Genome::Lists { common, order, .. }, Genome::Lists { common: more, left, right, .. }) => {
            let half = rng.random_range(0..3);
            let common = match half {
                0 => common.clone(),
                1 => common
                    .iter()
                    .take(common.len() / 2)
                    .chain(more.iter().skip(more.len() / 2))
                    .cloned()
                    .collect(),
                _ => {
                    common.iter().chain(more).take(common.len().max(more.len())).cloned().collect()
                }
            };
            Genome::Lists { common, left: left.clone(), right: right.clone(), order: *order }
        }
        (Genome::Vectors { base, .. }, Genome::Vectors { base: other, step })
            if base.len() == other.len() =>
        {
            let middle = rng.random();
            let base = base
                .iter()
                .zip(other)
                .map(|(a, b)| if middle { f64::midpoint(*a, *b) } else { *a });
            Genome::Vectors { base: base.collect(), step: step.clone() }
        }
        _ => one.clone(),
    }
}
