//! Orders of bins, from "evidence for D" to "evidence for D'", and the smoothed log-ratios that
//! they are based on.

use crate::attack::bins::Bins;
use crate::attack::bins::Counts;
use crate::attack::fit::smooth;
use crate::attack::tuning::fit::{
    FAR, MONOTONE_CAUTION, RANKED, RANKED_CAUTION, RANKED_HITS, STIFFNESS,
};
use crate::stats::binomial::logistic;

/// How bins are ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Small numbers are evidence for D: the log-ratio falls as the number grows.
    Falling,
    /// Large numbers are evidence for D.
    Rising,
    /// By a smooth curve of this stiffness through the log-ratios.
    Smooth(f64),
    /// By a smooth curve of this stiffness, even where there are few hits; infinite stiffness is a
    /// straight line.
    Calibrated(f64),
    /// Each bin by its own log-ratio; neighbouring bins are pooled into about this many groups.
    Ranked(usize),
}

impl Order {
    /// Additional standard errors of pessimism for the ε bound: an order with one free parameter
    /// per bin must be clearly better than others.
    pub fn caution(self) -> f64 {
        if matches!(self, Self::Ranked(_)) { RANKED_CAUTION } else { 0.0 }
    }

    /// Additional standard errors of pessimism for the δ bound, where hits are few. A stiff curve
    /// has hardly any freedom to follow chance.
    pub fn delta_caution(self) -> f64 {
        match self {
            Self::Smooth(_) | Self::Calibrated(_) => 0.0,
            Self::Falling | Self::Rising => MONOTONE_CAUTION,
            Self::Ranked(_) => RANKED_CAUTION,
        }
    }
}

/// All orders, simple ones first.
pub const ORDERS: [Order; 7] = [
    Order::Falling,
    Order::Rising,
    Order::Smooth(STIFFNESS[0]),
    Order::Smooth(STIFFNESS[1]),
    Order::Ranked(RANKED[0]),
    Order::Ranked(RANKED[1]),
    Order::Ranked(RANKED[2]),
];

/// The orders of a learned score that trust a straight line or a smooth curve even where there are
/// few hits; simple ones first.
pub const CALIBRATED: [Order; 3] = [
    Order::Calibrated(f64::INFINITY),
    Order::Calibrated(STIFFNESS[1]),
    Order::Calibrated(STIFFNESS[0]),
];

/// The orders that are tried for a score. If it is a log-ratio, only the cuts are left to choose.
pub fn orders(ratio: bool) -> &'static [Order] {
    if ratio { &[Order::Rising] } else { &ORDERS }
}

/// The bins in this order, in blocks of equal ratio.
pub fn blocks(bins: &Bins, counts: &Counts, order: Order) -> Vec<Block> {
    match order {
        Order::Falling => monotone(bins, counts, false),
        Order::Rising => monotone(bins, counts, true),
        Order::Smooth(stiffness) => {
            sort(smoothed(bins, counts, stiffness).into_iter().map(|(_, block)| block).collect())
        }
        Order::Calibrated(stiffness) => {
            // By the curve itself, however few hits a bin has.
            let mut blocks = smoothed(bins, counts, stiffness);
            blocks.sort_by(|a, b| b.0.total_cmp(&a.0));
            blocks.into_iter().map(|(_, block)| block).collect()
        }
        Order::Ranked(groups) => ranked(bins, counts, groups),
    }
}

/// The smoothed share of D in each bin, never exactly 0 or 1; the overall share for bins without
/// hits.
///
/// Blocks with few hits are shrunk towards the overall ratio (empirical Bayes). The less the ratios
/// of all blocks vary beyond chance, the stronger the shrinkage. Otherwise the smallest blocks
/// would have the most extreme ratios. A smooth curve needs no further shrinkage.
pub fn shares(bins: &Bins, counts: &Counts, order: Order) -> Vec<f64> {
    let blocks = blocks(bins, counts, order);
    let log_ratio = |left: f64, right: f64| ((left + 0.5) / (right + 0.5)).ln();
    let chance = |block: &Block| 1.0 / (block.left + 0.5) + 1.0 / (block.right + 0.5);
    let overall = log_ratio(
        blocks.iter().map(|block| block.left).sum(),
        blocks.iter().map(|block| block.right).sum(),
    );
    let (mut excess, mut hits) = (0.0, 0.0);
    for block in &blocks {
        let weight = block.left + block.right;
        excess += weight * ((log_ratio(block.left, block.right) - overall).powi(2) - chance(block));
        hits += weight;
    }
    let spread = (excess / f64::max(hits, 1.0)).max(0.0);
    let mut shares = vec![logistic(overall); bins.len()];
    for block in &blocks {
        let trust = if matches!(order, Order::Smooth(_) | Order::Calibrated(_)) {
            1.0
        } else {
            spread / (spread + chance(block))
        };
        let share = logistic(overall + trust * (log_ratio(block.left, block.right) - overall));
        block.bins.iter().for_each(|bin| shares[*bin] = share);
    }
    shares
}

/// The log-likelihood of these hits, given the share of D in each bin.
pub fn log_likelihood(shares: &[f64], counts: &Counts) -> f64 {
    let hits = counts.left.iter().zip(&counts.right);
    shares
        .iter()
        .zip(hits)
        .map(|(share, (left, right))| {
            *left as f64 * share.ln() + *right as f64 * (1.0 - share).ln()
        })
        .sum()
}

/// Bins with a common ratio.
#[derive(Clone, Debug)]
pub struct Block {
    /// The bins, in order.
    pub bins: Vec<usize>,
    /// Hits from D, smoothed.
    pub left: f64,
    /// Hits from D', smoothed.
    pub right: f64,
}

impl Block {
    fn of(bins: impl IntoIterator<Item = usize>, counts: &Counts) -> Self {
        let bins: Vec<usize> = bins.into_iter().collect();
        let sum = |side: &[u64]| bins.iter().map(|bin| side[*bin]).sum::<u64>() as f64;
        Self { left: sum(&counts.left), right: sum(&counts.right), bins }
    }

    fn merge(&mut self, other: Self) {
        self.bins.extend(other.bins);
        self.left += other.left;
        self.right += other.right;
    }

    /// The share of D among the hits, shrunk towards ½ if there are few.
    pub fn share(&self) -> f64 {
        (self.left + 0.5) / (self.left + self.right + 1.0)
    }
}

/// Sorts by falling share of D. The sort is stable, so blocks with equal shares keep their order.
fn sort(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.sort_by(|a, b| b.share().total_cmp(&a.share()));
    blocks
}

/// The numeric bins that a curve along the numbers passes through, and all other bins, each as a
/// block of its own: symbols, and atoms beside noise with a density. Such an atom is an event of
/// its own, which says nothing about the numbers around it. If most numbers are atoms, the
/// distribution is discrete, and they are along the curve. So are those of computed scores.
fn along_and_beside(bins: &Bins, counts: &Counts) -> (Vec<usize>, Vec<Block>) {
    let hits = |bin: usize| counts.left[bin] + counts.right[bin];
    let of = |atoms: bool| {
        (0..bins.numeric()).filter(|bin| bins.is_atom(*bin) == atoms).map(hits).sum::<u64>()
    };
    let discrete = !bins.atoms_are_events() || of(true) > of(false);
    let (along, beside): (Vec<usize>, Vec<usize>) =
        (0..bins.numeric()).partition(|bin| discrete || !bins.is_atom(*bin));
    (
        along,
        beside
            .into_iter()
            .chain(bins.numeric()..bins.len())
            .map(|bin| Block::of([bin], counts))
            .collect(),
    )
}

/// Monotone regression: the maximum-likelihood ratios that fall (or rise) along the numbers, by the
/// pool-adjacent-violators algorithm. Symbols are inserted by their own ratio.
fn monotone(bins: &Bins, counts: &Counts, rising: bool) -> Vec<Block> {
    let (mut along, beside) = along_and_beside(bins, counts);
    if rising {
        along.reverse();
    }
    let mut blocks: Vec<Block> = Vec::new();
    for bin in along {
        let mut block = Block::of([bin], counts);
        // The share of D must fall along the order: a block whose share is not smaller than that of
        // the previous one is pooled with it.
        while let Some(last) = blocks.last()
            && block.left * (last.left + last.right) >= last.left * (block.left + block.right)
        {
            let mut last = blocks.pop().unwrap_or_else(|| block.clone());
            last.merge(block);
            block = last;
        }
        blocks.push(block);
    }
    blocks.extend(beside);
    sort(blocks)
}

/// Each bin as a block, with its share of D. The hits of numeric bins are divided as the smooth
/// curve says.
fn smoothed(bins: &Bins, counts: &Counts, stiffness: f64) -> Vec<(f64, Block)> {
    let (along, beside) = along_and_beside(bins, counts);
    let hits: Vec<(f64, f64)> =
        along.iter().map(|bin| (counts.left[*bin] as f64, counts.right[*bin] as f64)).collect();
    let shares = if stiffness.is_finite() {
        smooth::shares(&hits, stiffness)
    } else {
        linear_shares(&positions(bins, &along), &hits)
    };
    let numeric = along.into_iter().zip(&hits).zip(shares).map(|((bin, (left, right)), share)| {
        (
            share,
            Block {
                bins: vec![bin],
                left: (left + right) * share,
                right: (left + right) * (1.0 - share),
            },
        )
    });
    numeric.chain(beside.into_iter().map(|block| (block.share(), block))).collect()
}

/// The position of each of these bins: its inner edge, because most of its hits are near it.
fn positions(bins: &Bins, along: &[usize]) -> Vec<f64> {
    let edges = bins.edges();
    let inner = |bin: usize| if 2 * bin < edges.len() { bin } else { bin.saturating_sub(1) };
    along.iter().map(|bin| edges.get(inner(*bin)).copied().unwrap_or(0.0)).collect()
}

/// The shares of D on a straight line of log-odds through these hits. Positions are measured from
/// their middle half, so that the unit of the numbers does not matter.
fn linear_shares(positions: &[f64], hits: &[(f64, f64)]) -> Vec<f64> {
    let total: f64 = hits.iter().map(|(left, right)| left + right).sum();
    let quantile = |share: f64| {
        let mut below = 0.0;
        let reached = hits.iter().zip(positions).find(|((left, right), _)| {
            below += left + right;
            below >= share * total
        });
        reached.map_or(0.0, |(_, position)| *position)
    };
    let (low, high) = (quantile(0.25), quantile(0.75));
    let (middle, width) = if low.is_finite() && high - low > 0.0 && high.is_finite() {
        (f64::midpoint(low, high), high - low)
    } else {
        (0.0, 1.0)
    };
    let along = |position: f64| ((position - middle) / width).clamp(-FAR, FAR);
    let points: Vec<(f64, f64, f64)> = positions
        .iter()
        .zip(hits)
        .map(|(position, (left, right))| (along(*position), *left, *right))
        .collect();
    let (start, slope) = smooth::line(&points);
    positions.iter().map(|position| logistic(start + slope * along(*position))).collect()
}

/// Bins by their own ratio. Neighbouring bins are pooled until the group has its part of the hits.
/// Near the ends fewer are enough: as many as there are between the upper edge of the group and the
/// nearer end of the numbers.
fn ranked(bins: &Bins, counts: &Counts, groups: usize) -> Vec<Block> {
    let hits = |bin: usize| (counts.left[bin] + counts.right[bin]) as f64;
    let total: f64 = (0..bins.numeric()).map(hits).sum();
    let full = total / groups as f64;
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let mut below = 0.0;
    for bin in 0..bins.numeric() {
        if bins.is_atom(bin) {
            blocks.extend(open.take());
            blocks.push(Block::of([bin], counts));
        } else {
            let block = Block::of([bin], counts);
            match &mut open {
                Some(group) => group.merge(block),
                None => open = Some(block),
            }
        }
        below += hits(bin);
        let to_nearer_end = below.min(total - below).max(RANKED_HITS);
        if open.as_ref().is_some_and(|group| group.left + group.right >= full.min(to_nearer_end)) {
            blocks.extend(open.take());
        }
    }
    blocks.extend(open);
    blocks.extend((bins.numeric()..bins.len()).map(|bin| Block::of([bin], counts)));
    sort(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Cell;

    /// Bins of 160 numbers, one of them an atom, and of two symbols; the hits are irregular.
    fn bins_and_counts() -> (Bins, Counts) {
        let numbers = (0..160).map(|i| Cell::number(f64::from(i))).chain([Cell::number(70.5); 9]);
        let bins = Bins::learn(
            &numbers
                .chain([Cell::symbol("⊥"); 9])
                .chain([Cell::symbol("⊤"); 9])
                .collect::<Vec<_>>(),
        );
        let hits = |by: usize| (0..bins.len()).map(|bin| (bin * by % 61 + 1) as u64).collect();
        let counts = Counts { left: hits(7919), right: hits(6661) };
        (bins, counts)
    }

    /// Bins of symbols only, these hits for them, and the bin of each symbol.
    fn of_symbols(hits: &[(u64, u64)]) -> (Bins, Counts, Vec<usize>) {
        let symbols: Vec<Cell> =
            (0..hits.len()).map(|index| Cell::symbol(&index.to_string())).collect();
        let bins = Bins::learn(&symbols.repeat(9));
        let mut counts = Counts::new(bins.len());
        let indices: Vec<usize> = symbols.iter().map(|symbol| bins.index(*symbol)).collect();
        for (bin, (left, right)) in indices.iter().zip(hits) {
            (counts.left[*bin], counts.right[*bin]) = (*left, *right);
        }
        (bins, counts, indices)
    }

    #[test]
    fn every_order_has_each_bin_once_and_loses_no_hits() {
        let (bins, counts) = bins_and_counts();
        for order in ORDERS.into_iter().chain(CALIBRATED) {
            let blocks = blocks(&bins, &counts, order);
            let mut found: Vec<usize> =
                blocks.iter().flat_map(|block| block.bins.clone()).collect();
            found.sort_unstable();
            assert_eq!(found, (0..bins.len()).collect::<Vec<_>>(), "{order:?}");
            for block in &blocks {
                let hits: u64 =
                    block.bins.iter().map(|bin| counts.left[*bin] + counts.right[*bin]).sum();
                assert!(
                    (block.left + block.right - hits as f64).abs() < 1e-9 * hits as f64,
                    "{order:?}"
                );
            }
            if !matches!(order, Order::Calibrated(_)) {
                assert!(
                    blocks.windows(2).all(|pair| pair[0].share() >= pair[1].share()),
                    "{order:?}: the share of D falls"
                );
            }
        }
    }

    #[test]
    fn pooled_ratios_are_the_monotone_regression() {
        let (bins, counts) = bins_and_counts();
        // An atom beside other numbers is a block of its own.
        let (numbers, beside) = along_and_beside(&bins, &counts);
        assert!(
            beside
                .iter()
                .all(|block| block.bins[0] >= bins.numeric() || bins.is_atom(block.bins[0]))
        );
        let m = numbers.len();
        for (order, rising) in [(Order::Falling, false), (Order::Rising, true)] {
            let along: Vec<usize> =
                if rising { numbers.iter().rev().copied().collect() } else { numbers.clone() };
            let mean = |from: usize, to: usize| {
                let sum = |side: &[u64]| {
                    along[from..=to].iter().map(|bin| side[*bin]).sum::<u64>() as f64
                };
                sum(&counts.left) / (sum(&counts.left) + sum(&counts.right))
            };
            // The falling fit is the minimum over all starts of the maximum over all ends of the
            // mean (Barlow et al. 1972).
            let largest = |from: usize, at: usize| {
                (at..m).map(|to| mean(from, to)).fold(f64::NEG_INFINITY, f64::max)
            };
            let fit: Vec<f64> = (0..m)
                .map(|at| (0..=at).map(|from| largest(from, at)).fold(f64::INFINITY, f64::min))
                .collect();
            let blocks: Vec<Block> = blocks(&bins, &counts, order)
                .into_iter()
                .filter(|block| numbers.contains(&block.bins[0]))
                .collect();
            for block in &blocks {
                for at in (0..m).filter(|at| block.bins.contains(&along[*at])) {
                    assert!(
                        (block.left / (block.left + block.right) - fit[at]).abs() < 1e-12,
                        "{order:?} at {at}"
                    );
                }
            }
            let mut different = fit.clone();
            different.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
            assert_eq!(blocks.len(), different.len(), "bins with the same ratio are one block");
        }
    }

    #[test]
    fn groups_are_neighbours_with_their_part_of_the_hits_and_atoms_are_alone() {
        let (bins, _) = bins_and_counts();
        let even = Counts { left: vec![60; bins.len()], right: vec![40; bins.len()] };
        let m = bins.numeric();
        let atom = bins.index(Cell::number(70.5));
        assert!(bins.is_atom(atom));
        // A group is complete when it has a fifth of the hits of all numbers.
        let blocks = blocks(&bins, &even, Order::Ranked(5));
        let full = m.div_ceil(5);
        for block in blocks.iter().filter(|block| block.bins[0] < m) {
            assert!(block.bins.windows(2).all(|pair| pair[0] + 1 == pair[1]), "neighbours");
            assert!(
                block.bins.len() <= full,
                "{} of {m} bins in one of five groups",
                block.bins.len()
            );
            assert!(block.bins == [atom] || !block.bins.contains(&atom));
            // Groups may be smaller only at the ends and next to an atom.
            let (first, last) = (block.bins[0], block.bins[block.bins.len() - 1]);
            assert!(
                block.bins.len() == full
                    || first == 0
                    || last + full >= m
                    || last + 1 == atom
                    || first == atom
            );
        }
        // The first and the last bin are groups of one bin.
        assert!([0, m - 1].iter().all(|end| blocks.iter().any(|block| block.bins == [*end])));
        // If there are as many groups as bins, nothing is pooled.
        assert_eq!(super::blocks(&bins, &even, Order::Ranked(m)).len(), bins.len());
    }

    #[test]
    fn few_hits_are_shrunk_towards_the_overall_ratio_as_far_as_chance_explains_them() {
        let hits = [(30, 10), (10, 30), (300, 150), (200, 300)];
        let (bins, counts, indices) = of_symbols(&hits);
        let log_ratio = |left: f64, right: f64| ((left + 0.5) / (right + 0.5)).ln();
        let overall = log_ratio(540.0, 490.0);
        // The variance of a log-ratio by chance, and the variance of the ratios beyond it, as a
        // mean over all hits.
        let (ratio, chance): (Vec<f64>, Vec<f64>) = hits
            .iter()
            .map(|(l, r)| (*l as f64, *r as f64))
            .map(|(l, r)| (log_ratio(l, r) - overall, 1.0 / (l + 0.5) + 1.0 / (r + 0.5)))
            .unzip();
        let weights = [40.0, 40.0, 450.0, 500.0];
        let beyond: f64 =
            (0..4).map(|i| weights[i] * (ratio[i] * ratio[i] - chance[i])).sum::<f64>() / 1030.0;
        assert!(beyond > 0.0);
        let found = shares(&bins, &counts, Order::Ranked(4));
        for i in 0..4 {
            let log_odds = overall + ratio[i] * beyond / (beyond + chance[i]);
            assert!((found[indices[i]] - 1.0 / (1.0 + (-log_odds).exp())).abs() < 1e-12);
        }
        // If the ratios vary only by chance, all bins get the overall ratio.
        let (bins, counts, _) = of_symbols(&[(30, 10), (29, 11), (31, 9)]);
        assert!(
            shares(&bins, &counts, Order::Ranked(3))
                .iter()
                .all(|share| (share - 90.5 / 121.0).abs() < 1e-12)
        );
    }

    #[test]
    fn a_calibrated_line_gives_a_share_even_to_bins_without_hits() {
        let (bins, mut counts) = bins_and_counts();
        let (m, edges) = (bins.numeric(), bins.edges());
        // Log-odds −1 + x/50 at the inner edge of each bin, without noise.
        let truth = |bin: usize| {
            let inner = if 2 * bin < m - 1 { edges[bin] } else { edges[bin - 1] };
            1.0 / (1.0 + (1.0 - inner / 50.0).exp())
        };
        for bin in 0..m {
            let hits = if bin == 0 || bin == m - 1 { 0.0 } else { 1e8 };
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 1e8
            let rounded = |hits: f64| hits.round() as u64;
            (counts.left[bin], counts.right[bin]) =
                (rounded(hits * truth(bin)), rounded(hits * (1.0 - truth(bin))));
        }
        let hits: Vec<(f64, f64)> =
            (0..m).map(|bin| (counts.left[bin] as f64, counts.right[bin] as f64)).collect();
        let along = positions(&bins, &(0..m).collect::<Vec<_>>());
        let line = linear_shares(&along, &hits);
        assert!((0..m).all(|bin| (line[bin] - truth(bin)).abs() < 1e-5), "{line:?}");
        let found = shares(&bins, &counts, Order::Calibrated(f64::INFINITY));
        assert!((1..m - 1).all(|bin| (found[bin] - truth(bin)).abs() < 1e-5), "{found:?}");
        // The unit of the numbers does not matter, nor where they start.
        let elsewhere: Vec<f64> = along.iter().map(|position| 1e-9 * position - 7.0).collect();
        let same = linear_shares(&elsewhere, &hits);
        assert!((0..m).all(|bin| (line[bin] - same[bin]).abs() < 1e-5), "{same:?}");
        assert_eq!(positions(&Bins::learn(&[]), &[0]), [0.0]);
        assert!(
            linear_shares(
                &[f64::NEG_INFINITY, 0.0, 1.0, f64::INFINITY],
                &[(9.0, 1.0), (5.0, 5.0), (5.0, 5.0), (1.0, 9.0)]
            )
            .iter()
            .all(|share| (0.0..=1.0).contains(share))
        );
    }

    #[test]
    fn the_log_likelihood_follows_from_the_shares() {
        let counts = Counts { left: vec![1, 2], right: vec![3, 4] };
        let expected = 0.25_f64.ln() + 3.0 * 0.75_f64.ln() + 6.0 * 0.5_f64.ln();
        assert!((log_likelihood(&[0.25, 0.5], &counts) - expected).abs() < 1e-12);
        assert_eq!(Block { bins: vec![0], left: 1.0, right: 2.0 }.share(), 1.5 / 4.0);
    }

    #[test]
    fn orders_with_one_parameter_per_bin_need_more_caution_and_a_learned_score_has_one_order() {
        assert!(
            ORDERS.iter().all(|order| order.caution()
                == if matches!(order, Order::Ranked(_)) { 2.0 } else { 0.0 })
        );
        assert_eq!(orders(true), [Order::Rising]);
        assert_eq!(orders(false), ORDERS);
    }
}
