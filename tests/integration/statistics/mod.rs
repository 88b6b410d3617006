//! Bounds and verdicts: right, tight, and never where nothing can be told.

mod binomial_limits;
mod bounds;
mod bugs;
mod canaries;
mod extremes;
mod hidden;
mod independence;
mod measurement;
mod pictures;
mod portfolio;
mod reach;
mod suites;
