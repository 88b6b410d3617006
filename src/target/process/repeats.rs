//! Notices a program that answers different requests with the same draws.
//!
//! A generator seeded with a constant, or with the time, makes few draws look like many, and bounds from copies are worth nothing. It is an easy
//! mistake, so the beginnings of answers are remembered. Outputs that hardly vary may well repeat and are let pass.
//!
//! Of all answers the [`MOST`] with the smallest hashes are remembered, so that memory does not grow with the draws. A hash does not change with the
//! time at which it comes, so an answer that is among them will be among them when it comes again, or smaller ones have taken its place. What is noticed:
//!
//! - every repetition among the first `MOST` answers, up to 500 million draws;
//! - a generator that starts anew after any number of answers, before it has started anew twice;
//! - `k` equally likely seeds: after about `√k` answers, or `2k/MOST` if that is more. For 32 bits that is 260,000 answers.
//!
//! What is not: a few repeated answers among millions.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::model::Side;
use crate::output::{Cell, Mix, Rows};
use crate::target::StreamSeed;

/// So many outputs at the beginning of an answer are compared.
const COMPARED: usize = 256;

/// So many answers are remembered, in about a megabyte.
const MOST: usize = 1 << 15;

/// The answers of all processes of a pair: a hash of each beginning, and the seed that it was the answer to.
#[derive(Default)]
pub struct Repeats(Mutex<BTreeMap<u64, [u8; 16]>>);

impl Repeats {
    /// Whether the same draws were the answer to another seed, and that cannot be chance: at most half of them are alike, so for two independent
    /// answers to agree has a probability below 1e-30.
    pub fn found(&self, side: Side, seed: StreamSeed, rows: &Rows) -> bool {
        if rows.len() < COMPARED {
            return false;
        }
        let keys: Vec<u64> = rows.iter().take(COMPARED).map(|row| Cell::of_row(row).key()).collect();
        let beginning = keys.iter().fold(Mix::new().word(side as u64), |mix, key| mix.word(*key)).end();
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = *answers.entry(beginning).or_insert(seed.bytes());
        if answers.len() > MOST {
            answers.pop_last();
        }
        drop(answers);
        earlier != seed.bytes() && vary(keys)
    }
}

/// Whether no value makes up more than half.
fn vary(mut keys: Vec<u64>) -> bool {
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b).all(|alike| 2 * alike.len() <= COMPARED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{PairStream, Phase};

    /// The answer to request `index` of a program whose generator was given `stream`.
    fn found(repeats: &Repeats, index: usize, stream: u64) -> bool {
        let mut rows = Rows::new(1);
        rows.resize(COMPARED);
        for (place, row) in rows.iter_mut().enumerate() {
            let word = Mix::new().word(stream).word(place as u64).end();
            row[0] = Cell::number((word >> 11) as f64);
        }
        repeats.found(Side::Left, PairStream::new(0, "", "").side(Phase::Certify, index as u64, Side::Left), &rows)
    }

    fn remembered(repeats: &Repeats) -> usize {
        repeats.0.lock().unwrap().len()
    }

    #[test]
    fn memory_does_not_grow_with_the_answers() {
        let repeats = Repeats::default();
        assert!((0..3 * MOST).all(|index| !found(&repeats, index, index as u64)));
        assert_eq!(remembered(&repeats), MOST);
    }

    #[test]
    fn a_constant_seed_is_noticed_at_once() {
        let repeats = Repeats::default();
        assert!(!found(&repeats, 0, 7));
        assert!(found(&repeats, 1, 7));
    }

    #[test]
    fn the_same_request_may_have_the_same_answer() {
        let repeats = Repeats::default();
        assert!(!found(&repeats, 5, 7));
        assert!(!found(&repeats, 5, 7));
    }

    #[test]
    fn a_generator_that_starts_anew_is_noticed_however_late() {
        for period in [2, 1000, MOST, 2 * MOST + 1] {
            let repeats = Repeats::default();
            let first = (0..2 * period).position(|index| found(&repeats, index, (index % period) as u64)).unwrap();
            assert!(first >= period, "period {period}: after {first}");
        }
    }

    #[test]
    fn few_seeds_are_noticed() {
        // A seed of k is new with probability 1 − i/k after i different ones: √(2·ln(1e6)·k) of them are all different once in a million.
        const SEEDS: u64 = 1 << 20;
        const ENOUGH: usize = 5383;
        assert!(ENOUGH as f64 >= (2.0 * 1e6_f64.ln() * SEEDS as f64).sqrt());
        let repeats = Repeats::default();
        assert!((0..ENOUGH).any(|index| found(&repeats, index, Mix::new().word(index as u64).end() % SEEDS)));
    }
}
