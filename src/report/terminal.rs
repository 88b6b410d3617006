//! What a person sees: progress while it runs, a table with surprises first, a sentence for each broken claim.

use std::fmt::{Display, Write as _};
use std::io::{self, Write as _};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use comfy_table::{Cell as TableCell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use console::style;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use super::{AuditReport, Listener, PairReport, RunReport, percent, round_down};
use crate::cell::Brief;
use crate::mechanism::{process, registry};
use crate::replay::{self, Replayed};
use crate::spec::{Audit, Relation};
use crate::verdict::{Agreement, Verdict};
use crate::witness::Witness;

/// Why something could not be said.
static UNSAID: OnceLock<io::Error> = OnceLock::new();

/// Writes to standard output. A reader who has seen enough (`| head`) ends nothing: reports are still written, and the exit code is that of what was found.
/// Nor does a full disk, but it is remembered: see [`unsaid`].
pub fn say(text: impl Display) {
    let mut out = io::stdout().lock();
    let written = write!(out, "{text}").and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // The first reason is the one to tell.
        let _ = UNSAID.set(error);
    }
}

/// Why something could not be written to standard output, although somebody is there to read it.
#[must_use]
pub fn unsaid() -> Option<&'static io::Error> {
    UNSAID.get()
}

/// Writes a line to standard error, if anybody is there to read it.
pub fn warn(line: impl Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Progress on standard error: a bar for the running audit on a terminal, and one line for each finished audit.
pub struct Progress {
    quiet: bool,
    audits: usize,
    running: Mutex<Option<Running>>,
}

struct Running {
    bar: ProgressBar,
    started: Instant,
    number: usize,
}

impl Progress {
    /// Progress over so many audits; nothing is shown when quiet.
    #[must_use]
    pub fn new(audits: usize, quiet: bool) -> Self {
        Self { quiet, audits, running: Mutex::new(None) }
    }

    fn with(&self, act: impl FnOnce(&mut Running)) {
        if let Ok(mut running) = self.running.lock()
            && let Some(running) = running.as_mut()
        {
            act(running);
        }
    }
}

impl Listener for Progress {
    fn audit_started(&self, audit: &Audit, budget: u64) {
        let bar = if self.quiet { ProgressBar::hidden() } else { ProgressBar::new(budget * audit.pairs.len() as u64) };
        let template = "{prefix} {bar:24} {percent:>3} % {wide_msg} {per_sec}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("per_sec", |state: &indicatif::ProgressState, w: &mut dyn std::fmt::Write| {
                let _ = write!(w, "{:.1} M draws/s", state.per_sec() / 1e6);
            }));
        }
        if let Ok(mut running) = self.running.lock() {
            let number = running.as_ref().map_or(0, |running| running.number) + 1;
            bar.set_prefix(format!("[{number}/{}]", self.audits));
            bar.set_message(audit.name.clone());
            *running = Some(Running { bar, started: Instant::now(), number });
        }
    }

    fn drawn(&self, draws: u64) {
        self.with(|running| running.bar.inc(draws));
    }

    fn looked(&self, epsilon_lower: f64) {
        self.with(|running| {
            let message = running.bar.message();
            let name = message.split("  ε ≥ ").next().unwrap_or_default();
            running.bar.set_message(format!("{name}  ε ≥ {}", short(round_down(epsilon_lower, 3))));
        });
    }

    fn audit_finished(&self, report: &RunReport) {
        let Some(audit) = report.audits.last() else { return };
        self.with(|running| {
            running.bar.finish_and_clear();
            if !self.quiet {
                let line = summary_line(audit, running.started.elapsed().as_secs_f64());
                warn(format_args!("[{}/{}] {line}", running.number, self.audits));
            }
        });
    }
}

fn summary_line(audit: &AuditReport, seconds: f64) -> String {
    let best = audit.reports().map(|report| report.bounds.epsilon_lower).fold(0.0, f64::max);
    let verdict = audit.verdict().map_or_else(|| style("error".to_owned()).red(), styled);
    let (mark, bound, claim) = (mark(audit.agreement()), short(round_down(best, 3)), audit.claim.epsilon);
    format!("{mark} {verdict:<12} {}  (ε ≥ {bound}, claimed {claim}; {seconds:.1} s)", audit.audit)
}

fn mark(agreement: Agreement) -> console::StyledObject<&'static str> {
    let mark = style(agreement.mark());
    match agreement {
        Agreement::Agrees => mark.green(),
        Agreement::Undecided => mark.yellow(),
        Agreement::NotRun | Agreement::Differs => mark.red(),
    }
}

fn styled(verdict: Verdict) -> console::StyledObject<String> {
    let text = style(verdict.to_string());
    match verdict {
        Verdict::Violated => text.red(),
        Verdict::Consistent => text.green(),
        Verdict::Inconclusive => text.yellow(),
    }
}

/// The end of a run: the table, the sentences, the summary.
#[must_use]
pub fn closing(report: &RunReport, seconds: f64) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{}\n", table(report));
    for audit in &report.audits {
        for (pair, outcome) in &audit.pairs {
            match outcome {
                Ok(found) if found.verdict == Verdict::Violated => {
                    let _ = writeln!(text, "{} / {pair}: the attacker {}.", style(&audit.audit).bold(), found.sentence(audit.claim));
                }
                Ok(_) => {}
                Err(error) => {
                    let _ = writeln!(text, "{} / {pair}: could not be run: {error}.", style(&audit.audit).bold());
                }
            }
        }
    }
    let _ = write!(text, "\n{}", summary(report, seconds));
    text
}

fn summary(report: &RunReport, seconds: f64) -> String {
    let with = |agreement| {
        report.audits.iter().filter(|audit| audit.agreement() == agreement).map(|audit| audit.audit.as_str()).collect::<Vec<_>>()
    };
    let draws: u64 = report.audits.iter().flat_map(AuditReport::reports).map(|pair| pair.draws).sum();
    let violated = report.audits.iter().filter(|audit| audit.verdict() == Some(Verdict::Violated)).count();
    let mut text = format!(
        "{}, {}, {} draws in {}: {} refuted, {} of {} verdicts as expected.\n\
         All bounds hold together with confidence {}.\n",
        counted(report.audits.len(), "audit"),
        counted(report.pairs, "pair"),
        HumanCount(draws),
        HumanDuration(std::time::Duration::from_secs_f64(seconds)),
        counted(violated, "claim"),
        with(Agreement::Agrees).len(),
        report.audits.len(),
        percent(report.settings.confidence.get()),
    );
    let undecided = with(Agreement::Undecided);
    if !undecided.is_empty() {
        let _ = writeln!(
            text,
            "Inconclusive, too few draws to tell (more would: --draws, draws in the file, more rows): {}.",
            undecided.join("; ")
        );
    }
    let differs = with(Agreement::Differs);
    if !differs.is_empty() {
        let _ = writeln!(text, "{}: {}.", style("NOT AS EXPECTED").red().bold(), differs.join("; "));
    }
    for audit in &report.audits {
        for found in audit.reports().filter(|found| found.exceeds_truth()) {
            let _ = writeln!(
                text,
                "{} / {}: the bound lies above the truth that the file states; one of them is wrong, or this is the {} case that the confidence allows.",
                audit.audit,
                found.pair,
                percent(1.0 - report.settings.confidence.get()),
            );
        }
    }
    let not_run = with(Agreement::NotRun);
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

pub(crate) fn plain_table(header: &[&str]) -> Table {
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
    let mut rows: Vec<(&AuditReport, &str, Option<&PairReport>, Agreement)> = Vec::new();
    for audit in &report.audits {
        for (pair, outcome) in &audit.pairs {
            rows.push((audit, pair, outcome.as_ref().ok(), audit.agreement_of(outcome)));
        }
    }
    // Surprises first, then what was refuted, then the rest; within that as run.
    rows.sort_by_key(|(_, _, found, agreement)| {
        (std::cmp::Reverse(*agreement as u8), found.is_none_or(|found| found.verdict != Verdict::Violated))
    });
    let mut table = plain_table(&["", "verdict", "audit", "pair", "claim ε", "δ", "ε ≥", "δ ≥", "could catch ε"]);
    for (audit, pair, found, agreement) in rows {
        let number = |value: Option<f64>| TableCell::new(value.map_or_else(String::new, short)).set_alignment(CellAlignment::Right);
        table.add_row(vec![
            TableCell::new(agreement.mark()),
            TableCell::new(found.map_or_else(|| "error".to_owned(), |found| found.verdict.to_string())),
            TableCell::new(&audit.audit),
            TableCell::new(pair),
            number(Some(audit.claim.epsilon.get())),
            number(Some(audit.claim.delta.get())),
            number(found.map(|found| round_down(found.bounds.epsilon_lower, 4))),
            number(found.map(|found| round_down(found.bounds.delta_lower, 4))),
            number(found.map(|found| -round_down(-found.bounds.detectable_epsilon, 4))),
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
pub fn replayed(witness: &Witness, settings: replay::Settings, found: &Replayed) -> String {
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
        HumanCount(settings.draws),
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
            audit.mechanism.clone(),
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
    line("mechanism", audit.command.as_ref().map_or_else(|| audit.mechanism.clone(), |command| format!("{}: {command}", audit.mechanism)));
    for (key, value) in &audit.params {
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
        line("draws", HumanCount(draws).to_string());
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
