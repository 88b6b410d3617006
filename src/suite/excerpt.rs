//! Shows where in a file a problem is: line, column, and the line itself with a mark under the
//! problem.

use std::fmt::Write as _;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use crate::model::toml_place::{PathStep, find_innermost, line_at};

/// The byte range of a value in the text of a file. If the file does not contain the value, the
/// range of the innermost table or array around it.
#[must_use]
pub fn find_span(text: &str, path: &[PathStep<'_>]) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    find_innermost(root.get_ref(), path).map(Spanned::span)
}

/// The byte range of the last key of a path: that of an unknown key, whose value does not matter.
#[must_use]
pub fn find_key(text: &str, path: &[PathStep<'_>]) -> Option<Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let (PathStep::Key(last), around) = path.split_last()? else { return None };
    let table = if around.is_empty() {
        root.get_ref()
    } else {
        find_innermost(root.get_ref(), around)?.get_ref().as_table()?
    };
    table.iter().find(|(key, _)| key.get_ref() == last).map(|(key, _)| key.span())
}

/// `line 3, column 7: message`, and below it the line with a mark.
#[must_use]
pub fn with_location(text: &str, span: Range<usize>, message: &str) -> String {
    let start = char_boundary(text, span.start);
    let line_start = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let (number, column) = (line_at(text, start), text[line_start..start].chars().count() + 1);
    let end = char_boundary(text, span.end).clamp(start, line_start + line.len());
    let marked = text[start..end].chars().count().max(1);
    let mut message = format!("line {number}, column {column}: {message}");
    let gutter = " ".repeat(number.to_string().len());
    // Control characters would move the mark and could control the terminal.
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = write!(
        message,
        "\n {gutter} |\n {number} | {line}\n {gutter} | {}{}",
        " ".repeat(column - 1),
        "^".repeat(marked)
    );
    message
}

/// The last character boundary at or before a byte position.
fn char_boundary(text: &str, position: usize) -> usize {
    (0..=position.min(text.len()))
        .rev()
        .find(|position| text.is_char_boundary(*position))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::toml_place::path_steps;

    const TEXT: &str = "name = \"ä\"\nparams = { query = { sum = { lower = 3 } } }\n[[pair]]\nname = \"a\"\n[[pair]]\nname = \"b\"\nleft = [1]\n";

    fn at(path: &str) -> &'static str {
        &TEXT[find_span(TEXT, &path_steps(path)).unwrap()]
    }

    #[test]
    fn values_are_found_by_their_path() {
        assert_eq!(at("name"), "\"ä\"");
        assert_eq!(at("params.query.sum.lower"), "3");
        assert_eq!(at("pair.1.left"), "[1]");
        // A value that does not exist: the table around it.
        assert_eq!(at("params.query.sum.upper"), "{ lower = 3 }");
        assert_eq!(find_span(TEXT, &path_steps("claim")), None);
    }

    #[test]
    fn keys_are_found_by_their_path() {
        let key = |path: &str| find_key(TEXT, &path_steps(path)).map(|span| &TEXT[span]);
        assert_eq!(
            (key("name"), key("pair.1.left"), key("params.query.sum")),
            (Some("name"), Some("left"), Some("sum"))
        );
        assert_eq!(
            (key("claim"), key("params.upper"), key("pair.1"), key("")),
            (None, None, None, None)
        );
    }

    #[test]
    fn the_mark_is_under_the_value() {
        let span = find_span(TEXT, &path_steps("params.query.sum.lower")).unwrap();
        let message = with_location(TEXT, span, "lower is 3");
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(lines[0], "line 2, column 38: lower is 3");
        assert_eq!(lines[2], " 2 | params = { query = { sum = { lower = 3 } } }");
        assert_eq!(lines[3].find('^'), lines[2].find("3 }"));
        assert!(
            with_location("ä", 1..9, "cut").starts_with("line 1, column 1: cut"),
            "half a character"
        );
        assert!(with_location("", 0..0, "empty").starts_with("line 1, column 1: empty"));
    }
}
