//! Ratios of two sums, and regression.

pub mod quotient;
pub mod regression;
