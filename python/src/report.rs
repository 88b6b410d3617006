//! What a run found.

use std::sync::Arc;

use dp_audit::model::{ControlResult, Settings};
use dp_audit::report::formats::html::{Html, cards};
use dp_audit::report::formats::json::{Json, JsonReport};
use dp_audit::report::gate::Gate;
use dp_audit::report::gate::baseline::Comparison;
use dp_audit::report::gate::exit_code::ExitCode;
use dp_audit::report::persistence::files::Format;
use dp_audit::report::persistence::witness::Witness;
use dp_audit::{AccuracyResult, Audit, AuditReport, PairResult, RunReport};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::audits::from_json;

/// What a run found. It can be pickled, and several can be joined into one.
#[pyclass(frozen, module = "dp_audit._dp_audit")]
pub struct Report {
    /// The report of the core.
    pub run: RunReport,
}

/// A report as it is sent to another process.
#[derive(Serialize, Deserialize)]
struct Sent {
    settings: Settings,
    pairs: usize,
    audits: Vec<SentAudit>,
}

#[derive(Serialize, Deserialize)]
struct SentAudit {
    audit: Audit,
    results: Vec<PairResult>,
    accuracy: Vec<AccuracyResult>,
    control: Option<ControlResult>,
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
        text(Json.render(&self.run))
    }

    /// The HTML report, a whole page.
    fn html(&self) -> PyResult<String> {
        text(Html::default().render(&self.run))
    }

    /// The cards of the HTML report, for a notebook.
    fn cards(&self) -> String {
        cards(&self.run)
    }

    /// A report for each audit.
    fn split(&self) -> Vec<Self> {
        let one = |audit: &Arc<AuditReport>| {
            RunReport::new(self.run.settings, self.run.pairs, vec![Arc::clone(audit)])
        };
        self.run.audits.iter().map(|audit| Self { run: one(audit) }).collect()
    }

    /// One report of all audits, with these settings.
    #[staticmethod]
    fn joined(reports: Vec<PyRef<'_, Self>>, settings: &str) -> PyResult<Self> {
        let settings: Settings = from_json(settings)?;
        let audits: Vec<Arc<AuditReport>> =
            reports.iter().flat_map(|report| report.run.audits.iter().cloned()).collect();
        let pairs = audits.iter().map(|audit| audit.results.len() + audit.accuracy.len()).sum();
        Ok(Self { run: RunReport::new(settings, pairs, audits) })
    }

    /// What is worse than in an earlier JSON report, one line each.
    fn worse_than(&self, baseline: &str) -> PyResult<Vec<String>> {
        let before: JsonReport = serde_json::from_str(baseline).map_err(wrong)?;
        Ok(Comparison::new(&before, &JsonReport::new(&self.run)).worse)
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
        let audit = |audit: &Arc<AuditReport>| SentAudit {
            audit: audit.audit.as_ref().clone(),
            results: audit.results.clone(),
            accuracy: audit.accuracy.clone(),
            control: audit.control,
        };
        let sent = Sent {
            settings: self.run.settings,
            pairs: self.run.pairs,
            audits: self.run.audits.iter().map(audit).collect(),
        };
        serde_json::to_string(&sent).map_err(wrong)
    }

    /// The report that was dumped.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        let Sent { settings, pairs, audits } = serde_json::from_str(text).map_err(wrong)?;
        let report = |SentAudit { audit, results, accuracy, control }| {
            Arc::new(AuditReport::new(Arc::new(audit), results, control).with_accuracy(accuracy))
        };
        Ok(Self { run: RunReport::new(settings, pairs, audits.into_iter().map(report).collect()) })
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<Self>().getattr("parse")?.unbind(), (self.dump()?,)))
    }
}
