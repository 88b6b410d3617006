//! The journal of a run: everything that is needed to continue after an interruption with the same reports as without the interruption.
//!
//! The first line describes the run. After it there is one line for each finished audit, appended when the audit ends. An audit with a pair that
//! could not be run is not finished. A line that is incomplete because the run was killed is ignored, and its audit is run again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::store::{Destination, unwritable};
use super::witness;
use crate::audit::{Audit, AuditReport, Event, Listener, PairResult, RunReport};
use crate::model::{Error, Settings};
use crate::output::{Mix, fingerprint};

/// Whether to continue an interrupted run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// No. Its journal is replaced when the first audit has ended.
    Anew,
    /// Yes: run only the audits that it did not finish.
    Resumed,
}

/// A journal that is being written, and the finished audits of an interrupted run.
pub struct Journal {
    path: PathBuf,
    start: Start,
    header: JournalHeader,
    /// The fingerprint of each audit, by name.
    fingerprints: HashMap<String, String>,
    /// The finished audits of an interrupted run, by name.
    finished: HashMap<String, Vec<PairResult>>,
    file: Mutex<JournalFile>,
    /// Called with a message when the journal cannot be written.
    warn: fn(&str),
}

/// The first line: everything that all bounds and random streams depend on.
#[derive(Serialize, Deserialize)]
struct JournalHeader {
    version: String,
    /// A hash of the program, because the built-in mechanisms are part of it.
    build: String,
    settings: Settings,
    /// The number of pairs that the confidence is divided over.
    pairs: usize,
    audits: Vec<String>,
}

/// A finished audit.
#[derive(Serialize, Deserialize)]
struct JournalEntry {
    audit: String,
    fingerprint: String,
    pairs: Vec<PairResult>,
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
    /// Opens the journal, which is next to the CSV report, before anything is measured. Its content does not change until an audit has ended.
    ///
    /// # Errors
    /// When it cannot be written, when another run is writing it, or when it should be resumed but belongs to a different run.
    pub fn open(csv: &Destination, audits: &[Audit], settings: Settings, start: Start, warn: fn(&str)) -> Result<Option<Self>, Error> {
        if csv.file().is_none() {
            let reason = "the CSV report goes to a stream, so there is no journal".to_owned();
            return if start == Start::Resumed { Err(Error::Resume { path: csv.path().to_owned(), reason }) } else { Ok(None) };
        }
        let mut path = csv.path().as_os_str().to_owned();
        path.push(".journal");
        let path = PathBuf::from(path);
        let failed = |source| unwritable(&path, source);
        let mut file = open(&path).map_err(failed)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let header = JournalHeader::new(audits, settings);
        let fingerprints = audits.iter().map(|audit| (audit.name.clone(), audit_fingerprint(audit))).collect();
        let (entries, end) = match (read(&content, &header, &fingerprints), start) {
            (Ok((entries, _)), Start::Anew) => (entries, 0),
            (Err(_), Start::Anew) => (Vec::new(), 0),
            (Ok(resumed), Start::Resumed) => resumed,
            (Err(reason), Start::Resumed) => return Err(Error::Resume { path, reason }),
        };
        let file = Mutex::new(JournalFile { file, end, pending: Vec::new(), failing: false });
        let finished = entries.into_iter().map(|entry| (entry.audit, entry.pairs)).collect();
        Ok(Some(Self { path, start, header, fingerprints, finished, file, warn }))
    }

    /// A message for the user before the run starts.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let (path, finished, all) = (self.path.display(), self.finished.len(), self.header.audits.len());
        match (self.start, finished) {
            (Start::Anew, 0) => None,
            (Start::Anew, _) => Some(format!(
                "An interrupted run finished {finished} of these {all} audits, and --resume would continue it; this one starts anew."
            )),
            (Start::Resumed, 0) => Some(format!("Nothing to resume at {path}: running from the start.")),
            (Start::Resumed, _) => Some(format!("Resuming: {finished} of {all} audits are finished already.")),
        }
    }

    /// The results of an audit that the interrupted run finished, if that run is resumed.
    #[must_use]
    pub fn found(&self, audit: &Audit) -> Option<Vec<PairResult>> {
        self.finished.get(&audit.name).filter(|_| self.start == Start::Resumed).cloned()
    }

    /// Closes the journal when all reports are written. It is removed if all audits are finished. Otherwise it is kept and its path is returned:
    /// a resumed run can repeat the audits that could not be run.
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
    fn append(&self, journal: &mut JournalFile, report: &AuditReport) -> io::Result<()> {
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

    fn entry(&self, report: &AuditReport) -> JournalEntry {
        let fingerprint = self.fingerprints.get(&report.audit.name).cloned().unwrap_or_default();
        JournalEntry { audit: report.audit.name.clone(), fingerprint, pairs: report.results.clone() }
    }
}

impl Listener for Journal {
    fn hear(&self, event: Event<'_>) {
        let Event::AuditFinished { report } = event else { return };
        let mut journal = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = self.append(&mut journal, report).err();
        // The run continues, because its reports may be on another disk. The warning is not repeated for each audit.
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

/// How long to wait for the lock of another run. A program that was being started when that run was killed can hold the lock a moment longer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(3);

/// Opens and locks the journal: an ordinary file that no other run is writing.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("another run is writing it")),
            // Some file systems have no locks. Then nothing prevents two runs from writing the same journal.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}

/// The finished audits of a journal, and the end of its last complete line.
///
/// # Errors
/// When it belongs to a different run. The error says why.
fn read(content: &[u8], now: &JournalHeader, fingerprints: &HashMap<String, String>) -> Result<(Vec<JournalEntry>, u64), String> {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = content[..end].split(|byte| *byte == b'\n');
    let Some(first) = lines.next().filter(|first| !first.is_empty()) else { return Ok((Vec::new(), 0)) };
    let then: JournalHeader = serde_json::from_slice(first)
        .map_err(|error| format!("its first line cannot be read ({error}), perhaps because another version of dp-audit wrote it"))?;
    then.check(now)?;
    let entries: Vec<JournalEntry> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    match entries.iter().find(|entry| fingerprints.get(&entry.audit) != Some(&entry.fingerprint)) {
        Some(changed) => Err(format!("the audit \"{}\" was finished and has changed since, or its file has moved", changed.audit)),
        None => Ok((entries, end as u64)),
    }
}

impl JournalHeader {
    fn new(audits: &[Audit], settings: Settings) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: std::env::current_exe().map(|program| content_hash(&program)).unwrap_or_default(),
            settings,
            pairs: audits.iter().map(|audit| audit.pairs.len()).sum(),
            audits: audits.iter().map(|audit| audit.name.clone()).collect(),
        }
    }

    /// Checks that the run of this journal is the same as the present run.
    ///
    /// # Errors
    /// When it is not. The error says what is different.
    fn check(&self, now: &Self) -> Result<(), String> {
        if self.version != now.version {
            return Err(format!("dp-audit {} wrote it, and this is dp-audit {}", self.version, now.version));
        }
        if self.build != now.build {
            return Err("another build of dp-audit wrote it, and its mechanisms may be different".to_owned());
        }
        for ((option, then), (_, now)) in options(self.settings).into_iter().zip(options(now.settings)) {
            if then != now {
                return Err(format!("{option} was {then}, now it is {now}"));
            }
        }
        if self.audits != now.audits || self.pairs != now.pairs {
            let [then, now] = [self, now].map(|header| format!("{} audits with {} pairs", header.audits.len(), header.pairs));
            return Err(format!("its audits or pairs are different ({then}; now {now}), and the confidence is divided over all pairs"));
        }
        Ok(())
    }
}

fn options(settings: Settings) -> [(&'static str, String); 4] {
    let Settings { draws, seed, confidence, until } = settings;
    [
        ("--seed", seed.to_string()),
        ("--draws", draws.map_or_else(|| "absent".to_owned(), |draws| draws.to_string())),
        ("--confidence", confidence.to_string()),
        ("--until", format!("{until:?}").to_lowercase()),
    ]
}

/// Whether every pair could be run.
fn is_finished(audit: &AuditReport) -> bool {
    audit.results.iter().all(|result| result.outcome.is_ok())
}

/// A hash of everything that an audit's reports depend on, including the files that its command names.
fn audit_fingerprint(audit: &Audit) -> String {
    let Audit { file, expect, source, draws, resolution, attacks, .. } = audit;
    let mut parts = vec![format!("{file:?} {expect:?} {source:?} {draws:?} {resolution} {attacks:?}")];
    let identity = |pair| witness::identity(audit, pair);
    parts.extend(audit.pairs.iter().map(|pair| format!("{} {:?} {:?}", identity(pair), pair.expect, pair.truth)));
    if let Some(command) = audit.subject.command() {
        parts.push(command.to_string());
        parts.extend(command.files().map(|file| content_hash(&file)));
    }
    fingerprint(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A hash of a file's content. It reads one block at a time and hashes eight bytes at a time, because programs are large. A file that cannot be
/// read has the hash 0.
fn content_hash(file: &Path) -> String {
    const BLOCK: u64 = 1 << 16;
    let read = || -> io::Result<u64> {
        let file = File::open(file)?;
        let (mut mix, mut block) = (Mix::new().word(file.metadata()?.len()), Vec::new());
        while (&file).take(BLOCK).read_to_end(&mut block)? > 0 {
            let (words, rest) = block.as_chunks();
            mix = words.iter().fold(mix, |mix, word| mix.word(u64::from_le_bytes(*word)));
            mix = rest.iter().fold(mix, |mix, byte| mix.word(u64::from(*byte)));
            block.clear();
        }
        Ok(mix.end())
    };
    format!("{:016x}", read().unwrap_or_default())
}

fn line(content: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(content)?;
    text.push(b'\n');
    Ok(text)
}
