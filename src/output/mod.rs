//! What a mechanism releases: rows of cells, each a number or a symbol.

mod cell;
mod hash;
mod rows;
mod symbols;
mod value;

pub use cell::Cell;
pub use hash::{KeyMap, Mix, fingerprint};
pub use rows::Rows;
pub use symbols::Symbols;
pub use value::{Output, OutputRow};

/// Wider outputs are rejected as mistakes, from every kind of target.
pub const MAX_WIDTH: usize = 100_000;
