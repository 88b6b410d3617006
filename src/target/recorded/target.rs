//! Recorded outputs as a target: draws are looked up in the files.

use std::sync::atomic::{AtomicU64, Ordering};

use rand::{RngExt, SeedableRng};

use crate::model::Side;
use crate::noise::Generator;
use crate::output::{Forms, Mix, Probe, Reading, Rows, Symbols, TextView, Texts};
use crate::stats::independence::{Dependence, Episode, dependence, evenness};
use crate::target::columns::{Columns, FIRST_OUTPUTS, MORE_OUTPUTS};
use crate::target::{Phase, StreamSeed, Target, TargetError};

/// Rows per chunk.
const CHUNK: usize = 1024;

/// The number of rows of each file that are tested for dependence.
const TESTED_ROWS: usize = 1 << 20;

/// At most one in this many rows of each file shows which columns the outputs have.
const ROWS_PER_PROBE: usize = 32;

const REMEDY: &str =
    "Collect each output in a separate run with its own seed, on left and on right";

const IF_SORTED: &str =
    "If the rows are independent and were only sorted afterwards, use --unordered";

/// What the order of rows in a file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// They were drawn in this order.
    AsDrawn,
    /// Nothing: for example, they were sorted.
    Any,
}

/// The names in two files, and their texts.
#[derive(Default)]
pub struct SampleNames {
    /// The names of the cells; empty if they have none.
    pub columns: Vec<String>,
    /// The names of the symbols.
    pub symbols: Symbols,
    /// The texts of the symbols.
    pub texts: Texts,
    /// What the outputs of each side are beside their cells.
    pub forms: [Forms; 2],
}

/// The outputs of both sides, each in random order. Exploration uses them from the front,
/// certification from the back.
pub struct Recorded {
    left: Shuffled,
    right: Shuffled,
    symbols: Symbols,
    /// Why the outputs cannot be judged.
    dependence: Option<TargetError>,
    /// The number of columns of the outputs.
    width: Result<usize, TargetError>,
}

struct Shuffled {
    side: Side,
    rows: Rows,
    /// How many rows exploration has used.
    explored: AtomicU64,
    /// How many rows at the front have shown which columns the outputs have. No rule is judged on
    /// them.
    probed: u64,
}

impl Recorded {
    /// Shuffles the outputs of both sides, which have the same width. They are tested for dependence
    /// first: in all ways if they are in the order in which they were drawn, otherwise only for
    /// rows that were copied. It is not possible to draw from dependent outputs.
    #[must_use]
    pub fn new(
        mut left: Rows,
        mut right: Rows,
        names: SampleNames,
        order: RowOrder,
        seed: u64,
    ) -> Self {
        let SampleNames { columns, mut symbols, texts, forms } = names;
        let all_same = forms.iter().all(Forms::are_same) && forms[0].get(0) == forms[1].get(0);
        let probed = if texts.is_empty() && all_same {
            0
        } else {
            let most = FIRST_OUTPUTS + MORE_OUTPUTS.iter().sum::<usize>();
            (left.len().min(right.len()) / ROWS_PER_PROBE).min(most)
        };
        let mut probe = Probe::default();
        for ((side, rows), forms) in [(Side::Left, &left), (Side::Right, &right)].iter().zip(&forms)
        {
            first_of_shuffled(*side, rows.len(), seed, probed)
                .into_iter()
                .for_each(|row| probe.see(rows.row(row), &texts, forms.get(row)));
        }
        let decided = Columns::decide(probe, &TextView::Everything, left.width(), &columns);
        let width = decided.map(|Columns { reading, names }| {
            if !(reading.is_plain() && all_same) {
                [&mut left, &mut right].into_iter().zip(&forms).for_each(|(rows, forms)| {
                    *rows = read(rows, &reading, &texts, forms, &mut symbols);
                });
            }
            symbols =
                std::mem::take(&mut symbols).with_columns(names).with_covered(reading.covered());
            reading.width()
        });
        drop(texts);
        let mut episode = Episode::new(left.width(), TESTED_ROWS);
        episode.see(Side::Left, &left);
        episode.see(Side::Right, &right);
        let episodes = [episode];
        let copied = evenness(&episodes).map(|what| not_independent(what, REMEDY.to_owned()));
        let dependence = copied.or_else(|| match order {
            RowOrder::AsDrawn => dependence(&episodes)
                .map(|what| not_independent(what, format!("{REMEDY}. {IF_SORTED}"))),
            RowOrder::Any => None,
        });
        let shuffled =
            |side, rows| Shuffled { probed: probed as u64, ..Shuffled::new(side, rows, seed) };
        let (left, right) =
            rayon::join(|| shuffled(Side::Left, left), || shuffled(Side::Right, right));
        Self { left, right, symbols, dependence, width }
    }
}

fn not_independent(what: Dependence, remedy: String) -> TargetError {
    TargetError::NotIndependent { what, remedy }
}

/// The rows with the columns that a reading adds.
fn read(
    rows: &Rows,
    reading: &Reading,
    texts: &Texts,
    forms: &Forms,
    symbols: &mut Symbols,
) -> Rows {
    let mut wider = Rows::new(reading.width());
    wider.resize(rows.len());
    for (index, (row, cells)) in wider.iter_mut().zip(rows).enumerate() {
        let rank = index as u64;
        reading.read(cells, texts, forms.get(index), row, |name| symbols.ranked_symbol(rank, name));
    }
    wider
}

/// The swaps that shuffle this many rows. They depend on the seed alone.
fn swaps(side: Side, rows: usize, seed: u64) -> impl Iterator<Item = (usize, usize)> {
    let mut rng =
        Generator::seed_from_u64(Mix::new().text("order").text(&side.to_string()).word(seed).end());
    (1..rows).rev().map(move |last| (last, rng.random_range(0..=last)))
}

/// The rows that come first when these rows are shuffled.
fn first_of_shuffled(side: Side, rows: usize, seed: u64, count: usize) -> Vec<usize> {
    if count == 0 {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..rows).collect();
    swaps(side, rows, seed).for_each(|(last, other)| order.swap(last, other));
    order.truncate(count);
    order
}

impl Shuffled {
    fn new(side: Side, mut rows: Rows, seed: u64) -> Self {
        swaps(side, rows.len(), seed).for_each(|(last, other)| rows.swap(last, other));
        Self { side, rows, explored: AtomicU64::new(0), probed: 0 }
    }

    /// The rows for a place, if the file has them and no other place uses them. Exploration ends
    /// before certification begins.
    fn find(
        &self,
        phase: Phase,
        first: u64,
        count: u64,
    ) -> Result<std::ops::Range<usize>, TargetError> {
        let end = first + count;
        let rows = self.rows.len() as u64;
        let used_up = TargetError::UsedUp { side: self.side, rows: self.rows.len() };
        let (used, range) = match phase {
            Phase::Explore => {
                self.explored.fetch_max(end, Ordering::Relaxed);
                (end, first..end)
            }
            Phase::Certify => (
                end + self.explored.load(Ordering::Relaxed).max(self.probed),
                rows.saturating_sub(end)..rows.saturating_sub(first),
            ),
            // A file has no fresh draws.
            _ => return Err(used_up),
        };
        if used > rows {
            return Err(used_up);
        }
        #[allow(clippy::cast_possible_truncation)] // at most the number of rows
        Ok(range.start as usize..range.end as usize)
    }
}

impl Target for Recorded {
    /// Rows are tested in the order of their file, and there are no more of them.
    fn further_draws(&self) -> u64 {
        0
    }

    fn open(&self) -> Result<usize, TargetError> {
        self.width.clone()
    }

    fn symbols(&self) -> Symbols {
        self.symbols.clone()
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let outputs = match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        };
        if let Some(dependence) = &self.dependence {
            return Err(dependence.clone());
        }
        let place = seed.place();
        let range = outputs.find(place.phase, place.first, count as u64)?;
        for start in range.clone().step_by(CHUNK) {
            let mut chunk = Rows::new(outputs.rows.width());
            (start..range.end.min(start + CHUNK)).for_each(|row| chunk.push(outputs.rows.row(row)));
            sink(&chunk);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Cell;
    use crate::target::PairStream;

    fn numbers(range: std::ops::Range<u32>) -> Rows {
        let mut rows = Rows::new(1);
        range.for_each(|number| rows.push(&[Cell::number(f64::from(number))]));
        rows
    }

    fn draw(
        target: &Recorded,
        side: Side,
        phase: Phase,
        first: u64,
        count: usize,
    ) -> Result<Vec<f64>, TargetError> {
        let mut drawn = Vec::new();
        let seed = PairStream::new(1, "", "").side(phase, 0, side).after(first);
        target.draw(side, count, seed, &mut |rows| {
            drawn.extend(rows.cells().iter().filter_map(|cell| cell.as_number()));
        })?;
        Ok(drawn)
    }

    #[test]
    fn every_row_is_drawn_exactly_once() {
        let target = Recorded::new(
            numbers(0..5000),
            numbers(5000..5010),
            SampleNames::default(),
            RowOrder::Any,
            3,
        );
        let mut drawn = draw(&target, Side::Left, Phase::Explore, 100, 1400).unwrap();
        drawn.extend(draw(&target, Side::Left, Phase::Explore, 0, 100).unwrap());
        drawn.extend(draw(&target, Side::Left, Phase::Certify, 0, 3000).unwrap());
        assert_ne!(
            drawn[..10],
            [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            "the order is random"
        );
        drawn.extend(draw(&target, Side::Left, Phase::Certify, 3000, 500).unwrap());
        drawn.sort_unstable_by(f64::total_cmp);
        assert_eq!(drawn, (0..5000).map(f64::from).collect::<Vec<_>>());
        let over = draw(&target, Side::Left, Phase::Certify, 3500, 1);
        assert_eq!(over, Err(TargetError::UsedUp { side: Side::Left, rows: 5000 }));
        assert_eq!(
            draw(&target, Side::Right, Phase::Explore, 0, 11),
            Err(TargetError::UsedUp { side: Side::Right, rows: 10 })
        );
        assert_eq!(draw(&target, Side::Right, Phase::Explore, 0, 0), Ok(Vec::new()));
    }

    #[test]
    fn rows_that_show_the_columns_are_explored_and_never_certified() {
        let symbols: Vec<String> = (0..640).map(|index| format!("about {index}")).collect();
        let mut rows = Rows::new(1);
        symbols.iter().for_each(|name| rows.push(&[Cell::symbol(name)]));
        let texts: Texts = symbols
            .iter()
            .map(|name| (Cell::symbol(name).payload().unwrap(), name.clone()))
            .collect();
        let names =
            SampleNames { columns: vec!["answer".to_owned()], texts, ..SampleNames::default() };
        let target = Recorded::new(rows.clone(), rows.clone(), names, RowOrder::Any, 3);
        assert_eq!(target.left.probed, 20);
        let columns = (0..target.open().unwrap())
            .map(|index| target.symbols().column(index))
            .collect::<Vec<_>>();
        assert_eq!(
            columns,
            [
                "answer",
                "answer length",
                "answer number 1",
                "answer shape",
                "answer unusual",
                "answer unusual value",
                "answer unusual entries"
            ]
        );
        assert!(target.symbols().is_covered(0), "the columns behind the text have what it says");
        let row = target.left.rows.row(7);
        assert_eq!(Cell::symbol(&format!("about {}", row[2].as_number().unwrap())), row[0]);
        // The first rows of the shuffled file are those that were probed.
        let first = first_of_shuffled(Side::Left, 640, 3, 20);
        assert!(
            first
                .iter()
                .enumerate()
                .all(|(index, place)| target.left.rows.row(index)[0] == rows.row(*place)[0])
        );
        assert_eq!(
            draw(&target, Side::Left, Phase::Certify, 0, 620).map(|drawn| drawn.len()),
            Ok(2 * 620)
        );
        assert_eq!(
            draw(&target, Side::Left, Phase::Certify, 0, 621),
            Err(TargetError::UsedUp { side: Side::Left, rows: 640 })
        );
    }

    #[test]
    fn the_seed_determines_the_order() {
        let first = |seed| {
            draw(
                &Recorded::new(
                    numbers(0..100),
                    numbers(0..100),
                    SampleNames::default(),
                    RowOrder::Any,
                    seed,
                ),
                Side::Left,
                Phase::Explore,
                0,
                100,
            )
            .unwrap()
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
