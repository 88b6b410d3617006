//! Audit files: from TOML to checked audits. Audits that this module returns need no further
//! checks.

mod accuracy;
mod canaries;
mod control;
mod excerpt;
mod file;
mod pattern;
mod problem;
mod search;
mod several;
mod suggest;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::audit::{Audit, Control};
use crate::catalogue::registry;
use crate::model::{Error, Expectation, FileProblem, Relation, SearchRequest};
use crate::target::PrepareError;
use suggest::with_suggestion;

/// Reads all audit files at and below the paths, in a fixed order. Reports every bad file, not only
/// the first.
///
/// # Errors
/// When a path cannot be read, a file is not a valid audit, there are no files, or two audits have
/// the same name.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Audit>, Error> {
    load_with(paths, file::read)
}

/// Reads audit files for a measurement: they need not claim anything. Audits without pairs, and
/// those of stability, which have no noise, are left out.
///
/// # Errors
/// When a file is not valid, or when nothing can be measured.
pub fn load_unclaimed(paths: &[PathBuf]) -> Result<Vec<Audit>, Error> {
    let mut audits = load_with(paths, file::read_unclaimed)?;
    audits.retain(|audit| !audit.pairs.is_empty() && audit.claim.metric().is_none());
    if audits.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let place = format!("{} with a [[pair]] and noise to measure", paths.join(", "));
        return Err(Error::NoAudits { place });
    }
    Ok(audits)
}

/// Reads all files, each with this function.
fn load_with(
    paths: &[PathBuf],
    read: impl Fn(&Path) -> Result<Vec<Audit>, Vec<FileProblem>>,
) -> Result<Vec<Audit>, Error> {
    let mut files = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        if let Err(error) = collect(path, &mut files) {
            errors.push(error);
        }
    }
    files.sort();
    files.dedup();
    let mut audits: Vec<Audit> = Vec::new();
    let mut names: HashMap<String, PathBuf> = HashMap::new();
    for path in &files {
        match read(path) {
            Ok(found) => {
                for audit in found {
                    match names.insert(audit.name.clone(), path.clone()) {
                        Some(other) => {
                            let problem = format!(
                                "name is \"{}\", which {} has already; names must be unique",
                                audit.name,
                                other.display()
                            );
                            errors.push(file::problem_of(&audit, "name", &problem));
                        }
                        None => audits.push(audit),
                    }
                }
            }
            Err(mut found) => errors.append(&mut found),
        }
    }
    if !errors.is_empty() {
        return Err(Error::Input(errors));
    }
    if audits.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::NoAudits { place: paths.join(", ") });
    }
    Ok(audits)
}

/// Refuses audits that start programs, for files that somebody else wrote.
///
/// # Errors
/// Lists every audit that starts one.
pub fn refuse_programs(audits: &[Audit]) -> Result<(), Error> {
    let starts = audits.iter().filter_map(|audit| Some((audit, audit.subject.command()?)));
    let problem = |(audit, command)| {
        let message = format!(
            "command starts a program ({command}), and --no-programs is given; leave such audits out with --filter, or read the program first"
        );
        file::problem_of(audit, "command", &message)
    };
    let problems: Vec<FileProblem> = starts.map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Input(problems)) }
}

/// Checks before anything is measured that the data and parameters of these audits fit their
/// mechanisms. A mechanism of the catalogue knows this when it is prepared, a program when it runs.
///
/// # Errors
/// Lists every audit whose parameters or data do not fit its mechanism.
pub fn check(audits: &[Audit]) -> Result<(), Error> {
    let mut problems = Vec::new();
    for audit in audits {
        let before = problems.len();
        for (index, pair) in audit.pairs.iter().enumerate() {
            match registry::prepare(&audit.subject, &pair.left, &pair.right) {
                Ok(_) => {}
                // The parameters are the same for all pairs: one report is enough.
                Err(error @ (PrepareError::Params { .. } | PrepareError::Unknown(_))) => {
                    let path = if let PrepareError::Params { key, .. } = &error {
                        key.as_str()
                    } else {
                        "mechanism"
                    };
                    problems.push(file::problem_of(
                        audit,
                        path,
                        &with_suggestion(&error.to_string()),
                    ));
                    break;
                }
                Err(error) => {
                    let side = if let PrepareError::Data { side: Some(side), .. } = &error {
                        format!(".{side}")
                    } else {
                        String::new()
                    };
                    let message = format!("pair \"{}\": {error}", pair.name);
                    problems.push(file::problem_of(
                        audit,
                        &format!("pair.{index}{side}"),
                        &message,
                    ));
                }
            }
        }
        if problems.len() == before {
            let found = accuracy::preparation_problems(audit);
            problems.extend(
                found.iter().map(|(path, message)| {
                    file::problem_of(audit, path, &with_suggestion(message))
                }),
            );
        }
        if problems.len() == before {
            let found = canaries::preparation_problem(audit);
            problems.extend(
                found.iter().map(|(path, message)| {
                    file::problem_of(audit, path, &with_suggestion(message))
                }),
            );
        }
        if problems.len() == before {
            problems.extend(check_control(audit, audits));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Input(problem::distinct(problems))) }
}

/// What is wrong with the control of an audit, if anything.
fn check_control(audit: &Audit, audits: &[Audit]) -> Option<FileProblem> {
    let problem = |message: &str| file::problem_of(audit, "control", &with_suggestion(message));
    if let Some(Control::Audit(name)) = &audit.control {
        let twin = audits.iter().find(|twin| twin.name == *name)?;
        let what = match twin {
            twin if twin.expect != Expectation::Violated => "is not expected to be violated",
            twin if twin.claim != audit.claim => "has another claim",
            _ => return None,
        };
        return Some(problem(&format!(
            "control.audit is \"{name}\", which {what}; name an audit that breaks the same claim"
        )));
    }
    let (control, pair) = (audit.control_audit()?, audit.pairs.first()?);
    let error = registry::prepare(&control.subject, &pair.left, &pair.right).err()?;
    Some(problem(&format!("with the control's parameters: {error}")))
}

/// Parses the text of an audit file. `file` is its name in messages.
///
/// # Errors
/// When it is not a valid audit, or several.
pub fn parse(file: &Path, text: &str) -> Result<Audit, Error> {
    let mut audits = parse_all(file, text)?;
    match audits.len() {
        1 => Ok(audits.remove(0)),
        count => Err(Error::Input(vec![FileProblem::new(
            file,
            format!("has {count} audits, must have one"),
        )])),
    }
}

/// Parses what a search is asked for, in JSON with the keys of the section `[search]`.
///
/// # Errors
/// When it is not valid.
pub fn search_request(json: &str, relation: &Relation) -> Result<SearchRequest, String> {
    let mut text = serde_json::Deserializer::from_str(json);
    let raw = serde_path_to_error::deserialize(&mut text).map_err(|error| error.to_string())?;
    search::check(raw, relation).map_err(|problems| {
        problems.iter().map(|problem| problem.message.clone()).collect::<Vec<_>>().join("; ")
    })
}

/// Parses the text of a file with one audit, or several as `[[audit]]`.
///
/// # Errors
/// When one is not a valid audit.
pub fn parse_all(file: &Path, text: &str) -> Result<Vec<Audit>, Error> {
    file::from_text(file, text).map_err(Error::Input)
}

/// Whether the name, the mechanism or the file of an audit contains a text.
fn matches(audit: &Audit, text: &str) -> bool {
    audit.name.contains(text)
        || audit.subject.mechanism().contains(text)
        || audit.file.to_string_lossy().contains(text)
}

/// The audits that match a filter; without a filter, all of them.
///
/// # Errors
/// When no audit matches: a gate that checks nothing must not pass.
pub fn filter(mut audits: Vec<Audit>, pattern: Option<&str>) -> Result<Vec<Audit>, Error> {
    if let Some(pattern) = pattern {
        audits.retain(|audit| matches(audit, pattern));
        if audits.is_empty() {
            return Err(Error::NoMatch { pattern: pattern.to_owned() });
        }
    }
    Ok(audits)
}

/// The audits, reduced to the pairs and accuracy claims whose name contains a text.
///
/// # Errors
/// When no name contains it.
pub fn filter_pairs(mut audits: Vec<Audit>, text: Option<&str>) -> Result<Vec<Audit>, Error> {
    if let Some(text) = text {
        for audit in &mut audits {
            audit.retain(|name| name.contains(text));
        }
        audits.retain(|audit| audit.statement_count() > 0);
        if audits.is_empty() {
            return Err(Error::NoPair { text: text.to_owned() });
        }
    }
    Ok(audits)
}

/// The audits with this name or file. If there are none, all audits that match the text.
///
/// # Errors
/// When no audit matches.
pub fn named(audits: Vec<Audit>, pattern: &str) -> Result<Vec<Audit>, Error> {
    let exact = |audit: &Audit| audit.name == pattern || audit.file == Path::new(pattern);
    let only_exact = audits.iter().any(exact);
    let mut found = filter(audits, Some(pattern))?;
    if only_exact {
        found.retain(exact);
    }
    Ok(found)
}

/// The audit with this name or file. If there is none, the only audit that matches the text.
///
/// # Errors
/// When no audit matches, or several do.
pub fn one(audits: Vec<Audit>, pattern: &str) -> Result<Audit, Error> {
    let mut found = named(audits, pattern)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(Error::Ambiguous {
            pattern: pattern.to_owned(),
            names: found.into_iter().map(|audit| audit.name).collect(),
        }),
    }
}

/// A folder that contains a file of this name is skipped, unless the path is given explicitly: its
/// audits need more than a Rust toolchain.
const OPT_IN: &str = "OPT-IN";

/// Adds the audit file at `path`, or all audit files below it.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), FileProblem> {
    let unreadable = |error: std::io::Error| {
        let remedy = match error.kind() {
            std::io::ErrorKind::NotFound => {
                "; give an audit file or a folder, or get the built-in audits with `dp-audit export`"
            }
            _ => "",
        };
        FileProblem::new(path, format!("cannot be read: {error}{remedy}"))
    };
    if !path.is_dir() {
        std::fs::metadata(path).map_err(unreadable)?;
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        if entry.is_dir() {
            if !entry.join(OPT_IN).exists() {
                collect(&entry, files)?;
            }
        } else if entry.extension().is_some_and(|extension| extension == "toml") {
            files.push(entry);
        }
    }
    Ok(())
}
