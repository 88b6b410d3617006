//! The file of one shard: lines of JSON.
//!
//! The first line says which shard of which run it is. Then there is one line for each finished
//! item, appended when the item ends; if an item has several lines, the last one counts. The last
//! line has a hash of all lines before it. A file without this line is not complete: a shard that
//! was killed leaves one, and can be resumed from it.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::audit::{Audit, Costs, Part, WorkItem, WorkResult};
use crate::model::Error;
use crate::output::fingerprint;
use crate::report::persistence::identity::{RunIdentity, audit_fingerprint, bytes_hash};
use crate::report::persistence::journal::{Start, line, open};
use crate::report::persistence::shard::Shard;
use crate::report::persistence::store::{check_folder, unwritable};

/// The version of the format.
const FORMAT: u32 = 3;

/// The end of the names of shard files.
pub const EXTENSION: &str = "jsonl";

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardHeader {
    /// The version of the format.
    dp_audit_shard: u32,
    /// The shard, from 1.
    pub shard: usize,
    /// The number of shards.
    pub of: usize,
    /// The run.
    pub run: RunIdentity,
    /// A hash of all audits and of the files that their commands name.
    pub audits: String,
    /// Which audits were selected.
    pub selection: Selection,
    /// The costs by which the run was divided, if they were measured.
    #[serde(default, skip_serializing_if = "Costs::is_empty")]
    pub costs: Costs,
}

/// What every version of the first line has.
#[derive(Deserialize)]
struct AnyHeader {
    dp_audit_shard: u32,
}

/// The options that select a part of the audits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// `--filter`.
    pub filter: Option<String>,
    /// `--pair`.
    pub pair: Option<String>,
}

/// An item and its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardEntry {
    /// The item.
    pub item: WorkItem,
    /// The audit, with its first item: so the audits of a run are in its shards once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Definition>,
    /// What became of it.
    pub result: WorkResult,
}

/// An audit of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The audit.
    pub audit: Audit,
    /// Its fingerprint where it was run, with the files that its command names.
    pub fingerprint: String,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShardEnd {
    /// A hash of all lines before this one.
    hash: String,
}

impl Definition {
    /// The definition of an audit.
    #[must_use]
    pub fn new(audit: &Audit) -> Self {
        Self { audit: audit.clone(), fingerprint: audit_fingerprint(audit) }
    }

    /// A hash of these audits, in order.
    #[must_use]
    pub fn hash<'a>(all: impl IntoIterator<Item = &'a Self>) -> String {
        let texts: Vec<String> = all
            .into_iter()
            .map(|definition| {
                format!(
                    "{} {}",
                    definition.fingerprint,
                    serde_json::to_string(&definition.audit).unwrap_or_default()
                )
            })
            .collect();
        fingerprint(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

impl ShardHeader {
    /// The header of a shard.
    #[must_use]
    pub fn new(
        definitions: &[Definition],
        run: RunIdentity,
        selection: Selection,
        costs: Costs,
        shard: Shard,
    ) -> Self {
        Self {
            dp_audit_shard: FORMAT,
            shard: shard.number,
            of: shard.of,
            run,
            audits: Definition::hash(definitions),
            selection,
            costs,
        }
    }

    /// The name of the file in its folder.
    #[must_use]
    pub fn file_name(&self) -> String {
        let (number, of, digits) = (self.shard, self.of, self.of.to_string().len());
        format!("shard-{number:0digits$}-of-{of}.{EXTENSION}")
    }

    /// What it is, in words.
    #[must_use]
    pub fn name(&self) -> String {
        format!("shard {} of {}", self.shard, self.of)
    }

    /// Why a file with this header is not of the same run as that of `now`; `None` if it is. Their
    /// numbers may differ.
    fn difference(&self, now: &Self) -> Option<String> {
        if let Some(difference) = self.run.difference(&now.run) {
            return Some(difference.since_then());
        }
        let is_same = self.audits == now.audits
            && self.of == now.of
            && self.selection == now.selection
            && self.costs == now.costs;
        (!is_same).then(|| "its audits, the files that their commands name, the number of shards or --costs were different".to_owned())
    }
}

/// The content of a file.
pub struct ShardContent {
    /// The first line.
    pub header: ShardHeader,
    /// The finished items, in the order in which they ended.
    pub entries: Vec<ShardEntry>,
    /// Whether the last line is there and right.
    pub complete: bool,
    /// The end of the last entry.
    end: usize,
}

impl ShardContent {
    /// Reads a file; `None` if it has no complete line.
    ///
    /// # Errors
    /// When it is not the file of a shard, or was changed.
    pub fn parse(content: &[u8]) -> Result<Option<Self>, String> {
        let whole = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let mut lines = content[..whole].split_inclusive(|byte| *byte == b'\n');
        let Some(first) = lines.next() else { return Ok(None) };
        let no_shard = |error| format!("its first line is not that of a shard ({error})");
        let AnyHeader { dp_audit_shard: format } =
            serde_json::from_slice(first).map_err(no_shard)?;
        if format != FORMAT {
            return Err(format!(
                "it has format {format}, and this dp-audit reads format {FORMAT}; run all shards with one version of dp-audit"
            ));
        }
        let header: ShardHeader = serde_json::from_slice(first).map_err(no_shard)?;
        let (mut entries, mut end) = (Vec::new(), first.len());
        let rest: Vec<&[u8]> = lines.collect();
        for (index, line) in rest.iter().enumerate() {
            if let Ok(last) = serde_json::from_slice::<ShardEnd>(line) {
                if last.hash != bytes_hash(&content[..end]) {
                    return Err("its content is not what was written: its hash is wrong".to_owned());
                }
                if index + 1 < rest.len() || whole < content.len() {
                    return Err("it goes on after its last line".to_owned());
                }
                return Ok(Some(Self { header, entries, complete: true, end }));
            }
            let entry = serde_json::from_slice(line)
                .map_err(|error| format!("line {} cannot be read ({error})", index + 2))?;
            entries.push(entry);
            end += line.len();
        }
        Ok(Some(Self { header, entries, complete: false, end }))
    }
}

/// A file that is being written.
pub struct ShardFile {
    path: PathBuf,
    file: File,
    header: ShardHeader,
    /// The end of the last complete line.
    end: u64,
    /// The audits whose definitions are in the file.
    defined: HashSet<usize>,
    /// The results of an interrupted shard.
    known: HashMap<WorkItem, WorkResult>,
    /// Whether an earlier process has finished the shard.
    complete: bool,
}

impl ShardFile {
    /// Opens the file of a shard in this folder. Its content does not change until an item has
    /// ended.
    ///
    /// # Errors
    /// When it cannot be written, when another process is writing it, when it is complete, or when
    /// it should be resumed but belongs to another run.
    pub fn open(folder: &Path, header: ShardHeader, start: Start) -> Result<Self, Error> {
        check_folder(folder).map_err(|source| unwritable(folder, source))?;
        let path = folder.join(header.file_name());
        let failed = |source| unwritable(&path, source);
        let refused = |reason: String| Error::Shard { path: path.clone(), reason };
        let mut file = open(&path).map_err(failed)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let before = match (ShardContent::parse(&content), start) {
            (Ok(before), _) => before,
            (Err(reason), _) => {
                return Err(refused(format!("{reason}; remove it to run the shard again")));
            }
        };
        let new = Self {
            path: path.clone(),
            file,
            end: 0,
            defined: HashSet::new(),
            known: HashMap::new(),
            complete: false,
            header,
        };
        let Some(before) = before else { return Ok(new) };
        let difference = if before.header.shard == new.header.shard {
            before.header.difference(&new.header)
        } else {
            Some("it is another shard".to_owned())
        };
        match (difference, start) {
            (Some(reason), Start::Resumed) => Err(Error::Resume { path, reason }),
            (Some(reason), Start::Over) if before.complete => {
                Err(refused(format!("exists and belongs to another run: {reason}; remove it, or choose another --out")))
            }
            (None, Start::Over) if before.complete => Err(refused(
                "exists and is complete; remove it to run it again, or give --resume to run only what could not be run".to_owned(),
            )),
            (_, Start::Over) => Ok(new),
            (None, Start::Resumed) => {
                let defined = before.entries.iter().filter(|entry| entry.definition.is_some()).map(|entry| entry.item.audit).collect();
                let mut known: HashMap<WorkItem, WorkResult> = before.entries.into_iter().map(|entry| (entry.item, entry.result)).collect();
                let all = known.len();
                // What could not be run is run again.
                known.retain(|_, result| result.error().is_none());
                Ok(Self { end: before.end as u64, defined, complete: before.complete && known.len() == all, known, ..new })
            }
        }
    }

    /// The number of items that an interrupted shard finished.
    #[must_use]
    pub fn finished(&self) -> usize {
        self.known.len()
    }

    /// Whether an interrupted shard finished this item.
    #[must_use]
    pub fn has(&self, item: &WorkItem) -> bool {
        self.known.contains_key(item)
    }

    /// Appends the result of an item.
    ///
    /// # Errors
    /// When it cannot be written. All earlier items are in the file and can be resumed.
    pub fn append(
        &mut self,
        item: WorkItem,
        result: WorkResult,
        definitions: &[Definition],
    ) -> Result<(), Error> {
        let definition = definitions.get(item.audit).filter(|_| is_first(&item));
        let definition = definition.filter(|_| self.defined.insert(item.audit)).cloned();
        self.write(&ShardEntry { item, definition, result })
    }

    /// Writes the last line.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(mut self) -> Result<PathBuf, Error> {
        if !self.complete {
            if self.end == 0 {
                self.begin()?;
            }
            let failed = |source| unwritable(&self.path, source);
            let mut content = Vec::new();
            self.file
                .rewind()
                .and_then(|()| (&self.file).take(self.end).read_to_end(&mut content))
                .map_err(failed)?;
            self.write(&ShardEnd { hash: bytes_hash(&content) })?;
        }
        Ok(self.path)
    }

    /// Replaces what is there by the first line.
    fn begin(&mut self) -> Result<(), Error> {
        let header = line(&self.header).map_err(|source| unwritable(&self.path, source))?;
        self.write_at_end(&header)
    }

    fn write(&mut self, content: &impl Serialize) -> Result<(), Error> {
        if self.end == 0 {
            self.begin()?;
        }
        let text = line(content).map_err(|source| unwritable(&self.path, source))?;
        self.write_at_end(&text)
    }

    fn write_at_end(&mut self, text: &[u8]) -> Result<(), Error> {
        let mut write = || {
            self.file.set_len(self.end)?;
            self.file.seek(SeekFrom::Start(self.end))?;
            self.file.write_all(text)?;
            self.file.sync_data()
        };
        write().map_err(|source| unwritable(&self.path, source))?;
        self.end += text.len() as u64;
        Ok(())
    }
}

/// Whether an item is the first of its audit. The definition of the audit is written with it.
fn is_first(item: &WorkItem) -> bool {
    match &item.part {
        Part::Whole(0) => true,
        Part::Batches(0, range) => range.start == 0,
        _ => false,
    }
}

/// The shard that a header names.
///
/// # Errors
/// When there is no such shard.
pub fn shard_of(header: &ShardHeader) -> Result<Shard, String> {
    Shard::new(header.shard, header.of)
}
