//! Where in the repository an audit file is, and in which of its lines a key: what CI servers need to show a problem beside the text.

use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::de::{DeTable, DeValue};

/// A place in the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, from the root of the repository; `None` for outputs that were collected elsewhere.
    pub file: Option<String>,
    /// The line, counted from 1, if it is known.
    pub line: Option<usize>,
}

impl Place {
    /// The first of these keys in an audit file. An audit without a file has no place.
    #[must_use]
    pub fn of(file: &Path, root: Option<&Path>, keys: &[Key]) -> Self {
        if file.as_os_str().is_empty() {
            return Self::default();
        }
        let line = fs::read_to_string(file).ok().and_then(|text| keys.iter().find_map(|key| key.line(&text)));
        Self { file: Some(from_root(file, root)), line }
    }
}

/// A key of an audit file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A key of the file itself.
    Top(&'static str),
    /// The accuracy claim with this number, counted from 0.
    Accuracy(usize),
}

impl Key {
    /// Its line in the text of an audit file, counted from 1.
    fn line(self, text: &str) -> Option<usize> {
        let file = DeTable::parse(text).ok()?;
        let span = match self {
            Self::Top(key) => file.get_ref().get(key)?.span(),
            Self::Accuracy(index) => match file.get_ref().get("accuracy")?.get_ref() {
                DeValue::Array(claims) => claims.get(index)?.span(),
                _ => return None,
            },
        };
        Some(text.get(..span.start)?.matches('\n').count() + 1)
    }
}

/// The root of the repository in GitHub Actions and GitLab CI.
#[must_use]
pub fn repository_root() -> Option<PathBuf> {
    ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].iter().find_map(std::env::var_os).filter(|root| !root.is_empty()).map(PathBuf::from)
}

/// The file as seen from the root of the repository, with slashes. A file that is not in the repository stays as it is.
fn from_root(file: &Path, root: Option<&Path>) -> String {
    let inside = || Some(fs::canonicalize(file).ok()?.strip_prefix(fs::canonicalize(root?).ok()?).ok()?.to_owned());
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
        let line = |key: Key| key.line(TEXT);
        assert_eq!(line(Key::Top("name")), Some(2));
        assert_eq!(line(Key::Top("claim")), Some(3));
        assert_eq!([0, 1, 2].map(|index| line(Key::Accuracy(index))), [Some(5), Some(7), None]);
        assert_eq!(line(Key::Top("stability")), None);
        assert_eq!(Key::Top("claim").line("[claim]\nepsilon = 1\n"), Some(1));
        assert_eq!(Key::Top("name").line("no TOML"), None);
    }

    #[test]
    fn files_are_named_from_the_root_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (root, audits) = (folder.path(), folder.path().join("part/audits"));
        fs::create_dir_all(&audits).unwrap();
        let file = audits.join("a.toml");
        fs::write(&file, TEXT).unwrap();
        let place = |root: &Path| Place::of(&file, Some(root), &[Key::Top("stability"), Key::Top("claim")]);
        assert_eq!(place(root), Place { file: Some("part/audits/a.toml".to_owned()), line: Some(3) });
        assert_eq!(place(&root.join("part")).file.unwrap(), "audits/a.toml");
        let elsewhere = tempfile::tempdir().unwrap();
        assert_eq!(place(elsewhere.path()).file, Some(file.to_string_lossy().into_owned()));
        assert_eq!(Place::of(Path::new("./no/such.toml"), None, &[]), Place { file: Some("no/such.toml".to_owned()), line: None });
        assert_eq!(Place::of(Path::new(""), Some(root), &[Key::Top("claim")]), Place::default());
    }
}
