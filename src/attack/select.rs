//! From counts per bin to a guess rule.
//!
//! Bins are put in an order from "speaks for D" to "speaks for D'"; a rule guesses D on the first few, D' on the last few and abstains between.
//! Which order and how few is decided by cross-validation: maximising a noisy ratio runs into the tail, so each candidate
//! procedure is pessimistic to a different degree, and the draws that a procedure has not seen tell which degree pays.

use super::bins::Bins;
use super::rule::Answer;
use super::smooth;
use crate::evidence::wealth::Forecast;

/// Parts into which the exploration draws are divided for cross-validation.
pub const FOLDS: usize = 4;

/// Standard errors by which a procedure may be pessimistic when it chooses its cuts.
const PESSIMISM: [f64; 3] = [2.0, 4.0, 8.0];

/// Standard errors by which the comparison of procedures is pessimistic.
const JUDGE: f64 = 5.0;

/// What a rule is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The largest ε bound at this δ.
    Epsilon {
        /// The claimed δ.
        delta: f64,
    },
    /// The largest δ bound at this ε.
    Delta {
        /// The claimed ε.
        epsilon: f64,
    },
}

impl Goal {
    /// The value of a rule that is right and wrong with these frequencies, known from `n` draws, less `z` standard errors.
    fn value(self, correct: f64, wrong: f64, regions: f64, n: f64, z: f64) -> f64 {
        let wrong = wrong + 0.5 / n;
        match self {
            // The odds x at which correct − δ_eff − x·wrong is z standard errors above zero:
            // (a − x·wrong)² = (z²/n)·(correct + x²·wrong) with a = correct − δ_eff; its smaller positive root.
            Self::Epsilon { delta } => {
                let (a, v) = (correct - delta * regions / 2.0, z * z / n);
                let (qa, qb, qc) = (wrong * (wrong - v), a * wrong, a * a - v * correct);
                if a <= 0.0 || qc <= 0.0 {
                    return 0.0;
                }
                qc / (qb + (qb * qb - qa * qc).max(0.0).sqrt())
            }
            Self::Delta { epsilon } => {
                let odds = epsilon.exp();
                (correct - odds * wrong - z * ((correct + odds * odds * wrong) / n).sqrt()) * 2.0 / regions.max(1.0)
            }
        }
    }
}

/// How often each bin was hit from each side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    left: Vec<u64>,
    right: Vec<u64>,
}

impl Counts {
    /// No hits in so many bins.
    pub fn new(bins: usize) -> Self {
        Self { left: vec![0; bins], right: vec![0; bins] }
    }

    /// The counts of one side.
    pub fn side(&mut self, side: crate::mechanism::Side) -> &mut [u64] {
        match side {
            crate::mechanism::Side::Left => &mut self.left,
            crate::mechanism::Side::Right => &mut self.right,
        }
    }

    /// Adds other counts of the same bins.
    pub fn add(&mut self, other: &Self) {
        let add = |mine: &mut Vec<u64>, theirs: &[u64]| mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        add(&mut self.left, &other.left);
        add(&mut self.right, &other.right);
    }

    fn without(&self, part: &Self) -> Self {
        let sub = |all: &[u64], part: &[u64]| all.iter().zip(part).map(|(a, b)| a - b).collect();
        Self { left: sub(&self.left, &part.left), right: sub(&self.right, &part.right) }
    }

    fn draws(&self) -> f64 {
        (self.left.iter().sum::<u64>() + self.right.iter().sum::<u64>()) as f64
    }

    /// How often these answers are right and wrong.
    fn judge(&self, answers: &[Answer]) -> (u64, u64) {
        let mut tally = (0, 0);
        for ((answer, left), right) in answers.iter().zip(&self.left).zip(&self.right) {
            match answer {
                Answer::Left => tally = (tally.0 + left, tally.1 + right),
                Answer::Right => tally = (tally.0 + right, tally.1 + left),
                Answer::Abstain => {}
            }
        }
        tally
    }
}

/// How bins are ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// Small numbers speak for D: the log-ratio falls as the number grows.
    Falling,
    /// Large numbers speak for D.
    Rising,
    /// Along a smooth curve of this stiffness through the log-ratios.
    Smooth(f64),
    /// Each bin by its own log-ratio, neighbouring bins pooled into about this many groups.
    Ranked(usize),
}

impl Order {
    /// Further standard errors of pessimism: an order with a freedom for every bin must be clearly better than a smooth one.
    fn caution(self) -> f64 {
        if matches!(self, Self::Ranked(_)) { 2.0 } else { 0.0 }
    }
}

const ORDERS: [Order; 7] =
    [Order::Falling, Order::Rising, Order::Smooth(30.0), Order::Smooth(300.0), Order::Ranked(12), Order::Ranked(48), Order::Ranked(256)];

/// A selected set of answers, with what cross-validation says of it.
pub struct Selected {
    /// An answer for each bin.
    pub answers: Vec<Answer>,
    /// How often such a rule is right and wrong on draws that it was not learned from.
    pub forecast: Forecast,
    /// The pessimistic value of the goal, for comparison with other scores.
    pub value: f64,
}

/// Selects the best rule for a goal from the counts of each fold.
pub fn select(bins: &Bins, folds: &[Counts], goal: Goal) -> Selected {
    let mut all = Counts::new(bins.len());
    folds.iter().for_each(|fold| all.add(fold));
    let n = all.draws();
    let mut best: Option<(f64, Order, f64, Forecast)> = None;
    for order in ORDERS {
        let mut right_wrong = [(0_u64, 0_u64); PESSIMISM.len()];
        let mut regions = [0.0_f64; PESSIMISM.len()];
        for fold in folds {
            let line = Line::new(bins, &all.without(fold), order);
            for (index, z) in PESSIMISM.into_iter().enumerate() {
                let answers = line.answers(goal, z);
                let (correct, wrong) = fold.judge(&answers);
                right_wrong[index] = (right_wrong[index].0 + correct, right_wrong[index].1 + wrong);
                regions[index] = regions[index].max(count_regions(&answers));
            }
        }
        for (index, z) in PESSIMISM.into_iter().enumerate() {
            let (correct, wrong) = (right_wrong[index].0 as f64 / n.max(1.0), right_wrong[index].1 as f64 / n.max(1.0));
            let value = goal.value(correct, wrong, regions[index], n.max(1.0), JUDGE + order.caution());
            // Simple orders come first; a later one must gain a tenth of a per cent.
            if best.as_ref().is_none_or(|(least, ..)| value > least + 1e-3 * least.abs()) {
                best = Some((value, order, z, Forecast { correct, wrong, draws: n }));
            }
        }
    }
    let (value, order, z, forecast) = best.unwrap_or((0.0, Order::Falling, JUDGE, Forecast { correct: 0.0, wrong: 0.0, draws: 0.0 }));
    Selected { answers: Line::new(bins, &all, order).answers(goal, z), forecast, value }
}

fn count_regions(answers: &[Answer]) -> f64 {
    f64::from(u8::from(answers.contains(&Answer::Left)) + u8::from(answers.contains(&Answer::Right)))
}

/// Bins in order, with the smoothed counts up to each.
struct Line {
    bins: usize,
    order: Vec<usize>,
    /// How many of the first bins may make a head.
    cuts: Vec<usize>,
    /// `(left, right)` hits in the first k bins.
    sums: Vec<(f64, f64)>,
    draws: f64,
}

impl Line {
    fn new(bins: &Bins, counts: &Counts, order: Order) -> Self {
        let blocks = match order {
            Order::Falling => monotone(bins, counts, false),
            Order::Rising => monotone(bins, counts, true),
            Order::Smooth(stiffness) => smoothed(bins, counts, stiffness),
            Order::Ranked(groups) => ranked(bins, counts, groups),
        };
        let mut sums = vec![(0.0, 0.0)];
        let mut line = Vec::with_capacity(bins.len());
        let mut sum = (0.0, 0.0);
        for block in &blocks {
            let hits = block.left + block.right;
            if hits == 0.0 && block.bins.iter().all(|bin| *bin >= bins.numeric()) {
                continue; // nothing is known of symbols that were never seen
            }
            for &bin in &block.bins {
                // Within a block the ratio is one; its hits go to the bins in proportion.
                let share = (counts.left[bin] + counts.right[bin]) as f64 / hits.max(1.0);
                sum = (sum.0 + block.left * share, sum.1 + block.right * share);
                line.push(bin);
                sums.push(sum);
            }
        }
        Self { bins: bins.len(), order: line, cuts: cuts(&sums), sums, draws: counts.draws() }
    }

    /// The answers with the best pessimistic value: D on a beginning of the line, D' on an end of it.
    fn answers(&self, goal: Goal, z: f64) -> Vec<Answer> {
        let m = self.order.len();
        let n = self.draws.max(1.0);
        let (left, right) = self.sums[m];
        let value = |head: usize, tail: usize| {
            let (head_left, head_right) = self.sums[head];
            let (before_left, before_right) = self.sums[tail];
            let correct = head_left + (right - before_right);
            let wrong = head_right + (left - before_left);
            goal.value(correct / n, wrong / n, f64::from(u8::from(head > 0) + u8::from(tail < m)), n, z)
        };
        // Climb, one cut at a time, from D alone, from D' alone and from both.
        let best_head = |tail: usize| best_of(self.cuts.iter().copied().take_while(|head| *head <= tail), |head| value(head, tail));
        let best_tail = |head: usize| best_of(self.cuts.iter().rev().copied().take_while(|tail| *tail >= head), |tail| value(head, tail));
        let (head_alone, tail_alone) = (best_head(m), best_tail(0));
        let mut best = (f64::NEG_INFINITY, 0, m);
        for (mut head, mut tail) in [(head_alone, m), (0, tail_alone), (head_alone.min(tail_alone), tail_alone)] {
            for _ in 0..4 {
                let before = (head, tail);
                tail = best_tail(head);
                head = best_head(tail);
                if before == (head, tail) {
                    break;
                }
            }
            let reached = value(head, tail);
            if reached > best.0 {
                best = (reached, head, tail);
            }
        }
        let (_, head, tail) = best;
        let mut answers = vec![Answer::Abstain; self.bins];
        self.order[..head].iter().for_each(|bin| answers[*bin] = Answer::Left);
        self.order[tail..].iter().for_each(|bin| answers[*bin] = Answer::Right);
        answers
    }
}

/// Places along a line where cutting is tried: all of them when few, else quantiles of the hits and geometric masses at both ends.
fn cuts(sums: &[(f64, f64)]) -> Vec<usize> {
    const FEW: usize = 48;
    let m = sums.len() - 1;
    if m <= FEW {
        return (0..=m).collect();
    }
    let passed = |cut: usize| sums[cut].0 + sums[cut].1;
    let total = passed(m);
    let mut cuts = vec![0];
    let mut last = 0.0;
    for cut in 1..m {
        let ends = passed(cut).min(total - passed(cut));
        if passed(cut) - last >= (total / FEW as f64).min(ends / 2.0) {
            cuts.push(cut);
            last = passed(cut);
        }
    }
    cuts.push(m);
    cuts
}

/// The first of the places where a value is greatest.
fn best_of(places: impl Iterator<Item = usize>, value: impl Fn(usize) -> f64) -> usize {
    let start = (0, f64::NEG_INFINITY);
    places.map(|place| (place, value(place))).fold(start, |best, next| if next.1 > best.1 { next } else { best }).0
}

/// Bins that share one ratio.
#[derive(Clone, Debug)]
struct Block {
    bins: Vec<usize>,
    left: f64,
    right: f64,
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
    fn share(&self) -> f64 {
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
    let shares = smooth::shares(&hits, stiffness);
    let numeric = hits.iter().zip(shares).enumerate().map(|(bin, ((left, right), share))| Block {
        bins: vec![bin],
        left: (left + right) * share,
        right: (left + right) * (1.0 - share),
    });
    sort(numeric.chain((bins.numeric()..bins.len()).map(|bin| Block::of([bin], counts))).collect())
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
