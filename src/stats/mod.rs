//! From tallies to bounds: pure functions of small integers.
//!
//! | file | |
//! |---|---|
//! | `binomial.rs` | tails and conservative limits of binomial counts |
//! | `rates.rs` | how often a rule is correct and wrong |
//! | `measure.rs` | what a rule's probabilities say about a claim, in its unit |
//! | `region.rs` | one confidence region for how often a rule guesses and how often it is right |
//! | `method.rs` | how the limits of a rule are computed |
//! | `fixed.rs` | bounds from a sample whose size was fixed in advance |
//! | `prediction.rs` | bets on predictions that are learned while they are bet on |
//! | `wealth.rs` | bounds that hold at any time: bets against the claim |
//! | `nights.rs` | the same over many runs |
//! | `moment.rs` | a bound on a Rényi divergence from several groups of outputs |
//! | `certified.rs` | how α is divided; a rule's tally with its limits |
//! | `power.rs` | which leaks would have been detected |
//! | `bounds.rs` | combines all evidence on a pair |
//! | `canary/` | bounds from guesses which canaries were in a training run |
//! | `failure.rs` | limits of the failure probability of an accuracy claim |
//! | `independence/` | tests whether the draws are independent (it reads rows, not tallies) |
//! | `sources.rs` | tests whether two processes draw from the same distribution (the same) |
//! | `swaps.rs` | bounds on what independent draws show when two of them change places |

pub mod binomial;
mod bounds;
pub mod canary;
mod certified;
mod failure;
pub mod fixed;
pub mod independence;
mod measure;
mod method;
mod moment;
pub mod nights;
pub mod power;
pub mod prediction;
mod rates;
mod region;
pub mod sources;
mod swaps;
pub mod wealth;

pub use bounds::bounds;
pub use certified::{Certified, Level, strongest};
pub use failure::failure_limits;
pub use method::Method;
pub use moment::{GroupEvidence, Moment};
pub use rates::Rates;
pub use region::Weights;
