//! Canary audits: bounds on the leak of a training run from guesses which canaries were in it.
//!
//! Each of m canaries is put into the training data by its own fair coin. After training, an attacker
//! guesses from scores which were in. If too many of the surest guesses are right, the claim is
//! refuted. One run is enough, because each canary is a pair of neighbours of its own; what makes the
//! statistics hard is that all of them see the same noise.
//!
//! | file | |
//! |---|---|
//! | `trial.rs` | scores and coins → guesses, the surest first |
//! | `count.rs` | a fixed number of guesses under (ε, δ): the sharp bound |
//! | `walk.rs` | how often a walk crosses a boundary: exact |
//! | `ladder.rs` | the best of several numbers of guesses under (ε, δ) |
//! | `curve.rs` | what a claim in any unit allows: its trade-off curve |
//! | `share.rs` | a fixed number of guesses under a trade-off curve |
//! | `planned.rs` | that number, from the claim alone |
//! | `several.rs` | several runs, or the steps of one run with fresh coins |
//! | `bound.rs` | the bound in the unit of the claim, its ceiling, the canaries it needs |
//!
//! *What is assumed.* The coins are fair and independent, and nobody but the mechanism has seen them.
//! The scores are computed from what the mechanism releases and from all canaries, in and out alike,
//! but not from the coins. Any dependence between scores is allowed.

mod bound;
mod count;
mod curve;
mod ladder;
mod planned;
mod several;
mod share;
mod trial;
mod walk;

pub use bound::{
    CanaryBound, canary_bound, ceiling, counted_bound, needed_canaries, open_bound, rung_bounds,
    together,
};
pub use count::count_p;
pub use curve::Curve;
pub use ladder::Ladder;
pub use planned::planned_guesses;
pub use several::{several_lower, several_p};
pub use share::{share_lower, share_p};
pub use trial::{Counted, Sides, Trial};

/// The smallest number of guesses of a ladder: fewer show little.
const FIRST_SIZE: f64 = 8.0;

/// The ratio of successive sizes of a ladder. Between 1.4 and 2 the bounds of Gaussian scores differ by
/// about 1 %: more sizes cost α, fewer miss the best one.
const SIZE_RATIO: f64 = 1.6;

/// The ratio of the sizes that are compared when the number of guesses is planned.
const PLANNED_RATIO: f64 = 1.4;

/// How many times the claim the leak is that the number of guesses is planned for. A leak of exactly
/// the claim cannot be refuted, and the larger the leak, the less the number matters.
const PLANNED_EXCESS: f64 = 1.5;

/// Up to this number, runs are combined by Fisher's method. It loses power if each of many runs shows
/// little.
const MOST_FISHER: usize = 10;

/// The share of α that is spent; the rest absorbs rounding errors.
const SPENT: f64 = 1.0 - 1e-6;
