//! Results for the unit tests of this folder. Nothing is run.

use std::sync::Arc;

use crate::attack::GuessRule;
use crate::audit::{Audit, AuditReport, Curves, Evidence, Pair, PairResult, RunReport};
use crate::model::{
    Bounds, Claim, Dataset, Expectation, Reason, RuleEstimate, Settings, Tally, Truth, Verdict,
};
use crate::output::Symbols;
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

/// Evidence with this verdict, and with bounds that give this verdict under the claim ε = 1. 80 of
/// 100 guesses are right.
pub fn evidence(verdict: Verdict) -> Evidence {
    let (epsilon_lower, resolved) = match verdict {
        Verdict::Violated => (1.25, 0.0),
        Verdict::Consistent => (0.5, 0.0),
        Verdict::Inconclusive(_) => (0.5, f64::INFINITY),
    };
    Evidence {
        verdict,
        bounds: Bounds {
            lower: epsilon_lower,
            epsilon_lower,
            delta_lower: 0.0,
            detectable: 1.0 + resolved,
            resolved,
        },
        outputs_never_repeat: false,
        estimate: RuleEstimate { epsilon: 1.5, epsilon_upper: 2.0 },
        draws: 128,
        tally: Tally { correct: 80, wrong: 20, abstained: 0 },
        by_groups: false,
        regions: 2,
        outputs: None,
        rule: Some(rule()),
        symbols: Symbols::default(),
        curves: Curves::default(),
        behaviour: None,
        reproducible: true,
        note: None,
    }
}

/// The result of the pair [`PAIR`] with this verdict.
pub fn pair(verdict: Verdict, expect: Expectation) -> PairResult {
    PairResult {
        pair: PAIR.to_owned(),
        left: "[1]".to_owned(),
        right: "[1 × 2]".to_owned(),
        expect: Some(expect),
        truth: Truth::default(),
        outcome: Ok(evidence(verdict)),
        seconds: 0.5,
        timing: None,
    }
}

/// The result of the pair [`PAIR`] if its mechanism could not be run.
pub fn not_run() -> PairResult {
    let error = TargetError::WrongCount { asked: 2, got: 1 };
    PairResult { outcome: Err(error), ..pair(Verdict::Violated, Expectation::Violated) }
}

/// The report of a run with these audits.
pub fn run_of(audits: Vec<(Audit, Vec<PairResult>)>) -> RunReport {
    let pairs = audits.iter().map(|(_, results)| results.len()).sum();
    let report = |(audit, results)| Arc::new(AuditReport::new(Arc::new(audit), results, None));
    RunReport::new(Settings::default(), pairs, audits.into_iter().map(report).collect())
}

/// The report of a run of the audit `count` with these results.
pub fn run(results: Vec<PairResult>) -> RunReport {
    run_of(vec![(audit("count"), results)])
}
