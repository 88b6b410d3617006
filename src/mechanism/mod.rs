//! The things under audit. Each family has a file; a broken twin stands beside the correct mechanism and shares its code.

mod additive;
mod arithmetic;
mod discrete_laplace;
mod exponential;
mod histogram;
mod k_anonymity;
mod median;
mod mode;
mod noisy_max;
mod panics;
mod poisson_sample;
mod post_processing;
pub mod process;
mod query;
mod randomized_response;
mod rappor;
mod ratio;
pub mod registry;
mod regression;
mod reused_noise;
mod smooth_median;
mod sorted;
mod sparse_vector;
mod subsample;
mod target;
mod test_release;
mod threshold;
mod truncated_geometric;

use serde::de::DeserializeOwned;

pub(crate) use panics::caught;
pub use target::{InProcess, Side, Target};

use crate::cell::Cell;
use crate::noise::Generator;
use crate::spec::{Dataset, Record};

/// A mechanism written in Rust.
pub trait Mechanism: Sized + Send + Sync + 'static {
    /// The name that audit files use.
    const NAME: &'static str;
    /// One line for `dp-audit list`.
    const SUMMARY: &'static str;
    /// The parameters; a type that rejects unknown keys.
    type Params: DeserializeOwned;

    /// Does all work that depends on the data only, once: sorting, counting, sensitivities.
    ///
    /// # Errors
    /// When the data or the parameters do not fit the mechanism: which value, and what is needed.
    fn prepare(params: &Self::Params, data: &Dataset, universe: &Universe) -> Result<Self, String>;

    /// Cells per output. The same for all datasets with the same universe.
    fn width(&self) -> usize {
        1
    }

    /// One draw: writes every cell of the row.
    fn run(&self, rng: &mut Generator, row: &mut [Cell]);
}

/// All distinct records of either side of a pair, sorted: what the attacker knows could occur.
pub struct Universe(Vec<Record>);

impl Universe {
    /// The universe of two neighbours.
    #[must_use]
    pub fn of(left: &Dataset, right: &Dataset) -> Self {
        let mut records: Vec<Record> = left.records().iter().chain(right.records()).cloned().collect();
        records.sort_unstable();
        records.dedup();
        Self(records)
    }

    /// The records.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.0
    }

    /// How often each record of the universe occurs in the data.
    #[must_use]
    pub fn counts(&self, data: &Dataset) -> Vec<u64> {
        let mut counts = vec![0; self.0.len()];
        for record in data.records() {
            if let Ok(index) = self.0.binary_search(record) {
                counts[index] += 1;
            }
        }
        counts
    }
}
