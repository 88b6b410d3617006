//! What can go wrong, said so that it can be fixed: which file, which key, which value, what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A problem in an input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The file.
    pub file: PathBuf,
    /// Key, value and remedy.
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
    /// Bad input files, all of them.
    #[error("{}", listing(.0))]
    Input(Vec<FileProblem>),
    /// No audit file at the given paths.
    #[error("no audit file (*.toml) at {place}; name a file or a folder that has some")]
    NoAudits {
        /// The paths.
        place: String,
    },
    /// A filter or a name that no audit matches.
    #[error("no audit matches '{pattern}'; `dp-audit list` shows what there is")]
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
    #[error("cannot write {}: {source}; choose another place, for example with --csv, --html or --witnesses", .path.display())]
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
    /// A witness that says nothing about the audit as it is now.
    #[error("{} {reason}; run the audit again for a new witness", .path.display())]
    Witness {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A journal that another run left.
    #[error("cannot resume {}: {reason}; run as it was run then, or start anew without --resume", .path.display())]
    Resume {
        /// The journal.
        path: PathBuf,
        /// What is different.
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
