//! The Code Quality report of GitLab: a JSON array with an issue for each problem of the run.

use std::io;

use serde_json::{Value, json};

use crate::audit::RunReport;
use crate::output::fingerprint;
use crate::report::formats::json::JsonReport;
use crate::report::gate::baseline::Comparison;
use crate::report::gate::problem::{Problem, ProblemFinder, ProblemKind};
use crate::report::persistence::files::Format;

/// The format of `--code-quality`. It has the same problems as the annotations of GitHub Actions,
/// and no limit to their number.
pub struct CodeQuality {
    /// Finds the problems.
    pub finder: ProblemFinder,
    /// The earlier report that the run is compared with.
    pub baseline: Option<JsonReport>,
}

impl Format for CodeQuality {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        // An unfinished run lacks audits, which is a problem of its own.
        let baseline = self.baseline.as_ref().filter(|_| report.is_complete());
        let comparison = baseline.map(|before| Comparison::new(before, &JsonReport::new(report)));
        let worse = comparison.map(|comparison| comparison.worse).unwrap_or_default();
        let issues: Vec<Value> = self.finder.problems(report, &worse).iter().map(issue).collect();
        let mut text = serde_json::to_vec_pretty(&issues)?;
        text.push(b'\n');
        Ok(text)
    }
}

fn issue(problem: &Problem) -> Value {
    // GitLab needs a path. Outputs that were collected elsewhere have none, and neither has an
    // audit that is missing.
    let path = problem.place.file.as_deref().unwrap_or("dp-audit");
    let message: Vec<&str> = problem.message.lines().collect();
    json!({
        "description": format!("{}. {}", problem.title(), message.join(" ")),
        "check_name": format!("dp-audit/{}", problem.kind.name()),
        // GitLab compares branches by it, so it has no measured number: the same problem keeps its
        // fingerprint.
        "fingerprint": fingerprint(&[problem.kind.name(), path, &problem.audit]),
        "severity": severity(problem),
        "location": { "path": path, "lines": { "begin": problem.place.line.unwrap_or(1) } },
    })
}

/// One of GitLab's levels: info, minor, major, critical, blocker.
fn severity(problem: &Problem) -> &'static str {
    match problem.kind {
        _ if !problem.fails => "minor",
        ProblemKind::Inconclusive => "major",
        ProblemKind::ClaimRefuted => "blocker",
        _ => "critical",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Expectation, Verdict};
    use crate::report::gate::Gate;
    use crate::report::testing::{INCONCLUSIVE, Ran, audit, evidence, not_run, pair, run_of};

    fn issues(gate: Gate, results: Vec<(&str, Ran)>) -> Vec<Value> {
        let report =
            run_of(results.into_iter().map(|(name, result)| (audit(name), vec![result])).collect());
        rendered(
            &CodeQuality {
                finder: ProblemFinder { gate, ..ProblemFinder::default() },
                baseline: None,
            },
            &report,
        )
    }

    fn rendered(format: &CodeQuality, report: &RunReport) -> Vec<Value> {
        serde_json::from_slice(&format.render(report).unwrap()).unwrap()
    }

    #[test]
    fn only_problems_are_issues_and_each_has_what_gitlab_needs() {
        let results = vec![
            ("fine", pair(Verdict::Consistent, Expectation::Consistent)),
            ("twin", pair(Verdict::Violated, Expectation::Violated)),
            ("weak", pair(INCONCLUSIVE, Expectation::Consistent)),
            ("dead", not_run()),
            ("broken", pair(Verdict::Violated, Expectation::Consistent)),
        ];
        let found = issues(Gate::default(), results.clone());
        let column = |key: &str| {
            found.iter().map(|issue| issue[key].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            column("check_name"),
            ["dp-audit/claim-refuted", "dp-audit/not-run", "dp-audit/inconclusive"]
        );
        assert_eq!(column("severity"), ["blocker", "critical", "major"]);
        assert!(column("description")[0].starts_with(
            "Claim refuted: broken. The mechanism closure claims ε = 1, but its ε is at least 1.25"
        ));
        for issue in &found {
            assert_eq!(
                issue["location"],
                json!({ "path": "audits/count.toml", "lines": { "begin": 1 } })
            );
            assert!(!issue["description"].as_str().unwrap().contains('\n'));
        }
        let severities = |gate| {
            issues(gate, results.clone())
                .iter()
                .map(|issue| issue["severity"].to_string())
                .collect::<Vec<_>>()
        };
        let report_only = Gate { report_only: true, ..Gate::default() };
        assert_eq!(
            severities(report_only),
            ["\"critical\"", "\"minor\"", "\"minor\""],
            "a mechanism that could not be run still fails the run"
        );
    }

    #[test]
    fn a_fingerprint_depends_on_the_problem_and_not_on_what_was_measured() {
        let of = |name: &str, result: Ran| {
            issues(Gate::default(), vec![(name, result)])[0]["fingerprint"].clone()
        };
        let broken = |lower: f64| {
            let mut evidence = evidence(Verdict::Violated);
            (evidence.bounds.lower, evidence.bounds.epsilon_lower) = (lower, lower);
            Ran { outcome: Ok(evidence), ..pair(Verdict::Violated, Expectation::Consistent) }
        };
        assert_eq!(of("a", broken(1.25)), of("a", broken(1.5)));
        assert_ne!(of("a", broken(1.25)), of("b", broken(1.25)));
        assert_ne!(of("a", broken(1.25)), of("a", not_run()));
    }

    #[test]
    fn an_unfinished_run_is_never_an_empty_report() {
        let mut report =
            run_of(vec![(audit("fine"), vec![pair(Verdict::Consistent, Expectation::Consistent)])]);
        let format = CodeQuality { finder: ProblemFinder::default(), baseline: None };
        assert_eq!(rendered(&format, &report), Vec::<Value>::new());
        report.statements += 1;
        let found = rendered(&format, &report);
        assert_eq!((found.len(), &found[0]["check_name"]), (1, &json!("dp-audit/unfinished")));
    }

    #[test]
    fn what_is_worse_than_the_baseline_is_an_issue() {
        let report =
            |verdict| run_of(vec![(audit("count"), vec![pair(verdict, Expectation::Violated)])]);
        let before = JsonReport::new(&run_of(vec![(
            audit("count"),
            vec![pair(Verdict::Consistent, Expectation::Consistent)],
        )]));
        let format = CodeQuality { finder: ProblemFinder::default(), baseline: Some(before) };
        let found = rendered(&format, &report(Verdict::Violated));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&found[0]["check_name"], &found[0]["severity"]),
            (&json!("dp-audit/worse-than-baseline"), &json!("critical"))
        );
        assert!(
            found[0]["description"]
                .as_str()
                .unwrap()
                .contains("one more: was consistent, is violated.")
        );
    }
}
