//! The report files of a run. Rows of CSV are appended as audits end; other formats are rendered at the end, and now and then in between, so that an
//! interrupted run loses little and a long one does not spend its time on reports.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::csv;
use super::store::{Destination, unwritable};
use crate::audit::{AuditReport, Event, Listener, RunReport};
use crate::model::{Error, Settings};

/// A format of the report.
pub trait Format: Send {
    /// The report so far, in full.
    ///
    /// # Errors
    /// When it cannot be put in this format.
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>>;
}

/// Between two renderings in the middle of a run lies at least this long …
const LEAST_PAUSE: Duration = Duration::from_secs(5);

/// … and so many times as long as a rendering takes.
const PAUSES: u32 = 20;

/// The report files of one run.
pub struct ReportFiles {
    state: Mutex<State>,
}

struct State {
    report: RunReport,
    csv: CsvFile,
    others: Vec<(Destination, Box<dyn Format>)>,
    rendered: Instant,
    took: Duration,
}

/// The CSV file that rows are appended to.
struct CsvFile {
    destination: Destination,
    /// Open once the first audit has ended; until then an earlier report stays.
    open: Option<Box<dyn Write + Send>>,
    failure: Option<io::Error>,
}

impl ReportFiles {
    /// The files of a run with so many pairs.
    #[must_use]
    pub fn new(settings: Settings, pairs: usize, csv: Destination, others: Vec<(Destination, Box<dyn Format>)>) -> Self {
        let csv = CsvFile { destination: csv, open: None, failure: None };
        let report = RunReport::new(settings, pairs, Vec::new());
        Self { state: Mutex::new(State { report, csv, others, rendered: Instant::now(), took: Duration::ZERO }) }
    }

    /// Writes all files for the last time.
    ///
    /// # Errors
    /// The first one that could not be written; the others are.
    pub fn close(self) -> Result<(), Error> {
        let State { report, mut csv, others, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if csv.open.is_none() && csv.failure.is_none() {
            csv.append(&report, None);
        }
        let mut failure = csv.failure.map(|source| unwritable(csv.destination.path(), source));
        for (destination, format) in &others {
            if let Err(source) = format.render(&report).and_then(|content| destination.replace(&content)) {
                failure.get_or_insert_with(|| unwritable(destination.path(), source));
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

impl CsvFile {
    fn append(&mut self, report: &RunReport, audit: Option<&AuditReport>) {
        if self.failure.is_some() {
            return;
        }
        let written = csv::rows(report, audit, self.open.is_none()).and_then(|rows| match &mut self.open {
            Some(file) => file.write_all(&rows).and_then(|()| file.flush()),
            None => self.destination.begin(&rows).map(|file| self.open = Some(file)),
        });
        self.failure = written.err();
    }
}

impl State {
    fn finished(&mut self, audit: &Arc<AuditReport>) {
        self.report.audits.push(Arc::clone(audit));
        self.csv.append(&self.report, Some(audit));
        if self.rendered.elapsed() >= LEAST_PAUSE.max(PAUSES * self.took) {
            let started = Instant::now();
            // A stream is written to once, at the end. What fails now is tried again then.
            for (destination, format) in self.others.iter().filter(|(destination, _)| destination.file().is_some()) {
                let _ = format.render(&self.report).and_then(|content| destination.replace(&content));
            }
            self.rendered = Instant::now();
            self.took = started.elapsed();
        }
    }
}

impl Listener for ReportFiles {
    fn hear(&self, event: Event<'_>) {
        if let Event::AuditFinished { report } = event {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).finished(report);
        }
    }

    fn is_listening(&self) -> bool {
        false
    }
}
