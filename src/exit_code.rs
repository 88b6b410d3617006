//! What the exit code of `dp-audit` says.

use crate::report::RunReport;
use crate::verdict::Agreement;

/// The documented exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Every verdict is as expected (or, without `--require-power`, inconclusive where no violation was expected).
    AsExpected = 0,
    /// Wrong usage, a bad audit file, or a result file that cannot be written.
    Usage = 1,
    /// A verdict differs from what was expected.
    Surprise = 2,
    /// An audit was inconclusive and `--require-power` was given.
    Inconclusive = 3,
    /// A mechanism could not be run; its claim was not judged.
    NotRun = 5,
    /// An error of dp-audit itself.
    Internal = 70,
}

impl ExitCode {
    /// The code for a finished run. The gravest fact wins: a surprise, then a mechanism that could not be run, then lack of power.
    #[must_use]
    pub fn of_run(report: &RunReport, require_power: bool) -> Self {
        let any = |agreement| report.audits.iter().any(|audit| audit.agreement() == agreement);
        if any(Agreement::Differs) {
            Self::Surprise
        } else if any(Agreement::NotRun) {
            Self::NotRun
        } else if require_power && any(Agreement::Undecided) {
            Self::Inconclusive
        } else {
            Self::AsExpected
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}
