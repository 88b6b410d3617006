//! Finds the pair: searches for neighbours on which a claim fails.
//!
//! ```text
//!  domain                       what a dataset may be (model/domain.rs)
//!     │  values.rs              landmarks, nasty values, random ones
//!     │  starts.rs              structures of datasets and moves to a neighbour: the first candidates
//!     │  change.rs              mutation and crossing of what looks promising
//!     ▼
//!  candidates                   source.rs: any source of them will do
//!     │  promise.rs             a few draws → the expected bound, as a share of the claim
//!     │  race.rs                successive halving: the better half gets twice as many draws
//!     ▼
//!  frozen pairs                 find.rs: certified on fresh draws, each with its own share of α
//!     │  shrink.rs, smaller.rs  fewer records and simpler values, while the claim stays refuted
//!     ▼
//!  the smallest pair            certified once more; notation.rs writes it as TOML
//! ```
//!
//! Only what is frozen is judged, and only on draws that the search has not seen. So however many
//! candidates were tried, the run's confidence holds: see "Search" in `DESIGN.md`.

mod change;
mod domain_pairs;
mod find;
mod found;
mod genome;
mod notation;
mod promise;
mod race;
mod shrink;
mod smaller;
mod source;
mod starts;
mod values;

pub use domain_pairs::{DataPair, DomainPairs};
pub use find::{Arena, Effort, FINALISTS, MakeTarget, SHARES, search};
pub use found::{Finalist, Found, SearchError};
pub use notation::pair_toml;
pub use source::PairSource;
