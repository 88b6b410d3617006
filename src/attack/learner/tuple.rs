//! Several components together, each in a few parts: parities and other interactions that show in
//! no smaller set.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::view::{View, complete, listed};
use super::{Cost, Learner, Score};
use crate::attack::bins::Counts;
use crate::attack::family::Attack;
use crate::attack::fit::table::{STEPS, in_steps};
use crate::attack::lesson::Lesson;
use crate::attack::tuning::tuple::{MAX_COMPONENTS, PARTS};
use crate::model::Side;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "tuple",
    sees: "three components at a time, each in a few parts",
    cost: Cost::Slow,
    attacks: &[Attack::Interactions],
    widths: 3..=MAX_COMPONENTS,
    learn: |lesson| Tuple::learn_triple(lesson).map(Score::Tuple).into_iter().collect(),
};

/// The log-ratio of a row, given which part each of its chosen components is in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuple {
    components: Vec<Divided>,
    /// The log-ratio of each combination of parts, in steps.
    steps: Vec<i32>,
}

/// A component that is divided into parts: at these numbers, and one further part for symbols.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Divided {
    component: usize,
    #[serde(with = "crate::model::exact::list")]
    edges: Vec<f64>,
    symbols: Vec<Cell>,
}

impl Divided {
    /// Divides a component at its quartiles, or at each value if it has few. Its most frequent
    /// symbols have parts of their own.
    fn learn(lesson: Lesson, component: usize) -> Self {
        let cells = || lesson.left.iter().chain(lesson.right).map(|row| row[component]);
        let mut numbers: Vec<f64> = cells().filter_map(Cell::as_number).collect();
        numbers.sort_unstable_by(f64::total_cmp);
        let mut edges: Vec<f64> =
            numbers.chunk_by(|a, b| a == b).skip(1).take(PARTS).map(|run| run[0]).collect();
        if edges.len() >= PARTS {
            edges = (1..PARTS).map(|part| numbers[part * numbers.len() / PARTS]).collect();
            edges.dedup();
        }
        let mut symbols: Vec<Cell> = cells().filter(|cell| cell.as_number().is_none()).collect();
        symbols.sort_unstable_by_key(|symbol| symbol.key());
        let mut runs: Vec<&[Cell]> = symbols.chunk_by(|a, b| a.key() == b.key()).collect();
        runs.sort_by_key(|run| (std::cmp::Reverse(run.len()), run[0].key()));
        let symbols = runs.into_iter().take(PARTS).map(|run| run[0]).collect();
        Self { component, edges, symbols }
    }

    /// The number of parts: those of numbers, one for each known symbol, one for all others.
    fn parts(&self) -> usize {
        self.edges.len() + 1 + self.symbols.len() + 1
    }

    fn part(&self, row: &[Cell]) -> usize {
        let cell = row[self.component];
        match cell.as_number() {
            Some(number) => self.edges.partition_point(|edge| *edge <= number),
            None => {
                self.edges.len()
                    + 1
                    + self
                        .symbols
                        .iter()
                        .position(|symbol| symbol.key() == cell.key())
                        .unwrap_or(self.symbols.len())
            }
        }
    }
}

impl Tuple {
    /// The three components that tell the sides apart best; None if fewer than three vary.
    fn learn_triple(lesson: Lesson) -> Option<Self> {
        let width = lesson.width();
        let brief = lesson.brief();
        let divided: Vec<Divided> =
            (0..width).into_par_iter().map(|component| Divided::learn(brief, component)).collect();
        let parts = |rows: &[&[Cell]]| -> Vec<Vec<u8>> {
            #[allow(clippy::cast_possible_truncation)] // a few parts
            divided
                .par_iter()
                .map(|divided| rows.iter().map(|row| divided.part(row) as u8).collect())
                .collect()
        };
        let (left, right) = (parts(brief.left), parts(brief.right));
        let triples: Vec<[usize; 3]> = (0..width)
            .flat_map(|a| (a + 1..width).flat_map(move |b| (b + 1..width).map(move |c| [a, b, c])))
            .filter(|triple| {
                triple.iter().all(|component| {
                    divided[*component].parts() > 2 || !divided[*component].edges.is_empty()
                })
            })
            .collect();
        let contrast = |triple: &[usize; 3]| {
            let [a, b, c] = triple.map(|component| divided[component].parts());
            let mut counts = Counts::new(a * b * c);
            for (side, parts) in [(Side::Left, &left), (Side::Right, &right)] {
                let [first, second, third] = triple.map(|component| &parts[component]);
                let counts = counts.side(side);
                for ((x, y), z) in first.iter().zip(second).zip(third) {
                    counts[(usize::from(*x) * b + usize::from(*y)) * c + usize::from(*z)] += 1;
                }
            }
            counts.contrast()
        };
        let rated: Vec<f64> = triples.par_iter().map(contrast).collect();
        let best = (0..triples.len()).max_by(|a, b| rated[*a].total_cmp(&rated[*b]))?;
        let components =
            triples[best].iter().map(|component| divided[*component].clone()).collect();
        Some(Self { components, steps: Vec::new() }.fitted(lesson))
    }

    /// The same components and parts with the log-ratios of these rows.
    fn fitted(mut self, lesson: Lesson) -> Self {
        let combinations = self.components.iter().map(Divided::parts).product();
        let mut counts = vec![[0.5_f64; 2]; combinations];
        for (side, rows) in [lesson.left, lesson.right].into_iter().enumerate() {
            rows.iter().for_each(|row| counts[self.combination(row)][side] += 1.0);
        }
        // The different sizes of the sides are not evidence, so their ratio is removed.
        let even = (lesson.left.len().max(1) as f64 / lesson.right.len().max(1) as f64).ln();
        self.steps = counts
            .iter()
            .map(
                |[left, right]| {
                    if left + right > 1.0 { in_steps((left / right).ln() - even) } else { 0 }
                },
            )
            .collect();
        self
    }

    fn combination(&self, row: &[Cell]) -> usize {
        self.components.iter().fold(0, |index, divided| index * divided.parts() + divided.part(row))
    }

    /// The components, from 0.
    fn components(&self) -> impl Iterator<Item = usize> {
        self.components.iter().map(|divided| divided.component)
    }
}

impl View for Tuple {
    fn score(&self, row: &[Cell]) -> Cell {
        Cell::number(f64::from(self.steps[self.combination(row)]) / STEPS)
    }

    fn check(&self, width: usize) -> Result<(), String> {
        let combinations =
            self.components.iter().map(Divided::parts).try_fold(1, usize::checked_mul);
        complete(
            combinations == Some(self.steps.len())
                && self.components().all(|component| component < width),
        )
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("the joint log-ratio of {}", listed(self.components(), names))
    }

    fn is_ratio(&self) -> bool {
        true
    }

    fn is_late(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::noise::{Generator, bernoulli, gaussian};

    fn triple(rows: &mut dyn FnMut(bool) -> Vec<Cell>) -> Option<Tuple> {
        let mut side = |right: bool| -> Vec<Vec<Cell>> { (0..4000).map(|_| rows(right)).collect() };
        let (left, right) = (side(false), side(true));
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().map(Vec::as_slice).collect(), right.iter().map(Vec::as_slice).collect());
        match LEARNER.learn(Lesson::of(&left, &right)).pop() {
            Some(Score::Tuple(triple)) => Some(triple),
            _ => None,
        }
    }

    #[test]
    fn the_parity_of_three_bits_is_found_among_ten() {
        let mut rng = Generator::seed_from_u64(1);
        let [no, yes] = ["no", "yes"].map(Cell::symbol);
        let mut rows = |right: bool| {
            let mut bits: Vec<bool> = (0..10).map(|_| bernoulli(&mut rng, 0.5)).collect();
            bits[8] = bits[1] ^ bits[5] ^ (right == bernoulli(&mut rng, 0.75));
            bits.into_iter().map(|bit| if bit { yes } else { no }).collect()
        };
        let found = triple(&mut rows).expect("ten components");
        assert_eq!(found.components().collect::<Vec<_>>(), [1, 5, 8]);
        // Three of four: the log-ratio is ±ln 3, up to a standard error of √(4/1000·4/3) = 0.07.
        let row = |yeses: &[usize]| {
            (0..10).map(|index| if yeses.contains(&index) { yes } else { no }).collect::<Vec<_>>()
        };
        for (yeses, exact) in [
            (vec![], 3_f64.ln()),
            (vec![1], -3_f64.ln()),
            (vec![1, 8, 9], 3_f64.ln()),
            (vec![1, 5, 8], -3_f64.ln()),
        ] {
            let found = found.score(&row(&yeses)).raw();
            assert!((found - exact).abs() < 0.4, "{yeses:?}: {found} against {exact}");
        }
        assert!(found.check(10).is_ok() && found.check(8).is_err());
    }

    #[test]
    fn the_parity_of_three_signs_is_found() {
        let mut rng = Generator::seed_from_u64(2);
        let mut rows = |right: bool| {
            let mut numbers: Vec<f64> = (0..5).map(|_| gaussian(&mut rng, 1.0)).collect();
            let product = numbers[0] * numbers[2] * numbers[4];
            if (product > 0.0) == right && bernoulli(&mut rng, 0.5) {
                numbers[4] = -numbers[4];
            }
            numbers.into_iter().map(Cell::number).collect()
        };
        assert_eq!(
            triple(&mut rows).expect("five components").components().collect::<Vec<_>>(),
            [0, 2, 4]
        );
    }

    #[test]
    fn too_few_or_too_many_components_have_no_triple() {
        assert!(triple(&mut |_| vec![Cell::number(1.0); 2]).is_none());
        assert!(triple(&mut |_| vec![Cell::number(1.0); 33]).is_none());
        assert!(triple(&mut |_| vec![Cell::number(1.0); 4]).is_none(), "constants");
    }
}
