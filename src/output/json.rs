//! JSON as it was written: the order of keys, keys that occur twice, the spelling of numbers.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A text that is nested deeper is read like any other text.
const MAX_DEPTH: usize = 64;

/// Stands before `NaN` and `Infinity` in place of a quotation mark's text. Unicode has no character
/// here.
const BARE: char = '\u{fdd0}';

/// A JSON value.
#[derive(Debug, PartialEq)]
pub enum Json<'a> {
    /// The members in their order; a key may occur twice.
    Object(Vec<(String, Json<'a>)>),
    /// The items.
    Array(Vec<Json<'a>>),
    /// A number as it is spelled.
    Number(&'a str),
    /// A text.
    Text(String),
    /// `null`, `true`, `false`.
    Word(&'a str),
    /// `NaN`, `Infinity` or `-Infinity`, which some programs write.
    Bare(String),
}

impl<'a> Json<'a> {
    /// The value of a cell, as it was written.
    pub fn of_raw(raw: &'a RawValue) -> Option<Self> {
        parsed(raw.get(), 0)
    }
}

/// Calls `work` with the text as JSON, if it is an object or an array.
pub fn with_parts<T>(text: &str, work: impl FnOnce(&Json) -> T) -> Option<T> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    if let Some(json) = parsed(text, 0) {
        return Some(work(&json));
    }
    parsed(&with_quoted_numbers(text)?, 0).map(|json| work(&json))
}

fn parsed(text: &str, depth: usize) -> Option<Json<'_>> {
    let text = text.trim_ascii();
    if depth > MAX_DEPTH {
        return None;
    }
    Some(match text.as_bytes().first()? {
        b'{' => {
            let Members(members) = serde_json::from_str(text).ok()?;
            let mut parts = Vec::with_capacity(members.len());
            for (key, raw) in members {
                parts.push((key, parsed(raw.get(), depth + 1)?));
            }
            Json::Object(parts)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            Json::Array(
                items.iter().map(|raw| parsed(raw.get(), depth + 1)).collect::<Option<_>>()?,
            )
        }
        b'"' => {
            let text: String = serde_json::from_str(text).ok()?;
            match text.strip_prefix(BARE) {
                Some(number) => Json::Bare(number.to_owned()),
                None => Json::Text(text),
            }
        }
        b't' | b'f' | b'n' => Json::Word(text),
        _ => Json::Number(text),
    })
}

/// The members of an object, in their order.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The text with quotation marks around `NaN` and `Infinity`; None if it has neither.
fn with_quoted_numbers(text: &str) -> Option<String> {
    const NAMES: [&str; 3] = ["NaN", "-Infinity", "Infinity"];
    let (mut quoted, mut in_string, mut changed) =
        (String::with_capacity(text.len() + 8), false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(name) = NAMES.into_iter().find(|name| !in_string && rest.starts_with(name)) {
            quoted.push('"');
            quoted.push(BARE);
            quoted.push_str(name);
            quoted.push('"');
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        with_parts(text, |json| format!("{json:?}"))
    }

    #[test]
    fn order_repetition_and_spelling_are_kept() {
        assert_eq!(
            shown(r#"{"b": 1E5, "a": [true, "x"], "b": 1.0}"#).unwrap(),
            r#"Object([("b", Number("1E5")), ("a", Array([Word("true"), Text("x")])), ("b", Number("1.0"))])"#
        );
        assert_eq!(shown(r#"[NaN, "NaN"]"#).unwrap(), r#"Array([Bare("NaN"), Text("NaN")])"#);
    }

    #[test]
    fn what_is_not_json_or_too_deep_is_not_parsed() {
        for text in ["{", "[1,", "1", "x", "", "{\"a\": }", "[NaN"] {
            assert_eq!(shown(text), None, "{text}");
        }
        assert!(shown(&("[".repeat(60) + &"]".repeat(60))).is_some());
        assert_eq!(shown(&("[".repeat(100_000) + &"]".repeat(100_000))), None);
    }
}
