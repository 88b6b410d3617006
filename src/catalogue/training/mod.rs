//! Training mechanisms, for canary audits. Audit files name them like any other mechanism.
//!
//! | file | |
//! |---|---|
//! | `model.rs` | what training can reveal at most: laws that sit exactly on their claims |
//! | `dp_sgd.rs` | DP-SGD, right and with the bugs that implementations have had; also on pairs |

pub(super) mod dp_sgd;
mod model;

use crate::catalogue::registry::read_params;
use crate::model::Params;
use crate::target::process::TrainingProgram;
use crate::target::{PrepareError, Subject, Training};

/// Reads parameters and prepares a training.
type Prepare = fn(&Params) -> Result<Box<dyn Training>, PrepareError>;

/// A training mechanism that audit files can name.
pub struct RegisteredTraining {
    /// The name that audit files use.
    pub name: &'static str,
    /// A one-line description.
    pub summary: &'static str,
    prepare: Prepare,
}

/// The registry. A new training mechanism is a file and a line here.
pub const ENTRIES: &[RegisteredTraining] = &[
    RegisteredTraining {
        name: model::NAME,
        summary: model::SUMMARY,
        prepare: |params| {
            let model: model::Model = read_params(params).map_err(|misfit| misfit.on(None))?;
            Ok(Box::new(model))
        },
    },
    RegisteredTraining {
        name: dp_sgd::NAME,
        summary: dp_sgd::SUMMARY,
        prepare: |params| {
            let training: dp_sgd::DpSgd = read_params(params).map_err(|misfit| misfit.on(None))?;
            training.check().map_err(|misfit| misfit.on(None))?;
            Ok(Box::new(training))
        },
    },
];

/// The training mechanism with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static RegisteredTraining> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// The training of a subject: a mechanism of this registry, or a program.
///
/// # Errors
/// When there is no such mechanism, or its parameters are wrong.
pub fn prepare(subject: &Subject) -> Result<Box<dyn Training>, PrepareError> {
    match subject {
        Subject::Registered { mechanism, params } => match find(mechanism) {
            Some(entry) => (entry.prepare)(params),
            None => Err(PrepareError::Unknown(not_training(mechanism))),
        },
        Subject::Program { command, params } => {
            Ok(Box::new(TrainingProgram::new(command.clone(), params.clone())))
        }
        other => Err(PrepareError::Given(other.mechanism().to_owned())),
    }
}

/// The message for a mechanism that does not train.
#[must_use]
pub fn not_training(mechanism: &str) -> String {
    let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    format!(
        "mechanism is \"{mechanism}\", which does not train with canaries; use \"command\", or one of: {}",
        names.join(", ")
    )
}
