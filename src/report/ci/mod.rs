//! What CI servers read.
//!
//! | file | what it does |
//! |---|---|
//! | `github.rs` | annotations and the summary page of GitHub Actions |
//! | `code_quality.rs` | the code quality report of GitLab |
//! | `origin.rs` | date and commit of a report |

pub mod code_quality;
pub mod github;
pub mod origin;
