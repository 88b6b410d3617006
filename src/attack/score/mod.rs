//! Scores. A score maps a row of cells to one cell, which is all that a rule looks at.

pub mod float_bits;
pub mod forest;
pub mod joint;
pub mod linear;
pub mod naive_bayes;
pub mod pattern;
mod plain;
pub mod preselect;
pub mod trend;
pub mod tuple;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::output::{Cell, Rows, Symbols};
use float_bits::{bits_used, lowest_bit};
use forest::Forest;
use joint::Joint;
use linear::Linear;
use naive_bayes::{Features, NaiveBayes};
use pattern::Pattern;
use plain::{argmax, difference, distinct, fraction, numbers, rounded};
use trend::Trend;
use tuple::Tuple;

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
    /// The largest number.
    Max,
    /// The smallest number.
    Min,
    /// One component minus another.
    Difference(usize, usize),
    /// The exponent of the lowest bit of one component.
    LowestBit(usize),
    /// The exponent of one component together with the number of bits that it uses.
    BitsUsed(usize),
    /// The sum of the components' log-likelihood ratios.
    NaiveBayes(NaiveBayes),
    /// The log-likelihood ratio of the row's pattern of symbols together with its numbers.
    Pattern(Pattern),
    /// The log-odds of the smallest number, given how often a symbol occurs in the row.
    Trend(Trend),
    /// The joint log-likelihood ratio of two components.
    Joint(Joint),
    /// The position of the largest number.
    ArgMax,
    /// How many different values the row has.
    Distinct,
    /// The fractional part of one component.
    Fraction(usize),
    /// A weighted sum of the numbers.
    Linear(Linear),
    /// The log-likelihood ratio of several components, each in a few parts.
    Tuple(Tuple),
    /// The log-likelihood ratio of decision trees.
    Forest(Forest),
}

impl Score {
    /// The scores of all rows.
    #[must_use]
    pub fn of<'a>(&self, rows: &'a Rows) -> Cow<'a, [Cell]> {
        let each = rows.iter();
        Cow::Owned(match self {
            Self::Output => return Cow::Borrowed(rows.cells()),
            Self::Coordinate(index) => each.map(|row| row[*index]).collect(),
            Self::WholeRow => each.map(Cell::of_row).collect(),
            Self::Sum => each.map(|row| rounded(numbers(row).sum())).collect(),
            Self::Max => each
                .map(|row| Cell::number(numbers(row).fold(f64::NEG_INFINITY, f64::max)))
                .collect(),
            Self::Min => {
                each.map(|row| Cell::number(numbers(row).fold(f64::INFINITY, f64::min))).collect()
            }
            Self::Difference(a, b) => each.map(|row| difference(row[*a], row[*b])).collect(),
            Self::LowestBit(index) => each.map(|row| lowest_bit(row[*index])).collect(),
            Self::BitsUsed(index) => each.map(|row| bits_used(row[*index])).collect(),
            Self::NaiveBayes(model) => each.map(|row| model.score(row)).collect(),
            Self::Pattern(model) => each.map(|row| model.score(row)).collect(),
            Self::Trend(model) => each.map(|row| model.score(row)).collect(),
            Self::Joint(model) => each.map(|row| model.score(row)).collect(),
            Self::ArgMax => each.map(argmax).collect(),
            Self::Distinct => each.map(distinct).collect(),
            Self::Fraction(index) => each.map(|row| fraction(row[*index])).collect(),
            Self::Linear(model) => each.map(|row| model.score(row)).collect(),
            Self::Tuple(model) => each.map(|row| model.score(row)).collect(),
            Self::Forest(model) => model.scores(rows),
        })
    }

    /// Checks that a score that was read from a file can be computed for every output of this
    /// width.
    ///
    /// # Errors
    /// When it cannot. The error says why.
    pub fn check(&self, width: usize) -> Result<(), String> {
        let cell = |index: usize| {
            if index < width {
                Ok(())
            } else {
                Err(format!("it looks at cell {index} of {width} (the first is 0)"))
            }
        };
        let complete = |complete: bool| {
            if complete { Ok(()) } else { Err("its tables are incomplete".to_owned()) }
        };
        match self {
            Self::Output if width > 1 => {
                Err(format!("it looks at a single cell, but the outputs have {width}"))
            }
            Self::Output
            | Self::WholeRow
            | Self::Sum
            | Self::Max
            | Self::Min
            | Self::ArgMax
            | Self::Distinct => Ok(()),
            Self::Coordinate(index)
            | Self::LowestBit(index)
            | Self::BitsUsed(index)
            | Self::Fraction(index) => cell(*index),
            Self::Difference(a, b) => cell(*a.max(b)),
            Self::NaiveBayes(model) => complete(model.is_complete()),
            Self::Pattern(model) => complete(model.is_complete()),
            Self::Trend(model) => complete(model.is_complete()),
            Self::Joint(model) => cell(model.components().0.max(model.components().1))
                .and(complete(model.is_complete())),
            Self::Linear(model) => complete(model.is_complete(width)),
            Self::Tuple(model) => complete(model.is_complete(width)),
            Self::Forest(model) => complete(model.is_complete(width)),
        }
    }

    /// Whether the score was learned from labelled rows. These rows must not be counted for it
    /// again.
    #[must_use]
    pub fn is_learned(&self) -> bool {
        matches!(self, Self::Linear(_)) || self.is_ratio()
    }

    /// Whether the score is tried only if it predicts better than all others: it is computed from
    /// many components, or it is far-fetched.
    #[must_use]
    pub fn is_late(&self) -> bool {
        match self {
            Self::Linear(model) => !model.is_tied(),
            _ => matches!(self, Self::Tuple(_) | Self::Forest(_) | Self::Fraction(_)),
        }
    }

    /// Whether the score is a log-ratio: large values are evidence for D.
    #[must_use]
    pub fn is_ratio(&self) -> bool {
        match self {
            Self::NaiveBayes(_)
            | Self::Pattern(_)
            | Self::Trend(_)
            | Self::Joint(_)
            | Self::Tuple(_)
            | Self::Forest(_) => true,
            Self::Linear(model) => model.is_ratio(),
            _ => false,
        }
    }
}

impl Score {
    /// What it looks at, in words.
    #[must_use]
    pub fn describe(&self, names: &Symbols) -> String {
        let column = |index: &usize| names.column(*index);
        let columns = |components: &mut dyn Iterator<Item = usize>| {
            listed(&components.map(|index| names.column(index)).collect::<Vec<_>>())
        };
        match self {
            Self::Output | Self::WholeRow => "y".to_owned(),
            Self::Coordinate(index) => column(index),
            Self::Sum => "the sum of y".to_owned(),
            Self::Max => "the maximum of y".to_owned(),
            Self::Min => "the minimum of y".to_owned(),
            Self::ArgMax => "the index of the maximum of y (from 0)".to_owned(),
            Self::Distinct => "the number of different values in y".to_owned(),
            Self::Difference(a, b) => format!("{} − {}", column(a), column(b)),
            Self::Fraction(index) => format!("the fractional part of {}", column(index)),
            Self::LowestBit(index) => {
                format!("the exponent of the lowest bit of {}", column(index))
            }
            Self::BitsUsed(index) => format!("64 × exponent + bits used of {}", column(index)),
            Self::NaiveBayes(model) => match model.features() {
                Features::Cells => "the log-ratio of all components".to_owned(),
                Features::Differences => "the log-ratio of all successive differences".to_owned(),
            },
            Self::Pattern(_) => "the log-ratio of the pattern and its numbers".to_owned(),
            Self::Trend(_) => "the log-ratio of the number and the symbols beside it".to_owned(),
            Self::Joint(model) => {
                let (first, second) = model.components();
                format!("the joint log-ratio of {} and {}", column(&first), column(&second))
            }
            Self::Linear(model) => model.describe(names),
            Self::Tuple(model) => {
                format!("the joint log-ratio of {}", columns(&mut model.components()))
            }
            Self::Forest(model) => {
                format!(
                    "the log-ratio of decision trees, mostly on {}",
                    columns(&mut model.main_components().into_iter())
                )
            }
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::joint::part_of;
    use super::*;
    use crate::attack::fit::table::{STEPS, Table};
    use crate::attack::lesson::Lesson;
    use crate::noise::{Generator, laplace};

    const ROWS: usize = 8000;

    fn number(value: f64) -> Cell {
        Cell::number(value)
    }

    fn borrowed(rows: &[Vec<Cell>]) -> Vec<&[Cell]> {
        rows.iter().map(Vec::as_slice).collect()
    }

    fn scores(score: &Score, rows: &[Vec<Cell>]) -> Vec<Cell> {
        let mut all = Rows::new(rows[0].len());
        rows.iter().for_each(|row| all.push(row));
        score.of(&all).into_owned()
    }

    /// The score of one row is this log-ratio, up to rounding and shrinkage, and a whole number of
    /// steps.
    fn assert_score(score: &Score, row: &[Cell], expected: f64) {
        assert_score_within(0.05, score, row, expected);
    }

    fn assert_score_within(error: f64, score: &Score, row: &[Cell], expected: f64) {
        let found = scores(score, &[row.to_vec()])[0].raw();
        assert_eq!((found * STEPS).fract(), 0.0);
        assert!((found - expected).abs() < error, "{row:?}: {found} instead of {expected}");
    }

    #[test]
    fn plain_scores_have_their_definition() {
        let (bottom, top) = (Cell::symbol("⊥"), Cell::symbol("⊤"));
        let rows = [vec![number(0.75), number(-6.0), bottom], vec![top, number(2.5), number(3.0)]];
        let of = |score: Score| scores(&score, &rows);
        assert_eq!(of(Score::Coordinate(0)), [number(0.75), top]);
        assert_eq!(of(Score::WholeRow), [Cell::of_row(&rows[0]), Cell::of_row(&rows[1])]);
        assert_eq!(of(Score::Sum), [number(-5.25), number(5.5)]);
        assert_eq!(of(Score::Max), [number(0.75), number(3.0)]);
        assert_eq!(of(Score::Min), [number(-6.0), number(2.5)]);
        assert_eq!(of(Score::Difference(1, 0)), [number(-6.75), number(2.5)]);
        assert_eq!(of(Score::Difference(0, 1)), [number(6.75), top]);
        assert_eq!(of(Score::LowestBit(1)), [number(1.0), number(-1.0)]);
        assert_eq!(of(Score::BitsUsed(1)), [number(64.0 * 2.0 + 2.0), number(64.0 + 3.0)]);
        assert_eq!(scores(&Score::Output, &[vec![top], vec![number(1.0)]]), [top, number(1.0)]);
        // 0.1 + 0.2 differs from 0.3 only in the low bits, which are removed.
        assert_eq!(
            scores(&Score::Sum, &[vec![number(0.1), number(0.2)]]),
            [number(f64::from(0.3_f32))]
        );
    }

    #[test]
    fn components_are_counted_from_one() {
        let names = |scores: &[Score]| {
            scores.iter().map(|score| score.describe(&Symbols::default())).collect::<Vec<_>>()
        };
        let found = names(&[
            Score::Coordinate(0),
            Score::Difference(1, 2),
            Score::LowestBit(3),
            Score::BitsUsed(4),
        ]);
        assert_eq!(
            found,
            [
                "y[1]",
                "y[2] − y[3]",
                "the exponent of the lowest bit of y[4]",
                "64 × exponent + bits used of y[5]"
            ]
        );
        let rows = [vec![number(1.0); 3]];
        let joint = Joint::learn(Lesson { left: &borrowed(&rows), right: &[] }, 1, 2);
        assert_eq!(
            Score::Joint(joint).describe(&Symbols::default()),
            "the joint log-ratio of y[2] and y[3]"
        );
    }

    /// Outputs of D and of D': two thirds `often(index)` and one third `rarely(index)` on D, and
    /// the opposite on D'.
    fn two_to_one(
        often: impl Fn(usize) -> Vec<Cell>,
        rarely: impl Fn(usize) -> Vec<Cell>,
    ) -> (Vec<Vec<Cell>>, Vec<Vec<Cell>>) {
        let side =
            |third: usize| {
                (0..ROWS)
                    .map(|index| {
                        if (index % 3 == 0) == (third == 1) { rarely(index) } else { often(index) }
                    })
                    .collect()
            };
        (side(1), side(2))
    }

    #[test]
    fn naive_bayes_adds_the_ratios_of_all_components() {
        let symbol = |is_a: bool| Cell::symbol(if is_a { "a" } else { "b" });
        // The first component is `a` in 3 of 4 rows of D and in 1 of 4 rows of D'; the second in 2
        // of 3 and in 1 of 3. The components are independent, in both halves of a lesson.
        let side = |first: usize, second: usize| -> Vec<Vec<Cell>> {
            (0..ROWS)
                .map(|index| vec![symbol(index / 2 % 4 < first), symbol(index / 8 % 3 < second)])
                .collect()
        };
        let (left, right) = (side(3, 2), side(1, 1));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let lesson = Lesson { left: &left, right: &right };
        let model = Score::NaiveBayes(NaiveBayes::learn(lesson, Features::Cells));
        let tied = Score::NaiveBayes(NaiveBayes::learn_tied(lesson, Features::Cells));
        // One table for both components: `a` in 17 of 24 and in 7 of 24.
        let (first, second, both) = (3_f64.ln(), 2_f64.ln(), (17.0_f64 / 7.0).ln());
        for (row, signs) in [
            ((true, true), (1.0, 1.0)),
            ((true, false), (1.0, -1.0)),
            ((false, false), (-1.0, -1.0)),
        ] {
            let row = [symbol(row.0), symbol(row.1)];
            assert_score(&model, &row, signs.0 * first + signs.1 * second);
            assert_score(&tied, &row, (signs.0 + signs.1) * both);
        }
        assert!(model.is_learned() && !Score::Sum.is_learned());
    }

    #[test]
    fn differences_undo_running_sums() {
        // The second component is the first plus 1 or 2; the first carries no information.
        let row = |index: usize, step: f64| {
            vec![number((index / 3 % 7) as f64), number((index / 3 % 7) as f64 + step)]
        };
        let (left, right) = two_to_one(|index| row(index, 1.0), |index| row(index, 2.0));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let model = Score::NaiveBayes(NaiveBayes::learn(
            Lesson { left: &left, right: &right },
            Features::Differences,
        ));
        assert_score(&model, &row(0, 1.0), 2_f64.ln());
        assert_score(&model, &row(9, 2.0), -2_f64.ln());
        assert_eq!(Features::Differences.of(&[number(5.0), number(7.0)], 0), number(5.0));
        assert_eq!(Features::Cells.of(&[number(5.0), number(7.0)], 1), number(7.0));
    }

    #[test]
    fn a_pattern_adds_its_own_ratio_and_those_of_its_numbers() {
        let (bottom, top, rare) = (Cell::symbol("⊥"), Cell::symbol("⊤"), Cell::symbol("rare"));
        let size = |index: usize| (index * 7919 % ROWS) as f64 + 0.5;
        // ⊥ is twice as frequent on D as on D', and the number next to it carries no information. ⊤
        // is half as frequent on D; the number next to it is positive on D and negative on D', each
        // in 4 of 5 rows.
        let next_to_top = |index: usize, sign: f64| {
            number(if index / 3 % 5 < 4 { sign * size(index) } else { -sign * size(index) })
        };
        let side = |third: usize, sign: f64, rares: usize| -> Vec<Vec<Cell>> {
            let row = |index: usize| {
                if index % 3 < third {
                    vec![bottom, number(size(index))]
                } else {
                    vec![top, next_to_top(index, sign)]
                }
            };
            (0..ROWS)
                .map(row)
                .chain((0..rares).map(|index| vec![rare, number((index * 48 / rares) as f64)]))
                .collect()
        };
        let (left, right) = (side(2, 1.0, 47), side(1, -1.0, 16));
        let (all_left, all_right) = (borrowed(&left), borrowed(&right));
        let model = Score::Pattern(
            Pattern::learn(Lesson { left: &all_left, right: &all_right })
                .expect("numbers next to symbols"),
        );
        assert_score(&model, &[bottom, number(100.5)], 2_f64.ln());
        assert_score(&model, &[top, number(100.5)], 4_f64.ln() - 2_f64.ln());
        assert_score(&model, &[top, number(-100.5)], -4_f64.ln() - 2_f64.ln());
        // A pattern that is too rare, and one that never occurred.
        assert_score(&model, &[rare, number(1.0)], 0.0);
        assert_score(&model, &[bottom, bottom], 0.0);
        assert_eq!(model.check(2), Ok(()));
        // With one more row it is frequent enough: 48 on D and 16 on D'; one half is added to each.
        let (left, right) = (side(2, 1.0, 48), side(1, -1.0, 16));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let known = Score::Pattern(
            Pattern::learn(Lesson { left: &left, right: &right }).expect("numbers next to symbols"),
        );
        assert_score(&known, &[rare, number(1.0)], (48.5_f64 / 16.5).ln());
        // Symbols alone, numbers alone.
        let learned = |row: &dyn Fn(usize) -> Vec<Cell>| {
            let rows: Vec<Vec<Cell>> = (0..ROWS).map(row).collect();
            Pattern::learn(Lesson { left: &borrowed(&rows), right: &borrowed(&rows) }).is_some()
        };
        assert!(!learned(&|_| vec![bottom, top]));
        assert!(!learned(&|index| if index % 2 == 0 {
            vec![bottom, top]
        } else {
            vec![number(size(index)), number(-size(index))]
        }));
        assert!(!learned(&|index| vec![number(size(index)), number(-size(index))]));
        assert!(
            learned(&|index| vec![number(3.0), number(size(index))]),
            "a repeated number is an atom too"
        );
    }

    #[test]
    fn a_repeated_zero_is_its_own_pattern_for_any_sizes_of_the_sides() {
        // Zero or some other number, next to a number that carries no information. D has twice as
        // many rows.
        let noise = |index: usize| number((index * 7919 % ROWS) as f64 + 0.5);
        let (left, right) = two_to_one(
            |index| vec![number(0.0), noise(index)],
            |index| vec![noise(index), noise(index)],
        );
        let (left, right) = (borrowed(&left).repeat(2), borrowed(&right));
        let model = Score::Pattern(
            Pattern::learn(Lesson { left: &left, right: &right }).expect("numbers next to an atom"),
        );
        assert_score_within(0.1, &model, &[number(0.0), number(4000.5)], 2_f64.ln());
        assert_score_within(0.1, &model, &[number(4000.5), number(4000.5)], -2_f64.ln());
    }

    #[test]
    fn a_parity_is_visible_in_two_components_together() {
        // On both sides each sign is positive in half of the rows. The two signs agree in 2 of 3
        // rows of D and in 1 of 3 rows of D'.
        let size = |index: usize| (index * 7919 % ROWS) as f64 + 0.5;
        let row = |index: usize, same: f64| {
            let sign = [1.0, -1.0][index / 3 % 2];
            vec![
                number(sign * size(index)),
                number(0.0),
                number(sign * same * ((index * 6661 % ROWS) as f64 + 0.5)),
            ]
        };
        let (left, right) = two_to_one(|index| row(index, 1.0), |index| row(index, -1.0));
        let (left, right) = (borrowed(&left), borrowed(&right));
        let lesson = Lesson { left: &left, right: &right };
        let joint = Joint::learn(lesson, 0, 2);
        assert_eq!(joint, Joint::learn(lesson.first_half(), 0, 2).relearn(lesson));
        assert_eq!(joint.parts.len(), 8);
        let parts = [0.5, 1.0, 2.5, 3.0].map(|x| part_of(&[1.0, 2.0, 3.0], number(x)));
        assert_eq!((parts, part_of(&[1.0], Cell::symbol("⊥"))), ([0, 1, 2, 3], 0));
        let joint = Score::Joint(joint);
        for (first, second) in
            [(900.0, 900.0), (-900.0, 900.0), (3000.0, -500.0), (-5000.0, -2000.0)]
        {
            let sign = f64::signum(first * second);
            // About 500 rows per side in each quarter of a part: the standard error would be 0.1
            // for random rows.
            assert_score_within(
                0.2,
                &joint,
                &[number(first), number(0.0), number(second)],
                sign * 2_f64.ln(),
            );
        }
    }

    #[test]
    fn scores_that_do_not_fit_are_rejected() {
        let fits =
            |score: &Score| (1..5).map(|width| score.check(width).is_ok()).collect::<Vec<_>>();
        assert_eq!(fits(&Score::Output), [true, false, false, false]);
        for score in [
            Score::Coordinate(2),
            Score::LowestBit(2),
            Score::BitsUsed(2),
            Score::Difference(0, 2),
            Score::Difference(2, 1),
        ] {
            assert_eq!(fits(&score), [false, false, true, true], "{score:?}");
        }
        let rows: Vec<Vec<Cell>> = (0..400)
            .map(|index| vec![Cell::symbol("⊥"), number(f64::from(index)), number(1.5)])
            .collect();
        let rows = borrowed(&rows);
        let lesson = Lesson { left: &rows, right: &rows };
        let joint = Joint::learn(lesson, 1, 2);
        let fewer = |tables: &[Table]| tables[1..].to_vec();
        assert_eq!(fits(&Score::Joint(joint.clone())), [false, false, true, true]);
        assert_eq!(
            fits(&Score::Joint(Joint { parts: fewer(&joint.parts), ..joint.clone() })),
            [false; 4]
        );
        assert_eq!(
            fits(&Score::Joint(Joint { first: 2, second: 1, ..joint })),
            [false, false, true, true]
        );
        // A table without one of its ratios, as in a forged file.
        let mut table = serde_json::to_value(lesson.table(|row| row[1]).0).unwrap();
        let model = |table: &serde_json::Value| NaiveBayes {
            features: Features::Cells,
            tables: vec![serde_json::from_value(table.clone()).unwrap()],
        };
        assert_eq!(Score::NaiveBayes(model(&table)).check(3), Ok(()));
        table["steps"].as_array_mut().unwrap().pop();
        let broken = model(&table);
        assert!(Score::NaiveBayes(broken.clone()).check(3).is_err());
        let mut pattern = Pattern::learn(lesson).expect("numbers next to a symbol");
        pattern.known.values_mut().for_each(|known| known.numbers[0] = broken.tables[0].clone());
        assert!(Score::Pattern(pattern).check(3).is_err());
    }

    #[test]
    fn uninformative_components_do_not_blur_an_informative_one() {
        // The first of four components is shifted by one, with Lap(1) noise. With 20,000 rows per
        // side its gain is hundreds of nats; the others gain only a few, by chance.
        let mut rng = Generator::seed_from_u64(12);
        let mut side = |at: f64| -> Vec<[Cell; 4]> {
            (0..20_000)
                .map(|_| [at, 0.0, 0.0, 0.0].map(|at| Cell::number(at + laplace(&mut rng, 1.0))))
                .collect()
        };
        let (left, right) = (side(0.0), side(1.0));
        let (left, right): (Vec<&[Cell]>, Vec<&[Cell]>) =
            (left.iter().map(|row| &row[..]).collect(), right.iter().map(|row| &row[..]).collect());
        let model = NaiveBayes::learn(Lesson { left: &left, right: &right }, Features::Cells);
        let score = |first: f64, others: f64| {
            model.score(&[first, others, others, others].map(Cell::number))
        };
        assert!(
            [-9.0, -0.3, 0.0, 0.4, 7.0]
                .iter()
                .all(|others| score(-1.0, *others) == score(-1.0, 0.1))
        );
        assert!(score(-1.0, 0.0).raw() > score(2.0, 0.0).raw());
    }
}
