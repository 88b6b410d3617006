//! A problem in an audit file, and how it becomes a message with its location.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use super::excerpt;
use super::several::Entry;
use crate::model::FileProblem;
use crate::model::toml_place::path_steps;

/// What is wrong with a file, and at which key.
pub struct KeyProblem {
    /// The path to the value, such as `pair.2.left`; empty if the problem is about the whole file.
    path: String,
    /// What is wrong with it.
    pub message: String,
    /// Where it is, if that is known already.
    span: Option<Range<usize>>,
}

impl KeyProblem {
    /// A problem with the value at this path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), span: None }
    }

    /// A problem at a place that is known already.
    pub fn at(span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        Self { span, ..Self::new("", message) }
    }

    /// The same problem, with the path in the file of an audit.
    pub fn of(self, entry: &Entry) -> Self {
        Self { path: entry.path_in_file(&self.path), ..self }
    }

    /// The problem as a message about the file, with its location.
    pub fn in_file(self, file: &Path, text: &str) -> FileProblem {
        let steps = path_steps(&self.path);
        let key =
            || excerpt::find_key(text, &steps).filter(|_| self.message.contains("unknown field `"));
        let span = self.span.clone().or_else(key).or_else(|| excerpt::find_span(text, &steps));
        FileProblem::new(
            file,
            span.map_or(self.message.clone(), |span| {
                excerpt::with_location(text, span, &self.message)
            }),
        )
    }
}

/// Each problem once. A problem with a shared key is a problem of every audit of its file.
pub fn distinct(mut problems: Vec<FileProblem>) -> Vec<FileProblem> {
    let mut seen = HashSet::new();
    problems.retain(|problem| seen.insert(problem.to_string()));
    problems
}
