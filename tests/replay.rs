//! Every refutation of the default suite stands up to fresh draws on another seed.

mod common;

use std::path::PathBuf;

use dp_audit::replay::{self, Settings};
use dp_audit::run;
use dp_audit::spec;
use dp_audit::verdict::{Expectation, Verdict};
use dp_audit::witness::Witness;

#[test]
fn every_refutation_of_the_suite_is_confirmed_on_another_seed() {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits"].iter().collect();
    let mut audits = spec::load(&[path]).unwrap_or_else(|error| panic!("{error}"));
    audits.retain(|audit| audit.expect == Expectation::Violated);
    // The run must find z ≈ 4.5 standard errors; with ten times the draws 3.1 are needed where 14 are to be expected. A false alarm has probability below 1e-9.
    let report = run::run(&audits, common::settings(150_000, 1), &[]);
    let mut confirmed = 0;
    for (audit, found) in audits.iter().zip(&report.audits) {
        let Some(witness) = found.telling().and_then(|pair| pair.witness.as_ref()) else {
            assert_ne!(found.verdict(), Some(Verdict::Violated), "{}: a refutation has a witness", audit.name);
            continue;
        };
        // Through the file, as a user would.
        let read = Witness::from_json(&witness.sealed().to_string()).unwrap_or_else(|error| panic!("{}: {error}", audit.name));
        assert_eq!(&read, witness, "{}: what is read is what was written", audit.name);
        let pair = replay::pair(&read, audit).unwrap();
        read.check(audit, pair).unwrap_or_else(|error| panic!("{}: {error}", audit.name));
        let settings = Settings { draws: 1_500_000, seed: 99, confidence: 0.999.try_into().unwrap() };
        let again = replay::replay(&read, pair, settings, &|_| ()).unwrap();
        assert_eq!(again.tally.draws(), settings.draws);
        assert!(again.confirmed, "{}: ε ≥ {} claimed {}", audit.name, again.epsilon_lower, audit.claim);
        confirmed += 1;
    }
    // Most of the suite's bugs show within so few draws.
    assert!(confirmed >= 30, "{confirmed} of {} audits", audits.len());
}

#[test]
fn a_witness_of_another_version_or_other_code_is_refused() {
    let audits = common::laplace(0.5);
    let found = common::report(&audits, common::settings(100_000, 0));
    let witness = found.witness.expect("half the noise is a violation");
    let pair = &audits[0].pairs[0];
    assert_eq!(witness.check(&audits[0], pair), Ok(()));
    let older = Witness { version: "0.0.9".to_owned(), ..witness.clone() };
    assert!(older.check(&audits[0], pair).unwrap_err().contains("was written by dp-audit 0.0.9"));
    // The same audit, had its code drawn other outputs.
    let mut other = common::laplace(0.5);
    let mut slower = common::laplace(0.6);
    std::mem::swap(&mut other[0].pairs[0].target, &mut slower[0].pairs[0].target);
    assert!(witness.check(&other[0], &other[0].pairs[0]).unwrap_err().contains("another version of the mechanism"));
}
