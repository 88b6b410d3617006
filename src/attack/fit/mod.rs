//! Smooths the log-ratios of bins: monotone regression, curves, straight lines, and tables of
//! log-ratios.

pub mod order;
pub mod smooth;
pub mod table;
