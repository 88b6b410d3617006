//! The journal of a run: what it takes to continue after an interruption, so that the reports are those of a run that was never interrupted.
//!
//! A line that says what is run and how, then one for each finished audit, appended as it ends. An audit with a pair that could not be run is not
//! finished. A line that was half-written when the run was killed is none, and its audit is run again.

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

/// Whether to take up what an interrupted run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// No; its journal is replaced once an audit has ended.
    Anew,
    /// Yes, and run the rest.
    Resumed,
}

/// A journal that is being written, and what an interrupted run left in it.
pub struct Journal {
    path: PathBuf,
    start: Start,
    header: JournalHeader,
    /// Of each audit, by name.
    fingerprints: HashMap<String, String>,
    /// The finished audits of an interrupted run, by name.
    left: HashMap<String, Vec<PairResult>>,
    book: Mutex<Book>,
    /// Told when the journal cannot be written.
    warn: fn(&str),
}

/// The first line: what all bounds and streams depend on.
#[derive(Serialize, Deserialize)]
struct JournalHeader {
    version: String,
    /// A hash of the program, for the mechanisms under audit are part of it.
    build: String,
    settings: Settings,
    /// Over how many the confidence is divided.
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
struct Book {
    file: File,
    /// The end of the last whole line; what lies behind is written over.
    end: u64,
    /// Finished audits that could not be written yet.
    waiting: Vec<u8>,
    /// Whether the last attempt to write failed.
    failing: bool,
}

impl Journal {
    /// Opens the journal beside the CSV report before anything is measured, and leaves what it holds untouched until an audit has ended.
    ///
    /// # Errors
    /// When it cannot be written, when another run is writing it, or when it is to be resumed and belongs to another run than this.
    pub fn open(csv: &Destination, audits: &[Audit], settings: Settings, start: Start, warn: fn(&str)) -> Result<Option<Self>, Error> {
        let Some(csv) = csv.file() else {
            let reason = "the CSV report goes to a stream, beside which there is no journal".to_owned();
            return if start == Start::Resumed { Err(Error::Resume { path: csv.path().to_owned(), reason }) } else { Ok(None) };
        };
        let mut path = csv.as_os_str().to_owned();
        path.push(".journal");
        let path = PathBuf::from(path);
        let failed = |source| unwritable(&path, source);
        let mut file = open(&path).map_err(failed)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let header = JournalHeader::new(audits, settings);
        let fingerprints = audits.iter().map(|audit| (audit.name.clone(), audit_fingerprint(audit))).collect();
        let (left, end) = match (read(&content, &header, &fingerprints), start) {
            (Ok((left, _)), Start::Anew) => (left, 0),
            (Err(_), Start::Anew) => (Vec::new(), 0),
            (Ok(found), Start::Resumed) => found,
            (Err(reason), Start::Resumed) => return Err(Error::Resume { path, reason }),
        };
        let book = Book { file, end, waiting: Vec::new(), failing: false };
        let left = left.into_iter().map(|entry| (entry.audit, entry.pairs)).collect();
        Ok(Some(Self { path, start, header, fingerprints, left, book: Mutex::new(book), warn }))
    }

    /// What a person should know before the run begins.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        let (path, left, all) = (self.path.display(), self.left.len(), self.header.audits.len());
        match (self.start, left) {
            (Start::Anew, 0) => None,
            (Start::Anew, _) => Some(format!(
                "An interrupted run finished {left} of these {all} audits, and --resume would continue it; this one starts anew."
            )),
            (Start::Resumed, 0) => Some(format!("Nothing to resume at {path}: running from the start.")),
            (Start::Resumed, _) => Some(format!("Resuming: {left} of {all} audits are finished already.")),
        }
    }

    /// What the interrupted run found in an audit, if it is resumed and had finished it.
    #[must_use]
    pub fn found(&self, audit: &Audit) -> Option<Vec<PairResult>> {
        self.left.get(&audit.name).filter(|_| self.start == Start::Resumed).cloned()
    }

    /// Ends the journal when all reports are written. It is removed, or returned if it is kept: a resumed run can make up for what could not be run.
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

    /// Appends what is finished, also what could not be written before.
    fn enter(&self, book: &mut Book, report: &AuditReport) -> io::Result<()> {
        // What was resumed is in the journal already.
        let known = self.start == Start::Resumed && self.left.contains_key(&report.audit.name);
        if !known && is_finished(report) {
            book.waiting.append(&mut line(&self.entry(report))?);
        }
        if book.waiting.is_empty() {
            return Ok(());
        }
        let mut text = if book.end == 0 { line(&self.header)? } else { Vec::new() };
        text.extend_from_slice(&book.waiting);
        book.file.set_len(book.end)?;
        book.file.seek(SeekFrom::Start(book.end))?;
        book.file.write_all(&text)?;
        book.end += text.len() as u64;
        book.waiting.clear();
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
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let failure = self.enter(&mut book, report).err();
        // The run goes on, because its reports may be elsewhere; said once.
        if let Some(error) = failure.as_ref().filter(|_| !book.failing) {
            let path = self.path.display();
            (self.warn)(&format!("cannot write {path}: {error}; if this run is interrupted, --resume will have to repeat more of it"));
        }
        book.failing = failure.is_some();
    }

    fn is_listening(&self) -> bool {
        false
    }
}

/// How long a lock may outlive the run that held it: a program that was being started when the run was killed has it for a moment more.
const PATIENCE: Duration = Duration::from_secs(3);

/// Opens an ordinary file that no other run is writing.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no ordinary file"));
    }
    let limit = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if Instant::now() < limit => std::thread::sleep(Duration::from_millis(20)),
            Err(TryLockError::WouldBlock) => return Err(io::Error::other("another run is writing it")),
            // A file system without locks keeps nobody out.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
}

/// The finished audits of a journal, and where its last whole line ends.
///
/// # Errors
/// Why it belongs to another run.
fn read(content: &[u8], now: &JournalHeader, fingerprints: &HashMap<String, String>) -> Result<(Vec<JournalEntry>, u64), String> {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let mut lines = content[..end].split(|byte| *byte == b'\n');
    let Some(first) = lines.next().filter(|first| !first.is_empty()) else { return Ok((Vec::new(), 0)) };
    let then: JournalHeader = serde_json::from_slice(first)
        .map_err(|error| format!("its first line cannot be read ({error}), perhaps another version wrote it"))?;
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

    /// Checks that a run like this one is to be continued.
    ///
    /// # Errors
    /// What is different now.
    fn check(&self, now: &Self) -> Result<(), String> {
        if self.version != now.version {
            return Err(format!("dp-audit {} wrote it, this is {}", self.version, now.version));
        }
        if self.build != now.build {
            return Err("another build of dp-audit wrote it, whose mechanisms may be others".to_owned());
        }
        for ((option, then), (_, now)) in options(self.settings).into_iter().zip(options(now.settings)) {
            if then != now {
                return Err(format!("{option} was {then}, now it is {now}"));
            }
        }
        if self.audits != now.audits || self.pairs != now.pairs {
            let [then, now] = [self, now].map(|header| format!("{} audits with {} pairs", header.audits.len(), header.pairs));
            return Err(format!("it was about other audits or pairs ({then}; now {now}), and the confidence is divided over all of them"));
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

/// Of all that makes an audit's reports, and of the files that its command names.
fn audit_fingerprint(audit: &Audit) -> String {
    let Audit { file, expect, source, draws, resolution, attacks, .. } = audit;
    let mut parts = vec![format!("{file:?} {expect:?} {source:?} {draws:?} {resolution} {attacks:?}")];
    let of_pair = |pair| witness::identity(audit, pair);
    parts.extend(audit.pairs.iter().map(|pair| format!("{} {:?} {:?}", of_pair(pair), pair.expect, pair.truth)));
    if let Some(command) = audit.subject.command() {
        parts.push(command.to_string());
        parts.extend(command.files().map(|file| content_hash(&file)));
    }
    fingerprint(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Of a file's content, eight bytes at a time and a block in memory: programs are large. A file that cannot be read is as good as empty.
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
