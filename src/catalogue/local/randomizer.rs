//! What one person does with a value, as a mechanism for a dataset of several people.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::model::Dataset;
use crate::noise::{self, Generator};
use crate::output::{Cell, MAX_WIDTH};
use crate::target::{Mechanism, Misfit, Universe};

/// One person's report of a value between 0 and `size() − 1`.
pub trait Randomizer: Sized + Send + Sync + 'static {
    /// The name that audit files use.
    const NAME: &'static str;
    /// One line for `dp-audit show --mechanisms`.
    const SUMMARY: &'static str;
    /// The parameters; a type that rejects unknown keys.
    type Params: DeserializeOwned;

    /// Does what depends on the parameters only.
    ///
    /// # Errors
    /// Which parameter is wrong, and what it should be.
    fn new(params: &Self::Params) -> Result<Self, Misfit>;

    /// The number of values.
    fn size(&self) -> u16;

    /// The cells of one report; one for each value, unless a randomizer says otherwise.
    fn width(&self) -> usize {
        self.size().into()
    }

    /// One draw: writes every cell of the report.
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]);
}

/// The reports of all people, one after another.
pub struct Reports<R> {
    randomizer: R,
    values: Vec<u16>,
}

impl<R: Randomizer> Mechanism for Reports<R> {
    const NAME: &'static str = R::NAME;
    const SUMMARY: &'static str = R::SUMMARY;
    type Params = R::Params;

    fn prepare(params: &R::Params, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let randomizer = R::new(params)?;
        let size = randomizer.size();
        if size < 2 {
            return Err(Misfit::params("size", &format!("is {size}, must be at least 2")));
        }
        let (people, width) = (data.len(), randomizer.width());
        if people.saturating_mul(width) > MAX_WIDTH {
            let problem = format!(
                "is {size}, which on {people} records makes an output of more than {MAX_WIDTH} cells; release less"
            );
            return Err(Misfit::params("size", &problem));
        }
        let value = |number: f64| {
            let value = (0..size).find(|value| f64::from(*value) == number);
            value.ok_or_else(|| {
                Misfit::Data(format!(
                    "the record {number} is not a whole number between 0 and {}",
                    size - 1
                ))
            })
        };
        Ok(Self {
            values: data.numbers()?.into_iter().map(value).collect::<Result<_, _>>()?,
            randomizer,
        })
    }

    fn width(&self) -> usize {
        self.values.len() * self.randomizer.width()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (value, report) in self.values.iter().zip(row.chunks_exact_mut(self.randomizer.width()))
        {
            self.randomizer.report(*value, rng, report);
        }
    }
}

/// 1 with probability `one`, otherwise 0.
#[inline]
pub fn noisy_bit(rng: &mut Generator, one: f64) -> Cell {
    Cell::number(f64::from(u8::from(noise::bernoulli(rng, one))))
}

/// What happens to the bits that are not set.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Background {
    /// They are flipped too: correct.
    #[default]
    Drawn,
    /// They stay 0, so that a reported 1 proves that the bit is set.
    Missing,
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;

    use super::*;
    use crate::catalogue::registry::read_toml;

    /// The randomizer with parameters as an audit file writes them.
    pub fn made<R: Randomizer>(params: &str) -> R {
        R::new(&read_toml(params)).unwrap()
    }

    /// Compares the frequency of every report with the probability that the definition gives it.
    ///
    /// By Hoeffding's inequality and a union bound over the r reports, some frequency is further
    /// from its probability than √(ln(2r/α)/2n) with a chance of at most α, here one in a million.
    pub fn follows<R: Randomizer>(randomizer: &R, value: u16, probability: impl Fn(&[f64]) -> f64) {
        const N: usize = 400_000;
        let mut rng = Generator::seed_from_u64(3);
        let mut seen: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
        let mut report = vec![Cell::ABSENT; randomizer.width()];
        for _ in 0..N {
            randomizer.report(value, &mut rng, &mut report);
            // A position that is not reported is −9.
            #[allow(clippy::cast_possible_truncation)] // small whole numbers
            let key = report
                .iter()
                .map(|cell| cell.as_number().map_or(-9, |number| number as i64))
                .collect();
            *seen.entry(key).or_default() += 1;
        }
        let allowed = ((2.0 * seen.len() as f64 / 1e-6).ln() / (2.0 * N as f64)).sqrt();
        let mut covered = 0.0;
        for (report, k) in &seen {
            let report: Vec<f64> = report.iter().map(|cell| *cell as f64).collect();
            let expected = probability(&report);
            covered += expected;
            let frequency = *k as f64 / N as f64;
            assert!(
                (frequency - expected).abs() < allowed,
                "{report:?} on {value}: {k} of {N}, expected {expected}, α = 1e-6"
            );
        }
        assert!(
            covered > 1.0 - allowed * seen.len() as f64,
            "the reports that occur have probability {covered} only"
        );
    }

    #[test]
    fn what_is_not_a_value_is_refused() {
        let prepare = |params: &str, record: f64| {
            let data = Dataset::of_numbers(&[record]);
            Reports::<crate::catalogue::local::grr::Grr>::prepare(
                &read_toml(params),
                &data,
                &Universe::of(&data, &data),
            )
            .map(|_| ())
            .map_err(|misfit| misfit.to_string())
        };
        assert_eq!(prepare("epsilon = 1\nsize = 3", 2.0), Ok(()));
        let refused = prepare("epsilon = 1\nsize = 3", 3.0).unwrap_err();
        assert_eq!(refused, "the record 3 is not a whole number between 0 and 2");
        assert!(prepare("epsilon = 1\nsize = 3", 0.5).is_err());
        assert_eq!(
            prepare("epsilon = 1\nsize = 1", 0.0).unwrap_err(),
            "params.size is 1, must be at least 2"
        );
    }
}
