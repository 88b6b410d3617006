//! Reports that come back as baselines, changed in any way, are refused or compared.

use std::sync::LazyLock;

use dp_audit::Audit;
use dp_audit::Conclusion;
use dp_audit::Settings;
use dp_audit::fronts::Comparison;
use dp_audit::fronts::JsonReport;
use dp_audit::fronts::explain;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use super::cases;
use super::changes::{change, changed, scrap};
use crate::harness::{Runnable as _, defaults, laplace};

/// Audits and their report: one claim is refuted, one not.
static RUN: LazyLock<(Vec<Audit>, JsonReport)> = LazyLock::new(|| {
    let mut audits = vec![laplace(0.5).remove(0), laplace(1.0).remove(0)];
    "right".clone_into(&mut audits[1].name);
    // 1.95 ± 0.02 is refuted, and what holds with probability 0.001 at most.
    let report = JsonReport::new(&audits.run(Settings { draws: Some(100_000), ..defaults(1) }));
    assert_eq!(report.summary.violated, 1);
    (audits, report)
});

fn written() -> Value {
    serde_json::to_value(&RUN.1).expect("JSON")
}

/// The text is refused with the name of its file, or can be compared and explained; and what is
/// refuted now is worse than whatever was not refuted before.
fn refused_or_compared(text: &[u8]) -> Result<(), TestCaseError> {
    let (audits, now) = &*RUN;
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("a temporary file");
    let before = match JsonReport::read(file.path()) {
        Ok(before) => before,
        Err(error) => {
            let message = error.to_string();
            prop_assert!(
                message.starts_with(&format!("cannot read {}: ", file.path().display())),
                "{message}"
            );
            return Ok(());
        }
    };
    let worse = Comparison::new(&before, now);
    prop_assert!(
        worse.text().ends_with(".\n") && Comparison::new(now, &before).text().ends_with(".\n")
    );
    for audit in audits {
        prop_assert!(explain(audit, Some(&before)).contains("What the run found"));
    }
    let refuted = &now.audits[0].statements[0].row;
    let same = |row: &&dp_audit::fronts::Row| {
        (&row.audit, &row.pair, row.claim_epsilon, row.claim_delta)
            == (&refuted.audit, &refuted.pair, refuted.claim_epsilon, refuted.claim_delta)
    };
    let rows: Vec<_> = before
        .audits
        .iter()
        .flat_map(|audit| &audit.statements)
        .filter(|statement| statement.list == "pairs")
        .map(|statement| &statement.row)
        .filter(same)
        .collect();
    let [earlier] = rows[..] else { return Ok(()) };
    prop_assert_eq!(
        worse.worse.iter().any(|worse| worse.what.contains("is violated")),
        earlier.verdict != Conclusion::Violated
    );
    Ok(())
}

#[test]
fn the_same_report_is_not_worse() {
    let (_, now) = &*RUN;
    assert_eq!(Comparison::new(now, now), Comparison::default());
    refused_or_compared(written().to_string().as_bytes()).unwrap();
}

proptest! {
    #![proptest_config(cases!(256, "reports.txt"))]

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
