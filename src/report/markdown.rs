//! The Markdown report: a summary, the unexpected results, and the same table as in the terminal.

use std::fmt::Write as _;
use std::io;

use super::csv::PairRow;
use super::files::Format;
use crate::audit::RunReport;
use crate::model::number::percent;
use crate::model::{Agreement, Verdict};

/// The format of `--markdown`, and of the summary page of a GitHub Actions job.
pub struct Markdown;

impl Format for Markdown {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        Ok(markdown(report).into_bytes())
    }
}

fn markdown(report: &RunReport) -> String {
    let mut text = format!("# dp-audit: {} of {} claims refuted\n\n", report.count(Some(Verdict::Violated)), report.audits.len());
    if !report.is_complete() {
        text.push_str("**Not all audits have ended**: the run was interrupted or is still running.\n\n");
    }
    let _ = writeln!(
        text,
        "All bounds hold together with confidence {}. A claim that is not refuted is not proven.\n",
        percent(report.settings.confidence.get())
    );
    for (agreement, title) in [
        (Agreement::Differs, "Not as expected"),
        (Agreement::NotRun, "Could not be run"),
        (Agreement::Undecided, "Inconclusive, too few draws to decide"),
    ] {
        let names: Vec<String> = report.with(agreement).map(|report| escape(&report.audit.name)).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "**{title}**: {}.\n", names.join("; "));
        }
    }
    text.push_str("| | verdict | audit | pair | claim ε | δ | ε ≥ | δ ≥ | could catch ε |\n|---|---|---|---|--:|--:|--:|--:|--:|\n");
    for audit in report.gravest_first() {
        for result in &audit.results {
            let row = PairRow::new(report, audit, result);
            let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                audit.agreement_of(result).mark(),
                row.verdict,
                escape(&row.audit),
                escape(&row.pair),
                row.claim_epsilon,
                row.claim_delta,
                number(row.epsilon_lower),
                number(row.delta_lower),
                number(row.detectable_epsilon.map(|value| value.0)),
            );
        }
    }
    text
}

/// Escapes a text so that a Markdown table shows it unchanged, except for control characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "|\\`*_<>[]".contains(c) {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}
