//! The attacks that an audit can name; each is a family of learners.

use serde::{Deserialize, Serialize};

/// A family of learners that an audit can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Attack {
    /// Each component of the output by itself.
    Coordinates,
    /// The whole output as one symbol, for outputs that repeat.
    WholeRow,
    /// Sum, maximum and minimum of the numbers, where the maximum is, and how many values differ.
    Aggregates,
    /// The sum of the components' log-likelihood ratios, for independent components; also with one
    /// ratio that all components share.
    NaiveBayes,
    /// The same for successive differences, for running sums.
    Differences,
    /// Which symbols are at which positions, together with the numbers of the output.
    Patterns,
    /// Two components at a time: their difference and their joint ratio.
    Pairs,
    /// Weighted sums of the numbers: the linear discriminant, which undoes correlations, and
    /// directions in which the noise differs.
    Directions,
    /// Three components at a time, and decision trees over all of them.
    Interactions,
    /// The fractional parts of the numbers: whole-number noise on data that is not whole.
    Fractions,
    /// Whole numbers modulo small numbers: last digits and parities.
    Residues,
    /// The parity of several components, each of which is noise.
    Parities,
    /// Where each item of a permutation is.
    Orders,
    /// How often a value was seen on each side before, for values that repeat rarely.
    Memory,
    /// Places where the numbers of one side are close together: releases with hardly any noise.
    Spikes,
    /// One component in the few draws in which another is extreme or has a rare value.
    Slices,
    /// Which bits the numbers use: what floating-point noise reveals and ideal noise would not.
    /// Only if an audit asks for it.
    FloatBits,
    /// A single learner. Audit files cannot ask for it; it is for ablations, which leave out one
    /// learner at a time.
    #[serde(skip)]
    Learner(LearnerName),
}

/// The name of a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearnerName(pub &'static str);

impl Attack {
    /// The attacks that are tried if an audit names none: all that test the mechanism as it is
    /// meant, not its floating-point numbers.
    pub const DEFAULT: [Self; 16] = [
        Self::Coordinates,
        Self::WholeRow,
        Self::Aggregates,
        Self::NaiveBayes,
        Self::Differences,
        Self::Patterns,
        Self::Pairs,
        Self::Directions,
        Self::Interactions,
        Self::Fractions,
        Self::Residues,
        Self::Parities,
        Self::Orders,
        Self::Memory,
        Self::Spikes,
        Self::Slices,
    ];
}
