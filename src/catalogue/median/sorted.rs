//! Sorted records, and how sensitive their median is: local sensitivity, at a distance, and smooth.
//!
//! The records are sorted, and `m` is the rank of the median. The largest local sensitivity among
//! the datasets at distance at most `k` is `A(k) = max over 0 ≤ t ≤ k+1 of x[m+t] − x[m+t−k−1]`. A
//! rank below 1 means `lower`, and a rank above n means `upper`. The reason: `k` records are moved
//! out of the way, and the one that differs then lets the median jump over the gap that they leave.

use crate::model::Dataset;
use crate::model::checked::Finite;
use crate::target::Misfit;

/// Sorted records in a public range.
pub(super) struct Sorted {
    /// The range's lower end, the records in order, the range's upper end: a record's rank is its
    /// index.
    padded: Vec<f64>,
}

impl Sorted {
    /// The records of a dataset of numbers.
    pub(super) fn new(data: &Dataset, lower: Finite, upper: Finite) -> Result<Self, Misfit> {
        Self::of_values(data.numbers()?, lower, upper)
    }

    /// Sorts the values. Checks that there is at least one and that all are within the range.
    pub(super) fn of_values(
        mut values: Vec<f64>,
        lower: Finite,
        upper: Finite,
    ) -> Result<Self, Misfit> {
        let (lower, upper) = (lower.get(), upper.get());
        if lower >= upper {
            return Err(Misfit::params(
                "lower",
                &format!("is {lower}, must be less than params.upper, which is {upper}"),
            ));
        }
        if values.is_empty() {
            return Err(Misfit::Data(
                "the median of no records is not defined; give the dataset at least one".to_owned(),
            ));
        }
        if let Some(value) = values.iter().find(|value| !(lower..=upper).contains(*value)) {
            return Err(Misfit::Data(format!(
                "the record {value} is outside the range [{lower}, {upper}]; correct it or the range"
            )));
        }
        values.extend([lower, upper]);
        values.sort_unstable_by(f64::total_cmp);
        Ok(Self { padded: values })
    }

    /// Number of records.
    fn len(&self) -> usize {
        self.padded.len() - 2
    }

    /// The rank of the median, counted from 1: the lower of the two middle ones.
    fn rank(&self) -> usize {
        self.len().div_ceil(2)
    }

    /// The median.
    pub(super) fn median(&self) -> f64 {
        self.padded[self.rank()]
    }

    /// `A(k)`: the largest local sensitivity within distance `k`. O(k).
    pub(super) fn sensitivity_at(&self, k: usize) -> f64 {
        let (m, last) = (self.rank(), self.padded.len() - 1);
        let gap =
            |t: usize| self.padded[(m + t).min(last)] - self.padded[(m + t).saturating_sub(k + 1)];
        (0..=k + 1).map(gap).fold(0.0, f64::max)
    }

    /// γ: the smallest `k` with `A(k) ≥ bound`. At most n, because n changes reach every dataset.
    /// O(n).
    ///
    /// A gap between the ranks i ≤ m ≤ j opens at distance `j − i − 1`. As i rises, the smallest j
    /// that is far enough away rises too.
    pub(super) fn distance_to_sensitivity(&self, bound: f64) -> usize {
        let (m, x) = (self.rank(), &self.padded);
        let mut smallest = self.len();
        let mut j = m;
        for i in 0..=m {
            while j < x.len() && x[j] - x[i] < bound {
                j += 1;
            }
            if j == x.len() {
                break;
            }
            smallest = smallest.min((j - i).saturating_sub(1));
        }
        smallest
    }

    /// The smooth sensitivity `max over k ≥ nearest of e^(-βk)·A(k)`; the definition has `nearest =
    /// 0`. O(n log n).
    ///
    /// In terms of gaps: the largest `(x[j] − x[i])·e^(-β·max(j−i−1, nearest))` over the ranks i ≤
    /// m ≤ j. The best j never falls as i rises: a larger i shortens the gaps to a near and a far j
    /// by the same amount, but this matters more for the near j. So the best j for the middle i
    /// halves the problem (Nissim, Raskhodnikova & Smith 2007).
    pub(super) fn smooth_sensitivity(&self, beta: f64, nearest: usize) -> f64 {
        let (m, last) = (self.rank(), self.padded.len() - 1);
        // Logarithms, because e^(-βk) underflows for βk > 745. Then all far gaps would be equal.
        let log_value = |i: usize, j: usize| {
            let k = (j - i).saturating_sub(1).max(nearest);
            (self.padded[j] - self.padded[i]).ln() - beta * k as f64
        };
        let mut best = f64::NEG_INFINITY;
        let mut open = vec![(0, m, m, last)];
        while let Some((i_low, i_high, j_low, j_high)) = open.pop() {
            let i = usize::midpoint(i_low, i_high);
            // The last of equally good j. With the first, a series of ties could exclude the best j
            // of another i.
            let (mut j_best, mut value) = (j_low, f64::NEG_INFINITY);
            for j in j_low..=j_high {
                let here = log_value(i, j);
                if here >= value {
                    (j_best, value) = (j, here);
                }
            }
            best = best.max(value);
            if i_low < i {
                open.push((i_low, i - 1, j_low, j_best));
            }
            if i < i_high {
                open.push((i + 1, i_high, j_best, j_high));
            }
        }
        best.exp()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::noise::Generator;

    fn sorted(values: &[f64], lower: f64, upper: f64) -> Sorted {
        let finite = |x| Finite::try_from(x).unwrap();
        Sorted::new(&Dataset::of_numbers(values), finite(lower), finite(upper)).unwrap()
    }

    fn median(values: &[f64]) -> f64 {
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values[values.len().div_ceil(2) - 1]
    }

    /// The datasets that differ from this one in at most one record.
    fn neighbours(values: &[f64], universe: &[f64]) -> Vec<Vec<f64>> {
        let replaced = |i: usize, x: f64| {
            let mut other = values.to_vec();
            other[i] = x;
            other
        };
        (0..values.len()).flat_map(|i| universe.iter().map(move |x| replaced(i, *x))).collect()
    }

    fn local_sensitivity(values: &[f64], universe: &[f64]) -> f64 {
        let here = median(values);
        neighbours(values, universe)
            .iter()
            .map(|other| (median(other) - here).abs())
            .fold(0.0, f64::max)
    }

    /// `A(0), A(1), …, A(n)` from their definition: all datasets over a small universe, by
    /// increasing distance.
    fn brute_force(values: &[f64], universe: &[f64]) -> Vec<f64> {
        let mut reached = vec![values.to_vec()];
        let mut worst = Vec::new();
        for _ in 0..=values.len() {
            worst.push(
                reached.iter().map(|other| local_sensitivity(other, universe)).fold(0.0, f64::max),
            );
            let mut next: Vec<Vec<f64>> =
                reached.iter().flat_map(|other| neighbours(other, universe)).collect();
            next.iter_mut().for_each(|other| other.sort_unstable_by(f64::total_cmp));
            next.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap());
            next.dedup();
            reached = next;
        }
        worst
    }

    const UNIVERSE: [f64; 4] = [0.0, 1.0, 3.0, 7.0];

    fn small_datasets() -> Vec<Vec<f64>> {
        vec![
            vec![3.0],
            vec![0.0, 7.0],
            vec![1.0, 1.0, 1.0],
            vec![0.0, 0.0, 7.0, 7.0],
            vec![0.0, 1.0, 1.0, 3.0, 7.0],
            vec![0.0, 0.0, 0.0, 0.0, 7.0],
            vec![7.0, 7.0, 7.0, 7.0, 7.0, 7.0],
        ]
    }

    #[test]
    fn sensitivity_at_a_distance_agrees_with_brute_force() {
        for values in small_datasets() {
            let data = sorted(&values, 0.0, 7.0);
            for (k, expected) in brute_force(&values, &UNIVERSE).into_iter().enumerate() {
                assert_eq!(data.sensitivity_at(k), expected, "{values:?} at distance {k}");
            }
        }
    }

    #[test]
    fn smooth_sensitivity_agrees_with_brute_force() {
        for values in small_datasets() {
            let data = sorted(&values, 0.0, 7.0);
            let worst = brute_force(&values, &UNIVERSE);
            for (beta, nearest) in
                [(0.0, 0), (0.1, 0), (0.7, 0), (3.0, 0), (0.1, 1), (0.7, 1), (3.0, 1)]
            {
                let expected = (nearest..worst.len())
                    .map(|k| (-beta * k as f64).exp() * worst[k])
                    .fold(0.0, f64::max);
                let found = data.smooth_sensitivity(beta, nearest);
                assert!(
                    (found - expected).abs() <= 1e-12 * expected,
                    "{values:?}, β = {beta}: {found}, expected {expected}"
                );
            }
        }
    }

    /// Random data of every spread, with many ties: the fast algorithm must find the same as a
    /// search over all distances.
    #[test]
    fn the_fast_algorithm_agrees_with_a_search_over_all_distances() {
        let mut rng = Generator::seed_from_u64(3);
        for round in 0..2000 {
            let n = rng.random_range(1..40);
            let steps = [3.0, 10.0, 1e9][round % 3];
            let values: Vec<f64> = (0..n)
                .map(|_| ((rng.random::<f64>() * 9.0).exp() * steps).floor() / steps)
                .collect();
            let data = sorted(&values, 0.0, 1e4);
            let beta = (rng.random::<f64>() * 8.0 - 6.0).exp();
            for nearest in [0, 1, 2] {
                let all = (nearest..=n)
                    .map(|k| data.sensitivity_at(k).ln() - beta * k as f64)
                    .fold(f64::NEG_INFINITY, f64::max)
                    .exp();
                let found = data.smooth_sensitivity(beta, nearest);
                // With fewer records than `nearest` there is no such distance; the fast algorithm
                // then uses `nearest`.
                assert!(
                    n < nearest || (found - all).abs() <= 1e-12 * all,
                    "{values:?}, β = {beta}: {found}, expected {all}"
                );
            }
            let bound = (rng.random::<f64>() * 11.0 - 1.0).exp();
            let distance = (0..n).find(|k| data.sensitivity_at(*k) >= bound).unwrap_or(n);
            assert_eq!(data.distance_to_sensitivity(bound), distance, "{values:?}, bound {bound}");
        }
    }

    #[test]
    fn smooth_sensitivity_is_correct_when_weights_underflow() {
        let mut values = vec![0.0; 3000];
        values.push(1.0);
        values.extend(vec![5.0; 2999]);
        // The gap at the median is 1; all gaps from lower ranks have a weight below the smallest
        // positive double.
        assert_eq!(sorted(&values, 0.0, 9.0).smooth_sensitivity(400.0, 0), 1.0);
    }

    #[test]
    fn the_example_in_the_notes_has_local_sensitivity_zero_and_one_million() {
        let mut left = vec![0.0; 51];
        left.extend([1e6; 49]);
        let mut right = vec![0.0; 50];
        right.extend([1e6; 50]);
        assert_eq!(sorted(&left, 0.0, 1e6).sensitivity_at(0), 0.0);
        assert_eq!(sorted(&right, 0.0, 1e6).sensitivity_at(0), 1e6);
        assert_eq!(sorted(&left, 0.0, 1e6).median(), 0.0);
        assert_eq!(sorted(&right, 0.0, 1e6).median(), 0.0);
    }

    #[test]
    fn the_distance_is_the_smallest_k_that_reaches_the_bound() {
        let values: Vec<f64> = (0..21).map(|i| f64::from(i) * 0.5).collect();
        let data = sorted(&values, 0.0, 10.0);
        for bound in [0.2, 0.5, 0.6, 2.0, 9.9] {
            let k = data.distance_to_sensitivity(bound);
            assert!(data.sensitivity_at(k) >= bound);
            assert!(k == 0 || data.sensitivity_at(k - 1) < bound);
        }
    }
}
