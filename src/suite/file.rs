//! Reads one audit file: parses the TOML and checks every value.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use super::accuracy::{self, AccuracyFile};
use super::canaries::{self, CanariesFile};
use super::control::short_noise;
use super::pattern::{Components, Pattern};
use super::problem::{KeyProblem, distinct};
use super::search::{self, SearchFile};
use super::several::{self, Entry};
use super::suggest::{nearest, with_suggestion};
use crate::attack::Attack;
use crate::audit::{Audit, Control, Pair};
use crate::catalogue::{registry, training};
use crate::model::checked::{NonNegative, Positive};
use crate::model::claim::{Spelling, Stability};
use crate::model::file::read_text;
use crate::model::text::is_deceptive;
use crate::model::{
    AskedReach, Claim, Dataset, Delta, Expectation, FileProblem, MAX_DRAWS, Params, Relation,
    Truth, Whole, check_draws,
};
use crate::target::Subject;
use crate::target::process::{self, CommandLine};

/// The mechanism of scores that were recorded elsewhere.
const RECORDED: &str = "recorded scores";

/// An audit file as parsed, before its values are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditFile {
    name: String,
    mechanism: Option<String>,
    #[serde(default)]
    params: toml::Table,
    command: Option<Vec<String>>,
    timeout: Option<Positive>,
    setup: Option<String>,
    claim: Option<Spelling>,
    stability: Option<Stability>,
    relation: Option<RelationName>,
    reason: Option<String>,
    expect: Option<Expectation>,
    source: Option<String>,
    truth: Option<Truth>,
    draws: Option<Whole>,
    max_seconds: Option<Positive>,
    resolution: Option<Positive>,
    reach: Option<AskedReach>,
    allow_inconclusive: Option<String>,
    #[serde(default)]
    ignore: BTreeMap<String, String>,
    control: Option<toml::Table>,
    attacks: Option<Vec<Attack>>,
    pairs: Option<GeneratedPairs>,
    #[serde(default)]
    pair: Vec<PairFile>,
    #[serde(default)]
    accuracy: Vec<AccuracyFile>,
    #[serde(default)]
    canaries: Vec<CanariesFile>,
    search: Option<SearchFile>,
}

impl AuditFile {
    /// Keys that are given and say nothing.
    fn empty_problems(&self) -> Vec<KeyProblem> {
        let mut problems = Vec::new();
        if self.attacks.as_ref().is_some_and(Vec::is_empty) {
            let problem = "attacks is empty; list at least one attack, or remove the key to use the default attacks";
            problems.push(KeyProblem::new("attacks", problem));
        }
        if self.allow_inconclusive.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
            let problem = "allow_inconclusive is empty; say why the audit may be inconclusive, or remove the key";
            problems.push(KeyProblem::new("allow_inconclusive", problem));
        }
        let unexplained = self.ignore.iter().find(|(_, reason)| reason.trim().is_empty());
        if let Some((column, _)) = unexplained {
            let problem = format!(
                "ignore gives no reason for {column}; say why it cannot leak, or remove it"
            );
            problems.push(KeyProblem::new("ignore", problem));
        }
        problems
    }

    /// What is missing for a privacy claim, or superfluous without one. A privacy claim is about
    /// pairs; a claim that no pair tests would pass unseen.
    fn privacy_problems(&self) -> Vec<KeyProblem> {
        let missing = |key: &str, example: &str| {
            KeyProblem::new("", format!("missing field `{key}`; pairs need it: {example}"))
        };
        let about_pairs = [
            ("claim", self.claim.is_some()),
            ("stability", self.stability.is_some()),
            ("relation", self.relation.is_some()),
            ("expect", self.expect.is_some()),
            ("truth", self.truth.is_some()),
            ("resolution", self.resolution.is_some()),
            ("reach", self.reach.is_some()),
            ("ignore", !self.ignore.is_empty()),
            ("control", self.control.is_some()),
            ("attacks", self.attacks.is_some()),
        ];
        let mut problems = Vec::new();
        let has_pairs = !self.pair.is_empty() || self.pairs.is_some() || self.search.is_some();
        if has_pairs || !self.canaries.is_empty() {
            if self.claim.is_some() && self.stability.is_some() {
                problems.push(KeyProblem::new(
                    "stability",
                    "stability and claim are both given; an audit has one claim, so remove one",
                ));
            }
            let claimed = self.claim.is_some() || self.stability.is_some();
            problems.extend((!claimed).then(|| missing("claim", "claim = { epsilon = 1.0 }")));
            problems.extend(self.stability_problem());
            // A canary is a record that is there or not.
            problems.extend(
                (self.relation.is_none() && has_pairs)
                    .then(|| missing("relation", "relation = \"add-remove\"")),
            );
        } else if self.accuracy.is_empty() {
            let problem = "pair: there is none; add a [[pair]] with name, left and right, or say in [search] what a dataset may be, or set \
                 pairs.patterns, or add an [[accuracy]] or [[canaries]]";
            problems.push(KeyProblem::new("", problem));
        } else if let Some((key, _)) = about_pairs.into_iter().find(|(_, given)| *given) {
            problems.push(KeyProblem::new(
                key,
                format!("{key} is about pairs, and there is none; add a [[pair]], or remove {key}"),
            ));
        }
        problems
    }

    /// A key that a stability claim has no use for: outputs without noise are compared exactly.
    fn stability_problem(&self) -> Option<KeyProblem> {
        let is_stability = self.stability.is_some()
            || self.claim.as_ref().is_some_and(|claim| claim.stability.is_some());
        let pair = self.pair.iter().position(|pair| pair.truth.is_some());
        let useless = [
            ("truth".to_owned(), self.truth.is_some()),
            (format!("pair.{}.truth", pair.unwrap_or_default()), pair.is_some()),
            ("resolution".to_owned(), self.resolution.is_some()),
            ("attacks".to_owned(), self.attacks.is_some()),
        ];
        let (key, _) = useless.into_iter().find(|(_, given)| is_stability && *given)?;
        let problem = format!(
            "{key} is about privacy, and this is a stability claim, which is decided exactly; remove it"
        );
        Some(KeyProblem::new(key, problem))
    }
}

/// Pairs that are generated, in addition to those in the file.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct GeneratedPairs {
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

/// Reads and checks one file. Reports every problem in it, not only the first.
pub fn read(path: &Path) -> Result<Vec<Audit>, Vec<FileProblem>> {
    let text = read_text(path)
        .map_err(|error| vec![FileProblem::new(path, format!("cannot be read: {error}"))])?;
    from_text(path, &text)
}

/// Checks the text of a file: one audit, or several as `[[audit]]`.
pub fn from_text(path: &Path, text: &str) -> Result<Vec<Audit>, Vec<FileProblem>> {
    of_tables(path, text, |_| {})
}

/// Reads a file whose audits need not claim anything, because they are measured.
pub fn read_unclaimed(path: &Path) -> Result<Vec<Audit>, Vec<FileProblem>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| vec![FileProblem::new(path, format!("cannot be read: {error}"))])?;
    of_tables(path, &text, |table| {
        let has_pairs = ["pair", "pairs", "search"].iter().any(|key| table.contains_key(*key));
        let claims = ["claim", "stability"].iter().any(|key| table.contains_key(*key));
        if has_pairs && !claims {
            // It is not read: a measurement has its own.
            table.insert(
                "claim".to_owned(),
                toml::Table::from_iter([(ONE.0.to_owned(), ONE.1.into())]).into(),
            );
        }
    })
}

/// The key and the value of a claim that stands for none.
const ONE: (&str, f64) = ("epsilon", 1.0);

/// Checks the audits of a file, after each table was changed.
fn of_tables(
    path: &Path,
    text: &str,
    change: impl Fn(&mut toml::Table),
) -> Result<Vec<Audit>, Vec<FileProblem>> {
    let (mut audits, mut problems): (Vec<Audit>, Vec<FileProblem>) = (Vec::new(), Vec::new());
    let mut names: HashSet<String> = HashSet::new();
    let mut entries = entries(text).map_err(|problem| vec![problem.in_file(path, text)])?;
    entries.iter_mut().for_each(|entry| change(&mut entry.table));
    for entry in &entries {
        match parse(&entry.table).and_then(|file| check(path, file)) {
            Ok(audit) if !names.insert(audit.name.clone()) => {
                let problem = format!(
                    "name is \"{}\", which another audit of the file has already; names must be unique",
                    audit.name
                );
                problems.push(KeyProblem::new("name", problem).of(entry).in_file(path, text));
            }
            Ok(audit) => audits.push(audit),
            Err(found) => problems
                .extend(found.into_iter().map(|problem| problem.of(entry).in_file(path, text))),
        }
    }
    let several = audits.len() > 1;
    audits.iter_mut().for_each(|audit| audit.one_of_several = several);
    if problems.is_empty() { Ok(audits) } else { Err(distinct(problems)) }
}

/// A problem with a key of an audit that was found later, with its location if the file can still
/// be read.
pub fn problem_of(audit: &Audit, path: &str, message: &str) -> FileProblem {
    let text = read_text(&audit.file).unwrap_or_default();
    let entries = entries(&text).unwrap_or_default();
    let entry = entries.iter().find(|entry| entry.name() == Some(&audit.name));
    let problem = KeyProblem::new(path, message);
    entry
        .map_or(KeyProblem::new(path, message), |entry| problem.of(entry))
        .in_file(&audit.file, &text)
}

/// The audits of a file as tables.
fn entries(text: &str) -> Result<Vec<Entry>, KeyProblem> {
    let table =
        toml::from_str(text).map_err(|error| KeyProblem::at(error.span(), error.message()))?;
    several::entries(table).map_err(|(key, message)| KeyProblem::new(key, message))
}

fn parse(table: &toml::Table) -> Result<AuditFile, Vec<KeyProblem>> {
    serde_path_to_error::deserialize(toml::Value::Table(table.clone())).map_err(|error| {
        let (key, message) = (error.path().to_string(), with_suggestion(error.inner().message()));
        let message = match key.as_str() {
            "." => message,
            key if message.starts_with("is ") => format!("{key} {message}"),
            key => format!("{key}: {message}"),
        };
        // `pair[2].left` is the path `pair.2.left`.
        let path = if key == "." { String::new() } else { key.replace('[', ".").replace(']', "") };
        vec![KeyProblem::new(path, message)]
    })
}

/// The parameters as JSON values, which is what mechanisms and programs read.
fn params(path: &str, table: &toml::Table) -> Result<Params, KeyProblem> {
    table
        .iter()
        .map(|(name, value)| Ok((name.clone(), json_value(&format!("{path}.{name}"), value)?)))
        .collect()
}

fn json_value(path: &str, value: &toml::Value) -> Result<serde_json::Value, KeyProblem> {
    Ok(match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(integer) => (*integer).into(),
        toml::Value::Float(float) if float.is_finite() => (*float).into(),
        toml::Value::Boolean(truth) => (*truth).into(),
        toml::Value::Array(items) => {
            items.iter().map(|item| json_value(path, item)).collect::<Result<_, _>>()?
        }
        toml::Value::Table(table) => {
            let entries = table.iter().map(|(name, value)| {
                Ok((name.clone(), json_value(&format!("{path}.{name}"), value)?))
            });
            serde_json::Value::Object(entries.collect::<Result<_, KeyProblem>>()?)
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) => {
            return Err(KeyProblem::new(
                path,
                format!(
                    "{path} is {value}, must be a finite number, a string, true or false; use quotes to pass it as a string"
                ),
            ));
        }
    })
}

/// Checks a number of draws.
pub fn draws(number: Whole) -> Result<u64, String> {
    let checked = u64::try_from(number.get()).ok().and_then(|draws| check_draws(draws).ok());
    checked.ok_or_else(|| {
        format!("is {}, must be a whole number from 1 to {MAX_DRAWS:e}", number.get())
    })
}

/// Checks a name. Reports and terminals show it, so it must be visible and must not contain control
/// characters.
pub fn check_name(path: &str, what: &str, name: &str) -> Option<KeyProblem> {
    if name.trim().is_empty() {
        return Some(KeyProblem::new(path, format!("{what} is empty; give it a name")));
    }
    let control = name.chars().find(|c| is_deceptive(*c))?;
    Some(KeyProblem::new(
        path,
        format!("{what} contains the control character {}; remove it", control.escape_default()),
    ))
}

fn check(file_path: &Path, file: AuditFile) -> Result<Audit, Vec<KeyProblem>> {
    let mut problems = Vec::new();
    problems.extend(check_name("name", "name", &file.name));
    let draws = file.draws.map(draws).transpose().unwrap_or_else(|problem| {
        problems.push(KeyProblem::new("draws", format!("draws {problem}")));
        None
    });
    problems.extend(file.empty_problems());
    problems.extend(file.privacy_problems());
    let expect = file.expect.unwrap_or_default();
    let relation = relation(file.relation.unwrap_or(RelationName::AddRemove), file.reason)
        .unwrap_or_else(|problem| {
            problems.push(problem);
            Relation::AddRemove
        });
    problems.extend(file.truth.into_iter().flat_map(|truth| check_truth("truth", "truth", truth)));
    let is_recorded = file.pair.is_empty()
        && file.accuracy.is_empty()
        && file.search.is_none()
        && !file.canaries.is_empty()
        && file.canaries.iter().all(CanariesFile::is_recorded);
    let mechanism = match file.mechanism {
        Some(mechanism) => mechanism,
        // Scores in a file need no mechanism.
        None if is_recorded => RECORDED.to_owned(),
        None => {
            problems.push(KeyProblem::new("", "missing field `mechanism`"));
            return Err(problems);
        }
    };
    let subject =
        match subject(file_path, mechanism, &file.params, file.command, file.timeout, file.setup) {
            Ok(subject) => subject,
            Err(problem) => {
                problems.push(problem);
                return Err(problems);
            }
        };
    let stated_control =
        file.control.map(|table| control(&table, expect)).transpose().unwrap_or_else(|problem| {
            problems.push(problem);
            None
        });
    let claim = match claim(file_path, file.claim, file.stability) {
        Ok(claim) => claim,
        Err(problem) => return Err(problems.into_iter().chain([problem]).collect()),
    };
    let mut raw_pairs = file.pair;
    if let Some(GeneratedPairs { patterns }) = file.pairs {
        match Pattern::all(&relation, patterns.components) {
            Ok(patterns) => add_patterns(&mut raw_pairs, patterns),
            Err(problem) => problems
                .push(KeyProblem::new("pairs.patterns", format!("pairs.patterns: {problem}"))),
        }
    }
    let (mut pairs, mut names): (Vec<Pair>, HashSet<String>) = (Vec::new(), HashSet::new());
    for (index, raw) in raw_pairs.into_iter().enumerate() {
        let (path, key) = (format!("pair.{index}"), format!("pair \"{}\"", raw.name));
        problems.extend(check_name(&format!("{path}.name"), "the pair's name", &raw.name));
        if !names.insert(raw.name.clone()) {
            problems.push(KeyProblem::new(
                format!("{path}.name"),
                format!("{key}: another pair has this name; names must be unique in a file"),
            ));
        }
        problems.extend(raw.truth.into_iter().flat_map(|truth| {
            check_truth(&format!("{path}.truth"), &format!("{key}: truth"), truth)
        }));
        if problems.is_empty()
            && let Err(problem) =
                relation.check_within(claim.input_distance(), &raw.left, &raw.right)
        {
            problems.push(KeyProblem::new(format!("{path}.right"), format!("{key}: {problem}")));
        }
        let truth = raw.truth.or(file.truth).unwrap_or_default();
        pairs.push(Pair {
            name: raw.name,
            left: raw.left,
            right: raw.right,
            expect: raw.expect,
            truth,
        });
    }
    let accuracy =
        accuracy::check(file.accuracy, pairs.iter().map(|pair| pair.name.clone()).collect())
            .unwrap_or_else(|mut found| {
                problems.append(&mut found);
                Vec::new()
            });
    let taken = pairs.iter().map(|pair| &pair.name);
    let taken = taken.chain(accuracy.iter().map(|one| &one.name)).cloned().collect();
    let canaries =
        canaries::check(file_path, file.canaries, taken, file.truth).unwrap_or_else(|mut found| {
            problems.append(&mut found);
            Vec::new()
        });
    let search = file.search.map(|raw| search::check(raw, &relation)).transpose().unwrap_or_else(
        |mut found| {
            problems.append(&mut found);
            None
        },
    );
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut audit = Audit {
        name: file.name,
        file: file_path.to_owned(),
        one_of_several: false,
        subject,
        resolution: file.resolution.map_or(claim.resolution(), Positive::get),
        claim,
        relation,
        expect,
        source: file.source,
        draws,
        max_seconds: file.max_seconds,
        reach: file.reach.unwrap_or_default(),
        allow_inconclusive: file.allow_inconclusive,
        ignore: file.ignore,
        control: stated_control,
        attacks: file.attacks.unwrap_or_else(|| Attack::DEFAULT.to_vec()),
        pairs,
        accuracy,
        canaries,
        search,
        reserved: 0,
        earlier: BTreeMap::new(),
    };
    if let Some(problem) = search::check_candidates(&audit) {
        return Err(vec![problem]);
    }
    if audit.control.is_none() {
        audit.control = short_noise(&audit);
    }
    Ok(audit)
}

/// The claim. Without pairs, nothing reads it.
fn claim(
    file: &Path,
    privacy: Option<Spelling>,
    stability: Option<Stability>,
) -> Result<Claim, KeyProblem> {
    let (key, spelling) = match (privacy, stability) {
        (Some(spelling), _) => ("claim", spelling),
        (None, Some(_)) => ("stability", Spelling { stability, ..Spelling::default() }),
        (None, None) => return Ok((NonNegative::default(), Delta::default()).into()),
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    spelling
        .with_points(folder)
        .and_then(Claim::try_from)
        .map_err(|problem| KeyProblem::new(key, format!("{key} {problem}")))
}

/// The control as stated: another audit, or parameters that replace those of the mechanism.
fn control(table: &toml::Table, expect: Expectation) -> Result<Control, KeyProblem> {
    if expect == Expectation::Violated {
        let problem = "control is only for an audit that is expected to be consistent; remove it, or change expect";
        return Err(KeyProblem::new("control", problem));
    }
    match (table.get("audit"), table.len()) {
        (_, 0) => Err(KeyProblem::new(
            "control",
            "control is empty; name a parameter that makes the mechanism leak more, or an audit",
        )),
        (Some(toml::Value::String(name)), 1) => Ok(Control::Audit(name.clone())),
        (Some(_), _) => Err(KeyProblem::new(
            "control.audit",
            "control.audit must be the name of an audit, and the only key of control; remove the others",
        )),
        (None, _) => Ok(Control::Params(params("control", table)?)),
    }
}

/// The relation. A custom relation, and only a custom relation, has a reason.
fn relation(name: RelationName, reason: Option<String>) -> Result<Relation, KeyProblem> {
    match (name, reason) {
        (RelationName::AddRemove, None) => Ok(Relation::AddRemove),
        (RelationName::ReplaceOne, None) => Ok(Relation::ReplaceOne),
        (RelationName::ComponentWise, None) => Ok(Relation::ComponentWise),
        (RelationName::SingleComponent, None) => Ok(Relation::SingleComponent),
        (RelationName::Custom, Some(reason)) if !reason.trim().is_empty() => {
            Ok(Relation::Custom { reason })
        }
        (RelationName::Custom, _) => Err(KeyProblem::new(
            "relation",
            "relation is \"custom\", which needs a reason; set reason = \"why the pairs are neighbours\"",
        )),
        (_, Some(_)) => Err(KeyProblem::new(
            "reason",
            "reason is only allowed with relation = \"custom\"; remove it or change the relation",
        )),
    }
}

/// What makes the outputs: a mechanism of the catalogue, or a program.
fn subject(
    file: &Path,
    mechanism: String,
    table: &toml::Table,
    command: Option<Vec<String>>,
    timeout: Option<Positive>,
    setup: Option<String>,
) -> Result<Subject, KeyProblem> {
    let params = params("params", table)?;
    let only_for_programs = [
        ("command", command.is_some()),
        ("timeout", timeout.is_some()),
        ("setup", setup.is_some()),
    ];
    match (mechanism.as_str(), command) {
        (process::NAME, Some(words)) => {
            let command = CommandLine::new(words, file, timeout.map(Positive::get), setup);
            Ok(Subject::Program {
                command: command.map_err(|problem| KeyProblem::new("command", problem))?,
                params,
            })
        }
        (process::NAME, None) => {
            let needed = "mechanism is \"command\", which needs one: command = [\"python3\", \"my_mechanism.py\"]";
            Err(KeyProblem::new("mechanism", needed))
        }
        (RECORDED, None) => Ok(Subject::Given { kind: RECORDED.to_owned() }),
        (name, command) => match only_for_programs.into_iter().find(|(_, given)| *given) {
            _ if registry::find(name).is_none() && training::find(name).is_none() => {
                Err(KeyProblem::new("mechanism", unknown_mechanism(name, command.is_some())))
            }
            Some((key, _)) => Err(KeyProblem::new(
                key,
                format!(
                    "{key}: is for mechanism = \"command\" only; remove it or change the mechanism"
                ),
            )),
            None => Ok(Subject::Registered { mechanism, params }),
        },
    }
}

fn unknown_mechanism(name: &str, has_command: bool) -> String {
    let trainings = training::ENTRIES.iter().map(|entry| entry.name);
    let known = registry::ENTRIES.iter().map(|entry| entry.name);
    let known = known.chain(trainings).chain([process::NAME]);
    // A file with a command is about a program, however the mechanism is called.
    let near = if has_command { Some(process::NAME) } else { nearest(name, known) };
    near.map_or_else(
        || registry::unknown(name),
        |near| format!("mechanism is \"{name}\", which is not known; did you mean \"{near}\"? `dp-audit show --mechanisms` lists all"),
    )
}

/// Adds the patterns that are not among the pairs yet. An audit file may contain one of them as a
/// [[pair]] to give it its own truth.
fn add_patterns(pairs: &mut Vec<PairFile>, patterns: Vec<Pattern>) {
    for Pattern { name, left, right } in patterns {
        if !pairs.iter().any(|pair| pair.left == left && pair.right == right) {
            pairs.push(PairFile { name, left, right, expect: None, truth: None });
        }
    }
}

fn check_truth(path: &str, key: &str, truth: Truth) -> Vec<KeyProblem> {
    let mut problems = Vec::new();
    if let Some(epsilon) = truth.epsilon.filter(|epsilon| epsilon.is_nan() || *epsilon < 0.0) {
        problems.push(KeyProblem::new(
            format!("{path}.epsilon"),
            format!("{key}.epsilon is {epsilon}, must be at least 0 (inf is allowed)"),
        ));
    }
    if let Some(delta) = truth.delta.filter(|delta| !(0.0..=1.0).contains(delta)) {
        problems.push(KeyProblem::new(
            format!("{path}.delta"),
            format!("{key}.delta is {delta}, must be between 0 and 1"),
        ));
    }
    problems
}
