//! The files of all shards → the results of one run. Nothing is drawn, and nothing is written
//! unless the files belong together.
//!
//! What is checked: every file is complete and has the hash that it says; all are of one run, made
//! by this build and divided by the same costs; no shard is missing and none occurs twice; each has exactly the items that the
//! division gives it; tallies count every draw of every look once; results fit their plans. What is
//! believed: that the counts and bounds in a file were measured. A hash is not a signature.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::audit::{Audit, Combined, Costs, Part, Statement, WorkItem, WorkResult, divide};
use crate::model::{Error, Settings};
use crate::report::persistence::identity::{Mismatch, RunIdentity};
use crate::report::persistence::shard_file::{
    Definition, EXTENSION, Selection, ShardContent, ShardHeader, shard_of,
};

/// A run from its shards.
pub struct MergedRun {
    /// The audits, in order.
    pub audits: Vec<Audit>,
    /// The settings.
    pub settings: Settings,
    /// Which audits were selected.
    pub selection: Selection,
    /// The results of all items.
    pub results: Combined,
}

/// A shard that was read.
struct Read {
    path: PathBuf,
    content: ShardContent,
}

impl MergedRun {
    /// Reads all shard files in these folders, or these files.
    ///
    /// # Errors
    /// When they are not all shards of one run. The error says which file, and why.
    pub fn read(paths: &[PathBuf]) -> Result<Self, Error> {
        let shards =
            shard_files(paths)?.into_iter().map(read).collect::<Result<Vec<Read>, Error>>()?;
        let Some(first) = shards.first() else {
            let places: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(Error::Merge {
                reason: format!("no shard file (*.{EXTENSION}) at {}", places.join(", ")),
            });
        };
        let header = first.content.header.clone();
        let here = RunIdentity::new(&[], header.run.settings);
        for shard in &shards {
            check_same_run(first, shard)?;
        }
        check_build(first, &here)?;
        check_numbers(&shards)?;
        for shard in &shards {
            check_complete(shard)?;
        }
        let audits = definitions(&shards)?;
        let settings = header.run.settings;
        let results = items(shards, &audits, settings)?;
        let results = Combined::new(&audits, settings, results)
            .map_err(|error| Error::Merge { reason: error.to_string() })?;
        Ok(Self { audits, settings, selection: header.selection, results })
    }
}

/// The shard files in folders, and files that were named, in the order of their names.
fn shard_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unreadable =
            |error: std::io::Error| Error::Read { path: path.clone(), reason: error.to_string() };
        for entry in std::fs::read_dir(path).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            if file.extension().is_some_and(|extension| extension == EXTENSION) {
                files.push(file);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn read(path: PathBuf) -> Result<Read, Error> {
    let content = std::fs::read(&path)
        .map_err(|error| Error::Read { path: path.clone(), reason: error.to_string() })?;
    let content = ShardContent::parse(&content).map_err(|reason| refused(&path, &reason))?;
    let content = content.ok_or_else(|| refused(&path, "it is empty; run this shard again"))?;
    shard_of(&content.header).map_err(|reason| refused(&path, &reason))?;
    Ok(Read { path, content })
}

fn refused(path: &Path, reason: &str) -> Error {
    Error::Merge { reason: format!("{}: {reason}", path.display()) }
}

/// All shards must be of the run of the first one.
fn check_same_run(first: &Read, shard: &Read) -> Result<(), Error> {
    let (one, other) = (&first.content.header, &shard.content.header);
    let (first, path) = (first.path.display(), &shard.path);
    let different = |what: &str, one: &str, other: &str| {
        Err(refused(path, &format!("{what} is {other}, and {one} in {first}")))
    };
    match one.run.difference(&other.run) {
        Some(Mismatch::Version([one, other])) => {
            return different("the version of dp-audit", &one, &other);
        }
        Some(Mismatch::Build) => {
            return Err(refused(path, &format!("another build of dp-audit wrote it than {first}")));
        }
        Some(Mismatch::Option(option, [one, other])) => return different(option, &one, &other),
        Some(Mismatch::Audits([one, other])) => return different("its run", &one, &other),
        None => {}
    }
    if one.of != other.of {
        return different("the number of shards", &one.of.to_string(), &other.of.to_string());
    }
    let shown = |option: &Option<String>| option.clone().unwrap_or_else(|| "absent".to_owned());
    if one.selection != other.selection {
        let [one, other] = [one, other].map(|header: &ShardHeader| {
            format!(
                "--filter {}, --pair {}",
                shown(&header.selection.filter),
                shown(&header.selection.pair)
            )
        });
        return different("its selection", &one, &other);
    }
    if one.audits != other.audits {
        return Err(refused(
            path,
            &format!("its audits, or the files that their commands name, are not those of {first}"),
        ));
    }
    if one.costs != other.costs {
        return Err(refused(
            path,
            &format!(
                "its run was divided by other --costs than that of {first}; give all shards the same file"
            ),
        ));
    }
    Ok(())
}

/// The reports are made by the build that made the shards, because another one may compute or write
/// them differently.
fn check_build(first: &Read, here: &RunIdentity) -> Result<(), Error> {
    let run = &first.content.header.run;
    let there = RunIdentity {
        pairs: here.pairs,
        audits: here.audits,
        names: here.names.clone(),
        ..run.clone()
    };
    there.difference(here).map_or(Ok(()), |difference| {
        Err(refused(
            &first.path,
            &format!("{}; merge with the dp-audit that ran the shards", difference.since_then()),
        ))
    })
}

/// None is missing, and none occurs twice.
fn check_numbers(shards: &[Read]) -> Result<(), Error> {
    let mut found: BTreeMap<usize, &Path> = BTreeMap::new();
    let of = shards.first().map_or(0, |shard| shard.content.header.of);
    for shard in shards {
        let number = shard.content.header.shard;
        if let Some(other) = found.insert(number, &shard.path) {
            return Err(refused(
                &shard.path,
                &format!(
                    "shard {number} of {of} occurs twice; the other one is {}",
                    other.display()
                ),
            ));
        }
    }
    let missing: Vec<String> = (1..=of)
        .filter(|number| !found.contains_key(number))
        .map(|number| number.to_string())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let shown = if missing.len() > 20 {
        format!("{}, … ({} in all)", missing[..20].join(", "), missing.len())
    } else {
        missing.join(", ")
    };
    Err(Error::Merge {
        reason: format!(
            "missing of {of} shards: {shown}; run each with the command of the others and --shard N/{of}"
        ),
    })
}

fn check_complete(shard: &Read) -> Result<(), Error> {
    let ShardContent { header, entries, complete, .. } = &shard.content;
    let reason = format!(
        "{} is not complete: {} items and no last line; run it again, with --resume to continue it",
        header.name(),
        entries.len()
    );
    if *complete { Ok(()) } else { Err(refused(&shard.path, &reason)) }
}

/// The audits of the run, which are in the shards that have their first items.
fn definitions(shards: &[Read]) -> Result<Vec<Audit>, Error> {
    let mut all: BTreeMap<usize, &Definition> = BTreeMap::new();
    for Read { path, content } in shards {
        for entry in &content.entries {
            let Some(definition) = &entry.definition else { continue };
            if all.insert(entry.item.audit, definition).is_some() {
                return Err(refused(
                    path,
                    &format!("the audit \"{}\" is defined a second time", definition.audit.name),
                ));
            }
        }
    }
    let header = shards.first().map(|shard| &shard.content.header);
    let is_complete = header.is_some_and(|header| {
        all.keys().copied().eq(0..header.run.audits)
            && Definition::hash(all.values().copied()) == header.audits
    });
    if !is_complete {
        return Err(Error::Merge {
            reason: "the audits in the shards are not those that the shards say they ran"
                .to_owned(),
        });
    }
    Ok(all.into_values().map(|definition| definition.audit.clone()).collect())
}

/// The results of all items. Each shard must have those that the division gives it and no others.
fn items(
    shards: Vec<Read>,
    audits: &[Audit],
    settings: Settings,
) -> Result<HashMap<WorkItem, WorkResult>, Error> {
    let header = shards.first().map(|shard| &shard.content.header);
    let (of, costs) =
        header.map_or((1, Costs::default()), |header| (header.of, header.costs.clone()));
    let division = divide(audits, settings, of, &costs);
    let mut results = HashMap::new();
    for Read { path, content } in shards {
        let own =
            &division[shard_of(&content.header).map_err(|reason| refused(&path, &reason))?.index()];
        let expected: HashSet<&WorkItem> = own.iter().collect();
        let name = content.header.name();
        let mut found: HashMap<WorkItem, WorkResult> = HashMap::new();
        for entry in content.entries {
            if !expected.contains(&entry.item) {
                let item = described(&entry.item, audits);
                return Err(refused(
                    &path,
                    &format!(
                        "it has {item}, which is not an item of {name}: it would overlap those of another shard"
                    ),
                ));
            }
            found.insert(entry.item, entry.result);
        }
        if let Some(missing) = own.iter().find(|item| !found.contains_key(item)) {
            return Err(refused(
                &path,
                &format!("it has no result of {}", described(missing, audits)),
            ));
        }
        results.extend(found);
    }
    Ok(results)
}

/// An item in words.
#[must_use]
pub fn described(item: &WorkItem, audits: &[Audit]) -> String {
    let Some(audit) = audits.get(item.audit) else {
        return format!("audit {} of {}", item.audit + 1, audits.len());
    };
    let name = |index: &usize| {
        let statement = audit.statement(*index).map_or("?", Statement::name);
        format!("{} / {statement}", audit.name)
    };
    match &item.part {
        Part::Whole(index) => name(index),
        Part::Batches(index, range) => {
            format!("{}, batches {} to {}", name(index), range.start, range.end)
        }
        Part::Explore(index) => format!("rules of {}", name(index)),
        Part::Control(index) => format!("control of {}", name(index)),
    }
}
