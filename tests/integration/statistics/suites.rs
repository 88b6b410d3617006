//! Suites with exact truths: mechanisms that sit on their claims are consistent, and their twins
//! are caught.

use dp_audit::Agreement;
use dp_audit::Expectation;

use crate::harness::{Runnable as _, committed, defaults};

/// A false alarm has probability 0.001 at most, for all audits of a suite together. Its README has
/// the distance of each bound from its claim.
pub fn comes_out_as_expected(suite: &str) {
    let report = committed(suite).run(defaults(0));
    for audit in &report.audits {
        assert_eq!(
            audit.agreement(),
            Agreement::Agrees,
            "{}: {:?}",
            audit.audit.name,
            audit.results
        );
    }
    assert!(report.audits.iter().any(|audit| audit.audit.expect == Expectation::Violated));
}

#[test]
fn claims_in_other_units_come_out_as_expected() {
    comes_out_as_expected("units");
}

#[test]
fn local_protocols_come_out_as_expected() {
    comes_out_as_expected("local");
}
