//! What a search found.

use std::fmt;

use crate::audit::{Evidence, Pair, SearchHistory, StatementResult};
use crate::target::TargetError;

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found<P> {
    /// The frozen pairs in the order in which they were certified. If the last one refutes the
    /// claim, it may be a smaller form of the one before.
    pub finalists: Vec<Finalist<P>>,
    /// A candidate on which the mechanism went wrong in a way that is not about its data: its draws
    /// depend on each other, its process dies.
    pub undecided: Option<(Pair, TargetError)>,
    /// What was done.
    pub history: SearchHistory,
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
    pub result: StatementResult,
    /// Whether it refutes the claim.
    pub refutes: bool,
}

impl<P> Found<P> {
    /// The smallest pair that refutes the claim, if one was found.
    #[must_use]
    pub fn smallest(&self) -> Option<&Finalist<P>> {
        self.finalists.iter().rev().find(|finalist| finalist.refutes)
    }

    /// The number among the racers of the smallest pair that refutes the claim. One that shrinking
    /// made has the number of the pair that was made smaller: the last one before it that refutes.
    #[must_use]
    pub fn origin(&self) -> Option<usize> {
        let refuting = self.finalists.iter().rev().filter(|finalist| finalist.refutes);
        refuting.into_iter().find_map(|finalist| finalist.racer)
    }

    /// A pair that could not be judged, named by its datasets, and why, if no pair refutes the
    /// claim: nobody knows what it would have shown.
    #[must_use]
    pub fn unjudged(&self) -> Option<(Pair, &TargetError)> {
        let frozen = self
            .finalists
            .iter()
            .find_map(|finalist| Some((&finalist.pair, finalist.result.outcome.as_ref().err()?)));
        let undecided = self.undecided.as_ref().map(|(pair, error)| (pair, error));
        let (pair, error) = frozen.or(undecided).filter(|_| self.smallest().is_none())?;
        let name = format!("{} and {}", pair.left, pair.right);
        Some((Pair { name, ..pair.clone() }, error))
    }

    /// The pair that shows most of the claim among those that were judged, if one could be.
    #[must_use]
    pub fn best(&self) -> Option<&Finalist<P>> {
        self.smallest().or_else(|| {
            let lower = |finalist: &Finalist<P>| {
                finalist.result.outcome.as_ref().map_or(-1.0, Evidence::lower)
            };
            // The first of equal ones.
            self.finalists
                .iter()
                .reduce(|best, next| if lower(next) > lower(best) { next } else { best })
        })
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
                write!(
                    f,
                    "none of {tried} candidates can be run; most often because {reason}. Correct record, size or the parameters of the mechanism"
                )
            }
        }
    }
}

impl std::error::Error for SearchError {}
