//! Makes draws in fixed batches, in parallel, with the same result on any number of threads. It
//! folds rows and does not know guess rules.

mod batches;
mod schedule;

pub use batches::{BATCH, Sampler, WATCHED};
pub use schedule::Schedule;
