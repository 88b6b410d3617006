//! The curves behind the pictures, against theory.

use dp_audit::{Settings, Until};

use crate::harness::{confidence, laplace, report, settings};

#[test]
fn the_certified_profile_lies_below_the_exact_one_and_close_to_it() {
    // Half the noise for ε = 1: Lap(½) around neighbouring counts, δ(ε) = 1 − e^((ε − 2)/2) below ε
    // = 2 and 0 from there on. A false alarm has probability 0.001 at most.
    let settings = Settings { confidence: confidence(0.999), ..settings(1_000_000, 3) };
    let found = report(&laplace(0.5), settings);
    let exact = |epsilon: f64| (1.0 - ((epsilon - 2.0) / 2.0).exp()).max(0.0);
    assert_eq!(found.curves.profile.len(), 41);
    for point in &found.curves.profile {
        let lower = point.delta_lower.expect("the budget was spent");
        assert!(
            lower <= exact(point.epsilon),
            "ε = {}: {lower} above {}",
            point.epsilon,
            exact(point.epsilon)
        );
        // Of the estimate p − e^ε·q from 62,500 exploration draws a side, with p(1 − p) ≤ ¼ and q =
        // ½·e^(−1 − ε/2) where the log-ratio exceeds ε. Five standard errors at 41 places: bad luck
        // 2e-5.
        let error = ((0.25 + 0.5 * (1.5 * point.epsilon - 1.0).exp()) / 62_500.0).sqrt();
        let estimate = point.delta_estimate.expect("there is a rule");
        assert!(
            (estimate - exact(point.epsilon)).abs() < 5.0 * error,
            "ε = {}: {estimate} instead of {}",
            point.epsilon,
            exact(point.epsilon)
        );
    }
    // The rule for the δ bound is the best one at the claimed ε: 0.983 ± 0.0036 of what is exact,
    // bad luck 1.4e-4.
    let at_claim = found.curves.profile.iter().find(|point| point.epsilon >= 1.0).unwrap();
    assert!(at_claim.delta_lower.unwrap() > 0.97 * exact(at_claim.epsilon), "{at_claim:?}");
}

#[test]
fn the_wealth_is_drawn_up_to_the_look_that_refuted_the_claim() {
    // Refuted by 2,048 draws on each of 1,000 seeds.
    let settings = Settings { until: Until::Decided, ..settings(1_000_000, 0) };
    let found = report(&laplace(0.5), settings);
    let picture = &found.curves;
    // Of 5 % for the only pair, 0.85 is for the wealth against ε.
    assert!(
        (picture.threshold - (1.0 / (0.85 * 0.05_f64)).ln()).abs() < 1e-9,
        "{}",
        picture.threshold
    );
    let (last, before) = picture.wealth.split_last().unwrap();
    assert_eq!(last.draws, found.draws, "nothing is drawn after that");
    assert!(
        last.log_wealth >= picture.threshold
            && before.iter().all(|point| point.log_wealth < picture.threshold)
    );
    // What was not fixed beforehand certifies no curve, only the point at the claim.
    assert!(picture.profile.iter().all(|point| point.delta_lower.is_none()));
}
