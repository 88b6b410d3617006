//! What the sampler sees of a mechanism: outputs of either side, in batches.

use rand::SeedableRng;
use serde::{Deserialize, Serialize};

use super::panics::caught;
use super::{Mechanism, Universe};
use crate::cell::{Cell, MOST_WIDTH, Rows};
use crate::error::TargetError;
use crate::noise::Generator;
use crate::sample::StreamSeed;
use crate::spec::Dataset;

/// One of the two neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The dataset D.
    Left,
    /// Its neighbour D'.
    Right,
}

/// A mechanism prepared for both datasets of a pair, wherever it runs.
///
/// Batch-wise, so that the inner loop is static code and the registry is dynamic.
pub trait Target: Send + Sync {
    /// Gets ready to draw; returns the cells per output.
    ///
    /// # Errors
    /// When the mechanism cannot be run at all.
    fn open(&self) -> Result<usize, TargetError>;

    /// Draws `count` outputs of one side and hands them to `sink` in chunks.
    ///
    /// # Errors
    /// When the mechanism could not be run as often as asked.
    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError>;

    /// Whether the same seeds have given, and will give, the same draws.
    fn reproducible(&self) -> bool {
        true
    }

    /// Lets go of what only drawing needs; a later draw gets ready again.
    fn close(&self) {}
}

/// A Rust mechanism, prepared once for each side.
pub struct InProcess<M> {
    left: M,
    right: M,
}

/// Cells per chunk: small enough to stay in a core's nearest cache.
const CHUNK_CELLS: usize = 2048;

impl<M: Mechanism> InProcess<M> {
    /// Prepares the mechanism for both datasets.
    ///
    /// # Errors
    /// When the data or the parameters do not fit the mechanism.
    pub fn prepare(params: &M::Params, left: &Dataset, right: &Dataset) -> Result<Self, String> {
        let universe = Universe::of(left, right);
        let target = Self {
            left: M::prepare(params, left, &universe).map_err(|problem| locate("left", problem))?,
            right: M::prepare(params, right, &universe).map_err(|problem| locate("right", problem))?,
        };
        if target.left.width() != target.right.width() {
            return Err(format!(
                "the output has {} cells on left and {} on right; both must be equally wide",
                target.left.width(),
                target.right.width()
            ));
        }
        if target.left.width() > MOST_WIDTH {
            return Err(format!("the output has {} cells, must be at most {MOST_WIDTH}; release less", target.left.width()));
        }
        if target.left.width() == 0 {
            return Err("the output has no cells at all; give the datasets at least one record to report on".to_owned());
        }
        Ok(target)
    }
}

/// Says on which side a problem lies, unless it is with the parameters, which both share.
fn locate(side: &str, problem: String) -> String {
    if problem.starts_with("params") { problem } else { format!("{side}: {problem}") }
}

impl<M: Mechanism> InProcess<M> {
    fn mechanism(&self, side: Side) -> &M {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}

/// So many draws of each side tell whether the mechanism does anything but panic.
const TRIALS: usize = 64;

impl<M: Mechanism> Target for InProcess<M> {
    /// A mechanism that panics whatever the data is perfectly private and of no use: that is a slip, not a pass.
    fn open(&self) -> Result<usize, TargetError> {
        let mut row = Rows::new(self.left.width());
        row.resize(1);
        let mut last = String::new();
        for side in [Side::Left, Side::Right] {
            let mut rng = Generator::seed_from_u64(0);
            for _ in 0..TRIALS {
                match caught(|| run_rows(self.mechanism(side), &mut rng, &mut row)) {
                    Ok(()) => return Ok(self.left.width()),
                    Err(message) => last = message,
                }
            }
        }
        Err(TargetError::AlwaysPanics { message: last })
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        let mechanism = self.mechanism(side);
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(mechanism.width());
        let chunk = (CHUNK_CELLS / mechanism.width()).max(1);
        let mut left = count;
        while left > 0 {
            rows.resize(chunk.min(left));
            left -= rows.len();
            fill(mechanism, &mut rng, &mut rows);
            sink(&rows);
        }
        Ok(())
    }
}

/// Makes one draw for each row. A draw that panics gives a row of the symbol `panic`.
fn fill<M: Mechanism>(mechanism: &M, rng: &mut Generator, rows: &mut Rows) {
    let mut after = rng.clone();
    if caught(|| run_rows(mechanism, &mut after, rows)).is_ok() {
        *rng = after;
        return;
    }
    // The same draws once more, each by itself. Nothing is drawn anew, so the panics are as frequent as they are.
    let mut single = Rows::new(rows.width());
    single.resize(1);
    for row in rows {
        match caught(|| run_rows(mechanism, rng, &mut single)) {
            Ok(()) => row.copy_from_slice(single.row(0)),
            Err(_) => row.fill(Cell::symbol("panic")),
        }
    }
}

/// The only place that calls a mechanism: with a single call the compiler puts its code into the loop, and the generator stays in registers.
#[inline(never)]
fn run_rows<M: Mechanism>(mechanism: &M, rng: &mut Generator, rows: &mut Rows) {
    let mut own = Own { rng: rng.clone(), back: rng };
    rows.iter_mut().for_each(|row| mechanism.run(&mut own.rng, row));
}

/// A generator of one's own, which is given back as it is in the end, also after a panic.
struct Own<'a> {
    rng: Generator,
    back: &'a mut Generator,
}

impl Drop for Own<'_> {
    fn drop(&mut self) {
        self.back.clone_from(&self.rng);
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt};

    use super::*;
    use crate::sample::{PairStream, Phase};

    /// Puts out the low bits of a random word, and panics halfway through a row when asked to.
    struct Fragile {
        panics_below: f64,
    }

    impl Mechanism for Fragile {
        const NAME: &'static str = "fragile";
        const SUMMARY: &'static str = "panics now and then";
        type Params = f64;

        fn prepare(params: &f64, _: &Dataset, _: &Universe) -> Result<Self, String> {
            Ok(Self { panics_below: *params })
        }

        fn width(&self) -> usize {
            2
        }

        fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
            row[0] = Cell::number(f64::from(rng.next_u32() >> 1));
            assert!(rng.random::<f64>() >= self.panics_below, "too low");
            row[1] = Cell::number(f64::from(rng.next_u32() >> 1));
        }
    }

    fn draws(panics_below: f64, count: usize) -> Rows {
        let target = InProcess { left: Fragile { panics_below }, right: Fragile { panics_below } };
        let mut all = Rows::new(2);
        let seed = PairStream::new(1, "fragile", "").side(Phase::Explore, 0, Side::Left);
        target.draw(Side::Left, count, seed, &mut |rows| all.append(rows)).unwrap();
        all
    }

    #[test]
    fn a_panic_is_an_output_and_the_draws_before_it_stay() {
        let (calm, fragile) = (draws(0.0, 5000), draws(0.001, 5000));
        assert_eq!((calm.len(), fragile.len()), (5000, 5000));
        let panic = [Cell::symbol("panic"); 2];
        let first = fragile.iter().position(|row| row == panic).expect("one in a thousand draws panics");
        assert!(calm.iter().zip(&fragile).take(first).all(|(one, other)| one == other));
        assert!(fragile.iter().all(|row| row == panic || row.iter().all(|cell| cell.as_number().is_some())), "no half-written row");
    }

    #[test]
    fn panics_are_as_frequent_as_they_are() {
        // 100,000 draws at ¼: the standard error is 137; 5 of these is a false alarm of 6e-7.
        let rows = draws(0.25, 100_000);
        let panics = rows.iter().filter(|row| row[0] == Cell::symbol("panic")).count();
        assert!((panics as f64 - 25_000.0).abs() < 5.0 * 137.0, "{panics} panics in 100,000 draws");
    }

    #[test]
    fn a_mechanism_that_only_panics_cannot_be_run() {
        let opened = |left, right| InProcess { left: Fragile { panics_below: left }, right: Fragile { panics_below: right } }.open();
        assert_eq!(opened(2.0, 2.0), Err(TargetError::AlwaysPanics { message: "too low".to_owned() }));
        assert_eq!(opened(2.0, 0.0), Ok(2), "if only one side panics, that is a leak to be found");
        assert_eq!(opened(0.5, 0.5), Ok(2));
    }
}
