//! Noise that is added to an answer.

pub mod continuous;
pub mod correlated;
pub mod discrete_gaussian;
pub mod discrete_laplace;
mod grid;
pub mod poisson_sample;
pub mod post_processing;
pub mod printed;
pub mod reused_noise;
pub mod truncated_geometric;
