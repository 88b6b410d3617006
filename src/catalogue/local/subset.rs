//! Subset selection: a random set of ω values, which holds the true value more often than others.
//!
//! *Claim*: ε, with `ω = max(1, round(size/(e^ε + 1)))` and the true value in the set with
//! probability `p = ωe^ε/(ωe^ε + size − ω)`. *Neighbours*: replace-one. *Source*: Ye, Barg 2018;
//! Wang et al. 2016. *The bugs*: `include = "unweighted"` uses `p = e^ε/(e^ε + 1)`, which is right
//! only if half of the values are in the set. `others = "next"` fills the set with the values that
//! follow the true one, instead of any others. *True leakage*: a set that holds value a and not b
//! is `p(size − ω)/((1 − p)ω)` times as likely on a: ε, or `ε + ln((size − ω)/ω)`; infinite.

use serde::Deserialize;

use super::Randomizer;
use crate::model::checked::Epsilon;
use crate::noise::{self, Generator};
use crate::output::Cell;
use crate::target::Misfit;

/// The probability that the true value is in the set.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Include {
    /// Weighted by the size of the set: correct.
    #[default]
    Weighted,
    /// `e^ε/(e^ε + 1)`.
    Unweighted,
}

/// The other values of the set.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Others {
    /// Any: correct.
    #[default]
    Random,
    /// Those that follow the true value.
    Next,
}

/// Parameters of subset selection.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    size: u16,
    #[serde(default)]
    include: Include,
    #[serde(default)]
    others: Others,
}

/// A random set of values, as one cell for each: 1 if it is in the set.
pub struct Subset {
    size: u16,
    /// ω.
    members: u16,
    include: f64,
    others: Others,
}

impl Randomizer for Subset {
    const NAME: &'static str = "local/subset";
    const SUMMARY: &'static str =
        "a random set that holds the true value more often than others; bugs: include, others";
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Misfit> {
        let (odds, size) = (params.epsilon.get().exp(), f64::from(params.size));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // at most half of the size
        let members = ((size / (odds + 1.0)).round() as u16).max(1);
        let include = match params.include {
            // Divided by ωe^ε, which may be infinite.
            Include::Weighted => {
                1.0 / (1.0 + (size - f64::from(members)) / (f64::from(members) * odds))
            }
            Include::Unweighted => 1.0 / (1.0 + 1.0 / odds),
        };
        Ok(Self { size: params.size, members, include, others: params.others })
    }

    fn size(&self) -> u16 {
        self.size
    }

    #[inline]
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]) {
        let included = noise::bernoulli(rng, self.include);
        let mut wanted = self.members - u16::from(included);
        let mut left = self.size - 1;
        // From the true value on and around, so that "next" takes the first ones.
        report[usize::from(value)] = Cell::number(f64::from(u8::from(included)));
        for step in 1..self.size {
            let other = (u32::from(value) + u32::from(step)) % u32::from(self.size);
            let chosen = match self.others {
                // Each of the values that are left is as likely as any other to be one of those
                // that are still wanted.
                Others::Random => noise::below(rng, left) < wanted,
                Others::Next => wanted > 0,
            };
            left -= 1;
            wanted -= u16::from(chosen);
            report[other as usize] = Cell::number(f64::from(u8::from(chosen)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::randomizer::tests::{follows, made};
    use super::*;

    #[test]
    fn sets_follow_the_definition() {
        let odds = 0.5_f64.exp();
        // 6/(e^½ + 1) = 2.27 rounds to 2. There are C(5, 1) = 5 sets of two with a given value and
        // C(5, 2) = 10 without it.
        for (params, include) in [
            ("include = \"weighted\"", 2.0 * odds / (2.0 * odds + 4.0)),
            ("include = \"unweighted\"", odds / (odds + 1.0)),
        ] {
            let subset: Subset = made(&format!("epsilon = 0.5\nsize = 6\n{params}"));
            follows(&subset, 4, |report| {
                let is_set_of_two = report.iter().sum::<f64>() == 2.0;
                f64::from(u8::from(is_set_of_two))
                    * if report[4] == 1.0 { include / 5.0 } else { (1.0 - include) / 10.0 }
            });
        }
    }

    #[test]
    fn the_next_values_show_the_true_one() {
        let subset: Subset = made("epsilon = 0.5\nsize = 6\nothers = \"next\"");
        let include = 2.0 * 0.5_f64.exp() / (2.0 * 0.5_f64.exp() + 4.0);
        follows(&subset, 4, |report| match report {
            [0.0, 0.0, 0.0, 0.0, 1.0, 1.0] => include,
            [1.0, 0.0, 0.0, 0.0, 0.0, 1.0] => 1.0 - include,
            _ => 0.0,
        });
    }
}
