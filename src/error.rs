//! What can go wrong, said so that it can be mended: which file, which key, which value, what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::cell::MOST_WIDTH;
use crate::evidence::independence::Dependence;

/// A problem in an audit file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// The file.
    pub file: PathBuf,
    /// Key, value and remedy.
    pub message: String,
}

impl SpecError {
    /// A problem in this file.
    #[must_use]
    pub fn new(file: &Path, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), message: message.into() }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.message)
    }
}

/// Why a mechanism could not be run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TargetError {
    /// It gave fewer or more outputs than were asked for.
    #[error("asked for {asked} outputs, got {got}")]
    WrongCount {
        /// How many were asked for.
        asked: usize,
        /// How many came.
        got: usize,
    },
    /// Its draws depend on each other, so that no bound would hold.
    #[error("its draws are not independent: {what}. {remedy}")]
    NotIndependent {
        /// How they depend on each other.
        what: Dependence,
        /// What to do.
        remedy: &'static str,
    },
    /// The coin asked for more recorded outputs than there are.
    #[error(
        "chance wanted more outputs of {side} than its file has ({rows}), which happens once in a million seeds; choose another with --seed"
    )]
    UsedUp {
        /// Which side.
        side: &'static str,
        /// The outputs in its file.
        rows: usize,
    },
    /// Its outputs have more cells than can be meant.
    #[error("its output has {width} cells, must be at most {MOST_WIDTH}; release less")]
    TooWide {
        /// The cells of an output.
        width: usize,
    },
    /// It does nothing but panic.
    #[error("it panics on every draw of both sides: {message}")]
    AlwaysPanics {
        /// What it says.
        message: String,
    },
    /// It is a program, and that program failed.
    #[error("{0}")]
    Process(Box<ProcessError>),
}

/// How a program failed that is asked for outputs.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{command}: {problem}{}{}", said(.stderr), remedy(.setup.as_deref()))]
pub struct ProcessError {
    /// The command line.
    pub command: String,
    /// What went wrong.
    pub problem: Problem,
    /// The end of what it wrote to standard error.
    pub stderr: String,
    /// How to install what it needs, if the audit file says so.
    pub setup: Option<String>,
}

/// What can go wrong with a program that is asked for outputs.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// It could not be started.
    #[error("cannot be started: {reason}")]
    NotStarted {
        /// The system's reason, and what to do.
        reason: String,
    },
    /// It speaks another version of the protocol.
    #[error("speaks version {theirs} of the protocol, and dp-audit speaks {ours}; docs/protocol.md describes it")]
    Version {
        /// The version spoken here.
        ours: u64,
        /// What it said.
        theirs: String,
    },
    /// Its hello is not as it should be.
    #[error("its hello is wrong: {reason}; docs/protocol.md describes it")]
    Hello {
        /// What is wrong.
        reason: String,
    },
    /// An answer is not as it should be.
    #[error("{reason}; docs/protocol.md describes what is expected")]
    Answer {
        /// What is wrong.
        reason: String,
    },
    /// It gave fewer or more outputs than were asked for.
    #[error("asked for {asked} outputs, got {got}")]
    WrongCount {
        /// How many were asked for.
        asked: usize,
        /// How many came.
        got: usize,
    },
    /// It answered two requests with the same draws.
    #[error(
        "gave the same draws for two different seeds; seed its generator with the seed of each request, or once per process from the system"
    )]
    Repeats,
    /// It said that it cannot go on.
    #[error("gave up: {message}")]
    Refused {
        /// What it said.
        message: String,
    },
    /// It ended, or closed its output, when it should have answered.
    #[error("{how} when it was {task}")]
    Ended {
        /// How.
        how: String,
        /// What it should have done.
        task: String,
    },
    /// It did not answer in time and was killed.
    #[error("was silent for {seconds} s when it was {task}, and was killed; `timeout` in the audit file sets the limit")]
    Hung {
        /// The limit.
        seconds: String,
        /// What it should have done.
        task: String,
    },
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!("\nIt wrote to standard error:\n{stderr}") }
}

fn remedy(setup: Option<&str>) -> String {
    setup.map_or_else(String::new, |setup| format!("\nTo install what it needs: {setup}"))
}

/// Why a command failed.
#[derive(Debug, Error)]
pub enum Error {
    /// Bad audit files, all of them.
    #[error("{}", listing(.0))]
    Spec(Vec<SpecError>),
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

fn listing(errors: &[SpecError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
