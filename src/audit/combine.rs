//! The results of all items of a run → a worker that looks them up, so that a run without draws
//! makes the reports of an ordinary one.

use std::collections::HashMap;

use thiserror::Error;

use super::divide::Plans;
use super::{
    Audit, Evidence, Listener, Part, PartResult, PartsError, Plan, StatementResult, WorkItem,
    WorkResult, Worker, conclude,
};
use crate::model::Settings;
use crate::target::TargetError;

/// Why results are not those of a run.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CombineError {
    /// There is no result.
    #[error("{what} has no result")]
    Missing {
        /// Of what.
        what: String,
    },
    /// A result is not about the item that it stands for, or contradicts itself.
    #[error("the result of {what} does not fit its plan: {problem}")]
    Misfit {
        /// Of what.
        what: String,
        /// Why.
        problem: String,
    },
    /// The parts of a pair do not belong together.
    #[error("{what}: {problem}")]
    Parts {
        /// The pair.
        what: String,
        /// Why.
        problem: PartsError,
    },
}

/// The results of all items of a run, by the names of audit and statement.
#[derive(Debug, Default)]
pub struct Combined {
    statements: HashMap<(String, String), StatementResult>,
    controls: HashMap<(String, String), bool>,
}

impl Combined {
    /// Combines the results of all items of a division of this run.
    ///
    /// # Errors
    /// When a result is missing, or when it cannot be that of its plan.
    pub fn new(
        audits: &[Audit],
        settings: Settings,
        results: HashMap<WorkItem, WorkResult>,
    ) -> Result<Self, CombineError> {
        let plans = Plans::new(audits, settings);
        let mut of_audit: HashMap<usize, Vec<(Part, WorkResult)>> = HashMap::new();
        for (WorkItem { audit, part }, result) in results {
            of_audit.entry(audit).or_default().push((part, result));
        }
        let mut combined = Self::default();
        for audit in 0..audits.len() {
            let mut results = Results::new(of_audit.remove(&audit).unwrap_or_default());
            for (index, plan) in plans.statements(audit).into_iter().enumerate() {
                let result = results.statement(index, &plan)?;
                combined.statements.insert(key(&plan), result);
            }
            for (index, plan) in plans.controls(audit).into_iter().enumerate() {
                let result = results.control(index, &plan)?;
                combined.controls.insert(key(&plan), result);
            }
        }
        Ok(combined)
    }
}

/// The results of the items of one audit.
#[derive(Default)]
struct Results {
    /// Those of whole statements and of controls.
    whole: HashMap<Part, WorkResult>,
    /// Those of parts, by the statement that was divided.
    parts: HashMap<usize, Vec<WorkResult>>,
}

impl Results {
    fn new(all: Vec<(Part, WorkResult)>) -> Self {
        let mut results = Self::default();
        for (part, result) in all {
            if let Part::Batches(statement, _) = part {
                results.parts.entry(statement).or_default().push(result);
            } else {
                results.whole.insert(part, result);
            }
        }
        results
    }

    fn statement(&mut self, index: usize, plan: &Plan) -> Result<StatementResult, CombineError> {
        if let Some(whole) = self.whole.remove(&Part::Whole(index)) {
            let WorkResult::Statement(result) = whole else {
                return Err(misfit(plan, "it is not that of a whole statement"));
            };
            if result.name != plan.name() {
                return Err(misfit(plan, "it is about another statement"));
            }
            if let Ok(evidence) = &result.outcome {
                plan.check(evidence).map_err(|problem| misfit(plan, &problem))?;
            }
            return Ok(*result);
        }
        let mut parts = Vec::new();
        for part in self.parts.remove(&index).unwrap_or_default() {
            let WorkResult::Part(part) = part else {
                return Err(misfit(plan, "it is not that of a part"));
            };
            parts.push(*part);
        }
        if parts.is_empty() {
            Err(CombineError::Missing { what: name(plan) })
        } else {
            of_parts(plan, &parts)
        }
    }

    fn control(&mut self, index: usize, plan: &Plan) -> Result<bool, CombineError> {
        match self.whole.remove(&Part::Control(index)) {
            Some(WorkResult::Control(refuted)) => Ok(refuted),
            Some(_) => Err(misfit(plan, "it is not that of a control")),
            None => Err(CombineError::Missing { what: name(plan) }),
        }
    }
}

/// The result of a statement whose certification was divided.
fn of_parts(plan: &Plan, parts: &[PartResult]) -> Result<StatementResult, CombineError> {
    let pair = plan.divisible().ok_or_else(|| misfit(plan, "it cannot be divided"))?;
    let seconds = parts.iter().map(|part| part.seconds).sum();
    let errors = || parts.iter().filter_map(|part| part.outcome.as_ref().err());
    // A run finds draws that fail before it finds that they depend on each other.
    let is_dependence = |error: &&TargetError| matches!(error, TargetError::NotIndependent { .. });
    if let Some(error) = errors().find(|error| !is_dependence(error)).or_else(|| errors().next()) {
        return Ok(StatementResult::new(plan, Err(error.clone()), seconds));
    }
    let exploration = parts
        .iter()
        .find_map(|part| part.exploration.as_ref())
        .ok_or_else(|| misfit(plan, "its first part has no rules"))?;
    let certified: Vec<_> = parts.iter().filter_map(|part| part.outcome.as_ref().ok()).collect();
    let evidence = conclude(pair, exploration, &certified)
        .map_err(|problem| CombineError::Parts { what: name(plan), problem })?;
    Ok(StatementResult::new(plan, Ok(Evidence::Privacy(Box::new(evidence))), seconds))
}

fn misfit(plan: &Plan, problem: &str) -> CombineError {
    CombineError::Misfit { what: name(plan), problem: problem.to_owned() }
}

fn name(plan: &Plan) -> String {
    format!("\"{} / {}\"", plan.pair().audit, plan.name())
}

fn key(plan: &Plan) -> (String, String) {
    (plan.pair().audit.clone(), plan.name().to_owned())
}

/// All plans of the run have a result: `new` has looked at each of them.
impl Worker for Combined {
    fn statement(&self, plan: &Plan, _: &dyn Listener) -> StatementResult {
        self.statements.get(&key(plan)).cloned().unwrap_or_else(|| {
            StatementResult::new(plan, Err(TargetError::WrongCount { asked: 1, got: 0 }), 0.0)
        })
    }

    fn refutes_control(&self, plan: &Plan) -> bool {
        self.controls.get(&key(plan)).copied().unwrap_or(false)
    }
}
