//! The ends of every scale: claims, outputs, budgets. Nothing panics, nothing is refuted that
//! holds, and what cannot be told is never a pass.
//!
//! Some 50 runs have a claim that holds: all together give a false alarm with probability 5e-5 at
//! most. Where a claim must be refuted, no guess is wrong.

use dp_audit::noise::Generator;
use dp_audit::{Cell, PrivacyEvidence, Reason, Settings, Side, Until, Verdict};
use rand::RngExt;

use crate::harness::{Outputs, audit_of, report, sure};

/// The same number whatever the data.
fn silent() -> Outputs<impl Fn(Side, &mut Generator, &mut [Cell]) + Send + Sync> {
    Outputs {
        width: 1,
        draw: |_, rng: &mut Generator, row: &mut [Cell]| row[0] = Cell::number(rng.random()),
    }
}

/// One value for D, another for D'.
fn leaking(
    left: Cell,
    right: Cell,
) -> Outputs<impl Fn(Side, &mut Generator, &mut [Cell]) + Send + Sync> {
    Outputs {
        width: 1,
        draw: move |side, _: &mut Generator, row: &mut [Cell]| {
            row[0] = if side == Side::Left { left } else { right }
        },
    }
}

fn well_formed(found: &PrivacyEvidence) {
    let bounds = found.bounds;
    assert!(bounds.epsilon_lower >= 0.0 && bounds.epsilon_lower.is_finite(), "{bounds:?}");
    assert!((0.0..=1.0).contains(&bounds.delta_lower), "{bounds:?}");
    assert!(bounds.detectable > 0.0, "{bounds:?}");
}

#[test]
fn extreme_claims_are_refuted_only_by_what_exceeds_them() {
    for epsilon in [1e-6, 1e-3, 1.0, 50.0, 800.0] {
        for delta in [0.0, 1e-12, 0.5, 0.999_999] {
            for until in [Until::Budget, Until::Refuted, Until::Decided] {
                let found =
                    report(&audit_of(epsilon, delta, silent()), Settings { until, ..sure(20_000) });
                well_formed(&found);
                assert_ne!(
                    found.verdict,
                    Verdict::Violated,
                    "silent: ε {epsilon}, δ {delta}: {:?}",
                    found.bounds
                );
                let found = report(
                    &audit_of(epsilon, delta, leaking(Cell::number(0.0), Cell::number(1.0))),
                    Settings { until, ..sure(20_000) },
                );
                well_formed(&found);
                // All of 17,500 guesses right shows ε up to ln(17,500/ln(1/α)), about 7, and δ up
                // to about 0.999: no more.
                let expected = if epsilon < 5.0 && delta < 0.99 {
                    Verdict::Violated
                } else {
                    Verdict::Inconclusive(Reason::TooFewDraws)
                };
                assert_eq!(
                    found.verdict, expected,
                    "leaking: ε {epsilon}, δ {delta}: {:?}",
                    found.bounds
                );
            }
        }
    }
}

#[test]
fn a_claim_too_large_to_test_is_inconclusive_never_consistent() {
    for draws in [1, 1_000, 50_000] {
        assert_eq!(
            report(&audit_of(50.0, 0.0, silent()), sure(draws)).verdict.reason(),
            Some(Reason::TooFewDraws)
        );
    }
}

#[test]
fn any_two_different_cells_tell_the_sides_apart() {
    let number = Cell::number;
    let cells = [
        (number(5e-324), number(1e-323)),
        (number(-5e-324), number(5e-324)),
        (number(0.0), number(5e-324)),
        (number(1.0), number(1.0_f64.next_up())),
        (number(f64::MAX), number(f64::MIN)),
        (number(f64::MAX), number(f64::INFINITY)),
        (number(f64::NEG_INFINITY), number(f64::MIN)),
        (number(f64::INFINITY), number(f64::NEG_INFINITY)),
        (number(f64::NAN), number(f64::INFINITY)),
        (number(f64::NAN), number(0.0)),
        (Cell::symbol("⊥"), number(f64::NAN)),
        (Cell::symbol("⊥"), Cell::ABSENT),
        (Cell::symbol(""), Cell::symbol(" ")),
    ];
    for (left, right) in cells {
        let found = report(&audit_of(1.0, 0.0, leaking(left, right)), sure(2_000));
        well_formed(&found);
        assert_eq!(found.verdict, Verdict::Violated, "{left:?} or {right:?}: {:?}", found.bounds);
        let rule = found.rule.as_ref().expect("a rule refuted the claim").describe(&found.symbols);
        assert!(!rule.contains("NaN ") && !rule.is_empty(), "{rule}");
    }
}

#[test]
fn equal_cells_tell_nothing() {
    // Every NaN has the same meaning. The sign of zero is an output like any other.
    let nan = f64::from_bits(f64::NAN.to_bits() | 1);
    for (left, right) in
        [(-0.0, -0.0), (nan, -f64::NAN), (f64::INFINITY, f64::INFINITY), (7.0, 7.0)]
    {
        let found = report(
            &audit_of(0.1, 0.0, leaking(Cell::number(left), Cell::number(right))),
            sure(20_000),
        );
        well_formed(&found);
        assert_ne!(found.verdict, Verdict::Violated, "{left} and {right}: {:?}", found.bounds);
    }
}

/// A symbol from a range of 10,000 that depends on the side.
fn symbols(
    range: fn(Side) -> std::ops::Range<usize>,
) -> Outputs<impl Fn(Side, &mut Generator, &mut [Cell]) + Send + Sync> {
    let names: Vec<Cell> = (0..10_000).map(|index| Cell::symbol(&format!("s{index}"))).collect();
    Outputs {
        width: 1,
        draw: move |side, rng: &mut Generator, row: &mut [Cell]| {
            row[0] = names[rng.random_range(range(side))];
        },
    }
}

#[test]
fn ten_thousand_symbols_are_told_apart() {
    // ε ≥ 9.21 ± 0.01.
    let leaking = symbols(|side| if side == Side::Left { 0..5_000 } else { 5_000..10_000 });
    let found = report(&audit_of(1.0, 0.0, leaking), sure(400_000));
    assert_eq!(found.verdict, Verdict::Violated, "{:?}", found.bounds);
    let found = report(&audit_of(1.0, 0.0, symbols(|_| 0..10_000)), sure(400_000));
    assert_ne!(found.verdict, Verdict::Violated, "{:?}", found.bounds);
}

/// A thousand numbers, of which one may depend on the side.
fn wide(leak: f64) -> Outputs<impl Fn(Side, &mut Generator, &mut [Cell]) + Send + Sync> {
    let draw = move |side, rng: &mut Generator, row: &mut [Cell]| {
        row.iter_mut().for_each(|cell| *cell = Cell::number(rng.random()));
        if side == Side::Right {
            row[777] = Cell::number(rng.random::<f64>() + leak);
        }
    };
    Outputs { width: 1_000, draw }
}

#[test]
fn one_leak_in_a_thousand_coordinates_is_found() {
    // ε ≥ 6.19 ± 0.01.
    let found = report(&audit_of(1.0, 0.0, wide(1.0)), sure(8_000));
    assert_eq!(found.verdict, Verdict::Violated, "{:?}", found.bounds);
    let found = report(&audit_of(1.0, 0.0, wide(0.0)), sure(8_000));
    assert_ne!(found.verdict, Verdict::Violated, "{:?}", found.bounds);
}

#[test]
fn rows_of_extremes_do_not_upset_any_attack() {
    // Sums overflow, differences of infinities are no numbers; nothing of it depends on the side.
    let cells =
        [f64::MAX, f64::MIN, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -0.0, 5e-324, 1.0];
    let draw = move |_: Side, rng: &mut Generator, row: &mut [Cell]| {
        row.iter_mut()
            .for_each(|cell| *cell = Cell::number(cells[rng.random_range(0..cells.len())]));
    };
    for width in [2, 5] {
        let found = report(&audit_of(0.5, 0.0, Outputs { width, draw }), sure(40_000));
        well_formed(&found);
        assert_ne!(found.verdict, Verdict::Violated, "{:?}", found.bounds);
    }
}

#[test]
fn small_budgets_are_spent_to_the_last_draw_and_never_a_pass() {
    for draws in (1..=20).chain([63, 64, 100, 511, 512, 513, 1_000, 4_095, 4_097]) {
        for until in [Until::Budget, Until::Refuted, Until::Decided] {
            let audits = audit_of(1.0, 0.0, leaking(Cell::number(0.0), Cell::number(1.0)));
            let found = report(&audits, Settings { until, ..sure(draws) });
            well_formed(&found);
            assert_ne!(found.verdict, Verdict::Consistent, "{draws} draws");
            // Nobody can refute ε = 1 with fewer: n right guesses of n have probability (e/(1 +
            // e))^n under the claim, and 1e-6 needs 45.
            assert!(
                draws > 44 || found.verdict.reason() == Some(Reason::TooFewDraws),
                "{draws} draws: {:?}",
                found.bounds
            );
            assert!(
                draws < 1_000 || found.verdict == Verdict::Violated,
                "{draws} draws: {:?}",
                found.bounds
            );
            assert!(
                found.draws == draws || (until.ends_early() && found.verdict == Verdict::Violated),
                "{} of {draws}",
                found.draws
            );
        }
    }
}
