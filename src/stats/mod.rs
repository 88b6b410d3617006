//! From tallies to bounds: pure functions of small integers.
//!
//! | file | |
//! |---|---|
//! | `binomial.rs` | tails and limits of binomial counts, on the safe side |
//! | `fixed.rs` | bounds from a sample whose size was fixed beforehand |
//! | `wealth.rs` | bounds that hold at any time: bets against the claim |
//! | `certified.rs` | how α is divided; a rule's tally with its limits |
//! | `power.rs` | what would have been caught |
//! | `bounds.rs` | all evidence on a pair together |
//! | `independence.rs` | are the draws independent? (a function of rows) |

pub mod binomial;
mod bounds;
mod certified;
pub mod fixed;
pub mod independence;
pub mod power;
pub mod wealth;

pub use bounds::bounds;
pub use certified::{Certified, Level};
