//! What the program says: results on standard output, everything else on standard error.

use std::fmt::Display;
use std::io::{self, Write};

use crate::model::Error;

/// Where a command's words for people go: to standard error if a report goes to standard output, nowhere if it is to be quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// To standard output.
    Output,
    /// To standard error.
    Errors,
    /// Nowhere.
    Quiet,
}

impl Screen {
    /// The place for words, given whether to be quiet and whether a report takes standard output.
    #[must_use]
    pub fn new(quiet: bool, output_is_taken: bool) -> Self {
        match (quiet, output_is_taken) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Errors,
            (false, false) => Self::Output,
        }
    }

    /// Says something.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn say(self, text: impl Display) -> Result<(), Error> {
        match self {
            Self::Output => say(text),
            Self::Errors => {
                let _ = write!(io::stderr(), "{text}");
                Ok(())
            }
            Self::Quiet => Ok(()),
        }
    }
}

/// Writes to standard output. A reader who has seen enough (`| head`) ends nothing: reports are still written, and the exit code is that of what was found.
///
/// # Errors
/// When standard output cannot be written for any other reason.
pub fn say(text: impl Display) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => Err(Error::StandardOutput { source }),
        _ => Ok(()),
    }
}

/// Writes a line to standard error, if anybody is there to read it.
pub fn warn(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}
