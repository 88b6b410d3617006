//! Divides the values of a score into bins: one bin for each atom and symbol, quantile bins for all
//! other numbers.

mod counts;
mod grid;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use grid::Grid;

pub use counts::Counts;

use crate::attack::tuning::bins::{
    COARSE_MIDDLE, COARSE_VALUES, FEW_REPEATED, MAX_ATOMS, MIDDLE, MIN_VALUES, REPEATS,
};
use crate::output::{Cell, KeyMap};

/// Bins over numbers and symbols.
///
/// The numeric bins are between `edges` (a bin includes its lower edge); an atom `a` is the bin
/// from `a` to the next larger float. After them there is one bin for each known symbol and a last
/// bin for all other symbols.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Parts")]
pub struct Bins {
    #[serde(with = "crate::model::exact::list")]
    edges: Vec<f64>,
    symbols: Vec<Cell>,
    #[serde(skip)]
    grid: Grid,
    /// Whether atoms are events of their own that say nothing about the numbers around them. It
    /// matters only for learning.
    #[serde(skip)]
    atoms_are_events: bool,
}

/// The parts of bins that are written to a file.
#[derive(Deserialize)]
struct Parts {
    #[serde(with = "crate::model::exact::list")]
    edges: Vec<f64>,
    symbols: Vec<Cell>,
}

impl From<Parts> for Bins {
    fn from(Parts { edges, symbols }: Parts) -> Self {
        Self { grid: Grid::new(&edges), edges, symbols, atoms_are_events: false }
    }
}

impl PartialEq for Bins {
    /// The grid is not compared, because the edges determine it.
    fn eq(&self, other: &Self) -> bool {
        self.edges == other.edges && self.symbols == other.symbols
    }
}

impl Bins {
    /// Learns bins from a sample of scores, both sides together.
    #[must_use]
    pub fn learn<'a>(sample: impl IntoIterator<Item = &'a Cell>) -> Self {
        Self::divide(sample, MIDDLE, MIN_VALUES, false)
    }

    /// The same with bins for rare atoms too, for values that a mechanism releases. Its atoms are
    /// events of their own.
    #[must_use]
    pub fn learn_with_rare_atoms<'a>(sample: impl IntoIterator<Item = &'a Cell>) -> Self {
        Self { atoms_are_events: true, ..Self::divide(sample, MIDDLE, MIN_VALUES, true) }
    }

    /// Whether atoms are events of their own that say nothing about the numbers around them.
    #[must_use]
    pub fn atoms_are_events(&self) -> bool {
        self.atoms_are_events
    }

    /// The same with fewer and larger bins, for a quick test.
    #[must_use]
    pub fn learn_coarse<'a>(sample: impl IntoIterator<Item = &'a Cell>) -> Self {
        Self::divide(sample, COARSE_MIDDLE, COARSE_VALUES, false)
    }

    fn divide<'a>(
        sample: impl IntoIterator<Item = &'a Cell>,
        middle: usize,
        min_values: usize,
        rare: bool,
    ) -> Self {
        let mut numbers = Vec::new();
        let mut symbol_counts: KeyMap<(Cell, usize)> = KeyMap::default();
        for &cell in sample {
            match cell.as_number() {
                Some(number) => numbers.push(number),
                None => symbol_counts.entry(cell.key()).or_insert((cell, 0)).1 += 1,
            }
        }
        let mut symbols = atoms(symbol_counts.into_values().collect(), rare, Cell::key);
        symbols.sort_unstable_by_key(|(cell, _)| cell.key());
        sort(&mut numbers);
        Parts {
            edges: edges(&numbers, middle, min_values, rare),
            symbols: symbols.into_iter().map(|(cell, _)| cell).collect(),
        }
        .into()
    }

    /// Number of bins.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len() + 1 + self.symbols.len() + 1
    }

    /// Number of bins that hold numbers; they come first, in order.
    #[must_use]
    pub fn numeric(&self) -> usize {
        self.edges.len() + 1
    }

    /// The lower edges of all numeric bins except the first.
    #[must_use]
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The symbols that have their own bin.
    #[must_use]
    pub fn symbols(&self) -> &[Cell] {
        &self.symbols
    }

    /// Whether a numeric bin holds a single value.
    #[must_use]
    pub fn is_atom(&self, bin: usize) -> bool {
        bin > 0 && bin < self.edges.len() && self.edges[bin] == self.edges[bin - 1].next_up()
    }

    /// Whether any value or symbol has its own bin.
    #[must_use]
    pub fn has_atoms(&self) -> bool {
        !self.symbols.is_empty() || (1..self.numeric()).any(|bin| self.is_atom(bin))
    }

    /// Whether a symbol has its own bin.
    #[must_use]
    pub fn knows(&self, symbol: Cell) -> bool {
        self.symbols.binary_search_by_key(&symbol.key(), |known| known.key()).is_ok()
    }

    /// The same bins, but the first and the last are divided at masses of 8, 16, 32 … of `numbers`.
    /// These are sorted and are all numbers of those two bins. None if nothing changes.
    #[must_use]
    pub fn with_finer_ends(&self, numbers: &[f64]) -> Option<Self> {
        let (first, last) = (*self.edges.first()?, *self.edges.last()?);
        let (low, high) = (
            &numbers[..numbers.partition_point(|x| *x < first)],
            &numbers[numbers.partition_point(|x| *x < last)..],
        );
        let masses = |n: usize| {
            std::iter::successors(Some(MIN_VALUES), |mass| Some(mass * 2))
                .take_while(move |mass| *mass < n)
        };
        let mut edges: Vec<f64> = masses(low.len()).map(|mass| low[mass]).collect();
        edges.extend(&self.edges);
        edges.extend(masses(high.len()).map(|mass| high[high.len() - mass]));
        edges.sort_unstable_by(f64::total_cmp);
        edges.dedup();
        (edges.len() > self.edges.len()).then(|| Self {
            atoms_are_events: self.atoms_are_events,
            ..Parts { edges, symbols: self.symbols.clone() }.into()
        })
    }

    /// The same bins, but each numeric bin is merged with the previous one if `same(previous,
    /// bin)`; and the first old bin of each new one.
    #[must_use]
    pub fn merged(&self, same: impl Fn(usize, usize) -> bool) -> (Self, Vec<usize>) {
        let kept: Vec<usize> = (1..self.numeric()).filter(|bin| !same(bin - 1, *bin)).collect();
        let edges = kept.iter().map(|bin| self.edges[bin - 1]).collect();
        let first_bins = std::iter::once(0).chain(kept).chain(self.numeric()..self.len()).collect();
        (Parts { edges, symbols: self.symbols.clone() }.into(), first_bins)
    }

    /// The bin of a score.
    #[inline]
    #[must_use]
    pub fn index(&self, cell: Cell) -> usize {
        self.index_in(self.grid.slot(cell.raw()), cell)
    }

    /// The bins of all scores.
    #[must_use]
    pub fn index_all(&self, cells: &[Cell]) -> Vec<u32> {
        let mut bins = Vec::with_capacity(cells.len());
        // First all slots, with the widest instructions of the processor; then the bin of each
        // cell.
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || bins.extend(cells.iter().map(|cell| self.grid.slot(cell.raw()))),
        );
        #[allow(clippy::cast_possible_truncation)] // there are far fewer bins
        bins.iter_mut().zip(cells).for_each(|(bin, cell)| *bin = self.index_in(*bin, *cell) as u32);
        bins
    }

    #[inline]
    fn index_in(&self, slot: u32, cell: Cell) -> usize {
        cell.as_number().map_or_else(
            || self.index_of_symbol(cell),
            |number| self.grid.count_edges(slot, number),
        )
    }

    #[inline]
    fn index_of_symbol(&self, cell: Cell) -> usize {
        /// Up to this many symbols, counting the smaller ones is faster than a search: it has no
        /// branches.
        const FEW: usize = 4;
        let (key, count) = (cell.key(), self.symbols.len());
        if count <= FEW {
            let smaller =
                self.symbols.iter().map(|symbol| usize::from(symbol.key() < key)).sum::<usize>();
            let known = self.symbols.get(smaller).is_some_and(|symbol| symbol.key() == key);
            return self.numeric() + if known { smaller } else { count };
        }
        self.numeric() + self.search_symbol(key).unwrap_or(count)
    }

    #[inline(never)]
    fn search_symbol(&self, key: u64) -> Option<usize> {
        self.symbols.binary_search_by_key(&key, |symbol| symbol.key()).ok()
    }
}

/// Sorts numbers, none of which is NaN. This is twice as fast as sorting by their total order.
pub fn sort(numbers: &mut [f64]) {
    numbers.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
}

/// The values that have a bin of their own: those that occur often enough, and the most frequent
/// ones if these are too many. Ties are broken by key, so that the result does not depend on the
/// order of the input.
fn atoms<T: Copy>(
    mut values: Vec<(T, usize)>,
    rare: bool,
    key: impl Fn(T) -> u64,
) -> Vec<(T, usize)> {
    values.retain(|(_, times)| *times > 1);
    if !rare || values.len() > FEW_REPEATED {
        values.retain(|(_, times)| *times >= REPEATS);
    }
    if values.len() > MAX_ATOMS {
        values.sort_unstable_by_key(|(value, times)| (std::cmp::Reverse(*times), key(*value)));
        values.truncate(MAX_ATOMS);
    }
    values
}

/// The edges for sorted numbers: around atoms, and at quantiles.
fn edges(sorted: &[f64], middle: usize, min_values: usize, rare: bool) -> Vec<f64> {
    let mut edges = Vec::new();
    let runs = sorted
        .chunk_by(|a, b| a == b)
        .filter(|run| run.len() > 1)
        .map(|run| (run[0], run.len()))
        .collect();
    let atoms = atoms(runs, rare, f64::to_bits);
    for (atom, _) in atoms {
        // After the largest negative number comes −0, which is no cell: an edge there is 0.
        edges.extend([atom, atom.next_up() + 0.0]);
    }
    let n = sorted.len();
    // Quantiles in the middle, masses of 8, 16, 32 … at both ends.
    let middle = middle.min(n / min_values).max(1);
    edges.extend((1..middle).map(|j| sorted[j * n / middle]));
    let tails = std::iter::successors(Some(min_values), |tail| Some(tail * 2))
        .take_while(|tail| *tail < n / 4);
    edges.extend(tails.flat_map(|tail| [sorted[tail], sorted[n - tail]]));
    edges.sort_unstable_by(f64::total_cmp);
    edges.dedup();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_and_symbols_have_their_own_bins() {
        let bottom = Cell::symbol("⊥");
        let mut sample = vec![bottom; 10];
        sample.extend([Cell::number(0.0); 50]);
        sample.extend((1..1000).map(|i| Cell::number(f64::from(i) / 1000.0 - 0.5)));
        let bins = Bins::learn(&sample);
        let zero = bins.index(Cell::number(0.0));
        assert!(bins.is_atom(zero));
        assert_ne!(zero, bins.index(Cell::number(-0.0)));
        assert_ne!(zero, bins.index(Cell::number(f64::MIN_POSITIVE)));
        assert_ne!(zero, bins.index(Cell::number(-f64::MIN_POSITIVE)));
        assert_eq!(bins.index(bottom), bins.numeric());
        assert_eq!(bins.index(Cell::symbol("never seen")), bins.len() - 1);
        assert_eq!(bins.index(Cell::number(f64::NEG_INFINITY)), 0);
        assert_eq!(bins.index(Cell::number(f64::INFINITY)), bins.numeric() - 1);
    }

    #[test]
    fn every_value_has_a_bin_even_without_a_sample() {
        let bins = Bins::learn(&[]);
        assert!(bins.index(Cell::number(3.0)) < bins.len());
        assert!(bins.index(Cell::symbol("x")) < bins.len());
    }

    #[test]
    fn the_bin_of_a_number_is_the_count_of_edges_up_to_it() {
        let spread = |index: u32| f64::from(index * 7919 % 5003) / 8.0;
        let samples: [Vec<f64>; 6] = [
            (0..5000).map(spread).collect(),
            // Long tails; almost equal numbers; infinities and both zeros.
            (0..5000)
                .map(|index| spread(index).powi(9))
                .chain((0..200).map(|index| -f64::from(index).exp()))
                .collect(),
            (0..500)
                .map(|index| f64::from(index % 3) + f64::EPSILON * f64::from(index % 5))
                .collect(),
            [f64::NEG_INFINITY, -0.0, 0.0, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY].repeat(9),
            // Numbers with the smallest possible distance; no numbers.
            [0.0, f64::from_bits(1), f64::from_bits(2)].repeat(9),
            Vec::new(),
        ];
        for sample in samples {
            let bins =
                Bins::learn(&sample.iter().map(|number| Cell::number(*number)).collect::<Vec<_>>());
            let near = |number: f64| [number.next_down(), number, number.next_up()];
            let probes = sample
                .iter()
                .chain(bins.edges())
                .copied()
                .chain([0.0, -1.0, 1e300, f64::INFINITY, f64::NEG_INFINITY])
                .flat_map(near);
            for number in probes {
                let counted =
                    bins.edges().iter().filter(|edge| **edge <= Cell::number(number).raw()).count();
                assert_eq!(bins.index(Cell::number(number)), counted, "{number}");
            }
        }
    }

    #[test]
    fn bins_with_the_same_edges_and_symbols_are_equal() {
        let of = |last: u32, symbol: &str| {
            Bins::learn(
                &(0..last)
                    .map(|i| Cell::number(f64::from(i)))
                    .chain([Cell::symbol(symbol); 4])
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of(100, "a"), of(100, "a"));
        assert_ne!(of(100, "a"), of(100, "b"));
        assert_ne!(of(100, "a"), of(101, "a"));
    }

    #[test]
    fn tails_are_divided_finely() {
        let sample: Vec<Cell> = (0..100_000).map(|i| Cell::number(f64::from(i))).collect();
        let bins = Bins::learn(&sample);
        assert_eq!(bins.edges()[0], 8.0);
        assert_eq!(bins.edges()[1], 16.0);
        assert_eq!(*bins.edges().last().unwrap(), 99_992.0);
    }

    #[test]
    fn a_value_is_between_the_edges_of_its_bin() {
        let symbols = ["⊥", "⊤", "!"].map(Cell::symbol);
        let mut sample: Vec<Cell> = (0..3000)
            .map(|i| Cell::number(f64::from(i % 1500) / 7.0))
            .chain(symbols.repeat(4))
            .collect();
        sample.extend(
            [[Cell::number(-0.0); 4], [Cell::number(3.25); 4], [Cell::symbol("rare"); 4]].concat(),
        );
        sample.pop();
        let bins = Bins::learn(&sample);
        assert!(bins.edges().is_sorted_by(|a, b| a < b));
        assert!(
            bins.edges().contains(&0.0)
                && bins.edges().iter().all(|edge| *edge != 0.0 || edge.is_sign_positive())
        );
        assert_eq!(
            (bins.numeric(), bins.len()),
            (bins.edges().len() + 1, bins.edges().len() + 1 + 3 + 1)
        );
        for number in sample.iter().filter_map(|cell| cell.as_number()) {
            let bin = bins.index(Cell::number(number));
            assert!(bin == 0 || bins.edges()[bin - 1] <= number);
            assert!(bin == bins.numeric() - 1 || number < bins.edges()[bin]);
        }
        let mut indices = symbols.map(|symbol| bins.index(symbol));
        indices.sort_unstable();
        assert_eq!(indices, [bins.numeric(), bins.numeric() + 1, bins.numeric() + 2]);
        assert!(
            symbols.iter().all(|symbol| bins.knows(*symbol)) && !bins.knows(Cell::symbol("rare"))
        );
        let atoms: Vec<f64> = (0..bins.numeric())
            .filter(|bin| bins.is_atom(*bin))
            .map(|bin| bins.edges()[bin - 1])
            .collect();
        assert_eq!(atoms, [Cell::number(-0.0).raw(), 3.25]);
        let atoms_of = |cells: &[Cell]| Bins::learn(cells).has_atoms();
        let continuous: Vec<Cell> = (0..99).map(|i| Cell::number(f64::from(i))).collect();
        assert!(!atoms_of(&continuous) && !atoms_of(&[]));
        assert!(atoms_of(&[Cell::number(1.0); 4]) && !atoms_of(&[Cell::number(1.0); 3]));
        assert!(atoms_of(&[symbols[0]; 4]) && !atoms_of(&[symbols[0]; 3]));
    }

    #[test]
    fn the_most_frequent_atoms_are_kept_in_any_order_of_the_sample() {
        let times = |index: usize| if index.is_multiple_of(5) { 4 } else { 5 };
        let many = MAX_ATOMS + 904;
        let names: Vec<Cell> =
            (0..many).map(|index| Cell::symbol(&format!("category {index}"))).collect();
        let sample: Vec<Cell> =
            (0..many).flat_map(|index| vec![names[index]; times(index)]).collect();
        let bins = Bins::learn(&sample);
        assert_eq!(bins.symbols().len(), MAX_ATOMS);
        assert!((0..many).filter(|index| times(*index) == 5).all(|index| bins.knows(names[index])));
        // Among equally frequent symbols, those with the smallest keys are kept.
        let mut rare: Vec<u64> =
            (0..many).filter(|index| times(*index) == 4).map(|index| names[index].key()).collect();
        rare.sort_unstable();
        let kept: Vec<u64> = bins
            .symbols()
            .iter()
            .map(|symbol| symbol.key())
            .filter(|key| rare.binary_search(key).is_ok())
            .collect();
        assert_eq!(kept, rare[..rare.len() - 904]);
        // If there are just as many as may be kept, all are kept.
        assert_eq!(Bins::learn(&names[..MAX_ATOMS].repeat(4)).symbols().len(), MAX_ATOMS);
    }

    #[test]
    fn edges_are_quantiles_and_doubling_masses_at_both_ends() {
        let sample =
            |count: i32| (0..count).map(|i| Cell::number(f64::from(i))).collect::<Vec<_>>();
        // 80 values: ten quantile bins of 8 values. The masses 8 and 16 at both ends give the same
        // edges; 32 is more than a quarter.
        assert_eq!(
            Bins::learn(&sample(80)).edges(),
            [8.0, 16.0, 24.0, 32.0, 40.0, 48.0, 56.0, 64.0, 72.0]
        );
        // 2^20 values: quantile bins of 4096 values, and masses of 8, 16, 32, … at both ends.
        let n = 1 << 20;
        let mut expected: Vec<f64> = (1..256).map(|part| f64::from(part * 4096)).collect();
        let tails: Vec<f64> = (3..18).map(|power| f64::from(1 << power)).collect();
        expected.extend(tails.iter().flat_map(|tail| [*tail, f64::from(n) - tail]));
        expected.sort_by(f64::total_cmp);
        expected.dedup();
        assert_eq!(Bins::learn(&sample(n)).edges(), expected);
    }

    #[test]
    fn finer_ends_divide_only_the_first_and_the_last_bin() {
        let bins =
            Bins::from(Parts { edges: vec![0.0, 1.0, 2.0], symbols: vec![Cell::symbol("⊥")] });
        // 33 numbers below 0 and 17 from 2 on: 8, 16 and 32 numbers are beyond the new edges at the
        // low end, 8 and 16 at the high end.
        let low: Vec<f64> = (-33..0).map(f64::from).collect();
        let high: Vec<f64> = (2..19).map(f64::from).collect();
        let finer = bins
            .with_finer_ends(&[low.as_slice(), &high].concat())
            .expect("there are enough numbers");
        assert_eq!(finer.edges, [-25.0, -17.0, -1.0, 0.0, 1.0, 2.0, 3.0, 11.0]);
        assert_eq!(finer.symbols, bins.symbols);
        assert_eq!(bins.with_finer_ends(&[&low[..8], &high[..8]].concat()), None);
        assert_eq!(
            bins.with_finer_ends(&low[..9]).expect("one more").edges,
            [-25.0, 0.0, 1.0, 2.0]
        );
    }

    #[test]
    fn merged_bins_begin_where_the_level_changes() {
        let bins = Bins::from(Parts {
            edges: vec![0.0, 1.0, 2.0, 3.0],
            symbols: vec![Cell::symbol("⊥")],
        });
        let level = [5, 5, 6, 6, 5, 6, 6];
        let (merged, first) = bins.merged(|before, bin| level[before] == level[bin]);
        assert_eq!(
            (merged.edges, merged.symbols, first),
            (vec![1.0, 3.0], bins.symbols, vec![0, 2, 4, 5, 6])
        );
    }
}
