//! Why a mechanism could not be run. The messages say how to fix it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::number::counted;
use crate::model::{Metric, Side};
use crate::output::MAX_WIDTH;
use crate::stats::independence::Dependence;
use crate::stats::sources::SourceDifference;

/// Why a mechanism could not be run.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TargetError {
    /// It returned fewer or more outputs than requested.
    #[error("asked for {}, got {got}", counted(*asked, "output"))]
    WrongCount {
        /// How many were requested.
        asked: usize,
        /// How many were returned.
        got: usize,
    },
    /// Its draws depend on each other, so no bound would hold.
    #[error("its draws are not independent: {what}. {remedy}")]
    NotIndependent {
        /// How they depend on each other.
        what: Dependence,
        /// What to do.
        remedy: String,
    },
    /// It is claimed to be stable, and its outputs on the same data differ.
    #[error(
        "its outputs on {side} differ from draw to draw: {one} and {other}. A stability claim is about a transformation without noise; \
         claim privacy instead, or leave out the noise"
    )]
    NotDeterministic {
        /// Which side.
        side: Side,
        /// An output.
        one: String,
        /// Another one.
        other: String,
    },
    /// It is claimed to be stable, and a value of its outputs has parts that a distance does not
    /// see.
    #[error(
        "its output {column} is {left} on left and {right} on right: one value with several parts, in which no distance can be measured; \
         return a list of numbers or of records"
    )]
    Structured {
        /// The component.
        column: String,
        /// Its value on the left.
        left: String,
        /// Its value on the right.
        right: String,
    },
    /// It is claimed to be stable in a metric that its outputs do not have.
    #[error(
        "its output {column} is {left} on left and {right} on right, and {metric} is a distance of numbers; release numbers, or claim \
         stability in the metric hamming, symmetric or insert-delete"
    )]
    NotNumbers {
        /// The metric.
        metric: Metric,
        /// The component that is not a number.
        column: String,
        /// Its value on the left.
        left: String,
        /// Its value on the right.
        right: String,
    },
    /// The coin needed more recorded outputs than the file has.
    #[error(
        "the coin needed more outputs of {side} than its file has ({rows}); this happens for one seed in a million; use another --seed"
    )]
    UsedUp {
        /// Which side.
        side: Side,
        /// The outputs in its file.
        rows: usize,
    },
    /// Its outputs have more cells than allowed.
    #[error("its output has {width} cells, must be at most {MAX_WIDTH}; release less")]
    TooWide {
        /// The number of cells of an output.
        width: usize,
    },
    /// Every draw panics.
    #[error("it panics on every draw of both sides: {message}")]
    AlwaysPanics {
        /// The panic message.
        message: String,
    },
    /// The caller interrupted the run. A pair that has begun keeps the evidence of its finished
    /// looks.
    #[error("interrupted before any of its draws were judged")]
    Interrupted,
    /// It is a function of another language, and the function could not be called, or failed.
    #[error("{message}")]
    Function {
        /// What went wrong, and what to do.
        message: String,
    },
    /// It is a function of another language that shows nothing on these datasets. Others may do.
    #[error("{message}")]
    Misfit {
        /// Why.
        message: String,
    },
    /// It could not be prepared for the data.
    #[error("{0}")]
    NotPrepared(PrepareError),
    /// It is a program, and the program failed.
    #[error("{0}")]
    Process(Box<ProcessError>),
}

/// How a program failed that was asked for outputs.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
#[error("{command}: {problem}{}{}", stderr_text(.stderr), setup_text(.setup.as_deref()))]
pub struct ProcessError {
    /// The command line.
    pub command: String,
    /// What went wrong.
    pub problem: ProcessProblem,
    /// The end of what it wrote to standard error.
    pub stderr: String,
    /// How to install what it needs, if the audit file says so.
    pub setup: Option<String>,
}

/// What can go wrong with a program that is asked for outputs.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProcessProblem {
    /// It could not be started.
    #[error("cannot be started: {reason}")]
    NotStarted {
        /// The system's reason, and what to do.
        reason: String,
    },
    /// It uses another version of the protocol.
    #[error(
        "speaks version {theirs} of the protocol, and dp-audit speaks {ours}; docs/protocol.md describes it"
    )]
    Version {
        /// The version that dp-audit uses.
        ours: u64,
        /// The version in its hello.
        theirs: String,
    },
    /// Its hello is not valid.
    #[error("its hello is wrong: {reason}; docs/protocol.md describes it")]
    Hello {
        /// What is wrong.
        reason: String,
    },
    /// An answer is not valid.
    #[error("{reason}; docs/protocol.md describes what is expected")]
    Answer {
        /// What is wrong.
        reason: String,
    },
    /// It returned fewer or more outputs than requested.
    #[error("asked for {}, got {got}", counted(*asked, "output"))]
    WrongCount {
        /// How many were requested.
        asked: usize,
        /// How many were returned.
        got: usize,
    },
    /// It answered two requests with different seeds with the same draws.
    #[error(
        "gave the same draws for two different seeds; seed its generator with the seed of each request, or once per process from the system"
    )]
    Repeats,
    /// Two processes of it draw from different distributions.
    #[error(
        "its draws are not independent: of two processes that were started together, {what}. So a process keeps noise that it drew once. Draw new noise for each output, and keep none in a cache (functools.lru_cache, a global variable)"
    )]
    KeepsNoise {
        /// How they differ.
        what: SourceDifference,
    },
    /// It reported that it cannot continue.
    #[error("gave up: {message}")]
    Refused {
        /// Its error message.
        message: String,
    },
    /// It reported that it shows nothing on these datasets. Others may do.
    #[error("gave up: {message}")]
    Misfit {
        /// Why.
        message: String,
    },
    /// It exited or closed its output instead of answering.
    #[error("{how} when it was {task}")]
    Ended {
        /// How it ended.
        how: String,
        /// What it should have done.
        task: String,
    },
    /// It did not answer in time and was killed.
    #[error(
        "was silent for {seconds} s when it was {task}, and was killed; `timeout` in the audit file sets the limit"
    )]
    Hung {
        /// The time limit.
        seconds: String,
        /// What it should have done.
        task: String,
    },
}

impl ProcessProblem {
    /// Whether the program failed before it said hello. Then it fails whatever it is asked for.
    #[must_use]
    pub fn is_before_hello(&self) -> bool {
        match self {
            Self::NotStarted { .. } | Self::Version { .. } => true,
            Self::Ended { task, .. } | Self::Hung { task, .. } => task == HELLO_TASK,
            _ => false,
        }
    }
}

/// What a program should do first.
pub const HELLO_TASK: &str = "to say hello";

fn stderr_text(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!("\nIt wrote to standard error:\n{stderr}")
    }
}

fn setup_text(setup: Option<&str>) -> String {
    setup.map_or_else(String::new, |setup| format!("\nTo install what it needs: {setup}"))
}

/// Why a target could not be created from a subject and two datasets.
#[derive(Clone, Debug, Error, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PrepareError {
    /// The parameters are wrong, for any data.
    #[error("{}", super::in_process::params_problem(.key, .problem))]
    Params {
        /// Which: `params.query.lower`.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The parameters and the data do not fit each other, or the data does not fit the mechanism.
    #[error("{}{problem}", .side.map_or_else(String::new, |side| format!("{side}: ")))]
    Data {
        /// The side; absent if the problem is in the combination of both sides.
        side: Option<Side>,
        /// What is wrong, and what is needed.
        problem: String,
    },
    /// There is no such mechanism.
    #[error("{0}")]
    Unknown(String),
    /// The event of an accuracy claim does not fit the outputs.
    #[error("event: {0}")]
    Event(String),
    /// Scores or coins of canaries cannot be used.
    #[error("{0}")]
    Scores(String),
    /// Only the caller can create it.
    #[error(
        "a {0} cannot be prepared from its description; only the code that created it can run it"
    )]
    Given(String),
}
