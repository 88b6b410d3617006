//! What a claim in any unit allows an attacker of one canary.
//!
//! A claim allows an event to have probability x with the canary only if it has at least `F⁻¹(x)`
//! without it, and the same with the two exchanged. F is concave, so F⁻¹ is convex. It falls if the
//! claim grows.

use crate::model::{Limit, Measure};
use crate::stats::binomial::{normal_quantile, normal_tail};

/// Log-odds between which a curve is tabulated, and the number of points.
const TABLE: (f64, usize) = (23.0, 240);

/// The halvings that solve for a probability.
const HALVINGS: usize = 60;

/// F⁻¹, from below.
pub enum Curve {
    /// `Φ(Φ⁻¹(x) − μ)`.
    Gaussian(f64),
    /// The points (ε, δ).
    Points(Vec<(f64, f64)>),
    /// A table of a convex curve: log-odds of x, x, and the value.
    Table(Vec<(f64, f64)>),
}

impl Curve {
    /// The curve of a claim; `None` if it is not about privacy.
    #[must_use]
    pub fn new(limit: &Limit) -> Option<Self> {
        let Limit { measure, value } = limit;
        Some(match measure {
            Measure::Mu => Self::Gaussian(*value),
            Measure::Epsilon { delta } => Self::Points(vec![(*value, *delta)]),
            Measure::Delta { epsilon } => Self::Points(vec![(*epsilon, *value)]),
            Measure::Profile(points) => {
                Self::Points(points.iter().map(|(at, delta)| (value * at, *delta)).collect())
            }
            Measure::Rho | Measure::Renyi { .. } | Measure::Orders(_) => Self::table(limit),
            Measure::Distance { .. } => return None,
        })
    }

    /// The least probability without the canary of an event with probability `x` with it.
    #[must_use]
    pub fn inverse(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        let x = x.min(1.0);
        let value = match self {
            // The upper quantile of x is −Φ⁻¹(x).
            Self::Gaussian(mu) => normal_tail(normal_quantile(x) + mu),
            // x ≤ e^ε·a + δ, and 1 − a ≤ e^ε·(1 − x) + δ for the complement.
            Self::Points(points) => points
                .iter()
                .map(|(epsilon, delta)| {
                    let odds = epsilon.exp();
                    ((x - delta) / odds).max(1.0 - delta - odds * (1.0 - x))
                })
                .fold(0.0, f64::max),
            Self::Table(points) => below(points, x),
        };
        // Rounding errors of the normal distribution and of tables are far below this.
        value * (1.0 - 1e-9)
    }

    fn table(limit: &Limit) -> Self {
        let (end, points) = TABLE;
        let xs = (0..points).map(|i| -end + 2.0 * end * i as f64 / (points - 1) as f64);
        Self::Table(
            xs.map(|log_odds| {
                let x = crate::stats::binomial::logistic(log_odds);
                (x, solved(limit, x))
            })
            .collect(),
        )
    }
}

/// The least `a` for which the claim allows an event to have the probabilities x and a, from below.
fn solved(limit: &Limit, x: f64) -> f64 {
    // Geometric halving, because a may be tiny.
    let (mut low, mut high) = (x.ln() - 80.0, x.ln());
    if limit.measure.of(x, low.exp(), 2) <= limit.value {
        return 0.0;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if limit.measure.of(x, middle.exp(), 2) <= limit.value {
            high = middle;
        } else {
            low = middle;
        }
    }
    low.exp()
}

/// A lower bound at x of a convex growing function that is known at these points: its value at the
/// point before x, and the lines through the two points before x and through the two points after it.
fn below(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.partition_point(|(at, _)| *at <= x);
    let Some(before) = after.checked_sub(1) else { return 0.0 };
    let line = |one: usize, other: usize| {
        let (Some((x1, y1)), Some((x2, y2))) = (points.get(one), points.get(other)) else {
            return 0.0;
        };
        if x2 > x1 { y1 + (y2 - y1) / (x2 - x1) * (x - x1) } else { 0.0 }
    };
    let left = before.checked_sub(1).map_or(0.0, |earlier| line(earlier, before));
    // Values are from below, so a line extrapolates their errors; points are far enough apart for
    // these not to matter.
    points[before].1.max(left).max(line(after, after + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Claim;

    fn curve(claim: &Claim) -> Curve {
        Curve::new(claim.main()).unwrap()
    }

    #[test]
    fn gaussian_curves_agree_with_known_values() {
        // Φ⁻¹(.5) = 0, so F⁻¹(.5) = Φ(−μ).
        let one = curve(&Claim::mu(1.0).unwrap());
        assert!((one.inverse(0.5) - 0.158_655_253_931).abs() < 1e-9);
        assert!((one.inverse(0.841_344_746_068) - 0.5).abs() < 1e-8);
        assert_eq!(one.inverse(0.0), 0.0);
    }

    #[test]
    fn a_profile_with_the_points_of_a_gaussian_is_close_to_it_from_below() {
        let mu = Claim::mu(1.0).unwrap();
        let points = (1..1200).map(|i| f64::from(i) * 0.01);
        let profile =
            Claim::profile(points.map(|epsilon| (epsilon, mu.delta_at(epsilon).min(0.99))))
                .unwrap();
        let (exact, found) = (curve(&mu), curve(&profile));
        for x in [1e-4, 0.01, 0.3, 0.5, 0.7, 0.99] {
            let (exact, found) = (exact.inverse(x), found.inverse(x));
            assert!(found <= exact + 1e-12 && found > exact - 1e-4, "{x}: {found} of {exact}");
        }
    }

    #[test]
    fn tables_are_below_what_they_tabulate_and_close_to_it() {
        for claim in [
            Claim::rho(0.5).unwrap(),
            Claim::rho(0.01).unwrap(),
            Claim::renyi(2.0, 1.0).unwrap(),
            Claim::renyi(16.0, 3.0).unwrap(),
        ] {
            let found = curve(&claim);
            for log_odds in (-140..=140).map(|i| f64::from(i) * 0.1) {
                let x = crate::stats::binomial::logistic(log_odds);
                let (exact, value) = (solved(claim.main(), x), found.inverse(x));
                assert!(value <= exact * (1.0 + 1e-12), "{claim} at {x}: {value} of {exact}");
                assert!(value > exact * 0.97, "{claim} at {x}: {value} of {exact}");
            }
        }
    }

    #[test]
    fn a_gaussian_of_the_same_divergence_lies_above_its_zero_concentrated_curve() {
        // μ-GDP implies ρ = μ²/2, so the claim ρ allows at least as much.
        let (rho, mu) = (curve(&Claim::rho(0.5).unwrap()), curve(&Claim::mu(1.0).unwrap()));
        for x in [1e-3, 0.1, 0.5, 0.9, 0.999] {
            let (loose, tight) = (rho.inverse(x), mu.inverse(x));
            assert!(loose <= tight && loose > 0.4 * tight, "{x}: {loose} of {tight}");
        }
    }

    #[test]
    fn curves_fall_if_the_claim_grows() {
        let make: [fn(f64) -> Claim; 4] = [
            |value| Claim::mu(value).unwrap(),
            |value| Claim::rho(value).unwrap(),
            |value| Claim::renyi(4.0, value).unwrap(),
            |value| Claim::new(value, 1e-3).unwrap(),
        ];
        for claim in make {
            for x in [1e-3, 0.2, 0.8, 0.99] {
                let values = [0.3, 0.6, 1.2, 2.4].map(|value| curve(&claim(value)).inverse(x));
                assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
            }
        }
    }
}
