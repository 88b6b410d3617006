//! Orders of bins, from "speaks for D" to "speaks for D'", and the smoothed log-ratios behind them.

use super::bins::Bins;
use super::counts::Counts;
use super::smooth;
use crate::evidence::binomial::logistic;

/// How bins are ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Small numbers speak for D: the log-ratio falls as the number grows.
    Falling,
    /// Large numbers speak for D.
    Rising,
    /// Along a smooth curve of this stiffness through the log-ratios.
    Smooth(f64),
    /// Large numbers speak for D, to the degree that a smooth curve of this stiffness says; a straight line of log-odds if the stiffness is infinite.
    Calibrated(f64),
    /// Each bin by its own log-ratio, neighbouring bins pooled into about this many groups.
    Ranked(usize),
}

impl Order {
    /// Further standard errors of pessimism: an order with a freedom for every bin must be clearly better than a smooth one.
    pub fn caution(self) -> f64 {
        if matches!(self, Self::Ranked(_)) { 2.0 } else { 0.0 }
    }
}

/// All orders, simple ones first.
pub const ORDERS: [Order; 7] =
    [Order::Falling, Order::Rising, Order::Smooth(30.0), Order::Smooth(300.0), Order::Ranked(12), Order::Ranked(48), Order::Ranked(256)];

/// The orders of a learned score that trust a line or a smooth curve even where hits are few; simple ones first.
pub const CALIBRATED: [Order; 3] = [Order::Calibrated(f64::INFINITY), Order::Calibrated(300.0), Order::Calibrated(30.0)];

/// The orders that make sense for a score: a learned one is a log-ratio already, so all that is left is where to cut.
pub fn orders(learned: bool) -> &'static [Order] {
    if learned { &[Order::Rising] } else { &ORDERS }
}

/// The bins in this order, in blocks of equal ratio.
pub fn blocks(bins: &Bins, counts: &Counts, order: Order) -> Vec<Block> {
    match order {
        Order::Falling => monotone(bins, counts, false),
        Order::Rising => monotone(bins, counts, true),
        Order::Smooth(stiffness) => sort(smoothed(bins, counts, stiffness)),
        Order::Calibrated(stiffness) => {
            let mut blocks = smoothed(bins, counts, stiffness);
            blocks[..bins.numeric()].reverse();
            blocks
        }
        Order::Ranked(groups) => ranked(bins, counts, groups),
    }
}

/// The smoothed share of D in each bin, never quite 0 or 1; the overall one where nothing was seen.
///
/// Blocks with few hits are drawn towards the overall ratio, the more so the less the ratios of all blocks vary beyond chance (empirical Bayes):
/// otherwise the most extreme ratios would be those of the smallest blocks. A smooth curve is drawn together already.
pub fn shares(bins: &Bins, counts: &Counts, order: Order) -> Vec<f64> {
    let blocks = blocks(bins, counts, order);
    let log_ratio = |left: f64, right: f64| ((left + 0.5) / (right + 0.5)).ln();
    let chance = |block: &Block| 1.0 / (block.left + 0.5) + 1.0 / (block.right + 0.5);
    let overall = log_ratio(blocks.iter().map(|block| block.left).sum(), blocks.iter().map(|block| block.right).sum());
    let (mut excess, mut hits) = (0.0, 0.0);
    for block in &blocks {
        let weight = block.left + block.right;
        excess += weight * ((log_ratio(block.left, block.right) - overall).powi(2) - chance(block));
        hits += weight;
    }
    let spread = (excess / f64::max(hits, 1.0)).max(0.0);
    let mut shares = vec![logistic(overall); bins.len()];
    for block in &blocks {
        let trust = if matches!(order, Order::Smooth(_) | Order::Calibrated(_)) { 1.0 } else { spread / (spread + chance(block)) };
        let share = logistic(overall + trust * (log_ratio(block.left, block.right) - overall));
        block.bins.iter().for_each(|bin| shares[*bin] = share);
    }
    shares
}

/// How likely these hits are, given the share of D in each bin.
pub fn log_likelihood(shares: &[f64], counts: &Counts) -> f64 {
    let hits = counts.left.iter().zip(&counts.right);
    shares.iter().zip(hits).map(|(share, (left, right))| *left as f64 * share.ln() + *right as f64 * (1.0 - share).ln()).sum()
}

/// Bins that share one ratio.
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

    /// The share of D among the hits, drawn towards ½ when there are few.
    pub fn share(&self) -> f64 {
        (self.left + 0.5) / (self.left + self.right + 1.0)
    }
}

/// From most to least for D; stable, so that equal shares keep their order.
fn sort(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.sort_by(|a, b| b.share().total_cmp(&a.share()));
    blocks
}

/// The maximum-likelihood ratios that fall (or rise) along the numbers, by pooling adjacent violators; symbols go where their own ratio puts them.
fn monotone(bins: &Bins, counts: &Counts, rising: bool) -> Vec<Block> {
    let mut numeric: Vec<usize> = (0..bins.numeric()).collect();
    if rising {
        numeric.reverse();
    }
    let mut blocks: Vec<Block> = Vec::new();
    for bin in numeric {
        let mut block = Block::of([bin], counts);
        // The line goes from D to D': a block that is more for D than the one before it is pooled with it.
        while let Some(last) = blocks.last()
            && block.left * (last.left + last.right) >= last.left * (block.left + block.right)
        {
            let mut last = blocks.pop().unwrap_or_else(|| block.clone());
            last.merge(block);
            block = last;
        }
        blocks.push(block);
    }
    blocks.extend((bins.numeric()..bins.len()).map(|bin| Block::of([bin], counts)));
    sort(blocks)
}

/// Every numeric bin with the hits that the smooth curve gives it.
fn smoothed(bins: &Bins, counts: &Counts, stiffness: f64) -> Vec<Block> {
    let hits: Vec<(f64, f64)> = (0..bins.numeric()).map(|bin| (counts.left[bin] as f64, counts.right[bin] as f64)).collect();
    let shares = if stiffness.is_finite() { smooth::shares(&hits, stiffness) } else { straight(bins, &hits) };
    let numeric = hits.iter().zip(shares).enumerate().map(|(bin, ((left, right), share))| Block {
        bins: vec![bin],
        left: (left + right) * share,
        right: (left + right) * (1.0 - share),
    });
    numeric.chain((bins.numeric()..bins.len()).map(|bin| Block::of([bin], counts))).collect()
}

/// The shares of D that follow a straight line of log-odds along the numbers. Each bin stands at its inner edge, for most of its hits are near there.
fn straight(bins: &Bins, hits: &[(f64, f64)]) -> Vec<f64> {
    let edges = bins.edges();
    if edges.is_empty() {
        return vec![0.5; hits.len()];
    }
    let place = |bin: usize| edges[if 2 * bin < edges.len() { bin } else { bin - 1 }];
    let (start, slope) = smooth::line(hits.iter().enumerate().map(|(bin, (left, right))| (place(bin), *left, *right)));
    (0..hits.len()).map(|bin| logistic(start + slope * place(bin))).collect()
}

/// Bins by their own ratio. Neighbouring intervals are pooled until a group has its part of the hits, or, near the ends, doubles what lies beyond it.
fn ranked(bins: &Bins, counts: &Counts, groups: usize) -> Vec<Block> {
    let hits = |bin: usize| (counts.left[bin] + counts.right[bin]) as f64;
    let total: f64 = (0..bins.numeric()).map(hits).sum();
    let full = total / groups as f64;
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let mut passed = 0.0;
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
        passed += hits(bin);
        let ends = passed.min(total - passed).max(8.0);
        if open.as_ref().is_some_and(|group| group.left + group.right >= full.min(ends)) {
            blocks.extend(open.take());
        }
    }
    blocks.extend(open);
    blocks.extend((bins.numeric()..bins.len()).map(|bin| Block::of([bin], counts)));
    sort(blocks)
}
