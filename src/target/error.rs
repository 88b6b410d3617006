//! Why a mechanism could not be run, said so that it can be fixed.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::Side;
use crate::output::MAX_WIDTH;
use crate::stats::independence::Dependence;

/// Why a mechanism could not be run.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
        remedy: String,
    },
    /// The coin asked for more recorded outputs than there are.
    #[error(
        "chance wanted more outputs of {side} than its file has ({rows}), which happens once in a million seeds; choose another with --seed"
    )]
    UsedUp {
        /// Which side.
        side: Side,
        /// The outputs in its file.
        rows: usize,
    },
    /// Its outputs have more cells than can be meant.
    #[error("its output has {width} cells, must be at most {MAX_WIDTH}; release less")]
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
    /// It could not be prepared for the data.
    #[error("{0}")]
    NotPrepared(PrepareError),
    /// It is a program, and that program failed.
    #[error("{0}")]
    Process(Box<ProcessError>),
}

/// How a program failed that is asked for outputs.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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

/// Why a target could not be made from a subject and two datasets.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PrepareError {
    /// The parameters are wrong, for whatever data.
    #[error("{problem}")]
    Params {
        /// Which: `params.query.lower`.
        key: String,
        /// What is wrong; begins with the key.
        problem: String,
    },
    /// The parameters and the data do not fit each other, or the data does not fit the mechanism.
    #[error("{}{problem}", .side.map_or_else(String::new, |side| format!("{side}: ")))]
    Data {
        /// On which side; absent where it lies between the two.
        side: Option<Side>,
        /// What is wrong, and what is needed.
        problem: String,
    },
    /// No such mechanism.
    #[error("{0}")]
    Unknown(String),
    /// Only the caller can make it.
    #[error("a {0} cannot be prepared from its description; whoever made it must run it")]
    Given(String),
}
