//! The suite of claims in other units: mechanisms that sit on their claims are consistent, and their twins are caught.

use dp_audit::Expectation;
use dp_audit::model::Agreement;

use crate::harness::{Runnable as _, committed, defaults};

#[test]
fn every_audit_comes_out_as_expected_at_default_settings() {
    // A false alarm has probability 0.001 at most, for all together. `audits/units/README.md` has the distance of each bound from its claim.
    let report = committed("units").run(defaults(0));
    for audit in &report.audits {
        assert_eq!(audit.agreement(), Agreement::Agrees, "{}: {:?}", audit.audit.name, audit.results);
    }
    assert!(report.audits.iter().any(|audit| audit.audit.expect == Expectation::Violated));
}
