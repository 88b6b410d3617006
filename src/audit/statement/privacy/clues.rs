//! What people can act on, in words: the simplest rule, each column by itself, and outputs that
//! betray the dataset.

use std::fmt::Write as _;

use super::evidence::{PrivacyEvidence, SimplestRule};
use crate::attack::{Contribution, Example, ExampleCell, GuessRule};
use crate::audit::statement::{Clue, Shown};
use crate::model::number::{Brief, grouped, round_down};
use crate::model::text::printable;
use crate::model::{Claim, Side};

/// Columns that are named.
const COLUMNS: usize = 5;
/// The part of the bound below which a column is not worth its place.
const LITTLE: f64 = 0.01;
/// Cells of an example that are shown.
const CELLS: usize = 4;
/// Characters of a cell that are shown.
const CHARS: usize = 40;

impl PrivacyEvidence {
    /// When the simplest rule guesses, in words.
    #[must_use]
    pub fn simplest_text(&self) -> Option<String> {
        self.simplest.as_ref().map(|simplest| simplest.rule.guesses(&self.symbols))
    }

    /// What people can act on, in words.
    pub(super) fn clues(&self, claim: &Claim) -> Vec<Clue> {
        let clue = |margin, title, text| Clue { margin, title, text };
        let simplest = self.simplest.as_ref().zip(self.simplest_text()).map(|(rule, text)| {
            clue(Clue::SIMPLEST, "simplest rule", format!("{text}; {}", shown(rule, claim)))
        });
        let columns =
            columns(&self.contributions, claim).map(|text| clue("Part:", "columns", text));
        let order: Vec<&str> =
            self.contributions.iter().map(|column| column.column.as_str()).collect();
        // A threshold of the only column says all that an example could.
        let plain =
            self.contributions.is_empty() && self.rule.as_ref().is_some_and(GuessRule::is_plain);
        let examples =
            self.examples.iter().filter(|_| !plain).map(|example| {
                clue(Clue::EXAMPLE, "example output", shown_example(example, &order))
            });
        simplest.into_iter().chain(columns).chain(examples).collect()
    }
}

/// What the simplest rule shows by itself.
fn shown(rule: &SimplestRule, claim: &Claim) -> String {
    let main = claim.main();
    let shown = |symbol, lower, claimed| Shown { symbol, lower, claimed }.to_string();
    let text = match (rule.lower, claim.second().zip(rule.delta_lower)) {
        (None, _) => return "learned from all draws and not judged on others".to_owned(),
        (Some(lower), Some((second, delta))) if lower <= main.value => {
            shown("δ", delta, second.value)
        }
        (Some(lower), _) => shown(main.measure.symbol(), lower, main.value),
    };
    format!("this alone shows {text}")
}

/// What each column should show by itself; the largest first.
fn columns(contributions: &[Contribution], claim: &Claim) -> Option<String> {
    if contributions.is_empty() {
        return None;
    }
    let symbol = claim.main().measure.symbol();
    let worth: Vec<&Contribution> =
        contributions.iter().filter(|column| column.share >= LITTLE).collect();
    let mut parts: Vec<String> = worth
        .iter()
        .take(COLUMNS)
        .map(|column| {
            let estimate = Brief(round_down(column.estimate.0, 3));
            format!("{} {symbol} ≈ {estimate}", column.column)
        })
        .collect();
    let others = contributions.len() - parts.len();
    let less = worth.get(COLUMNS).map_or(String::new(), |next| {
        format!(" at most {}", Brief(round_down(next.estimate.0, 3)))
    });
    if others > 0 {
        parts.push(match (parts.is_empty(), less.is_empty()) {
            (true, _) => "no column by itself shows anything".to_owned(),
            (false, true) => format!("{others} more hardly anything"),
            (false, false) => format!("{others} more{less}"),
        });
    }
    Some(format!("each column alone, estimated: {}", parts.join("; ")))
}

/// An example: the columns that contribute most first.
fn shown_example(example: &Example, order: &[&str]) -> String {
    let rank = |name: &str| order.iter().position(|column| *column == name).unwrap_or(usize::MAX);
    let mut cells: Vec<&(String, ExampleCell)> = example.output.iter().collect();
    cells.sort_by_key(|(name, _)| rank(name));
    let left_out = cells.len().saturating_sub(CELLS) + example.left_out;
    let mut text = cells
        .iter()
        .take(CELLS)
        .map(|(name, cell)| format!("{name} = {}", brief(cell)))
        .collect::<Vec<_>>()
        .join(", ");
    if left_out > 0 {
        let _ = write!(text, " and {left_out} more");
    }
    let side = if example.guess == Side::Left { "left" } else { "right" };
    format!(
        "{text}: {side} (like it: {} on D, {} on D')",
        grouped(example.left),
        grouped(example.right)
    )
}

fn brief(cell: &ExampleCell) -> String {
    match cell {
        ExampleCell::Number(number) => Brief(number.0).to_string(),
        ExampleCell::Text(text) => {
            let mut text = printable(text);
            if let Some((end, _)) = text.char_indices().nth(CHARS) {
                text.truncate(end);
                text.push('…');
            }
            text
        }
    }
}
