//! The attacks that an audit can name; each is a family of scores.

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
    /// The sum of the components' log-likelihood ratios, for independent components; also with one ratio that all components share.
    NaiveBayes,
    /// The same for successive differences, for running sums.
    Differences,
    /// Which symbols are at which positions, together with the numbers of the output.
    Patterns,
    /// Two components at a time: their difference and their joint ratio.
    Pairs,
    /// How many bits the numbers use: what floating-point noise reveals and ideal noise would not. Only if an audit asks for it.
    FloatBits,
}

impl Attack {
    /// The attacks that are tried if an audit names none: all that test the mechanism as it is meant, not its floating-point numbers.
    pub const DEFAULT: [Self; 7] =
        [Self::Coordinates, Self::WholeRow, Self::Aggregates, Self::NaiveBayes, Self::Differences, Self::Patterns, Self::Pairs];
}
