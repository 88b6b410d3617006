//! The messages between dp-audit and a child, as `docs/protocol.md` describes them.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::text::printable;
use crate::model::{Dataset, Params, Side};
use crate::output::{Cell, MAX_WIDTH, Rows, Symbols};
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

    /// The line to send.
    pub fn line(&self) -> Vec<u8> {
        self.0.clone()
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HelloLine {
    #[serde(rename = "dp_audit")]
    _version: u64,
    width: usize,
    seeded: bool,
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
        let HelloLine { width, seeded, .. } =
            HelloLine::deserialize(value).map_err(|error| Problem::Hello { reason: format!("{error}: {}", shortened(text)) })?;
        if (1..=MAX_WIDTH).contains(&width) {
            Ok(Self { width, seeded })
        } else {
            Err(Problem::Hello { reason: format!("width is {width}, must be a whole number from 1 to {MAX_WIDTH}") })
        }
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

/// Outputs from JSON values: each is an array of cells, or a single cell. Missing cells are absent.
pub fn rows_of_values(values: &[Value], width: usize) -> Result<(Rows, Symbols), Problem> {
    let (mut rows, mut names) = (Rows::new(width), Symbols::default());
    rows.resize(values.len());
    for (index, (row, value)) in rows.iter_mut().zip(values).enumerate() {
        let cells = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if cells.len() > width {
            return Err(Problem::Answer { reason: format!("an output has {} cells, but its hello said width {width}", cells.len()) });
        }
        row.fill(Cell::ABSENT);
        for (cell, value) in row.iter_mut().zip(cells) {
            *cell = cell_of_value(value, &mut |name| names.ranked_symbol(2 * index as u64, name))?;
        }
    }
    Ok((rows, names))
}

/// A cell from a JSON value. JSON has no infinities, so the strings `inf` and `-inf` are these numbers. Other strings are symbols.
fn cell_of_value(value: &Value, symbol: &mut impl FnMut(&str) -> Cell) -> Result<Cell, Problem> {
    match value {
        Value::Number(number) => number.as_f64().map(Cell::number),
        Value::String(text) if text == "inf" => Some(Cell::number(f64::INFINITY)),
        Value::String(text) if text == "-inf" => Some(Cell::number(f64::NEG_INFINITY)),
        Value::String(text) => Some(symbol(text)),
        Value::Null | Value::Bool(_) => Some(symbol(&value.to_string())),
        Value::Array(_) | Value::Object(_) => None,
    }
    .ok_or_else(|| Problem::Answer {
        reason: format!("a cell must be a number, a string, true, false or null: {}", shortened(&value.to_string())),
    })
}

/// Outputs from a block of little-endian numbers.
pub fn rows_of_block(block: &[u8], names: &[String], width: usize) -> Result<(Rows, Symbols), Problem> {
    let mut table = Symbols::default();
    let symbols: Vec<Cell> = names.iter().zip(0..).map(|(name, rank)| table.ranked_symbol(2 * rank, name)).collect();
    let (cells, _) = block.as_chunks::<8>();
    let mut rows = Rows::new(width);
    rows.resize(cells.len() / width);
    for (cell, bytes) in rows.iter_mut().flatten().zip(cells) {
        let bits = u64::from_le_bytes(*bytes);
        *cell = if bits >> 48 == SYMBOL_BITS { symbol(bits & ((1 << 48) - 1), &symbols)? } else { Cell::number(f64::from_bits(bits)) };
    }
    Ok((rows, table))
}

fn symbol(index: u64, symbols: &[Cell]) -> Result<Cell, Problem> {
    usize::try_from(index).ok().and_then(|index| symbols.get(index)).copied().ok_or_else(|| Problem::Answer {
        reason: format!("a cell names symbol {index}, but the block's line lists {} (the first is 0)", symbols.len()),
    })
}
