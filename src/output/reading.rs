//! How texts in outputs become more columns.
//!
//! A text is one symbol, so noisy numbers in it never repeat and teach an attacker nothing. A
//! *reading* adds columns behind the cells of an output: the numbers in its texts, the leaves of
//! JSON, the *shape* (the text without its numbers) and the length. The text itself stays where it
//! is, as a symbol.
//!
//! A reading is learned from probe draws of both sides and is then the same for all draws. So it is
//! post-processing: it cannot create a leak. None of the probe draws is counted.
//!
//! What the probe did not show is not lost. One column, *unusual*, is a symbol that names the
//! entries of a text which the probe did not show often enough, or which had the same value in all
//! of its texts and have another one here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use super::text::{Leaf, entries, has_parts, key_at};
use super::{Cell, KeyMap, MAX_WIDTH, Symbols};

/// Texts without numbers are names, and need no more columns than their symbol, if there are at
/// most this many.
const MAX_NAMES: usize = 64;
/// Texts with numbers are names too if there are at most this many, each of them seen [`OFTEN`]
/// times.
const MAX_NUMBERED_NAMES: usize = 16;
const OFTEN: usize = 4;
/// With more different shapes than this, the words of a text become columns.
const MAX_SHAPES: usize = 16;
/// An entry that occurs in fewer than one in this many texts is unusual.
const RARE: usize = 256;
/// At most this many unusual entries are part of the symbol.
const MAX_UNUSUAL: usize = 8;

/// The texts of symbols, by payload.
pub type Texts = KeyMap<String>;

/// What the columns of an output are: its own cells, and those that are read from its texts.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The cells of an output before it is read.
    cells: usize,
    readers: Vec<TextReader>,
    /// The only entry that is looked at, in place of the texts.
    only: Option<String>,
}

impl Reading {
    /// What a cell counts as that should have a key and has no parts.
    pub(super) const NO_PARTS: Cell = Cell::symbol("no parts");

    /// The reading that leaves outputs as they are.
    #[must_use]
    pub fn plain(cells: usize) -> Self {
        Self { cells, ..Self::default() }
    }

    /// The reading that has one entry of each text in its place.
    pub(super) fn of_key(cells: usize, path: String) -> Self {
        Self { only: Some(path), ..Self::plain(cells) }
    }

    /// Whether it leaves outputs as they are.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.readers.is_empty() && self.only.is_none()
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.cells + self.readers.iter().map(TextReader::width).sum::<usize>()
    }

    /// The names of the columns; `own` are the names of the output's own cells, as far as they have
    /// names.
    #[must_use]
    pub fn columns(&self, own: &[String]) -> Vec<String> {
        let only = self.only.as_deref().unwrap_or_default();
        let own_name = |index: usize| {
            own.get(index).cloned().unwrap_or_else(|| Symbols::unnamed_column(index, self.cells))
                + only
        };
        let mut names: Vec<String> = (0..self.cells).map(own_name).collect();
        for reader in &self.readers {
            let base = names[reader.position].clone();
            names.extend(
                reader
                    .paths
                    .iter()
                    .map(String::as_str)
                    .chain([" unusual"])
                    .map(|path| format!("{base}{path}")),
            );
        }
        names
    }

    /// Writes a row: the cells of an output, and what its texts say. `name` makes the symbol with a
    /// name.
    pub fn read(
        &self,
        cells: &[Cell],
        texts: &Texts,
        row: &mut [Cell],
        mut name: impl FnMut(&str) -> Cell,
    ) {
        let text_of = |cell: &Cell| {
            cell.payload().and_then(|payload| texts.get(&payload)).map(String::as_str)
        };
        let (own, mut rest) = row.split_at_mut(self.cells);
        own.copy_from_slice(cells);
        if let Some(only) = &self.only {
            for cell in own.iter_mut().filter(|cell| **cell != Cell::ABSENT) {
                *cell = text_of(cell).map_or(Self::NO_PARTS, |text| entry(text, only, &mut name));
            }
        }
        for reader in &self.readers {
            let (columns, others) = rest.split_at_mut(reader.width());
            reader.read(text_of(&cells[reader.position]), columns, &mut name);
            rest = others;
        }
    }
}

/// The columns of the texts at one position of an output.
#[derive(Clone, Debug)]
struct TextReader {
    position: usize,
    /// The entry of each column; after them comes the column *unusual*.
    paths: Vec<String>,
    places: HashMap<String, usize>,
    /// Entries that all texts of the probe have, with the same value.
    constant: HashMap<String, Cell>,
    /// Whether commas between digits may be part of a number.
    commas: bool,
    /// Whether words are columns.
    words: bool,
}

impl TextReader {
    fn width(&self) -> usize {
        self.paths.len() + 1
    }

    fn read(&self, text: Option<&str>, columns: &mut [Cell], name: &mut impl FnMut(&str) -> Cell) {
        columns.fill(Cell::ABSENT);
        let Some(text) = text else { return };
        let (mut unusual, mut expected): (Vec<String>, usize) = (Vec::new(), 0);
        entries(text, self.commas, self.words, &mut |path, leaf| {
            let cell = cell_of(leaf, name);
            if let Some(place) = self.places.get(path) {
                columns[*place] = cell;
            } else if self.constant.get(path) == Some(&cell) {
                expected += 1;
            } else if unusual.len() < MAX_UNUSUAL {
                unusual.push(path.trim_start().to_owned());
            }
        });
        if unusual.is_empty() && expected < self.constant.len() {
            unusual.push("something is missing".to_owned());
        }
        if !unusual.is_empty() {
            columns[self.paths.len()] = name(&format!("unusual: {}", unusual.join(", ")));
        }
    }
}

/// One entry of a text that has parts.
fn entry(text: &str, path: &str, name: &mut impl FnMut(&str) -> Cell) -> Cell {
    let mut found = if has_parts(text) { Cell::ABSENT } else { Reading::NO_PARTS };
    entries(text, false, false, &mut |of, leaf| {
        if of == path {
            found = cell_of(leaf, name);
        }
    });
    found
}

fn cell_of(leaf: Leaf, name: &mut impl FnMut(&str) -> Cell) -> Cell {
    match leaf {
        Leaf::Number(number) => Cell::number(number),
        Leaf::Text(text) => name(text),
    }
}

/// Learns a reading from probe draws.
#[derive(Debug, Default)]
pub struct Probe {
    positions: BTreeMap<usize, TextsSeen>,
}

/// What the probe showed at one position.
#[derive(Debug, Default)]
struct TextsSeen {
    texts: usize,
    /// How often each text occurred, of the first few.
    times: KeyMap<usize>,
    /// The first few shapes.
    shapes: BTreeSet<u64>,
    /// Whether a text had a number or was JSON.
    has_numbers: bool,
    /// Whether a text was JSON with parts.
    has_parts: bool,
    /// Whether a comma was between two digits.
    has_commas: bool,
    entries: HashMap<String, EntrySeen>,
}

#[derive(Debug)]
struct EntrySeen {
    texts: usize,
    first: Cell,
    varies: bool,
}

impl Probe {
    /// Takes one output into account.
    pub fn see(&mut self, cells: &[Cell], texts: &Texts) {
        for (position, cell) in cells.iter().enumerate() {
            if let Some(text) = cell.payload().and_then(|payload| texts.get(&payload)) {
                self.positions.entry(position).or_default().see(*cell, text);
            }
        }
    }

    /// Adds what another probe showed of the cells that follow `cells` cells of an output.
    pub fn append(&mut self, cells: usize, other: Self) {
        self.positions
            .extend(other.positions.into_iter().map(|(position, seen)| (cells + position, seen)));
    }

    /// The reading of outputs with this many cells. It may be too wide, which the caller checks.
    #[must_use]
    pub fn reading(self, cells: usize) -> Reading {
        let readers = self.positions.into_iter().filter(|(position, _)| *position < cells);
        Reading {
            readers: readers.filter_map(|(position, seen)| seen.reader(position)).collect(),
            ..Reading::plain(cells)
        }
    }

    /// Whether an output was a dictionary, a list in a list, or another value with parts.
    pub(super) fn has_parts(&self) -> bool {
        self.positions.values().any(|seen| seen.has_parts)
    }

    /// The keys of all outputs with parts, each once.
    pub(super) fn keys(&self) -> Vec<String> {
        let paths = self.positions.values().flat_map(|seen| seen.entries.keys());
        let mut keys: Vec<String> =
            paths.filter_map(|path| key_at(path)).map(str::to_owned).collect();
        keys.sort_by_cached_key(|key| in_order(key));
        keys.dedup();
        keys
    }
}

impl TextsSeen {
    fn see(&mut self, cell: Cell, text: &str) {
        self.texts += 1;
        if self.times.len() <= MAX_NAMES || self.times.contains_key(&cell.key()) {
            *self.times.entry(cell.key()).or_default() += 1;
        }
        let bytes = text.as_bytes();
        self.has_numbers |=
            bytes.iter().any(u8::is_ascii_digit) || text.trim_start().starts_with(['{', '[']);
        self.has_parts |= has_parts(text);
        self.has_commas |= bytes
            .windows(3)
            .any(|w| w[1] == b',' && w[0].is_ascii_digit() && w[2].is_ascii_digit());
        entries(text, true, true, &mut |path, leaf| {
            let cell = cell_of(leaf, &mut Cell::symbol);
            if path == Leaf::SHAPE && self.shapes.len() <= MAX_SHAPES {
                self.shapes.insert(cell.key());
            }
            if let Some(seen) = self.entries.get_mut(path) {
                seen.texts += 1;
                seen.varies |= seen.first != cell;
            } else if self.entries.len() <= 2 * MAX_WIDTH {
                self.entries
                    .insert(path.to_owned(), EntrySeen { texts: 1, first: cell, varies: false });
            }
        });
    }

    /// Whether the texts are names of a few things, so that the symbol says everything.
    fn are_names(&self) -> bool {
        if self.has_numbers {
            self.times.len() <= MAX_NUMBERED_NAMES
                && self.times.values().all(|times| *times >= OFTEN)
        } else {
            self.times.len() <= MAX_NAMES
        }
    }

    fn reader(self, position: usize) -> Option<TextReader> {
        if self.are_names() {
            return None;
        }
        let (commas, words, texts) = (self.has_commas, self.shapes.len() > MAX_SHAPES, self.texts);
        let used =
            |path: &str| (commas || !Leaf::is_with_commas(path)) && (words || !Leaf::is_word(path));
        let mut paths = Vec::new();
        let mut constant = HashMap::new();
        for (path, seen) in self.entries.into_iter().filter(|(path, _)| used(path)) {
            // The shape and the length can show what the probe did not.
            let kept = path == Leaf::SHAPE || path == Leaf::LENGTH;
            if kept
                || ((seen.varies || seen.texts < texts)
                    && seen.texts >= 2
                    && RARE * seen.texts >= texts)
            {
                paths.push(path);
            } else if !seen.varies && seen.texts == texts {
                constant.insert(path, seen.first);
            }
        }
        paths.sort_by_cached_key(|path| in_order(path));
        let places = paths.iter().cloned().zip(0..).collect();
        Some(TextReader { position, paths, places, constant, commas, words })
    }
}

/// A key that sorts `[10]` after `[2]`.
fn in_order(path: &str) -> (String, String) {
    let (mut padded, mut digits) = (String::new(), String::new());
    for c in path.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
        } else {
            if !digits.is_empty() {
                // Writing to a string does not fail.
                let _ = write!(padded, "{digits:0>12}");
                digits.clear();
            }
            padded.push(c);
        }
    }
    (padded, path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An output of one cell: a text, or a number.
    fn output(text: &str) -> ([Cell; 1], Texts) {
        let cell = text.parse().map_or_else(|_| Cell::symbol(text), Cell::number);
        ([cell], cell.payload().map(|payload| (payload, text.to_owned())).into_iter().collect())
    }

    /// The reading of outputs of one cell.
    fn learned<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Reading {
        let mut probe = Probe::default();
        texts
            .into_iter()
            .map(|text| output(text.as_ref()))
            .for_each(|(cells, texts)| probe.see(&cells, &texts));
        probe.reading(1)
    }

    /// A row with its columns: `y.count = 1.5`.
    fn row(reading: &Reading, text: &str) -> Vec<String> {
        let ((cells, texts), mut symbols) = (output(text), Symbols::default());
        symbols.symbol(text);
        let mut row = vec![Cell::number(0.0); reading.width()];
        reading.read(&cells, &texts, &mut row, |name| symbols.symbol(name));
        reading
            .columns(&[])
            .into_iter()
            .zip(row)
            .map(|(name, cell)| format!("{name} = {}", symbols.text(cell)))
            .collect()
    }

    fn json(count: u32) -> String {
        let note = if count.is_multiple_of(3) { ", \"note\": true" } else { "" };
        format!("{{\"count\": {count}.5, \"n\": 5{note}}}")
    }

    #[test]
    fn json_is_read_by_path_and_missing_keys_are_absent() {
        let reading = learned((0..300).map(json));
        let columns = |values: [&str; 6]| {
            let names = ["y", "y length", "y shape", "y.count", "y.note", "y unusual"];
            names
                .iter()
                .zip(values)
                .map(|(name, value)| format!("{name} = {value}"))
                .collect::<Vec<_>>()
        };
        let text = json(7);
        assert_eq!(
            row(&reading, &text),
            columns([&text, "22", r#"{"count": #, "n": #}"#, "7.5", "∅", "∅"])
        );
        // A key that the probe did not show, and a constant that changes or is missing.
        let text = r#"{"count": 7.5, "n": 5, "x": 3}"#;
        assert_eq!(row(&reading, text).last().unwrap(), "y unusual = unusual: .x");
        assert_eq!(
            row(&reading, r#"{"count": 7.5, "n": 6}"#).last().unwrap(),
            "y unusual = unusual: .n"
        );
        assert_eq!(
            row(&reading, r#"{"count": 7.5}"#).last().unwrap(),
            "y unusual = unusual: something is missing"
        );
    }

    #[test]
    fn a_text_may_change_its_kind() {
        // A text, JSON, a number, the empty text and something that only begins like JSON.
        let kinds = |index: u32| {
            [
                format!("about {index}"),
                json(index),
                index.to_string(),
                String::new(),
                format!("{{{index}"),
            ][index as usize % 5]
                .clone()
        };
        let reading = learned((0..500).map(kinds));
        assert_eq!(
            row(&reading, "12.5")[1..].iter().filter(|column| !column.ends_with("= ∅")).count(),
            0
        );
        assert!(row(&reading, "about 3.5").contains(&"y number 1 = 3.5".to_owned()));
        assert!(row(&reading, &json(8)).contains(&"y.count = 8.5".to_owned()));
        assert!(row(&reading, "").contains(&"y length = 0".to_owned()));
        assert!(row(&reading, "{7").contains(&"y number 1 = 7".to_owned()));
    }

    #[test]
    fn a_few_names_are_symbols_and_nothing_else() {
        assert!(learned(["yes", "no", ""].repeat(40)).is_plain());
        assert!(learned(["bin 1", "bin 2"].repeat(40)).is_plain());
        assert!(learned((0..64).map(|index| "a".repeat(index))).is_plain());
        assert!(learned(["1", "2.5", "nan"].repeat(40)).is_plain(), "numbers are no texts");
        assert!(!learned((0..65).map(|index| "a".repeat(index))).is_plain());
        assert!(!learned((0..100).map(|index| format!("bin {index}"))).is_plain());
        assert_eq!(learned(["x"; 0]).width(), 1);
    }

    #[test]
    fn different_shapes_show_their_words() {
        let word = |index: usize| ["red", "green", "blue"][index % 3].repeat(1 + index % 7);
        let reading =
            learned((0..300).map(|index| format!("{} and {}", word(index), word(index / 21))));
        assert!(row(&reading, "red and blue").contains(&"y word 3 = blue".to_owned()));
    }

    #[test]
    fn commas_are_part_of_numbers_if_the_probe_has_them() {
        let reading = learned((0..300).map(|index| format!("{index},25 kg")));
        let found = row(&reading, "-3,5 kg");
        assert!(
            found.contains(&"y number 1 = -3".to_owned())
                && found.contains(&"y decimal-comma number 1 = -3.5".to_owned()),
            "{found:?}"
        );
        let reading = learned((0..300).map(|index| format!("{index} kg")));
        assert_eq!(reading.columns(&[]), ["y", "y length", "y number 1", "y shape", "y unusual"]);
    }

    #[test]
    fn columns_are_in_the_order_of_the_text_and_do_not_depend_on_the_order_of_draws() {
        let text = |index: usize| {
            (0..12).map(|place| (index * place).to_string()).collect::<Vec<_>>().join(" ")
        };
        let reading = learned((0..300).map(text));
        let numbers: Vec<String> =
            reading.columns(&[]).into_iter().filter(|name| name.contains("number")).collect();
        // The first number is always 0.
        assert_eq!(numbers, (2..=12).map(|place| format!("y number {place}")).collect::<Vec<_>>());
        assert_eq!(reading.columns(&[]), learned((0..300).rev().map(text)).columns(&[]));
    }

    #[test]
    fn every_text_is_a_row_of_the_same_width() {
        let reading = learned((0..300).map(json));
        let long = format!("[{}]", vec!["1.5"; 200_000].join(","));
        for text in [
            "",
            "{",
            "[",
            "{\"count\": [1, 2]}",
            "[[[[1]]]]",
            &long,
            &"9".repeat(100_000),
            "NaN",
            "{\"count\": NaN}",
            "\u{0}⊥ −5",
        ] {
            let row = row(&reading, text);
            assert_eq!(row.len(), reading.width());
        }
        assert!(row(&reading, "{\"count\": NaN, \"n\": 5}").contains(&"y.count = NaN".to_owned()));
    }

    #[test]
    fn too_many_numbers_are_too_many_columns() {
        let text = |index: usize| {
            (0..MAX_WIDTH + 5)
                .map(|place| ((index + place) % 10).to_string())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert!(learned((0..8).map(text)).width() > MAX_WIDTH);
    }
}
