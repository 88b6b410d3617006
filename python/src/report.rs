//! What a run found.

use std::sync::Arc;

use dp_audit::Settings;
use dp_audit::fronts::Comparison;
use dp_audit::fronts::ExitCode;
use dp_audit::fronts::Format;
use dp_audit::fronts::Gate;
use dp_audit::fronts::Witness;
use dp_audit::fronts::{Html, cards};
use dp_audit::fronts::{Json, JsonReport};
use dp_audit::{AuditReport, RunReport};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::audits::from_json;

/// What a run found. It can be pickled, and several can be joined into one.
#[pyclass(frozen, module = "dp_audit._dp_audit")]
pub struct Report {
    /// The report of the core.
    pub run: RunReport,
}

impl Report {
    /// The audits of a run whose only audit is this one.
    pub fn audit(&self) -> PyResult<&Arc<AuditReport>> {
        self.run.audits.first().ok_or_else(|| PyValueError::new_err("the report has no audit"))
    }
}

fn text(rendered: std::io::Result<Vec<u8>>) -> PyResult<String> {
    String::from_utf8(rendered?).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Report {
    /// The JSON report.
    fn json(&self) -> PyResult<String> {
        text(Json::default().render(&self.run))
    }

    /// The HTML report, a whole page.
    fn html(&self) -> PyResult<String> {
        text(Html::default().render(&self.run))
    }

    /// The cards of the HTML report, for a notebook.
    fn cards(&self) -> String {
        cards(&self.run)
    }

    /// The report of one pair of the only audit.
    fn only(&self, pair: &str) -> PyResult<Self> {
        let report = self.audit()?;
        let mut audit = report.audit.as_ref().clone();
        audit.retain(|name| name == pair);
        let results = report.results.iter().filter(|result| result.name == pair).cloned();
        let only = AuditReport::new(Arc::new(audit), results.collect(), report.control);
        let only = only.with_search(report.search.clone());
        Ok(Self { run: RunReport::new(self.run.settings, 1, vec![Arc::new(only)]) })
    }

    /// A report for each audit.
    fn split(&self) -> Vec<Self> {
        let one = |audit: &Arc<AuditReport>| {
            RunReport::new(self.run.settings, self.run.statements, vec![Arc::clone(audit)])
        };
        self.run.audits.iter().map(|audit| Self { run: one(audit) }).collect()
    }

    /// One report of all audits, with these settings.
    #[staticmethod]
    fn joined(reports: Vec<PyRef<'_, Self>>, settings: &str) -> PyResult<Self> {
        let settings: Settings = from_json(settings)?;
        let audits: Vec<Arc<AuditReport>> =
            reports.iter().flat_map(|report| report.run.audits.iter().cloned()).collect();
        let statements = audits.iter().map(|audit| audit.results.len()).sum();
        Ok(Self { run: RunReport::new(settings, statements, audits) })
    }

    /// What is worse than in an earlier JSON report, one line each.
    fn worse_than(&self, baseline: &str) -> PyResult<Vec<String>> {
        let before: JsonReport = serde_json::from_str(baseline).map_err(wrong)?;
        let worse = Comparison::new(&before, &JsonReport::new(&self.run)).worse;
        Ok(worse.iter().map(ToString::to_string).collect())
    }

    /// The exit code of `dp-audit run`.
    fn exit_code(&self) -> u8 {
        let code: ExitCode = Gate::default().exit_code(&self.run, false);
        code as u8
    }

    /// The witness of a refuted claim as the text of its file; None if there is none.
    fn witness(&self) -> PyResult<Option<String>> {
        Ok(Witness::of_given(self.run.settings, self.audit()?)
            .map(|witness| witness.sealed().to_string()))
    }

    /// The report as a text, for another process.
    fn dump(&self) -> PyResult<String> {
        serde_json::to_string(&self.run).map_err(wrong)
    }

    /// The report that was dumped.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        Ok(Self { run: serde_json::from_str(text).map_err(wrong)? })
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("parse")?.unbind(), (self.dump()?,)))
    }
}
