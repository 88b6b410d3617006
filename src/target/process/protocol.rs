//! The messages between dp-audit and a child, as `docs/protocol.md` describes them.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::{Dataset, Params, Side};
use crate::output::{Cell, MAX_WIDTH, Rows, Symbols};
use crate::target::{Problem, StreamSeed};

/// The version of the protocol.
pub const VERSION: u64 = 1;
/// The key of the version.
const VERSION_KEY: &str = "dp_audit";
/// The upper 16 bits of a NaN that stands for a symbol; the lower 48 are the symbol's place in the table of its block.
const SYMBOL: u64 = 0x7ffd;

/// What a child is told first: parameters and both datasets.
pub struct Greeting(Vec<u8>);

impl Greeting {
    /// The greeting of all children of a pair.
    pub fn new(params: &Params, left: &Dataset, right: &Dataset) -> Self {
        Self(line(&json!({ VERSION_KEY: VERSION, "params": params, "left": left.records(), "right": right.records() })))
    }

    /// As it is sent.
    pub fn line(&self) -> Vec<u8> {
        self.0.clone()
    }
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// What a child says of itself.
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
    /// Reads it. The version comes first: another version may have other keys.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let value = value(text)?;
        match value.get(VERSION_KEY).map(Value::as_u64) {
            Some(Some(VERSION)) => {}
            Some(_) => return Err(Problem::Version { ours: VERSION, theirs: value[VERSION_KEY].to_string() }),
            None => return Err(Problem::Hello { reason: format!("it has no {VERSION_KEY}: {}", beginning(text)) }),
        }
        let HelloLine { width, seeded, .. } =
            HelloLine::deserialize(value).map_err(|error| Problem::Hello { reason: format!("{error}: {}", beginning(text)) })?;
        if (1..=MAX_WIDTH).contains(&width) {
            Ok(Self { width, seeded })
        } else {
            Err(Problem::Hello { reason: format!("width is {width}, must be a whole number from 1 to {MAX_WIDTH}") })
        }
    }
}

/// So many outputs of one side.
pub struct Request {
    /// The side.
    pub side: Side,
    /// How many.
    pub count: usize,
    /// From which they should derive.
    pub seed: StreamSeed,
}

impl Request {
    /// As it is sent.
    pub fn line(&self) -> Vec<u8> {
        line(&json!({ "side": self.side, "count": self.count, "seed": self.seed.to_string() }))
    }
}

/// The line that answers a request.
#[derive(Debug, PartialEq)]
pub enum Reply {
    /// The outputs themselves.
    Values(Vec<Value>),
    /// A block of numbers follows, whose symbols are these.
    Block {
        /// How many outputs it has.
        count: usize,
        /// The symbols, in the order of their places.
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
    /// Reads it.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        match value(text)? {
            Value::Array(values) => Ok(Self::Values(values)),
            value => {
                let BlockLine { count, symbols } =
                    BlockLine::deserialize(value).map_err(|error| Problem::Answer { reason: format!("{error}: {}", beginning(text)) })?;
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

/// A line as JSON, unless the child says in it that it gives up.
fn value(text: &str) -> Result<Value, Problem> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Problem::Answer { reason: format!("it wrote a line that is not JSON ({error}): {}", beginning(text)) })?;
    match value.get("error") {
        Some(Value::String(message)) => Err(Problem::Refused { message: message.clone() }),
        Some(other) => Err(Problem::Refused { message: other.to_string() }),
        None => Ok(value),
    }
}

/// Enough of a text to recognise it.
pub fn beginning(text: &str) -> String {
    const SHOWN: usize = 120;
    let shown: String = text.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(SHOWN).is_some() { format!("{shown}…") } else { shown }
}

/// Outputs from JSON values: each an array of cells, or a single cell. Missing cells are absent.
pub fn rows_of_values(values: &[Value], width: usize) -> Result<(Rows, Symbols), Problem> {
    let (mut rows, mut names) = (Rows::new(width), Symbols::default());
    rows.resize(values.len());
    for (index, (row, value)) in rows.iter_mut().zip(values).enumerate() {
        let cells = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if cells.len() > width {
            return Err(Problem::Answer { reason: format!("an output has {} cells, and its hello said width {width}", cells.len()) });
        }
        row.fill(Cell::ABSENT);
        for (cell, value) in row.iter_mut().zip(cells) {
            *cell = cell_of_value(value, &mut |name| names.ranked_symbol(2 * index as u64, name))?;
        }
    }
    Ok((rows, names))
}

/// JSON has no infinities: the texts `inf` and `-inf` are these numbers. Other texts are symbols.
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
        reason: format!("a cell must be a number, a string, true, false or null: {}", beginning(&value.to_string())),
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
        *cell = if bits >> 48 == SYMBOL { symbol(bits & ((1 << 48) - 1), &symbols)? } else { Cell::number(f64::from_bits(bits)) };
    }
    Ok((rows, table))
}

fn symbol(place: u64, symbols: &[Cell]) -> Result<Cell, Problem> {
    usize::try_from(place).ok().and_then(|place| symbols.get(place)).copied().ok_or_else(|| Problem::Answer {
        reason: format!("a cell names symbol {place}, and the block's line lists {} (the first is 0)", symbols.len()),
    })
}
