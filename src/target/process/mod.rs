//! Mechanisms in any language: programs that are run as child processes and asked for outputs.
//!
//! `docs/protocol.md` is the contract. A child lives as long as its pair is audited, and each worker thread has one of its own. Whatever a
//! child does wrong ends the pair with an error: what it had put out until then is not used.

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
use repeats::Repeats;

use serde::{Deserialize, Serialize};

use super::{Phase, Problem, ProcessError, StreamSeed, Target, TargetError};
use crate::model::{Dataset, Params, Side};
use crate::output::{Rows, Symbols};

/// The name that audit files use for any program.
pub const NAME: &str = "command";
/// One line about it.
pub const SUMMARY: &str = "a program in any language, run as command = [\"program\", \"argument\", …]; docs/protocol.md";

/// The worker for mechanisms in Python.
pub const WORKER: &str = include_str!("../../../scripts/dp_audit_worker.py");
/// What stands for it in a command line: an installed program has no path to it.
const WORKER_WORD: &str = "{worker}";

/// A child that is silent for so long is taken for hung, unless the audit file says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
/// A longer time limit, in seconds, is as good as none: 30 years.
const MOST_PATIENCE: f64 = 1e9;
/// Outputs of one request: many enough that asking costs little, few enough that a slow mechanism answers in time.
const MOST_OUTPUTS: usize = 16_384;
/// Cells of one request, so that wide outputs do not fill the memory.
const MOST_CELLS: usize = 1 << 18;

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
            return Err("command is empty; give a program and its arguments, like [\"python3\", \"my_mechanism.py\"]".to_owned());
        }
        let file = std::path::absolute(file).map_err(|error| format!("command: the folder to run it in is not known: {error}"))?;
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        let timeout = timeout.map_or(PATIENCE, |seconds| Duration::from_secs_f64(seconds.clamp(0.0, MOST_PATIENCE)));
        Ok(Self { words, folder, timeout, setup })
    }

    /// The program: a path is relative to the audit file's folder, a bare name is searched for as a shell does.
    fn program(&self) -> PathBuf {
        let program = Path::new(&self.words[0]);
        if program.components().count() > 1 { self.folder.join(program) } else { program.to_owned() }
    }

    /// The arguments; the built-in worker is given to Python as source.
    fn arguments(&self) -> impl Iterator<Item = &str> {
        self.words[1..].iter().flat_map(|word| if word == WORKER_WORD { vec!["-c", WORKER] } else { vec![word.as_str()] })
    }

    /// The files that it names: a script, say, or the program itself.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.words.iter().map(|word| self.folder.join(word)).filter(|file| file.is_file())
    }

    fn fails(&self, problem: Problem, stderr: String) -> TargetError {
        // A program that starts and answers, only wrongly, is installed.
        let missing = matches!(problem, Problem::NotStarted { .. } | Problem::Ended { .. } | Problem::Refused { .. });
        let setup = self.setup.clone().filter(|_| missing);
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
    /// As the first child said; the others must say the same.
    width: OnceLock<usize>,
    /// Whether all children so far said that they honour seeds.
    seeded: AtomicBool,
    repeats: Repeats,
    symbols: Mutex<Symbols>,
}

impl ChildProcess {
    /// Gets everything ready that can be without starting the program.
    #[must_use]
    pub fn prepare(command: CommandLine, params: &Params, left: &Dataset, right: &Dataset) -> Self {
        let greeting = Greeting::new(params, left, right);
        Self {
            command,
            greeting,
            idle: Mutex::default(),
            width: OnceLock::new(),
            seeded: AtomicBool::new(true),
            repeats: Repeats::default(),
            symbols: Mutex::default(),
        }
    }

    /// A child that waits for requests: an idle one, or a new one.
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
        let most = MOST_OUTPUTS.min(MOST_CELLS / width).max(1);
        // The division into requests depends on nothing but count and width, so the same seed asks the same questions.
        for part in 0..count.div_ceil(most) {
            let request = Request { side, count: most.min(count - part * most), seed: seed.part(part as u64) };
            let (rows, names) = child.ask(&request, width)?;
            // Names are for rules, and rules are learned in exploration.
            if seed.place().phase == Phase::Explore {
                let first = 2 * (seed.place().first + (part * most) as u64) + side as u64;
                self.symbols.lock().unwrap_or_else(PoisonError::into_inner).merge(names.ranked_from(first));
            }
            if self.repeats.found(side, request.seed, &rows) {
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
