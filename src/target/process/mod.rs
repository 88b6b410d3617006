//! Mechanisms in any language: programs that run as child processes and return outputs on request.
//!
//! `docs/protocol.md` defines the protocol. Any fault of a child ends the pair with an error: none
//! of its earlier outputs are used.
//!
//! | file | what it contains |
//! |---|---|
//! | `command.rs` | how a program is started |
//! | `child.rs`, `group.rs` | one running program, and everything that it has started |
//! | `protocol.rs` | the messages |
//! | `blocks.rs` | draws → requests |
//! | `lanes.rs` | several processes at work, results in order |
//! | `pace.rs` | how fast a program is, and so how many processes are busy |
//! | `workers.rs` | processes that wait for their next pair |
//! | `probe.rs` | the first outputs of two processes |
//! | `repeats.rs` | equal answers to different requests |
//! | `training.rs` | a program that trains with canaries |

pub mod blocks;
mod child;
mod command;
mod group;
mod lanes;
mod pace;
mod probe;
mod protocol;
mod repeats;
mod training;
mod workers;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use blocks::{Block, blocks};
use child::{Child, Greeted};
pub use command::{CommandLine, WORKER};
#[cfg(feature = "cli")]
pub use group::end_on_signals;
use lanes::{Slots, in_order};
use pace::Pace;
use protocol::{Greeting, Hello, Request};
use repeats::RepeatDetector;
pub use training::TrainingProgram;
pub use workers::Workers;

use super::{Phase, ProcessProblem, Share, Stop, StreamSeed, Target, TargetError, Timing, Turns};
use crate::model::{Dataset, Params, Side};
use crate::output::{OutputBlock, Reading, Rows, Symbols, TextView};

/// The name that audit files use for any program.
pub const NAME: &str = "command";
/// Its description in the list of mechanisms.
pub const SUMMARY: &str = "a program in any language, run as command = [\"program\", \"argument\", …]; see docs/protocol.md";

/// Cells of outputs that may wait for others to be delivered.
const MAX_WAITING_CELLS: usize = 1 << 22;

/// A request: its side, the seed of the side's draws, and the block of them.
type Job = (Side, StreamSeed, Block);

/// A program under audit, on both datasets of a pair.
pub struct ChildProcess {
    command: CommandLine,
    greeting: Greeting,
    /// How long the outputs of the probe may take, and how long a process may try out the mechanism
    /// before it.
    probe_limit: Option<Duration>,
    /// What is looked at in outputs that are texts.
    view: TextView,
    /// Where processes come from and go to.
    workers: Arc<Workers>,
    /// Processes that have not been greeted for this pair.
    waiting: Mutex<Vec<Child>>,
    /// Processes that are ready for requests.
    idle: Mutex<Vec<Child>>,
    slots: Slots,
    pace: Pace,
    /// What the first child reported; all others must report the same width.
    hello: OnceLock<Hello>,
    /// The columns of outputs, which the first two children have shown.
    reading: OnceLock<Reading>,
    /// Whether all children so far reported that they follow seeds.
    seeded: AtomicBool,
    /// Whether a child has failed. Then none of the others is used for another pair.
    failed: AtomicBool,
    repeats: RepeatDetector,
    /// Ends the draws between two requests.
    stop: Stop,
    symbols: Mutex<Symbols>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChildProcess {
    /// Prepares everything that does not need the program to run.
    #[must_use]
    pub fn prepare(command: CommandLine, params: &Params, left: &Dataset, right: &Dataset) -> Self {
        let greeting = Greeting::new(params, left, right);
        Self {
            command,
            greeting,
            probe_limit: None,
            view: TextView::Everything,
            workers: Arc::default(),
            waiting: Mutex::default(),
            idle: Mutex::default(),
            slots: Slots::default(),
            pace: Pace::default(),
            hello: OnceLock::new(),
            reading: OnceLock::new(),
            seeded: AtomicBool::new(true),
            failed: AtomicBool::new(false),
            repeats: RepeatDetector::default(),
            stop: Stop::default(),
            symbols: Mutex::default(),
        }
    }

    /// The same program, which uses processes of earlier pairs and leaves its own to later ones.
    #[must_use]
    pub fn with_workers(mut self, workers: Arc<Workers>) -> Self {
        self.workers = workers;
        self
    }

    /// The same program, whose first outputs may take only this long. If they take longer, fewer of
    /// them are looked at.
    #[must_use]
    pub fn with_probe_limit(mut self, limit: Duration) -> Self {
        self.probe_limit = Some(limit);
        self
    }

    /// The same program, which is asked for nothing more after an interruption.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The same program, of whose texts only this is looked at.
    #[must_use]
    pub fn with_view(mut self, view: TextView) -> Self {
        self.view = view;
        self
    }

    /// A child that is ready for requests: an idle one, one of an earlier pair, or a new one.
    fn child(&self) -> Result<Child, TargetError> {
        let idle = lock(&self.idle).pop();
        idle.map_or_else(|| self.greeted(self.ungreeted()?), Ok)
    }

    /// A child that has not been greeted for this pair.
    fn ungreeted(&self) -> Result<Child, TargetError> {
        let waiting = lock(&self.waiting).pop();
        waiting.map_or_else(|| Child::start(&self.command), Ok)
    }

    /// The child, after it has said hello.
    fn greeted(&self, mut child: Child) -> Result<Child, TargetError> {
        let Greeted { hello, waited, start_up } =
            child.greet(&self.greeting, self.hello.get(), self.probe_limit)?;
        self.pace.greeted(waited, start_up);
        self.seeded.fetch_and(hello.seeded, Ordering::Relaxed);
        let width = hello.width;
        let first = self.hello.get_or_init(|| hello).width;
        if width != first {
            let reason = format!(
                "it says width {width} and an earlier child of the same command said {first}"
            );
            return Err(child.fail(ProcessProblem::Hello { reason }));
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

    /// Asks a child for outputs and measures how long it takes.
    fn ask(&self, child: &mut Child, request: &Request) -> Result<OutputBlock, TargetError> {
        self.stop.check()?;
        let asked = Instant::now();
        let answer = child.ask(request, self.width(), self.pace.patience(request.count))?;
        self.pace.drew(request.count, asked.elapsed());
        Ok(answer)
    }

    /// Fails if another request had the same answer.
    fn check_repeats(
        &self,
        side: Side,
        seed: StreamSeed,
        rows: &Rows,
        child: &mut Child,
    ) -> Result<(), TargetError> {
        if self.repeats.is_repeat(side, seed, rows) {
            Err(child.fail(ProcessProblem::Repeats))
        } else {
            Ok(())
        }
    }

    /// The outputs of a block, with the columns that the reading adds.
    fn rows(
        &self,
        child: &mut Child,
        side: Side,
        seed: StreamSeed,
        block: Block,
    ) -> Result<Rows, TargetError> {
        let reading = self.reading()?;
        let request = Request { side, count: block.count, seed: seed.part(block.part) };
        let answer = self.ask(child, &request)?;
        self.check_repeats(side, request.seed, &answer.rows, child)?;
        let explores = seed.place().phase == Phase::Explore;
        let (rows, names) = answer.read(reading, explores);
        if explores {
            let first = 2 * (seed.place().first + block.first as u64) + side as u64;
            lock(&self.symbols).merge(names.ranked_from(first));
        }
        Ok(rows)
    }

    /// Makes the draws of all jobs, in their order. How many processes work on them depends on
    /// their speed.
    fn work(
        &self,
        jobs: &[Job],
        draws: usize,
        width: usize,
        sink: &mut dyn FnMut(Side, &Rows),
    ) -> Result<(), TargetError> {
        let most = rayon::current_num_threads();
        let lanes = self.pace.lanes(draws, most);
        let largest = jobs.iter().map(|(_, _, block)| block.count).max().unwrap_or(1);
        let at_once = (MAX_WAITING_CELLS / (width * largest)).max(1);
        let drawn = jobs.chunks(at_once).try_for_each(|jobs| {
            let lane = |next: &dyn Fn() -> Option<usize>,
                        done: &mut dyn FnMut(usize, (Side, Rows))| {
                let _slot = self.slots.take(most);
                // A lane that has nothing to do needs no process.
                let Some(first) = next() else { return Ok(()) };
                let mut child = self.child()?;
                let mut job = Some(first);
                while let Some(index) = job {
                    let (side, seed, block) = jobs[index];
                    done(index, (side, self.rows(&mut child, side, seed, block)?));
                    job = next();
                }
                lock(&self.idle).push(child);
                Ok(())
            };
            in_order(lanes, jobs.len(), lane, &mut |(side, rows)| sink(side, &rows))
        });
        self.noted(drawn)
    }

    /// Notes that a child has failed.
    fn noted<T>(&self, result: Result<T, TargetError>) -> Result<T, TargetError> {
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl Target for ChildProcess {
    fn open(&self) -> Result<usize, TargetError> {
        self.noted(self.reading().map(Reading::width))
    }

    /// The blocks depend only on count, width and seed.
    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let width = self.open()?;
        let blocks = blocks(seed.place().first, count, width);
        let jobs: Vec<Job> = blocks.into_iter().map(|block| (side, seed, block)).collect();
        self.work(&jobs, count, width, &mut |_, rows| sink(rows))
    }

    /// The requests of both sides take turns.
    fn draw_both(
        &self,
        shares: [Share; 2],
        order: StreamSeed,
        sink: &mut dyn FnMut(Side, &Rows),
    ) -> Result<(), TargetError> {
        let width = self.open()?;
        let pieces = shares.map(|Share { count, seed }| {
            let blocks = blocks(seed.place().first, count, width);
            blocks.into_iter().map(|block| (seed, block)).collect()
        });
        let jobs = Turns::new(order).interleave(pieces).into_iter();
        let jobs: Vec<Job> = jobs.map(|(side, (seed, block))| (side, seed, block)).collect();
        self.work(&jobs, shares.iter().map(|share| share.count).sum(), width, sink)
    }

    fn symbols(&self) -> Symbols {
        lock(&self.symbols).clone()
    }

    fn own_cells(&self) -> Option<usize> {
        Some(self.width())
    }

    /// Two processes are compared before the first draw, and a draw may take a second.
    fn further_draws(&self) -> u64 {
        0
    }

    fn reproducible(&self) -> bool {
        self.seeded.load(Ordering::Relaxed)
    }

    fn timing(&self) -> Option<Timing> {
        Some(self.pace.timing())
    }

    fn close(&self) {
        let mut children = std::mem::take(&mut *lock(&self.idle));
        children.append(&mut lock(&self.waiting));
        if !self.failed.load(Ordering::Relaxed) {
            self.workers.put(&self.command, children);
        }
    }
}
