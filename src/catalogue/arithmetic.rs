//! The numbers that a sum is computed with. A sensitivity is proven for real numbers; computers have others.
//!
//! *Claim*: one record moves a sum of records in [L, U] by at most `max(|L|, |U|)` under add-remove and by `U − L` under replace-one; the order of the
//! records does not matter.
//! *Source*: Casacuberta, Shoemate, Vadhan, Wagaman 2022, "Widespread underestimation of sensitivity in differentially private libraries and how
//! to fix it".
//! *The bugs*: a sum in 32-bit integers wraps, so that one record moves it by nearly 2³². A running sum in floating point is rounded after
//! every record, and one record can change how all later ones are rounded. In double precision that takes more or finer records, no more.

use serde::Deserialize;

use crate::target::Misfit;

/// The type of the running sum.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Double precision, in the order of the records.
    #[default]
    F64,
    /// Single precision, in the order of the records.
    F32,
    /// 32-bit integers that wrap.
    WrappingI32,
}

impl Arithmetic {
    /// The sum.
    ///
    /// # Errors
    /// Which record the type cannot hold.
    pub fn sum(self, values: impl Iterator<Item = f64>) -> Result<f64, Misfit> {
        match self {
            Self::F64 => Ok(values.sum()),
            #[allow(clippy::cast_possible_truncation)] // the rounding under audit
            Self::F32 => Ok(values.fold(0.0_f32, |sum, value| sum + value as f32).into()),
            Self::WrappingI32 => {
                let mut sum = 0_i32;
                for value in values {
                    sum = sum.wrapping_add(to_i32(value)?);
                }
                Ok(sum.into())
            }
        }
    }
}

fn to_i32(value: f64) -> Result<i32, Misfit> {
    if value.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value) {
        #[allow(clippy::cast_possible_truncation)] // just checked
        Ok(value as i32)
    } else {
        Err(Misfit::Data(format!("the record {value} is no 32-bit integer, which this sum needs")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(arithmetic: Arithmetic, runs: &[(f64, usize)]) -> f64 {
        arithmetic.sum(runs.iter().flat_map(|(value, times)| std::iter::repeat_n(*value, *times))).unwrap()
    }

    #[test]
    fn one_record_wraps_a_32_bit_sum_by_255_records() {
        let record = 2_f64.powi(24);
        let moved = sum(Arithmetic::WrappingI32, &[(record, 127)]) - sum(Arithmetic::WrappingI32, &[(record, 128)]);
        assert_eq!(moved, 255.0 * record);
        assert_eq!(sum(Arithmetic::F64, &[(record, 128)]) - sum(Arithmetic::F64, &[(record, 127)]), record);
        assert!(Arithmetic::WrappingI32.sum([0.5].into_iter()).unwrap_err().to_string().contains("the record 0.5"));
        assert!(Arithmetic::WrappingI32.sum([2_f64.powi(31)].into_iter()).is_err());
    }

    #[test]
    fn one_record_changes_how_65536_others_are_rounded() {
        // Below 2^16 singles lie 2^-8 apart and −0.75·2^-8 is rounded to −2^-8; above they lie twice as far apart and it is rounded to 0.
        let small = -0.75 * 2_f64.powi(-8);
        let of = |arithmetic, ones| sum(arithmetic, &[(1.0, ones), (0.5, 1), (small, 65_536)]);
        assert_eq!((of(Arithmetic::F32, 65_535), of(Arithmetic::F32, 65_536)), (65_279.5, 65_536.5));
        assert_eq!(of(Arithmetic::F64, 65_536) - of(Arithmetic::F64, 65_535), 1.0);
    }

    #[test]
    fn the_order_of_records_moves_a_single_precision_sum_by_256() {
        let (ones, small) = ((1.0, 65_536), (2_f64.powi(-8), 65_536));
        assert_eq!(sum(Arithmetic::F32, &[ones, small]), 65_536.0);
        assert_eq!(sum(Arithmetic::F32, &[small, ones]), 65_792.0);
        assert_eq!(sum(Arithmetic::F64, &[ones, small]), sum(Arithmetic::F64, &[small, ones]));
    }

    #[test]
    fn rounding_stretches_a_replaced_record_sixteenfold() {
        let (low, high) = (0.5, 0.5_f64.next_up());
        let rest = [(high, 2), (low, 4), (high, 1), (low, 7), (high, 1), (low, 1)];
        let of = |first| sum(Arithmetic::F64, &[&[(first, 1)], rest.as_slice()].concat());
        assert_eq!(rest.iter().map(|(_, times)| times).sum::<usize>() + 1, 17);
        assert_eq!(of(high) - of(low), 16.0 * (high - low));
    }
}
