//! What every score can do.

use std::borrow::Cow;

use crate::output::{Cell, Rows, Symbols};

/// A way to look at a row: it maps the row to one cell, which is all that a rule looks at.
pub trait View: Send + Sync {
    /// The score of a row.
    fn score(&self, row: &[Cell]) -> Cell;

    /// The scores of all rows.
    fn of<'a>(&self, rows: &'a Rows) -> Cow<'a, [Cell]> {
        Cow::Owned(rows.iter().map(|row| self.score(row)).collect())
    }

    /// Checks that a score that was read from a file can be computed for every output of this
    /// width.
    ///
    /// # Errors
    /// When it cannot. The error says why.
    fn check(&self, width: usize) -> Result<(), String>;

    /// What it looks at, in words.
    fn describe(&self, names: &Symbols) -> String;

    /// Whether the score is a log-ratio: large values are evidence for D.
    fn is_ratio(&self) -> bool {
        false
    }

    /// Whether the score was learned from labelled rows. These rows must not be counted for it
    /// again.
    fn is_learned(&self) -> bool {
        self.is_ratio()
    }

    /// Whether the score treats all components alike, so that their order does not matter.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// Whether the score is tried only if it predicts better than all others: it is computed from
    /// many components, or it is far-fetched.
    fn is_late(&self) -> bool {
        false
    }
}

/// That outputs of this width have a cell with this index.
///
/// # Errors
/// When they have not.
pub fn has_cell(index: usize, width: usize) -> Result<(), String> {
    if index < width {
        Ok(())
    } else {
        Err(format!("it looks at cell {index} of {width} (the first is 0)"))
    }
}

/// That the tables of a learned score are complete.
///
/// # Errors
/// When they are not.
pub fn complete(complete: bool) -> Result<(), String> {
    if complete { Ok(()) } else { Err("its tables are incomplete".to_owned()) }
}

/// Components in words: `a`, `a and b`, `a, b and c`.
pub fn listed(components: impl IntoIterator<Item = usize>, names: &Symbols) -> String {
    let columns: Vec<String> = components.into_iter().map(|index| names.column(index)).collect();
    match columns.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
