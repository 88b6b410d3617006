//! Smooths the log-ratios of bins: monotone regression, curves, straight lines, and tables of
//! log-ratios; and the matrices that fits need.

pub mod alike;
pub mod matrix;
pub mod order;
pub mod smooth;
pub mod table;
