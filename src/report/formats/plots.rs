//! Writes the folder of pictures: SVG files for each pair, for papers.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::audit::{AuditReport, Event, Listener};
use crate::model::Error;
use crate::output::fingerprint;
use crate::report::formats::plot::Plot;
use crate::report::persistence::store::{Destination, check_folder, unwritable};
use crate::report::persistence::witness::file_words;

/// Writes the pictures of each pair when its audit has ended.
pub struct Plots {
    folder: PathBuf,
    written: Mutex<Result<usize, Error>>,
}

impl Plots {
    /// Checks before anything is measured that files can be created in the folder. Files of earlier
    /// runs are replaced or kept.
    ///
    /// # Errors
    /// When they cannot be created.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        check_folder(folder).map_err(|source| unwritable(folder, source))?;
        Ok(Self { folder: folder.to_owned(), written: Mutex::new(Ok(0)) })
    }

    /// How many were written.
    ///
    /// # Errors
    /// When one could not be written.
    pub fn close(self) -> Result<usize, Error> {
        self.written.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, report: &AuditReport) -> Result<usize, Error> {
        let mut written = 0;
        for (title, name, plot) in plots(report) {
            let destination = Destination::inside(&self.folder, name)?;
            destination
                .replace(plot.file(&title).as_bytes())
                .map_err(|source| unwritable(destination.path(), source))?;
            written += 1;
        }
        Ok(written)
    }
}

/// All pictures of an audit, each with its title and its file name.
fn plots(report: &AuditReport) -> Vec<(String, String, Plot)> {
    let audit = &report.audit;
    let mut plots = Vec::new();
    for judged in report.statements() {
        let title = format!("{} / {}", audit.name, judged.name());
        // The hash is needed because different names can have the same readable part.
        let words = format!("{}-{}", file_words(&title), &fingerprint(&[&title])[..8]);
        plots.extend(
            Plot::all(judged)
                .into_iter()
                .map(|plot| (title.clone(), format!("{words}-{}.svg", plot.name), plot)),
        );
    }
    plots
}

impl Listener for Plots {
    fn hear(&self, event: Event<'_>) {
        let Event::AuditFinished { report } = event else { return };
        let outcome = self.write(report);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        match (outcome, written.as_mut()) {
            (Ok(more), Ok(count)) => *count += more,
            (Err(error), Ok(_)) => *written = Err(error),
            (_, Err(_)) => {}
        }
    }

    fn is_listening(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Expectation, Verdict};
    use crate::report::testing::{not_run, pair, run};

    #[test]
    fn every_pair_that_was_run_has_its_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let plots = Plots::open(folder.path()).unwrap();
        let report = Arc::clone(
            &run(vec![pair(Verdict::Violated, Expectation::Violated), not_run()]).audits[0],
        );
        plots.hear(Event::AuditFinished { report: &report });
        // Without curves only the profile can be drawn.
        assert_eq!(plots.close().unwrap(), 1);
        let files: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        let name = files[0].to_string_lossy();
        assert!(
            files.len() == 1
                && name.starts_with("count-one-more-")
                && name.ends_with("-profile.svg"),
            "{files:?}"
        );
    }
}
