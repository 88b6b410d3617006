//! Witnesses that come back changed, or forged, are refused or mean what they say.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};

use dp_audit::fronts::ReplaySettings;
use dp_audit::fronts::Witness;
use dp_audit::fronts::{replay, replayed_pair};
use dp_audit::{Attack, Cell, Side};
use dp_audit::{noise::Generator, noise::bernoulli, noise::laplace};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::cases;
use super::changes::{Change, change, changed, other_byte, scrap};
use crate::harness::{self, Given, Outputs, Runnable as _, audit_of, confidence, settings};

/// Leaks through a number, through ⊥ and through the numbers' order, so that every kind of rule
/// finds something.
fn leaking() -> Outputs<impl Fn(Side, &mut Generator, &mut [Cell]) + Send + Sync> {
    let draw = |side, rng: &mut Generator, row: &mut [Cell]| {
        let at = if side == Side::Left { 0.0 } else { 1.0 };
        row[0] = Cell::number(at + laplace(rng, 0.5));
        row[1] = if bernoulli(rng, 0.3 + 0.4 * at) {
            Cell::symbol("⊥")
        } else {
            Cell::number(laplace(rng, 1.0).round())
        };
        row[2] = Cell::number(row[0].as_number().unwrap_or(0.0) + laplace(rng, 0.5));
    };
    Outputs { width: 3, draw }
}

/// An audit, and what refuted its claim.
type Refuted = (Given, Witness);

/// A rule of each kind.
static REFUTED: LazyLock<Vec<Refuted>> = LazyLock::new(|| {
    let short = harness::laplace(0.5).remove(0);
    let mut audits = vec![Given { target: Arc::from(harness::target(&short)), audit: short }];
    for attack in Attack::DEFAULT {
        let mut given = audit_of(0.1, 0.0, leaking());
        // Only what can be found again has witnesses.
        given.audit.file = "leaking.toml".into();
        given.audit.attacks = vec![attack];
        audits.push(given);
    }
    let settings = settings(40_000, 3);
    let witness = |given: &Given| Witness::of(settings, &given.run(settings).audits[0]);
    audits.into_iter().filter_map(|given| witness(&given).map(|witness| (given, witness))).collect()
});

fn check(witness: &Witness, given: &Given) -> Result<(), String> {
    witness.check(&given.audit, &given.audit.pairs[0], given.target.as_ref())
}

/// Reading gives what was written, or an error.
fn refused_or_equal(text: &str, witness: &Witness) -> Result<(), TestCaseError> {
    if let Ok(read) = Witness::from_json(text) {
        prop_assert_eq!(&read, witness, "{}", text);
    }
    Ok(())
}

/// What a careful forger can do: the witness is whole, its checksum right.
fn forged(witness: &Witness, changes: &[(Index, Change)]) -> Option<Witness> {
    let value = serde_json::to_value(witness).expect("JSON");
    serde_json::from_value(
        changes.iter().fold(value, |value, (at, change)| changed(value, *at, change)),
    )
    .ok()
}

#[test]
fn all_kinds_of_rules_are_tried() {
    // Seven, for only whole rows say nothing. The rule of two cells is the weakest (1.71 ± 0.37
    // where 0.1 is claimed: bad luck 7e-6), and two would have to be missing.
    assert!(REFUTED.len() >= 6, "{} witnesses", REFUTED.len());
    for (given, witness) in REFUTED.iter() {
        assert_eq!(check(witness, given), Ok(()), "{:?}", given.audit.attacks);
    }
}

#[test]
fn rules_that_would_count_outputs_wrongly_are_refused() {
    let (audit, witness) = &REFUTED[0];
    let with = |rule: Value| {
        let mut value = serde_json::to_value(witness).unwrap();
        value["rule"] = rule;
        serde_json::from_value::<Witness>(value).unwrap()
    };
    let rule = |score: Value, edges: &[f64], answers: &[&str]| json!({ "score": score, "edges": edges, "answers": answers, "symbols": [], "other": "abstain" });
    let forged = [
        // Counts below an edge, subtracted the wrong way round, were once 2^64.
        rule(json!("output"), &[1.0, 0.0], &["left", "abstain", "right"]),
        rule(json!("output"), &[0.0], &["left"]),
        rule(json!("output"), &[0.0], &["left", "abstain", "right"]),
        rule(json!({ "coordinate": 1 }), &[0.0], &["left", "right"]),
        rule(json!({ "difference": [0, 4] }), &[0.0], &["left", "right"]),
        rule(
            json!({ "joint": { "first": 0, "second": 0, "edges": [0.0], "parts": [] } }),
            &[0.0],
            &["left", "right"],
        ),
        rule(
            json!({ "trend": { "symbol": 1.0, "edges": [0.0], "lines": [] } }),
            &[0.0],
            &["left", "right"],
        ),
    ];
    // A number in place of a symbol would count outputs twice.
    let mut twice = rule(json!("output"), &[0.0], &["left", "right"]);
    twice["symbols"] = json!([[3.0, "left"]]);
    for rule in forged.into_iter().chain([twice]) {
        let witness = with(rule);
        let shown = witness.rule.describe(&witness.symbols);
        let refused = check(&witness, audit).unwrap_err();
        assert!(refused.contains("has no rule for these outputs"), "{shown}: {refused}");
    }
    // A rule for single cells would take each cell of a row for an output.
    let (wide, _) = REFUTED.last().unwrap();
    assert!(witness.rule.check(3).unwrap_err().contains("a single cell"), "{}", wide.audit.name);
}

#[test]
fn a_smaller_claim_under_the_same_fingerprint_is_refused() {
    let (audit, witness) = &REFUTED[0];
    let mut smaller = witness.clone();
    smaller.claim = harness::claim(0.01, 0.0);
    let read = Witness::from_json(&smaller.sealed().to_string()).unwrap();
    assert!(check(&read, audit).unwrap_err().contains("is about the claim ε = 0.01"));
}

proptest! {
    #![proptest_config(cases!(512, "witnesses.txt"))]

    #[test]
    fn a_changed_byte_is_refused_or_means_the_same(which in any::<Index>(), at in any::<Index>(), byte in any::<u8>()) {
        let (_, witness) = which.get(&REFUTED);
        if let Some(text) = other_byte(&witness.sealed().to_string(), at, byte) {
            refused_or_equal(&text, witness)?;
        }
    }

    #[test]
    fn a_changed_value_is_refused_or_means_the_same(which in any::<Index>(), changes in prop::collection::vec(change(), 1..3)) {
        let (_, witness) = which.get(&REFUTED);
        let value = changes.iter().fold(witness.sealed(), |value, (at, change)| changed(value, *at, change));
        refused_or_equal(&value.to_string(), witness)?;
    }

    #[test]
    fn any_json_is_no_witness(value in scrap()) {
        prop_assert!(Witness::from_json(&value.to_string()).is_err());
    }

    #[test]
    fn a_forged_witness_is_refused_or_judged_by_fresh_draws(which in any::<Index>(), changes in prop::collection::vec(change(), 1..3)) {
        let (given, witness) = which.get(&REFUTED);
        let audit = &given.audit;
        let Some(forged) = forged(witness, &changes) else { return Ok(()) };
        let read = Witness::from_json(&forged.sealed().to_string());
        // More draws than 1e12 are refused as a typo.
        if !(1..=1_000_000_000_000).contains(&forged.draws) {
            prop_assert!(read.is_err(), "{} draws", forged.draws);
            return Ok(());
        }
        let read = read.map_err(TestCaseError::fail)?;
        prop_assert_eq!(&read, &forged);
        let shown = read.rule.describe(&read.symbols);
        let Ok(pair) = replayed_pair(&read, audit) else { return Ok(()) };
        if read.check(audit, pair, given.target.as_ref()).is_err() {
            return Ok(());
        }
        prop_assert_eq!((&read.claim, &read.fingerprint, &read.version), (&audit.claim, &witness.fingerprint, &witness.version));
        // With probability below 1e-9 a bound of a valid judgement lies above the truth, which is ε
        // = 2 for the count with half the noise.
        let settings = ReplaySettings { draws: 2_000, seed: 5, confidence: confidence(1.0 - 1e-9) };
        let again = catch_unwind(AssertUnwindSafe(|| replay(&read, given.target.as_ref(), settings, &|_| ())));
        let again = again.map_err(|_| TestCaseError::fail(format!("a panic: {shown}")))?.unwrap();
        prop_assert_eq!(again.tally.draws(), 2_000, "{}", shown);
        prop_assert!(audit.name != "laplace" || again.epsilon_lower <= 2.0, "{}: {:?}", shown, again);
    }
}
