//! Parts of the sequence whose levels or sizes differ.
//!
//! Divide the sequence into parts of equal length and compare each part of the first half with one
//! of the second half, draw by draw. Let `S` be the sum of the differences of two parts' scores and
//! `V` the sum of their squares. If draws are independent and alike, all signs are fair coins
//! (`swaps.rs`), so `S²/V` is 1 on average. A level that is drawn once for each part, or that drifts
//! from the first part to the last, makes it larger. The sum over all pairs of parts is compared
//! with the bound of `swaps.rs`.
//!
//! Short parts show small requests and fast drifts, the two halves of everything slow drifts. A few
//! long parts are compared all with all, each pair with its share of α, because a level that is
//! drawn once for a batch may differ in one part only.

use super::found::{Aspect, Dependence};
use super::scores::Scores;
use crate::model::Side;
use crate::stats::swaps::squares_bound;

/// Draws of a part. Besides, the two halves of all draws are compared, and all pairs of a few long
/// parts.
const SCALES: [usize; 4] = [16, 64, 256, 1024];

/// Draws of a long part, or more if there would be more than [`MAX_LONG_PARTS`].
const LONG_PART: usize = 4096;
const MAX_LONG_PARTS: usize = 12;

/// The test for values or sizes.
pub(super) fn test_levels(
    scores: &Scores,
    aspect: Aspect,
    side: Side,
    alpha: f64,
) -> Option<Dependence> {
    let sizes;
    let scores = if aspect == Aspect::Size {
        sizes = scores.sizes();
        &sizes
    } else {
        &scores.values
    };
    let half = scores.len() / 2;
    let all = SCALES.into_iter().filter(|scale| *scale < half).chain([half]);
    // The scales, the halves, the long parts.
    let alpha = alpha / (SCALES.len() + 2) as f64;
    let mut differing = all.filter(|scale| {
        let (squares, freedoms) = squares(scores, *scale);
        squares_bound(squares, freedoms) <= alpha
    });
    let scale = differing.next().or_else(|| long_parts_differ(scores, alpha))?;
    Some(Dependence::Levels(aspect, side, scale))
}

/// Compares all pairs of long parts; their length, if two differ.
fn long_parts_differ(scores: &[i8], alpha: f64) -> Option<usize> {
    let length = scores.len().div_ceil(MAX_LONG_PARTS).max(LONG_PART);
    let parts: Vec<&[i8]> = scores.chunks_exact(length).collect();
    let pairs = parts.len() * parts.len().saturating_sub(1) / 2;
    let mut all = (0..parts.len())
        .flat_map(|first| (first + 1..parts.len()).map(move |second| (first, second)));
    all.any(|(first, second)| {
        let (square, freedoms) = squares(&[parts[first], parts[second]].concat(), length);
        squares_bound(square, freedoms) <= alpha / pairs as f64
    })
    .then_some(length)
}

/// The sum of all `S²/V` for parts of this many draws, and their number.
fn squares(scores: &[i8], scale: usize) -> (f64, usize) {
    if scale == 0 {
        return (0.0, 0);
    }
    let arch = pulp::Arch::new();
    arch.dispatch(
        #[inline(always)]
        || {
            let parts = scores.len() / scale;
            let (first, second) = (scores.chunks_exact(scale), scores.chunks_exact(scale));
            // The first part is compared with the last one, and so on.
            let pairs = first.take(parts / 2).zip(second.rev());
            pairs.fold((0.0, 0), |(squares, freedoms), (one, other)| {
                let (mut sum, mut variance) = (0_i32, 0_i32);
                // At most 14² per draw: no overflow for ten million draws.
                for (a, b) in one.iter().zip(other) {
                    let difference = i32::from(*a) - i32::from(*b);
                    sum += difference;
                    variance += difference * difference;
                }
                if variance == 0 {
                    (squares, freedoms) // two equal parts say nothing
                } else {
                    (squares + f64::from(sum).powi(2) / f64::from(variance), freedoms + 1)
                }
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::tests::KeepsLevel;
    use super::*;
    use crate::noise::{Generator, gaussian, laplace};
    use crate::output::Cell;
    use crate::stats::independence::episode::ordered;

    fn scores(draws: impl Iterator<Item = f64>) -> Scores {
        Scores::of(&draws.map(|draw| ordered(Cell::number(draw))).collect::<Vec<_>>())
    }

    #[test]
    fn squares_are_sums_over_pairs_of_parts() {
        // Parts (1, 2), (3, 3), (0, 0), (5, 1), and a rest: differences −4, 1 and 3, 3.
        let (squares, freedoms) = squares(&[1, 2, 3, 3, 0, 0, 5, 1, 9], 2);
        assert_eq!(freedoms, 2);
        assert!((squares - (9.0 / 17.0 + 36.0 / 18.0)).abs() < 1e-12, "{squares}");
        assert_eq!(super::squares(&[1, 1, 1, 1], 2), (0.0, 0));
        assert_eq!(super::squares(&[], 0), (0.0, 0));
    }

    #[test]
    fn a_level_that_stays_for_some_draws_is_found() {
        // A tenth of the variance is a level that lasts 32 draws or 1,000.
        for stays in [32, 1000] {
            let mut rng = Generator::seed_from_u64(stays);
            let mut level = 0.0;
            let draws = (0..30_000).map(|index| {
                if index % stays == 0 {
                    level = gaussian(&mut rng, 0.33);
                }
                level + gaussian(&mut rng, 1.0)
            });
            let found = test_levels(&scores(draws), Aspect::Value, Side::Left, 1e-8);
            assert!(matches!(found, Some(Dependence::Levels(..))), "{stays}: {found:?}");
        }
    }

    #[test]
    fn a_slow_drift_is_found() {
        // From the first draw to the last the level rises by a third of the noise.
        let mut rng = Generator::seed_from_u64(3);
        let draws = (0..30_000).map(|index| f64::from(index) / 90_000.0 + gaussian(&mut rng, 1.0));
        let found = test_levels(&scores(draws), Aspect::Value, Side::Right, 1e-8);
        assert!(matches!(found, Some(Dependence::Levels(_, Side::Right, _))), "{found:?}");
        let said = found.map(|found| found.to_string()).unwrap_or_default();
        assert!(said.contains("the distribution of outputs on right changes over time"), "{said}");
    }

    #[test]
    fn the_test_keeps_its_level() {
        let mut tests = [(); 2].map(|()| KeepsLevel::rarely());
        for seed in 0..KeepsLevel::SAMPLES {
            let mut rng = Generator::seed_from_u64(seed);
            let scores = scores((0..1600).map(|_| (laplace(&mut rng, 1.0) * 2.0).round()));
            for (test, aspect) in tests.iter_mut().zip([Aspect::Value, Aspect::Size]) {
                test.see(test_levels(&scores, aspect, Side::Left, KeepsLevel::ALPHA).is_some());
            }
        }
        tests.iter().for_each(KeepsLevel::check);
    }
}
