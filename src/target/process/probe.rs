//! The first outputs of two processes. They show which columns the outputs have, and whether the
//! processes draw independently.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::child::Child;
use super::protocol::Request;
use super::{ChildProcess, lock};
use crate::model::Side;
use crate::output::{OutputBlock, Probe, Reading, Rows, Texts};
use crate::stats::sources::difference;
use crate::target::columns::{Columns, FIRST_OUTPUTS, first_requests, first_seed};
use crate::target::{ProcessProblem, StreamSeed, TargetError};

/// The outputs of either side, in the requests that ask for them. If time is limited, the later
/// requests are left out.
const REQUESTS: [usize; 5] = [1, 1, 6, 24, FIRST_OUTPUTS - 32];

/// What one process showed of a side.
struct FirstOutputs {
    side: Side,
    /// The seed of the first request.
    seed: StreamSeed,
    rows: Rows,
    texts: Vec<Texts>,
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
            for FirstOutputs { side, seed, rows, texts } in outputs {
                self.check_repeats(side, seed, &rows, &mut child)?;
                let mut texts_of_rows = texts
                    .iter()
                    .zip(REQUESTS)
                    .flat_map(|(texts, count)| std::iter::repeat_n(texts, count));
                for row in &rows {
                    texts_of_rows.next().into_iter().for_each(|texts| probe.see(row, texts));
                }
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
        let mut draw = || {
            let mut outputs = Side::BOTH.map(|side| {
                let (seed, rows) = (first_seed(index, side), Rows::new(self.width()));
                FirstOutputs { side, seed, rows, texts: Vec::new() }
            });
            for (count, part) in first_requests(REQUESTS, self.probe_limit) {
                if stopped.load(Ordering::Relaxed) {
                    break;
                }
                for FirstOutputs { side, seed, rows, texts } in &mut outputs {
                    let answer = self
                        .ask(&mut child, &Request { side: *side, count, seed: seed.part(part) })?;
                    let OutputBlock { rows: more, texts: of_more, .. } = answer;
                    rows.append(&more);
                    texts.push(of_more);
                }
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
