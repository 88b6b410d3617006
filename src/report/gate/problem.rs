//! The problems of a run: one for each audit whose result fails the run or is not as expected. CI
//! servers show them beside the audit files, to people who may not know dp-audit. So each says
//! which mechanism claims what, what was measured, and what to do.

use std::path::{Path, PathBuf};

use crate::audit::{AuditReport, Judged, RunReport};
use crate::model::{Agreement, Expectation, Verdict};
use crate::report::gate::Gate;
use crate::report::gate::baseline::Difference;
use crate::report::gate::exit_code::ExitCode;
use crate::report::gate::place::{Key, Place, repository_root};
use crate::report::gate::problem_text;

/// Where witnesses are written if nothing else is said.
pub const DEFAULT_WITNESSES: &str = "results/witnesses";

/// What kind of problem it is, the most severe first: the order of the exit codes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// Not all audits have ended.
    Unfinished,
    /// A claim is refuted.
    ClaimRefuted,
    /// The audit file expects a refutation, and there is none.
    LeakNotFound,
    /// A bound is above the truth that the audit file states.
    TruthExceeded,
    /// A result is worse than in the baseline, and nothing else is wrong with it.
    WorseThanBaseline,
    /// The mechanism could not be run.
    NotRun,
    /// The audit is inconclusive.
    Inconclusive,
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
        if self.audit.is_empty() {
            self.kind.words().to_owned()
        } else {
            format!("{}: {}", self.kind.words(), self.audit)
        }
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
        Self {
            gate: gate.clone(),
            witnesses: witnesses.map(Path::to_owned),
            root: repository_root(),
        }
    }

    /// The problems, those that fail the run first. `worse` says what is worse than in the
    /// baseline.
    #[must_use]
    pub fn problems(&self, report: &RunReport, worse: &[Difference]) -> Vec<Problem> {
        let mut found: Vec<Problem> = report
            .most_severe_first()
            .into_iter()
            .filter_map(|audit| self.problem(report, audit, worse))
            .collect();
        found.extend(self.missing(report, worse));
        if !report.is_complete() {
            let message = "The run was interrupted, or is still going on. Audits that are not listed here have no result.".to_owned();
            found.push(Problem {
                kind: ProblemKind::Unfinished,
                fails: true,
                audit: String::new(),
                place: Place::default(),
                message,
            });
        }
        found.sort_by_key(|problem| (!problem.fails, problem.kind));
        found
    }

    /// What is worse about audits that are not in the report, for example because they were
    /// deleted.
    fn missing<'a>(
        &'a self,
        report: &'a RunReport,
        worse: &'a [Difference],
    ) -> impl Iterator<Item = Problem> + 'a {
        let is_missing = |difference: &&Difference| {
            report.audits.iter().all(|audit| audit.audit.name != difference.audit)
        };
        worse.iter().filter(is_missing).map(|difference| Problem {
            kind: ProblemKind::WorseThanBaseline,
            fails: !self.gate.report_only,
            audit: format!("{} / {}", difference.audit, difference.statement),
            place: Place::default(),
            message: format!(
                "Worse than in the baseline: {difference}.\n{}",
                problem_text::ADVICE_ON_WORSE
            ),
        })
    }

    /// The problem of one audit, if it has one.
    fn problem(
        &self,
        report: &RunReport,
        audit: &AuditReport,
        worse: &[Difference],
    ) -> Option<Problem> {
        let worse: Vec<&Difference> =
            worse.iter().filter(|difference| difference.audit == audit.audit.name).collect();
        let statements: Vec<Judged<'_>> =
            audit.statements().filter(|statement| self.is_problem(*statement)).collect();
        // The most severe result speaks for the audit. If several are equal, the first.
        let worst = statements
            .iter()
            .copied()
            .reduce(|worst, next| if self.rank(next) > self.rank(worst) { next } else { worst });
        let (kind, fails, mut lines) = match worst {
            Some(worst) => {
                let kind = self::kind(worst);
                let same =
                    statements.iter().filter(|statement| self::kind(**statement) == kind).count()
                        - 1;
                let fails = self.gate.exit_codes(audit).any(|code| code != ExitCode::AsExpected);
                (kind, fails, problem_text::lines(self, report, worst, same))
            }
            None if worse.is_empty() => return None,
            None => {
                (ProblemKind::WorseThanBaseline, false, problem_text::lines_of_worse(report, audit))
            }
        };
        let place = Place::of(
            &audit.audit.file,
            &audit.audit.name,
            self.root.as_deref(),
            &keys(kind, worst),
        );
        let at = usize::from(worst.is_some());
        lines.splice(
            at..at,
            worse.iter().map(|Difference { statement, what, .. }| {
                format!("Worse than in the baseline: {statement}: {what}.")
            }),
        );
        let fails = fails || (!worse.is_empty() && !self.gate.report_only);
        Some(Problem {
            kind,
            fails,
            audit: audit.audit.name.clone(),
            place,
            message: lines.join("\n"),
        })
    }

    fn is_problem(&self, statement: Judged<'_>) -> bool {
        self.gate.exit_code_of(statement) != ExitCode::AsExpected
            || statement.agreement() != Agreement::Agrees
    }

    /// How severe a result is, in the order of the exit codes of a run.
    fn rank(&self, statement: Judged<'_>) -> (u8, u8, bool, f64) {
        let severity = match self.gate.exit_code_of(statement) {
            ExitCode::Surprise => 3,
            ExitCode::NotRun => 2,
            ExitCode::Inconclusive => 1,
            _ => 0,
        };
        let violated = statement.verdict() == Some(Verdict::Violated);
        (severity, statement.agreement() as u8, violated, statement.reach().unwrap_or_default())
    }
}

/// The keys of the audit file that a problem is about, the best first.
fn keys(kind: ProblemKind, worst: Option<Judged<'_>>) -> Vec<Key> {
    // A statement about something else than the claim has a table of its own.
    let table = worst.filter(|worst| !worst.kind().is_about_claim()).map(|worst| {
        let name = worst.kind().list()[1];
        let same = worst.report.statements().filter(|other| other.kind().list()[1] == name);
        let index = same.take_while(|other| !std::ptr::eq(other.result, worst.result)).count();
        Key::Table(name, index)
    });
    let own = table.map_or_else(|| vec![Key::Top("claim"), Key::Top("stability")], |key| vec![key]);
    let first = match kind {
        ProblemKind::NotRun => vec![Key::Top("command"), Key::Top("mechanism")],
        ProblemKind::LeakNotFound if table.is_none() => vec![Key::Top("expect")],
        ProblemKind::TruthExceeded if table.is_none() => vec![Key::Top("truth")],
        _ => Vec::new(),
    };
    [first, own, vec![Key::Top("name")]].concat()
}

/// What kind of problem a result is.
#[must_use]
pub fn kind(statement: Judged<'_>) -> ProblemKind {
    let (excluded, expected) = (statement.contradicts_truth(), statement.expected());
    match statement.verdict() {
        None => ProblemKind::NotRun,
        // A claim that is refuted against expectations is worse news than a wrong truth.
        Some(Verdict::Violated) if !excluded || expected == Expectation::Consistent => {
            ProblemKind::ClaimRefuted
        }
        Some(_) if excluded => ProblemKind::TruthExceeded,
        Some(_) if expected == Expectation::Violated => ProblemKind::LeakNotFound,
        Some(_) => ProblemKind::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::audit::{
        Accuracy, AccuracyEvidence, Audit, Evidence, StabilityEvidence, StatementResult,
    };
    use crate::model::{Claim, FailureLimits, Metric, Settings, Truth};
    use crate::report::gate::baseline::Change;
    use crate::report::testing::{
        INCONCLUSIVE, Ran, audit, evidence, not_run, pair, report_of, run, run_of, run_of_reports,
    };
    use crate::target::TargetError;

    fn only(finder: &ProblemFinder, report: &RunReport, worse: &[Difference]) -> Problem {
        let mut found = finder.problems(report, worse);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    fn of(results: Vec<Ran>) -> Problem {
        only(
            &ProblemFinder { witnesses: Some("out/w".into()), ..ProblemFinder::default() },
            &run(results),
            &[],
        )
    }

    fn named(name: &str, result: Ran) -> Ran {
        result.named(name)
    }

    fn difference(audit: &str, what: &str) -> Difference {
        let (audit, statement) = (audit.to_owned(), "one more".to_owned());
        let (change, values) = (Change::Verdict, <[String; 2]>::default());
        Difference { audit, statement, change, values, what: what.to_owned() }
    }

    #[track_caller]
    fn assert_lines(problem: &Problem, expected: &[&str]) {
        let lines: Vec<&str> = problem.message.lines().collect();
        assert_eq!(lines.len(), expected.len(), "{lines:#?}");
        for (line, start) in lines.iter().zip(expected) {
            assert!(line.starts_with(start), "«{line}» does not begin with «{start}»");
        }
    }

    #[test]
    fn a_refuted_claim_says_what_was_measured_and_what_to_do() {
        let problem = of(vec![pair(Verdict::Violated, Expectation::Consistent)]);
        assert_eq!((problem.title().as_str(), problem.fails), ("Claim refuted: count", true));
        // 80 of 100 guesses are right; ε = 1 allows e/(1 + e) = 73.1 %.
        let sentence = "guessed right 80.0 % of the time; ε = 1 allows 73.1 %.";
        let lines = [
            "The mechanism closure claims ε = 1, but its ε is at least 1.25 (confidence 99.9 %).",
            "Measured on the pair “one more”, D = [1] and D' = [1 × 2]. An attacker who sees only the output, and says whether the data was D or D', ",
            "What to do: correct the mechanism",
            "Repeat it: dp-audit run audits/count.toml --witnesses out/w",
            "Check it with fresh draws: dp-audit replay out/w/count-",
        ];
        assert_lines(&problem, &lines);
        assert!(problem.message.contains(sentence), "{}", problem.message);
    }

    #[test]
    fn the_most_severe_pair_speaks_for_the_audit() {
        let violated = || pair(Verdict::Violated, Expectation::Consistent);
        let (weak, dead) =
            (named("weak", pair(INCONCLUSIVE, Expectation::Consistent)), named("dead", not_run()));
        let problem =
            of(vec![weak.clone(), dead.clone(), named("a", violated()), named("b", violated())]);
        assert_eq!(problem.kind, ProblemKind::ClaimRefuted);
        assert!(
            problem.message.contains("the pair “a”"),
            "the first of equals: {}",
            problem.message
        );
        assert!(
            problem.message.contains("In all, 2 of the 4 checks of this audit end like this."),
            "{}",
            problem.message
        );
        assert_eq!(of(vec![weak.clone(), dead]).kind, ProblemKind::NotRun);
        assert_eq!(of(vec![weak]).kind, ProblemKind::Inconclusive);
    }

    #[test]
    fn a_refuted_pair_speaks_for_pairs_that_share_its_expectation() {
        let shared = |verdict| {
            let mut ran = pair(verdict, Expectation::Consistent);
            ran.pair.expect = None;
            ran
        };
        let problem = of(vec![
            named("fine", shared(Verdict::Consistent)),
            named("broken", shared(Verdict::Violated)),
        ]);
        assert_eq!(problem.kind, ProblemKind::ClaimRefuted);
        assert!(
            problem.message.contains("the pair “broken”") && !problem.message.contains("In all"),
            "{}",
            problem.message
        );
    }

    #[test]
    fn the_other_kinds_have_their_own_words() {
        let not_found = of(vec![pair(Verdict::Consistent, Expectation::Violated)]);
        assert_eq!((not_found.kind, not_found.fails), (ProblemKind::LeakNotFound, true));
        assert!(
            not_found
                .message
                .contains("expects that this is refuted, but it is not: its ε is at least 0.5"),
            "{}",
            not_found.message
        );
        let truth = Truth { epsilon: Some(0.25), delta: None };
        let mut known = pair(Verdict::Consistent, Expectation::Consistent);
        known.pair.truth = truth;
        let exceeded = of(vec![known]);
        assert_eq!(exceeded.kind, ProblemKind::TruthExceeded);
        assert!(
            exceeded
                .message
                .contains("the truth that the audit file states, ε = 0.25: its ε is at least 0.5"),
            "{}",
            exceeded.message
        );
        let dead = of(vec![not_run()]);
        let lines = [
            "The mechanism closure could not be run, so its claim (ε = 1) was not judged.",
            "asked for 2 outputs, got 1",
            "What to do: correct the cause. Until then nothing is known",
            "Repeat it: ",
        ];
        assert_lines(&dead, &lines);
    }

    #[test]
    fn a_refutation_that_is_expected_is_a_problem_only_if_the_gate_says_so() {
        let report = run(vec![pair(Verdict::Violated, Expectation::Violated)]);
        let finder = |fail_on| ProblemFinder {
            gate: Gate { fail_on, ..Gate::default() },
            ..ProblemFinder::default()
        };
        assert_eq!(finder(crate::report::gate::FailOn::Surprise).problems(&report, &[]), []);
        let problem = only(&finder(crate::report::gate::FailOn::Violated), &report, &[]);
        assert!(
            problem.fails
                && problem.message.contains("with --fail-on violated every refuted claim fails"),
            "{}",
            problem.message
        );
    }

    #[test]
    fn stability_has_a_distance_and_no_confidence() {
        let mut subject = audit("sum");
        subject.claim = Claim::stability(Metric::L1, 1.0, 1.0).unwrap();
        let evidence = StabilityEvidence {
            distance: 3.5,
            outputs: ["0".to_owned(), "3.5".to_owned()],
            draws: 128,
            reproducible: true,
            note: None,
        };
        let plan = subject.plans(Settings::default(), 1).next().unwrap();
        let results = vec![StatementResult::new(&plan, Ok(Evidence::Stability(evidence)), 0.5)];
        let report = run_of_reports(vec![AuditReport::new(Arc::new(subject), results, None)]);
        let problem = only(&ProblemFinder::default(), &report, &[]);
        let lines = [
            "The mechanism closure claims l1 distance ≤ 1, but outputs on neighbouring datasets are 3.5 apart (l1 distance).",
            "Measured on the pair “one more”, D = [1] and D' = [1 × 2]. An attacker sees outputs at l1 distance 3.5; the claim allows 1.",
            "What to do: limit what one record can change",
            "Repeat it: ",
        ];
        assert_lines(&problem, &lines);
    }

    /// The report of an accuracy claim with probability 0.9.
    fn accuracy(outcome: Result<AccuracyEvidence, TargetError>) -> RunReport {
        let claim = serde_json::json!({ "name": "close", "data": [1.0], "event": { "at_least": 0.0 }, "claim": { "probability": 0.9 } });
        let accuracy: Accuracy = serde_json::from_value(claim).unwrap();
        let subject = Audit { accuracy: vec![accuracy], ..audit("count") };
        run_of_reports(vec![report_of(subject, vec![], vec![outcome.map(Evidence::Accuracy)])])
    }

    #[test]
    fn an_accuracy_claim_speaks_of_its_event() {
        let limits = FailureLimits { lower: 0.2, upper: 0.3 };
        let evidence =
            AccuracyEvidence { draws: 100, failures: 25, limits, reproducible: true, note: None };
        let problem = only(&ProblemFinder::default(), &accuracy(Ok(evidence)), &[]);
        assert_eq!(problem.kind, ProblemKind::ClaimRefuted);
        let lines = [
            "The mechanism closure claims accuracy (“close”): “",
            "Measured: “",
            "What to do: make the mechanism more accurate",
            "Repeat it: ",
        ];
        assert_lines(&problem, &lines);
        let problem = only(
            &ProblemFinder::default(),
            &accuracy(Err(TargetError::WrongCount { asked: 2, got: 1 })),
            &[],
        );
        assert_eq!(problem.kind, ProblemKind::NotRun);
        assert!(
            problem.message.contains(") was not judged.\nasked for 2 outputs, got 1\n"),
            "{}",
            problem.message
        );
    }

    #[test]
    fn the_delta_speaks_if_only_it_refutes_the_claim() {
        let mut subject = audit("count");
        subject.claim = Claim::new(1.0, 0.01).unwrap();
        let mut found = evidence(Verdict::Violated);
        (found.bounds.lower, found.bounds.epsilon_lower, found.bounds.delta_lower) =
            (0.5, 0.5, 0.02);
        let result = Ran { outcome: Ok(found), ..pair(Verdict::Violated, Expectation::Consistent) };
        let problem = only(&ProblemFinder::default(), &run_of(vec![(subject, vec![result])]), &[]);
        assert!(
            problem
                .message
                .contains("claims ε = 1, δ = 0.01, but its δ at ε = 1 is at least 0.02 ("),
            "{}",
            problem.message
        );
    }

    #[test]
    fn what_is_worse_belongs_to_its_audit_alone() {
        let fine = || vec![pair(Verdict::Consistent, Expectation::Consistent)];
        let report = run_of(vec![(audit("a"), fine()), (audit("a / b"), fine())]);
        let problem = only(
            &ProblemFinder::default(),
            &report,
            &[difference("a / b", "was consistent, is inconclusive")],
        );
        assert_eq!(
            (problem.title().as_str(), problem.fails),
            ("Worse than the baseline: a / b", true)
        );
        assert!(problem.message.starts_with("Worse than in the baseline: one more: was consistent, is inconclusive.\nIf this is intended"));
    }

    #[test]
    fn an_audit_that_is_missing_is_a_problem() {
        let report = run(vec![pair(Verdict::Consistent, Expectation::Consistent)]);
        let problem = only(
            &ProblemFinder::default(),
            &report,
            &[difference("gone", "in the baseline, but not run now")],
        );
        assert_eq!(
            (problem.title().as_str(), problem.fails),
            ("Worse than the baseline: gone / one more", true)
        );
        assert!(
            problem.message.contains("in the baseline, but not run now.\nIf this is intended"),
            "{}",
            problem.message
        );
    }

    #[test]
    fn commands_quote_paths_and_repeat_the_settings() {
        let mut subject = audit("count");
        subject.file = "my audits/it's.toml".into();
        let mut report = run_of(vec![(subject, vec![pair(INCONCLUSIVE, Expectation::Consistent)])]);
        (report.settings.seed, report.settings.draws, report.settings.controls) =
            (7, Some(1000), true);
        let problem = only(&ProblemFinder::default(), &report, &[]);
        let command =
            r"Repeat it: dp-audit run 'my audits/it'\''s.toml' --draws 1000 --seed 7 --controls";
        assert!(problem.message.ends_with(command), "{}", problem.message);
    }
}
