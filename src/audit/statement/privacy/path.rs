//! The path of the evidence: how it grows from look to look, in exploration and in certification.

use serde::{Deserialize, Serialize};

use crate::attack::{Learned, Role};
use crate::audit::PairPlan;
use crate::model::{Limit, Tally};
use crate::stats::wealth::{Bet, Ledger};

/// The bets of all looks so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvidencePath {
    /// All draws so far.
    pub draws: u64,
    /// The draws made before each look.
    pub draws_at_looks: Vec<u64>,
    /// The bets.
    pub ledger: Ledger,
}

impl EvidencePath {
    /// Records the bets on draws that were just judged. The forecasts were made before these draws.
    /// `predicted` is the logarithm of the wealth of bets on predictions, if there are such bets.
    pub fn look(&mut self, learned: &[Learned], tallies: &[Tally], predicted: Option<f64>) {
        // A tail rule is learned too late to bet and is only certified.
        let bets = learned.iter().zip(tallies).filter(|(learned, _)| learned.role != Role::Tail);
        let bets: Vec<Bet> = bets
            .map(|(l, tally)| Bet {
                forecast: l.forecast,
                regions: l.rule.regions(),
                tally: *tally,
            })
            .collect();
        self.draws_at_looks.push(self.draws);
        // There are two purses: for the first rule, which is for the main limit, and for the last
        // one, which is for δ if there is such a rule.
        let purses = [bets.first(), bets.last()].into_iter().flatten().copied().collect();
        match predicted {
            Some(log_wealth) => self.ledger.push_predicted(purses, log_wealth),
            None => self.ledger.push(purses),
        }
    }

    /// Whether no more draws are needed.
    #[must_use]
    pub fn decides(&self, plan: &PairPlan) -> bool {
        let PairPlan { claim, level, until, .. } = plan;
        until.ends_early()
            && (self.refutes(claim.main(), level.anytime())
                || claim.second().is_some_and(|it| self.refutes(it, level.anytime_second())))
    }

    /// Whether a limit is refuted at this level. The bound takes far longer than the wealth against
    /// the limit itself, which must be enough first.
    fn refutes(&self, limit: &Limit, alpha: f64) -> bool {
        let enough = limit.value == 0.0 || self.ledger.log_wealth(limit) >= -alpha.ln();
        enough && self.ledger.lower(limit, alpha) > limit.value
    }

    /// The bound in the unit of the claim that holds at any time.
    #[must_use]
    pub fn anytime_bound(&self, plan: &PairPlan) -> f64 {
        self.ledger.lower(plan.claim.main(), plan.level.anytime())
    }
}
