//! The files of a calibration: a CSV file of the measured rates and, if requested, pictures.

use std::io;
use std::path::PathBuf;

use super::Outcome;
use super::csv;
use super::picture;
use crate::model::Error;
use crate::report::persistence::store::{Destination, OutputPath, check_folder, unwritable};

/// The files of a calibration. They are replaced as a whole after each outcome, so an interruption
/// loses no finished outcome.
pub struct CalibrationFiles {
    csv: Destination,
    pictures: Option<PathBuf>,
}

impl CalibrationFiles {
    /// Checks before anything is measured that the files can be written. Existing files are not
    /// changed.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn open(csv: &OutputPath, pictures: Option<PathBuf>) -> Result<Self, Error> {
        let csv = Destination::at(csv)?;
        if let Some(folder) = &pictures {
            check_folder(folder).map_err(|source| unwritable(folder, source))?;
        }
        Ok(Self { csv, pictures })
    }

    /// Whether the rates go to standard output.
    #[must_use]
    pub fn to_standard_output(&self) -> bool {
        self.csv.is_standard_output()
    }

    /// Writes all outcomes so far. A stream cannot be replaced, so it is written only at the end
    /// (`last`).
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, outcomes: &[Outcome], last: bool) -> Result<(), Error> {
        if last || self.csv.file().is_some() {
            let mut text = Vec::new();
            let written = csv::write(outcomes, &mut text).and_then(|()| self.csv.replace(&text));
            written.map_err(|source: io::Error| unwritable(self.csv.path(), source))?;
        }
        let Some(folder) = &self.pictures else { return Ok(()) };
        for (name, picture) in [
            ("false-alarms.svg", picture::false_alarms(outcomes)),
            ("power.svg", picture::power(outcomes)),
        ] {
            if let Some(picture) = picture {
                let destination = Destination::inside(folder, name)?;
                destination
                    .replace(picture.as_bytes())
                    .map_err(|source| unwritable(destination.path(), source))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::picture::tests::outcomes;
    use super::*;

    fn named(path: &Path) -> OutputPath {
        OutputPath::Named(path.to_owned())
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn opening_creates_folders_and_does_not_change_files() {
        let folder = tempfile::tempdir().unwrap();
        let (csv, pictures) = (folder.path().join("a/b/rates.csv"), folder.path().join("c/d"));
        CalibrationFiles::open(&named(&csv), Some(pictures.clone())).unwrap();
        assert!(names(csv.parent().unwrap()).is_empty() && names(&pictures).is_empty());
        fs::write(&csv, "old").unwrap();
        CalibrationFiles::open(&named(&csv), None).unwrap();
        assert_eq!(fs::read_to_string(csv).unwrap(), "old");
    }

    #[test]
    fn unwritable_files_are_rejected_before_anything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(CalibrationFiles::open(&named(folder.path()), None).is_err());
        assert!(CalibrationFiles::open(&named(&file.join("rates.csv")), None).is_err());
        assert!(
            CalibrationFiles::open(&named(&folder.path().join("rates.csv")), Some(file)).is_err()
        );
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn files_are_replaced_and_no_other_files_remain() {
        let folder = tempfile::tempdir().unwrap();
        let csv = folder.path().join("rates.csv");
        let files = CalibrationFiles::open(&named(&csv), Some(folder.path().to_owned())).unwrap();
        let outcomes = outcomes();
        files.write(&outcomes[..2], false).unwrap();
        assert_eq!(names(folder.path()), ["false-alarms.svg", "rates.csv"]);
        // A reader that has the old file open still reads the complete old file.
        let mut old = fs::File::open(&csv).unwrap();
        files.write(&outcomes, true).unwrap();
        assert_eq!(names(folder.path()), ["false-alarms.svg", "power.svg", "rates.csv"]);
        assert_eq!(io::read_to_string(&mut old).unwrap().lines().count(), 1 + 2);
        assert_eq!(fs::read_to_string(&csv).unwrap().lines().count(), 1 + outcomes.len());
    }
}
