//! Decides whether a run fails: a pure function from results to an exit code.

use super::exit_code::ExitCode;
use crate::audit::{AuditReport, PairResult, RunReport};
use crate::model::{Agreement, Verdict};

/// What fails a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// A verdict that differs from what its audit file expects (always included)
    Surprise,
    /// A refuted claim, even if its audit file expects it
    Violated,
    /// An inconclusive audit
    Inconclusive,
}

/// Which results fail a run.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// What fails the run in addition to surprises.
    pub fail_on: Vec<FailOn>,
    /// Whether no verdict fails the run.
    pub report_only: bool,
}

impl Gate {
    /// The exit code of a run with only this pair.
    #[must_use]
    pub fn exit_code_of(&self, audit: &AuditReport, result: &PairResult) -> ExitCode {
        let fails_on = |what| self.fail_on.contains(&what);
        let violated = result.outcome.as_ref().is_ok_and(|evidence| evidence.verdict == Verdict::Violated);
        match audit.agreement_of(result) {
            Agreement::NotRun => ExitCode::NotRun,
            _ if self.report_only => ExitCode::AsExpected,
            Agreement::Differs => ExitCode::Surprise,
            _ if violated && fails_on(FailOn::Violated) => ExitCode::Surprise,
            Agreement::Undecided if fails_on(FailOn::Inconclusive) => ExitCode::Inconclusive,
            Agreement::Undecided | Agreement::Agrees => ExitCode::AsExpected,
        }
    }

    /// The exit code of a finished run. The most severe result decides: first an unexpected verdict or something worse than in the
    /// baseline, then a mechanism that could not be run, then an inconclusive audit.
    #[must_use]
    pub fn exit_code(&self, report: &RunReport, worse: bool) -> ExitCode {
        let pairs = report.audits.iter().flat_map(|audit| audit.results.iter().map(move |result| self.exit_code_of(audit, result)));
        let codes: Vec<ExitCode> = pairs.chain((worse && !self.report_only).then_some(ExitCode::Surprise)).collect();
        let by_severity = [ExitCode::Surprise, ExitCode::NotRun, ExitCode::Inconclusive];
        by_severity.into_iter().find(|code| codes.contains(code)).unwrap_or(ExitCode::AsExpected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Expectation;
    use crate::report::testing::{not_run, pair, run};

    /// Refuted as expected, refuted although not expected, consistent, inconclusive, not run.
    fn results() -> [PairResult; 5] {
        [
            pair(Verdict::Violated, Expectation::Violated),
            pair(Verdict::Violated, Expectation::Consistent),
            pair(Verdict::Consistent, Expectation::Consistent),
            pair(Verdict::Inconclusive, Expectation::Consistent),
            not_run(),
        ]
    }

    #[test]
    fn a_pair_fails_according_to_its_expectation_and_the_options() {
        use ExitCode::{AsExpected, Inconclusive, NotRun, Surprise};
        let judged = |fail_on: &[FailOn], report_only| {
            let gate = Gate { fail_on: fail_on.to_vec(), report_only };
            results().map(|result| gate.exit_code_of(&run(vec![]).audits[0], &result))
        };
        assert_eq!(judged(&[], false), [AsExpected, Surprise, AsExpected, AsExpected, NotRun]);
        assert_eq!(judged(&[FailOn::Surprise], false), judged(&[], false));
        assert_eq!(judged(&[FailOn::Violated], false), [Surprise, Surprise, AsExpected, AsExpected, NotRun]);
        assert_eq!(judged(&[FailOn::Inconclusive], false), [AsExpected, Surprise, AsExpected, Inconclusive, NotRun]);
        assert_eq!(judged(&[FailOn::Violated, FailOn::Inconclusive], true), [AsExpected, AsExpected, AsExpected, AsExpected, NotRun]);
    }

    #[test]
    fn the_most_severe_pair_decides_and_so_does_the_baseline() {
        let gate = Gate { fail_on: vec![FailOn::Inconclusive], report_only: false };
        let [_, surprise, consistent, inconclusive, not_run] = results();
        let mut by_severity = vec![
            (ExitCode::AsExpected, consistent),
            (ExitCode::Inconclusive, inconclusive),
            (ExitCode::NotRun, not_run),
            (ExitCode::Surprise, surprise),
        ];
        while let Some((code, _)) = by_severity.last() {
            let results: Vec<PairResult> = by_severity.iter().map(|(_, result)| result.clone()).collect();
            assert_eq!(gate.exit_code(&run(results.clone()), false), *code);
            assert_eq!(gate.exit_code(&run(results.clone()), true), ExitCode::Surprise);
            assert_eq!(gate.exit_code(&run(results.into_iter().rev().collect()), false), *code);
            by_severity.pop();
        }
        assert_eq!(Gate { report_only: true, ..gate }.exit_code(&run(vec![]), true), ExitCode::AsExpected);
    }
}
