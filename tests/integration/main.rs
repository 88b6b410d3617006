//! All integration tests, in one binary: `cargo test --release --test integration reports::` runs those of one folder.
//!
//! | module | about |
//! |---|---|
//! | `harness` | no tests: audits in this process, and the program as its users call it |
//! | `statistics` | bounds and verdicts: right, tight, never where nothing can be told |
//! | `properties` | what must be true of every input, with random ones |
//! | `api` | audits of closures |
//! | `plans` | plans that another process runs |
//! | `outside` | mechanisms that are programs, outputs that were collected elsewhere |
//! | `program` | the command line: exit codes, messages, interruptions |
//! | `reports` | report files, gates, witnesses |
//!
//! A test of something random has a fixed seed, so that it passes always or never. It states how often it would fail if the seed were drawn anew, as it is by every
//! change of the draws: the *false-alarm rate* where a right program is called wrong, and the rate of *bad luck* where a leak must be found.

mod api;
mod harness;
mod outside;
mod plans;
mod program;
mod properties;
mod reports;
mod statistics;
