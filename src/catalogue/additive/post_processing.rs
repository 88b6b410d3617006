//! Post-processing of a noisy answer costs nothing, unless it looks at the data again.
//!
//! *Claim*: ε. The answer plus `Lap(Δ/ε)` is ε-DP, and so is everything that is computed from it
//! alone. *Neighbours*: those under which Δ is the query's sensitivity. *Source*: post-processing
//! of the Laplace mechanism (Dwork, `McSherry`, Nissim, Smith 2006). *The bugs*: clamping the noisy
//! answer to the largest value *in the data*, and deciding by the *exact* count whether the noisy
//! count is released. *True leakage*: infinite if one record moves the limit: an output is above
//! the ceiling of the other dataset, or only one side has an answer.

use serde::Deserialize;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Finite};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// The value above which an answer is cut off.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Ceiling {
    /// The largest record.
    Data,
    /// A public number: correct.
    Public(Finite),
}

/// Parameters of a clamped answer.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampedParams {
    query: Query,
    epsilon: Epsilon,
    ceiling: Ceiling,
}

/// `min(f(D) + Lap(Δ/ε), ceiling)` on every component.
pub struct Clamped {
    values: Vec<f64>,
    scale: f64,
    ceiling: f64,
}

impl Mechanism for Clamped {
    const NAME: &'static str = "laplace/clamped";
    const SUMMARY: &'static str = "a query plus Laplace noise, cut off at a public ceiling (correct) or at the largest record";
    type Params = ClampedParams;

    fn prepare(
        params: &ClampedParams,
        data: &Dataset,
        universe: &Universe,
    ) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        let largest = || {
            data.numbers()?.into_iter().reduce(f64::max).ok_or(
                "the largest of no records is not defined; give the dataset at least one"
                    .to_owned(),
            )
        };
        let ceiling = match params.ceiling {
            Ceiling::Data => largest()?,
            Ceiling::Public(ceiling) => ceiling.get(),
        };
        Ok(Self {
            values: answers.values,
            scale: answers.sensitivity / params.epsilon.get(),
            ceiling,
        })
    }

    fn width(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, value) in row.iter_mut().zip(&self.values) {
            *cell = Cell::number((value + noise::laplace(rng, self.scale)).min(self.ceiling));
        }
    }
}

/// Which count decides whether an answer is released.
#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum DecidingCount {
    /// The exact count.
    Exact,
    /// The noisy count: correct.
    Noisy,
}

/// Parameters of a suppressed count.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuppressedParams {
    epsilon: Epsilon,
    /// Smaller counts are not released.
    least: u32,
    decides: DecidingCount,
}

/// The number of records plus `Lap(1/ε)`, or an absent cell if the count is small. *Neighbours*:
/// add-remove.
pub struct Suppressed {
    count: f64,
    scale: f64,
    least: f64,
    decides: DecidingCount,
    absent: Cell,
}

impl Mechanism for Suppressed {
    const NAME: &'static str = "laplace/suppressed-count";
    const SUMMARY: &'static str = "a noisy count that is not released when small; the noisy (correct) or the exact count decides";
    type Params = SuppressedParams;

    fn prepare(params: &SuppressedParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        Ok(Self {
            count: data.len() as f64,
            scale: 1.0 / params.epsilon.get(),
            least: params.least.into(),
            decides: params.decides,
            absent: Cell::ABSENT,
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let noisy = self.count + noise::laplace(rng, self.scale);
        let deciding = if self.decides == DecidingCount::Exact { self.count } else { noisy };
        row[0] = if deciding >= self.least { Cell::number(noisy) } else { self.absent };
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with probability
    /// at most α.
    const FALSE_ALARM: f64 = 1e-6;
    const N: u32 = 400_000;

    fn has_probability(mechanism: &impl Mechanism, event: impl Fn(Cell) -> bool, p: f64) {
        let mut rng = Generator::seed_from_u64(4);
        let mut row = [Cell::ABSENT];
        let hits = (0..N).filter(|_| {
            mechanism.run(&mut rng, &mut row);
            event(row[0])
        });
        let hits = hits.count();
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * f64::from(N))).sqrt();
        assert!(
            (hits as f64 / f64::from(N) - p).abs() <= allowed,
            "{hits} of {N}, expected {p}, α = {FALSE_ALARM}"
        );
    }

    #[test]
    fn the_ceiling_is_reached_as_often_as_the_noise_exceeds_it() {
        let clamped = Clamped { values: vec![1.0], scale: 2.0, ceiling: 1.5 };
        has_probability(&clamped, |cell| cell == Cell::number(1.5), 0.5 * (-0.25_f64).exp());
        has_probability(&clamped, |cell| cell.raw() > 1.5, 0.0);
    }

    #[test]
    fn the_largest_record_is_the_ceiling() {
        let data = Dataset::of_numbers(&[0.0, 4.0, 2.0]);
        let params = ClampedParams {
            query: Query::Count,
            epsilon: Epsilon::try_from(1.0).unwrap(),
            ceiling: Ceiling::Data,
        };
        assert_eq!(
            Clamped::prepare(&params, &data, &Universe::of(&data, &data)).unwrap().ceiling,
            4.0
        );
        let none = Dataset::of_numbers(&[]);
        assert!(Clamped::prepare(&params, &none, &Universe::of(&none, &none)).is_err());
    }

    #[test]
    fn a_count_is_released_as_often_as_the_deciding_count_is_large() {
        let suppressed = |decides, count| Suppressed {
            count,
            scale: 1.0,
            least: 5.0,
            decides,
            absent: Cell::ABSENT,
        };
        let released = |cell: Cell| cell != Cell::ABSENT;
        has_probability(&suppressed(DecidingCount::Exact, 4.0), released, 0.0);
        has_probability(&suppressed(DecidingCount::Exact, 5.0), released, 1.0);
        has_probability(&suppressed(DecidingCount::Noisy, 4.0), released, 0.5 * (-1.0_f64).exp());
        has_probability(&suppressed(DecidingCount::Noisy, 5.0), released, 0.5);
    }
}
