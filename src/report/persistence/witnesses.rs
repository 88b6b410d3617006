//! Writes the folder of witnesses: one file for each audit whose claim is refuted.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::audit::{Event, Listener};
use crate::model::file::read_text;
use crate::model::{Error, Settings};
use crate::report::persistence::store::{Destination, OutputPath, unwritable};
use crate::report::persistence::witness::Witness;

/// Writes the witness of each refuted claim when its audit has ended, and removes what earlier runs
/// wrote about the same audit.
pub struct Witnesses {
    folder: PathBuf,
    settings: Settings,
    /// The files of earlier runs, by the name of their audit.
    earlier: BTreeMap<String, Vec<PathBuf>>,
    written: Mutex<Result<usize, Error>>,
}

impl Witnesses {
    /// Checks before anything is measured that files can be created in the folder. Files of earlier
    /// runs are kept until their audit has ended in this one.
    ///
    /// # Errors
    /// When they cannot be created.
    pub fn open(folder: &OutputPath, settings: Settings) -> Result<Self, Error> {
        folder.check_folder()?;
        let folder = folder.path();
        Ok(Self {
            folder: folder.to_owned(),
            settings,
            earlier: by_audit(folder),
            written: Mutex::new(Ok(0)),
        })
    }

    /// How many were written.
    ///
    /// # Errors
    /// When one could not be written.
    pub fn close(self) -> Result<usize, Error> {
        self.written.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, witness: &Witness) -> Result<(), Error> {
        let destination = Destination::inside(&self.folder, witness.file_name())?;
        let content = witness.sealed().to_string() + "\n";
        destination
            .replace(content.as_bytes())
            .map_err(|source: io::Error| unwritable(destination.path(), source))
    }

    /// Removes the files of earlier runs about an audit, except for the one that has just been
    /// written.
    fn remove_stale(&self, audit: &str, written: Option<&Witness>) -> Result<(), Error> {
        let kept = written.map(|witness| self.folder.join(witness.file_name()));
        for path in
            self.earlier.get(audit).into_iter().flatten().filter(|path| kept.as_ref() != Some(path))
        {
            match fs::remove_file(path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(unwritable(path, source));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The witnesses in a folder, by the name of their audit. Other files are left alone.
fn by_audit(folder: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if let Some(witness) = read_text(&path).ok().and_then(|text| Witness::from_json(&text).ok())
        {
            found.entry(witness.audit).or_default().push(path);
        }
    }
    found
}

impl Listener for Witnesses {
    fn hear(&self, event: Event<'_>) {
        let Event::AuditFinished { report } = event else { return };
        let witness = Witness::of(self.settings, report);
        let outcome = witness.as_ref().map_or(Ok(()), |witness| self.write(witness));
        let outcome =
            outcome.and_then(|()| self.remove_stale(&report.audit.name, witness.as_ref()));
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match (outcome, written.as_mut()) {
            (Ok(()), Ok(count)) => *count += usize::from(witness.is_some()),
            (Err(error), Ok(_)) => *written = Err(error),
            (_, Err(_)) => {}
        }
    }

    fn is_listening(&self) -> bool {
        false
    }
}
