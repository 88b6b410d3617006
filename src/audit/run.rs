//! All statements of all audits, in order.

use std::sync::Arc;

use super::control::{count_controls, is_refuted, run_control};
use super::side_by_side::{Shared, run_side_by_side};
use super::time_limit::RunClock;
use super::{
    Audit, AuditReport, Control, Event, Listener, PairPlan, Plan, RunReport, SearchHistory,
    StatementResult,
};
use crate::model::Settings;
use crate::target::{PrepareError, Subject, Target};

/// Creates the target of a plan, in the process where the plan runs.
pub trait TargetSource: Sync {
    /// The target. The caller drops it when the pair is finished.
    ///
    /// # Errors
    /// When the plan does not fit its mechanism.
    fn target(&self, plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError>;
}

impl<F: Fn(&PairPlan) -> Result<Box<dyn Target>, PrepareError> + Sync> TargetSource for F {
    fn target(&self, plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError> {
        self(plan)
    }
}

/// Gets the results of plans: it makes their draws, or looks up what others have drawn.
pub trait Worker: Sync {
    /// Whether statements of an audit can run at the same time as others, each with all threads.
    fn runs_side_by_side(&self, audit: &Audit) -> bool {
        let _ = audit;
        false
    }

    /// The result of a statement.
    fn statement(&self, plan: &Plan, listener: &dyn Listener) -> StatementResult;

    /// Whether a control is refuted.
    fn refutes_control(&self, plan: &Plan) -> bool;
}

/// Makes all draws in this process.
pub struct Here<'a>(pub &'a dyn TargetSource);

impl Worker for Here<'_> {
    /// Mechanisms of the catalogue do. A program has a process for each thread, and how many draws
    /// there is time for depends on what else runs.
    fn runs_side_by_side(&self, audit: &Audit) -> bool {
        matches!(audit.subject, Subject::Registered { .. })
    }

    fn statement(&self, plan: &Plan, listener: &dyn Listener) -> StatementResult {
        plan.prepare_and_run(self.0, listener)
    }

    fn refutes_control(&self, plan: &Plan) -> bool {
        is_refuted(plan, self.0)
    }
}

/// Runs all audits on the rayon pool that it is called in: first the statements of an audit, then
/// its control. Some run side by side, and all end in their order. If a mechanism cannot be run, that is reported and the others still
/// run.
pub fn run(
    audits: &[Audit],
    settings: Settings,
    source: &dyn TargetSource,
    listener: &(impl Listener + ?Sized),
) -> RunReport {
    run_rest(audits, settings, source, &|_| None, listener)
}

/// What is already known about an audit.
#[derive(Clone, Debug)]
pub enum Known {
    /// Everything.
    Finished(Arc<AuditReport>),
    /// What a search did, and what it found about some of its statements.
    Searched(Vec<StatementResult>, Option<Arc<SearchHistory>>),
}

/// Does the same, but skips audits whose results are already known.
pub fn run_rest(
    audits: &[Audit],
    settings: Settings,
    source: &dyn TargetSource,
    known: &dyn Fn(&Audit) -> Option<Known>,
    listener: &(impl Listener + ?Sized),
) -> RunReport {
    run_with(audits, settings, &Here(source), known, listener)
}

/// Does the same with results from any worker.
pub fn run_with(
    audits: &[Audit],
    settings: Settings,
    worker: &dyn Worker,
    known: &dyn Fn(&Audit) -> Option<Known>,
    listener: &(impl Listener + ?Sized),
) -> RunReport {
    let statements = audits.iter().map(Audit::statement_count).sum();
    let (uncertain, controls) = (count_uncertain(audits), count_controls(audits));
    let mut report = RunReport::new(settings, statements, Vec::new());
    let known: Vec<(&Audit, Option<Known>)> =
        twins_first(audits).into_iter().map(|audit| (audit, known(audit))).collect();
    // With a time limit, draws are made until a time, and those of others would delay them.
    let unlimited = settings.max_seconds.or(settings.max_seconds_total).is_none();
    let side_by_side =
        |audit: &Audit| unlimited && audit.max_seconds.is_none() && worker.runs_side_by_side(audit);
    let new = known.iter().filter(|(_, known)| !matches!(known, Some(Known::Finished(_))));
    let parts = new.map(|(audit, _)| {
        let has_control = settings.controls && audit.control_audit().is_some();
        audit.statement_count() + usize::from(has_control)
    });
    let mut clock = RunClock::start(settings.max_seconds_total, parts.sum());
    let mut known = known.into_iter().peekable();
    loop {
        let mut group = Vec::new();
        while let Some(next) = known.next_if(|(audit, _)| side_by_side(audit)) {
            group.push(next);
        }
        if !group.is_empty() {
            let shared = Shared { settings, uncertain, controls, worker, listener: &listener };
            run_side_by_side(group, shared, &mut report.audits);
        }
        let Some((audit, known)) = known.next() else { break };
        let plans: Vec<Plan> = audit.plans(settings, uncertain).collect();
        let draws = plans.iter().map(Plan::draws).fold(0, u64::saturating_add);
        listener.hear(Event::AuditStarted { audit, draws });
        let (found, search) = match known {
            Some(Known::Finished(finished)) => {
                listener.hear(Event::AuditFinished { report: &finished });
                report.audits.push(finished);
                continue;
            }
            Some(Known::Searched(found, search)) => (found, search),
            None => (Vec::new(), None),
        };
        let results = plans.into_iter().map(|mut plan| {
            let limit = &mut plan.pair_mut().max_seconds;
            *limit = clock.next(*limit);
            let found = found.iter().find(|result| result.name == plan.name()).cloned();
            found.unwrap_or_else(|| worker.statement(&plan, &listener))
        });
        let results = results.collect();
        let finished = AuditReport::new(Arc::new(audit.clone()), results, None);
        let control =
            run_control(&finished, &report.audits, controls, settings, worker, &mut clock);
        let finished = match control {
            None => finished,
            control => AuditReport::new(finished.audit, finished.results, control),
        };
        let finished = Arc::new(finished.with_search(search));
        listener.hear(Event::AuditFinished { report: &finished });
        report.audits.push(finished);
    }
    report
}

/// The audits in their order, except that an audit that is the control of another one comes before
/// it.
fn twins_first(audits: &[Audit]) -> Vec<&Audit> {
    let mut order: Vec<&Audit> = Vec::new();
    for audit in audits {
        if let Some(Control::Audit(name)) = &audit.control
            && let Some(twin) = audits.iter().find(|twin| twin.name == *name)
            && !order.iter().any(|done| done.name == twin.name)
        {
            order.push(twin);
        }
        if !order.iter().any(|done| done.name == audit.name) {
            order.push(audit);
        }
    }
    order
}

/// The statements that are decided by statistics: the run's confidence is divided over them.
pub fn count_uncertain(audits: &[Audit]) -> usize {
    audits.iter().map(Audit::uncertain_statements).sum::<usize>().max(1)
}
