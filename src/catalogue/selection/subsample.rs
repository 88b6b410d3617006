//! Subsample and aggregate, with the stability-based mode as the aggregator.
//!
//! *Claim*: (ε, δ). *Neighbours*: replace-one.
//! *Source*: slides "Gap-based mechanisms" (sampling stability; sample and aggregate).
//!
//! A statistic is computed on m random subsamples, and `A_dist` (noisy distance; the most frequent
//! answer or ⊥) is run on the m answers. The slides use uniformly random subsets and do not say how
//! much they may overlap, but privacy depends on it. Here the records are shuffled in every run and
//! cut into m disjoint blocks. Each block by itself is a uniformly random subset, and a replaced
//! record affects exactly one answer. For each shuffle the answers of neighbours differ in at most
//! one place, so the distance in replaced answers has sensitivity 1, and `A_dist` with the
//! corrected threshold is (ε, δ)-DP. So is the average over all shuffles.
//!
//! *The bug* of independent subsets: a record is in many of them at once and may change as many
//! answers. *True leakage*: a record in half of the subsets may change the majority: ε is up to
//! that of a distance that moves by m/2.

use rand::seq::SliceRandom;
use serde::Deserialize;

use crate::catalogue::selection::mode::{leader, replacements_to_another_mode, symbols};
use crate::catalogue::test_release::guarded_mean::DistanceTest;
use crate::catalogue::test_release::threshold::Threshold;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, PositiveDelta};
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// How the subsamples are drawn.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Subsets {
    /// A random partition into blocks.
    Disjoint,
    /// Random subsets, each independent of the others.
    Independent,
}

/// What is computed on a subsample.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Statistic {
    /// The record that comes last in order.
    Largest,
    /// The most frequent record.
    Mode,
}

/// More subsamples than this are rejected as a typo: every output needs all of them.
const MAX_BLOCKS: usize = 100_000;

/// Parameters of subsample-and-aggregate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    delta: PositiveDelta,
    threshold: Threshold,
    subsets: Subsets,
    statistic: Statistic,
    /// The number of subsamples.
    blocks: usize,
    /// The number of records in each.
    size: usize,
}

/// The most common answer among subsamples, if it is stable.
pub struct StableMode {
    test: DistanceTest,
    subsets: Subsets,
    statistic: Statistic,
    blocks: usize,
    size: usize,
    /// Each record as an index into the symbols.
    records: Vec<usize>,
    symbols: Vec<Cell>,
    bottom: Cell,
}

impl StableMode {
    /// The answer on one subsample.
    fn answer(&self, block: &[usize]) -> usize {
        match self.statistic {
            Statistic::Largest => block.iter().copied().max().unwrap_or(0),
            Statistic::Mode => {
                let mut counts = vec![0; self.symbols.len()];
                block.iter().for_each(|record| counts[*record] += 1);
                leader(&counts)
            }
        }
    }

    /// How often each answer occurs, for one draw of the subsamples.
    fn answer_counts(&self, rng: &mut Generator) -> Vec<u64> {
        let mut records = self.records.clone();
        let mut counts = vec![0; self.symbols.len()];
        match self.subsets {
            Subsets::Disjoint => {
                records.shuffle(rng);
                records.chunks_exact(self.size).for_each(|block| counts[self.answer(block)] += 1);
            }
            Subsets::Independent => {
                for _ in 0..self.blocks {
                    let (block, _) = records.partial_shuffle(rng, self.size);
                    counts[self.answer(block)] += 1;
                }
            }
        }
        counts
    }
}

impl Mechanism for StableMode {
    const NAME: &'static str = "subsample-and-aggregate/stable-mode";
    const SUMMARY: &'static str = "the most common answer on random subsamples: disjoint blocks (correct) or independent subsets";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let Params { blocks, size, .. } = *params;
        if blocks == 0 || size == 0 {
            return Err(Misfit::params(
                "blocks",
                &format!("is {blocks} and params.size is {size}, must both be at least 1"),
            ));
        }
        if blocks > MAX_BLOCKS {
            return Err(Misfit::params(
                "blocks",
                &format!("is {blocks}, must be at most {MAX_BLOCKS}"),
            ));
        }
        let records: Vec<usize> = data
            .records()
            .iter()
            .filter_map(|record| universe.records().binary_search(record).ok())
            .collect();
        let n = records.len();
        match params.subsets {
            Subsets::Disjoint if blocks.checked_mul(size) != Some(n) => {
                return Err(Misfit::Data(format!(
                    "{n} records cannot be divided into {blocks} blocks of {size}; give the dataset params.blocks × params.size records"
                )));
            }
            Subsets::Independent if size > n => {
                return Err(Misfit::Data(format!(
                    "{n} records have no subset of params.size = {size}; give the dataset more records or lower params.size"
                )));
            }
            _ => {}
        }
        let symbols = symbols(universe);
        if symbols.len() < 2 {
            return Err(Misfit::Data("all records are equal, so no answer can change; give the pair at least two categories".to_owned()));
        }
        Ok(Self {
            test: DistanceTest::new(params.epsilon, params.delta, params.threshold),
            subsets: params.subsets,
            statistic: params.statistic,
            blocks,
            size,
            records,
            symbols,
            bottom: universe.symbol("⊥"),
        })
    }

    fn width(&self) -> usize {
        2
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let counts = self.answer_counts(rng);
        // There are at least one answer and two categories, so a distance exists.
        let distance = replacements_to_another_mode(&counts).unwrap_or(0);
        let (noisy, passed) = self.test.run(distance as f64, rng);
        row[0] = Cell::number(noisy);
        row[1] = if passed { self.symbols[leader(&counts)] } else { self.bottom };
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::model::Record;

    fn prepared(
        letters: &str,
        subsets: Subsets,
        statistic: Statistic,
        blocks: usize,
        size: usize,
    ) -> StableMode {
        let params = Params {
            epsilon: Epsilon::try_from(1.0).unwrap(),
            delta: PositiveDelta::try_from(0.01).unwrap(),
            threshold: Threshold::Corrected,
            subsets,
            statistic,
            blocks,
            size,
        };
        let data =
            Dataset::new(letters.chars().map(|letter| Record::Text(letter.to_string())).collect());
        let all =
            Dataset::new(["a", "b", "c"].map(|letter| Record::Text(letter.to_owned())).to_vec());
        StableMode::prepare(&params, &data, &Universe::of(&data, &all)).unwrap()
    }

    #[test]
    fn one_different_record_changes_exactly_one_disjoint_block() {
        let mut rng = Generator::seed_from_u64(3);
        let mechanism = prepared("aaaaaaaaaaac", Subsets::Disjoint, Statistic::Largest, 4, 3);
        for _ in 0..100 {
            assert_eq!(mechanism.answer_counts(&mut rng), [3, 0, 1]);
        }
    }

    #[test]
    fn one_different_record_may_change_every_independent_subset() {
        let mut rng = Generator::seed_from_u64(3);
        let mechanism = prepared("aaac", Subsets::Independent, Statistic::Largest, 3, 2);
        let mut seen = [false; 4];
        for _ in 0..1000 {
            let counts = mechanism.answer_counts(&mut rng);
            assert_eq!(counts.iter().sum::<u64>(), 3);
            seen[usize::try_from(counts[2]).unwrap()] = true;
        }
        assert_eq!(seen, [true; 4]);
    }

    #[test]
    fn a_block_answers_its_own_mode_and_the_first_category_wins_a_tie() {
        let mechanism = prepared("aabbcc", Subsets::Disjoint, Statistic::Mode, 2, 3);
        assert_eq!(mechanism.answer(&[2, 1, 2]), 2);
        assert_eq!(mechanism.answer(&[2, 1, 0]), 0);
    }
}
