//! A file of outputs: one output per row. Each cell is a number or a text. Commas, semicolons or
//! tabs separate cells; a row may also be JSON.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use super::separator::{Separator, decimal_commas, is_json, number_shape, parse_number};
use crate::model::FileProblem;
use crate::model::file::read_line;
use crate::output::{Cell, CellNotes, Forms, MAX_WIDTH, Rows, Symbols, Texts};

/// The rows at the beginning of a file that show what separates its cells.
const FIRST_ROWS: usize = 256;

/// All rows are padded to the width of the widest one. If this needs more cells than this number,
/// the widest row is rejected as a mistake.
const MAX_PADDED_CELLS: usize = 1 << 30;

/// Whether the first row names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum HeaderRow {
    /// Yes, if none of its cells is a number, is empty, or occurs again in its column
    #[default]
    Detect,
    /// Yes
    Present,
    /// No, it is an output like the others
    Absent,
}

/// The lines of a file. The first ones can be looked at in advance.
struct Lines {
    reader: BufReader<File>,
    first: VecDeque<io::Result<String>>,
}

impl Lines {
    fn new(reader: BufReader<File>) -> Self {
        let mut lines = Self { reader, first: VecDeque::new() };
        while lines.first.len() < FIRST_ROWS {
            let mut line = String::new();
            match read_line(&mut lines.reader, &mut line) {
                Ok(0) => break,
                Ok(_) => lines.first.push_back(Ok(line)),
                Err(error) => {
                    lines.first.push_back(Err(error));
                    break;
                }
            }
        }
        lines
    }

    /// What separates the cells, if it is not given.
    fn separator(&self, given: Option<Separator>) -> Result<Separator, String> {
        let first = || self.first.iter().flatten().map(|line| trimmed(line));
        let separator = given.unwrap_or_else(|| Separator::detect(first()));
        match decimal_commas(first()).filter(|_| given.is_none() && separator == Separator::Comma) {
            Some(row) => Err(format!(
                "{row} looks like a number with a decimal comma; use --separator semicolon to read each row as one number, or --separator \
                 comma if it is two cells"
            )),
            None => Ok(separator),
        }
    }

    /// Reads the next line; false at the end.
    fn read(&mut self, line: &mut String) -> io::Result<bool> {
        line.clear();
        match self.first.pop_front() {
            Some(first) => {
                *line = first?;
                Ok(true)
            }
            None => Ok(read_line(&mut self.reader, line)? > 0),
        }
    }
}

/// A line without its end.
fn trimmed(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}')
}

/// The outputs of one file.
pub struct Outputs {
    /// The file.
    pub name: String,
    /// The names of the columns, if the file has a header.
    pub header: Option<Vec<String>>,
    /// The outputs in the order of the file, all padded to the width of the widest row, including
    /// the header.
    pub rows: Rows,
    /// The names of the symbols in them.
    pub symbols: Symbols,
    /// The texts of these symbols.
    pub texts: Texts,
    /// How the cells are spelled.
    pub forms: Forms,
    /// What separates the cells.
    pub separator: Separator,
}

impl Outputs {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, when a line is not a valid row, or when it has no outputs.
    pub fn read(
        path: &Path,
        header: HeaderRow,
        separator: Option<Separator>,
    ) -> Result<Self, FileProblem> {
        let failed = |message: String| FileProblem::new(path, message);
        let file = File::open(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
        let mut lines = Lines::new(BufReader::with_capacity(1 << 16, file));
        let separator = lines.separator(separator).map_err(failed)?;
        let mut first: Option<FirstRow> = None;
        // Rows of increasing width: each part is wider than the part before it.
        let mut parts: Vec<Rows> = Vec::new();
        let (mut line, mut number) = (String::new(), 0_u64);
        let (mut row, mut symbols, mut texts) = (Vec::new(), Symbols::default(), Texts::default());
        let (mut forms, mut notes) = (Forms::all(Some(String::new())), CellNotes::default());
        loop {
            let at = |problem: &str| failed(format!("line {}: {problem}", number + 1));
            if !lines.read(&mut line).map_err(|error| at(&error.to_string()))? {
                break;
            }
            let text = trimmed(&line);
            row.clear();
            let mut symbol = |name: &str| {
                let cell = symbols.ranked_symbol(number, name);
                if let Some(payload) = cell.payload() {
                    texts.entry(payload).or_insert_with(|| name.to_owned());
                }
                cell
            };
            notes.clear();
            split_cells(text, separator, &mut |cell| {
                note_spelling(cell, row.len(), separator, &mut notes);
                row.push(parse_cell(cell.trim(), separator, &mut symbol));
            })
            .map_err(at)?;
            if row.len() > 1 && row.last() == Some(&Cell::ABSENT) {
                notes.add(row.len() - 1, "empty");
            }
            #[allow(clippy::cast_possible_truncation)] // all rows are in memory
            forms.set(number as usize, notes.text());
            number += 1;
            if row.len() > MAX_WIDTH {
                return Err(failed(format!(
                    "line {number} has {} cells, more than {MAX_WIDTH}; write one output per row",
                    row.len()
                )));
            }
            match (&mut first, parts.first()) {
                (Some(first), Some(part)) => first.compare(part.row(0), &row, text),
                _ => first = Some(FirstRow::new(text, separator)),
            }
            let width = parts.last().map_or(0, Rows::width);
            if row.len() > width {
                if header == HeaderRow::Present && width > 0 {
                    return Err(failed(format!(
                        "line {number} has {} cells, the header {width}; name all columns",
                        row.len()
                    )));
                }
                parts.push(Rows::new(row.len()));
            }
            if let Some(part) = parts.last_mut() {
                row.resize(part.width(), Cell::ABSENT);
                part.push(&row);
            }
        }
        let (Some(first), Some(rows)) = (first, join_parts(parts).map_err(failed)?) else {
            return Err(failed("is empty; it must have one output per row".to_owned()));
        };
        let names = match header {
            HeaderRow::Present => Some(first.names),
            HeaderRow::Detect if first.is_header() => Some(first.names),
            _ => None,
        };
        let (rows, forms) = if names.is_some() {
            (rows.without_first(), forms.without_first())
        } else {
            (rows, forms)
        };
        if rows.is_empty() {
            return Err(failed(
                "holds a header and no outputs; use --header absent if its only row is an output"
                    .to_owned(),
            ));
        }
        Ok(Self {
            name: path.display().to_string(),
            header: names,
            rows,
            symbols,
            texts,
            forms,
            separator,
        })
    }
}

/// All rows, padded to the width of the last part.
fn join_parts(parts: Vec<Rows>) -> Result<Option<Rows>, String> {
    let (width, rows) =
        (parts.last().map_or(0, Rows::width), parts.iter().map(Rows::len).sum::<usize>());
    if parts.len() > 1 && rows.saturating_mul(width) > MAX_PADDED_CELLS {
        return Err(format!(
            "its widest row has {width} cells, and padding all {rows} rows to it needs too much memory; shorten this row"
        ));
    }
    Ok(parts.into_iter().reduce(|mut rows, mut part| {
        rows.widen(width);
        part.widen(width);
        rows.append(&part);
        rows
    }))
}

/// The first row, which may be a header.
struct FirstRow {
    names: Vec<String>,
    separator: Separator,
    /// Whether one of its cells occurs again in its column, or is a text with a number above a text
    /// that differs in its numbers only.
    is_like_others: bool,
    /// How many rows it was compared with.
    compared: usize,
}

impl FirstRow {
    fn new(text: &str, separator: Separator) -> Self {
        let mut names = Vec::new();
        // The line was already split without an error.
        let _ = split_cells(text, separator, &mut |name| names.push(name.trim().to_owned()));
        Self { names, separator, is_like_others: false, compared: 0 }
    }

    fn compare(&mut self, first: &[Cell], row: &[Cell], text: &str) {
        let has_number = |name: &String| {
            name.split_whitespace().any(|word| parse_number(word, self.separator).is_some())
        };
        let is_text = |cell: &Cell| cell.as_number().is_none() && *cell != Cell::ABSENT;
        let is_like = |((first, cell), name): ((&Cell, &Cell), &String)| {
            first == cell || is_text(cell) && has_number(name)
        };
        self.is_like_others =
            self.is_like_others || first.iter().zip(row).zip(&self.names).any(is_like);
        // The texts of a few rows are enough.
        self.compared += 1;
        if !self.is_like_others && self.compared < FIRST_ROWS {
            self.is_like_others = self.has_the_shape_of(text);
        }
    }

    /// Whether one of its cells has the shape of the cell below it, with a number in it.
    fn has_the_shape_of(&self, text: &str) -> bool {
        let (mut names, mut found) = (self.names.iter(), false);
        // The line was already split without an error.
        let _ = split_cells(text, self.separator, &mut |cell| {
            let (name, cell) = (names.next().map_or("", String::as_str), cell.trim());
            found |= name.contains(|c: char| c.is_ascii_digit())
                && number_shape(name) == number_shape(cell);
        });
        found
    }

    fn is_header(&self) -> bool {
        let is_name = |name: &String| {
            !name.is_empty() && parse_number(name, self.separator).is_none() && !is_json(name)
        };
        !self.is_like_others && self.names.iter().all(is_name)
    }
}

/// Parses a cell of a file: a number, nothing, or a text.
fn parse_cell(text: &str, separator: Separator, symbol: impl FnOnce(&str) -> Cell) -> Cell {
    match parse_number(text, separator) {
        Some(number) => Cell::number(number),
        None if text.is_empty() => Cell::ABSENT,
        None => symbol(text),
    }
}

/// Notes what a cell does not show of its spelling.
fn note_spelling(text: &str, index: usize, separator: Separator, notes: &mut CellNotes) {
    let trimmed = text.trim();
    if trimmed.len() < text.len() {
        let at = text.find(trimmed).unwrap_or(0);
        notes.add(index, &format!("spaces: {at} and {}", text.len() - at - trimmed.len()));
    }
    if parse_number(trimmed, separator).is_some() {
        notes.add_written(index, trimmed);
    }
}

impl Rows {
    fn without_first(self) -> Self {
        let mut rest = Self::new(self.width());
        self.iter().skip(1).for_each(|row| rest.push(row));
        rest
    }
}

/// Splits a line into cells, with the spaces around them.
fn split_cells(
    line: &str,
    separator: Separator,
    sink: &mut impl FnMut(&str),
) -> Result<(), &'static str> {
    if line.is_empty() {
        return Err("is empty; write \"\" for an output without a value, or delete the line");
    }
    if line.contains('\r') {
        return Err(
            "contains a carriage return; end each line with a line feed and write one output per line",
        );
    }
    if is_json(line) {
        sink(line);
        return Ok(());
    }
    if !line.contains('"') {
        line.split(separator.character()).for_each(sink);
        return Ok(());
    }
    // Add the line end: if a quotation mark is not closed, the line end becomes part of the last
    // cell.
    let line = format!("{line}\n");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(separator.character() as u8)
        .from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) if record.iter().any(|cell| cell.ends_with('\n')) => Err(
            "a quotation mark is not closed; an output must be on one line; inside quotes, write a quotation mark as \"\"",
        ),
        Ok(true) => {
            record.iter().for_each(sink);
            Ok(())
        }
        _ => Err("is not a row of separated cells"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::FileFailurePersistence;

    use super::*;

    fn read(text: &str, header: HeaderRow) -> Result<Outputs, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Outputs::read(file.path(), header, None).map_err(|error| error.message)
    }

    /// The text of each row.
    fn row_texts(text: &str, header: HeaderRow) -> Vec<String> {
        let Outputs { rows, symbols, .. } = read(text, header).unwrap();
        rows.iter()
            .map(|row| row.iter().map(|cell| symbols.text(*cell)).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn cells_are_numbers_symbols_or_absent() {
        let text = "1, -2.5e-3 ,⊥\r\nnan,inf,\"a, \"\"b\"\"\"\r\n0,,\r\n5,true\r\n\"\"\r\n+7,-infinity,None";
        let wanted =
            ["1 -0.0025 ⊥", "NaN inf a, \"b\"", "0 ∅ ∅", "5 true ∅", "∅ ∅ ∅", "7 -inf None"];
        assert_eq!(row_texts(text, HeaderRow::Detect), wanted);
        assert_eq!(parse_cell("NaN", Separator::Comma, Cell::symbol), Cell::number(f64::NAN));
    }

    #[test]
    fn semicolons_and_tabs_separate_cells_too() {
        let is_read = |text: &str, separator: Separator, wanted: &[&str]| {
            assert_eq!(read(text, HeaderRow::Absent).unwrap().separator, separator, "{text:?}");
            assert_eq!(row_texts(text, HeaderRow::Absent), wanted, "{text:?}");
        };
        is_read("1.5;ok\n2;failed\n", Separator::Semicolon, &["1.5 ok", "2 failed"]);
        is_read("1,5;ok\n-2,25;failed\n", Separator::Semicolon, &["1.5 ok", "-2.25 failed"]);
        is_read(
            "1.234,5;1,234.5;1,234,567\n0;0;0\n",
            Separator::Semicolon,
            &["1234.5 1234.5 1234567", "0 0 0"],
        );
        is_read("1,5\t\"a;b\"\n2\tc\n", Separator::Tab, &["1.5 a;b", "2 c"]);
        is_read("1;\n;2\n3\n", Separator::Semicolon, &["1 ∅", "∅ 2", "3 ∅"]);
        // Commas that are not between digits separate cells.
        is_read("3,a;b\n4,c;d\n", Separator::Comma, &["3 a;b", "4 c;d"]);
        is_read("\"a;b\",3\n\"c\",4\n", Separator::Comma, &["a;b 3", "c 4"]);
        assert_eq!(
            read("y;n\n1,5;2\n", HeaderRow::Detect).unwrap().header,
            Some(vec!["y".to_owned(), "n".to_owned()])
        );
        assert_eq!(read("1,5;2\n1,5;3\n", HeaderRow::Detect).unwrap().header, None);
    }

    #[test]
    fn a_row_may_be_json() {
        let rows = row_texts("{\"n\": 1, \"m\": 2}\n[1, 2]\n{1, 2\n", HeaderRow::Detect);
        assert_eq!(rows, ["{\"n\": 1, \"m\": 2} ∅", "[1, 2] ∅", "{1 2"]);
    }

    #[test]
    fn a_longer_row_widens_all_earlier_rows() {
        assert_eq!(row_texts("1\n2,3\n4,5,6\n", HeaderRow::Detect), ["1 ∅ ∅", "2 3 ∅", "4 5 6"]);
    }

    #[test]
    fn a_header_is_text_that_is_not_repeated_below() {
        let names = |text| read(text, HeaderRow::Detect).unwrap().header;
        assert_eq!(
            names("y,state\n1,ok\n2,failed"),
            Some(vec!["y".to_owned(), "state".to_owned()])
        );
        assert_eq!(names("\u{feff}answer\nyes\nno"), Some(vec!["answer".to_owned()]));
        assert_eq!(names("column 1\n0.5\n2"), Some(vec!["column 1".to_owned()]));
        assert_eq!(names("about 0.5\nabout 2\nabout 7"), None);
        assert_eq!(names("2.371kg\n-1.606kg"), None);
        assert_eq!(names("yes\nno\nyes"), None);
        assert_eq!(names("NaN\n1\n2"), None);
        assert_eq!(names("y,1\n1,1\n"), None);
        assert_eq!(read("yes\nyes", HeaderRow::Present).unwrap().rows.len(), 1);
        assert_eq!(read("y\n1", HeaderRow::Absent).unwrap().rows.len(), 2);
    }

    #[test]
    fn a_file_that_is_not_a_table_of_outputs_is_rejected() {
        for (text, header, wanted) in [
            ("", HeaderRow::Detect, "is empty"),
            ("y\n", HeaderRow::Detect, "holds a header and no outputs"),
            ("1\n\n2\n", HeaderRow::Detect, "line 2: is empty"),
            ("1\n2\n\n", HeaderRow::Detect, "line 3: is empty"),
            ("1\n\"2\n3\n", HeaderRow::Detect, "line 2: a quotation mark is not closed"),
            ("y\n1.5,2\n", HeaderRow::Present, "line 2 has 2 cells, the header 1"),
            // Earlier versions read the first file as one output and lost all but the first cell of
            // the second.
            ("1\r2\r3\r", HeaderRow::Detect, "line 1: contains a carriage return"),
            ("\"1\"\r2\n", HeaderRow::Detect, "line 1: contains a carriage return"),
            // Earlier versions read two outputs here; CSV readers read one.
            ("a\"b,\"c\n\"d\"\n", HeaderRow::Detect, "line 1: a quotation mark is not closed"),
            (
                "1,25\n-3,05\n",
                HeaderRow::Detect,
                "-3,05 looks like a number with a decimal comma; use --separator semicolon",
            ),
            ("y\n1,5\n", HeaderRow::Detect, "1,5 looks like a number with a decimal comma"),
            (
                &",".repeat(MAX_WIDTH),
                HeaderRow::Detect,
                "line 1 has 100001 cells, more than 100000",
            ),
        ] {
            let problem = read(text, header).err().unwrap_or_else(|| panic!("{text:?} was read"));
            assert!(problem.contains(wanted), "{text:?}: {problem}");
        }
        // 16,385 rows of up to 100,000 cells are more than 2^30.
        let lopsided = format!("{}{}\n", "1\n".repeat(1 << 14), ",".repeat(MAX_WIDTH - 1));
        let problem = read(&lopsided, HeaderRow::Detect).err().unwrap();
        assert!(
            problem.contains("its widest row has 100000 cells, and padding all 16385 rows"),
            "{problem}"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [b'1', b'\n', 0xff, b'\n']).unwrap();
        let problem = Outputs::read(file.path(), HeaderRow::Detect, None).err().unwrap().message;
        assert!(problem.contains("line 2") && problem.contains("UTF-8"), "{problem}");
        assert!(
            Outputs::read(Path::new("no/such.csv"), HeaderRow::Detect, None)
                .err()
                .unwrap()
                .message
                .contains("cannot be read")
        );
    }

    /// The oracle: the file as a CSV reader reads it.
    fn records(bytes: &[u8], separator: Separator) -> Vec<Vec<String>> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator.character() as u8)
            .from_reader(bytes);
        reader
            .into_records()
            .map(|record| record.unwrap().iter().map(|cell| cell.trim().to_owned()).collect())
            .collect()
    }

    /// The outputs equal the records of the CSV reader, cell by cell; or there is an error with a
    /// message.
    fn complete_or_rejected(bytes: &[u8]) -> Result<(), TestCaseError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let all = match Outputs::read(file.path(), HeaderRow::Absent, None) {
            Ok(all) => all,
            Err(error) => {
                prop_assert!(!error.message.is_empty());
                prop_assert!(Outputs::read(file.path(), HeaderRow::Present, None).is_err());
                return Ok(());
            }
        };
        let records = records(bytes, all.separator);
        prop_assert_eq!(all.rows.len(), records.len());
        prop_assert_eq!(all.rows.width(), records.iter().map(Vec::len).max().unwrap());
        for (row, record) in all.rows.iter().zip(&records) {
            for (index, cell) in row.iter().enumerate() {
                let text = record.get(index).map_or("", String::as_str);
                if all.separator != Separator::Comma && text.contains(',') {
                    continue; // CSV has no decimal commas
                }
                let expected = text.parse().map_or_else(
                    |_| Cell::symbol(if text.is_empty() { "∅" } else { text }),
                    Cell::number,
                );
                prop_assert_eq!(*cell, expected, "{:?}", text);
            }
        }
        for header in [HeaderRow::Detect, HeaderRow::Present] {
            if let Ok(outputs) = Outputs::read(file.path(), header, None) {
                prop_assert_eq!(
                    outputs.rows.len() + usize::from(outputs.header.is_some()),
                    records.len()
                );
            }
        }
        Ok(())
    }

    /// A cell in any notation that may occur.
    fn cell() -> impl Strategy<Value = String> {
        let words = [
            "1",
            "-0",
            "1e400",
            "5e-324",
            "nan",
            "NaN",
            "-nan",
            "inf",
            "-Infinity",
            "+7",
            "1_000",
            "0x1p3",
            "",
            " ",
            "⊥",
            "\"",
            "\"\"",
            "\"a,b\"",
            "\"\"\"",
        ];
        prop_oneof![
            prop::sample::select(words.to_vec()).prop_map(str::to_owned),
            "[a-b0-9 \"⊥.\u{0}]{0,5}"
        ]
    }

    /// A table with all the variations that programs produce.
    fn table() -> impl Strategy<Value = String> {
        let row = prop::collection::vec(cell(), 1..5).prop_map(|cells| cells.join(","));
        let end =
            prop::sample::select(vec!["\n", "\r\n", "\n", "\r\n", "\r", "\n\n", "\r\r\n", ""]);
        let first = prop::sample::select(vec!["", "\u{feff}"]);
        (first, prop::collection::vec((row, end), 0..8)).prop_map(|(first, rows)| {
            rows.into_iter().fold(first.to_owned(), |text, (row, end)| text + &row + end)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 1024,
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/sample_files.txt"))),
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_bytes_are_complete_or_rejected(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b','), Just(b'"'), Just(b'1')], 0..60)) {
            complete_or_rejected(&bytes)?;
        }

        #[test]
        fn any_table_is_complete_or_rejected(text in table()) {
            complete_or_rejected(text.as_bytes())?;
        }

        #[test]
        fn cells_are_read_as_written(cells in prop::collection::vec(prop::collection::vec("[a-c ,\"1.⊥-]{0,4}", 1..4), 1..6), crlf in any::<bool>()) {
            // The style of another program: all cells quoted, all quotation marks doubled.
            let quoted = |row: &Vec<String>| row.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect::<Vec<_>>().join(",");
            let text = cells.iter().map(quoted).collect::<Vec<_>>().join(if crlf { "\r\n" } else { "\n" });
            let rows = read(&text, HeaderRow::Absent).unwrap().rows;
            prop_assert_eq!(rows.len(), cells.len());
            for (row, cells) in rows.iter().zip(&cells) {
                let expected: Vec<Cell> = cells.iter().map(|cell| parse_cell(cell.trim(), Separator::Comma, Cell::symbol)).collect();
                prop_assert_eq!(&row[..cells.len()], &expected[..]);
                prop_assert!(row[cells.len()..].iter().all(|cell| *cell == Cell::ABSENT));
            }
        }
    }
}
