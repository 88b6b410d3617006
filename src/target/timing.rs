//! Where the time of a program goes.

use std::fmt;

use crate::model::number::counted;

use serde::{Deserialize, Serialize};

/// How long all processes of a program took together, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The number of processes that were greeted.
    pub processes: usize,
    /// Starting them: what they do before they read the greeting, such as imports. Zero for
    /// processes of an earlier pair.
    pub start_up: f64,
    /// From reading the greeting to the hello.
    pub prepare: f64,
    /// Drawing, from each request to the end of its answer.
    pub draw: f64,
    /// The draws, including those that only show which columns the outputs have.
    pub draws: u64,
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processes, start_up, prepare, draw, .. } = self;
        let processes = counted(*processes, "process");
        write!(
            f,
            "{processes}, together {start_up:.1} s to start, {prepare:.1} s to prepare, {draw:.1} s to draw"
        )
    }
}
