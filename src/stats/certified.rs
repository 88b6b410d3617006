//! How α is divided among all statements, and what a frozen rule shows at its own level.

use serde::{Deserialize, Serialize};

use super::fixed::{Limits, rule_estimate};
use super::method::Method;
use crate::model::{Claim, RuleEstimate, Tally, Until};

/// The shares of a pair's α for the anytime bounds of the main limit and of the second one, which
/// is that of δ. The rest is for the fixed-sample limits.
const ANYTIME_SHARES: [f64; 2] = [0.03125, 0.03125];

/// The same in a run that ends as soon as its claim is refuted, and shows almost as much as others
/// if it is not. A tenth refutes with a third more draws than nearly all of it would, and costs the
/// fixed-sample limits less than 1 % of their distance to the truth.
const ANYTIME_SHARES_UNTIL_REFUTED: [f64; 2] = [0.1, 0.01];

/// The same where as few draws as possible should refute, which is what the anytime bounds are
/// for.
const ANYTIME_SHARES_UNTIL_DECIDED: [f64; 2] = [0.85, 0.05];

/// The level of a pair's evidence, and how it is divided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    alpha: f64,
    /// The shares for the anytime bounds.
    anytime: [f64; 2],
}

impl Level {
    /// An equal share of a run's α for each of its pairs, so that all bounds of the run hold at
    /// once.
    #[must_use]
    pub fn of_pair(alpha: f64, pairs: usize) -> Self {
        Self { alpha: alpha / pairs.max(1) as f64, anytime: ANYTIME_SHARES }
    }

    /// The same for a run that ends at this time.
    #[must_use]
    pub fn until(self, until: Until) -> Self {
        let anytime = match until {
            Until::Budget => ANYTIME_SHARES,
            Until::Refuted => ANYTIME_SHARES_UNTIL_REFUTED,
            Until::Decided => ANYTIME_SHARES_UNTIL_DECIDED,
        };
        Self { anytime, ..self }
    }

    /// All of it, for a statement that has no other use for it.
    #[must_use]
    pub fn whole(self) -> f64 {
        self.alpha
    }

    /// The level of the anytime bound of the main limit.
    #[must_use]
    pub fn anytime(self) -> f64 {
        self.alpha * self.anytime[0]
    }

    /// The level of the anytime bound of the second limit, which is that of δ.
    #[must_use]
    pub fn anytime_second(self) -> f64 {
        self.alpha * self.anytime[1]
    }

    /// The level of the fixed-sample limits of a rule that gets this share.
    #[must_use]
    pub fn fixed(self, share: f64) -> f64 {
        self.alpha * (1.0 - self.anytime.iter().sum::<f64>()) * share
    }
}

/// A frozen rule's tally on the certify draws, and what it shows at the rule's own level.
#[derive(Clone, Debug)]
pub struct Certified {
    /// The tally of the rule on the certify draws.
    pub tally: Tally,
    /// How many of the two answers it gives.
    pub regions: u8,
    alpha: f64,
    claim: Claim,
    method: Method,
    limits: Limits,
    /// The bound for each limit of the claim.
    lower: Vec<f64>,
}

impl Certified {
    /// What is known with confidence `1 − α` about a rule that gives `regions` different answers.
    /// The method was chosen before the draws.
    #[must_use]
    pub fn new(tally: Tally, regions: u8, alpha: f64, claim: &Claim, method: Method) -> Self {
        let limits = Limits::new(tally, regions, alpha, claim, method);
        let lower = claim.limits().iter().map(|limit| limits.lower(&limit.measure)).collect();
        Self { tally, regions, alpha, claim: claim.clone(), method, limits, lower }
    }

    /// What would be known if the tally had been this one.
    #[must_use]
    pub fn with(&self, tally: Tally) -> Self {
        Self::new(tally, self.regions, self.alpha, &self.claim, self.method)
    }

    /// The level. It is 0 for a rule that is the same as another rule: nothing is claimed about it.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The claim.
    #[must_use]
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// The limits at that level.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The bound in the unit of the claim; for (ε, δ) that on ε.
    #[must_use]
    pub fn lower(&self) -> f64 {
        self.lower[0]
    }

    /// The bound on δ at the claimed ε, if the claim is (ε, δ); otherwise 0.
    #[must_use]
    pub fn second_lower(&self) -> f64 {
        self.lower.get(1).copied().unwrap_or(0.0)
    }

    /// What the rule shows at the claimed δ, without and with uncertainty.
    #[must_use]
    pub fn estimate(&self) -> RuleEstimate {
        rule_estimate(self.tally, self.regions, self.claim.delta(), self.alpha)
    }
}

/// The rule that shows most of the claim, and whether it does so in the second limit, which is that
/// of δ: in the main one, unless that is not refuted and the second shows more. The first of equal
/// ones.
#[must_use]
pub fn strongest(parts: &[Certified], claim: &Claim) -> Option<(usize, bool)> {
    let best = |share: &dyn Fn(&Certified) -> f64| {
        let shares = parts.iter().map(share).enumerate();
        shares.reduce(|best, next| if next.1 > best.1 { next } else { best })
    };
    let second = claim.second().map_or(0.0, |limit| limit.value);
    let by_main = best(&|part| part.lower() / claim.main().value)?;
    let by_second = best(&|part| if second > 0.0 { part.second_lower() / second } else { 0.0 })?;
    Some(if by_main.1 <= 1.0 && by_second.1 > by_main.1 {
        (by_second.0, true)
    } else {
        (by_main.0, false)
    })
}
