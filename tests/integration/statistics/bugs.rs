//! The suite of bugs: broken mechanisms are caught, their correct twins are not flagged, and
//! floating-point bits count only where an audit asks.

use dp_audit::Conclusion;
use dp_audit::{Audit, Expectation, Judged, Settings, Until, Verdict};

use super::suites::comes_out_as_expected;
use crate::harness::{Runnable as _, assert_rare, audit, committed, defaults, report, settings};

/// Sits on its claim, or as close below as is known.
const CONTROLS: [&str; 13] = [
    "laplace",
    "laplace-grid",
    "discrete-laplace",
    "discrete-laplace-cut-approximate",
    "randomized-response",
    "threshold",
    "exponential",
    "sparse-vector",
    "gaussian",
    "gaussian-classic",
    "gaussian-classic-7",
    "amplification",
    "clamp-to-bounds",
];

#[test]
fn every_audit_comes_out_as_expected_at_default_settings() {
    // A false alarm has probability 0.001 at most, for all together. Bad luck 2e-4: of the claims
    // that hold, the Gaussian at ε = 7 is the hardest to call consistent (7.56 ± 0.12 of 8), then
    // the sparse vector (1.053 ± 0.009 of 1.1); of the broken ones, the Gaussian at ε = 8 is nine
    // standard deviations beyond its claim.
    comes_out_as_expected("bugs");
}

#[test]
fn every_bug_has_a_correct_twin_with_the_same_mechanism() {
    let audits = committed("bugs");
    for broken in audits.iter().filter(|audit| audit.expect == Expectation::Violated) {
        let twin = |audit: &&Audit| {
            audit.expect == Expectation::Consistent
                && audit.subject.mechanism() == broken.subject.mechanism()
        };
        assert!(audits.iter().find(twin).is_some(), "{} stands alone", broken.name);
    }
}

#[test]
fn bugs_that_show_in_every_output_are_refuted_by_1024_draws() {
    // On all of 200 seeds each, and of 2,000 for the two with the widest spread (`sum-f32`,
    // `sum-row-order`).
    for file in [
        "noise-fixed-seed",
        "suppress-by-exact-count",
        "exponential-underflow",
        "sum-wraps",
        "sum-f32",
        "sum-row-order",
        "sum-rounds",
    ] {
        let audits = committed(&format!("bugs/{file}.toml"));
        for seed in 0..5 {
            let found = report(&audits, Settings { until: Until::Decided, ..defaults(seed) });
            assert_eq!(found.verdict, Verdict::Violated, "{file}, seed {seed}");
            assert!(found.draws <= 1024, "{file}, seed {seed}: {} draws", found.draws);
        }
    }
}

/// Fails if more runs flag a claim that holds, or have a bound above the truth, than the confidence
/// explains.
fn rarely_flagged(audits: &[Audit], settings: impl Fn(u64) -> Settings, seeds: u64) {
    let wrong = |judged: Judged<'_>| {
        judged.conclusion() == Conclusion::Violated || judged.contradicts_truth()
    };
    let flags = (0..seeds).filter(|seed| audits.run(settings(*seed)).judged().any(wrong)).count();
    assert_rare(
        &format!("{}: runs flagged", audits[0].name),
        flags,
        seeds,
        1.0 - settings(0).confidence.get(),
    );
}

#[test]
fn boundary_controls_are_flagged_no_more_often_than_the_confidence_allows() {
    // Each by itself at 95 %, and all together at the default confidence, where at most one run in
    // a thousand flags any of them.
    for file in CONTROLS {
        rarely_flagged(&committed(&format!("bugs/{file}.toml")), |seed| settings(10_000, seed), 40);
    }
    let all: Vec<Audit> =
        CONTROLS.iter().flat_map(|file| committed(&format!("bugs/{file}.toml"))).collect();
    rarely_flagged(&all, |seed| Settings { draws: Some(200_000), ..defaults(seed) }, 6);
}

/// An audit of the first record's count with these attacks; all but `float-bits` when there are
/// none.
fn count(mechanism: &str, attacks: &str) -> String {
    format!(
        r#"
        name = "{mechanism} {}"
        mechanism = "{mechanism}"
        params = {{ query = "count", epsilon = 1.0 {} }}
        claim = {{ epsilon = 1.0 }}
        relation = "add-remove"
        {attacks}
        [[pair]]
        name = "the first record"
        left = []
        right = ["x"]
        "#,
        attacks.replace('"', ""),
        if mechanism == "discrete-laplace" { ", grid = 0.0009765625" } else { "" },
    )
}

#[test]
fn float_bits_find_floating_point_noise_and_only_when_asked() {
    const BOTH: &str = r#"attacks = ["coordinates", "float-bits"]"#;
    const ALONE: &str = r#"attacks = ["float-bits"]"#;
    let cases = [
        ("laplace", "", Verdict::Consistent),
        ("laplace", BOTH, Verdict::Violated),
        ("laplace", ALONE, Verdict::Violated),
        ("discrete-laplace", "", Verdict::Consistent),
        ("discrete-laplace", BOTH, Verdict::Consistent),
        ("discrete-laplace", ALONE, Verdict::Consistent),
    ];
    // Twelve of these runs have a claim that holds as far as the attack can see, each flagged with
    // probability at most 0.001. The bits alone show ε ≥ 9.6 ± 0.14.
    for (mechanism, attacks, expected) in cases {
        let audits = audit(&count(mechanism, attacks));
        for seed in 0..3 {
            let found = report(&audits, Settings { draws: Some(1_000_000), ..defaults(seed) });
            assert_eq!(
                found.verdict, expected,
                "{mechanism} {attacks}, seed {seed}: {:?}",
                found.bounds
            );
        }
    }
}

#[test]
fn float_bits_look_at_every_component() {
    let text = |attacks: &str| {
        format!(
            r#"
            name = "two answers"
            mechanism = "laplace"
            params = {{ query = "values", epsilon = 1.0 }}
            claim = {{ epsilon = 1.0 }}
            relation = "single-component"
            attacks = {attacks}
            [[pair]]
            name = "the second"
            left = [7, 0]
            right = [7, 1]
            "#
        )
    };
    // ε ≥ 8.05 ± 0.13 with the bits; without them a false alarm has probability 0.001 at most.
    let found = |attacks: &str| {
        report(&audit(&text(attacks)), Settings { draws: Some(200_000), ..defaults(1) })
    };
    assert_eq!(found(r#"["naive-bayes", "float-bits"]"#).verdict, Verdict::Violated);
    assert_ne!(found(r#"["coordinates", "naive-bayes", "pairs"]"#).verdict, Verdict::Violated);
}
