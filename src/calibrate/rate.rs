//! A measured rate and its confidence interval.

use crate::stats::binomial::lower_limit;

/// The error probability of an interval on each side. An interval holds with 99 % confidence.
const ALPHA_PER_SIDE: f64 = 0.005;

/// The number of hits in independent trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The number of hits.
    pub hits: u64,
    /// The number of trials.
    pub trials: u64,
}

impl Rate {
    /// The observed rate; 0 without trials.
    #[must_use]
    pub fn observed(self) -> f64 {
        self.hits as f64 / self.trials.max(1) as f64
    }

    /// The Clopper–Pearson interval. It does not contain the true rate in at most one case in a
    /// hundred.
    #[must_use]
    pub fn interval(self) -> (f64, f64) {
        // The upper limit for hits is one minus the lower limit for misses.
        (
            lower_limit(self.hits, self.trials, ALPHA_PER_SIDE),
            1.0 - lower_limit(self.trials - self.hits, self.trials, ALPHA_PER_SIDE),
        )
    }

    /// Whether the whole interval is above a stated rate.
    #[must_use]
    pub fn exceeds(self, stated: f64) -> bool {
        self.interval().0 > stated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::binomial::upper_tail;

    #[test]
    fn at_each_end_of_the_interval_the_observation_is_as_unlikely_as_stated() {
        for (hits, trials) in [(3, 2000), (100, 2000), (1, 1), (7, 20)] {
            let rate = Rate { hits, trials };
            let (low, high) = rate.interval();
            assert!(low < rate.observed() && rate.observed() <= high);
            assert!((upper_tail(hits, trials, low) / 0.005 - 1.0).abs() < 1e-5);
            if hits < trials {
                // P(X ≤ hits) at the upper end.
                assert!(((1.0 - upper_tail(hits + 1, trials, high)) / 0.005 - 1.0).abs() < 1e-5);
            }
        }
    }

    #[test]
    fn without_hits_the_upper_limit_is_still_positive() {
        // None of n: the upper end solves (1 − p)^n = 0.005.
        let (low, high) = Rate { hits: 0, trials: 2000 }.interval();
        assert_eq!(low, 0.0);
        assert!((high - (1.0 - 0.005_f64.powf(1.0 / 2000.0))).abs() < 1e-8);
        assert_eq!(Rate { hits: 0, trials: 0 }.interval(), (0.0, 1.0));
        assert_eq!(Rate { hits: 0, trials: 0 }.observed(), 0.0);
    }
}
