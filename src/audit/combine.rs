//! The results of all items of a run → a worker that looks them up, so that a run without draws
//! makes the reports of an ordinary one.

use std::collections::HashMap;

use thiserror::Error;

use super::divide::Plans;
use super::{
    AccuracyPlan, AccuracyResult, Audit, Listener, PairPlan, PairResult, PartResult, PartsError,
    Statement, WorkItem, WorkResult, Worker, conclude,
};
use crate::model::{Settings, Until};
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
    pairs: HashMap<(String, String), PairResult>,
    accuracy: HashMap<(String, String), AccuracyResult>,
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
        let mut of_audit: HashMap<usize, Vec<(Statement, WorkResult)>> = HashMap::new();
        for (WorkItem { audit, statement }, result) in results {
            of_audit.entry(audit).or_default().push((statement, result));
        }
        let mut combined = Self::default();
        for audit in 0..audits.len() {
            let mut results = Results(of_audit.remove(&audit).unwrap_or_default());
            for (index, plan) in plans.pairs(audit).into_iter().enumerate() {
                let result = results.pair(index, &plan)?;
                combined.pairs.insert(key(&plan), result);
            }
            for (index, plan) in plans.accuracy(audit).into_iter().enumerate() {
                let result = results.accuracy(index, &plan)?;
                combined.accuracy.insert(key(&plan.pair), result);
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
struct Results(Vec<(Statement, WorkResult)>);

impl Results {
    /// Takes the first result of which this is true.
    fn take(&mut self, is: impl Fn(&Statement) -> bool) -> Option<WorkResult> {
        let index = self.0.iter().position(|(statement, _)| is(statement))?;
        Some(self.0.swap_remove(index).1)
    }

    fn pair(&mut self, index: usize, plan: &PairPlan) -> Result<PairResult, CombineError> {
        if let Some(whole) = self.take(|statement| *statement == Statement::Pair(index)) {
            let WorkResult::Pair(result) = whole else {
                return Err(misfit(plan, "it is not that of a pair"));
            };
            check_pair(plan, &result)?;
            return Ok(*result);
        }
        let mut parts = Vec::new();
        while let Some(part) =
            self.take(|statement| matches!(statement, Statement::Part(pair, _) if *pair == index))
        {
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

    fn accuracy(
        &mut self,
        index: usize,
        plan: &AccuracyPlan,
    ) -> Result<AccuracyResult, CombineError> {
        let (pair, accuracy) = (&plan.pair, &plan.accuracy);
        let found = self.take(|statement| *statement == Statement::Accuracy(index));
        let found = found.ok_or_else(|| CombineError::Missing { what: name(pair) })?;
        let WorkResult::Accuracy(result) = found else {
            return Err(misfit(pair, "it is not that of an accuracy claim"));
        };
        if result.accuracy != *accuracy {
            return Err(misfit(pair, "it is about another accuracy claim"));
        }
        if let Ok(evidence) = &result.outcome {
            check_draws(pair, evidence.draws)?;
            if evidence.failures > evidence.draws
                || evidence.verdict != accuracy.claim.verdict(evidence.limits)
            {
                return Err(misfit(pair, "its figures contradict each other"));
            }
        }
        Ok(*result)
    }

    fn control(&mut self, index: usize, plan: &PairPlan) -> Result<bool, CombineError> {
        match self.take(|statement| *statement == Statement::Control(index)) {
            Some(WorkResult::Control(refuted)) => Ok(refuted),
            Some(_) => Err(misfit(plan, "it is not that of a control")),
            None => Err(CombineError::Missing { what: name(plan) }),
        }
    }
}

/// The result of a pair whose certification was divided.
fn of_parts(plan: &PairPlan, parts: &[PartResult]) -> Result<PairResult, CombineError> {
    let seconds = parts.iter().map(|part| part.seconds).sum();
    let errors = || parts.iter().filter_map(|part| part.outcome.as_ref().err());
    // A run finds draws that fail before it finds that they depend on each other.
    let is_dependence = |error: &&TargetError| matches!(error, TargetError::NotIndependent { .. });
    if let Some(error) = errors().find(|error| !is_dependence(error)).or_else(|| errors().next()) {
        return Ok(PairResult::new(plan, Err(error.clone()), seconds));
    }
    let exploration = parts
        .iter()
        .find_map(|part| part.exploration.as_ref())
        .ok_or_else(|| misfit(plan, "its first part has no rules"))?;
    let certified: Vec<_> = parts.iter().filter_map(|part| part.outcome.as_ref().ok()).collect();
    let evidence = conclude(plan, exploration, &certified)
        .map_err(|problem| CombineError::Parts { what: name(plan), problem })?;
    Ok(PairResult::new(plan, Ok(evidence), seconds))
}

/// Checks what can be known of a result without making its draws again.
fn check_pair(plan: &PairPlan, result: &PairResult) -> Result<(), CombineError> {
    let expected = PairResult::new(plan, result.outcome.clone(), result.seconds);
    if *result != (PairResult { timing: result.timing, ..expected }) {
        return Err(misfit(plan, "it is about another pair"));
    }
    let Ok(evidence) = &result.outcome else { return Ok(()) };
    if plan.claim.metric().is_none() {
        check_draws(plan, evidence.draws)?;
        let all = [evidence.tally.correct, evidence.tally.wrong, evidence.tally.abstained]
            .iter()
            .try_fold(0_u64, |sum, n| sum.checked_add(*n));
        if all.is_none_or(|all| all > evidence.draws) {
            return Err(misfit(plan, "it counts more guesses than draws"));
        }
    }
    Ok(())
}

/// Checks the number of draws, where it does not depend on what they show or on the time.
fn check_draws(plan: &PairPlan, draws: u64) -> Result<(), CombineError> {
    let is_fixed = plan.max_seconds.is_none() && plan.until == Until::Budget;
    if draws > plan.draws || is_fixed && draws != plan.draws {
        return Err(misfit(plan, &format!("it has {draws} draws of {}", plan.draws)));
    }
    Ok(())
}

fn misfit(plan: &PairPlan, problem: &str) -> CombineError {
    CombineError::Misfit { what: name(plan), problem: problem.to_owned() }
}

fn name(plan: &PairPlan) -> String {
    format!("\"{} / {}\"", plan.audit, plan.pair.name)
}

fn key(plan: &PairPlan) -> (String, String) {
    (plan.audit.clone(), plan.pair.name.clone())
}

/// All plans of the run have a result: `new` has looked at each of them.
impl Worker for Combined {
    fn pair(&self, plan: &PairPlan, _: &dyn Listener) -> PairResult {
        self.pairs.get(&key(plan)).cloned().unwrap_or_else(|| {
            PairResult::new(plan, Err(TargetError::WrongCount { asked: 1, got: 0 }), 0.0)
        })
    }

    fn accuracy(&self, plan: &AccuracyPlan, _: &dyn Listener) -> AccuracyResult {
        let missing = || Err(TargetError::WrongCount { asked: 1, got: 0 });
        let missing =
            || AccuracyResult { accuracy: plan.accuracy.clone(), outcome: missing(), seconds: 0.0 };
        self.accuracy.get(&key(&plan.pair)).cloned().unwrap_or_else(missing)
    }

    fn refutes_control(&self, plan: &PairPlan) -> bool {
        self.controls.get(&key(plan)).copied().unwrap_or(false)
    }
}
