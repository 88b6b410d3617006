//! What a text says: its numbers, its words, the leaves of JSON, its shape, spelling and length.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use super::MAX_WIDTH;
use super::json::{Json, with_parts};
use super::number::{Comma, Found, numbers, rest, spelling};

/// Words of a text that become entries, each by its place. The others are one entry.
const MAX_WORDS: usize = 1024;

/// The value of one entry of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf<'a> {
    /// A number.
    Number(f64),
    /// Anything else.
    Text(&'a str),
}

/// Which entries of a text are asked for, beside those that every text has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The numbers under all meanings of a comma.
    pub commas: bool,
    /// The numbers counted from the end, and by the word before them.
    pub moves: bool,
    /// The words, the first and the last character, capitals, the structure of JSON.
    pub words: bool,
}

impl Asked {
    /// All entries.
    pub const ALL: Self = Self { commas: true, moves: true, words: true };
}

/// The numbers of a text under each meaning of commas, with the names of their entries.
const NUMBERS: [(Comma, &str); 3] = [
    (Comma::Separates, " number "),
    (Comma::IsDecimal, " decimal-comma number "),
    (Comma::Groups, " grouped number "),
];
const FROM_END: &str = " number -";
const AFTER: &str = " number after ";
const TOKEN: &str = " token ";
/// Hexadecimal digits that a double has.
const TOKEN_DIGITS: usize = 13;
const WORD: &str = " word ";
/// What is asked for with the words.
const OF_WORDS: [&str; 5] = [" words", " first", " last", " capitals", " structure"];
/// The digits of a number that a double does not have.
const REST: [&str; 3] = [" rest", " digits", " last digit"];

impl Leaf<'_> {
    /// The entry with the shape of a text: the text with `#` for each number and `§` for each token.
    pub const SHAPE: &'static str = " shape";
    /// The entry with the length of a text, in bytes.
    pub const LENGTH: &'static str = " length";
    /// The entry with the unusual spellings of numbers, such as `1E5`.
    pub const SPELLING: &'static str = " spelling";

    /// Whether an entry exists only if commas may be part of numbers.
    pub fn is_with_commas(path: &str) -> bool {
        NUMBERS[1..].iter().any(|(_, name)| path.contains(name))
    }

    /// Whether an entry shows a number that another entry shows too, counted in another way.
    pub fn is_moved(path: &str) -> bool {
        path.contains(FROM_END) || path.contains(AFTER)
    }

    /// Whether an entry is a word or belongs to the words.
    pub fn is_word(path: &str) -> bool {
        path.starts_with(WORD) || OF_WORDS.contains(&path)
    }
}

/// Passes all entries of a text to `sink`, each with its path: `.count` and `.groups[2]` in JSON, `
/// number 1` in other texts. The second member of an object with the same key is `.count (2)`.
pub fn entries(text: &str, asked: Asked, sink: &mut dyn FnMut(&str, Leaf)) {
    let meanings = if asked.commas { &NUMBERS[..] } else { &NUMBERS[..1] };
    let found = Numbers::of(text);
    let is_json = with_parts(text, |json| {
        leaves(json, &mut String::new(), meanings, asked.moves, sink);
        if asked.words {
            let mut structure = String::new();
            write_structure(json, &mut structure);
            sink(" structure", Leaf::Text(&structure));
        }
    });
    if is_json.is_none() {
        number_entries(text, &found, &mut String::new(), meanings, asked.moves, sink);
    }
    let shape = found.shape(text);
    if asked.words {
        word_entries(text, &shape, sink);
    }
    sink(Leaf::SHAPE, Leaf::Text(&shape));
    sink(Leaf::SPELLING, Leaf::Text(&found.spelling(text)));
    sink(Leaf::LENGTH, Leaf::Number(text.len() as f64));
}

/// Whether a text is JSON with parts: an object or an array.
pub fn has_parts(text: &str) -> bool {
    with_parts(text, |_| ()).is_some()
}

/// The path of a key: `.count` of `count`, `[2]` of `[2]`.
pub fn key_path(key: &str) -> String {
    if key.starts_with('[') { key.to_owned() } else { format!(".{key}") }
}

/// The key at a path; None if it is not a leaf of JSON.
pub fn key_at(path: &str) -> Option<&str> {
    let of_text = NUMBERS.iter().any(|(_, name)| path.contains(name))
        || path.contains(TOKEN)
        || REST.iter().any(|name| path.ends_with(name));
    path.strip_prefix('.').or_else(|| path.starts_with('[').then_some(path)).filter(|_| !of_text)
}

/// The numbers and the tokens of a text.
struct Numbers(Vec<(Range<usize>, Found)>);

impl Numbers {
    fn of(text: &str) -> Self {
        let mut found = Vec::new();
        numbers(text, Comma::Separates, |range, what| found.push((range, what)));
        Self(found)
    }

    fn shape(&self, text: &str) -> String {
        let (mut shape, mut end) = (String::with_capacity(text.len()), 0);
        for (range, what) in &self.0 {
            shape.push_str(&text[end..range.start]);
            shape.push(if *what == Found::Token { '§' } else { '#' });
            end = range.end;
        }
        shape + &text[end..]
    }

    /// The unusual spellings, each with the place of its number.
    fn spelling(&self, text: &str) -> String {
        let mut all = String::new();
        let numbers = self.0.iter().filter(|(_, what)| *what != Found::Token);
        for ((range, _), index) in numbers.zip(1..) {
            if let Some(style) = spelling(&text[range.clone()]) {
                // Writing to a string does not fail.
                let _ = write!(all, "{index}:{style} ");
            }
        }
        all
    }
}

/// The leaves of a JSON value.
fn leaves(
    value: &Json,
    path: &mut String,
    meanings: &[(Comma, &str)],
    moves: bool,
    sink: &mut dyn FnMut(&str, Leaf),
) {
    let length = path.len();
    match value {
        Json::Object(members) if !members.is_empty() => {
            let mut times: HashMap<&str, usize> = HashMap::new();
            for (key, member) in members {
                path.push('.');
                path.push_str(key);
                write_again(times.entry(key).or_default(), path);
                leaves(member, path, meanings, moves, sink);
                path.truncate(length);
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for (item, index) in items.iter().zip(1..) {
                let _ = write!(path, "[{index}]");
                leaves(item, path, meanings, moves, sink);
                path.truncate(length);
            }
        }
        Json::Object(_) => sink(path, Leaf::Text("{}")),
        Json::Array(_) => sink(path, Leaf::Text("[]")),
        Json::Number(written) => {
            sink(path, Leaf::Number(written.parse().unwrap_or(f64::NAN)));
            rest_entries(written, path, sink);
        }
        Json::Word(word) => sink(path, Leaf::Text(word)),
        Json::Bare(number) => match number.as_str() {
            "Infinity" => sink(path, Leaf::Number(f64::INFINITY)),
            "-Infinity" => sink(path, Leaf::Number(f64::NEG_INFINITY)),
            other => sink(path, Leaf::Text(other)),
        },
        Json::Text(text) => match text.as_str() {
            "Infinity" | "inf" => sink(path, Leaf::Number(f64::INFINITY)),
            "-Infinity" | "-inf" => sink(path, Leaf::Number(f64::NEG_INFINITY)),
            text => {
                sink(path, Leaf::Text(text));
                number_entries(text, &Numbers::of(text), path, meanings, moves, sink);
            }
        },
    }
}

/// Counts one more occurrence of a name, and marks the path if it is not the first.
fn write_again(times: &mut usize, path: &mut String) {
    *times += 1;
    if *times > 1 {
        let _ = write!(path, " ({times})");
    }
}

/// The keys of a JSON value in their order, and the type of each leaf: `{n:#,x:[null,""]}`.
fn write_structure(value: &Json, structure: &mut String) {
    let mut list = |open: char, close: char, parts: &mut dyn Iterator<Item = (&str, &Json)>| {
        structure.push(open);
        for (key, part) in parts {
            structure.push_str(key);
            structure.push(':');
            write_structure(part, structure);
            structure.push(',');
        }
        structure.push(close);
    };
    match value {
        Json::Object(members) => {
            list('{', '}', &mut members.iter().map(|(key, part)| (key.as_str(), part)));
        }
        Json::Array(items) => list('[', ']', &mut items.iter().map(|part| ("", part))),
        Json::Number(_) => structure.push('#'),
        Json::Text(_) => structure.push_str("\"\""),
        Json::Word(word) => structure.push_str(word),
        Json::Bare(number) => structure.push_str(number),
    }
}

/// The numbers and tokens of a text that is not JSON.
fn number_entries(
    text: &str,
    found: &Numbers,
    path: &mut String,
    meanings: &[(Comma, &str)],
    moves: bool,
    sink: &mut dyn FnMut(&str, Leaf),
) {
    let length = path.len();
    for (comma, name) in meanings {
        let mut index = 0;
        let mut entry = |range: Range<usize>, what: Found| {
            let Found::Number(number) = what else { return };
            index += 1;
            // More numbers than columns are allowed make the output too wide, which is an error.
            if index <= MAX_WIDTH + 1 {
                let _ = write!(path, "{name}{index}");
                sink(path, Leaf::Number(number));
                if *comma == Comma::Separates {
                    rest_entries(&text[range], path, sink);
                }
                path.truncate(length);
            }
        };
        if *comma == Comma::Separates {
            found.0.iter().for_each(|(range, what)| entry(range.clone(), *what));
        } else {
            numbers(text, *comma, &mut entry);
        }
    }
    let tokens = found.0.iter().filter(|(_, what)| *what == Found::Token);
    for ((range, _), index) in tokens.zip(1..) {
        let token = &text[range.clone()];
        let _ = write!(path, "{TOKEN}{index}");
        sink(path, Leaf::Text(token));
        let digits = token.trim_start_matches("0x").trim_start_matches("0X");
        // A double has so many digits: of longer tokens the first and the last ones.
        let parts = if digits.len() > TOKEN_DIGITS {
            let (first, last) = (&digits[..TOKEN_DIGITS], &digits[digits.len() - TOKEN_DIGITS..]);
            vec![(" value", first), (" last value", last)]
        } else {
            vec![(" value", digits)]
        };
        let token = path.len();
        for (name, digits) in parts {
            if let Ok(value) = u64::from_str_radix(digits, 16) {
                path.push_str(name);
                sink(path, Leaf::Number(value as f64));
                path.truncate(token);
            }
        }
        path.truncate(length);
    }
    if moves {
        moved_entries(text, found, path, sink);
    }
}

/// The numbers of a text counted from its end, and by the word before them.
fn moved_entries(text: &str, found: &Numbers, path: &mut String, sink: &mut dyn FnMut(&str, Leaf)) {
    let length = path.len();
    let only_numbers = || {
        found.0.iter().filter_map(|(range, what)| match what {
            Found::Number(number) => Some((range, *number)),
            Found::Token => None,
        })
    };
    let count = only_numbers().count();
    let (mut times, mut end): (HashMap<&str, usize>, usize) = (HashMap::new(), 0);
    for ((range, number), index) in only_numbers().zip(0..) {
        let _ = write!(path, "{FROM_END}{}", count - index);
        sink(path, Leaf::Number(number));
        path.truncate(length);
        let word =
            text[end..range.start].split(|c: char| !c.is_alphabetic()).rfind(|w| !w.is_empty());
        end = range.end;
        let Some(word) = word else { continue };
        let _ = write!(path, "{AFTER}{word}");
        write_again(times.entry(word).or_default(), path);
        sink(path, Leaf::Number(number));
        path.truncate(length);
    }
}

/// The digits of a number that a double does not have.
fn rest_entries(written: &str, path: &mut String, sink: &mut dyn FnMut(&str, Leaf)) {
    let Some(rest) = rest(written) else { return };
    let last = &written[written.len() - 1..];
    let values = [Leaf::Number(rest.number), Leaf::Text(rest.digits), Leaf::Text(last)];
    let length = path.len();
    for (name, value) in REST.into_iter().zip(values) {
        path.push_str(name);
        sink(path, value);
        path.truncate(length);
    }
}

/// The words of a text, its first and last character, and how many of its letters are capitals.
fn word_entries(text: &str, shape: &str, sink: &mut dyn FnMut(&str, Leaf)) {
    let mut words = shape.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    for (word, index) in words.by_ref().take(MAX_WORDS).zip(1..) {
        sink(&format!("{WORD}{index}"), Leaf::Text(word));
    }
    let others = words.collect::<Vec<_>>().join(" ");
    if !others.is_empty() {
        sink(" words", Leaf::Text(&others));
    }
    let mut character = [0; 4];
    if let Some(first) = text.chars().next() {
        sink(" first", Leaf::Text(first.encode_utf8(&mut character)));
    }
    if let Some(last) = text.chars().next_back() {
        sink(" last", Leaf::Text(last.encode_utf8(&mut character)));
    }
    sink(" capitals", Leaf::Number(text.chars().filter(|c| c.is_uppercase()).count() as f64));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, asked: Asked) -> Vec<(String, String)> {
        let mut found = Vec::new();
        entries(text, asked, &mut |path, leaf| {
            let value = match leaf {
                Leaf::Number(number) => number.to_string(),
                Leaf::Text(text) => format!("'{text}'"),
            };
            found.push((path.to_owned(), value));
        });
        found
    }

    fn is_found(text: &str, wanted: &[(&str, &str)]) {
        let found = all(text, Asked::default());
        let found: Vec<(&str, &str)> =
            found.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn a_text_has_numbers_a_shape_and_a_length() {
        is_found(
            "count: -1.5!",
            &[
                (" number 1", "-1.5"),
                (" shape", "'count: #!'"),
                (" spelling", "''"),
                (" length", "12"),
            ],
        );
        is_found("", &[(" shape", "''"), (" spelling", "''"), (" length", "0")]);
        let words: Vec<(String, String)> =
            all("two red, 5 blue", Asked { words: true, ..Asked::default() })
                .into_iter()
                .filter(|(path, _)| path.starts_with(WORD))
                .collect();
        let wanted = [(" word 1", "'two'"), (" word 2", "'red'"), (" word 3", "'blue'")];
        assert_eq!(words, wanted.map(|(path, value)| (path.to_owned(), value.to_owned())));
    }

    #[test]
    fn the_leaves_of_json_have_paths() {
        is_found(
            r#"{"n": 5, "x": {"y": [1.5, null, "a 7"]}, "e": []}"#,
            &[
                (".n", "5"),
                (".x.y[1]", "1.5"),
                (".x.y[2]", "'null'"),
                (".x.y[3]", "'a 7'"),
                (".x.y[3] number 1", "7"),
                (".e", "'[]'"),
                (" shape", r#"'{"n": #, "x": {"y": [#, null, "a #"]}, "e": []}'"#),
                (" spelling", "''"),
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
                (" spelling", "''"),
                (" length", "45"),
            ],
        );
    }

    #[test]
    fn what_only_begins_like_json_is_a_text() {
        is_found(
            "{3 of 4",
            &[
                (" number 1", "3"),
                (" number 2", "4"),
                (" shape", "'{# of #'"),
                (" spelling", "''"),
                (" length", "7"),
            ],
        );
        is_found("[NaN", &[(" shape", "'[NaN'"), (" spelling", "''"), (" length", "4")]);
    }

    fn of(text: &str, part: &str) -> Vec<String> {
        let found = all(text, Asked::ALL).into_iter().filter(|(path, _)| path.contains(part));
        found.map(|(path, value)| format!("{path}={value}")).collect()
    }

    #[test]
    fn numbers_are_counted_from_the_end_and_by_the_word_before_them() {
        assert_eq!(
            of("count 5, total 7 and 9", " number "),
            [
                " number 1=5",
                " number 2=7",
                " number 3=9",
                " decimal-comma number 1=5",
                " decimal-comma number 2=7",
                " decimal-comma number 3=9",
                " grouped number 1=5",
                " grouped number 2=7",
                " grouped number 3=9",
                " number -3=5",
                " number after count=5",
                " number -2=7",
                " number after total=7",
                " number -1=9",
                " number after and=9",
            ]
        );
        assert_eq!(of("a 1 a 2", AFTER), [" number after a=1", " number after a (2)=2"]);
    }

    #[test]
    fn tokens_spellings_and_further_digits_are_entries() {
        assert_eq!(of("id 3f2a", TOKEN), [" token 1='3f2a'", " token 1 value=16170"]);
        assert_eq!(
            of("00000000000010a2", " value"),
            [" token 1 value=1", " token 1 last value=4258"]
        );
        assert_eq!(of("id 3f2a 7", " shape"), [" shape='id § #'"]);
        assert_eq!(of("1e5 2 +3", Leaf::SPELLING), [" spelling='1:#e# 3:+# '"]);
        assert_eq!(
            of("[9007199254740995]", "[1]"),
            ["[1]=9007199254740996", "[1] rest=-1", "[1] digits=''", "[1] last digit='5'"]
        );
        assert_eq!(of("aX", " capitals"), [" capitals=1"]);
        assert_eq!(
            (of("aX", " first"), of("aX", " last")),
            (vec![" first='a'".to_owned()], vec![" last='X'".to_owned()])
        );
    }

    #[test]
    fn json_shows_its_order_its_types_and_repeated_keys() {
        assert_eq!(of(r#"{"b": 1, "a": 2, "b": 3}"#, ".b"), [".b=1", ".b (2)=3"]);
        let structure = |text: &str| of(text, " structure");
        assert_eq!(structure(r#"{"b": 1, "a": null}"#), [" structure='{b:#,a:null,}'"]);
        let texts =
            [r#"{"a": null, "b": 1}"#, r#"{"b": 1, "a": "null"}"#, r#"{"b": "x", "a": null}"#];
        assert!(texts.iter().all(|text| structure(text) != structure(r#"{"b": 1, "a": null}"#)));
    }

    #[test]
    fn all_words_are_entries() {
        let text = (0..40).map(|index| format!("w{}", "a".repeat(index))).collect::<Vec<_>>();
        assert_eq!(of(&text.join(" "), " word 40").len(), 1);
    }
}
