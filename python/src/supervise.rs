//! Runs work on other threads, while the calling thread shows progress and listens to Ctrl-C.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use dp_audit::fronts::{MAX_THREADS, Stop};
use dp_audit::{Event, Listener};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// How often signals are looked at.
const EVERY: Duration = Duration::from_millis(50);

/// How far a run is.
#[derive(Default)]
pub struct Progress {
    planned: AtomicU64,
    drawn: AtomicU64,
    /// The bits of the last bound.
    bound: AtomicU64,
    finished: AtomicU64,
}

impl Listener for Progress {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::AuditStarted { draws, .. } => {
                self.planned.fetch_add(draws, Ordering::Relaxed);
            }
            Event::Drawn { draws } => {
                self.drawn.fetch_add(draws, Ordering::Relaxed);
            }
            Event::Cut { draws } => {
                self.planned.fetch_sub(draws, Ordering::Relaxed);
            }
            Event::Looked { epsilon_lower } => {
                self.bound.store(epsilon_lower.to_bits(), Ordering::Relaxed);
            }
            Event::AuditFinished { .. } => {
                self.finished.fetch_add(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

impl Progress {
    /// Draws so far, draws planned so far, the last bound, audits finished.
    fn numbers(&self) -> (u64, u64, f64, u64) {
        let of = |number: &AtomicU64| number.load(Ordering::Relaxed);
        (of(&self.drawn), of(&self.planned), f64::from_bits(of(&self.bound)), of(&self.finished))
    }
}

/// Does `work` on a pool of threads and returns what it found, together with the exception that
/// interrupted it, if one did. After an interruption the work ends soon, with what is known so far.
pub fn supervise<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    stop: &Stop,
    show: Option<&Py<PyAny>>,
    work: impl FnOnce(&Progress) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    if let Some(threads) = threads.filter(|threads| !(1..=MAX_THREADS.into()).contains(threads)) {
        return Err(PyValueError::new_err(format!(
            "threads is {threads}, must be a whole number from 1 to {MAX_THREADS}"
        )));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    let pool = pool.map_err(|error| PyValueError::new_err(format!("threads: {error}")))?;
    let progress = Progress::default();
    let (found, interrupted) = py.detach(|| {
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            let progress = &progress;
            let worker =
                thread::Builder::new().name("dp-audit".to_owned()).spawn_scoped(scope, move || {
                    let found = pool.install(|| work(progress));
                    // Only the end counts; the receiver lives longer than this thread.
                    let _ = sender.send(());
                    found
                });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => return (Err(format!("cannot start a thread: {error}")), None),
            };
            let mut interrupted = None;
            while receiver.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = Python::attach(|py| listen(py, show, progress)) {
                    stop.set();
                    interrupted.get_or_insert(error);
                }
            }
            (
                worker.join().map_err(|_| {
                    "dp-audit has failed; this is an error of dp-audit itself".to_owned()
                }),
                interrupted,
            )
        })
    });
    Ok((found.map_err(PyRuntimeError::new_err)?, interrupted))
}

fn listen(py: Python<'_>, show: Option<&Py<PyAny>>, progress: &Progress) -> PyResult<()> {
    py.check_signals()?;
    show.map_or(Ok(()), |show| show.call1(py, progress.numbers()).map(|_| ()))
}
