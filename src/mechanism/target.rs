//! What the sampler sees of a mechanism: outputs of either side, in batches.

use rand::SeedableRng;
use serde::{Deserialize, Serialize};

use super::{Mechanism, Universe};
use crate::cell::Rows;
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
    /// Cells per output.
    fn width(&self) -> usize;

    /// Draws `count` outputs of one side and hands them to `sink` in chunks.
    ///
    /// # Errors
    /// When the mechanism could not be run as often as asked.
    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError>;
}

/// A Rust mechanism, prepared once for each side.
pub struct InProcess<M> {
    left: M,
    right: M,
}

/// A wider output than this is taken for a slip of the pen.
pub const MOST_CELLS: usize = 100_000;

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
        if target.left.width() > MOST_CELLS {
            return Err(format!("the output has {} cells, must be at most {MOST_CELLS}", target.left.width()));
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

impl<M: Mechanism> Target for InProcess<M> {
    fn width(&self) -> usize {
        self.left.width()
    }

    fn draw(&self, side: Side, count: usize, seed: StreamSeed, sink: &mut dyn FnMut(&Rows)) -> Result<(), TargetError> {
        let mechanism = match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        };
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(self.width());
        let chunk = (CHUNK_CELLS / self.width()).max(1);
        let mut left = count;
        while left > 0 {
            rows.resize(chunk.min(left));
            left -= rows.len();
            for row in &mut rows {
                mechanism.run(&mut rng, row);
            }
            sink(&rows);
        }
        Ok(())
    }
}
