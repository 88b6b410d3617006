//! What the bounds promise, measured over seeds: tight enough, and above the truth no more often
//! than the confidence allows.

use dp_audit::{Audit, Reason, Settings, Until, Verdict};

use crate::harness::{assert_rare, audit, committed, defaults, laplace, report, settings, sure};

/// The mean of the ε bounds over `seeds` seeds. No more of them may exceed the truth than chance
/// explains.
fn mean_bound(audits: &[Audit], draws: u64, seeds: u64, truth: f64) -> f64 {
    let bounds: Vec<f64> =
        (0..seeds).map(|seed| report(audits, settings(draws, seed)).bounds.epsilon_lower).collect();
    assert_rare(
        "bounds above the truth",
        bounds.iter().filter(|bound| **bound > truth).count(),
        seeds,
        0.05,
    );
    bounds.iter().sum::<f64>() / seeds as f64
}

#[test]
fn laplace_bounds_are_tight() {
    // A bound is 0.952 ± 0.024, 0.987 ± 0.0074, 0.9956 ± 0.0023, 0.9987 ± 0.0006; the means are
    // over enough seeds that bad luck is 5e-8 in all.
    let audits = laplace(1.0);
    for (draws, seeds, least) in
        [(20_000, 200, 0.94), (200_000, 60, 0.98), (2_000_000, 60, 0.994), (20_000_000, 20, 0.998)]
    {
        let mean = mean_bound(&audits, draws, seeds, 1.0);
        assert!(mean >= least, "{draws} draws: mean bound {mean}, should be at least {least}");
    }
}

#[test]
fn gaussian_bounds_are_tight() {
    // 0.929 ± 0.028, the mean of sixty ± 0.0036: bad luck 1e-7.
    let mean = mean_bound(&committed("basics/gaussian-exact.toml"), 200_000, 60, 1.0);
    assert!(mean >= 0.91, "mean bound {mean}");
}

#[test]
fn ten_per_cent_too_little_noise_is_violated() {
    // The bound is 1.070 ± 0.016, so one seed misses with probability 4e-6, and three of twenty
    // with 6e-14.
    let audits = laplace(1.0 / 1.1);
    let violated = (0..20)
        .filter(|seed| report(&audits, settings(50_000, *seed)).verdict == Verdict::Violated)
        .count();
    assert!(violated >= 18, "{violated} of 20 seeds");
}

#[test]
fn boundary_mechanisms_are_rarely_above_their_truth() {
    // Exactly at their claims; few draws, so that many seeds are affordable. At 95 % at most one
    // bound in twenty may lie above the truth.
    let discrete = audit(
        r#"
        name = "discrete"
        mechanism = "discrete-laplace"
        params = { query = "count", epsilon = 0.5 }
        claim = { epsilon = 0.5 }
        relation = "add-remove"
        [[pair]]
        name = "one more"
        left = ["x"]
        right = ["x", "x"]
        "#,
    );
    let response = audit(
        r#"
        name = "response"
        mechanism = "randomized-response/generalized"
        params = { epsilon = 1.5 }
        claim = { epsilon = 1.5 }
        relation = "replace-one"
        [[pair]]
        name = "one bit"
        left = [0, 1, 1]
        right = [1, 1, 1]
        "#,
    );
    let vector = audit(
        r#"
        name = "vector"
        mechanism = "laplace"
        params = { query = "histogram", epsilon = 1.0, sensitivity = 2.0 }
        claim = { epsilon = 1.0 }
        relation = "replace-one"
        [[pair]]
        name = "one moves"
        left = ["a", "b", "c", "c"]
        right = ["b", "b", "c", "c"]
        "#,
    );
    let gaussian = committed("basics/gaussian-exact.toml");
    for (audits, truth) in
        [(laplace(1.0), 1.0), (discrete, 0.5), (response, 1.5), (vector, 1.0), (gaussian, 1.0)]
    {
        const SEEDS: u64 = 300;
        let above = (0..SEEDS)
            .filter(|seed| report(&audits, settings(8_000, *seed)).bounds.epsilon_lower > truth)
            .count();
        assert_rare(&format!("{}: bounds above {truth}", audits[0].name), above, SEEDS, 0.05);
    }
}

#[test]
fn the_local_sensitivity_median_is_caught_within_five_thousand_draws() {
    // The first look decides, at 1,024 draws, on each of 1,000 seeds.
    let audits = committed("notes/median-local-sensitivity.toml");
    for seed in 0..20 {
        let found = report(&audits, Settings { until: Until::Decided, ..defaults(seed) });
        assert_eq!(found.verdict, Verdict::Violated);
        assert!(found.draws < 5_000, "seed {seed}: {} draws", found.draws);
        assert!(found.bounds.epsilon_lower > 1.0);
    }
}

#[test]
fn too_few_draws_are_inconclusive_never_consistent() {
    // Consistent would take a precision of 0.1; that of 1,000 draws is 0.24 or worse. A false alarm
    // has probability 1e-6 at most.
    for draws in [1, 7, 8, 100, 1000] {
        let found = report(&laplace(1.0), sure(draws));
        assert_eq!(found.verdict.reason(), Some(Reason::TooFewDraws), "{draws} draws");
        assert_eq!(found.draws, draws);
    }
}
