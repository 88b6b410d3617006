//! Bets on predictions: evidence from the first draws on, valid at any time.
//!
//! The coin `b` is fair and the output `y` is drawn from `M(D_b)`. Before the draw, fix for every
//! output a guess `g(y)` and a stake `μ(y)` from 0 to `M`. If the mechanism is (ε, δ)-DP, then
//!
//! ```text
//! E[ μ(y)·(1[g right] − e^ε·1[g wrong]) ] ≤ δ·M
//! ```
//!
//! *Proof.* `μ(y)` is the integral over `t` from 0 to `M` of `1[μ(y) > t]`. For each `t` the rule
//! that guesses `g(y)` where `μ(y) > t`, and nothing elsewhere, is a guess rule. It gives at most
//! two answers, so `P(right) ≤ e^ε·P(wrong) + δ`. Integrate over `t`. ∎
//!
//! So `1 − δ·M + μ(y)·(1[g right] − e^ε·1[g wrong])` has mean at most 1, and it is positive if `M <
//! 1/(e^ε + δ)`. The product of such factors is a supermartingale, also if guesses and stakes of
//! each block of draws depend on the blocks before it. By Ville's inequality it ever reaches `1/α`
//! with probability at most α.
//!
//! The stakes come from a prediction `p(y)`, the probability that the guess is right. Kelly's
//! stake, which makes the logarithm grow fastest if the prediction is true, solves
//! `p/(w + μ) = e^ε·(1 − p)/(w − e^ε·μ)` with `w = 1 − δ·M`: it is `μ = w·(p·e^−ε − (1 − p))`. For δ =
//! 0 the factor is `p/q` where `q` is the prediction closest to `p` that the claim allows.
//!
//! A claim in another unit is bet against along one of its lines (ε, δ), each of which follows from
//! the claim. The line and `M` are those that promise most on outputs seen before.

use crate::model::{Measure, Side};

/// The largest stakes that are tried, as parts of the largest one that cannot lose everything.
const CAPS: [f64; 7] = [1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.03];

/// The probabilities of a wrong guess for which a line is tried that allows least there.
const WRONG: [f64; 9] = [0.45, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02, 0.005, 0.0005];

/// When copies of the gambler begin, in draws, and the share of the wealth that each begins with. A
/// copy that begins late does not pay for what the first predictions lost.
const COPIES: [(u64, f64); 6] =
    [(8, 0.55), (32, 0.2), (128, 0.1), (512, 0.07), (2048, 0.05), (8192, 0.03)];

/// How stakes follow from predictions: a line of the claim, and the largest stake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stakes {
    epsilon: f64,
    delta: f64,
    most: f64,
}

impl Stakes {
    /// No bet.
    pub const NONE: Self = Self { epsilon: 0.0, delta: 0.0, most: 0.0 };

    /// Against the line (ε, δ), with this part of the largest stake that cannot lose everything.
    #[must_use]
    pub fn new((epsilon, delta): (f64, f64), part: f64) -> Self {
        // Despite rounding, a single wrong guess must not cost everything.
        let most = part.clamp(0.0, 1.0) * (1.0 - 1e-9) / (epsilon.exp() + delta);
        if most > 0.0 { Self { epsilon, delta, most } } else { Self::NONE }
    }

    /// Those that grow fastest on outputs that were seen before, if what is predicted for them is
    /// true. `left` has the predicted probability of the left side for each of them.
    #[must_use]
    pub fn best(lines: &[(f64, f64)], left: &[f64]) -> Self {
        let choices = lines.iter().flat_map(|line| {
            // Without δ a smaller largest stake saves nothing.
            let caps = if line.1 > 0.0 { &CAPS[..] } else { &CAPS[..1] };
            caps.iter().map(|part| Self::new(*line, *part))
        });
        let growth = |stakes: Self| left.iter().map(|left| stakes.expected(*left)).sum::<f64>();
        choices
            .map(|stakes| (stakes, growth(stakes)))
            .fold((Self::NONE, 0.0), |best, next| if next.1 > best.1 { next } else { best })
            .0
    }

    /// What is left of the wealth when δ is paid for.
    fn rest(self) -> f64 {
        1.0 - self.delta * self.most
    }

    /// The stake on the side with probability `right`.
    fn stake(self, right: f64) -> f64 {
        let kelly = self.rest() * (right * (-self.epsilon).exp() - (1.0 - right));
        // A prediction that is no number is worth nothing.
        if kelly > 0.0 { kelly.min(self.most) } else { 0.0 }
    }

    /// The logarithms of the factors of a right and of a wrong guess.
    fn logs(self, right: f64) -> (f64, f64) {
        let stake = self.stake(right);
        let paid = self.delta * self.most;
        ((stake - paid).ln_1p(), (-self.epsilon.exp() * stake - paid).ln_1p())
    }

    /// The logarithm of the factor of an output of this side, for which `left` was predicted to be
    /// the probability of the left side.
    #[must_use]
    pub fn log_factor(self, left: f64, side: Side) -> f64 {
        let (guess, right) =
            if left > 0.5 { (Side::Left, left) } else { (Side::Right, 1.0 - left) };
        let (won, lost) = self.logs(right);
        if guess == side { won } else { lost }
    }

    /// The mean of that logarithm if the prediction is true.
    fn expected(self, left: f64) -> f64 {
        let right = left.max(1.0 - left);
        let (won, lost) = self.logs(right);
        right * won + (1.0 - right) * lost
    }
}

/// Lines (ε, δ) that follow from the claim that this measure is at most `value`.
#[must_use]
pub fn lines(measure: &Measure, value: f64) -> Vec<(f64, f64)> {
    let mut lines: Vec<(f64, f64)> = Vec::new();
    for line in WRONG.map(|wrong| measure.line(value, wrong)) {
        if line.0.is_finite() && line.1 < 1.0 && !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// The wealth of copies that begin at different times and then bet alike. A mean of
/// supermartingales is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copies {
    logs: [f64; COPIES.len()],
}

impl Copies {
    /// A block of draws was bet on, after `before` draws. The copies that had begun by then win
    /// this logarithm.
    pub fn win(&mut self, before: u64, log: f64) {
        for (wealth, (start, _)) in self.logs.iter_mut().zip(COPIES) {
            *wealth += if before >= start { log } else { 0.0 };
        }
    }

    /// The logarithm of the wealth of all copies together.
    #[must_use]
    pub fn log_wealth(&self) -> f64 {
        let most = self.logs.iter().fold(f64::NEG_INFINITY, |most, log| most.max(*log));
        let sum: f64 =
            self.logs.iter().zip(COPIES).map(|(log, (_, share))| share * (log - most).exp()).sum();
        most + sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The mean factor if output `y` has these probabilities on both sides and this prediction.
    fn mean(stakes: Stakes, outputs: &[(f64, f64, f64)]) -> f64 {
        let factor = |left: f64, side| stakes.log_factor(left, side).exp();
        outputs
            .iter()
            .map(|(p, q, left)| {
                0.5 * (p * factor(*left, Side::Left) + q * factor(*left, Side::Right))
            })
            .sum()
    }

    /// The smallest δ at which two distributions are (ε, δ)-indistinguishable.
    fn delta(epsilon: f64, outputs: &[(f64, f64, f64)]) -> f64 {
        let excess = |p: f64, q: f64| (p - epsilon.exp() * q).max(0.0);
        let one: f64 = outputs.iter().map(|(p, q, _)| excess(*p, *q)).sum();
        let other: f64 = outputs.iter().map(|(p, q, _)| excess(*q, *p)).sum();
        one.max(other)
    }

    /// Distributions on a few outputs, with any prediction for each.
    fn outputs() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
        prop::collection::vec((0.0..1.0_f64, 0.0..1.0_f64, 0.0..=1.0_f64), 1..8).prop_map(
            |mut all| {
                let (p, q) = all.iter().fold((1e-3, 1e-3), |(p, q), one| (p + one.0, q + one.1));
                all.iter_mut().for_each(|one| (one.0, one.1) = (one.0 / p, one.1 / q));
                // What is missing is an output that both sides have.
                let (p, q) = all.iter().fold((1.0, 1.0), |(p, q), one| (p - one.0, q - one.1));
                all.push((p, q, 0.5));
                all
            },
        )
    }

    proptest! {
        /// Exact: for every pair of distributions on the claim, every prediction and every cap.
        #[test]
        fn the_mean_factor_is_at_most_one_for_every_mechanism_on_the_claim(
            outputs in outputs(), epsilon in 0.0..4.0_f64, part in 0.0..=1.0_f64,
        ) {
            let stakes = Stakes::new((epsilon, delta(epsilon, &outputs)), part);
            prop_assert!(mean(stakes, &outputs) <= 1.0 + 1e-12);
        }

        /// The same with the ε of the pair, so that nothing is paid for δ.
        #[test]
        fn the_mean_factor_is_at_most_one_without_delta(
            outputs in outputs(), part in 0.0..=1.0_f64,
        ) {
            let ratio = |(p, q, _): &(f64, f64, f64)| (p / q).ln().abs();
            let epsilon = outputs.iter().map(ratio).fold(0.0, f64::max);
            prop_assume!(epsilon < 50.0);
            let stakes = Stakes::new((epsilon, 0.0), part);
            prop_assert!(mean(stakes, &outputs) <= 1.0 + 1e-12);
        }

        /// Whatever is predicted, a factor is positive and no number that is none comes out.
        #[test]
        fn a_factor_is_positive(
            left in prop_oneof![0.0..=1.0_f64, Just(f64::NAN)],
            epsilon in 0.0..20.0_f64, delta in 0.0..1.0_f64, part in 0.0..=1.0_f64,
        ) {
            let stakes = Stakes::new((epsilon, delta), part);
            for side in Side::BOTH {
                prop_assert!(stakes.log_factor(left, side).is_finite());
            }
        }

        /// The best stakes for a prediction are at least as good as those of any other prediction.
        #[test]
        fn kelly_is_best(
            right in 0.5..1.0_f64, other in 0.5..1.0_f64, epsilon in 0.0..3.0_f64,
            delta in 0.0..0.2_f64,
        ) {
            let stakes = Stakes::new((epsilon, delta), 1.0);
            let growth = |(won, lost): (f64, f64)| right * won + (1.0 - right) * lost;
            prop_assert!(growth(stakes.logs(right)) >= growth(stakes.logs(other)) - 1e-12);
        }
    }

    #[test]
    fn a_factor_is_the_prediction_over_the_closest_one_that_the_claim_allows() {
        let epsilon = 1.0_f64;
        let allowed = epsilon.exp() / (1.0 + epsilon.exp());
        for left in [0.02, 0.2, 0.4, 0.5, 0.7, 0.74, 0.9, 0.99_f64] {
            let closest = left.clamp(1.0 - allowed, allowed);
            let stakes = Stakes::new((epsilon, 0.0), 1.0);
            let expected = [(left / closest).ln(), ((1.0 - left) / (1.0 - closest)).ln()];
            for (side, expected) in Side::BOTH.into_iter().zip(expected) {
                let found = stakes.log_factor(left, side);
                assert!((found - expected).abs() < 1e-8, "{left}: {found} against {expected}");
            }
        }
    }

    #[test]
    fn randomized_response_on_its_claim_pays_one_on_average() {
        for epsilon in [0.1, 1.0, 3.0_f64] {
            let likely = epsilon.exp() / (1.0 + epsilon.exp());
            let outputs = [(likely, 1.0 - likely, 0.999), (1.0 - likely, likely, 0.001)];
            let found = mean(Stakes::new((epsilon, 0.0), 1.0), &outputs);
            assert!((found - 1.0).abs() < 1e-12, "{found}: all that is allowed, and no more");
        }
    }

    #[test]
    fn the_shares_of_the_copies_are_the_whole_wealth() {
        let sum: f64 = COPIES.iter().map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        let mut copies = Copies::default();
        assert!(copies.log_wealth().abs() < 1e-12);
        copies.win(0, 5.0);
        assert!(copies.log_wealth().abs() < 1e-12, "nobody has begun");
        copies.win(8, -2000.0);
        copies.win(40, 3.0);
        // The copies from 8 and 32 draws on bet. The first of them has lost everything.
        let expected = (0.2 * 3.0_f64.exp() + 0.25).ln();
        assert!((copies.log_wealth() - expected).abs() < 1e-12);
    }

    #[test]
    fn no_bet_is_made_where_nothing_is_to_be_won() {
        let claim = lines(&Measure::Epsilon { delta: 0.0 }, 1.0);
        assert_eq!(claim, [(1.0, 0.0)]);
        assert_eq!(Stakes::best(&claim, &[0.3, 0.5, 0.7]), Stakes::NONE);
        assert_ne!(Stakes::best(&claim, &[0.3, 0.5, 0.8]), Stakes::NONE);
        assert_eq!(Stakes::NONE.log_factor(0.99, Side::Right), 0.0);
        // Every line of a claim in another unit follows from it.
        for (epsilon, delta) in lines(&Measure::Mu, 0.8) {
            assert!((Measure::Mu.delta_at(0.8, epsilon) - delta).abs() < 1e-12);
        }
        assert!(lines(&Measure::Mu, 0.8).len() > 4);
    }
}
