//! Where measured rates go: a CSV file and, if asked for, pictures.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{Outcome, csv, picture};
use crate::error::Error;

/// The files of a calibration, rewritten after each outcome, so that an interrupted one loses nothing it finished.
pub struct Files {
    csv: PathBuf,
    pictures: Option<PathBuf>,
}

impl Files {
    /// Checks, before anything is measured, that the files can be written; leaves what they hold untouched.
    ///
    /// # Errors
    /// When one cannot.
    pub fn open(csv: PathBuf, pictures: Option<PathBuf>) -> Result<Self, Error> {
        if let Some(folder) = &pictures {
            fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        if let Some(folder) = csv.parent() {
            fs::create_dir_all(folder).map_err(failed(&csv))?;
        }
        OpenOptions::new().append(true).create(true).open(&csv).map_err(failed(&csv))?;
        Ok(Self { csv, pictures })
    }

    /// Writes all outcomes so far.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, outcomes: &[Outcome]) -> Result<(), Error> {
        let mut text = Vec::new();
        csv::write(outcomes, &mut text).map_err(failed(&self.csv))?;
        fs::write(&self.csv, text).map_err(failed(&self.csv))?;
        let Some(folder) = &self.pictures else { return Ok(()) };
        for (name, picture) in [("false-alarms.svg", picture::false_alarms(outcomes)), ("power.svg", picture::power(outcomes))] {
            if let Some(picture) = picture {
                let path = folder.join(name);
                fs::write(&path, picture).map_err(failed(&path))?;
            }
        }
        Ok(())
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    |source| Error::Write { path, source }
}
