//! The CSV report: one row per statement.

use std::collections::BTreeSet;
use std::io;

use crate::audit::{Audit, AuditReport, Row, RunReport};
use crate::report::persistence::store::Destination;

/// How texts begin that spreadsheet programs treat as formulas.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A name as it was before it was written to a report.
#[must_use]
pub fn unescaped(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| rest.starts_with(FORMULA)).unwrap_or(text)
}

/// Protects against spreadsheet programs, which treat texts with certain first characters as
/// formulas: such a text gets an apostrophe in front and is then shown as text.
fn escape_formulas(mut row: Row) -> Row {
    let always = [&mut row.audit, &mut row.pair, &mut row.rule, &mut row.file];
    let some = [&mut row.error, &mut row.left, &mut row.right, &mut row.simplest_rule];
    for text in always.into_iter().chain(some.into_iter().flatten()) {
        if text.starts_with(FORMULA) {
            text.insert(0, '\'');
        }
    }
    row
}

/// How many audits an existing report has that are not among these.
#[must_use]
pub fn other_audits(report: &Destination, audits: &[Audit]) -> usize {
    let reader = report.file().and_then(|path| ::csv::Reader::from_path(path).ok());
    let rows = reader.map(::csv::Reader::into_records).into_iter().flatten().flatten();
    let names: BTreeSet<String> = rows.filter_map(|row| row.get(0).map(str::to_owned)).collect();
    names.iter().filter(|name| audits.iter().all(|audit| audit.name != **name)).count()
}

/// The rows of an audit. If it is the first one, the line with the column names comes before them.
///
/// # Errors
/// When they cannot be written.
pub fn rows(run: &RunReport, audit: &AuditReport, first: bool) -> io::Result<Vec<u8>> {
    let mut csv = ::csv::WriterBuilder::new().has_headers(first).from_writer(Vec::new());
    for judged in audit.statements() {
        csv.serialize(escape_formulas(Row::new(run.settings, judged))).map_err(io::Error::other)?;
    }
    csv.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{PrivacyEvidence, as_expected};
    use crate::model::{Agreement, Bounds, ControlResult, Expectation, Verdict};
    use crate::report::testing::{
        INCONCLUSIVE, Ran, audit, evidence, not_run, pair, report_of, run, run_of, run_of_reports,
    };

    /// The rows of a run with one audit, as a CSV reader sees them.
    fn read(run: &RunReport, first: bool) -> Vec<Vec<String>> {
        let bytes = rows(run, &run.audits[0], first).unwrap();
        let mut reader =
            ::csv::ReaderBuilder::new().has_headers(false).from_reader(bytes.as_slice());
        reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
    }

    /// The value of a column in the only row.
    fn value(run: &RunReport, column: &str) -> String {
        let table = read(run, true);
        assert_eq!(table.len(), 2);
        table[1][table[0].iter().position(|name| name == column).unwrap()].clone()
    }

    #[test]
    fn the_column_names_come_only_before_the_first_audit() {
        let run = run(vec![
            pair(Verdict::Violated, Expectation::Violated),
            pair(Verdict::Consistent, Expectation::Consistent),
        ]);
        let (with, without) = (read(&run, true), read(&run, false));
        assert_eq!(with[0][..4], ["audit", "mechanism", "relation", "pair"]);
        assert_eq!(with[1..], without);
        assert_eq!(without.len(), 2);
    }

    #[test]
    fn texts_that_programs_treat_as_formulas_get_an_apostrophe() {
        for (name, expected) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("a=1", "a=1"),
            ("'=1", "'=1"),
            ("", ""),
        ] {
            let result = pair(Verdict::Consistent, Expectation::Consistent).named(name);
            let run = run_of(vec![(audit(name), vec![result])]);
            assert_eq!(
                (value(&run, "audit").as_str(), value(&run, "pair").as_str()),
                (expected, expected)
            );
            // A name with such an apostrophe of its own is read without it.
            assert_eq!(unescaped(expected), if name == "'=1" { "=1" } else { name });
        }
    }

    #[test]
    fn separators_and_quotes_in_names_do_not_add_columns() {
        let name = "a, \"b\"\nc";
        let run =
            run_of(vec![(audit(name), vec![pair(Verdict::Consistent, Expectation::Consistent)])]);
        assert_eq!(value(&run, "audit"), name);
    }

    #[test]
    fn bounds_are_rounded_in_the_direction_that_keeps_them_valid() {
        let bounds = Bounds {
            lower: 0.123_456_78,
            epsilon_lower: 0.123_456_78,
            delta_lower: 1.999_999_9e-5,
            detectable: 1.000_000_1,
            resolved: 0.0,
        };
        let result = |bounds| Ran {
            outcome: Ok(PrivacyEvidence { bounds, ..evidence(Verdict::Consistent) }),
            ..pair(Verdict::Consistent, Expectation::Consistent)
        };
        let rounded = run(vec![result(bounds)]);
        // Lower bounds down, the detectable ε up, to six significant digits.
        let number = |column: &str| value(&rounded, column).parse::<f64>().unwrap();
        assert_eq!(
            [number("epsilon_lower"), number("delta_lower"), number("detectable_epsilon")],
            [0.123_456, 1.999_99e-5, 1.000_01]
        );
        assert_eq!(value(&rounded, "reach"), "inf", "δ is not 0 as claimed");
        let only_epsilon = run(vec![result(Bounds { delta_lower: 0.0, ..bounds })]);
        assert_eq!(value(&only_epsilon, "reach").parse::<f64>(), Ok(0.123_456));
        let unlimited = run(vec![result(Bounds { detectable: f64::INFINITY, ..bounds })]);
        assert_eq!(value(&unlimited, "detectable_epsilon"), "inf");
    }

    #[test]
    fn an_inconclusive_pair_says_why_and_a_control_is_named() {
        let why = run(vec![pair(INCONCLUSIVE, Expectation::Consistent)]);
        assert_eq!(
            (value(&why, "verdict"), value(&why, "reason")),
            ("inconclusive".to_owned(), "too-few-draws".to_owned())
        );
        assert_eq!(
            (value(&why, "asked_reach"), value(&why, "control")),
            ("0.5".to_owned(), String::new())
        );
        // Nothing is known about the precision of these 128 draws.
        assert_eq!(
            (value(&why, "needed_draws"), value(&why, "error")),
            (String::new(), String::new())
        );
        let caught = |control| {
            let ran = vec![pair(Verdict::Consistent, Expectation::Consistent)];
            let AuditReport { audit, results, .. } = report_of(audit("count"), ran, vec![]);
            let run = run_of_reports(vec![AuditReport::new(audit, results, Some(control))]);
            (value(&run, "verdict"), value(&run, "reason"), value(&run, "control"))
        };
        assert_eq!(
            caught(ControlResult::Caught),
            ("consistent".to_owned(), String::new(), "caught".to_owned())
        );
        let missed =
            ("inconclusive".to_owned(), "control-not-caught".to_owned(), "not-caught".to_owned());
        assert_eq!(caught(ControlResult::NotCaught), missed);
    }

    #[test]
    fn a_pair_that_could_not_be_run_has_no_numbers() {
        let error = crate::target::TargetError::AlwaysPanics {
            message: "first line\nsecond line".to_owned(),
        };
        let run = run(vec![Ran { outcome: Err(error), ..not_run() }]);
        assert_eq!(
            (value(&run, "verdict"), value(&run, "as_expected")),
            ("error".to_owned(), "false".to_owned())
        );
        for column in [
            "epsilon_lower",
            "delta_lower",
            "delta_excess",
            "reach",
            "reason",
            "detectable_epsilon",
            "draws",
            "correct",
            "reproducible",
            "seconds",
        ] {
            assert_eq!(value(&run, column), "", "{column}");
        }
        let (rule, error) = (value(&run, "rule"), value(&run, "error"));
        assert!(error.ends_with("first line | second line"), "{error}");
        assert_eq!(rule, format!("not run: {error}"));
    }

    #[test]
    fn an_inconclusive_result_is_neither_expected_nor_unexpected() {
        let all = [Agreement::Agrees, Agreement::Undecided, Agreement::NotRun, Agreement::Differs];
        assert_eq!(all.map(as_expected), [Some(true), None, Some(false), Some(false)]);
    }
}
