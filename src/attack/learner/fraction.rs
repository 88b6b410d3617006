//! The fractional part of one component: whole-number noise on data that is not whole.

use serde::{Deserialize, Serialize};

use super::preselect::preselect;
use super::view::{View, has_cell};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::lesson::Lesson;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "fraction",
    sees: "the fractional part of the most significant component",
    cost: Cost::Quick,
    attacks: &[Attack::Fractions],
    widths: 1..=usize::MAX,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let all = (0..lesson.width()).map(Fraction).collect();
    preselect(lesson, all, 1).into_iter().map(Score::Fraction).collect()
}

/// The fractional part of the component with this index, in steps of 2⁻²⁰: which of the grids with
/// spacing 1 it is on. Keeps symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fraction(pub usize);

impl View for Fraction {
    fn score(&self, row: &[Cell]) -> Cell {
        const STEPS: f64 = 1_048_576.0;
        let cell = row[self.0];
        cell.as_number().map_or(cell, |number| {
            let steps = ((number - number.floor()) * STEPS).round();
            // Just below a whole number is as near to it as just above.
            Cell::number(if steps < STEPS { steps / STEPS } else { 0.0 })
        })
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.0, width)
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("the fractional part of {}", names.column(self.0))
    }

    fn is_late(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_on_a_grid_and_symbols_stay() {
        let fraction = |cell: Cell| Fraction(0).score(&[cell]);
        // The steps are 2⁻²⁰, about a millionth.
        for (number, part) in [
            (3.25, 0.25),
            (-3.25, 0.75),
            (7.0, 0.0),
            (0.1 + 0.2, 0.3),
            (1.0 - 1e-9, 0.0),
            (1e300, 0.0),
        ] {
            assert!((fraction(Cell::number(number)).raw() - part).abs() < 1e-6, "{number}");
        }
        assert_eq!(fraction(Cell::symbol("a")), Cell::symbol("a"));
        assert!(fraction(Cell::number(f64::INFINITY)).as_number().is_none_or(f64::is_finite));
    }
}
