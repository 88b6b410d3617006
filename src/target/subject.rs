//! What a target is created from.

use serde::{Deserialize, Serialize};

use super::process::CommandLine;
use crate::model::Params;

/// What makes the outputs. Mechanisms of the catalogue and programs can be sent to another process
/// and prepared there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Subject {
    /// A mechanism of the catalogue.
    Registered {
        /// Its name.
        mechanism: String,
        /// Its parameters.
        params: Params,
    },
    /// A program in any language.
    Program {
        /// How it is started.
        command: CommandLine,
        /// The parameters that are sent to it.
        params: Params,
    },
    /// A function of the caller. Any process that has its code can create it.
    Function {
        /// Its name, for reports.
        name: String,
    },
    /// Something that only the caller can create: a closure, or recorded outputs.
    Given {
        /// The kind, for reports.
        kind: String,
    },
}

impl Subject {
    /// The mechanism's name in reports.
    #[must_use]
    pub fn mechanism(&self) -> &str {
        match self {
            Self::Registered { mechanism, .. } => mechanism,
            Self::Program { .. } => super::process::NAME,
            Self::Function { name } => name,
            Self::Given { kind } => kind,
        }
    }

    /// The parameters; `None` if the caller creates the target.
    #[must_use]
    pub fn params(&self) -> Option<&Params> {
        match self {
            Self::Registered { params, .. } | Self::Program { params, .. } => Some(params),
            Self::Function { .. } | Self::Given { .. } => None,
        }
    }

    /// The command line, if it is a program.
    #[must_use]
    pub fn command(&self) -> Option<&CommandLine> {
        if let Self::Program { command, .. } = self { Some(command) } else { None }
    }
}
