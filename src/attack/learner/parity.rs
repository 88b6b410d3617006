//! Parities: the exclusive or of several components, each of which is noise by itself.
//!
//! Every component is a bit: whether a component with two values has the larger one, whether a
//! whole number is odd, whether another number is above its median. The Walsh–Hadamard transform of
//! the difference of both histograms of bits has the differences of all parities at once.

use serde::{Deserialize, Serialize};

use super::view::{View, complete};
use super::{Cost, Learner, Score};
use crate::attack::bins::sort;
use crate::attack::family::Attack;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::parity::{EXAMINED, MAX_BITS, PART, SIGNIFICANT};
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "parity",
    sees: "the parity of three or more components, each as a bit",
    cost: Cost::Slow,
    attacks: &[Attack::Parities],
    widths: 3..=usize::MAX,
    learn: |lesson| Parity::learn(lesson).map(Score::Parity).into_iter().collect(),
};

/// The parity of some bits: 0 or 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parity {
    bits: Vec<Bit>,
}

/// A component as a bit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Bit {
    component: usize,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// It is this value.
    Is(Cell),
    /// It is at least this number.
    AtLeast(Cell),
    /// It is an odd whole number.
    Odd,
}

impl Bit {
    #[inline]
    fn of(self, row: &[Cell]) -> bool {
        let cell = row[self.component];
        match self.kind {
            Kind::Is(value) => cell == value,
            Kind::AtLeast(low) => cell.raw() >= low.raw(),
            Kind::Odd => cell.raw().rem_euclid(2.0) == 1.0,
        }
    }

    /// The bits of a component: one if it has two values; otherwise its median, and whether it is
    /// odd if its numbers are whole.
    fn learn(lesson: Lesson, component: usize) -> Vec<Self> {
        let mut cells: Vec<Cell> =
            lesson.first_rows(EXAMINED).labelled().map(|(row, _)| row[component]).collect();
        let mut numbers: Vec<f64> = cells.iter().filter_map(|cell| cell.as_number()).collect();
        cells.sort_unstable_by_key(|cell| cell.key());
        cells.dedup();
        let bit = |kind: Kind| Self { component, kind };
        match cells.as_slice() {
            [] | [_] => Vec::new(),
            [_, second] => vec![bit(Kind::Is(*second))],
            _ if numbers.is_empty() => Vec::new(),
            _ => {
                sort(&mut numbers);
                let median = Cell::number(numbers[numbers.len() / 2]);
                let whole = numbers.iter().all(|number| number.fract() == 0.0);
                let odd = whole.then(|| bit(Kind::Odd));
                odd.into_iter().chain([bit(Kind::AtLeast(median))]).collect()
            }
        }
    }
}

impl Parity {
    /// The parity of three or more bits that differs most; None if none differs enough.
    fn learn(lesson: Lesson) -> Option<Self> {
        let mut bits: Vec<Bit> =
            (0..lesson.width()).flat_map(|component| Bit::learn(lesson, component)).collect();
        // Components with two values come first: they are made to be combined.
        bits.sort_by_key(|bit| matches!(bit.kind, Kind::AtLeast(_)));
        bits.truncate(MAX_BITS);
        if bits.len() < 3 {
            return None;
        }
        // The share of each combination of bits on D, minus that on D'.
        let mut differences = vec![0.0_f64; 1 << bits.len()];
        for (rows, sign) in [(lesson.left, 1.0), (lesson.right, -1.0)] {
            let weight = sign / rows.len().max(1) as f64;
            for row in rows {
                let set = bits.iter().enumerate();
                let combination = set.fold(0, |all, (at, bit)| all | usize::from(bit.of(row)) << at);
                differences[combination] += weight;
            }
        }
        transform(&mut differences);
        let largest = |wanted: &dyn Fn(u32) -> bool| {
            (1..differences.len())
                .filter(|mask| wanted(mask.count_ones()))
                .max_by(|a, b| differences[*a].abs().total_cmp(&differences[*b].abs()))
        };
        let best = largest(&|bits| bits > 2)?;
        let others = largest(&|bits| bits <= 2).map_or(0.0, |mask| differences[mask].abs());
        // A parity is ±1, so the mean of a side has a variance of at most 1/n.
        let error =
            (1.0 / lesson.left.len().max(1) as f64 + 1.0 / lesson.right.len().max(1) as f64).sqrt();
        let found = differences[best].abs();
        if found < SIGNIFICANT * error || found < PART * others {
            return None;
        }
        let chosen = bits.into_iter().enumerate().filter(|(at, _)| best >> at & 1 == 1);
        Some(Self { bits: chosen.map(|(_, bit)| bit).collect() })
    }
}

/// The Walsh–Hadamard transform, in place: entry `m` becomes `Σ_x v(x)·(−1)^|x & m|`.
fn transform(values: &mut [f64]) {
    let mut half = 1;
    while half < values.len() {
        for block in values.chunks_mut(2 * half) {
            let (first, second) = block.split_at_mut(half);
            for (a, b) in first.iter_mut().zip(second) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

impl View for Parity {
    fn score(&self, row: &[Cell]) -> Cell {
        let odd = self.bits.iter().fold(false, |odd, bit| odd ^ bit.of(row));
        Cell::number(f64::from(u8::from(odd)))
    }

    fn check(&self, width: usize) -> Result<(), String> {
        complete(self.bits.iter().all(|bit| bit.component < width))
    }

    fn describe(&self, names: &Symbols) -> String {
        let bits: Vec<String> = self
            .bits
            .iter()
            .map(|bit| {
                let column = names.column(bit.component);
                match bit.kind {
                    Kind::Is(value) => format!("{column} = {}", names.text(value)),
                    Kind::AtLeast(low) => format!("{column} ≥ {}", names.text(low)),
                    Kind::Odd => format!("{column} is odd"),
                }
            })
            .collect();
        format!("the parity of how many hold of: {}", bits.join(", "))
    }

    /// The bits were chosen by the labels of the training rows.
    fn is_learned(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::testing::{borrowed, number};
    use super::*;
    use crate::noise::{Generator, bernoulli, laplace};

    /// Twelve components: symbols, numbers and whole numbers. The parity of five of them tells the
    /// side in three of four rows.
    fn side(seed: u64, right: bool, shift: f64) -> Vec<Vec<Cell>> {
        let mut rng = Generator::seed_from_u64(seed);
        let [no, yes] = ["no", "yes"].map(Cell::symbol);
        (0..8000)
            .map(|_| {
                let mut bits: [bool; 12] = std::array::from_fn(|_| rng.random());
                bits[9] = bits[0] ^ bits[3] ^ bits[4] ^ bits[11] ^ (right == bernoulli(&mut rng, 0.75));
                let mut row: Vec<Cell> =
                    bits.iter().map(|bit| if *bit { yes } else { no }).collect();
                row[3] = number(2.0 * f64::from(rng.random_range(0..50_u8)) + f64::from(u8::from(bits[3])));
                row[5] = number(laplace(&mut rng, 1.0) + shift);
                row
            })
            .collect()
    }

    #[test]
    fn the_parity_of_five_of_twelve_is_found_beside_a_number_that_tells_more() {
        for shift in [0.0, 1.0] {
            let (left, right) = (side(1, false, 0.0), side(2, true, shift));
            let found = Parity::learn(Lesson::of(&borrowed(&left), &borrowed(&right)));
            let found = found.expect("a significant parity");
            let components: Vec<usize> = found.bits.iter().map(|bit| bit.component).collect();
            let mut sorted = components.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 3, 4, 9, 11], "shift {shift}");
            assert!(found.check(12).is_ok() && found.check(11).is_err());
            let odd = |rows: &[Vec<Cell>]| {
                rows.iter().map(|row| found.score(row).raw()).sum::<f64>() / rows.len() as f64
            };
            // Three of four on one side, one of four on the other; five standard errors are 0.025.
            assert!(((odd(&left) - odd(&right)).abs() - 0.5).abs() < 0.05);
        }
    }

    #[test]
    fn independent_components_have_no_parity() {
        let rows = |seed: u64, shift: f64| -> Vec<Vec<Cell>> {
            let mut rng = Generator::seed_from_u64(seed);
            (0..8000)
                .map(|_| (0..5).map(|_| number(laplace(&mut rng, 1.0) + shift)).collect())
                .collect()
        };
        let (left, right) = (rows(1, 0.0), rows(2, 1.0));
        assert_eq!(Parity::learn(Lesson::of(&borrowed(&left), &borrowed(&right))), None);
    }

    #[test]
    fn the_transform_is_its_definition() {
        let values = [0.5, -1.0, 2.0, 0.25, 3.0, 0.0, -0.5, 1.0];
        let mut fast = values;
        transform(&mut fast);
        for (mask, found) in fast.iter().enumerate() {
            let sign = |x: usize| if (x & mask).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            let exact: f64 = values.iter().enumerate().map(|(x, value)| sign(x) * value).sum();
            assert_eq!(*found, exact);
        }
    }
}
