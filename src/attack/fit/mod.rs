//! What a bin says, smoothed: monotone fits, curves, lines, tables of log-ratios.

pub mod order;
pub mod smooth;
pub mod table;
