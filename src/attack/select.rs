//! From counts per bin to a guess rule.
//!
//! Bins are put in an order from "speaks for D" to "speaks for D'"; a rule guesses D on the first few, D' on the last few and abstains between.
//! Which order and how few is decided by cross-validation: maximising a noisy ratio runs into the tail, so each candidate
//! procedure is pessimistic to a different degree, and the draws that a procedure has not seen tell which degree pays.

use super::bins::Bins;
use super::board::Board;
use super::counts::Counts;
use super::order::{CALIBRATED, Order, blocks, orders};
use super::rule::Answer;
use super::score::Score;
use crate::evidence::wealth::Forecast;

/// Parts into which the exploration draws are divided for cross-validation.
pub const FOLDS: usize = 4;

/// Standard errors by which a procedure may be pessimistic when it chooses its cuts.
const PESSIMISM: [f64; 3] = [2.0, 4.0, 8.0];

/// Standard errors by which the comparison of procedures is pessimistic.
const JUDGE: f64 = 5.0;

/// A learned score is a log-ratio already: with only the cuts to choose, less pessimism is enough for the ε bound. Whether there is any δ to be found stays a question of
/// significance.
const LEARNED: f64 = 0.7;

/// How many times more pessimistic a rule is chosen that is to guess often.
const POWER_CAUTION: f64 = 6.0;

/// How many times less pessimistic a bold rule is chosen.
const BOLDNESS: f64 = 0.25;

/// What a rule is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// The largest ε bound at this δ.
    Epsilon {
        /// The claimed δ.
        delta: f64,
    },
    /// An ε bound at this δ from many guesses: what a rule that guesses often would have caught counts for more than the bound.
    Power {
        /// The claimed δ.
        delta: f64,
    },
    /// A larger ε bound from fewer guesses, if the log-ratios are as smooth as they seem: pays where the tail tells most.
    Bold {
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
    /// The orders in which a rule for this goal is looked for.
    fn orders(self, learned: bool) -> &'static [Order] {
        if matches!(self, Self::Bold { .. }) { &CALIBRATED } else { orders(learned) }
    }

    /// Whether a score is looked at for this goal. Only a learned score, which is a log-ratio already, has a tail that is worth being bold about.
    pub fn takes(self, score: &Score) -> bool {
        !matches!(self, Self::Bold { .. }) || score.is_learned()
    }

    /// The value of a rule that should do like this.
    pub fn judged(self, forecast: Forecast, regions: f64) -> f64 {
        self.value(forecast.correct, forecast.wrong, regions, forecast.draws.max(1.0), JUDGE)
    }

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
            Self::Power { delta } => Self::Epsilon { delta }.value(correct, wrong, regions, n, POWER_CAUTION * z),
            Self::Bold { delta } => Self::Epsilon { delta }.value(correct, wrong, regions, n, BOLDNESS * z),
            Self::Delta { epsilon } => {
                let odds = epsilon.exp();
                (correct - odds * wrong - z * ((correct + odds * odds * wrong) / n).sqrt()) * 2.0 / regions.max(1.0)
            }
        }
    }
}

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
///
/// `seen` draws were explored. Learned scores are counted on fewer, because the others taught them; that must not make them look worse, so all are as
/// pessimistic as if every draw had been counted.
pub fn select(board: &Board, goal: Goal, seen: f64) -> Selected {
    let (bins, folds) = (board.bins(), board.folds());
    let mut all = Counts::new(bins.len());
    folds.iter().for_each(|fold| all.add(fold));
    let n = all.draws();
    let learned = board.score().is_learned();
    let ease = (n / seen.max(n).max(1.0)).sqrt() * if learned && matches!(goal, Goal::Epsilon { .. }) { LEARNED } else { 1.0 };
    let mut best: Option<(f64, Order, f64, Forecast)> = None;
    for &order in goal.orders(learned) {
        let mut right_wrong = [(0_u64, 0_u64); PESSIMISM.len()];
        let mut regions = [0.0_f64; PESSIMISM.len()];
        for fold in folds {
            let line = Line::new(bins, &all.without(fold), order);
            for (index, z) in PESSIMISM.into_iter().enumerate() {
                let answers = line.answers(goal, z * ease);
                let (correct, wrong) = fold.judge(&answers);
                right_wrong[index] = (right_wrong[index].0 + correct, right_wrong[index].1 + wrong);
                regions[index] = regions[index].max(count_regions(&answers));
            }
        }
        for (index, z) in PESSIMISM.into_iter().enumerate() {
            let (correct, wrong) = (right_wrong[index].0 as f64 / n.max(1.0), right_wrong[index].1 as f64 / n.max(1.0));
            let value = goal.value(correct, wrong, regions[index], n.max(1.0), (JUDGE + order.caution()) * ease);
            // Simple orders come first; a later one must gain a tenth of a per cent.
            if best.as_ref().is_none_or(|(least, ..)| value > least + 1e-3 * least.abs()) {
                best = Some((value, order, z, Forecast { correct, wrong, draws: n }));
            }
        }
    }
    let none = (0.0, Order::Falling, JUDGE, Forecast { correct: 0.0, wrong: 0.0, draws: 0.0 });
    let (value, order, z, forecast) = best.unwrap_or(none);
    Selected { answers: Line::new(bins, &all, order).answers(goal, z * ease), forecast, value }
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
