//! Smaller pairs: fewer records, values towards 0, 1 or the bounds, fewer digits, one order.

use std::cmp::Ordering;

use super::genome::{Genome, Order};
use super::values::landmarks;
use crate::model::{Domain, Kind, Record, RecordDomain};

/// The most different values whose replacement is tried one by one.
const MAX_VALUES: usize = 16;
/// The most records that are removed one by one.
const MAX_SINGLES: usize = 24;

/// All pairs that are one step smaller, those that save most first.
#[must_use]
pub fn smaller(genome: &Genome, domain: &Domain) -> Vec<Genome> {
    let mut found = match genome {
        Genome::Lists { .. } => smaller_lists(genome, domain),
        Genome::Vectors { base, step } => smaller_vectors(base, step, domain),
    };
    let now = size(genome, domain);
    found.retain(|other| size(other, domain).partial_cmp(&now) == Some(Ordering::Less));
    found
}

/// How large a pair is: records first, then how complicated they are. Every step makes it smaller,
/// so shrinking ends.
fn size(genome: &Genome, domain: &Domain) -> (usize, f64) {
    match genome {
        Genome::Lists { common, left, right, order } => {
            let extras = [left, right].into_iter().flatten();
            let weight = |record: &Record| weight(record, &domain.record);
            // A record that is not at the end is a little harder to read.
            let places: f64 = extras
                .clone()
                .map(|(place, record)| {
                    weight(record) + if *place < common.len() { 0.5 } else { 0.0 }
                })
                .sum();
            let order = if *order == Order::Same { 0.0 } else { 5.0 };
            (
                2 * common.len() + extras.count(),
                common.iter().map(weight).sum::<f64>() + places + order,
            )
        }
        Genome::Vectors { base, step } => {
            let weight = |value: &f64| weight(&Record::Number(*value), &domain.record);
            (
                base.len(),
                base.iter().map(weight).sum::<f64>() + step.iter().map(weight).sum::<f64>(),
            )
        }
    }
}

/// How complicated a value is.
fn weight(record: &Record, domain: &RecordDomain) -> f64 {
    match (record, &domain.kind) {
        (Record::Fields(fields), Kind::Table { columns }) => {
            fields.iter().zip(columns).map(|(field, (_, column))| weight(field, column)).sum()
        }
        (Record::Fields(fields), _) => fields.len() as f64,
        (Record::Missing, _) => 20.0,
        (Record::Text(text), Kind::Category { values }) => {
            let place = values.iter().position(|value| value == text);
            place.map_or(20.0, |place| place as f64 / values.len() as f64)
        }
        (Record::Text(text), _) => 1.0 + text.chars().count() as f64,
        (Record::Number(number), kind) => {
            let bounds =
                if let Kind::Number { lower, upper } | Kind::Integer { lower, upper } = kind {
                    [*lower, *upper]
                } else {
                    [0.0; 2]
                };
            number_weight(*number, bounds)
        }
    }
}

fn number_weight(number: f64, bounds: [f64; 2]) -> f64 {
    let digits = || format!("{:e}", number.abs()).split('e').next().map_or(0, str::len) as f64;
    match number {
        _ if number.is_nan() => 30.0,
        _ if number.is_infinite() => 29.0,
        0.0 if number.is_sign_negative() => 25.0,
        0.0 => 0.0,
        1.0 => 1.0,
        -1.0 => 1.5,
        _ if number.is_subnormal() => 28.0,
        _ if bounds.contains(&number) => 2.0,
        _ if number.fract() == 0.0 && number.abs() < 1e6 => {
            2.5 + number.abs().log10() / 2.0 + digits() / 8.0
        }
        _ => 8.0 + digits() + number.abs().log10().abs() / 100.0,
    }
}

/// Simpler values than this one, the simplest first.
fn simpler(record: &Record, domain: &RecordDomain) -> Vec<Record> {
    let mut found = match (record, &domain.kind) {
        (Record::Fields(fields), Kind::Table { columns }) => {
            let one = |index: usize, value: Record| {
                let mut fields = fields.clone();
                fields[index] = value;
                Record::Fields(fields)
            };
            let of_field = |(index, field): (usize, &Record)| {
                let values = columns
                    .get(index)
                    .map(|(_, column)| simpler(field, column))
                    .unwrap_or_default();
                values.into_iter().map(|value| one(index, value)).collect::<Vec<_>>()
            };
            fields.iter().enumerate().flat_map(of_field).collect()
        }
        (Record::Number(number), Kind::Number { .. } | Kind::Integer { .. }) => {
            let rounded =
                |digits: usize| format!("{number:.digits$e}").parse::<f64>().unwrap_or(*number);
            let numbers = [
                number.trunc(),
                rounded(0),
                rounded(1),
                rounded(3),
                (number / 2.0).trunc(),
                number - number.signum(),
            ];
            landmarks(domain).into_iter().chain(numbers.into_iter().map(Record::Number)).collect()
        }
        (Record::Text(text), Kind::Text { .. }) => {
            let half: String = text.chars().take(text.chars().count() / 2).collect();
            landmarks(domain).into_iter().chain([Record::Text(half)]).collect()
        }
        _ => landmarks(domain),
    };
    let now = weight(record, domain);
    found.retain(|value| weight(value, domain) < now && domain.has(value));
    found.sort_by(|one, other| weight(one, domain).total_cmp(&weight(other, domain)));
    found.dedup();
    found
}

fn smaller_lists(genome: &Genome, domain: &Domain) -> Vec<Genome> {
    let Genome::Lists { common, left, right, order } = genome else { return Vec::new() };
    let fits = |extra: &Option<(usize, Record)>, size: usize| {
        extra.as_ref().map(|(place, record)| ((*place).min(size), record.clone()))
    };
    let with = |common: Vec<Record>| {
        let size = common.len();
        Genome::Lists { left: fits(left, size), right: fits(right, size), common, order: *order }
    };
    let mut found: Vec<Genome> =
        removals(common.len()).into_iter().map(|cut| with(without(common, &cut))).collect();
    let mut values: Vec<&Record> = Vec::new();
    common.iter().for_each(|record| {
        if values.len() < MAX_VALUES && !values.contains(&record) {
            values.push(record);
        }
    });
    // A common record becomes what only one side has, where it is.
    for value in &values {
        let place = |records: &[Record]| {
            records.iter().position(|record| record == *value).unwrap_or_default()
        };
        let first = place(common);
        let fewer = without(common, &(first..first + 1));
        let size = fewer.len();
        let with =
            |left, right| Genome::Lists { common: fewer.clone(), left, right, order: *order };
        let own = |extra: &Option<(usize, Record)>, place: usize| {
            extra.as_ref().map(|_| (place, (*value).clone()))
        };
        found.push(with(own(left, first), fits(right, size)));
        found.push(with(fits(left, size), own(right, place(&order.apply(common)))));
    }
    if *order != Order::Same {
        found.push(Genome::Lists {
            common: common.clone(),
            left: left.clone(),
            right: right.clone(),
            order: Order::Same,
        });
    }
    // All records with one value, then only the extra ones.
    for value in &values {
        for simple in simpler(value, &domain.record) {
            let replaced =
                |record: &Record| if record == *value { simple.clone() } else { record.clone() };
            let extra = |extra: &Option<(usize, Record)>| {
                extra.as_ref().map(|(place, record)| (*place, replaced(record)))
            };
            found.push(Genome::Lists {
                common: common.iter().map(replaced).collect(),
                left: extra(left),
                right: extra(right),
                order: *order,
            });
            found.push(with(common.iter().map(replaced).collect()));
        }
    }
    for is_left in [true, false] {
        let Some((place, record)) = (if is_left { left } else { right }) else { continue };
        let end = (common.len(), record.clone());
        let changed =
            simpler(record, &domain.record).into_iter().map(|record| (*place, record)).chain([end]);
        for extra in changed {
            let (left, right) =
                if is_left { (Some(extra), right.clone()) } else { (left.clone(), Some(extra)) };
            found.push(Genome::Lists { common: common.clone(), left, right, order: *order });
        }
    }
    // One record at a time, where there are few.
    if common.len() <= MAX_SINGLES {
        for index in 0..common.len() {
            for simple in simpler(&common[index], &domain.record) {
                let mut common = common.clone();
                common[index] = simple;
                found.push(with(common));
            }
        }
    }
    found
}

fn smaller_vectors(base: &[f64], step: &[f64], domain: &Domain) -> Vec<Genome> {
    let mut found: Vec<Genome> = removals(base.len())
        .into_iter()
        .filter(|cut| cut.len() < base.len())
        .map(|cut| Genome::Vectors { base: without(base, &cut), step: without(step, &cut) })
        .collect();
    let of = |base: Vec<f64>, step: Vec<f64>| Genome::Vectors { base, step };
    // A component that does not change, all of them first.
    for index in 0..step.len().min(MAX_SINGLES) {
        let mut one = step.to_vec();
        one[index] = 0.0;
        found.push(of(base.to_vec(), one));
    }
    let simple = |value: f64| {
        let values = simpler(&Record::Number(value), &domain.record);
        values.into_iter().filter_map(|record| record.number()).collect::<Vec<_>>()
    };
    for index in 0..base.len().min(MAX_SINGLES) {
        for value in simple(base[index]) {
            let shift = value - base[index];
            found.push(of(base.iter().map(|other| other + shift).collect(), step.to_vec()));
            found.push(of(
                base.iter()
                    .map(|other| if *other == base[index] { value } else { *other })
                    .collect(),
                step.to_vec(),
            ));
            let mut one = base.to_vec();
            one[index] = value;
            found.push(of(one, step.to_vec()));
        }
    }
    found
}

/// Ranges of indices that may be left out: all, halves, quarters, …, single ones.
fn removals(length: usize) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut part = length;
    while part > 0 {
        let starts = (0..length).step_by(part).take(2 * MAX_SINGLES);
        found.extend(starts.map(|start| start..(start + part).min(length)));
        // Two at a time too: some pairs stay what they are only if an even number of records goes.
        part = if part == 3 { 2 } else { part / 2 };
    }
    found
}

fn without<T: Clone>(items: &[T], cut: &std::ops::Range<usize>) -> Vec<T> {
    items
        .iter()
        .enumerate()
        .filter(|(index, _)| !cut.contains(index))
        .map(|(_, item)| item.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Dataset;

    fn domain() -> Domain {
        Domain {
            record: RecordDomain::of(Kind::Number { lower: 0.0, upper: 100.0 }),
            least: 0,
            most: 50,
            ordered: false,
        }
    }

    fn numbers(values: &[f64]) -> Vec<Record> {
        values.iter().copied().map(Record::Number).collect()
    }

    /// Shrinks while a property holds.
    fn least(mut genome: Genome, holds: impl Fn(&Genome) -> bool) -> String {
        assert!(holds(&genome));
        while let Some(next) = smaller(&genome, &domain()).into_iter().find(|genome| holds(genome))
        {
            genome = next;
        }
        let (left, right) = genome.sides();
        format!("{left} {right}")
    }

    #[test]
    fn shrinking_ends_at_the_least_pair_with_the_property() {
        let genome = Genome::Lists {
            common: numbers(&[3.25, 71.0, 8.5, 100.0, 17.0, 5.0]),
            left: None,
            right: Some((2, Record::Number(f64::NAN))),
            order: Order::Reversed,
        };
        assert_eq!(least(genome.clone(), |_| true), "[] [0]");
        let has_nan = |genome: &Genome| {
            genome.sides().1.records().iter().any(|record| record.to_string() == "nan")
        };
        assert_eq!(least(genome.clone(), has_nan), "[] [nan]");
        let sum = |genome: &Genome| {
            genome.sides().0.records().iter().filter_map(Record::number).sum::<f64>() >= 150.0
        };
        assert_eq!(least(genome.clone(), sum), "[100 × 2] [100 × 2, 0]");
        let odd = |genome: &Genome| genome.sides().0.len() % 2 == 1;
        assert_eq!(
            least(
                Genome::Lists {
                    common: numbers(&[7.0; 5]),
                    left: None,
                    right: Some((0, Record::Number(3.0))),
                    order: Order::Same
                },
                odd
            ),
            "[0] [0 × 2]"
        );
    }

    #[test]
    fn what_differs_takes_the_place_of_a_common_record() {
        // The first two records of each side differ by 2: that needs three common ones and one
        // more.
        let genome = Genome::Lists {
            common: numbers(&[0.0, 0.0, 1.0, 1.0]),
            left: None,
            right: Some((4, Record::Number(0.0))),
            order: Order::Reversed,
        };
        let first_two =
            |side: &Dataset| side.records().iter().take(2).filter_map(Record::number).sum::<f64>();
        let far = |genome: &Genome| {
            let (left, right) = genome.sides();
            (first_two(&left) - first_two(&right)).abs() >= 2.0
        };
        assert_eq!(least(genome, far), "[0 × 2, 1] [1 × 2, 0 × 2]");
    }

    #[test]
    fn vectors_lose_components_and_steps() {
        let genome =
            Genome::Vectors { base: vec![7.0, 8.0, 9.0, 10.0], step: vec![1.0, -1.0, 1.0, 1.0] };
        let two_up = |genome: &Genome| matches!(genome, Genome::Vectors { step, .. } if step.iter().filter(|step| **step > 0.0).count() >= 2);
        assert_eq!(least(genome, two_up), "[0 × 2] [1 × 2]");
    }
}
