//! The mechanisms that audit files can name, by family. A broken variant is in the same file as the
//! correct mechanism and shares its code.
//!
//! | folder or file | family |
//! |---|---|
//! | `additive/` | noise on a count, sum, mean, histogram or vector of answers, and post-processing of the result |
//! | `median/` | medians with noise at local or smooth sensitivity, and by propose–test–release |
//! | `selection/` | modes, noisy maxima, the exponential mechanism, subsample-and-aggregate |
//! | `test_release/` | a private test before a release, and its thresholds |
//! | `histogram.rs` | histograms that suppress small counts |
//! | `ratio/` | ratios and regression |
//! | `sparse_vector.rs` | the sparse vector technique |
//! | `local/` | what each person reports alone: randomized response, unary and histogram encodings, hashing, RAPPOR and others |
//! | `k_anonymity.rs` | k-anonymous tables |
//! | `transformation.rs` | what is computed before noise is added, for stability claims |
//! | `training/` | training with canaries, which has a registry of its own |
//! | `composed.rs` | several releases of any other mechanism |
//!
//! `query.rs` and `arithmetic.rs` compute the answers to which noise is added. `registry.rs` finds
//! a mechanism by its name and prepares it.

mod additive;
mod arithmetic;
mod composed;
mod histogram;
mod k_anonymity;
mod local;
mod median;
mod query;
mod ratio;
pub mod registry;
mod selection;
mod sparse_vector;
mod test_release;
pub mod training;
mod transformation;
