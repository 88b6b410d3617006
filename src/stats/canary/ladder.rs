//! The best of several numbers of guesses under (ε, δ).
//!
//! *Any adaptivity.* Let the next canary and its guess depend on the output and on all coins that
//! were revealed. Let `q = e^ε/(1 + e^ε)` and `π_i = P[S_i = in | output, other coins]`. Where p₁ and
//! p₀ are the densities of the output with and without canary i,
//!
//! ```text
//! E(π_i − q)₊ = ½·∫(p₁ − q(p₁ + p₀))₊ = ½·(1 − q)·∫(p₁ − e^ε·p₀)₊ ≤ ½·(1 − q)·δ
//! ```
//!
//! and the same for `1 − π_i`. So given the past a guess is right with probability at most `q + ξ`,
//! and the ξ of all guesses have means that sum to at most `m·(1 − q)·δ = m·δ/(1 + e^ε)`. The chance
//! V ∈ [0, 1] that a walk with steps of probability q still crosses a boundary grows by at most ξ in
//! the mean, so for every boundary
//!
//! ```text
//! P[right guesses ever cross] ≤ P[walk of Bernoulli(q) crosses] + m·δ/(1 + e^ε)
//! ```
//!
//! *One size that is not fixed.* Let the attacker decide how many guesses to make from all that is
//! released: its threshold was chosen beforehand, and the number of scores beyond it was not. The walk
//! of that many steps is above its own boundary with probability at most a, whatever the number, so
//! the same argument gives `P[p-value of the binomial ≤ a] ≤ a + m·δ/(1 + e^ε)`.
//!
//! *Ladder.* Sizes grow geometrically. The boundary at each size is where the binomial p-value falls
//! to a common level; the level comes from the exact crossing probability. Where the term of δ would
//! take too much of α, each size has the sharp bound of `count.rs` and an equal share of α.
//!
//! *Up to the bound.* Values of ε are divided into fixed intervals `(low, high]`. An interval has the
//! boundary of its upper end, which a walk with a smaller q crosses less often, and the term of δ of
//! its lower end, which is the larger one. So one crossing refutes all values of the interval. The
//! bound is the upper end of the last interval up to which all are refuted. It exceeds the truth only
//! if the interval of the truth is refuted: probability at most α.

use super::count::count_p;
use super::walk::{crossing, height};
use super::{Counted, FIRST_SIZE, SIZE_RATIO, SPENT, Trial};
use crate::stats::binomial::{logistic, upper_tail};

/// The ratio of the ends of an interval. A bound is too small by this factor at most.
const STEP: f64 = 1.0025;

/// Values below this are one interval.
const LEAST: f64 = 1e-3;

/// No ε above this is shown.
const LARGEST: f64 = 64.0;

/// Intervals that are tried at once.
const LONGEST_LEAP: f64 = 1024.0;

/// Above this share of α for the term of δ, each size is judged for itself.
const DELTA_SHARE: f64 = 0.25;

/// The sizes at which guesses are counted, and the right ones among them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ladder {
    canaries: f64,
    sizes: Vec<u64>,
    correct: Vec<u64>,
    /// Whether the only size depends on what was released.
    is_open: bool,
}

/// The numbers of guesses to look at: geometric, and all of them.
#[must_use]
pub fn sizes(guesses: u64, ratio: f64) -> Vec<u64> {
    let mut sizes = Vec::new();
    let mut size = FIRST_SIZE;
    while size.round() < guesses as f64 {
        // A positive number below `guesses`.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        sizes.push(size.round() as u64);
        size *= ratio;
    }
    sizes.push(guesses);
    sizes.dedup();
    sizes
}

impl Ladder {
    /// The ladder of these guesses.
    #[must_use]
    pub fn new(trial: &Trial) -> Self {
        let sizes = sizes(trial.canaries(), SIZE_RATIO);
        let correct = trial.correct_at(&sizes);
        let canaries = trial.sides().effective(trial.canaries());
        Self { canaries, sizes, correct, is_open: false }
    }

    /// One number of guesses, fixed beforehand.
    #[must_use]
    pub fn single(counted: Counted) -> Self {
        let Counted { canaries, guesses, correct } = counted;
        Self { canaries, sizes: vec![guesses], correct: vec![correct], is_open: false }
    }

    /// One number of guesses, which the attacker decided from what was released.
    #[must_use]
    pub fn open(counted: Counted) -> Self {
        Self { is_open: true, ..Self::single(counted) }
    }

    /// The sizes, each with its right guesses.
    pub fn rungs(&self) -> impl Iterator<Item = Counted> {
        let canaries = self.canaries;
        let rungs = self.sizes.iter().zip(&self.correct);
        rungs.map(move |(guesses, correct)| Counted {
            canaries,
            guesses: *guesses,
            correct: *correct,
        })
    }

    /// The term of δ.
    fn leak(&self, epsilon: f64, delta: f64) -> f64 {
        self.canaries * delta * logistic(-epsilon)
    }

    /// The smallest binomial p-value of all sizes.
    fn level(&self, epsilon: f64) -> f64 {
        let q = logistic(epsilon);
        let rungs = self.sizes.iter().zip(&self.correct);
        rungs.map(|(size, correct)| upper_tail(*correct, *size, q)).fold(1.0, f64::min)
    }

    /// Whether every ε in `(low, high]` is refuted at this δ; with `low = 0`, 0 as well.
    fn refutes(&self, low: f64, high: f64, delta: f64, alpha: f64) -> bool {
        if self.refutes_all(low, high, high, delta, alpha) {
            return true;
        }
        let left = alpha - self.leak(low, delta);
        let level = self.level(high);
        // The crossing probability is at least the level.
        if self.is_judged_by_size(high, delta, alpha) || level > left {
            return false;
        }
        // Rounding must not take the data's own size out.
        let (q, level) = (logistic(high), level * (1.0 + 1e-9));
        let heights: Vec<u64> = self.sizes.iter().map(|size| height(*size, q, level)).collect();
        crossing(&self.sizes, &heights, q) <= left
    }

    /// Whether the union bound refutes all intervals of `(low, last]`, of which the first one ends at
    /// `first`. Binomial p-values and the sharp bound grow with ε, and the term of δ falls. So it
    /// is enough to take the former at the upper end of all and the latter at the lower end.
    fn refutes_all(&self, low: f64, first: f64, last: f64, delta: f64, alpha: f64) -> bool {
        let rungs = self.sizes.len() as f64;
        if self.is_judged_by_size(last, delta, alpha) {
            let least = self.rungs().map(|rung| count_p(rung, last, delta)).fold(1.0, f64::min);
            return rungs * least <= alpha;
        }
        !self.is_judged_by_size(first, delta, alpha)
            && rungs * self.level(last) <= alpha - self.leak(low, delta)
    }

    /// Whether the interval that ends here is judged by the sharp bound of each size. For one size it
    /// is never larger than that of the walk.
    fn is_judged_by_size(&self, high: f64, delta: f64, alpha: f64) -> bool {
        !self.is_open && (self.sizes.len() == 1 || self.leak(high, delta) > DELTA_SHARE * alpha)
    }

    /// The largest ε at this δ up to which every value is refuted; 0 if none is. Intervals end at
    /// `claimed` and at its multiples by powers of 1.0025.
    #[must_use]
    pub fn epsilon_lower(&self, delta: f64, alpha: f64, claimed: f64) -> f64 {
        let alpha = alpha * SPENT;
        let claimed = if claimed > 0.0 && claimed < LARGEST { claimed } else { 1.0 };
        let below = ((claimed / LEAST).ln() / STEP.ln()).max(0.0).floor();
        // The claim itself is met exactly.
        let end = |power: f64| if power == 0.0 { claimed } else { claimed * STEP.powf(power) };
        let (mut low, mut power, mut leap) = (0.0, -below, LONGEST_LEAP);
        while end(power) <= LARGEST {
            let (first, last) = (end(power), end(power + leap));
            let by_size = self.is_judged_by_size(first, delta, alpha);
            if leap > 0.0 && self.refutes_all(low, first, last, delta, alpha) {
                (low, power) = (last.min(LARGEST), power + leap + 1.0);
            } else if leap >= 1.0 {
                leap = (leap / 2.0).floor();
            } else if self.refutes(low, first, delta, alpha) {
                (low, power) = (first, power + 1.0);
                // Behind the last interval of the one test, leaps may be long again.
                if by_size && !self.is_judged_by_size(end(power), delta, alpha) {
                    leap = LONGEST_LEAP;
                }
            } else {
                break;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(canaries: u64, share: f64) -> Ladder {
        let sizes = sizes(canaries, SIZE_RATIO);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let correct = sizes.iter().map(|size| (*size as f64 * share) as u64).collect();
        Ladder { canaries: canaries as f64, sizes, correct, is_open: false }
    }

    #[test]
    fn sizes_are_geometric_and_end_with_all_guesses() {
        assert_eq!(sizes(100, 1.6), [8, 13, 20, 33, 52, 84, 100]);
        assert_eq!(sizes(8, 1.6), [8]);
        assert_eq!(sizes(3, 1.6), [3]);
    }

    #[test]
    fn the_claim_is_an_end_of_an_interval() {
        let found = ladder(1000, 0.9).epsilon_lower(1e-6, 0.05, 1.0);
        for claimed in [found, 0.7 * found, 3.0, 0.0, 1e-5, 1e9] {
            let other = ladder(1000, 0.9).epsilon_lower(1e-6, 0.05, claimed);
            assert!((other / found - 1.0).abs() < 0.006, "{other} against {found} at {claimed}");
        }
        // The bound does not fall below a claim that it refutes.
        let claimed = 0.999 * found;
        assert!(ladder(1000, 0.9).epsilon_lower(1e-6, 0.05, claimed) >= claimed);
    }

    #[test]
    fn bounds_grow_with_the_right_guesses_and_with_alpha_and_fall_with_delta() {
        let mut last = 0.0;
        for share in [0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0] {
            let bound = |delta, alpha| ladder(2000, share).epsilon_lower(delta, alpha, 1.0);
            let found = bound(1e-6, 0.05);
            assert!(found >= last && bound(1e-6, 0.01) <= found && bound(1e-4, 0.05) <= found);
            last = found;
        }
        assert!(last > 5.0);
        assert_eq!(ladder(2000, 0.5).epsilon_lower(1e-6, 0.05, 1.0), 0.0);
    }

    #[test]
    fn a_number_of_guesses_that_is_not_fixed_costs_the_larger_term_of_delta() {
        for (correct, delta) in [(95, 0.0), (95, 1e-6), (95, 1e-5), (100, 1e-4)] {
            let counted = Counted { canaries: 1000.0, guesses: 100, correct };
            let fixed = Ladder::single(counted).epsilon_lower(delta, 0.05, 1.0);
            let open = Ladder::open(counted).epsilon_lower(delta, 0.05, 1.0);
            assert!(open <= fixed && (delta > 0.0 || open == fixed), "{open} against {fixed}");
            // The definition: the tail and the term of δ together are α, but for a step of the grid.
            let p = |epsilon: f64| {
                let q = logistic(epsilon);
                upper_tail(correct, 100, q) + 1000.0 * delta * (1.0 - q)
            };
            assert!(p(open * 0.997) <= 0.05 && (p(open * 1.006) > 0.05 || open == 0.0), "{open}");
        }
        // With mδ above α nothing is shown at small ε, and so nothing at all.
        let counted = Counted { canaries: 1000.0, guesses: 100, correct: 100 };
        assert_eq!(Ladder::open(counted).epsilon_lower(1e-3, 0.05, 1.0), 0.0);
    }

    #[test]
    fn with_all_guesses_right_the_bound_is_that_of_one_binomial() {
        // q^m = α, so e^ε = q/(1 − q).
        for canaries in [10, 100, 1000, 10_000, 100_000_u64] {
            let q = (0.05_f64.ln() / canaries as f64).exp();
            let exact = (q / (1.0 - q)).ln();
            let found = ladder(canaries, 1.0).epsilon_lower(0.0, 0.05, 1.0);
            assert!(found <= exact && found > exact * 0.997, "{canaries}: {found} of {exact}");
        }
    }
}
