//! Outputs that return soon.
//!
//! Take blocks of consecutive draws, each in two halves. A draw of a block's second half and one of
//! a far block's second half can be swapped, so each is as likely as the other to be among the
//! values of the block's first half. This finds a cache that forgets.

use super::episode::Episode;
use super::found::Dependence;
use crate::model::Side;
use crate::stats::binomial::upper_tail;
use crate::stats::sources::compare_values;

/// Draws of half a block.
const RETURNS: usize = 256;

/// The exact test for outputs that return soon.
pub(super) fn test_returns(
    episodes: &[Episode],
    side: Side,
    track: usize,
    alpha: f64,
) -> Option<Dependence> {
    let blocks: Vec<&[u64]> = episodes
        .iter()
        .flat_map(|episode| episode.track(side, track).chunks_exact(2 * RETURNS))
        .collect();
    // A block of the first half of all draws and one of the second half: every draw is in at most
    // one comparison.
    let (near, far) = blocks.split_at(blocks.len() / 2);
    let compared = near
        .iter()
        .zip(far)
        .map(|(near, far)| compare_values(&near[..RETURNS], &near[RETURNS..], &far[RETURNS..]));
    let (favour, all) =
        compared.fold((0, 0), |(favour, all), (more, of)| (favour + more, all + of));
    (all > 0 && upper_tail(favour, all, 0.5) <= alpha)
        .then_some(Dependence::Returns(side, favour, all))
}
