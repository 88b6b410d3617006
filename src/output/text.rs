//! What a text says: its numbers, its words, the leaves of JSON, its shape and its length.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::Value;

use super::MAX_WIDTH;

/// Words of a text that become entries.
const MAX_WORDS: usize = 32;

/// The value of one entry of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf<'a> {
    /// A number.
    Number(f64),
    /// Anything else.
    Text(&'a str),
}

/// What a comma between two digits means.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comma {
    /// It separates two numbers.
    Separates,
    /// It is the decimal mark; dots may separate groups of three digits.
    IsDecimal,
    /// It separates groups of three digits.
    Groups,
}

/// The numbers of a text under each meaning of commas, with the names of their entries.
const NUMBERS: [(Comma, &str); 3] = [
    (Comma::Separates, " number "),
    (Comma::IsDecimal, " decimal-comma number "),
    (Comma::Groups, " grouped number "),
];
const WORD: &str = " word ";

impl Leaf<'_> {
    /// The entry with the shape of a text: the text with `#` for each number.
    pub const SHAPE: &'static str = " shape";
    /// The entry with the length of a text, in bytes.
    pub const LENGTH: &'static str = " length";

    /// Whether an entry exists only if commas may be part of numbers.
    pub fn is_with_commas(path: &str) -> bool {
        NUMBERS[1..].iter().any(|(_, name)| path.contains(name))
    }

    /// Whether an entry is a word.
    pub fn is_word(path: &str) -> bool {
        path.starts_with(WORD)
    }
}

/// Passes all entries of a text to `sink`, each with its path: `.count` and `.groups[2]` in JSON, `
/// number 1` in other texts. `commas` asks for the numbers under all meanings of a comma, `words`
/// for the words.
pub fn entries(text: &str, commas: bool, words: bool, sink: &mut dyn FnMut(&str, Leaf)) {
    let meanings = if commas { &NUMBERS[..] } else { &NUMBERS[..1] };
    match parse_json(text) {
        Some(value) => leaves(&value, &mut String::new(), meanings, sink),
        None => number_entries(text, &mut String::new(), meanings, sink),
    }
    let shape = shape(text);
    if words {
        let all = shape.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        all.take(MAX_WORDS)
            .zip(1..)
            .for_each(|(word, index)| sink(&format!("{WORD}{index}"), Leaf::Text(word)));
    }
    sink(Leaf::SHAPE, Leaf::Text(&shape));
    sink(Leaf::LENGTH, Leaf::Number(text.len() as f64));
}

/// Whether a text is JSON with parts: an object or an array.
pub fn has_parts(text: &str) -> bool {
    parse_json(text).is_some()
}

/// The path of a key: `.count` of `count`, `[2]` of `[2]`.
pub fn key_path(key: &str) -> String {
    if key.starts_with('[') { key.to_owned() } else { format!(".{key}") }
}

/// The key at a path; None if it is not a leaf of JSON.
pub fn key_at(path: &str) -> Option<&str> {
    let of_text = NUMBERS.iter().any(|(_, name)| path.contains(name));
    path.strip_prefix('.').or_else(|| path.starts_with('[').then_some(path)).filter(|_| !of_text)
}

/// The text as JSON, if it is an object or an array. `NaN` and `Infinity`, which some programs
/// write, are accepted.
fn parse_json(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let strict = serde_json::from_str(text).ok();
    strict.or_else(|| serde_json::from_str(&with_quoted_numbers(text)?).ok())
}

/// The text with quotation marks around `NaN` and `Infinity`; None if it has neither.
fn with_quoted_numbers(text: &str) -> Option<String> {
    const NAMES: [&str; 3] = ["NaN", "-Infinity", "Infinity"];
    let (mut quoted, mut in_string, mut changed) =
        (String::with_capacity(text.len() + 8), false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(name) = NAMES.into_iter().find(|name| !in_string && rest.starts_with(name)) {
            quoted.extend(["\"", name, "\""]);
            rest = &rest[name.len()..];
            changed = true;
            continue;
        }
        let escaped = in_string && c == '\\';
        in_string ^= c == '"';
        let length = c.len_utf8()
            + if escaped {
                rest[c.len_utf8()..].chars().next().map_or(0, char::len_utf8)
            } else {
                0
            };
        quoted.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    changed.then_some(quoted)
}

/// The leaves of a JSON value.
fn leaves(
    value: &Value,
    path: &mut String,
    meanings: &[(Comma, &str)],
    sink: &mut dyn FnMut(&str, Leaf),
) {
    let length = path.len();
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, member) in members {
                path.push('.');
                path.push_str(key);
                leaves(member, path, meanings, sink);
                path.truncate(length);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (item, index) in items.iter().zip(1..) {
                // Writing to a string does not fail.
                let _ = write!(path, "[{index}]");
                leaves(item, path, meanings, sink);
                path.truncate(length);
            }
        }
        Value::Number(number) => sink(path, Leaf::Number(number.as_f64().unwrap_or(f64::NAN))),
        Value::String(text) => match text.as_str() {
            "Infinity" | "inf" => sink(path, Leaf::Number(f64::INFINITY)),
            "-Infinity" | "-inf" => sink(path, Leaf::Number(f64::NEG_INFINITY)),
            text => {
                sink(path, Leaf::Text(text));
                number_entries(text, path, meanings, sink);
            }
        },
        other => sink(path, Leaf::Text(&other.to_string())),
    }
}

/// The numbers of a text that is not JSON.
fn number_entries(
    text: &str,
    path: &mut String,
    meanings: &[(Comma, &str)],
    sink: &mut dyn FnMut(&str, Leaf),
) {
    let length = path.len();
    for (comma, name) in meanings {
        let mut index = 0;
        numbers(text, *comma, |_, number| {
            index += 1;
            // More numbers than columns are allowed make the output too wide, which is an error.
            if index <= MAX_WIDTH + 1 {
                let _ = write!(path, "{name}{index}");
                sink(path, Leaf::Number(number));
                path.truncate(length);
            }
        });
    }
}

fn shape(text: &str) -> String {
    let (mut shape, mut end) = (String::with_capacity(text.len()), 0);
    numbers(text, Comma::Separates, |range, _| {
        shape.push_str(&text[end..range.start]);
        shape.push('#');
        end = range.end;
    });
    shape + &text[end..]
}

/// Finds the numbers of a text: digits with an optional sign, fraction and exponent. After a letter
/// or a digit, `-` and `+` are no signs.
fn numbers(text: &str, comma: Comma, mut sink: impl FnMut(Range<usize>, f64)) {
    let bytes = text.as_bytes();
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let after_digits =
        |at: usize| (at..bytes.len()).find(|at| !digit(*at)).unwrap_or(bytes.len().max(at));
    // A separator and exactly three digits.
    let group = |at: usize, separator: u8| is(at, separator) && after_digits(at + 1) == at + 4;
    let mut at = 0;
    while at < bytes.len() {
        if !(digit(at) || is(at, b'.') && digit(at + 1)) {
            at += 1;
            continue;
        }
        let mut end = after_digits(at);
        match comma {
            Comma::Separates => {}
            Comma::Groups => {
                while group(end, b',') {
                    end += 4;
                }
            }
            Comma::IsDecimal => {
                let mut whole = end;
                while group(whole, b'.') {
                    whole += 4;
                }
                if is(whole, b',') && digit(whole + 1) {
                    end = after_digits(whole + 1);
                }
            }
        }
        let has_decimal_comma = comma == Comma::IsDecimal && text[at..end].contains(',');
        if !has_decimal_comma && is(end, b'.') && digit(end + 1) {
            end = after_digits(end + 1);
        }
        if is(end, b'e') || is(end, b'E') {
            let exponent = end + 1 + usize::from(is(end + 1, b'-') || is(end + 1, b'+'));
            end = if digit(exponent) { after_digits(exponent) } else { end };
        }
        let written = &text[at..end];
        let number = match comma {
            _ if !written.contains(',') => written.parse(),
            Comma::IsDecimal => written.replace('.', "").replace(',', ".").parse(),
            _ => written.replace(',', "").parse(),
        };
        let before = &text[..at];
        let sign = ["-", "−", "+"].into_iter().find(|sign| before.ends_with(sign));
        let sign = sign.filter(|sign| !before[..at - sign.len()].ends_with(char::is_alphanumeric));
        let number: f64 = number.unwrap_or(f64::NAN);
        sink(
            at - sign.map_or(0, str::len)..end,
            if sign.is_some_and(|sign| sign != "+") { -number } else { number },
        );
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers_of(text: &str, comma: Comma) -> Vec<f64> {
        let mut found = Vec::new();
        numbers(text, comma, |_, number| found.push(number));
        found
    }

    fn all(text: &str, commas: bool, words: bool) -> Vec<(String, String)> {
        let mut found = Vec::new();
        entries(text, commas, words, &mut |path, leaf| {
            let value = match leaf {
                Leaf::Number(number) => number.to_string(),
                Leaf::Text(text) => format!("'{text}'"),
            };
            found.push((path.to_owned(), value));
        });
        found
    }

    fn is_found(text: &str, wanted: &[(&str, &str)]) {
        let found = all(text, false, false);
        let found: Vec<(&str, &str)> =
            found.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn numbers_have_signs_fractions_and_exponents() {
        let of = |text: &str| numbers_of(text, Comma::Separates);
        assert_eq!(of("12 people, -3.5e-2 or +.25 (−7)."), [12.0, -0.035, 0.25, -7.0]);
        assert_eq!(of("2024-01-05 x-1 1e 1e+ 1.2.3"), [2024.0, 1.0, 5.0, 1.0, 1.0, 1.0, 1.2, 0.3]);
        assert_eq!(of("no number."), [0.0; 0]);
        assert_eq!(of("1e999 5kg"), [f64::INFINITY, 5.0]);
        assert!(of("-0")[0].is_sign_negative());
    }

    #[test]
    fn a_comma_has_three_meanings() {
        let text = "1,234.5 and -12,75";
        assert_eq!(numbers_of(text, Comma::Separates), [1.0, 234.5, -12.0, 75.0]);
        assert_eq!(numbers_of(text, Comma::Groups), [1234.5, -12.0, 75.0]);
        assert_eq!(numbers_of("1.234.567,5 and 1.5", Comma::IsDecimal), [1_234_567.5, 1.5]);
        assert_eq!(numbers_of("12,75; 1,2,3", Comma::IsDecimal), [12.75, 1.2, 3.0]);
    }

    #[test]
    fn a_text_has_numbers_a_shape_and_a_length() {
        is_found(
            "count: -1.5!",
            &[(" number 1", "-1.5"), (" shape", "'count: #!'"), (" length", "12")],
        );
        is_found("", &[(" shape", "''"), (" length", "0")]);
        let words: Vec<(String, String)> = all("two red, 5 blue", false, true)
            .into_iter()
            .filter(|(path, _)| Leaf::is_word(path))
            .collect();
        let wanted = [(" word 1", "'two'"), (" word 2", "'red'"), (" word 3", "'blue'")];
        assert_eq!(words, wanted.map(|(path, value)| (path.to_owned(), value.to_owned())));
    }

    #[test]
    fn the_leaves_of_json_have_paths() {
        is_found(
            r#"{"n": 5, "x": {"y": [1.5, null, "a 7"]}, "e": []}"#,
            &[
                (".e", "'[]'"),
                (".n", "5"),
                (".x.y[1]", "1.5"),
                (".x.y[2]", "'null'"),
                (".x.y[3]", "'a 7'"),
                (".x.y[3] number 1", "7"),
                (" shape", r#"'{"n": #, "x": {"y": [#, null, "a #"]}, "e": []}'"#),
                (" length", "49"),
            ],
        );
    }

    #[test]
    fn infinities_and_nan_are_read_outside_of_strings_only() {
        is_found(
            r#"{"a\"NaN": NaN, "b": [-Infinity, "Infinity"]}"#,
            &[
                (".a\"NaN", "'NaN'"),
                (".b[1]", "-inf"),
                (".b[2]", "inf"),
                (" shape", r#"'{"a\"NaN": NaN, "b": [-Infinity, "Infinity"]}'"#),
                (" length", "45"),
            ],
        );
    }

    #[test]
    fn what_only_begins_like_json_is_a_text() {
        is_found(
            "{3 of 4",
            &[(" number 1", "3"), (" number 2", "4"), (" shape", "'{# of #'"), (" length", "7")],
        );
        is_found("[NaN", &[(" shape", "'[NaN'"), (" length", "4")]);
    }
}
