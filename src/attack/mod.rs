//! The attacker: looks at outputs and guesses which dataset they came from.
//!
//! A *score* maps a row of cells to one cell; *bins* divide the score's values; a *guess rule* answers D, D' or nothing for each bin. Everything
//! here is learned on exploration draws and judged on others, so a bad choice costs power, never validity.

mod bins;
mod counts;
mod explore;
mod order;
mod rule;
mod score;
mod select;
mod smooth;

use serde::{Deserialize, Serialize};

pub use explore::{Explorer, Learned};
pub use rule::{Answer, Answers, GuessRule};
pub use score::Score;

/// A family of scores that an audit can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// Each component of the output by itself.
    Coordinates,
    /// The whole output as one symbol, for outputs that repeat.
    WholeRow,
    /// The sum of the components' log-likelihood ratios, for independent components.
    NaiveBayes,
}

impl Attack {
    /// What is tried when an audit does not say.
    pub const DEFAULT: [Self; 3] = [Self::Coordinates, Self::WholeRow, Self::NaiveBayes];
}
