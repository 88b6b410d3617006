//! Tests whether the draws are independent. Every bound assumes that they are.
//!
//! All tests are exact, or err on the safe side, for outputs of any distribution, with or without
//! atoms, and skip outputs that never vary.
//!
//! | file | what it finds |
//! |---|---|
//! | `pairs.rs` | neighbours, sides or batches that depend on each other; values that come again |
//! | `lags.rs` | draws that depend on those any distance before them |
//! | `levels.rs` | a level or a size that drifts, or that is drawn once for several draws |
//! | `repeats.rs` | a stream that was restarted |
//! | `returns.rs` | a cache that forgets |
//! | `even.rs` | rows that were copied, draws without replacement |
//!
//! `episode.rs` records draws, `scores.rs` ranks them, `found.rs` says what was found.

mod episode;
mod even;
mod found;
mod lags;
mod levels;
mod pairs;
mod repeats;
mod returns;
mod scores;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub use episode::Episode;
pub(super) use episode::ordered;
use even::{test_even, test_multiples};
pub use found::{Aspect, Dependence, Pairing};
use lags::test_lags;
use levels::test_levels;
use pairs::{Centre, test_pairs};
use repeats::test_repeats;
use returns::test_returns;
use scores::Scores;

use super::binomial::upper_tail;
use crate::model::Side;

/// The maximum probability that one look treats independent draws as dependent. A pair gets two
/// looks, one per phase; files and programs get one more.
pub const FALSE_ALARM: f64 = 3e-7;

/// The shares of it. They sum to 1.
const REPEATS_SHARE: f64 = 0.1;
const RETURNS_SHARE: f64 = 0.1;
const EVEN_SHARE: f64 = 0.05;
const MULTIPLES_SHARE: f64 = 0.05;
const LAGS_SHARE: f64 = 0.3;
const LEVELS_SHARE: f64 = 0.2;
const PAIRS_SHARE: f64 = 0.2;

/// The distances at which whole values are compared; `lags.rs` compares bits at all distances.
const ORDER_LAGS: [usize; 1] = [1];
const EQUALITY_LAGS: [usize; 13] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];

/// Looks for dependence among draws. For independent draws it returns None, except with probability
/// at most [`FALSE_ALARM`].
#[must_use]
pub fn dependence(episodes: &[Episode]) -> Option<Dependence> {
    let tracks = episodes.first().map_or(0, Episode::tracks);
    (0..tracks).find_map(|track| {
        let shares = Shares::of(tracks);
        let alone = |side: &Side| test_side(episodes, *side, track, &shares);
        let found: Option<Dependence> =
            Side::BOTH.par_iter().filter_map(alone).find_first(|_| true);
        found
            .or_else(|| {
                // The first of several tracks is a hash of the whole output, which has no size.
                let centres = if has_order(tracks, track) {
                    Side::BOTH.map(|side| Centre::of(episodes, side, track))
                } else {
                    [None; 2]
                };
                let test = |(aspect, pairing): &(Aspect, Pairing)| {
                    test_pairs(episodes, *aspect, *pairing, track, centres, shares.pairs)
                };
                paired_tests().par_iter().filter_map(test).find_first(|_| true)
            })
            .or_else(|| test_multiples(episodes, track, shares.multiples))
    })
}

/// Looks for outputs that were copied. The order of the draws does not matter. It is a part of what
/// [`dependence`] looks for.
#[must_use]
pub fn evenness(episodes: &[Episode]) -> Option<Dependence> {
    let tracks = episodes.first().map_or(0, Episode::tracks);
    let shares = Shares::of(tracks);
    (0..tracks).find_map(|track| {
        let of_side = |side| test_even(episodes, side, track, shares.even);
        let found = Side::BOTH.into_iter().find_map(of_side);
        found.or_else(|| test_multiples(episodes, track, shares.multiples))
    })
}

/// The largest false-alarm rate of each single test.
struct Shares {
    repeats: f64,
    returns: f64,
    even: f64,
    multiples: f64,
    lags: f64,
    levels: f64,
    pairs: f64,
}

impl Shares {
    fn of(tracks: usize) -> Self {
        let each = |share: f64, tests: usize| FALSE_ALARM * share / (tracks * tests) as f64;
        let sides = Side::BOTH.len();
        Self {
            repeats: each(REPEATS_SHARE, sides),
            returns: each(RETURNS_SHARE, sides),
            even: each(EVEN_SHARE, sides),
            multiples: each(MULTIPLES_SHARE, 1),
            lags: each(LAGS_SHARE, sides),
            // Values and sizes.
            levels: each(LEVELS_SHARE, 2 * sides),
            pairs: each(PAIRS_SHARE, paired_tests().len()),
        }
    }
}

/// What is compared in `pairs.rs`.
fn paired_tests() -> Vec<(Aspect, Pairing)> {
    let lags = |lags: &[usize]| -> Vec<Pairing> {
        let of_side = |side| lags.iter().map(move |lag| Pairing::Lag(side, *lag));
        Side::BOTH.into_iter().flat_map(of_side).collect()
    };
    let others = [Pairing::Sides].into_iter().chain(Side::BOTH.map(Pairing::Batches));
    let ordered: Vec<Pairing> = lags(&ORDER_LAGS).into_iter().chain(others).collect();
    [Aspect::Value, Aspect::Size]
        .into_iter()
        .flat_map(|aspect| ordered.iter().map(move |pairing| (aspect, *pairing)))
        .chain(lags(&EQUALITY_LAGS).into_iter().map(|pairing| (Aspect::Equality, pairing)))
        .collect()
}

/// Whether the keys of a track sort like outputs: the first of several is a hash.
fn has_order(tracks: usize, track: usize) -> bool {
    tracks == 1 || track > 0
}

/// The tests of a single side.
fn test_side(
    episodes: &[Episode],
    side: Side,
    track: usize,
    shares: &Shares,
) -> Option<Dependence> {
    test_repeats(episodes, side, track, shares.repeats)
        .or_else(|| test_returns(episodes, side, track, shares.returns))
        .or_else(|| {
            let all: Vec<u64> =
                episodes.iter().flat_map(|episode| episode.track(side, track)).copied().collect();
            let scores = Scores::of(&all);
            let ordered = has_order(episodes[0].tracks(), track).then_some(&scores);
            test_lags(episodes, side, track, ordered, shares.lags)
                .or_else(|| test_levels(&scores, Aspect::Value, side, shares.levels))
                .or_else(|| test_levels(ordered?, Aspect::Size, side, shares.levels))
        })
        .or_else(|| test_even(episodes, side, track, shares.even))
}

/// Whether a fair coin shows so many heads, or so many tails, with probability at most α.
fn is_unlikely(heads: u64, flips: u64, alpha: f64) -> bool {
    flips > 0 && 2.0 * upper_tail(heads.max(flips - heads), flips, 0.5) <= alpha
}
