//! The accuracy claims of an audit file.

use serde::Deserialize;

use super::file::{self, check_name};
use super::problem::KeyProblem;
use crate::audit::{Accuracy, Audit};
use crate::catalogue::registry;
use crate::model::checked::{Positive, Share};
use crate::model::{AccuracyClaim, Dataset, Expectation, Whole};
use crate::output::OutputEvent;
use crate::target::PrepareError;

/// An accuracy claim as parsed, before its values are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccuracyFile {
    name: String,
    data: Dataset,
    event: OutputEvent,
    probability: Share,
    #[serde(default)]
    expect: Expectation,
    truth: Option<Share>,
    source: Option<String>,
    draws: Option<Whole>,
    resolution: Option<Positive>,
}

/// Checks the accuracy claims of a file. `taken` are the names of its pairs.
pub fn check(
    raw: Vec<AccuracyFile>,
    mut taken: Vec<String>,
) -> Result<Vec<Accuracy>, Vec<KeyProblem>> {
    let (mut claims, mut problems) = (Vec::new(), Vec::new());
    for (index, raw) in raw.into_iter().enumerate() {
        let AccuracyFile {
            name,
            data,
            event,
            probability,
            expect,
            truth,
            source,
            draws,
            resolution,
        } = raw;
        let (path, key) = (format!("accuracy.{index}"), format!("accuracy \"{name}\""));
        problems.extend(check_name(
            &format!("{path}.name"),
            "the name of the accuracy claim",
            &name,
        ));
        if taken.contains(&name) {
            let problem = format!(
                "{key}: another accuracy claim or pair has this name; names must be unique in a file"
            );
            problems.push(KeyProblem::new(format!("{path}.name"), problem));
        }
        taken.push(name.clone());
        if probability.get() <= 0.0 {
            let problem = format!(
                "{key}: probability is 0, must be greater than 0; a claim of nothing cannot fail"
            );
            problems.push(KeyProblem::new(format!("{path}.probability"), problem));
        }
        let draws = draws.map(file::draws).transpose().unwrap_or_else(|problem| {
            problems
                .push(KeyProblem::new(format!("{path}.draws"), format!("{key}: draws {problem}")));
            None
        });
        claims.push(Accuracy {
            name,
            data,
            event,
            claim: AccuracyClaim { probability, resolution },
            expect,
            truth,
            source,
            draws,
        });
    }
    if problems.is_empty() { Ok(claims) } else { Err(problems) }
}

/// What is wrong with the accuracy claims of an audit when their mechanism is prepared: the path to
/// each key, and the message.
pub fn preparation_problems(audit: &Audit) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    for (index, accuracy) in audit.accuracy.iter().enumerate() {
        let mut problem = |key: &str, text: &str| {
            problems.push((
                format!("accuracy.{index}.{key}"),
                format!("accuracy \"{}\": {key}: {text}", accuracy.name),
            ));
        };
        match registry::prepare(&audit.subject, &accuracy.data, &accuracy.data) {
            // A program is started only when it runs.
            Ok(None) => {}
            Ok(Some(target)) => {
                if let Err(text) =
                    target.open().map_or(Ok(()), |width| accuracy.event.check(width, true))
                {
                    problem("event", &text);
                }
            }
            // The parameters are the same for all claims: one report is enough.
            Err(error @ (PrepareError::Params { .. } | PrepareError::Unknown(_))) => {
                let key = if let PrepareError::Params { key, .. } = &error {
                    key.as_str()
                } else {
                    "mechanism"
                };
                return vec![(key.to_owned(), error.to_string())];
            }
            Err(PrepareError::Data { problem: text, .. }) => problem("data", &text),
            Err(error) => problem("data", &error.to_string()),
        }
    }
    problems
}
