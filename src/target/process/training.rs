//! A program that trains with canaries. Each training is a process of its own: one line with the
//! coins goes in, one line with the scores comes out. `docs/protocol.md` describes both.

use serde::Deserialize;
use serde_json::json;

use super::CommandLine;
use super::child::Child;
use crate::model::Params;
use crate::target::{ProcessProblem, StreamSeed, TargetError, Training};

/// A program that trains.
pub struct TrainingProgram {
    command: CommandLine,
    params: Params,
}

impl TrainingProgram {
    /// The program with this command line. It gets these parameters.
    #[must_use]
    pub fn new(command: CommandLine, params: Params) -> Self {
        Self { command, params }
    }
}

/// What the program answers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    /// The scores, one list for each list of coins.
    Scores { scores: Vec<Vec<f64>> },
    /// The same, if there is one list.
    One { scores: Vec<f64> },
    /// It gives up.
    Error { error: String },
}

impl Training for TrainingProgram {
    fn train(&self, coins: &[Vec<bool>], seed: StreamSeed) -> Result<Vec<Vec<f64>>, TargetError> {
        let message = json!({
            "dp_audit": super::protocol::VERSION,
            "params": self.params,
            "seed": seed.to_string(),
            "coins": coins,
        });
        let mut child = Child::start(&self.command)?;
        let line = child.exchange_line("to train", format!("{message}\n").into_bytes())?;
        let wrong = |reason: String| ProcessProblem::Answer { reason };
        let shape = "{\"scores\": [one list of numbers for each list of coins]}";
        match serde_json::from_str(&line) {
            Ok(Answer::Scores { scores }) => Ok(scores),
            Ok(Answer::One { scores }) => Ok(vec![scores]),
            Ok(Answer::Error { error }) => {
                Err(child.fail(ProcessProblem::Refused { message: error }))
            }
            Err(_) => Err(child.fail(wrong(format!(
                "its answer is not {shape}: {}",
                super::protocol::shortened(&line)
            )))),
        }
    }

    /// Nobody has looked whether it uses its seed.
    fn reproducible(&self) -> bool {
        false
    }
}
