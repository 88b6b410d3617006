//! Learners, and the scores that they learn. A score maps a row of cells to one cell, which is all
//! that a rule looks at.
//!
//! A learner is one file of this folder and one line in the list below. Its file has the constant
//! `LEARNER`, which says what it sees and when it is used, and a type that implements [`View`] for
//! each kind of score that it makes.

mod cluster;
mod plain;
pub mod preselect;
#[cfg(test)]
mod testing;
mod view;

use std::borrow::Cow;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::attack::family::{Attack, LearnerName};
use crate::attack::lesson::Lesson;
use crate::output::{Cell, Rows, Symbols};

pub use view::View;

/// Makes the list of learners and the enum of all scores: for each file the scores without
/// parameters, then those with parameters. The first ones are written to files as their name, the
/// others as their name with the parameters.
macro_rules! learners {
    ($($file:ident: [$($unit:ident),*] [$($model:ident),*];)*) => {
        $(pub mod $file;)*

        /// All learners. Their scores are tried in this order, and the first of equal ones wins.
        pub const LEARNERS: &[Learner] = &[$($file::LEARNER),*];

        /// What the attacker looks at; the types of the same names explain the variants.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[allow(missing_docs)]
        pub enum Score {
            $($($unit,)* $($model($file::$model),)*)*
        }

        impl Score {
            fn view(&self) -> &dyn View {
                match self {
                    $($(Self::$unit => &$file::$unit,)* $(Self::$model(view) => view,)*)*
                }
            }
        }
    };
}

learners! {
    output:      [Output] [];
    coordinate:  [] [Coordinate];
    whole_row:   [WholeRow] [];
    aggregate:   [Sum, Max, Min, ArgMax, Distinct] [];
    naive_bayes: [] [NaiveBayes];
    running_sum: [] [];
    pattern:     [] [Pattern];
    trend:       [] [Trend];
    difference:  [] [Difference];
    joint:       [] [Joint];
    linear:      [] [Linear];
    tuple:       [] [Tuple];
    order:       [] [Position, Positions];
    memory:      [] [Memory];
    spike:       [] [Spike];
    slice:       [] [Slice];
    parity:      [] [Parity];
    forest:      [] [Forest];
    float_bits:  [] [LowestBit, BitsUsed, LowBits];
    fraction:    [] [Fraction];
    residue:     [] [Residue];
}

/// Learns scores from rows.
#[derive(Debug)]
pub struct Learner {
    /// Its name.
    pub name: &'static str,
    /// What it sees.
    pub sees: &'static str,
    /// How long it takes.
    pub cost: Cost,
    /// The attacks that ask for it.
    attacks: &'static [Attack],
    /// How many components outputs must have.
    widths: RangeInclusive<usize>,
    /// Learns scores from rows of both sides; none if it sees nothing there.
    learn: fn(Lesson) -> Vec<Score>,
}

/// How long a learner takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// About as long as it takes to read the rows a few times.
    Quick,
    /// Longer: it tries combinations of components, or makes many passes. A search leaves it out
    /// while it compares candidates by a few draws.
    Slow,
}

impl Attack {
    /// Whether all its learners are quick.
    #[must_use]
    pub fn is_quick(self) -> bool {
        Learner::of(&[self]).all(|learner| learner.cost == Cost::Quick)
    }
}

impl Learner {
    /// Those that any of these attacks asks for, in the order of the list.
    pub fn of(attacks: &[Attack]) -> impl Iterator<Item = &'static Self> {
        LEARNERS.iter().filter(|learner| attacks.iter().any(|attack| learner.belongs_to(*attack)))
    }

    /// The attacks that ask for the same learners except the one with this name.
    #[must_use]
    pub fn all_but(attacks: &[Attack], name: &str) -> Vec<Attack> {
        Self::of(attacks).filter(|learner| learner.name != name).map(Self::attack).collect()
    }

    /// The attack that asks for this learner alone.
    #[must_use]
    pub fn attack(&self) -> Attack {
        Attack::Learner(LearnerName(self.name))
    }

    fn belongs_to(&self, attack: Attack) -> bool {
        match attack {
            Attack::Learner(LearnerName(name)) => name == self.name,
            family => self.attacks.contains(&family),
        }
    }

    /// The scores that it learns from these rows.
    #[must_use]
    pub fn learn(&self, lesson: Lesson) -> Vec<Score> {
        if self.widths.contains(&lesson.width()) { (self.learn)(lesson) } else { Vec::new() }
    }
}

impl View for Score {
    fn score(&self, row: &[Cell]) -> Cell {
        self.view().score(row)
    }

    fn of<'a>(&self, rows: &'a Rows) -> Cow<'a, [Cell]> {
        self.view().of(rows)
    }

    fn check(&self, width: usize) -> Result<(), String> {
        self.view().check(width)
    }

    fn describe(&self, names: &Symbols) -> String {
        self.view().describe(names)
    }

    fn is_ratio(&self) -> bool {
        self.view().is_ratio()
    }

    fn is_learned(&self) -> bool {
        self.view().is_learned()
    }

    fn is_symmetric(&self) -> bool {
        self.view().is_symmetric()
    }

    fn is_late(&self) -> bool {
        self.view().is_late()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::coordinate::Coordinate;
    use super::difference::Difference;
    use super::float_bits::{BitsUsed, LowestBit};
    use super::fraction::Fraction;
    use super::testing::number;
    use super::*;

    #[test]
    fn plain_scores_have_their_definition() {
        let (bottom, top) = (Cell::symbol("⊥"), Cell::symbol("⊤"));
        let rows = [[number(0.75), number(-6.0), bottom], [top, number(2.5), number(3.0)]];
        let of = |score: Score| {
            let mut all = Rows::new(3);
            rows.iter().for_each(|row| all.push(row));
            let scores = score.of(&all).into_owned();
            assert_eq!(scores, rows.map(|row| score.score(&row)), "{score:?}");
            scores
        };
        assert_eq!(of(Score::Coordinate(Coordinate(0))), [number(0.75), top]);
        assert_eq!(of(Score::WholeRow), rows.map(|row| Cell::of_row(&row)));
        assert_eq!(of(Score::Sum), [number(-5.25), number(5.5)]);
        assert_eq!(of(Score::Max), [number(0.75), number(3.0)]);
        assert_eq!(of(Score::Min), [number(-6.0), number(2.5)]);
        assert_eq!(of(Score::Difference(Difference(1, 0))), [number(-6.75), number(2.5)]);
        assert_eq!(of(Score::Difference(Difference(0, 1))), [number(6.75), top]);
        assert_eq!(of(Score::LowestBit(LowestBit(1))), [number(1.0), number(-1.0)]);
        let used = [number(64.0 * 2.0 + 2.0), number(64.0 + 3.0)];
        assert_eq!(of(Score::BitsUsed(BitsUsed(1))), used);
        let mut single = Rows::new(1);
        [top, number(1.0)].iter().for_each(|cell| single.push(&[*cell]));
        assert_eq!(*Score::Output.of(&single), [top, number(1.0)]);
    }

    #[test]
    fn components_are_counted_from_one() {
        let scores = [
            Score::Coordinate(Coordinate(0)),
            Score::Difference(Difference(1, 2)),
            Score::LowestBit(LowestBit(3)),
            Score::BitsUsed(BitsUsed(4)),
            Score::Fraction(Fraction(5)),
        ];
        assert_eq!(
            scores.map(|score| score.describe(&Symbols::default())),
            [
                "y[1]",
                "y[2] − y[3]",
                "the exponent of the lowest bit of y[4]",
                "64 × exponent + bits used of y[5]",
                "the fractional part of y[6]"
            ]
        );
    }

    #[test]
    fn scores_that_do_not_fit_are_rejected() {
        let fits =
            |score: &Score| (1..5).map(|width| score.check(width).is_ok()).collect::<Vec<_>>();
        assert_eq!(fits(&Score::Output), [true, false, false, false]);
        for score in [
            Score::Coordinate(Coordinate(2)),
            Score::LowestBit(LowestBit(2)),
            Score::BitsUsed(BitsUsed(2)),
            Score::Fraction(Fraction(2)),
            Score::Difference(Difference(0, 2)),
            Score::Difference(Difference(2, 1)),
        ] {
            assert_eq!(fits(&score), [false, false, true, true], "{score:?}");
        }
    }

    #[test]
    fn scores_are_written_as_old_files_have_them() {
        for (score, text) in [
            (Score::Output, r#""output""#),
            (Score::WholeRow, r#""whole-row""#),
            (Score::ArgMax, r#""arg-max""#),
            (Score::Coordinate(Coordinate(3)), r#"{"coordinate":3}"#),
            (Score::Difference(Difference(1, 2)), r#"{"difference":[1,2]}"#),
            (Score::LowestBit(LowestBit(0)), r#"{"lowest-bit":0}"#),
            (Score::BitsUsed(BitsUsed(0)), r#"{"bits-used":0}"#),
            (Score::Fraction(Fraction(7)), r#"{"fraction":7}"#),
        ] {
            assert_eq!(serde_json::to_string(&score).unwrap(), text);
            assert_eq!(serde_json::from_str::<Score>(text).unwrap(), score);
        }
    }

    #[test]
    fn every_learner_has_a_name_of_its_own_and_an_attack_that_asks_for_it() {
        let names: BTreeSet<&str> = LEARNERS.iter().map(|learner| learner.name).collect();
        assert_eq!(names.len(), LEARNERS.len());
        for learner in LEARNERS {
            assert!(!learner.attacks.is_empty() && !learner.sees.is_empty(), "{}", learner.name);
            let alone: Vec<&str> =
                Learner::of(&[learner.attack()]).map(|found| found.name).collect();
            assert_eq!(alone, [learner.name]);
            let others = Learner::all_but(&Attack::DEFAULT, learner.name);
            assert!(!others.contains(&learner.attack()));
        }
        let default: Vec<&str> =
            Learner::of(&Attack::DEFAULT).map(|learner| learner.name).collect();
        assert!(default.contains(&"forest") && !default.contains(&"float-bits"));
        assert_eq!(default.len() + 1, LEARNERS.len());
        let all = Learner::all_but(&Attack::DEFAULT, "float-bits");
        assert_eq!(Learner::of(&all).map(|learner| learner.name).collect::<Vec<_>>(), default);
    }
}
