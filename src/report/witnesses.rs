//! Writes the folder of witnesses: one file for each audit whose claim is refuted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::store::{Destination, check_folder, unwritable};
use super::witness::Witness;
use crate::audit::{Event, Listener};
use crate::model::{Error, Settings};

/// Writes the witness of each refuted claim when its audit has ended.
pub struct Witnesses {
    folder: PathBuf,
    settings: Settings,
    written: Mutex<Result<usize, Error>>,
}

impl Witnesses {
    /// Checks before anything is measured that files can be created in the folder. Files of earlier runs are kept.
    ///
    /// # Errors
    /// When they cannot be created.
    pub fn open(folder: &Path, settings: Settings) -> Result<Self, Error> {
        check_folder(folder).map_err(|source| unwritable(folder, source))?;
        Ok(Self { folder: folder.to_owned(), settings, written: Mutex::new(Ok(0)) })
    }

    /// How many were written.
    ///
    /// # Errors
    /// When one could not be written.
    pub fn close(self) -> Result<usize, Error> {
        self.written.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, witness: &Witness) -> Result<(), Error> {
        let destination = Destination::open(&self.folder.join(witness.file_name()))?;
        let content = witness.sealed().to_string() + "\n";
        destination.replace(content.as_bytes()).map_err(|source: io::Error| unwritable(destination.path(), source))
    }
}

impl Listener for Witnesses {
    fn hear(&self, event: Event<'_>) {
        let Event::AuditFinished { report } = event else { return };
        let Some(witness) = Witness::of(self.settings, report) else { return };
        let outcome = self.write(&witness);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match (outcome, written.as_mut()) {
            (Ok(()), Ok(count)) => *count += 1,
            (Err(error), Ok(_)) => *written = Err(error),
            (_, Err(_)) => {}
        }
    }

    fn is_listening(&self) -> bool {
        false
    }
}
