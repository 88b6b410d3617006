//! The report files of a run that goes on, or has ended. CSV rows are appended when an audit ends. The other formats are
//! rendered at the end, and at most every few seconds during the run: an interrupted run loses
//! little, and a long run does not spend its time on reports.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::audit::{AuditReport, Event, Listener, RunReport};
use crate::model::{Error, Settings};
use crate::report::formats::csv;
use crate::report::persistence::store::{Appender, Destination, unwritable};

/// A format of the report.
pub trait Format: Send {
    /// The complete report so far.
    ///
    /// # Errors
    /// When it cannot be written in this format.
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>>;
}

/// The minimum time between two renderings during a run.
const MIN_PAUSE: Duration = Duration::from_secs(5);

/// A pause is also at least this many times as long as the last rendering, so that reports take at
/// most a twentieth of the time.
const PAUSE_FACTOR: u32 = 20;

/// The report files of one run.
pub struct ReportFiles {
    state: Mutex<State>,
    /// Whether an audit has ended since the last rendering.
    outdated: AtomicBool,
}

struct State {
    report: RunReport,
    csv: Option<CsvFile>,
    others: Vec<(Destination, Box<dyn Format>)>,
    /// When the next rendering may start.
    next_rendering: Instant,
}

/// The CSV file that rows are appended to.
struct CsvFile {
    destination: Destination,
    /// Open when the first audit has ended. Until then an earlier report is kept.
    open: Option<Appender>,
    /// Rows that are not written yet, because the last attempt failed.
    pending: Vec<u8>,
    failure: Option<io::Error>,
}

impl ReportFiles {
    /// The files of a run with this many pairs.
    #[must_use]
    pub fn new(
        settings: Settings,
        pairs: usize,
        csv: Option<Destination>,
        others: Vec<(Destination, Box<dyn Format>)>,
    ) -> Self {
        let csv = csv.map(|destination| CsvFile {
            destination,
            open: None,
            pending: Vec::new(),
            failure: None,
        });
        let report = RunReport::new(settings, pairs, Vec::new());
        // The first rendering needs no pause: it follows the first audit that ends.
        Self {
            state: Mutex::new(State { report, csv, others, next_rendering: Instant::now() }),
            outdated: AtomicBool::new(false),
        }
    }

    /// Writes all files for the last time.
    ///
    /// # Errors
    /// The error of the first file that could not be written. All other files are still written.
    pub fn close(self) -> Result<(), Error> {
        let State { report, mut csv, others, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        csv.iter_mut().for_each(CsvFile::write);
        let mut failure = csv.and_then(|CsvFile { destination, failure, .. }| {
            failure.map(|source| unwritable(destination.path(), source))
        });
        for (destination, format) in &others {
            if let Err(source) =
                format.render(&report).and_then(|content| destination.replace(&content))
            {
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
        let first = self.open.is_none() && self.pending.is_empty();
        match csv::rows(report, audit, first) {
            Ok(rows) => {
                self.pending.extend(rows);
                self.write();
            }
            Err(error) => self.failure = Some(error),
        }
    }

    /// Writes the pending rows. After an error they are written again with the next rows, or at the
    /// end.
    fn write(&mut self) {
        let written = match &mut self.open {
            Some(_) if self.pending.is_empty() => return,
            Some(file) => file.append(&self.pending),
            None => self.destination.begin(&self.pending).map(|file| self.open = Some(file)),
        };
        self.failure = written.err();
        if self.failure.is_none() {
            self.pending.clear();
        }
    }
}

impl State {
    fn render(&mut self) {
        let started = Instant::now();
        // A stream is written only once, at the end. Errors are ignored here, because all files are
        // written again at the end.
        for (destination, format) in
            self.others.iter().filter(|(destination, _)| destination.file().is_some())
        {
            let _ = format.render(&self.report).and_then(|content| destination.replace(&content));
        }
        self.next_rendering = Instant::now() + MIN_PAUSE.max(PAUSE_FACTOR * started.elapsed());
    }
}

impl Listener for ReportFiles {
    fn hear(&self, event: Event<'_>) {
        if let Event::AuditFinished { report } = event {
            let mut state = self.state();
            state.report.audits.push(Arc::clone(report));
            let State { report: so_far, csv, .. } = &mut *state;
            csv.iter_mut().for_each(|csv| csv.append(so_far, report));
            self.outdated.store(true, Ordering::Relaxed);
        }
        // Every event can start a rendering. So the draws of a long audit update reports for which
        // it was too early when an audit ended.
        if self.outdated.load(Ordering::Relaxed) {
            let mut state = self.state();
            if Instant::now() >= state.next_rendering
                && self.outdated.swap(false, Ordering::Relaxed)
            {
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
        let others: Vec<(Destination, Box<dyn Format>)> =
            vec![(at("count.txt"), Box::new(Counter(Arc::clone(&rendered))))];
        let files = ReportFiles::new(Settings::default(), AUDITS, Some(at("audit.csv")), others);
        let claim: Claim = serde_json::from_str(r#"{ "epsilon": 1.0 }"#).unwrap();
        for index in 0..AUDITS {
            let audit = Arc::new(Audit::given(&index.to_string(), "closure", claim.clone(), []));
            files.hear(Event::AuditFinished {
                report: &Arc::new(AuditReport::new(audit, Vec::new(), None)),
            });
            assert!(
                index > 0 || fs::read_to_string(folder.path().join("count.txt")).unwrap() == "1",
                "the first audit is rendered at once"
            );
        }
        files.close().unwrap();
        assert_eq!(
            fs::read_to_string(folder.path().join("count.txt")).unwrap(),
            AUDITS.to_string()
        );
        // At the first audit, at the end, and every five seconds if the machine is slow.
        assert!(*rendered.lock().unwrap() < 20, "{} renderings", rendered.lock().unwrap());
    }
}
