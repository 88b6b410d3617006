//! What a run leaves on the disk and what reads it again.
//!
//! | file | what it does |
//! |---|---|
//! | `store.rs` | writes files; all other code writes files with it |
//! | `files.rs` | the report files of a run, updated while the run continues |
//! | `identity.rs` | what makes two runs the same |
//! | `journal.rs` | the finished audits of an interrupted run |
//! | `costs.rs` | how long the statements of an earlier run took |
//! | `evidence_file.rs` | what each run won, for the evidence over many runs |
//! | `shard.rs`, `shard_file.rs`, `merge.rs` | one shard of a run, its file, a run from all shards |
//! | `witness.rs`, `witnesses.rs` | a refutation that anybody can check, and the folder of them |
//! | `replay.rs` | checks a witness |

pub mod costs;
pub mod evidence_file;
pub mod files;
pub mod identity;
pub mod journal;
pub mod merge;
pub mod replay;
pub mod shard;
pub mod shard_file;
pub mod store;
pub mod witness;
pub mod witnesses;
