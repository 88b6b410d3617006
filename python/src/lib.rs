//! dp-audit for Python: the compiled part of the package `dp_audit`.
//!
//! | file | what it has |
//! |---|---|
//! | `function.rs` | a Python function as a target |
//! | `supervise.rs` | runs work on other threads, while this one shows progress and listens to Ctrl-C |
//! | `audits.rs` | audits of functions, of arrays and of files |
//! | `measure.rs` | measurements of functions, without a claim |
//! | `tasks.rs` | a run that is divided over other processes |
//! | `search.rs` | searches for a pair |
//! | `report.rs` | what a run found |
//!
//! Everything that a user sees is in Python: `dp_audit/__init__.py` lists it. Data goes to and fro
//! as JSON, in the forms that the core has.

mod audits;
mod function;
mod measure;
mod report;
mod search;
mod supervise;
mod tasks;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The program `dp-audit`; the first argument is its own name. Returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| dp_audit::fronts::main_with(arguments) as u8)
}

#[pymodule]
fn _dp_audit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<report::Report>()?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(audits::audit, module)?)?;
    module.add_function(wrap_pyfunction!(measure::measure, module)?)?;
    module.add_function(wrap_pyfunction!(audits::check_claim, module)?)?;
    module.add_function(wrap_pyfunction!(audits::samples, module)?)?;
    module.add_function(wrap_pyfunction!(audits::run, module)?)?;
    module.add_function(wrap_pyfunction!(audits::replay, module)?)?;
    module.add_function(wrap_pyfunction!(search::search_domain, module)?)?;
    module.add_function(wrap_pyfunction!(search::search_source, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::job_of_files, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::job_of_function, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::tasks, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::pair_of_task, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::run_task, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::combine, module)?)?;
    Ok(())
}
