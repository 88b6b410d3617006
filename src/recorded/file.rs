//! A file of outputs: comma-separated, one row an output, each cell a number or a symbol.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::cell::{Cell, Rows};
use crate::error::SpecError;

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
        let mut rows = Rows::new(1);
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
            match &mut first {
                None => {
                    rows = Rows::new(row.len());
                    rows.push(&row);
                    first = Some(First::new(text));
                    continue;
                }
                Some(first) => first.compare(rows.row(0), &row),
            }
            if row.len() > rows.width() {
                if header == Header::Present {
                    return Err(failed(format!("line {number} has {} cells, the header {}; name all columns", row.len(), rows.width())));
                }
                rows.widen(row.len());
            }
            row.resize(rows.width(), Cell::absent());
            rows.push(&row);
        }
        let Some(first) = first else { return Err(failed("is empty; it must hold one output in each row".to_owned())) };
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
    if !line.contains('"') {
        line.split(',').for_each(|cell| sink(cell.trim()));
        return Ok(());
    }
    if line.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 {
        return Err("a quotation mark is not closed; an output must stand on one line, and \"\" inside quotes is a quotation mark");
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => record.iter().for_each(|cell| sink(cell.trim())),
        _ => return Err("is not a row of comma-separated cells"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
        ] {
            let problem = read(text, header).err().unwrap_or_else(|| panic!("{text:?} was read"));
            assert!(problem.contains(wanted), "{text:?}: {problem}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [b'1', b'\n', 0xff, b'\n']).unwrap();
        let problem = Outputs::read(file.path(), Header::Detect).err().unwrap().message;
        assert!(problem.contains("line 2") && problem.contains("UTF-8"), "{problem}");
        assert!(Outputs::read(Path::new("no/such.csv"), Header::Detect).err().unwrap().message.contains("cannot be read"));
    }
}
