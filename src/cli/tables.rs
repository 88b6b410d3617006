//! The text at the end of a command: tables with unexpected results first, and a sentence for each refuted claim.

use std::cmp::Reverse;
use std::fmt::{Display, Write as _};
use std::time::Duration;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use console::style;
use indicatif::HumanDuration;

use crate::audit::{Accuracy, AccuracyResult, Audit, AuditReport, Control, PairResult, RunReport};
use crate::catalogue::registry;
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Agreement, Bounds, Claim, Conclusion, ControlResult, Expectation, Reason, Relation, Verdict};
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
        for result in audit.accuracy.iter().filter(|result| matches!(result.conclusion(), Conclusion::Violated | Conclusion::Error)) {
            let _ = writeln!(text, "{name} / {}: {}.", result.accuracy.name, result.sentence());
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
        statements(report),
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
        for result in audit.accuracy.iter().filter(|result| result.excludes_truth()) {
            let _ = writeln!(
                text,
                "{} / {}: the limits exclude the truth that the audit file states; one of them is wrong, or this is one of the rare errors that the confidence allows (in at most {} of all runs).",
                audit.audit.name,
                result.accuracy.name,
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

/// How many pairs and accuracy claims there are. What is not there is not named.
fn statements(report: &RunReport) -> String {
    let accuracy = report.accuracy_claims();
    let pairs = report.pairs.saturating_sub(accuracy);
    match (pairs, accuracy) {
        (_, 0) => counted(pairs, "pair"),
        (0, _) => counted(accuracy, "accuracy claim"),
        _ => format!("{}, {}", counted(pairs, "pair"), counted(accuracy, "accuracy claim")),
    }
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

/// A row of the table: a pair or an accuracy claim.
enum Row<'a> {
    Pair(&'a AuditReport, &'a PairResult),
    Accuracy(&'a AuditReport, &'a AccuracyResult),
}

impl Row<'_> {
    fn agreement(&self) -> Agreement {
        match self {
            Self::Pair(audit, result) => audit.agreement_of(result),
            Self::Accuracy(_, result) => result.agreement(),
        }
    }

    fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Pair(_, result) => result.outcome.as_ref().ok().map(|evidence| evidence.verdict),
            Self::Accuracy(_, result) => result.verdict(),
        }
    }

    fn reason(&self) -> Option<Reason> {
        self.verdict().and_then(Verdict::reason)
    }

    fn control(&self) -> Option<ControlResult> {
        if let Self::Pair(audit, _) = self { audit.control } else { None }
    }

    /// The names, and the numbers of all columns from `claim ε` to `reach`.
    fn cells(&self) -> ([&str; 2], [Option<f64>; 5]) {
        match self {
            Self::Pair(audit, result) => {
                let (claim, bounds) = (&audit.audit.claim, result.outcome.as_ref().ok().map(|evidence| evidence.bounds));
                let rounded = |number: fn(Bounds, &Claim) -> f64| bounds.map(|bounds| round_down(number(bounds, claim), 4));
                let of_chance = [
                    Some(claim.epsilon()),
                    Some(claim.delta()),
                    rounded(|bounds, _| bounds.epsilon_lower),
                    rounded(|bounds, _| bounds.delta_lower),
                ];
                let [epsilon, delta, epsilon_lower, delta_lower] = of_chance.map(|number| number.filter(|_| claim.metric().is_none()));
                let reach = rounded(|bounds, claim| bounds.reach(claim));
                ([&audit.audit.name, &result.pair], [epsilon, delta, epsilon_lower, delta_lower, reach])
            }
            Self::Accuracy(audit, result) => {
                let reach = result.reach().map(|reach| round_down(reach, 4));
                ([&audit.audit.name, &result.accuracy.name], [None, None, None, None, reach])
            }
        }
    }

    /// The bound in the unit of the claim.
    fn in_unit(&self) -> Option<String> {
        let Self::Pair(audit, result) = self else { return None };
        result.outcome.as_ref().ok()?.bounds.in_unit(&audit.audit.claim)
    }

    /// What may fail, and how often it does.
    fn failures(&self) -> [String; 2] {
        let Self::Accuracy(_, result) = self else { return Default::default() };
        let fails = result.outcome.as_ref().map_or_else(|_| String::new(), |evidence| evidence.limits.to_string());
        [brief(result.accuracy.claim.allowed()), fails]
    }
}

fn table(report: &RunReport) -> Table {
    let mut rows = Vec::new();
    for audit in &report.audits {
        rows.extend(audit.results.iter().map(|result| Row::Pair(audit, result)));
        rows.extend(audit.accuracy.iter().map(|result| Row::Accuracy(audit, result)));
    }
    // Unexpected results first, then refuted claims, then the others. Within each group, in the order of the run.
    rows.sort_by_key(|row| (Reverse(row.agreement() as u8), row.verdict() != Some(Verdict::Violated)));
    // These columns are left out if they are empty.
    let reasons = rows.iter().any(|row| row.reason().is_some());
    let controls = rows.iter().any(|row| row.control().is_some());
    let units = rows.iter().any(|row| matches!(row, Row::Pair(audit, _) if audit.audit.claim.second().is_none()));
    let accuracy = rows.iter().any(|row| matches!(row, Row::Accuracy(..)));
    let mut header = vec!["", "verdict", "audit", "pair", "claim ε", "δ", "ε ≥", "δ ≥", "reach"];
    header.extend(units.then_some("in its unit"));
    if accuracy {
        header.extend(["may fail", "fails"]);
    }
    header.extend(controls.then_some("control"));
    header.extend(reasons.then_some("reason"));
    let mut table = plain_table(&header);
    for row in rows {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let text = |value: Option<String>| Cell::new(value.unwrap_or_default());
        let (names, numbers) = row.cells();
        let mut cells = vec![Cell::new(row.agreement().mark()), Cell::new(Conclusion::from(row.verdict()))];
        cells.extend(names.map(Cell::new));
        cells.extend(numbers.map(|number| right(number.map_or_else(String::new, brief))));
        cells.extend(units.then(|| text(row.in_unit())));
        if accuracy {
            cells.extend(row.failures().map(right));
        }
        cells.extend(controls.then(|| text(row.control().map(|control| control.to_string()))));
        cells.extend(reasons.then(|| text(row.reason().map(|reason| reason.to_string()))));
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
    let (symbol, lower) = (witness.claim.main().measure.symbol(), brief(round_down(result.lower, 4)));
    let in_unit = if witness.claim.second().is_none() { format!("{symbol} ≥ {lower}, ") } else { String::new() };
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
    // The column is left out if no audit has accuracy claims.
    let accuracy = audits.iter().any(|audit| !audit.accuracy.is_empty());
    let mut header = vec!["audit", "mechanism", "claim", "relation", "pairs"];
    header.extend(accuracy.then_some("accuracy claims"));
    header.extend(["expected", "file"]);
    let mut table = plain_table(&header);
    for audit in audits {
        let of_privacy = |text: &dyn Display| if audit.is_about_pairs() { text.to_string() } else { String::new() };
        let mut cells = vec![
            audit.name.clone(),
            audit.subject.mechanism().to_owned(),
            of_privacy(&audit.claim),
            of_privacy(&audit.relation),
            of_privacy(&audit.pairs.len()),
        ];
        cells.extend(accuracy.then(|| accuracy_counts(audit)));
        cells.extend([of_privacy(&audit.expect), audit.file.display().to_string()]);
        table.add_row(cells);
    }
    format!("{table}\n")
}

/// How many accuracy claims an audit has, and how many of them are expected to be violated.
fn accuracy_counts(audit: &Audit) -> String {
    let violated = audit.accuracy.iter().filter(|accuracy| accuracy.expect == Expectation::Violated).count();
    match (audit.accuracy.len(), violated) {
        (0, _) => String::new(),
        (all, 0) => all.to_string(),
        (all, violated) => format!("{all} ({violated} violated)"),
    }
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
    if audit.is_about_pairs() {
        line("claim", audit.claim.to_string());
        match &audit.relation {
            Relation::Custom { reason } => line("relation", format!("custom: {reason}")),
            relation => line("relation", relation.to_string()),
        }
        line("expected", audit.expect.to_string());
        line("resolution", format!("a leak of {} should be detected", audit.detectable()));
        let because = audit.reach.because().map_or_else(String::new, |reason| format!(": {reason}"));
        line("reach", format!("at least {}{because}", Brief(audit.reach.at_least())));
    }
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
    for Accuracy { name, data, event, claim, expect, truth, source, draws } in &audit.accuracy {
        line("accuracy", name.clone());
        line("  data", data.to_string());
        line("  event", event.to_string());
        line("  probable", format!("at least {}; failures of {} should be noticed", claim.probability, percent(claim.noticed())));
        line("  expected", expect.to_string());
        if let Some(truth) = truth {
            line("  truth", format!("probability {truth}"));
        }
        if let Some(source) = source {
            line("  source", source.clone());
        }
        if let Some(draws) = draws {
            line("  draws", grouped(*draws));
        }
    }
    text
}
