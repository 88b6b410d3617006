//! What a search for pairs did, for reports. The search itself is in `src/search/`.

use serde::{Deserialize, Serialize};

use crate::model::number::grouped;

/// What a search did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchHistory {
    /// All candidates, in the order in which they entered the race.
    pub racers: Vec<Racer>,
    /// The rounds of the race.
    pub heats: Vec<Heat>,
    /// Why candidates could not be run, and how many.
    pub misfits: Vec<(String, usize)>,
    /// Pairs that were tried while shrinking.
    pub shrinks: usize,
    /// All draws, those that certify included.
    pub draws: u64,
    /// How many pairs were frozen and certified.
    pub certified: usize,
    /// How long it took.
    pub seconds: f64,
}

/// A candidate of the race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Racer {
    /// What it is.
    pub origin: String,
    /// A short form of D.
    pub left: String,
    /// A short form of D'.
    pub right: String,
}

/// A round of the race: candidates with the same number of draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// The draws of each candidate.
    pub draws: u64,
    /// The candidates, the best first.
    pub placings: Vec<Placing>,
}

/// How a candidate did in a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placing {
    /// Its number among the racers.
    pub racer: usize,
    /// The share of the claim that it promised.
    pub share: f64,
    /// Whether it went on.
    pub kept: bool,
}

impl SearchHistory {
    /// How many candidates could not be run.
    #[must_use]
    pub fn misfit_count(&self) -> usize {
        self.misfits.iter().map(|(_, count)| count).sum()
    }

    /// What the search did, in one sentence.
    #[must_use]
    pub fn effort(&self) -> String {
        let misfits = match self.misfit_count() {
            0 => String::new(),
            count => format!(" ({} could not be run)", grouped(count as u64)),
        };
        let shrinks = match self.shrinks {
            0 => String::new(),
            1 => " and 1 smaller pair".to_owned(),
            count => format!(" and {} smaller pairs", grouped(count as u64)),
        };
        let pairs =
            if self.certified == 1 { "1 pair" } else { &format!("{} pairs", self.certified) };
        format!(
            "The search tried {} candidates{misfits}{shrinks} and certified {pairs} on fresh draws: {} draws in {:.1} seconds",
            grouped(self.racers.len() as u64),
            grouped(self.draws),
            self.seconds
        )
    }
}
