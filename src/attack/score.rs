//! Scores: from a row of cells to the one cell that a rule looks at.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::bins::Bins;
use super::float_bits::{bits_used, lowest_bit};
use super::table::{STEPS, Table, in_steps, thinned};
use super::trend::Trend;
use crate::cell::{Cell, Mix, Rows};
use crate::mechanism::Side;

/// What the attacker looks at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The output itself, when it has a single component.
    Output,
    /// One component of several.
    Coordinate(usize),
    /// The whole row as one symbol.
    WholeRow,
    /// The sum of the numbers.
    Sum,
    /// The greatest number.
    Max,
    /// The least number.
    Min,
    /// One component less another.
    Difference(usize, usize),
    /// The exponent of the lowest bit of one component.
    LowestBit(usize),
    /// The exponent of one component together with the number of bits that it uses.
    BitsUsed(usize),
    /// The sum of the components' log-likelihood ratios.
    NaiveBayes(NaiveBayes),
    /// The log-likelihood ratio of the row's pattern of symbols together with its numbers.
    Pattern(Pattern),
    /// The log-odds of the least number given how often a symbol stands beside it.
    Trend(Trend),
    /// The joint log-likelihood ratio of two components.
    Joint(Joint),
}

impl Score {
    /// The scores of all rows.
    pub fn map(&self, rows: &Rows, scores: &mut Vec<Cell>) {
        scores.clear();
        match self {
            Self::Output => scores.extend_from_slice(rows.cells()),
            Self::Coordinate(index) => scores.extend(rows.iter().map(|row| row[*index])),
            Self::WholeRow => scores.extend(rows.iter().map(Cell::of_row)),
            Self::Sum => scores.extend(rows.iter().map(|row| rounded(numbers(row).sum()))),
            Self::Max => scores.extend(rows.iter().map(|row| Cell::number(numbers(row).fold(f64::NEG_INFINITY, f64::max)))),
            Self::Min => scores.extend(rows.iter().map(|row| Cell::number(numbers(row).fold(f64::INFINITY, f64::min)))),
            Self::Difference(a, b) => scores.extend(rows.iter().map(|row| difference(row[*a], row[*b]))),
            Self::LowestBit(index) => scores.extend(rows.iter().map(|row| lowest_bit(row[*index]))),
            Self::BitsUsed(index) => scores.extend(rows.iter().map(|row| bits_used(row[*index]))),
            Self::NaiveBayes(model) => scores.extend(rows.iter().map(|row| model.score(row))),
            Self::Pattern(model) => scores.extend(rows.iter().map(|row| model.score(row))),
            Self::Trend(model) => scores.extend(rows.iter().map(|row| model.score(row))),
            Self::Joint(model) => scores.extend(rows.iter().map(|row| model.score(row))),
        }
    }

    /// Whether a score that was read from a file gives each output of this width one cell.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self, width: usize) -> Result<(), String> {
        let cell = |index: usize| if index < width { Ok(()) } else { Err(format!("it looks at cell {index} of {width} (the first is 0)")) };
        let sound = |sound: bool| if sound { Ok(()) } else { Err("its tables are not whole".to_owned()) };
        match self {
            Self::Output if width > 1 => Err(format!("it looks at a single cell, and the outputs have {width}")),
            Self::Output | Self::WholeRow | Self::Sum | Self::Max | Self::Min => Ok(()),
            Self::Coordinate(index) | Self::LowestBit(index) | Self::BitsUsed(index) => cell(*index),
            Self::Difference(a, b) => cell(*a.max(b)),
            Self::NaiveBayes(model) => sound(model.tables.iter().all(Table::is_whole)),
            Self::Pattern(model) => sound(model.known.values().flat_map(|pattern| &pattern.numbers).all(Table::is_whole)),
            Self::Trend(model) => sound(model.is_whole()),
            Self::Joint(model) => cell(model.first.max(model.second)).and(sound(model.is_whole())),
        }
    }

    /// Whether the score was learned from labelled rows, which must then not be counted for it.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        matches!(self, Self::NaiveBayes(_) | Self::Pattern(_) | Self::Trend(_) | Self::Joint(_))
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output | Self::WholeRow => f.write_str("y"),
            Self::Coordinate(index) => write!(f, "y[{}]", index + 1),
            Self::Sum => f.write_str("the sum of y"),
            Self::Max => f.write_str("the maximum of y"),
            Self::Min => f.write_str("the minimum of y"),
            Self::Difference(a, b) => write!(f, "y[{}] − y[{}]", a + 1, b + 1),
            Self::LowestBit(index) => write!(f, "the exponent of the lowest bit of y[{}]", index + 1),
            Self::BitsUsed(index) => write!(f, "64 × exponent + bits used of y[{}]", index + 1),
            Self::NaiveBayes(NaiveBayes { features: Features::Cells, .. }) => f.write_str("the log-ratio of all components"),
            Self::NaiveBayes(NaiveBayes { features: Features::Differences, .. }) => {
                f.write_str("the log-ratio of all successive differences")
            }
            Self::Pattern(_) => f.write_str("the log-ratio of the pattern and its numbers"),
            Self::Trend(_) => f.write_str("the log-ratio of the number and the symbols beside it"),
            Self::Joint(model) => write!(f, "the joint log-ratio of y[{}] and y[{}]", model.first + 1, model.second + 1),
        }
    }
}

fn numbers(row: &[Cell]) -> impl Iterator<Item = f64> + '_ {
    row.iter().filter_map(|cell| cell.as_number())
}

/// A computed number without its low bits, which may tell what the ideal number would not.
fn rounded(value: f64) -> Cell {
    #[allow(clippy::cast_possible_truncation)] // that is what it is for
    Cell::number(f64::from(value as f32))
}

/// The difference of two numbers; of anything else, the first.
fn difference(a: Cell, b: Cell) -> Cell {
    match (a.as_number(), b.as_number()) {
        (Some(a), Some(b)) => rounded(a - b),
        _ => a,
    }
}

/// What a learned score is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// The components.
    Cells,
    /// The first component, then the difference of each from the one before: what running sums are made of.
    Differences,
}

impl Features {
    #[inline]
    fn of(self, row: &[Cell], index: usize) -> Cell {
        match self {
            Self::Differences if index > 0 => difference(row[index], row[index - 1]),
            _ => row[index],
        }
    }
}

/// Rows of both sides from which a score is learned.
#[derive(Clone, Copy)]
pub struct Lesson<'a> {
    /// Outputs of D.
    pub left: &'a [&'a [Cell]],
    /// Outputs of D'.
    pub right: &'a [&'a [Cell]],
}

impl<'a> Lesson<'a> {
    /// Rows per side for a quick look.
    const BRIEF: usize = 8192;

    /// The first few rows.
    #[must_use]
    pub fn brief(self) -> Self {
        let few = |rows: &'a [&'a [Cell]]| &rows[..rows.len().min(Self::BRIEF)];
        Self { left: few(self.left), right: few(self.right) }
    }

    /// The first half of the rows.
    #[must_use]
    pub fn first_half(self) -> Self {
        Self { left: &self.left[..self.left.len() / 2], right: &self.right[..self.right.len() / 2] }
    }

    /// The other half.
    #[must_use]
    pub fn second_half(self) -> Self {
        Self { left: &self.left[self.left.len() / 2..], right: &self.right[self.right.len() / 2..] }
    }

    /// The first rows of one side, at most so many.
    #[must_use]
    pub fn rows(self, side: Side, most: usize) -> Rows {
        let rows = match side {
            Side::Left => self.left,
            Side::Right => self.right,
        };
        let mut copy = Rows::new(self.width().max(1));
        rows.iter().take(most).for_each(|row| copy.push(row));
        copy
    }

    fn bins(self, cell: impl Fn(&[Cell]) -> Cell) -> Bins {
        let of = |rows: &[&[Cell]]| thinned(rows).map(|row| cell(row)).collect::<Vec<Cell>>();
        Bins::learn(&[of(self.left), of(self.right)].concat())
    }

    fn table(self, cell: impl Fn(&[Cell]) -> Cell) -> (Table, f64) {
        let of = |rows: &[&[Cell]]| rows.iter().map(|row| cell(row)).collect::<Vec<Cell>>();
        Table::learn_and_rate(&of(self.left), &of(self.right))
    }

    /// Cells per row.
    #[must_use]
    pub fn width(self) -> usize {
        self.left.first().or(self.right.first()).map_or(0, |row| row.len())
    }
}

/// Binned log-likelihood ratios of each component; their sum is exact for independent components, up to the bins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaiveBayes {
    features: Features,
    /// One table per component, or a single one that all share.
    tables: Vec<Table>,
}

impl NaiveBayes {
    /// Learns one table per component. Components that say nothing beside the most telling one are left out: together their chance errors would blur what it says.
    #[must_use]
    pub fn learn(lesson: Lesson, features: Features) -> Self {
        /// A component that adds less log-likelihood than this may do so by chance.
        const CHANCE: f64 = 3.0;
        /// And is left out if it adds less than this part of what the best one adds.
        const LITTLE: f64 = 0.01;
        let rated: Vec<(Table, f64)> = (0..lesson.width()).map(|index| lesson.table(|row| features.of(row, index))).collect();
        let most = rated.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
        let says_nothing = |gain: f64| gain < CHANCE.min(LITTLE * most);
        let tables = rated.into_iter().map(|(table, gain)| if says_nothing(gain) { Table::silent() } else { table.compact() });
        Self { features, tables: tables.collect() }
    }

    /// Learns one table that all components share: right for repeated releases, and with that many more cells to learn from.
    #[must_use]
    pub fn learn_tied(lesson: Lesson, features: Features) -> Self {
        let cells = |rows: &[&[Cell]]| -> Vec<Cell> {
            rows.iter().flat_map(|row| (0..row.len()).map(move |index| features.of(row, index))).collect()
        };
        Self { features, tables: vec![Table::learn(&cells(lesson.left), &cells(lesson.right)).compact()] }
    }

    #[inline]
    fn score(&self, row: &[Cell]) -> Cell {
        let cells = (0..row.len()).map(|index| self.features.of(row, index));
        let sum: i64 = match self.tables.as_slice() {
            [table] => cells.map(|cell| i64::from(table.steps(cell))).sum(),
            tables => cells.zip(tables).map(|(cell, table)| i64::from(table.steps(cell))).sum(),
        };
        Cell::number(sum as f64 / STEPS)
    }
}

/// For rows that mix symbols, repeated values and numbers: which of them stand where, and what the numbers say given that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Tells atoms from numbers, per component.
    columns: Vec<Bins>,
    known: BTreeMap<u64, KnownPattern>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KnownPattern {
    /// The log-ratio of the pattern itself.
    steps: i32,
    /// One table for each of its numbers, in order.
    numbers: Vec<Table>,
}

impl Pattern {
    /// Patterns with fewer rows than this to learn from are not told apart.
    const LEAST: usize = 64;

    /// Learns the frequent patterns; None when no row has both a number and an atom.
    #[must_use]
    pub fn learn(lesson: Lesson) -> Option<Self> {
        let columns: Vec<Bins> = (0..lesson.width()).map(|index| lesson.bins(|row| row[index])).collect();
        if !columns.iter().any(Bins::has_atoms) {
            return None;
        }
        let mut found: BTreeMap<u64, [Vec<Vec<Cell>>; 2]> = BTreeMap::new();
        for (side, rows) in [lesson.left, lesson.right].into_iter().enumerate() {
            for row in rows {
                let (key, numbers) = split(&columns, row);
                found.entry(key).or_default()[side].push(numbers);
            }
        }
        let mixed = |rows: &Vec<Vec<Cell>>| rows.first().is_some_and(|numbers| !numbers.is_empty() && numbers.len() < columns.len());
        if !found.values().flatten().any(mixed) {
            return None;
        }
        let even = (lesson.left.len().max(1) as f64 / lesson.right.len().max(1) as f64).ln();
        found.retain(|_, [left, right]| left.len() + right.len() >= Self::LEAST);
        let known = found.into_iter().map(|(key, [left, right])| {
            let numbers = left.first().or(right.first()).map_or(0, Vec::len);
            let column = |rows: &[Vec<Cell>], index: usize| rows.iter().map(|numbers| numbers[index]).collect::<Vec<Cell>>();
            let tables = (0..numbers).map(|index| Table::learn(&column(&left, index), &column(&right, index)).compact()).collect();
            let ratio = ((left.len() as f64 + 0.5) / (right.len() as f64 + 0.5)).ln() - even;
            (key, KnownPattern { steps: in_steps(ratio), numbers: tables })
        });
        let known = known.collect();
        Some(Self { columns, known })
    }

    fn score(&self, row: &[Cell]) -> Cell {
        let (key, numbers) = split(&self.columns, row);
        let steps = self.known.get(&key).map_or(0, |pattern| {
            i64::from(pattern.steps)
                + pattern.numbers.iter().zip(&numbers).map(|(table, number)| i64::from(table.steps(*number))).sum::<i64>()
        });
        Cell::number(steps as f64 / STEPS)
    }
}

/// A row's pattern as a key, and its numbers in order.
fn split(columns: &[Bins], row: &[Cell]) -> (u64, Vec<Cell>) {
    // Stands for any number; no atom has this key, for −0 counts as 0.
    const NUMBER: u64 = (-0.0_f64).to_bits();
    let mut numbers = Vec::new();
    let key = row.iter().zip(columns).fold(Mix::new(), |mix, (cell, column)| {
        if cell.as_number().is_none() || column.is_atom(column.index(*cell)) {
            mix.word(cell.key())
        } else {
            numbers.push(*cell);
            mix.word(NUMBER)
        }
    });
    (key.end(), numbers)
}

/// Two components together: finds what shows in neither alone, such as the parity of two signs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Joint {
    first: usize,
    second: usize,
    /// Where the first component is divided; the second has a table in each part.
    #[serde(with = "crate::exact::list")]
    edges: Vec<f64>,
    parts: Vec<Table>,
}

impl Joint {
    /// Parts of the first component.
    const PARTS: usize = 8;

    /// Learns the joint ratio of two components; symbols of the first count as lying below all numbers.
    #[must_use]
    pub fn learn(lesson: Lesson, first: usize, second: usize) -> Self {
        let mut values: Vec<f64> = lesson.left.iter().chain(lesson.right).filter_map(|row| row[first].as_number()).collect();
        values.sort_unstable_by(f64::total_cmp);
        let mut edges: Vec<f64> = (1..Self::PARTS).filter_map(|part| values.get(part * values.len() / Self::PARTS).copied()).collect();
        edges.dedup();
        let part = |row: &[Cell]| place(&edges, row[first]);
        let (mut left, mut right) = (vec![Vec::new(); edges.len() + 1], vec![Vec::new(); edges.len() + 1]);
        lesson.left.iter().for_each(|row| left[part(row)].push(row[second]));
        lesson.right.iter().for_each(|row| right[part(row)].push(row[second]));
        let parts = left.iter().zip(&right).map(|(left, right)| Table::learn(left, right).compact()).collect();
        Self { first, second, edges, parts }
    }

    /// The same two components, learned from other rows.
    #[must_use]
    pub fn learn_again(&self, lesson: Lesson) -> Self {
        Self::learn(lesson, self.first, self.second)
    }

    /// Whether there is a part for every number.
    fn is_whole(&self) -> bool {
        self.parts.len() == self.edges.len() + 1 && self.parts.iter().all(Table::is_whole)
    }

    fn score(&self, row: &[Cell]) -> Cell {
        let steps = self.parts[place(&self.edges, row[self.first])].steps(row[self.second]);
        Cell::number(f64::from(steps) / STEPS)
    }
}

fn place(edges: &[f64], cell: Cell) -> usize {
    cell.as_number().map_or(0, |number| edges.partition_point(|edge| *edge <= number))
}
