//! Scores or guesses and coins of canaries: from a file, from the caller, or from training.

use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The scores of the canaries of one run, or of one step with fresh coins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoredTrial {
    /// Which run and step: empty if there is one.
    #[serde(default)]
    pub name: String,
    /// High where the canary seems to have been in.
    pub scores: Vec<f64>,
    /// Whether it was in.
    pub included: Vec<bool>,
}

impl ScoredTrial {
    /// A trial. Infinite scores become the largest numbers, so that files can hold them; their order
    /// stays.
    #[must_use]
    pub fn new(name: String, scores: Vec<f64>, included: Vec<bool>) -> Self {
        let scores = scores
            .into_iter()
            .map(|score| if score.is_nan() { score } else { score.clamp(f64::MIN, f64::MAX) })
            .collect();
        Self { name, scores, included }
    }

    /// The number of canaries.
    #[must_use]
    pub fn canaries(&self) -> usize {
        self.included.len()
    }
}

/// The scores of all runs, and whether each step has coins of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CanaryScores {
    /// The runs or steps.
    pub trials: Vec<ScoredTrial>,
    /// Whether trials are steps of a run.
    #[serde(default)]
    pub steps: bool,
    /// Whether the scores are guesses that somebody else made: 1 for in, −1 for out, 0 for none.
    #[serde(default)]
    pub guesses: bool,
}

/// The columns of a file of scores, or of guesses.
const COLUMNS: [&str; 6] = ["score", "included", "run", "step", "canary", "guess"];

impl CanaryScores {
    /// Reads a CSV file with the columns `score` or `guess`, and `included`, and optionally `run`,
    /// `step` and `canary`, in any order.
    ///
    /// # Errors
    /// What is wrong, in which line, and what to do about it. The file is not named.
    pub fn read(path: &Path) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_path(path)
            .map_err(|error| format!("cannot be read: {error}"))?;
        let header = reader.headers().map_err(|error| format!("cannot be read: {error}"))?.clone();
        let column =
            |name: &str| header.iter().position(|one| one.trim_start_matches('\u{feff}') == name);
        let unknown = header
            .iter()
            .map(|one| one.trim_start_matches('\u{feff}'))
            .find(|one| !COLUMNS.contains(one));
        let needed = |name: &str| {
            column(name).ok_or_else(|| {
                let found = unknown.map_or_else(String::new, |one| format!(" (found: \"{one}\")"));
                format!(
                    "line 1: there is no column \"{name}\"{found}; the first line must name the \
                     columns score and included, and may name run, step and canary"
                )
            })
        };
        let guesses = column("guess").is_some();
        if guesses && column("score").is_some() {
            return Err("line 1: there are scores and guesses; leave one of the two columns out, \
                        best the guesses: scores show more"
                .to_owned());
        }
        let score = if guesses { needed("guess")? } else { needed("score")? };
        let included = needed("included")?;
        if let Some(unknown) = unknown {
            return Err(format!(
                "line 1: the column \"{unknown}\" is not known; columns are {}",
                COLUMNS.join(", ")
            ));
        }
        let (run, step, canary) = (column("run"), column("step"), column("canary"));
        let mut trials: Vec<ScoredTrial> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut seen: HashMap<(usize, String), u64> = HashMap::new();
        for record in reader.records() {
            let record = record.map_err(|error| format!("cannot be read: {error}"))?;
            let line = record.position().map_or(0, csv::Position::line);
            let cell = |column: usize| record.get(column).unwrap_or_default();
            let part = |name: &str, column: Option<usize>| {
                column.map(|column| format!("{name} {}", cell(column)))
            };
            let parts: Vec<String> =
                [part("run", run), part("step", step)].into_iter().flatten().collect();
            let name = parts.join(", ");
            let place = *places.entry(name.clone()).or_insert_with(|| {
                trials.push(ScoredTrial { name, ..ScoredTrial::default() });
                trials.len() - 1
            });
            if let Some(canary) = canary
                && let Some(first) = seen.insert((place, cell(canary).to_owned()), line)
            {
                return Err(format!(
                    "line {line}: the canary {} is also in line {first}; each canary needs one \
                     coin and one score in a run, so add its scores up, or leave one line out",
                    cell(canary)
                ));
            }
            let value: f64 = if guesses {
                guess(cell(score)).ok_or_else(|| {
                    format!(
                        "line {line}: guess is \"{}\", must be in, out, or empty for a canary about \
                         which nothing is guessed",
                        cell(score)
                    )
                })?
            } else {
                cell(score).parse().map_err(|_| {
                    format!("line {line}: score is \"{}\", must be a number", cell(score))
                })?
            };
            if value.is_nan() {
                return Err(nan(&format!("line {line}")));
            }
            trials[place].scores.push(value.clamp(f64::MIN, f64::MAX));
            trials[place].included.push(coin(cell(included)).ok_or_else(|| {
                format!(
                    "line {line}: included is \"{}\", must be 1 or true for a canary that was in \
                     the training data, and 0 or false for one that was not",
                    cell(included)
                )
            })?);
        }
        Ok(Self { trials, steps: step.is_some(), guesses })
    }

    /// All canaries of all runs.
    #[must_use]
    pub fn canaries(&self) -> u64 {
        self.trials.iter().map(|trial| trial.canaries() as u64).sum()
    }
}

/// That a score is not a number.
pub(super) fn nan(place: &str) -> String {
    format!(
        "{place}: a score is NaN, which has no place in the order; find out why training or scoring \
         failed there, and give every canary a number: leaving it out would depend on the outcome"
    )
}

/// A guess as it is written.
fn guess(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "in" | "1" => Some(1.0),
        "out" | "-1" => Some(-1.0),
        "" | "0" => Some(0.0),
        _ => None,
    }
}

/// A coin as it is written.
fn coin(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "1.0" | "true" | "in" => Some(true),
        "0" | "0.0" | "false" | "out" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CanaryScores, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        CanaryScores::read(file.path())
    }

    #[test]
    fn a_file_is_read_by_the_names_of_its_columns() {
        let scores = read("\u{feff}included, score\n1, 2.5\nfalse,-inf\nTrue,1e3\n").unwrap();
        let trial = &scores.trials[0];
        assert_eq!((trial.scores[0], trial.scores[2]), (2.5, 1e3));
        assert!(trial.scores[1] < -1e300);
        assert_eq!(trial.included, [true, false, true]);
        assert!(!scores.steps);
    }

    #[test]
    fn runs_and_steps_are_trials_of_their_own() {
        let scores = read("run,step,score,included\na,1,1,1\nb,1,2,0\na,2,3,0\na,1,4,0\n").unwrap();
        let names: Vec<&str> = scores.trials.iter().map(|trial| trial.name.as_str()).collect();
        assert_eq!(names, ["run a, step 1", "run b, step 1", "run a, step 2"]);
        assert_eq!(scores.trials[0].scores, [1.0, 4.0]);
        assert!(scores.steps && scores.canaries() == 4);
    }

    #[test]
    fn guesses_are_read_as_three_values() {
        let scores = read("guess,included\nin,1\n,0\n-1,1\nOUT,0\n0,1\n").unwrap();
        assert!(scores.guesses);
        assert_eq!(scores.trials[0].scores, [1.0, 0.0, -1.0, -1.0, 0.0]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_its_line() {
        for (text, parts) in [
            ("value,included\n1,1\n", ["line 1", "no column \"score\""]),
            ("score,included,colour\n1,1,red\n", ["line 1", "\"colour\" is not known"]),
            ("score,included\n1,1\nx,0\n", ["line 3", "must be a number"]),
            ("score,included\n1,1\n,0\n", ["line 3", "must be a number"]),
            ("score,included\n1,yes\n", ["line 2", "must be 1 or true"]),
            ("score,included\nNaN,1\n", ["line 2", "a score is NaN"]),
            ("guess,included\nin,1\nperhaps,0\n", ["line 3", "must be in, out, or empty"]),
            ("guess,score,included\nin,1,0\n", ["line 1", "leave one of the two"]),
            ("score,included\n1,1\n2\n", ["line: 3", "cannot be read"]),
            ("canary,score,included\n7,1,1\n7,2,1\n", ["line 3", "also in line 2"]),
        ] {
            let error = read(text).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
        assert!(
            CanaryScores::read(Path::new("absent.csv")).unwrap_err().contains("cannot be read")
        );
    }
}
