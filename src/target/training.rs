//! Training with canaries: what a canary audit needs of a mechanism.

use super::{StreamSeed, TargetError};

/// A mechanism that trains on data with canaries in it.
///
/// The coins come from the audit, so they are fair and independent, and only the training sees them.
pub trait Training: Send + Sync {
    /// Trains once and returns the scores of all canaries, high where it seems to have been in.
    ///
    /// `coins` has one list for a whole run, or one for each step if each step has fresh coins. A
    /// list says of each canary whether it is in. The scores have the same shape. They may depend
    /// on everything that is released and on all canaries, but on the coins only through what was
    /// trained.
    ///
    /// # Errors
    /// When it could not train.
    fn train(&self, coins: &[Vec<bool>], seed: StreamSeed) -> Result<Vec<Vec<f64>>, TargetError>;

    /// Whether the same seed gives the same scores.
    fn reproducible(&self) -> bool {
        true
    }
}
