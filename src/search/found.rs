//! What a search found.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::audit::{Pair, PairResult};
use crate::model::number::grouped;
use crate::target::TargetError;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found<P> {
    /// The frozen pairs in the order in which they were certified. If the last one refutes the claim, it may be a smaller form of the one
    /// before.
    pub finalists: Vec<Finalist<P>>,
    /// All candidates, in the order in which they entered the race.
    pub racers: Vec<Racer>,
    /// The rounds of the race.
    pub heats: Vec<Heat>,
    /// Why candidates could not be run, and how many.
    pub misfits: Vec<(String, usize)>,
    /// The draws that chose. Those that certify are in the finalists.
    pub draws: u64,
    /// Pairs that were tried while shrinking.
    pub shrinks: usize,
    /// How long it took.
    pub seconds: f64,
}

/// A pair that was frozen and then judged on fresh draws.
#[derive(Clone, Debug)]
pub struct Finalist<P> {
    /// The candidate.
    pub candidate: P,
    /// The same as a pair of the audit.
    pub pair: Pair,
    /// Its number among the racers; `None` for a pair that shrinking made.
    pub racer: Option<usize>,
    /// What was found on it.
    pub result: PairResult,
    /// Whether it refutes the claim.
    pub refutes: bool,
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
    pub standings: Vec<Standing>,
}

/// How a candidate did in a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Its number among the racers.
    pub racer: usize,
    /// The share of the claim that it promised.
    pub share: f64,
    /// Whether it went on.
    pub kept: bool,
}

impl<P> Found<P> {
    /// The smallest pair that refutes the claim, if one was found.
    #[must_use]
    pub fn smallest(&self) -> Option<&Finalist<P>> {
        self.finalists.iter().rev().find(|finalist| finalist.refutes)
    }

    /// The pair that shows most of the claim among those that were judged, if one could be.
    #[must_use]
    pub fn best(&self) -> Option<&Finalist<P>> {
        self.smallest().or_else(|| {
            let lower = |finalist: &Finalist<P>| finalist.result.outcome.as_ref().map_or(-1.0, |evidence| evidence.bounds.lower);
            // The first of equal ones.
            self.finalists.iter().reduce(|best, next| if lower(next) > lower(best) { next } else { best })
        })
    }

    /// All draws, with those that certify.
    #[must_use]
    pub fn all_draws(&self) -> u64 {
        let certified = self.finalists.iter().filter_map(|finalist| finalist.result.outcome.as_ref().ok()).map(|evidence| evidence.draws);
        self.draws + certified.sum::<u64>()
    }

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
            count => format!(", {} of which could not be run", grouped(count as u64)),
        };
        let shrinks = if self.shrinks > 0 { format!(", {} smaller pairs", grouped(self.shrinks as u64)) } else { String::new() };
        let (candidates, draws) = (grouped(self.racers.len() as u64), grouped(self.all_draws()));
        format!("The search tried {candidates} candidates{misfits}{shrinks}, with {draws} draws in {:.1} seconds", self.seconds)
    }
}

/// Why a search could not be made.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchError {
    /// The mechanism cannot be run at all.
    Target(TargetError),
    /// No candidate can be run.
    NoneFits {
        /// How many were tried.
        tried: usize,
        /// The most frequent reason.
        reason: String,
    },
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target(error) => error.fmt(f),
            Self::NoneFits { tried, reason } => {
                write!(f, "none of {tried} candidates can be run; most often because {reason}. Correct record or size in [search]")
            }
        }
    }
}

impl std::error::Error for SearchError {}
