//! The commands that print or write what the program contains: `init`, `export`, `completions`,
//! `man`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use include_dir::{Dir, DirEntry, include_dir};

use super::args::{Cli, CompletionsArgs, ExportArgs, InitArgs, ManArgs};
use super::screen::{print, print_own};
use crate::model::Error;
use crate::model::number::counted;
use crate::report::gate::exit_code::ExitCode;
use crate::report::persistence::store::{Destination, check_folder, refuse_links, unwritable};
use crate::target::process::WORKER;

/// The built-in audit files, so that an installed program contains them.
static AUDITS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/audits");

/// Writes a first audit file and a mechanism. Existing files are not changed.
pub fn init(args: &InitArgs) -> Result<ExitCode, Error> {
    let files = if args.rust {
        [
            ("my_mechanism.rs", include_str!("init/my_mechanism.rs.txt")),
            ("my-audit.toml", include_str!("init/rust.toml")),
        ]
    } else {
        [
            ("my_mechanism.py", include_str!("init/my_mechanism.py")),
            ("my-audit.toml", include_str!("init/python.toml")),
        ]
    };
    for (name, content) in files {
        let path = args.folder.join(name);
        if fs::symlink_metadata(&path).is_ok() {
            print(format_args!("Kept {}: it exists already.\n", path.display()))?;
        } else {
            write(&args.folder, Path::new(name), content.as_bytes())?;
            print(format_args!("Wrote {}.\n", path.display()))?;
        }
    }
    print(format_args!("Next: dp-audit search {}\n", args.folder.join("my-audit.toml").display()))?;
    Ok(ExitCode::AsExpected)
}

/// Writes the built-in audits and the Python worker to a folder. Existing files are not changed.
pub fn export(args: &ExportArgs) -> Result<ExitCode, Error> {
    let audits = Path::new("audits");
    let mut files = Vec::new();
    collect(&AUDITS, audits, &mut files);
    files.push(("dp_audit_worker.py".into(), WORKER.as_bytes()));
    let (mut written, mut kept) = (0, 0);
    for (path, content) in files {
        if fs::symlink_metadata(args.folder.join(&path)).is_ok() {
            kept += 1;
        } else {
            write(&args.folder, &path, content)?;
            written += 1;
        }
    }
    let kept =
        if kept > 0 { format!("; kept {} as found", counted(kept, "file")) } else { String::new() };
    print(format_args!(
        "Wrote {} to `{}`{kept}.\nNext: dp-audit run {}\n",
        counted(written, "file"),
        args.folder.display(),
        args.folder.join(audits).display()
    ))?;
    Ok(ExitCode::AsExpected)
}

fn collect(folder: &'static Dir<'static>, to: &Path, files: &mut Vec<(PathBuf, &'static [u8])>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(folder) => collect(folder, to, files),
            // Cache files of Python are not part of the audits.
            DirEntry::File(file)
                if file.path().extension().is_some_and(|extension| extension == "pyc") => {}
            DirEntry::File(file) => files.push((to.join(file.path()), file.contents())),
        }
    }
}

fn write(folder: &Path, path: &Path, content: &[u8]) -> Result<(), Error> {
    let destination = Destination::inside(folder, path)?;
    destination.replace(content).map_err(|source| unwritable(destination.path(), source))
}

/// Prints a completion script.
pub fn completions(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "dp-audit", &mut script);
    print_own(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::AsExpected)
}

/// Prints the manual page, or writes all manual pages to a folder.
pub fn man(args: &ManArgs) -> Result<ExitCode, Error> {
    if let Some(folder) = &args.folder {
        check_folder(folder).map_err(|source| unwritable(folder, source))?;
        for entry in fs::read_dir(folder).map_err(|source| unwritable(folder, source))?.flatten() {
            refuse_links(folder, Path::new(&entry.file_name()))
                .map_err(|source| unwritable(folder, source))?;
        }
        clap_mangen::generate_to(Cli::command(), folder)
            .map_err(|source: io::Error| unwritable(folder, source))?;
        let pages = fs::read_dir(folder).map_or(0, Iterator::count);
        print(format_args!("{} in {}\n", counted(pages, "page"), folder.display()))?;
    } else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
        rendered.map_err(|source| Error::StandardOutput { source })?;
        print_own(&String::from_utf8_lossy(&page))?;
    }
    Ok(ExitCode::AsExpected)
}
