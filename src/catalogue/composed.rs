//! Several independent releases of one mechanism, on the same data, as one output.
//!
//! *Claim*: that of the composition. k releases of ε-DP are k·ε-DP, k of μ-GDP are √k·μ-GDP, k of
//! ρ-zCDP are k·ρ-zCDP, and k of (α, τ)-Rényi-DP are (α, k·τ)-Rényi-DP. For other mechanisms a
//! numerical accountant gives the privacy profile. *Neighbours*: those of the mechanism. *Source*:
//! Dwork, Rothblum, Vadhan 2010 (advanced composition); Dong, Roth, Su 2022, theorem 3.2 and
//! corollary 3.3; Bun, Steinke 2016; Mironov 2017. *The bug*, in the claim: that of a single
//! release. *True leakage*: if the single release sits on its claim in μ, ρ or τ, so does the
//! composition.

use std::num::NonZeroUsize;

use serde::Deserialize;

use super::registry::{find, read_params};
use crate::model::{Dataset, Params, Side};
use crate::output::{Cell, MAX_WIDTH, Rows, Symbols};
use crate::target::{Misfit, PrepareError, StreamSeed, Target, TargetError};

/// The name that audit files use.
pub const NAME: &str = "composed";

/// One line for `dp-audit show --mechanisms`.
pub const SUMMARY: &str = "several independent releases of another mechanism, as one output";

/// Parameters of a composition.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComposedParams {
    /// How often the mechanism is run.
    times: NonZeroUsize,
    /// A mechanism of the catalogue.
    mechanism: String,
    /// Its parameters.
    #[serde(default)]
    params: Params,
}

/// A target whose outputs are several outputs of another one.
struct Composed {
    single: Box<dyn Target>,
    times: usize,
}

/// Prepares a composition for two datasets.
///
/// # Errors
/// When the mechanism is not known, its parameters are wrong, or the data does not fit it.
pub fn prepare(
    params: &Params,
    left: &Dataset,
    right: &Dataset,
) -> Result<Box<dyn Target>, PrepareError> {
    let params: ComposedParams = read_params(params).map_err(|misfit| misfit.on(None))?;
    let wrong = |key: &str, problem: &str| Err(Misfit::params(key, problem).on(None));
    if params.times.get() > MAX_WIDTH {
        return wrong(
            "times",
            &format!(
                "is {}, must be at most {MAX_WIDTH}, the largest number of cells of an output",
                params.times
            ),
        );
    }
    let Some(registered) = find(&params.mechanism) else {
        let name = &params.mechanism;
        return wrong(
            "mechanism",
            &format!(
                "is \"{name}\", which is not a mechanism of the catalogue; `dp-audit show --mechanisms` lists them"
            ),
        );
    };
    match registered.prepare(&params.params, left, right) {
        Ok(single) => Ok(Box::new(Composed { single, times: params.times.get() })),
        // The parameters are one level deeper in the file.
        Err(PrepareError::Params { key, problem }) => {
            Err(PrepareError::Params { key: format!("params.{key}"), problem })
        }
        Err(error) => Err(error),
    }
}

impl Target for Composed {
    fn open(&self) -> Result<usize, TargetError> {
        let width = self.single.open()?.saturating_mul(self.times);
        if width > MAX_WIDTH { Err(TargetError::TooWide { width }) } else { Ok(width) }
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let first = seed.place().first * self.times as u64;
        // Releases that do not make a whole output yet.
        let mut waiting: Vec<Cell> = Vec::new();
        let mut outputs: Option<Rows> = None;
        self.single.draw(side, count * self.times, seed.after(first), &mut |releases| {
            let width = releases.width() * self.times;
            waiting.extend_from_slice(releases.cells());
            let outputs = outputs.get_or_insert_with(|| Rows::new(width));
            outputs.resize(0);
            waiting.chunks_exact(width).for_each(|row| outputs.push(row));
            if !outputs.is_empty() {
                waiting.drain(..outputs.len() * width);
                sink(outputs);
            }
        })
    }

    fn symbols(&self) -> Symbols {
        let symbols = self.single.symbols();
        match self.single.open() {
            Ok(width) if width > 1 => {
                let columns =
                    (1..=self.times).flat_map(|time| (0..width).map(move |index| (time, index)));
                let columns = columns
                    .map(|(time, index)| format!("{} of release {time}", symbols.column(index)))
                    .collect();
                symbols.with_columns(columns)
            }
            _ => symbols,
        }
    }

    fn reproducible(&self) -> bool {
        self.single.reproducible()
    }

    fn needs_places(&self) -> bool {
        self.single.needs_places()
    }

    fn note(&self) -> Option<String> {
        self.single.note()
    }

    fn close(&self) {
        self.single.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{PairStream, Phase};

    fn prepared(text: &str) -> Result<Box<dyn Target>, String> {
        let data = Dataset::of_numbers(&[3.0, 4.0]);
        prepare(&toml::from_str(text).unwrap(), &data, &data).map_err(|error| error.to_string())
    }

    fn cells(target: &dyn Target, count: usize) -> Vec<Cell> {
        let mut found = Vec::new();
        let seed = PairStream::new(1, "composed", "").side(Phase::Explore, 0, Side::Left);
        target
            .draw(Side::Left, count, seed, &mut |rows| found.extend_from_slice(rows.cells()))
            .unwrap();
        found
    }

    #[test]
    fn an_output_is_several_releases_in_a_row() {
        // Chunks of the single mechanism hold 1,024 releases: 3 does not divide them, 2,000 is more
        // than one chunk.
        let inner =
            "mechanism = 'gaussian'\nparams = { query = 'values', calibration = { mu = 1.0 } }";
        for (times, count) in [(1, 5), (3, 1000), (2000, 3)] {
            let composed = prepared(&format!("times = {times}\n{inner}")).unwrap();
            assert_eq!(composed.open(), Ok(2 * times));
            let found = cells(composed.as_ref(), count);
            assert_eq!(found.len(), 2 * times * count);
            let single = find("gaussian").unwrap();
            let data = Dataset::of_numbers(&[3.0, 4.0]);
            let params = toml::from_str("query = 'values'\ncalibration = { mu = 1.0 }").unwrap();
            assert_eq!(
                found,
                cells(single.prepare(&params, &data, &data).unwrap().as_ref(), times * count)
            );
        }
    }

    #[test]
    fn columns_say_which_release_they_belong_to() {
        let laplace = |query: &str| {
            prepared(&format!(
                "times = 2\nmechanism = 'laplace'\nparams = {{ query = '{query}', epsilon = 1.0 }}"
            ))
            .unwrap()
        };
        assert_eq!(laplace("values").symbols().column(3), "y[2] of release 2");
        assert_eq!(laplace("count").symbols().column(1), "y[2]");
    }

    #[test]
    fn compositions_can_be_composed() {
        let inner = "mechanism = 'laplace', params = { query = 'count', epsilon = 1.0 }";
        let nested = prepared(&format!(
            "times = 2\nmechanism = 'composed'\nparams = {{ times = 3, {inner} }}"
        ))
        .unwrap();
        assert_eq!(nested.open(), Ok(6));
    }

    #[test]
    fn bad_parameters_are_named_where_they_are() {
        let problem = |text: &str| prepared(text).err().unwrap();
        assert_eq!(
            problem(
                "times = 2\nmechanism = 'laplace'\nparams = { query = 'count', epsilon = -1.0 }"
            ),
            "params.params.epsilon is -1, must be positive and finite"
        );
        assert!(problem("times = 2\nmechanism = 'command'").starts_with(
            "params.mechanism is \"command\", which is not a mechanism of the catalogue"
        ));
        assert!(
            problem("times = 200_000\nmechanism = 'laplace'")
                .starts_with("params.times is 200000, must be at most 100000")
        );
        assert!(problem("times = 0\nmechanism = 'laplace'").starts_with("params.times"));
        let wide = prepared(
            "times = 50_001\nmechanism = 'laplace'\nparams = { query = 'values', epsilon = 1.0 }",
        )
        .unwrap();
        assert_eq!(wide.open(), Err(TargetError::TooWide { width: 100_002 }));
    }
}
