//! Makes draws in fixed batches, in parallel, with the same result on any number of threads.
//!
//! In each batch a fair coin is flipped for every draw. Only the number of heads matters, so `k ~
//! Binomial(n, ½)` draws come from D and `n − k` from D'. The bounds are valid because of the coin:
//! with a fixed number of draws per side they would bound an odds ratio, not ε.

use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rayon::prelude::*;

use crate::model::Side;
use crate::noise::Generator;
use crate::output::Rows;
use crate::stats::independence::{Episode, dependence};
use crate::target::{PairStream, Phase, Share, StreamSeed, Target, TargetError};

/// Draws per batch.
pub const BATCH: u64 = 65_536;

/// The first batches of a phase, whose draws are checked for dependence. They are never divided
/// among samplers.
pub const WATCHED: u64 = 8;

/// Batches whose coins are flipped in advance. With these counts each batch knows which draws of
/// either side belong to it.
const WAVE: u64 = 4096;

/// How often it is told that draws were made, if a batch takes long.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Draws a pair's outputs. It remembers which batches were used, so that no draw is used twice.
pub struct Sampler<'a> {
    target: &'a dyn Target,
    width: usize,
    stream: PairStream,
    phase: Phase,
    next: Batch,
    episodes: Vec<Episode>,
    watch: Watch,
    drawn: &'a (dyn Fn(u64) + Sync),
}

/// Which draws are checked for dependence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// The beginnings of the first batches of the phase.
    FirstBatches,
    /// The same, for draws in many small batches: the first draws of the phase.
    FirstDraws {
        /// How many draws it has made.
        made: u64,
    },
    /// All of the next batch.
    Next,
}

/// The draws of a batch that nobody was told about, and since when.
struct News {
    draws: u64,
    told: Instant,
}

/// A batch: its number, its draws from either side, and how many of either side came before it.
#[derive(Clone, Copy, Default)]
struct Batch {
    index: u64,
    left: u64,
    right: u64,
    before_left: u64,
    before_right: u64,
}

impl<'a> Sampler<'a> {
    /// A sampler at the beginning of a phase. It calls `drawn` with the number of new draws: at the
    /// end of every batch, and several times a second.
    ///
    /// # Errors
    /// When the mechanism cannot be run at all.
    pub fn open(
        target: &'a dyn Target,
        stream: PairStream,
        phase: Phase,
        drawn: &'a (dyn Fn(u64) + Sync),
    ) -> Result<Self, TargetError> {
        Ok(Self {
            target,
            width: target.open()?,
            stream,
            phase,
            next: Batch::default(),
            episodes: Vec::new(),
            watch: Watch::FirstBatches,
            drawn,
        })
    }

    /// The same for draws in small batches: more than the first batches are checked for dependence,
    /// because they are too small to show any.
    #[must_use]
    pub fn in_small_batches(mut self) -> Self {
        self.watch = Watch::FirstDraws { made: 0 };
        self
    }

    /// Makes further draws that are only checked for dependence. They are two batches of one size: a
    /// stream that is restarted for each batch repeats itself in the second.
    ///
    /// # Errors
    /// When the mechanism could not be run.
    pub fn look_further(&mut self, draws: u64) -> Result<(), TargetError> {
        let watch = std::mem::replace(&mut self.watch, Watch::Next);
        let half = draws.div_ceil(2).min(BATCH);
        let made = (0..2).try_for_each(|_| self.fold(half, || (), |(), _, _| (), |(), ()| ()));
        self.watch = watch;
        made
    }

    /// Cells per output.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Folds the next draws: first each batch into its own value, in parallel, then these values
    /// into one, in the order of the batches.
    ///
    /// # Errors
    /// When the mechanism could not be run. Then no part of the sample is used.
    pub fn fold<T: Send>(
        &mut self,
        draws: u64,
        start: impl Fn() -> T + Sync,
        step: impl Fn(&mut T, Side, &Rows) + Sync,
        merge: impl Fn(&mut T, T) + Sync,
    ) -> Result<T, TargetError> {
        let mut all = start();
        let mut left = draws;
        while left > 0 {
            let wave = left.min(WAVE * BATCH);
            left -= wave;
            let batches = self.flip(wave);
            let watch = self.watch;
            if let Watch::FirstDraws { made } = &mut self.watch {
                *made += wave;
            }
            let batches = batches.into_par_iter().map(|batch| {
                let mut value = start();
                let watched = watch.draws_of(batch.index);
                let mut episode = Episode::new(self.width, watched);
                let mut news = News { draws: 0, told: Instant::now() };
                self.draw(batch, &mut |side, rows| {
                    episode.see(side, rows);
                    step(&mut value, side, rows);
                    news.draws += rows.len() as u64;
                    if news.told.elapsed() > TELL_EVERY {
                        (self.drawn)(news.draws);
                        news = News { draws: 0, told: Instant::now() };
                    }
                })?;
                (self.drawn)(news.draws);
                Ok((value, if watched > 0 { vec![episode] } else { Vec::new() }))
            });
            let (value, mut episodes) = batches.try_reduce(
                || (start(), Vec::new()),
                |(mut all, mut episodes), (next, mut more)| {
                    merge(&mut all, next);
                    episodes.append(&mut more);
                    Ok((all, episodes))
                },
            )?;
            self.episodes.append(&mut episodes);
            merge(&mut all, value);
        }
        Ok(all)
    }

    /// Leaves out the next draws, which another sampler makes. Their coins are flipped where a
    /// target asks for the places of its draws.
    pub fn skip(&mut self, draws: u64) {
        let mut left = draws;
        while left > 0 {
            let wave = left.min(WAVE * BATCH);
            left -= wave;
            if self.target.needs_places() {
                self.flip(wave);
            } else {
                self.next.index += wave.div_ceil(BATCH);
            }
        }
    }

    /// Looks for dependence among the draws of this phase.
    ///
    /// # Errors
    /// When they are not independent. Then no count on these draws is valid.
    pub fn check_independence(&self) -> Result<(), TargetError> {
        const REMEDY: &str = "Give every run its own randomness: set no seed inside it, keep no noise for later, \
            and use different seeds on left and on right";
        dependence(&self.episodes).map_or(Ok(()), |what| {
            Err(TargetError::NotIndependent { what, remedy: REMEDY.to_owned() })
        })
    }

    /// Flips the coins of the next draws.
    fn flip(&mut self, draws: u64) -> Vec<Batch> {
        let first = self.next.index;
        let sizes = (0..draws.div_ceil(BATCH))
            .into_par_iter()
            .map(|index| (first + index, BATCH.min(draws - index * BATCH)));
        let heads: Vec<(u64, u64)> = sizes
            .map(|(index, size)| (heads(size, self.stream.coin(self.phase, index)), size))
            .collect();
        let next = &mut self.next;
        let batch = |(left, size): (u64, u64)| {
            let batch = Batch { left, right: size - left, ..*next };
            next.index += 1;
            next.before_left += batch.left;
            next.before_right += batch.right;
            batch
        };
        heads.into_iter().map(batch).collect()
    }

    /// Makes the draws of a batch, in an order of the sides that the target chooses.
    fn draw(&self, batch: Batch, sink: &mut dyn FnMut(Side, &Rows)) -> Result<(), TargetError> {
        let share = |side, count: u64, before| {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            Share { count, seed: self.stream.side(self.phase, batch.index, side).after(before) }
        };
        let shares = [
            share(Side::Left, batch.left, batch.before_left),
            share(Side::Right, batch.right, batch.before_right),
        ];
        let mut got = [0; 2];
        let order = self.stream.order(self.phase, batch.index);
        self.target.draw_both(shares, order, &mut |side, rows| {
            got[side as usize] += rows.len();
            sink(side, rows);
        })?;
        for (asked, got) in shares.map(|share| share.count).into_iter().zip(got) {
            if got != asked {
                return Err(TargetError::WrongCount { asked, got });
            }
        }
        Ok(())
    }
}

impl Watch {
    /// How many draws of either side are checked in this batch of the phase: many in the first
    /// batch, so that long periods are found, and some in others, because they may use the same
    /// stream.
    fn draws_of(self, batch: u64) -> usize {
        /// Draws in small batches that are checked together.
        const SMALL: u64 = 65_536;
        let first = |batch: u64| (16_384 >> batch).max(4096);
        match self {
            Self::FirstBatches | Self::FirstDraws { .. } if batch < WATCHED => first(batch),
            Self::FirstDraws { made: 0..SMALL } => first(WATCHED),
            Self::FirstBatches | Self::FirstDraws { .. } => 0,
            Self::Next => first(0),
        }
    }
}

/// The number of heads in `flips` fair coin flips. It is exact, because it counts random bits.
fn heads(flips: u64, seed: StreamSeed) -> u64 {
    let mut rng = Generator::from_seed(seed.bytes());
    let full: u64 = (0..flips / 64).map(|_| u64::from(rng.next_u64().count_ones())).sum();
    let rest = flips % 64;
    full + u64::from((rng.next_u64() & ((1 << rest) - 1)).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coin_is_fair_and_exact() {
        let stream = PairStream::new(1, "coin", "");
        let seed = |batch| stream.coin(Phase::Explore, batch);
        assert_eq!(super::heads(0, seed(0)), 0);
        // 1,000 batches of 1,000 flips: the mean number of heads is 500, with standard error ½.
        // Five of them have a false-alarm rate of 6e-7.
        let heads: u64 = (0..1000).map(|batch| super::heads(1000, seed(batch))).sum();
        let deviation = (heads as f64 - 500_000.0).abs() / 500.0;
        assert!(deviation < 5.0, "{heads} heads in 1,000,000 flips");
        // The variance of the heads per batch is 250; its estimate has a relative standard error of
        // √(2/1000).
        let variance: f64 = (0..1000)
            .map(|batch| (super::heads(1000, seed(batch)) as f64 - 500.0).powi(2))
            .sum::<f64>()
            / 1000.0;
        assert!(
            (variance / 250.0 - 1.0).abs() < 5.0 * (2.0_f64 / 1000.0).sqrt(),
            "variance {variance}"
        );
    }
}
