//! Divides a run into shards of about equal cost. The division depends only on the audits, the
//! settings, the number of shards and the costs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::control::count_controls;
use super::costs::{Costs, Prices};
use super::run::count_uncertain;
use super::{Audit, PairPlan, Plan};
use crate::model::Settings;

/// A draw of a program costs about as much as this many draws of a mechanism in Rust. Only the
/// order of magnitude matters.
const PROGRAM_COST: u64 = 100;

/// What every item costs in addition to its draws: learning, curves, the start of a program.
const BASE_COST: u64 = 200_000;

/// A finer division must be better by this part to be worth its repeated explorations.
const WORTHWHILE: u64 = 20;

/// Something that one shard does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorkItem {
    /// The index of the audit in the run.
    pub audit: usize,
    /// What of it.
    pub part: Part,
}

/// A part of an audit.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The statement with this index.
    Whole(usize),
    /// Some of the batches that certify the statement with this index.
    Batches(usize, Range<u64>),
    /// The rules of the statement with this index, for all of its batches. A shard does not need
    /// it: batches without rules explore. Where functions do not honour seeds, their rules must be
    /// learned once.
    Explore(usize),
    /// The control on the pair with this index. A single run audits only the control on the best
    /// pair, which no shard knows.
    Control(usize),
}

/// An item, and what it costs.
type Costed = (u64, WorkItem);

/// The items of each shard. Pairs that cost more than the others are cut into ranges of batches
/// where that shortens the longest shard.
#[must_use]
pub fn divide(
    audits: &[Audit],
    settings: Settings,
    shards: usize,
    costs: &Costs,
) -> Vec<Vec<WorkItem>> {
    let shards = shards.max(1);
    let plans = Plans::new(audits, settings);
    let prices = Prices::new(costs, &plans);
    let whole = plans.items(&prices, shards, u64::MAX);
    let share = whole.iter().map(|(cost, _)| *cost).fold(0, u64::saturating_add) / shards as u64;
    let mut best = assign(whole, shards);
    // Parts that cost at most this much of an equal share.
    for part in [2 * share, share, share / 2, share / 4] {
        let finer = assign(plans.items(&prices, shards, part.max(1)), shards);
        if finer.0 < best.0 - best.0 / WORTHWHILE {
            best = finer;
        }
    }
    best.1
}

/// The explorations that save the parts of a [division](divide()) from repeating them: one for each
/// pair that is cut into parts.
#[must_use]
pub fn explorations(audits: &[Audit], settings: Settings, shards: usize) -> Vec<WorkItem> {
    let items = divide(audits, settings, shards, &Costs::default()).into_iter().flatten();
    let first = items.filter_map(|WorkItem { audit, part }| match part {
        Part::Batches(pair, range) if range.start == 0 => Some((audit, pair)),
        _ => None,
    });
    let mut pairs: Vec<(usize, usize)> = first.collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(audit, pair)| WorkItem { audit, part: Part::Explore(pair) }).collect()
}

/// Gives each item to the shard that has the least to do, the most expensive first. Returns the
/// cost of the longest shard, and the items of each shard in the order of the run.
fn assign(items: Vec<Costed>, shards: usize) -> (u64, Vec<Vec<WorkItem>>) {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|index| Reverse(items[*index].0));
    let mut least: BinaryHeap<Reverse<(u64, usize)>> =
        (0..shards).map(|shard| Reverse((0, shard))).collect();
    let mut shard_of = vec![0; items.len()];
    let mut longest = 0;
    for index in order {
        let Some(Reverse((load, shard))) = least.pop() else { break };
        let load = load.saturating_add(items[index].0);
        shard_of[index] = shard;
        longest = longest.max(load);
        least.push(Reverse((load, shard)));
    }
    let mut given = vec![Vec::new(); shards];
    items.into_iter().zip(shard_of).for_each(|((_, item), shard)| given[shard].push(item));
    (longest, given)
}

/// All plans of a run.
pub struct Plans<'a> {
    audits: &'a [Audit],
    settings: Settings,
    uncertain: usize,
    controls: usize,
}

impl<'a> Plans<'a> {
    /// The plans of these audits in one run.
    pub fn new(audits: &'a [Audit], settings: Settings) -> Self {
        Self {
            audits,
            settings,
            uncertain: count_uncertain(audits),
            controls: count_controls(audits),
        }
    }

    /// The statements of an audit.
    pub fn statements(&self, audit: usize) -> Vec<Plan> {
        self.audits[audit].plans(self.settings, self.uncertain).collect()
    }

    /// The controls of an audit.
    pub fn controls(&self, audit: usize) -> Vec<Plan> {
        self.audits[audit].control_plans(self.settings, self.controls)
    }

    /// All items and their costs, in the order of the run. Pairs that cost more than `most` are cut
    /// into at most `shards` parts.
    fn items(&self, prices: &Prices, shards: usize, most: u64) -> Vec<Costed> {
        let mut items = Vec::new();
        for audit in 0..self.audits.len() {
            let mut add = |cost, part| items.push((cost, WorkItem { audit, part }));
            for (index, plan) in self.statements(audit).iter().enumerate() {
                let price = prices.of(audit, index, plan);
                let parts = || parts(plan, shards, price.estimate_of(most));
                match plan.divisible().map(|pair| (pair, pair.ranges(parts()))) {
                    Some((pair, ranges)) if ranges.len() > 1 => {
                        for range in ranges {
                            let cost = price.of(part_estimate(pair, &range));
                            add(cost, Part::Batches(index, range));
                        }
                    }
                    _ => add(price.of(estimate(plan)), Part::Whole(index)),
                }
            }
            // Most controls are refuted early.
            for (index, plan) in self.controls(audit).iter().enumerate() {
                add(prices.of(audit, index, plan).of(estimate(plan) / 8), Part::Control(index));
            }
        }
        items
    }
}

/// What all draws of a plan cost where nothing was measured.
pub fn estimate(plan: &Plan) -> u64 {
    let each = if plan.pair().subject.command().is_some() { PROGRAM_COST } else { 1 };
    plan.draws().saturating_mul(each).saturating_add(BASE_COST)
}

/// The same of one part: it explores too.
fn part_estimate(plan: &PairPlan, range: &Range<u64>) -> u64 {
    BASE_COST
        + plan.schedule().explore()
        + plan.pieces(range).iter().map(|piece| piece.draws).sum::<u64>()
}

/// Into how many parts a pair is cut so that none is estimated to cost more than `most`, if that is
/// possible.
fn parts(plan: &Plan, shards: usize, most: u64) -> u64 {
    let schedule = plan.pair().schedule();
    match most.checked_sub(BASE_COST + schedule.explore()) {
        _ if estimate(plan) <= most => 1,
        Some(certify) if certify > 0 => schedule.certify().div_ceil(certify).min(shards as u64),
        _ => shards as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Dataset, Params, Until};
    use crate::sample::{BATCH, Schedule};
    use crate::target::Subject;

    /// An audit with these draws on each of `pairs` pairs.
    fn audit(name: &str, draws: u64, pairs: usize) -> Audit {
        let claim = serde_json::from_str(r#"{ "epsilon": 1.0 }"#).unwrap();
        let names = (0..pairs).map(|pair| pair.to_string());
        let subject =
            Subject::Registered { mechanism: "laplace".to_owned(), params: Params::new() };
        let mut audit =
            Audit { draws: Some(draws), subject, ..Audit::given(name, "", claim, names) };
        audit.pairs.iter_mut().for_each(|pair| pair.left = Dataset::of_numbers(&[1.0]));
        audit
    }

    fn costs(audits: &[Audit], settings: Settings, division: &[Vec<WorkItem>]) -> Vec<u64> {
        let plans = Plans::new(audits, settings);
        let item_cost = |item: &WorkItem| match &item.part {
            Part::Batches(pair, range) => {
                part_estimate(plans.statements(item.audit)[*pair].pair(), range)
            }
            Part::Whole(pair) => estimate(&plans.statements(item.audit)[*pair]),
            _ => unreachable!("there are only pairs"),
        };
        division.iter().map(|items| items.iter().map(item_cost).sum()).collect()
    }

    /// Every pair is there once, as a whole or as parts that have each batch once.
    fn assert_all_once(audits: &[Audit], settings: Settings, division: &[Vec<WorkItem>]) {
        let plans = Plans::new(audits, settings);
        for audit in 0..audits.len() {
            for (pair, plan) in plans.statements(audit).iter().map(Plan::pair).enumerate() {
                let of_pair = division.iter().flatten().filter(|item| item.audit == audit);
                let mut ranges: Vec<Range<u64>> = of_pair
                    .filter_map(|item| match &item.part {
                        Part::Whole(index) if *index == pair => Some(0..u64::MAX),
                        Part::Batches(index, range) if *index == pair => Some(range.clone()),
                        _ => None,
                    })
                    .collect();
                ranges.sort_by_key(|range| range.start);
                if ranges[0].end == u64::MAX {
                    assert_eq!(ranges.len(), 1, "a pair is whole or in parts");
                } else {
                    assert!(ranges.windows(2).all(|two| two[0].end == two[1].start), "{ranges:?}");
                    assert_eq!(
                        (ranges[0].start, Some(ranges[ranges.len() - 1].end)),
                        (0, plan.divisible_batches())
                    );
                    let draws: u64 = ranges
                        .iter()
                        .flat_map(|range| plan.pieces(range))
                        .map(|piece| piece.draws)
                        .sum();
                    assert_eq!(draws, plan.schedule().certify());
                }
            }
        }
    }

    #[test]
    fn everything_is_in_one_shard_and_the_shards_cost_about_the_same() {
        let settings = Settings::default();
        let one = vec![audit("one", 1_000_000_000, 1)];
        let many: Vec<Audit> =
            (0..100).map(|index| audit(&index.to_string(), 10_000 << (index % 12), 2)).collect();
        let mixed: Vec<Audit> =
            many.iter().cloned().chain([audit("large", 300_000_000, 1)]).collect();
        for audits in [&one, &many, &mixed] {
            for shards in [1, 2, 3, 16, 1000] {
                let division = divide(audits, settings, shards, &Costs::default());
                assert_eq!(division.len(), shards);
                assert_eq!(
                    division,
                    divide(audits, settings, shards, &Costs::default()),
                    "the same every time"
                );
                assert_all_once(audits, settings, &division);
                let costs = costs(audits, settings, &division);
                let plans = Plans::new(audits, settings);
                let largest = (0..audits.len())
                    .flat_map(|audit| plans.statements(audit))
                    .map(|plan| plan.pair().schedule().explore())
                    .max()
                    .unwrap();
                // The longest of a list that is given out greedily is at most an equal share and
                // one item; no item is smaller than an exploration.
                let share = costs.iter().sum::<u64>() / shards as u64;
                assert!(
                    costs.iter().max().unwrap() <= &(2 * share + largest + 2 * BASE_COST),
                    "{shards} shards: {costs:?}"
                );
            }
        }
        let sixteen = costs(&one, settings, &divide(&one, settings, 16, &Costs::default()));
        // Every shard explores, and a sixteenth of the rest is certified, up to a batch at each end
        // and the last batch of each look.
        let explore = 27_718_353;
        let expected = BASE_COST + explore + (1_000_000_000 - explore) / 16;
        let looks = Schedule::new(1_000_000_000).looks.len() as u64;
        assert!(
            sixteen.iter().all(|cost| cost.abs_diff(expected) <= (2 + looks) * BATCH),
            "{sixteen:?}"
        );
    }

    #[test]
    fn what_was_slow_is_given_out_alone() {
        let audits: Vec<Audit> =
            (0..6).map(|index| audit(&index.to_string(), 100_000, 1)).collect();
        let took = |audit: &Audit, seconds| {
            let measured = crate::audit::Measured { seconds, draws: audit.draws };
            ((audit.name.clone(), "0".to_owned()), measured)
        };
        let slow = audits.iter().zip([1.0, 1.0, 1.0, 5.0, 1.0, 1.0]);
        let measured = slow.map(|(audit, seconds)| took(audit, seconds)).collect();
        let settings = Settings::default();
        let costs = Costs::measured(&audits, settings, &measured);
        let dealt: Vec<Vec<usize>> = divide(&audits, settings, 2, &costs)
            .iter()
            .map(|items| items.iter().map(|item| item.audit).collect())
            .collect();
        assert_eq!(dealt, [vec![3], vec![0, 1, 2, 4, 5]]);
        // A pair of as many draws as others is cut if it is slow.
        let [slow, fast] = ["slow", "fast"].map(|name| audit(name, 10_000_000, 1));
        let measured = [took(&slow, 30.0), took(&fast, 1.0)].into();
        let both = [slow, fast];
        let costs = Costs::measured(&both, settings, &measured);
        let division = divide(&both, settings, 4, &costs);
        assert_all_once(&both, settings, &division);
        let parts = |audit| division.iter().flatten().filter(|item| item.audit == audit).count();
        assert!(parts(0) >= 4, "{division:?}");
        assert_eq!(parts(1), 1, "{division:?}");
    }

    #[test]
    fn equal_audits_are_dealt_out_and_small_ones_are_not_cut() {
        let audits: Vec<Audit> =
            (0..8).map(|index| audit(&index.to_string(), 100_000, 1)).collect();
        let division = divide(&audits, Settings::default(), 4, &Costs::default());
        let dealt: Vec<Vec<usize>> =
            division.iter().map(|items| items.iter().map(|item| item.audit).collect()).collect();
        assert_eq!(dealt, [[0, 4], [1, 5], [2, 6], [3, 7]]);
        let decided = Settings { until: Until::Decided, ..Settings::default() };
        let large = [audit("large", 1_000_000_000, 1)];
        assert_eq!(
            divide(&large, decided, 4, &Costs::default()).iter().map(Vec::len).collect::<Vec<_>>(),
            [1, 0, 0, 0]
        );
        assert_eq!(explorations(&large, Settings::default(), 4).len(), 1);
        assert!(explorations(&audits, Settings::default(), 4).is_empty());
    }
}
