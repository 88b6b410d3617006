//! What makes a run fail: one pure function from what was found to an exit code.

use super::exit_code::ExitCode;
use crate::audit::{AuditReport, PairResult, RunReport};
use crate::model::{Agreement, Verdict};

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
    pub fn exit_code_of(&self, audit: &AuditReport, result: &PairResult) -> ExitCode {
        let on = |what| self.fail_on.contains(&what);
        let violated = result.outcome.as_ref().is_ok_and(|found| found.verdict == Verdict::Violated);
        match audit.agreement_of(result) {
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
        let pairs = report.audits.iter().flat_map(|audit| audit.results.iter().map(move |result| self.exit_code_of(audit, result)));
        let codes: Vec<ExitCode> = pairs.chain((worse && !self.report_only).then_some(ExitCode::Surprise)).collect();
        let gravest = [ExitCode::Surprise, ExitCode::NotRun, ExitCode::Inconclusive];
        gravest.into_iter().find(|code| codes.contains(code)).unwrap_or(ExitCode::AsExpected)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::audit::Audit;
    use crate::model::{Claim, Delta, Expectation, Settings};
    use crate::target::TargetError;

    /// The result of one pair, as a journal would hold it.
    fn pair(verdict: Verdict, expect: Expectation) -> PairResult {
        let evidence = serde_json::json!({
            "verdict": verdict,
            "bounds": { "epsilon_lower": 0.0, "delta_lower": 0.0, "detectable_epsilon": "inf" },
            "estimate": { "epsilon": 0.0, "epsilon_upper": "inf" },
            "draws": 0,
            "tally": { "correct": 0, "wrong": 0, "abstained": 0 },
            "regions": 0,
            "rule": null,
            "symbols": {},
            "curves": { "distribution": null, "profile": [], "wealth": [], "threshold": 0.0 },
            "behaviour": null,
            "reproducible": true,
            "note": null,
        });
        let result = serde_json::json!({
            "pair": "", "left": "", "right": "", "expect": expect, "truth": {}, "outcome": { "Ok": evidence }, "seconds": 0.0,
        });
        serde_json::from_value(result).unwrap()
    }

    /// Refuted as expected, refuted against expectation, consistent, inconclusive, not run.
    fn results() -> [PairResult; 5] {
        let failed =
            PairResult { outcome: Err(TargetError::WrongCount { asked: 2, got: 1 }), ..pair(Verdict::Violated, Expectation::Violated) };
        [
            pair(Verdict::Violated, Expectation::Violated),
            pair(Verdict::Violated, Expectation::Consistent),
            pair(Verdict::Consistent, Expectation::Consistent),
            pair(Verdict::Inconclusive, Expectation::Consistent),
            failed,
        ]
    }

    fn run(results: Vec<PairResult>) -> RunReport {
        let claim = Claim { epsilon: 1.0.try_into().unwrap(), delta: Delta::default() };
        let (audit, pairs) = (Arc::new(Audit::given("", "closure", claim, [])), results.len());
        RunReport::new(Settings::default(), pairs, vec![Arc::new(AuditReport { audit, results })])
    }

    #[test]
    fn a_pair_fails_by_what_was_expected_and_what_was_asked_for() {
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
    fn the_gravest_pair_decides_and_so_does_the_baseline() {
        let gate = Gate { fail_on: vec![FailOn::Inconclusive], report_only: false };
        let [_, surprise, consistent, inconclusive, not_run] = results();
        let mut rising = vec![
            (ExitCode::AsExpected, consistent),
            (ExitCode::Inconclusive, inconclusive),
            (ExitCode::NotRun, not_run),
            (ExitCode::Surprise, surprise),
        ];
        while let Some((code, _)) = rising.last() {
            let results: Vec<PairResult> = rising.iter().map(|(_, result)| result.clone()).collect();
            assert_eq!(gate.exit_code(&run(results.clone()), false), *code);
            assert_eq!(gate.exit_code(&run(results.clone()), true), ExitCode::Surprise);
            assert_eq!(gate.exit_code(&run(results.into_iter().rev().collect()), false), *code);
            rising.pop();
        }
        assert_eq!(Gate { report_only: true, ..gate }.exit_code(&run(vec![]), true), ExitCode::AsExpected);
    }
}
