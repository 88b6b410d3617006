//! Randomized response: every record is a bit, and each person reports the true bit or the opposite
//! one.
//!
//! *Claim*: keeping a bit with probability `p > ½` is `ln(p/(1−p))`-DP, exactly. *Neighbours*:
//! replace-one (one person's bit differs). *Source*: Warner 1965; lecture notes "Definition of
//! differential privacy", section 2.3. *The bug*: a `keep` that is larger than the claim allows, or
//! a `keep-each` with different probabilities for the two symbols. *True leakage*: of `keep = p` it
//! is `ln(p/(1−p))`; 0.9 leaks ln 9. Of `keep-each = [p, q]` for 0 and 1, a reported 1 leaks
//! `|ln(q/(1−p))|` and a reported 0 leaks `|ln(p/(1−q))|`. If a 0 is always kept, `p = 1`, a
//! reported 1 proves a 1: infinite. (Exchanging keep and flip for one symbol only, `q = 1 − p`,
//! leaks nothing at all: the report no longer depends on the bit.)

use serde::Deserialize;

use super::noisy_bit;
use crate::model::Dataset;
use crate::model::checked::Epsilon;
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// The probability of keeping a 0 and of keeping a 1.
type Keep = [f64; 2];

/// Every bit is kept with the probability for its symbol.
struct Bits {
    /// The probability of reporting 1, per record.
    one: Vec<f64>,
}

impl Bits {
    fn new(data: &Dataset, keep: Keep) -> Result<Self, Misfit> {
        let one = data
            .numbers()?
            .into_iter()
            .map(|bit| match bit {
                0.0 => Ok(1.0 - keep[0]),
                1.0 => Ok(keep[1]),
                other => Err(Misfit::Data(format!(
                    "the record {other} is not a bit; randomized response needs 0 or 1"
                ))),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { one })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, one) in row.iter_mut().zip(&self.one) {
            *cell = noisy_bit(rng, *one);
        }
    }
}

/// Roll a die: 1 to 4 keep the bit, 5 and 6 flip it. ln 2-DP.
pub struct Die(Bits);

/// Parameters of the die.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DieParams {
    /// How many of the six faces keep the bit.
    #[serde(default = "four")]
    faces: u8,
}

fn four() -> u8 {
    4
}

impl Mechanism for Die {
    const NAME: &'static str = "randomized-response/die";
    const SUMMARY: &'static str =
        "each bit kept on 4 of 6 faces of a die, flipped otherwise (ln 2)";
    type Params = DieParams;

    fn prepare(params: &DieParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        match params.faces {
            0..=6 => Ok(Self(Bits::new(data, [f64::from(params.faces) / 6.0; 2])?)),
            faces => Err(Misfit::params("faces", &format!("is {faces}, must be at most 6"))),
        }
    }

    fn width(&self) -> usize {
        self.0.one.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        self.0.run(rng, row);
    }
}

/// Keep the bit with probability `e^ε/(1+e^ε)`.
pub struct Generalized(Bits);

/// Parameters of generalized randomized response.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum GeneralizedParams {
    /// Keep with probability `e^ε/(1+e^ε)`.
    Epsilon(Epsilon),
    /// Keep with this probability. The claim is ignored.
    Keep(f64),
    /// Keep a 0 and a 1 with these probabilities.
    KeepEach(Keep),
}

impl GeneralizedParams {
    fn keep(&self) -> Result<Keep, Misfit> {
        let (key, keep) = match self {
            Self::Epsilon(epsilon) => return Ok([1.0 / (1.0 + (-epsilon.get()).exp()); 2]),
            Self::Keep(keep) => ("keep", [*keep; 2]),
            Self::KeepEach(keep) => ("keep-each", *keep),
        };
        match keep.iter().find(|keep| !(0.0..=1.0).contains(*keep)) {
            Some(keep) => Err(Misfit::params(key, &format!("is {keep}, must be between 0 and 1"))),
            None => Ok(keep),
        }
    }
}

impl Mechanism for Generalized {
    const NAME: &'static str = "randomized-response/generalized";
    const SUMMARY: &'static str = "each bit kept with probability e^ε/(1+e^ε), or with a given one";
    type Params = GeneralizedParams;

    fn prepare(params: &GeneralizedParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        Ok(Self(Bits::new(data, params.keep()?)?))
    }

    fn width(&self) -> usize {
        self.0.one.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        self.0.run(rng, row);
    }
}

/// The average of the reports of generalized randomized response, shifted and scaled so that it is
/// unbiased.
///
/// *Claim*: ε, as for the reports: the rest is post-processing. *True leakage*: ε exactly. If
/// everybody reports 1, the average reveals every report. With `E[Y] = (1 − p) + (p + q − 1)·x` for
/// a bit x, the estimate of each bit is `(Y − (1 − p)) / (p + q − 1)`.
pub struct DebiasedAverage {
    bits: Bits,
    shift: f64,
    factor: f64,
}

impl DebiasedAverage {
    /// The estimate, given the number of reported ones.
    #[inline]
    fn estimate(&self, ones: u32) -> f64 {
        (f64::from(ones) / self.bits.one.len() as f64 - self.shift) * self.factor
    }
}

impl Mechanism for DebiasedAverage {
    const NAME: &'static str = "randomized-response/debiased-average";
    const SUMMARY: &'static str = "unbiased average of bits from generalized randomized response";
    type Params = GeneralizedParams;

    fn prepare(params: &GeneralizedParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let keep = params.keep()?;
        let signal = keep[0] + keep[1] - 1.0;
        if signal == 0.0 {
            return Err(Misfit::params(
                "",
                "the reports do not depend on the bits; the probabilities of keeping a 0 and of keeping a 1 must not sum to 1",
            ));
        }
        if data.is_empty() {
            return Err(Misfit::Data(
                "the average of no records is not defined; give the dataset at least one"
                    .to_owned(),
            ));
        }
        Ok(Self { bits: Bits::new(data, keep)?, shift: 1.0 - keep[0], factor: 1.0 / signal })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let ones = self.bits.one.iter().map(|one| u32::from(noise::bernoulli(rng, *one))).sum();
        row[0] = Cell::number(self.estimate(ones));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debiased_average_is_unbiased() {
        let bits = [1.0, 0.0, 0.0, 1.0, 1.0];
        let data = Dataset::of_numbers(&bits);
        let epsilon = GeneralizedParams::Epsilon(Epsilon::try_from(1.0).unwrap());
        for params in
            [epsilon, GeneralizedParams::Keep(0.9), GeneralizedParams::KeepEach([1.0, 0.6])]
        {
            let mechanism =
                DebiasedAverage::prepare(&params, &data, &Universe::of(&data, &data)).unwrap();
            // The expectation, over all 2^5 combinations of reports.
            let mut expected = 0.0;
            for answers in 0..32_u32 {
                let probability: f64 = (0..5)
                    .map(|i| {
                        if answers >> i & 1 == 1 {
                            mechanism.bits.one[i]
                        } else {
                            1.0 - mechanism.bits.one[i]
                        }
                    })
                    .product();
                expected += probability * mechanism.estimate(answers.count_ones());
            }
            assert!((expected - 0.6).abs() < 1e-12, "{expected}");
        }
    }

    #[test]
    fn the_debiased_average_follows_the_formula_of_the_notes() {
        let data = Dataset::of_numbers(&[0.0, 1.0]);
        let mechanism = DebiasedAverage::prepare(
            &GeneralizedParams::Epsilon(Epsilon::try_from(1.0).unwrap()),
            &data,
            &Universe::of(&data, &data),
        )
        .unwrap();
        let e = 1_f64.exp();
        for (ones, average) in [(0, 0.0), (1, 0.5), (2, 1.0)] {
            let printed = (e + 1.0) / (e - 1.0) * average - 1.0 / (e - 1.0);
            assert!((mechanism.estimate(ones) - printed).abs() < 1e-12);
        }
    }

    #[test]
    fn probabilities_above_one_are_rejected() {
        assert!(
            GeneralizedParams::KeepEach([0.5, 1.5])
                .keep()
                .unwrap_err()
                .to_string()
                .contains("params.keep-each is 1.5")
        );
    }
}
