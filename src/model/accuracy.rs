//! Claims about accuracy: an event has at least a certain probability.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::checked::{Positive, Share};
use super::number::{Brief, round_down};
use super::{Reason, Verdict};

/// The default resolution of an accuracy claim: a failure probability that is a tenth above what is
/// allowed should be told from it.
const DEFAULT_RESOLUTION: f64 = 0.1;

/// Where no failure is allowed, a share of the allowed failures is no measure. Then this part of
/// the resolution is the failure probability that should be noticed: one in 10,000 by default.
const OF_CERTAINTY: f64 = 1e-3;

/// The promise that an event has at least this probability, and how precisely it is to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccuracyClaim {
    /// The event has at least this probability.
    pub probability: Share,
    /// The excess over the allowed failure probability that should be noticed, as a share of it;
    /// 0.1 when absent.
    #[serde(default)]
    pub resolution: Option<Positive>,
}

/// What is known about the failure probability of an event. Both limits hold at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureLimits {
    /// It is at least this.
    pub lower: f64,
    /// It is at most this.
    pub upper: f64,
}

impl fmt::Display for FailureLimits {
    /// Both limits, rounded outwards.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", Brief(round_down(self.lower, 4)), Brief(-round_down(-self.upper, 4)))
    }
}

impl AccuracyClaim {
    /// The failure probability that the claim allows.
    #[must_use]
    pub fn allowed(self) -> f64 {
        1.0 - self.probability.get()
    }

    /// The failure probability that an audit must exclude before it calls the claim consistent.
    #[must_use]
    pub fn noticed(self) -> f64 {
        let resolution = self.resolution.map_or(DEFAULT_RESOLUTION, Positive::get);
        let allowed = self.allowed();
        if allowed > 0.0 {
            (allowed * (1.0 + resolution)).min(1.0)
        } else {
            (resolution * OF_CERTAINTY).min(1.0)
        }
    }

    /// How much of the allowed failures was seen: the lower limit divided by what is allowed. Above
    /// 1 the claim is refuted. Infinite if no failure is allowed and one was seen.
    #[must_use]
    pub fn reach(self, limits: FailureLimits) -> f64 {
        if limits.lower > 0.0 { limits.lower / self.allowed() } else { 0.0 }
    }

    /// The verdict. Unlike a privacy claim, an accuracy claim is about one dataset and one event,
    /// so it can be confirmed up to the resolution.
    #[must_use]
    pub fn verdict(self, limits: FailureLimits) -> Verdict {
        if limits.lower > self.allowed() {
            Verdict::Violated
        } else if limits.upper <= self.noticed() {
            Verdict::Consistent
        } else {
            Verdict::Inconclusive(Reason::TooFewDraws)
        }
    }

    /// Whether the limits exclude the exact probability of the event. The reason is a wrong truth
    /// in the file, an error in this program, or the rare bad luck that the confidence allows.
    #[must_use]
    pub fn excludes(truth: Share, limits: FailureLimits) -> bool {
        let failure = 1.0 - truth.get();
        limits.lower > failure || limits.upper < failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(probability: f64, resolution: Option<f64>) -> AccuracyClaim {
        let resolution = resolution.map(|resolution| resolution.try_into().unwrap());
        AccuracyClaim { probability: probability.try_into().unwrap(), resolution }
    }

    fn limits(lower: f64, upper: f64) -> FailureLimits {
        FailureLimits { lower, upper }
    }

    #[test]
    fn limits_above_below_and_around_what_is_allowed() {
        // A quarter may fail; the sums are exact in binary.
        let claim = claim(0.75, Some(0.5));
        let too_few = Verdict::Inconclusive(Reason::TooFewDraws);
        assert_eq!(claim.verdict(limits(0.25_f64.next_up(), 0.5)), Verdict::Violated);
        assert_eq!(claim.verdict(limits(0.25, 0.5)), too_few);
        assert_eq!(claim.verdict(limits(0.0, 0.375_f64.next_up())), too_few);
        assert_eq!(claim.verdict(limits(0.0, 0.375)), Verdict::Consistent);
        assert_eq!(
            claim.verdict(limits(0.0, f64::NAN)),
            too_few,
            "a number that cannot be compared is never enough"
        );
        assert_eq!(
            [limits(0.125, 0.2), limits(0.5, 0.6)].map(|limits| claim.reach(limits)),
            [0.5, 2.0]
        );
        assert_eq!(super::AccuracyClaim { resolution: None, ..claim }.noticed(), 0.25 * 1.1);
    }

    #[test]
    fn certainty_is_refuted_by_one_failure_and_confirmed_up_to_a_small_probability() {
        let certain = claim(1.0, None);
        assert_eq!(certain.verdict(limits(1e-12, 0.1)), Verdict::Violated);
        assert_eq!(certain.verdict(limits(0.0, 1e-4)), Verdict::Consistent);
        assert_eq!(certain.verdict(limits(0.0, 2e-4)), Verdict::Inconclusive(Reason::TooFewDraws));
        assert_eq!(
            [limits(1e-12, 0.1), limits(0.0, 0.1)].map(|limits| certain.reach(limits)),
            [f64::INFINITY, 0.0]
        );
        // A claim of nothing always holds.
        assert_eq!(claim(0.0, None).verdict(limits(0.9, 1.0)), Verdict::Consistent);
    }

    #[test]
    fn a_truth_outside_the_limits_is_noticed() {
        let excluded =
            |truth: f64| AccuracyClaim::excludes(truth.try_into().unwrap(), limits(0.25, 0.5));
        assert_eq!([0.4, 0.5, 0.6, 0.75, 0.8].map(excluded), [true, false, false, false, true]);
    }
}
