//! Tests whether two sources draw from the same distribution. Two processes of one program must:
//! noise that a process draws once and keeps, for example in a cache, makes a distribution of its
//! own.
//!
//! All tests are exact, or err on the safe side, for outputs of any distribution, with or without
//! atoms. They rest on this: if all draws are independent and alike, then swapping a draw of one
//! source with a draw of the other one does not change the joint distribution.
//!
//! *Values.* Let `S` be the values in the first half of a source's draws. Pair each draw of its
//! second half with a draw of the other source. Among the pairs of which exactly one draw is in
//! `S`, the number whose own draw is in `S` is Binomial(n, ½). A source with kept noise repeats its
//! own values and has none of the other's.
//!
//! *Order.* Among the pairs of draws without ties, the number of times that the first source's is
//! the larger one is Binomial(n, ½). It finds kept noise to which fresh noise is added.
//!
//! *Shares.* Divide the values of both sources together into up to 16 groups of about equally many
//! draws; equal values are in one group. For each pair of draws let `D` be the difference of their
//! groups' indicators, `S` the sum of all `D`, and `V` that of all `D·Dᵀ`. The signs of the `D` are
//! fair coins, so `Sᵀ·V⁻¹·S` is bounded as in `swaps.rs`. It finds a pool of noise from which a
//! source draws: with `n` draws from a pool of `m` values it is about `1 + n/m` times as large.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::binomial::upper_tail;
use super::independence::{FALSE_ALARM, ordered};
use super::swaps::squares_bound;
use crate::model::Side;
use crate::output::{Cell, Rows};

/// The most components of an output that are tested; the whole output is tested too.
const MAX_COMPONENTS: usize = 64;

/// The most groups of outputs whose shares are compared.
const GROUPS: usize = 16;

/// How two sources differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceDifference {
    /// One repeats values that the other one does not have: comparisons in its favour, and all
    /// comparisons.
    Values(u64, u64),
    /// The outputs of one are larger on this side: comparisons in its favour, and all comparisons.
    Order(Side, u64, u64),
    /// The shares of some groups of outputs differ. The sum of squares, rounded, and what it would
    /// be on average.
    Shares(u64, u64),
}

impl fmt::Display for SourceDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(favour, all) => write!(
                f,
                "each repeats values that the other one does not have ({})",
                one_way(*favour, *all)
            ),
            Self::Order(side, favour, all) => {
                write!(f, "on {side} the outputs of one are larger ({})", one_way(*favour, *all))
            }
            Self::Shares(found, usual) => write!(
                f,
                "some outputs are more frequent in one than in the other (a sum of squares is {found}, {usual} would be usual)"
            ),
        }
    }
}

/// Looks for a difference between two sources, each with its draws of left and of right. All have
/// equally many draws of the same width. For sources that do not differ it returns None, except
/// with probability at most [`FALSE_ALARM`].
#[must_use]
pub fn difference(one: [&Rows; 2], other: [&Rows; 2]) -> Option<SourceDifference> {
    let width = one[0].width();
    let components = width.min(MAX_COMPONENTS);
    // With several components, the last track is the whole output.
    let tracks = if width == 1 { 1 } else { components + 1 };
    let track = |rows: &Rows, track: usize| -> Vec<u64> {
        if track < components {
            rows.iter().map(|row| ordered(row[track * width / components])).collect()
        } else {
            rows.iter().map(|row| Cell::of_row(row).key()).collect()
        }
    };
    // Values in both directions, order on both sides, shares.
    let alpha = FALSE_ALARM / (5 * tracks) as f64;
    (0..tracks).find_map(|index| {
        let [one, other] = [one, other].map(|sides| sides.map(|rows| track(rows, index)));
        let values = test_values(&one, &other, alpha).or_else(|| test_values(&other, &one, alpha));
        values
            .or_else(|| {
                Side::BOTH.into_iter().find_map(|side| {
                    test_order(side, &one[side as usize], &other[side as usize], alpha)
                })
            })
            .or_else(|| test_shares(&one, &other, alpha))
    })
}

fn test_values(
    own: &[Vec<u64>; 2],
    foreign: &[Vec<u64>; 2],
    alpha: f64,
) -> Option<SourceDifference> {
    let (mut favour, mut all) = (0, 0);
    for (own, foreign) in own.iter().zip(foreign) {
        let (first, second) = own.split_at(own.len() / 2);
        let (in_favour, compared) = compare_values(first, second, foreign);
        favour += in_favour;
        all += compared;
    }
    (all > 0 && upper_tail(favour, all, 0.5) <= alpha)
        .then_some(SourceDifference::Values(favour, all))
}

/// Pairs draws of two kinds. Of the pairs with exactly one draw among the known values: in how many
/// it is the first kind's, and how many there are.
pub(super) fn compare_values(known: &[u64], own: &[u64], foreign: &[u64]) -> (u64, u64) {
    let mut known = known.to_vec();
    known.sort_unstable();
    let is_known = |value: &u64| known.binary_search(value).is_ok();
    let pairs = own.iter().zip(foreign).map(|(own, foreign)| (is_known(own), is_known(foreign)));
    pairs.fold((0, 0), |(favour, all), (own, foreign)| {
        (favour + u64::from(own && !foreign), all + u64::from(own != foreign))
    })
}

fn test_order(side: Side, one: &[u64], other: &[u64], alpha: f64) -> Option<SourceDifference> {
    let all = one.iter().zip(other).filter(|(a, b)| a != b).count() as u64;
    let larger = one.iter().zip(other).filter(|(a, b)| a > b).count() as u64;
    let favour = larger.max(all - larger);
    (all > 0 && 2.0 * upper_tail(favour, all, 0.5) <= alpha)
        .then_some(SourceDifference::Order(side, favour, all))
}

fn test_shares(one: &[Vec<u64>; 2], other: &[Vec<u64>; 2], alpha: f64) -> Option<SourceDifference> {
    let sides = one.iter().zip(other).map(|(one, other)| Shares::of(one, other).square());
    let (square, freedoms) =
        sides.fold((0.0, 0), |(square, freedoms), (more, of)| (square + more, freedoms + of));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative
    (squares_bound(square, freedoms) <= alpha)
        .then(|| SourceDifference::Shares(square.round() as u64, freedoms as u64))
}

/// The groups of two sources' draws on one side, without the last group: its share follows from
/// the others.
struct Shares {
    /// How many more draws of a group the first source has.
    sums: Vec<f64>,
    /// The sum of `D·Dᵀ` plus 1 on the diagonal, which only makes the square smaller.
    products: Vec<Vec<f64>>,
}

impl Shares {
    fn of(one: &[u64], other: &[u64]) -> Self {
        let mut all = [one, other].concat();
        all.sort_unstable();
        // The largest value of each group.
        let mut ends: Vec<u64> =
            (1..GROUPS).filter_map(|group| all.get(group * all.len() / GROUPS)).copied().collect();
        ends.dedup();
        if ends.last() == all.last() {
            ends.pop();
        }
        let freedoms = ends.len();
        let group = |value: &u64| ends.partition_point(|end| end < value);
        let mut sums = vec![0.0; freedoms];
        let mut products = vec![vec![0.0; freedoms]; freedoms];
        (0..freedoms).for_each(|index| products[index][index] = 1.0);
        for (one, other) in one.iter().zip(other) {
            let (one, other) = (group(one), group(other));
            if one == other {
                continue;
            }
            for (own, sign, foreign) in [(one, 1.0, other), (other, -1.0, one)] {
                if own < freedoms {
                    sums[own] += sign;
                    products[own][own] += 1.0;
                    if foreign < freedoms {
                        products[own][foreign] -= 1.0;
                    }
                }
            }
        }
        Self { sums, products }
    }

    /// `Sᵀ·V⁻¹·S`, and its degrees of freedom.
    fn square(mut self) -> (f64, usize) {
        // Gaussian elimination without pivots: V is positive definite. Each step takes one term
        // of the square and leaves the square of the rest.
        let freedoms = self.sums.len();
        let mut square = 0.0;
        for step in 0..freedoms {
            let pivot = self.products[step][step];
            square += self.sums[step].powi(2) / pivot;
            for row in step + 1..freedoms {
                let factor = self.products[row][step] / pivot;
                self.sums[row] -= factor * self.sums[step];
                for column in step + 1..freedoms {
                    self.products[row][column] -= factor * self.products[step][column];
                }
            }
        }
        (square, freedoms)
    }
}

fn one_way(favour: u64, all: u64) -> String {
    format!("{favour} of {all} comparisons go the same way, half of them would by chance")
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::noise::{Generator, gaussian, laplace};

    const DRAWS: usize = 256;

    /// The difference between two sources; `draw` gets the generator of a source, what this source
    /// keeps, and the side.
    fn found<const WIDTH: usize>(
        seed: u64,
        keep: impl Fn(&mut Generator) -> Vec<f64>,
        draw: impl Fn(&mut Generator, &[f64], Side) -> [Cell; WIDTH],
    ) -> Option<SourceDifference> {
        let [one, other] = [0, 1].map(|source| {
            let mut rng = Generator::seed_from_u64(2 * seed + source);
            let kept = keep(&mut rng);
            Side::BOTH.map(|side| {
                let mut rows = Rows::new(WIDTH);
                (0..DRAWS).for_each(|_| rows.push(&draw(&mut rng, &kept, side)));
                rows
            })
        });
        difference([&one[0], &one[1]], [&other[0], &other[1]])
    }

    fn kept(count: usize) -> impl Fn(&mut Generator) -> Vec<f64> {
        move |rng| (0..count).map(|_| gaussian(rng, 1.0)).collect()
    }

    fn nothing(_: &mut Generator) -> Vec<f64> {
        Vec::new()
    }

    fn shifted(side: Side, noise: f64) -> Cell {
        Cell::number(f64::from(side as u8) + noise)
    }

    #[test]
    fn noise_that_is_kept_is_found() {
        for seed in 0..50 {
            let one = found(seed, kept(1), |_, kept, side| [shifted(side, kept[0])]);
            assert_eq!(
                one,
                Some(SourceDifference::Values(DRAWS as u64, DRAWS as u64)),
                "one value"
            );
            // One of several values; 500 of them leave about 50 comparisons, of which 24 suffice.
            for values in [2, 10, 100, 500] {
                let several = found(seed, kept(values), |rng, kept, side| {
                    [shifted(side, kept[rng.random_range(0..values)])]
                });
                assert!(
                    matches!(several, Some(SourceDifference::Values(..))),
                    "seed {seed}, {values} values: {several:?}"
                );
            }
            let part = found(seed, kept(1), |rng, kept, side| {
                [Cell::number(laplace(rng, 1.0)), shifted(side, kept[0])]
            });
            assert!(matches!(part, Some(SourceDifference::Values(..))), "a component: {part:?}");
        }
    }

    #[test]
    fn kept_noise_under_fresh_noise_is_found() {
        // Two sources whose kept noise differs by 2, under fresh noise of scale ½: 0.97 of the
        // comparisons go the same way.
        for seed in 0..50 {
            let offset = |rng: &mut Generator| {
                vec![if *rng == Generator::seed_from_u64(2 * seed) { 2.0 } else { 0.0 }]
            };
            let found =
                found(seed, offset, |rng, kept, side| [shifted(side, kept[0] + laplace(rng, 0.5))]);
            assert!(matches!(found, Some(SourceDifference::Order(..))), "seed {seed}: {found:?}");
        }
    }

    /// The sums of squares and the degrees of freedom of two lists of numbers.
    fn square(one: &[u64], other: &[u64]) -> (f64, usize) {
        Shares::of(one, other).square()
    }

    #[test]
    fn the_square_of_two_groups_is_that_of_a_coin() {
        // 30 pairs (1, 2) and 10 pairs (2, 1): S = 20, V = 40 + 1.
        let one: Vec<u64> = (0..40).map(|index| if index < 30 { 1 } else { 2 }).collect();
        let other: Vec<u64> = one.iter().map(|value| 3 - value).collect();
        let (found, freedoms) = square(&one, &other);
        assert_eq!(freedoms, 1);
        assert!((found - 400.0 / 41.0).abs() < 1e-9, "{found}");
        assert_eq!(square(&[7; 10], &[7; 10]), (0.0, 0));
        assert_eq!(square(&[], &[]), (0.0, 0));
        // Groups that only pairs of their own connect: V has two blocks, and the squares add up.
        let one = [vec![1; 100], vec![3; 100]].concat();
        let other = [vec![2; 100], vec![4; 100]].concat();
        let (found, freedoms) = square(&one, &other);
        assert_eq!(freedoms, 3);
        assert!(found > 150.0 && found < 200.0, "{found}");
    }

    #[test]
    fn a_pool_of_noise_under_equal_values_is_found() {
        // 1,000 whole numbers per source, from which it draws 16,384 times for each side. A pool
        // that happens to be like the other one is missed: at least 9 in 10 must be found, and
        // 35 of 50 is below that by chance once in 10,000.
        let differs = |seed: u64| {
            let [one, other] = [0, 1].map(|source| {
                let mut rng = Generator::seed_from_u64(2 * seed + source);
                let pool: Vec<f64> = (0..1000).map(|_| laplace(&mut rng, 1.0).round()).collect();
                Side::BOTH.map(|side| {
                    let mut rows = Rows::new(1);
                    (0..16_384).for_each(|_| {
                        rows.push(&[shifted(side, pool[rng.random_range(0..1000)])]);
                    });
                    rows
                })
            });
            difference([&one[0], &one[1]], [&other[0], &other[1]]).is_some()
        };
        let found = (0..50).filter(|seed| differs(*seed)).count();
        assert!(found > 35, "{found} of 50");
    }

    #[test]
    fn the_shares_keep_their_level() {
        // 4,000 samples at α = 0.05. The bound errs on the safe side, so fewer raise an alarm.
        let alarms = (0..4000)
            .filter(|seed| {
                let mut rng = Generator::seed_from_u64(*seed);
                let mut draws = || -> [Vec<u64>; 2] {
                    [(), ()].map(|()| (0..300).map(|_| rng.random_range(0..40_u64)).collect())
                };
                let (one, other) = (draws(), draws());
                test_shares(&one, &other, 0.05).is_some()
            })
            .count() as u64;
        assert!(upper_tail(alarms, 4000, 0.05) > 1e-6, "{alarms} of 4,000");
        assert!(alarms > 0, "a test that never raises an alarm tests nothing");
    }

    #[test]
    fn sources_that_do_not_differ_pass() {
        // 1,000 pairs of sources of each kind; a false alarm has probability 3e-7 at most in each:
        // 1.5e-3 for all together.
        for seed in 0..1000 {
            assert_eq!(
                found(seed, nothing, |rng, _, side| [shifted(side, laplace(rng, 1.0))]),
                None,
                "noise, seed {seed}"
            );
            assert_eq!(
                found(seed, nothing, |rng, _, side| [shifted(side, laplace(rng, 1.0).round())]),
                None,
                "atoms, seed {seed}"
            );
            let rare = |rng: &mut Generator, _: &[f64], _| {
                [if rng.random_bool(0.02) { Cell::PANIC } else { Cell::number(laplace(rng, 1.0)) }]
            };
            assert_eq!(found(seed, nothing, rare), None, "a rare symbol, seed {seed}");
            assert_eq!(
                found(seed, nothing, |_, _, side| [shifted(side, 0.0), Cell::ABSENT]),
                None,
                "a constant"
            );
            let coin = |rng: &mut Generator, _: &[f64], _| {
                [
                    Cell::symbol(if rng.random() { "a" } else { "b" }),
                    Cell::number(laplace(rng, 1.0)),
                ]
            };
            assert_eq!(found(seed, nothing, coin), None, "a coin, seed {seed}");
        }
    }

    #[test]
    fn one_kept_value_of_each_source_may_be_the_same() {
        assert_eq!(
            found(1, |_| vec![4.0], |_, kept, side| [shifted(side, kept[0])]),
            None,
            "a deterministic mechanism"
        );
    }
}
