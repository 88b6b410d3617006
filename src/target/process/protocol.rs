//! The messages between dp-audit and a child, as `docs/protocol.md` describes them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::model::text::printable;
use crate::model::{Dataset, Params, Side};
use crate::output::MAX_WIDTH;
use crate::target::{ProcessProblem, StreamSeed};

/// The version of the protocol.
pub const VERSION: u64 = 1;
/// The key of the version.
const VERSION_KEY: &str = "dp_audit";

/// The first message to a child: parameters and both datasets.
pub struct Greeting(Vec<u8>);

impl Greeting {
    /// The greeting of all children of a pair.
    pub fn new(params: &Params, left: &Dataset, right: &Dataset) -> Self {
        Self(line(
            &json!({ VERSION_KEY: VERSION, "params": params, "left": left.records(), "right": right.records() }),
        ))
    }

    /// The line to send. `first` is what another child has said already, `trials` how long a child
    /// may try out the mechanism.
    pub fn line(&self, first: Option<&Hello>, trials: Option<Duration>) -> Vec<u8> {
        // The datasets may be large, so they are written only once; the rest goes in front of them.
        let known = first
            .map(|Hello { width, seeded, .. }| format!("\"width\":{width},\"seeded\":{seeded},"))
            .unwrap_or_default();
        let time = trials
            .map(|trials| format!("\"seconds\":{},", trials.as_secs_f64()))
            .unwrap_or_default();
        [b"{", known.as_bytes(), time.as_bytes(), &self.0[1..]].concat()
    }
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// The first message of a child, which describes its outputs.
#[derive(Debug, PartialEq, Eq)]
pub struct Hello {
    /// Cells per output.
    pub width: usize,
    /// Whether the seed of a request decides its outputs.
    pub seeded: bool,
    /// The names of the cells; empty if they have none.
    pub columns: Vec<String>,
    /// Whether it accepts another greeting in place of a request.
    pub reusable: bool,
    /// How long it took to start, if it says so.
    pub start_up: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelloLine {
    #[serde(rename = "dp_audit")]
    _version: u64,
    width: usize,
    seeded: bool,
    #[serde(default)]
    columns: Vec<String>,
    #[serde(default)]
    reusable: bool,
    start_up: Option<f64>,
}

impl Hello {
    /// Parses it. The version is checked first, because another version may have other keys.
    pub fn parse(text: &str) -> Result<Self, ProcessProblem> {
        let value = value(text)?;
        match value.get(VERSION_KEY).map(Value::as_u64) {
            Some(Some(VERSION)) => {}
            Some(_) => {
                return Err(ProcessProblem::Version {
                    ours: VERSION,
                    theirs: value[VERSION_KEY].to_string(),
                });
            }
            None => {
                return Err(ProcessProblem::Hello {
                    reason: format!("it has no {VERSION_KEY}: {}", shortened(text)),
                });
            }
        }
        let HelloLine { width, seeded, columns, reusable, start_up, .. } =
            serde_path_to_error::deserialize(value).map_err(|error| {
                // An error of the whole line has a dot for its place.
                let place = error.path().to_string();
                let key = if place == "." { String::new() } else { format!("{place}: ") };
                let reason = format!("{key}{}: {}", error.inner(), shortened(text));
                ProcessProblem::Hello { reason }
            })?;
        let wrong = |reason: String| Err(ProcessProblem::Hello { reason });
        if !(1..=MAX_WIDTH).contains(&width) {
            return wrong(format!(
                "width is {width}, must be a whole number from 1 to {MAX_WIDTH}"
            ));
        }
        if !columns.is_empty() && columns.len() != width {
            return wrong(format!("width is {width}, but columns has {} names", columns.len()));
        }
        let start_up = match start_up.map(Duration::try_from_secs_f64).transpose() {
            Ok(start_up) => start_up,
            Err(error) => return wrong(format!("start_up must be a number of seconds: {error}")),
        };
        Ok(Self { width, seeded, columns, reusable, start_up })
    }
}

/// A request for `count` outputs of one side.
pub struct Request {
    /// The side.
    pub side: Side,
    /// How many outputs.
    pub count: usize,
    /// The seed for these outputs.
    pub seed: StreamSeed,
}

impl Request {
    /// The line to send.
    pub fn line(&self) -> Vec<u8> {
        line(&json!({ "side": self.side, "count": self.count, "seed": self.seed.to_string() }))
    }
}

/// The line that answers a request.
#[derive(Debug)]
pub enum Reply {
    /// The outputs themselves, as they are written.
    Values(Vec<Box<RawValue>>),
    /// A block of numbers follows. The line lists its symbols.
    Block {
        /// How many outputs it has.
        count: usize,
        /// The symbols, ordered by index.
        symbols: Vec<String>,
        /// The forms: one for each output, or one for all of them. None are given by most programs.
        forms: Vec<Option<String>>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockLine {
    count: usize,
    #[serde(default)]
    symbols: Vec<String>,
    #[serde(default)]
    forms: Vec<Option<String>>,
}

impl Reply {
    /// Parses it.
    pub fn parse(text: &str) -> Result<Self, ProcessProblem> {
        if text.trim_start().starts_with('[')
            && let Ok(values) = serde_json::from_str(text)
        {
            return Ok(Self::Values(values));
        }
        let BlockLine { count, symbols, forms } =
            BlockLine::deserialize(value(text)?).map_err(|error| ProcessProblem::Answer {
                reason: format!("{error}: {}", shortened(text)),
            })?;
        Ok(Self::Block { count, symbols, forms })
    }

    /// How many outputs it has.
    pub fn count(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Block { count, .. } => *count,
        }
    }
}

/// A line as JSON. If it has the key `error` or `misfit`, the child cannot continue.
fn value(text: &str) -> Result<Value, ProcessProblem> {
    let value: Value = serde_json::from_str(text).map_err(|error| ProcessProblem::Answer {
        reason: format!("it wrote a line that is not JSON ({error}): {}", shortened(text)),
    })?;
    let message = |key: &str| {
        value.get(key).map(|found| match found {
            Value::String(message) => printable(message),
            other => other.to_string(),
        })
    };
    match (message("error"), message("misfit")) {
        (Some(message), _) => Err(ProcessProblem::Refused { message }),
        (None, Some(message)) => Err(ProcessProblem::Misfit { message }),
        (None, None) => Ok(value),
    }
}

/// The beginning of a text, for messages.
pub fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    let start = printable(&text.chars().take(MAX_CHARS).collect::<String>());
    if text.chars().nth(MAX_CHARS).is_some() { format!("{start}…") } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_is_wrong_is_named() {
        let text = r#"{"dp_audit": 1, "width": 1, "seeded": true, "columns": {"a": 1}}"#;
        let Err(ProcessProblem::Hello { reason }) = Hello::parse(text) else { panic!("{text}") };
        assert!(reason.starts_with("columns: invalid type: map"), "{reason}");
    }

    #[test]
    fn a_greeting_says_what_is_known_and_how_long_trials_may_take() {
        let greeting = Greeting::new(&Params::default(), &Dataset::default(), &Dataset::default());
        let line = |first: Option<&Hello>, trials| {
            serde_json::from_slice::<Value>(&greeting.line(first, trials)).unwrap()
        };
        let plain = json!({ "dp_audit": 1, "params": {}, "left": [], "right": [] });
        assert_eq!(line(None, None), plain);
        let hello =
            Hello { width: 3, seeded: false, columns: Vec::new(), reusable: false, start_up: None };
        let full = line(Some(&hello), Some(Duration::from_millis(125)));
        assert_eq!(
            (&full["width"], &full["seeded"], &full["seconds"]),
            (&json!(3), &json!(false), &json!(0.125))
        );
        assert_eq!((&full["left"], full.as_object().unwrap().len()), (&plain["left"], 7));
    }
}
