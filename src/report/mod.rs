//! The files that a run writes (reports in several formats, a journal, witnesses) and what uses
//! them (gates, baselines, replays).
//!
//! | file | what it does |
//! |---|---|
//! | `store.rs` | writes files; all other code writes files with it |
//! | `files.rs` | the report files of a run, updated while the run continues |
//! | `csv.rs`, `json.rs`, `junit.rs`, `code_quality.rs`, `markdown.rs`, `html/` | one report format each |
//! | `statement.rs` | what reports say about one pair or accuracy claim |
//! | `problem.rs`, `problem_text.rs`, `place.rs` | the problems of a run: what they are, in words, where in the repository |
//! | `svg.rs`, `plot.rs` | drawings, and the pictures of a pair |
//! | `plots.rs` | the folder of pictures |
//! | `origin.rs` | date and commit of a report |
//! | `github.rs` | annotations and the summary page of GitHub Actions |
//! | `explain.rs` | describes an audit in plain words |
//! | `commands.rs` | the commands that reports advise |
//! | `identity.rs` | what makes two runs the same |
//! | `journal.rs` | the finished audits of an interrupted run |
//! | `shard.rs`, `shard_file.rs`, `merge.rs` | one shard of a run, its file, and a run from the files of all shards |
//! | `witness.rs`, `witnesses.rs` | a refutation that anybody can check, and the folder of such files |
//! | `replay.rs` | checks a witness |
//! | `gate.rs`, `exit_code.rs`, `baseline.rs` | decide whether a run fails |

pub mod baseline;
pub mod code_quality;
pub mod commands;
pub mod csv;
pub mod exit_code;
pub mod explain;
pub mod files;
pub mod gate;
pub mod github;
pub mod html;
pub mod identity;
pub mod journal;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod merge;
pub mod origin;
pub mod place;
pub mod plot;
pub mod plots;
pub mod problem;
mod problem_text;
mod race;
pub mod replay;
pub mod shard;
pub mod shard_file;
pub mod statement;
pub mod store;
pub mod svg;
#[cfg(test)]
pub(crate) mod testing;
pub mod witness;
pub mod witnesses;
