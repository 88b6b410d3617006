//! Measurements of functions, without a claim.

use std::collections::HashMap;
use std::sync::Mutex;

use dp_audit::fronts::{Stop, measurements_json};
use dp_audit::{Audit, Measurement, PairPlan, PrepareError, Settings, Target};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::audits::{Spec, from_json};
use crate::function::Function;
use crate::supervise::supervise;

/// Measures a function on one or more pairs. `functions` has, for each pair, one `Function` for each
/// of the audits that a measurement consists of. Returns the measurements as JSON, and the
/// exception that interrupted them, if one did.
#[pyfunction]
#[pyo3(signature = (spec, functions, deltas, threads=None, shared=false, progress=None))]
pub fn measure(
    py: Python<'_>,
    spec: &str,
    functions: Vec<(String, Vec<Py<PyAny>>)>,
    deltas: Vec<f64>,
    threads: Option<usize>,
    shared: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<Py<PyAny>>)> {
    let spec: Spec = from_json(spec)?;
    let settings = spec.settings;
    let audit = spec.audit(functions.iter().map(|(name, _)| name.clone()));
    let draws = audit.lens_draws(settings);
    let lenses = audit.lenses().map_err(PyValueError::new_err)?;
    let lenses: Vec<Audit> =
        lenses.into_iter().map(|lens| Audit { draws: Some(draws), ..lens }).collect();
    let stop = Stop::default();
    let by_pair: HashMap<String, Mutex<Vec<Py<PyAny>>>> =
        functions.into_iter().map(|(name, all)| (name, Mutex::new(all))).collect();
    let given = stop.clone();
    let source = move |plan: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
        let next = by_pair.get(&plan.pair.name).and_then(|all| all.lock().ok()?.pop());
        let next = next.ok_or_else(|| PrepareError::Given("function".to_owned()))?;
        Ok(Box::new(Function::new(next, shared, given.clone())))
    };
    let settings = Settings { draws: None, ..settings };
    let (run, interrupted) = supervise(py, threads, &stop, progress.as_ref(), |progress| {
        dp_audit::run(&lenses, settings, &source, progress)
    })?;
    let json = measurements_json(&Measurement::all(&[audit], &run, &deltas));
    let json = String::from_utf8(json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((json, interrupted.map(|error| error.into_value(py).into_any())))
}
