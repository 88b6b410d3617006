//! Hadamard response: a random coefficient of the value's Hadamard transform, as a sign that is
//! flipped with probability `1/(e^ε + 1)`.
//!
//! Value v is column v + 1 of the Hadamard matrix whose order is the least power of 2 above `size`;
//! the entry in row r is −1 if r and v + 1 have an odd number of common bits, otherwise 1. The
//! report is the row and the noisy sign. *Claim*: ε. *Neighbours*: replace-one. *Source*: Acharya,
//! Sun, Zhang 2019; Bassily et al. 2017. *The bugs*: `coefficients = 2` reports two of them, each
//! with all of ε. `row = "of-value"` takes the row of the value instead of a random one. `flip =
//! "ones"` never flips a −1. *True leakage*: ε; 2ε; infinite; infinite.

use serde::Deserialize;

use super::Randomizer;
use super::unary::logistic;
use crate::model::checked::Epsilon;
use crate::noise::{self, Generator};
use crate::output::Cell;
use crate::target::Misfit;

/// Which row is reported.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Row {
    /// Any: correct.
    #[default]
    Random,
    /// That with the number of the value.
    OfValue,
}

/// Which signs may be flipped.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Flip {
    /// Both: correct.
    #[default]
    Both,
    /// Only 1.
    Ones,
}

/// Parameters of the Hadamard response.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    size: u16,
    #[serde(default = "one")]
    coefficients: u16,
    #[serde(default)]
    row: Row,
    #[serde(default)]
    flip: Flip,
}

fn one() -> u16 {
    1
}

/// The Hadamard response.
pub struct Hadamard {
    size: u16,
    order: u16,
    keep: f64,
    row: Row,
    flip: Flip,
    coefficients: u16,
}

/// The entry of the Hadamard matrix is −1.
fn is_negative(row: u16, column: u16) -> bool {
    (row & column).count_ones() % 2 == 1
}

impl Randomizer for Hadamard {
    const NAME: &'static str = "local/hadamard";
    const SUMMARY: &'static str =
        "a random Hadamard coefficient with a noisy sign; bugs: coefficients, row, flip";
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Misfit> {
        let order = params.size.checked_add(1).and_then(u16::checked_next_power_of_two);
        let order = order.ok_or_else(|| {
            Misfit::params("size", &format!("is {}, must be less than 32768", params.size))
        })?;
        if !(1..=1000).contains(&params.coefficients) {
            let problem = format!("is {}, must be between 1 and 1000", params.coefficients);
            return Err(Misfit::params("coefficients", &problem));
        }
        Ok(Self {
            size: params.size,
            order,
            keep: logistic(params.epsilon.get()),
            row: params.row,
            flip: params.flip,
            coefficients: params.coefficients,
        })
    }

    fn size(&self) -> u16 {
        self.size
    }

    fn width(&self) -> usize {
        2 * usize::from(self.coefficients)
    }

    #[inline]
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]) {
        for coefficient in report.chunks_exact_mut(2) {
            let row = match self.row {
                Row::Random => noise::below(rng, self.order),
                Row::OfValue => value,
            };
            let negative = is_negative(row, value + 1);
            let keep = match self.flip {
                Flip::Ones if negative => 1.0,
                Flip::Both | Flip::Ones => self.keep,
            };
            let reported_negative = negative == noise::bernoulli(rng, keep);
            coefficient[0] = Cell::number(row.into());
            coefficient[1] = Cell::number(if reported_negative { -1.0 } else { 1.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::randomizer::tests::{follows, made};
    use super::*;

    /// Sylvester's construction, without any arithmetic on bits.
    fn matrix(order: usize) -> Vec<Vec<f64>> {
        let mut matrix = vec![vec![1.0]];
        while matrix.len() < order {
            let doubled = |sign: f64| {
                move |row: &Vec<f64>| {
                    row.iter().copied().chain(row.iter().map(|x| sign * x)).collect::<Vec<f64>>()
                }
            };
            matrix =
                matrix.iter().map(doubled(1.0)).chain(matrix.iter().map(doubled(-1.0))).collect();
        }
        matrix
    }

    #[test]
    fn reports_follow_the_definition() {
        let (e, matrix) = (1_f64.exp(), matrix(8));
        for value in 0..5_u16 {
            let entry = |row: f64| {
                (0..8)
                    .find(|r| *r as f64 == row)
                    .map(|r: usize| matrix[r][usize::from(value) + 1])
                    .unwrap()
            };
            let response: Hadamard = made("epsilon = 1\nsize = 5");
            follows(&response, value, |report| {
                if entry(report[0]) == report[1] {
                    e / (e + 1.0) / 8.0
                } else {
                    1.0 / (e + 1.0) / 8.0
                }
            });
            let one_sided: Hadamard = made("epsilon = 1\nsize = 5\nflip = \"ones\"");
            follows(&one_sided, value, |report| match (entry(report[0]), report[1]) {
                (1.0, 1.0) => e / (e + 1.0) / 8.0,
                (1.0, _) => 1.0 / (e + 1.0) / 8.0,
                (_, 1.0) => 0.0,
                _ => 1.0 / 8.0,
            });
        }
    }
}
