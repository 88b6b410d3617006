//! How texts in outputs, and the forms of outputs, become more columns.
//!
//! A text is one symbol, so noisy numbers in it never repeat and teach an attacker nothing. A
//! *reading* adds columns behind the cells of an output: the numbers in its texts, the leaves of
//! JSON, the *shape* (the text without its numbers), the spelling of numbers and the length. The
//! text itself stays where it is, as a symbol.
//!
//! The *form* of an output is what its cells do not say: the types of its values, a mask, an index,
//! digits beyond a double. It is a text too. If it is the same in all outputs of the probe, it has
//! no column.
//!
//! A reading is learned from probe draws of both sides and is then the same for all draws. So it is
//! post-processing: it cannot create a leak. None of the probe draws is counted.
//!
//! What the probe did not show is not lost. The columns *unusual* have the entries of a text which
//! the probe did not show often enough, or which had the same value in all of its texts and have
//! another one here: which entries they are, the value of the first, and all of them with their
//! values. A form that the probe did not show, where it showed only one, replaces the first cell.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

use super::text::{Asked, Leaf, entries, has_parts, key_at};
use super::{Cell, KeyMap, MAX_WIDTH, Mix, Symbols};

/// Texts without numbers are names, and need no more columns than their symbol, if there are at
/// most this many.
const MAX_NAMES: usize = 64;
/// Texts with numbers are names too if there are at most this many, each of them seen [`OFTEN`]
/// times.
const MAX_NUMBERED_NAMES: usize = 16;
const OFTEN: usize = 4;
/// With more different shapes than this, the words of a text become columns.
const MAX_SHAPES: usize = 16;
/// An entry that occurs in fewer than one in this many texts is rare.
const RARE: usize = 256;
/// At most this many rare entries have a column of their own: those that occur most often.
const MAX_RARE: usize = 16;
/// At most this many unusual entries are part of a symbol.
const MAX_UNUSUAL: usize = 8;
/// The columns of what is unusual.
const UNUSUAL: [&str; 3] = [" unusual", " unusual value", " unusual entries"];

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
    form: FormReader,
}

/// What is looked at in the forms of outputs.
#[derive(Clone, Debug, Default)]
enum FormReader {
    /// Nothing.
    #[default]
    Ignored,
    /// Whether it is the only one that the probe showed.
    Usual(String),
    /// Everything: the form as a symbol and, unless forms are names, what it says.
    Column(Option<TextReader>),
}

impl FormReader {
    fn width(&self) -> usize {
        match self {
            Self::Ignored | Self::Usual(_) => 0,
            Self::Column(reader) => 1 + reader.as_ref().map_or(0, TextReader::width),
        }
    }
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

    /// Whether it leaves outputs as they are if their form is the usual one.
    #[inline]
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.readers.is_empty()
            && self.only.is_none()
            && !matches!(self.form, FormReader::Column(_))
    }

    /// Whether an output with this form is read as one of the usual form is. An output may say
    /// nothing about its form.
    #[inline]
    #[must_use]
    pub fn is_usual(&self, form: Option<&str>) -> bool {
        match (&self.form, form) {
            (FormReader::Usual(usual), Some(form)) => usual == form,
            _ => true,
        }
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.cells + self.readers.iter().map(TextReader::width).sum::<usize>() + self.form.width()
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
            names.extend(reader.columns(&base));
        }
        if let FormReader::Column(reader) = &self.form {
            let base =
                if self.cells == 1 { format!("{} form", names[0]) } else { "form".to_owned() };
            names.push(base.clone());
            names.extend(reader.iter().flat_map(|reader| reader.columns(&base)));
        }
        names
    }

    /// The columns that need not be read as a whole: a text has its parts, a shape its words, what
    /// is unusual its value. Forms and spellings have few variants for each value, which are read,
    /// and rarely occur twice where there are many values.
    #[must_use]
    pub fn covered(&self) -> Vec<usize> {
        let mut covered = Vec::new();
        let mut first = self.cells;
        for reader in &self.readers {
            covered.push(reader.position);
            covered.extend(reader.covered().map(|place| first + place));
            first += reader.width();
        }
        covered.extend(first..first + self.form.width());
        covered
    }

    /// Writes a row: the cells of an output, what its texts say, and its form. `name` makes the
    /// symbol with a name.
    pub fn read(
        &self,
        cells: &[Cell],
        texts: &Texts,
        form: Option<&str>,
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
        match &self.form {
            FormReader::Ignored => {}
            FormReader::Usual(_) => {
                if let (false, Some(form), Some(first)) =
                    (self.is_usual(form), form, own.first_mut())
                {
                    *first = name(&format!("form: {form}"));
                }
            }
            FormReader::Column(reader) => {
                rest[0] = form.map_or(Cell::ABSENT, &mut name);
                if let Some(reader) = reader {
                    reader.read(form, &mut rest[1..], &mut name);
                }
            }
        }
    }
}

/// The columns of the texts at one position of an output.
#[derive(Clone, Debug)]
struct TextReader {
    position: usize,
    /// The entry of each column; after them come the columns *unusual*.
    paths: Vec<String>,
    places: HashMap<String, usize>,
    /// Entries that all texts of the probe have, with the same value.
    constant: HashMap<String, Cell>,
    asked: Asked,
}

impl TextReader {
    fn width(&self) -> usize {
        self.paths.len() + UNUSUAL.len()
    }

    /// The columns whose content others of this reader have.
    fn covered(&self) -> impl Iterator<Item = usize> {
        let shape = self.places.get(Leaf::SHAPE).filter(|_| self.asked.words).copied();
        let spelling = self.places.get(Leaf::SPELLING).copied();
        shape.into_iter().chain(spelling).chain([self.width() - 1])
    }

    fn columns(&self, base: &str) -> impl Iterator<Item = String> {
        let paths = self.paths.iter().map(String::as_str).chain(UNUSUAL);
        paths.map(move |path| format!("{base}{path}"))
    }

    fn read(&self, text: Option<&str>, columns: &mut [Cell], name: &mut impl FnMut(&str) -> Cell) {
        columns.fill(Cell::ABSENT);
        let Some(text) = text else { return };
        let mut expected = 0;
        let mut unusual: Vec<(String, String)> = Vec::new();
        let mut first = Cell::ABSENT;
        entries(text, self.asked, &mut |path, leaf| {
            if let Some(place) = self.places.get(path) {
                columns[*place] = cell_of(leaf, name);
            } else if Leaf::is_moved(path) {
                // Another entry has the same number.
            } else if self.constant.get(path).is_some_and(|constant| *constant == symbol_of(leaf)) {
                expected += 1;
            } else if unusual.len() < MAX_UNUSUAL {
                if unusual.is_empty() {
                    first = cell_of(leaf, name);
                }
                unusual.push((path.trim_start().to_owned(), text_of(leaf)));
            }
        });
        if unusual.is_empty() && expected < self.constant.len() {
            unusual.push(("something is missing".to_owned(), String::new()));
        }
        if !unusual.is_empty() {
            let joined = |part: &dyn Fn(&(String, String)) -> String| {
                unusual.iter().map(part).collect::<Vec<_>>().join(", ")
            };
            let paths = joined(&|(path, _)| path.clone());
            let values = joined(&|(path, value)| format!("{path} = {value}"));
            let found = [name(&format!("unusual: {paths}")), first, name(&values)];
            columns[self.paths.len()..].copy_from_slice(&found);
        }
    }
}

/// One entry of a text that has parts.
fn entry(text: &str, path: &str, name: &mut impl FnMut(&str) -> Cell) -> Cell {
    let mut found = if has_parts(text) { Cell::ABSENT } else { Reading::NO_PARTS };
    entries(text, Asked::default(), &mut |of, leaf| {
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

/// The same without a name for reports.
fn symbol_of(leaf: Leaf) -> Cell {
    cell_of(leaf, &mut Cell::symbol)
}

fn text_of(leaf: Leaf) -> String {
    match leaf {
        Leaf::Number(number) => number.to_string(),
        Leaf::Text(text) => text.to_owned(),
    }
}

/// Learns a reading from probe draws.
#[derive(Debug, Default)]
pub struct Probe {
    positions: BTreeMap<usize, TextsSeen>,
    form: FormsSeen,
}

/// What the probe showed of forms.
#[derive(Debug, Default)]
struct FormsSeen {
    first: Option<String>,
    /// The forms, from the first on that is another one. So a form that never changes costs little.
    all: Option<TextsSeen>,
    before: usize,
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
    /// A hash of all values and of the texts that they are from: equal for two entries that always
    /// have the same value.
    values: Mix,
}

impl Probe {
    /// Takes one output into account.
    pub fn see(&mut self, cells: &[Cell], texts: &Texts, form: Option<&str>) {
        for (position, cell) in cells.iter().enumerate() {
            if let Some(text) = cell.payload().and_then(|payload| texts.get(&payload)) {
                self.positions.entry(position).or_default().see(*cell, text);
            }
        }
        if let Some(form) = form {
            self.form.see(form);
        }
    }

    /// Whether outputs are more than numbers, so that more of them may show more.
    #[must_use]
    pub fn has_texts(&self) -> bool {
        !self.positions.is_empty() || self.form.all.is_some()
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
            form: self.form.reader(),
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

impl FormsSeen {
    fn see(&mut self, form: &str) {
        let first = self.first.get_or_insert_with(|| form.to_owned());
        if self.all.is_none() && first == form {
            self.before += 1;
            return;
        }
        let (before, first) = (self.before, first.clone());
        let all = self.all.get_or_insert_with(|| {
            let mut all = TextsSeen::default();
            // A few of them show all that can be seen of the same form.
            (0..before.min(RARE)).for_each(|_| all.see(Cell::symbol(&first), &first));
            all
        });
        all.see(Cell::symbol(form), form);
    }

    fn reader(self) -> FormReader {
        match (self.all, self.first) {
            (Some(all), _) => FormReader::Column(all.reader(0)),
            (None, Some(first)) => FormReader::Usual(first),
            (None, None) => FormReader::Ignored,
        }
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
        entries(text, Asked::ALL, &mut |path, leaf| {
            let cell = symbol_of(leaf);
            if path == Leaf::SHAPE && self.shapes.len() <= MAX_SHAPES {
                self.shapes.insert(cell.key());
            }
            let seen = if let Some(seen) = self.entries.get_mut(path) {
                seen
            } else if self.entries.len() <= 2 * MAX_WIDTH {
                let new = EntrySeen { texts: 0, first: cell, varies: false, values: Mix::new() };
                self.entries.entry(path.to_owned()).or_insert(new)
            } else {
                return;
            };
            seen.texts += 1;
            seen.varies |= seen.first != cell;
            seen.values = seen.values.word(self.texts as u64).word(cell.key());
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
        let (mut paths, mut rare) = (Vec::new(), Vec::new());
        let mut constant = HashMap::new();
        // A number that is counted in another way needs a column only if it then varies in another
        // way.
        let mut known: HashSet<u64> = HashSet::new();
        let mut all: Vec<(String, EntrySeen)> =
            self.entries.into_iter().filter(|(path, _)| used(path)).collect();
        all.sort_by_cached_key(|(path, _)| (Leaf::is_moved(path), in_order(path)));
        for (path, seen) in all {
            let is_new = known.insert(seen.values.end()) || !Leaf::is_moved(&path);
            // The shape and the length can show what the probe did not.
            let kept = path == Leaf::SHAPE || path == Leaf::LENGTH;
            let varies = (seen.varies || seen.texts < texts) && seen.texts >= 2 && is_new;
            if kept || varies && RARE * seen.texts >= texts {
                paths.push(path);
            } else if varies {
                rare.push((seen.texts, path));
            } else if !seen.varies && seen.texts == texts && !Leaf::is_moved(&path) {
                constant.insert(path, seen.first);
            }
        }
        rare.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
        paths.extend(rare.into_iter().take(MAX_RARE).map(|(_, path)| path));
        paths.sort_by_cached_key(|path| in_order(path));
        let places = paths.iter().cloned().zip(0..).collect();
        let moves = paths.iter().any(|path| Leaf::is_moved(path));
        Some(TextReader {
            position,
            paths,
            places,
            constant,
            asked: Asked { commas, moves, words },
        })
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
            .for_each(|(cells, texts)| probe.see(&cells, &texts, None));
        probe.reading(1)
    }

    /// A row with its columns: `y.count = 1.5`.
    fn row(reading: &Reading, text: &str) -> Vec<String> {
        let ((cells, texts), mut symbols) = (output(text), Symbols::default());
        symbols.symbol(text);
        let mut row = vec![Cell::number(0.0); reading.width()];
        reading.read(&cells, &texts, None, &mut row, |name| symbols.symbol(name));
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
        let text = json(7);
        let wanted = [
            format!("y = {text}"),
            "y length = 22".to_owned(),
            r#"y shape = {"count": #, "n": #}"#.to_owned(),
            "y.count = 7.5".to_owned(),
            "y.note = ∅".to_owned(),
            "y unusual = ∅".to_owned(),
            "y unusual value = ∅".to_owned(),
            "y unusual entries = ∅".to_owned(),
        ];
        assert_eq!(row(&reading, &text), wanted);
        // A key that the probe did not show, and a constant that changes or is missing.
        for (text, unusual) in [
            (r#"{"count": 7.5, "n": 5, "x": 3}"#, ["unusual: .x", "3", ".x = 3"]),
            (r#"{"count": 7.5, "n": 5, "x": "a"}"#, ["unusual: .x", "a", ".x = a"]),
            (r#"{"count": 7.5, "n": 6}"#, ["unusual: .n", "6", ".n = 6"]),
            (
                r#"{"count": 7.5}"#,
                ["unusual: something is missing", "∅", "something is missing = "],
            ),
        ] {
            let columns = row(&reading, text);
            let wanted =
                UNUSUAL.iter().zip(unusual).map(|(name, value)| format!("y{name} = {value}"));
            assert_eq!(columns[5..], wanted.collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn rare_entries_have_columns_of_their_own() {
        let text = |index: u32| {
            let code = if index.is_multiple_of(500) {
                format!(" code {}", index % 7)
            } else {
                String::new()
            };
            format!("count {index}{code}")
        };
        let reading = learned((0..4000).map(text));
        assert!(row(&reading, "count 5 code 3").contains(&"y number 2 = 3".to_owned()));
        assert!(row(&reading, "count 5").contains(&"y number 2 = ∅".to_owned()));
    }

    #[test]
    fn a_form_has_a_column_only_if_it_varies() {
        let reading_of = |forms: &[Option<&str>]| {
            let mut probe = Probe::default();
            forms.iter().for_each(|form| probe.see(&[Cell::number(1.0)], &Texts::default(), *form));
            probe.reading(1)
        };
        let read = |reading: &Reading, form: Option<&str>| {
            let mut row = vec![Cell::ABSENT; reading.width()];
            let cells = [Cell::number(1.0)];
            reading.read(&cells, &Texts::default(), form, &mut row, Cell::symbol);
            row
        };
        let same = reading_of(&[Some("float"), None, Some("float")]);
        assert!(same.is_plain() && same.width() == 1);
        assert!(same.is_usual(Some("float")) && same.is_usual(None) && !same.is_usual(Some("int")));
        assert_eq!(read(&same, Some("int")), [Cell::symbol("form: int")]);
        assert_eq!(read(&same, Some("float")), [Cell::number(1.0)]);
        let several = reading_of(&[Some("float"), Some("int")]);
        assert_eq!(several.columns(&[]), ["y", "y form"]);
        assert_eq!(read(&several, Some("int")), [Cell::number(1.0), Cell::symbol("int")]);
        assert_eq!(read(&several, None), [Cell::number(1.0), Cell::ABSENT]);
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
        assert_eq!(
            reading.columns(&[]),
            [
                "y",
                "y length",
                "y number 1",
                "y shape",
                "y unusual",
                "y unusual value",
                "y unusual entries"
            ]
        );
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
