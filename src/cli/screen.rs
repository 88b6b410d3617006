//! Prints text: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, Write};

use crate::model::Error;

/// Where a command prints its text for people: to standard error if a report uses standard output,
/// nowhere with `--quiet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// To standard output.
    Stdout,
    /// To standard error.
    Stderr,
    /// Nowhere.
    Quiet,
}

impl Screen {
    /// Where to print, given `--quiet` and whether a report uses standard output.
    #[must_use]
    pub fn new(quiet: bool, stdout_is_used: bool) -> Self {
        match (quiet, stdout_is_used) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Stderr,
            (false, false) => Self::Stdout,
        }
    }

    /// Prints a text.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn print(self, text: impl Display) -> Result<(), Error> {
        match self {
            Self::Stdout => print(text),
            Self::Stderr => {
                let _ = write!(io::stderr(), "{text}");
                Ok(())
            }
            Self::Quiet => Ok(()),
        }
    }
}

/// Prints to standard output. A reader that closes the pipe early (`| head`) is not an error:
/// reports are still written, and the exit code does not change.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn print(text: impl Display) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::StandardOutput { source })
        }
        _ => Ok(()),
    }
}

/// Prints a line to standard error. Errors are ignored, because there is nowhere else to report
/// them.
pub fn print_error(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
