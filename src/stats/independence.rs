//! Tests whether the draws are independent. Every bound assumes that they are.
//!
//! There are four exact tests. All are valid for outputs of any distribution, with or without
//! atoms, and skip outputs that never vary.
//!
//! *Order.* Take two pairs of draws `(a, b)` and `(a', b')`, which are four different draws. If
//! draws are independent and b, b' come from the same side, then swapping b and b' does not change
//! the joint distribution, but it flips the sign of `(a − a')·(b − b')`. So among the comparisons
//! without ties the number of concordant ones is Binomial(n, ½), exactly (Kendall). The pairing
//! decides what is found: consecutive draws find cached or drifting noise; draws with the same
//! index on left and right find one stream for both sides; draws with the same index in two batches
//! find one stream for all batches. The same is done with *folded* values `|x − m|`, where `m` is
//! the median of all draws of the side: noise whose size stays the same for some time has no order,
//! but its folded values do. Swapping two draws does not change the median, so the test is as exact
//! as before.
//!
//! *Parts.* A draw of one part of the sequence and a draw of another part can be swapped too, so
//! the number of times that the first is the larger one is Binomial(n, ½) among the untied. All
//! pairs of parts are tested, with values and with folded values. This finds noise whose level or
//! size is drawn once for a batch or a request.
//!
//! *Repeats.* If two draws are equal with probability `q`, then the largest atom has probability at
//! most `√q`, and two given windows of `s` draws are equal with probability at most `q^(s/2)`,
//! whether they overlap or not. With an upper limit on `q`, the test chooses `s` so large that
//! `n²/2 · q^(s/2)` is negligible. A window that still occurs twice comes from a stream that was
//! restarted.
//!
//! *Returns.* Take blocks of consecutive draws, each in two halves. A draw of a block's second half
//! and one of a far block's second half can be swapped, so each is as likely as the other to be
//! among the values of the block's first half. This finds a cache that forgets.

use std::cmp::Ordering;
use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::binomial::{lower_limit, upper_tail};
use super::sources::compare_values;
use crate::model::Side;
use crate::output::{Cell, Mix, Rows};

/// The maximum probability that one look treats independent draws as dependent. A pair gets two
/// looks, one per phase; files and programs get one more.
pub const FALSE_ALARM: f64 = 3e-7;

/// The share of it for the tests of repeats and of returns; the rest is for the order tests.
const REPEATS_SHARE: f64 = 0.2;

/// Draws of half a block of the test of returns.
const RETURNS: usize = 256;

/// Distances at which draws of one batch are paired.
const LAGS: [usize; 4] = [1, 2, 3, 4];

/// The sequence of draws is divided into parts of this many draws, or more if there would be more
/// than [`MAX_PARTS`] of them.
const PART: usize = 4096;
const MAX_PARTS: usize = 12;

/// The most components of an output that are tracked; the whole output is tracked too.
const COMPONENTS: usize = 7;

/// This many windows at the beginning are all kept. Of the later ones, one in 2^[`SPARSE`] is kept.
/// The content decides which, so that equal windows are treated alike.
const DENSE: usize = 1024;
const SPARSE: u32 = 3;

/// The outputs of one side, in the order of draws. The first track is the whole output, the others
/// are components; a track has one sortable key per draw.
#[derive(Clone, Debug)]
struct Tracks(Vec<Vec<u64>>);

impl Tracks {
    fn new(width: usize) -> Self {
        Self(vec![Vec::new(); if width == 1 { 1 } else { 1 + width.min(COMPONENTS) }])
    }

    fn len(&self) -> usize {
        self.0[0].len()
    }

    fn push(&mut self, row: &[Cell]) {
        if let [cell] = row {
            self.0[0].push(ordered(*cell));
            return;
        }
        let components = self.0.len() - 1;
        self.0[0].push(row.iter().fold(Mix::new(), |mix, cell| mix.word(cell.key())).end());
        for (component, track) in self.0[1..].iter_mut().enumerate() {
            track.push(ordered(row[component * row.len() / components]));
        }
    }
}

/// A key that sorts like the numbers; symbols come after all numbers.
pub(super) fn ordered(cell: Cell) -> u64 {
    let bits = cell.key();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Consecutive draws: the beginning of a batch.
#[derive(Clone, Debug)]
pub struct Episode {
    left: Tracks,
    right: Tracks,
    max_draws: usize,
}

impl Episode {
    /// An empty episode that will record at most `max_draws` draws of each side.
    #[must_use]
    pub fn new(width: usize, max_draws: usize) -> Self {
        Self { left: Tracks::new(width), right: Tracks::new(width), max_draws }
    }

    /// Records the next draws of one side.
    pub fn see(&mut self, side: Side, rows: &Rows) {
        let tracks = match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        };
        let room = self.max_draws - tracks.len();
        rows.iter().take(room).for_each(|row| tracks.push(row));
    }

    fn track(&self, side: Side, index: usize) -> &[u64] {
        match side {
            Side::Left => &self.left.0[index],
            Side::Right => &self.right.0[index],
        }
    }
}

/// A key as a number; symbols are NaN.
fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

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
    /// Draws in two parts of one side's sequence.
    Parts(Side),
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The outputs themselves.
    Value,
    /// How far they are from their median.
    Size,
}

/// How draws depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// Paired outputs have the same order too often or too rarely: the number of comparisons with
    /// the same order, and of all comparisons.
    Order(Aspect, Pairing, u64, u64),
    /// The same outputs in a row occur again: their number, and how many draws later; None if it is
    /// in another batch.
    Repeats(Side, usize, Option<usize>),
    /// Outputs return soon: comparisons in favour of the draws just before, and all comparisons.
    Returns(Side, u64, u64),
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(aspect, pairing, alike, of) => {
                f.write_str(match aspect {
                    Aspect::Value => "",
                    Aspect::Size => "in the size of the noise, ",
                })?;
                match pairing {
                    Pairing::Lag(side, 1) => write!(f, "on {side} each output depends on the one before it"),
                    Pairing::Lag(side, lag) => write!(f, "on {side} each output depends on the one {lag} draws before it"),
                    Pairing::Sides => f.write_str("the outputs on left and right depend on each other, as if both used one random stream"),
                    Pairing::Batches(side) => {
                        write!(f, "on {side} two batches depend on each other, as if both used one random stream")
                    }
                    Pairing::Parts(side) => write!(f, "on {side} the outputs of some time differ from those of another time"),
                }?;
                write!(
                    f,
                    " ({alike} of {of} comparisons go the same way, half of them would by chance)"
                )
            }
            Self::Repeats(side, length, later) => {
                write!(f, "on {side} the same {length} outputs in a row come up again ")?;
                match later {
                    Some(later) => write!(f, "{later} draws later"),
                    None => f.write_str("in another batch"),
                }
            }
            Self::Returns(side, favour, of) => write!(
                f,
                "on {side} outputs return soon after they were drawn and not later, as if they were kept in a cache \
                 ({favour} of {of} comparisons go the same way, half of them would by chance)"
            ),
        }
    }
}

/// Looks for dependence among draws. For independent draws it returns None, except with probability
/// at most [`FALSE_ALARM`].
#[must_use]
pub fn dependence(episodes: &[Episode]) -> Option<Dependence> {
    let tracks = episodes.first().map_or(0, |episode| episode.left.0.len());
    let sides = [Side::Left, Side::Right];
    let lags = sides.into_iter().flat_map(|side| LAGS.map(|lag| Pairing::Lag(side, lag)));
    let pairings: Vec<Pairing> = lags
        .chain([Pairing::Sides])
        .chain(sides.map(Pairing::Batches))
        .chain(sides.map(Pairing::Parts))
        .collect();
    let of_values = pairings.iter().map(|pairing| (Aspect::Value, *pairing));
    // The parts show the size of noise at longer distances.
    let of_sizes = pairings
        .iter()
        .filter(|pairing| !matches!(pairing, Pairing::Lag(_, 2..)))
        .map(|pairing| (Aspect::Size, *pairing));
    let tests: Vec<(Aspect, Pairing)> = of_values.chain(of_sizes).collect();
    let alpha_order = FALSE_ALARM * (1.0 - REPEATS_SHARE) / (tracks * tests.len()) as f64;
    let alpha_repeats = FALSE_ALARM * REPEATS_SHARE / (2 * tracks * sides.len()) as f64;
    let find = |track: usize| {
        let repeats = |side: &Side| {
            test_repeats(episodes, *side, track, alpha_repeats)
                .or_else(|| test_returns(episodes, *side, track, alpha_repeats))
        };
        sides.par_iter().filter_map(repeats).find_first(|_| true).or_else(|| {
            // The first of several tracks is a hash of the whole output, which has no size.
            let is_hash = tracks > 1 && track == 0;
            let centres = if is_hash {
                [None; 2]
            } else {
                sides.map(|side| Centre::of(episodes, side, track))
            };
            let test = |(aspect, pairing): &(Aspect, Pairing)| match pairing {
                Pairing::Parts(side) => test_parts(
                    episodes,
                    *aspect,
                    *side,
                    track,
                    centres[*side as usize],
                    alpha_order,
                ),
                pairing => test_order(episodes, *aspect, *pairing, track, centres, alpha_order),
            };
            tests.par_iter().filter_map(test).find_first(|_| true)
        })
    };
    (0..tracks).find_map(find)
}

/// The median of one side's numbers. It depends on all draws and not on their order.
#[derive(Clone, Copy, Debug)]
struct Centre(f64);

impl Centre {
    /// None if there are no finite numbers.
    fn of(episodes: &[Episode], side: Side, track: usize) -> Option<Self> {
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

/// The exact order test for one pairing. Sizes need centres.
fn test_order(
    episodes: &[Episode],
    aspect: Aspect,
    pairing: Pairing,
    track: usize,
    centres: [Option<Centre>; 2],
    alpha: f64,
) -> Option<Dependence> {
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    // The sides of the draws of a pair.
    let sides = match pairing {
        Pairing::Lag(side, lag) => {
            for draws in episodes.iter().map(|episode| episode.track(side, track)) {
                // Blocks of 2·lag draws: each draw is in one pair.
                for block in draws.chunks_exact(2 * lag) {
                    pairs.extend(block[..lag].iter().copied().zip(block[lag..].iter().copied()));
                }
            }
            [side; 2]
        }
        Pairing::Sides => {
            for episode in episodes {
                pairs.extend(
                    episode.left.0[track]
                        .iter()
                        .copied()
                        .zip(episode.right.0[track].iter().copied()),
                );
            }
            Side::BOTH
        }
        Pairing::Batches(side) => {
            for two in episodes.chunks_exact(2) {
                pairs.extend(
                    two[0]
                        .track(side, track)
                        .iter()
                        .copied()
                        .zip(two[1].track(side, track).iter().copied()),
                );
            }
            [side; 2]
        }
        // Parts have a test of their own.
        Pairing::Parts(_) => return None,
    };
    if aspect == Aspect::Size {
        let [first, second] = sides.map(|side| centres[side as usize]);
        let (first, second) = (first?, second?);
        pairs.iter_mut().for_each(|(a, b)| (*a, *b) = (first.size(*a), second.size(*b)));
    }
    let half = pairs.len() / 2;
    let (mut alike, mut tested) = (0, 0);
    // The first pair is compared with the last, the second with the last but one, and so on. So all
    // distances occur, no period can hide, and most comparisons are between different batches.
    for ((a, b), (other_a, other_b)) in pairs[..half].iter().zip(pairs.iter().rev()) {
        let (first, second) = (a.cmp(other_a), b.cmp(other_b));
        let untied = first != Ordering::Equal && second != Ordering::Equal;
        tested += u64::from(untied);
        alike += u64::from(untied && first == second);
    }
    is_unlikely(alike, tested, alpha).then_some(Dependence::Order(aspect, pairing, alike, tested))
}

/// The exact test for parts of the sequence that differ. Sizes need a centre.
fn test_parts(
    episodes: &[Episode],
    aspect: Aspect,
    side: Side,
    track: usize,
    centre: Option<Centre>,
    alpha: f64,
) -> Option<Dependence> {
    let tracks = episodes.iter().map(|episode| episode.track(side, track));
    let length = tracks.clone().map(<[u64]>::len).sum::<usize>().div_ceil(MAX_PARTS).max(PART);
    let mut parts: Vec<Vec<u64>> =
        tracks.flat_map(|draws| draws.chunks(length)).map(<[u64]>::to_vec).collect();
    if aspect == Aspect::Size {
        let centre = centre?;
        parts.iter_mut().flatten().for_each(|key| *key = centre.size(*key));
    }
    let all = parts.len() * parts.len().saturating_sub(1) / 2;
    let arch = pulp::Arch::new();
    let mut two = (0..parts.len())
        .flat_map(|first| (first + 1..parts.len()).map(move |second| (first, second)));
    two.find_map(|(first, second)| {
        // Counting has no branches and uses the widest instructions of the processor.
        let (larger, tested) = arch.dispatch(
            #[inline(always)]
            || {
                let both = parts[first].iter().zip(&parts[second]);
                both.fold((0, 0), |(larger, tested), (a, b)| {
                    (larger + u64::from(a > b), tested + u64::from(a != b))
                })
            },
        );
        is_unlikely(larger, tested, alpha / all as f64).then_some(Dependence::Order(
            aspect,
            Pairing::Parts(side),
            larger,
            tested,
        ))
    })
}

/// Whether a fair coin shows so many heads, or so many tails, with probability at most α.
fn is_unlikely(heads: u64, flips: u64, alpha: f64) -> bool {
    flips > 0 && 2.0 * upper_tail(heads.max(flips - heads), flips, 0.5) <= alpha
}

/// The exact test for windows of draws that occur twice.
fn test_repeats(episodes: &[Episode], side: Side, track: usize, alpha: f64) -> Option<Dependence> {
    let draws: Vec<u64> =
        episodes.iter().flat_map(|episode| episode.track(side, track)).copied().collect();
    let draws = &draws[..draws.len() & !1];
    let half = draws.len() / 2;
    if half == 0 {
        return None;
    }
    // Half of α is for the limit on how often two draws are equal, half for the windows: pairs ·
    // equal^(length/2) ≤ α/2.
    let different = draws[..half].iter().zip(draws.iter().rev()).filter(|(a, b)| a != b).count();
    let equal = 1.0 - lower_limit(different as u64, half as u64, alpha / 2.0);
    let pairs = draws.len() as f64 * half as f64;
    let length = (2.0 * (pairs / (alpha / 2.0)).ln() / -equal.ln()).ceil();
    if !(1.0..=half as f64).contains(&length) {
        return None; // the outputs hardly vary, or there are too few of them
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at least 1, at most `half`
    let length = length as usize;
    let mut windows = window_hashes(draws, length);
    windows.sort_unstable();
    let twice: Vec<(usize, usize)> = windows
        .windows(2)
        .filter(|two| two[0].0 == two[1].0)
        .map(|two| (two[0].1, two[1].1))
        .collect();
    if twice.is_empty() {
        return None;
    }
    // A distance is meaningful only within a batch; the shortest one is the period.
    let ends: Vec<usize> = episodes
        .iter()
        .scan(0, |end, episode| {
            *end += episode.track(side, track).len();
            Some(*end)
        })
        .collect();
    let batch = |index: usize| ends.partition_point(|end| *end <= index);
    let later = twice
        .iter()
        .filter(|(first, second)| batch(*first) == batch(*second))
        .map(|(first, second)| second - first)
        .min();
    Some(Dependence::Repeats(side, length, later))
}

/// The exact test for outputs that return soon.
fn test_returns(episodes: &[Episode], side: Side, track: usize, alpha: f64) -> Option<Dependence> {
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

/// Hashes of the windows of `length` draws, each with the index of its last draw; of the later
/// windows only a part.
fn window_hashes(draws: &[u64], length: usize) -> Vec<(u64, usize)> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = |draw: u64| Mix::new().word(draw).end();
    let weight_of_oldest = (1..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut windows = Vec::new();
    let mut hash = 0_u64;
    for (index, draw) in draws.iter().enumerate() {
        if let Some(oldest) = index.checked_sub(length) {
            hash = hash.wrapping_sub(mixed(draws[oldest]).wrapping_mul(weight_of_oldest));
        }
        hash = hash.wrapping_mul(BASE).wrapping_add(mixed(*draw));
        let dense = index < length + DENSE;
        if index + 1 >= length && (dense || hash.wrapping_mul(BASE) >> (64 - SPARSE) == 0) {
            windows.push((hash, index));
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::noise::{Generator, gaussian, laplace};

    /// Batches like those of a certify phase; `draw(batch, side, index)` gives an output.
    fn episodes(mut draw: impl FnMut(usize, Side, usize) -> Vec<Cell>) -> Vec<Episode> {
        let sizes = [8192, 8192, 4096, 4096];
        let width = draw(0, Side::Left, 0).len();
        let mut episode = |(batch, size): (usize, usize)| {
            let mut episode = Episode::new(width, size);
            for side in [Side::Left, Side::Right] {
                let mut rows = Rows::new(width);
                (0..size).for_each(|index| rows.push(&draw(batch, side, index)));
                episode.see(side, &rows);
            }
            episode
        };
        sizes.into_iter().enumerate().map(&mut episode).collect()
    }

    fn at(side: Side) -> f64 {
        f64::from(u8::from(side == Side::Right))
    }

    fn number(value: f64) -> Vec<Cell> {
        vec![Cell::number(value)]
    }

    /// Draws of one side in one batch.
    fn batch(side: Side, draws: &[f64]) -> Episode {
        let mut episode = Episode::new(1, draws.len());
        let mut rows = Rows::new(1);
        draws.iter().for_each(|draw| rows.push(&number(*draw)));
        episode.see(side, &rows);
        episode
    }

    #[test]
    fn keys_sort_like_the_numbers() {
        let values = [f64::NEG_INFINITY, -1e9, -1.5, -0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(
            values
                .windows(2)
                .all(|two| ordered(Cell::number(two[0])) < ordered(Cell::number(two[1])))
        );
        assert!(ordered(Cell::number(0.0)) > ordered(Cell::number(-0.0)));
        assert!(
            [f64::NEG_INFINITY, -1.5, 0.0, 2.0]
                .iter()
                .all(|value| super::number(ordered(Cell::number(*value))) == *value)
        );
        assert!(super::number(ordered(Cell::symbol("⊥"))).is_nan());
        assert!(ordered(Cell::symbol("⊥")) > ordered(Cell::number(f64::INFINITY)));
    }

    #[test]
    fn wide_outputs_are_tracked_as_a_whole_and_in_seven_components() {
        let mut tracks = Tracks::new(14);
        let mut row: Vec<Cell> = (0..14).map(|index| Cell::number(f64::from(index))).collect();
        tracks.push(&row);
        assert_eq!(tracks.0.len(), 8);
        assert!((0..7).all(|part| tracks.0[1 + part] == [ordered(row[2 * part])]), "{tracks:?}");
        row[13] = Cell::symbol("⊥");
        tracks.push(&row);
        assert_ne!(tracks.0[0][0], tracks.0[0][1]);
    }

    #[test]
    fn an_episode_records_at_most_max_draws() {
        let mut episode = Episode::new(1, 10);
        let mut rows = Rows::new(1);
        (0..7).for_each(|value| rows.push(&number(f64::from(value))));
        (0..3).for_each(|_| episode.see(Side::Right, &rows));
        let expected: Vec<u64> = [0, 1, 2, 3, 4, 5, 6, 0, 1, 2]
            .map(|value| ordered(Cell::number(f64::from(value))))
            .to_vec();
        assert_eq!(episode.track(Side::Right, 0), expected);
        assert!(episode.track(Side::Left, 0).is_empty());
    }

    #[test]
    fn the_false_alarm_rate_is_divided_among_all_order_tests() {
        // Twenty tests for each track: thirteen of values and seven of sizes; n comparisons that
        // all go the same way have probability 2·2^-n.
        for (width, tracks) in [(1, 1.0), (7, 8.0)] {
            let found = |n: usize| {
                let mut rows = Rows::new(width);
                (0..2 * n).for_each(|index| {
                    rows.push(&vec![Cell::number(if index < n { 0.0 } else { 1.0 }); width]);
                });
                let mut episode = Episode::new(width, 2 * n);
                [Side::Left, Side::Right].into_iter().for_each(|side| episode.see(side, &rows));
                dependence(&[episode])
            };
            let level = 3e-7 * 0.8 / (tracks * 20.0);
            let fewest = (1..60).find(|n| 2.0 * 0.5_f64.powi(*n) <= level).unwrap().unsigned_abs();
            assert_eq!(found(fewest as usize - 1), None);
            assert_eq!(
                found(fewest as usize),
                Some(Dependence::Order(
                    Aspect::Value,
                    Pairing::Sides,
                    fewest.into(),
                    fewest.into()
                ))
            );
        }
    }

    #[test]
    fn each_draw_is_compared_once_at_every_lag() {
        let mut rng = Generator::seed_from_u64(11);
        for lag in LAGS {
            // Blocks whose second half repeats the first: 960 draws are 480 pairs, and two pairs
            // make one comparison.
            let fresh: Vec<f64> = (0..480).map(|_| gaussian(&mut rng, 1.0)).collect();
            let draws: Vec<f64> =
                fresh.chunks(lag).flat_map(|block| [block, block].concat()).collect();
            let pairing = Pairing::Lag(Side::Right, lag);
            let found = test_order(
                &[batch(Side::Right, &draws)],
                Aspect::Value,
                pairing,
                0,
                [None; 2],
                1e-9,
            );
            assert_eq!(found, Some(Dependence::Order(Aspect::Value, pairing, 240, 240)));
        }
    }

    #[test]
    fn windows_are_just_long_enough_that_chance_does_not_repeat_them() {
        // One track with two sides and two tests of repetition: each test of a side gets a quarter
        // of a fifth of the false-alarm rate.
        let alpha = 3e-7 * 0.2 / 4.0;
        let mut rng = Generator::seed_from_u64(13);
        let period: Vec<u32> = (0..97).map(|_| rng.random()).collect();
        for n in [200, 260, 400, 1000, 3000] {
            // Numbers that are hardly ever equal, and coins that are equal half of the time.
            for modulus in [u32::MAX, 2] {
                let draws: Vec<f64> =
                    (0..n).map(|index| f64::from(period[index % 97] % modulus)).collect();
                let half = n / 2;
                let different =
                    (0..half).filter(|index| draws[*index] != draws[n - 1 - index]).count();
                let equal = 1.0 - lower_limit(different as u64, half as u64, alpha / 2.0);
                // There are n²/2 pairs of windows, and each is equal with probability at most
                // equal^(length/2): in total at most α/2.
                let chance = |length: usize| (n * half) as f64 * equal.powf(length as f64 / 2.0);
                let length = (1..=half).find(|length| chance(*length) <= alpha / 2.0);
                let expected = length
                    .filter(|length| length + 97 <= n)
                    .map(|length| Dependence::Repeats(Side::Left, length, Some(97)));
                assert_eq!(
                    dependence(&[batch(Side::Left, &draws)]),
                    expected,
                    "{n} draws below {modulus}"
                );
            }
        }
    }

    #[test]
    fn all_early_windows_and_one_in_eight_later_ones_are_kept() {
        let mut rng = Generator::seed_from_u64(12);
        let mut draws: Vec<u64> = (0..41_000).map(|_| rng.random()).collect();
        draws.copy_within(100..150, 500);
        let windows = window_hashes(&draws[..1034], 10);
        // Each window has the index of its last draw.
        assert_eq!(
            windows.iter().map(|(_, index)| *index).collect::<Vec<_>>(),
            (9..1034).collect::<Vec<_>>()
        );
        let equal = |index: usize, other: usize| windows[index - 9].0 == windows[other - 9].0;
        assert!(
            (109..150).all(|index| equal(index, index + 400))
                && !equal(108, 508)
                && !equal(150, 550)
        );
        // Each later window is kept with probability 1/8. The tolerance is 4.9 standard deviations:
        // one false alarm in a million seeds.
        let later = window_hashes(&draws, 10).len() - windows.len();
        assert!(later.abs_diff((41_000 - 1034) / 8) < 325, "{later}");
    }

    #[test]
    fn independent_draws_of_any_kind_raise_no_alarm() {
        // 40 seeds for each kind of output; one alarm in 3,000,000 seeds is allowed, and none came
        // up on 2,000 seeds of each kind.
        let kinds: [fn(&mut Generator, Side) -> Vec<Cell>; 8] = [
            // A Cauchy distribution and one with even longer tails, in which infinity occurs.
            |rng, side| number(at(side) + gaussian(rng, 1.0) / gaussian(rng, 1.0)),
            |rng, side| number(at(side) + (laplace(rng, 1.0) / gaussian(rng, 1.0).powi(40))),
            |_, _| number(3.0),
            |_, side| number(at(side)),
            |rng, side| number(at(side) + laplace(rng, 1.0)),
            |rng, _| vec![Cell::symbol(if rng.random::<bool>() { "yes" } else { "no" })],
            |rng, side| number(if rng.random_range(0..1000) == 0 { 1.0 + at(side) } else { 0.0 }),
            |rng, side| {
                let mixed = if rng.random::<bool>() {
                    Cell::symbol("⊥")
                } else {
                    Cell::number(at(side) + gaussian(rng, 1.0))
                };
                vec![Cell::number(0.0), mixed, Cell::number(rng.random_range(0..3).into())]
            },
        ];
        for seed in 0..40 {
            for (kind, draw) in kinds.iter().enumerate() {
                let mut rng = Generator::seed_from_u64(seed);
                assert_eq!(
                    dependence(&episodes(|_, side, _| draw(&mut rng, side))),
                    None,
                    "kind {kind}, seed {seed}"
                );
            }
        }
        assert_eq!(dependence(&[]), None);
        assert_eq!(dependence(&[Episode::new(1, 10)]), None);
    }

    #[test]
    fn small_samples_keep_the_level() {
        // 20,000 samples of 16 draws of a fair coin. Such small samples cannot reach 3e-7, and
        // rounding of the exact tails must not either.
        let mut rng = Generator::seed_from_u64(9);
        for _ in 0..20_000 {
            let mut episode = Episode::new(1, 16);
            for side in [Side::Left, Side::Right] {
                let mut rows = Rows::new(1);
                (0..16).for_each(|_| rows.push(&number(f64::from(u8::from(rng.random::<bool>())))));
                episode.see(side, &rows);
            }
            assert_eq!(dependence(&[episode]), None);
        }
    }

    #[test]
    fn the_order_test_keeps_its_level() {
        // 4,000 samples at α = 0.01 instead of 3e-7: at most 0.01 of them may raise an alarm; each
        // check fails by chance once in 1e6.
        const SAMPLES: u64 = 4000;
        let mut alarms = [0; 4];
        for seed in 0..SAMPLES {
            let mut rng = Generator::seed_from_u64(seed);
            let mut draws =
                || (0..800).map(|_| (laplace(&mut rng, 1.0) * 2.0).round()).collect::<Vec<f64>>();
            let episodes = [batch(Side::Left, &draws()), batch(Side::Left, &draws())];
            let centre = Centre::of(&episodes, Side::Left, 0);
            let tests = [Aspect::Value, Aspect::Size].map(|aspect| {
                [
                    test_order(
                        &episodes,
                        aspect,
                        Pairing::Lag(Side::Left, 1),
                        0,
                        [centre; 2],
                        0.01,
                    ),
                    test_parts(&episodes, aspect, Side::Left, 0, centre, 0.01),
                ]
            });
            alarms
                .iter_mut()
                .zip(tests.as_flattened())
                .for_each(|(alarms, found)| *alarms += u64::from(found.is_some()));
        }
        for (test, alarms) in alarms.into_iter().enumerate() {
            let chance = upper_tail(alarms, SAMPLES, 0.01);
            assert!(chance > 1e-6, "test {test}: {alarms} alarms in {SAMPLES} samples; α = 0.01");
            assert!(alarms > 0, "test {test}: a test that never raises an alarm tests nothing");
        }
    }

    #[test]
    fn cached_noise_is_found() {
        let mut rng = Generator::seed_from_u64(1);
        let mut cached = 0.0;
        let found = dependence(&episodes(|_, side, index| {
            if index % 2 == 0 {
                cached = laplace(&mut rng, 1.0);
            }
            number(at(side) + cached)
        }));
        assert!(
            matches!(found, Some(Dependence::Order(Aspect::Value, Pairing::Lag(_, 1), ..))),
            "{found:?}"
        );
        // Also if the cached part is one of several components, and a symbol.
        let mut answer = Cell::symbol("yes");
        let found = dependence(&episodes(|_, _, index| {
            if index % 2 == 0 {
                answer = Cell::symbol(if rng.random::<bool>() { "yes" } else { "no" });
            }
            vec![Cell::number(laplace(&mut rng, 1.0)), answer, Cell::number(laplace(&mut rng, 1.0))]
        }));
        assert!(
            matches!(found, Some(Dependence::Order(Aspect::Value, Pairing::Lag(_, 1), ..))),
            "{found:?}"
        );
    }

    #[test]
    fn a_restarted_stream_is_found_at_any_period() {
        for period in [2, 3, 64, 100, 2048, 3000] {
            let found = dependence(&episodes(|_, side, index| {
                let mut rng = Generator::seed_from_u64((index % period) as u64 + 7);
                number(at(side) + laplace(&mut rng, 1.0))
            }));
            let Some(Dependence::Repeats(Side::Left, _, later)) = found else {
                panic!("period {period}: {found:?}")
            };
            assert_eq!(later, Some(period));
        }
        // Coins repeat too, but only longer windows show it.
        let found = dependence(&episodes(|_, _, index| {
            number(f64::from(u8::from(
                Generator::seed_from_u64((index % 100) as u64).random::<bool>(),
            )))
        }));
        assert!(matches!(found, Some(Dependence::Repeats(..))), "{found:?}");
    }

    #[test]
    fn batches_from_one_stream_are_found() {
        let same = |index: usize| laplace(&mut Generator::seed_from_u64(index as u64 + 7), 1.0);
        let mut other = Generator::seed_from_u64(3);
        let found = dependence(&episodes(|_, side, index| match side {
            Side::Left => number(same(index)),
            Side::Right => number(laplace(&mut other, 1.0)),
        }));
        assert!(matches!(found, Some(Dependence::Repeats(Side::Left, _, None))), "{found:?}");
        let found = dependence(&episodes(|batch, side, index| match side {
            Side::Left => number(same(index) * [1.0, -1.0, 1.001, -1.001][batch]),
            Side::Right => number(laplace(&mut other, 1.0)),
        }));
        assert!(
            matches!(
                found,
                Some(Dependence::Order(Aspect::Value, Pairing::Batches(Side::Left), ..))
            ),
            "{found:?}"
        );
    }

    #[test]
    fn drifting_noise_is_found() {
        // AR(1) with ρ = 0.2, and an output that is constant in each batch.
        let mut rng = Generator::seed_from_u64(5);
        let mut last = 0.0;
        let found = dependence(&episodes(|_, side, _| {
            last = 0.2 * last + gaussian(&mut rng, 1.0);
            number(at(side) + last)
        }));
        assert!(
            matches!(found, Some(Dependence::Order(Aspect::Value, Pairing::Lag(_, 1), ..))),
            "{found:?}"
        );
        assert!(dependence(&episodes(|batch, _, _| number(batch as f64))).is_some());
    }

    /// Looks at four batches of either side, each of which has noise of a size of its own.
    fn with_sizes(
        seed: u64,
        noise: fn(&mut Generator, f64) -> f64,
        size: fn(&mut Generator) -> f64,
    ) -> Option<Dependence> {
        let mut rng = Generator::seed_from_u64(seed);
        let sizes: Vec<f64> = (0..8).map(|_| size(&mut rng)).collect();
        dependence(&episodes(|batch, side, _| {
            number(at(side) + noise(&mut rng, sizes[2 * batch + usize::from(side == Side::Right)]))
        }))
    }

    #[test]
    fn a_size_that_is_drawn_once_per_batch_is_found() {
        // Sizes with a continuous distribution: each of 3,000 seeds was found. If a size is 1 or
        // 1.3, the four batches of each side have equal sizes on one seed in 64; the others were
        // found, 984 of 1,000.
        let sizes: [fn(&mut Generator) -> f64; 3] = [
            |rng| (1.0 - rng.random::<f64>()).ln().abs() + 0.05,
            |rng| laplace(rng, 1.0).exp(),
            |rng| 1.0 + rng.random::<f64>(),
        ];
        for seed in 0..20 {
            for (kind, size) in sizes.into_iter().enumerate() {
                for noise in [laplace, gaussian] {
                    let found = with_sizes(seed, noise, size);
                    assert!(
                        matches!(found, Some(Dependence::Order(Aspect::Size, ..))),
                        "kind {kind}, seed {seed}: {found:?}"
                    );
                }
            }
        }
        let found = with_sizes(1, laplace, |rng| laplace(rng, 1.0).exp()).unwrap().to_string();
        assert!(found.contains("in the size of the noise"), "{found}");
    }

    #[test]
    fn a_size_that_drifts_is_found() {
        let mut rng = Generator::seed_from_u64(6);
        let mut size: f64 = 0.0;
        let found = dependence(&episodes(|_, side, _| {
            size = 0.99 * size + gaussian(&mut rng, 0.1);
            number(at(side) + laplace(&mut rng, size.exp()))
        }));
        assert!(matches!(found, Some(Dependence::Order(Aspect::Size, ..))), "{found:?}");
    }

    #[test]
    fn a_cache_that_forgets_is_found() {
        // One of a thousand keys, each with its noise; the last 128 keys are remembered, so one
        // output in eight is an earlier one.
        for seed in 0..20 {
            let mut rng = Generator::seed_from_u64(seed);
            let mut cache: Vec<(u32, f64)> = Vec::new();
            let found = dependence(&episodes(|_, side, _| {
                let key = rng.random_range(0..1000) + 1000 * side as u32;
                let old = cache
                    .iter()
                    .position(|(known, _)| *known == key)
                    .map(|place| cache.remove(place));
                cache.push(old.unwrap_or_else(|| (key, laplace(&mut rng, 1.0))));
                if cache.len() > 128 {
                    cache.remove(0);
                }
                number(at(side) + cache.last().unwrap().1)
            }));
            assert!(matches!(found, Some(Dependence::Returns(..))), "seed {seed}: {found:?}");
        }
        let found = Dependence::Returns(Side::Left, 9, 10).to_string();
        assert!(found.contains("as if they were kept in a cache"), "{found}");
    }

    #[test]
    fn one_stream_for_both_sides_is_found() {
        let noise = |batch: usize, index: usize| {
            laplace(&mut Generator::seed_from_u64((batch * 100_000 + index) as u64), 1.0)
        };
        let found =
            dependence(&episodes(|batch, side, index| number(at(side) + noise(batch, index))));
        let Some(found @ Dependence::Order(Aspect::Value, Pairing::Sides, ..)) = found else {
            panic!("{found:?}")
        };
        assert!(found.to_string().contains("left and right depend on each other"), "{found}");
    }
}
