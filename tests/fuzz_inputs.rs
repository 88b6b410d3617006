//! Files that come back from outside: witnesses and reports, changed in any way, are refused or mean what they say. Failing cases are kept in `tests/regressions`.
//!
//! Answers of child processes and sample files have their properties beside their readers.

mod common;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

/// So many cases, and failures kept in a file of this property's own group.
fn cases(cases: u32, file: &'static str) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))), ..ProptestConfig::default() }
}

/// What is put in the place of a value.
fn scrap() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(vec![json!(null), json!(true), json!(""), json!("inf"), json!("-inf"), json!("left"), json!("violated")]),
        prop::sample::select(vec![json!(0), json!(-1), json!(1), json!(7), json!(u64::MAX), json!(i64::MIN)]),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,5}", inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A change of one place of a JSON document.
#[derive(Clone, Debug)]
enum Change {
    Replace(Value),
    Remove,
    Add(String, Value),
    /// Another item of the same list or object.
    Copy(Index),
}

fn change() -> impl Strategy<Value = (Index, Change)> {
    let change = prop_oneof![
        4 => scrap().prop_map(Change::Replace),
        2 => Just(Change::Remove),
        1 => ("[a-z_]{1,8}", scrap()).prop_map(|(key, value)| Change::Add(key, value)),
        2 => any::<Index>().prop_map(Change::Copy),
    ];
    (any::<Index>(), change)
}

/// The pointers to all values within a value.
fn places(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    let items: Vec<(String, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (key.replace('~', "~0").replace('/', "~1"), item)).collect(),
        _ => Vec::new(),
    };
    for (key, item) in items {
        places(item, &format!("{at}/{key}"), found);
        found.push((at.to_owned(), key));
    }
}

fn changed(mut value: Value, at: Index, change: &Change) -> Value {
    let mut found = Vec::new();
    places(&value, "", &mut found);
    let (parent, key) = at.get(&found);
    match (value.pointer_mut(parent).expect("a place"), change) {
        (Value::Array(items), change) => {
            let index: usize = key.parse().expect("an index");
            match change {
                Change::Replace(scrap) => items[index] = scrap.clone(),
                Change::Remove => drop(items.remove(index)),
                Change::Add(_, scrap) => items.insert(index, scrap.clone()),
                Change::Copy(from) => items[index] = from.get(items).clone(),
            }
        }
        (Value::Object(map), change) => {
            match change {
                Change::Replace(scrap) => map.insert(key.clone(), scrap.clone()),
                Change::Remove => map.remove(key),
                Change::Add(new, scrap) => map.insert(new.clone(), scrap.clone()),
                Change::Copy(from) => {
                    let other = from.get(&map.values().cloned().collect::<Vec<_>>()).clone();
                    map.insert(key.clone(), other)
                }
            };
        }
        _ => unreachable!("only lists and objects have places"),
    }
    value
}

/// The text with one byte changed, if it is still a text.
fn other_byte(text: &str, at: Index, byte: u8) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at.index(text.len())] = byte;
    String::from_utf8(bytes).ok()
}

mod witnesses {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::LazyLock;

    use dp_audit::attack::Attack;
    use dp_audit::cell::Cell;
    use dp_audit::mechanism::Side;
    use dp_audit::noise::{Generator, bernoulli, laplace};
    use dp_audit::replay::{self, Settings};
    use dp_audit::spec::Audit;
    use dp_audit::witness::Witness;

    use super::common::{Outputs, audit_of, report, settings};
    use super::*;

    /// Leaks through a number, through ⊥ and through the numbers' order, so that every kind of rule finds something.
    fn telling() -> Outputs<impl Fn(Side, &mut Generator, &mut [Cell]) + Send + Sync> {
        let draw = |side, rng: &mut Generator, row: &mut [Cell]| {
            let at = if side == Side::Left { 0.0 } else { 1.0 };
            row[0] = Cell::number(at + laplace(rng, 0.5));
            row[1] = if bernoulli(rng, 0.3 + 0.4 * at) { Cell::symbol("⊥") } else { Cell::number(laplace(rng, 1.0).round()) };
            row[2] = Cell::number(row[0].as_number().unwrap_or(0.0) + laplace(rng, 0.5));
        };
        Outputs { width: 3, draw }
    }

    /// An audit, and what refuted its claim.
    type Refuted = (Audit, Witness);

    /// A rule of each kind.
    static REFUTED: LazyLock<Vec<Refuted>> = LazyLock::new(|| {
        let mut audits = vec![common::laplace(0.5).remove(0)];
        for attack in Attack::DEFAULT {
            let mut audit = audit_of(0.1, 0.0, telling()).remove(0);
            audit.attacks = vec![attack];
            audits.push(audit);
        }
        let refuted = audits.into_iter().map(|audit| {
            let audits = vec![audit];
            let witness = report(&audits, settings(40_000, 3)).witness;
            (audits, witness)
        });
        refuted.filter_map(|(mut audits, witness)| Some((audits.remove(0), witness?))).collect()
    });

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
        serde_json::from_value(changes.iter().fold(value, |value, (at, change)| changed(value, *at, change))).ok()
    }

    #[test]
    fn all_kinds_of_rules_are_tried() {
        assert!(REFUTED.len() >= 6, "{} witnesses", REFUTED.len());
        for (audit, witness) in REFUTED.iter() {
            assert_eq!(witness.check(audit, &audit.pairs[0]), Ok(()), "{:?}", audit.attacks);
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
            rule(json!({ "joint": { "first": 0, "second": 0, "edges": [0.0], "parts": [] } }), &[0.0], &["left", "right"]),
            rule(json!({ "trend": { "symbol": 1.0, "edges": [0.0], "lines": [] } }), &[0.0], &["left", "right"]),
        ];
        for rule in forged {
            let witness = with(rule);
            let shown = witness.rule.to_string();
            let refused = witness.check(audit, &audit.pairs[0]).unwrap_err();
            assert!(refused.contains("has no rule for these outputs"), "{shown}: {refused}");
        }
        // A rule for single cells would take each cell of a row for an output.
        let (wide, _) = REFUTED.last().unwrap();
        assert!(witness.rule.check(3).unwrap_err().contains("a single cell"), "{}", wide.name);
    }

    #[test]
    fn a_smaller_claim_under_the_same_fingerprint_is_refused() {
        let (audit, witness) = &REFUTED[0];
        let mut smaller = witness.clone();
        smaller.claim.epsilon = 0.01.try_into().unwrap();
        let read = Witness::from_json(&smaller.sealed().to_string()).unwrap();
        assert!(read.check(audit, &audit.pairs[0]).unwrap_err().contains("is about the claim ε = 0.01"));
    }

    proptest! {
        #![proptest_config(cases(512, "tests/regressions/witnesses.txt"))]

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
            let (audit, witness) = which.get(&REFUTED);
            let Some(forged) = forged(witness, &changes) else { return Ok(()) };
            let read = Witness::from_json(&forged.sealed().to_string()).map_err(TestCaseError::fail)?;
            prop_assert_eq!(&read, &forged);
            let shown = read.rule.to_string();
            let Ok(pair) = replay::pair(&read, audit) else { return Ok(()) };
            if read.check(audit, pair).is_err() {
                return Ok(());
            }
            prop_assert_eq!((read.claim, &read.fingerprint, &read.version), (audit.claim, &witness.fingerprint, &witness.version));
            // With probability below 1e-9 a bound of a valid judgement lies above the truth, which is ε = 2 for the count with half the noise.
            let settings = Settings { draws: 2_000, seed: 5, confidence: (1.0 - 1e-9).try_into().unwrap() };
            let again = catch_unwind(AssertUnwindSafe(|| replay::replay(&read, pair, settings, &|_| ())));
            let again = again.map_err(|_| TestCaseError::fail(format!("a panic: {shown}")))?.unwrap();
            prop_assert_eq!(again.tally.draws(), 2_000, "{}", shown);
            prop_assert!(audit.name != "laplace" || again.epsilon_lower <= 2.0, "{}: {:?}", shown, again);
        }
    }
}

mod reports {
    use std::sync::LazyLock;

    use dp_audit::baseline::Comparison;
    use dp_audit::report::explain::explain;
    use dp_audit::report::json::JsonReport;
    use dp_audit::run;
    use dp_audit::spec::Audit;

    use super::common::settings;
    use super::*;

    /// Audits and their report: one claim is refuted, one not.
    static RUN: LazyLock<(Vec<Audit>, JsonReport)> = LazyLock::new(|| {
        let mut audits = vec![common::laplace(0.5).remove(0), common::laplace(1.0).remove(0)];
        "right".clone_into(&mut audits[1].name);
        let report = JsonReport::new(&run::run(&audits, settings(100_000, 1), &[]));
        assert_eq!(report.summary.violated, 1);
        (audits, report)
    });

    fn written() -> Value {
        serde_json::to_value(&RUN.1).expect("JSON")
    }

    /// The text is refused with the name of its file, or can be compared and explained; and what is refuted now is worse than whatever was not refuted before.
    fn refused_or_compared(text: &[u8]) -> Result<(), TestCaseError> {
        let (audits, now) = &*RUN;
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), text).expect("a temporary file");
        let before = match JsonReport::read(file.path()) {
            Ok(before) => before,
            Err(error) => {
                let message = error.to_string();
                prop_assert!(message.starts_with(&format!("cannot read {}: ", file.path().display())), "{message}");
                return Ok(());
            }
        };
        let worse = Comparison::new(&before, now);
        prop_assert!(worse.text().ends_with(".\n") && Comparison::new(now, &before).text().ends_with(".\n"));
        for audit in audits {
            prop_assert!(explain(audit, Some(&before)).contains("What the run found"));
        }
        let refuted = &now.audits[0].pairs[0].row;
        let same = |row: &&dp_audit::report::csv::Row| {
            (&row.audit, &row.pair, row.claim_epsilon, row.claim_delta)
                == (&refuted.audit, &refuted.pair, refuted.claim_epsilon, refuted.claim_delta)
        };
        let rows: Vec<_> = before.audits.iter().flat_map(|audit| &audit.pairs).map(|pair| &pair.row).filter(same).collect();
        let [earlier] = rows[..] else { return Ok(()) };
        prop_assert_eq!(worse.worse.iter().any(|line| line.contains("is violated")), earlier.verdict != "violated");
        Ok(())
    }

    #[test]
    fn the_same_report_is_not_worse() {
        let (_, now) = &*RUN;
        assert_eq!(Comparison::new(now, now), Comparison::default());
        refused_or_compared(written().to_string().as_bytes()).unwrap();
    }

    proptest! {
        #![proptest_config(cases(256, "tests/regressions/reports.txt"))]

        #[test]
        fn a_report_with_a_changed_byte_is_refused_or_compared(at in any::<Index>(), byte in any::<u8>()) {
            let mut bytes = written().to_string().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            refused_or_compared(&bytes)?;
        }

        #[test]
        fn a_changed_report_is_refused_or_compared(changes in prop::collection::vec(change(), 1..4)) {
            let value = changes.iter().fold(written(), |value, (at, change)| changed(value, *at, change));
            refused_or_compared(value.to_string().as_bytes())?;
        }

        #[test]
        fn a_changed_row_is_refused_or_compared(audit in 0..2_usize, change in change()) {
            // Most places of a report belong to pictures; here only the columns are changed.
            let mut value = written();
            let pair = &mut value["audits"][audit]["pairs"][0];
            let picture = pair["picture"].take();
            let (at, how) = change;
            *pair = changed(pair.clone(), at, &how);
            if pair.get("picture").is_some_and(Value::is_null) {
                pair["picture"] = picture;
            }
            refused_or_compared(value.to_string().as_bytes())?;
        }

        #[test]
        fn any_json_is_no_report(value in scrap()) {
            refused_or_compared(value.to_string().as_bytes())?;
        }
    }
}
