//! Where in a file a problem is: line, column and the line itself with a mark under what is wrong.

use std::fmt::Write as _;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// One step of the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a table.
    Key(String),
    /// An item of an array.
    Index(usize),
}

/// The steps of a path such as `params.query.sum` or `pair.2.left`: parts that are numbers are items.
#[must_use]
pub fn steps(path: &str) -> Vec<Step> {
    let step = |part: &str| part.parse().map_or_else(|_| Step::Key(part.to_owned()), Step::Index);
    path.split('.').filter(|part| !part.is_empty()).map(step).collect()
}

/// The place of a value in the text of a file, or of the nearest thing around it that is written there.
#[must_use]
pub fn find(text: &str, path: &[Step]) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let first = match path.first()? {
        Step::Key(key) => root.get_ref().get(key.as_str())?,
        Step::Index(_) => return None,
    };
    let mut found = first;
    for step in &path[1..] {
        let next = match (found.get_ref(), step) {
            (DeValue::Table(table), Step::Key(key)) => table.get(key.as_str()),
            (DeValue::Array(items), Step::Index(index)) => items.get(*index),
            _ => None,
        };
        match next {
            Some(next) => found = next,
            None => break,
        }
    }
    Some(found.span())
}

/// `line 3, column 7: message`, and below it the line with a mark.
#[must_use]
pub fn located(text: &str, span: Range<usize>, message: &str) -> String {
    let start = floor(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let (number, column) = (text[..start].matches('\n').count() + 1, text[line_start..start].chars().count() + 1);
    let end = floor(text, span.end).clamp(start, line_start + line.len());
    let marked = text[start..end].chars().count().max(1);
    let mut located = format!("line {number}, column {column}: {message}");
    let gutter = " ".repeat(number.to_string().len());
    // Control characters would move the mark, and more.
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = write!(located, "\n {gutter} |\n {number} | {line}\n {gutter} | {}{}", " ".repeat(column - 1), "^".repeat(marked));
    located
}

/// The last character boundary at or before a place.
fn floor(text: &str, place: usize) -> usize {
    (0..=place.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "name = \"ä\"\nparams = { query = { sum = { lower = 3 } } }\n[[pair]]\nname = \"a\"\n[[pair]]\nname = \"b\"\nleft = [1]\n";

    fn at(path: &str) -> &'static str {
        &TEXT[find(TEXT, &steps(path)).unwrap()]
    }

    #[test]
    fn values_are_found_by_their_path() {
        assert_eq!(at("name"), "\"ä\"");
        assert_eq!(at("params.query.sum.lower"), "3");
        assert_eq!(at("pair.1.left"), "[1]");
        // What is not there is marked at what is around it.
        assert_eq!(at("params.query.sum.upper"), "{ lower = 3 }");
        assert_eq!(find(TEXT, &steps("claim")), None);
    }

    #[test]
    fn the_mark_is_under_what_is_wrong() {
        let span = find(TEXT, &steps("params.query.sum.lower")).unwrap();
        let shown = located(TEXT, span, "lower is 3");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "line 2, column 37: lower is 3");
        assert_eq!(lines[2], " 2 | params = { query = { sum = { lower = 3 } } }");
        assert_eq!(lines[3].find('^'), lines[2].find("3 }"));
        assert!(located("ä", 1..9, "cut").starts_with("line 1, column 1: cut"), "half a character");
        assert!(located("", 0..0, "empty").starts_with("line 1, column 1: empty"));
    }
}
