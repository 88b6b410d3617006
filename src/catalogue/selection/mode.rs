//! The most frequent category, released in four ways.
//!
//! *Claim*: noisy argmax ε; propose–test–release and the stability-based mode (ε, δ); the exact
//! mode claims ε but satisfies no ε. *Neighbours*: add-remove with `distance = "gap"`; replace-one
//! with `distance = "hamming"`. *Source*: lecture notes "Beyond global sensitivity" (example mode)
//! and slides "Gap-based mechanisms" (stability-based mode). *The bugs*: `threshold = "printed"` is
//! too low by one step (see [`Threshold`]); the gap moves by 2, not 1, when a record is replaced.
//! *True leakage*: δ is `½·e^ε·δ` if the mode changes; ε is 2ε for the gap under replace-one.
//!
//! If counts are equal, the first category wins. The categories are those of either dataset of a
//! pair.

use serde::Deserialize;

use crate::catalogue::test_release::guarded_mean::DistanceTest;
use crate::catalogue::test_release::threshold::Threshold;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Positive, PositiveDelta};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// The index of the largest count. If several are equal, the first.
#[must_use]
pub fn leader(counts: &[u64]) -> usize {
    (0..counts.len()).rev().max_by_key(|index| counts[*index]).unwrap_or(0)
}

/// The largest count minus the second largest. A category without records has count 0.
#[must_use]
pub fn gap(counts: &[u64]) -> u64 {
    let leader = leader(counts);
    let second = (0..counts.len())
        .filter(|index| *index != leader)
        .map(|index| counts[index])
        .max()
        .unwrap_or(0);
    counts.get(leader).map_or(0, |first| first - second)
}

/// How many records must be replaced to change the mode; `None` if it cannot change.
///
/// Each replacement takes a record from the leader and gives it to a rival, so it reduces the lead
/// by 2. A rival before the leader wins a tie and needs `⌈lead/2⌉`. A rival after the leader must
/// be ahead and needs `⌊lead/2⌋ + 1`.
#[must_use]
pub fn replacements_to_another_mode(counts: &[u64]) -> Option<u64> {
    let leader = leader(counts);
    let votes = counts.get(leader).copied().filter(|votes| *votes > 0)?;
    let rivals = (0..counts.len()).filter(|index| *index != leader);
    rivals
        .map(|rival| {
            if rival < leader {
                (votes - counts[rival]).div_ceil(2)
            } else {
                (votes - counts[rival]) / 2 + 1
            }
        })
        .min()
}

/// The symbols of all categories.
pub fn symbols(universe: &Universe) -> Vec<Cell> {
    universe.records().iter().map(|record| universe.symbol(&record.to_string())).collect()
}

/// The symbol of the exact mode. If the dataset is empty, the first category.
fn mode(data: &Dataset, universe: &Universe) -> Result<Cell, String> {
    let problem = "there is no category; give at least one of the datasets a record";
    symbols(universe).get(leader(&universe.counts(data))).copied().ok_or_else(|| problem.to_owned())
}

/// The exact mode takes no parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactParams {}

/// The exact mode.
///
/// *The bug*: no noise at all. *True leakage*: infinite if one record decides.
pub struct Exact {
    mode: Cell,
}

impl Mechanism for Exact {
    const NAME: &'static str = "mode/exact";
    const SUMMARY: &'static str = "the most frequent category without any noise (broken)";
    type Params = ExactParams;

    fn prepare(_: &ExactParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        Ok(Self { mode: mode(data, universe)? })
    }

    #[inline]
    fn run(&self, _: &mut Generator, row: &mut [Cell]) {
        row[0] = self.mode;
    }
}

/// Parameters of the noisy argmax.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoisyArgmaxParams {
    epsilon: Epsilon,
    /// The ℓ₁ sensitivity of all counts together: 1 under add-remove, 2 under replace-one.
    sensitivity: Positive,
}

/// The category whose count plus `Lap(Δ/ε)` is largest.
///
/// *Claim*: ε, because the whole noisy histogram is ε-DP when Δ is its ℓ₁ sensitivity.
/// *The bug*, by one parameter: Δ = 1 under replace-one. *True leakage* then: up to 2ε.
///
/// With two categories, the other one wins against a lead of d ≥ 0 with probability `¼(2 +
/// εd/Δ)·e^(−εd/Δ)`.
pub struct NoisyArgmax {
    counts: Vec<f64>,
    scale: f64,
    symbols: Vec<Cell>,
}

impl Mechanism for NoisyArgmax {
    const NAME: &'static str = "mode/noisy-argmax";
    const SUMMARY: &'static str = "the category with the largest noisy count";
    type Params = NoisyArgmaxParams;

    fn prepare(
        params: &NoisyArgmaxParams,
        data: &Dataset,
        universe: &Universe,
    ) -> Result<Self, Misfit> {
        mode(data, universe)?;
        Ok(Self {
            counts: universe.counts(data).into_iter().map(|count| count as f64).collect(),
            scale: params.sensitivity.get() / params.epsilon.get(),
            symbols: symbols(universe),
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let mut largest = f64::NEG_INFINITY;
        for (count, symbol) in self.counts.iter().zip(&self.symbols) {
            let noisy = count + noise::laplace(rng, self.scale);
            if noisy > largest {
                (largest, row[0]) = (noisy, *symbol);
            }
        }
    }
}

/// How the distance to a dataset with another mode is measured.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Distance {
    /// The largest count minus the second largest. Sensitivity 1 under add-remove, 2 under
    /// replace-one.
    #[default]
    Gap,
    /// The fewest replacements that change the mode. Sensitivity 1 under replace-one.
    Hamming,
}

/// Parameters of the modes that are tested first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestedParams {
    epsilon: Epsilon,
    delta: PositiveDelta,
    threshold: Threshold,
    #[serde(default)]
    distance: Distance,
}

/// The exact mode behind a private test.
struct Tested {
    test: DistanceTest,
    distance: f64,
    mode: Cell,
    bottom: Cell,
}

impl Tested {
    fn prepare(params: &TestedParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let counts = universe.counts(data);
        let distance = match params.distance {
            Distance::Gap => gap(&counts),
            Distance::Hamming => replacements_to_another_mode(&counts)
                .ok_or("no replacement can change the mode; give the dataset a record and the pair at least two categories")?,
        };
        Ok(Self {
            test: DistanceTest::new(params.epsilon, params.delta, params.threshold),
            distance: distance as f64,
            mode: mode(data, universe)?,
            bottom: universe.symbol("⊥"),
        })
    }

    /// The noisy distance, and the mode or ⊥.
    #[inline]
    fn run(&self, rng: &mut Generator) -> (f64, Cell) {
        let (noisy, passed) = self.test.run(self.distance, rng);
        (noisy, if passed { self.mode } else { self.bottom })
    }
}

/// The mode by propose–test–release with β = 0: the exact mode, or ⊥.
pub struct ProposeTestRelease(Tested);

impl Mechanism for ProposeTestRelease {
    const NAME: &'static str = "mode/propose-test-release";
    const SUMMARY: &'static str = "the exact mode or ⊥, as a private test of its lead decides";
    type Params = TestedParams;

    fn prepare(params: &TestedParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        Tested::prepare(params, data, universe).map(Self)
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = self.0.run(rng).1;
    }
}

/// `A_dist`, the stability-based mode: the noisy distance, and the exact mode or ⊥.
pub struct Stability(Tested);

impl Mechanism for Stability {
    const NAME: &'static str = "mode/stability";
    const SUMMARY: &'static str = "the noisy distance to another mode, and the exact mode or ⊥";
    type Params = TestedParams;

    fn prepare(params: &TestedParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        Tested::prepare(params, data, universe).map(Self)
    }

    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let (noisy, answer) = self.0.run(rng);
        row[0] = Cell::number(noisy);
        row[1] = answer;
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with probability
    /// at most α, here one in a million.
    const FALSE_ALARM: f64 = 1e-6;

    #[test]
    fn the_second_category_wins_with_the_derived_probability() {
        const N: u32 = 1_000_000;
        let (lead, scale) = (1.5_f64, 0.7_f64);
        let (first, second) = (Cell::symbol("a"), Cell::symbol("b"));
        let mechanism =
            NoisyArgmax { counts: vec![lead, 0.0], scale, symbols: vec![first, second] };
        let mut rng = Generator::seed_from_u64(5);
        let mut row = [first];
        let wins = (0..N)
            .filter(|_| {
                mechanism.run(&mut rng, &mut row);
                row[0] == second
            })
            .count();
        let expected = 0.25 * (2.0 + lead / scale) * (-lead / scale).exp();
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * f64::from(N))).sqrt();
        assert!(
            (wins as f64 / f64::from(N) - expected).abs() <= allowed,
            "{wins} of {N}, expected {expected}, α = {FALSE_ALARM}"
        );
    }

    /// All ways to distribute at most `total` records over `categories`.
    fn all_counts(categories: usize, total: u64) -> Vec<Vec<u64>> {
        if categories == 0 {
            return vec![Vec::new()];
        }
        (0..=total)
            .flat_map(|first| {
                all_counts(categories - 1, total - first)
                    .into_iter()
                    .map(move |rest| [vec![first], rest].concat())
            })
            .collect()
    }

    fn replaced(counts: &[u64]) -> Vec<Vec<u64>> {
        let mut neighbours = Vec::new();
        for from in (0..counts.len()).filter(|from| counts[*from] > 0) {
            for to in (0..counts.len()).filter(|to| *to != from) {
                let mut other = counts.to_vec();
                other[from] -= 1;
                other[to] += 1;
                neighbours.push(other);
            }
        }
        neighbours
    }

    /// The fewest steps to a dataset with another leader, by breadth-first search.
    fn brute_force(counts: &[u64]) -> u64 {
        let mut reached = vec![counts.to_vec()];
        for steps in 1.. {
            reached = reached.iter().flat_map(|counts| replaced(counts)).collect();
            reached.sort_unstable();
            reached.dedup();
            if reached.iter().any(|other| leader(other) != leader(counts)) {
                return steps;
            }
        }
        unreachable!()
    }

    #[test]
    fn the_first_category_wins_a_tie() {
        assert_eq!(leader(&[2, 3, 3]), 1);
        assert_eq!(leader(&[0, 0]), 0);
        assert_eq!((gap(&[2, 3, 3]), gap(&[1, 4, 2]), gap(&[5])), (0, 2, 5));
    }

    #[test]
    fn the_replacements_agree_with_brute_force_and_change_by_at_most_one() {
        for counts in all_counts(3, 7).into_iter().filter(|counts| counts.iter().sum::<u64>() > 0) {
            let here = replacements_to_another_mode(&counts).unwrap();
            assert_eq!(here, brute_force(&counts), "{counts:?}");
            for other in replaced(&counts) {
                assert!(
                    here.abs_diff(replacements_to_another_mode(&other).unwrap()) <= 1,
                    "{counts:?} and {other:?}"
                );
            }
        }
        assert_eq!(replacements_to_another_mode(&[0, 0]), None);
        assert_eq!(replacements_to_another_mode(&[3]), None);
    }

    #[test]
    fn an_added_record_changes_the_gap_by_at_most_one_and_a_replaced_record_by_at_most_two() {
        let mut widest = 0;
        for counts in all_counts(3, 6) {
            for added in 0..3 {
                let mut more = counts.clone();
                more[added] += 1;
                assert!(gap(&counts).abs_diff(gap(&more)) <= 1);
                if leader(&counts) != leader(&more) {
                    assert!(gap(&counts) <= 1 && gap(&more) <= 1, "{counts:?} and {more:?}");
                }
            }
            widest = replaced(&counts)
                .iter()
                .map(|other| gap(&counts).abs_diff(gap(other)))
                .fold(widest, u64::max);
        }
        assert_eq!(widest, 2);
    }
}
