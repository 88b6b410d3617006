//! Bins in an order from "speaks for D" to "speaks for D'", and where to cut it.

use super::bins::Bins;
use super::counts::Counts;
use super::order::{Order, blocks};
use super::rule::Answer;
use super::select::{Caution, Goal, Odds};

/// Bins in order, with the smoothed counts up to each.
pub struct Line {
    bins: usize,
    order: Vec<usize>,
    /// How many of the first bins may make a head.
    cuts: Vec<usize>,
    /// `(left, right)` hits in the first k bins.
    sums: Vec<(f64, f64)>,
    draws: f64,
}

/// A rule on a line: D on the first `head` bins, D' from the bin `tail` on; and how it should do.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    head: usize,
    tail: usize,
    /// What the smoothed counts promise.
    pub odds: Odds,
}

impl Line {
    /// The bins in this order, with these hits.
    pub fn new(bins: &Bins, counts: &Counts, order: Order) -> Self {
        let mut sums = vec![(0.0, 0.0)];
        let mut line = Vec::with_capacity(bins.len());
        let mut sum = (0.0, 0.0);
        for block in &blocks(bins, counts, order) {
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

    /// So many standard errors of what is known from the draws on this line.
    pub fn caution(&self, z: f64) -> Caution {
        Caution { draws: self.draws.max(1.0), z }
    }

    /// The cut with the best pessimistic value.
    pub fn best_cut(&self, goal: Goal, caution: Caution) -> Cut {
        let m = self.order.len();
        let value = |head: usize, tail: usize| goal.value(self.cut(head, tail).odds, caution);
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
        self.cut(best.1, best.2)
    }

    /// The answers of a cut.
    pub fn answers(&self, cut: Cut) -> Vec<Answer> {
        let mut answers = vec![Answer::Abstain; self.bins];
        self.order[..cut.head].iter().for_each(|bin| answers[*bin] = Answer::Left);
        self.order[cut.tail..].iter().for_each(|bin| answers[*bin] = Answer::Right);
        answers
    }

    fn cut(&self, head: usize, tail: usize) -> Cut {
        let m = self.order.len();
        let (n, (left, right)) = (self.draws.max(1.0), self.sums[m]);
        let (head_left, head_right) = self.sums[head];
        let (before_left, before_right) = self.sums[tail];
        let odds = Odds {
            correct: (head_left + (right - before_right)) / n,
            wrong: (head_right + (left - before_left)) / n,
            regions: f64::from(u8::from(head > 0) + u8::from(tail < m)),
        };
        Cut { head, tail, odds }
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
