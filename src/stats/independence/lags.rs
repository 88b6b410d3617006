//! Draws at any distance, one bit per draw.
//!
//! A draw's bit says whether it is in the upper half of all draws, or it is a bit of a hash of the
//! output. The first finds what has an order, the second whatever comes again. Four draws `a, b, a',
//! b'`, where b comes `lag` draws after a and b' after a', are compared as in `pairs.rs`: if `a ≠
//! a'` and `b ≠ b'`, then `a = b` with probability ½, exactly. Sixty-four comparisons take a few
//! instructions, so all distances up to [`ALL_LAGS`] can be tested, and powers of two beyond.
//!
//! The test at distance `lag` gets a share of α in proportion to `1/lag`: short distances are more
//! likely, and the many long ones together do not take everything.

use super::episode::Episode;
use super::found::{Aspect, Dependence, Pairing};
use super::scores::Scores;
use crate::model::Side;
use crate::output::Mix;
use crate::stats::swaps::coins_bound;

/// All distances up to this one are tested.
const ALL_LAGS: usize = 1024;

/// Longer ones, in draws.
const LONG_LAGS: [usize; 2] = [2048, 4096];

/// A distance is tested on an episode that is this many times longer, or more. With fewer the
/// comparisons are not worth their time.
const TIMES: usize = 16;

/// The same for the long distances: at least one comparison must fit.
const LONG_TIMES: usize = 4;

/// A sequence of bits.
struct Bits {
    /// One word more than is needed, so that 64 bits can be read from any place.
    words: Vec<u64>,
    length: usize,
}

impl Bits {
    fn new(bits: impl Iterator<Item = bool>) -> Self {
        let (mut words, mut length) = (vec![0], 0);
        for bit in bits {
            if length % 64 == 0 && length > 0 {
                words.push(0);
            }
            let last = words.len() - 1;
            words[last] |= u64::from(bit) << (length % 64);
            length += 1;
        }
        words.push(0);
        Self { words, length }
    }

    /// The 64 bits from this place on.
    #[inline]
    fn from(&self, place: usize) -> u64 {
        let (word, shift) = (place / 64, place % 64);
        self.words[word] >> shift | self.words[word + 1] << 1 << (63 - shift)
    }

    /// The comparisons at one distance: how many say alike, and how many there are.
    #[inline]
    fn compare(&self, lag: usize) -> (u64, u64) {
        // Blocks of 2·lag draws, as often in the first half of the draws as in the second: each
        // draw is in one pair. A pair is compared with the one that is `half` draws later.
        let blocks = self.length / (4 * lag);
        let half = blocks * 2 * lag;
        let (mut alike, mut tested) = (0, 0);
        for block in 0..blocks {
            let start = block * 2 * lag;
            for place in (start..start + lag).step_by(64) {
                let used = !0 >> (64 - (start + lag - place).min(64));
                let (a, b) = (self.from(place), self.from(place + lag));
                let (other_a, other_b) = (self.from(place + half), self.from(place + half + lag));
                let untied = (a ^ other_a) & (b ^ other_b) & used;
                tested += u64::from(untied.count_ones());
                alike += u64::from((untied & !(a ^ b)).count_ones());
            }
        }
        (alike, tested)
    }
}

/// The exact tests at all distances. `scores` are None if outputs have no order.
pub(super) fn test_lags(
    episodes: &[Episode],
    side: Side,
    track: usize,
    scores: Option<&Scores>,
    alpha: f64,
) -> Option<Dependence> {
    let tracks = || episodes.iter().map(|episode| episode.track(side, track));
    let hashed: Vec<Bits> = tracks()
        .map(|draws| Bits::new(draws.iter().map(|key| Mix::new().word(*key).end() >> 63 == 1)))
        .collect();
    let upper: Option<Vec<Bits>> = scores.map(|scores| {
        let mut bits = scores.upper();
        tracks().map(|draws| Bits::new(bits.by_ref().take(draws.len()))).collect()
    });
    // Both kinds of bits, for outputs that have no order too.
    let shares = 2.0 * (1..=ALL_LAGS).chain(LONG_LAGS).map(|lag| 1.0 / lag as f64).sum::<f64>();
    let longest = tracks().map(<[u64]>::len).max().unwrap_or(0);
    let arch = pulp::Arch::new();
    let test = |bits: &[Bits], lag: usize, times: usize| {
        let (alike, tested) = arch.dispatch(
            #[inline]
            || {
                let long = bits.iter().filter(|bits| bits.length >= times * lag);
                long.map(|bits| bits.compare(lag))
                    .fold((0, 0), |(alike, tested), (more, of)| (alike + more, tested + of))
            },
        );
        (coins_bound((2 * alike).abs_diff(tested), tested) <= alpha / (shares * lag as f64))
            .then_some(Dependence::Order(Aspect::Value, Pairing::Lag(side, lag), alike, tested))
    };
    let all = (1..=ALL_LAGS.min(longest / TIMES)).map(|lag| (lag, TIMES));
    let long = LONG_LAGS.map(|lag| (lag, LONG_TIMES));
    all.chain(long).find_map(|(lag, times)| {
        upper.as_ref().and_then(|bits| test(bits, lag, times)).or_else(|| test(&hashed, lag, times))
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::tests::{KeepsLevel, batch};
    use super::*;
    use crate::noise::{Generator, laplace};

    #[test]
    fn comparisons_are_those_of_single_bits() {
        let mut rng = Generator::seed_from_u64(1);
        for length in [0, 1, 7, 64, 128, 1000, 1025] {
            let plain: Vec<bool> = (0..length).map(|_| rng.random()).collect();
            let bits = Bits::new(plain.iter().copied());
            for lag in [1, 2, 3, 63, 64, 65, 100, 250, 300] {
                let half = length / (4 * lag) * 2 * lag;
                let (mut alike, mut tested) = (0, 0);
                for a in (0..half).filter(|place| place / lag % 2 == 0) {
                    let four = [a, a + lag, a + half, a + half + lag].map(|place| plain[place]);
                    if four[0] != four[2] && four[1] != four[3] {
                        tested += 1;
                        alike += u64::from(four[0] == four[1]);
                    }
                }
                assert_eq!(bits.compare(lag), (alike, tested), "{length} bits, lag {lag}");
            }
        }
    }

    /// Draws of which half are the one `lag` draws before.
    fn repeated(seed: u64, draws: usize, lag: usize, fresh: fn(&mut Generator) -> f64) -> Vec<f64> {
        let mut rng = Generator::seed_from_u64(seed);
        let mut all: Vec<f64> = Vec::new();
        for index in 0..draws {
            let is_old = index >= lag && rng.random::<bool>();
            let next = if is_old { all[index - lag] } else { fresh(&mut rng) };
            all.push(next);
        }
        all
    }

    #[test]
    fn any_distance_is_found() {
        let kinds: [fn(&mut Generator) -> f64; 3] = [
            |rng| laplace(rng, 1.0).round(),
            |rng| f64::from(u8::from(rng.random_bool(0.2))),
            |rng| laplace(rng, 1.0),
        ];
        for lag in [1, 7, 8, 100, 1000, 1024, 2048] {
            for (kind, fresh) in kinds.into_iter().enumerate() {
                let episodes = [batch(Side::Left, &repeated(lag as u64, 16_384, lag, fresh))];
                let scores = Scores::of(episodes[0].track(Side::Left, 0));
                let found = test_lags(&episodes, Side::Left, 0, Some(&scores), 1e-8);
                let Some(Dependence::Order(_, Pairing::Lag(_, found), ..)) = found else {
                    panic!("lag {lag}, kind {kind}: {found:?}")
                };
                assert_eq!(found % lag, 0, "kind {kind}");
            }
        }
    }

    #[test]
    fn the_test_keeps_its_level() {
        let mut test = KeepsLevel::rarely();
        for seed in 0..KeepsLevel::SAMPLES {
            let mut rng = Generator::seed_from_u64(seed);
            let draws: Vec<f64> = (0..1600).map(|_| laplace(&mut rng, 1.0).round()).collect();
            let episodes = [batch(Side::Left, &draws)];
            let scores = Scores::of(episodes[0].track(Side::Left, 0));
            let found = test_lags(&episodes, Side::Left, 0, Some(&scores), KeepsLevel::ALPHA);
            test.see(found.is_some());
        }
        test.check();
    }
}
