//! Residues: whole numbers modulo small numbers. It sees last digits, parities, and grids that are
//! coarser than the numbers; also those of the sum of all components.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::plain::numbers;
use super::preselect::contrast;
use super::view::{View, complete};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::residue::{
    CONTRAST, EXAMINED, MAX_COLUMNS, MAX_DECIMALS, MAX_SCORES, MODULI,
};
use crate::model::Side;
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "residue",
    sees: "whole numbers, or their sum, modulo small numbers: last digits and parities",
    cost: Cost::Quick,
    attacks: &[Attack::Residues],
    widths: 1..=usize::MAX,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let whole: Vec<(usize, i32)> = (0..lesson.width().min(MAX_COLUMNS))
        .filter_map(|component| Some((component, decimals(lesson, component)?)))
        .collect();
    if whole.is_empty() {
        return Vec::new();
    }
    let mut parts: Vec<(Option<usize>, i32)> =
        whole.iter().map(|(component, decimals)| (Some(*component), *decimals)).collect();
    if whole.len() == lesson.width() && whole.len() > 1 {
        let decimals = whole.iter().map(|(_, decimals)| *decimals).max().unwrap_or(0);
        parts.push((None, decimals));
    }
    let brief = lesson.brief();
    let (left, right) =
        (brief.rows(Side::Left, usize::MAX), brief.rows(Side::Right, usize::MAX));
    let residue = |(component, decimals): (Option<usize>, i32)| {
        MODULI.map(|modulus| Residue { component, decimals, modulus })
    };
    let mut rated: Vec<(f64, Residue)> = parts
        .into_par_iter()
        .flat_map_iter(residue)
        .map(|residue| (contrast(&residue, &left, &right), residue))
        .filter(|(contrast, _)| *contrast > CONTRAST)
        .collect();
    rated.sort_by(|a, b| b.0.total_cmp(&a.0));
    rated.into_iter().take(MAX_SCORES).map(|(_, residue)| Score::Residue(residue)).collect()
}

/// The decimals with which all numbers of a component are whole; None if there are too many, or no
/// numbers at all.
fn decimals(lesson: Lesson, component: usize) -> Option<i32> {
    let first = lesson.first_rows(EXAMINED);
    let numbers: Vec<f64> =
        first.labelled().filter_map(|(row, _)| row[component].as_number()).collect();
    let whole = |decimals: i32| numbers.iter().all(|number| unit(*number, decimals).is_some());
    (!numbers.is_empty()).then(|| (0..=MAX_DECIMALS).find(|decimals| whole(*decimals))).flatten()
}

/// The number as a whole number of its last unit, if it is one.
#[inline]
fn unit(number: f64, decimals: i32) -> Option<f64> {
    /// Doubles below this are exact whole numbers; a tenth of it leaves room for rounding errors.
    const EXACT: f64 = 9e14;
    let scaled = number * 10_f64.powi(decimals);
    let whole = scaled.round();
    // Rounding of a decimal number is off by a few times 2⁻⁵³.
    (whole.abs() < EXACT && (scaled - whole).abs() <= 1e-15 * whole.abs().max(1e-9) * 4.0)
        .then_some(whole)
}

/// A component, or the sum of all numbers, as a whole number of its last unit modulo a small
/// number. Keeps symbols; numbers that are not whole are −1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residue {
    /// The component; the sum of all if there is none.
    component: Option<usize>,
    decimals: i32,
    modulus: u32,
}

impl Residue {
    fn residue(self, number: f64) -> f64 {
        unit(number, self.decimals).map_or(-1.0, |whole| whole.rem_euclid(f64::from(self.modulus)))
    }
}

impl View for Residue {
    fn score(&self, row: &[Cell]) -> Cell {
        match self.component {
            Some(component) => {
                let cell = row[component];
                cell.as_number().map_or(cell, |number| Cell::number(self.residue(number)))
            }
            None => {
                let residues: f64 = numbers(row).map(|number| self.residue(number)).sum();
                Cell::number(residues.rem_euclid(f64::from(self.modulus)))
            }
        }
    }

    fn check(&self, width: usize) -> Result<(), String> {
        complete(
            self.component.is_none_or(|component| component < width)
                && self.modulus > 0
                && (0..=MAX_DECIMALS).contains(&self.decimals),
        )
    }

    fn describe(&self, names: &Symbols) -> String {
        let what =
            self.component.map_or("the sum of y".to_owned(), |component| names.column(component));
        match self.decimals {
            0 => format!("{what} modulo {}", self.modulus),
            decimals => format!("{what} × 10^{decimals} modulo {}", self.modulus),
        }
    }

    fn is_late(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::super::testing::{borrowed, number};
    use super::*;
    use crate::noise::{Generator, discrete_laplace, gaussian};

    fn learned(mut row: impl FnMut(&mut Generator, bool) -> Vec<Cell>) -> Vec<Residue> {
        let mut side = |seed: u64, right: bool| -> Vec<Vec<Cell>> {
            let mut rng = Generator::seed_from_u64(seed);
            (0..8000).map(|_| row(&mut rng, right)).collect()
        };
        let (left, right) = (side(1, false), side(2, true));
        let scores = LEARNER.learn(Lesson::of(&borrowed(&left), &borrowed(&right))).into_iter();
        scores.filter_map(|score| if let Score::Residue(of) = score { Some(of) } else { None })
            .collect()
    }

    #[test]
    fn the_last_digit_of_a_price_is_found() {
        // In cents: D ends in any digit, D' in 0, 5 or 9.
        let found = learned(|rng, right| {
            let digit = if right { [0, 5, 9][rng.random_range(0..3)] } else { rng.random_range(0..10) };
            vec![number((gaussian(rng, 1000.0).round() * 10.0 + f64::from(digit)) / 100.0)]
        });
        let last_digit = Residue { component: Some(0), decimals: 2, modulus: 10 };
        let residue = *found.iter().find(|found| **found == last_digit).expect("significant");
        let of = |value: f64| residue.score(&[number(value)]).raw();
        assert_eq!((of(12.37), of(-0.01), of(5.0), of(0.123)), (7.0, 9.0, 0.0, -1.0));
        assert_eq!(residue.score(&[Cell::symbol("a")]), Cell::symbol("a"));
        assert!(residue.check(1).is_ok() && residue.check(0).is_err());
    }

    #[test]
    fn the_parity_of_a_sum_is_found() {
        let found = learned(|rng, right| {
            let mut counts: Vec<f64> = (0..6).map(|_| gaussian(rng, 1000.0).round()).collect();
            let odd = counts.iter().sum::<f64>().rem_euclid(2.0) == 1.0;
            counts[3] += f64::from(u8::from(odd != right));
            counts.into_iter().map(number).collect()
        });
        assert_eq!((found[0].component, found[0].modulus), (None, 2));
    }

    #[test]
    fn honest_whole_noise_has_no_residue_and_other_numbers_are_not_whole() {
        // Noise of scale 100 is even modulo 16, up to far less than 8,000 rows show.
        let found = learned(|rng, right| {
            vec![number(discrete_laplace(rng, 0.01) + f64::from(u8::from(right)))]
        });
        assert!(found.is_empty(), "{found:?}");
        assert!(learned(|rng, _| vec![number(gaussian(rng, 1.0))]).is_empty());
    }
}
