//! Controls: the mutation test of an audit. The same mechanism with a known leak beyond the claim
//! must be refuted.
//!
//! A control is a statement of its own. It has its own draws and its own α, so the bounds of the
//! audits stay as they are. That it is refuted says nothing about the claim.

use std::sync::Arc;

use super::time_limit::RunClock;
use super::{Audit, AuditReport, Control, Judged, Plan, TargetSource, Worker};
use crate::model::{ControlResult, Settings, Until, Verdict};
use crate::target::Subject;

impl Audit {
    /// The audit of its control, if that has parameters of its own.
    #[must_use]
    pub fn control_audit(&self) -> Option<Self> {
        let Some(Control::Params(changes)) = &self.control else { return None };
        let mut subject = self.subject.clone();
        match &mut subject {
            Subject::Registered { params, .. } | Subject::Program { params, .. } => {
                params.extend(changes.clone());
            }
            Subject::Function { .. } | Subject::Given { .. } => return None,
        }
        // Random streams are derived from the name, so the draws are independent of those of the
        // audit.
        let name = format!("control of {}", self.name);
        let mut control = Self { name, subject, control: None, ..self.clone() };
        // It leaks on purpose, and earlier runs were about the audit.
        control.earlier.clear();
        control.keep_for_control();
        Some(control)
    }

    /// The plans of its control, one for each pair, in a run with `controls` controls. There are
    /// none if controls are not audited.
    pub(super) fn control_plans(&self, settings: Settings, controls: usize) -> Vec<Plan> {
        let control = self.control_audit().filter(|_| settings.controls);
        // The level of a control is its share of an α that all controls have together.
        let settings = Settings { until: Until::Decided, ..settings };
        control.map(|control| control.plans(settings, controls).collect()).unwrap_or_default()
    }
}

/// The number of controls with parameters of their own, over which their α is divided.
pub fn count_controls(audits: &[Audit]) -> usize {
    audits.iter().filter(|audit| matches!(audit.control, Some(Control::Params(_)))).count()
}

/// Whether the control with this plan is refuted. A control that cannot be run is not.
pub fn is_refuted(plan: &Plan, source: &dyn TargetSource) -> bool {
    let outcome = plan.prepare_and_run(source, &()).outcome;
    outcome.is_ok_and(|evidence| plan.refuted_by(&evidence))
}

/// What became of the control of an audit with these results; `None` if it has none, or if its
/// control is not part of the run.
///
/// Of the pairs, the one with the largest reach is audited. Its results are independent of the
/// draws of the control.
pub fn run_control(
    report: &AuditReport,
    finished: &[Arc<AuditReport>],
    controls: usize,
    settings: Settings,
    worker: &dyn Worker,
    clock: &mut RunClock,
) -> Option<ControlResult> {
    let audit = &report.audit;
    let result = |refuted| if refuted { ControlResult::Caught } else { ControlResult::NotCaught };
    if let Some(Control::Audit(name)) = &audit.control {
        let twin = finished.iter().find(|other| other.audit.name == *name)?;
        return Some(result(twin.claim_verdict() == Some(Verdict::Violated)));
    }
    // A claim that is refuted, or an audit that is inconclusive anyway, needs no control.
    if report.claim_verdict() != Some(Verdict::Consistent) {
        return None;
    }
    let reach = |plan: &Plan| {
        let judged = report.statements().find(|judged| judged.name() == plan.name());
        judged.and_then(Judged::reach).unwrap_or(0.0)
    };
    let plans = audit.control_plans(settings, controls).into_iter();
    // If several are equal, the first.
    let mut plan =
        plans.reduce(|best, next| if reach(&next) > reach(&best) { next } else { best })?;
    let limit = &mut plan.pair_mut().max_seconds;
    *limit = clock.next(*limit);
    Some(result(worker.refutes_control(&plan)))
}
