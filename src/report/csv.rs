//! The CSV report: one row per pair, rewritten whole after each audit, so that an interrupted run loses nothing it finished.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;

use super::{AuditReport, Listener, PairReport, RunReport, round_down};
use crate::error::{Error, TargetError};
use crate::verdict::Agreement;

/// Significant digits of bounds.
const DIGITS: i32 = 6;

/// One row; the columns in order.
#[derive(Serialize)]
struct Row<'a> {
    audit: &'a str,
    mechanism: &'a str,
    relation: &'a str,
    pair: &'a str,
    claim_epsilon: f64,
    claim_delta: f64,
    verdict: String,
    expected: String,
    as_expected: Option<bool>,
    epsilon_lower: Option<f64>,
    delta_lower: Option<f64>,
    delta_excess: Option<f64>,
    detectable_epsilon: Option<f64>,
    truth_epsilon: Option<f64>,
    confidence: f64,
    draws: Option<u64>,
    correct: Option<u64>,
    wrong: Option<u64>,
    abstained: Option<u64>,
    rule: String,
    seed: u64,
    reproducible: Option<bool>,
    seconds: Option<String>,
}

impl<'a> Row<'a> {
    fn new(run: &RunReport, audit: &'a AuditReport, pair: &'a str, outcome: &Result<PairReport, TargetError>) -> Self {
        let report = outcome.as_ref().ok();
        let claim = audit.claim;
        Self {
            audit: &audit.audit,
            mechanism: &audit.mechanism,
            relation: &audit.relation,
            pair,
            claim_epsilon: claim.epsilon.get(),
            claim_delta: claim.delta.get(),
            verdict: report.map_or_else(|| "error".to_owned(), |report| report.verdict.to_string()),
            expected: report.and_then(|report| report.expect).unwrap_or(audit.expect).to_string(),
            as_expected: match audit.agreement_of(outcome) {
                Agreement::Agrees => Some(true),
                Agreement::Undecided => None,
                Agreement::NotRun | Agreement::Differs => Some(false),
            },
            epsilon_lower: report.map(|report| round_down(report.bounds.epsilon_lower, DIGITS)),
            delta_lower: report.map(|report| round_down(report.bounds.delta_lower, DIGITS)),
            delta_excess: report.map(|report| round_down(report.delta_excess(claim), DIGITS)),
            detectable_epsilon: report.map(|report| -round_down(-report.bounds.detectable_epsilon, DIGITS)),
            truth_epsilon: report.and_then(|report| report.truth.epsilon),
            confidence: run.settings.confidence.get(),
            draws: report.map(|report| report.draws),
            correct: report.map(|report| report.tally.correct),
            wrong: report.map(|report| report.tally.wrong),
            abstained: report.map(|report| report.tally.abstained),
            rule: match outcome {
                Ok(report) => report.rule.as_ref().map_or_else(|| "none: too few draws to learn one".to_owned(), ToString::to_string),
                Err(error) => format!("not run: {}", error.to_string().replace('\n', " | ")),
            },
            seed: run.settings.seed,
            reproducible: report.map(|report| report.reproducible),
            seconds: report.map(|report| format!("{:.3}", report.seconds)),
        }
    }
}

/// Writes the report of a run so far, in full.
///
/// # Errors
/// When the writer fails.
pub fn write(report: &RunReport, writer: impl Write) -> io::Result<()> {
    let mut csv = ::csv::Writer::from_writer(writer);
    for audit in &report.audits {
        for (pair, outcome) in &audit.pairs {
            csv.serialize(Row::new(report, audit, pair, outcome)).map_err(io::Error::other)?;
        }
    }
    csv.flush()
}

/// A CSV file that always holds every finished audit.
pub struct CsvFile {
    path: PathBuf,
    failure: Mutex<Option<io::Error>>,
}

impl CsvFile {
    /// Checks, before anything is measured, that the file can be written; leaves what it holds untouched.
    ///
    /// # Errors
    /// When it cannot.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        if path.is_dir() {
            return Err(failed(io::Error::other("it is a folder")));
        }
        let folder = folder(path);
        std::fs::create_dir_all(folder).map_err(failed)?;
        tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        Ok(Self { path: path.to_owned(), failure: Mutex::new(None) })
    }

    /// Writes a temporary file beside the report, then renames it: readers see the old report or the new one, never half of one.
    fn replace(&self, report: &RunReport) -> io::Result<()> {
        let mut file = tempfile::Builder::new().permissions(readable()).tempfile_in(folder(&self.path))?;
        write(report, io::BufWriter::new(&mut file))?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }

    /// Ends the report.
    ///
    /// # Errors
    /// When the last attempt to write it failed.
    pub fn close(self) -> Result<(), Error> {
        match self.failure.into_inner().unwrap_or_default() {
            Some(source) => Err(Error::Write { path: self.path, source }),
            None => Ok(()),
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The permissions of an ordinary new file; temporary files are private by default.
fn readable() -> std::fs::Permissions {
    #[cfg(unix)]
    {
        std::os::unix::fs::PermissionsExt::from_mode(0o666)
    }
    #[cfg(not(unix))]
    {
        std::fs::metadata(".").map(|data| data.permissions()).expect("the current folder exists")
    }
}

impl Listener for CsvFile {
    fn audit_finished(&self, report: &RunReport) {
        let outcome = self.replace(report).err();
        if let Ok(mut failure) = self.failure.lock() {
            *failure = outcome;
        }
    }
}
