//! Unary encoding: one bit for each value, of which the bit of the true value is set; every bit is
//! then randomised.
//!
//! A set bit is reported as 1 with probability p, any other with q. Two values differ in two bits,
//! so this leaks `ln(p(1−q)/(q(1−p)))`. *Claim*: ε. Symmetric (SUE, basic one-time RAPPOR): `p =
//! e^(ε/2)/(e^(ε/2) + 1)` and `q = 1 − p`. Optimized (OUE): `p = ½` and `q = 1/(e^ε + 1)`.
//! *Neighbours*: replace-one. *Source*: Erlingsson, Pihur, Korolova 2014; Wang, Blocki, Li, Jha
//! 2017. *The bugs*: `budget = "whole"` uses ε for each bit of SUE, although two bits differ. `set
//! = "or-background"` reports a set bit as 1 also if an unset one would be, with probability `p +
//! (1 − p)q`: the vector of background bits is made first and the set bit is only ever added to it.
//! `background = "missing"` leaves unset bits 0. `plain = i` releases bit i as it is. *True
//! leakage*: ε; 2ε; the formula above with the larger p; infinite; infinite if i is one of the two
//! values. `swapped = true` exchanges p and q. This destroys the estimates, but leaks ε as before.

use serde::Deserialize;

use super::{Background, Randomizer, noisy_bit};
use crate::model::checked::Epsilon;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::Misfit;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Encoding {
    Symmetric,
    Optimized,
}

/// How much of ε a bit uses, if two values differ in two bits.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Budget {
    /// ε/2: correct.
    #[default]
    Half,
    /// ε.
    Whole,
}

impl Budget {
    /// This part of ε.
    pub fn of(self, epsilon: Epsilon) -> f64 {
        match self {
            Self::Half => epsilon.get() / 2.0,
            Self::Whole => epsilon.get(),
        }
    }
}

/// How the bit that is set is drawn.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SetBit {
    /// 1 with probability p: correct.
    #[default]
    Drawn,
    /// 1 with probability p, otherwise like a bit that is not set.
    OrBackground,
}

/// Parameters of unary encodings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    size: u16,
    encoding: Encoding,
    #[serde(default)]
    budget: Budget,
    #[serde(default)]
    swapped: bool,
    #[serde(default)]
    set: SetBit,
    #[serde(default)]
    background: Background,
    plain: Option<u16>,
}

/// A noisy unary encoding.
pub struct Unary {
    size: u16,
    /// The probability of reporting 1 for the bit that is set.
    set: f64,
    /// And for all others.
    unset: f64,
    /// A bit that is not randomised.
    plain: Option<u16>,
}

/// `e^x/(e^x + 1)`.
pub fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl Randomizer for Unary {
    const NAME: &'static str = "local/unary";
    const SUMMARY: &'static str =
        "a randomised bit for each value, SUE or OUE; bugs: budget, set, background, plain";
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Misfit> {
        let per_bit = params.budget.of(params.epsilon);
        let (p, q) = match (params.encoding, params.budget) {
            (Encoding::Symmetric, _) => (logistic(per_bit), logistic(-per_bit)),
            (Encoding::Optimized, Budget::Half) => (0.5, logistic(-params.epsilon.get())),
            (Encoding::Optimized, Budget::Whole) => {
                return Err(Misfit::params(
                    "budget",
                    "is \"whole\", but the optimized encoding does not divide ε; leave it out",
                ));
            }
        };
        let (p, q) = if params.swapped { (q, p) } else { (p, q) };
        let unset = if params.background == Background::Missing { 0.0 } else { q };
        let set = match params.set {
            SetBit::Drawn => p,
            SetBit::OrBackground => p + (1.0 - p) * unset,
        };
        match params.plain {
            Some(plain) if plain >= params.size => Err(Misfit::params(
                "plain",
                &format!("is {plain}, must be less than the size, {}", params.size),
            )),
            plain => Ok(Self { size: params.size, set, unset, plain }),
        }
    }

    fn size(&self) -> u16 {
        self.size
    }

    #[inline]
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]) {
        for (position, cell) in (0..self.size).zip(report) {
            let is_set = position == value;
            let one = match (self.plain == Some(position), is_set) {
                (true, _) => f64::from(u8::from(is_set)),
                (false, true) => self.set,
                (false, false) => self.unset,
            };
            *cell = noisy_bit(rng, one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::randomizer::tests::{follows, made};
    use super::*;

    /// The probability of a report whose bits are independent.
    fn product(report: &[f64], ones: &[f64]) -> f64 {
        report
            .iter()
            .zip(ones)
            .map(|(bit, one)| if *bit == 1.0 { *one } else { 1.0 - one })
            .product()
    }

    #[test]
    fn reports_follow_the_definition() {
        let (e, root) = (1_f64.exp(), 0.5_f64.exp());
        let q = 1.0 / (e + 1.0);
        let cases = [
            (
                "encoding = \"symmetric\"",
                [1.0 / (1.0 + root), root / (1.0 + root), 1.0 / (1.0 + root)],
            ),
            ("encoding = \"symmetric\"\nbudget = \"whole\"", [q, 1.0 - q, q]),
            ("encoding = \"optimized\"", [q, 0.5, q]),
            ("encoding = \"optimized\"\nswapped = true", [0.5, q, 0.5]),
            ("encoding = \"optimized\"\nset = \"or-background\"", [q, 0.5 + 0.5 * q, q]),
            ("encoding = \"optimized\"\nbackground = \"missing\"", [0.0, 0.5, 0.0]),
            ("encoding = \"optimized\"\nplain = 1", [q, 1.0, q]),
            ("encoding = \"optimized\"\nplain = 2", [q, 0.5, 0.0]),
        ];
        for (params, ones) in cases {
            let unary: Unary = made(&format!("epsilon = 1\nsize = 3\n{params}"));
            follows(&unary, 1, |report| product(report, &ones));
        }
    }
}
