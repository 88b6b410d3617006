//! All mechanisms that audit files can name.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::additive::{
    continuous, correlated, discrete_gaussian, discrete_laplace, poisson_sample, post_processing,
    printed, reused_noise, truncated_geometric,
};
use super::local::{
    Reports, d_bit_flip, grr, hadamard, hashing, histogram_encoding, randomized_response, rappor,
    subset, unary,
};
use super::ratio::{quotient, regression};
use super::selection::{exponential, mode, noisy_max, subsample};
use super::test_release::guarded_mean;
use super::training::dp_sgd;
use super::{composed, histogram, k_anonymity, median, sparse_vector, transformation};
use crate::model::{Dataset, Params, Whole};
use crate::target::process;
use crate::target::{InProcess, Mechanism, Misfit, PrepareError, Subject, Target};

/// Reads parameters and prepares a mechanism for the two sides of a pair.
type Prepare = fn(&Params, &Dataset, &Dataset) -> Result<Box<dyn Target>, PrepareError>;

/// A registered mechanism.
pub struct Registered {
    /// The name that audit files use.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    prepare: Prepare,
}

impl Registered {
    const fn of<M: Mechanism>() -> Self {
        Self { name: M::NAME, summary: M::SUMMARY, prepare: in_process::<M> }
    }

    /// Reads the parameters and prepares the mechanism for both sides of a pair.
    ///
    /// # Errors
    /// Which key or record is wrong, and what it should be.
    pub fn prepare(
        &self,
        params: &Params,
        left: &Dataset,
        right: &Dataset,
    ) -> Result<Box<dyn Target>, PrepareError> {
        (self.prepare)(params, left, right)
    }
}

fn in_process<M: Mechanism>(
    params: &Params,
    left: &Dataset,
    right: &Dataset,
) -> Result<Box<dyn Target>, PrepareError> {
    let params: M::Params = read_params(params).map_err(|misfit| misfit.on(None))?;
    Ok(Box::new(InProcess::<M>::prepare(&params, left, right)?))
}

/// Reads a mechanism's parameters into its own type.
///
/// # Errors
/// Which key is wrong and why, as `params.key …`.
pub fn read_params<P: DeserializeOwned>(params: &Params) -> Result<P, Misfit> {
    let read = |params: Params| serde_path_to_error::deserialize(Value::Object(params));
    // A count may be written as `1e3`.
    let read_counts = |error| read(with_whole_numbers(params)).map_err(|_| error);
    read(params.clone()).or_else(read_counts).map_err(|error| {
        let (path, message) = (error.path().to_string(), error.inner().to_string());
        Misfit::params(if path == "." { "" } else { &path }, &message)
    })
}

/// The parameters with integers for all floats without a fraction. Where a float is expected, an
/// integer is as good.
fn with_whole_numbers(params: &Params) -> Params {
    fn whole(value: &Value) -> Value {
        match value {
            Value::Number(number) if number.is_f64() => number
                .as_f64()
                .and_then(Whole::of_float)
                .map_or_else(|| value.clone(), |whole| whole.get().into()),
            Value::Array(items) => items.iter().map(whole).collect(),
            Value::Object(members) => Value::Object(with_whole_numbers(members)),
            other => other.clone(),
        }
    }
    params.iter().map(|(key, value)| (key.clone(), whole(value))).collect()
}

/// Parameters as an audit file writes them, for tests.
#[cfg(test)]
pub(crate) fn read_toml<P: DeserializeOwned>(text: &str) -> P {
    let table: Params = toml::from_str(text).unwrap();
    read_params(&table).unwrap()
}

/// Prepares a mechanism of the catalogue for two datasets. `None` if the subject is something else:
/// programs and functions are tried out only where they run.
///
/// # Errors
/// When the mechanism is unknown, its parameters are wrong, or the data does not fit it.
pub fn prepare(
    subject: &Subject,
    left: &Dataset,
    right: &Dataset,
) -> Result<Option<Box<dyn Target>>, PrepareError> {
    let Subject::Registered { mechanism, params } = subject else { return Ok(None) };
    let registered = find(mechanism).ok_or_else(|| PrepareError::Unknown(unknown(mechanism)))?;
    registered.prepare(params, left, right).map(Some)
}

/// The registry, from which `dp-audit show --mechanisms` is printed.
pub const ENTRIES: &[Registered] = &[
    Registered::of::<continuous::Laplace>(),
    Registered::of::<continuous::PrefixSum>(),
    Registered { name: printed::NAME, summary: printed::SUMMARY, prepare: printed::prepare },
    Registered::of::<discrete_laplace::DiscreteLaplace>(),
    Registered::of::<continuous::Gaussian>(),
    Registered::of::<correlated::CorrelatedGaussian>(),
    Registered::of::<discrete_gaussian::DiscreteGaussian>(),
    Registered::of::<randomized_response::Die>(),
    Registered::of::<randomized_response::Generalized>(),
    Registered::of::<median::local::LocalSensitivity>(),
    Registered::of::<median::local::ProposeTestRelease>(),
    Registered::of::<median::smooth::SmoothMedian>(),
    Registered::of::<histogram::Thresholded>(),
    Registered::of::<mode::Exact>(),
    Registered::of::<mode::NoisyArgmax>(),
    Registered::of::<mode::ProposeTestRelease>(),
    Registered::of::<mode::Stability>(),
    Registered::of::<guarded_mean::GuardedMean>(),
    Registered::of::<subsample::StableMode>(),
    Registered::of::<randomized_response::DebiasedAverage>(),
    Registered::of::<quotient::Naive>(),
    Registered::of::<quotient::LocalSensitivity>(),
    Registered::of::<quotient::BoundedSensitivity>(),
    Registered::of::<quotient::OnesAndZeros>(),
    Registered::of::<regression::LocalSensitivity>(),
    Registered::of::<regression::BoundedSensitivity>(),
    Registered::of::<k_anonymity::Release>(),
    Registered::of::<k_anonymity::Joined>(),
    Registered::of::<truncated_geometric::TruncatedGeometric>(),
    Registered::of::<noisy_max::ReportNoisyMax>(),
    Registered::of::<sparse_vector::SparseVector>(),
    Registered::of::<sparse_vector::Parallel>(),
    Registered::of::<rappor::Rappor>(),
    Registered::of::<Reports<grr::Grr>>(),
    Registered::of::<Reports<unary::Unary>>(),
    Registered::of::<Reports<histogram_encoding::HistogramEncoding>>(),
    Registered::of::<Reports<hashing::Hashing>>(),
    Registered::of::<Reports<subset::Subset>>(),
    Registered::of::<Reports<hadamard::Hadamard>>(),
    Registered::of::<Reports<d_bit_flip::DBitFlip>>(),
    Registered::of::<exponential::Exponential>(),
    Registered::of::<poisson_sample::LaplaceSampledCount>(),
    Registered::of::<poisson_sample::GaussianSampledCount>(),
    Registered::of::<poisson_sample::GaussianSampledSum>(),
    Registered::of::<post_processing::Clamped>(),
    Registered::of::<post_processing::Suppressed>(),
    Registered::of::<reused_noise::ReusedNoise>(),
    Registered::of::<dp_sgd::OnPairs>(),
    Registered::of::<transformation::Transformation>(),
    Registered { name: composed::NAME, summary: composed::SUMMARY, prepare: composed::prepare },
];

/// The mechanism with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Registered> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The error message for a name that is not registered.
#[must_use]
pub fn unknown(name: &str) -> String {
    if super::training::find(name).is_some() {
        return format!(
            "mechanism is \"{name}\", which trains with canaries and has no pairs; add [[canaries]] in place of them"
        );
    }
    let mut names: Vec<&str> =
        ENTRIES.iter().map(|entry| entry.name).chain([process::NAME]).collect();
    names.sort_unstable();
    format!(
        "mechanism is \"{name}\", which is not known; known mechanisms are {}",
        names.join(", ")
    )
}
