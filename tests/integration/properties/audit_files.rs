//! Any text is an audit that runs, or an error that names its file.

use std::path::Path;
use std::sync::LazyLock;

use dp_audit::{Settings, suite};
use proptest::prelude::*;

use super::cases;
use crate::harness::program::files;
use crate::harness::{Runnable as _, defaults, repository};

const NAME: &str = "some-file.toml";

/// The text is a valid audit, which then runs, or an error that names the file. Anything but a
/// panic.
fn accepted_or_named(text: &str) -> Result<(), TestCaseError> {
    match suite::parse(Path::new(NAME), text) {
        Ok(audit) => {
            prop_assert!(
                audit.statement_count() > 0 && audit.resolution > 0.0 && !audit.attacks.is_empty()
            );
            let statements = audit.statement_count();
            let report = vec![audit].run(Settings { draws: Some(40), ..defaults(1) });
            prop_assert_eq!(report.audits[0].results.len(), statements);
        }
        Err(error) => {
            let message = error.to_string();
            prop_assert!(
                message.lines().any(|line| line.starts_with(NAME) && line.len() > NAME.len() + 2),
                "{message}"
            );
        }
    }
    Ok(())
}

/// All audit files of the repository: what mutations start from.
static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut texts = Vec::new();
    let mut folders = vec![repository("audits"), repository("src/calibrate/boundary")];
    while let Some(folder) = folders.pop() {
        for path in files(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
});

/// What is written over a file or between its characters.
fn scrap() -> impl Strategy<Value = String> {
    let numbers = [
        "-1",
        "0",
        "0.0",
        "-0.0",
        "1e-320",
        "1e308",
        "1e400",
        "inf",
        "-inf",
        "nan",
        "1.5",
        "100000",
        "4294967296",
        "9223372036854775807",
    ];
    let syntax = [
        "[",
        "]",
        "{",
        "}",
        "=",
        ",",
        "\"",
        "'''",
        "#",
        "\n",
        "\u{0}",
        "ε",
        "[[pair]]\n",
        "true",
        "1979-05-27",
        "[]",
        "{}",
        "\"\"",
    ];
    prop_oneof![
        prop::sample::select(numbers.to_vec()).prop_map(str::to_owned),
        prop::sample::select(syntax.to_vec()).prop_map(str::to_owned),
        prop::string::string_regex("\\PC{0,4}").unwrap(),
    ]
}

#[derive(Clone, Debug)]
enum Change {
    Overwrite(usize, usize, String),
    Number(usize, String),
    CopyLine(usize, usize),
    CutLine(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<usize>(), 0..12_usize, scrap())
            .prop_map(|(at, length, scrap)| Change::Overwrite(at, length, scrap)),
        (any::<usize>(), scrap()).prop_map(|(at, scrap)| Change::Number(at, scrap)),
        (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Change::CopyLine(from, to)),
        any::<usize>().prop_map(Change::CutLine),
    ]
}

impl Change {
    fn apply(&self, text: &str) -> String {
        let mut lines: Vec<&str> = text.lines().collect();
        match self {
            Self::Overwrite(at, length, scrap) => {
                let characters: Vec<char> = text.chars().collect();
                let at = at % (characters.len() + 1);
                let end = (at + length).min(characters.len());
                characters[..at]
                    .iter()
                    .copied()
                    .chain(scrap.chars())
                    .chain(characters[end..].iter().copied())
                    .collect()
            }
            Self::Number(at, scrap) => {
                // The runs of digits, dots and underscores.
                let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == '_';
                let starts: Vec<usize> = text.match_indices(is_digit).map(|(at, _)| at).collect();
                let Some(&start) = starts.get(at % starts.len().max(1)) else {
                    return text.to_owned();
                };
                let end = text[start..]
                    .find(|c| !is_digit(c))
                    .map_or(text.len(), |length| start + length);
                format!("{}{scrap}{}", &text[..start], &text[end..])
            }
            Self::CopyLine(from, to) => {
                if let Some(&line) = lines.get(from % lines.len().max(1)) {
                    lines.insert(to % lines.len(), line);
                }
                lines.join("\n")
            }
            Self::CutLine(at) => {
                if !lines.is_empty() {
                    lines.remove(at % lines.len());
                }
                lines.join("\n")
            }
        }
    }
}

/// Random values under the keys that the format knows.
fn keyed() -> impl Strategy<Value = String> {
    let keys = [
        "name",
        "mechanism",
        "params",
        "claim",
        "relation",
        "reason",
        "expect",
        "source",
        "truth",
        "draws",
        "resolution",
        "attacks",
        "pairs",
        "pair",
        "epsilon",
        "delta",
        "left",
        "right",
        "value",
        "times",
        "patterns",
        "components",
        "accuracy",
        "data",
        "event",
        "probability",
        "equals",
        "within",
        "of",
        "component",
    ];
    let key = move || prop::sample::select(keys.to_vec());
    let words = [
        "laplace",
        "gaussian",
        "add-remove",
        "custom",
        "component-wise",
        "violated",
        "count",
        "pairs",
        "x",
    ];
    let leaf = prop_oneof![
        prop::sample::select(words.to_vec()).prop_map(|word| toml::Value::String(word.to_owned())),
        (-1000..1000_i64).prop_map(toml::Value::Integer),
        any::<f64>().prop_map(toml::Value::Float),
        any::<bool>().prop_map(toml::Value::Boolean),
    ];
    let tree = leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(toml::Value::Array),
            prop::collection::btree_map(key().prop_map(str::to_owned), inner, 0..4)
                .prop_map(|table| toml::Value::Table(table.into_iter().collect())),
        ]
    });
    prop::collection::btree_map(key().prop_map(str::to_owned), tree, 0..10)
        .prop_map(|table| table.into_iter().collect::<toml::Table>().to_string())
}

#[test]
fn kept_files_are_accepted_or_named() {
    for path in files(&repository("tests/corpus/audits")) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        accepted_or_named(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

proptest! {
    #![proptest_config(cases!(1024, "audit_files.txt"))]

    #[test]
    fn any_text_is_accepted_or_named(text in "\\PC{0,200}|[a-z\\[\\]{}=\"',.#\n 0-9-]{0,200}") {
        accepted_or_named(&text)?;
    }

    #[test]
    fn any_toml_with_known_keys_is_accepted_or_named(text in keyed()) {
        accepted_or_named(&text)?;
    }

    #[test]
    fn changed_files_are_accepted_or_named(file in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..5)) {
        let text = changes.iter().fold(file.get(&FILES).clone(), |text, change| change.apply(&text));
        accepted_or_named(&text)?;
    }
}
