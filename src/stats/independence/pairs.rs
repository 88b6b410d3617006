//! Pairs of draws that are compared two at a time.
//!
//! Take two pairs of draws `(a, b)` and `(a', b')`, which are four different draws. If draws are
//! independent and b, b' come from the same side, then swapping b and b' does not change the joint
//! distribution.
//!
//! - *Order.* The swap flips the sign of `(a − a')·(b − b')`. So among the comparisons without ties
//!   the number of concordant ones is Binomial(n, ½), exactly (Kendall). The pairing decides what
//!   is found: consecutive draws find cached or drifting noise; draws with the same index on left
//!   and right find one stream for both sides; draws with the same index in two batches find one
//!   stream for all batches.
//! - *Sizes.* The same with folded values `|x − m|`, where `m` is the median of all draws of the
//!   side: noise whose size stays the same for some time has no order, but its folded values do.
//!   Swapping two draws does not change the median, so the test is as exact as before.
//! - *Equality.* The swap exchanges `[a = b] + [a' = b']` with `[a = b'] + [a' = b]`. So among the
//!   comparisons in which they differ, the first is the larger one Binomial(n, ½) times.

use std::cmp::Ordering;

use super::episode::{Episode, number};
use super::found::{Aspect, Dependence, Pairing};
use super::is_unlikely;
use crate::model::Side;

/// The median of one side's numbers. It depends on all draws and not on their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centre(f64);

impl Centre {
    /// None if there are no finite numbers.
    pub(super) fn of(episodes: &[Episode], side: Side, track: usize) -> Option<Self> {
        let draws = episodes.iter().flat_map(|episode| episode.track(side, track));
        let mut numbers: Vec<f64> =
            draws.map(|key| number(*key)).filter(|number| number.is_finite()).collect();
        let middle = numbers.len() / 2;
        (!numbers.is_empty())
            .then(|| Self(*numbers.select_nth_unstable_by(middle, f64::total_cmp).1))
    }

    /// A key that sorts like the distance from the median. Symbols are as far away as infinity.
    fn size(self, key: u64) -> u64 {
        let size = (number(key) - self.0).abs();
        if size.is_nan() { f64::INFINITY.to_bits() } else { size.to_bits() }
    }
}

/// The pairs of one track.
fn pairs(episodes: &[Episode], pairing: Pairing, track: usize) -> Vec<(u64, u64)> {
    let mut pairs = Vec::new();
    let mut zip = |one: &[u64], other: &[u64]| {
        pairs.extend(one.iter().copied().zip(other.iter().copied()));
    };
    match pairing {
        Pairing::Lag(side, lag) => {
            for draws in episodes.iter().map(|episode| episode.track(side, track)) {
                // Blocks of 2·lag draws: each draw is in one pair.
                draws.chunks_exact(2 * lag).for_each(|block| zip(&block[..lag], &block[lag..]));
            }
        }
        Pairing::Sides => {
            for episode in episodes {
                zip(episode.track(Side::Left, track), episode.track(Side::Right, track));
            }
        }
        Pairing::Batches(side) => {
            for two in episodes.chunks_exact(2) {
                zip(two[0].track(side, track), two[1].track(side, track));
            }
        }
    }
    pairs
}

/// The exact test for one pairing. Sizes need centres.
pub(super) fn test_pairs(
    episodes: &[Episode],
    aspect: Aspect,
    pairing: Pairing,
    track: usize,
    centres: [Option<Centre>; 2],
    alpha: f64,
) -> Option<Dependence> {
    let mut pairs = pairs(episodes, pairing, track);
    if aspect == Aspect::Size {
        let sides = match pairing {
            Pairing::Lag(side, _) | Pairing::Batches(side) => [side; 2],
            Pairing::Sides => Side::BOTH,
        };
        let [first, second] = sides.map(|side| centres[side as usize]);
        let (first, second) = (first?, second?);
        pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (first.size(*a), second.size(*b)));
    }
    let half = pairs.len() / 2;
    // The first pair is compared with the last, the second with the last but one, and so on. So all
    // distances occur, no period can hide, and most comparisons are between different batches.
    let compared = pairs[..half].iter().zip(pairs.iter().rev());
    let (mut alike, mut tested) = (0, 0);
    for ((a, b), (other_a, other_b)) in compared {
        let (is_alike, is_tested) = if aspect == Aspect::Equality {
            let paired = u8::from(a == b) + u8::from(other_a == other_b);
            let swapped = u8::from(a == other_b) + u8::from(other_a == b);
            (paired > swapped, paired != swapped)
        } else {
            let (first, second) = (a.cmp(other_a), b.cmp(other_b));
            let untied = first != Ordering::Equal && second != Ordering::Equal;
            (untied && first == second, untied)
        };
        alike += u64::from(is_alike);
        tested += u64::from(is_tested);
    }
    is_unlikely(alike, tested, alpha).then_some(Dependence::Order(aspect, pairing, alike, tested))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::tests::{KeepsLevel, batch};
    use super::*;
    use crate::noise::{Generator, gaussian, laplace};

    #[test]
    fn each_draw_is_compared_once_at_every_lag() {
        let mut rng = Generator::seed_from_u64(11);
        for lag in [1, 2, 3, 4, 8] {
            // Blocks whose second half repeats the first: 960 draws are 480 pairs, and two pairs
            // make one comparison.
            let fresh: Vec<f64> = (0..480).map(|_| gaussian(&mut rng, 1.0)).collect();
            let draws: Vec<f64> =
                fresh.chunks(lag).flat_map(|block| [block, block].concat()).collect();
            let pairing = Pairing::Lag(Side::Right, lag);
            for aspect in [Aspect::Value, Aspect::Equality] {
                let episodes = [batch(Side::Right, &draws)];
                let found = test_pairs(&episodes, aspect, pairing, 0, [None; 2], 1e-9);
                assert_eq!(found, Some(Dependence::Order(aspect, pairing, 240, 240)));
            }
        }
    }

    #[test]
    fn repeats_without_an_order_are_found() {
        // Each symbol comes again with probability ½, two draws later; the order of symbols means
        // nothing, and half of all draws are one symbol.
        let mut rng = Generator::seed_from_u64(5);
        let mut draws: Vec<f64> = Vec::new();
        for index in 0..8192 {
            let fresh = if rng.random() { 0.0 } else { f64::from(rng.random_range(1..9)) };
            let is_old = index > 1 && rng.random::<bool>();
            draws.push(if is_old { draws[index - 2] } else { fresh });
        }
        let pairing = Pairing::Lag(Side::Left, 2);
        let episodes = [batch(Side::Left, &draws)];
        let found = test_pairs(&episodes, Aspect::Equality, pairing, 0, [None; 2], 1e-9);
        let Some(Dependence::Order(_, _, alike, tested)) = found else { panic!("{found:?}") };
        assert!(alike > 3 * tested / 4, "{alike} of {tested}");
    }

    #[test]
    fn the_tests_keep_their_level() {
        let mut tests = [(); 3].map(|()| KeepsLevel::default());
        for seed in 0..KeepsLevel::SAMPLES {
            let mut rng = Generator::seed_from_u64(seed);
            let draws: Vec<f64> =
                (0..1600).map(|_| (laplace(&mut rng, 1.0) * 2.0).round()).collect();
            let episodes = [batch(Side::Left, &draws)];
            let centre = Centre::of(&episodes, Side::Left, 0);
            let pairing = Pairing::Lag(Side::Left, 1);
            for (test, aspect) in
                tests.iter_mut().zip([Aspect::Value, Aspect::Size, Aspect::Equality])
            {
                let alpha = KeepsLevel::ALPHA;
                test.see(test_pairs(&episodes, aspect, pairing, 0, [centre; 2], alpha).is_some());
            }
        }
        tests.iter().for_each(KeepsLevel::check);
    }
}
