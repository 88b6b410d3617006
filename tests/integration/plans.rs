//! The unit of work: a plan that another process runs gives the result of the run in one piece.

use std::path::Path;
use std::process::Command;

use dp_audit::{
    Audit, CertifyPart, Exploration, PartsError, Plan, PrivacyEvidence, Settings, StatementResult,
    Until, certify_range, conclude, explore,
};

use crate::harness::{committed, defaults};

/// Names the plan that this process is to run, and where its result goes.
const PLAN: &str = "DP_AUDIT_TEST_PLAN";
const RESULT: &str = "DP_AUDIT_TEST_RESULT";

/// Does nothing in an ordinary run of the tests; in a process that was started for it, runs a plan
/// from a file.
#[test]
fn runs_a_plan_from_a_file() {
    let (Ok(plan), Ok(result)) = (std::env::var(PLAN), std::env::var(RESULT)) else { return };
    let plan: Plan = serde_json::from_str(&std::fs::read_to_string(plan).unwrap()).unwrap();
    let target = dp_audit::prepare(plan.pair()).unwrap();
    std::fs::write(result, serde_json::to_vec(&plan.run(target.as_ref(), &())).unwrap()).unwrap();
}

fn in_another_process(folder: &Path, plan: &Plan) -> StatementResult {
    let (written, result) = (folder.join("plan.json"), folder.join("result.json"));
    std::fs::write(&written, serde_json::to_vec(plan).unwrap()).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child
        .args(["--exact", "plans::runs_a_plan_from_a_file"])
        .env(PLAN, &written)
        .env(RESULT, &result)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&std::fs::read(result).unwrap()).unwrap()
}

fn without_seconds(result: &StatementResult) -> StatementResult {
    let mut result = result.clone();
    result.seconds = 0.0;
    result.timing = None;
    result
}

/// Each pair of the audits, run in one piece and run one by one in other processes, gives the same.
fn assert_same(audits: &[Audit], settings: Settings) -> Vec<StatementResult> {
    let folder = tempfile::tempdir().unwrap();
    let whole = dp_audit::run(audits, settings, &dp_audit::prepare, &());
    let pairs = audits.iter().map(|audit| audit.pairs.len()).sum();
    let mut results = Vec::new();
    for (audit, report) in audits.iter().zip(&whole.audits) {
        for (plan, expected) in audit.plans(settings, pairs).zip(&report.results) {
            let found = in_another_process(folder.path(), &plan);
            assert_eq!(
                without_seconds(&found),
                without_seconds(expected),
                "{} / {}",
                audit.name,
                plan.name()
            );
            results.push(found);
        }
    }
    results
}

#[test]
fn a_plan_run_by_another_process_gives_the_result_of_the_run_in_one_piece() {
    // Numbers, symbols with names, whole rows, refutations with witnesses, a truth that is
    // infinite, generated pairs.
    let files = [
        "notes/median-local-sensitivity.toml",
        "notes/mode-exact.toml",
        "benchmark/svt1.toml",
        "notes/k-anonymity-joined.toml",
    ];
    let audits: Vec<Audit> = files.iter().flat_map(|file| committed(file)).collect();
    let results = assert_same(&audits, Settings { draws: Some(60_000), ..defaults(3) });
    let evidence: Vec<&PrivacyEvidence> =
        results.iter().map(|result| result.outcome.as_ref().unwrap().privacy().unwrap()).collect();
    assert!(
        evidence.iter().any(|found| found.behaviour.is_some())
            && evidence.iter().any(|found| found.behaviour.is_none())
    );
    let mut pairs = audits.iter().flat_map(|audit| &audit.pairs);
    assert!(pairs.any(|pair| pair.truth.epsilon == Some(f64::INFINITY)));
    let rules: Vec<String> = evidence.iter().map(|found| found.rule_text()).collect();
    assert!(
        rules.iter().any(|rule| rule.contains(" is "))
            && rules.iter().all(|rule| !rule.contains('#')),
        "{rules:?}"
    );
}

#[test]
fn a_plan_that_stops_early_stops_at_the_same_draw() {
    assert_same(
        &committed("notes/median-local-sensitivity.toml"),
        Settings { until: Until::Decided, ..defaults(1) },
    );
}

#[cfg(unix)]
#[test]
fn programs_and_their_errors_travel_too() {
    use crate::harness::load;
    use crate::harness::program::script;
    let folder = script(
        "read -r greeting\necho '{\"dp_audit\": 1, \"width\": 1, \"seeded\": true}'\nread -r line; echo '{\"error\": \"no\\u22a5\"}'\n",
    );
    let results = assert_same(
        &load(folder.path().join("audits")),
        Settings { draws: Some(4_000), ..defaults(1) },
    );
    let error = results[0].outcome.as_ref().unwrap_err().to_string();
    assert!(error.contains("gave up: no⊥"), "{error}");
}

#[test]
fn every_plan_of_the_suite_comes_back_from_a_file() {
    for audit in committed("") {
        let text = serde_json::to_string(&audit).unwrap();
        assert_eq!(serde_json::from_str::<Audit>(&text).unwrap(), audit, "{}", audit.name);
        for plan in audit.plans(defaults(1), 7) {
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(
                serde_json::from_str::<Plan>(&text).unwrap(),
                plan,
                "{} / {}",
                audit.name,
                plan.name()
            );
        }
    }
}

/// Sends a value to another process and back, as it were.
fn sent<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[test]
fn parts_of_a_pair_that_others_certify_give_the_evidence_of_the_run_in_one_piece() {
    // Rules of several kinds: numbers, whole rows, learned scores, groups of outputs, a tail.
    let files = [
        "notes/median-local-sensitivity.toml",
        "benchmark/svt1.toml",
        "units/gaussian-renyi-2-short.toml",
        "basics/gaussian-exact.toml",
    ];
    for file in files {
        for audit in committed(file) {
            for plan in audit.plans(Settings { draws: Some(3_000_001), ..defaults(3) }, 1) {
                let (plan, target) = (sent(&plan), dp_audit::prepare(plan.pair()).unwrap());
                let whole = plan.run(target.as_ref(), &()).outcome.unwrap();
                let (plan, expected) = (plan.pair(), whole.privacy().unwrap());
                let exploration: Exploration = sent(&explore(plan, target.as_ref(), &()).unwrap());
                let batches = plan.divisible_batches().unwrap();
                // Parts of different sizes, one of which ends within a look; made in another order.
                let ranges = [11..29, 0..8, 29..batches, 8..11];
                let part = |range: &std::ops::Range<u64>| {
                    let target = dp_audit::prepare(plan).unwrap();
                    sent(
                        &certify_range(plan, &exploration, target.as_ref(), range.clone(), &())
                            .unwrap(),
                    )
                };
                let parts: Vec<CertifyPart> = ranges.iter().map(part).collect();
                let all: Vec<&CertifyPart> = parts.iter().collect();
                assert_eq!(
                    &conclude(plan, &exploration, &all).unwrap(),
                    expected,
                    "{} / {}",
                    audit.name,
                    plan.pair.name
                );
                assert_eq!(
                    conclude(plan, &exploration, &all[1..]),
                    Err(PartsError::Missing { from: 11, to: 29 })
                );
                assert_eq!(
                    conclude(plan, &exploration, &all[..2]),
                    Err(PartsError::Missing { from: 8, to: 11 })
                );
                assert_eq!(
                    conclude(plan, &exploration, &[all[0], all[1], all[2], all[3], all[3]]),
                    Err(PartsError::Overlapping { from: 8, to: 11 })
                );
                let mut wrong = parts[3].clone();
                wrong.looks[0].tallies[0].abstained += 1;
                assert_eq!(
                    conclude(plan, &exploration, &[all[0], all[1], all[2], &wrong]),
                    Err(PartsError::WrongTallies { from: 8, to: 11 })
                );
                let mut early = [parts[1].clone(), parts[1].clone()];
                (early[0].batches, early[1].batches) = (0..4, 4..8);
                let early_cut = conclude(plan, &exploration, &[&early[0], &early[1]]);
                assert!(
                    matches!(
                        early_cut,
                        Err(PartsError::WrongTallies { .. } | PartsError::Unchecked { .. })
                    ),
                    "{early_cut:?}"
                );
            }
        }
    }
}

#[test]
fn draws_that_depend_on_what_they_show_or_on_time_are_not_divided() {
    let audit = committed("basics/laplace-count.toml").remove(0);
    let batches = |settings| audit.plans(settings, 1).next().unwrap().pair().divisible_batches();
    assert!(batches(defaults(1)).is_some());
    assert_eq!(batches(Settings { until: Until::Decided, ..defaults(1) }), None);
    assert_eq!(batches(Settings { max_seconds: 5.0.try_into().ok(), ..defaults(1) }), None);
}
