//! Output for GitHub Actions: annotations for the worst results, and the Markdown report on the job's summary page.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::baseline::Comparison;
use super::exit_code::ExitCode;
use super::files::Format;
use super::gate::Gate;
use super::markdown::Markdown;
use super::store::unwritable;
use crate::audit::{AuditReport, RunReport};
use crate::model::number::{Brief, round_down};
use crate::model::{Agreement, Error};

/// GitHub shows at most ten annotations per step.
const MAX_ANNOTATIONS: usize = 10;

/// A run in GitHub Actions.
pub struct GitHub {
    /// The file of the job's summary page.
    summary: Option<PathBuf>,
}

impl GitHub {
    /// Reads the environment. `None` if this is not GitHub Actions.
    #[must_use]
    pub fn from_environment() -> Option<Self> {
        (std::env::var("GITHUB_ACTIONS").as_deref() == Ok("true"))
            .then(|| Self { summary: std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from) })
    }

    /// Appends the Markdown report to the summary page.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn summarise(&self, report: &RunReport) -> Result<(), Error> {
        let Some(path) = &self.summary else { return Ok(()) };
        append(path, report).map_err(|source| unwritable(path, source))
    }
}

fn append(path: &Path, report: &RunReport) -> io::Result<()> {
    std::fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(&Markdown.render(report)?)
}

impl GitHub {
    /// Commands that annotate the audit files: an error for each audit that fails the run, a warning for each other
    /// audit whose result is not as expected.
    #[must_use]
    pub fn annotations(&self, report: &RunReport, gate: &Gate, comparison: Option<&Comparison>) -> String {
        let mut lines = audit_annotations(report, gate);
        let worse = comparison.into_iter().flat_map(|comparison| &comparison.worse);
        let level = if gate.report_only { "warning" } else { "error" };
        lines.extend(worse.map(|line| format!("::{level} title=Worse than the baseline::{}\n", escape_message(line))));
        lines.truncate(MAX_ANNOTATIONS);
        lines.concat()
    }
}

fn audit_annotations(report: &RunReport, gate: &Gate) -> Vec<String> {
    let fails = |audit: &&AuditReport| gate.exit_codes(audit).any(|code| code != ExitCode::AsExpected);
    let mut audits = report.most_severe_first();
    audits.retain(|audit| fails(audit) || audit.agreement() != Agreement::Agrees);
    audits.sort_by_key(|audit| !fails(audit));
    let line = |audit: &AuditReport| {
        let level = if fails(&audit) { "error" } else { "warning" };
        let file = audit.audit.file.display().to_string();
        let file = if file.is_empty() { file } else { format!("file={},", escape_property(&file)) };
        format!("::{level} {file}title={}::{}\n", escape_property(&audit.audit.name), escape_message(&describe(audit)))
    };
    audits.into_iter().map(line).collect()
}

/// The result in a sentence.
fn describe(audit: &AuditReport) -> String {
    if let Some((result, error)) = audit.errors().next() {
        return format!("{}: could not be run: {error}", result.pair);
    }
    // An accuracy claim speaks for the audit if it is the reason why the audit is here.
    let accuracy = audit.accuracy.iter().reduce(|worst, next| if next.agreement() as u8 > worst.agreement() as u8 { next } else { worst });
    if let Some(result) = accuracy.filter(|result| result.agreement() != Agreement::Agrees || audit.results.is_empty()) {
        let (name, expected) = (&result.accuracy.name, result.accuracy.expect);
        return format!("{}, expected {expected}; {name}: {}", result.conclusion(), result.sentence());
    }
    match (audit.verdict(), audit.most_significant()) {
        (Some(verdict), Some((result, evidence))) => {
            let (expected, claim) = (audit.audit.expect, &audit.audit.claim);
            let why = verdict.reason().map_or_else(String::new, |reason| format!(" ({reason}: {})", reason.advice()));
            let reach = Brief(round_down(audit.reach(), 4));
            format!("{verdict}{why}, expected {expected}, reach {reach}; {}: the attacker {}", result.pair, evidence.sentence(claim))
        }
        _ => "nothing could be run".to_owned(),
    }
}

/// Escapes the message of a command.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Audit, PairResult};
    use crate::model::{Expectation, Verdict};
    use crate::report::testing::{INCONCLUSIVE, audit, not_run, pair, run_of};

    fn annotations(results: Vec<(Audit, PairResult)>, gate: &Gate, comparison: Option<&Comparison>) -> Vec<String> {
        let report = run_of(results.into_iter().map(|(audit, result)| (audit, vec![result])).collect());
        GitHub { summary: None }.annotations(&report, gate, comparison).lines().map(str::to_owned).collect()
    }

    fn surprise(name: &str) -> (Audit, PairResult) {
        (audit(name), pair(Verdict::Violated, Expectation::Consistent))
    }

    fn undecided(name: &str) -> (Audit, PairResult) {
        (audit(name), pair(INCONCLUSIVE, Expectation::Consistent))
    }

    #[test]
    fn special_characters_are_escaped() {
        // A line break would end the command; in properties, so would a colon or a comma.
        assert_eq!(escape_message("50 %, a: b\r\nc"), "50 %25, a: b%0D%0Ac");
        assert_eq!(escape_property("50 %, a: b\r\nc"), "50 %25%2C a%3A b%0D%0Ac");
        assert_eq!(escape_message("%0A"), "%250A", "an escape sequence in the text stays text");
    }

    #[test]
    fn results_that_fail_the_run_are_errors_and_others_warnings() {
        let expected = (audit("expected"), pair(Verdict::Violated, Expectation::Violated));
        let results = vec![undecided("weak"), expected, surprise("broken: a, b"), (audit("failed"), not_run())];
        let lines = annotations(results, &Gate { allow_inconclusive: true, ..Gate::default() }, None);
        let why = "too-few-draws: the draws are too few to tell a claim that just holds from one that just fails; use more draws";
        // 80 of 100 guesses are right; ε = 1 allows e/(1 + e) = 73.1 %.
        let sentence = "one more: the attacker guessed right 80.0 %25 of the time; ε = 1 allows 73.1 %25";
        assert_eq!(
            lines,
            [
                format!("::error file=audits/count.toml,title=broken%3A a%2C b::violated, expected consistent, reach 1.25; {sentence}"),
                "::error file=audits/count.toml,title=failed::one more: could not be run: asked for 2 outputs, got 1".to_owned(),
                format!(
                    "::warning file=audits/count.toml,title=weak::inconclusive ({why}), expected consistent, reach 0.5; {sentence}, and 100 guesses cannot tell these apart"
                ),
            ]
        );
    }

    #[test]
    fn an_audit_without_a_file_has_no_file_property() {
        let (audit, result) = surprise("recorded");
        let lines = annotations(vec![(Audit { file: PathBuf::new(), ..audit }, result)], &Gate::default(), None);
        assert!(lines.len() == 1 && lines[0].starts_with("::error title=recorded::"), "{lines:?}");
    }

    #[test]
    fn there_are_at_most_ten_and_errors_come_first() {
        let weak = (0..8).map(|index| undecided(&format!("weak {index}")));
        let results: Vec<_> = weak.chain((0..6).map(|index| surprise(&format!("broken {index}")))).collect();
        let lines = annotations(results, &Gate { allow_inconclusive: true, ..Gate::default() }, None);
        assert_eq!(lines.len(), 10);
        assert!(lines[..6].iter().all(|line| line.starts_with("::error ")), "{lines:?}");
        assert!(lines[6..].iter().all(|line| line.starts_with("::warning ")), "{lines:?}");
    }

    #[test]
    fn differences_from_the_baseline_are_errors_unless_nothing_may_fail() {
        let comparison = Comparison { worse: vec!["a / b: 5 %".to_owned()], ..Comparison::default() };
        let lines = |report_only| annotations(vec![surprise("broken")], &Gate { report_only, ..Gate::default() }, Some(&comparison));
        assert_eq!(lines(false)[1], "::error title=Worse than the baseline::a / b: 5 %25");
        assert_eq!(lines(true)[1], "::warning title=Worse than the baseline::a / b: 5 %25");
        assert!(lines(true).iter().all(|line| line.starts_with("::warning ")));
    }
}
