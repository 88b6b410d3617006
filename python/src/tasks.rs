//! A run that is divided into tasks for other processes. A job, its tasks and their results are
//! texts, so any engine can carry them.

use std::collections::HashMap;
use std::path::PathBuf;

use dp_audit::Exploration;
use dp_audit::Settings;
use dp_audit::fronts::Stop;
use dp_audit::fronts::{
    Combined, Costs, Part, WorkItem, WorkResult, divide, explorations, run_item, run_with,
};
use dp_audit::{Audit, PairPlan, Preparer, TargetSource};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::audits::{Functions, Spec, from_json, load};
use crate::report::Report;
use crate::supervise::supervise;

/// All that the results of a run depend on, except for functions.
#[derive(Serialize, Deserialize)]
struct Job {
    audits: Vec<Audit>,
    settings: Settings,
}

fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The job of audit files.
#[pyfunction]
#[pyo3(signature = (paths, settings, filter=None))]
pub fn job_of_files(paths: Vec<PathBuf>, settings: &str, filter: Option<&str>) -> PyResult<String> {
    to_json(&Job { audits: load(&paths, filter)?, settings: from_json(settings)? })
}

/// The job of a function on pairs with these names.
#[pyfunction]
pub fn job_of_function(spec: &str, pairs: Vec<String>) -> PyResult<String> {
    let spec: Spec = from_json(spec)?;
    let settings = spec.settings;
    to_json(&Job { audits: vec![spec.audit(pairs)], settings })
}

/// The tasks of a job: first those that learn the rules of divided pairs, then all others. Each
/// with its share of the draws.
#[pyfunction]
pub fn tasks(job: &str, number: usize) -> PyResult<(Vec<String>, Vec<(String, u64)>)> {
    let Job { audits, settings } = from_json(job)?;
    let first =
        explorations(&audits, settings, number).iter().map(to_json).collect::<PyResult<_>>()?;
    let mut others = Vec::new();
    for item in divide(&audits, settings, number, &Costs::default()).into_iter().flatten() {
        let plan = |index| audits[item.audit].plans(settings, 1).nth(index);
        let draws = match &item.part {
            Part::Batches(index, range) => plan(*index)
                .map_or(0, |plan| plan.pair().pieces(range).iter().map(|piece| piece.draws).sum()),
            Part::Whole(index) | Part::Explore(index) | Part::Control(index) => {
                plan(*index).map_or(0, |plan| plan.draws())
            }
        };
        others.push((to_json(&item)?, draws));
    }
    Ok((first, others))
}

/// The pair that a task belongs to, as a text; None if it is not about a pair.
#[pyfunction]
pub fn pair_of_task(task: &str) -> PyResult<Option<String>> {
    let WorkItem { audit, part } = from_json(task)?;
    Ok(match part {
        Part::Batches(pair, _) | Part::Explore(pair) => Some(format!("{audit} {pair}")),
        _ => None,
    })
}

/// Does a task. `explored` is the result of the task that has learned the rules.
#[pyfunction]
#[pyo3(signature = (job, task, functions, explored=None, threads=None, shared=false))]
pub fn run_task(
    py: Python<'_>,
    job: &str,
    task: &str,
    functions: Option<Vec<(String, Py<PyAny>)>>,
    explored: Option<&str>,
    threads: Option<usize>,
    shared: bool,
) -> PyResult<String> {
    let Job { audits, settings } = from_json(job)?;
    let item: WorkItem = from_json(task)?;
    let explored: Option<Exploration> = match explored.map(from_json::<WorkResult>).transpose()? {
        Some(WorkResult::Explored(explored)) => explored.ok(),
        _ => None,
    };
    let stop = Stop::default();
    let source: Box<dyn TargetSource + Sync> = match functions {
        Some(functions) => Box::new(Functions::new(functions, shared, stop.clone())),
        None => Box::new(Preparer::default().with_stop(stop.clone())),
    };
    let (result, interrupted) = supervise(py, threads, &stop, None, |progress| {
        run_item(
            &item,
            &audits,
            settings,
            source.as_ref(),
            &|_: &PairPlan| explored.clone(),
            progress,
        )
    })?;
    if let Some(interrupted) = interrupted {
        return Err(interrupted);
    }
    to_json(&result.ok_or_else(|| PyRuntimeError::new_err("the job has no such task"))?)
}

/// The report of a job from the results of its tasks.
#[pyfunction]
pub fn combine(job: &str, results: Vec<(String, String)>) -> PyResult<Report> {
    let Job { audits, settings } = from_json(job)?;
    let results = results.iter().map(|(task, result)| Ok((from_json(task)?, from_json(result)?)));
    let results: HashMap<WorkItem, WorkResult> = results.collect::<PyResult<_>>()?;
    let combined = Combined::new(&audits, settings, results)
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(Report { run: run_with(&audits, settings, &combined, &|_| None, &()) })
}
