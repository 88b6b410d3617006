//! What a candidate promises: the bound that is to be expected on it, as a share of the claim.

use crate::attack::{Attack, DrawBudget, Explorer};
use crate::audit::{PairPlan, Plan};
use crate::model::Claim;
use crate::sample::Sampler;
use crate::stats::{Certified, Rates};
use crate::target::{PairStream, Phase, Target, TargetError};

/// The level at which candidates are compared. It is lenient: a candidate that is dropped is lost,
/// and one that is kept is looked at again.
const LENIENT: f64 = 0.2;

/// Which attacks learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Those that learn fast: with few draws the others rarely learn more.
    Quick,
    /// All of them.
    Thorough,
}

/// What a candidate promises.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// The share of the claim that as many draws would show at a lenient level. Candidates are
    /// compared by it.
    pub share: f64,
    /// The same at the level of a certification. Above 1, a certification is almost certain to succeed.
    pub sure: f64,
    /// The draws that were made.
    pub draws: u64,
}

/// Learns rules from fresh draws and computes the bounds that are to be expected from them. Nothing
/// here is judged: what is frozen is judged on other draws.
///
/// # Errors
/// When the mechanism cannot be run on this pair.
pub fn promise(
    plan: &PairPlan,
    target: &dyn Target,
    draws: u64,
    look: Look,
) -> Result<Promise, TargetError> {
    let whole = Plan::of_claim(plan.clone());
    if whole.is_certain() {
        // Without noise, the result is what it is.
        let evidence = whole.run(target, &()).outcome?;
        let share = share_of(&plan.claim, &[evidence.lower()]);
        return Ok(Promise { share, sure: share, draws: evidence.draws() });
    }
    let promised = explored(plan, target, draws, look);
    target.close();
    promised
}

fn explored(
    plan: &PairPlan,
    target: &dyn Target,
    draws: u64,
    look: Look,
) -> Result<Promise, TargetError> {
    let stream = PairStream::new(plan.seed, &plan.audit, &plan.pair.name);
    let mut sampler = Sampler::open(target, stream, Phase::Search, &|_| ())?;
    let budget = DrawBudget { explore: draws, certify: draws, alpha: LENIENT };
    let quick = quick(&plan.attacks);
    let attacks = if look == Look::Quick && !quick.is_empty() { &quick } else { &plan.attacks };
    let mut explorer = Explorer::new(sampler.width(), attacks, &plan.claim, budget);
    explorer.absorb(&mut sampler, draws, &[])?;
    let learned = explorer.learn();
    let at = |alpha: f64| {
        let shares = learned.iter().map(|learned| {
            // A rule that gives one answer is correct on one side at most, whatever the sample
            // says.
            let most = f64::from(learned.rule.regions()) / 2.0;
            let rates = Rates { correct: learned.forecast.correct.min(most), ..learned.forecast };
            let certified = Certified::new(
                rates.expected(draws),
                learned.rule.regions(),
                alpha,
                &plan.claim,
                learned.method,
            );
            share_of(&plan.claim, &[certified.lower(), certified.second_lower()])
        });
        shares.fold(0.0, f64::max)
    };
    let share = at(LENIENT);
    // What a lenient level does not show, a stricter one does not either; and some bounds take
    // longer than the draws.
    Ok(Promise { share, sure: if share > 1.0 { at(plan.level.fixed(1.0)) } else { 0.0 }, draws })
}

/// The attacks that learn fast.
fn quick(attacks: &[Attack]) -> Vec<Attack> {
    attacks.iter().copied().filter(|attack| attack.is_quick()).collect()
}

/// The largest share of a limit that a bound shows. Where a limit is 0, a bound above it counts as
/// just more than the claim.
fn share_of(claim: &Claim, lower: &[f64]) -> f64 {
    let share = |(lower, value): (f64, f64)| match (lower > 0.0, value > 0.0) {
        (false, _) => 0.0,
        (true, true) => lower / value,
        (true, false) => 1.0 + lower,
    };
    let shares =
        lower.iter().copied().zip(claim.limits().iter().map(|limit| limit.value)).map(share);
    shares.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_limit_that_is_shown_most() {
        let claim = Claim::new(2.0, 0.01).unwrap();
        assert_eq!(share_of(&claim, &[1.0, 0.0]), 0.5);
        assert_eq!(share_of(&claim, &[1.0, 0.02]), 2.0);
        let pure = Claim::new(2.0, 0.0).unwrap();
        assert_eq!(share_of(&pure, &[1.0, 0.0]), 0.5);
        assert!(share_of(&pure, &[1.0, 1e-3]) > 1.0, "any δ refutes it");
    }
}
