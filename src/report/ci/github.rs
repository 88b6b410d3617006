//! Output for GitHub Actions: annotations for the worst problems, and the Markdown report on the
//! job's summary page.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::audit::RunReport;
use crate::model::{Error, FileProblem};
use crate::report::formats::markdown::Markdown;
use crate::report::gate::place::Place;
use crate::report::gate::problem::Problem;
use crate::report::persistence::files::Format;
use crate::report::persistence::store::unwritable;

/// GitHub shows at most ten errors and ten warnings of a step.
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
        (std::env::var("GITHUB_ACTIONS").as_deref() == Ok("true")).then(|| Self {
            summary: std::env::var_os("GITHUB_STEP_SUMMARY")
                .filter(|path| !path.is_empty())
                .map(PathBuf::from),
        })
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
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)?
        .write_all(&Markdown.render(report)?)
}

/// Commands that annotate the audit files, one for each problem: an error if it fails the run,
/// otherwise a warning. GitHub would drop all after the tenth, so a notice says that there are
/// more.
#[must_use]
pub fn annotations(problems: &[Problem]) -> String {
    let annotation = |problem: &Problem| {
        command(
            if problem.fails { "error" } else { "warning" },
            &problem.place,
            &problem.title(),
            &problem.message,
        )
    };
    let mut text: String = problems.iter().take(MAX_ANNOTATIONS).map(annotation).collect();
    if let Some(more) = problems.len().checked_sub(MAX_ANNOTATIONS).filter(|more| *more > 0) {
        let message = format!(
            "{more} more of {} problems: see the summary of the job, or the reports",
            problems.len()
        );
        text += &command("notice", &Place::default(), "More problems", &message);
    }
    text
}

/// Commands for an error that ended dp-audit before there were results: one for each bad file.
#[must_use]
pub fn error_annotations(error: &Error) -> String {
    let title = "dp-audit could not run the audits";
    let of_file = |problem: &FileProblem| {
        let place = Place::of(
            &problem.file,
            "",
            crate::report::gate::place::repository_root().as_deref(),
            &[],
        );
        command("error", &place, title, &problem.to_string())
    };
    match error {
        Error::Input(problems) => problems.iter().take(MAX_ANNOTATIONS).map(of_file).collect(),
        other => command("error", &Place::default(), title, &other.to_string()),
    }
}

/// A command for a command line that dp-audit does not understand.
#[must_use]
pub fn usage_annotation(message: &str) -> String {
    command(
        "error",
        &Place::default(),
        "dp-audit was called with wrong arguments",
        message.trim_end(),
    )
}

/// A command of GitHub Actions: a line that the runner reads from the output of a step.
fn command(level: &str, place: &Place, title: &str, message: &str) -> String {
    let file = place
        .file
        .as_ref()
        .map_or_else(String::new, |file| format!("file={},", escape_property(file)));
    let line = place.line.map_or_else(String::new, |line| format!("line={line},"));
    format!("::{level} {file}{line}title={}::{}\n", escape_property(title), escape_message(message))
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
    use crate::audit::Audit;
    use crate::model::{Expectation, Verdict};
    use crate::report::gate::Gate;
    use crate::report::gate::baseline::{Change, Difference};
    use crate::report::gate::problem::ProblemFinder;
    use crate::report::testing::{INCONCLUSIVE, Ran, audit, not_run, pair, run_of};

    fn lines(results: Vec<(Audit, Ran)>, gate: Gate, worse: &[Difference]) -> Vec<String> {
        let report =
            run_of(results.into_iter().map(|(audit, result)| (audit, vec![result])).collect());
        let finder = ProblemFinder { gate, ..ProblemFinder::default() };
        annotations(&finder.problems(&report, worse)).lines().map(str::to_owned).collect()
    }

    fn lenient() -> Gate {
        Gate { allow_inconclusive: true, ..Gate::default() }
    }

    fn surprise(name: &str) -> (Audit, Ran) {
        (audit(name), pair(Verdict::Violated, Expectation::Consistent))
    }

    fn undecided(name: &str) -> (Audit, Ran) {
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
        let results = vec![
            undecided("weak"),
            expected,
            surprise("broken: a, b"),
            (audit("failed"), not_run()),
        ];
        let found = lines(results, lenient(), &[]);
        let starts = [
            "::error file=audits/count.toml,title=Claim refuted%3A broken%3A a%2C b::The mechanism closure claims ε = 1, but its ε is at least 1.25 (",
            "::error file=audits/count.toml,title=Could not be run%3A failed::The mechanism closure could not be run, so",
            "::warning file=audits/count.toml,title=Not decided%3A weak::The mechanism closure claims ε = 1. This is neither refuted",
        ];
        assert_eq!(found.len(), starts.len());
        for (line, start) in found.iter().zip(starts) {
            assert!(line.starts_with(start), "{line}");
        }
    }

    #[test]
    fn the_place_has_a_line_if_it_is_known() {
        let at = |file: Option<&str>, line| {
            command("error", &Place { file: file.map(str::to_owned), line }, "t", "m")
        };
        assert_eq!(at(Some("a,b.toml"), Some(3)), "::error file=a%2Cb.toml,line=3,title=t::m\n");
        assert_eq!(at(Some("a.toml"), None), "::error file=a.toml,title=t::m\n");
        assert_eq!(at(None, None), "::error title=t::m\n");
    }

    #[test]
    fn there_are_at_most_ten_errors_come_first_and_a_notice_counts_the_rest() {
        let weak = (0..8).map(|index| undecided(&format!("weak {index}")));
        let results: Vec<_> =
            weak.chain((0..6).map(|index| surprise(&format!("broken {index}")))).collect();
        let found = lines(results, lenient(), &[]);
        assert_eq!(found.len(), 11);
        assert!(found[..6].iter().all(|line| line.starts_with("::error ")), "{found:?}");
        assert!(found[6..10].iter().all(|line| line.starts_with("::warning ")), "{found:?}");
        assert!(
            found[10].starts_with("::notice title=More problems::4 more of 14 problems"),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_worse_than_the_baseline_is_part_of_the_problem_or_one_of_its_own() {
        let worse = [("broken", "5 %"), ("fine", "ε has risen")].map(|(audit, what)| Difference {
            audit: audit.to_owned(),
            statement: "one more".to_owned(),
            change: Change::Verdict,
            values: <[String; 2]>::default(),
            what: what.to_owned(),
        });
        let fine = || (audit("fine"), pair(Verdict::Consistent, Expectation::Consistent));
        let of = |report_only| {
            lines(vec![fine(), surprise("broken")], Gate { report_only, ..Gate::default() }, &worse)
        };
        let found = of(false);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("title=Claim refuted%3A broken::")
                && found[0].contains("%0AWorse than in the baseline: one more: 5 %25.")
        );
        assert!(found[1].starts_with(
            "::error file=audits/count.toml,title=Worse than the baseline%3A fine::Worse than in the baseline: one more: ε has risen.%0A"
        ));
        assert!(of(true).len() == 2 && of(true).iter().all(|line| line.starts_with("::warning ")));
    }

    #[test]
    fn an_error_is_annotated_with_its_file() {
        let problems = ["a.toml", "b.toml"]
            .map(|file| FileProblem::new(Path::new(file), "line 3, column 1: no"));
        let found = error_annotations(&Error::Input(problems.to_vec()));
        assert_eq!(found.lines().count(), 2);
        assert!(
            found.starts_with("::error file=a.toml,title=dp-audit could not run the audits::a.toml: line 3, column 1: no\n"),
            "{found}"
        );
        let found = error_annotations(&Error::NoAudits { place: "audits".to_owned() });
        assert!(
            found.starts_with("::error title=dp-audit could not run the audits::no audit file"),
            "{found}"
        );
    }
}
