//! GitHub Actions: annotations for the worst findings, and the Markdown report on the job's summary page.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::file::Format;
use super::markdown::Markdown;
use super::{AuditReport, RunReport};
use crate::baseline::Comparison;
use crate::exit_code::ExitCode;
use crate::gate::Gate;
use crate::verdict::Agreement;

/// GitHub shows no more than ten annotations of a step.
const MOST: usize = 10;

/// Whether this runs in GitHub Actions, and where the job's summary page goes.
pub struct GitHub {
    summary: Option<PathBuf>,
}

impl GitHub {
    /// What the environment says; None elsewhere.
    #[must_use]
    pub fn from_environment() -> Option<Self> {
        (std::env::var("GITHUB_ACTIONS").as_deref() == Ok("true"))
            .then(|| Self { summary: std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from) })
    }

    /// Appends the Markdown report to the summary page.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn summarise(&self, report: &RunReport) -> Result<(), crate::error::Error> {
        let Some(path) = &self.summary else { return Ok(()) };
        append(path, report).map_err(|source| crate::error::Error::Write { path: path.clone(), source })
    }
}

fn append(path: &Path, report: &RunReport) -> io::Result<()> {
    std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(&Markdown.render(report)?)
}

impl GitHub {
    /// Commands that annotate the audit files: an error for what fails the run, a warning for what was not settled.
    #[must_use]
    pub fn annotations(&self, report: &RunReport, gate: &Gate, comparison: Option<&Comparison>) -> String {
        let mut lines = findings(report, gate);
        let worse = comparison.into_iter().flat_map(|comparison| &comparison.worse);
        let level = if gate.report_only { "warning" } else { "error" };
        lines.extend(worse.map(|line| format!("::{level} title=Worse than the baseline::{}\n", message(line))));
        lines.truncate(MOST);
        lines.concat()
    }
}

fn findings(report: &RunReport, gate: &Gate) -> Vec<String> {
    let grave = |audit: &&AuditReport| audit.pairs.iter().any(|(_, outcome)| gate.judge(audit, outcome) != ExitCode::AsExpected);
    let mut audits = report.gravest_first();
    audits.retain(|audit| grave(audit) || audit.agreement() != Agreement::Agrees);
    audits.sort_by_key(|audit| !grave(audit));
    let line = |audit: &AuditReport| {
        let level = if grave(&audit) { "error" } else { "warning" };
        let file = audit.file.display().to_string();
        let file = if file.is_empty() { file } else { format!("file={},", property(&file)) };
        format!("::{level} {file}title={}::{}\n", property(&audit.audit), message(&because(audit)))
    };
    audits.into_iter().map(line).collect()
}

/// What happened, in a sentence.
fn because(audit: &AuditReport) -> String {
    if let Some((pair, error)) = audit.pairs.iter().find_map(|(pair, outcome)| Some((pair, outcome.as_ref().err()?))) {
        return format!("{pair}: could not be run: {error}");
    }
    match (audit.verdict(), audit.telling()) {
        (Some(verdict), Some(found)) => {
            format!("{verdict}, expected {}; {}: the attacker {}", audit.expect, found.pair, found.sentence(audit.claim))
        }
        _ => "nothing could be run".to_owned(),
    }
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
