//! Where in the repository an audit file is, and in which of its lines a key: what CI servers need
//! to show a problem beside the text.

use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::model::file::read_text;
use crate::model::toml_place::{PathStep, find, line_at};

/// A place in the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, from the root of the repository; `None` for outputs that were collected elsewhere.
    pub file: Option<String>,
    /// The line, counted from 1, if it is known.
    pub line: Option<usize>,
}

impl Place {
    /// The first of these keys of the audit with this name in an audit file. An audit without a
    /// file has no place.
    #[must_use]
    pub fn of(file: &Path, audit: &str, root: Option<&Path>, keys: &[Key]) -> Self {
        if file.as_os_str().is_empty() {
            return Self::default();
        }
        let line = read_text(file)
            .ok()
            .and_then(|text| keys.iter().find_map(|key| key.line(&text, audit)));
        Self { file: Some(from_root(file, root)), line }
    }
}

/// A key of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A key that is not part of another one.
    Top(&'static str),
    /// The table with this number, counted from 0, in an array of tables.
    Table(&'static str, usize),
}

impl Key {
    /// Its line in the text of an audit file, counted from 1. In a file with several audits, the
    /// keys of the audit's own table come before those that all share.
    fn line(self, text: &str, audit: &str) -> Option<usize> {
        let file = DeTable::parse(text).ok()?;
        let shared = file.get_ref();
        let path = self.path();
        let value = own_table(shared, audit)
            .and_then(|own| find(own, &path))
            .or_else(|| find(shared, &path))?;
        Some(line_at(text, value.span().start))
    }

    fn path(self) -> Vec<PathStep<'static>> {
        match self {
            Self::Top(key) => vec![PathStep::Key(key)],
            Self::Table(name, index) => vec![PathStep::Key(name), PathStep::Index(index)],
        }
    }
}

/// The `[[audit]]` with this name, if the file has several audits.
fn own_table<'a, 'text>(file: &'a DeTable<'text>, name: &str) -> Option<&'a DeTable<'text>> {
    let DeValue::Array(audits) = file.get("audit")?.get_ref() else { return None };
    let mut tables = audits.iter().filter_map(|audit| {
        if let DeValue::Table(table) = audit.get_ref() { Some(table) } else { None }
    });
    let is_named = |table: &&DeTable<'_>| {
        table.get("name").is_some_and(|value| value.get_ref().as_str() == Some(name))
    };
    tables.find(is_named)
}

/// The root of the repository in GitHub Actions and GitLab CI.
#[must_use]
pub fn repository_root() -> Option<PathBuf> {
    ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"]
        .iter()
        .find_map(std::env::var_os)
        .filter(|root| !root.is_empty())
        .map(PathBuf::from)
}

/// The file as seen from the root of the repository, with slashes. A file that is not in the
/// repository stays as it is.
fn from_root(file: &Path, root: Option<&Path>) -> String {
    let inside = || {
        Some(
            fs::canonicalize(file)
                .ok()?
                .strip_prefix(fs::canonicalize(root?).ok()?)
                .ok()?
                .to_owned(),
        )
    };
    let file = inside().unwrap_or_else(|| file.to_owned());
    let parts = file.components().filter(|part| *part != Component::CurDir);
    let path = parts.collect::<PathBuf>().to_string_lossy().into_owned();
    if cfg!(windows) { path.replace('\\', "/") } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# ε\nname = \"ä\"\nclaim = { epsilon = 1 }\n\n[[accuracy]]\nname = \"a\"\n[[accuracy]]\nname = \"b\"\n";

    #[test]
    fn keys_are_found_by_line() {
        let line = |key: Key| key.line(TEXT, "ä");
        assert_eq!(line(Key::Top("name")), Some(2));
        assert_eq!(line(Key::Top("claim")), Some(3));
        assert_eq!(
            [0, 1, 2].map(|index| line(Key::Table("accuracy", index))),
            [Some(5), Some(7), None]
        );
        assert_eq!(line(Key::Top("stability")), None);
        assert_eq!(Key::Top("claim").line("[claim]\nepsilon = 1\n", "ä"), Some(1));
        assert_eq!(Key::Top("name").line("no TOML", "ä"), None);
    }

    #[test]
    fn an_audit_of_several_has_keys_of_its_own_and_shared_ones() {
        let text = "claim = { epsilon = 1 }\n[[audit]]\nname = \"a\"\nexpect = \"violated\"\n[[audit]]\nname = \"b\"\nclaim = { epsilon = 2 }\n";
        let line = |key, audit| Key::Top(key).line(text, audit);
        assert_eq!([line("claim", "a"), line("claim", "b")], [Some(1), Some(7)]);
        assert_eq!(
            [line("name", "a"), line("name", "b"), line("name", "c")],
            [Some(3), Some(6), None]
        );
        assert_eq!([line("expect", "a"), line("expect", "b")], [Some(4), None]);
    }

    #[test]
    fn files_are_named_from_the_root_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (root, audits) = (folder.path(), folder.path().join("part/audits"));
        fs::create_dir_all(&audits).unwrap();
        let file = audits.join("a.toml");
        fs::write(&file, TEXT).unwrap();
        let place = |root: &Path| {
            Place::of(&file, "ä", Some(root), &[Key::Top("stability"), Key::Top("claim")])
        };
        assert_eq!(
            place(root),
            Place { file: Some("part/audits/a.toml".to_owned()), line: Some(3) }
        );
        assert_eq!(place(&root.join("part")).file.unwrap(), "audits/a.toml");
        let elsewhere = tempfile::tempdir().unwrap();
        assert_eq!(place(elsewhere.path()).file, Some(file.to_string_lossy().into_owned()));
        assert_eq!(
            Place::of(Path::new("./no/such.toml"), "ä", None, &[]),
            Place { file: Some("no/such.toml".to_owned()), line: None }
        );
        assert_eq!(
            Place::of(Path::new(""), "ä", Some(root), &[Key::Top("claim")]),
            Place::default()
        );
    }
}
