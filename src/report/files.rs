//! The report files of a run. Rows of CSV are appended as audits end. Other formats are rendered at the end, and at most every few seconds in between:
//! an interrupted run loses little, and a long one does not spend its time on reports.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::csv;
use super::store::{Appender, Destination, unwritable};
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

/// The shortest time between two renderings in the middle of a run.
const MIN_PAUSE: Duration = Duration::from_secs(5);

/// A pause is at least this many times as long as a rendering, so that reports take at most a twentieth of the time.
const PAUSE_PER_RENDERING: u32 = 20;

/// The report files of one run.
pub struct ReportFiles {
    state: Mutex<State>,
    /// Whether an audit has ended since the last rendering.
    outdated: AtomicBool,
}

struct State {
    report: RunReport,
    csv: CsvFile,
    others: Vec<(Destination, Box<dyn Format>)>,
    /// When the next rendering may begin.
    next: Instant,
}

/// The CSV file that rows are appended to.
struct CsvFile {
    destination: Destination,
    /// Open once the first audit has ended; until then an earlier report stays.
    open: Option<Appender>,
    /// Rows that are not written yet, because the last attempt failed.
    waiting: Vec<u8>,
    failure: Option<io::Error>,
}

impl ReportFiles {
    /// The files of a run with this many pairs.
    #[must_use]
    pub fn new(settings: Settings, pairs: usize, csv: Destination, others: Vec<(Destination, Box<dyn Format>)>) -> Self {
        let csv = CsvFile { destination: csv, open: None, waiting: Vec::new(), failure: None };
        let report = RunReport::new(settings, pairs, Vec::new());
        // The first audit that ends is rendered at once.
        Self { state: Mutex::new(State { report, csv, others, next: Instant::now() }), outdated: AtomicBool::new(false) }
    }

    /// Writes all files for the last time.
    ///
    /// # Errors
    /// The first one that could not be written; the others are.
    pub fn close(self) -> Result<(), Error> {
        let State { report, mut csv, others, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        csv.write();
        let mut failure = csv.failure.map(|source| unwritable(csv.destination.path(), source));
        for (destination, format) in &others {
            if let Err(source) = format.render(&report).and_then(|content| destination.replace(&content)) {
                failure.get_or_insert_with(|| unwritable(destination.path(), source));
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CsvFile {
    fn append(&mut self, report: &RunReport, audit: &AuditReport) {
        let first = self.open.is_none() && self.waiting.is_empty();
        match csv::rows(report, audit, first) {
            Ok(rows) => {
                self.waiting.extend(rows);
                self.write();
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Writes what waits. What fails now is tried again with the next rows, or at the end.
    fn write(&mut self) {
        let written = match &mut self.open {
            Some(_) if self.waiting.is_empty() => return,
            Some(file) => file.append(&self.waiting),
            None => self.destination.begin(&self.waiting).map(|file| self.open = Some(file)),
        };
        self.failure = written.err();
        if self.failure.is_none() {
            self.waiting.clear();
        }
    }
}

impl State {
    fn render(&mut self) {
        let started = Instant::now();
        // A stream is written to once, at the end. What fails now is tried again then.
        for (destination, format) in self.others.iter().filter(|(destination, _)| destination.file().is_some()) {
            let _ = format.render(&self.report).and_then(|content| destination.replace(&content));
        }
        self.next = Instant::now() + MIN_PAUSE.max(PAUSE_PER_RENDERING * started.elapsed());
    }
}

impl Listener for ReportFiles {
    fn hear(&self, event: Event<'_>) {
        if let Event::AuditFinished { report } = event {
            let mut state = self.state();
            state.report.audits.push(Arc::clone(report));
            let State { report: so_far, csv, .. } = &mut *state;
            csv.append(so_far, report);
            self.outdated.store(true, Ordering::Relaxed);
        }
        // Draws of a long audit come all the time: they bring reports up to date that were rendered too recently when an audit ended.
        if self.outdated.load(Ordering::Relaxed) {
            let mut state = self.state();
            if Instant::now() >= state.next && self.outdated.swap(false, Ordering::Relaxed) {
                state.render();
            }
        }
    }

    fn is_listening(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::audit::Audit;
    use crate::model::Claim;

    /// Counts how often it is rendered.
    struct Counter(Arc<Mutex<usize>>);

    impl Format for Counter {
        fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
            *self.0.lock().unwrap() += 1;
            Ok(report.audits.len().to_string().into_bytes())
        }
    }

    #[test]
    fn many_audits_are_rendered_a_few_times_and_their_rows_are_appended() {
        const AUDITS: usize = 1000;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Destination::open(&folder.path().join(name)).unwrap();
        let rendered = Arc::new(Mutex::new(0));
        let others: Vec<(Destination, Box<dyn Format>)> = vec![(at("count.txt"), Box::new(Counter(Arc::clone(&rendered))))];
        let files = ReportFiles::new(Settings::default(), AUDITS, at("audit.csv"), others);
        let claim: Claim = serde_json::from_str(r#"{ "epsilon": 1.0 }"#).unwrap();
        for index in 0..AUDITS {
            let audit = Arc::new(Audit::given(&index.to_string(), "closure", claim, []));
            files.hear(Event::AuditFinished { report: &Arc::new(AuditReport { audit, results: Vec::new() }) });
            assert!(index > 0 || fs::read_to_string(folder.path().join("count.txt")).unwrap() == "1", "the first one at once");
        }
        files.close().unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("count.txt")).unwrap(), AUDITS.to_string());
        // At once, at the end, and every five seconds, should the machine be that slow.
        assert!(*rendered.lock().unwrap() < 20, "{} renderings", rendered.lock().unwrap());
    }
}
