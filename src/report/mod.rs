//! What a run leaves behind: reports in several formats, a journal, witnesses; and what is made of them: gates, baselines, replays.
//!
//! | file | |
//! |---|---|
//! | `store.rs` | the one way to write files |
//! | `files.rs` | the report files of a run, kept up to date while it goes on |
//! | `csv.rs`, `json.rs`, `junit.rs`, `markdown.rs`, `html/` | one format a file |
//! | `github.rs` | annotations and the summary page of GitHub Actions |
//! | `explain.rs` | an audit in plain words |
//! | `journal.rs` | what an interrupted run has finished |
//! | `witness.rs`, `replay.rs` | a refutation that anybody can check, and the check |
//! | `gate.rs`, `exit_code.rs`, `baseline.rs` | whether a run fails |

pub mod baseline;
pub mod csv;
pub mod exit_code;
pub mod explain;
pub mod files;
pub mod gate;
pub mod github;
pub mod html;
pub mod journal;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod replay;
pub mod store;
pub mod svg;
pub mod witness;
pub mod witnesses;
