//! Are the draws independent? Every bound assumes it.
//!
//! Two exact tests that hold for outputs of any distribution, with atoms or without, and pass over outputs that never vary.
//!
//! *Order.* Take two pairs of draws `(a, b)` and `(a', b')`, all four different draws. If draws are independent and b, b' come from one side, exchanging b and b'
//! changes nothing, and exchanging them turns the sign of `(a − a')·(b − b')`. So among pairs of pairs that are not tied, the concordant ones are Binomial(½),
//! exactly (Kendall). What makes a *pair* decides what is found: draws that follow each other (cached or drifting noise), draws at one place of left and
//! right (one stream for both), draws at one place of two batches (one stream for each).
//!
//! *Repeats.* If two draws are equal with probability `q`, then the largest atom has at most `√q`, and two given windows of `s` draws are equal with
//! probability at most `q^(s/2)`, overlapping or not. With an upper limit on `q` and `s` so large that n²/2 times that is negligible, a window
//! that comes twice is a stream that was started anew.

use std::cmp::Ordering;
use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::binomial::{lower_limit, upper_tail};
use crate::model::Side;
use crate::output::{Cell, Mix, Rows};

/// The probability with which independent draws are taken for dependent ones in one look, at most. A pair gets two looks, one a phase; files get one more.
pub const FALSE_ALARM: f64 = 3e-7;

/// The share of it for repeats; the rest is for the order.
const REPEATS_SHARE: f64 = 0.2;

/// Distances of draws within a batch that are compared.
const LAGS: [usize; 4] = [1, 2, 3, 4];

/// Components of an output that are followed; the whole output is followed too.
const COMPONENTS: usize = 7;

/// Windows that are all remembered; of those after them one in 2^[`SPARSE`], and its content decides which.
const DENSE: usize = 1024;
const SPARSE: u32 = 3;

/// What an output was, in the order of draws: for each thing that is followed, a key that orders numbers as numbers.
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

/// A key in the order of the numbers; symbols come after them.
fn ordered(cell: Cell) -> u64 {
    let bits = cell.key();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Draws that were made one after another: the beginning of a batch.
#[derive(Clone, Debug)]
pub struct Episode {
    left: Tracks,
    right: Tracks,
    most: usize,
}

impl Episode {
    /// Nothing yet; at most so many draws of either side will be remembered.
    #[must_use]
    pub fn new(width: usize, most: usize) -> Self {
        Self { left: Tracks::new(width), right: Tracks::new(width), most }
    }

    /// Sees the next draws of one side.
    pub fn see(&mut self, side: Side, rows: &Rows) {
        let tracks = match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        };
        let room = self.most - tracks.len();
        rows.iter().take(room).for_each(|row| tracks.push(row));
    }

    fn track(&self, side: Side, index: usize) -> &[u64] {
        match side {
            Side::Left => &self.left.0[index],
            Side::Right => &self.right.0[index],
        }
    }
}

/// Which draws belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tie {
    /// Those of one side at this distance.
    Lag(Side, usize),
    /// Those at the same place of left and right.
    Sides,
    /// Those of one side at the same place of two batches.
    Batches(Side),
}

/// How draws depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dependence {
    /// Outputs that belong together are ordered alike, or oppositely, too often: so many of so many comparisons.
    Order(Tie, u64, u64),
    /// So many outputs in a row come up again, so many draws later; or in another batch.
    Repeats(Side, usize, Option<usize>),
}

impl fmt::Display for Dependence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(tie, alike, of) => {
                match tie {
                    Tie::Lag(side, 1) => write!(f, "on {} each output depends on the one before it", side),
                    Tie::Lag(side, lag) => write!(f, "on {} each output depends on the one {lag} draws before it", side),
                    Tie::Sides => f.write_str("the outputs on left and right depend on each other, as if both used one random stream"),
                    Tie::Batches(side) => {
                        write!(f, "on {} two batches depend on each other, as if both used one random stream", side)
                    }
                }?;
                write!(f, " ({alike} of {of} comparisons go the same way, half of them would by chance)")
            }
            Self::Repeats(side, length, later) => {
                write!(f, "on {} the same {length} outputs in a row come up again ", side)?;
                match later {
                    Some(later) => write!(f, "{later} draws later"),
                    None => f.write_str("in another batch"),
                }
            }
        }
    }
}

/// Looks for dependence among draws; independent ones are suspected with probability at most [`FALSE_ALARM`].
#[must_use]
pub fn dependence(episodes: &[Episode]) -> Option<Dependence> {
    let tracks = episodes.first().map_or(0, |episode| episode.left.0.len());
    let sides = [Side::Left, Side::Right];
    let lags = sides.into_iter().flat_map(|side| LAGS.map(|lag| Tie::Lag(side, lag)));
    let ties: Vec<Tie> = lags.chain([Tie::Sides]).chain(sides.map(Tie::Batches)).collect();
    let alpha_order = FALSE_ALARM * (1.0 - REPEATS_SHARE) / (tracks * ties.len()) as f64;
    let alpha_repeats = FALSE_ALARM * REPEATS_SHARE / (tracks * sides.len()) as f64;
    let find = |track: usize| {
        let repeats = sides.par_iter().filter_map(|side| repeats(episodes, *side, track, alpha_repeats)).find_first(|_| true);
        repeats.or_else(|| ties.par_iter().filter_map(|tie| order(episodes, *tie, track, alpha_order)).find_first(|_| true))
    };
    (0..tracks).find_map(find)
}

/// The exact test of order for draws that belong together.
fn order(episodes: &[Episode], tie: Tie, track: usize, alpha: f64) -> Option<Dependence> {
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    match tie {
        Tie::Lag(side, lag) => {
            for draws in episodes.iter().map(|episode| episode.track(side, track)) {
                // Blocks of 2·lag draws: each draw is in one pair.
                for block in draws.chunks_exact(2 * lag) {
                    pairs.extend(block[..lag].iter().copied().zip(block[lag..].iter().copied()));
                }
            }
        }
        Tie::Sides => {
            for episode in episodes {
                pairs.extend(episode.left.0[track].iter().copied().zip(episode.right.0[track].iter().copied()));
            }
        }
        Tie::Batches(side) => {
            for two in episodes.chunks_exact(2) {
                pairs.extend(two[0].track(side, track).iter().copied().zip(two[1].track(side, track).iter().copied()));
            }
        }
    }
    let half = pairs.len() / 2;
    let (mut alike, mut tested) = (0, 0);
    // The first with the last: at all distances, so that no period hides, and mostly from different batches.
    for ((a, b), (other_a, other_b)) in pairs[..half].iter().zip(pairs.iter().rev()) {
        let (first, second) = (a.cmp(other_a), b.cmp(other_b));
        let untied = first != Ordering::Equal && second != Ordering::Equal;
        tested += u64::from(untied);
        alike += u64::from(untied && first == second);
    }
    let chance = upper_tail(alike.max(tested - alike), tested, 0.5);
    (tested > 0 && 2.0 * chance <= alpha).then_some(Dependence::Order(tie, alike, tested))
}

/// The exact test for windows of draws that come twice.
fn repeats(episodes: &[Episode], side: Side, track: usize, alpha: f64) -> Option<Dependence> {
    let draws: Vec<u64> = episodes.iter().flat_map(|episode| episode.track(side, track)).copied().collect();
    let draws = &draws[..draws.len() & !1];
    let half = draws.len() / 2;
    if half == 0 {
        return None;
    }
    // Half of α for a limit on how often two draws are equal, half for the windows.
    let different = draws[..half].iter().zip(draws.iter().rev()).filter(|(a, b)| a != b).count();
    let equal = 1.0 - lower_limit(different as u64, half as u64, alpha / 2.0);
    let pairs = draws.len() as f64 * half as f64;
    let length = (2.0 * (pairs / (alpha / 2.0)).ln() / -equal.ln()).ceil();
    if !(1.0..=half as f64).contains(&length) {
        return None; // the outputs vary too little or not at all, or there are too few
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at least 1, at most `half`
    let length = length as usize;
    let mut windows = remembered(draws, length);
    windows.sort_unstable();
    let twice: Vec<(usize, usize)> = windows.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| (two[0].1, two[1].1)).collect();
    if twice.is_empty() {
        return None;
    }
    // Distances mean something within a batch; the shortest is the period.
    let ends: Vec<usize> = episodes
        .iter()
        .scan(0, |end, episode| {
            *end += episode.track(side, track).len();
            Some(*end)
        })
        .collect();
    let batch = |place: usize| ends.partition_point(|end| *end <= place);
    let later = twice.iter().filter(|(first, second)| batch(*first) == batch(*second)).map(|(first, second)| second - first).min();
    Some(Dependence::Repeats(side, length, later))
}

/// Hashes of the windows of so many draws, each with its place, as far as they are remembered.
fn remembered(draws: &[u64], length: usize) -> Vec<(u64, usize)> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = |draw: u64| Mix::new().word(draw).end();
    let oldest = (1..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut windows = Vec::new();
    let mut hash = 0_u64;
    for (place, draw) in draws.iter().enumerate() {
        if let Some(gone) = place.checked_sub(length) {
            hash = hash.wrapping_sub(mixed(draws[gone]).wrapping_mul(oldest));
        }
        hash = hash.wrapping_mul(BASE).wrapping_add(mixed(*draw));
        let dense = place < length + DENSE;
        if place + 1 >= length && (dense || hash.wrapping_mul(BASE) >> (64 - SPARSE) == 0) {
            windows.push((hash, place));
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::noise::{Generator, gaussian, laplace};

    /// Batches as a certify phase has them; `draw(batch, side, index)` gives an output.
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
    fn keys_are_in_the_order_of_the_numbers() {
        let values = [f64::NEG_INFINITY, -1e9, -1.5, -0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(values.windows(2).all(|two| ordered(Cell::number(two[0])) < ordered(Cell::number(two[1]))));
        assert_eq!(ordered(Cell::number(0.0)), ordered(Cell::number(-0.0)));
        assert!(ordered(Cell::symbol("⊥")) > ordered(Cell::number(f64::INFINITY)));
    }

    #[test]
    fn wide_outputs_are_followed_whole_and_in_seven_parts() {
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
    fn no_more_is_remembered_than_there_is_room_for() {
        let mut episode = Episode::new(1, 10);
        let mut rows = Rows::new(1);
        (0..7).for_each(|value| rows.push(&number(f64::from(value))));
        (0..3).for_each(|_| episode.see(Side::Right, &rows));
        let seen: Vec<u64> = [0, 1, 2, 3, 4, 5, 6, 0, 1, 2].map(|value| ordered(Cell::number(f64::from(value)))).to_vec();
        assert_eq!(episode.track(Side::Right, 0), seen);
        assert!(episode.track(Side::Left, 0).is_empty());
    }

    #[test]
    fn the_false_alarms_are_divided_over_all_tests_of_order() {
        // Eleven ties for each track; n comparisons that all go one way have probability 2·2^-n.
        for (width, tracks) in [(1, 1.0), (7, 8.0)] {
            let found = |n: usize| {
                let mut rows = Rows::new(width);
                (0..2 * n).for_each(|index| rows.push(&vec![Cell::number(if index < n { 0.0 } else { 1.0 }); width]));
                let mut episode = Episode::new(width, 2 * n);
                [Side::Left, Side::Right].into_iter().for_each(|side| episode.see(side, &rows));
                dependence(&[episode])
            };
            let level = 3e-7 * 0.8 / (tracks * 11.0);
            let least = (1..60).find(|n| 2.0 * 0.5_f64.powi(*n) <= level).unwrap().unsigned_abs();
            assert_eq!(found(least as usize - 1), None);
            assert_eq!(found(least as usize), Some(Dependence::Order(Tie::Sides, least.into(), least.into())));
        }
    }

    #[test]
    fn each_draw_is_compared_once_at_every_lag() {
        let mut rng = Generator::seed_from_u64(11);
        for lag in LAGS {
            // Blocks whose second half repeats the first: 960 draws are 480 pairs, two of which make a comparison.
            let fresh: Vec<f64> = (0..480).map(|_| gaussian(&mut rng, 1.0)).collect();
            let draws: Vec<f64> = fresh.chunks(lag).flat_map(|block| [block, block].concat()).collect();
            let tie = Tie::Lag(Side::Right, lag);
            let found = order(&[batch(Side::Right, &draws)], tie, 0, 1e-9);
            assert_eq!(found, Some(Dependence::Order(tie, 240, 240)));
        }
    }

    #[test]
    fn repeated_windows_are_just_so_long_that_chance_cannot_repeat_them() {
        // One track and two sides share a fifth of the false alarms.
        let alpha = 3e-7 * 0.2 / 2.0;
        let mut rng = Generator::seed_from_u64(13);
        let period: Vec<u32> = (0..97).map(|_| rng.random()).collect();
        for n in [200, 260, 400, 1000, 3000] {
            // Numbers that hardly ever agree, and coins that do so half the time.
            for modulus in [u32::MAX, 2] {
                let draws: Vec<f64> = (0..n).map(|place| f64::from(period[place % 97] % modulus)).collect();
                let half = n / 2;
                let different = (0..half).filter(|place| draws[*place] != draws[n - 1 - place]).count();
                let equal = 1.0 - lower_limit(different as u64, half as u64, alpha / 2.0);
                // Of n²/2 pairs of windows, each equal with probability at most equal^(length/2), one is with probability at most α/2.
                let chance = |length: usize| (n * half) as f64 * equal.powf(length as f64 / 2.0);
                let length = (1..=half).find(|length| chance(*length) <= alpha / 2.0);
                let expected = length.filter(|length| length + 97 <= n).map(|length| Dependence::Repeats(Side::Left, length, Some(97)));
                assert_eq!(dependence(&[batch(Side::Left, &draws)]), expected, "{n} draws below {modulus}");
            }
        }
    }

    #[test]
    fn early_windows_are_all_remembered_and_one_in_eight_of_the_others() {
        let mut rng = Generator::seed_from_u64(12);
        let mut draws: Vec<u64> = (0..41_000).map(|_| rng.random()).collect();
        draws.copy_within(100..150, 500);
        let windows = remembered(&draws[..1034], 10);
        // Each is named by its last draw.
        assert_eq!(windows.iter().map(|(_, place)| *place).collect::<Vec<_>>(), (9..1034).collect::<Vec<_>>());
        let equal = |place: usize, other: usize| windows[place - 9].0 == windows[other - 9].0;
        assert!((109..150).all(|place| equal(place, place + 400)) && !equal(108, 508) && !equal(150, 550));
        // Each of the others is remembered with probability 1/8: 4.9 standard deviations, a false alarm in a million seeds.
        let later = remembered(&draws, 10).len() - windows.len();
        assert!(later.abs_diff((41_000 - 1034) / 8) < 325, "{later}");
    }

    #[test]
    fn independent_draws_of_any_kind_are_let_pass() {
        // 40 seeds for each kind; one alarm in 3,000,000 seeds is allowed.
        let kinds: [fn(&mut Generator, Side) -> Vec<Cell>; 6] = [
            |_, _| number(3.0),
            |_, side| number(at(side)),
            |rng, side| number(at(side) + laplace(rng, 1.0)),
            |rng, _| vec![Cell::symbol(if rng.random::<bool>() { "yes" } else { "no" })],
            |rng, side| number(if rng.random_range(0..1000) == 0 { 1.0 + at(side) } else { 0.0 }),
            |rng, side| {
                let mixed = if rng.random::<bool>() { Cell::symbol("⊥") } else { Cell::number(at(side) + gaussian(rng, 1.0)) };
                vec![Cell::number(0.0), mixed, Cell::number(rng.random_range(0..3).into())]
            },
        ];
        for seed in 0..40 {
            for (kind, draw) in kinds.iter().enumerate() {
                let mut rng = Generator::seed_from_u64(seed);
                assert_eq!(dependence(&episodes(|_, side, _| draw(&mut rng, side))), None, "kind {kind}, seed {seed}");
            }
        }
        assert_eq!(dependence(&[]), None);
        assert_eq!(dependence(&[Episode::new(1, 10)]), None);
    }

    #[test]
    fn small_samples_keep_the_level() {
        // 20,000 samples of sixteen draws of a fair coin, on which no test can reach 3e-7: the exact tails are never rounded up to an alarm.
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
    fn the_test_of_order_has_the_level_it_claims() {
        // At α = 0.01 instead of 3e-7, 4,000 samples: at most 0.01 of them may alarm, up to chance of 1e-6.
        const SAMPLES: u64 = 4000;
        let mut alarms = 0;
        for seed in 0..SAMPLES {
            let mut rng = Generator::seed_from_u64(seed);
            let mut episode = Episode::new(1, 400);
            let mut rows = Rows::new(1);
            (0..400).for_each(|_| rows.push(&number((laplace(&mut rng, 1.0) * 2.0).round())));
            episode.see(Side::Left, &rows);
            alarms += u64::from(order(&[episode], Tie::Lag(Side::Left, 1), 0, 0.01).is_some());
        }
        let chance = upper_tail(alarms, SAMPLES, 0.01);
        assert!(chance > 1e-6, "{alarms} alarms in {SAMPLES} samples; α = 0.01");
        assert!(alarms > 0, "a test that never alarms tests nothing");
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
        assert!(matches!(found, Some(Dependence::Order(Tie::Lag(_, 1), ..))), "{found:?}");
        // Also where the cached part of the output is one of many, and a symbol.
        let mut answer = Cell::symbol("yes");
        let found = dependence(&episodes(|_, _, index| {
            if index % 2 == 0 {
                answer = Cell::symbol(if rng.random::<bool>() { "yes" } else { "no" });
            }
            vec![Cell::number(laplace(&mut rng, 1.0)), answer, Cell::number(laplace(&mut rng, 1.0))]
        }));
        assert!(matches!(found, Some(Dependence::Order(Tie::Lag(_, 1), ..))), "{found:?}");
    }

    #[test]
    fn a_stream_that_starts_anew_is_found_at_any_period() {
        for period in [2, 3, 64, 100, 2048, 3000] {
            let found = dependence(&episodes(|_, side, index| {
                let mut rng = Generator::seed_from_u64((index % period) as u64 + 7);
                number(at(side) + laplace(&mut rng, 1.0))
            }));
            let Some(Dependence::Repeats(Side::Left, _, later)) = found else { panic!("period {period}: {found:?}") };
            assert_eq!(later, Some(period));
        }
        // Coins repeat too, only in longer windows.
        let found = dependence(&episodes(|_, _, index| {
            number(f64::from(u8::from(Generator::seed_from_u64((index % 100) as u64).random::<bool>())))
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
        assert!(matches!(found, Some(Dependence::Order(Tie::Batches(Side::Left), ..))), "{found:?}");
    }

    #[test]
    fn drifting_noise_is_found() {
        // AR(1) with ρ = 0.2, and a level that is drawn once for each batch.
        let mut rng = Generator::seed_from_u64(5);
        let mut last = 0.0;
        let found = dependence(&episodes(|_, side, _| {
            last = 0.2 * last + gaussian(&mut rng, 1.0);
            number(at(side) + last)
        }));
        assert!(matches!(found, Some(Dependence::Order(Tie::Lag(_, 1), ..))), "{found:?}");
        assert!(dependence(&episodes(|batch, _, _| number(batch as f64))).is_some());
    }

    #[test]
    fn one_stream_for_both_sides_is_found() {
        let noise = |batch: usize, index: usize| laplace(&mut Generator::seed_from_u64((batch * 100_000 + index) as u64), 1.0);
        let found = dependence(&episodes(|batch, side, index| number(at(side) + noise(batch, index))));
        let Some(found @ Dependence::Order(Tie::Sides, ..)) = found else { panic!("{found:?}") };
        assert!(found.to_string().contains("left and right depend on each other"), "{found}");
    }
}
