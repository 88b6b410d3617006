//! Random streams. They depend on what is drawn, never on the thread that draws it.

use std::fmt;

use crate::model::Side;
use crate::output::Mix;

/// What the draws are for. No two phases share a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Draws from which rules are learned.
    Explore,
    /// Draws on which the frozen rules are judged.
    Certify,
    /// Draws that check a witness. With any seed, they are different from the draws that made it.
    Replay,
    /// Draws that show which columns the outputs have. Nothing is learned from them, and no rule is
    /// judged on them.
    Probe,
    /// Draws on which an accuracy claim is judged.
    Accuracy,
    /// Draws by which a search for pairs chooses. What it finds is judged on others.
    Search,
}

/// The streams of one pair of one audit in one run.
#[derive(Clone, Copy, Debug)]
pub struct PairStream(u64, u64);

impl PairStream {
    /// Streams for this run seed, audit and pair.
    #[must_use]
    pub fn new(run_seed: u64, audit: &str, pair: &str) -> Self {
        let half = |salt| Mix::new().word(salt).word(run_seed).text(audit).text(pair).end();
        Self(half(1), half(2))
    }

    /// The seed of one side's draws in one batch.
    #[must_use]
    pub fn side(self, phase: Phase, batch: u64, side: Side) -> StreamSeed {
        self.derive(phase, batch, side as u64)
    }

    /// The seed of a batch's coin flips.
    #[must_use]
    pub fn coin(self, phase: Phase, batch: u64) -> StreamSeed {
        self.derive(phase, batch, 2)
    }

    /// The seed of the order in which both sides of a batch take turns.
    #[must_use]
    pub fn order(self, phase: Phase, batch: u64) -> StreamSeed {
        self.derive(phase, batch, 3)
    }

    fn derive(self, phase: Phase, batch: u64, role: u64) -> StreamSeed {
        let half = |key| Mix::new().word(key).word(phase as u64).word(batch).word(role).end();
        StreamSeed {
            halves: (half(self.0), half(self.1)),
            position: StreamPosition { phase, first: 0 },
        }
    }
}

/// The position of a stream's draws among all draws of their side. Needed for outputs that are
/// looked up in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPosition {
    /// The phase.
    pub phase: Phase,
    /// The number of draws of the same side and phase before these.
    pub first: u64,
}

/// The seed of one stream, and the position of its draws. It has 128 bits, so that no two streams
/// of any run are equal by chance.
///
/// Written as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamSeed {
    halves: (u64, u64),
    position: StreamPosition,
}

impl fmt::Display for StreamSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.halves.0, self.halves.1)
    }
}

impl StreamSeed {
    /// The same seed, for draws that come after `first` others of their side.
    #[must_use]
    pub fn after(mut self, first: u64) -> Self {
        self.position.first = first;
        self
    }

    /// The position of the draws.
    #[must_use]
    pub fn place(self) -> StreamPosition {
        self.position
    }

    /// The seed of one part of the stream's draws.
    #[must_use]
    pub fn part(self, index: u64) -> Self {
        let half = |key| Mix::new().word(key).word(index).end();
        Self { halves: (half(self.halves.0), half(self.halves.1)), position: self.position }
    }

    /// The seed in the form that generators need.
    #[must_use]
    pub fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.halves.0.to_le_bytes());
        bytes[8..].copy_from_slice(&self.halves.1.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_input_changes_the_seed() {
        let mut seen = HashSet::new();
        for run in 0..4 {
            for audit in ["a", "b", "ab"] {
                for pair in ["a", "b", ""] {
                    for phase in [
                        Phase::Explore,
                        Phase::Certify,
                        Phase::Replay,
                        Phase::Accuracy,
                        Phase::Search,
                    ] {
                        for batch in 0..16 {
                            let stream = PairStream::new(run, audit, pair);
                            assert!(seen.insert(stream.side(phase, batch, Side::Left).bytes()));
                            assert!(seen.insert(stream.side(phase, batch, Side::Right).bytes()));
                            assert!(seen.insert(stream.coin(phase, batch).bytes()));
                            assert!(seen.insert(stream.order(phase, batch).bytes()));
                            assert!((0..3).all(|part| {
                                seen.insert(
                                    stream.side(phase, batch, Side::Left).part(part).bytes(),
                                )
                            }));
                        }
                    }
                }
            }
        }
    }
}
