//! What a person reads when a command has ended: tables with surprises first, a sentence for each broken claim.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::time::Duration;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use console::style;
use indicatif::HumanDuration;

use crate::audit::{Audit, RunReport};
use crate::catalogue::registry;
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Agreement, Relation, Verdict};
use crate::report::replay::{ReplaySettings, Replayed};
use crate::report::witness::Witness;
use crate::target::process;

/// The end of a run: the table, the sentences, the summary.
#[must_use]
pub fn closing(report: &RunReport, seconds: f64) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", table(report));
    for audit in &report.audits {
        let name = style(&audit.audit.name).bold();
        for result in &audit.results {
            let _ = match &result.outcome {
                Ok(found) if found.verdict == Verdict::Violated => {
                    writeln!(text, "{name} / {}: the attacker {}.", result.pair, found.sentence(audit.audit.claim))
                }
                Ok(_) => Ok(()),
                Err(error) => writeln!(text, "{name} / {}: could not be run: {error}.", result.pair),
            };
        }
    }
    let _ = write!(text, "\n{}", summary(report, seconds));
    text
}

fn summary(report: &RunReport, seconds: f64) -> String {
    let names = |agreement| report.with(agreement).map(|report| report.audit.name.as_str()).collect::<Vec<_>>();
    let mut text = format!(
        "{}, {}, {} draws in {}: {} refuted, {} of {} verdicts as expected.\n\
         All bounds hold together with confidence {}.\n",
        counted(report.audits.len(), "audit"),
        counted(report.pairs, "pair"),
        grouped(report.draws()),
        HumanDuration(Duration::from_secs_f64(seconds)),
        counted(report.count(Some(Verdict::Violated)), "claim"),
        names(Agreement::Agrees).len(),
        report.audits.len(),
        percent(report.settings.confidence.get()),
    );
    let undecided = names(Agreement::Undecided);
    if !undecided.is_empty() {
        let _ = writeln!(
            text,
            "Inconclusive, too few draws to tell (more would: --draws, draws in the file, more rows): {}.",
            undecided.join("; ")
        );
    }
    let differs = names(Agreement::Differs);
    if !differs.is_empty() {
        let _ = writeln!(text, "{}: {}.", style("NOT AS EXPECTED").red().bold(), differs.join("; "));
    }
    for audit in &report.audits {
        for result in audit.results.iter().filter(|result| result.exceeds_truth()) {
            let _ = writeln!(
                text,
                "{} / {}: the bound lies above the truth that the file states; one of them is wrong, or this is the {} case that the confidence allows.",
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

/// A line above, one under the header, one below: nothing else.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// An empty table with this header.
pub fn plain_table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header.iter().copied());
    // On a terminal long names wrap; elsewhere each row stays on its line.
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
    // Surprises first, then what was refuted, then the rest; within that as run.
    rows.sort_by_key(|(_, result, agreement)| {
        let refuted = result.outcome.as_ref().is_ok_and(|found| found.verdict == Verdict::Violated);
        (Reverse(*agreement as u8), result.outcome.is_err() || !refuted)
    });
    let mut table = plain_table(&["", "verdict", "audit", "pair", "claim ε", "δ", "ε ≥", "δ ≥", "could catch ε"]);
    for (audit, result, agreement) in rows {
        let (claim, bounds) = (audit.audit.claim, result.outcome.as_ref().ok().map(|found| found.bounds));
        let number = |value: Option<f64>| Cell::new(value.map_or_else(String::new, short)).set_alignment(CellAlignment::Right);
        table.add_row(vec![
            Cell::new(agreement.mark()),
            Cell::new(result.conclusion()),
            Cell::new(&audit.audit.name),
            Cell::new(&result.pair),
            number(Some(claim.epsilon.get())),
            number(Some(claim.delta.get())),
            number(bounds.map(|bounds| round_down(bounds.epsilon_lower, 4))),
            number(bounds.map(|bounds| round_down(bounds.delta_lower, 4))),
            number(bounds.map(|bounds| -round_down(-bounds.detectable_epsilon, 4))),
        ]);
    }
    table
}

/// A number as people write it.
fn short(value: f64) -> String {
    Brief(value).to_string()
}

/// What a replay found.
#[must_use]
pub fn replayed(witness: &Witness, settings: ReplaySettings, found: &Replayed) -> String {
    let verdict = if found.confirmed { style("CONFIRMED").green() } else { style("NOT CONFIRMED").red() };
    let (epsilon, delta) = (short(round_down(found.epsilon_lower, 4)), short(round_down(found.delta_lower, 4)));
    let conclusion = if found.confirmed {
        format!("the claim {} is refuted again", witness.claim)
    } else {
        format!(
            "these draws do not refute the claim {}; more may (--draws), or the witness was the rare error its confidence allows",
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

/// The registered mechanisms.
#[must_use]
pub fn mechanisms() -> String {
    let mut table = plain_table(&["mechanism", "what it is"]);
    for entry in registry::ENTRIES {
        table.add_row([entry.name, entry.summary]);
    }
    table.add_row([process::NAME, process::SUMMARY]);
    format!("{table}\n")
}

/// The audits of a plan.
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

/// One audit in full.
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
    line("resolution", format!("a leak of ε = {} should be caught", Brief(audit.claim.epsilon.get() + audit.resolution)));
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
