//! The text at the end of a run: a table of audits, or of suites if there are many audits, then every surprise with its reason and what to do next,
//! then the totals. The worst comes last, because the end of the text is what a terminal shows.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement};
use indicatif::HumanDuration;

use super::progress::mark;
use super::screen::{Look, styled};
use super::tables::plain_table;
use super::wrap::wrapped;
use crate::audit::{AuditReport, Clue, Judged, RunReport, capitalised, short};
use crate::model::number::{counted, percent};
use crate::model::{Agreement, Conclusion, Reason};
use crate::report::commands;

/// The most results of one kind that are explained without `--verbose`, unless they differ from
/// what was expected.
const MAX_EXPLAINED: usize = 10;
/// The most refuted claims that are explained although they were expected.
const MAX_EXPECTED: usize = 3;
/// The most audits with a row each. If there are more, each suite has a row, and so has every audit
/// whose result was not expected.
const MAX_ROWS: usize = 25;
/// The most example outputs of a result without `--verbose`.
const MAX_EXAMPLES: usize = 2;
/// The most characters of a rule without `--verbose`.
const MAX_RULE_CHARS: usize = 240;

/// How a run is summed up.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Whether every pair has a row and every refutation its reason.
    pub verbose: bool,
    /// The length of lines.
    pub width: usize,
    /// Where the witnesses are; `None` if there are none.
    pub witnesses: Option<&'a Path>,
}

/// The text at the end of a run, which took so many seconds if that is known.
#[must_use]
pub fn run_summary(report: &RunReport, seconds: Option<f64>, view: View<'_>) -> String {
    let mut text = if is_short(report, view) { suites(report, view) } else { String::new() };
    text.push_str(&table(report, view));
    for section in [
        expected(report, view),
        undecided(report, view),
        not_run(report, view),
        surprises(report, view),
    ] {
        if !section.is_empty() {
            let _ = write!(text, "\n{section}");
        }
    }
    let _ = write!(text, "\n{}", totals(report, seconds, view.width));
    text
}

/// The statements that have a row: all of them, or the worst one of each audit.
fn rows<'a>(report: &'a RunReport, view: View<'_>) -> Vec<Judged<'a>> {
    let of_audit = |audit: &'a AuditReport| -> Vec<Judged<'a>> {
        if view.verbose {
            audit.statements().collect()
        } else {
            audit.worst().into_iter().collect()
        }
    };
    report.audits.iter().flat_map(|audit| of_audit(audit)).collect()
}

/// Whether there are too many audits to list what was expected.
fn is_short(report: &RunReport, view: View<'_>) -> bool {
    !view.verbose && report.audits.len() > MAX_ROWS
}

/// A row for each suite, in the order of the run: how many audits came to which conclusion.
fn suites(report: &RunReport, view: View<'_>) -> String {
    let mut suites: Vec<(String, Vec<&AuditReport>)> = Vec::new();
    for audit in &report.audits {
        let suite = audit.suite();
        match suites.iter_mut().find(|(name, _)| *name == suite) {
            Some((_, audits)) => audits.push(audit),
            None => suites.push((suite, vec![audit])),
        }
    }
    let conclusions =
        [Conclusion::Violated, Conclusion::Consistent, Conclusion::Inconclusive, Conclusion::Error];
    let names = conclusions.map(|conclusion| conclusion.to_string());
    let mut header = vec!["", "suite", "audits"];
    header.extend(names.iter().map(String::as_str));
    let mut table = plain_table(&header);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns(view));
    for (suite, audits) in &suites {
        let agreement =
            audits.iter().map(|audit| audit.agreement()).fold(Agreement::Agrees, Agreement::worse);
        let counts = conclusions.map(|conclusion| {
            audits.iter().filter(|audit| Conclusion::from(audit.verdict()) == conclusion).count()
        });
        let number = |count: usize| {
            let text = if count > 0 { count.to_string() } else { String::new() };
            Cell::new(text).set_alignment(CellAlignment::Right)
        };
        let mut row = vec![Cell::new(agreement.mark()), Cell::new(suite), number(audits.len())];
        row.extend(counts.map(number));
        table.add_row(row);
    }
    table.column_iter_mut().for_each(|column| _ = column.set_padding((0, 1)));
    format!("{}\n--verbose shows every audit.\n", table.trim_fmt())
}

/// The width of tables.
fn columns(view: View<'_>) -> u16 {
    u16::try_from(view.width).unwrap_or(u16::MAX)
}

/// The audits and their results; of many audits, those that were not expected.
fn table(report: &RunReport, view: View<'_>) -> String {
    let mut rows = rows(report, view);
    let mut text = String::new();
    if is_short(report, view) {
        rows.retain(|row| row.agreement() != Agreement::Agrees);
        if rows.is_empty() {
            return text;
        }
        text.push('\n');
    }
    // Unexpected results first, then refuted claims, then the others. Within each group, in the
    // order of the run.
    rows.sort_by_key(|row| {
        (Reverse(row.agreement() as u8), row.conclusion() != Conclusion::Violated)
    });
    let mut table = plain_table(&["", "verdict", "audit", "bound of claim", "reach"]);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns(view));
    for row in &rows {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row([
            Cell::new(row.agreement().mark()),
            Cell::new(row.conclusion()),
            Cell::new(label(*row, view)),
            right(row.bound().unwrap_or_default()),
            right(row.reach().map_or_else(String::new, |reach| short(reach, 1.0))),
        ]);
    }
    for index in [0, 1, 3, 4] {
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.column_iter_mut().for_each(|column| _ = column.set_padding((0, 1)));
    let _ = writeln!(text, "{}", table.trim_fmt());
    text
}

/// What the row of a statement is called.
fn label(row: Judged<'_>, view: View<'_>) -> String {
    let (name, count) = (&row.report.audit.name, row.report.results.len());
    match count {
        1 => name.clone(),
        _ if view.verbose => format!("{name} / {}", row.name()),
        count => format!("{name} (worst of {count})"),
    }
}

/// The refuted claims that were expected: a few of them with the reason, and how many more there
/// are. Of many audits, they are only counted.
fn expected(report: &RunReport, view: View<'_>) -> String {
    if is_short(report, view) {
        return String::new();
    }
    let mut rows = rows(report, view);
    rows.retain(|row| {
        row.agreement() == Agreement::Agrees && row.conclusion() == Conclusion::Violated
    });
    let shown = if view.verbose { rows.len() } else { rows.len().min(MAX_EXPECTED) };
    let mut text = String::new();
    for row in &rows[..shown] {
        text.push_str(&headline(*row, "refuted, as expected", view.width));
        text.push_str(&why(*row, view));
    }
    if shown < rows.len() {
        let more = counted(rows.len() - shown, "more claim");
        let _ =
            writeln!(text, "… and {more} refuted as expected; --verbose and the reports say why.");
    }
    text
}

/// The results that differ from what was expected: what, how much, why, and what to do.
fn surprises(report: &RunReport, view: View<'_>) -> String {
    let mut rows = rows(report, view);
    rows.retain(|row| row.agreement() == Agreement::Differs);
    let explain = |row: Judged<'_>| {
        let expected = row.expected();
        let what = match row.reason() {
            _ if row.contradicts_truth() => format!(
                "{}, and the bound contradicts the truth that the audit file states",
                row.conclusion()
            ),
            Some(reason) => format!("{} ({reason}), expected {expected}", row.conclusion()),
            None => format!("{}, expected {expected}", row.conclusion()),
        };
        headline(row, &what, view.width) + &why(row, view) + &next(report, row, view)
    };
    section("NOT AS EXPECTED", "audit", &rows, rows.len(), view, explain)
}

/// The pairs and accuracy claims that could not be run: each of them, also in an audit that has
/// other results.
fn not_run(report: &RunReport, view: View<'_>) -> String {
    let mut rows: Vec<Judged<'_>> = report.judged().collect();
    rows.retain(|row| row.conclusion() == Conclusion::Error);
    let explain = |row: Judged<'_>| {
        headline(row, "", view.width) + &indented("", &row.sentence(), view.width)
    };
    section("COULD NOT BE RUN", "result", &rows, MAX_EXPLAINED, view, explain)
}

/// The inconclusive results, by reason: what to do, and how many draws would do.
fn undecided(report: &RunReport, view: View<'_>) -> String {
    let mut rows = rows(report, view);
    rows.retain(|row| row.agreement() == Agreement::Undecided && row.reason().is_some());
    let mut reasons: Vec<Reason> = Vec::new();
    for reason in rows.iter().filter_map(|row| row.reason()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let mut text = String::new();
    for reason in reasons {
        let because: Vec<Judged<'_>> =
            rows.iter().copied().filter(|row| row.reason() == Some(reason)).collect();
        let explain = |row: Judged<'_>| {
            let bound = row.bound().unwrap_or_default();
            match row.needed_draws() {
                Some(draws) => {
                    let line =
                        format!("{bound}, not settled; about {} would do", counted(draws, "draw"));
                    let command = commands::run_alone(row.report, &format!("--draws {draws}"));
                    headline(row, &line, view.width)
                        + &command.map_or_else(String::new, |command| format!("    {command}\n"))
                }
                None => {
                    let line = headline(row, &format!("{bound}, not settled"), view.width);
                    // The advice is about columns; the sentence names them.
                    let columns = (reason == Reason::UnreadColumns)
                        .then(|| indented("Why:", &row.sentence(), view.width));
                    line + &columns.unwrap_or_default()
                }
            }
        };
        let title = format!("Inconclusive, {reason}");
        let section = section(&title, "audit", &because, MAX_EXPLAINED, view, explain);
        let (first, rest) = section.split_once('\n').unwrap_or((&section, ""));
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{first}");
        text.push_str(&wrapped(&capitalised(reason.advice()), "", "", view.width));
        text.push_str(rest);
    }
    text
}

/// A title with the number of results, and the text of each; without `--verbose` only of the first
/// few.
fn section<'a>(
    title: &str,
    noun: &str,
    rows: &[Judged<'a>],
    few: usize,
    view: View<'_>,
    explain: impl Fn(Judged<'a>) -> String,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let shown = if view.verbose { rows.len() } else { rows.len().min(few) };
    let noun = if view.verbose { "result" } else { noun };
    let mut text = format!("{}: {}\n", styled(title, Look::Bold), counted(rows.len(), noun));
    text.extend(rows[..shown].iter().map(|row| explain(*row)));
    if shown < rows.len() {
        let _ = writeln!(
            text,
            "… and {}; --verbose shows all.",
            counted(rows.len() - shown, &format!("more {noun}"))
        );
    }
    text
}

/// The mark, the name, and what is said about it.
fn headline(row: Judged<'_>, what: &str, width: usize) -> String {
    let mark = mark(row.agreement());
    let (audit, name) = (styled(&row.report.audit.name, Look::Bold), row.name());
    let colon = if what.is_empty() { "" } else { ": " };
    wrapped(&format!("{mark} {audit} / {name}{colon}{what}"), "", "  ", width)
}

/// By how much a claim is missed, the plain sentence and the rule.
fn why(row: Judged<'_>, view: View<'_>) -> String {
    let mut text = String::new();
    if let (Some(bound), Some(reach), Some(draws)) = (row.bound(), row.reach(), row.draws()) {
        text.push_str(&indented(
            "",
            &format!("{bound} claimed, reach {}, {}.", short(reach, 1.0), counted(draws, "draw")),
            view.width,
        ));
    }
    text.push_str(&indented("Why:", &row.sentence(), view.width));
    if let Some((title, rule)) = row.words().rule {
        let rule = if view.verbose { rule } else { shortened(rule) };
        text.push_str(&indented(title, &format!("{rule}."), view.width));
    }
    let clues = row.words().clues;
    let is_example = |clue: &&Clue| clue.margin == Clue::EXAMPLE;
    let shown = if view.verbose { usize::MAX } else { MAX_EXAMPLES };
    let examples = clues.iter().filter(is_example).take(shown);
    for clue in clues.iter().filter(|clue| !is_example(clue)).chain(examples) {
        text.push_str(&indented(clue.margin, &format!("{}.", clue.text), view.width));
    }
    text
}

/// What to do next, and the command to type.
fn next(report: &RunReport, row: Judged<'_>, view: View<'_>) -> String {
    let mut text = row
        .next_step()
        .map_or_else(String::new, |step| indented("Next:", &capitalised(&step), view.width));
    let replay =
        view.witnesses.and_then(|folder| commands::replay(report.settings, row.report, folder));
    let command = match replay {
        Some((pair, command)) if row.conclusion() == Conclusion::Violated && pair == row.name() => {
            Some(command)
        }
        _ => row
            .needed_draws()
            .and_then(|draws| commands::run_alone(row.report, &format!("--draws {draws}"))),
    };
    if let Some(command) = command {
        let _ = writeln!(text, "          {command}");
    }
    text
}

/// Text below a headline, after a word in the margin.
fn indented(margin: &str, text: &str, width: usize) -> String {
    // The lines of a message are kept.
    let lines = text.lines().enumerate();
    lines
        .map(|(index, line)| {
            wrapped(
                line,
                &format!("    {:<6}", if index == 0 { margin } else { "" }),
                "          ",
                width,
            )
        })
        .collect()
}

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_RULE_CHARS) {
        text.truncate(end);
        text.push_str("… (--verbose shows the whole rule)");
    }
    text
}

fn totals(report: &RunReport, seconds: Option<f64>, width: usize) -> String {
    let count = |agreement| report.with(agreement).count();
    let within = seconds.map_or_else(String::new, |seconds| {
        format!(" in {}", HumanDuration(Duration::from_secs_f64(seconds)))
    });
    let done = format!(
        "{}, {}, {}{within}.",
        counted(report.audits.len(), "audit"),
        statements(report),
        counted(report.draws(), "draw"),
    );
    let (differs, undecided) = (count(Agreement::Differs), report.count(Conclusion::Inconclusive));
    let missing = report
        .audits
        .iter()
        .filter(|audit| audit.statements().any(|row| row.conclusion() == Conclusion::Error))
        .count();
    let mut parts = vec![
        format!("{} refuted", counted(report.count(Conclusion::Violated), "claim")),
        format!(
            "{} of {} as expected",
            count(Agreement::Agrees),
            counted(report.audits.len(), "verdict")
        ),
    ];
    parts.extend((differs > 0).then(|| format!("{differs} not as expected")));
    parts.extend((missing > 0).then(|| format!("{missing} could not be run")));
    parts.extend((undecided > 0).then(|| format!("{undecided} inconclusive")));
    let confidence = format!(
        "All bounds hold together with confidence {}.",
        percent(report.settings.confidence.get())
    );
    let has_bounds = report.judged().any(|judged| judged.evidence().is_some());
    [done, format!("{}.", parts.join(", "))]
        .into_iter()
        .chain(has_bounds.then_some(confidence))
        .map(|line| wrapped(&line, "", "", width))
        .collect()
}

/// How many statements of each kind there are. What is not there is not named.
fn statements(report: &RunReport) -> String {
    let counts = report.counts();
    if counts.is_empty() {
        return counted(0, "pair");
    }
    counts.iter().map(|(noun, count)| counted(*count, noun)).collect::<Vec<_>>().join(", ")
}
