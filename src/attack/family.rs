//! The attacks that an audit can name.

use serde::{Deserialize, Serialize};

/// A family of scores that an audit can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
