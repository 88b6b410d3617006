//! Columns of numbers as bounded features.

use crate::attack::tuning::predict::COLUMNS;
use crate::output::Cell;

/// A column of numbers, measured from its median in units of its median deviation.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its place in the row.
    pub place: usize,
    centre: f64,
    scale: f64,
}

impl Column {
    /// The columns of these rows that are numbers and vary, those first whose levels or sizes
    /// differ most between the sides; not more than a few.
    #[must_use]
    pub fn best(width: usize, rows: &[(&[Cell], bool)]) -> Vec<Self> {
        let mut found: Vec<(f64, Self)> = (0..width)
            .filter_map(|place| {
                let numbers = rows.iter().filter_map(|(row, _)| row[place].as_number()).collect();
                let (centre, scale) = middle(numbers)?;
                let column = Self { place, centre, scale };
                Some((column.significance(rows), column))
            })
            .collect();
        // The sort is stable, so among equal columns the first comes first.
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.into_iter().take(COLUMNS).map(|(_, column)| column).collect()
    }

    /// By how many standard errors the sides differ in level or in size, the larger of both.
    fn significance(self, rows: &[(&[Cell], bool)]) -> f64 {
        let of = |feature: fn(f64) -> f64| {
            let (mut sums, mut squares, mut counts) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            for (row, is_left) in rows {
                let (value, side) = (feature(self.of(row)), usize::from(!is_left));
                sums[side] += value;
                squares[side] += value * value;
                counts[side] += 1.0;
            }
            let mean = |side: usize| sums[side] / f64::max(counts[side], 1.0);
            let error = |side: usize| {
                let n = f64::max(counts[side], 1.0);
                // A side that does not vary in few draws may vary.
                ((squares[side] / n - mean(side).powi(2)).max(0.0) + 0.1 / n) / n
            };
            (mean(0) - mean(1)).abs() / (error(0) + error(1)).sqrt()
        };
        of(bounded).max(of(|z| bounded(z).abs()))
    }

    /// The number in these units; a symbol is in the middle.
    #[must_use]
    pub fn of(&self, row: &[Cell]) -> f64 {
        row[self.place].as_number().map_or(0.0, |number| scaled(number, self.centre, self.scale))
    }
}

/// A number in units of a scale, within limits.
#[must_use]
pub fn scaled(number: f64, centre: f64, scale: f64) -> f64 {
    const LIMIT: f64 = 1e6;
    let z = (number - centre) / scale;
    if z.is_nan() { 0.0 } else { z.clamp(-LIMIT, LIMIT) }
}

/// Between −1 and 1, and steep in the middle.
#[must_use]
pub fn bounded(z: f64) -> f64 {
    z / (1.0 + z.abs())
}

/// The median and the median deviation from it; the mean deviation if that is zero. None if numbers
/// do not vary.
#[must_use]
pub fn middle(mut numbers: Vec<f64>) -> Option<(f64, f64)> {
    let median = |numbers: &mut Vec<f64>| {
        let half = numbers.len() / 2;
        *numbers.select_nth_unstable_by(half, f64::total_cmp).1
    };
    if numbers.is_empty() {
        return None;
    }
    let centre = median(&mut numbers);
    let mut deviations: Vec<f64> = numbers.iter().map(|number| (number - centre).abs()).collect();
    let deviation = median(&mut deviations);
    let mean = deviations.iter().sum::<f64>() / deviations.len() as f64;
    let scale = if deviation > 0.0 { deviation } else { mean };
    (centre.is_finite() && scale.is_finite() && scale > 0.0).then_some((centre, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_numbers_is_robust() {
        assert_eq!(middle(vec![1.0, 2.0, 3.0, 4.0, 1e9]), Some((3.0, 1.0)));
        assert_eq!(middle(vec![0.0, 0.0, 0.0, 4.0]), Some((0.0, 1.0)));
        assert_eq!(middle(vec![2.0, 2.0]), None);
        assert_eq!(middle(Vec::new()), None);
        assert_eq!(scaled(f64::INFINITY, 0.0, 1.0), 1e6);
        assert_eq!((bounded(1.0), bounded(-1e6) < -0.99), (0.5, true));
    }

    #[test]
    fn the_column_that_differs_comes_first() {
        let cell = |value: f64| Cell::number(value);
        let rows: Vec<([Cell; 3], bool)> = (0..40)
            .map(|i| {
                let (left, noise) = (i % 2 == 0, f64::from((i * 7) % 11));
                let level = if left { noise } else { noise + 9.0 };
                ([cell(noise), cell(level), cell(5.0)], left)
            })
            .collect();
        let rows: Vec<(&[Cell], bool)> = rows.iter().map(|(row, left)| (&row[..], *left)).collect();
        let places: Vec<usize> = Column::best(3, &rows).iter().map(|column| column.place).collect();
        assert_eq!(places, [1, 0], "a constant is no column");
    }
}
