//! Bins in an order from "evidence for D" to "evidence for D'", and the best points to cut this
//! order.

use crate::attack::answer::Answer;
use crate::attack::bins::Bins;
use crate::attack::bins::Counts;
use crate::attack::fit::order::{Order, blocks};
use crate::attack::rule::goal::{Caution, Goal};
use crate::attack::tuning::select::{CUTS, CUTS_AT_ENDS, ROUNDS};
use crate::stats::Rates;

/// Bins in order, and the points where the order may be cut.
pub struct OrderedBins {
    bins: usize,
    order: Vec<usize>,
    /// From before the first bin to after the last.
    points: Vec<CutPoint>,
    draws: f64,
}

/// A point to cut at: `bins` bins are before it, with the shares `left` and `right` of all draws.
#[derive(Clone, Copy, Debug)]
struct CutPoint {
    bins: usize,
    left: f64,
    right: f64,
    /// Whether too few hits are near it to be of use for the bound on ε.
    for_delta: bool,
}

/// A rule on ordered bins: it guesses D on the first `head` bins and D' from the bin `tail` on.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    head: usize,
    tail: usize,
    /// What the smoothed counts promise.
    pub rates: Rates,
    /// How many of the two answers it gives.
    pub regions: u8,
}

impl OrderedBins {
    /// The bins in this order, with these hits.
    pub fn new(bins: &Bins, counts: &Counts, order: Order) -> Self {
        let (order, sums) = sort_bins(bins, counts, order);
        let draws = counts.draws();
        let share = |hits: f64| hits / draws.max(1.0);
        let point = |(cut, for_delta): (usize, bool)| CutPoint {
            bins: cut,
            left: share(sums[cut].0),
            right: share(sums[cut].1),
            for_delta,
        };
        let points = cuts(&sums).into_iter().map(point);
        Self { bins: bins.len(), order, points: points.collect(), draws }
    }

    /// `z` standard errors of frequencies in the draws of these bins.
    pub fn caution(&self, z: f64) -> Caution {
        Caution { draws: self.draws.max(1.0), z }
    }

    /// The cut with the best pessimistic value.
    pub fn best_cut(&self, goal: Goal, caution: Caution) -> Cut {
        let end = self.points.len() - 1;
        let value = |head: usize, tail: usize| {
            goal.value(self.rates(head, tail), self.regions(head, tail), caution)
        };
        // Coordinate ascent, one cut at a time. It starts with a rule that guesses only D, and with
        // one that guesses only D'.
        let tried = |point: &usize| !self.points[*point].for_delta || goal.is_delta();
        let best_head = |tail: usize| best_of((0..=tail).filter(tried), |head| value(head, tail));
        let best_tail =
            |head: usize| best_of((head..=end).rev().filter(tried), |tail| value(head, tail));
        let mut best = (f64::NEG_INFINITY, 0, end);
        for mut head in [best_head(end), 0] {
            let mut tail = end;
            for _ in 0..ROUNDS {
                tail = best_tail(head);
                let before = std::mem::replace(&mut head, best_head(tail));
                if before == head {
                    break;
                }
            }
            let reached = value(head, tail);
            if reached > best.0 {
                best = (reached, head, tail);
            }
        }
        let (_, head, tail) = best;
        Cut {
            head: self.points[head].bins,
            tail: self.points[tail].bins,
            rates: self.rates(head, tail),
            regions: self.regions(head, tail),
        }
    }

    /// The answers of a cut.
    pub fn answers(&self, cut: Cut) -> Vec<Answer> {
        let mut answers = vec![Answer::Abstain; self.bins];
        self.order[..cut.head].iter().for_each(|bin| answers[*bin] = Answer::Left);
        self.order[cut.tail..].iter().for_each(|bin| answers[*bin] = Answer::Right);
        answers
    }

    /// The expected result of guessing D before the point `head` and D' after the point `tail`.
    #[inline]
    fn rates(&self, head: usize, tail: usize) -> Rates {
        let end = self.points.len() - 1;
        let [before, until, all] = [head, tail, end].map(|point| self.points[point]);
        Rates {
            correct: before.left + (all.right - until.right),
            wrong: before.right + (all.left - until.left),
            draws: self.draws,
        }
    }

    /// How many of the two answers it then gives.
    #[inline]
    fn regions(&self, head: usize, tail: usize) -> u8 {
        u8::from(head > 0) + u8::from(tail < self.points.len() - 1)
    }
}

/// The bins in this order, and the prefix sums of their smoothed `(left, right)` hits.
fn sort_bins(bins: &Bins, counts: &Counts, order: Order) -> (Vec<usize>, Vec<(f64, f64)>) {
    let mut sums = vec![(0.0, 0.0)];
    let mut sorted = Vec::with_capacity(bins.len());
    let mut sum = (0.0, 0.0);
    for block in &blocks(bins, counts, order) {
        let hits = block.left + block.right;
        if hits == 0.0 && block.bins.iter().all(|bin| *bin >= bins.numeric()) {
            continue; // nothing is known about symbols that never occurred
        }
        for &bin in &block.bins {
            // All bins of a block have the same ratio. Its smoothed hits are divided in proportion
            // to the hits of each bin.
            let share = (counts.left[bin] + counts.right[bin]) as f64 / hits.max(1.0);
            sum = (sum.0 + block.left * share, sum.1 + block.right * share);
            sorted.push(bin);
            sums.push(sum);
        }
    }
    (sorted, sums)
}

/// The points where a cut is tried: all of them if there are few, else quantiles of the hits and
/// geometric masses at both ends. For the bound on δ also the first and the last bins, one of which
/// may be a rare event.
fn cuts(sums: &[(f64, f64)]) -> Vec<(usize, bool)> {
    let m = sums.len() - 1;
    if m <= CUTS {
        return (0..=m).map(|cut| (cut, false)).collect();
    }
    let before = |cut: usize| sums[cut].0 + sums[cut].1;
    let total = before(m);
    let mut cuts = vec![(0, false)];
    let mut last = 0.0;
    for cut in 1..m {
        let to_nearer_end = before(cut).min(total - before(cut));
        if before(cut) - last >= (total / CUTS as f64).min(to_nearer_end / 2.0) {
            cuts.push((cut, false));
            last = before(cut);
        } else if cut <= CUTS_AT_ENDS || cut + CUTS_AT_ENDS >= m {
            cuts.push((cut, true));
        }
    }
    cuts.push((m, false));
    cuts
}

/// The point with the largest value; the first one if there are several.
fn best_of(points: impl Iterator<Item = usize>, value: impl Fn(usize) -> f64) -> usize {
    let start = (0, f64::NEG_INFINITY);
    points
        .map(|point| (point, value(point)))
        .fold(start, |best, next| if next.1 > best.1 { next } else { best })
        .0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Measure;
    use crate::output::Cell;

    /// Bins of `count` symbols with irregular hits. Numbers and other symbols have no hits.
    fn symbols(count: usize, turn: u64) -> (Bins, Counts) {
        let sample: Vec<Cell> =
            (0..count).flat_map(|index| [Cell::symbol(&index.to_string()); 4]).collect();
        let bins = Bins::learn(&sample);
        let hits = |by: u64| -> Vec<u64> {
            let hit = |bin: u64| {
                if (1..=count as u64).contains(&bin) { (bin + turn) * by % 97 + 1 } else { 0 }
            };
            (0..bins.len() as u64).map(hit).collect()
        };
        let counts = Counts { left: hits(7919), right: hits(6661) };
        (bins, counts)
    }

    #[test]
    fn the_best_cut_is_the_best_of_all() {
        for turn in 0..20 {
            let (bins, counts) = symbols(12, turn);
            let n = counts.draws();
            let ordered = OrderedBins::new(&bins, &counts, Order::Ranked(12));
            // Symbols by falling share of D. The bin of the numbers has no hits, so its share is
            // one half.
            let share = |bin: &usize| {
                (counts.left[*bin] as f64 + 0.5)
                    / ((counts.left[*bin] + counts.right[*bin]) as f64 + 1.0)
            };
            let mut order: Vec<usize> = (0..bins.len() - 1).collect();
            order.sort_by(|a, b| share(b).total_cmp(&share(a)));
            let measures = [
                Measure::Epsilon { delta: 0.0 },
                Measure::Epsilon { delta: 0.05 },
                Measure::Delta { epsilon: 0.0 },
                Measure::Delta { epsilon: 0.5 },
            ];
            let goals = measures.iter().map(Goal::new);
            for (goal, z) in goals.flat_map(|goal| [0.0, 1.0, 3.0].map(|z| (goal, z))) {
                let mut best = f64::NEG_INFINITY;
                for (head, tail) in (0..=order.len())
                    .flat_map(|head| (head..=order.len()).map(move |tail| (head, tail)))
                {
                    let mut answers = vec![Answer::Abstain; bins.len()];
                    order[..head].iter().for_each(|bin| answers[*bin] = Answer::Left);
                    order[tail..].iter().for_each(|bin| answers[*bin] = Answer::Right);
                    let (correct, wrong) = counts.tally(&answers);
                    let regions = [head > 0, tail < order.len()].map(u8::from).iter().sum();
                    let (correct, wrong) = (correct as f64 / n, wrong as f64 / n);
                    let rates = Rates { correct, wrong, draws: n };
                    let value = goal.value(rates, regions, Caution { draws: n, z });
                    best = best.max(value);
                }
                let cut = ordered.best_cut(goal, ordered.caution(z));
                let found = goal.value(cut.rates, cut.regions, Caution { draws: n, z });
                assert!(
                    (found - best).abs() <= 1e-9 * best.abs(),
                    "{goal:?} at {z}, {turn}: {found} instead of {best}"
                );
                // The expected result is that of its answers.
                let (correct, wrong) = counts.tally(&ordered.answers(cut));
                assert!(
                    (cut.rates.correct * n - correct as f64).abs() < 1e-6
                        && (cut.rates.wrong * n - wrong as f64).abs() < 1e-6
                );
            }
        }
    }

    #[test]
    fn the_order_has_every_bin_with_hits_once_with_its_hits() {
        let sample: Vec<Cell> =
            (0..4000).map(|i| Cell::number(f64::from(i))).chain([Cell::symbol("⊥"); 4]).collect();
        let bins = Bins::learn(&sample);
        let mut counts = Counts::new(bins.len());
        for bin in 0..=bins.numeric() {
            counts.left[bin] = (bin * 7919 % 89) as u64;
            counts.right[bin] = (bin * 6661 % 97) as u64;
        }
        for order in [
            Order::Falling,
            Order::Rising,
            Order::Smooth(30.0),
            Order::Calibrated(300.0),
            Order::Ranked(48),
        ] {
            let (sorted, sums) = sort_bins(&bins, &counts, order);
            let mut found = sorted.clone();
            found.sort_unstable();
            // All bins except that of unknown symbols.
            assert_eq!(found, (0..=bins.numeric()).collect::<Vec<_>>(), "{order:?}");
            assert_eq!(sums.len(), sorted.len() + 1);
            for (bin, sums) in sorted.iter().zip(sums.windows(2)) {
                let hits = (sums[1].0 + sums[1].1) - (sums[0].0 + sums[0].1);
                assert!(
                    (hits - (counts.left[*bin] + counts.right[*bin]) as f64).abs() < 1e-6,
                    "{order:?}"
                );
            }
            let answers = |head: usize| {
                let rates = Rates { correct: 0.0, wrong: 0.0, draws: 0.0 };
                OrderedBins::new(&bins, &counts, order).answers(Cut {
                    head,
                    tail: found.len(),
                    rates,
                    regions: 0,
                })
            };
            assert_eq!(answers(0), vec![Answer::Abstain; bins.len()]);
            assert_eq!(*answers(found.len()).last().unwrap(), Answer::Abstain);
        }
    }

    #[test]
    fn long_orders_are_cut_at_quantiles_and_ever_more_densely_towards_both_ends() {
        let even = |bins: u32| -> Vec<(f64, f64)> {
            (0..=bins).map(|bin| (f64::from(bin.div_ceil(2)), f64::from(bin / 2))).collect()
        };
        assert_eq!(cuts(&even(48)), (0..=48).map(|cut| (cut, false)).collect::<Vec<_>>());
        // One hit in each of 1,000 bins. Cuts are 21 bins apart, which is 1/48 of the hits. Where
        // half of the hits to the nearer end is less, they are that far apart.
        let all = cuts(&even(1000));
        let found: Vec<usize> =
            all.iter().filter(|(_, for_delta)| !for_delta).map(|(cut, _)| *cut).collect();
        assert_eq!(found[..9], [0, 1, 2, 4, 8, 16, 32, 53, 74]);
        assert!(found.windows(2).all(|cut| cut[0] < cut[1] && cut[1] - cut[0] <= 21));
        assert!(found.windows(2).all(|cut| cut[0] < 32 || cut[1] > 958 || cut[1] - cut[0] == 21));
        assert_eq!(found[found.len() - 3..], [998, 999, 1000]);
        assert!(found.windows(2).all(|cut| cut[1] < 960
            || cut[1] == 1000
            || cut[1] - cut[0] <= (1000 - cut[1]) / 2 + 2));
        // The bound on δ may be cut after each of the first and before each of the last four bins.
        assert!((0..=4).chain(996..=1000).all(|near| all.iter().any(|(cut, _)| *cut == near)));
        assert!(all.iter().all(|(cut, for_delta)| !for_delta || *cut <= 4 || *cut >= 996));
    }

    #[test]
    fn among_equal_places_the_first_is_best() {
        assert_eq!(best_of([4, 2, 9, 7].into_iter(), |point| f64::from(u8::from(point != 4))), 2);
    }
}
