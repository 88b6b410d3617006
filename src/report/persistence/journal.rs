//! The journal of a run: everything that is needed to continue after an interruption with the same
//! reports as without the interruption.
//!
//! The first line describes the run. After it there is one line for each finished audit, appended
//! when the audit ends. An audit with a pair that could not be run is not finished. A line that is
//! incomplete because the run was killed is ignored, and its audit is run again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::audit::{
    Audit, AuditReport, Event, Known, Listener, RunReport, StatementResult, count_uncertain,
};
use crate::model::number::counted;
use crate::model::{Error, Settings};
use crate::report::git;
use crate::report::persistence::identity::{RunIdentity, audit_fingerprint};
use crate::report::persistence::store::{Destination, refuse_links, unwritable};

/// Whether to continue an interrupted run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// No. Its journal is replaced when the first audit has ended.
    Over,
    /// Yes: run only the audits that it did not finish.
    Resumed,
}

impl Start {
    /// Whether `--resume` is given.
    #[must_use]
    pub fn of(resume: bool) -> Self {
        if resume { Self::Resumed } else { Self::Over }
    }
}

/// A journal that is being written, and the finished audits of an interrupted run.
pub struct Journal {
    path: PathBuf,
    start: Start,
    header: RunIdentity,
    /// The fingerprint of each audit, by name.
    fingerprints: HashMap<String, String>,
    /// The finished audits of an interrupted run, by name.
    finished: HashMap<String, Arc<AuditReport>>,
    file: Mutex<JournalFile>,
    /// Called with a message when the journal cannot be written.
    warn: fn(&str),
}

/// A finished audit.
#[derive(Serialize, Deserialize)]
struct JournalEntry {
    fingerprint: String,
    report: Arc<AuditReport>,
}

/// The open file.
struct JournalFile {
    file: File,
    /// The end of the last complete line. Everything after it is overwritten.
    end: u64,
    /// The lines of finished audits that could not be written yet.
    pending: Vec<u8>,
    /// Whether the last attempt to write failed.
    failing: bool,
}

impl Journal {
    /// Opens the journal, which is next to the CSV report, before anything is measured. Its content
    /// does not change until an audit has ended.
    ///
    /// # Errors
    /// When it cannot be written, when another run is writing it, or when it should be resumed but
    /// belongs to a different run.
    pub fn open(
        csv: &Destination,
        audits: &[Audit],
        settings: Settings,
        start: Start,
        warn: fn(&str),
    ) -> Result<Option<Self>, Error> {
        if csv.file().is_none() {
            let reason = "the CSV report goes to a stream, so there is no journal".to_owned();
            return if start == Start::Resumed {
                Err(Error::Resume { path: csv.path().to_owned(), reason })
            } else {
                Ok(None)
            };
        }
        let mut path = csv.path().as_os_str().to_owned();
        path.push(".journal");
        let path = PathBuf::from(path);
        let failed = |source| unwritable(&path, source);
        let mut file = open(&path).map_err(failed)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let header = RunIdentity::new(audits, settings);
        let fingerprints =
            audits.iter().map(|audit| (audit.name.clone(), audit_fingerprint(audit))).collect();
        let (entries, end) = match (read(&content, &header, &fingerprints), start) {
            (Ok((entries, _)), Start::Over) => (entries, 0),
            (Err(_), Start::Over) => (Vec::new(), 0),
            (Ok((entries, end)), Start::Resumed) => {
                // What is in a repository may be somebody else's invention.
                let reason =
                    (!entries.is_empty() && git::tracks(&path)).then(|| TRACKED.to_owned());
                let reason = reason.or_else(|| contradiction(&entries, audits, settings));
                if let Some(reason) = reason {
                    return Err(Error::Resume { path, reason });
                }
                (entries, end)
            }
            (Err(reason), Start::Resumed) => return Err(Error::Resume { path, reason }),
        };
        let file = Mutex::new(JournalFile { file, end, pending: Vec::new(), failing: false });
        let finished = entries.into_iter().map(|entry| {
            let name = entry.report.audit.name.clone();
            (name, entry.report)
        });
        let finished = finished.collect();
        Ok(Some(Self { path, start, header, fingerprints, finished, file, warn }))
    }

    /// A message for the user before the run starts.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let (path, finished, all) = (self.path.display(), self.finished.len(), self.header.audits);
        match (self.start, finished) {
            (Start::Over, 0) => None,
            (Start::Over, _) => Some(format!(
                "An interrupted run finished {finished} of {}, and --resume would continue it; this one starts over.",
                counted(all, "audit")
            )),
            (Start::Resumed, 0) => {
                Some(format!("Nothing to resume at {path}: running from the start."))
            }
            (Start::Resumed, _) => {
                Some(format!("Resuming: {finished} of {} finished already.", counted(all, "audit")))
            }
        }
    }

    /// The results of an audit that the interrupted run finished, if that run is resumed.
    #[must_use]
    pub fn found(&self, audit: &Audit) -> Option<Known> {
        let found = self.finished.get(&audit.name).filter(|_| self.start == Start::Resumed)?;
        let AuditReport { results, control, search, .. } = found.as_ref().clone();
        // What does not change results, such as `allow_inconclusive`, is as it is now.
        let report = AuditReport::new(Arc::new(audit.clone()), results, control);
        Some(Known::Finished(Arc::new(report.with_search(search))))
    }

    /// Closes the journal when all reports are written. It is removed if all audits are finished.
    /// Otherwise it is kept and its path is returned: a resumed run can repeat the audits that
    /// could not be run.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn close(self, report: &RunReport) -> Result<Option<PathBuf>, Error> {
        let is_empty = std::fs::metadata(&self.path).is_ok_and(|data| data.len() == 0);
        if !is_empty && !report.audits.iter().all(|audit| is_finished(audit)) {
            return Ok(Some(self.path));
        }
        match std::fs::remove_file(&self.path) {
            Ok(()) => Ok(None),
            Err(source) => Err(unwritable(&self.path, source)),
        }
    }

    /// Appends the audit if it is finished, after lines that could not be written before.
    fn append(&self, journal: &mut JournalFile, report: &Arc<AuditReport>) -> io::Result<()> {
        // Audits of the resumed run are already in the journal.
        let known = self.start == Start::Resumed && self.finished.contains_key(&report.audit.name);
        if !known && is_finished(report) {
            journal.pending.append(&mut line(&self.entry(report))?);
        }
        if journal.pending.is_empty() {
            return Ok(());
        }
        let mut text = if journal.end == 0 { line(&self.header)? } else { Vec::new() };
        text.extend_from_slice(&journal.pending);
        journal.file.set_len(journal.end)?;
        journal.file.seek(SeekFrom::Start(journal.end))?;
        journal.file.write_all(&text)?;
        journal.end += text.len() as u64;
        journal.pending.clear();
        Ok(())
    }

    fn entry(&self, report: &Arc<AuditReport>) -> JournalEntry {
        let fingerprint = self.fingerprints.get(&report.audit.name).cloned().unwrap_or_default();
        JournalEntry { fingerprint, report: Arc::clone(report) }
    }
}

impl Listener for Journal {
    fn hear(&self, event: Event<'_>) {
        let Event::AuditFinished { report } = event else { return };
        let mut journal = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = self.append(&mut journal, report).err();
        // The run continues, because its reports may be on another disk. The warning is not
        // repeated for each audit.
        if let Some(error) = failure.as_ref().filter(|_| !journal.failing) {
            let path = self.path.display();
            (self.warn)(&format!(
                "cannot write {path}: {error}; the run continues, but if it is interrupted, --resume must repeat the audits that are not in it"
            ));
        }
        journal.failing = failure.is_some();
    }

    fn is_listening(&self) -> bool {
        false
    }
}

/// How long to wait for the lock of another run. A program that was being started when that run was
/// killed can hold the lock a moment longer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// Opens and locks a file that grows: an ordinary file that no other run is writing. Nobody named
/// it, so it must not be a link.
pub fn open(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new(""));
    refuse_links(folder, path.strip_prefix(folder).unwrap_or(path))?;
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other("another run is writing it"));
            }
            // Some file systems have no locks. Then nothing prevents two runs from writing the same
            // journal.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}

/// Why a journal of a repository is not believed.
const TRACKED: &str = "it is part of a git repository, so it may not have been measured here";

/// Why the results of a journal cannot be those of this run, if they cannot: their counts do not
/// fit their plans, or show more than their bounds say.
fn contradiction(entries: &[JournalEntry], audits: &[Audit], settings: Settings) -> Option<String> {
    let uncertain = count_uncertain(audits);
    let found: HashMap<&str, &AuditReport> = entries
        .iter()
        .map(|entry| (entry.report.audit.name.as_str(), entry.report.as_ref()))
        .collect();
    for audit in audits {
        let Some(report) = found.get(audit.name.as_str()) else { continue };
        let results: HashMap<&str, &StatementResult> =
            report.results.iter().map(|result| (result.name.as_str(), result)).collect();
        for mut plan in audit.plans(settings, uncertain) {
            // With a time limit for the whole run, each pair had one.
            let limit = &mut plan.pair_mut().max_seconds;
            *limit = limit.or(settings.max_seconds_total);
            let problem = match results.get(plan.name()).map(|result| &result.outcome) {
                Some(Ok(evidence)) => plan.check(evidence).err(),
                Some(Err(_)) => None,
                None => Some("it has no result".to_owned()),
            };
            if let Some(problem) = problem {
                let (audit, pair) = (&audit.name, plan.name());
                return Some(format!(
                    "the result of \"{audit} / {pair}\" cannot be right: {problem}"
                ));
            }
        }
    }
    None
}

/// The finished audits of a journal, and the end of its last complete line.
///
/// # Errors
/// When it belongs to a different run. The error says why.
fn read(
    content: &[u8],
    now: &RunIdentity,
    fingerprints: &HashMap<String, String>,
) -> Result<(Vec<JournalEntry>, u64), String> {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = content[..end].split(|byte| *byte == b'\n');
    let Some(first) = lines.next().filter(|first| !first.is_empty()) else {
        return Ok((Vec::new(), 0));
    };
    let then: RunIdentity = serde_json::from_slice(first)
        .map_err(|error| format!("its first line cannot be read ({error}), perhaps because another version of dp-audit wrote it"))?;
    then.difference(now).map_or(Ok(()), |difference| Err(difference.since_then()))?;
    let entries: Vec<JournalEntry> =
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    let is_changed = |entry: &&JournalEntry| {
        fingerprints.get(&entry.report.audit.name) != Some(&entry.fingerprint)
    };
    match entries.iter().find(is_changed) {
        Some(changed) => Err(format!(
            "the audit \"{}\" was finished and has changed since, or its file has moved",
            changed.report.audit.name
        )),
        None => Ok((entries, end as u64)),
    }
}

/// Whether every statement could be run.
fn is_finished(audit: &AuditReport) -> bool {
    audit.results.iter().all(|result| result.outcome.is_ok())
}

/// A line of JSON.
pub fn line(content: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(content)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Expectation, Tally, Until, Verdict};
    use crate::report::testing::{INCONCLUSIVE, audit, not_run, pair, report_of, run_of};

    /// The header of a run of the audits `a` and `b`, with one pair each.
    fn header() -> RunIdentity {
        let (version, build) = ("1.2.3".to_owned(), "abc".to_owned());
        RunIdentity {
            version,
            build,
            settings: Settings::default(),
            pairs: 2,
            audits: 2,
            names: "a, b".to_owned(),
        }
    }

    /// The settings with the draws that `testing::evidence` has.
    fn settings() -> Settings {
        Settings { draws: Some(128), ..Settings::default() }
    }

    fn fingerprints() -> HashMap<String, String> {
        ["a", "b"].map(|name| (name.to_owned(), format!("of {name}"))).into()
    }

    fn entry(name: &str) -> JournalEntry {
        let ran = vec![pair(INCONCLUSIVE, Expectation::Consistent)];
        let report = Arc::new(report_of(audit(name), ran, vec![]));
        JournalEntry { fingerprint: format!("of {name}"), report }
    }

    /// A journal with a header and the entries of both audits: the ends of its three lines, and its
    /// content.
    fn journal(header: &RunIdentity) -> ([usize; 3], Vec<u8>) {
        let lines = [line(header).unwrap(), line(&entry("a")).unwrap(), line(&entry("b")).unwrap()];
        let first = lines[0].len();
        ([first, first + lines[1].len(), first + lines[1].len() + lines[2].len()], lines.concat())
    }

    /// The names of the finished audits, and the end of the last complete line.
    fn finished(content: &[u8]) -> (Vec<String>, usize) {
        let (entries, end) = read(content, &header(), &fingerprints()).unwrap();
        (
            entries.into_iter().map(|entry| entry.report.audit.name.clone()).collect(),
            usize::try_from(end).unwrap(),
        )
    }

    /// Why a journal with this header does not belong to the run of [`header`].
    fn rejected(change: impl FnOnce(&mut RunIdentity)) -> String {
        let mut earlier = header();
        change(&mut earlier);
        read(&journal(&earlier).1, &header(), &fingerprints()).err().expect("another run")
    }

    #[test]
    fn complete_lines_are_read_and_an_incomplete_last_line_is_ignored() {
        let ([first, second, third], content) = journal(&header());
        assert_eq!(finished(&content), (vec!["a".to_owned(), "b".to_owned()], third));
        for cut in [third - 1, second + 1, second] {
            assert_eq!(
                finished(&content[..cut]),
                (vec!["a".to_owned()], second),
                "{cut} of {third} bytes"
            );
        }
        for cut in [second - 1, first] {
            assert_eq!(finished(&content[..cut]), (vec![], first), "{cut} of {third} bytes");
        }
        for cut in [first - 1, 1, 0] {
            assert_eq!(finished(&content[..cut]), (vec![], 0), "{cut} of {third} bytes");
        }
    }

    #[test]
    fn results_are_read_as_they_were_written() {
        let (_, content) = journal(&header());
        let (entries, _) = read(&content, &header(), &fingerprints()).unwrap();
        assert_eq!(entries[1].report, entry("b").report, "including an infinite ε");
    }

    #[test]
    fn a_line_that_is_not_an_entry_is_ignored() {
        let ([first, _, third], mut content) = journal(&header());
        content[first] = b'[';
        assert_eq!(finished(&content), (vec!["b".to_owned()], third));
    }

    #[test]
    fn another_version_or_build_is_rejected() {
        assert!(
            rejected(|earlier| earlier.version = "0.0.9".to_owned())
                .contains("dp-audit 0.0.9 wrote it, and this is dp-audit 1.2.3")
        );
        assert!(rejected(|earlier| earlier.build = "abd".to_owned()).contains("another build"));
        let error = read(b"{}\n", &header(), &fingerprints()).err().expect("no header");
        assert!(error.contains("its first line cannot be read"), "{error}");
    }

    #[test]
    fn every_setting_must_be_the_same() {
        type Change = fn(&mut Settings);
        let cases: [(Change, &str); 4] = [
            (|settings| settings.seed = 7, "--seed was 7, now it is 0"),
            (|settings| settings.draws = Some(500), "--draws was 500, now it is absent"),
            (
                |settings| settings.confidence = 0.95.try_into().unwrap(),
                "--confidence was 0.95, now it is 0.999",
            ),
            (|settings| settings.until = Until::Decided, "--until was decided, now it is budget"),
        ];
        for (change, reason) in cases {
            assert_eq!(rejected(|earlier| change(&mut earlier.settings)), reason);
        }
    }

    #[test]
    fn other_audits_or_pairs_are_rejected() {
        let more = rejected(|earlier| earlier.audits = 3);
        assert!(more.contains("3 audits with 2 pairs; now 2 audits with 2 pairs"), "{more}");
        let pairs = rejected(|earlier| earlier.pairs = 5);
        assert!(pairs.contains("2 audits with 5 pairs; now 2 audits with 2 pairs"), "{pairs}");
        // The order matters, because reports keep it.
        assert!(rejected(|earlier| earlier.names = "b, a".to_owned()).contains("different"));
    }

    #[test]
    fn a_finished_audit_that_has_changed_is_rejected() {
        let (_, content) = journal(&header());
        let mut changed = fingerprints();
        changed.insert("b".to_owned(), "of another b".to_owned());
        let error = read(&content, &header(), &changed).err().expect("a changed audit");
        assert!(error.contains("the audit \"b\" was finished and has changed since"), "{error}");
    }

    #[test]
    fn only_finished_audits_are_written_and_the_header_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let csv = Destination::open(&folder.path().join("audit.csv")).unwrap();
        let audits = ["a", "b", "c"].map(audit);
        let result = pair(Verdict::Consistent, Expectation::Consistent);
        let results = [vec![result.clone()], vec![not_run()], vec![result]];
        let report = run_of(audits.iter().cloned().zip(results).collect());
        let open = |start| {
            Journal::open(&csv, &audits, settings(), start, |warning| panic!("{warning}"))
                .unwrap()
                .expect("a file")
        };
        let journal = open(Start::Over);
        for report in &report.audits {
            journal.hear(Event::AuditFinished { report });
        }
        assert_eq!(
            journal.close(&report).unwrap(),
            Some(folder.path().canonicalize().unwrap().join("audit.csv.journal"))
        );
        let lines = std::fs::read_to_string(folder.path().join("audit.csv.journal"))
            .unwrap()
            .lines()
            .count();
        assert_eq!(lines, 1 + 2, "a header and two finished audits");
        // A resumed run gets the finished audits; a new run does not, but is told about them.
        let resumed = open(Start::Resumed);
        assert_eq!(resumed.notice().unwrap(), "Resuming: 2 of 3 audits finished already.");
        assert_eq!(
            audits.each_ref().map(|audit| resumed.found(audit).is_some()),
            [true, false, true]
        );
        drop(resumed);
        let new = open(Start::Over);
        assert!(new.notice().unwrap().contains("finished 2 of 3 audits"));
        assert!(audits.iter().all(|audit| new.found(audit).is_none()));
    }

    #[test]
    fn a_refutation_cannot_be_edited_away() {
        let violated = pair(Verdict::Violated, Expectation::Consistent);
        let hidden = violated.clone().with(|evidence| {
            // 115 of 120 guesses are right: at the level 1e-6 that still shows ε > 1.
            evidence.tally = Tally { correct: 115, wrong: 5, abstained: 0 };
            (evidence.bounds.lower, evidence.bounds.epsilon_lower) = (0.9, 0.9);
        });
        let unjudged = violated.clone().with(|evidence| evidence.judged_by = None);
        let more = violated.clone().with(|evidence| evidence.draws = 1 << 20);
        let cases = [
            (violated, None),
            (hidden, Some("its counts show more than its bounds say")),
            (unjudged, Some("it does not say how its counts were judged")),
            (more, Some("it has 1048576 draws of 128")),
        ];
        for (ran, problem) in cases {
            let report = Arc::new(report_of(audit("a"), vec![ran], vec![]));
            let entry = JournalEntry { fingerprint: "of a".to_owned(), report };
            let audits = [(*entry.report.audit).clone()];
            let found = contradiction(&[entry], &audits, settings());
            assert_eq!(found.is_some(), problem.is_some(), "{found:?}");
            assert!(problem.is_none_or(|problem| found.unwrap().contains(problem)));
        }
    }

    #[test]
    fn what_does_not_change_results_is_as_it_is_in_the_resumed_run() {
        let folder = tempfile::tempdir().unwrap();
        let csv = Destination::open(&folder.path().join("audit.csv")).unwrap();
        let ran = vec![pair(INCONCLUSIVE, Expectation::Consistent)];
        let report = Arc::new(report_of(audit("a"), ran, vec![]));
        let mut subject = (*report.audit).clone();
        let open = |audit: &Audit, start| {
            let audits = std::slice::from_ref(audit);
            let warn = |warning: &str| panic!("{warning}");
            Journal::open(&csv, audits, settings(), start, warn).unwrap().unwrap()
        };
        open(&subject, Start::Over).hear(Event::AuditFinished { report: &report });
        subject.allow_inconclusive = Some("a known limit".to_owned());
        let found = open(&subject, Start::Resumed).found(&subject);
        let Some(Known::Finished(found)) = found else { panic!("{found:?}") };
        assert_eq!((&*found.audit, &found.results), (&subject, &report.results));
    }

    #[test]
    fn a_stream_has_no_journal_and_cannot_be_resumed() {
        let csv = Destination::open(Path::new("-")).unwrap();
        let open = |start| {
            Journal::open(&csv, &[], Settings::default(), start, |warning| panic!("{warning}"))
        };
        assert!(open(Start::Over).unwrap().is_none());
        assert!(open(Start::Resumed).err().expect("a stream").to_string().contains("no journal"));
    }
}
