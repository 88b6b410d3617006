//! Writes files. Destinations are checked before anything is measured, files are replaced as a
//! whole, and devices and pipes are never replaced. Symbolic links are followed in paths that the
//! user named and in no others: a repository that somebody else wrote may contain links.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::model::Error;

/// The path that means standard output.
const STANDARD_OUTPUT: &str = "-";

/// The path of a file or folder to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputPath {
    /// As the user named it. Links are followed.
    Named(PathBuf),
    /// As dp-audit chose it, below the current folder. Links are not followed.
    Chosen(PathBuf),
}

impl OutputPath {
    /// The path that the user named, or the one that is chosen without it.
    #[must_use]
    pub fn new(named: Option<&Path>, chosen: &str) -> Self {
        named.map_or_else(|| Self::Chosen(chosen.into()), |path| Self::Named(path.to_owned()))
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        let (Self::Named(path) | Self::Chosen(path)) = self;
        path
    }

    /// Checks that the folder with this path can be written, and creates it if necessary.
    ///
    /// # Errors
    /// When it cannot be written, or is a link that nobody named.
    pub fn check_folder(&self) -> Result<(), Error> {
        self.check_links()
            .and_then(|()| check_folder(self.path()))
            .map_err(|source| unwritable(self.path(), source))
    }

    fn check_links(&self) -> io::Result<()> {
        match self {
            Self::Named(_) => Ok(()),
            Self::Chosen(path) => refuse_links(Path::new(""), path),
        }
    }
}

/// Refuses a path below `named` with a symbolic link after it.
///
/// # Errors
/// Says which part is a link, and where it leads.
pub fn refuse_links(named: &Path, below: &Path) -> io::Result<()> {
    let mut path = named.to_owned();
    for part in below.components() {
        path.push(part);
        if let Ok(target) = fs::read_link(&path) {
            return Err(io::Error::other(format!(
                "{} is a symbolic link to {}, and links are followed only in paths that you name",
                path.display(),
                target.display()
            )));
        }
    }
    Ok(())
}

/// Where a file is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The path as the user gave it.
    path: PathBuf,
    kind: DestinationKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DestinationKind {
    StandardOutput,
    /// An ordinary file, which may not exist yet. The path has all links resolved.
    File(PathBuf),
    /// A pipe or a device: it is written to, but never replaced.
    Stream,
}

impl Destination {
    /// Checks that the path can be written, without changing an existing file. Creates its folder
    /// if necessary.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let kind = if path == Path::new(STANDARD_OUTPUT) {
            Ok(DestinationKind::StandardOutput)
        } else {
            Self::kind_of(path)
        };
        Ok(Self { path: path.to_owned(), kind: kind.map_err(|source| unwritable(path, source))? })
    }

    /// The same for a path that the user may have named.
    ///
    /// # Errors
    /// When it cannot be written, or has a link in it that nobody named.
    pub fn at(path: &OutputPath) -> Result<Self, Error> {
        path.check_links().map_err(|source| unwritable(path.path(), source))?;
        Self::open(path.path())
    }

    /// The same for a file in a folder that the user named, or that is checked already. The file
    /// itself was not named, so it must not be a link.
    ///
    /// # Errors
    /// When it cannot be written, or is a link.
    pub fn inside(folder: &Path, name: impl AsRef<Path>) -> Result<Self, Error> {
        let path = folder.join(&name);
        refuse_links(folder, name.as_ref()).map_err(|source| unwritable(&path, source))?;
        Self::open(&path)
    }

    /// The same for the file beside another one that has its name with this extension. Nobody named
    /// it, so it must not be a link.
    ///
    /// # Errors
    /// As for [`Destination::inside`].
    pub fn beside(other: &OutputPath, extension: &str) -> Result<Self, Error> {
        let path = other.path().with_extension(extension);
        match other {
            OutputPath::Chosen(_) => Self::at(&OutputPath::Chosen(path)),
            OutputPath::Named(_) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                Self::inside(folder, path.strip_prefix(folder).unwrap_or(&path))
            }
        }
    }

    fn kind_of(path: &Path) -> io::Result<DestinationKind> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::Error::other("it is a folder")),
            Ok(found) if found.is_file() => {
                let path = fs::canonicalize(path)?;
                check_folder(folder(&path))?;
                Ok(DestinationKind::File(path))
            }
            Ok(_) => Ok(DestinationKind::Stream),
            Err(_) => {
                let path = resolve_links(path)?;
                check_folder(folder(&path))?;
                let name = path
                    .file_name()
                    .ok_or_else(|| io::Error::other("the path has no file name"))?;
                Ok(DestinationKind::File(fs::canonicalize(folder(&path))?.join(name)))
            }
        }
    }

    /// The path as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the file; `None` for a stream.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        if let DestinationKind::File(path) = &self.kind { Some(path) } else { None }
    }

    /// Whether it is standard output.
    #[must_use]
    pub fn is_standard_output(&self) -> bool {
        self.kind == DestinationKind::StandardOutput
    }

    /// Whether both write to the same file, or both to standard output.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (DestinationKind::StandardOutput, DestinationKind::StandardOutput) => true,
            (DestinationKind::File(one), DestinationKind::File(other)) => {
                one == other || same_file(one, other)
            }
            _ => false,
        }
    }

    /// Whether it is the file at this path.
    #[must_use]
    pub fn is_file_at(&self, path: &Path) -> bool {
        self.file().is_some_and(|file| same_file(file, path))
    }

    /// Replaces the content. Readers see the complete old file or the complete new file. To a
    /// stream, the content is written once more.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn replace(&self, content: &[u8]) -> io::Result<()> {
        match &self.kind {
            DestinationKind::File(path) => replace(path, content).map(|_| ()),
            DestinationKind::Stream => {
                OpenOptions::new().write(true).open(&self.path)?.write_all(content)
            }
            DestinationKind::StandardOutput => to_standard_output(content),
        }
    }

    /// Replaces the content by its first part, and returns a writer for the following parts.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(&self, first: &[u8]) -> io::Result<Appender> {
        match &self.kind {
            DestinationKind::File(path) => {
                Ok(Appender::File { file: replace(path, first)?, end: first.len() as u64 })
            }
            DestinationKind::Stream => {
                let mut stream = OpenOptions::new().write(true).open(&self.path)?;
                stream.write_all(first)?;
                Ok(Appender::Stream(stream))
            }
            DestinationKind::StandardOutput => {
                to_standard_output(first).map(|()| Appender::StandardOutput)
            }
        }
    }
}

/// Writes the parts of a file after the first one.
pub enum Appender {
    /// An ordinary file.
    File {
        /// The open file.
        file: File,
        /// The end of the last part that was written completely.
        end: u64,
    },
    /// A pipe or a device.
    Stream(File),
    /// Standard output.
    StandardOutput,
}

impl Appender {
    /// Appends a part. After an error, the same part can be appended to a file again: it overwrites
    /// what was written of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, part: &[u8]) -> io::Result<()> {
        match self {
            Self::File { file, end } => {
                file.set_len(*end)?;
                file.seek(SeekFrom::Start(*end))?;
                file.write_all(part)?;
                *end += part.len() as u64;
                Ok(())
            }
            Self::Stream(stream) => stream.write_all(part),
            Self::StandardOutput => to_standard_output(part),
        }
    }
}

/// The error for a path that cannot be written.
#[must_use]
pub fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Write { path: path.to_owned(), source }
}

fn to_standard_output(content: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(content)?;
    out.flush()
}

/// Creates a folder if necessary, and checks that files can be created in it.
///
/// # Errors
/// When they cannot be created.
pub fn check_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    tempfile::NamedTempFile::new_in(folder)?;
    Ok(())
}

/// Writes a temporary file in the same folder, then renames it. More can be appended to the
/// returned file.
fn replace(path: &Path, content: &[u8]) -> io::Result<File> {
    let written = || {
        let mut file = tempfile::Builder::new()
            .permissions(default_permissions())
            .tempfile_in(folder(path))?;
        file.write_all(content)?;
        file.persist(path).map_err(|error| error.error)
    };
    // The name of the temporary file, which is in some of these errors, helps nobody.
    written().map_err(|error: io::Error| match error.raw_os_error() {
        Some(_) => error,
        None => io::Error::from(error.kind()),
    })
}

/// Follows symbolic links, also to files that do not exist yet.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = folder(&path).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

#[cfg(unix)]
fn same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path| fs::metadata(path).map(|data| (data.dev(), data.ino())).ok();
    id(one).is_some_and(|one| Some(one) == id(other))
}

#[cfg(not(unix))]
fn same_file(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one)
        .ok()
        .is_some_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The permissions of an ordinary new file. They are needed because temporary files are private by
/// default.
fn default_permissions() -> fs::Permissions {
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
    fn one_file_under_two_names_is_one_destination() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| Destination::open(&folder.path().join(name)).unwrap();
        let plain = at("report.csv");
        assert!(plain.is_same(&at("./report.csv")) && plain.is_same(&at("sub/../report.csv")));
        assert!(!plain.is_same(&at("report.html")));
        plain.replace(b"1").unwrap();
        fs::hard_link(folder.path().join("report.csv"), folder.path().join("hard.csv")).unwrap();
        assert!(at("report.csv").is_same(&at("hard.csv")));
        assert!(Destination::open(folder.path()).is_err(), "a folder is not a file");
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

    #[cfg(unix)]
    #[test]
    fn links_that_nobody_named_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("out/a.svg")).unwrap();
        std::os::unix::fs::symlink("absent", folder.path().join("out/b.svg")).unwrap();
        std::os::unix::fs::symlink("out", folder.path().join("linked")).unwrap();
        for (named, name) in [("out", "a.svg"), ("linked", "a.svg"), ("out", "b.svg")] {
            let error = Destination::inside(&folder.path().join(named), name).unwrap_err();
            assert!(error.to_string().contains("is a symbolic link to"), "{error}");
        }
        let error = Destination::inside(folder.path(), "linked/c.svg").unwrap_err();
        assert!(error.to_string().contains("linked is a symbolic link to out"), "{error}");
        // A folder that was named may be a link.
        Destination::inside(&folder.path().join("linked"), "c.svg").unwrap().replace(b"x").unwrap();
        assert!(folder.path().join("out/c.svg").is_file());
        assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    }

    #[test]
    fn the_temporary_file_is_not_named_in_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::open(&folder.path().join("gone/report.html")).unwrap();
        fs::remove_dir(folder.path().join("gone")).unwrap();
        let error = destination.replace(b"").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains("gone"), "{error}");
    }

    #[test]
    fn parts_are_appended_to_the_first_part() {
        let folder = tempfile::tempdir().unwrap();
        let destination = Destination::open(&folder.path().join("rows.csv")).unwrap();
        destination.replace(b"of an earlier run").unwrap();
        let mut file = destination.begin(b"a\n").unwrap();
        file.append(b"b\n").unwrap();
        assert_eq!(fs::read_to_string(destination.path()).unwrap(), "a\nb\n");
    }
}
