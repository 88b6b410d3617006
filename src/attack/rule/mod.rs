//! From counted bins to a guess rule.

pub mod goal;
pub mod guess;
pub mod judge;
pub mod ordered;
pub mod score_bins;
pub mod select;
pub mod tail;
