//! Local hashing: a public hash function, drawn at random, and generalized randomized response on
//! the hash of the value.
//!
//! *Claim*: ε. Two buckets are binary local hashing (BLH), `round(e^ε) + 1` buckets optimized local
//! hashing (OLH). *Neighbours*: replace-one. *Source*: Wang, Blocki, Li, Jha 2017. The report is
//! the number of the function and the bucket. *The bugs*: `keep = "binary"` uses the probability of
//! two buckets for any number of them. `function = "of-value"` draws the function from the value
//! instead of at random. *True leakage*: ε if some function separates the two values; ε +
//! ln(buckets − 1); infinite if the two values have different functions.
//!
//! Function i maps a value to a bucket by `Mix`, the 64-bit hash of this program, over i and the
//! value, modulo the number of buckets.

use serde::Deserialize;

use super::Randomizer;
use super::grr::{Grr, Keep};
use crate::model::checked::Epsilon;
use crate::noise::{self, Generator};
use crate::output::{Cell, Mix};
use crate::target::Misfit;

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Buckets {
    /// Two.
    Binary,
    /// The number with the least error, `round(e^ε) + 1`.
    Optimized,
}

/// How the hash function is chosen.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Function {
    /// At random: correct.
    #[default]
    Random,
    /// The function with the number of the value.
    OfValue,
}

/// Parameters of local hashing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    size: u16,
    buckets: Buckets,
    /// How many hash functions there are.
    #[serde(default = "sixteen")]
    functions: u16,
    #[serde(default)]
    function: Function,
    #[serde(default)]
    keep: Keep,
}

fn sixteen() -> u16 {
    16
}

/// Local hashing.
pub struct Hashing {
    size: u16,
    functions: u16,
    function: Function,
    /// The bucket of each value by each function: `bucket[function · size + value]`.
    bucket: Vec<u16>,
    response: Grr,
}

/// Enough for every audit, and `e^ε` stays a whole number of 16 bits.
const MOST_BUCKETS: u16 = 10_000;

impl Randomizer for Hashing {
    const NAME: &'static str = "local/hashing";
    const SUMMARY: &'static str =
        "a random hash of the value by randomized response, BLH or OLH; bugs: keep, function";
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Misfit> {
        let buckets = match params.buckets {
            Buckets::Binary => 2.0,
            Buckets::Optimized => params.epsilon.get().exp().round() + 1.0,
        };
        if buckets > f64::from(MOST_BUCKETS) {
            return Err(Misfit::params(
                "epsilon",
                &format!("gives {buckets} buckets, must give at most {MOST_BUCKETS}"),
            ));
        }
        if params.functions == 0 {
            return Err(Misfit::params("functions", "is 0, must be at least 1"));
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // a whole number up to MOST_BUCKETS
        let buckets = buckets as u16;
        #[allow(clippy::cast_possible_truncation)] // less than the buckets
        let hash = |function: u16, value: u16| {
            (Mix::new().word(function.into()).word(value.into()).end() % u64::from(buckets)) as u16
        };
        Ok(Self {
            size: params.size,
            functions: params.functions,
            function: params.function,
            bucket: (0..params.functions)
                .flat_map(|function| (0..params.size).map(move |value| hash(function, value)))
                .collect(),
            response: Grr::of(params.epsilon, buckets, params.keep),
        })
    }

    fn size(&self) -> u16 {
        self.size
    }

    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]) {
        let function = match self.function {
            Function::Random => noise::below(rng, self.functions),
            Function::OfValue => value % self.functions,
        };
        let bucket =
            self.bucket[usize::from(function) * usize::from(self.size) + usize::from(value)];
        report[0] = Cell::number(function.into());
        report[1] = Cell::number(self.response.response(bucket, rng).into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::randomizer::tests::{follows, made};
    use super::*;

    #[test]
    fn reports_follow_the_definition() {
        let e = 1_f64.exp();
        // e rounds to 3, so OLH has 4 buckets.
        for (params, buckets, keep) in [
            ("buckets = \"binary\"", 2.0, e / (e + 1.0)),
            ("buckets = \"optimized\"", 4.0, e / (e + 3.0)),
            ("buckets = \"optimized\"\nkeep = \"binary\"", 4.0, e / (e + 1.0)),
        ] {
            let hashing: Hashing = made(&format!("epsilon = 1\nsize = 6\nfunctions = 5\n{params}"));
            follows(&hashing, 4, |report| {
                let function =
                    (0..5_u8).find(|function| f64::from(*function) == report[0]).unwrap();
                let is_true = report[1] == f64::from(hashing.bucket[usize::from(function) * 6 + 4]);
                0.2 * if is_true { keep } else { (1.0 - keep) / (buckets - 1.0) }
            });
        }
    }

    #[test]
    fn the_function_of_a_value_shows_it() {
        let hashing: Hashing =
            made("epsilon = 1\nsize = 6\nbuckets = \"binary\"\nfunction = \"of-value\"");
        let e = 1_f64.exp();
        follows(&hashing, 4, |report| {
            let is_true = report[1] == f64::from(hashing.bucket[4 * 6 + 4]);
            f64::from(u8::from(report[0] == 4.0))
                * if is_true { e / (e + 1.0) } else { 1.0 / (e + 1.0) }
        });
    }
}
