//! The `JUnit` XML report, which CI servers show as tests: a test suite for each audit, a test case
//! for each statement.

use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::audit::{Judged, Row, RunReport, Words};
use crate::model::Agreement;
use crate::report::gate::Gate;
use crate::report::gate::exit_code::ExitCode;
use crate::report::persistence::files::Format;

/// The format of `--junit`. A result that fails the run is a failure, a mechanism that could not be
/// run is an error, and an inconclusive result that is allowed is skipped.
pub struct JUnit {
    /// Decides which results are failures.
    pub gate: Gate,
}

impl Format for JUnit {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        let mut xml = Report::new("dp-audit");
        for audit in &report.audits {
            let mut suite = TestSuite::new(audit.audit.name.as_str());
            suite.add_test_cases(audit.statements().map(|judged| self.case(report, judged)));
            let run = audit.statements().filter(|judged| judged.evidence().is_some());
            suite.set_time(seconds(run.map(|judged| judged.result.seconds).sum()));
            xml.add_test_suite(suite);
        }
        xml.to_string().map(String::into_bytes).map_err(io::Error::other)
    }
}

impl JUnit {
    fn case(&self, run: &RunReport, judged: Judged<'_>) -> TestCase {
        let row = Row::new(run.settings, judged);
        let words = judged.words();
        let message = match judged.error() {
            Some(error) => format!("could not be run: {error}"),
            None => {
                let why = judged
                    .reason()
                    .map_or_else(String::new, |reason| format!(" ({reason}: {})", reason.advice()));
                let observer = if words.observer.is_some() { "the attacker " } else { "" };
                let (verdict, expected) = (row.verdict, row.expected);
                format!("{verdict}{why}, expected {expected}: {observer}{}", words.sentence)
            }
        };
        let (code, body) = (self.gate.exit_code_of(judged), body(judged, &words));
        let status = status(code, judged.agreement(), &row, message, body);
        test_case(judged, &row, status)
    }
}

/// What a CI server shows below the message: what was found, the rule, the bounds, what to do.
fn body(judged: Judged<'_>, words: &Words) -> String {
    let mut lines = vec![format!("{}.", judged.sentence().trim_end_matches('.'))];
    lines.extend(judged.bound().map(|bound| format!("Bound: {bound} claimed.")));
    lines.extend((!words.bounds.is_empty()).then(|| format!("All bounds: {}.", words.bounds)));
    lines.extend(words.rule.as_ref().map(|(title, rule)| format!("{title} {rule}.")));
    let clues = words.clues.iter();
    lines.extend(clues.map(|clue| format!("{}: {}.", clue.title, clue.text)));
    lines.push(words.circumstances.clone());
    lines.extend(judged.next_step().map(|step| format!("Next: {step}")));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// What became of a test.
fn status(
    code: ExitCode,
    agreement: Agreement,
    row: &Row,
    message: String,
    body: String,
) -> TestCaseStatus {
    let mut status = match code {
        ExitCode::AsExpected if agreement == Agreement::Undecided => TestCaseStatus::skipped(),
        ExitCode::AsExpected => TestCaseStatus::success(),
        ExitCode::NotRun => TestCaseStatus::non_success(NonSuccessKind::Error),
        _ => TestCaseStatus::non_success(NonSuccessKind::Failure),
    };
    if status != TestCaseStatus::success() {
        status.set_message(message);
    }
    if code != ExitCode::AsExpected {
        status.set_type(row.verdict.to_string());
        status.set_description(body);
    }
    status
}

/// A test with the most important columns of the CSV, for tools that show properties.
fn test_case(judged: Judged<'_>, row: &Row, status: TestCaseStatus) -> TestCase {
    const OF_ALL: [&str; 3] = ["verdict", "reason", "expected"];
    let mut case = TestCase::new(row.pair.as_str(), status);
    case.set_classname(row.audit.as_str());
    if let Some(missed) = judged.missed() {
        case.set_system_out(format!("Not refuted: {missed}."));
    }
    if judged.evidence().is_some() {
        case.set_time(seconds(judged.result.seconds));
    }
    if let Ok(serde_json::Value::Object(columns)) = serde_json::to_value(row) {
        for key in OF_ALL.iter().chain(judged.kind().properties()) {
            let value = columns.get(*key).filter(|value| !value.is_null());
            let value =
                value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            case.add_property((*key, value.unwrap_or_default().as_str()));
        }
    }
    case
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Expectation, Verdict};
    use crate::report::gate::FailOn;
    use crate::report::testing::{INCONCLUSIVE, not_run, pair, run};

    /// What a test case is in a report.
    fn kind(case: &TestCase) -> &'static str {
        match &case.status {
            TestCaseStatus::Success { .. } => "success",
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => "failure",
            TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => "error",
            TestCaseStatus::Skipped { .. } => "skipped",
        }
    }

    fn kinds(gate: Gate) -> Vec<&'static str> {
        let run = run(vec![
            pair(Verdict::Violated, Expectation::Violated),
            pair(Verdict::Violated, Expectation::Consistent),
            pair(Verdict::Consistent, Expectation::Consistent),
            pair(INCONCLUSIVE, Expectation::Consistent),
            not_run(),
        ]);
        let format = JUnit { gate };
        run.judged().map(|judged| kind(&format.case(&run, judged))).collect()
    }

    #[test]
    fn the_gate_decides_what_is_a_failure() {
        let with = |fail_on, allow_inconclusive, report_only| {
            kinds(Gate { fail_on, allow_inconclusive, report_only })
        };
        assert_eq!(
            with(FailOn::Surprise, false, false),
            ["success", "failure", "success", "failure", "error"]
        );
        assert_eq!(
            with(FailOn::Surprise, true, false),
            ["success", "failure", "success", "skipped", "error"]
        );
        assert_eq!(
            with(FailOn::Violated, true, false),
            ["failure", "failure", "success", "skipped", "error"]
        );
        assert_eq!(
            with(FailOn::Violated, false, true),
            ["success", "success", "success", "skipped", "error"]
        );
    }

    #[test]
    fn the_file_has_a_suite_for_each_audit_and_says_why_a_case_fails() {
        let surprise = pair(Verdict::Violated, Expectation::Consistent).named("<one> & \"two\"");
        let run = run(vec![surprise, not_run()]);
        let xml = String::from_utf8(JUnit { gate: Gate::default() }.render(&run).unwrap()).unwrap();
        assert!(xml.contains("<testsuite name=\"count\" tests=\"2\""), "{xml}");
        assert!(xml.contains("failures=\"1\"") && xml.contains("errors=\"1\""), "{xml}");
        assert!(xml.contains("&lt;one&gt; &amp;") && !xml.contains("<one>"), "{xml}");
        // 80 of 100 guesses are right; ε = 1 allows e/(1 + e) = 73.1 %.
        assert!(xml.contains("violated, expected consistent: the attacker guessed right 80.0 % of the time; ε = 1 allows 73.1 %"), "{xml}");
        assert!(xml.contains("could not be run: asked for 2 outputs, got 1"), "{xml}");
    }

    #[test]
    fn impossible_times_are_zero() {
        assert_eq!(seconds(1.5), Duration::from_millis(1500));
        assert_eq!([-1.0, f64::NAN, f64::INFINITY].map(seconds), [Duration::ZERO; 3]);
    }
}
