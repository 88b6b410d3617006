//! The histogram of the score that a rule looks at, from the exploration draws. It explains the
//! rule to people and is never evidence.

use serde::{Deserialize, Serialize};

use crate::attack::answer::Answer;
use crate::attack::bins::{Bins, Counts};
use crate::attack::learner::{Score, View};
use crate::attack::rule::score_bins::ScoreBins;
use crate::model::number::Brief;
use crate::output::{Cell, Symbols};

/// Buckets of the number line in a picture.
const BUCKETS: usize = 60;
/// The most values that are shown as bars.
const BARS: usize = 10;
/// The share of the numbers that a picture may leave out at each end.
const CUT: f64 = 0.003;

/// The hits of one score, and the answer of a rule to each of its bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreHistogram {
    score: Score,
    bins: Bins,
    folds: Vec<Counts>,
    answers: Vec<Answer>,
}

/// How often each value occurred on each side. Shares are of all outputs of that side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// What the attacker looks at.
    pub score: String,
    /// The numbers; absent if there are none, or so few different ones that each has its own bar.
    pub line: Option<NumberLine>,
    /// The symbols, and the numbers if they are few.
    pub bars: Vec<Bar>,
}

/// A part of the number line, divided into equal buckets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberLine {
    /// Where the first bucket begins.
    pub from: f64,
    /// Where the last bucket ends.
    pub to: f64,
    /// The share of each bucket on D.
    pub left: Vec<f64>,
    /// The share of each bucket on D'.
    pub right: Vec<f64>,
    /// The answer of the rule in each bucket.
    pub answers: Vec<Answer>,
}

/// A single value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// The value.
    pub name: String,
    /// Its share on D.
    pub left: f64,
    /// Its share on D'.
    pub right: f64,
    /// The answer of the rule to it; no guess for the bar that sums up all other values.
    pub answer: Answer,
}

impl ScoreHistogram {
    /// The histogram of a score with its bins, and these answers to the bins.
    #[must_use]
    pub fn new(score_bins: &ScoreBins, answers: &[Answer]) -> Self {
        Self {
            score: score_bins.score().clone(),
            bins: score_bins.bins().clone(),
            folds: score_bins.folds().to_vec(),
            answers: answers.to_vec(),
        }
    }

    /// An estimate of the smallest δ at this ε that the score shows: `δ ≥ P(A) − e^ε·P'(A)` for
    /// every event A, and the same with D and D' exchanged.
    ///
    /// The event is chosen on all folds except one and measured on this fold, so that noise does
    /// not make the estimate larger.
    #[must_use]
    pub fn delta_estimate(&self, epsilon: f64) -> f64 {
        let all = self.all();
        let (odds, total) = (epsilon.exp(), Totals::of(&all));
        let mut sums = [0.0, 0.0];
        for fold in &self.folds {
            let others = all.without(fold);
            let known = Totals::of(&others);
            for bin in 0..self.bins.len() {
                let (left, right) = known.shares(&others, bin);
                let (p, q) = total.shares(fold, bin);
                if left > odds * right {
                    sums[0] += p - odds * q;
                }
                if right > odds * left {
                    sums[1] += q - odds * p;
                }
            }
        }
        sums[0].max(sums[1]).max(0.0)
    }

    /// The distributions for a picture.
    #[must_use]
    pub fn distribution(&self, names: &Symbols) -> Distribution {
        let all = self.all();
        let total = Totals::of(&all);
        let bar = |name: String, bin: usize| {
            let (left, right) = total.shares(&all, bin);
            Bar { name, left: brief(left), right: brief(right), answer: self.answers[bin] }
        };
        let hit = |bin: &usize| all.left[*bin] + all.right[*bin] > 0;
        let mass = |bins: &[usize]| {
            bins.iter().map(|bin| all.left[*bin] + all.right[*bin]).sum::<u64>() as f64
        };
        let (atoms, between): (Vec<usize>, Vec<usize>) =
            (0..self.bins.numeric()).filter(hit).partition(|bin| self.bins.is_atom(*bin));
        let symbols = (self.bins.numeric()..self.bins.len()).filter(hit);
        let few = atoms.len() <= BARS && mass(&between) <= 0.01 * mass(&atoms);
        let line = if few { None } else { self.line(&all, &total) };
        let mut bars = Vec::new();
        if few {
            bars.extend(
                atoms
                    .into_iter()
                    .map(|bin| bar(Brief(self.bins.edges()[bin - 1]).to_string(), bin)),
            );
        }
        bars.extend(symbols.map(|bin| {
            let name = self
                .bins
                .symbols()
                .get(bin - self.bins.numeric())
                .map_or_else(|| "other symbols".to_owned(), |symbol| names.text(*symbol));
            bar(name, bin)
        }));
        Distribution { score: self.score.describe(names), line, bars: most_significant(bars) }
    }

    fn all(&self) -> Counts {
        let mut all = Counts::new(self.bins.len());
        self.folds.iter().for_each(|fold| all.add(fold));
        all
    }

    /// Spreads the hits of the numeric bins over equal buckets.
    fn line(&self, all: &Counts, total: &Totals) -> Option<NumberLine> {
        let (from, to) = self.range(all)?;
        let width = (to - from) / BUCKETS as f64;
        let mut line = NumberLine {
            from: brief(from),
            to: brief(to),
            left: vec![0.0; BUCKETS],
            right: vec![0.0; BUCKETS],
            answers: vec![Answer::Abstain; BUCKETS],
        };
        let edges = self.bins.edges();
        for bin in 1..edges.len() {
            let (begin, end) = (edges[bin - 1], edges[bin]);
            let (left, right) = total.shares(all, bin);
            let (low, high) = (begin.max(from), end.min(to));
            let (first, last) = (bucket(low, from, width), bucket(high, from, width));
            for index in first..=last {
                let start = from + index as f64 * width;
                let inside = if first == last && begin >= from && end <= to {
                    1.0
                } else {
                    ((start + width).min(high) - start.max(low)).max(0.0) / (end - begin)
                };
                line.left[index] += left * inside;
                line.right[index] += right * inside;
            }
        }
        for index in 0..BUCKETS {
            line.left[index] = brief(line.left[index]);
            line.right[index] = brief(line.right[index]);
            line.answers[index] =
                self.answers[self.bins.index(Cell::number(from + (index as f64 + 0.5) * width))];
        }
        Some(line)
    }

    /// The part of the number line that is shown: nearly all hits, and the beginning of the region
    /// where the rule guesses if it is not too far out.
    fn range(&self, all: &Counts) -> Option<(f64, f64)> {
        let edges = self.bins.edges();
        // The atoms −∞ and ∞ are not part of the line. The bin of −∞ ends at −f64::MAX, where all
        // other numbers begin.
        let finite = |edge: &f64| edge.abs() < f64::MAX;
        let hits = |bin: usize| {
            if bin > 0 && edges[bin - 1].is_infinite() { 0 } else { all.left[bin] + all.right[bin] }
        };
        let total = (0..self.bins.numeric()).map(hits).sum::<u64>().max(1) as f64;
        let mut inner = edges.iter().copied().filter(finite);
        let (mut low, mut high) = (inner.next()?, inner.next_back()?);
        let mut below = 0;
        for (bin, edge) in edges.iter().enumerate() {
            below += hits(bin);
            let share = below as f64 / total;
            if share <= CUT && finite(edge) {
                low = *edge;
            }
            if share >= 1.0 - CUT {
                high = high.min(*edge);
            }
        }
        let reach = (high - low) / 2.0;
        let margin = (high - low) / 20.0;
        // The edges at which the rule begins to guess.
        let guesses = |bin: usize| self.answers[bin] != Answer::Abstain;
        if let Some(first) = (1..edges.len()).find(|bin| guesses(0) && !guesses(*bin))
            && (low - reach..low + margin).contains(&edges[first - 1])
        {
            low = edges[first - 1] - margin;
        }
        let last = self.bins.numeric() - 1;
        if let Some(bin) = (1..last).rev().find(|bin| guesses(last) && !guesses(*bin))
            && (high - margin..high + reach).contains(&edges[bin])
        {
            high = edges[bin] + margin;
        }
        (high > low).then_some((low, high))
    }
}

/// The bucket of a number; a number outside of all buckets belongs to the nearest one.
fn bucket(x: f64, from: f64, width: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the buckets
    {
        (((x - from) / width).max(0.0) as usize).min(BUCKETS - 1)
    }
}

/// The bars with the largest difference or the largest share, in their old order; all others are
/// summed up in one bar.
fn most_significant(bars: Vec<Bar>) -> Vec<Bar> {
    if bars.len() <= BARS {
        return bars;
    }
    let weight = |bar: &Bar| (bar.left - bar.right).abs() + 0.1 * (bar.left + bar.right);
    let mut order: Vec<usize> = (0..bars.len()).collect();
    order.sort_by(|a, b| weight(&bars[*b]).total_cmp(&weight(&bars[*a])));
    let shown = &order[..BARS - 1];
    let (mut kept, mut rest) =
        (Vec::new(), Bar { name: String::new(), left: 0.0, right: 0.0, answer: Answer::Abstain });
    let others = bars.len() - shown.len();
    for (index, bar) in bars.into_iter().enumerate() {
        if shown.contains(&index) {
            kept.push(bar);
        } else {
            rest.left += bar.left;
            rest.right += bar.right;
        }
    }
    let rest = Bar {
        name: format!("{others} others"),
        left: brief(rest.left),
        right: brief(rest.right),
        ..rest
    };
    kept.into_iter().chain([rest]).collect()
}

/// The number of hits of each side.
struct Totals {
    left: f64,
    right: f64,
}

impl Totals {
    fn of(counts: &Counts) -> Self {
        let sum = |counts: &[u64]| counts.iter().sum::<u64>().max(1) as f64;
        Self { left: sum(&counts.left), right: sum(&counts.right) }
    }

    fn shares(&self, counts: &Counts, bin: usize) -> (f64, f64) {
        (counts.left[bin] as f64 / self.left, counts.right[bin] as f64 / self.right)
    }
}

/// Rounds to four significant digits, which is enough for a picture.
fn brief(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::noise::{Generator, laplace};
    use crate::output::Rows;

    fn rows(count: usize, mut cell: impl FnMut(usize) -> Cell) -> Rows {
        let mut rows = Rows::new(1);
        rows.resize(count);
        rows.iter_mut().enumerate().for_each(|(index, row)| row[0] = cell(index));
        rows
    }

    fn histogram(left: &Rows, right: &Rows) -> ScoreHistogram {
        let score_bins = ScoreBins::new(Score::Output, left, right);
        let answers = vec![Answer::Abstain; score_bins.bins().len()];
        ScoreHistogram::new(&score_bins, &answers)
    }

    #[test]
    fn the_estimate_is_the_profile_of_laplace_noise() {
        // Lap(1) around 0 and 1: δ(ε) = 1 − e^((ε − 1)/2) for ε < 1, else 0. With 400,000 draws a
        // side the standard error is at most 8e-4; the bins cost less than 1e-3.
        let mut rng = Generator::seed_from_u64(5);
        let mut side = |at: f64| rows(400_000, |_| Cell::number(at + laplace(&mut rng, 1.0)));
        let histogram = histogram(&side(0.0), &side(1.0));
        for epsilon in [0.0, 0.3, 0.7, 1.0, 1.5] {
            let exact = if epsilon < 1.0 { 1.0 - ((epsilon - 1.0) / 2.0_f64).exp() } else { 0.0 };
            let found = histogram.delta_estimate(epsilon);
            assert!((found - exact).abs() < 5e-3, "ε = {epsilon}: {found} instead of {exact}");
        }
    }

    #[test]
    fn nearly_all_numbers_are_in_the_buckets() {
        let mut rng = Generator::seed_from_u64(6);
        let mut side = |at: f64| {
            rows(20_000, |index| {
                if index % 4 == 0 {
                    Cell::symbol("⊥")
                } else {
                    Cell::number(at + laplace(&mut rng, 1.0))
                }
            })
        };
        let drawn = histogram(&side(0.0), &side(1.0)).distribution(&Symbols::default());
        let line = drawn.line.expect("numbers");
        for shares in [&line.left, &line.right] {
            let sum: f64 = shares.iter().sum();
            assert!(
                (0.73..=0.751).contains(&sum),
                "three quarters are numbers, {sum} are in the buckets"
            );
        }
        assert_eq!(drawn.bars.len(), 1);
        assert_eq!((drawn.bars[0].name.as_str(), drawn.bars[0].left), ("⊥", 0.25));
    }

    #[test]
    fn few_values_are_bars_and_many_are_summed_up() {
        let few = histogram(
            &rows(300, |index| Cell::number((index % 3) as f64)),
            &rows(300, |_| Cell::number(1.0)),
        )
        .distribution(&Symbols::default());
        assert!(few.line.is_none());
        let bars: Vec<(&str, f64, f64)> =
            few.bars.iter().map(|bar| (bar.name.as_str(), bar.left, bar.right)).collect();
        assert_eq!(bars, [("0", 0.3333, 0.0), ("1", 0.3333, 1.0), ("2", 0.3333, 0.0)]);
        let names: Vec<String> = (0..20).map(|index| format!("category {index}")).collect();
        let symbol = |index: usize| Cell::symbol(&names[index % 20]);
        let many =
            histogram(&rows(400, symbol), &rows(400, symbol)).distribution(&Symbols::default());
        assert_eq!(many.bars.len(), BARS);
        assert_eq!(many.bars[BARS - 1].name, "11 others");
        assert!((many.bars.iter().map(|bar| bar.left).sum::<f64>() - 1.0).abs() < 1e-3);
    }

    /// Rows in which each symbol has its number of parts, in the same proportions in every fold.
    fn parts(names: &[&str], parts: &[usize]) -> Rows {
        let symbols: Vec<Cell> = names
            .iter()
            .zip(parts)
            .flat_map(|(name, part)| vec![Cell::symbol(name); *part])
            .collect();
        rows(20 * symbols.len(), |index| symbols[index / 4 % symbols.len()])
    }

    #[test]
    fn the_estimate_considers_both_directions() {
        let names = ["a", "b", "c"];
        let (spread, concentrated) = (parts(&names, &[6, 6, 8]), parts(&names, &[2, 2, 16]));
        for epsilon in [0.0, 0.2, 0.5, 1.0_f64] {
            let odds = epsilon.exp();
            // In one direction two symbols count, in the other direction one does: Σ max(0, p −
            // e^ε·q).
            let exact = (2.0 * (0.3 - odds * 0.1)).max(0.8 - odds * 0.4).max(0.0);
            for found in [histogram(&spread, &concentrated), histogram(&concentrated, &spread)]
                .map(|both| both.delta_estimate(epsilon))
            {
                assert!((found - exact).abs() < 1e-12, "ε = {epsilon}: {found} instead of {exact}");
            }
        }
        // 1/20 against 1/2: at ε = 2 the first symbol counts in one direction only.
        let (rare, frequent) = (parts(&names[..2], &[1, 19]), parts(&names[..2], &[10, 10]));
        let exact = 0.5 - 2.0_f64.exp() * 0.05;
        for found in [histogram(&rare, &frequent), histogram(&frequent, &rare)]
            .map(|both| both.delta_estimate(2.0))
        {
            assert!((found - exact).abs() < 1e-12, "{found} instead of {exact}");
        }
    }

    /// The histogram of a rule that guesses D below one number and D' from another one on.
    fn guessing(left: &Rows, right: &Rows, below: f64, from: f64) -> ScoreHistogram {
        let score_bins = ScoreBins::new(Score::Output, left, right);
        let edges = score_bins.bins().edges();
        let starts = std::iter::once(f64::NEG_INFINITY).chain(edges.iter().copied());
        let mut answers: Vec<Answer> = starts
            .map(|start| {
                if start < below {
                    Answer::Left
                } else if start >= from {
                    Answer::Right
                } else {
                    Answer::Abstain
                }
            })
            .collect();
        answers.resize(score_bins.bins().len(), Answer::Abstain);
        ScoreHistogram::new(&score_bins, &answers)
    }

    #[test]
    fn buckets_have_their_share_of_the_numbers_and_the_answer_to_them() {
        // Uniform from 0 to 3, and from 1.5 to 3.
        let even = |from: f64, to: f64| {
            rows(30_000, |index| Cell::number(from + (to - from) * (index as f64 + 0.5) / 30_000.0))
        };
        let histogram = guessing(&even(0.0, 3.0), &even(1.5, 3.0), 1.0, 2.0);
        let line = histogram.distribution(&Symbols::default()).line.expect("numbers");
        assert!(
            (0.0..0.03).contains(&line.from) && (2.97..3.0).contains(&line.to),
            "{} to {}",
            line.from,
            line.to
        );
        assert_eq!((line.left.len(), line.right.len(), line.answers.len()), (60, 60, 60));
        let width = (line.to - line.from) / 60.0;
        for index in 0..60 {
            let (start, end) =
                (line.from + width * index as f64, line.from + width * (index + 1) as f64);
            let (of_left, of_right) = (width / 3.0, (end.max(1.5) - start.max(1.5)) / 1.5);
            assert!(
                (line.left[index] / of_left - 1.0).abs() < 0.01,
                "bucket {index} of D: {} instead of {of_left}",
                line.left[index]
            );
            // The bin that contains 1.5 is spread evenly over the buckets, so these may be a little
            // off.
            assert!(
                (line.right[index] - of_right).abs()
                    < 0.01 * of_left + if (start - 1.5).abs() < 0.1 { 0.01 } else { 0.0 },
                "bucket {index} of D'"
            );
            let middle = f64::midpoint(start, end);
            let near = |cut: f64| (middle - cut).abs() < 0.03;
            let expected = if middle < 1.0 {
                Answer::Left
            } else if middle > 2.0 {
                Answer::Right
            } else {
                Answer::Abstain
            };
            assert!(
                line.answers[index] == expected || near(1.0) || near(2.0),
                "bucket {index} answers {:?}",
                line.answers[index]
            );
        }
    }

    #[test]
    fn a_margin_is_shown_next_to_guesses_close_to_the_ends() {
        let even = rows(30_000, |index| Cell::number((index as f64 + 0.5) / 10_000.0));
        let line = guessing(&even, &even, 0.1, 2.9)
            .distribution(&Symbols::default())
            .line
            .expect("numbers");
        // The margin is a twentieth of 0 to 3, up to a bin or two.
        assert!((line.from - (0.1 - 0.15)).abs() < 0.025, "from {}", line.from);
        assert!((line.to - (2.9 + 0.15)).abs() < 0.025, "to {}", line.to);
    }

    #[test]
    fn infinite_outputs_do_not_stretch_the_line() {
        // One output in `one_in` is infinite, and one in a thousand may be far out.
        let line = |count: usize, one_in: usize, far: f64| {
            let side = |infinite: f64| {
                rows(count, move |index| match index {
                    _ if index % one_in == 0 => Cell::number(infinite),
                    _ if far > 0.0 && index % 1000 == 501 => Cell::number(far.copysign(infinite)),
                    _ => Cell::number((index as f64 + 0.5) / count as f64),
                })
            };
            histogram(&side(f64::NEG_INFINITY), &side(f64::INFINITY))
                .distribution(&Symbols::default())
                .line
                .expect("numbers")
        };
        for (count, one_in, far) in [(10_000, 2, 0.0), (200, 2, 0.0), (10_000, 50, 1e6)] {
            let line = line(count, one_in, far);
            assert!(line.from >= 0.0 && line.to <= 1.0, "{} to {}", line.from, line.to);
        }
        let line = line(10_000, 2, 0.0);
        for shares in [&line.left, &line.right] {
            let sum: f64 = shares.iter().sum();
            assert!(
                (0.45..0.51).contains(&sum),
                "half of the outputs are finite, {sum} are in the buckets"
            );
        }
    }

    #[test]
    fn the_line_reaches_the_guesses_unless_they_are_far_out() {
        // 8,000 quantiles per side of Laplace noise, and of its fifth power.
        let quantile = |index: usize, power: i32| {
            let u = (index as f64 + 0.5) / 4000.0 - 1.0;
            (-(1.0 - u.abs()).ln()).powi(power).copysign(u)
        };
        let ends = |power: i32, below: f64, from: f64| {
            let rows = rows(8000, |index| Cell::number(quantile(index, power)));
            let line = guessing(&rows, &rows, below, from)
                .distribution(&Symbols::default())
                .line
                .expect("numbers");
            (line.from, line.to)
        };
        // At each end, 0.003 of the draws are beyond ±ln(1/0.006) = ±5.1, so the picture ends near
        // there. Each value occurs twice, and the outer edges are at 8, 16, 32 of the 16,000 draws.
        let (never, all) = ((f64::NEG_INFINITY, f64::INFINITY), (-5.5_f64, 5.5_f64));
        let (low, high) = ends(1, never.0, never.1);
        assert!((low - all.0).abs() < 0.5 && (high - all.1).abs() < 0.5, "{low} to {high}");
        let (reach, margin) = ((high - low) / 2.0, (high - low) / 20.0);
        // If a rule guesses only beyond that, a margin of the guesses is shown. If it begins to
        // guess further inside, nothing changes.
        let (low_edge, high_edge) = (quantile(4, 1), quantile(7996, 1));
        assert!(
            low_edge < low - 0.5
                && low_edge > low - reach
                && high_edge > high + 0.5
                && high_edge < high + reach
        );
        let (far_low, far_high) = ends(1, 1.001 * low_edge, 0.999 * high_edge);
        assert!(
            (far_low - low_edge + margin).abs() < 0.01,
            "{far_low} instead of {}",
            low_edge - margin
        );
        assert!(
            (far_high - high_edge - margin).abs() < 0.01,
            "{far_high} instead of {}",
            high_edge + margin
        );
        assert_eq!(ends(1, -1.0, 1.0), (low, high));
        assert_eq!(ends(1, 0.0, 0.0), (low, high));
        // The fifth powers of the same quantiles are three times as far out, which is too far.
        let powers = ends(5, never.0, never.1);
        assert!(powers.1 + (powers.1 - powers.0) / 2.0 < quantile(7996, 5));
        assert_eq!(ends(5, 1.001 * quantile(4, 5), 0.999 * quantile(7996, 5)), powers);
    }

    #[test]
    fn bars_with_the_largest_difference_or_share_are_shown() {
        let names: Vec<String> = (0..12).map(|index| format!("{index:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut table = Symbols::default();
        names.iter().for_each(|name| _ = table.symbol(name));
        // Of 400 on each side: 03 is frequent on both, 05 and 09 differ, six others have a share of
        // 1/40, and three are rare.
        let of_left = [2, 10, 10, 295, 10, 40, 10, 1, 10, 0, 10, 2];
        let of_right = [1, 10, 10, 296, 10, 0, 10, 2, 10, 40, 10, 1];
        let drawn =
            histogram(&parts(&names, &of_left), &parts(&names, &of_right)).distribution(&table);
        let mut shown: Vec<&str> = drawn.bars.iter().map(|bar| bar.name.as_str()).collect();
        let rest = drawn.bars.last().expect("bars");
        assert_eq!(shown.pop(), Some("3 others"));
        shown.sort_unstable();
        assert_eq!(shown, ["01", "02", "03", "04", "05", "06", "08", "09", "10"]);
        assert_eq!((rest.left, rest.right, rest.answer), (0.0125, 0.01, Answer::Abstain));
        // A difference of 0.01 counts more than a share of 0.04 on both sides.
        let (of_left, of_right) =
            ([[16; 10].as_slice(), &[236, 4]].concat(), [[16; 10].as_slice(), &[240, 0]].concat());
        let drawn =
            histogram(&parts(&names, &of_left), &parts(&names, &of_right)).distribution(&table);
        assert!(drawn.bars.iter().any(|bar| bar.name == "11"), "{:?}", drawn.bars);
    }

    #[test]
    fn many_atoms_or_numbers_between_them_make_a_line() {
        let of = |values: usize, others: usize| {
            let side = |start: f64| {
                rows(4000, |index| {
                    Cell::number(if index < others {
                        index as f64 / 1000.0 + start
                    } else {
                        (index % values) as f64
                    })
                })
            };
            histogram(&side(0.3217), &side(0.3218)).distribution(&Symbols::default())
        };
        // Ten values have bars if there are no other numbers, or at most one per cent of the draws.
        assert!(of(10, 0).line.is_none() && of(10, 32).line.is_none());
        assert_eq!(of(10, 32).bars.len(), 10);
        assert!(of(11, 0).line.is_some() && of(10, 80).line.is_some());
    }
}
