//! Windows of draws that occur twice.
//!
//! If two draws are equal with probability `q`, then the largest atom has probability at most `√q`,
//! and two given windows of `s` draws are equal with probability at most `q^(s/2)`, whether they
//! overlap or not. With an upper limit on `q`, the test chooses `s` so large that `n²/2 · q^(s/2)`
//! is negligible. A window that still occurs twice comes from a stream that was restarted.

use super::episode::Episode;
use super::found::Dependence;
use crate::model::Side;
use crate::output::Mix;
use crate::stats::binomial::lower_limit;

/// This many windows at the beginning are all kept. Of the later ones, one in 2^[`SPARSE`] is kept.
/// The content decides which, so that equal windows are treated alike.
const DENSE: usize = 1024;
const SPARSE: u32 = 3;

/// The exact test for windows of draws that occur twice.
pub(super) fn test_repeats(
    episodes: &[Episode],
    side: Side,
    track: usize,
    alpha: f64,
) -> Option<Dependence> {
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

    use super::super::tests::batch;
    use super::*;
    use crate::noise::Generator;

    #[test]
    fn windows_are_just_long_enough_that_chance_does_not_repeat_them() {
        let alpha = 1.5e-8;
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
                    test_repeats(&[batch(Side::Left, &draws)], Side::Left, 0, alpha),
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
}
