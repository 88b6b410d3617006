//! What makes a run fail: one pure function from what was found to an exit code.

use crate::exit_code::ExitCode;
use crate::report::{AuditReport, PairReport, RunReport};
use crate::verdict::{Agreement, Verdict};

/// What fails a run, besides a verdict that was not expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// A verdict that differs from what its file expects. Always included.
    Surprise,
    /// A refuted claim, even where the file expects it.
    Violated,
    /// An audit that cannot tell.
    Inconclusive,
}

/// Which findings fail a run.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// What fails the run in addition to surprises.
    pub fail_on: Vec<FailOn>,
    /// Whether no verdict fails the run.
    pub report_only: bool,
}

impl Gate {
    /// How a pair fares: the exit code that it alone would give.
    #[must_use]
    pub fn judge(&self, audit: &AuditReport, outcome: &Result<PairReport, crate::error::TargetError>) -> ExitCode {
        let on = |what| self.fail_on.contains(&what);
        let violated = outcome.as_ref().is_ok_and(|report| report.verdict == Verdict::Violated);
        match audit.agreement_of(outcome) {
            Agreement::NotRun => ExitCode::NotRun,
            _ if self.report_only => ExitCode::AsExpected,
            Agreement::Differs => ExitCode::Surprise,
            _ if violated && on(FailOn::Violated) => ExitCode::Surprise,
            Agreement::Undecided if on(FailOn::Inconclusive) => ExitCode::Inconclusive,
            Agreement::Undecided | Agreement::Agrees => ExitCode::AsExpected,
        }
    }

    /// The exit code of a finished run. The gravest fact wins: a surprise, or something worse than in the baseline; then a mechanism that could not be run; then
    /// lack of power.
    #[must_use]
    pub fn exit_code(&self, report: &RunReport, worse: bool) -> ExitCode {
        let pairs = report.audits.iter().flat_map(|audit| audit.pairs.iter().map(move |(_, outcome)| self.judge(audit, outcome)));
        let codes: Vec<ExitCode> = pairs.chain((worse && !self.report_only).then_some(ExitCode::Surprise)).collect();
        let gravest = [ExitCode::Surprise, ExitCode::NotRun, ExitCode::Inconclusive];
        gravest.into_iter().find(|code| codes.contains(code)).unwrap_or(ExitCode::AsExpected)
    }
}
