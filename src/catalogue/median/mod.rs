//! Medians.

pub mod local;
pub mod smooth;
pub mod sorted;
