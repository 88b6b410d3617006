//! The canary audits of an audit file.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::file::check_name;
use super::problem::KeyProblem;
use crate::audit::{Audit, Canaries, ScoreSource, TrainingPlan};
use crate::catalogue::training;
use crate::model::{Expectation, Truth, Whole};
use crate::stats::canary::Sides;
use crate::target::PrepareError;

/// More canaries than this, in all steps of a run, are rejected as a typo.
const MOST: u64 = 100_000_000;

/// A canary audit as parsed, before its values are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanariesFile {
    name: String,
    file: Option<PathBuf>,
    canaries: Option<Whole>,
    runs: Option<Whole>,
    steps: Option<Whole>,
    #[serde(default)]
    sides: Sides,
    #[serde(default)]
    independent_coins: bool,
    #[serde(default)]
    fixed_guesses: bool,
    expect: Option<Expectation>,
    truth: Option<Truth>,
}

impl CanariesFile {
    /// Whether the scores come from a file, and no mechanism is needed.
    pub fn is_recorded(&self) -> bool {
        self.file.is_some()
    }
}

/// Checks the canary audits of a file. `taken` are the names of its other statements, `truth` is that
/// of the whole audit.
pub fn check(
    path: &Path,
    raw: Vec<CanariesFile>,
    mut taken: Vec<String>,
    truth: Option<Truth>,
) -> Result<Vec<Canaries>, Vec<KeyProblem>> {
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for (index, raw) in raw.into_iter().enumerate() {
        let (at, key) = (format!("canaries.{index}"), format!("canaries \"{}\"", raw.name));
        problems.extend(check_name(&format!("{at}.name"), "the name of the canaries", &raw.name));
        if taken.contains(&raw.name) {
            let problem =
                format!("{key}: another statement has this name; names must be unique in a file");
            problems.push(KeyProblem::new(format!("{at}.name"), problem));
        }
        taken.push(raw.name.clone());
        match source(path, &raw) {
            Ok(scores) => all.push(Canaries {
                name: raw.name,
                scores,
                sides: raw.sides,
                independent_coins: raw.independent_coins,
                fixed_guesses: raw.fixed_guesses,
                expect: raw.expect,
                truth: raw.truth.or(truth).unwrap_or_default(),
            }),
            Err((name, problem)) => problems
                .push(KeyProblem::new(format!("{at}.{name}"), format!("{key}: {name} {problem}"))),
        }
    }
    if problems.is_empty() { Ok(all) } else { Err(problems) }
}

/// Where the scores come from. A problem is a key and what is wrong with it.
fn source(path: &Path, raw: &CanariesFile) -> Result<ScoreSource, (&'static str, String)> {
    let counts = [("canaries", raw.canaries), ("runs", raw.runs), ("steps", raw.steps)];
    if let Some(file) = &raw.file {
        return match counts.into_iter().find(|(_, given)| given.is_some()) {
            Some((key, _)) => {
                Err((key, "is for training, and file has scores; remove one of them".to_owned()))
            }
            None => Ok(ScoreSource::File(path.parent().unwrap_or(Path::new("")).join(file))),
        };
    }
    let number = |key: &'static str, value: Option<Whole>, least: u64| {
        let Some(value) = value else { return Ok(None) };
        let found = u64::try_from(value.get()).ok().filter(|n| (least..=MOST).contains(n));
        found.map(Some).ok_or_else(|| {
            (key, format!("is {}, must be a whole number from {least} to {MOST:e}", value.get()))
        })
    };
    let canaries = number("canaries", raw.canaries, 10)?.ok_or_else(|| {
        ("canaries", "is missing; state how many to train with, or a file with scores".to_owned())
    })?;
    let runs = number("runs", raw.runs, 1)?.unwrap_or(1);
    let steps = number("steps", raw.steps, 1)?;
    if canaries.saturating_mul(steps.unwrap_or(1)).saturating_mul(runs) > MOST {
        return Err(("canaries", format!("times runs and steps is more than {MOST:e}; use fewer")));
    }
    Ok(ScoreSource::Training(TrainingPlan { canaries, runs, steps }))
}

/// What is wrong with the training of an audit when it is prepared: the path to the key, and the
/// message.
pub fn preparation_problem(audit: &Audit) -> Option<(String, String)> {
    let error = training::prepare(&audit.subject)
        .err()
        .filter(|_| audit.canaries.iter().any(Canaries::trains))?;
    let key =
        if let PrepareError::Params { key, .. } = &error { key.as_str() } else { "mechanism" };
    Some((key.to_owned(), error.to_string()))
}
