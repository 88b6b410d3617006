//! What git knows about a folder. The folder may belong to somebody else, so git is asked only for
//! what it reads itself: no program that the repository's configuration names is run, and nothing
//! is fetched.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Digits of a commit that are shown.
const SHOWN_DIGITS: usize = 12;

/// The commit that is checked out in the repository of a folder. `None` outside of every
/// repository, or without git.
#[must_use]
pub fn commit(folder: &Path) -> Option<String> {
    let answer = ask(folder, &["rev-parse".as_ref(), "--verify".as_ref(), "HEAD".as_ref()])?;
    let commit = answer.trim();
    let is_hash = commit.len() >= SHOWN_DIGITS && commit.bytes().all(|c| c.is_ascii_hexdigit());
    is_hash.then(|| commit[..SHOWN_DIGITS].to_owned())
}

/// Whether a file is part of a repository, so that somebody else may have written it.
#[must_use]
pub fn tracks(file: &Path) -> bool {
    let Some(name) = file.file_name() else { return false };
    let folder = file.parent().unwrap_or(Path::new(""));
    let arguments = ["ls-files".as_ref(), "--error-unmatch".as_ref(), "--".as_ref(), name];
    ask(folder, &arguments).is_some()
}

/// What git prints, if it succeeds.
fn ask(folder: &Path, arguments: &[&OsStr]) -> Option<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut git = Command::new("git");
    // `core.fsmonitor` names a program, and a folder that looks like a bare repository has a
    // configuration of its own. A partial clone would fetch what it lacks, with a program that the
    // configuration names.
    git.arg("-C")
        .arg(folder)
        .args(["--no-pager", "--literal-pathspecs", "--no-optional-locks"])
        .args(["-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"])
        .args(arguments)
        .envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = git.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_outside_of_every_repository_has_no_commit_and_no_files() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(commit(&folder.path().join("absent")), None);
        assert_eq!(commit(folder.path()), None);
        assert!(!tracks(&folder.path().join("audit.csv.journal")));
    }
}
