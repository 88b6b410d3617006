//! Tests of all tests together, and what the tests of each share.

use rand::{RngExt, SeedableRng};

use super::*;
use crate::noise::{Generator, gaussian, laplace};
use crate::output::{Cell, Rows};

/// Counts the alarms of a test on independent draws at a level that it often reaches.
#[derive(Default)]
pub(super) struct KeepsLevel {
    samples: u64,
    alarms: u64,
    /// Whether the test errs on the safe side, so that it may never raise an alarm.
    rarely: bool,
}

impl KeepsLevel {
    pub(super) const SAMPLES: u64 = 4000;
    pub(super) const ALPHA: f64 = 0.01;

    pub(super) fn rarely() -> Self {
        Self { rarely: true, ..Self::default() }
    }

    pub(super) fn see(&mut self, alarm: bool) {
        self.samples += 1;
        self.alarms += u64::from(alarm);
    }

    /// The check itself fails by chance once in 1e6.
    pub(super) fn check(&self) {
        let Self { samples, alarms, rarely } = self;
        let chance = upper_tail(*alarms, *samples, Self::ALPHA);
        assert!(chance > 1e-6, "{alarms} alarms in {samples} samples; α = {}", Self::ALPHA);
        assert!(*alarms > 0 || *rarely, "a test that never raises an alarm tests nothing");
    }
}

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
pub(super) fn batch(side: Side, draws: &[f64]) -> Episode {
    let mut episode = Episode::new(1, draws.len());
    let mut rows = Rows::new(1);
    draws.iter().for_each(|draw| rows.push(&number(*draw)));
    episode.see(side, &rows);
    episode
}

#[test]
fn the_false_alarm_rate_is_divided_among_all_tests() {
    let shares = REPEATS_SHARE
        + RETURNS_SHARE
        + EVEN_SHARE
        + MULTIPLES_SHARE
        + LAGS_SHARE
        + LEVELS_SHARE
        + PAIRS_SHARE;
    assert!((shares - 1.0).abs() < 1e-12, "{shares}");
    // Values and sizes: lag 1 of both sides, both sides, batches of both sides. Equality: 13 lags
    // of both sides.
    assert_eq!(paired_tests().len(), 2 * 5 + 13 * 2);
    for tracks in [1, 8] {
        let all = tracks as f64;
        let Shares { repeats, returns, even, multiples, lags, levels, pairs } = Shares::of(tracks);
        let of_sides = 2.0 * (repeats + returns + even + lags);
        let sum = all * (of_sides + multiples + 4.0 * levels + 36.0 * pairs);
        assert!((sum / FALSE_ALARM - 1.0).abs() < 1e-12, "{sum}");
    }
}

#[test]
fn a_pairing_is_found_with_as_few_draws_as_its_share_allows() {
    // n comparisons that all go the same way have probability 2·2^-n. Left and right rise together
    // from 0 to 1, once; of the other tests none gets 2·n draws that differ.
    for (width, tracks) in [(1, 1.0), (7, 8.0)] {
        let found = |n: usize| {
            let mut rows = Rows::new(width);
            (0..2 * n).for_each(|index| {
                rows.push(&vec![Cell::number(if index < n { 0.0 } else { 1.0 }); width]);
            });
            let mut episode = Episode::new(width, 2 * n);
            Side::BOTH.into_iter().for_each(|side| episode.see(side, &rows));
            dependence(&[episode])
        };
        let level = 3e-7 * 0.2 / (tracks * 36.0);
        let fewest = (1..60).find(|n| 2.0 * 0.5_f64.powi(*n) <= level).unwrap().unsigned_abs();
        assert_eq!(found(fewest as usize - 1), None);
        assert_eq!(
            found(fewest as usize),
            Some(Dependence::Order(Aspect::Value, Pairing::Sides, fewest.into(), fewest.into()))
        );
    }
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
    assert!(
        matches!(found, Some(Dependence::Order(Aspect::Value, Pairing::Batches(Side::Left), ..))),
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

/// Whether the size of the noise depends on something.
fn is_of_size(found: Option<Dependence>) -> bool {
    matches!(
        found,
        Some(Dependence::Order(Aspect::Size, ..) | Dependence::Levels(Aspect::Size, ..))
    )
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
                assert!(is_of_size(found), "kind {kind}, seed {seed}: {found:?}");
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
    assert!(is_of_size(found), "{found:?}");
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
            let old =
                cache.iter().position(|(known, _)| *known == key).map(|place| cache.remove(place));
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
    let found = dependence(&episodes(|batch, side, index| number(at(side) + noise(batch, index))));
    let Some(found @ Dependence::Order(Aspect::Value, Pairing::Sides, ..)) = found else {
        panic!("{found:?}")
    };
    assert!(found.to_string().contains("left and right depend on each other"), "{found}");
}
