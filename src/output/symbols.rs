//! The names of symbols and columns. They are for people; no bound depends on them.
//!
//! Each pair has its own table. The target that makes the outputs fills it, one batch at a time,
//! and the result of the pair contains the names that it needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Cell, KeyMap};
use crate::model::number::Brief;
use crate::model::text::printable;

/// Names that are known without a table entry.
const WELL_KNOWN: [&str; 8] = ["∅", "NaN", "panic", "end", "true", "false", "None", "⊥"];

/// At most this many names are kept, because a program may release a new text with every draw.
const MAX_NAMES: usize = 1 << 16;
/// The most characters of a name that are kept, because a text may be long.
const MAX_CHARS: usize = 120;

/// A table of the names of symbols and columns.
///
/// If there are too many names, those that were drawn first are kept. Each name has the rank of its
/// first draw, so that a table does not depend on the order in which threads add to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symbols {
    names: KeyMap<(u64, String)>,
    /// The names of the columns; empty if they have none.
    columns: Vec<String>,
    /// The columns whose content other columns have, in parts.
    covered: Vec<usize>,
}

impl Symbols {
    /// The same table with names for all columns.
    #[must_use]
    pub fn with_columns(mut self, columns: Vec<String>) -> Self {
        self.columns = columns;
        self
    }

    /// The same table, with the columns whose content others have.
    #[must_use]
    pub fn with_covered(mut self, covered: Vec<usize>) -> Self {
        self.covered = covered;
        self
    }

    /// Whether other columns have the content of this one, in parts.
    #[must_use]
    pub fn is_covered(&self, column: usize) -> bool {
        self.covered.contains(&column)
    }

    /// The same table for outputs of this width: the only column is called `y` if it has no name.
    #[must_use]
    pub fn of_width(mut self, width: usize) -> Self {
        if width == 1 && self.columns.is_empty() {
            self.columns = vec![Self::unnamed_column(0, width)];
        }
        self
    }

    /// The name of a column of outputs: `count` or, without a name, `y[3]`. The first index is 0.
    #[must_use]
    pub fn column(&self, index: usize) -> String {
        self.columns
            .get(index)
            .map_or_else(|| Self::unnamed_column(index, 2), |name| printable(name))
    }

    /// What a column without a name is called in outputs of this width.
    #[must_use]
    pub fn unnamed_column(index: usize, width: usize) -> String {
        if width == 1 { "y".to_owned() } else { format!("y[{}]", index + 1) }
    }

    /// The symbol with this name, which is added to the table.
    pub fn symbol(&mut self, name: &str) -> Cell {
        self.ranked_symbol(0, name)
    }

    /// The same for a symbol that occurs in the draw with this rank.
    pub fn ranked_symbol(&mut self, rank: u64, name: &str) -> Cell {
        let cell = Cell::symbol(name);
        self.insert(cell, rank, || shortened(name));
        cell
    }

    /// Names the symbol of a whole row after its cells: `(1, ⊥)`.
    pub fn name_row(&mut self, row: &[Cell]) {
        let cell = Cell::of_row(row);
        if !self.has(cell) {
            let name = format!(
                "({})",
                row.iter().map(|cell| self.text(*cell)).collect::<Vec<_>>().join(", ")
            );
            self.insert(cell, 0, || name);
        }
    }

    fn has(&self, cell: Cell) -> bool {
        cell.payload().is_none_or(|payload| self.names.contains_key(&payload))
    }

    fn insert(&mut self, cell: Cell, rank: u64, name: impl FnOnce() -> String) {
        let Some(payload) = cell.payload() else { return };
        let entry = self.names.entry(payload).or_insert_with(|| (rank, name()));
        entry.0 = entry.0.min(rank);
        // Names are removed only at twice the limit, so that the cost per name is low.
        if self.names.len() > 2 * MAX_NAMES {
            self.keep_first();
        }
    }

    fn keep_first(&mut self) {
        if self.names.len() > MAX_NAMES {
            let mut ranks: Vec<(u64, u64)> =
                self.names.iter().map(|(payload, (rank, _))| (*rank, *payload)).collect();
            let (_, last, _) = ranks.select_nth_unstable(MAX_NAMES - 1);
            let last = *last;
            self.names.retain(|payload, (rank, _)| (*rank, *payload) <= last);
        }
    }

    /// The same table with `first` added to all ranks.
    #[must_use]
    pub fn ranked_from(mut self, first: u64) -> Self {
        self.names.values_mut().for_each(|(rank, _)| *rank += first);
        self
    }

    /// Adds the names of another table.
    pub fn merge(&mut self, other: Self) {
        if self.columns.is_empty() {
            self.columns = other.columns;
            self.covered = other.covered;
        }
        for (payload, (rank, name)) in other.names {
            let entry = self.names.entry(payload).or_insert((rank, name));
            entry.0 = entry.0.min(rank);
        }
        self.keep_first();
    }

    /// The part of the table that names these symbols, and all columns.
    #[must_use]
    pub fn only(&self, cells: impl IntoIterator<Item = Cell>) -> Self {
        let payloads = cells.into_iter().filter_map(Cell::payload);
        // The ranks have done their work: a table is equal to what comes back from a file.
        let names = payloads
            .filter_map(|payload| Some((payload, (0, self.names.get(&payload)?.1.clone()))))
            .collect();
        Self { names, columns: self.columns.clone(), covered: Vec::new() }
    }

    /// A cell as text: the number, the name of the symbol, or `#` and its payload if the name is
    /// not known.
    #[must_use]
    pub fn text(&self, cell: Cell) -> String {
        let Some(payload) = cell.payload() else { return Brief(cell.raw()).to_string() };
        let known = || WELL_KNOWN.into_iter().find(|name| Cell::symbol(name) == cell);
        match self.names.get(&payload) {
            Some((_, name)) => printable(name),
            None => known().map_or_else(|| format!("#{payload:x}"), str::to_owned),
        }
    }
}

/// The beginning of a long name.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// A table is written as a map from payloads to names. A column has the key `y[1]`, `y[2]` and so
/// on.
impl Serialize for Symbols {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let symbols =
            self.names.iter().map(|(payload, (_, name))| (format!("{payload:x}"), name.as_str()));
        let columns = self
            .columns
            .iter()
            .enumerate()
            .map(|(index, name)| (Self::unnamed_column(index, 2), name.as_str()));
        symbols.chain(columns).collect::<BTreeMap<String, &str>>().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Symbols {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (mut table, mut columns) = (Self::default(), BTreeMap::new());
        for (key, name) in BTreeMap::<String, String>::deserialize(deserializer)? {
            if let Some(index) = key.strip_prefix("y[").and_then(|rest| rest.strip_suffix(']')) {
                columns.insert(index.parse::<usize>().map_err(serde::de::Error::custom)?, name);
            } else {
                table.names.insert(
                    u64::from_str_radix(&key, 16).map_err(serde::de::Error::custom)?,
                    (0, name),
                );
            }
        }
        if !columns.keys().copied().eq(1..=columns.len()) {
            return Err(serde::de::Error::custom("the columns are not y[1], y[2] and so on"));
        }
        table.columns = columns.into_values().collect();
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_names_its_symbols_and_the_well_known_ones() {
        let mut symbols = Symbols::default();
        let cell = symbols.symbol("blue");
        assert_eq!(symbols.text(cell), "blue");
        assert_eq!(symbols.text(Cell::ABSENT), "∅");
        assert_eq!(symbols.text(Cell::number(1.5)), "1.5");
        assert!(Symbols::default().text(cell).starts_with('#'));
        let row = [Cell::number(1.0), cell];
        symbols.name_row(&row);
        assert_eq!(symbols.text(Cell::of_row(&row)), "(1, blue)");
        assert_eq!(symbols.only([cell]).names.len(), 1);
    }

    #[test]
    fn a_table_is_read_back_from_a_file() {
        let mut symbols = Symbols::default();
        let cells = ["blue", "red"].map(|name| symbols.symbol(name));
        let back: Symbols =
            serde_json::from_str(&serde_json::to_string(&symbols).unwrap()).unwrap();
        assert_eq!(cells.map(|cell| back.text(cell)), ["blue", "red"]);
    }

    #[test]
    fn the_part_of_a_table_for_a_result_is_equal_to_what_is_read_back() {
        let mut symbols = Symbols::default();
        let cells = ["late", "\u{1b}[31mred"].map(|name| symbols.ranked_symbol(1000, name));
        let part = symbols.only(cells);
        assert_eq!(
            serde_json::from_str::<Symbols>(&serde_json::to_string(&part).unwrap()).unwrap(),
            part
        );
        assert_eq!(part.text(cells[1]), "\u{fffd}[31mred", "a name cannot command a terminal");
    }

    #[test]
    fn columns_have_names_and_are_read_back() {
        let names: Vec<String> = (0..12).map(|index| format!("column {index}")).collect();
        let mut symbols = Symbols::default().with_columns(names);
        let cell = symbols.symbol("blue");
        let back: Symbols =
            serde_json::from_str(&serde_json::to_string(&symbols).unwrap()).unwrap();
        assert_eq!((back.column(10), back.text(cell)), ("column 10".to_owned(), "blue".to_owned()));
        assert_eq!(symbols.only([]).column(1), "column 1");
        assert_eq!(Symbols::default().column(2), "y[3]");
        assert_eq!(
            (Symbols::default().of_width(1).column(0), Symbols::default().of_width(2).column(0)),
            ("y".to_owned(), "y[1]".to_owned())
        );
        assert_eq!(symbols.clone().of_width(1).column(1), "column 1");
        assert!(serde_json::from_str::<Symbols>(r#"{"y[2]": "second"}"#).is_err());
    }

    #[test]
    fn long_names_are_shortened_and_stay_different_symbols() {
        let mut symbols = Symbols::default();
        let [one, other] = ["x", "y"].map(|end| symbols.symbol(&("⊥".repeat(1000) + end)));
        assert_ne!(one, other);
        assert_eq!(symbols.text(one), "⊥".repeat(MAX_CHARS) + "…");
    }

    #[test]
    fn the_first_names_are_kept_in_any_order_of_insertion() {
        let all: Vec<(u64, String)> =
            (0..4 * MAX_NAMES as u64).map(|rank| (rank, rank.to_string())).collect();
        let (front, back) = all.split_at(all.len() / 3);
        let table = |part: &[(u64, String)]| {
            let mut symbols = Symbols::default();
            part.iter().for_each(|(rank, name)| _ = symbols.ranked_symbol(*rank, name));
            symbols
        };
        let (mut one, mut other) = (table(front), table(back));
        one.merge(table(back));
        other.merge(table(front));
        assert_eq!(one, other);
        assert_eq!(one.names.len(), MAX_NAMES);
        assert!(one.names.values().all(|(rank, _)| *rank < MAX_NAMES as u64));
    }
}
