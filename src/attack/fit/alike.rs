//! Whether all components of an output have the same distribution.
//!
//! If they have on D and on D', as repeated releases of one answer do, a score that treats them
//! alike loses nothing, and one that prefers some of them follows chance.

use crate::attack::bins::Bins;
use crate::attack::tuning::alike::{BINNED, DIFFERENT, MAX_CELLS, MAX_COMPONENTS};
use crate::output::Rows;

/// Whether chance explains how the components differ from each other on each side.
///
/// On each side, the table of components and bins has the chi-square statistic `Σ (n − e)²/e` with
/// `e` from its margins. With `d` degrees of freedom it has mean d and variance 2d if all
/// components have the same distribution.
#[must_use]
pub fn are_alike(left: &Rows, right: &Rows) -> bool {
    let width = left.width();
    if !(2..=MAX_COMPONENTS).contains(&width) || left.is_empty() || right.is_empty() {
        return false;
    }
    let rows = MAX_CELLS / 2 / width;
    let sample = left.iter().take(BINNED).chain(right.iter().take(BINNED)).flatten();
    let bins = Bins::learn_coarse(sample);
    [left, right].into_iter().all(|side| {
        let mut hits = vec![0_u64; width * bins.len()];
        for row in side.iter().take(rows) {
            for (component, cell) in row.iter().enumerate() {
                hits[component * bins.len() + bins.index(*cell)] += 1;
            }
        }
        excess(&hits, width) < DIFFERENT
    })
}

/// How many standard deviations the chi-square statistic of a table with equally many hits in each
/// of its rows is above its mean.
fn excess(hits: &[u64], rows: usize) -> f64 {
    let columns = hits.len() / rows;
    let (mut statistic, mut used) = (0.0, 0.0);
    for column in 0..columns {
        let of_column = || (0..rows).map(|row| hits[row * columns + column] as f64);
        let expected = of_column().sum::<f64>() / rows as f64;
        if expected > 0.0 {
            statistic += of_column().map(|n| (n - expected).powi(2)).sum::<f64>() / expected;
            used += 1.0;
        }
    }
    let degrees = (used - 1.0) * (rows as f64 - 1.0);
    if degrees > 0.0 { (statistic - degrees) / (2.0 * degrees).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::noise::{Generator, laplace};
    use crate::output::Cell;

    /// Five numbers with Laplace noise around these answers.
    fn rows(seed: u64, answers: [f64; 5]) -> Rows {
        let mut rng = Generator::seed_from_u64(seed);
        let mut rows = Rows::new(5);
        for _ in 0..10_000 {
            rows.push(&answers.map(|answer| Cell::number(answer + laplace(&mut rng, 1.0))));
        }
        rows
    }

    #[test]
    fn repeated_releases_are_alike_and_other_outputs_are_not() {
        let (same, shifted) = (rows(1, [0.0; 5]), rows(2, [1.0; 5]));
        // Wrong by chance once in a thousand times, on two sides; the seeds are fixed.
        assert!(are_alike(&same, &shifted));
        // A fifth of the scale in one component of 10,000 rows is 14 standard errors of its mean.
        let one = rows(3, [0.0, 0.0, 0.2, 0.0, 0.0]);
        assert!(!are_alike(&same, &one) && !are_alike(&one, &same));
        assert!(!are_alike(&same, &Rows::new(5)), "nothing is known");
    }
}
