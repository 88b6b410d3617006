//! One item of a shard → its result.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::accuracy::prepare_and_judge;
use super::control::is_refuted;
use super::divide::Plans;
use super::run::{Here, Worker as _};
use super::{
    AccuracyResult, Audit, CertifyPart, Exploration, Listener, PairPlan, PairResult, Statement,
    TargetSource, WorkItem, certify_range, explore,
};
use crate::model::Settings;
use crate::target::TargetError;

/// What became of an item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WorkResult {
    /// A pair.
    Pair(Box<PairResult>),
    /// A part of a pair.
    Part(Box<PartResult>),
    /// An accuracy claim.
    Accuracy(Box<AccuracyResult>),
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
            Self::Pair(result) => result.outcome.as_ref().err(),
            Self::Part(result) => result.outcome.as_ref().err(),
            Self::Accuracy(result) => result.outcome.as_ref().err(),
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
    Some(match &item.statement {
        Statement::Pair(index) => WorkResult::Pair(Box::new(
            Here(source).pair(plans.pairs(item.audit).get(*index)?, listener),
        )),
        Statement::Part(index, range) => {
            let (plans, started) = (plans.pairs(item.audit), Instant::now());
            let plan = plans.get(*index)?;
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
        Statement::Accuracy(index) => WorkResult::Accuracy(Box::new(prepare_and_judge(
            plans.accuracy(item.audit).get(*index)?,
            source,
            &listener,
        ))),
        Statement::Explore(index) => {
            let plans = plans.pairs(item.audit);
            let plan = plans.get(*index)?;
            let target = source.target(plan).map_err(TargetError::NotPrepared);
            WorkResult::Explored(Box::new(
                target.and_then(|target| explore(plan, target.as_ref(), &listener)),
            ))
        }
        Statement::Control(index) => {
            WorkResult::Control(is_refuted(plans.controls(item.audit).get(*index)?, source))
        }
    })
}
