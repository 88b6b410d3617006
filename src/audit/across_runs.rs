//! The evidence of all runs so far about one pair: the earlier ones and this one.
//!
//! A run with evidence over many runs gives half of its α to its own bounds and half to this. Each
//! pair has a share of that half for ever ([`EarlierRuns::alpha`]), so the claim of a pair is refuted
//! if the wealth of its runs *ever* reached one over this share.

use serde::{Deserialize, Serialize};

use crate::stats::nights::{self, Won};

/// What earlier runs found about a pair, with other seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarlierRuns {
    /// The level of the evidence over all runs, however many there will be.
    pub alpha: f64,
    /// What each of them won.
    pub won: Vec<Won>,
}

/// The evidence of all runs about a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AcrossRuns {
    /// The level.
    pub alpha: f64,
    /// What the last of them, which is this run, won.
    pub now: Won,
    /// The logarithm of the wealth after each run.
    pub path: Vec<f64>,
    /// Whether only all runs together refute the claim, and this one by itself does not.
    #[serde(default)]
    pub decides: bool,
}

impl EarlierRuns {
    /// Together with a run that won this.
    #[must_use]
    pub fn and(&self, now: Won) -> AcrossRuns {
        let runs: Vec<Won> = self.won.iter().copied().chain([now]).collect();
        AcrossRuns { alpha: self.alpha, now, path: nights::path(&runs), decides: false }
    }
}

impl AcrossRuns {
    /// The logarithm of the wealth that refutes the claim.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        -self.alpha.ln()
    }

    /// How many runs there are.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.path.len()
    }

    /// After how many runs the claim was refuted, if it is.
    #[must_use]
    pub fn refuted_after(&self) -> Option<usize> {
        self.path.iter().position(|log| *log >= self.threshold()).map(|index| index + 1)
    }

    /// Whether all runs together refute the claim.
    #[must_use]
    pub fn refute(&self) -> bool {
        self.refuted_after().is_some()
    }

    /// The share of the way to a refutation, of the logarithm of the wealth: 0 without evidence, at
    /// least 1 if the claim is refuted.
    #[must_use]
    pub fn share(&self) -> f64 {
        let now = self.path.last().copied().unwrap_or(0.0) / self.threshold();
        if self.refute() { now.max(1.0) } else { now.max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::nights::PURSES;

    fn after(runs: &[f64]) -> AcrossRuns {
        let mut won: Vec<Won> = runs.iter().map(|log| [*log; PURSES]).collect();
        let now = won.pop().unwrap();
        EarlierRuns { alpha: (-10.0_f64).exp(), won }.and(now)
    }

    #[test]
    fn the_share_is_on_a_logarithmic_scale_and_a_refutation_remains() {
        // One run begins with half of the wealth.
        let one = after(&[8.0]);
        let expected = (0.5 + 0.5 * 8.0_f64.exp()).ln() / 10.0;
        assert!((one.share() - expected).abs() < 1e-12 && !one.refute());
        assert_eq!((one.runs(), one.refuted_after()), (1, None));
        assert_eq!(after(&[-3.0]).share(), 0.0, "a loss is no evidence");
        let won = after(&[6.0, 6.0]);
        assert!(won.share() > 1.0 && won.refuted_after() == Some(2));
        let lost = after(&[6.0, 6.0, -9.0, 0.0]);
        assert_eq!((lost.share(), lost.runs(), lost.refuted_after()), (1.0, 4, Some(2)));
    }
}
