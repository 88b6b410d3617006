//! Results for the unit tests of this folder. Nothing is run.

use std::sync::Arc;

use crate::attack::GuessRule;
use crate::audit::{
    Audit, AuditReport, Curves, Evidence, Pair, Plan, PrivacyEvidence, RuleJudgement, RunReport,
    StatementResult,
};
use crate::model::{
    Bounds, Claim, Dataset, Expectation, Reason, RuleEstimate, Settings, Tally, Truth, Verdict,
};
use crate::output::Symbols;
use crate::stats::{Method, Weights};
use crate::target::TargetError;

/// The name of the only pair of [`audit`].
pub const PAIR: &str = "one more";

/// The verdict of an audit with too few draws.
pub const INCONCLUSIVE: Verdict = Verdict::Inconclusive(Reason::TooFewDraws);

/// The claim ε = 1, δ = 0.
pub fn claim() -> Claim {
    Claim::new(1.0, 0.0).expect("a claim")
}

/// An audit with this name, the claim ε = 1 and the pair [`PAIR`].
pub fn audit(name: &str) -> Audit {
    let (left, right) = (Dataset::of_numbers(&[1.0]), Dataset::of_numbers(&[1.0, 1.0]));
    let pair = Pair { name: PAIR.to_owned(), left, right, expect: None, truth: Truth::default() };
    Audit {
        file: "audits/count.toml".into(),
        pairs: vec![pair],
        ..Audit::given(name, "closure", claim(), [])
    }
}

/// A rule that guesses D for numbers below 0.5, and D' for all others.
pub fn rule() -> GuessRule {
    let rule = serde_json::json!({ "score": "output", "edges": [0.5], "answers": ["left", "right"], "symbols": [], "other": "abstain" });
    serde_json::from_value(rule).expect("a rule")
}

/// Evidence with bounds that give this verdict under the claim ε = 1. 80 of 100 guesses are right.
pub fn evidence(verdict: Verdict) -> PrivacyEvidence {
    let (epsilon_lower, resolved) = match verdict {
        Verdict::Violated => (1.25, 0.0),
        Verdict::Consistent => (0.5, 0.0),
        Verdict::Inconclusive(_) => (0.5, f64::INFINITY),
    };
    PrivacyEvidence {
        bounds: Bounds {
            lower: epsilon_lower,
            epsilon_lower,
            delta_lower: 0.0,
            detectable: 1.0 + resolved,
            resolved,
        },
        unread: Vec::new(),
        growth: None,
        estimate: RuleEstimate { epsilon: 1.5, epsilon_upper: 2.0 },
        draws: 128,
        tally: Tally { correct: 80, wrong: 20, abstained: 0 },
        frozen: Vec::new(),
        by_groups: false,
        by_predictions: false,
        across_runs: None,
        regions: 2,
        judged_by: Some(RuleJudgement { alpha: 1e-6, method: Method::Region(Weights::ONLY_RIGHT) }),
        rule: Some(rule()),
        symbols: Symbols::default(),
        simplest: None,
        contributions: Vec::new(),
        examples: Vec::new(),
        curves: Curves::default(),
        behaviour: None,
        reproducible: true,
        note: None,
    }
}

/// A pair and what was found on it.
#[derive(Clone)]
pub struct Ran {
    /// The pair.
    pub pair: Pair,
    /// The evidence, or why there is none.
    pub outcome: Result<PrivacyEvidence, TargetError>,
}

impl Ran {
    /// The same with another name.
    pub fn named(mut self, name: &str) -> Self {
        self.pair.name = name.to_owned();
        self
    }

    /// The same with other evidence.
    pub fn with(mut self, change: impl FnOnce(&mut PrivacyEvidence)) -> Self {
        self.outcome.as_mut().ok().map(change);
        self
    }
}

/// The pair [`PAIR`] with this verdict.
pub fn pair(verdict: Verdict, expect: Expectation) -> Ran {
    let (left, right) = (Dataset::of_numbers(&[1.0]), Dataset::of_numbers(&[1.0, 1.0]));
    let (name, truth) = (PAIR.to_owned(), Truth::default());
    let pair = Pair { name, left, right, expect: Some(expect), truth };
    Ran { pair, outcome: Ok(evidence(verdict)) }
}

/// The pair [`PAIR`] if its mechanism could not be run.
pub fn not_run() -> Ran {
    let error = TargetError::WrongCount { asked: 2, got: 1 };
    Ran { outcome: Err(error), ..pair(Verdict::Violated, Expectation::Violated) }
}

/// The report of an audit with these pairs, and with these outcomes of its other statements.
pub fn report_of(
    mut audit: Audit,
    pairs: Vec<Ran>,
    others: Vec<Result<Evidence, TargetError>>,
) -> AuditReport {
    audit.pairs = pairs.iter().map(|ran| ran.pair.clone()).collect();
    let of_pairs = pairs.into_iter().map(|ran| ran.outcome);
    let outcomes =
        of_pairs.map(|found| found.map(|found| Evidence::Privacy(Box::new(found)))).chain(others);
    let plans: Vec<Plan> = audit.plans(Settings::default(), 1).collect();
    let results = plans.iter().zip(outcomes);
    let results = results.map(|(plan, outcome)| StatementResult::new(plan, outcome, 0.5)).collect();
    AuditReport::new(Arc::new(audit), results, None)
}

/// The report of a run with these audits.
pub fn run_of(audits: Vec<(Audit, Vec<Ran>)>) -> RunReport {
    run_of_reports(audits.into_iter().map(|(audit, ran)| report_of(audit, ran, vec![])).collect())
}

/// The report of a run with these reports.
pub fn run_of_reports(reports: Vec<AuditReport>) -> RunReport {
    let statements = reports.iter().map(|report| report.results.len()).sum();
    let audits = reports.into_iter().map(Arc::new).collect();
    RunReport::new(Settings::default(), statements, audits)
}

/// The report of a run of the audit `count` with these pairs.
pub fn run(results: Vec<Ran>) -> RunReport {
    run_of(vec![(audit("count"), results)])
}
