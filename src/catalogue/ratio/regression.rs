//! The slope of a line through the origin, `θ = Σxy / Σx²`, clamped to `[−R, R]`.
//!
//! Every record is a point `[x, y]` with `|x| ≤ X` and `|y| ≤ Y`. *Claim*: see each mechanism
//! below. *Neighbours*: replace-one. *Source*: lecture notes "Smooth sensitivity", sections 13.1.2
//! and 13.2 (linear regression), in one dimension.
//!
//! **Sensitivity.** Let `A = Σx²` and `h(t) = Σ x(y − tx) = Σxy − tA`. `h` falls with slope `A` and
//! has the root θ. Replacing a point changes `h(t)` by the difference of two values of `x(y − tx)`.
//! For `0 ≤ t ≤ R` such a value is between `−XY − RX²` and `XY`. For negative `t` it is the mirror
//! image. So `h` moves by at most `C = 2XY + RX²` everywhere in `[−R, R]`. Let the clamped slopes
//! be `t < t'`, where t' belongs to the neighbour D'. Then t is not cut off above, so `h(t) ≤ 0`.
//! And t' is not cut off below, so `h'(t') ≥ 0` and `h(t') ≥ −C`. From t to t', h falls by `A·(t' −
//! t)`, so this is at most C. The same holds with the two datasets exchanged:
//!
//! ```text
//! |t' − t| ≤ C / max(A, A')
//! ```
//!
//! One point with a large x can contribute nearly all of A, so the ratio of `C/A` between
//! neighbours has no limit: it must not be computed from the data. `A` itself moves by at most
//! `X²`, and a lower limit of it can be computed privately.

use serde::Deserialize;

use crate::model::checked::{Epsilon, Positive, PositiveDelta};
use crate::model::{Dataset, Record};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// The public bounds of points and slope.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    /// X: the largest |x|.
    x: Positive,
    /// Y: the largest |y|.
    y: Positive,
    /// R: the largest |θ| that is released.
    slope: Positive,
}

impl Limits {
    /// C: the most that replacing a point moves `Σ x(y − tx)`, at any slope t in range.
    fn influence(self) -> f64 {
        let (x, y, slope) = (self.x.get(), self.y.get(), self.slope.get());
        2.0 * x * y + slope * x * x
    }
}

/// The least-squares fit to a dataset of points.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// The clamped slope; 0 if all x are 0, because every slope then fits equally well.
    slope: f64,
    /// `A = Σx²`.
    squares: f64,
}

impl Fit {
    fn new(data: &Dataset, limits: Limits) -> Result<Self, Misfit> {
        let (mut products, mut squares) = (0.0, 0.0);
        for record in data.records() {
            let (x, y) = point(record)?;
            if x.abs() > limits.x.get() || y.abs() > limits.y.get() {
                return Err(Misfit::Data(format!(
                    "the point {record} is outside the limits |x| ≤ {} and |y| ≤ {}; correct it or params.limits",
                    limits.x, limits.y
                )));
            }
            products += x * y;
            squares += x * x;
        }
        let bound = limits.slope.get();
        let slope = if squares > 0.0 { (products / squares).clamp(-bound, bound) } else { 0.0 };
        Ok(Self { slope, squares })
    }
}

fn point(record: &Record) -> Result<(f64, f64), Misfit> {
    let fields = if let Record::Fields(fields) = record { fields.as_slice() } else { &[] };
    match fields {
        [Record::Number(x), Record::Number(y)] if x.is_finite() && y.is_finite() => Ok((*x, *y)),
        _ => {
            Err(Misfit::Data(format!("the record {record} is not a point; write points as [x, y]")))
        }
    }
}

/// Parameters of the slope at local sensitivity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalSensitivityParams {
    epsilon: Epsilon,
    limits: Limits,
}

/// `θ + Lap(C/(A·ε))`.
///
/// *Claim*: ε. *The bug*: the scale is a function of the data. *True leakage*: infinite on every
/// pair with two different scales. The more they differ, the more often an output shows it.
pub struct LocalSensitivity {
    slope: f64,
    scale: f64,
}

impl Mechanism for LocalSensitivity {
    const NAME: &'static str = "regression/local-sensitivity";
    const SUMMARY: &'static str =
        "slope Σxy/Σx² plus noise in proportion to 1/Σx² of the data (broken)";
    type Params = LocalSensitivityParams;

    fn prepare(
        params: &LocalSensitivityParams,
        data: &Dataset,
        _: &Universe,
    ) -> Result<Self, Misfit> {
        let Fit { slope, squares } = Fit::new(data, params.limits)?;
        if squares == 0.0 {
            return Err(Misfit::Data(
                "all x are 0, so the local sensitivity is infinite; give the dataset a point with another x".to_owned(),
            ));
        }
        Ok(Self { slope, scale: params.limits.influence() / (squares * params.epsilon.get()) })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.slope + noise::laplace(rng, self.scale));
    }
}

/// Parameters of the slope with a private lower limit of Σx².
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundedSensitivityParams {
    /// ε₁, for the lower limit.
    limit_epsilon: Epsilon,
    /// ε₂, for the slope.
    slope_epsilon: Epsilon,
    delta: PositiveDelta,
    limits: Limits,
}

/// `L = A + Lap(X²/ε₁) − X²·ln(1/2δ)/ε₁`, then `(L, θ + Lap(C/(L·ε₂)))`, or `(L, ⊥)` when L is not
/// positive.
///
/// *Claim*: (ε₁ + ε₂, δ). L costs ε₁, because A moves by at most X². `L > A` has probability
/// `½·e^(−ln(1/2δ)) = δ`. Otherwise the scale is at least `C/(A·ε₂)`, which covers the move of θ at
/// ε₂.
pub struct BoundedSensitivity {
    fit: Fit,
    limit_scale: f64,
    margin: f64,
    /// `C/ε₂`: the scale of the slope's noise is this, divided by L.
    influence: f64,
    bottom: Cell,
}

impl Mechanism for BoundedSensitivity {
    const NAME: &'static str = "regression/bounded-sensitivity";
    const SUMMARY: &'static str =
        "slope Σxy/Σx² plus noise in proportion to 1/L, L a private lower limit of Σx²";
    type Params = BoundedSensitivityParams;

    fn prepare(
        params: &BoundedSensitivityParams,
        data: &Dataset,
        universe: &Universe,
    ) -> Result<Self, Misfit> {
        if params.delta.get() >= 0.5 {
            return Err(Misfit::params(
                "delta",
                &format!("is {}, must be less than 0.5", params.delta),
            ));
        }
        let limit_scale = params.limits.x.get().powi(2) / params.limit_epsilon.get();
        Ok(Self {
            fit: Fit::new(data, params.limits)?,
            limit_scale,
            margin: -(2.0 * params.delta.get()).ln() * limit_scale,
            influence: params.limits.influence() / params.slope_epsilon.get(),
            bottom: universe.symbol("⊥"),
        })
    }

    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let limit = self.fit.squares + noise::laplace(rng, self.limit_scale) - self.margin;
        row[0] = Cell::number(limit);
        row[1] = if limit > 0.0 {
            Cell::number(self.fit.slope + noise::laplace(rng, self.influence / limit))
        } else {
            self.bottom
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(x: f64, y: f64, slope: f64) -> Limits {
        let positive = |value| Positive::try_from(value).unwrap();
        Limits { x: positive(x), y: positive(y), slope: positive(slope) }
    }

    fn data(points: &[(f64, f64)]) -> Dataset {
        Dataset::new(
            points
                .iter()
                .map(|(x, y)| Record::Fields(vec![Record::Number(*x), Record::Number(*y)]))
                .collect(),
        )
    }

    #[test]
    fn the_slope_is_least_squares_and_clamped() {
        let fit = Fit::new(&data(&[(1.0, 0.5), (-0.5, 0.25)]), limits(1.0, 1.0, 2.0)).unwrap();
        assert!((fit.slope - 0.375 / 1.25).abs() < 1e-15 && fit.squares == 1.25, "{fit:?}");
        assert_eq!(Fit::new(&data(&[(0.1, 1.0)]), limits(1.0, 1.0, 2.0)).unwrap().slope, 2.0);
        assert_eq!(Fit::new(&data(&[(0.0, 1.0)]), limits(1.0, 1.0, 2.0)).unwrap().slope, 0.0);
        assert!(Fit::new(&data(&[(1.5, 0.0)]), limits(1.0, 1.0, 2.0)).is_err());
        assert!(Fit::new(&Dataset::of_numbers(&[1.0]), limits(1.0, 1.0, 2.0)).is_err());
    }

    #[test]
    fn no_neighbour_moves_the_slope_further_than_the_sensitivity() {
        let grid = [-1.0, -0.5, 0.0, 0.25, 1.0];
        let universe: Vec<(f64, f64)> =
            grid.iter().flat_map(|x| grid.iter().map(move |y| (*x, *y))).collect();
        for slope_limit in [0.5, 1.0, 3.0] {
            let limits = limits(1.0, 1.0, slope_limit);
            let mut tightest = 0.0_f64;
            // A flat slope, on which opposite points have the largest effect; a steep one through
            // small x; and a few others.
            let flat = [(1.0, 1.0), (1.0, -1.0)].repeat(2);
            let steep = vec![(0.25, 0.75); 16];
            for others in [
                flat,
                steep,
                vec![],
                vec![(0.5, 0.5)],
                vec![(0.25, 1.0), (1.0, 1.0)],
                vec![(-1.0, 1.0), (-1.0, 1.0), (0.25, -1.0)],
            ] {
                let fits: Vec<Fit> = universe
                    .iter()
                    .map(|point| {
                        Fit::new(&data(&[others.as_slice(), &[*point]].concat()), limits).unwrap()
                    })
                    .collect();
                for one in &fits {
                    for two in &fits {
                        let squares = one.squares.max(two.squares);
                        let moved = (one.slope - two.slope).abs() * squares / limits.influence();
                        assert!(moved <= 1.0 + 1e-12, "{one:?}, {two:?}: {moved} of the bound");
                        tightest = tightest.max(moved);
                    }
                }
            }
            assert!(
                tightest > 0.6,
                "slopes up to {slope_limit}: the bound is loose, only {tightest} of it is reached"
            );
        }
    }
}
