//! Combines all evidence on a pair into its bounds.

use super::certified::{Certified, Level};
use super::moment::GroupEvidence;
use super::power::{power, power_of_groups};
use super::wealth::Ledger;
use crate::model::{Bounds, Claim};

/// The best of the anytime bounds and, once the whole budget is spent, the fixed-sample bounds of
/// each rule and of groups of outputs.
#[must_use]
pub fn bounds(
    ledger: &Ledger,
    certified: &[Certified],
    groups: Option<GroupEvidence>,
    claim: &Claim,
    level: Level,
) -> Bounds {
    let best = |of: &dyn Fn(&Certified) -> f64| certified.iter().map(of).fold(0.0, f64::max);
    let events = best(&Certified::lower);
    let groups = groups.filter(|groups| groups.lower > events);
    let power =
        groups.map_or_else(|| power(certified, claim), |groups| power_of_groups(groups, claim));
    let lower = ledger
        .lower(claim.main(), level.anytime())
        .max(events)
        .max(groups.map_or(0.0, |groups| groups.lower));
    let second = claim.second().map(|limit| {
        ledger.lower(limit, level.anytime_second()).max(best(&Certified::second_lower))
    });
    // A claim in another unit has bounds on ε and δ from the same limits.
    let (epsilon, delta) = (claim.epsilon(), claim.delta());
    let (epsilon_lower, delta_lower) = match second {
        Some(second) => (lower, second),
        None => (
            best(&|part| part.limits().epsilon_lower(delta)),
            best(&|part| part.limits().delta_lower(epsilon)),
        ),
    };
    Bounds {
        lower,
        epsilon_lower,
        delta_lower,
        detectable: power.detectable,
        resolved: power.resolved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Tally, Until};
    use crate::stats::fixed::Limits;
    use crate::stats::wealth::Bet;
    use crate::stats::{Method, Rates};

    #[test]
    fn the_parts_of_alpha_add_up_to_alpha() {
        let cases =
            [(1, Until::Budget), (4, Until::Budget), (4, Until::Refuted), (4, Until::Decided)];
        for (pairs, until) in cases {
            let level = Level::of_pair(0.05, pairs).until(until);
            let parts =
                [level.anytime(), level.anytime_second(), level.fixed(0.9), level.fixed(0.1)];
            assert!(parts.iter().all(|part| *part > 0.0), "{parts:?}");
            assert!((parts.iter().sum::<f64>() * pairs as f64 - 0.05).abs() < 1e-15, "{parts:?}");
            assert!((level.fixed(0.9) / level.fixed(0.1) - 9.0).abs() < 1e-12);
            assert_eq!(level.fixed(0.0), 0.0);
        }
        // A run without pairs does not divide by zero.
        assert!(
            (Level::of_pair(0.05, 0).fixed(1.0) - Level::of_pair(0.05, 1).fixed(1.0)).abs() < 1e-15
        );
    }

    const NOTHING: Bounds = Bounds {
        lower: 0.0,
        epsilon_lower: 0.0,
        delta_lower: 0.0,
        detectable: f64::INFINITY,
        resolved: f64::INFINITY,
    };

    #[test]
    fn each_bound_is_the_best_of_all_evidence() {
        let claim = &Claim::new(1.0, 0.01).unwrap();
        let level = Level::of_pair(0.05, 1);
        let strong = Tally { correct: 60_000, wrong: 10_000, abstained: 30_000 };
        let weak = Tally { correct: 30_000, wrong: 20_000, abstained: 50_000 };
        let forecast = Rates { correct: 0.6, wrong: 0.1, draws: 1000.0 };
        let method = Method::for_epsilon(forecast, 0.01);
        let mut ledger = Ledger::default();
        assert_eq!(bounds(&ledger, &[], None, claim, level), NOTHING);
        ledger.push(vec![Bet { forecast, regions: 2, tally: strong }]);
        let anytime = bounds(&ledger, &[], None, claim, level);
        assert_eq!(anytime.epsilon_lower, ledger.lower(claim.main(), level.anytime()));
        assert_eq!(anytime.delta_lower, ledger.lower(&claim.limits()[1], level.anytime_second()));
        let part = |tally, share| Certified::new(tally, 2, level.fixed(share), claim, method);
        assert_eq!(part(weak, 0.5).alpha(), level.fixed(0.5));
        assert_eq!(part(weak, 0.0).alpha(), 0.0);
        // Where the fixed sample is weak, the wealth gives the bound. A strong fixed sample gives
        // it, whichever rule it belongs to.
        assert_eq!(
            bounds(&ledger, &[part(weak, 1.0)], None, claim, level).epsilon_lower,
            anytime.epsilon_lower
        );
        let best = Limits::new(strong, 2, level.fixed(0.5), claim, method);
        for parts in [[part(strong, 0.5), part(weak, 0.5)], [part(weak, 0.5), part(strong, 0.5)]] {
            let found = bounds(&Ledger::default(), &parts, None, claim, level);
            assert_eq!(found.epsilon_lower, best.epsilon_lower(0.01));
            assert_eq!(found.delta_lower, best.delta_lower(1.0));
            assert_eq!(
                power(&parts, claim),
                power(&[part(strong, 0.5)], claim),
                "the rule that shows most"
            );
            assert_eq!(
                (found.detectable, found.resolved),
                (power(&parts, claim).detectable, power(&parts, claim).resolved)
            );
        }
    }
}
