//! The exit codes of `dp-audit`.

/// The documented exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Every verdict is as expected (or, with `--allow-inconclusive`, inconclusive where no
    /// violation was expected); or a replay confirmed its witness.
    AsExpected = 0,
    /// Wrong usage, an invalid audit file, or a result file or standard output that cannot be
    /// written.
    Usage = 1,
    /// A verdict differs from what was expected, a claim is refuted and `--fail-on violated` was
    /// given, something is worse than in the baseline, or a replay did not confirm its witness.
    Surprise = 2,
    /// An audit was inconclusive.
    Inconclusive = 3,
    /// A mechanism could not be run; its claim was not judged.
    NotRun = 5,
    /// An error of dp-audit itself.
    Internal = 70,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
