//! A file of outputs: comma-separated, one row an output, each cell a number or a symbol.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::cell::{Cell, MOST_WIDTH, Rows};
use crate::error::SpecError;

/// Rows are filled up to the widest of them; if that makes more cells than this, one of them is taken for a mistake.
const MOST_FILLED: usize = 1 << 30;

/// Whether the first row names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Header {
    /// It does if none of its cells is a number, is empty, or occurs again in its column
    #[default]
    Detect,
    /// It does
    Present,
    /// It is an output like the others
    Absent,
}

/// The outputs of one file.
pub struct Outputs {
    /// The file.
    pub name: String,
    /// The names of the columns, if there are any.
    pub header: Option<Vec<String>>,
    /// The outputs in the order of the file, as wide as the widest of them or as the header.
    pub rows: Rows,
}

impl Outputs {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, when a line is not a row, or when there is no output in it.
    pub fn read(path: &Path, header: Header) -> Result<Self, SpecError> {
        let failed = |message: String| SpecError::new(path, message);
        let file = File::open(path).map_err(|error| failed(format!("cannot be read: {error}")))?;
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut first: Option<First> = None;
        // Each part is wider than the one before it.
        let mut parts: Vec<Rows> = Vec::new();
        let (mut line, mut number) = (String::new(), 0_u64);
        let mut row = Vec::new();
        loop {
            line.clear();
            let at = |problem: &str| failed(format!("line {}: {problem}", number + 1));
            if reader.read_line(&mut line).map_err(|error| at(&error.to_string()))? == 0 {
                break;
            }
            let text = line.trim_end_matches(['\n', '\r']).trim_start_matches('\u{feff}');
            row.clear();
            cells(text, &mut |cell| row.push(Cell::written(cell))).map_err(at)?;
            number += 1;
            if row.len() > MOST_WIDTH {
                return Err(failed(format!("line {number} has {} cells, more than {MOST_WIDTH}; write one output in each row", row.len())));
            }
            match (&mut first, parts.first()) {
                (Some(first), Some(part)) => first.compare(part.row(0), &row),
                _ => first = Some(First::new(text)),
            }
            let width = parts.last().map_or(0, Rows::width);
            if row.len() > width {
                if header == Header::Present && width > 0 {
                    return Err(failed(format!("line {number} has {} cells, the header {width}; name all columns", row.len())));
                }
                parts.push(Rows::new(row.len()));
            }
            if let Some(part) = parts.last_mut() {
                row.resize(part.width(), Cell::absent());
                part.push(&row);
            }
        }
        let (Some(first), Some(rows)) = (first, joined(parts).map_err(failed)?) else {
            return Err(failed("is empty; it must hold one output in each row".to_owned()));
        };
        let names = match header {
            Header::Present => Some(first.names),
            Header::Detect if first.is_header() => Some(first.names),
            _ => None,
        };
        let rows = if names.is_some() { rows.without_first() } else { rows };
        if rows.is_empty() {
            return Err(failed("holds a header and no outputs; say --header absent if its only row is an output".to_owned()));
        }
        Ok(Self { name: path.display().to_string(), header: names, rows })
    }
}

/// All rows, as wide as the last part.
fn joined(parts: Vec<Rows>) -> Result<Option<Rows>, String> {
    let (width, rows) = (parts.last().map_or(0, Rows::width), parts.iter().map(Rows::len).sum::<usize>());
    if parts.len() > 1 && rows.saturating_mul(width) > MOST_FILLED {
        return Err(format!("its widest row has {width} cells, and to fill up all {rows} rows to that needs too much memory; shorten it"));
    }
    Ok(parts.into_iter().reduce(|mut rows, mut part| {
        rows.widen(width);
        part.widen(width);
        rows.append(&part);
        rows
    }))
}

/// The first row, which may be a header.
struct First {
    names: Vec<String>,
    /// Whether one of its cells occurs again in its column.
    again: bool,
}

impl First {
    fn new(text: &str) -> Self {
        let mut names = Vec::new();
        // The line has been read once already.
        let _ = cells(text, &mut |name| names.push(name.to_owned()));
        Self { names, again: false }
    }

    fn compare(&mut self, first: &[Cell], row: &[Cell]) {
        self.again = self.again || first.iter().zip(row).any(|(first, cell)| first == cell);
    }

    fn is_header(&self) -> bool {
        !self.again && self.names.iter().all(|name| !name.is_empty() && name.parse::<f64>().is_err())
    }
}

impl Cell {
    /// A cell as files write it: a number, nothing, or a symbol's name.
    fn written(text: &str) -> Self {
        match text.parse() {
            Ok(number) => Self::number(number),
            Err(_) if text.is_empty() => Self::absent(),
            Err(_) => Self::symbol(text),
        }
    }
}

impl Rows {
    fn without_first(self) -> Self {
        let mut rest = Self::new(self.width());
        self.iter().skip(1).for_each(|row| rest.push(row));
        rest
    }
}

/// The cells of a line, without the blanks around them.
fn cells(line: &str, sink: &mut impl FnMut(&str)) -> Result<(), &'static str> {
    if line.is_empty() {
        return Err("is empty; write \"\" for an output that holds nothing, or delete the line");
    }
    if line.contains('\r') {
        return Err("holds a carriage return; end lines with a line feed, and write one output on each");
    }
    if !line.contains('"') {
        line.split(',').for_each(|cell| sink(cell.trim()));
        return Ok(());
    }
    // With its end, which is then part of a quoted cell that is not closed.
    let line = format!("{line}\n");
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) if record.iter().any(|cell| cell.ends_with('\n')) => {
            Err("a quotation mark is not closed; an output must stand on one line, and \"\" inside quotes is a quotation mark")
        }
        Ok(true) => {
            record.iter().for_each(|cell| sink(cell.trim()));
            Ok(())
        }
        _ => Err("is not a row of comma-separated cells"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::FileFailurePersistence;

    use super::*;

    fn read(text: &str, header: Header) -> Result<Outputs, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Outputs::read(file.path(), header).map_err(|error| error.message)
    }

    /// The rows as a person would write them.
    fn shown(text: &str, header: Header) -> Vec<String> {
        let rows = read(text, header).unwrap().rows;
        rows.iter().map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn cells_are_numbers_symbols_or_absent() {
        let text = "1, -2.5e-3 ,⊥\r\nnan,inf,\"a, \"\"b\"\"\"\r\n0,,\r\n5,true\r\n\"\"\r\n+7,-infinity,None";
        let wanted = ["1 -0.0025 ⊥", "NaN inf a, \"b\"", "0 ∅ ∅", "5 true ∅", "∅ ∅ ∅", "7 -inf None"];
        assert_eq!(shown(text, Header::Detect), wanted);
        assert_eq!(Cell::written("NaN"), Cell::number(f64::NAN));
    }

    #[test]
    fn a_later_longer_row_widens_the_earlier_ones() {
        assert_eq!(shown("1\n2,3\n4,5,6\n", Header::Detect), ["1 ∅ ∅", "2 3 ∅", "4 5 6"]);
    }

    #[test]
    fn a_header_is_text_that_does_not_come_again() {
        let names = |text| read(text, Header::Detect).unwrap().header;
        assert_eq!(names("y,state\n1,ok\n2,failed"), Some(vec!["y".to_owned(), "state".to_owned()]));
        assert_eq!(names("\u{feff}answer\nyes\nno"), Some(vec!["answer".to_owned()]));
        assert_eq!(names("yes\nno\nyes"), None);
        assert_eq!(names("NaN\n1\n2"), None);
        assert_eq!(names("y,1\n1,1\n"), None);
        assert_eq!(read("yes\nyes", Header::Present).unwrap().rows.len(), 1);
        assert_eq!(read("y\n1", Header::Absent).unwrap().rows.len(), 2);
    }

    #[test]
    fn what_is_not_a_table_of_outputs_is_refused() {
        for (text, header, wanted) in [
            ("", Header::Detect, "is empty"),
            ("y\n", Header::Detect, "holds a header and no outputs"),
            ("1\n\n2\n", Header::Detect, "line 2: is empty"),
            ("1\n2\n\n", Header::Detect, "line 3: is empty"),
            ("1\n\"2\n3\n", Header::Detect, "line 2: a quotation mark is not closed"),
            ("y\n1,2\n", Header::Present, "line 2 has 2 cells, the header 1"),
            // Once one output, and once all but the first were lost.
            ("1\r2\r3\r", Header::Detect, "line 1: holds a carriage return"),
            ("\"1\"\r2\n", Header::Detect, "line 1: holds a carriage return"),
            // Once two outputs, of which programs for tables make one.
            ("a\"b,\"c\n\"d\"\n", Header::Detect, "line 1: a quotation mark is not closed"),
            (&",".repeat(MOST_WIDTH), Header::Detect, "line 1 has 100001 cells, more than 100000"),
        ] {
            let problem = read(text, header).err().unwrap_or_else(|| panic!("{text:?} was read"));
            assert!(problem.contains(wanted), "{text:?}: {problem}");
        }
        // 16,385 rows of up to 100,000 cells are more than 2^30.
        let lopsided = format!("{}{}\n", "1\n".repeat(1 << 14), ",".repeat(MOST_WIDTH - 1));
        let problem = read(&lopsided, Header::Detect).err().unwrap();
        assert!(problem.contains("its widest row has 100000 cells, and to fill up all 16385 rows"), "{problem}");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [b'1', b'\n', 0xff, b'\n']).unwrap();
        let problem = Outputs::read(file.path(), Header::Detect).err().unwrap().message;
        assert!(problem.contains("line 2") && problem.contains("UTF-8"), "{problem}");
        assert!(Outputs::read(Path::new("no/such.csv"), Header::Detect).err().unwrap().message.contains("cannot be read"));
    }

    /// What a program for tables makes of the file: the oracle.
    fn records(bytes: &[u8]) -> Vec<Vec<String>> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
        reader.into_records().map(|record| record.unwrap().iter().map(|cell| cell.trim().to_owned()).collect()).collect()
    }

    /// One output for each record, cell by cell; or an error, of which there is a reason.
    fn complete_or_refused(bytes: &[u8]) -> Result<(), TestCaseError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let all = match Outputs::read(file.path(), Header::Absent) {
            Ok(all) => all,
            Err(error) => {
                prop_assert!(!error.message.is_empty());
                prop_assert!(Outputs::read(file.path(), Header::Present).is_err());
                return Ok(());
            }
        };
        let records = records(bytes);
        prop_assert_eq!(all.rows.len(), records.len());
        prop_assert_eq!(all.rows.width(), records.iter().map(Vec::len).max().unwrap());
        for (row, record) in all.rows.iter().zip(&records) {
            for (index, cell) in row.iter().enumerate() {
                let text = record.get(index).map_or("", String::as_str);
                let expected = text.parse().map_or_else(|_| Cell::symbol(if text.is_empty() { "∅" } else { text }), Cell::number);
                prop_assert_eq!(*cell, expected, "{:?}", text);
            }
        }
        for header in [Header::Detect, Header::Present] {
            if let Ok(found) = Outputs::read(file.path(), header) {
                prop_assert_eq!(found.rows.len() + usize::from(found.header.is_some()), records.len());
            }
        }
        Ok(())
    }

    /// A cell as somebody may write it.
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
        prop_oneof![prop::sample::select(words.to_vec()).prop_map(str::to_owned), "[a-b0-9 \"⊥.\u{0}]{0,5}"]
    }

    /// A table with all the liberties that programs take.
    fn table() -> impl Strategy<Value = String> {
        let row = prop::collection::vec(cell(), 1..5).prop_map(|cells| cells.join(","));
        let end = prop::sample::select(vec!["\n", "\r\n", "\n", "\r\n", "\r", "\n\n", "\r\r\n", ""]);
        let first = prop::sample::select(vec!["", "\u{feff}"]);
        (first, prop::collection::vec((row, end), 0..8))
            .prop_map(|(first, rows)| rows.into_iter().fold(first.to_owned(), |text, (row, end)| text + &row + end))
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 1024,
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/sample_files.txt"))),
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_bytes_are_complete_or_refused(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b','), Just(b'"'), Just(b'1')], 0..60)) {
            complete_or_refused(&bytes)?;
        }

        #[test]
        fn any_table_is_complete_or_refused(text in table()) {
            complete_or_refused(text.as_bytes())?;
        }

        #[test]
        fn cells_are_read_as_they_were_written(cells in prop::collection::vec(prop::collection::vec("[a-c ,\"1.⊥-]{0,4}", 1..4), 1..6), crlf in any::<bool>()) {
            // Another program's hand: all quotes doubled, all cells quoted.
            let quoted = |row: &Vec<String>| row.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect::<Vec<_>>().join(",");
            let text = cells.iter().map(quoted).collect::<Vec<_>>().join(if crlf { "\r\n" } else { "\n" });
            let found = read(&text, Header::Absent).unwrap().rows;
            prop_assert_eq!(found.len(), cells.len());
            for (row, cells) in found.iter().zip(&cells) {
                let expected: Vec<Cell> = cells.iter().map(|cell| Cell::written(cell.trim())).collect();
                prop_assert_eq!(&row[..cells.len()], &expected[..]);
                prop_assert!(row[cells.len()..].iter().all(|cell| *cell == Cell::absent()));
            }
        }
    }
}
