//! A folder of witnesses: one file for each audit whose claim was refuted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::file::{check_folder, replace};
use super::{Listener, RunReport};
use crate::error::Error;

/// Writes the witness of each refuted claim as soon as its audit has ended.
pub struct Witnesses {
    folder: PathBuf,
    written: Mutex<io::Result<usize>>,
}

impl Witnesses {
    /// Checks, before anything is measured, that the folder can be written to; what earlier runs left there stays.
    ///
    /// # Errors
    /// When it cannot.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        check_folder(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })?;
        Ok(Self { folder: folder.to_owned(), written: Mutex::new(Ok(0)) })
    }

    /// How many were written.
    ///
    /// # Errors
    /// When one could not be written.
    pub fn close(self) -> Result<usize, Error> {
        let written = self.written.into_inner().unwrap_or(Ok(0));
        written.map_err(|source| Error::Write { path: self.folder, source })
    }
}

impl Listener for Witnesses {
    fn audit_finished(&self, report: &RunReport) {
        let Some(witness) = report.audits.last().and_then(|audit| audit.telling()?.witness.as_ref()) else { return };
        let outcome = replace(&self.folder.join(witness.file_name()), format!("{}\n", witness.sealed()).as_bytes());
        if let Ok(mut written) = self.written.lock() {
            match (outcome, written.as_mut()) {
                (Ok(()), Ok(count)) => *count += 1,
                (Err(error), _) => *written = Err(error),
                (Ok(()), Err(_)) => {}
            }
        }
    }
}
