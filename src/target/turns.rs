//! In which order the draws of both sides are made.
//!
//! A mechanism may change while it is audited: a counter grows, a cache fills, a machine warms up.
//! If all draws of one side came first, such a change would look like a difference between the
//! sides. So both sides take turns in a random order that only the run's seed decides. It changes
//! when a draw is made, never what is drawn: each side has its own streams.

use rand::{Rng, SeedableRng};

use super::StreamSeed;
use crate::model::Side;
use crate::noise::Generator;

/// The draws of one side in a batch.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// How many draws.
    pub count: usize,
    /// The seed of their stream.
    pub seed: StreamSeed,
}

/// A random order in which the sides take turns.
pub struct Turns(Generator);

impl Turns {
    /// The order that belongs to this seed.
    #[must_use]
    pub fn new(order: StreamSeed) -> Self {
        Self(Generator::from_seed(order.bytes()))
    }

    /// Both sides, either of them first.
    pub fn both(&mut self) -> [Side; 2] {
        if self.0.next_u64() >> 63 == 0 { Side::BOTH } else { [Side::Right, Side::Left] }
    }

    /// Work of both sides in turns: the first piece of each side in random order, then the second
    /// of each, and so on. Pieces at the same place have about as many draws, so a slow change
    /// meets both sides alike.
    #[must_use]
    pub fn interleave<T>(mut self, pieces: [Vec<T>; 2]) -> Vec<(Side, T)> {
        let [left, right] = pieces;
        let mut all = Vec::with_capacity(left.len() + right.len());
        let (mut left, mut right) = (left.into_iter(), right.into_iter());
        loop {
            let before = all.len();
            for side in self.both() {
                let piece = match side {
                    Side::Left => left.next(),
                    Side::Right => right.next(),
                };
                all.extend(piece.map(|piece| (side, piece)));
            }
            if all.len() == before {
                return all;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{PairStream, Phase};

    fn turns(batch: u64) -> Turns {
        Turns::new(PairStream::new(1, "turns", "").order(Phase::Certify, batch))
    }

    #[test]
    fn every_piece_has_one_turn_and_sides_stay_close() {
        let pieces = [(0..100).collect::<Vec<_>>(), (0..97).collect()];
        let order = turns(0).interleave(pieces.clone());
        for side in Side::BOTH {
            let own = order.iter().filter(|(of, _)| *of == side).map(|(_, piece)| *piece);
            assert!(own.eq(pieces[side as usize].iter().copied()), "in the order of its side");
        }
        // Before each turn, one side is at most one piece ahead of the other.
        let mut ahead = 0_i32;
        for (side, _) in &order[..194] {
            ahead += if *side == Side::Left { 1 } else { -1 };
            assert!(ahead.abs() <= 1);
        }
    }

    #[test]
    fn either_side_comes_first() {
        // Fair coins: 1,000 of them show 400 to 600 heads, except with probability 2e-10.
        let first = (0..1000).filter(|batch| turns(*batch).both()[0] == Side::Left).count();
        assert!((400..=600).contains(&first), "{first}");
    }
}
