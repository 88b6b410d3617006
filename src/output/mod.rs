//! What a mechanism releases: rows of cells, each a number or a symbol.
//!
//! | file | what it has |
//! |---|---|
//! | `cell.rs` | one number or symbol |
//! | `rows.rs` | many outputs |
//! | `block.rs` | outputs of another process or language |
//! | `distance.rs` | how far apart two outputs are |
//! | `event.rs` | an event that an output does or does not belong to |
//! | `value.rs` | the types that a closure may return |
//! | `symbols.rs` | the names of symbols and columns |
//! | `json.rs` | JSON as it was written |
//! | `number.rs` | the numbers in a text, and their spelling |
//! | `text.rs` | what a text says |
//! | `form.rs` | what outputs are beside their cells |
//! | `reading.rs` | how texts become more columns |
//! | `view.rs` | what is looked at in texts: everything, or the value of a key |
//! | `hash.rs` | the hash function |

mod block;
mod cell;
mod distance;
mod event;
mod form;
mod hash;
mod json;
mod number;
mod reading;
mod rows;
mod symbols;
mod text;
mod value;
mod view;

pub use block::OutputBlock;
pub use cell::Cell;
pub use distance::Distance;
pub use event::OutputEvent;
pub use form::{CellNotes, Forms};
pub use hash::{KeyMap, Mix, fingerprint};
pub use reading::{Probe, Reading, Texts};
pub use rows::Rows;
pub use symbols::Symbols;
pub use value::{Output, OutputRow};
pub use view::TextView;

/// Wider outputs are rejected as mistakes, from every kind of target.
pub const MAX_WIDTH: usize = 100_000;
