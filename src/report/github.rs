//! Output for GitHub Actions: annotations for the worst results, and the Markdown report on the job's summary page.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::baseline::Comparison;
use super::exit_code::ExitCode;
use super::files::Format;
use super::gate::Gate;
use super::markdown::Markdown;
use super::store::unwritable;
use crate::audit::{AuditReport, RunReport};
use crate::model::{Agreement, Error};

/// GitHub shows at most ten annotations per step.
const MAX_ANNOTATIONS: usize = 10;

/// A run in GitHub Actions.
pub struct GitHub {
    /// The file of the job's summary page.
    summary: Option<PathBuf>,
}

impl GitHub {
    /// Reads the environment. `None` if this is not GitHub Actions.
    #[must_use]
    pub fn from_environment() -> Option<Self> {
        (std::env::var("GITHUB_ACTIONS").as_deref() == Ok("true"))
            .then(|| Self { summary: std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from) })
    }

    /// Appends the Markdown report to the summary page.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn summarise(&self, report: &RunReport) -> Result<(), Error> {
        let Some(path) = &self.summary else { return Ok(()) };
        append(path, report).map_err(|source| unwritable(path, source))
    }
}

fn append(path: &Path, report: &RunReport) -> io::Result<()> {
    std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(&Markdown.render(report)?)
}

impl GitHub {
    /// Commands that annotate the audit files: an error for each audit that fails the run, a warning for each other
    /// audit whose result is not as expected.
    #[must_use]
    pub fn annotations(&self, report: &RunReport, gate: &Gate, comparison: Option<&Comparison>) -> String {
        let mut lines = audit_annotations(report, gate);
        let worse = comparison.into_iter().flat_map(|comparison| &comparison.worse);
        let level = if gate.report_only { "warning" } else { "error" };
        lines.extend(worse.map(|line| format!("::{level} title=Worse than the baseline::{}\n", escape_message(line))));
        lines.truncate(MAX_ANNOTATIONS);
        lines.concat()
    }
}

fn audit_annotations(report: &RunReport, gate: &Gate) -> Vec<String> {
    let fails = |audit: &&AuditReport| audit.results.iter().any(|result| gate.exit_code_of(audit, result) != ExitCode::AsExpected);
    let mut audits = report.gravest_first();
    audits.retain(|audit| fails(audit) || audit.agreement() != Agreement::Agrees);
    audits.sort_by_key(|audit| !fails(audit));
    let line = |audit: &AuditReport| {
        let level = if fails(&audit) { "error" } else { "warning" };
        let file = audit.audit.file.display().to_string();
        let file = if file.is_empty() { file } else { format!("file={},", escape_property(&file)) };
        format!("::{level} {file}title={}::{}\n", escape_property(&audit.audit.name), escape_message(&describe(audit)))
    };
    audits.into_iter().map(line).collect()
}

/// The result in a sentence.
fn describe(audit: &AuditReport) -> String {
    if let Some((result, error)) = audit.errors().next() {
        return format!("{}: could not be run: {error}", result.pair);
    }
    match (audit.verdict(), audit.most_significant()) {
        (Some(verdict), Some((result, evidence))) => {
            let (expected, claim) = (audit.audit.expect, audit.audit.claim);
            format!("{verdict}, expected {expected}; {}: the attacker {}", result.pair, evidence.sentence(claim))
        }
        _ => "nothing could be run".to_owned(),
    }
}

/// Escapes the message of a command.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}
