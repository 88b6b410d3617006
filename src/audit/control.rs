//! Controls: the mutation test of an audit. The same mechanism with a known leak beyond the claim must be refuted.
//!
//! A control is a statement of its own. It has its own draws and its own α, so the bounds of the audits stay as they are. That it is refuted
//! says nothing about the claim.

use std::sync::Arc;

use super::pair::run_pair;
use super::time_limit::RunClock;
use super::{Audit, AuditReport, Control, TargetSource};
use crate::model::{ControlResult, Settings, Until, Verdict};
use crate::target::Subject;

impl Audit {
    /// The audit of its control, if that has parameters of its own.
    #[must_use]
    pub fn control_audit(&self) -> Option<Self> {
        let Some(Control::Params(changes)) = &self.control else { return None };
        let mut subject = self.subject.clone();
        match &mut subject {
            Subject::Registered { params, .. } | Subject::Program { params, .. } => params.extend(changes.clone()),
            Subject::Given { .. } => return None,
        }
        // Random streams are derived from the name, so the draws are independent of those of the audit.
        Some(Self { name: format!("control of {}", self.name), subject, control: None, ..self.clone() })
    }
}

/// What became of the control of an audit with these results; `None` if it has none, or if its control is not part of the run.
///
/// Of the pairs, the one with the largest reach is audited. Its results are independent of the draws of the control.
pub fn run_control(
    report: &AuditReport,
    finished: &[Arc<AuditReport>],
    controls: usize,
    settings: Settings,
    source: &dyn TargetSource,
    clock: &mut RunClock,
) -> Option<ControlResult> {
    let audit = &report.audit;
    let result = |refuted| if refuted { ControlResult::Caught } else { ControlResult::NotCaught };
    if let Some(Control::Audit(name)) = &audit.control {
        let twin = finished.iter().find(|other| other.audit.name == *name)?;
        return Some(result(twin.privacy_verdict() == Some(Verdict::Violated)));
    }
    // A claim that is refuted, or an audit that is inconclusive anyway, needs no control.
    if !settings.controls || report.privacy_verdict() != Some(Verdict::Consistent) {
        return None;
    }
    let control = audit.control_audit()?;
    let reach = |pair: &str| {
        let of_pair = report.evidence().find(|(result, _)| result.pair == pair);
        of_pair.map_or(0.0, |(_, evidence)| evidence.bounds.reach(&audit.claim))
    };
    let settings = Settings { until: Until::Decided, ..settings };
    // The level of a control is its share of an α that all controls have together.
    let plans = control.plans(settings, controls);
    // If several are equal, the first.
    let mut plan = plans.reduce(|best, next| if reach(&next.pair.name) > reach(&best.pair.name) { next } else { best })?;
    plan.max_seconds = clock.next(plan.max_seconds);
    // A control that cannot be run is not caught.
    let found = source.target(&plan).ok().and_then(|target| run_pair(&plan, target.as_ref(), &()).outcome.ok());
    Some(result(found.is_some_and(|evidence| evidence.verdict == Verdict::Violated)))
}
