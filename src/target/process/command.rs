//! How a program is started.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::target::{ProcessError, ProcessProblem, TargetError};

/// The worker for mechanisms in Python.
pub const WORKER: &str = include_str!("../../../python/dp_audit/worker.py");
/// The placeholder for it in a command line. It is needed because an installed dp-audit has no path
/// to the worker.
const WORKER_PLACEHOLDER: &str = "{worker}";

/// The time limit for an answer, if the audit file does not set `timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest time limit in seconds: 30 years. A longer one has no use and could overflow an
/// `Instant`.
const MAX_TIMEOUT_SECONDS: f64 = 1e9;

/// How a program is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLine {
    words: Vec<String>,
    pub(super) folder: PathBuf,
    pub(super) timeout: Duration,
    setup: Option<String>,
}

impl CommandLine {
    /// The program and its arguments, to be run in the audit file's folder; `setup` says how to
    /// install what it needs.
    ///
    /// # Errors
    /// When there is no program.
    pub fn new(
        words: Vec<String>,
        file: &Path,
        timeout: Option<f64>,
        setup: Option<String>,
    ) -> Result<Self, String> {
        if words.first().is_none_or(String::is_empty) {
            return Err("command is empty; give a program and its arguments, for example [\"python3\", \"my_mechanism.py\"]".to_owned());
        }
        let file = std::path::absolute(file).map_err(|error| {
            format!("command: the folder of the audit file is not known: {error}")
        })?;
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        let timeout = timeout.map_or(DEFAULT_TIMEOUT, |seconds| {
            Duration::from_secs_f64(seconds.clamp(0.0, MAX_TIMEOUT_SECONDS))
        });
        Ok(Self { words, folder, timeout, setup })
    }

    /// The program. A path is relative to the audit file's folder; a name without a slash is
    /// searched on the `PATH`.
    pub(super) fn program(&self) -> PathBuf {
        let program = Path::new(&self.words[0]);
        if program.components().count() > 1 {
            self.folder.join(program)
        } else {
            program.to_owned()
        }
    }

    /// The arguments. In place of the built-in worker, Python gets a short program that reads the
    /// worker from standard input.
    pub(super) fn arguments(&self) -> impl Iterator<Item = String> {
        self.words[1..].iter().flat_map(|word| {
            if word == WORKER_PLACEHOLDER {
                vec!["-c".to_owned(), worker_reader()]
            } else {
                vec![word.clone()]
            }
        })
    }

    /// What the program reads from standard input before the greeting: the built-in worker, if the
    /// command line names it. So the worker needs no file, also in a container, and the list of
    /// processes stays readable.
    pub(super) fn source(&self) -> Option<&'static str> {
        self.words[1..].iter().any(|word| word == WORKER_PLACEHOLDER).then_some(WORKER)
    }

    /// The files among its words, for example a script or the program itself.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.words.iter().map(|word| self.folder.join(word)).filter(|file| file.is_file())
    }

    pub(super) fn fails(&self, problem: ProcessProblem, stderr: String) -> TargetError {
        // The setup hint helps only if something may be missing. A program that answers, although
        // incorrectly, is installed.
        let may_be_missing = matches!(
            problem,
            ProcessProblem::NotStarted { .. }
                | ProcessProblem::Ended { .. }
                | ProcessProblem::Refused { .. }
        );
        let setup = self.setup.clone().filter(|_| may_be_missing);
        TargetError::Process(Box::new(ProcessError {
            command: self.to_string(),
            problem,
            stderr,
            setup,
        }))
    }
}

/// The Python program that reads the worker and runs it. It reads no byte more, because the worker
/// opens standard input anew for the greeting.
fn worker_reader() -> String {
    let bytes = WORKER.len();
    format!(
        "import os; source = b''\n\
         while len(source) < {bytes}: source += os.read(0, {bytes} - len(source)) or os._exit(1)\n\
         exec(compile(source, '<worker>', 'exec'))"
    )
}

impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words.join(" "))
    }
}
