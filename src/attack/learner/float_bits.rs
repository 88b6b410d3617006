//! What the bits of a floating-point number reveal.
//!
//! Floating-point noise is on a grid that is finer near 0, and adding the noise to a value rounds
//! to the grid of the sum. So the value decides which multiples of a power of two are possible
//! (Mironov 2012): `0 + z` is often not a multiple of 2⁻⁵³, but `1 + z` always is. This is a leak
//! of the implementation that the ideal mechanism does not have. So it is tested only if an audit
//! asks for it.

use serde::{Deserialize, Serialize};

use super::preselect::preselect;
use super::view::{View, has_cell};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::coordinate::MAX_COORDINATES;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "float-bits",
    sees: "which bits the most significant components use, and their lowest eight",
    cost: Cost::Quick,
    attacks: &[Attack::FloatBits],
    widths: 1..=usize::MAX,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let of_component = |index: usize| {
        [
            Score::LowestBit(LowestBit(index)),
            Score::BitsUsed(BitsUsed(index)),
            Score::LowBits(LowBits(index)),
        ]
    };
    let all = (0..lesson.width()).flat_map(of_component).collect();
    preselect(lesson, all, 3 * MAX_COORDINATES)
}

/// The exponent of the lowest bit of the component with this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowestBit(pub usize);

impl View for LowestBit {
    fn score(&self, row: &[Cell]) -> Cell {
        lowest_bit(row[self.0])
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.0, width)
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("the exponent of the lowest bit of {}", names.column(self.0))
    }
}

/// The exponent of the component with this index, together with the number of bits that it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BitsUsed(pub usize);

impl View for BitsUsed {
    fn score(&self, row: &[Cell]) -> Cell {
        bits_used(row[self.0])
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.0, width)
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("64 × exponent + bits used of {}", names.column(self.0))
    }
}

/// The lowest eight bits of the component with this index, as a whole number: bits that a program
/// fixes or that it uses for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LowBits(pub usize);

impl View for LowBits {
    fn score(&self, row: &[Cell]) -> Cell {
        let cell = row[self.0];
        let low = |number: f64| Cell::number((number.to_bits() & 0xff) as f64);
        cell.as_number().map_or(cell, low)
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.0, width)
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("the lowest eight bits of {}", names.column(self.0))
    }
}

/// The exponent of zero, which is a multiple of every power of two. It is larger than the exponent
/// of any other number.
const OF_ZERO: i32 = 1024;

/// The exponents of the highest and the lowest bit that is set; None for zero and infinities.
#[inline]
fn exponents(number: f64) -> Option<(i32, i32)> {
    const FRACTION: u32 = 52;
    let bits = number.abs().to_bits();
    if bits == 0 || number.is_infinite() {
        return None;
    }
    #[allow(clippy::cast_possible_truncation)] // eleven bits
    let biased = (bits >> FRACTION) as i32;
    let fraction = bits & ((1 << FRACTION) - 1);
    // A subnormal number has no hidden bit, and the exponent of the smallest normal one.
    let (significand, unit) =
        if biased == 0 { (fraction, -1074) } else { (fraction | 1 << FRACTION, biased - 1075) };
    let exponent = |bit: u32| unit + i32::try_from(bit).unwrap_or(0);
    Some((exponent(significand.ilog2()), exponent(significand.trailing_zeros())))
}

/// The exponent of the lowest bit that is set: it is at least `-k` if and only if the number is a
/// multiple of `2^-k`. Keeps symbols.
#[inline]
fn lowest_bit(cell: Cell) -> Cell {
    cell.as_number().map_or(cell, |number| {
        Cell::number(f64::from(exponents(number).map_or(OF_ZERO, |(_, lowest)| lowest)))
    })
}

/// 64 times the exponent plus the number of bits from the highest to the lowest: how fine the grid
/// is at this magnitude. Keeps symbols.
#[inline]
fn bits_used(cell: Cell) -> Cell {
    let code = |(highest, lowest): (i32, i32)| 64 * highest + (highest - lowest + 1);
    cell.as_number().map_or(cell, |number| {
        Cell::number(f64::from(exponents(number).map_or(64 * OF_ZERO, code)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowest(number: f64) -> f64 {
        lowest_bit(Cell::number(number)).raw()
    }

    fn used(number: f64) -> f64 {
        bits_used(Cell::number(number)).raw()
    }

    #[test]
    fn a_number_is_a_multiple_of_its_lowest_bit_and_of_nothing_coarser() {
        for number in [1.0, -6.0, 0.1, 1e30, -3.5e-10, 2_f64.powi(53) + 2.0] {
            // Division by a power of two is exact.
            let in_units = number / 2_f64.powf(lowest(number));
            assert_eq!(
                in_units % 2.0,
                in_units.signum(),
                "{number} is not an odd multiple of 2^{}",
                lowest(number)
            );
        }
        assert_eq!(
            (lowest(1.0), lowest(-6.0), lowest(0.75), lowest(1.0 + f64::EPSILON)),
            (0.0, 1.0, -2.0, -52.0)
        );
        assert_eq!(
            (lowest(5e-324), lowest(3.0 * 5e-324), lowest(4.0 * 5e-324)),
            (-1074.0, -1074.0, -1072.0)
        );
        assert_eq!(lowest(f64::MIN_POSITIVE), -1022.0);
    }

    #[test]
    fn bits_are_counted_from_the_highest_to_the_lowest() {
        assert_eq!(used(1.0), 1.0);
        assert_eq!(used(-6.0), 2.0 * 64.0 + 2.0);
        assert_eq!(used(1.0 + f64::EPSILON), 53.0);
        assert_eq!(used(0.75), -64.0 + 2.0);
    }

    #[test]
    fn fixed_low_bits_are_seen() {
        let low = |number: f64| LowBits(0).score(&[Cell::number(number)]).raw();
        assert_eq!((low(1.0), low(-1.0), low(1.0 + 91.0 * f64::EPSILON)), (0.0, 0.0, 91.0));
        assert_eq!(low(f64::from_bits((-3.7_f64).to_bits() & !0xff | 0x5b)), 91.0);
        assert_eq!(LowBits(0).score(&[Cell::symbol("a")]), Cell::symbol("a"));
    }

    #[test]
    fn zero_and_infinity_are_above_all_other_numbers_and_symbols_are_unchanged() {
        assert_eq!((lowest(0.0), lowest(f64::INFINITY)), (1024.0, 1024.0));
        assert!(used(0.0) > used(f64::MAX));
        let bottom = Cell::symbol("⊥");
        assert!(lowest_bit(bottom) == bottom && bits_used(bottom) == bottom);
    }
}
