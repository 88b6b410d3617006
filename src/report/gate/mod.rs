//! Decides whether a run fails: a pure function from results to an exit code.
//!
//! | file | what it does |
//! |---|---|
//! | `exit_code.rs` | the exit codes |
//! | `baseline.rs` | what is worse than in an earlier report |
//! | `problem.rs`, `problem_text.rs`, `place.rs` | the problems of a run: what, in words, where |

pub mod baseline;
pub mod exit_code;
pub mod place;
pub mod problem;
mod problem_text;

use crate::audit::{AuditReport, Judged, RunReport};
use crate::model::{Agreement, Verdict};
use crate::report::gate::exit_code::ExitCode;

/// Which verdicts fail a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOn {
    /// A verdict that differs from what its audit file expects
    #[default]
    Surprise,
    /// Also a refuted claim whose audit file expects it
    Violated,
}

/// Which results fail a run.
#[derive(Clone, Debug, Default)]
pub struct Gate {
    /// Which verdicts fail the run.
    pub fail_on: FailOn,
    /// Whether an inconclusive audit passes.
    pub allow_inconclusive: bool,
    /// Whether no verdict fails the run.
    pub report_only: bool,
}

impl Gate {
    /// The exit code of a run with only this statement.
    #[must_use]
    pub fn exit_code_of(&self, statement: Judged<'_>) -> ExitCode {
        let allowed =
            self.allow_inconclusive || statement.report.audit.allow_inconclusive.is_some();
        let violated = statement.verdict() == Some(Verdict::Violated);
        match statement.agreement() {
            Agreement::NotRun => ExitCode::NotRun,
            _ if self.report_only => ExitCode::AsExpected,
            Agreement::Differs => ExitCode::Surprise,
            _ if violated && self.fail_on == FailOn::Violated => ExitCode::Surprise,
            Agreement::Undecided if !allowed => ExitCode::Inconclusive,
            Agreement::Undecided | Agreement::Agrees => ExitCode::AsExpected,
        }
    }

    /// The exit codes of all statements of an audit.
    pub fn exit_codes(&self, audit: &AuditReport) -> impl Iterator<Item = ExitCode> {
        audit.statements().map(|statement| self.exit_code_of(statement))
    }

    /// The exit code of a finished run. The most severe result decides: first an unexpected verdict
    /// or something worse than in the baseline, then a mechanism that could not be run, then an
    /// inconclusive audit.
    #[must_use]
    pub fn exit_code(&self, report: &RunReport, worse: bool) -> ExitCode {
        let found = report.audits.iter().flat_map(|audit| self.exit_codes(audit));
        let worse = (worse && !self.report_only).then_some(ExitCode::Surprise);
        // What an interrupted run did not come to was not run.
        let interrupted = (!report.is_complete()).then_some(ExitCode::NotRun);
        let codes: Vec<ExitCode> = found.chain(worse).chain(interrupted).collect();
        let by_severity = [ExitCode::Surprise, ExitCode::NotRun, ExitCode::Inconclusive];
        by_severity.into_iter().find(|code| codes.contains(code)).unwrap_or(ExitCode::AsExpected)
    }

    /// Which audits are inconclusive and do not fail the run, and why; `None` if there are none.
    #[must_use]
    pub fn allowed_line(&self, report: &RunReport) -> Option<String> {
        let allowed = report
            .with(Agreement::Undecided)
            .filter(|audit| self.exit_codes(audit).all(|code| code == ExitCode::AsExpected));
        let names: Vec<String> = allowed
            .map(|audit| match &audit.audit.allow_inconclusive {
                Some(reason) => format!("{} ({reason})", audit.audit.name),
                None => audit.audit.name.clone(),
            })
            .collect();
        (!names.is_empty())
            .then(|| format!("Inconclusive, which is allowed: {}.", names.join("; ")))
    }

    /// The closing line of a run that fails: the exit code and everything that is wrong, the most
    /// severe first.
    #[must_use]
    pub fn closing_line(&self, report: &RunReport, worse: bool) -> Option<String> {
        let code = self.exit_code(report, worse);
        if code == ExitCode::AsExpected {
            return None;
        }
        let names = |what: &str, code: ExitCode| {
            let failing = report
                .audits
                .iter()
                .filter(|audit| self.exit_codes(audit).any(|found| found == code));
            let names: Vec<&str> = failing.map(|audit| audit.audit.name.as_str()).collect();
            (!names.is_empty()).then(|| format!("{what}: {}", named(&names)))
        };
        let surprises = if self.fail_on == FailOn::Violated {
            "Unexpected or refuted"
        } else {
            "Not as expected"
        };
        let inconclusive = names("Inconclusive", ExitCode::Inconclusive);
        let causes = [
            names(surprises, ExitCode::Surprise),
            (worse && !self.report_only)
                .then(|| "Something is worse than in the baseline".to_owned()),
            names("Could not be run", ExitCode::NotRun),
            (!report.is_complete())
                .then(|| "It was interrupted, so results are missing".to_owned()),
            // The option helps only if nothing else is wrong.
            inconclusive.map(|text| {
                if code == ExitCode::Inconclusive {
                    text + " (--allow-inconclusive lets this pass)"
                } else {
                    text
                }
            }),
        ];
        let causes: Vec<String> = causes.into_iter().flatten().collect();
        Some(format!("The run fails with exit code {}. {}.", code as u8, causes.join(". ")))
    }
}

/// The first few names, and how many more there are.
fn named(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Expectation;
    use crate::report::testing::{INCONCLUSIVE, Ran, audit, not_run, pair, run, run_of};

    /// Refuted as expected, refuted although not expected, consistent, inconclusive, not run.
    fn results() -> [Ran; 5] {
        [
            pair(Verdict::Violated, Expectation::Violated),
            pair(Verdict::Violated, Expectation::Consistent),
            pair(Verdict::Consistent, Expectation::Consistent),
            pair(INCONCLUSIVE, Expectation::Consistent),
            not_run(),
        ]
    }

    #[test]
    fn a_pair_fails_according_to_its_expectation_and_the_options() {
        use ExitCode::{AsExpected, Inconclusive, NotRun, Surprise};
        let judged = |fail_on, allow_inconclusive, report_only| {
            let gate = Gate { fail_on, allow_inconclusive, report_only };
            results().map(|result| gate.exit_code_of(run(vec![result]).judged().next().unwrap()))
        };
        assert_eq!(
            judged(FailOn::Surprise, false, false),
            [AsExpected, Surprise, AsExpected, Inconclusive, NotRun]
        );
        assert_eq!(
            judged(FailOn::Surprise, true, false),
            [AsExpected, Surprise, AsExpected, AsExpected, NotRun]
        );
        assert_eq!(
            judged(FailOn::Violated, false, false),
            [Surprise, Surprise, AsExpected, Inconclusive, NotRun]
        );
        assert_eq!(
            judged(FailOn::Violated, false, true),
            [AsExpected, AsExpected, AsExpected, AsExpected, NotRun]
        );
    }

    #[test]
    fn the_most_severe_pair_decides_and_so_does_the_baseline() {
        let gate = Gate::default();
        let [_, surprise, consistent, inconclusive, not_run] = results();
        let mut by_severity = vec![
            (ExitCode::AsExpected, consistent),
            (ExitCode::Inconclusive, inconclusive),
            (ExitCode::NotRun, not_run),
            (ExitCode::Surprise, surprise),
        ];
        while let Some((code, _)) = by_severity.last() {
            let results: Vec<Ran> = by_severity.iter().map(|(_, result)| result.clone()).collect();
            assert_eq!(gate.exit_code(&run(results.clone()), false), *code);
            assert_eq!(gate.exit_code(&run(results.clone()), true), ExitCode::Surprise);
            assert_eq!(
                gate.closing_line(&run(results.clone()), false).is_some(),
                *code != ExitCode::AsExpected
            );
            assert_eq!(gate.exit_code(&run(results.into_iter().rev().collect()), false), *code);
            by_severity.pop();
        }
        assert_eq!(
            Gate { report_only: true, ..gate }.exit_code(&run(vec![]), true),
            ExitCode::AsExpected
        );
    }

    #[test]
    fn the_closing_line_says_why_a_run_fails() {
        let line = |results: Vec<(&str, Ran)>, worse| {
            let report = run_of(
                results.into_iter().map(|(name, result)| (audit(name), vec![result])).collect(),
            );
            Gate::default().closing_line(&report, worse).unwrap_or_default()
        };
        let [expected, surprise, consistent, inconclusive, not_run] = results();
        let weak = ("weak", inconclusive);
        assert_eq!(line(vec![("fine", consistent), ("twin", expected)], false), "");
        assert_eq!(
            line(vec![weak.clone()], false),
            "The run fails with exit code 3. Inconclusive: weak (--allow-inconclusive lets this pass)."
        );
        // Everything that is wrong is named, and the option that would not help is not.
        let dead = ("dead", not_run);
        assert_eq!(
            line(vec![weak.clone(), dead.clone()], false),
            "The run fails with exit code 5. Could not be run: dead. Inconclusive: weak."
        );
        let all = line(vec![weak.clone(), dead, ("broken", surprise.clone())], true);
        let causes = "Not as expected: broken. Something is worse than in the baseline. Could not be run: dead. Inconclusive: weak.";
        assert_eq!(all, format!("The run fails with exit code 2. {causes}"));
        assert_eq!(
            line(vec![weak], true),
            "The run fails with exit code 2. Something is worse than in the baseline. Inconclusive: weak."
        );
        let many = (0..20).map(|_| ("broken", surprise.clone())).collect();
        assert!(line(many, false).ends_with("broken; broken; and 12 more."));
    }
}
