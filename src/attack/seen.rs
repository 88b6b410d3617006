//! What exploration saw of the score that a rule looks at: kept to explain the rule to people, never to judge it.

use serde::{Deserialize, Serialize};

use super::bins::Bins;
use super::board::Board;
use super::counts::Counts;
use super::rule::Answer;
use crate::cell::{Brief, Cell};

/// Cells of the number line in a picture.
const CELLS: usize = 60;
/// At most so many values are shown as bars of their own.
const BARS: usize = 10;
/// The share of the numbers at either end that a picture may leave out.
const CUT: f64 = 0.003;

/// The hits of one board, and what a rule answers to each of its bins.
#[derive(Clone, Debug)]
pub struct Seen {
    score: String,
    bins: Bins,
    folds: Vec<Counts>,
    answers: Vec<Answer>,
}

/// How often each value came up on either side. Shares are of all outputs of that side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// What the attacker looks at.
    pub score: String,
    /// The numbers; absent when there are none, or so few different ones that each has a bar.
    pub line: Option<Line>,
    /// Symbols, and numbers that are few.
    pub bars: Vec<Bar>,
}

/// Equal cells of the number line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Where the first cell begins.
    pub from: f64,
    /// Where the last one ends.
    pub to: f64,
    /// The share of each cell on D.
    pub left: Vec<f64>,
    /// The share of each cell on D'.
    pub right: Vec<f64>,
    /// What the rule answers in each cell.
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
    /// What the rule answers to it; nothing for the rest that has no bar of its own.
    pub answer: Answer,
}

impl Seen {
    /// What a board has seen, with these answers for its bins.
    #[must_use]
    pub fn new(board: &Board, answers: &[Answer]) -> Self {
        Self { score: board.score().to_string(), bins: board.bins().clone(), folds: board.folds().to_vec(), answers: answers.to_vec() }
    }

    /// An estimate of the least δ at this ε for what the score shows. Each part of the draws is judged by the event that the other parts choose, so that noise does not add to it.
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

    /// The distributions, ready to be drawn.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let all = self.all();
        let total = Totals::of(&all);
        let bar = |name: String, bin: usize| {
            let (left, right) = total.shares(&all, bin);
            Bar { name, left: brief(left), right: brief(right), answer: self.answers[bin] }
        };
        let hit = |bin: &usize| all.left[*bin] + all.right[*bin] > 0;
        let mass = |bins: &[usize]| bins.iter().map(|bin| all.left[*bin] + all.right[*bin]).sum::<u64>() as f64;
        let (atoms, between): (Vec<usize>, Vec<usize>) = (0..self.bins.numeric()).filter(hit).partition(|bin| self.bins.is_atom(*bin));
        let symbols = (self.bins.numeric()..self.bins.len()).filter(hit);
        let few = atoms.len() <= BARS && mass(&between) <= 0.01 * mass(&atoms);
        let line = if few { None } else { self.line(&all, &total) };
        let mut bars = Vec::new();
        if few {
            bars.extend(atoms.into_iter().map(|bin| bar(Brief(self.bins.edges()[bin - 1]).to_string(), bin)));
        }
        bars.extend(symbols.map(|bin| {
            let name = self.bins.symbols().get(bin - self.bins.numeric()).map_or_else(|| "other symbols".to_owned(), Cell::to_string);
            bar(name, bin)
        }));
        Distribution { score: self.score.clone(), line, bars: most_telling(bars) }
    }

    fn all(&self) -> Counts {
        let mut all = Counts::new(self.bins.len());
        self.folds.iter().for_each(|fold| all.add(fold));
        all
    }

    /// Spreads the hits of the numeric bins over equal cells.
    fn line(&self, all: &Counts, total: &Totals) -> Option<Line> {
        let (from, to) = self.range(all)?;
        let width = (to - from) / CELLS as f64;
        let mut line = Line {
            from: brief(from),
            to: brief(to),
            left: vec![0.0; CELLS],
            right: vec![0.0; CELLS],
            answers: vec![Answer::Abstain; CELLS],
        };
        let edges = self.bins.edges();
        for bin in 1..edges.len() {
            let (begin, end) = (edges[bin - 1], edges[bin]);
            let (left, right) = total.shares(all, bin);
            let (low, high) = (begin.max(from), end.min(to));
            if low > high || left + right == 0.0 || !(begin.is_finite() && end.is_finite()) {
                continue;
            }
            let (first, last) = (cell(low, from, width), cell(high, from, width));
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
        for index in 0..CELLS {
            line.left[index] = brief(line.left[index]);
            line.right[index] = brief(line.right[index]);
            line.answers[index] = self.answers[self.bins.index(Cell::number(from + (index as f64 + 0.5) * width))];
        }
        Some(line)
    }

    /// The part of the number line that is worth drawing: nearly all of the hits, and something of where the rule guesses if that is not too far out.
    fn range(&self, all: &Counts) -> Option<(f64, f64)> {
        let edges = self.bins.edges();
        let finite = |edge: Option<&f64>| edge.copied().filter(|edge| edge.is_finite());
        let total: u64 = (0..self.bins.numeric()).map(|bin| all.left[bin] + all.right[bin]).sum();
        let (mut below, mut low, mut high) = (0, None, None);
        for (bin, edge) in edges.iter().enumerate() {
            below += all.left[bin] + all.right[bin];
            let share = below as f64 / total.max(1) as f64;
            if share <= CUT {
                low = finite(Some(edge)).or(low);
            }
            if share >= 1.0 - CUT && high.is_none() {
                high = finite(Some(edge));
            }
        }
        let (mut low, mut high) = (low.or(finite(edges.first()))?, high.or(finite(edges.last()))?);
        let reach = (high - low) / 2.0;
        let margin = (high - low) / 20.0;
        // The ends at which the rule begins to guess.
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

fn cell(x: f64, from: f64, width: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within the cells
    {
        (((x - from) / width).max(0.0) as usize).min(CELLS - 1)
    }
}

/// The bars that differ most or stand for most, in their order; the others together as one.
fn most_telling(bars: Vec<Bar>) -> Vec<Bar> {
    if bars.len() <= BARS {
        return bars;
    }
    let weight = |bar: &Bar| (bar.left - bar.right).abs() + 0.1 * (bar.left + bar.right);
    let mut order: Vec<usize> = (0..bars.len()).collect();
    order.sort_by(|a, b| weight(&bars[*b]).total_cmp(&weight(&bars[*a])));
    let shown = &order[..BARS - 1];
    let (mut kept, mut rest) = (Vec::new(), Bar { name: String::new(), left: 0.0, right: 0.0, answer: Answer::Abstain });
    let others = bars.len() - shown.len();
    for (index, bar) in bars.into_iter().enumerate() {
        if shown.contains(&index) {
            kept.push(bar);
        } else {
            rest.left += bar.left;
            rest.right += bar.right;
        }
    }
    let rest = Bar { name: format!("{others} others"), left: brief(rest.left), right: brief(rest.right), ..rest };
    kept.into_iter().chain([rest]).collect()
}

/// Hits of each side.
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

/// Four significant digits: enough for a picture.
fn brief(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::score::Score;
    use super::*;
    use crate::cell::Rows;
    use crate::noise::{Generator, laplace};

    fn rows(count: usize, mut cell: impl FnMut(usize) -> Cell) -> Rows {
        let mut rows = Rows::new(1);
        rows.resize(count);
        rows.iter_mut().enumerate().for_each(|(index, row)| row[0] = cell(index));
        rows
    }

    fn seen(left: &Rows, right: &Rows) -> Seen {
        let board = Board::new(Score::Output, left, right);
        let answers = vec![Answer::Abstain; board.bins().len()];
        Seen::new(&board, &answers)
    }

    #[test]
    fn the_estimate_is_the_profile_of_laplace_noise() {
        // Lap(1) around 0 and 1: δ(ε) = 1 − e^((ε − 1)/2) for ε < 1, else 0. 400,000 draws a side leave a standard error of 8e-4 at most; bins cost less than 1e-3.
        let mut rng = Generator::seed_from_u64(5);
        let mut side = |at: f64| rows(400_000, |_| Cell::number(at + laplace(&mut rng, 1.0)));
        let seen = seen(&side(0.0), &side(1.0));
        for epsilon in [0.0, 0.3, 0.7, 1.0, 1.5] {
            let exact = if epsilon < 1.0 { 1.0 - ((epsilon - 1.0) / 2.0_f64).exp() } else { 0.0 };
            let found = seen.delta_estimate(epsilon);
            assert!((found - exact).abs() < 5e-3, "ε = {epsilon}: {found} instead of {exact}");
        }
    }

    #[test]
    fn nearly_all_numbers_lie_in_the_cells() {
        let mut rng = Generator::seed_from_u64(6);
        let mut side =
            |at: f64| rows(20_000, |index| if index % 4 == 0 { Cell::symbol("⊥") } else { Cell::number(at + laplace(&mut rng, 1.0)) });
        let drawn = seen(&side(0.0), &side(1.0)).distribution();
        let line = drawn.line.expect("numbers");
        for shares in [&line.left, &line.right] {
            let sum: f64 = shares.iter().sum();
            assert!((0.73..=0.751).contains(&sum), "three quarters are numbers, {sum} are in the cells");
        }
        assert_eq!(drawn.bars.len(), 1);
        assert_eq!((drawn.bars[0].name.as_str(), drawn.bars[0].left), ("⊥", 0.25));
    }

    #[test]
    fn few_values_are_bars_and_many_are_summed_up() {
        let few = seen(&rows(300, |index| Cell::number((index % 3) as f64)), &rows(300, |_| Cell::number(1.0))).distribution();
        assert!(few.line.is_none());
        let bars: Vec<(&str, f64, f64)> = few.bars.iter().map(|bar| (bar.name.as_str(), bar.left, bar.right)).collect();
        assert_eq!(bars, [("0", 0.3333, 0.0), ("1", 0.3333, 1.0), ("2", 0.3333, 0.0)]);
        let names: Vec<String> = (0..20).map(|index| format!("category {index}")).collect();
        let symbol = |index: usize| Cell::symbol(&names[index % 20]);
        let many = seen(&rows(400, symbol), &rows(400, symbol)).distribution();
        assert_eq!(many.bars.len(), BARS);
        assert_eq!(many.bars[BARS - 1].name, "11 others");
        assert!((many.bars.iter().map(|bar| bar.left).sum::<f64>() - 1.0).abs() < 1e-3);
    }
}
