//! All integration tests, in one binary: `cargo test --release --test integration reports::` runs
//! those of one folder.
//!
//! | module | about |
//! |---|---|
//! | `harness` | no tests: audits in this process, and the program as its users call it |
//! | `manual` | what the README and the pages of the manual show is true |
//! | `statistics` | bounds and verdicts: right, tight, never where nothing can be told |
//! | `properties` | what must be true of every input, with random ones |
//! | `api` | audits of closures |
//! | `plans` | plans that another process runs |
//! | `outside` | mechanisms that are programs, outputs that were collected elsewhere |
//! | `program` | the command line: exit codes, messages, interruptions |
//! | `reports` | report files, gates, witnesses |
//! | `terminal` | help, tables and messages, compared with `snapshots` |
//!
//! A test of something random has a fixed seed, so that it passes always or never. It states how
//! often it would fail on a new seed, which every change of the draws amounts to. *False alarm*: a
//! claim that holds is refuted, a bound lies above the truth. The confidence of the run says how
//! often, at most. *Bad luck*: a leak that must be found is not, or a bound is too low. Means and
//! standard deviations (`mean ± sd`) were measured on 20 to 2,000 other seeds; the rate is the
//! normal tail beyond the threshold, or the share of seeds that failed. None is stated where the
//! margin is above ten standard deviations.

mod api;
mod harness;
mod manual;
mod outside;
mod plans;
mod program;
mod properties;
mod reports;
mod statistics;
mod terminal;
