//! The messages between dp-audit and a child, as `docs/protocol.md` describes them.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::text::printable;
use crate::model::{Dataset, Params, Side};
use crate::output::{Cell, MAX_WIDTH, Rows, Symbols, Texts};
use crate::target::{Problem, StreamSeed};

/// The version of the protocol.
pub const VERSION: u64 = 1;
/// The key of the version.
const VERSION_KEY: &str = "dp_audit";
/// The upper 16 bits of a NaN that encodes a symbol. The lower 48 bits are the symbol's index in the list of its block.
const SYMBOL_BITS: u64 = 0x7ffd;

/// The first message to a child: parameters and both datasets.
pub struct Greeting(Vec<u8>);

impl Greeting {
    /// The greeting of all children of a pair.
    pub fn new(params: &Params, left: &Dataset, right: &Dataset) -> Self {
        Self(line(&json!({ VERSION_KEY: VERSION, "params": params, "left": left.records(), "right": right.records() })))
    }

    /// The line to send. `first` is what another child has said already, `trials` how long a child may try out the mechanism.
    pub fn line(&self, first: Option<&Hello>, trials: Option<Duration>) -> Vec<u8> {
        // The datasets may be large, so they are written only once; the rest goes in front of them.
        let first = first.map(|Hello { width, seeded, .. }| format!("\"width\":{width},\"seeded\":{seeded},")).unwrap_or_default();
        let trials = trials.map(|trials| format!("\"seconds\":{},", trials.as_secs_f64())).unwrap_or_default();
        [b"{", first.as_bytes(), trials.as_bytes(), &self.0[1..]].concat()
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
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let value = value(text)?;
        match value.get(VERSION_KEY).map(Value::as_u64) {
            Some(Some(VERSION)) => {}
            Some(_) => return Err(Problem::Version { ours: VERSION, theirs: value[VERSION_KEY].to_string() }),
            None => return Err(Problem::Hello { reason: format!("it has no {VERSION_KEY}: {}", shortened(text)) }),
        }
        let HelloLine { width, seeded, columns, reusable, start_up, .. } =
            HelloLine::deserialize(value).map_err(|error| Problem::Hello { reason: format!("{error}: {}", shortened(text)) })?;
        let wrong = |reason: String| Err(Problem::Hello { reason });
        if !(1..=MAX_WIDTH).contains(&width) {
            return wrong(format!("width is {width}, must be a whole number from 1 to {MAX_WIDTH}"));
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
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// The outputs themselves.
    Values(Vec<Value>),
    /// A block of numbers follows. The line lists its symbols.
    Block {
        /// How many outputs it has.
        count: usize,
        /// The symbols, ordered by index.
        symbols: Vec<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockLine {
    count: usize,
    #[serde(default)]
    symbols: Vec<String>,
}

impl Reply {
    /// Parses it.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        match value(text)? {
            Value::Array(values) => Ok(Self::Values(values)),
            value => {
                let BlockLine { count, symbols } =
                    BlockLine::deserialize(value).map_err(|error| Problem::Answer { reason: format!("{error}: {}", shortened(text)) })?;
                Ok(Self::Block { count, symbols })
            }
        }
    }

    /// How many outputs it has.
    pub fn count(&self) -> usize {
        match self {
            Self::Values(values) => values.len(),
            Self::Block { count, .. } => *count,
        }
    }
}

/// A line as JSON. If it has the key `error`, the child cannot continue.
fn value(text: &str) -> Result<Value, Problem> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Problem::Answer { reason: format!("it wrote a line that is not JSON ({error}): {}", shortened(text)) })?;
    match value.get("error") {
        Some(Value::String(message)) => Err(Problem::Refused { message: printable(message) }),
        Some(other) => Err(Problem::Refused { message: other.to_string() }),
        None => Ok(value),
    }
}

/// The beginning of a text, for messages.
pub fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    let start = printable(&text.chars().take(MAX_CHARS).collect::<String>());
    if text.chars().nth(MAX_CHARS).is_some() { format!("{start}…") } else { start }
}

/// Outputs as a program sent them.
pub struct Answer {
    /// The cells.
    pub rows: Rows,
    /// The texts of the symbols in them.
    pub texts: Texts,
    /// The names of these symbols, in the order of the outputs.
    pub names: Symbols,
}

impl Answer {
    fn new(count: usize, width: usize) -> Self {
        let mut rows = Rows::new(width);
        rows.resize(count);
        Self { rows, texts: Texts::default(), names: Symbols::default() }
    }

    /// Outputs from JSON values: each is an array of cells, or a single cell. Missing cells are absent.
    pub fn of_values(values: &[Value], width: usize) -> Result<Self, Problem> {
        let mut answer = Self::new(values.len(), width);
        let Self { rows, texts, names } = &mut answer;
        for (index, (row, value)) in rows.iter_mut().zip(values).enumerate() {
            let cells = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            if cells.len() > width {
                return Err(Problem::Answer { reason: format!("an output has {} cells, but its hello said width {width}", cells.len()) });
            }
            row.fill(Cell::ABSENT);
            for (cell, value) in row.iter_mut().zip(cells) {
                *cell = cell_of_value(value, &mut |name| symbol(2 * index as u64, name, texts, names));
            }
        }
        Ok(answer)
    }

    /// Outputs from a block of little-endian numbers, with the symbols that its line lists.
    pub fn of_block(block: &[u8], symbols: &[String], width: usize) -> Result<Self, Problem> {
        let (cells, _) = block.as_chunks::<8>();
        let mut answer = Self::new(cells.len() / width, width);
        let Self { rows, texts, names } = &mut answer;
        let symbols: Vec<Cell> = symbols.iter().zip(0..).map(|(name, rank)| symbol(2 * rank, name, texts, names)).collect();
        for (cell, bytes) in rows.iter_mut().flatten().zip(cells) {
            let bits = u64::from_le_bytes(*bytes);
            let is_symbol = bits >> 48 == SYMBOL_BITS;
            *cell = if is_symbol { listed(bits & ((1 << 48) - 1), &symbols)? } else { Cell::number(f64::from_bits(bits)) };
        }
        Ok(answer)
    }
}

/// The symbol with this name, which is remembered.
fn symbol(rank: u64, name: &str, texts: &mut Texts, names: &mut Symbols) -> Cell {
    let cell = names.ranked_symbol(rank, name);
    if let Some(payload) = cell.payload() {
        texts.entry(payload).or_insert_with(|| name.to_owned());
    }
    cell
}

/// A cell from a JSON value. JSON has no infinities, so the strings `inf` and `-inf` are these numbers. Other strings are symbols. An array
/// or an object is a text: its JSON.
fn cell_of_value(value: &Value, symbol: &mut impl FnMut(&str) -> Cell) -> Cell {
    match value {
        Value::Number(number) => Cell::number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) if text == "inf" => Cell::number(f64::INFINITY),
        Value::String(text) if text == "-inf" => Cell::number(f64::NEG_INFINITY),
        Value::String(text) => symbol(text),
        other => symbol(&other.to_string()),
    }
}

fn listed(index: u64, symbols: &[Cell]) -> Result<Cell, Problem> {
    usize::try_from(index).ok().and_then(|index| symbols.get(index)).copied().ok_or_else(|| Problem::Answer {
        reason: format!("a cell names symbol {index}, but the block's line lists {} (the first is 0)", symbols.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_says_what_is_known_and_how_long_trials_may_take() {
        let greeting = Greeting::new(&Params::default(), &Dataset::default(), &Dataset::default());
        let line = |first: Option<&Hello>, trials| serde_json::from_slice::<Value>(&greeting.line(first, trials)).unwrap();
        let plain = json!({ "dp_audit": 1, "params": {}, "left": [], "right": [] });
        assert_eq!(line(None, None), plain);
        let hello = Hello { width: 3, seeded: false, columns: Vec::new(), reusable: false, start_up: None };
        let full = line(Some(&hello), Some(Duration::from_millis(125)));
        assert_eq!((&full["width"], &full["seeded"], &full["seconds"]), (&json!(3), &json!(false), &json!(0.125)));
        assert_eq!((&full["left"], full.as_object().unwrap().len()), (&plain["left"], 7));
    }
}
