//! Generalized randomized response on `size` values, also called direct encoding: the true value
//! with probability p, otherwise any other one.
//!
//! *Claim*: ε, with `p = e^ε/(e^ε + size − 1)`. *Neighbours*: replace-one. *Source*: Kairouz,
//! Bonawitz, Ramage 2016; Wang, Blocki, Li, Jha 2017. *The bugs*: `keep = "binary"` uses the p of
//! two values. `keep = "swapped"` keeps with probability 1 − p. `lie = "next"` reports the next
//! value instead of any other. *True leakage*: ε; ε + ln(size − 1); |2·ln(size − 1) − ε|; infinite
//! on more than two values.

use serde::Deserialize;

use super::Randomizer;
use crate::model::checked::Epsilon;
use crate::noise::{self, Generator};
use crate::output::Cell;
use crate::target::Misfit;

/// The probability of the true value.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// `e^ε/(e^ε + size − 1)`: correct.
    #[default]
    Sized,
    /// `e^ε/(e^ε + 1)`, whatever the size.
    Binary,
    /// The probability of any other value.
    Swapped,
}

/// What is reported instead of the true value.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Lie {
    /// Any other value: correct.
    #[default]
    Other,
    /// The next one.
    Next,
}

/// Parameters of generalized randomized response.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    size: u16,
    #[serde(default)]
    keep: Keep,
    #[serde(default)]
    lie: Lie,
}

/// Generalized randomized response.
pub struct Grr {
    size: u16,
    keep: f64,
    lie: Lie,
}

impl Grr {
    /// The response on values below `size`, which is at least 2.
    pub fn of(epsilon: Epsilon, size: u16, keep: Keep) -> Self {
        // Divided by e^ε, which may be infinite.
        let others = f64::from(size) - 1.0;
        let sized = 1.0 / (1.0 + others * (-epsilon.get()).exp());
        let keep = match keep {
            Keep::Sized => sized,
            Keep::Binary => 1.0 / (1.0 + (-epsilon.get()).exp()),
            Keep::Swapped => 1.0 - sized,
        };
        Self { size, keep, lie: Lie::Other }
    }

    /// The value that is reported.
    #[inline]
    pub fn response(&self, value: u16, rng: &mut Generator) -> u16 {
        if noise::bernoulli(rng, self.keep) {
            return value;
        }
        match self.lie {
            Lie::Other => {
                let other = noise::below(rng, self.size - 1);
                other + u16::from(other >= value)
            }
            Lie::Next => (value + 1) % self.size,
        }
    }
}

impl Randomizer for Grr {
    const NAME: &'static str = "local/grr";
    const SUMMARY: &'static str =
        "generalized randomized response on any number of values; bugs: keep, lie";
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Misfit> {
        Ok(Self { lie: params.lie, ..Self::of(params.epsilon, params.size, params.keep) })
    }

    fn size(&self) -> u16 {
        self.size
    }

    fn width(&self) -> usize {
        1
    }

    #[inline]
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]) {
        report[0] = Cell::number(self.response(value, rng).into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::randomizer::tests::{follows, made};
    use super::*;

    #[test]
    fn reports_follow_the_definition() {
        let e = 1_f64.exp();
        for value in 0..4 {
            for (bug, keep) in
                [("sized", e / (e + 3.0)), ("binary", e / (e + 1.0)), ("swapped", 3.0 / (e + 3.0))]
            {
                let grr: Grr = made(&format!("epsilon = 1\nsize = 4\nkeep = \"{bug}\""));
                follows(&grr, value, |report| {
                    if report[0] == f64::from(value) { keep } else { (1.0 - keep) / 3.0 }
                });
            }
            let next: Grr = made("epsilon = 1\nsize = 4\nlie = \"next\"");
            follows(&next, value, |report| {
                if report[0] == f64::from(value) { e / (e + 3.0) } else { 3.0 / (e + 3.0) }
            });
        }
    }

    #[test]
    fn a_large_epsilon_always_keeps() {
        let grr: Grr = made("epsilon = 800\nsize = 3");
        follows(&grr, 2, |report| f64::from(u8::from(report[0] == 2.0)));
    }
}
