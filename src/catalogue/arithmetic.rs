//! The number types that a sum can be computed with. A sensitivity is proven for real numbers;
//! computers use other numbers.
//!
//! *Claim*: one record moves a sum of records in [L, U] by at most Δ. The order of the records does
//! not matter. *Neighbours*: add-remove with Δ = `max(|L|, |U|)`, or replace-one with Δ = `U − L`.
//! *Source*: Casacuberta, Shoemate, Vadhan, Wagaman 2022, "Widespread underestimation of
//! sensitivity in differentially private libraries and how to fix it". *The bugs*: a sum in 32-bit
//! integers wraps, so one record can move it by nearly 2³². A running sum in floating point is
//! rounded after every record, and one record can change how all later ones are rounded. In double
//! precision this only takes more or finer records. *True leakage*: ε times the true move over Δ.
//! In the tests below the sum moves by 255Δ (wrapping), 257Δ (single precision) and 16Δ (double
//! precision). Another order of the records moves it by 256Δ (single precision).

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
    /// Which record the type cannot represent.
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
        Err(Misfit::Data(format!(
            "the record {value} is not a 32-bit integer; arithmetic = \"wrapping-i32\" needs 32-bit integers"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(arithmetic: Arithmetic, runs: &[(f64, usize)]) -> f64 {
        arithmetic
            .sum(runs.iter().flat_map(|(value, times)| std::iter::repeat_n(*value, *times)))
            .unwrap()
    }

    #[test]
    fn one_record_moves_a_wrapping_sum_by_255_records() {
        let record = 2_f64.powi(24);
        let moved = sum(Arithmetic::WrappingI32, &[(record, 127)])
            - sum(Arithmetic::WrappingI32, &[(record, 128)]);
        assert_eq!(moved, 255.0 * record);
        assert_eq!(
            sum(Arithmetic::F64, &[(record, 128)]) - sum(Arithmetic::F64, &[(record, 127)]),
            record
        );
        assert!(
            Arithmetic::WrappingI32
                .sum([0.5].into_iter())
                .unwrap_err()
                .to_string()
                .contains("the record 0.5")
        );
        assert!(Arithmetic::WrappingI32.sum([2_f64.powi(31)].into_iter()).is_err());
    }

    #[test]
    fn one_record_changes_how_65536_others_are_rounded() {
        // Below 2^16 the distance between singles is 2^-8, and −0.75·2^-8 is rounded to −2^-8.
        // Above, the distance is twice as large, and it is rounded to 0.
        let small = -0.75 * 2_f64.powi(-8);
        let of = |arithmetic, ones| sum(arithmetic, &[(1.0, ones), (0.5, 1), (small, 65_536)]);
        assert_eq!(
            (of(Arithmetic::F32, 65_535), of(Arithmetic::F32, 65_536)),
            (65_279.5, 65_536.5)
        );
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
    fn rounding_multiplies_the_effect_of_a_replaced_record_by_16() {
        let (low, high) = (0.5, 0.5_f64.next_up());
        let rest = [(high, 2), (low, 4), (high, 1), (low, 7), (high, 1), (low, 1)];
        let of = |first| sum(Arithmetic::F64, &[&[(first, 1)], rest.as_slice()].concat());
        assert_eq!(rest.iter().map(|(_, times)| times).sum::<usize>() + 1, 17);
        assert_eq!(of(high) - of(low), 16.0 * (high - low));
    }
}
