//! The share of users who have a property: a of b users, released as a ratio.
//!
//! Every record is a user: 1 with the property, 0 without. `b` counts all users, `a` counts the
//! users with a 1. *Claim*: see each mechanism below. *Neighbours*: add-remove of a user, who adds
//! 1 to `b`, or to both `a` and `b`; where the text says so, replace-one, which moves only `a`.
//! *Source*: the post "Privately bounding local sensitivity" (2024-07-20); its last mechanism is
//! algorithm 3 of Kulesza, Suresh and Wang 2024.
//!
//! Removing a user moves `a/b` by `(b−a)/(b²−b)` (a one leaves) or by `a/(b²−b)` (a zero leaves).
//! Adding a user moves it by less. So `LS(a, b) ≤ max(a, b−a) / (b²−b)` for `b > 1`.

use serde::Deserialize;

use crate::model::Dataset;
use crate::model::checked::{Epsilon, Positive, PositiveDelta};
use crate::noise::{self, Generator, LEAST_RATE};
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// The counts of a dataset of users.
#[derive(Clone, Copy)]
struct Users {
    /// `a`: users with a 1.
    ones: f64,
    /// `b`: all users.
    all: f64,
}

impl Users {
    fn count(data: &Dataset) -> Result<Self, Misfit> {
        let mut ones = 0.0;
        for value in data.numbers()? {
            match value {
                0.0 => {}
                1.0 => ones += 1.0,
                other => {
                    return Err(Misfit::Data(format!(
                        "the record {other} is not a user of a ratio; each user must be 0 or 1"
                    )));
                }
            }
        }
        Ok(Self { ones, all: data.len() as f64 })
    }

    /// The exact ratio; NaN if there are no users.
    fn ratio(self) -> f64 {
        self.ones / self.all
    }
}

/// The largest move of `a/b` when one user leaves. No neighbour under add-remove moves it further.
/// Needs `b > 1`.
fn local_sensitivity(a: f64, b: f64) -> f64 {
    a.max(b - a) / (b * b - b)
}

/// Numerator and denominator, each with Laplace noise.
#[derive(Clone, Copy)]
struct NoisyParts {
    users: Users,
    scale: f64,
}

impl NoisyParts {
    #[inline]
    fn draw(&self, rng: &mut Generator) -> f64 {
        let ones = self.users.ones + noise::laplace(rng, self.scale);
        let all = self.users.all + noise::laplace(rng, self.scale);
        ones / all
    }
}

/// Parameters of the naive ratio and of the ratio at the data's local sensitivity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlainParams {
    epsilon: Epsilon,
}

/// `(a + Lap(2/ε)) / (b + Lap(2/ε))`.
///
/// *Claim*: ε under add-remove: `a` and `b` each move by at most 1, and each gets half of ε.
pub struct Naive(NoisyParts);

impl Mechanism for Naive {
    const NAME: &'static str = "ratio/naive";
    const SUMMARY: &'static str = "ratio of two counts, each with noise at half of ε";
    type Params = PlainParams;

    fn prepare(params: &PlainParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        Ok(Self(NoisyParts { users: Users::count(data)?, scale: 2.0 / params.epsilon.get() }))
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.0.draw(rng));
    }
}

/// `a/b + Lap(LS(a, b)/ε)`. The scale is computed from the data.
///
/// *Claim*: ε under add-remove. *The bug*: the scale differs between neighbours, and the tails
/// reveal it. *True leakage*: infinite on every pair with two different scales. With (0, 2)/(1, 3)
/// one scale is three times the other.
pub struct LocalSensitivity {
    ratio: f64,
    scale: f64,
}

impl Mechanism for LocalSensitivity {
    const NAME: &'static str = "ratio/local-sensitivity";
    const SUMMARY: &'static str = "ratio plus noise at the data's own local sensitivity (broken)";
    type Params = PlainParams;

    fn prepare(params: &PlainParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let users = Users::count(data)?;
        if users.all < 2.0 {
            return Err(Misfit::Data(format!(
                "the local sensitivity of {} users is not defined; give the dataset at least 2",
                users.all
            )));
        }
        Ok(Self {
            ratio: users.ratio(),
            scale: local_sensitivity(users.ones, users.all) / params.epsilon.get(),
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = Cell::number(self.ratio + noise::laplace(rng, self.scale));
    }
}

/// Ranges that contain `a` and `b`, except with probability δ.
#[derive(Clone, Copy, Debug)]
struct Ranges {
    a: (f64, f64),
    b: (f64, f64),
}

/// How a bound on the local sensitivity follows from the ranges of `a` and `b`.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Bound {
    /// As in the proof of the post's theorem 2: the maximum of `LS` over the ranges, for
    /// add-remove.
    #[default]
    Proven,
    /// As in the post's code: the two ends of the range of `a` are swapped.
    Printed,
    /// The maximum of `1/b`, which is the move of `a/b` when a user's bit flips. For replace-one.
    ReplaceOne,
}

impl Bound {
    /// The bound. Needs ranges of whole numbers, with `b` at least 2.
    #[inline]
    fn on_sensitivity(
        self,
        Ranges { a: (a_lower, a_upper), b: (b_lower, b_upper) }: Ranges,
    ) -> f64 {
        let (a_when_zero_leaves, a_when_one_leaves) = match self {
            Self::Proven => (a_upper, a_lower),
            Self::Printed => (a_lower, a_upper),
            Self::ReplaceOne => return 1.0 / b_lower,
        };
        let zero_leaves = a_when_zero_leaves / (b_lower * b_lower - b_lower);
        // (b−a)/(b²−b) rises in b up to a + √(a²−a) and then falls. Its maximum over whole numbers
        // is next to this peak or at an end.
        let peak = a_lower + (a_lower * a_lower - a_lower).sqrt();
        let one_leaves = |b: f64| (b - a_when_one_leaves) / (b * b - b);
        [peak.floor(), peak.ceil()]
            .into_iter()
            .filter(|b| (b_lower..=b_upper).contains(b))
            .map(one_leaves)
            .fold(one_leaves(b_lower).max(one_leaves(b_upper)), f64::max)
            .max(zero_leaves)
    }
}

fn one_tenth() -> f64 {
    0.1
}

/// Parameters of the ratio at a privately bounded local sensitivity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundedSensitivityParams {
    epsilon: Epsilon,
    delta: PositiveDelta,
    /// The fraction of ε that the ranges of `a` and `b` cost.
    #[serde(default = "one_tenth")]
    range_fraction: f64,
    #[serde(default)]
    bound: Bound,
}

/// Ranges of `a` and `b` from discrete Laplace noise at ε₁/2 each, then `a/b + Lap(bound/ε₂)`, ε₁ +
/// ε₂ = ε.
///
/// With `T = 2·ln(2/δ)/ε₁` the ranges are `[max(0, ⌊â−T⌋), ⌈â+T⌉]` and `[⌊b̂−T⌋, ⌈b̂+T⌉]`. If the
/// lower end of `b` is at most 1, the naive ratio at ε₂ is released instead. (The post's code calls
/// it with an undefined variable `dataset`, but the meaning is clear.)
///
/// *Claim*: (ε, δ). Both ranges are right with probability at least 1 − δ: noise beyond the rounded
/// T on either side has probability `2q^(⌈T⌉+1)/(1+q) ≤ q^T = δ/2`, q = e^(−ε₁/2). Then the scale
/// is at least `LS/ε₂`, and the three steps compose. With the bound `1/b` the same argument holds
/// for replace-one.
///
/// *The bug* of `printed`: it uses `a_lower` where the proof has `a_upper`, and vice versa. So both
/// terms are bounded from *below*. *True leakage* at ε = 1, δ = 1e-6, T = 290: 2.69 at (0, 400)/(1,
/// 401), 2.72 at (200, 400)/(201, 401); 5.83 at (250, 330)/(250, 331), where `a_lower` is 0 and
/// `a_upper` is close to `b_upper`, so that both terms nearly vanish. (Mixtures over all noisy
/// ranges, integrated numerically.)
///
/// *The bug* of `proven` under replace-one: the move is `1/b`, up to twice `LS`. *True leakage* at
/// (10000, 20000)/(10001, 20000): 1.70.
pub struct BoundedSensitivity {
    users: Users,
    ratio: f64,
    naive: NoisyParts,
    range_rate: f64,
    margin: f64,
    release_epsilon: f64,
    bound: Bound,
}

impl BoundedSensitivity {
    /// Ranges from noisy counts.
    #[inline]
    fn ranges(&self, noisy_ones: f64, noisy_all: f64) -> Ranges {
        let around = |noisy: f64| ((noisy - self.margin).floor(), (noisy + self.margin).ceil());
        let (a_lower, a_upper) = around(noisy_ones);
        Ranges { a: (a_lower.max(0.0), a_upper), b: around(noisy_all) }
    }
}

impl Mechanism for BoundedSensitivity {
    const NAME: &'static str = "ratio/bounded-sensitivity";
    const SUMMARY: &'static str = "ratio plus noise at a private bound on local sensitivity: proven, printed (broken) or for replace-one";
    type Params = BoundedSensitivityParams;

    fn prepare(
        params: &BoundedSensitivityParams,
        data: &Dataset,
        _: &Universe,
    ) -> Result<Self, Misfit> {
        let fraction = params.range_fraction;
        if !(fraction > 0.0 && fraction < 1.0) {
            return Err(Misfit::params(
                "range_fraction",
                &format!("is {fraction}, must be greater than 0 and less than 1"),
            ));
        }
        let users = Users::count(data)?;
        let range_epsilon = params.epsilon.get() * fraction;
        let release_epsilon = params.epsilon.get() - range_epsilon;
        if range_epsilon / 2.0 < LEAST_RATE {
            return Err(Misfit::params(
                "epsilon",
                &format!(
                    "is {:e}, too small for finite ranges; epsilon · range_fraction / 2 must be at least {LEAST_RATE:e}",
                    params.epsilon.get()
                ),
            ));
        }
        Ok(Self {
            users,
            ratio: users.ratio(),
            naive: NoisyParts { users, scale: 2.0 / release_epsilon },
            range_rate: range_epsilon / 2.0,
            margin: 2.0 * (2.0 / params.delta.get()).ln() / range_epsilon,
            release_epsilon,
            bound: params.bound,
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let noisy_ones = self.users.ones + noise::discrete_laplace(rng, self.range_rate);
        let noisy_all = self.users.all + noise::discrete_laplace(rng, self.range_rate);
        let ranges = self.ranges(noisy_ones, noisy_all);
        row[0] = Cell::number(if ranges.b.0 <= 1.0 {
            self.naive.draw(rng)
        } else {
            self.ratio
                + noise::laplace(rng, self.bound.on_sensitivity(ranges) / self.release_epsilon)
        });
    }
}

fn one() -> Positive {
    Positive::ONE
}

/// Parameters of the ratio of a count and its complement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnesAndZerosParams {
    epsilon: Epsilon,
    /// The ℓ₁ sensitivity of (ones, zeros): 1 under add-remove, 2 under replace-one.
    #[serde(default = "one")]
    sensitivity: Positive,
}

/// `A/(A + Z)` with `A = a + Lap(Δ/ε)` and `Z = (b − a) + Lap(Δ/ε)`.
///
/// *Claim*: ε if Δ is the sensitivity of (a, b − a): each user counts in only one of the two. *The
/// bug*, by one parameter: Δ = 1 under replace-one, where a flipped bit moves both. *True leakage*
/// at ε = 1 then: 2 for the two counts. The ratio alone shows only which line through the origin
/// they are on. It reaches 1.86 at (0, 6)/(1, 6) and 1.92 at (500, 1001)/(501, 1001): the supremum
/// of the density ratio over all lines.
pub struct OnesAndZeros {
    ones: f64,
    zeros: f64,
    scale: f64,
}

impl Mechanism for OnesAndZeros {
    const NAME: &'static str = "ratio/ones-and-zeros";
    const SUMMARY: &'static str =
        "noisy ones over noisy ones plus noisy zeros (Kulesza, Suresh, Wang)";
    type Params = OnesAndZerosParams;

    fn prepare(params: &OnesAndZerosParams, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let users = Users::count(data)?;
        Ok(Self {
            ones: users.ones,
            zeros: users.all - users.ones,
            scale: params.sensitivity.get() / params.epsilon.get(),
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let ones = self.ones + noise::laplace(rng, self.scale);
        let zeros = self.zeros + noise::laplace(rng, self.scale);
        row[0] = Cell::number(ones / (ones + zeros));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(from: u32, to: u32) -> impl Iterator<Item = f64> + Clone {
        (from..=to).map(f64::from)
    }

    #[test]
    fn local_sensitivity_covers_all_neighbours_and_is_exact_if_both_kinds_of_user_exist() {
        for b in whole(2, 30) {
            for a in whole(0, 30).filter(|a| *a <= b) {
                let mut neighbours = vec![(a + 1.0, b + 1.0), (a, b + 1.0)];
                if a > 0.0 {
                    neighbours.push((a - 1.0, b - 1.0));
                }
                if a < b {
                    neighbours.push((a, b - 1.0));
                }
                let moved =
                    neighbours.iter().map(|(c, d)| (c / d - a / b).abs()).fold(0.0, f64::max);
                let bound = local_sensitivity(a, b);
                assert!(bound >= moved - 1e-12, "({a}, {b}): {bound} < {moved}");
                if a > 0.0 && a < b {
                    assert!((bound - moved).abs() < 1e-12, "({a}, {b}): {bound}, not {moved}");
                }
            }
        }
    }

    /// All pairs of small ranges.
    fn small_ranges() -> impl Iterator<Item = Ranges> {
        let ends = |from, to| {
            whole(from, to).flat_map(move |low| {
                whole(from, to).filter(move |high| *high >= low).map(move |high| (low, high))
            })
        };
        ends(0, 9).flat_map(move |a| ends(2, 14).map(move |b| Ranges { a, b }))
    }

    /// The maximum of a function of (a, b) over all whole numbers in the ranges.
    fn maximum(ranges: Ranges, of: impl Fn(f64, f64) -> f64) -> f64 {
        let mut most = f64::NEG_INFINITY;
        let (mut a, (b_lower, b_upper)) = (ranges.a.0, ranges.b);
        while a <= ranges.a.1 {
            let mut b = b_lower;
            while b <= b_upper {
                most = most.max(of(a, b));
                b += 1.0;
            }
            a += 1.0;
        }
        most
    }

    #[test]
    fn the_proven_bound_is_the_maximum_over_the_ranges() {
        for ranges in small_ranges() {
            let bound = Bound::Proven.on_sensitivity(ranges);
            assert!(
                (bound - maximum(ranges, local_sensitivity)).abs() < 1e-12,
                "{ranges:?}: {bound}"
            );
        }
    }

    #[test]
    fn the_bound_for_replace_one_covers_a_flipped_bit() {
        for ranges in small_ranges() {
            let bound = Bound::ReplaceOne.on_sensitivity(ranges);
            let flip = maximum(ranges, |a, b| ((a + 1.0) / b - a / b).abs());
            assert!((bound - flip).abs() < 1e-12, "{ranges:?}: {bound}, not {flip}");
        }
    }

    #[test]
    fn the_printed_bound_is_too_small() {
        let ranges = Ranges { a: (0.0, 291.0), b: (109.0, 691.0) };
        let bound = Bound::Printed.on_sensitivity(ranges);
        assert_eq!(bound, 400.0 / (691.0 * 690.0));
        assert!(bound < local_sensitivity(0.0, 400.0) / 2.9, "{bound}");
        let too_small = small_ranges()
            .filter(|ranges| {
                Bound::Printed.on_sensitivity(*ranges) < maximum(*ranges, local_sensitivity) - 1e-12
            })
            .count();
        assert!(
            too_small > small_ranges().count() / 2,
            "{too_small} of {}",
            small_ranges().count()
        );
    }

    #[test]
    fn the_printed_bound_is_small_but_never_zero() {
        // Ranges extend 291 to either side. A lower end of 0 for `a` means at most 291 noisy ones,
        // and a lower end of 2 for `b` means at least 293 noisy users.
        for ones in whole(0, 900) {
            for all in whole(293, 900) {
                let ranges = Ranges {
                    a: ((ones - 291.0).max(0.0), ones + 291.0),
                    b: (all - 291.0, all + 291.0),
                };
                assert!(Bound::Printed.on_sensitivity(ranges) > 0.0, "{ranges:?}");
            }
        }
    }

    #[test]
    fn ranges_extend_equally_to_both_sides_but_not_below_zero_for_ones() {
        let parse = |text: &str| toml::from_str::<BoundedSensitivityParams>(text).unwrap();
        let data = Dataset::of_numbers(&[0.0, 1.0, 1.0]);
        let params = parse("epsilon = 1.0\ndelta = 1e-6");
        let mechanism =
            BoundedSensitivity::prepare(&params, &data, &Universe::of(&data, &data)).unwrap();
        // 2·ln(2e6)/0.1 = 290.17
        let ranges = mechanism.ranges(300.0, 400.0);
        assert_eq!((ranges.a, ranges.b), ((9.0, 591.0), (109.0, 691.0)));
        assert_eq!(mechanism.ranges(200.0, 400.0).a, (0.0, 491.0));
    }

    #[test]
    fn users_are_counted_and_other_records_are_rejected() {
        let users = Users::count(&Dataset::of_numbers(&[0.0, 1.0, 1.0, 0.0, 0.0])).unwrap();
        assert_eq!((users.ones, users.all), (2.0, 5.0));
        assert!(Users::count(&Dataset::of_numbers(&[2.0])).is_err());
    }
}
