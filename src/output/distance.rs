//! How far apart two outputs are, exactly.
//!
//! Finite floating-point numbers are whole multiples of the smallest one, so sums of their
//! differences are computed with whole numbers. A transformation that exceeds its claim by one
//! rounding error is caught, and one that does not is never blamed for ours.

use num_bigint::BigInt;

use super::Cell;
use crate::model::Metric;

/// The distance of two outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// The distance in units, or its square; `None` if the outputs are infinitely far apart.
    exact: Option<BigInt>,
    squared: bool,
    /// The same up to rounding errors, and not squared.
    near: f64,
}

impl Distance {
    /// The distance of two outputs. In `l1`, `l2` and `linf`, a finite number is infinitely far
    /// from everything else: from an infinity, a NaN, a text, or nothing where only one output has
    /// a component.
    ///
    /// # Errors
    /// In the same metrics, when two components differ and neither is a number: the first such
    /// component.
    pub fn between(metric: Metric, left: &[Cell], right: &[Cell]) -> Result<Self, usize> {
        let count = |records: usize| Self {
            exact: units(records as f64),
            squared: false,
            near: records as f64,
        };
        Ok(match metric {
            Metric::L1 | Metric::L2 | Metric::Linf => of_numbers(metric, left, right)?,
            Metric::Hamming => {
                count(cells(left, right).filter(|(left, right)| left != right).count())
            }
            Metric::Symmetric => count(symmetric(present(left), present(right))),
            Metric::InsertDelete => count(insert_delete(&present(left), &present(right))),
        })
    }

    /// Whether it is greater than this.
    #[must_use]
    pub fn exceeds(&self, value: f64) -> bool {
        let Some(exact) = &self.exact else { return value < f64::INFINITY };
        let Some(value) = units(value) else { return value < 0.0 };
        if self.squared { *exact > &value * &value } else { *exact > value }
    }

    /// The largest number that is not greater than the distance.
    #[must_use]
    pub fn rounded_down(&self) -> f64 {
        if self.exact.is_none() {
            return f64::INFINITY;
        }
        // The approximation is at most a few rounding errors away.
        let mut value = self.near.min(f64::MAX);
        while self.is_below(value) {
            value = value.next_down();
        }
        while value < f64::MAX && !self.is_below(value.next_up()) {
            value = value.next_up();
        }
        value
    }

    /// Whether it is less than this, which is not negative.
    fn is_below(&self, value: f64) -> bool {
        let (Some(exact), Some(value)) = (&self.exact, units(value)) else { return false };
        if self.squared { *exact < &value * &value } else { *exact < value }
    }
}

/// A finite number in units of 2⁻¹⁰⁷⁴, the smallest positive number.
fn units(number: f64) -> Option<BigInt> {
    let bits = number.abs().to_bits();
    let (exponent, digits) = (bits >> 52, bits & ((1 << 52) - 1));
    let size = match exponent {
        0 => BigInt::from(digits),
        1..0x7ff => BigInt::from(digits | 1 << 52) << (exponent - 1),
        _ => return None,
    };
    Some(if number < 0.0 { -size } else { size })
}

/// Components side by side. What only one output has is absent from the other.
fn cells<'a>(left: &'a [Cell], right: &'a [Cell]) -> impl Iterator<Item = (Cell, Cell)> + 'a {
    let at = |row: &[Cell], index: usize| row.get(index).copied().unwrap_or(Cell::ABSENT);
    (0..left.len().max(right.len())).map(move |index| (at(left, index), at(right, index)))
}

/// The components that are there: an output may be a list of any length.
fn present(row: &[Cell]) -> Vec<Cell> {
    row.iter().copied().filter(|cell| *cell != Cell::ABSENT).collect()
}

/// A number as a mechanism gave it: in cells, −0 is the negative number closest to zero.
fn number(cell: Cell) -> Option<f64> {
    cell.as_number().map(|number| if number == -f64::from_bits(1) { 0.0 } else { number })
}

fn of_numbers(metric: Metric, left: &[Cell], right: &[Cell]) -> Result<Distance, usize> {
    let is_symbol = |cell: Cell| cell.as_number().is_none();
    if let Some(index) = cells(left, right)
        .position(|(left, right)| left != right && is_symbol(left) && is_symbol(right))
    {
        return Err(index);
    }
    let squared = metric == Metric::L2;
    let mut distance = Distance { exact: units(0.0), squared, near: 0.0 };
    for (left, right) in cells(left, right).filter(|(left, right)| left != right) {
        let numbers = number(left).zip(number(right));
        let difference = numbers
            .and_then(|(left, right)| Some((units(left)? - units(right)?, (left - right).abs())));
        let (Some(sum), Some((difference, near))) = (distance.exact, difference) else {
            return Ok(Distance { exact: None, squared, near: f64::INFINITY });
        };
        let size = BigInt::from(difference.into_parts().1);
        let (exact, near) = match metric {
            Metric::L2 => (sum + &size * &size, distance.near.hypot(near)),
            Metric::Linf => (sum.max(size), distance.near.max(near)),
            _ => (sum + size, distance.near + near),
        };
        distance = Distance { exact: Some(exact), squared, near };
    }
    Ok(distance)
}

/// The number of records that only one of two multisets has.
fn symmetric(mut left: Vec<Cell>, mut right: Vec<Cell>) -> usize {
    left.sort_unstable_by_key(|cell| cell.key());
    right.sort_unstable_by_key(|cell| cell.key());
    // In sorted lists, the longest common part is the common multiset.
    insert_delete(&left, &right)
}

/// The number of insertions and deletions that turn one list into the other: what is not in their
/// longest common subsequence.
fn insert_delete(left: &[Cell], right: &[Cell]) -> usize {
    // best[j]: the longest common subsequence of what was read of `left` and the first j of
    // `right`.
    let mut best = vec![0; right.len() + 1];
    for l in left {
        let mut diagonal = 0;
        for (j, r) in right.iter().enumerate() {
            let above = best[j + 1];
            best[j + 1] = if l == r { diagonal + 1 } else { above.max(best[j]) };
            diagonal = above;
        }
    }
    left.len() + right.len() - 2 * best[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(numbers: &[f64]) -> Vec<Cell> {
        numbers.iter().map(|number| Cell::number(*number)).collect()
    }

    fn between(metric: Metric, left: &[f64], right: &[f64]) -> Distance {
        Distance::between(metric, &row(left), &row(right)).unwrap()
    }

    #[test]
    fn distances_of_small_vectors() {
        let (left, right) = ([1.0, 5.0, 2.0], [4.0, 1.0, 2.0]);
        for (metric, expected) in [
            (Metric::L1, 7.0),
            (Metric::L2, 5.0),
            (Metric::Linf, 4.0),
            (Metric::Hamming, 2.0),
            (Metric::Symmetric, 2.0),
        ] {
            let found = between(metric, &left, &right);
            assert_eq!(found.rounded_down(), expected, "{metric}");
            assert!(!found.exceeds(expected) && found.exceeds(expected.next_down()), "{metric}");
            assert_eq!(between(metric, &left, &left).rounded_down(), 0.0);
        }
    }

    #[test]
    fn units_are_exact() {
        assert_eq!(units(f64::from_bits(1)), Some(BigInt::from(1)));
        assert_eq!(units(-0.0), Some(BigInt::ZERO));
        assert_eq!(units(-3.0), Some(BigInt::from(-3) << 1074));
        assert_eq!(units(f64::MIN_POSITIVE), Some(BigInt::from(1) << 52));
        assert_eq!(units(f64::MAX), Some((BigInt::from(1) << 2098) - (BigInt::from(1) << 2045)));
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(units(bad), None);
        }
    }

    #[test]
    fn roots_are_rounded_down_and_compared_exactly() {
        let two = between(Metric::L2, &[0.0, 0.0], &[1.0, 1.0]);
        let root = two.rounded_down();
        assert!(root * root < 2.0 + 1e-15 && two.exceeds(root) && !two.exceeds(root.next_up()));
    }

    #[test]
    fn rounding_errors_of_our_own_neither_hide_nor_make_an_excess() {
        // 0.3 and 0.1 as doubles differ by less than the double 0.2, although their rounded
        // difference is less still.
        let fifth = between(Metric::L1, &[0.3], &[0.1]);
        let exact = units(0.3).unwrap() - units(0.1).unwrap();
        assert_eq!(fifth.exceeds(0.2), exact > units(0.2).unwrap());
        // Ten millionths beside a large number: a plain sum would lose them.
        let tiny = between(Metric::L1, &[1e16, 0.5, 0.5], &[0.0, 0.0, 0.0]);
        assert!(tiny.exceeds(1e16) && !tiny.exceeds(1e16 + 2.0));
        assert_eq!(tiny.rounded_down(), 1e16);
        let largest = between(Metric::L1, &[f64::MAX], &[f64::MIN]);
        assert!(largest.exceeds(f64::MAX));
        assert_eq!(largest.rounded_down(), f64::MAX);
    }

    #[test]
    fn what_is_not_a_number_is_infinitely_far_away() {
        for bad in [f64::NAN, f64::INFINITY] {
            for metric in [Metric::L1, Metric::L2, Metric::Linf] {
                assert_eq!(between(metric, &[bad], &[1.0]).rounded_down(), f64::INFINITY);
                assert!(between(metric, &[bad], &[1.0]).exceeds(f64::MAX));
                assert_eq!(between(metric, &[bad], &[bad]).rounded_down(), 0.0);
            }
            assert_eq!(between(Metric::Hamming, &[bad], &[1.0]).rounded_down(), 1.0);
        }
        assert_eq!(
            between(Metric::L1, &[1.0, 2.0], &[1.0]).rounded_down(),
            f64::INFINITY,
            "a component that only one has"
        );
        let (left, right) =
            ([Cell::number(0.0), Cell::symbol("a")], [Cell::number(1.0), Cell::symbol("b")]);
        assert_eq!(
            Distance::between(Metric::L1, &left, &right),
            Err(1),
            "texts have no l1 distance"
        );
        assert_eq!(Distance::between(Metric::Hamming, &left, &right).unwrap().rounded_down(), 2.0);
        assert_eq!(
            between(Metric::L1, &[-0.0], &[0.0]).rounded_down(),
            0.0,
            "an attacker sees the sign, but it has no size"
        );
    }

    #[test]
    fn lists_differ_by_insertions_and_deletions_and_multisets_do_not_mind_the_order() {
        let steps =
            |metric, left: &[f64], right: &[f64]| between(metric, left, right).rounded_down();
        assert_eq!(steps(Metric::InsertDelete, &[1.0, 2.0, 3.0], &[2.0, 3.0]), 1.0);
        assert_eq!(steps(Metric::InsertDelete, &[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), 4.0);
        assert_eq!(steps(Metric::Symmetric, &[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), 0.0);
        assert_eq!(steps(Metric::Symmetric, &[1.0, 1.0, 2.0], &[1.0, 3.0]), 3.0);
        let padded = [Cell::number(1.0), Cell::ABSENT];
        assert_eq!(
            Distance::between(Metric::Symmetric, &padded, &row(&[1.0])).unwrap().rounded_down(),
            0.0
        );
    }
}
