//! Prints the rates of a calibration as a table, and shows progress while they are measured.

use comfy_table::{Cell, CellAlignment};
use indicatif::{ProgressBar, ProgressStyle};

use super::tables::{plain_table, unbroken};
use super::wrap::{width, wrapped_lines};
use crate::calibrate::{Outcome, Rate};
use crate::model::number::{Brief, grouped, percent};

/// A progress bar for `runs` runs, on standard error. If `quiet`, nothing is shown.
#[must_use]
pub fn progress(runs: u64, quiet: bool) -> ProgressBar {
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(runs) };
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3} % {wide_msg} {eta} left")
    {
        bar.set_style(style);
    }
    bar
}

/// A table of all rates with their intervals, and a sentence that says whether they are within what
/// the confidence allows.
#[must_use]
pub fn table(outcomes: &[Outcome]) -> String {
    let mut table = plain_table(&[
        "audit",
        "claim",
        "draws",
        "seeds",
        "violated",
        "99 % interval",
        "bound above truth",
        "99 % interval",
        "mean ε ≥",
    ]);
    for outcome in outcomes {
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        table.add_row(vec![
            Cell::new(&outcome.audit),
            Cell::new(outcome.claim.to_string()),
            right(grouped(outcome.draws)),
            right(grouped(outcome.violated.trials)),
            right(percent(outcome.violated.observed())),
            right(interval(outcome.violated)),
            right(percent(outcome.above_truth.observed())),
            right(interval(outcome.above_truth)),
            right(Brief(outcome.mean_epsilon_lower).to_string()),
        ]);
    }
    format!("{}\n{}", unbroken(table), wrapped_lines(&summary(outcomes), width()))
}

fn interval(rate: Rate) -> String {
    let (low, high) = rate.interval();
    format!("{:.2} – {:.2} %", 100.0 * low, 100.0 * high)
}

fn summary(outcomes: &[Outcome]) -> String {
    let exceeding: Vec<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.exceeds_allowed())
        .map(|outcome| outcome.audit.as_str())
        .collect();
    let Some(first) = outcomes.first() else { return "Nothing was measured.".to_owned() };
    let allowed = percent(first.allowed());
    if exceeding.is_empty() {
        format!(
            "No rate of false alarms or of bounds above the truth is significantly above the {allowed} that the confidence allows."
        )
    } else {
        format!(
            "MORE FALSE ALARMS OR BOUNDS ABOVE THE TRUTH than the {allowed} that the confidence allows: {}.",
            exceeding.join("; ")
        )
    }
}
