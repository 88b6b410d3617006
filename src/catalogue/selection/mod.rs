//! Choosing one of several candidates.

pub mod exponential;
pub mod mode;
pub mod noisy_max;
pub mod subsample;
