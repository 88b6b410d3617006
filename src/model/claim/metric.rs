//! How far apart two outputs are.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A distance between two outputs of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Metric {
    /// The sum of the absolute differences of the components; of a single number, the absolute
    /// difference.
    L1,
    /// The square root of the sum of the squared differences.
    L2,
    /// The largest absolute difference.
    Linf,
    /// The number of components that differ.
    Hamming,
    /// For outputs that are datasets: the number of records that only one of them has. The order
    /// does not matter.
    Symmetric,
    /// For outputs that are ordered lists: the number of insertions and deletions that turn one
    /// into the other.
    InsertDelete,
}

impl fmt::Display for Metric {
    /// As it is written in audit files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::L1 => "l1",
            Self::L2 => "l2",
            Self::Linf => "linf",
            Self::Hamming => "hamming",
            Self::Symmetric => "symmetric",
            Self::InsertDelete => "insert-delete",
        })
    }
}
