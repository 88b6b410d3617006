//! One audit file: raw TOML, then checked.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::claim::{Claim, Positive};
use super::pattern::{Components, Pattern};
use super::{Audit, Dataset, Pair, Relation, Truth};
use crate::attack::Attack;
use crate::error::SpecError;
use crate::mechanism::process::{self, ChildProcess, CommandLine};
use crate::mechanism::{Target, registry};
use crate::run::check_draws;
use crate::verdict::Expectation;

/// An audit file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditFile {
    name: String,
    mechanism: String,
    #[serde(default)]
    params: toml::Table,
    command: Option<Vec<String>>,
    timeout: Option<Positive>,
    setup: Option<String>,
    claim: Claim,
    relation: RelationName,
    reason: Option<String>,
    #[serde(default)]
    expect: Expectation,
    source: Option<String>,
    truth: Option<Truth>,
    draws: Option<u64>,
    resolution: Option<Positive>,
    attacks: Option<Vec<Attack>>,
    pairs: Option<Generated>,
    #[serde(default)]
    pair: Vec<PairFile>,
}

/// Pairs that are generated, in addition to those written out.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generated {
    patterns: Patterns,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patterns {
    components: Components,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum RelationName {
    AddRemove,
    ReplaceOne,
    ComponentWise,
    SingleComponent,
    Custom,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairFile {
    name: String,
    left: Dataset,
    right: Dataset,
    expect: Option<Expectation>,
    truth: Option<Truth>,
}

/// Reads and checks one file; every problem found in it is reported.
pub fn read(path: &Path) -> Result<Audit, Vec<SpecError>> {
    let text = std::fs::read_to_string(path).map_err(|error| vec![SpecError::new(path, format!("cannot be read: {error}"))])?;
    from_text(path, &text)
}

/// Checks the text of a file.
pub fn from_text(path: &Path, text: &str) -> Result<Audit, Vec<SpecError>> {
    let file = parse(text).map_err(|message| vec![SpecError::new(path, message)])?;
    check(path, file).map_err(|messages| messages.into_iter().map(|message| SpecError::new(path, message)).collect())
}

fn parse(text: &str) -> Result<AuditFile, String> {
    let deserializer = toml::Deserializer::parse(text).map_err(|error| at_line(text, &error, error.message()))?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let message = keyed("", &error.path().to_string(), error.inner().message());
        at_line(text, error.inner(), &message)
    })
}

/// `line 3: message`, where the parser knows the place.
fn at_line(text: &str, error: &toml::de::Error, message: &str) -> String {
    match error.span() {
        Some(span) => format!("line {}: {message}", text[..span.start.min(text.len())].matches('\n').count() + 1),
        None => message.to_owned(),
    }
}

/// `key is -1, must be …`, or `key: message` for the parser's own messages.
fn keyed(prefix: &str, path: &str, message: &str) -> String {
    let key = match (prefix, path) {
        ("", ".") => return message.to_owned(),
        ("", path) => path.to_owned(),
        (prefix, ".") => prefix.to_owned(),
        (prefix, path) => format!("{prefix}.{path}"),
    };
    if message.starts_with("is ") { format!("{key} {message}") } else { format!("{key}: {message}") }
}

/// Reads a mechanism's parameters into its own type.
///
/// # Errors
/// Which key is wrong, as `params.key …`.
pub fn read_params<P: DeserializeOwned>(params: &toml::Table) -> Result<P, String> {
    serde_path_to_error::deserialize(params.clone())
        .map_err(|error: serde_path_to_error::Error<toml::de::Error>| keyed("params", &error.path().to_string(), error.inner().message()))
}

fn check(path: &Path, file: AuditFile) -> Result<Audit, Vec<String>> {
    let mut problems = Vec::new();
    if file.name.trim().is_empty() {
        problems.push("name is empty; give the audit a name".to_owned());
    }
    if let Some(Err(problem)) = file.draws.map(check_draws) {
        problems.push(format!("draws {problem}"));
    }
    if file.attacks.as_ref().is_some_and(Vec::is_empty) {
        problems.push("attacks is empty; name at least one attack or leave the key out for all of them".to_owned());
    }
    let relation = match (file.relation, file.reason) {
        (RelationName::AddRemove, None) => Relation::AddRemove,
        (RelationName::ReplaceOne, None) => Relation::ReplaceOne,
        (RelationName::ComponentWise, None) => Relation::ComponentWise,
        (RelationName::SingleComponent, None) => Relation::SingleComponent,
        (RelationName::Custom, Some(reason)) if !reason.trim().is_empty() => Relation::Custom { reason },
        (RelationName::Custom, _) => {
            problems.push("relation is \"custom\", which needs a reason: say in `reason` why the pairs are neighbours".to_owned());
            Relation::Custom { reason: String::new() }
        }
        (_, Some(_)) => {
            problems.push("reason: is for relation = \"custom\" only; remove it or change the relation".to_owned());
            Relation::AddRemove
        }
    };
    if let Some(truth) = file.truth {
        problems.extend(check_truth("truth", truth));
    }
    if file.pair.is_empty() && file.pairs.is_none() {
        problems.push("pair: there is none; add a [[pair]] with name, left and right".to_owned());
    }
    let maker = match Maker::new(path, &file.mechanism, file.command, file.timeout, file.setup) {
        Ok(maker) => maker,
        Err(problem) => {
            problems.push(problem);
            return Err(problems);
        }
    };
    let mut raw_pairs = file.pair;
    if let Some(Generated { patterns }) = file.pairs {
        match Pattern::all(&relation, patterns.components) {
            Ok(patterns) => add_patterns(&mut raw_pairs, patterns),
            Err(problem) => problems.push(format!("pairs.patterns: {problem}")),
        }
    }
    let mut pairs: Vec<Pair> = Vec::new();
    for raw in raw_pairs {
        let key = format!("pair \"{}\"", raw.name);
        if pairs.iter().any(|pair| pair.name == raw.name) {
            problems.push(format!("{key}: another pair has this name; names must be unique in a file"));
        }
        if let Some(truth) = raw.truth {
            problems.extend(check_truth(&format!("{key}: truth"), truth));
        }
        if problems.is_empty()
            && let Err(problem) = relation.check(&raw.left, &raw.right)
        {
            problems.push(format!("{key}: {problem}"));
        }
        match maker.prepare(&file.params, &raw.left, &raw.right) {
            Ok(target) => pairs.push(Pair {
                name: raw.name,
                left: raw.left,
                right: raw.right,
                expect: raw.expect,
                truth: raw.truth.or(file.truth).unwrap_or_default(),
                target,
            }),
            Err(problem) if problem.starts_with("params") => {
                // The parameters are the same for all pairs: one report is enough.
                problems.push(problem);
                return Err(problems);
            }
            Err(problem) => problems.push(format!("{key}: {problem}")),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Audit {
        name: file.name,
        file: path.to_owned(),
        mechanism: file.mechanism,
        params: file.params,
        command: maker.command().cloned(),
        claim: file.claim,
        relation,
        expect: file.expect,
        source: file.source,
        draws: file.draws,
        resolution: file.resolution.map_or(file.claim.resolution(), Positive::get),
        attacks: file.attacks.unwrap_or_else(|| Attack::DEFAULT.to_vec()),
        pairs,
    })
}

/// What makes a target for each pair.
enum Maker {
    Registered(&'static registry::Entry),
    Command(CommandLine),
}

impl Maker {
    fn new(
        file: &Path,
        mechanism: &str,
        command: Option<Vec<String>>,
        timeout: Option<Positive>,
        setup: Option<String>,
    ) -> Result<Self, String> {
        let stray = [("command", command.is_some()), ("timeout", timeout.is_some()), ("setup", setup.is_some())];
        match (mechanism, command) {
            (process::NAME, Some(words)) => Ok(Self::Command(CommandLine::new(words, file, timeout.map(Positive::get), setup)?)),
            (process::NAME, None) => {
                Err("mechanism is \"command\", which needs one: command = [\"python3\", \"my_mechanism.py\"]".to_owned())
            }
            (name, _) => match stray.into_iter().find(|(_, given)| *given) {
                Some((key, _)) => Err(format!("{key}: is for mechanism = \"command\" only; remove it or change the mechanism")),
                None => registry::find(name).map(Self::Registered).ok_or_else(|| registry::unknown(name)),
            },
        }
    }

    fn prepare(&self, params: &toml::Table, left: &Dataset, right: &Dataset) -> Result<Box<dyn Target>, String> {
        match self {
            Self::Registered(entry) => entry.prepare(params, left, right),
            Self::Command(command) => Ok(Box::new(ChildProcess::prepare(command.clone(), params, left, right)?)),
        }
    }

    fn command(&self) -> Option<&CommandLine> {
        match self {
            Self::Registered(_) => None,
            Self::Command(command) => Some(command),
        }
    }
}

/// Adds the patterns that are not among the pairs already: an audit may write one out to give it a truth of its own.
fn add_patterns(pairs: &mut Vec<PairFile>, patterns: Vec<Pattern>) {
    for Pattern { name, left, right } in patterns {
        if !pairs.iter().any(|pair| pair.left == left && pair.right == right) {
            pairs.push(PairFile { name, left, right, expect: None, truth: None });
        }
    }
}

fn check_truth(key: &str, truth: Truth) -> Vec<String> {
    let mut problems = Vec::new();
    if truth.epsilon.is_some_and(|epsilon| epsilon.is_nan() || epsilon < 0.0) {
        problems.push(format!("{key}.epsilon is {}, must be at least 0 (inf is allowed)", truth.epsilon.unwrap_or_default()));
    }
    if truth.delta.is_some_and(|delta| !(0.0..=1.0).contains(&delta)) {
        problems.push(format!("{key}.delta is {}, must be between 0 and 1", truth.delta.unwrap_or_default()));
    }
    problems
}
