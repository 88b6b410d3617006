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
use protocol::{Answer, Greeting, Hello, Request};
use repeats::{COMPARED, RepeatDetector};

use serde::{Deserialize, Serialize};

use super::{PairStream, Phase, Problem, ProcessError, StreamSeed, Target, TargetError};
use crate::model::{Dataset, Params, Side};
use crate::output::{Cell, MAX_WIDTH, Probe, Reading, Rows, Symbols};
use crate::stats::sources::difference;

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
    /// What the first child reported; all others must report the same width.
    hello: OnceLock<Hello>,
    /// The columns of outputs, which the first two children have shown.
    reading: OnceLock<Reading>,
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
            hello: OnceLock::new(),
            reading: OnceLock::new(),
            seeded: AtomicBool::new(true),
            repeats: RepeatDetector::default(),
            symbols: Mutex::default(),
        }
    }

    /// A child that is ready for requests: an idle one, or a new one.
    fn child(&self) -> Result<Child, TargetError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| self.greeted(Child::start(&self.command)?), Ok)
    }

    /// The child, after it has said hello.
    fn greeted(&self, mut child: Child) -> Result<Child, TargetError> {
        let hello = child.greet(&self.greeting, self.hello.get().map(|hello| hello.width))?;
        self.seeded.fetch_and(hello.seeded, Ordering::Relaxed);
        let width = hello.width;
        let first = self.hello.get_or_init(|| hello).width;
        if width != first {
            let reason = format!("it says width {width} and an earlier child of the same command said {first}");
            return Err(child.fail(Problem::Hello { reason }));
        }
        Ok(child)
    }

    /// The cells of an output, as the first child reported them.
    fn width(&self) -> usize {
        self.hello.get().map_or(1, |hello| hello.width)
    }

    /// The columns of outputs.
    fn reading(&self) -> Result<&Reading, TargetError> {
        if let Some(reading) = self.reading.get() {
            return Ok(reading);
        }
        let reading = self.probe()?;
        Ok(self.reading.get_or_init(|| reading))
    }

    /// Asks two children that start at the same moment for a few outputs. These show which columns the outputs have, and whether the
    /// children draw independently: a generator that is seeded with the time gives both the same draws, and a child that keeps its noise
    /// draws from a distribution of its own. No rule is judged on these outputs.
    /// Their seeds do not depend on the run, so a replay of a witness has the same columns.
    fn probe(&self) -> Result<Reading, TargetError> {
        let starting = [Child::start(&self.command)?, Child::start(&self.command)?];
        let mut probe = Probe::default();
        let mut first_answers: Vec<Rows> = Vec::new();
        for (index, child) in starting.into_iter().enumerate() {
            let mut child = self.greeted(child)?;
            for side in Side::BOTH {
                let seed = PairStream::new(0, "", "").side(Phase::Probe, index as u64, side);
                let Answer { rows, texts, .. } = child.ask(&Request { side, count: COMPARED, seed }, self.width())?;
                self.check_repeats(side, seed, &rows, &mut child)?;
                rows.iter().for_each(|row| probe.see(row, &texts));
                first_answers.push(rows);
            }
            if let [left, right, other_left, other_right] = first_answers.as_slice()
                && let Some(what) = difference([left, right], [other_left, other_right])
            {
                return Err(child.fail(Problem::KeepsNoise { what }));
            }
            self.keep(child);
        }
        let reading = probe.reading(self.width());
        if reading.width() > MAX_WIDTH {
            return Err(TargetError::TooWide { width: reading.width() });
        }
        let own = self.hello.get().map(|hello| hello.columns.as_slice()).unwrap_or_default();
        if !reading.is_plain() || !own.is_empty() {
            let columns = Symbols::default().with_columns(reading.columns(own));
            self.symbols.lock().unwrap_or_else(PoisonError::into_inner).merge(columns);
        }
        Ok(reading)
    }

    /// Fails if another request had the same answer.
    fn check_repeats(&self, side: Side, seed: StreamSeed, rows: &Rows, child: &mut Child) -> Result<(), TargetError> {
        if self.repeats.is_repeat(side, seed, rows) { Err(child.fail(Problem::Repeats)) } else { Ok(()) }
    }

    fn keep(&self, child: Child) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(child);
    }
}

impl Target for ChildProcess {
    fn open(&self) -> Result<usize, TargetError> {
        self.reading().map(Reading::width)
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        let reading = self.reading()?;
        let mut child = self.child()?;
        let per_request = MAX_OUTPUTS.min(MAX_CELLS / reading.width()).max(1);
        // Only rules use the names of symbols, and rules are learned in exploration.
        let explores = seed.place().phase == Phase::Explore;
        // The requests depend only on count, width and seed, so the same seed always gives the same requests.
        for part in 0..count.div_ceil(per_request) {
            let request = Request { side, count: per_request.min(count - part * per_request), seed: seed.part(part as u64) };
            let Answer { mut rows, texts, mut names } = child.ask(&request, self.width())?;
            self.check_repeats(side, request.seed, &rows, &mut child)?;
            if !reading.is_plain() {
                let cells = std::mem::replace(&mut rows, Rows::new(reading.width()));
                rows.resize(cells.len());
                for ((row, cells), rank) in rows.iter_mut().zip(&cells).zip(0..) {
                    let name = |name: &str| if explores { names.ranked_symbol(2 * rank, name) } else { Cell::symbol(name) };
                    reading.read(cells, &texts, row, name);
                }
            }
            if explores {
                let first = 2 * (seed.place().first + (part * per_request) as u64) + side as u64;
                self.symbols.lock().unwrap_or_else(PoisonError::into_inner).merge(names.ranked_from(first));
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
