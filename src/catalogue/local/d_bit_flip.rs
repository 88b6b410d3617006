//! d-bit flip: a few bits of the unary encoding, at random positions, each by randomized response.
//!
//! *Claim*: ε, if a bit is kept with probability `e^(ε/2)/(e^(ε/2) + 1)`: two values differ in two
//! bits. *Neighbours*: replace-one. *Source*: Ding, Kulkarni, Yekhanin 2017. The cell of a position
//! that is not reported is ∅. *The bugs*: `budget = "whole"` keeps a bit with `e^ε/(e^ε + 1)`.
//! `positions = "with-own"` always reports the position of the true value. `background = "missing"`
//! never flips a bit that is not set. *True leakage*: ε if two or more bits are reported, ε/2 for
//! one; twice as much; infinite; infinite.

use serde::Deserialize;

use super::unary::{Budget, logistic};
use super::{Background, Randomizer, noisy_bit};
use crate::model::checked::Epsilon;
use crate::noise::{self, Generator};
use crate::output::Cell;
use crate::target::Misfit;

/// Which positions are reported.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Positions {
    /// Any: correct.
    #[default]
    Random,
    /// That of the true value and any others.
    WithOwn,
}

/// Parameters of d-bit flip.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    size: u16,
    /// d, the number of bits that are reported.
    bits: u16,
    #[serde(default)]
    budget: Budget,
    #[serde(default)]
    positions: Positions,
    #[serde(default)]
    background: Background,
}

/// d-bit flip.
pub struct DBitFlip {
    size: u16,
    bits: u16,
    keep: f64,
    positions: Positions,
    background: Background,
}

impl Randomizer for DBitFlip {
    const NAME: &'static str = "local/d-bit-flip";
    const SUMMARY: &'static str = "randomised bits of the unary encoding at random positions; bugs: budget, positions, background";
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Misfit> {
        if !(1..=params.size).contains(&params.bits) {
            return Err(Misfit::params(
                "bits",
                &format!("is {}, must be between 1 and the size, {}", params.bits, params.size),
            ));
        }
        Ok(Self {
            size: params.size,
            bits: params.bits,
            keep: logistic(params.budget.of(params.epsilon)),
            positions: params.positions,
            background: params.background,
        })
    }

    fn size(&self) -> u16 {
        self.size
    }

    #[inline]
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]) {
        let (mut wanted, mut left) = match self.positions {
            Positions::Random => (self.bits, self.size),
            Positions::WithOwn => (self.bits - 1, self.size - 1),
        };
        for (position, cell) in (0..self.size).zip(report) {
            let is_own = position == value;
            let chosen = match self.positions {
                Positions::WithOwn if is_own => true,
                // Each of the positions that are left is as likely as any other to be one of those
                // that are still wanted.
                Positions::Random | Positions::WithOwn => {
                    let chosen = noise::below(rng, left) < wanted;
                    left -= 1;
                    wanted -= u16::from(chosen);
                    chosen
                }
            };
            let one = match (is_own, self.background) {
                (true, _) => self.keep,
                (false, Background::Drawn) => 1.0 - self.keep,
                (false, Background::Missing) => 0.0,
            };
            *cell = if chosen { noisy_bit(rng, one) } else { Cell::ABSENT };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::randomizer::tests::{follows, made};
    use super::*;

    #[test]
    fn reports_follow_the_definition() {
        let (root, e) = (0.5_f64.exp(), 1_f64.exp());
        // Two of four positions: 6 choices, or 3 with a given one.
        for (params, keep, lie, choices) in [
            ("", root / (root + 1.0), 1.0 / (root + 1.0), 6.0),
            ("budget = \"whole\"", e / (e + 1.0), 1.0 / (e + 1.0), 6.0),
            ("positions = \"with-own\"", root / (root + 1.0), 1.0 / (root + 1.0), 3.0),
            ("background = \"missing\"", root / (root + 1.0), 0.0, 6.0),
        ] {
            let flip: DBitFlip = made(&format!("epsilon = 1\nsize = 4\nbits = 2\n{params}"));
            follows(&flip, 1, |report| {
                let own = if report[1] < 0.0 {
                    f64::from(u8::from(choices > 3.0))
                } else if report[1] > 0.0 {
                    keep
                } else {
                    1.0 - keep
                };
                let others = report
                    .iter()
                    .enumerate()
                    .filter(|(position, bit)| *position != 1 && **bit >= 0.0);
                own * others
                    .map(|(_, bit)| if *bit == 1.0 { lie } else { 1.0 - lie })
                    .product::<f64>()
                    / choices
            });
        }
    }
}
