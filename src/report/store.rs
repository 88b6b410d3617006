//! The one way to write files: checked before anything is measured, replaced as a whole, and never in place of something that is no file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::model::Error;

/// The name that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// A place to write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// As it was given.
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    StandardOutput,
    /// An ordinary file, or none yet: where it really is, behind all links.
    File(PathBuf),
    /// A pipe or a device: written to, never replaced.
    Stream,
}

impl Destination {
    /// Checks that the place can be written to, and leaves what it holds untouched. Makes its folder if need be.
    ///
    /// # Errors
    /// When it cannot.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let kind = if path == Path::new(STANDARD_OUTPUT) { Ok(Kind::StandardOutput) } else { Self::kind_of(path) };
        Ok(Self { path: path.to_owned(), kind: kind.map_err(|source| unwritable(path, source))? })
    }

    fn kind_of(path: &Path) -> io::Result<Kind> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::Error::other("it is a folder")),
            Ok(found) if found.is_file() => {
                let path = fs::canonicalize(path)?;
                check_folder(folder(&path))?;
                Ok(Kind::File(path))
            }
            Ok(_) => Ok(Kind::Stream),
            Err(_) => {
                let path = behind_links(path)?;
                check_folder(folder(&path))?;
                let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
                Ok(Kind::File(fs::canonicalize(folder(&path))?.join(name)))
            }
        }
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, unless it is a stream.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        if let Kind::File(path) = &self.kind { Some(path) } else { None }
    }

    /// Whether it is standard output.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.kind == Kind::StandardOutput
    }

    /// Whether both would write to one file, or both to standard output.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::StandardOutput, Kind::StandardOutput) => true,
            (Kind::File(one), Kind::File(other)) => one == other || same_file(one, other),
            _ => false,
        }
    }

    /// Writes the content as a whole: readers see the old file or the new one, never half of one. A stream gets it once more.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn replace(&self, content: &[u8]) -> io::Result<()> {
        match &self.kind {
            Kind::File(path) => replace(path, content).map(|_| ()),
            Kind::Stream => OpenOptions::new().write(true).open(&self.path)?.write_all(content),
            Kind::StandardOutput => to_standard_output(content),
        }
    }

    /// Begins to write piece by piece: replaces the content by the first piece, and returns what the next pieces are written to.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&self, first: &[u8]) -> io::Result<Box<dyn Write + Send>> {
        match &self.kind {
            Kind::File(path) => Ok(Box::new(replace(path, first)?)),
            Kind::Stream => {
                let mut stream = OpenOptions::new().write(true).open(&self.path)?;
                stream.write_all(first)?;
                Ok(Box::new(stream))
            }
            Kind::StandardOutput => {
                to_standard_output(first)?;
                Ok(Box::new(io::stdout()))
            }
        }
    }
}

/// What to say of a place that cannot be written.
pub fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_owned(), source }
}

fn to_standard_output(content: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(content)?;
    out.flush()
}

/// Makes a folder if need be, and checks that files can be made in it.
///
/// # Errors
/// When they cannot.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    tempfile::NamedTempFile::new_in(folder)?;
    Ok(())
}

/// Writes a temporary file beside the other, then renames it. The open file can be appended to.
fn replace(path: &Path, content: &[u8]) -> io::Result<File> {
    let mut file = tempfile::Builder::new().permissions(readable()).tempfile_in(folder(path))?;
    file.write_all(content)?;
    file.persist(path).map_err(|error| error.error)
}

/// Follows links that lead to nothing yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    const MOST: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = folder(&path).join(target);
    }
    Err(io::Error::other("too many links"))
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path| fs::metadata(path).map(|data| (data.dev(), data.ino())).ok();
    id(one).is_some_and(|one| Some(one) == id(other))
}

#[cfg(not(unix))]
fn same_file(_: &Path, _: &Path) -> bool {
    false
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The permissions of an ordinary new file; temporary files are private by default.
fn readable() -> fs::Permissions {
    #[cfg(unix)]
    {
        std::os::unix::fs::PermissionsExt::from_mode(0o666)
    }
    #[cfg(not(unix))]
    {
        fs::metadata(".").map(|data| data.permissions()).expect("the current folder exists")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_under_two_names_is_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Destination::open(&folder.path().join(name)).unwrap();
        let plain = at("report.csv");
        assert!(plain.is_same(&at("./report.csv")) && plain.is_same(&at("sub/../report.csv")));
        assert!(!plain.is_same(&at("report.html")));
        plain.replace(b"1").unwrap();
        fs::hard_link(folder.path().join("report.csv"), folder.path().join("hard.csv")).unwrap();
        assert!(at("report.csv").is_same(&at("hard.csv")));
        assert!(Destination::open(folder.path()).is_err(), "a folder is no file");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (link, real) = (folder.path().join("link.csv"), folder.path().join("real.csv"));
        std::os::unix::fs::symlink("real.csv", &link).unwrap();
        for content in ["first", "second"] {
            Destination::open(&link).unwrap().replace(content.as_bytes()).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&real).unwrap(), content);
        }
        let null = Destination::open(Path::new("/dev/null")).unwrap();
        null.replace(b"gone").unwrap();
        assert_eq!(null.file(), None);
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn pieces_are_appended_to_what_was_begun() {
        let folder = tempfile::tempdir().unwrap();
        let place = Destination::open(&folder.path().join("rows.csv")).unwrap();
        place.replace(b"of an earlier run").unwrap();
        let mut file = place.begin(b"a\n").unwrap();
        file.write_all(b"b\n").unwrap();
        assert_eq!(fs::read_to_string(place.path()).unwrap(), "a\nb\n");
    }
}
