//! Detects a program that answers different requests with the same draws.
//!
//! A generator that is seeded with a constant, or with the time, makes a few draws look like many,
//! and bounds from copies are invalid. This is an easy mistake, so the beginnings of answers are
//! compared. Outputs that hardly vary can repeat by chance and are not reported.
//!
//! Only the [`MAX_REMEMBERED`] answers with the smallest hashes are remembered, so that memory does
//! not grow with the draws. The same answer always has the same hash. So a remembered answer is
//! still remembered when it comes again, unless answers with smaller hashes have replaced it. It
//! detects:
//!
//! - every repetition among the first `MAX_REMEMBERED` answers, up to 500 million draws;
//! - a generator that restarts after any number of answers, before it has restarted twice;
//! - `k` equally likely seeds: after about `√k` answers, or `2k/MAX_REMEMBERED` if that is more.
//!   For 32 bits that is 260,000 answers.
//!
//! It does not detect a few repeated answers among millions.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::model::Side;
use crate::output::{Cell, Mix, Rows};
use crate::target::StreamSeed;
use crate::target::columns::FIRST_OUTPUTS;

/// The number of outputs at the beginning of an answer that are compared. A process shows as many
/// before anything is judged.
const COMPARED: usize = FIRST_OUTPUTS;

/// The same for outputs that are all different, for example numbers with a density.
const COMPARED_IF_DISTINCT: usize = 32;

/// The number of remembered answers. They need about a megabyte.
const MAX_REMEMBERED: usize = 1 << 15;

/// The answers of all processes of a pair: a hash of each beginning, and the seed of its request.
#[derive(Default)]
pub struct RepeatDetector(Mutex<BTreeMap<u64, [u8; 16]>>);

impl RepeatDetector {
    /// Whether the same draws were already the answer to another seed, and this is not chance: two
    /// independent answers with such a [beginning](telling_beginning) agree with a probability
    /// below 1e-30.
    pub fn is_repeat(&self, side: Side, seed: StreamSeed, rows: &Rows) -> bool {
        let keys: Vec<u64> =
            rows.iter().take(COMPARED).map(|row| Cell::of_row(row).key()).collect();
        let Some(beginning) = telling_beginning(&keys) else { return false };
        let hash =
            beginning.iter().fold(Mix::new().word(side as u64), |mix, key| mix.word(*key)).end();
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = *answers.entry(hash).or_insert(seed.bytes());
        if answers.len() > MAX_REMEMBERED {
            answers.pop_last();
        }
        drop(answers);
        earlier != seed.bytes()
    }
}

/// The beginning of an answer, if it does not repeat by chance. It depends only on the outputs in
/// it and whether they are that many, so answers of different lengths can be compared.
///
/// - 32 outputs that are all different. Two independent answers are this sequence with probability
///   `∏ p_i²`. Let `e` be the sum of `∏ p_i` over all sets of 32 values. As `32!·e ≤ (∑ p_i)^32 =
///   1`, all such sequences together have at most `32!·e² ≤ 1/32!`, below 1e-35.
/// - 256 outputs, at most half of them equal: 2^-128 or less.
fn telling_beginning(keys: &[u64]) -> Option<&[u64]> {
    let most_equal = |keys: &[u64]| {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        keys.chunk_by(|a, b| a == b).map(<[u64]>::len).max().unwrap_or(0)
    };
    let short = keys.get(..COMPARED_IF_DISTINCT).filter(|keys| most_equal(keys) == 1);
    short.or_else(|| keys.get(..COMPARED).filter(|keys| 2 * most_equal(keys) <= COMPARED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{PairStream, Phase};

    /// Whether the answer to request `index` is reported, from a program whose generator has the
    /// seed `stream`.
    fn is_repeat(repeats: &RepeatDetector, index: usize, stream: u64) -> bool {
        let mut rows = Rows::new(1);
        rows.resize(COMPARED);
        for (position, row) in rows.iter_mut().enumerate() {
            let word = Mix::new().word(stream).word(position as u64).end();
            row[0] = Cell::number((word >> 11) as f64);
        }
        repeats.is_repeat(
            Side::Left,
            PairStream::new(0, "", "").side(Phase::Certify, index as u64, Side::Left),
            &rows,
        )
    }

    fn remembered(repeats: &RepeatDetector) -> usize {
        repeats.0.lock().unwrap().len()
    }

    #[test]
    fn answers_of_different_lengths_are_compared_and_chance_is_not_reported() {
        let repeats = |one: &[u64], other: &[u64]| {
            let rows = |values: &[u64]| {
                let mut rows = Rows::new(1);
                rows.resize(values.len());
                rows.iter_mut()
                    .zip(values)
                    .for_each(|(row, value)| row[0] = Cell::number(*value as f64));
                rows
            };
            let (detector, seed) = (RepeatDetector::default(), |index| {
                PairStream::new(0, "", "").side(Phase::Certify, index, Side::Left)
            });
            assert!(!detector.is_repeat(Side::Left, seed(0), &rows(one)));
            detector.is_repeat(Side::Left, seed(1), &rows(other))
        };
        let count: Vec<u64> = (0..300).collect();
        assert!(repeats(&count[..40], &count[..32]));
        assert!(!repeats(&count[..31], &count[..31]), "too few");
        let digits: Vec<u64> = (0..300).map(|index| Mix::new().word(index).end() % 4).collect();
        assert!(repeats(&digits[..256], &digits));
        assert!(!repeats(&digits[..255], &digits[..255]), "too few that vary so little");
        let rare: Vec<u64> = (0..300).map(|index| u64::from(index % 3 == 0)).collect();
        assert!(!repeats(&rare, &rare), "two thirds are equal");
    }

    #[test]
    fn memory_does_not_grow_with_the_answers() {
        let repeats = RepeatDetector::default();
        assert!((0..3 * MAX_REMEMBERED).all(|index| !is_repeat(&repeats, index, index as u64)));
        assert_eq!(remembered(&repeats), MAX_REMEMBERED);
    }

    #[test]
    fn a_constant_seed_is_detected_at_once() {
        let repeats = RepeatDetector::default();
        assert!(!is_repeat(&repeats, 0, 7));
        assert!(is_repeat(&repeats, 1, 7));
    }

    #[test]
    fn the_same_request_may_have_the_same_answer() {
        let repeats = RepeatDetector::default();
        assert!(!is_repeat(&repeats, 5, 7));
        assert!(!is_repeat(&repeats, 5, 7));
    }

    #[test]
    fn a_generator_that_restarts_is_detected_at_any_time() {
        for period in [2, 1000, MAX_REMEMBERED, 2 * MAX_REMEMBERED + 1] {
            let repeats = RepeatDetector::default();
            let first = (0..2 * period)
                .position(|index| is_repeat(&repeats, index, (index % period) as u64))
                .unwrap();
            assert!(first >= period, "period {period}: after {first}");
        }
    }

    #[test]
    fn few_seeds_are_detected() {
        // After i different seeds out of k, the next one is new with probability 1 − i/k. So
        // √(2·ln(1e6)·k) seeds are all different with a probability of one in a million.
        const SEEDS: u64 = 1 << 20;
        const ENOUGH: usize = 5383;
        assert!(ENOUGH as f64 >= (2.0 * 1e6_f64.ln() * SEEDS as f64).sqrt());
        let repeats = RepeatDetector::default();
        assert!((0..ENOUGH).any(|index| is_repeat(
            &repeats,
            index,
            Mix::new().word(index as u64).end() % SEEDS
        )));
    }
}
