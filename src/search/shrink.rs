//! Makes a pair smaller while the claim stays refuted. Each step is decided by fresh draws; the end
//! is certified once more.

use super::race::{Budget, Race};
use super::source::PairSource;
use crate::audit::Listener;

/// The fewest draws of a look.
const LEAST: u64 = 512;
/// How many times as many draws a smaller pair may need.
const MORE: u64 = 4;

/// The end of shrinking.
pub struct Shrunk<P> {
    /// The smallest pair; `None` if nothing smaller was found.
    pub pair: Option<P>,
    /// The draws that show that it refutes the claim.
    pub draws: u64,
    /// How many pairs were tried.
    pub tried: usize,
}

/// The smallest pair that is reached in single steps. `draws` were enough to be certain of the
/// first one.
pub fn shrink<S: PairSource, L: Listener + ?Sized>(
    race: &mut Race<'_, S, L>,
    first: &S::Pair,
    draws: u64,
    budget: Budget,
) -> Shrunk<S::Pair> {
    let mut shrunk = Shrunk { pair: None, draws, tried: 0 };
    // Often far fewer draws are enough.
    let mut enough = LEAST;
    while enough < draws && !refutes(race, first, enough) {
        enough *= 2;
    }
    shrunk.draws = MORE * enough;
    let mut now = first.clone();
    'smaller: loop {
        for candidate in race.source.smaller(&now) {
            if race.is_over(budget) {
                return shrunk;
            }
            shrunk.tried += 1;
            if refutes(race, &candidate, enough) || refutes(race, &candidate, MORE * enough) {
                shrunk.pair = Some(candidate.clone());
                now = candidate;
                continue 'smaller;
            }
        }
        return shrunk;
    }
}

/// Whether fresh draws still clearly refute the claim. A pair that cannot be run refutes nothing.
fn refutes<S: PairSource, L: Listener + ?Sized>(
    race: &mut Race<'_, S, L>,
    pair: &S::Pair,
    draws: u64,
) -> bool {
    race.look(pair, draws).is_ok_and(|promise| promise.sure > 1.0)
}
