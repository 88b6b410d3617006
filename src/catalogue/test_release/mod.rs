//! Test privately, then release or refuse.

pub mod guarded_mean;
pub mod threshold;
