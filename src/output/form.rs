//! The forms of outputs: what an attacker sees of them beside their cells.
//!
//! A cell is a double or a symbol. The form has the rest: that a number was whole or had a
//! fraction, its digits beyond a double, a spelling such as `1E5`, the sign of a NaN, the text
//! `null` in place of nothing, a mask, an index. It is a text, which a [reading](super::Reading)
//! takes apart if it is not always the same.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::number::{rest, spelling};

/// The forms of some outputs. Most have the same.
#[derive(Clone, Debug, Default)]
pub struct Forms {
    usual: Option<String>,
    others: HashMap<usize, Option<String>>,
}

impl Forms {
    /// The same form for all outputs. Nothing is said about the form if it is `None`.
    #[must_use]
    pub fn all(form: Option<String>) -> Self {
        Self { usual: form, others: HashMap::new() }
    }

    /// One form for each output.
    #[must_use]
    pub fn each(forms: Vec<Option<String>>) -> Self {
        let usual = forms.first().cloned().flatten();
        let others = forms.into_iter().enumerate().filter(|(_, form)| *form != usual).collect();
        Self { usual, others }
    }

    /// The form of an output.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        self.others.get(&index).unwrap_or(&self.usual).as_deref()
    }

    /// Whether all outputs have the same form.
    #[must_use]
    pub fn are_same(&self) -> bool {
        self.others.is_empty()
    }

    /// The forms of all outputs but the first.
    #[must_use]
    pub fn without_first(self) -> Self {
        let others = self.others.into_iter();
        let shifted = others.filter_map(|(index, form)| Some((index.checked_sub(1)?, form)));
        Self { usual: self.usual, others: shifted.collect() }
    }

    /// Sets the form of an output.
    pub fn set(&mut self, index: usize, form: &str) {
        if self.get(index) != Some(form) {
            self.others.insert(index, Some(form.to_owned()));
        }
    }

    /// The same forms with the remarks of others.
    #[must_use]
    pub fn with_remarks(mut self, others: &Self) -> Self {
        for (index, form) in &others.others {
            self.remark(*index, form.as_deref().unwrap_or_default().trim_start());
        }
        self
    }

    /// Adds a remark to the form of an output.
    pub fn remark(&mut self, index: usize, remark: &str) {
        let form = format!("{} {remark}", self.get(index).unwrap_or_default());
        self.others.insert(index, Some(form));
    }
}

/// What is to be said about the cells of one output, as JSON: `{"y[2]":"#E#"}`. Empty if all cells
/// are what they seem to be.
#[derive(Clone, Debug, Default)]
pub struct CellNotes(String);

impl CellNotes {
    /// Begins another output.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a note on the cell with this index; the first is 0.
    pub fn add(&mut self, index: usize, note: &str) {
        // Without the bracket that ended the object.
        self.0.pop();
        self.0.push_str(if self.0.is_empty() { "{" } else { "," });
        let note = serde_json::Value::from(note);
        // Writing to a string does not fail.
        let _ = write!(self.0, "\"y[{}]\":{note}}}", index + 1);
    }

    /// Adds what a number does not show of its spelling.
    pub fn add_number(&mut self, index: usize, written: &str) {
        let value: f64 = written.parse().unwrap_or(f64::NAN);
        if rest(written).is_some() || value.is_infinite() {
            self.add(index, written);
        } else if let Some(style) = spelling(written) {
            self.add(index, &style);
        }
    }

    /// Adds what the number in a file does not show of its spelling.
    pub fn add_written(&mut self, index: usize, written: &str) {
        let is_plain = |c: char| c.is_ascii_digit() || "+-−.eE".contains(c);
        if written.starts_with(|c: char| c.is_ascii_digit() || "+-−.".contains(c))
            && written.chars().all(is_plain)
        {
            self.add_number(index, written);
        } else if !["nan", "inf", "-inf"].contains(&written) {
            // Marks between digits, a decimal comma, another spelling of an infinity.
            let parts = written.split(|c: char| c.is_ascii_digit());
            let mut shape = parts.fold(String::new(), |shape, part| {
                if part.is_empty() && shape.ends_with('#') { shape } else { shape + part + "#" }
            });
            shape.pop();
            self.add(index, &shape);
        }
    }

    /// Adds the bits of a NaN that is not the usual one.
    pub fn add_nan(&mut self, index: usize, bits: u64) {
        if bits != f64::NAN.to_bits() {
            self.add(index, &format!("NaN {bits:x}"));
        }
    }

    /// The form of the output.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_outputs_share_a_form() {
        let mut forms = Forms::each(vec![Some("a".to_owned()), None, Some("a".to_owned())]);
        assert_eq!((forms.get(0), forms.get(1), forms.get(2)), (Some("a"), None, Some("a")));
        assert!(!forms.are_same());
        forms.remark(2, "b");
        assert_eq!(forms.get(2), Some("a b"));
        let same = Forms::all(Some("x".to_owned()));
        assert!(same.are_same() && same.get(7) == Some("x"));
        assert!(Forms::default().are_same() && Forms::default().get(0).is_none());
    }

    #[test]
    fn notes_are_json() {
        let mut notes = CellNotes::default();
        assert_eq!(notes.text(), "");
        notes.add_number(0, "1.5");
        notes.add_number(1, "1E5");
        notes.add_number(2, "9007199254740993");
        notes.add_nan(3, f64::NAN.to_bits());
        notes.add_nan(4, 0xfff8 << 48);
        let wanted = r##"{"y[2]":"#E#","y[3]":"9007199254740993","y[5]":"NaN fff8000000000000"}"##;
        assert_eq!(notes.text(), wanted);
    }
}
