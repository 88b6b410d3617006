//! Audit files: from TOML to a validated plan. What leaves this module needs no further checks.

pub mod claim;
pub mod dataset;
mod file;
mod pattern;
pub mod relation;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use claim::{Claim, Confidence, Delta, Epsilon};
pub use dataset::{Dataset, Record};
pub use file::read_params;
pub use relation::Relation;

use crate::attack::Attack;
use crate::error::{Error, SpecError};
use crate::mechanism::Target;
use crate::mechanism::process::CommandLine;
use crate::verdict::Expectation;

/// A validated audit: one mechanism, one claim, one or more pairs of neighbours.
pub struct Audit {
    /// The name, unique in a run; random streams derive from it.
    pub name: String,
    /// The file it came from.
    pub file: PathBuf,
    /// The registered name of the mechanism.
    pub mechanism: String,
    /// Its parameters as the file gives them.
    pub params: toml::Table,
    /// How it is started, if it is a program.
    pub command: Option<CommandLine>,
    /// What is claimed.
    pub claim: Claim,
    /// For which neighbours.
    pub relation: Relation,
    /// What verdict the audit should end with.
    pub expect: Expectation,
    /// Where the mechanism and its claim come from.
    pub source: Option<String>,
    /// Draws per pair, if the file sets them.
    pub draws: Option<u64>,
    /// The smallest excess of ε over the claim that the audit should be able to see.
    pub resolution: f64,
    /// The attacks to try.
    pub attacks: Vec<Attack>,
    /// The neighbours.
    pub pairs: Vec<Pair>,
}

/// Two neighbouring datasets, and the mechanism ready to run on either.
pub struct Pair {
    /// The name, unique in its audit.
    pub name: String,
    /// The dataset D.
    pub left: Dataset,
    /// Its neighbour D'.
    pub right: Dataset,
    /// What verdict this pair should end with, if it differs from the audit's.
    pub expect: Option<Expectation>,
    /// The exact leakage on this pair, where theory gives it.
    pub truth: Truth,
    /// The mechanism, prepared for both sides.
    pub target: Box<dyn Target>,
}

/// The exact leakage of a mechanism on a pair, where theory gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Truth {
    /// The least ε that holds at the claimed δ; may be infinite.
    pub epsilon: Option<f64>,
    /// The least δ that holds at the claimed ε.
    pub delta: Option<f64>,
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").field("name", &self.name).field("file", &self.file).finish_non_exhaustive()
    }
}

/// Reads all audit files at and below the paths, in a fixed order; reports every bad file, not only the first.
///
/// # Errors
/// When a path cannot be read, a file is no valid audit, there is none at all, or two audits share a name.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Audit>, Error> {
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
    for path in &files {
        match file::read(path) {
            Ok(audit) => match audits.iter().find(|other| other.name == audit.name) {
                Some(other) => errors.push(SpecError::new(
                    path,
                    format!("name is \"{}\", which {} has already; names must be unique", audit.name, other.file.display()),
                )),
                None => audits.push(audit),
            },
            Err(mut found) => errors.append(&mut found),
        }
    }
    if !errors.is_empty() {
        return Err(Error::Spec(errors));
    }
    if audits.is_empty() {
        let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::NoAudits { place: paths.join(", ") });
    }
    Ok(audits)
}

/// The audit in a text, as if it were a file of this name.
///
/// # Errors
/// When it is no valid audit.
pub fn parse(file: &Path, text: &str) -> Result<Audit, Error> {
    file::from_text(file, text).map_err(Error::Spec)
}

impl Audit {
    /// An audit that no file describes: named pairs of targets under one claim, which is expected to hold. Whoever made them vouches that they are neighbours.
    #[must_use]
    pub fn of_targets(name: &str, mechanism: &str, claim: Claim, targets: Vec<(String, Box<dyn Target>)>) -> Self {
        let pair = |(name, target)| Pair {
            name,
            left: Dataset::default(),
            right: Dataset::default(),
            expect: None,
            truth: Truth::default(),
            target,
        };
        Self {
            name: name.to_owned(),
            file: PathBuf::new(),
            mechanism: mechanism.to_owned(),
            params: toml::Table::new(),
            command: None,
            claim,
            relation: Relation::Custom { reason: "as the caller says".to_owned() },
            expect: Expectation::Consistent,
            source: None,
            draws: None,
            resolution: claim.resolution(),
            attacks: Attack::DEFAULT.to_vec(),
            pairs: targets.into_iter().map(pair).collect(),
        }
    }

    /// Whether a file describes it.
    #[must_use]
    pub fn is_from_file(&self) -> bool {
        !self.file.as_os_str().is_empty()
    }

    /// Whether the name, the mechanism or the file contains a text.
    fn matches(&self, text: &str) -> bool {
        self.name.contains(text) || self.mechanism.contains(text) || self.file.to_string_lossy().contains(text)
    }
}

/// The audits that a filter matches; all without one.
///
/// # Errors
/// When it matches none: a gate that checks nothing must not pass.
pub fn select(mut audits: Vec<Audit>, filter: Option<&str>) -> Result<Vec<Audit>, Error> {
    if let Some(pattern) = filter {
        audits.retain(|audit| audit.matches(pattern));
        if audits.is_empty() {
            return Err(Error::NoMatch { pattern: pattern.to_owned() });
        }
    }
    Ok(audits)
}

/// The audits with only those pairs whose name contains a text.
///
/// # Errors
/// When there is none.
pub fn select_pairs(mut audits: Vec<Audit>, text: Option<&str>) -> Result<Vec<Audit>, Error> {
    if let Some(text) = text {
        audits.iter_mut().for_each(|audit| audit.pairs.retain(|pair| pair.name.contains(text)));
        audits.retain(|audit| !audit.pairs.is_empty());
        if audits.is_empty() {
            return Err(Error::NoPair { text: text.to_owned() });
        }
    }
    Ok(audits)
}

/// The one audit with this name or file, or else the only one that the text matches.
///
/// # Errors
/// When there is none, or several.
pub fn one(audits: Vec<Audit>, pattern: &str) -> Result<Audit, Error> {
    let exact = |audit: &Audit| audit.name == pattern || audit.file == Path::new(pattern);
    let only_exact = audits.iter().any(exact);
    let mut found = select(audits, Some(pattern))?;
    if only_exact {
        found.retain(exact);
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(Error::Ambiguous { pattern: pattern.to_owned(), names: found.into_iter().map(|audit| audit.name).collect() }),
    }
}

/// A folder that has a file of this name is passed over unless it is named itself: its audits need more than a Rust toolchain.
const OPT_IN: &str = "OPT-IN";

/// Adds the audit file at `path`, or all of those below it.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), SpecError> {
    let unreadable = |error: std::io::Error| SpecError::new(path, format!("cannot be read: {error}"));
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
