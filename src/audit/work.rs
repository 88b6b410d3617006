//! One item of a shard → its result.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::control::is_refuted;
use super::divide::Plans;
use super::{
    Audit, CertifyPart, Exploration, Listener, PairPlan, Part, StatementResult, TargetSource,
    WorkItem, certify_range, explore,
};
use crate::model::Settings;
use crate::target::TargetError;

/// What became of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WorkResult {
    /// A whole statement.
    Statement(Box<StatementResult>),
    /// A part of a pair.
    Part(Box<PartResult>),
    /// The rules of a pair.
    Explored(Box<Result<Exploration, TargetError>>),
    /// Whether a control was refuted.
    Control(bool),
}

/// What became of a part of a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartResult {
    /// The frozen rules, in the first part of a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploration: Option<Exploration>,
    /// The tallies, or why the mechanism could not be run.
    pub outcome: Result<CertifyPart, TargetError>,
    /// How long it took.
    pub seconds: f64,
}

impl WorkResult {
    /// Why the mechanism could not be run, if it could not. A control that cannot be run is not
    /// refuted.
    #[must_use]
    pub fn error(&self) -> Option<&TargetError> {
        match self {
            Self::Statement(result) => result.outcome.as_ref().err(),
            Self::Part(result) => result.outcome.as_ref().err(),
            Self::Explored(result) => result.as_ref().as_ref().err(),
            Self::Control(_) => None,
        }
    }
}

/// Runs one item of a [division](super::divide()) on the rayon pool that it is called in; `None` if
/// the audits have no such item.
///
/// `explored` gives the rules of a pair if they are known. A part explores if they are not.
pub fn run_item(
    item: &WorkItem,
    audits: &[Audit],
    settings: Settings,
    source: &dyn TargetSource,
    explored: &dyn Fn(&PairPlan) -> Option<Exploration>,
    listener: &dyn Listener,
) -> Option<WorkResult> {
    let plans = Plans::new(audits, settings);
    audits.get(item.audit)?;
    let of_audit = || plans.statements(item.audit);
    Some(match &item.part {
        Part::Whole(index) => {
            let plan = of_audit().into_iter().nth(*index)?;
            WorkResult::Statement(Box::new(plan.prepare_and_run(source, listener)))
        }
        Part::Batches(index, range) => {
            let (plans, started) = (of_audit(), Instant::now());
            let plan = plans.get(*index)?.divisible()?;
            let certified = || {
                let target = source.target(plan).map_err(TargetError::NotPrepared)?;
                let exploration =
                    explored(plan).map_or_else(|| explore(plan, target.as_ref(), &listener), Ok)?;
                let part =
                    certify_range(plan, &exploration, target.as_ref(), range.clone(), &listener)?;
                Ok((Some(exploration).filter(|_| range.start == 0), part))
            };
            let (exploration, outcome) = match certified() {
                Ok((exploration, part)) => (exploration, Ok(part)),
                Err(error) => (None, Err(error)),
            };
            WorkResult::Part(Box::new(PartResult {
                exploration,
                outcome,
                seconds: started.elapsed().as_secs_f64(),
            }))
        }
        Part::Explore(index) => {
            let plans = of_audit();
            let plan = plans.get(*index)?.divisible()?;
            let target = source.target(plan).map_err(TargetError::NotPrepared);
            WorkResult::Explored(Box::new(
                target.and_then(|target| explore(plan, target.as_ref(), &listener)),
            ))
        }
        Part::Control(index) => {
            WorkResult::Control(is_refuted(plans.controls(item.audit).get(*index)?, source))
        }
    })
}
