//! The text at the end of a command: tables with unexpected results first, and a sentence for each refuted claim.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::time::Duration;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use console::style;
use indicatif::HumanDuration;

use crate::audit::{Audit, Control, PairResult, RunReport};
use crate::catalogue::registry;
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Agreement, Conclusion, Reason, Relation, Verdict};
use crate::report::replay::{ReplayResult, ReplaySettings};
use crate::report::witness::Witness;
use crate::target::process;

/// The text at the end of a run: the table, a sentence for each refuted claim, the summary.
#[must_use]
pub fn run_summary(report: &RunReport, seconds: f64) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", table(report));
    for audit in &report.audits {
        let name = style(&audit.audit.name).bold();
        for result in &audit.results {
            let _ = match &result.outcome {
                Ok(evidence) if evidence.verdict == Verdict::Violated => {
                    writeln!(text, "{name} / {}: the attacker {}.", result.pair, evidence.sentence(&audit.audit.claim))
                }
                Ok(_) => Ok(()),
                Err(error) => writeln!(text, "{name} / {}: could not be run: {error}.", result.pair),
            };
        }
    }
    let _ = write!(text, "\n{}", totals(report, seconds));
    text
}

fn totals(report: &RunReport, seconds: f64) -> String {
    let names = |agreement| report.with(agreement).map(|report| report.audit.name.as_str()).collect::<Vec<_>>();
    let mut text = format!(
        "{}, {}, {} draws in {}: {} refuted, {} of {} verdicts as expected.\n\
         All bounds hold together with confidence {}.\n",
        counted(report.audits.len(), "audit"),
        counted(report.pairs, "pair"),
        grouped(report.draws()),
        HumanDuration(Duration::from_secs_f64(seconds)),
        counted(report.count(Conclusion::Violated), "claim"),
        names(Agreement::Agrees).len(),
        report.audits.len(),
        percent(report.settings.confidence.get()),
    );
    let mut undecided: Vec<(Reason, Vec<&str>)> = Vec::new();
    for audit in report.with(Agreement::Undecided) {
        let Some(reason) = audit.verdict().and_then(Verdict::reason) else { continue };
        match undecided.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, names)) => names.push(&audit.audit.name),
            None => undecided.push((reason, vec![&audit.audit.name])),
        }
    }
    for (reason, names) in undecided {
        let _ = writeln!(text, "Inconclusive, {reason} ({}): {}.", reason.advice(), names.join("; "));
    }
    let differs = names(Agreement::Differs);
    if !differs.is_empty() {
        let _ = writeln!(text, "{}: {}.", style("NOT AS EXPECTED").red().bold(), differs.join("; "));
    }
    for audit in &report.audits {
        for result in audit.results.iter().filter(|result| result.exceeds_truth()) {
            let _ = writeln!(
                text,
                "{} / {}: the bound is above the truth that the audit file states; one of them is wrong, or this is one of the rare errors that the confidence allows (in at most {} of all runs).",
                audit.audit.name,
                result.pair,
                percent(1.0 - report.settings.confidence.get()),
            );
        }
    }
    let not_run = names(Agreement::NotRun);
    if !not_run.is_empty() {
        let _ = writeln!(text, "{}: {}.", style("COULD NOT BE RUN").red().bold(), not_run.join("; "));
    }
    text
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Only three lines: above the table, below the header, and below the table.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

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

fn table(report: &RunReport) -> Table {
    let mut rows = Vec::new();
    for audit in &report.audits {
        rows.extend(audit.results.iter().map(|result| (audit, result, audit.agreement_of(result))));
    }
    // Unexpected results first, then refuted claims, then the others. Within each group, in the order of the run.
    rows.sort_by_key(|(_, result, agreement)| {
        let refuted = result.outcome.as_ref().is_ok_and(|evidence| evidence.verdict == Verdict::Violated);
        (Reverse(*agreement as u8), result.outcome.is_err() || !refuted)
    });
    let reason = |result: &PairResult| result.outcome.as_ref().ok().and_then(|evidence| evidence.verdict.reason());
    // These columns are left out if they are empty.
    let reasons = rows.iter().any(|(_, result, _)| reason(result).is_some());
    let controls = rows.iter().any(|(audit, ..)| audit.control.is_some());
    let units = rows.iter().any(|(audit, ..)| audit.audit.claim.second().is_none());
    let mut header = vec!["", "verdict", "audit", "pair", "claim ε", "δ", "ε ≥", "δ ≥", "reach"];
    header.extend(units.then_some("in its unit"));
    header.extend(controls.then_some("control"));
    header.extend(reasons.then_some("reason"));
    let mut table = plain_table(&header);
    for (audit, result, agreement) in rows {
        let (claim, bounds) = (&audit.audit.claim, result.outcome.as_ref().ok().map(|evidence| evidence.bounds));
        let number = |value: Option<f64>| Cell::new(value.map_or_else(String::new, brief)).set_alignment(CellAlignment::Right);
        let text = |value: Option<String>| Cell::new(value.unwrap_or_default());
        let mut cells = vec![
            Cell::new(agreement.mark()),
            Cell::new(result.conclusion()),
            Cell::new(&audit.audit.name),
            Cell::new(&result.pair),
            number(Some(claim.epsilon())),
            number(Some(claim.delta())),
            number(bounds.map(|bounds| round_down(bounds.epsilon_lower, 4))),
            number(bounds.map(|bounds| round_down(bounds.delta_lower, 4))),
            number(bounds.map(|bounds| round_down(bounds.reach(claim), 4))),
        ];
        cells.extend(units.then(|| text(bounds.and_then(|bounds| bounds.in_unit(claim)))));
        cells.extend(controls.then(|| text(audit.control.map(|control| control.to_string()))));
        cells.extend(reasons.then(|| text(reason(result).map(|reason| reason.to_string()))));
        table.add_row(cells);
    }
    table
}

/// A number in its short form.
fn brief(value: f64) -> String {
    Brief(value).to_string()
}

/// The result of a replay.
#[must_use]
pub fn replay_result(witness: &Witness, settings: ReplaySettings, result: &ReplayResult) -> String {
    let verdict = if result.confirmed { style("CONFIRMED").green() } else { style("NOT CONFIRMED").red() };
    let (epsilon, delta) = (brief(round_down(result.epsilon_lower, 4)), brief(round_down(result.delta_lower, 4)));
    let conclusion = if result.confirmed {
        format!("the claim {} is refuted again", witness.claim)
    } else {
        format!(
            "these draws do not refute the claim {}; use more draws (--draws), or the witness is one of the rare errors that its confidence allows",
            witness.claim
        )
    };
    format!(
        "{verdict}: {} / {}: {conclusion}.\n{} fresh draws (seed {}), judged by the frozen rule: ε ≥ {epsilon} at the claimed δ, δ ≥ {delta} at the claimed ε, with confidence {}.",
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
    let mut table = plain_table(&["mechanism", "what it is"]);
    for entry in registry::ENTRIES {
        table.add_row([entry.name, entry.summary]);
    }
    table.add_row([process::NAME, process::SUMMARY]);
    format!("{table}\n")
}

/// A table of audits.
#[must_use]
pub fn audits(audits: &[Audit]) -> String {
    let mut table = plain_table(&["audit", "mechanism", "claim", "relation", "pairs", "expected", "file"]);
    for audit in audits {
        table.add_row([
            audit.name.clone(),
            audit.subject.mechanism().to_owned(),
            audit.claim.to_string(),
            audit.relation.to_string(),
            audit.pairs.len().to_string(),
            audit.expect.to_string(),
            audit.file.display().to_string(),
        ]);
    }
    format!("{table}\n")
}

/// All details of one audit.
#[must_use]
pub fn audit(audit: &Audit) -> String {
    let mut text = format!("{}\n", style(&audit.name).bold());
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "  {key:<12} {value}");
    };
    line("file", audit.file.display().to_string());
    let mechanism = audit.subject.mechanism();
    line("mechanism", audit.subject.command().map_or_else(|| mechanism.to_owned(), |command| format!("{mechanism}: {command}")));
    for (key, value) in audit.subject.params().into_iter().flatten() {
        line("", format!("{key} = {value}"));
    }
    line("claim", audit.claim.to_string());
    match &audit.relation {
        Relation::Custom { reason } => line("relation", format!("custom: {reason}")),
        relation => line("relation", relation.to_string()),
    }
    line("expected", audit.expect.to_string());
    line("resolution", format!("a leak of {} should be detected", audit.detectable()));
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(": {reason}"));
    line("reach", format!("at least {}{because}", Brief(audit.reach.at_least())));
    match &audit.control {
        Some(Control::Params(params)) => {
            line("control", params.iter().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", "));
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
    for pair in &audit.pairs {
        line("pair", pair.name.clone());
        line("  left", pair.left.to_string());
        line("  right", pair.right.to_string());
        if let Some(expect) = pair.expect {
            line("  expected", expect.to_string());
        }
        if let Some(epsilon) = pair.truth.epsilon {
            line("  truth", format!("ε = {epsilon}"));
        }
        if let Some(delta) = pair.truth.delta {
            line("  truth", format!("δ = {delta} at the claimed ε"));
        }
    }
    text
}
