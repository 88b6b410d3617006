//! Local mechanisms: every person randomises their own value.
//!
//! | file | how |
//! |---|---|
//! | `randomized_response.rs` | a bit is kept or flipped |
//! | `grr.rs` | generalized randomized response: the value, or any other one |
//! | `unary.rs` | one bit for each value, symmetric (SUE) or optimized (OUE) |
//! | `histogram_encoding.rs` | one noisy number for each value, as it is (SHE) or compared with a threshold (THE) |
//! | `hashing.rs` | a random hash of the value, to two buckets (BLH) or to the best number of them (OLH) |
//! | `subset.rs` | a random set that holds the value more often than others |
//! | `hadamard.rs` | a random coefficient of the value's Hadamard transform |
//! | `rappor.rs` | a noisy Bloom filter of a text |
//! | `d_bit_flip.rs` | some bits of the unary encoding, at random positions |
//!
//! `randomizer.rs` makes a mechanism of what one person does.

pub mod d_bit_flip;
pub mod grr;
pub mod hadamard;
pub mod hashing;
pub mod histogram_encoding;
pub mod randomized_response;
mod randomizer;
pub mod rappor;
pub mod subset;
pub mod unary;

pub use randomizer::Reports;
use randomizer::{Background, Randomizer, noisy_bit};
