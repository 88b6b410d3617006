//! Bounds of canary audits against an independent computation (`scripts/canary_fixtures.py`).

use dp_audit::Claim;
use dp_audit::parts::canary::{Counted, Ladder, Sides, Trial, counted_bound};
use dp_audit::rand::SeedableRng;

use crate::harness::repository;

struct Case {
    kind: String,
    canaries: f64,
    guesses: Vec<u64>,
    correct: Vec<u64>,
    delta: f64,
    alpha: f64,
    bound: f64,
}

fn cases(kind: &str) -> Vec<Case> {
    let path = repository("tests/fixtures/canary_bounds.csv");
    let mut reader = csv::Reader::from_path(path).unwrap();
    let cases = reader.records().map(|record| {
        let record = record.unwrap();
        let number = |column: usize| record[column].parse::<f64>().unwrap();
        let list = |column: usize| record[column].split(' ').map(|n| n.parse().unwrap()).collect();
        Case {
            kind: record[0].to_owned(),
            canaries: number(1),
            guesses: list(2),
            correct: list(3),
            delta: number(4),
            alpha: number(5),
            bound: number(6),
        }
    });
    cases.filter(|case| case.kind == kind).collect()
}

/// Guesses "in" of which so many are right at each size: scores fall, and the right ones of each part
/// come first.
fn trial(case: &Case) -> Trial {
    let mut included = Vec::new();
    let (mut size, mut right) = (0, 0);
    for (guesses, correct) in case.guesses.iter().zip(&case.correct) {
        included.extend((0..guesses - size).map(|i| i < correct - right));
        (size, right) = (*guesses, *correct);
    }
    let scores: Vec<f64> = (0..included.len()).map(|i| -(i as f64)).collect();
    let mut rng = SeedableRng::seed_from_u64(0);
    Trial::of_scores(&scores, &included, Sides::In, &mut rng)
}

#[test]
fn fixed_numbers_of_guesses_agree_with_binomials_of_many_digits() {
    let cases = cases("count");
    assert!(cases.len() >= 8);
    for case in cases {
        let counted =
            Counted { canaries: case.canaries, guesses: case.guesses[0], correct: case.correct[0] };
        let claim = Claim::new(1.0, case.delta).unwrap();
        let found = counted_bound(&[counted], claim.main(), case.alpha);
        // The term of δ is that of the lower end of an interval of 0.25 %.
        assert!(
            found <= case.bound * (1.0 + 1e-6) && found >= case.bound * 0.994,
            "{counted:?}: {found} against {}",
            case.bound
        );
    }
}

#[test]
fn ladders_agree_with_full_convolutions() {
    let cases = cases("ladder");
    assert_eq!(cases.len(), 16);
    for case in cases {
        let found = Ladder::new(&trial(&case)).epsilon_lower(case.delta, case.alpha, 1.0);
        assert!(
            // Where refutation ends is ragged, because counts are whole: two grids end within 1.5 %.
            (found - case.bound).abs() <= 0.015 * case.bound + 0.002,
            "{} canaries, δ = {}: {found} against {}",
            2.0 * case.canaries,
            case.delta,
            case.bound
        );
    }
}

#[test]
fn trade_off_curves_agree_with_a_recursion_of_many_digits() {
    for (kind, claim, tolerance) in
        [("mu", Claim::mu(1.0).unwrap(), 1e-5), ("rho", Claim::rho(0.5).unwrap(), 0.02)]
    {
        let cases = cases(kind);
        assert!(cases.len() >= 2, "{kind}");
        for case in cases {
            let counted = Counted {
                canaries: case.canaries,
                guesses: case.guesses[0],
                correct: case.correct[0],
            };
            let found = counted_bound(&[counted], claim.main(), case.alpha);
            // From below, except that the fixtures of ρ have fewer orders and end earlier.
            assert!(
                (found / case.bound - 1.0).abs() < tolerance,
                "{kind}, {counted:?}: {found} against {}",
                case.bound
            );
        }
    }
}
