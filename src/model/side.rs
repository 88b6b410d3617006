//! The two sides of a pair: a dataset and its neighbour.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The dataset D.
    Left,
    /// Its neighbour D'.
    Right,
}

impl Side {
    /// Both sides, D first.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "left",
            Self::Right => "right",
        })
    }
}
