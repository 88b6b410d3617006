//! One audit file: raw TOML, then checked.

use std::path::Path;

use serde::Deserialize;

use super::pattern::{Components, Pattern};
use crate::attack::Attack;
use crate::audit::{Audit, Pair};
use crate::catalogue::registry;
use crate::model::claim::Positive;
use crate::model::{Claim, Dataset, Expectation, FileProblem, MAX_DRAWS, Params, Relation, Truth};
use crate::target::Subject;
use crate::target::process::{self, CommandLine};

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
pub fn read(path: &Path) -> Result<Audit, Vec<FileProblem>> {
    let text = std::fs::read_to_string(path).map_err(|error| vec![FileProblem::new(path, format!("cannot be read: {error}"))])?;
    from_text(path, &text)
}

/// Checks the text of a file.
pub fn from_text(path: &Path, text: &str) -> Result<Audit, Vec<FileProblem>> {
    let file = parse(text).map_err(|message| vec![FileProblem::new(path, message)])?;
    check(path, file).map_err(|messages| messages.into_iter().map(|message| FileProblem::new(path, message)).collect())
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

/// Parameters as every mechanism reads them.
///
/// # Errors
/// Which one cannot be sent anywhere.
fn params(table: &toml::Table) -> Result<Params, String> {
    table.iter().map(|(name, value)| Ok((name.clone(), plain(&format!("params.{name}"), value)?))).collect()
}

fn plain(key: &str, value: &toml::Value) -> Result<serde_json::Value, String> {
    Ok(match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(integer) => (*integer).into(),
        toml::Value::Float(float) if float.is_finite() => (*float).into(),
        toml::Value::Boolean(truth) => (*truth).into(),
        toml::Value::Array(items) => items.iter().map(|item| plain(key, item)).collect::<Result<_, _>>()?,
        toml::Value::Table(table) => {
            let entries = table.iter().map(|(name, value)| Ok((name.clone(), plain(&format!("{key}.{name}"), value)?)));
            serde_json::Value::Object(entries.collect::<Result<_, String>>()?)
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) => {
            return Err(format!("{key} is {value}, which is neither a finite number nor a text; write it as a string"));
        }
    })
}

fn check(path: &Path, file: AuditFile) -> Result<Audit, Vec<String>> {
    let mut problems = Vec::new();
    if file.name.trim().is_empty() {
        problems.push("name is empty; give the audit a name".to_owned());
    }
    if let Some(draws) = file.draws
        && !(1..=MAX_DRAWS).contains(&draws)
    {
        problems.push(format!("draws is {draws}, must be a whole number from 1 to {MAX_DRAWS}"));
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
    let subject = match subject(path, file.mechanism, &file.params, file.command, file.timeout, file.setup) {
        Ok(subject) => subject,
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
        let truth = raw.truth.or(file.truth).unwrap_or_default();
        pairs.push(Pair { name: raw.name, left: raw.left, right: raw.right, expect: raw.expect, truth });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Audit {
        name: file.name,
        file: path.to_owned(),
        subject,
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

/// What makes the outputs: a mechanism of the catalogue, or a program.
fn subject(
    file: &Path,
    mechanism: String,
    table: &toml::Table,
    command: Option<Vec<String>>,
    timeout: Option<Positive>,
    setup: Option<String>,
) -> Result<Subject, String> {
    let params = params(table)?;
    let stray = [("command", command.is_some()), ("timeout", timeout.is_some()), ("setup", setup.is_some())];
    match (mechanism.as_str(), command) {
        (process::NAME, Some(words)) => {
            Ok(Subject::Program { command: CommandLine::new(words, file, timeout.map(Positive::get), setup)?, params })
        }
        (process::NAME, None) => Err("mechanism is \"command\", which needs one: command = [\"python3\", \"my_mechanism.py\"]".to_owned()),
        (name, _) => match stray.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => Err(format!("{key}: is for mechanism = \"command\" only; remove it or change the mechanism")),
            None if registry::find(name).is_none() => Err(registry::unknown(name)),
            None => Ok(Subject::Registered { mechanism, params }),
        },
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
