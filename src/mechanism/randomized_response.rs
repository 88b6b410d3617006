//! Randomized response: every record is a bit, each answers the truth or a lie.
//!
//! *Claim*: keeping a bit with probability `p > ½` is `ln(p/(1−p))`-DP, exactly.
//! *Neighbours*: replace-one (one person's bit differs).
//! *Source*: Warner 1965; lecture notes "Definition of differential privacy", section 2.3.
//! *The bug*: a `keep` larger than the claim allows; 0.9 leaks ln 9.

use serde::Deserialize;

use super::{Mechanism, Universe};
use crate::cell::Cell;
use crate::noise::{self, Generator};
use crate::spec::Dataset;
use crate::spec::claim::Epsilon;

/// Every bit kept with one probability.
struct Bits {
    /// The probability of reporting 1, per record.
    one: Vec<f64>,
}

impl Bits {
    fn new(data: &Dataset, keep: f64) -> Result<Self, String> {
        let one = data
            .numbers()?
            .into_iter()
            .map(|bit| match bit {
                0.0 => Ok(1.0 - keep),
                1.0 => Ok(keep),
                other => Err(format!("the record {other} is not a bit; randomized response needs 0 or 1")),
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { one })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, one) in row.iter_mut().zip(&self.one) {
            *cell = Cell::number(f64::from(u8::from(noise::bernoulli(rng, *one))));
        }
    }
}

/// Roll a die: 1 to 4 keeps the bit, 5 and 6 flip it. ln 2-DP.
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
    const SUMMARY: &'static str = "each bit kept on 4 of 6 faces of a die, flipped otherwise (ln 2)";
    type Params = DieParams;

    fn prepare(params: &DieParams, data: &Dataset, _: &Universe) -> Result<Self, String> {
        match params.faces {
            0..=6 => Ok(Self(Bits::new(data, f64::from(params.faces) / 6.0)?)),
            faces => Err(format!("params.faces is {faces}, must be at most 6")),
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
    /// Keep with `e^ε/(1+e^ε)`.
    Epsilon(Epsilon),
    /// Keep with this probability, whatever is claimed.
    Keep(f64),
}

impl Mechanism for Generalized {
    const NAME: &'static str = "randomized-response/generalized";
    const SUMMARY: &'static str = "each bit kept with probability e^ε/(1+e^ε), or with a given one";
    type Params = GeneralizedParams;

    fn prepare(params: &GeneralizedParams, data: &Dataset, _: &Universe) -> Result<Self, String> {
        match params {
            GeneralizedParams::Epsilon(epsilon) => Ok(Self(Bits::new(data, 1.0 / (1.0 + (-epsilon.get()).exp()))?)),
            GeneralizedParams::Keep(keep) if (0.0..=1.0).contains(keep) => Ok(Self(Bits::new(data, *keep)?)),
            GeneralizedParams::Keep(keep) => Err(format!("params.keep is {keep}, must be between 0 and 1")),
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
