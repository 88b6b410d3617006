//! Draws in fixed batches, in parallel, the same on any number of threads. Folds rows; knows no rules.

mod batches;
mod schedule;

pub use batches::{BATCH, Sampler};
pub use schedule::Schedule;
