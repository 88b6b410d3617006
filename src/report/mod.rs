//! The files that a run writes, and what uses them.
//!
//! | file | what it does |
//! |---|---|
//! | `formats/` | one file for each report format, and the pictures |
//! | `gate/` | whether a run fails, and its problems in words |
//! | `persistence/` | files: reports, journals, shards, witnesses |
//! | `ci/` | what CI servers read |
//! | `statement.rs` | what reports say about one pair or accuracy claim |
//! | `commands.rs` | the commands that reports advise |

pub mod ci;
pub mod commands;
pub mod formats;
pub mod gate;
pub mod persistence;
pub mod statement;
#[cfg(test)]
pub(crate) mod testing;
