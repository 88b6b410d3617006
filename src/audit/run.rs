//! All pairs of all audits, in order.

use std::sync::Arc;

use super::accuracy::prepare_and_judge;
use super::control::{count_controls, is_refuted, run_control};
use super::pair::run_pair;
use super::time_limit::RunClock;
use super::{
    AccuracyPlan, AccuracyResult, Audit, AuditReport, Control, Event, Listener, PairPlan,
    PairResult, RunReport, SearchHistory,
};
use crate::model::{ControlResult, Settings};
use crate::target::{PrepareError, Target, TargetError};

/// Creates the target of a plan, in the process where the plan runs.
pub trait TargetSource {
    /// The target. The caller drops it when the pair is finished.
    ///
    /// # Errors
    /// When the plan does not fit its mechanism.
    fn target(&self, plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError>;
}

impl<F: Fn(&PairPlan) -> Result<Box<dyn Target>, PrepareError>> TargetSource for F {
    fn target(&self, plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError> {
        self(plan)
    }
}

/// Gets the results of plans: it makes their draws, or looks up what others have drawn.
pub trait Worker {
    /// The result of a pair.
    fn pair(&self, plan: &PairPlan, listener: &dyn Listener) -> PairResult;

    /// The result of an accuracy claim.
    fn accuracy(&self, plan: &AccuracyPlan, listener: &dyn Listener) -> AccuracyResult;

    /// Whether a control is refuted.
    fn refutes_control(&self, plan: &PairPlan) -> bool;
}

/// Makes all draws in this process.
pub struct Here<'a>(pub &'a dyn TargetSource);

impl Worker for Here<'_> {
    fn pair(&self, plan: &PairPlan, listener: &dyn Listener) -> PairResult {
        match self.0.target(plan) {
            Ok(target) => run_pair(plan, target.as_ref(), listener),
            Err(error) => PairResult::new(plan, Err(TargetError::NotPrepared(error)), 0.0),
        }
    }

    fn accuracy(&self, plan: &AccuracyPlan, listener: &dyn Listener) -> AccuracyResult {
        prepare_and_judge(plan, self.0, listener)
    }

    fn refutes_control(&self, plan: &PairPlan) -> bool {
        is_refuted(plan, self.0)
    }
}

/// Runs all audits in order, on the rayon pool that it is called in: first the pairs of an audit,
/// then its accuracy claims. If a mechanism cannot be run, that is reported and the others still
/// run.
pub fn run(
    audits: &[Audit],
    settings: Settings,
    source: &dyn TargetSource,
    listener: &(impl Listener + ?Sized),
) -> RunReport {
    run_rest(audits, settings, source, &|_| None, listener)
}

/// What is already known about an audit: everything, or what a search found on some of its pairs.
#[derive(Clone, Debug, Default)]
pub struct KnownAudit {
    /// Whether nothing is left to do.
    pub complete: bool,
    /// The results of its pairs, or of some of them.
    pub results: Vec<PairResult>,
    /// The results of its accuracy claims.
    pub accuracy: Vec<AccuracyResult>,
    /// What became of its control.
    pub control: Option<ControlResult>,
    /// What a search did.
    pub search: Option<Arc<SearchHistory>>,
}

/// Does the same, but skips audits whose results are already known.
pub fn run_rest(
    audits: &[Audit],
    settings: Settings,
    source: &dyn TargetSource,
    known: &dyn Fn(&Audit) -> Option<KnownAudit>,
    listener: &(impl Listener + ?Sized),
) -> RunReport {
    run_with(audits, settings, &Here(source), known, listener)
}

/// Does the same with results from any worker.
pub fn run_with(
    audits: &[Audit],
    settings: Settings,
    worker: &dyn Worker,
    known: &dyn Fn(&Audit) -> Option<KnownAudit>,
    listener: &(impl Listener + ?Sized),
) -> RunReport {
    let pairs = audits.iter().map(Audit::statements).sum();
    let (uncertain, controls) = (count_uncertain(audits), count_controls(audits));
    let mut report = RunReport { settings, pairs, audits: Vec::new() };
    let known: Vec<(&Audit, Option<KnownAudit>)> =
        twins_first(audits).into_iter().map(|audit| (audit, known(audit))).collect();
    let new = || {
        known
            .iter()
            .filter(|(_, known)| known.as_ref().is_none_or(|known| !known.complete))
            .map(|(audit, _)| audit)
    };
    let statements = new()
        .map(|audit| {
            audit.statements() + usize::from(settings.controls && audit.control_audit().is_some())
        })
        .sum();
    let mut clock = RunClock::start(settings.max_seconds_total, statements);
    for (audit, known) in known {
        listener.hear(Event::AuditStarted { audit, draws: audit.all_draws(settings) });
        let KnownAudit { complete, results: known, accuracy, control, search } =
            known.unwrap_or_default();
        let finished = if complete {
            AuditReport::new(Arc::new(audit.clone()), known, control)
                .with_accuracy(accuracy)
                .with_search(search)
        } else {
            let results = audit.plans(settings, uncertain).map(|mut plan| {
                plan.max_seconds = clock.next(plan.max_seconds);
                let found = known.iter().find(|result| result.pair == plan.pair.name).cloned();
                found.unwrap_or_else(|| worker.pair(&plan, &listener))
            });
            let results = results.collect();
            let without = AuditReport::new(Arc::new(audit.clone()), results, None);
            let control =
                run_control(&without, &report.audits, controls, settings, worker, &mut clock);
            let accuracy = audit.accuracy_plans(settings, uncertain).map(|mut plan| {
                plan.pair.max_seconds = clock.next(plan.pair.max_seconds);
                worker.accuracy(&plan, &listener)
            });
            let accuracy = accuracy.collect();
            AuditReport::new(without.audit, without.results, control)
                .with_accuracy(accuracy)
                .with_search(search)
        };
        let finished = Arc::new(finished);
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
