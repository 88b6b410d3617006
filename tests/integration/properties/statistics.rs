//! Limits, bounds and bets.

use dp_audit::parts::Grounds;
use dp_audit::parts::Limits;
use dp_audit::parts::{AnswerCounts, Tallies, tally_of};
use dp_audit::parts::{Bet, Ledger};
use dp_audit::parts::{Certified, Level, Method, Rates, Weights};
use dp_audit::parts::{detectable_epsilon, power};
use dp_audit::parts::{lower_limit, upper_tail};
use dp_audit::{Claim, Side, Tally, Verdict};
use proptest::prelude::*;

use super::cases;
use crate::harness;

/// A method that suits no tally in particular.
fn method() -> Method {
    Method::Region(Weights::new(0.8, 0.6))
}

/// Counts of every order of magnitude.
fn count() -> impl Strategy<Value = u64> {
    prop_oneof![0..4_u64, 0..1_000_u64, 0..1_000_000_u64]
}

fn tally() -> impl Strategy<Value = Tally> {
    (count(), count(), count()).prop_map(|(correct, wrong, abstained)| Tally {
        correct,
        wrong,
        abstained,
    })
}

fn level() -> impl Strategy<Value = f64> {
    (-20.0..-0.7_f64).prop_map(f64::exp)
}

fn epsilon() -> impl Strategy<Value = f64> {
    (-14.0..3.5_f64).prop_map(f64::exp)
}

fn delta() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), (-28.0..-0.7_f64).prop_map(f64::exp)]
}

fn regions() -> impl Strategy<Value = u8> {
    1..=2_u8
}

fn claim() -> impl Strategy<Value = Claim> {
    (epsilon(), delta()).prop_map(|(epsilon, delta)| harness::claim(epsilon, delta))
}

fn judged() -> impl Strategy<Value = [(Tally, u8); 2]> {
    [(tally(), regions()), (tally(), regions())]
}

fn certified(judged: &[(Tally, u8); 2], level: Level, claim: &Claim) -> [Certified; 2] {
    let [first, second] = *judged;
    [(first, 0.9), (second, 0.1)].map(|((tally, regions), share)| {
        Certified::new(tally, regions, level.fixed(share), claim, method())
    })
}

fn bet() -> impl Strategy<Value = Bet> {
    (0.0..1.0_f64, 0.0..1.0_f64, 1.0..1e9_f64, regions(), tally()).prop_map(
        |(guessed, right, draws, regions, tally)| Bet {
            forecast: Rates { correct: guessed * right, wrong: guessed * (1.0 - right), draws },
            regions,
            tally,
        },
    )
}

fn ledger() -> impl Strategy<Value = Vec<[Bet; 2]>> {
    prop::collection::vec([bet(), bet()], 0..6)
}

fn ledger_of(looks: &[[Bet; 2]]) -> Ledger {
    let mut ledger = Ledger::default();
    looks.iter().for_each(|bets| ledger.push(bets.to_vec()));
    ledger
}

proptest! {
    #![proptest_config(cases!(512, "statistics.txt"))]

    #[test]
    fn limits_lie_on_their_sides_of_the_observed_frequency(n in 1..2_000_000_u64, millionths in 0..=1_000_000_u64, alpha in level()) {
        let k = n * millionths / 1_000_000;
        let (low, high) = (lower_limit(k, n, alpha), 1.0 - lower_limit(n - k, n, alpha));
        let observed = k as f64 / n as f64;
        prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        prop_assert!(low <= observed + 1e-15 && observed <= high + 1e-15, "{low} {observed} {high}");
        // The limit is what it says: `k` or more hits are no more likely than α there.
        prop_assert!(upper_tail(k, n, low) <= alpha || k == 0);
    }

    #[test]
    fn limits_grow_with_hits_and_level_and_fall_with_misses(k in count(), misses in count(), alpha in level(), more in 1.0..10.0_f64) {
        let n = k + misses;
        let at = lower_limit(k, n, alpha);
        prop_assert!(lower_limit(k + 1, n + 1, alpha) >= at);
        prop_assert!(lower_limit(k, n + 1, alpha) <= at);
        prop_assert!(lower_limit(k, n, (alpha * more).min(0.5)) >= at * (1.0 - 1e-9));
    }

    #[test]
    fn swapping_the_sides_changes_nothing(left in count(), right in count(), abstained in count()) {
        let of_left = tally_of(Side::Left, AnswerCounts { left, right, abstained });
        let of_right = tally_of(Side::Right, AnswerCounts { left: right, right: left, abstained });
        prop_assert_eq!(of_left, of_right);
        prop_assert_eq!(of_left.draws(), left + right + abstained);
        prop_assert_eq!(of_left.guesses() + of_left.abstained, of_left.draws());
    }

    #[test]
    fn merging_tallies_is_adding_their_counts(a in prop::collection::vec(tally(), 3), b in prop::collection::vec(tally(), 3)) {
        let (mut ab, mut ba) = (Tallies(a.clone()), Tallies(b.clone()));
        ab.add(&Tallies(b.clone()));
        ba.add(&Tallies(a.clone()));
        prop_assert_eq!(&ab, &ba);
        for ((sum, a), b) in ab.0.iter().zip(&a).zip(&b) {
            let expected = Tally { correct: a.correct + b.correct, wrong: a.wrong + b.wrong, abstained: a.abstained + b.abstained };
            prop_assert_eq!(*sum, expected);
        }
    }

    #[test]
    fn bounds_are_in_range_and_below_what_was_seen(tally in tally(), regions in regions(), alpha in level(), epsilon in epsilon(), delta in delta()) {
        let limits = Limits::new(tally, regions, alpha, &harness::claim(epsilon, delta), method());
        let (e, d) = (limits.epsilon_lower(delta), limits.delta_lower(epsilon));
        prop_assert!(e >= 0.0 && e.is_finite() && (0.0..=1.0).contains(&d), "{e} {d}");
        // With the observed frequencies in place of their limits.
        let n = tally.draws().max(1) as f64;
        let (correct, wrong) = (tally.correct as f64 / n, tally.wrong as f64 / n);
        let spent = delta * f64::from(regions) / 2.0;
        prop_assert!(e == 0.0 || e <= ((correct - spent) / wrong).ln() + 1e-9, "{e}");
        prop_assert!(d <= ((correct - epsilon.exp() * wrong) * 2.0 / f64::from(regions)).max(0.0) + 1e-12, "{d}");
    }

    #[test]
    fn allowing_more_never_leaves_a_larger_bound(
        tally in tally(), regions in regions(), alpha in level(), epsilon in epsilon(), delta in delta(), factor in 1.0..3.0_f64,
    ) {
        let limits = Limits::new(tally, regions, alpha, &harness::claim(epsilon, delta), method());
        prop_assert!(limits.epsilon_lower(delta * factor) <= limits.epsilon_lower(delta));
        prop_assert!(limits.delta_lower(epsilon * factor) <= limits.delta_lower(epsilon));
    }

    #[test]
    fn epsilon_and_delta_bounds_refute_the_same_claims(tally in tally(), regions in regions(), alpha in level(), epsilon in epsilon(), delta in delta()) {
        // Both solve one inequality, so but for rounding they stand on the same side of a claim.
        let limits = Limits::new(tally, regions, alpha, &harness::claim(epsilon, delta), method());
        let (e, d) = (limits.epsilon_lower(delta), limits.delta_lower(epsilon));
        prop_assert!(!(e > epsilon * (1.0 + 1e-9) + 1e-12 && d < delta * (1.0 - 1e-9)), "ε {e} refutes, δ {d} does not");
        prop_assert!(!(d > delta * (1.0 + 1e-9) + 1e-12 && e < epsilon * (1.0 - 1e-9)), "δ {d} refutes, ε {e} does not");
    }

    #[test]
    fn a_verdict_is_violated_exactly_when_a_bound_exceeds_the_claim(judged in judged(), looks in ledger(), claim in claim(), resolution in 0.0..5.0_f64, asked_reach in 0.0..1.0_f64) {
        let level = Level::of_pair(0.05, 1);
        let bounds = dp_audit::parts::bounds(&ledger_of(&looks), &certified(&judged, level, &claim), None, &claim, level);
        let refuted = bounds.epsilon_lower > claim.epsilon() || bounds.delta_lower > claim.delta();
        let (reach, control) = (bounds.reach(&claim), None);
        let grounds = Grounds { claim, bounds, unread: false, reach, asked_reach, resolution, control };
        let verdict = Verdict::new(&grounds);
        prop_assert_eq!(verdict == Verdict::Violated, refuted);
        prop_assert_eq!(verdict == Verdict::Consistent, !refuted && bounds.resolved <= resolution * reach.clamp(0.5, 1.0) && reach >= asked_reach);
        prop_assert!(refuted || reach <= 1.0);
    }

    #[test]
    fn bounds_fall_as_the_confidence_rises(judged in judged(), looks in ledger(), claim in claim(), low in 0.51..0.99_f64, pairs in 1..50_usize) {
        let ledger = ledger_of(&looks);
        let at = |confidence: f64, pairs| {
            let level = Level::of_pair(1.0 - confidence, pairs);
            dp_audit::parts::bounds(&ledger, &certified(&judged, level, &claim), None, &claim, level)
        };
        for (easy, hard) in [(at(low, 1), at(1.0 - (1.0 - low) / 7.0, 1)), (at(low, 1), at(low, pairs))] {
            // The border of a region is followed to within 2e-4 of the bound, from below.
            prop_assert!(hard.epsilon_lower <= easy.epsilon_lower * (1.0 + 1e-3));
            prop_assert!(hard.delta_lower <= easy.delta_lower * (1.0 + 1e-3) + 1e-12);
        }
    }

    #[test]
    fn nothing_smaller_than_the_claim_is_called_detectable(tally in tally(), regions in regions(), claim in claim(), alpha in level()) {
        // Flagging with probability 0.9 > α what the claim allows would be a false alarm.
        let found = detectable_epsilon(&Certified::new(tally, regions, alpha, &claim, method()));
        prop_assert!(found >= claim.epsilon() * (1.0 - 1e-9), "{found}");
        let power = power(&[Certified::new(tally, regions, alpha, &claim, method())], &claim);
        prop_assert!(power.detectable >= claim.epsilon() && power.resolved >= 0.0, "{power:?}");
    }

    #[test]
    fn the_greatest_wealth_never_falls(looks in ledger(), epsilon in epsilon(), delta in delta()) {
        let mut ledger = Ledger::default();
        let mut greatest = 0.0;
        for bets in &looks {
            ledger.push(bets.to_vec());
            let wealth = ledger.log_wealth(harness::claim(epsilon, delta).main());
            prop_assert!(wealth >= greatest, "{wealth} after {greatest}");
            greatest = wealth;
        }
    }

    #[test]
    fn a_bet_is_fair_at_best_under_the_claim(bet in bet(), epsilon in epsilon(), delta in delta(), guess in 0.0..1.0_f64, at_claim in 0.0..1.0_f64) {
        // What one more correct, wrong or missing guess multiplies the wealth by, read off a purse
        // that is well ahead.
        let ahead = Tally { correct: 200_000, wrong: 0, abstained: 0 };
        let wealth = |tally: Tally| {
            let mut ledger = Ledger::default();
            ledger.push(vec![Bet { tally, ..bet }]);
            ledger.log_wealth(harness::claim(epsilon, delta).main())
        };
        let start = wealth(ahead);
        let pays = |more: Tally| (wealth(ahead + more) - start).exp();
        let one = Tally::default();
        let [correct, wrong, none] =
            [Tally { correct: 1, ..one }, Tally { wrong: 1, ..one }, Tally { abstained: 1, ..one }].map(pays);
        // Any distribution that the claim allows: correct ≤ e^ε·wrong + δ·r/2.
        let spent = delta * f64::from(bet.regions) / 2.0;
        let p_wrong = guess * (1.0 - spent) / (1.0 + epsilon.exp());
        let p_correct = at_claim * (epsilon.exp() * p_wrong + spent);
        let mean = p_correct * correct + p_wrong * wrong + (1.0 - p_correct - p_wrong) * none;
        // The logarithms are differences of numbers up to 2e5: eleven digits are left of sixteen.
        prop_assert!(mean <= 1.0 + 1e-8, "{mean}");
    }
}
