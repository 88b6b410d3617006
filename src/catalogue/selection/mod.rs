//! Choosing one of several things.

pub mod exponential;
pub mod mode;
pub mod noisy_max;
pub mod subsample;
