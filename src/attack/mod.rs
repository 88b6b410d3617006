//! The attacker: looks at outputs and guesses which dataset they came from.
//!
//! A *score* maps a row of cells to one cell; *bins* divide the score's values; a *guess rule* answers D, D' or nothing for each bin. Everything
//! here is learned on exploration draws and judged on others, so a bad choice costs power, never validity.

mod bins;
mod board;
mod bold;
mod counts;
mod explore;
mod float_bits;
mod line;
mod order;
mod rule;
mod score;
mod screen;
mod seen;
mod select;
mod smooth;
mod table;
mod trend;

use serde::{Deserialize, Serialize};

pub use explore::{Explorer, Learned, Plan};
pub use rule::{Answer, Answers, GuessRule};
pub use score::Score;
pub use seen::{Bar, Distribution, Line, Seen};

/// A family of scores that an audit can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// Each component of the output by itself.
    Coordinates,
    /// The whole output as one symbol, for outputs that repeat.
    WholeRow,
    /// Sum, maximum and minimum of the numbers.
    Aggregates,
    /// The sum of the components' log-likelihood ratios, for independent components; also with one ratio shared by all of them.
    NaiveBayes,
    /// The same for successive differences, for running sums.
    Differences,
    /// Which symbols stand where, together with the numbers beside them.
    Patterns,
    /// Two components at a time: their difference and their joint ratio.
    Pairs,
    /// How many bits the numbers use: what floating-point noise gives away and the ideal noise would not. Only where an audit asks.
    FloatBits,
}

impl Attack {
    /// What is tried when an audit does not say: all that speaks of the mechanism as it is meant, not of its floating-point numbers.
    pub const DEFAULT: [Self; 7] =
        [Self::Coordinates, Self::WholeRow, Self::Aggregates, Self::NaiveBayes, Self::Differences, Self::Patterns, Self::Pairs];
}
