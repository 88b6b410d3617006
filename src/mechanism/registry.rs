//! All mechanisms that audit files can name.

use super::{
    InProcess, Mechanism, Target, additive, discrete_laplace, exponential, histogram, k_anonymity, median, mode, noisy_max, poisson_sample,
    post_processing, process, randomized_response, rappor, ratio, regression, reused_noise, smooth_median, sparse_vector, subsample,
    test_release, truncated_geometric,
};
use crate::spec::{self, Dataset};

/// Reads parameters and prepares a mechanism for the two sides of a pair.
type Prepare = fn(&toml::Table, &Dataset, &Dataset) -> Result<Box<dyn Target>, String>;

/// A registered mechanism.
pub struct Entry {
    /// The name that audit files use.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    prepare: Prepare,
}

impl Entry {
    const fn of<M: Mechanism>() -> Self {
        Self { name: M::NAME, summary: M::SUMMARY, prepare: prepare::<M> }
    }

    /// Reads the parameters and prepares the mechanism for both sides of a pair.
    ///
    /// # Errors
    /// Which key or record is wrong, and what it should be. Problems with parameters begin with `params`.
    pub fn prepare(&self, params: &toml::Table, left: &Dataset, right: &Dataset) -> Result<Box<dyn Target>, String> {
        (self.prepare)(params, left, right)
    }
}

fn prepare<M: Mechanism>(params: &toml::Table, left: &Dataset, right: &Dataset) -> Result<Box<dyn Target>, String> {
    let params: M::Params = spec::read_params(params)?;
    Ok(Box::new(InProcess::<M>::prepare(&params, left, right)?))
}

/// The registry, from which `dp-audit list --mechanisms` is printed.
pub const ENTRIES: &[Entry] = &[
    Entry::of::<additive::Laplace>(),
    Entry::of::<additive::PrefixSum>(),
    Entry::of::<discrete_laplace::DiscreteLaplace>(),
    Entry::of::<additive::Gaussian>(),
    Entry::of::<randomized_response::Die>(),
    Entry::of::<randomized_response::Generalized>(),
    Entry::of::<median::LocalSensitivity>(),
    Entry::of::<median::ProposeTestRelease>(),
    Entry::of::<smooth_median::SmoothMedian>(),
    Entry::of::<histogram::Thresholded>(),
    Entry::of::<mode::Exact>(),
    Entry::of::<mode::NoisyArgmax>(),
    Entry::of::<mode::ProposeTestRelease>(),
    Entry::of::<mode::Stability>(),
    Entry::of::<test_release::GuardedMean>(),
    Entry::of::<subsample::StableMode>(),
    Entry::of::<randomized_response::DebiasedAverage>(),
    Entry::of::<ratio::Naive>(),
    Entry::of::<ratio::LocalSensitivity>(),
    Entry::of::<ratio::BoundedSensitivity>(),
    Entry::of::<ratio::OnesAndZeros>(),
    Entry::of::<regression::LocalSensitivity>(),
    Entry::of::<regression::BoundedSensitivity>(),
    Entry::of::<k_anonymity::Release>(),
    Entry::of::<k_anonymity::Joined>(),
    Entry::of::<truncated_geometric::TruncatedGeometric>(),
    Entry::of::<noisy_max::ReportNoisyMax>(),
    Entry::of::<sparse_vector::SparseVector>(),
    Entry::of::<sparse_vector::Parallel>(),
    Entry::of::<rappor::Rappor>(),
    Entry::of::<exponential::Exponential>(),
    Entry::of::<poisson_sample::SampledCount>(),
    Entry::of::<post_processing::Clamped>(),
    Entry::of::<post_processing::Suppressed>(),
    Entry::of::<reused_noise::ReusedNoise>(),
];

/// The mechanism with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// What to say of a name that is not registered.
#[must_use]
pub fn unknown(name: &str) -> String {
    let mut names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).chain([process::NAME]).collect();
    names.sort_unstable();
    format!("mechanism is \"{name}\", which is not known; known are {}", names.join(", "))
}
