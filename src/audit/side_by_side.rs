//! Audits whose statements run side by side. Small pairs have parts that one thread does alone, so
//! several pairs at once keep all threads busy. What is found does not depend on it: a statement
//! has its own streams, and audits end in their order.

use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::vec::IntoIter;

use rayon::Scope;

use super::control::run_control;
use super::run::Known;
use super::time_limit::RunClock;
use super::{
    Audit, AuditReport, Control, Event, Listener, Plan, SearchHistory, StatementResult, Worker,
};
use crate::model::Settings;

/// The most statements at the same time. It bounds the memory: each may keep rows to learn from.
/// Draws of one statement use all threads, too. Origin: limit, about 4 GB if all outputs are wide.
const MOST_AT_ONCE: usize = 16;

/// What all statements of a run share.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    /// The settings.
    pub settings: Settings,
    /// Over how many statements α is divided.
    pub uncertain: usize,
    /// Over how many controls their α is divided.
    pub controls: usize,
    /// Gets the results.
    pub worker: &'a dyn Worker,
    /// Hears of everything.
    pub listener: &'a dyn Listener,
}

/// Runs audits that the worker can run side by side, on the rayon pool that it is called in.
/// `finished` has the reports of the audits before them, and in the end theirs, too.
pub fn run_side_by_side<'a>(
    audits: Vec<(&'a Audit, Option<Known>)>,
    shared: Shared<'a>,
    finished: &mut Vec<Arc<AuditReport>>,
) {
    let at_once = rayon::current_num_threads().min(MOST_AT_ONCE);
    let queue = Queue { audits: audits.into_iter().enumerate(), started: None };
    let ending = Ending {
        next: 0,
        waiting: BTreeMap::new(),
        finished: std::mem::take(finished),
        is_telling: false,
    };
    let run = Run { shared, queue: Mutex::new(queue), ending: Mutex::new(ending) };
    rayon::scope(|scope| (0..at_once).for_each(|_| run.spawn(scope)));
    *finished = run.ending.into_inner().unwrap_or_else(PoisonError::into_inner).finished;
}

struct Run<'a> {
    shared: Shared<'a>,
    queue: Mutex<Queue<'a>>,
    ending: Mutex<Ending>,
}

/// What nobody has taken yet, with its index.
type Rest<T> = Enumerate<IntoIter<T>>;

/// What is to be done, in order.
struct Queue<'a> {
    audits: Rest<(&'a Audit, Option<Known>)>,
    /// The audit that has begun, and its plans.
    started: Option<(Arc<Started<'a>>, Rest<Plan>)>,
}

/// An audit whose statements are being run.
struct Started<'a> {
    index: usize,
    audit: &'a Audit,
    /// What a search has found about some of its statements.
    found: Vec<StatementResult>,
    search: Option<Arc<SearchHistory>>,
    results: Vec<OnceLock<StatementResult>>,
    /// The statements without a result.
    left: AtomicUsize,
}

/// The end of audits: they are told in their order, by one thread at a time.
struct Ending {
    /// The index of the audit that is told next.
    next: usize,
    /// Finished audits that come after one that is not finished.
    waiting: BTreeMap<usize, Arc<AuditReport>>,
    finished: Vec<Arc<AuditReport>>,
    is_telling: bool,
}

/// Something to do.
enum Task<'a> {
    Statement(Arc<Started<'a>>, usize, Box<Plan>),
    /// Nothing remains to be run of this audit.
    End(usize, Arc<AuditReport>),
}

impl<'a> Run<'a> {
    /// Does one thing and then spawns the next, so that a thread that helps another pair while it
    /// waits for its own comes back after one thing.
    fn spawn<'scope>(&'scope self, scope: &Scope<'scope>)
    where
        'a: 'scope,
    {
        scope.spawn(move |scope| {
            let Some(task) = self.next() else { return };
            match task {
                Task::Statement(started, index, plan) => self.run(&started, index, &plan),
                Task::End(index, report) => self.end(index, report),
            }
            self.spawn(scope);
        });
    }

    /// The next thing to do.
    fn next(&self) -> Option<Task<'a>> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some((started, plans)) = &mut queue.started
                && let Some((index, plan)) = plans.next()
            {
                return Some(Task::Statement(Arc::clone(started), index, Box::new(plan)));
            }
            let (index, (audit, known)) = queue.audits.next()?;
            let plans: Vec<Plan> =
                audit.plans(self.shared.settings, self.shared.uncertain).collect();
            let draws = plans.iter().map(Plan::draws).fold(0, u64::saturating_add);
            self.shared.listener.hear(Event::AuditStarted { audit, draws });
            let (found, search) = match known {
                Some(Known::Finished(report)) => return Some(Task::End(index, report)),
                Some(Known::Searched(found, search)) => (found, search),
                None => (Vec::new(), None),
            };
            let results: Vec<_> = plans.iter().map(|_| OnceLock::new()).collect();
            let left = AtomicUsize::new(plans.len());
            let started = Arc::new(Started { index, audit, found, search, results, left });
            if plans.is_empty() {
                return Some(Task::End(index, Arc::new(self.report(&started))));
            }
            queue.started = Some((started, plans.into_iter().enumerate()));
        }
    }

    /// Runs one statement, and the control of its audit if it is the last one.
    fn run(&self, started: &Started<'a>, index: usize, plan: &Plan) {
        let Shared { worker, listener, .. } = self.shared;
        let found = started.found.iter().find(|result| result.name == plan.name()).cloned();
        let result = found.unwrap_or_else(|| worker.statement(plan, listener));
        // Every plan is taken once, so there is no result before it.
        let _ = started.results[index].set(result);
        if started.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end(started.index, Arc::new(self.report(started)));
        }
    }

    /// The report of an audit of which all statements have results, with its control if that is one
    /// of its own.
    fn report(&self, started: &Started<'a>) -> AuditReport {
        let Shared { settings, controls, worker, .. } = self.shared;
        let results = started.results.iter().filter_map(OnceLock::get).cloned().collect();
        let report = AuditReport::new(Arc::new(started.audit.clone()), results, None);
        let report = if is_of_another(started.audit) {
            report
        } else {
            let mut no_limit = RunClock::start(None, 0);
            match run_control(&report, &[], controls, settings, worker, &mut no_limit) {
                None => report,
                control => AuditReport::new(report.audit, report.results, control),
            }
        };
        report.with_search(started.search.clone())
    }

    /// Tells of the audits that are finished and whose predecessors are. Another thread that tells
    /// already does this for all. No lock is held while listeners are told.
    fn end(&self, index: usize, report: Arc<AuditReport>) {
        let mut ending = lock(&self.ending);
        ending.waiting.insert(index, report);
        if ending.is_telling {
            return;
        }
        ending.is_telling = true;
        while let Some(report) = ending.pop() {
            let report = self.with_twin(report, &ending.finished);
            ending.finished.push(Arc::clone(&report));
            drop(ending);
            self.shared.listener.hear(Event::AuditFinished { report: &report });
            ending = lock(&self.ending);
        }
        ending.is_telling = false;
    }

    /// The report with what became of its control, if that is another audit of the run, which comes
    /// before it.
    fn with_twin(
        &self,
        report: Arc<AuditReport>,
        finished: &[Arc<AuditReport>],
    ) -> Arc<AuditReport> {
        if report.control.is_some() || !is_of_another(&report.audit) {
            return report;
        }
        let Shared { settings, controls, worker, .. } = self.shared;
        let mut no_limit = RunClock::start(None, 0);
        let control = run_control(&report, finished, controls, settings, worker, &mut no_limit);
        let AuditReport { audit, results, search, .. } = report.as_ref().clone();
        Arc::new(AuditReport::new(audit, results, control).with_search(search))
    }
}

impl Ending {
    /// The report that is told next, if it is there.
    fn pop(&mut self) -> Option<Arc<AuditReport>> {
        let report = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(report)
    }
}

/// Whether the control of an audit is another audit. It makes no draws.
fn is_of_another(audit: &Audit) -> bool {
    matches!(audit.control, Some(Control::Audit(_)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
