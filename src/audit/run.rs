//! All pairs of all audits, in order.

use std::sync::Arc;

use super::pair::run_pair;
use super::{Audit, AuditReport, Event, Listener, PairPlan, PairResult, RunReport};
use crate::model::Settings;
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

/// Runs all audits in order, on the rayon pool that it is called in. If a mechanism cannot be run, that is reported and the others still
/// run.
pub fn run(audits: &[Audit], settings: Settings, source: &dyn TargetSource, listener: &(impl Listener + ?Sized)) -> RunReport {
    run_rest(audits, settings, source, &|_| None, listener)
}

/// Does the same, but skips audits whose results are already known.
pub fn run_rest(
    audits: &[Audit],
    settings: Settings,
    source: &dyn TargetSource,
    known: &dyn Fn(&Audit) -> Option<Vec<PairResult>>,
    listener: &(impl Listener + ?Sized),
) -> RunReport {
    let pairs = audits.iter().map(|audit| audit.pairs.len()).sum();
    let mut report = RunReport { settings, pairs, audits: Vec::new() };
    for audit in audits {
        listener.hear(Event::AuditStarted { audit, draws: audit.budget(settings) });
        let results =
            known(audit).unwrap_or_else(|| audit.plans(settings, pairs).map(|plan| prepare_and_run(&plan, source, listener)).collect());
        let finished = Arc::new(AuditReport { audit: Arc::new(audit.clone()), results });
        listener.hear(Event::AuditFinished { report: &finished });
        report.audits.push(finished);
    }
    report
}

fn prepare_and_run(plan: &PairPlan, source: &dyn TargetSource, listener: &(impl Listener + ?Sized)) -> PairResult {
    match source.target(plan) {
        Ok(target) => run_pair(plan, target.as_ref(), listener),
        Err(error) => PairResult::new(plan, Err(TargetError::NotPrepared(error)), 0.0),
    }
}
