//! How draws depend on each other, in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::Side;
use crate::model::number::grouped;

/// Which draws are paired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// Draws of one side at this distance.
    Lag(Side, usize),
    /// Draws with the same index on left and right.
    Sides,
    /// Draws of one side with the same index in two batches.
    Batches(Side),
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The outputs themselves.
    Value,
    /// How far they are from their median.
    Size,
    /// Whether they are equal.
    Equality,
}

/// How draws depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// Paired outputs are alike too often or too rarely: the number of comparisons that say alike,
    /// and of all comparisons.
    Order(Aspect, Pairing, u64, u64),
    /// The distribution changes over time. It shows in parts of this many draws.
    Levels(Aspect, Side, usize),
    /// The same outputs in a row occur again: their number, and how many draws later; None if it is
    /// in another batch.
    Repeats(Side, usize, Option<usize>),
    /// Outputs return soon: comparisons in favour of the draws just before, and all comparisons.
    Returns(Side, u64, u64),
    /// Too many outputs occur equally often: how often, how many do, and how many occur about as
    /// often.
    Even(Side, u64, u64, u64),
    /// Too many outputs occur a multiple of so many times: how many do, and how many there are.
    Copies(u64, u64, u64),
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(aspect, pairing, alike, of) => {
                f.write_str(in_size(*aspect))?;
                match pairing {
                    Pairing::Lag(side, lag) => {
                        let what = if *aspect == Aspect::Equality {
                            "whether an output comes again"
                        } else {
                            "each output"
                        };
                        write!(f, "on {side} {what} depends on the one ")?;
                        match lag {
                            1 => f.write_str("before it"),
                            lag => write!(f, "{} draws before it", grouped(*lag as u64)),
                        }
                    }
                    Pairing::Sides => f.write_str("the outputs on left and right depend on each other, as if both used one random stream"),
                    Pairing::Batches(side) => {
                        write!(f, "on {side} two batches depend on each other, as if both used one random stream")
                    }
                }?;
                write!(f, " ({})", one_way(*alike, *of))
            }
            Self::Levels(aspect, side, scale) => write!(
                f,
                "{}the distribution of outputs on {side} changes over time (parts of {} draws differ more than independent draws would)",
                in_size(*aspect),
                grouped(*scale as u64)
            ),
            Self::Repeats(side, length, later) => {
                write!(f, "on {side} the same {length} outputs in a row come up again ")?;
                match later {
                    Some(later) => write!(f, "{later} draws later"),
                    None => f.write_str("in another batch"),
                }
            }
            Self::Returns(side, favour, of) => write!(
                f,
                "on {side} outputs return soon after they were drawn and not later, as if they were kept in a cache ({})",
                one_way(*favour, *of)
            ),
            Self::Even(side, times, count, of) => write!(
                f,
                "on {side} too many outputs occur equally often, as if rows were copied or drawn without replacement ({} occur {} times each, \
                 and only {} occur once more or once less)",
                grouped(*count),
                grouped(*times),
                grouped(of - count)
            ),
            Self::Copies(times, multiples, of) => write!(
                f,
                "the outputs occur in multiples of {times}, as if each row were there {times} times ({} of {} different outputs do)",
                grouped(*multiples),
                grouped(*of)
            ),
        }
    }
}

fn in_size(aspect: Aspect) -> &'static str {
    if aspect == Aspect::Size { "in the size of the noise, " } else { "" }
}

fn one_way(favour: u64, of: u64) -> String {
    format!("{favour} of {of} comparisons go the same way, half of them would by chance")
}
