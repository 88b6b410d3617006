//! The first outputs of two processes. They show which columns the outputs have, and whether the
//! processes draw independently.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::child::Child;
use super::protocol::Request;
use super::{ChildProcess, lock};
use crate::model::Side;
use crate::output::{OutputBlock, Probe, Reading, Rows};
use crate::stats::sources::difference;
use crate::target::columns::{Columns, FIRST_OUTPUTS, first_requests, first_seed, more_requests};
use crate::target::{ProcessProblem, StreamSeed, TargetError};

/// The outputs of either side, in the requests that ask for them. If time is limited, the later
/// requests are left out.
const REQUESTS: [usize; 5] = [1, 1, 6, 24, FIRST_OUTPUTS - 32];

/// More outputs of either side, which are only compared between the two processes: 32,768 in all.
const COMPARED: [usize; 7] = [256, 512, 1024, 2048, 4096, 8192, 16_384];

/// They must be cheap: each of them is asked for if it should be there after this time.
const CHEAP: Duration = Duration::from_millis(300);

/// The most cells of one request for outputs that are only compared.
const MAX_COMPARED_CELLS: usize = 1 << 18;

/// What one process showed of a side.
struct FirstOutputs {
    side: Side,
    /// The seed of the first request.
    seed: StreamSeed,
    /// The first outputs.
    rows: Rows,
    /// The same, and further ones.
    blocks: Vec<OutputBlock>,
}

impl ChildProcess {
    /// Asks two children that start at the same moment for a few outputs. These show which columns
    /// the outputs have, and whether the children draw independently: a generator that is seeded
    /// with the time gives both the same draws, and a child that keeps its noise draws from a
    /// distribution of its own. No rule is judged on these outputs.
    pub(super) fn probe(&self) -> Result<Reading, TargetError> {
        lock(&self.waiting).append(&mut self.workers.take(&self.command));
        let [one, other] = [self.ungreeted()?, self.ungreeted()?];
        // One after the other: the second is told the width of the first.
        let starting = [self.greeted(one)?, self.greeted(other)?];
        let stopped = AtomicBool::new(false);
        let shown: Vec<Result<(Child, [FirstOutputs; 2]), TargetError>> = thread::scope(|scope| {
            let [one, other] = starting;
            let stopped = &stopped;
            let second = thread::Builder::new()
                .spawn_scoped(scope, move || self.first_outputs(1, other, stopped));
            let first = self.first_outputs(0, one, stopped);
            let second = match second.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(second)) => second,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => {
                    let reason = format!(
                        "{error}; the system allows no more processes or threads; choose fewer with --threads"
                    );
                    Err(self.command.fails(ProcessProblem::NotStarted { reason }, String::new()))
                }
            };
            vec![first, second]
        });
        let mut probe = Probe::default();
        let mut earlier: Vec<Rows> = Vec::new();
        for shown in shown {
            let (mut child, outputs) = shown?;
            for FirstOutputs { side, seed, rows, blocks } in outputs {
                self.check_repeats(side, seed, &rows, &mut child)?;
                blocks.iter().for_each(|block| block.show(&mut probe));
                earlier.push(rows);
            }
            if let [left, right, other_left, other_right] = &equally_many(&earlier)[..]
                && let Some(what) = difference([left, right], [other_left, other_right])
            {
                return Err(child.fail(ProcessProblem::KeepsNoise { what }));
            }
            lock(&self.idle).push(child);
        }
        let own = self.hello.get().map(|hello| hello.columns.as_slice()).unwrap_or_default();
        let columns = Columns::decide(probe, &self.view, self.width(), own)?;
        lock(&self.symbols).merge(columns.symbols());
        Ok(columns.reading)
    }

    /// Asks a child for its first outputs, until the time is over or the other child has failed.
    fn first_outputs(
        &self,
        index: u64,
        mut child: Child,
        stopped: &AtomicBool,
    ) -> Result<(Child, [FirstOutputs; 2]), TargetError> {
        let begun = Instant::now();
        let mut draw = || {
            let mut outputs = Side::BOTH.map(|side| {
                let (seed, rows) = (first_seed(index, side), Rows::new(self.width()));
                FirstOutputs { side, seed, rows, blocks: Vec::new() }
            });
            let mut ask = |outputs: &mut [FirstOutputs; 2], count, part| {
                for FirstOutputs { side, seed, blocks, .. } in outputs {
                    let request = Request { side: *side, count, seed: seed.part(part) };
                    blocks.push(self.ask(&mut child, &request)?);
                }
                Ok(())
            };
            let goes_on = |_: &(usize, u64)| !stopped.load(Ordering::Relaxed);
            for (count, part) in first_requests(REQUESTS, self.probe_limit).take_while(goes_on) {
                ask(&mut outputs, count, part)?;
            }
            for FirstOutputs { rows, blocks, .. } in &mut outputs {
                blocks.iter().for_each(|block| rows.append(&block.rows));
            }
            let mut probe = Probe::default();
            outputs.iter().flat_map(|one| &one.blocks).for_each(|block| block.show(&mut probe));
            if probe.has_texts() {
                for (count, part) in more_requests(begun, self.probe_limit).take_while(goes_on) {
                    ask(&mut outputs, count, part)?;
                }
            }
            // Outputs that never vary are the same in any process.
            let varies =
                |outputs: &FirstOutputs| outputs.rows.iter().any(|row| row != outputs.rows.row(0));
            if outputs[0].rows.len() < FIRST_OUTPUTS || !outputs.iter().any(varies) {
                return Ok(outputs);
            }
            let (begun, mut drawn) = (Instant::now(), 0);
            for (count, part) in COMPARED.into_iter().zip(REQUESTS.len() as u64..) {
                // The next request should take as long per draw as those before it.
                let elapsed = begun.elapsed().as_secs_f64();
                let per_draw =
                    if drawn == 0 { self.pace.expected(1) } else { elapsed / drawn as f64 };
                let expected = elapsed + (2 * count) as f64 * per_draw;
                let limit = self.probe_limit.map_or(CHEAP, |limit| limit.min(CHEAP));
                if stopped.load(Ordering::Relaxed)
                    || expected > limit.as_secs_f64()
                    || count * self.width() > MAX_COMPARED_CELLS
                {
                    break;
                }
                for FirstOutputs { side, seed, rows, .. } in &mut outputs {
                    let answer = self
                        .ask(&mut child, &Request { side: *side, count, seed: seed.part(part) })?;
                    rows.append(&answer.rows);
                }
                drawn += 2 * count;
            }
            Ok(outputs)
        };
        let found = draw();
        if found.is_err() {
            stopped.store(true, Ordering::Relaxed);
        }
        Ok((child, found?))
    }
}

/// The first rows of each list, as many as all of them have.
fn equally_many(lists: &[Rows]) -> Vec<Rows> {
    let count = lists.iter().map(Rows::len).min().unwrap_or(0);
    let first = |rows: &Rows| {
        let mut rows = rows.clone();
        rows.resize(count);
        rows
    };
    lists.iter().map(first).collect()
}
