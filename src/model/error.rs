//! The errors of all commands. Each message says which file, key or value is wrong, and what to do
//! about it.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A problem in an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub file: PathBuf,
    /// The key, the value, and how to fix it.
    pub message: String,
}

impl FileProblem {
    /// A problem in this file.
    #[must_use]
    pub fn new(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), message: message.into() }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.message)
    }
}

/// Why a command failed.
#[derive(Debug, Error)]
pub enum Error {
    /// All problems in the input files.
    #[error("{}", listing(.0))]
    Input(Vec<FileProblem>),
    /// No audit file at the given paths.
    #[error("no audit file (*.toml) at {place}; give an audit file or a folder that contains some")]
    NoAudits {
        /// The paths.
        place: String,
    },
    /// A filter or a name that no audit matches.
    #[error("no audit matches '{pattern}'; `dp-audit show` lists all audits")]
    NoMatch {
        /// The filter.
        pattern: String,
    },
    /// A text that no pair's name contains.
    #[error("no pair's name contains '{text}'; `dp-audit show AUDIT` shows the pairs of an audit")]
    NoPair {
        /// The text.
        text: String,
    },
    /// A name that several audits match.
    #[error("'{pattern}' matches several audits: {}; give one name in full", .names.join(", "))]
    Ambiguous {
        /// The name as given.
        pattern: String,
        /// What it matches.
        names: Vec<String>,
    },
    /// A result file that cannot be written.
    #[error("cannot write {}: {source}; choose another path, for example with --csv, --html or --witnesses", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Standard output cannot be written.
    #[error("cannot write to standard output: {source}")]
    StandardOutput {
        /// The reason.
        source: std::io::Error,
    },
    /// An earlier result that cannot be read.
    #[error("cannot read {}: {reason}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A witness that does not fit the present audit.
    #[error("{} {reason}; run the audit again for a new witness", .path.display())]
    Witness {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system has no random numbers.
    #[error("the system gives no random seed: {reason}; choose one with --seed")]
    Entropy {
        /// The reason.
        reason: String,
    },
    /// A journal that was written by a different run.
    #[error("cannot resume {}: {reason}; run exactly as before, or start over without --resume", .path.display())]
    Resume {
        /// The journal.
        path: PathBuf,
        /// What is different.
        reason: String,
    },
    /// A file of evidence that cannot be used.
    #[error("cannot collect evidence in {}: {reason}", .path.display())]
    Evidence {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A baseline of a part of the audits.
    #[error("--update-baseline writes a baseline of all audits; leave out --filter and --pair")]
    PartialBaseline,
    /// A shard that cannot be run.
    #[error("{} {reason}", .path.display())]
    Shard {
        /// Its file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A shard that does not exist.
    #[error("{0}")]
    NoShard(String),
    /// Shards that cannot be merged.
    #[error("cannot merge: {reason}; nothing was written")]
    Merge {
        /// Which shard, and why.
        reason: String,
    },
    /// The worker threads could not be started.
    #[error("cannot start {threads} worker threads: {reason}; choose fewer with --threads")]
    Threads {
        /// How many.
        threads: usize,
        /// The reason.
        reason: String,
    },
}

fn listing(errors: &[FileProblem]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
