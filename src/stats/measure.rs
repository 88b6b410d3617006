//! What a rule's two probabilities say about a claim, in the claim's unit.
//!
//! A claim limits the probability of every event: `P(S) ≤ F(P'(S))` and `P'(S) ≤ F(P(S))` with a
//! concave function F. A rule that gives r of the two answers has `P(correct) ≤
//! (r/2)·F(2·P(wrong)/r)` (Jensen). So with `p = 2·P(correct)/r` and `a = 2·P(wrong)/r`, the claim
//! must allow an event to have probability p on one side and a on the other. The least value of a
//! measure that does is a lower bound of it. It grows with p and falls with a as long as p > a. It
//! also grows if both grow in proportion, because thinning an event is post-processing.

use super::binomial::{normal_quantile, normal_tail};
use super::fixed::effective;
use crate::model::{Claim, Limit, Measure};

/// Between these orders minus one, ρ is looked for. Every order gives a valid bound.
const ORDERS: [f64; 2] = [0.002, 300.0];

/// No ε above this is of interest: it allows everything.
const LARGEST: f64 = 1e3;

impl Measure {
    /// The least value that allows a rule that gives `regions` answers to be correct and wrong so
    /// often. It is not above 0 if the rule is not better than chance.
    #[must_use]
    pub fn of(&self, correct: f64, wrong: f64, regions: u8) -> f64 {
        let scale = 2.0 / f64::from(regions.max(1));
        let (p, a) = event(correct, wrong, regions);
        match self {
            Self::Epsilon { delta } => {
                solved_for_epsilon(correct, wrong, effective(*delta, regions))
            }
            Self::Delta { epsilon } => scale * solved_for_delta(correct, wrong, *epsilon),
            // How often a rule is right says nothing about distances.
            Self::Distance { .. } => 0.0,
            _ if p <= a => 0.0,
            // z(1 − p) = −z(p), without loss where p is close to 1.
            Self::Mu => normal_quantile(a) - normal_quantile(p),
            Self::Renyi { order } => Coins::new(p, a).renyi(*order),
            Self::Rho => Coins::new(p, a).rho().1,
            Self::Orders(orders) => {
                let coins = Coins::new(p, a);
                orders
                    .iter()
                    .map(|(order, claimed)| coins.renyi(*order) / claimed)
                    .fold(0.0, f64::max)
            }
            Self::Profile(points) => {
                let factor = |(epsilon, delta): &(f64, f64)| {
                    if p > *delta { ((p - delta) / a).ln() / epsilon } else { 0.0 }
                };
                points.iter().map(factor).fold(0.0, f64::max)
            }
        }
    }

    /// The same, if P(correct) is smaller and P(wrong) is larger than these frequencies in `draws`
    /// draws: by `z` standard errors together, in the direction in which the value falls fastest.
    #[must_use]
    pub fn cautious(&self, correct: f64, wrong: f64, regions: u8, draws: f64, z: f64) -> f64 {
        // By chance a rule that gives one answer may be correct on all draws of its side, and more
        // than half of the draws may be of this side.
        let correct = correct.min(f64::from(regions) / 2.0 - 0.5 / draws);
        let of = self.near(correct, wrong, regions);
        let (by_correct, by_wrong) = slopes(&of, correct, wrong);
        let errors = ((correct / draws).sqrt(), (wrong / draws).sqrt());
        let (fall, rise) = ((by_correct * errors.0).abs(), (by_wrong * errors.1).abs());
        let length = fall.hypot(rise);
        if correct <= 0.0 || !length.is_finite() || length == 0.0 {
            return 0.0;
        }
        let (down, up) = (z * fall / length, z * rise / length);
        // Few wrong guesses may by chance be far fewer than expected: the upper limit of a Poisson
        // mean.
        let (correct, wrong) =
            (correct - down * errors.0, wrong + up * errors.1 + up * up / (2.0 * draws));
        if correct <= 0.0 { 0.0 } else { of(correct, wrong) }
    }

    /// The derivatives of the value by P(correct) and by P(wrong).
    #[must_use]
    pub fn slopes(&self, correct: f64, wrong: f64, regions: u8) -> (f64, f64) {
        slopes(&self.near(correct, wrong, regions), correct, wrong)
    }

    /// The value near these probabilities. For ρ it keeps the order that is best here: another one
    /// is hardly better nearby, and never needed.
    fn near(&self, correct: f64, wrong: f64, regions: u8) -> impl Fn(f64, f64) -> f64 {
        let (p, a) = event(correct, wrong, regions);
        let order = (*self == Self::Rho && p > a).then(|| Coins::new(p, a).rho().0);
        move |correct, wrong| match order {
            Some(order) => {
                let (p, a) = event(correct, wrong, regions);
                if p > a { Coins::new(p, a).renyi(order) / order } else { 0.0 }
            }
            None => self.of(correct, wrong, regions),
        }
    }

    /// The orders at which a Rényi divergence says something about this measure.
    #[must_use]
    pub fn moment_orders(&self) -> Vec<f64> {
        match self {
            Self::Renyi { order } => vec![*order],
            Self::Rho => vec![1.2, 1.5, 2.0, 3.0],
            Self::Orders(orders) => orders.iter().map(|(order, _)| *order).collect(),
            Self::Epsilon { .. }
            | Self::Delta { .. }
            | Self::Mu
            | Self::Profile(_)
            | Self::Distance { .. } => Vec::new(),
        }
    }

    /// The least value that allows this Rényi divergence, of one of the
    /// [`moment_orders`](Self::moment_orders); 0 for other orders.
    #[must_use]
    pub fn of_divergence(&self, order: f64, divergence: f64) -> f64 {
        match self {
            Self::Renyi { order: of } if *of == order => divergence,
            Self::Rho => divergence / order,
            Self::Orders(orders) => orders
                .iter()
                .filter(|(of, _)| *of == order)
                .map(|(_, claimed)| divergence / claimed)
                .fold(0.0, f64::max),
            _ => 0.0,
        }
    }

    /// A δ that holds at this ε, if the measure is at most `value`.
    #[must_use]
    pub fn delta_at(&self, value: f64, epsilon: f64) -> f64 {
        let delta = match self {
            Self::Epsilon { delta } => implied_delta((value, *delta), epsilon),
            Self::Delta { epsilon: at } => implied_delta((*at, value), epsilon),
            Self::Mu => gaussian_delta(value, epsilon),
            Self::Renyi { order } => renyi_delta(*order, value, epsilon),
            Self::Rho => {
                // The best order without the last term of the formula, and a few around it.
                let best = ((epsilon - value) / (2.0 * value)).max(1e-2);
                [0.8, 1.0, 1.25]
                    .map(|factor| 1.0 + factor * best)
                    .map(|order| renyi_delta(order, value * order, epsilon))
                    .into_iter()
                    .fold(1.0, f64::min)
            }
            Self::Orders(orders) => orders
                .iter()
                .map(|(order, claimed)| renyi_delta(*order, value * claimed, epsilon))
                .fold(1.0, f64::min),
            Self::Profile(points) => points
                .iter()
                .map(|(at, delta)| implied_delta((value * at, *delta), epsilon))
                .fold(1.0, f64::min),
            // Outputs without noise may be told apart, however close they are.
            Self::Distance { .. } => 1.0,
        };
        delta.clamp(0.0, 1.0)
    }

    /// A pair (ε, δ) that holds if the measure is at most `value`: the one that allows least where
    /// the other side has probability `a`. Every ε gives a pair that holds, so a search that is not
    /// exact costs power only.
    #[must_use]
    pub fn line(&self, value: f64, a: f64) -> (f64, f64) {
        const STEPS: usize = 20;
        match self {
            Self::Epsilon { delta } => return (value, *delta),
            Self::Delta { epsilon } => return (*epsilon, value),
            _ => {}
        }
        let allowed = |epsilon: f64| epsilon.exp() * a + self.delta_at(value, epsilon);
        // It falls and then grows: δ is convex in e^ε. The least is at 1 at most, so e^ε ≤ 1/a.
        let (mut low, mut high) = (0.0, (-a.max(1e-12).ln()).max(0.0));
        for _ in 0..STEPS {
            let (first, second) = (low + (high - low) * 0.382, low + (high - low) * 0.618);
            if allowed(first) <= allowed(second) { high = second } else { low = first }
        }
        let epsilon = f64::midpoint(low, high);
        (epsilon, self.delta_at(value, epsilon))
    }
}

impl Limit {
    /// The largest share of right guesses that the limit allows a rule that guesses on this part of
    /// all draws.
    #[must_use]
    pub fn allowed_right(&self, guesses: f64, regions: u8) -> f64 {
        const HALVINGS: usize = 50;
        let allows = |right: f64| {
            self.measure.of(guesses * right, guesses * (1.0 - right), regions) <= self.value
        };
        let (mut low, mut high) = (0.5, 1.0);
        if allows(high) {
            return high;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if allows(middle) { low = middle } else { high = middle }
        }
        low
    }
}

impl Claim {
    /// The claimed ε; for a claim in another unit, an ε that follows from it at its
    /// [`delta`](Claim::delta).
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        const HALVINGS: usize = 60;
        let Limit { measure, value } = self.main();
        match measure {
            Measure::Epsilon { .. } => return *value,
            Measure::Delta { epsilon } => return *epsilon,
            _ => {}
        }
        let enough = |epsilon: f64| measure.delta_at(*value, epsilon) <= self.delta();
        if !enough(LARGEST) {
            return f64::INFINITY;
        }
        let (mut low, mut high) = (0.0, LARGEST);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if enough(middle) { high = middle } else { low = middle }
        }
        high
    }

    /// The δ that the claim allows at this ε.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        self.main().measure.delta_at(self.main().value, epsilon)
    }
}

/// The probabilities of an event on one side and on the other that a rule with so many answers
/// shows.
fn event(correct: f64, wrong: f64, regions: u8) -> (f64, f64) {
    let scale = 2.0 / f64::from(regions.max(1));
    ((scale * correct).min(1.0), (scale * wrong).min(1.0))
}

/// The derivatives of a value by P(correct) and by P(wrong).
fn slopes(of: &impl Fn(f64, f64) -> f64, correct: f64, wrong: f64) -> (f64, f64) {
    const STEP: f64 = 1e-4;
    // To the side on which every probability is possible.
    let value = of(correct, wrong);
    let by_correct = (value - of(correct * (1.0 - STEP), wrong)) / (STEP * correct);
    let by_wrong = (of(correct, wrong * (1.0 - STEP)) - value) / (-STEP * wrong);
    (by_correct, by_wrong)
}

/// Nearly the largest value between these ends, and where it is: both ends, and a golden-section
/// search between them. It is never larger than the largest.
fn largest([mut low, mut high]: [f64; 2], value: impl Fn(f64) -> f64) -> (f64, f64) {
    const STEPS: usize = 11;
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let at = |place: f64| (place, value(place));
    let better = |one: (f64, f64), other: (f64, f64)| if other.1 > one.1 { other } else { one };
    let ends = better(at(low), at(high));
    let (mut first, mut second) =
        (at(high - golden * (high - low)), at(low + golden * (high - low)));
    for _ in 0..STEPS {
        if first.1 >= second.1 {
            high = second.0;
            second = first;
            first = at(high - golden * (high - low));
        } else {
            low = first.0;
            first = second;
            second = at(low + golden * (high - low));
        }
    }
    better(ends, better(first, second))
}

/// `ε = ln((P(correct) − δ_eff)/P(wrong))`; −∞ if δ alone explains the correct guesses.
fn solved_for_epsilon(correct: f64, wrong: f64, delta_eff: f64) -> f64 {
    if correct > delta_eff { ((correct - delta_eff) / wrong).ln() } else { f64::NEG_INFINITY }
}

/// `δ_eff = P(correct) − e^ε·P(wrong)`.
fn solved_for_delta(correct: f64, wrong: f64, epsilon: f64) -> f64 {
    if wrong > 0.0 { correct - epsilon.exp() * wrong } else { correct }
}

/// Two coins: the logarithms of the probabilities of both outcomes, for one coin and for the other.
struct Coins {
    heads: [f64; 2],
    tails: [f64; 2],
    direction: (usize, usize),
}

impl Coins {
    fn new(p: f64, a: f64) -> Self {
        let log = |probability: f64| probability.max(1e-300).ln();
        // For p > a, the direction in which the rarer outcome of the other coin gets more.
        let direction = if p + a <= 1.0 { (0, 1) } else { (1, 0) };
        Self { heads: [log(p), log(a)], tails: [log(1.0 - p), log(1.0 - a)], direction }
    }

    /// The Rényi divergence of this order. Both directions are bounded; this one is the larger one.
    fn renyi(&self, order: f64) -> f64 {
        let (this, other) = self.direction;
        // ln Σ x^λ·y^(1−λ) over both outcomes, without overflow.
        let [first, second] =
            [self.heads, self.tails].map(|logs| order * logs[this] + (1.0 - order) * logs[other]);
        ((first.max(second) + (-(first - second).abs()).exp().ln_1p()) / (order - 1.0)).max(0.0)
    }

    /// The best order for ρ, and what it shows.
    fn rho(&self) -> (f64, f64) {
        let (log, value) =
            largest(ORDERS.map(f64::ln), |log| self.renyi(1.0 + log.exp()) / (1.0 + log.exp()));
        (1.0 + log.exp(), value)
    }
}

/// The δ at this ε that follows from (ε, δ) at another one. For a smaller ε the worst mechanism has
/// two outputs beside its δ.
fn implied_delta((known, delta): (f64, f64), epsilon: f64) -> f64 {
    if epsilon >= known {
        delta
    } else {
        1.0 - (1.0 - delta) * (1.0 + epsilon.exp()) / (1.0 + known.exp())
    }
}

/// The δ at this ε of Gaussian noise with sensitivity μ in standard deviations (Balle & Wang 2018).
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let other = normal_tail(epsilon / mu + mu / 2.0);
    normal_tail(epsilon / mu - mu / 2.0) - if other > 0.0 { epsilon.exp() * other } else { 0.0 }
}

/// A δ at this ε that follows from a Rényi divergence (Canonne, Kamath & Steinke 2020).
fn renyi_delta(order: f64, divergence: f64, epsilon: f64) -> f64 {
    let log = (order - 1.0) * (divergence - epsilon + (-1.0 / order).ln_1p()) - order.ln();
    if log >= 0.0 { 1.0 } else { log.exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probabilities of `y > cut` on N(1, 1) and N(0, 1).
    fn gaussian_event(cut: f64) -> (f64, f64) {
        (normal_tail(cut - 1.0), normal_tail(cut))
    }

    #[test]
    fn no_event_of_a_gaussian_shows_more_than_the_truth_in_any_unit() {
        // Sensitivity 1 and σ = 1: μ = 1, ρ = ½, divergence λ/2.
        for cut in [-1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 4.5] {
            let (p, a) = gaussian_event(cut);
            let of = |measure: Measure| measure.of(p / 2.0, a / 2.0, 1);
            assert!((of(Measure::Mu) - 1.0).abs() < 1e-9, "every event shows μ");
            assert!(
                of(Measure::Rho) <= 0.5 && of(Measure::Rho) > 0.1,
                "{cut}: ρ {}",
                of(Measure::Rho)
            );
            for order in [1.5, 2.0, 8.0] {
                assert!(of(Measure::Renyi { order }) <= order / 2.0);
            }
            assert!((Measure::Mu.of(p, a, 2) - 1.0).abs() < 1e-9, "the same with two answers");
        }
    }

    #[test]
    fn divergences_are_those_of_the_definition() {
        // ln Σ x^λ·y^(1−λ)/(λ − 1) with plain powers, and for ρ the largest divided by λ on a fine
        // grid.
        let plain = |order: f64, p: f64, a: f64| {
            let sum = |x: f64, y: f64| {
                x.powf(order) * y.powf(1.0 - order)
                    + (1.0 - x).powf(order) * (1.0 - y).powf(1.0 - order)
            };
            sum(p, a).max(sum(a, p)).ln() / (order - 1.0)
        };
        for (p, a) in [(0.7, 0.3), (0.02, 0.001), (0.999, 0.6), (0.3, 0.29)] {
            for order in [1.1, 2.0, 4.0, 8.0] {
                let found = Measure::Renyi { order }.of(p / 2.0, a / 2.0, 1);
                assert!((found - plain(order, p, a)).abs() < 1e-9, "{p} {a} {order}: {found}");
            }
            let fine = (0..4000)
                .map(|step| 1.0 + 1e-4 * 1.0033_f64.powi(step))
                .filter(|order| *order < 60.0);
            let largest = fine.map(|order| plain(order, p, a) / order).fold(0.0, f64::max);
            let found = Measure::Rho.of(p / 2.0, a / 2.0, 1);
            assert!(
                found <= largest * (1.0 + 1e-4) && found > 0.999 * largest,
                "{p} {a}: {found} against {largest}"
            );
        }
    }

    #[test]
    fn measures_grow_with_the_advantage_and_with_thinning() {
        let orders: std::sync::Arc<[(f64, f64)]> = [(2.0, 1.0), (8.0, 4.0)].into();
        let profile: std::sync::Arc<[(f64, f64)]> = [(0.5, 1e-3), (1.0, 1e-5)].into();
        let measures = [
            Measure::Mu,
            Measure::Rho,
            Measure::Renyi { order: 3.0 },
            Measure::Orders(orders),
            Measure::Profile(profile),
            Measure::Epsilon { delta: 0.01 },
            Measure::Delta { epsilon: 0.1 },
        ];
        for measure in &measures {
            for regions in [1, 2] {
                for guess in [0.02, 0.1, 0.4] {
                    let at = |guess: f64, right: f64| {
                        measure.of(guess * right, guess * (1.0 - right), regions)
                    };
                    for right in [0.55, 0.7, 0.9, 0.99] {
                        assert!(
                            at(guess, right) <= at(guess, right + 0.005) + 1e-12,
                            "{measure:?} {guess} {right}"
                        );
                        assert!(
                            at(guess, right) <= at(guess * 1.1, right) + 1e-12,
                            "{measure:?} {guess} {right}"
                        );
                    }
                    assert!(at(guess, 0.4) <= 0.0, "{measure:?}");
                }
            }
        }
    }

    #[test]
    fn what_follows_from_a_claim_allows_every_event_that_the_claim_allows() {
        // For Gaussian noise at its claim, every event stays below the line of every claim,
        // wherever it touches.
        let measures = [
            (Measure::Mu, 1.0),
            (Measure::Rho, 0.5),
            (Measure::Renyi { order: 4.0 }, 2.0),
            (Measure::Renyi { order: 1.5 }, 0.75),
        ];
        for (measure, value) in measures {
            for touch in [1e-6, 1e-3, 0.05, 0.3] {
                let (epsilon, delta) = measure.line(value, touch);
                for cut in [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 5.0] {
                    let (p, a) = gaussian_event(cut);
                    assert!(
                        p <= epsilon.exp() * a + delta + 1e-12,
                        "{measure:?} at {touch}, cut {cut}"
                    );
                }
            }
        }
        // The line of μ touches its curve: at Φ(−1.5) it allows Φ(−0.5).
        let (p, a) = gaussian_event(1.5);
        let (epsilon, delta) = Measure::Mu.line(1.0, a);
        assert!((epsilon.exp() * a + delta - p).abs() < 1e-6);
    }

    #[test]
    fn the_epsilon_of_a_claim_follows_from_its_unit() {
        // Δ = 1 and σ = 1 has δ = Φ(½ − ε) − e^ε·Φ(−½ − ε), which falls through 1e-5 there.
        let found = Claim::mu(1.0).unwrap().epsilon();
        let delta =
            |epsilon: f64| normal_tail(epsilon - 0.5) - epsilon.exp() * normal_tail(epsilon + 0.5);
        assert!(delta(found - 1e-6) > 1e-5 && delta(found + 1e-6) < 1e-5, "{found}");
        // From ρ less can be known: it is above, and below the simple conversion ρ + 2√(ρ·ln(1/δ)).
        let of_rho = Claim::rho(0.5).unwrap().epsilon();
        assert!(of_rho > found && of_rho < 0.5 + 2.0 * (0.5 * 1e5_f64.ln()).sqrt(), "{of_rho}");
        assert_eq!(Claim::new(0.7, 0.1).unwrap().epsilon(), 0.7);
        assert!(
            Claim::profile([(1.0, 0.1)]).unwrap().epsilon().is_infinite(),
            "nothing is said about δ = 1e-5"
        );
        assert!((Claim::profile([(1.0, 1e-5), (0.5, 0.1)]).unwrap().epsilon() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_allowed_share_of_right_guesses_is_where_the_limit_is_reached() {
        let pure = Claim::new(1.0, 0.0).unwrap();
        assert!((pure.main().allowed_right(0.3, 2) - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-9);
        // μ = 1 with a guess always: Φ(½).
        let gaussian = Claim::mu(1.0).unwrap();
        assert!((gaussian.main().allowed_right(1.0, 2) - normal_tail(-0.5)).abs() < 1e-9);
        assert_eq!(Claim::new(0.1, 0.9).unwrap().main().allowed_right(0.1, 2), 1.0);
    }
}
