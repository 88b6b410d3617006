//! How bounds are written: with few digits, but never so that an excess disappears.

use super::Shown;
use crate::audit::Audit;
use crate::catalogue::registry;
use crate::model::number::{Brief, round_down};

/// Significant digits of numbers for people.
const DIGITS: i32 = 3;

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { symbol, lower, claimed } = *self;
        // A run that stops as soon as a claim is refuted knows only that the limit is exceeded.
        if lower == claimed.next_up() {
            write!(f, "{symbol} > {0} of {0}", nearest(claimed))
        } else {
            write!(f, "{symbol} ≥ {} of {}", short(lower, claimed), nearest(claimed))
        }
    }
}

/// A bound with few digits, rounded down. If it exceeds the limit, it has enough digits to show
/// that.
#[must_use]
pub fn short(value: f64, limit: f64) -> String {
    rounded(value, DIGITS, limit)
}

/// A bound with this many digits, rounded down. If it exceeds the limit, it shows that: by more
/// digits, or, if it is the next number, in words.
#[must_use]
pub fn rounded(value: f64, digits: i32, limit: f64) -> String {
    /// Enough for every number.
    const ALL: i32 = 17;
    let shows = |digits: &i32| round_down(value, *digits) > limit;
    if value == limit.next_up() {
        return format!("above {}", Brief(limit));
    }
    match (digits..=ALL).find(shows) {
        Some(found) if found == digits => Brief(round_down(value, digits)).to_string(),
        Some(found) => round_down(value, found).to_string(),
        None if value > limit => value.to_string(),
        None => Brief(round_down(value, digits)).to_string(),
    }
}

/// A claimed number with few digits.
fn nearest(value: f64) -> String {
    let digits = usize::try_from(DIGITS - 1).unwrap_or(2);
    Brief(format!("{value:.digits$e}").parse().unwrap_or(value)).to_string()
}

/// The text with a capital letter and a full stop.
#[must_use]
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// The mechanism of an audit in words.
pub fn mechanism(audit: &Audit) -> String {
    let name = audit.subject.mechanism();
    match (audit.subject.command(), registry::find(name)) {
        (Some(command), _) => format!("program `{command}`"),
        (None, Some(entry)) => format!("mechanism {name} ({})", entry.summary),
        (None, None) => format!("mechanism {name}"),
    }
}
