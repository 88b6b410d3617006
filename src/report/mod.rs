//! The files that a run writes, and what uses them.
//!
//! | file | what it does |
//! |---|---|
//! | `formats/` | one file for each report format, and the pictures |
//! | `gate/` | whether a run fails, and its problems in words |
//! | `persistence/` | files: reports, journals, shards, witnesses |
//! | `ci/` | what CI servers read |
//! | `commands.rs` | the commands that reports advise |
//! | `git.rs` | what git knows about a folder, asked without running anything of the repository |

pub mod ci;
pub mod commands;
pub mod formats;
pub mod gate;
mod git;
pub mod persistence;
#[cfg(test)]
pub(crate) mod testing;
