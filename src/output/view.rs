//! What is looked at in outputs that are texts: everything that they say, or one value.

use serde::{Deserialize, Serialize};

use super::reading::{Probe, Reading};
use super::text::key_path;

/// What is looked at in outputs that are texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextView {
    /// Everything that they say, as further columns. This is what an attacker does.
    #[default]
    Everything,
    /// Only the texts themselves.
    Whole,
    /// Only values without parts. A dictionary has no place among numbers and names: it must be
    /// looked at by key.
    Values,
    /// The value of this key, in place of the dictionary that has it.
    Key(String),
}

impl TextView {
    /// Whether every output is looked at as it is by an attacker.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::Everything
    }
}

impl Probe {
    /// The reading of outputs with this many cells under a view.
    ///
    /// # Errors
    /// If the outputs of the probe cannot be looked at in this way. The error says what to do.
    pub fn reading_for(self, view: &TextView, cells: usize) -> Result<Reading, String> {
        let (has_parts, keys) = (self.has_parts(), self.keys());
        match view {
            TextView::Everything => Ok(self.reading(cells)),
            TextView::Values if has_parts => Err(match keys.first() {
                Some(first) => format!(
                    "the outputs have parts ({}), so no value can meet the condition; name one, as in key = \"{first}\", or return a number or a text",
                    listed(&keys)
                ),
                None => "the outputs have parts, so no value can meet the condition; return a number or a text".to_owned(),
            }),
            TextView::Values | TextView::Whole => Ok(Reading::plain(cells)),
            TextView::Key(key) if keys.iter().any(|known| known == key) => Ok(Reading::of_key(cells, key_path(key))),
            TextView::Key(key) if has_parts => Err(format!("no output has the key {key}; they have {}", listed(&keys))),
            TextView::Key(_) => Err("has a key, but the outputs are not dictionaries; remove key".to_owned()),
        }
    }
}

/// The first few keys.
fn listed(keys: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = if keys.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", keys.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Cell, Texts};

    /// The cells and the texts of one output.
    fn output(values: &[&str]) -> (Vec<Cell>, Texts) {
        let cells: Vec<Cell> = values
            .iter()
            .map(|value| value.parse().map_or_else(|_| Cell::symbol(value), Cell::number))
            .collect();
        let texts = cells
            .iter()
            .zip(values)
            .filter_map(|(cell, value)| Some((cell.payload()?, (*value).to_owned())))
            .collect();
        (cells, texts)
    }

    fn reading(view: &TextView, outputs: &[&[&str]]) -> Result<Reading, String> {
        let mut probe = Probe::default();
        outputs
            .iter()
            .map(|values| output(values))
            .for_each(|(cells, texts)| probe.see(&cells, &texts, None));
        probe.reading_for(view, outputs[0].len())
    }

    fn key(key: &str) -> TextView {
        TextView::Key(key.to_owned())
    }

    #[test]
    fn a_key_is_its_value_in_place_of_the_dictionary() {
        // The key `n` is the same in all outputs of the probe.
        let seen: &[&[&str]] = &[
            &[r#"{"count": 1.5, "n": 5, "best": {"name": "a"}}"#],
            &[r#"{"count": 2.5, "n": 5, "best": {"name": "b"}}"#],
        ];
        let value = |of: &str, text: &str| {
            let (cells, texts) = output(&[text]);
            let mut row = vec![Cell::number(0.0)];
            reading(&key(of), seen).unwrap().read(&cells, &texts, None, &mut row, Cell::symbol);
            row[0]
        };
        let later = r#"{"count": -7, "n": 6, "best": {"name": "c"}}"#;
        assert_eq!(
            (value("count", later), value("n", later)),
            (Cell::number(-7.0), Cell::number(6.0))
        );
        assert_eq!(value("best.name", later), Cell::symbol("c"));
        assert_eq!(value("n", r#"{"count": 3}"#), Cell::ABSENT);
        // What has no keys is no value of a key, whatever it is.
        assert_eq!(
            (value("n", "5"), value("n", "error: 5")),
            (Reading::NO_PARTS, Reading::NO_PARTS)
        );
        assert!(Reading::NO_PARTS.raw().is_nan() && Reading::NO_PARTS != Cell::ABSENT);
    }

    #[test]
    fn every_cell_is_looked_at() {
        let seen: &[&[&str]] = &[&["[1, 2]", "[3, 4]"]];
        let (cells, texts) = output(&["[5, 6]", "[7, 8]"]);
        let mut row = vec![Cell::number(0.0); 2];
        reading(&key("[2]"), seen).unwrap().read(&cells, &texts, None, &mut row, Cell::symbol);
        assert_eq!(row, [Cell::number(6.0), Cell::number(8.0)]);
    }

    #[test]
    fn a_view_that_does_not_fit_says_what_does() {
        let dictionary: &[&[&str]] = &[&[r#"{"count": 1, "n": "a 7"}"#]];
        let (number, name): (&[&[&str]], &[&[&str]]) = (&[&["3"]], &[&["{a"]]);
        let error = |view: &TextView, outputs| reading(view, outputs).unwrap_err();
        assert!(error(&TextView::Values, dictionary).contains(
            "(count, n), so no value can meet the condition; name one, as in key = \"count\""
        ));
        assert!(error(&TextView::Values, &[&["{}"]]).contains("have parts"));
        assert_eq!(
            error(&key("cuont"), dictionary),
            "no output has the key cuont; they have count, n"
        );
        assert!(error(&key("count"), number).contains("not dictionaries"));
        for (view, outputs) in
            [(TextView::Values, number), (TextView::Values, name), (TextView::Whole, dictionary)]
        {
            assert!(reading(&view, outputs).unwrap().is_plain());
        }
    }
}
