//! Where candidates come from.

use crate::audit::Pair;
use crate::noise::Generator;

/// A source of pairs of neighbours. It may be a domain, a generator function or anything else; the
/// datasets may be of any type.
pub trait PairSource {
    /// A candidate: two neighbours.
    type Pair: Clone + Send + Sync;

    /// The next candidate. `promising` are the best ones so far, the best first. `None` if there
    /// are no more.
    fn next(&mut self, rng: &mut Generator, promising: &[Self::Pair]) -> Option<Self::Pair>;

    /// The candidate as a pair of an audit with this name, for reports. Data that has no notation
    /// in audit files may be left out.
    fn pair(&self, candidate: &Self::Pair, name: String) -> Pair;

    /// In short what it is: `one outlier, nan added last`.
    fn origin(&self, candidate: &Self::Pair) -> String;

    /// Neighbours that are smaller than these, those that save most first. Each must be strictly
    /// smaller in some order without infinite descent. None if this source cannot shrink.
    fn smaller(&self, _: &Self::Pair) -> Vec<Self::Pair> {
        Vec::new()
    }
}
