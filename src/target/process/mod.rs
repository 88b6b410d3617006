//! Mechanisms in any language: programs that run as child processes and return outputs on request.
//!
//! `docs/protocol.md` defines the protocol. A child runs as long as its pair is audited, and each worker thread has its own child. Any
//! fault of a child ends the pair with an error: none of its earlier outputs are used.

mod child;
mod group;
mod protocol;
mod repeats;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use child::Child;
#[cfg(feature = "cli")]
pub use group::end_on_signals;
use protocol::{Greeting, Request};
use repeats::RepeatDetector;

use serde::{Deserialize, Serialize};

use super::{Phase, Problem, ProcessError, StreamSeed, Target, TargetError};
use crate::model::{Dataset, Params, Side};
use crate::output::{Rows, Symbols};

/// The name that audit files use for any program.
pub const NAME: &str = "command";
/// Its description in the list of mechanisms.
pub const SUMMARY: &str = "a program in any language, run as command = [\"program\", \"argument\", …]; see docs/protocol.md";

/// The worker for mechanisms in Python.
pub const WORKER: &str = include_str!("../../../scripts/dp_audit_worker.py");
/// The placeholder for it in a command line. It is needed because an installed dp-audit has no path to the worker.
const WORKER_PLACEHOLDER: &str = "{worker}";

/// The time limit for an answer, if the audit file does not set `timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest time limit in seconds: 30 years. A longer one has no use and could overflow an `Instant`.
const MAX_TIMEOUT_SECONDS: f64 = 1e9;
/// Outputs per request. With more, a slow mechanism may exceed the time limit. With fewer, the requests themselves cost too much.
const MAX_OUTPUTS: usize = 16_384;
/// Cells per request, so that wide outputs do not fill the memory.
const MAX_CELLS: usize = 1 << 18;

/// How a program is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    words: Vec<String>,
    folder: PathBuf,
    timeout: Duration,
    setup: Option<String>,
}

impl CommandLine {
    /// The program and its arguments, to be run in the audit file's folder; `setup` says how to install what it needs.
    ///
    /// # Errors
    /// When there is no program.
    pub fn new(words: Vec<String>, file: &Path, timeout: Option<f64>, setup: Option<String>) -> Result<Self, String> {
        if words.first().is_none_or(String::is_empty) {
            return Err("command is empty; give a program and its arguments, for example [\"python3\", \"my_mechanism.py\"]".to_owned());
        }
        let file = std::path::absolute(file).map_err(|error| format!("command: the folder of the audit file is not known: {error}"))?;
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        let timeout = timeout.map_or(DEFAULT_TIMEOUT, |seconds| Duration::from_secs_f64(seconds.clamp(0.0, MAX_TIMEOUT_SECONDS)));
        Ok(Self { words, folder, timeout, setup })
    }

    /// The program. A path is relative to the audit file's folder; a name without a slash is searched on the `PATH`.
    fn program(&self) -> PathBuf {
        let program = Path::new(&self.words[0]);
        if program.components().count() > 1 { self.folder.join(program) } else { program.to_owned() }
    }

    /// The arguments. The built-in worker is passed to Python as source code.
    fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words[1..].iter().flat_map(|word| if word == WORKER_PLACEHOLDER { vec!["-c", WORKER] } else { vec![word.as_str()] })
    }

    /// The files among its words, for example a script or the program itself.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.words.iter().map(|word| self.folder.join(word)).filter(|file| file.is_file())
    }

    fn fails(&self, problem: Problem, stderr: String) -> TargetError {
        // The setup hint helps only if something may be missing. A program that answers, although incorrectly, is installed.
        let may_be_missing = matches!(problem, Problem::NotStarted { .. } | Problem::Ended { .. } | Problem::Refused { .. });
        let setup = self.setup.clone().filter(|_| may_be_missing);
        TargetError::Process(Box::new(ProcessError { command: self.to_string(), problem, stderr, setup }))
    }
}

impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}

/// A program under audit, on both datasets of a pair.
pub struct ChildProcess {
    command: CommandLine,
    greeting: Greeting,
    idle: Mutex<Vec<Child>>,
    /// The width that the first child reported; all others must report the same.
    width: OnceLock<usize>,
    /// Whether all children so far reported that they follow seeds.
    seeded: AtomicBool,
    repeats: RepeatDetector,
    symbols: Mutex<Symbols>,
}

impl ChildProcess {
    /// Prepares everything that does not need the program to run.
    #[must_use]
    pub fn prepare(command: CommandLine, params: &Params, left: &Dataset, right: &Dataset) -> Self {
        let greeting = Greeting::new(params, left, right);
        Self {
            command,
            greeting,
            idle: Mutex::default(),
            width: OnceLock::new(),
            seeded: AtomicBool::new(true),
            repeats: RepeatDetector::default(),
            symbols: Mutex::default(),
        }
    }

    /// A child that is ready for requests: an idle one, or a new one.
    fn child(&self) -> Result<(Child, usize), TargetError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let (Some(child), Some(width)) = (idle, self.width.get()) {
            return Ok((child, *width));
        }
        let mut child = Child::start(&self.command)?;
        let hello = child.greet(&self.greeting)?;
        let width = *self.width.get_or_init(|| hello.width);
        if width != hello.width {
            let reason = format!("it says width {} and an earlier child of the same command said {width}", hello.width);
            return Err(child.fail(Problem::Hello { reason }));
        }
        self.seeded.fetch_and(hello.seeded, Ordering::Relaxed);
        Ok((child, width))
    }

    fn keep(&self, child: Child) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }
}

impl Target for ChildProcess {
    fn open(&self) -> Result<usize, TargetError> {
        let (child, width) = self.child()?;
        self.keep(child);
        Ok(width)
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        let (mut child, width) = self.child()?;
        let per_request = MAX_OUTPUTS.min(MAX_CELLS / width).max(1);
        // The requests depend only on count, width and seed, so the same seed always gives the same requests.
        for part in 0..count.div_ceil(per_request) {
            let request = Request { side, count: per_request.min(count - part * per_request), seed: seed.part(part as u64) };
            let (rows, names) = child.ask(&request, width)?;
            // Only rules use the names of symbols, and rules are learned in exploration.
            if seed.place().phase == Phase::Explore {
                let first = 2 * (seed.place().first + (part * per_request) as u64) + side as u64;
                self.symbols.lock().unwrap_or_else(PoisonError::into_inner).merge(names.ranked_from(first));
            }
            if self.repeats.is_repeat(side, request.seed, &rows) {
                return Err(child.fail(Problem::Repeats));
            }
            sink(&rows);
        }
        self.keep(child);
        Ok(())
    }

    fn symbols(&self) -> Symbols {
        self.symbols.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn reproducible(&self) -> bool {
        self.seeded.load(Ordering::Relaxed)
    }

    fn close(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
