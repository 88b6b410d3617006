//! The command `dp-audit compare`: what has changed from one run to another.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement};

use super::args::CompareArgs;
use super::screen::print;
use super::tables::plain_table;
use super::wrap::{width, wrapped_lines};
use crate::model::Error;
use crate::model::number::counted;
use crate::report::formats::json::{JsonAudit, JsonReport};
use crate::report::gate::baseline::{Change, Comparison, Difference, FailOnChange};
use crate::report::gate::exit_code::ExitCode;

/// The most rows about claims, new and missing audits, and seconds, each, without `--verbose`.
const MAX_ROWS: usize = 10;
/// Seconds have changed if they are so many times as many, or as few, …
const TIMES: f64 = 1.5;
/// … and so many more, or fewer.
const SECONDS: f64 = 1.0;

/// Compares two reports and prints what has changed.
pub fn compare(args: &CompareArgs) -> Result<ExitCode, Error> {
    let (old, new) = (JsonReport::read(&args.old)?, JsonReport::read(&args.new)?);
    let comparison = Comparison::new(&old, &new);
    print(wrapped_lines(&text(&old, &new, &comparison, args.verbose, width()), width()))?;
    let fails = match args.fail_on {
        None => false,
        Some(FailOnChange::Worse) => !comparison.worse.is_empty(),
        Some(FailOnChange::Change) => !comparison.is_empty(),
    };
    Ok(if fails { ExitCode::Surprise } else { ExitCode::AsExpected })
}

/// A row of the table.
struct Row {
    mark: &'static str,
    change: &'static str,
    name: String,
    values: [String; 2],
}

impl Row {
    fn new(mark: &'static str, difference: &Difference) -> Self {
        let change = match difference.change {
            Change::Verdict => "verdict",
            Change::Bound => "bound",
            Change::Claim => "claim",
            Change::New => "new",
            Change::Gone => "gone",
        };
        let name = format!("{} / {}", difference.audit, difference.statement);
        Self { mark, change, name, values: difference.values.clone() }
    }
}

/// The table, the notes and the totals.
fn text(
    old: &JsonReport,
    new: &JsonReport,
    comparison: &Comparison,
    verbose: bool,
    width: usize,
) -> String {
    let Comparison { worse, better, others, .. } = comparison;
    let marked = [("✗", worse), ("✓", better), ("", others)];
    let mut differences: Vec<(&'static str, &Difference)> = marked
        .into_iter()
        .flat_map(|(mark, list)| list.iter().map(move |difference| (mark, difference)))
        .collect();
    // What is worse comes first in each group.
    differences.sort_by_key(|(_, difference)| difference.change);
    let mut rows: Vec<Row> =
        differences.into_iter().map(|(mark, difference)| Row::new(mark, difference)).collect();
    rows.extend(slower(old, new));
    let mut text = String::new();
    if !rows.is_empty() {
        let (table, hidden) = table(&rows, verbose, width);
        let _ = writeln!(text, "{table}");
        if hidden > 0 {
            let _ = writeln!(text, "… and {}; --verbose shows all.", counted(hidden, "more row"));
        }
        text.push('\n');
    }
    for report in [old, new].into_iter().filter(|report| !report.complete) {
        let which = if std::ptr::eq(report, old) { "earlier" } else { "later" };
        let _ = writeln!(text, "Note: the {which} run was interrupted; it may lack audits.");
    }
    let (one, other) = (&old.settings, &new.settings);
    if (one.draws, one.confidence) != (other.draws, other.confidence) {
        text.push_str(
            "Note: --draws or --confidence differ, which alone can change verdicts and bounds.\n",
        );
    }
    let count = |change: Change| {
        comparison.differences().filter(|difference| difference.change == change).count()
    };
    let changed = [
        (Change::Verdict, "verdict", "changed"),
        (Change::Bound, "bound", "moved"),
        (Change::Claim, "claim", "changed"),
        (Change::New, "statement", "new"),
        (Change::Gone, "statement", "gone"),
    ];
    let changed: Vec<String> = changed
        .into_iter()
        .filter(|(change, ..)| count(*change) > 0)
        .map(|(change, noun, what)| format!("{} {what}", counted(count(change), noun)))
        .collect();
    let audits = [old, new].map(|report| report.audits.len());
    let _ = match changed.as_slice() {
        [] => writeln!(text, "Nothing has changed in {}.", counted(audits[1], "audit")),
        changed => writeln!(
            text,
            "{} before, {} now: {}; {} worse.",
            counted(audits[0], "audit"),
            audits[1],
            changed.join(", "),
            comparison.worse.len()
        ),
    };
    let [before, now] = [old, new].map(|report| report.audits.iter().map(seconds).sum::<f64>());
    let _ = writeln!(text, "Seconds of all pairs: {before:.1} before, {now:.1} now.");
    text
}

/// The table, and how many rows are not shown.
fn table(rows: &[Row], verbose: bool, width: usize) -> (String, usize) {
    let mut table = plain_table(&["", "change", "audit / pair", "before", "now"]);
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX));
    let mut hidden = 0;
    for (index, Row { mark, change, name, values }) in rows.iter().enumerate() {
        let of_kind = rows[..index].iter().filter(|row| row.change == *change).count();
        // Verdicts and bounds are what one looks for.
        let always = ["verdict", "bound"].contains(change);
        if !verbose && !always && of_kind >= MAX_ROWS {
            hidden += 1;
            continue;
        }
        let right = |text: &String| Cell::new(text).set_alignment(CellAlignment::Right);
        let [before, now] = values;
        table.add_row([
            Cell::new(mark),
            Cell::new(change),
            Cell::new(name),
            right(before),
            right(now),
        ]);
    }
    for index in [0, 1, 3, 4] {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.column_iter_mut().for_each(|column| _ = column.set_padding((0, 1)));
    (table.trim_fmt(), hidden)
}

/// The audits that took much more or much less time, those with the largest difference first.
fn slower(old: &JsonReport, new: &JsonReport) -> Vec<Row> {
    let mut found: Vec<(f64, Row)> = Vec::new();
    for audit in &new.audits {
        let Some(earlier) = old.audits.iter().find(|earlier| earlier.audit == audit.audit) else {
            continue;
        };
        let (before, now) = (seconds(earlier), seconds(audit));
        let (less, more) = (before.min(now), before.max(now));
        if more - less >= SECONDS && more >= TIMES * less {
            let values = [before, now].map(|seconds| format!("{seconds:.1} s"));
            let (mark, name) = ("", audit.audit.clone());
            found.push((more - less, Row { mark, change: "seconds", name, values }));
        }
    }
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    found.into_iter().map(|(_, row)| row).collect()
}

/// How long all statements of an audit took.
fn seconds(audit: &JsonAudit) -> f64 {
    audit.statements.iter().filter_map(|statement| statement.row.seconds).sum()
}
