//! The texts of commands other than `run`: tables of audits and mechanisms, one audit in full, the
//! result of a replay.

use std::fmt::{Display, Write as _};
use std::slice;

use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};
use console::measure_text_width;

use super::screen::{Look, styled};
use crate::audit::{Audit, Control, Statement};
use crate::catalogue::{registry, training};
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Expectation, Relation};
use crate::report::persistence::replay::{ReplayResult, ReplaySettings};
use crate::report::persistence::witness::Witness;
use crate::target::process;

/// Only three lines: above the table, below the header, and below the table.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// The width of lists that do not go to a terminal.
const PIPED_WIDTH: u16 = 100;

/// An empty table with this header.
pub fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.iter().copied());
    // On a terminal, long names wrap. Elsewhere, each row is one line.
    if let Some((_, columns)) = console::Term::stdout().size_checked() {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    } else {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table
}

/// An empty table with this header for lists, whose rows also wrap where there is no terminal.
fn list_table(header: &[&str]) -> Table {
    let mut table = plain_table(header);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns());
    table
}

/// The width of lists.
fn columns() -> u16 {
    console::Term::stdout().size_checked().map_or(PIPED_WIDTH, |(_, columns)| columns)
}

/// The table as text. No word is broken where the terminal is wide enough for the longest words of
/// all columns.
#[must_use]
pub fn unbroken(mut table: Table) -> String {
    let longest = |index: usize, table: &Table| {
        let cells = table.column_cells_with_header_iter(index).flatten();
        cells
            .filter_map(|cell| cell.content().split_whitespace().map(measure_text_width).max())
            .max()
            .unwrap_or(0)
    };
    for index in 0..table.column_count() {
        // The blanks on both sides count.
        let width = u16::try_from(longest(index, &table) + 2).unwrap_or(u16::MAX);
        if let Some(column) = table.column_mut(index) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        }
    }
    format!("{table}\n")
}

/// A number in its short form.
fn brief(value: f64) -> String {
    Brief(value).to_string()
}

/// The result of a replay.
#[must_use]
pub fn replay_result(witness: &Witness, settings: ReplaySettings, result: &ReplayResult) -> String {
    let verdict = if result.confirmed {
        styled("CONFIRMED", Look::Green)
    } else {
        styled("NOT CONFIRMED", Look::Red)
    };
    let (epsilon, delta) =
        (brief(round_down(result.epsilon_lower, 4)), brief(round_down(result.delta_lower, 4)));
    let (symbol, lower) =
        (witness.claim.main().measure.symbol(), brief(round_down(result.lower, 4)));
    let in_unit = if witness.claim.second().is_none() {
        format!("{symbol} ≥ {lower}, ")
    } else {
        String::new()
    };
    let conclusion = if result.confirmed {
        format!("the claim {} is refuted again", witness.claim)
    } else {
        format!(
            "these draws do not refute the claim {}; use more draws (--draws), or the witness is one of the rare errors that its confidence allows",
            witness.claim
        )
    };
    format!(
        "{verdict}: {} / {}: {conclusion}.\n{} fresh draws (seed {}), judged by the frozen rule: {in_unit}ε ≥ {epsilon} at the claimed δ, δ ≥ {delta} at the claimed ε, with confidence {}.",
        witness.audit,
        witness.pair,
        grouped(settings.draws),
        settings.seed,
        percent(settings.confidence.get()),
    )
}

/// A table of the built-in mechanisms.
#[must_use]
pub fn mechanisms() -> String {
    let mut table = list_table(&["mechanism", "what it is"]);
    for entry in registry::ENTRIES {
        table.add_row([entry.name, entry.summary]);
    }
    // One that can be audited both ways is listed once.
    let only = |name: &str| registry::find(name).is_none();
    for entry in training::ENTRIES.iter().filter(|entry| only(entry.name)) {
        table.add_row([entry.name, entry.summary]);
    }
    table.add_row([process::NAME, process::SUMMARY]);
    unbroken(table)
}

/// A table of audits. Where there is little room, the file is below the name, and some columns are
/// left out; the view of one audit has them.
#[must_use]
pub fn audits(audits: &[Audit]) -> String {
    let wide = wide_table(audits);
    let natural =
        wide.column_max_content_widths().iter().map(|width| usize::from(*width) + 3).sum::<usize>();
    unbroken(if natural <= usize::from(columns()) { wide } else { narrow_table(audits) })
}

fn narrow_table(audits: &[Audit]) -> Table {
    let mut table = list_table(&["audit", "claim", "expected"]);
    for audit in audits {
        let (claim, expected) = if audit.is_about_claim() {
            (audit.claim.to_string(), audit.expect.to_string())
        } else {
            let kinds = kinds_beside_claim(slice::from_ref(audit));
            let lists: Vec<&str> = kinds.iter().map(|[_, list]| *list).collect();
            let counts: Vec<String> = kinds.iter().map(|[noun, _]| counts(audit, noun)).collect();
            (lists.join("\n"), counts.join("\n"))
        };
        table.add_row([format!("{}\n{}", audit.name, audit.file.display()), claim, expected]);
    }
    table
}

fn wide_table(audits: &[Audit]) -> Table {
    let nouns: Vec<&str> = kinds_beside_claim(audits).iter().map(|[noun, _]| *noun).collect();
    let plurals: Vec<String> = nouns.iter().map(|noun| format!("{noun}s")).collect();
    let mut header = vec!["audit", "mechanism", "claim", "relation", "pairs"];
    header.extend(plurals.iter().map(String::as_str));
    header.extend(["expected", "file"]);
    let mut table = list_table(&header);
    for audit in audits {
        let of_privacy = |text: &dyn Display| {
            if audit.is_about_claim() { text.to_string() } else { String::new() }
        };
        let mut cells = vec![
            audit.name.clone(),
            audit.subject.mechanism().to_owned(),
            of_privacy(&audit.claim),
            of_privacy(&audit.relation),
            of_privacy(&audit.pairs.len()),
        ];
        cells.extend(nouns.iter().map(|noun| counts(audit, noun)));
        cells.extend([of_privacy(&audit.expect), audit.file.display().to_string()]);
        table.add_row(cells);
    }
    table
}

/// The kinds of what these audits state besides their claims: noun, and list of the JSON report.
fn kinds_beside_claim(audits: &[Audit]) -> Vec<[&'static str; 2]> {
    let mut found = Vec::new();
    for statement in audits.iter().flat_map(Audit::statements_beside_claim) {
        let kind = statement.kind(None);
        let names = [kind.noun(), kind.list()[0]];
        if !found.contains(&names) {
            found.push(names);
        }
    }
    found
}

/// How many statements with this noun an audit makes besides its claim, and how many of them are
/// expected to be violated.
fn counts(audit: &Audit, noun: &str) -> String {
    let expected: Vec<_> = audit
        .statements_beside_claim()
        .map(|statement| statement.kind(None))
        .filter(|kind| kind.noun() == noun)
        .map(|kind| kind.expected())
        .collect();
    let violated = expected.iter().filter(|expect| **expect == Some(Expectation::Violated)).count();
    match (expected.len(), violated) {
        (0, _) => String::new(),
        (all, 0) => all.to_string(),
        (all, violated) => format!("{all} ({violated} violated)"),
    }
}

/// A parameter as an audit file spells it.
fn in_toml(value: &serde_json::Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string())
}

/// All details of one audit.
#[must_use]
pub fn audit(audit: &Audit) -> String {
    let mut text = format!("{}\n", styled(&audit.name, Look::Bold));
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "  {key:<12} {value}");
    };
    line("file", audit.file.display().to_string());
    let mechanism = audit.subject.mechanism();
    line(
        "mechanism",
        audit
            .subject
            .command()
            .map_or_else(|| mechanism.to_owned(), |command| format!("{mechanism}: {command}")),
    );
    for (key, value) in audit.subject.params().into_iter().flatten() {
        line("", format!("{key} = {}", in_toml(value)));
    }
    if audit.is_about_claim() {
        line("claim", audit.claim.to_string());
        match &audit.relation {
            Relation::Custom { reason } => line("relation", format!("custom: {reason}")),
            relation => line("relation", relation.to_string()),
        }
        line("expected", audit.expect.to_string());
        line("resolution", format!("a leak of {} should be detected", audit.detectable()));
        let because =
            audit.reach.because().map_or_else(String::new, |reason| format!(": {reason}"));
        line("reach", format!("at least {}{because}", Brief(audit.reach.at_least())));
    }
    match &audit.control {
        Some(Control::Params(params)) => {
            line(
                "control",
                params
                    .iter()
                    .map(|(key, value)| format!("{key} = {value}"))
                    .collect::<Vec<_>>()
                    .join(", "),
            );
        }
        Some(Control::Audit(name)) => line("control", format!("the audit \"{name}\"")),
        None => {}
    }
    if let Some(source) = &audit.source {
        line("source", source.clone());
    }
    if let Some(draws) = audit.draws {
        line("draws", grouped(draws));
    }
    for (key, value) in audit.statements().flat_map(Statement::stated) {
        line(key, value);
    }
    text
}
