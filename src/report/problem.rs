//! The problems of a run: one for each audit whose result fails the run or is not as expected. CI servers show them beside the audit files,
//! to people who may not know dp-audit. So each says which mechanism claims what, what was measured, and what to do.

use std::path::{Path, PathBuf};

use super::exit_code::ExitCode;
use super::gate::Gate;
use super::place::{Key, Place, repository_root};
use super::problem_text;
use crate::audit::{AccuracyResult, AuditReport, PairResult, RunReport};
use crate::model::{Agreement, Expectation, Verdict};

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// A claim is refuted.
    ClaimRefuted,
    /// The audit file expects a refutation, and there is none.
    LeakNotFound,
    /// A bound is above the truth that the audit file states.
    TruthExceeded,
    /// The mechanism could not be run.
    NotRun,
    /// The audit is inconclusive.
    Inconclusive,
    /// A result is worse than in the baseline, and nothing else is wrong with it.
    WorseThanBaseline,
    /// Not all audits have ended.
    Unfinished,
}

impl ProblemKind {
    /// Its name for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaimRefuted => "claim-refuted",
            Self::LeakNotFound => "leak-not-found",
            Self::TruthExceeded => "truth-exceeded",
            Self::NotRun => "not-run",
            Self::Inconclusive => "inconclusive",
            Self::WorseThanBaseline => "worse-than-baseline",
            Self::Unfinished => "unfinished",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::ClaimRefuted => "Claim refuted",
            Self::LeakNotFound => "Expected leak not found",
            Self::TruthExceeded => "Bound above the stated truth",
            Self::NotRun => "Could not be run",
            Self::Inconclusive => "Not decided",
            Self::WorseThanBaseline => "Worse than the baseline",
            Self::Unfinished => "Not all audits have ended",
        }
    }
}

/// A problem of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// Whether it fails the run.
    pub fails: bool,
    /// The name of the audit; empty if the problem is about the whole run.
    pub audit: String,
    /// Where it is.
    pub place: Place,
    /// What was found and what to do, one sentence or two in each line.
    pub message: String,
}

impl Problem {
    /// The kind of problem and the audit.
    #[must_use]
    pub fn title(&self) -> String {
        if self.audit.is_empty() { self.kind.words().to_owned() } else { format!("{}: {}", self.kind.words(), self.audit) }
    }
}

/// Finds the problems of a run.
#[derive(Clone, Debug, Default)]
pub struct ProblemFinder {
    /// Decides which results fail the run.
    pub gate: Gate,
    /// The folder of the witnesses; `None` if the run writes none.
    pub witnesses: Option<PathBuf>,
    /// The root of the repository, if it is known.
    pub root: Option<PathBuf>,
}

impl ProblemFinder {
    /// Reads the root of the repository from the environment.
    #[must_use]
    pub fn from_environment(gate: &Gate, witnesses: Option<&Path>) -> Self {
        Self { gate: gate.clone(), witnesses: witnesses.map(Path::to_owned), root: repository_root() }
    }

    /// The problems, those that fail the run first. `worse` says what is worse than in the baseline, in lines that begin with the name of an
    /// audit.
    #[must_use]
    pub fn problems(&self, report: &RunReport, worse: &[String]) -> Vec<Problem> {
        let mut found: Vec<Problem> = report
            .most_severe_first()
            .into_iter()
            .filter_map(|audit| self.problem(report, audit, &worse_of(report, audit, worse)))
            .collect();
        found.sort_by_key(|problem| !problem.fails);
        if !report.is_complete() {
            let message = "The run was interrupted, or is still going on. Audits that are not listed here have no result.".to_owned();
            let unfinished = Problem { kind: ProblemKind::Unfinished, fails: true, audit: String::new(), place: Place::default(), message };
            found.insert(0, unfinished);
        }
        found
    }

    /// The problem of one audit, if it has one.
    fn problem(&self, report: &RunReport, audit: &AuditReport, worse: &[&str]) -> Option<Problem> {
        let statements: Vec<Statement<'_>> = Statement::all(audit).filter(|statement| self.is_problem(audit, *statement)).collect();
        // The most severe result speaks for the audit. If several are equal, the first.
        let worst = statements.iter().copied().reduce(|worst, next| {
            let rank = |statement| self.rank(audit, statement);
            if rank(next) > rank(worst) { next } else { worst }
        });
        let (kind, fails, mut lines) = match worst {
            Some(worst) => {
                let kind = worst.kind(audit);
                let same = statements.iter().filter(|statement| statement.kind(audit) == kind).count() - 1;
                let fails = self.gate.exit_codes(audit).any(|code| code != ExitCode::AsExpected);
                (kind, fails, problem_text::lines(self, report, audit, worst, same))
            }
            None if worse.is_empty() => return None,
            None => (ProblemKind::WorseThanBaseline, false, problem_text::lines_of_worse(report, audit)),
        };
        let place = Place::of(&audit.audit.file, self.root.as_deref(), &keys(kind, worst));
        let at = usize::from(worst.is_some());
        lines.splice(at..at, worse.iter().map(|line| format!("Worse than in the baseline: {line}.")));
        let fails = fails || (!worse.is_empty() && !self.gate.report_only);
        Some(Problem { kind, fails, audit: audit.audit.name.clone(), place, message: lines.join("\n") })
    }

    fn is_problem(&self, audit: &AuditReport, statement: Statement<'_>) -> bool {
        statement.exit_code(&self.gate, audit) != ExitCode::AsExpected || statement.agreement(audit) != Agreement::Agrees
    }

    /// How severe a result is, in the order of the exit codes of a run.
    fn rank(&self, audit: &AuditReport, statement: Statement<'_>) -> (u8, u8, bool, f64) {
        let severity = match statement.exit_code(&self.gate, audit) {
            ExitCode::Surprise => 3,
            ExitCode::NotRun => 2,
            ExitCode::Inconclusive => 1,
            _ => 0,
        };
        let violated = statement.verdict() == Some(Verdict::Violated);
        (severity, statement.agreement(audit) as u8, violated, statement.reach(audit))
    }
}

/// What is worse than in the baseline about this audit, without its name.
fn worse_of<'a>(report: &RunReport, audit: &AuditReport, worse: &'a [String]) -> Vec<&'a str> {
    // The name of an audit may begin like that of another: the longest that fits is meant.
    let owner = |line: &str| {
        let names = report.audits.iter().map(|audit| audit.audit.name.as_str());
        names.filter(|name| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(" / "))).max_by_key(|name| name.len()).map(str::len)
    };
    let name = audit.audit.name.as_str();
    let own = worse.iter().filter(|line| owner(line) == Some(name.len()) && line.starts_with(name));
    own.map(|line| &line[name.len() + " / ".len()..]).collect()
}

/// The keys of the audit file that a problem is about, the best first.
fn keys(kind: ProblemKind, worst: Option<Statement<'_>>) -> Vec<Key> {
    let own = match worst {
        Some(Statement::Accuracy(index, _)) => vec![Key::Accuracy(index)],
        _ => vec![Key::Top("claim"), Key::Top("stability")],
    };
    let first = match kind {
        ProblemKind::NotRun => vec![Key::Top("command"), Key::Top("mechanism")],
        ProblemKind::LeakNotFound if !matches!(worst, Some(Statement::Accuracy(..))) => vec![Key::Top("expect")],
        ProblemKind::TruthExceeded if !matches!(worst, Some(Statement::Accuracy(..))) => vec![Key::Top("truth")],
        _ => Vec::new(),
    };
    [first, own, vec![Key::Top("name")]].concat()
}

/// What an audit judges: its claim on a pair, or an accuracy claim.
#[derive(Clone, Copy, Debug)]
pub enum Statement<'a> {
    /// The claim on a pair.
    Pair(&'a PairResult),
    /// An accuracy claim and its number in the file.
    Accuracy(usize, &'a AccuracyResult),
}

impl<'a> Statement<'a> {
    fn all(audit: &'a AuditReport) -> impl Iterator<Item = Self> {
        let accuracy = audit.accuracy.iter().enumerate().map(|(index, result)| Self::Accuracy(index, result));
        audit.results.iter().map(Self::Pair).chain(accuracy)
    }

    fn exit_code(self, gate: &Gate, audit: &AuditReport) -> ExitCode {
        match self {
            Self::Pair(result) => gate.exit_code_of(audit, result),
            Self::Accuracy(_, result) => gate.exit_code_of_accuracy(result),
        }
    }

    fn agreement(self, audit: &AuditReport) -> Agreement {
        match self {
            Self::Pair(result) => audit.agreement_of(result),
            Self::Accuracy(_, result) => result.agreement(),
        }
    }

    fn reach(self, audit: &AuditReport) -> f64 {
        match self {
            Self::Pair(result) => result.outcome.as_ref().map_or(0.0, |evidence| evidence.bounds.reach(&audit.audit.claim)),
            Self::Accuracy(_, result) => result.reach().unwrap_or_default(),
        }
    }

    /// The verdict; `None` if the mechanism could not be run.
    #[must_use]
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Pair(result) => result.outcome.as_ref().ok().map(|evidence| evidence.verdict),
            Self::Accuracy(_, result) => result.verdict(),
        }
    }

    /// What the audit file expects.
    #[must_use]
    pub fn expected(self, audit: &AuditReport) -> Expectation {
        match self {
            Self::Pair(result) => result.expect.unwrap_or(audit.audit.expect),
            Self::Accuracy(_, result) => result.accuracy.expect,
        }
    }

    /// What kind of problem it is.
    #[must_use]
    pub fn kind(self, audit: &AuditReport) -> ProblemKind {
        let excluded = match self {
            Self::Pair(result) => result.exceeds_truth(),
            Self::Accuracy(_, result) => result.excludes_truth(),
        };
        match self.verdict() {
            None => ProblemKind::NotRun,
            // A claim that is refuted against expectations is worse news than a wrong truth.
            Some(Verdict::Violated) if !excluded || self.expected(audit) == Expectation::Consistent => ProblemKind::ClaimRefuted,
            Some(_) if excluded => ProblemKind::TruthExceeded,
            Some(_) if self.expected(audit) == Expectation::Violated => ProblemKind::LeakNotFound,
            Some(_) => ProblemKind::Inconclusive,
        }
    }
}
