//! Makes guess rules from counted bins, and judges them on draws.

pub mod gain;
pub mod goal;
pub mod guess;
pub mod judge;
pub mod moment;
pub mod ordered;
pub mod score_bins;
pub mod select;
pub mod tail;
