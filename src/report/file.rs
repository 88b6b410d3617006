//! Report files: checked before anything is measured, and replaced as a whole after each audit, so that an interrupted run loses nothing it finished.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{Listener, RunReport};
use crate::error::Error;

/// A format of the report.
pub trait Format: Sync {
    /// The report so far, in full.
    ///
    /// # Errors
    /// When it cannot be put in this format.
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>>;
}

/// A file that always holds every finished audit.
pub struct ReportFile {
    path: PathBuf,
    format: Box<dyn Format>,
    failure: Mutex<Option<io::Error>>,
}

impl ReportFile {
    /// Checks, before anything is measured, that the file can be written; leaves what it holds untouched.
    ///
    /// # Errors
    /// When it cannot.
    pub fn open(path: &Path, format: Box<dyn Format>) -> Result<Self, Error> {
        let failed = |source| Error::Write { path: path.to_owned(), source };
        if path.is_dir() {
            return Err(failed(io::Error::other("it is a folder")));
        }
        check_folder(folder(path)).map_err(failed)?;
        Ok(Self { path: path.to_owned(), format, failure: Mutex::new(None) })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ends the report.
    ///
    /// # Errors
    /// When the last attempt to write it failed.
    pub fn close(self) -> Result<(), Error> {
        match self.failure.into_inner().unwrap_or_default() {
            Some(source) => Err(Error::Write { path: self.path, source }),
            None => Ok(()),
        }
    }
}

impl Listener for ReportFile {
    fn audit_finished(&self, report: &RunReport) {
        let outcome = self.format.render(report).and_then(|content| replace(&self.path, &content)).err();
        if let Ok(mut failure) = self.failure.lock() {
            *failure = outcome;
        }
    }
}

/// Makes a folder if need be, and checks that files can be made in it.
///
/// # Errors
/// When they cannot.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::NamedTempFile::new_in(folder)?;
    Ok(())
}

/// Writes a temporary file beside the report, then renames it: readers see the old report or the new one, never half of one.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().permissions(readable()).tempfile_in(folder(path))?;
    io::Write::write_all(&mut file, content)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The permissions of an ordinary new file; temporary files are private by default.
fn readable() -> std::fs::Permissions {
    #[cfg(unix)]
    {
        std::os::unix::fs::PermissionsExt::from_mode(0o666)
    }
    #[cfg(not(unix))]
    {
        std::fs::metadata(".").map(|data| data.permissions()).expect("the current folder exists")
    }
}
