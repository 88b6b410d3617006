//! How often a walk of coin flips reaches one of several heights: exact.

use crate::stats::binomial::{point, upper_tail};

/// Mass that is dropped is counted as crossed, so the result is never too small.
const FORGOTTEN: f64 = 1e-16;

/// The probabilities of a range of neighbouring heights.
struct Mass {
    first: u64,
    probabilities: Vec<f64>,
}

/// `P[W_j ≥ heights[j] for some j]`, where `W_j` is the number of heads in the first `sizes[j]` flips of
/// a coin with probability q. At each size, walks that cross are taken out, and the others go on.
#[must_use]
pub fn crossing(sizes: &[u64], heights: &[u64], q: f64) -> f64 {
    let mut walk = Mass { first: 0, probabilities: vec![1.0] };
    let (mut crossed, mut before) = (0.0, 0);
    for (size, height) in sizes.iter().zip(heights) {
        let (step, lost) = binomial(size - before, q);
        crossed += lost;
        walk = walk.plus(&step);
        crossed += walk.cut(*height);
        before = *size;
    }
    crossed
}

/// The least height that Binomial(size, q) reaches with probability at most `level`; `size + 1` if
/// there is none.
#[must_use]
pub fn height(size: u64, q: f64, level: f64) -> u64 {
    let (mut low, mut high) = (0, size + 1);
    while low < high {
        let middle = u64::midpoint(low, high);
        if upper_tail(middle, size, q) <= level { high = middle } else { low = middle + 1 }
    }
    low
}

/// The binomial law without its far tails, and the mass of these.
fn binomial(n: u64, q: f64) -> (Mass, f64) {
    let mode = ((n + 1) as f64 * q).floor().min(n as f64);
    // A whole number between 0 and n.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let mode = mode as u64;
    let (odds, peak) = (q / (1.0 - q), point(mode, n, q, 1.0 - q));
    let mut below = Vec::new();
    let (mut term, mut j) = (peak, mode);
    while j > 0 && term > FORGOTTEN * 1e-3 {
        term *= j as f64 / ((n - j + 1) as f64 * odds);
        below.push(term);
        j -= 1;
    }
    let first = j;
    let mut probabilities: Vec<f64> = below.into_iter().rev().chain([peak]).collect();
    (term, j) = (peak, mode);
    while j < n && term > FORGOTTEN * 1e-3 {
        term *= (n - j) as f64 / (j + 1) as f64 * odds;
        probabilities.push(term);
        j += 1;
    }
    // Beyond a mass of 1e-19 the masses fall by a constant factor and more.
    (Mass { first, probabilities }, FORGOTTEN)
}

impl Mass {
    /// The law of the sum with an independent step.
    fn plus(&self, step: &Self) -> Self {
        let mut sum = vec![0.0; self.probabilities.len() + step.probabilities.len() - 1];
        for (place, mass) in self.probabilities.iter().enumerate() {
            for (to, more) in sum[place..].iter_mut().zip(&step.probabilities) {
                *to += mass * more;
            }
        }
        Self { first: self.first + step.first, probabilities: sum }
    }

    /// Takes out what is at or above the height and, at the other end, what is not worth following.
    /// Returns its mass.
    fn cut(&mut self, height: u64) -> f64 {
        let kept = usize::try_from(height.saturating_sub(self.first)).unwrap_or(usize::MAX);
        let mut taken: f64 = self.probabilities.drain(kept.min(self.probabilities.len())..).sum();
        let mut low = 0.0;
        let forgotten = self
            .probabilities
            .iter()
            .take_while(|mass| {
                low += **mass;
                low <= FORGOTTEN
            })
            .count();
        taken += self.probabilities.drain(..forgotten).sum::<f64>();
        self.first += forgotten as u64;
        if self.probabilities.is_empty() {
            self.probabilities.push(0.0);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sequence of n flips.
    fn by_enumeration(sizes: &[u64], heights: &[u64], q: f64) -> f64 {
        let n = *sizes.last().unwrap();
        (0..1_u32 << n)
            .filter(|flips| {
                let heads = |size: u64| u64::from((flips & ((1 << size) - 1)).count_ones());
                sizes.iter().zip(heights).any(|(size, height)| heads(*size) >= *height)
            })
            .map(|flips| {
                let heads = f64::from(flips.count_ones());
                q.powf(heads) * (1.0 - q).powf(n as f64 - heads)
            })
            .sum()
    }

    #[test]
    fn crossings_agree_with_the_enumeration_of_all_sequences() {
        for q in [0.5, 0.73, 0.98] {
            for heights in [[4, 7, 12], [5, 6, 13], [3, 8, 10], [5, 9, 14], [9, 9, 99]] {
                let sizes = [4, 8, 13];
                let (found, exact) =
                    (crossing(&sizes, &heights, q), by_enumeration(&sizes, &heights, q));
                assert!((found - exact).abs() < 1e-12, "{heights:?} at {q}: {found}, {exact}");
            }
        }
    }

    #[test]
    fn one_size_is_a_binomial_tail() {
        for (n, q) in [(8, 0.5), (1000, 0.9), (100_000, 0.731), (100_000, 0.9999)] {
            for level in [0.3, 0.05, 1e-3] {
                let height = height(n, q, level);
                let exact = upper_tail(height, n, q);
                let found = crossing(&[n], &[height], q);
                assert!((found - exact).abs() < 1e-11, "{n}, {q}: {found} against {exact}");
                assert!(exact <= level && upper_tail(height - 1, n, q) > level);
            }
        }
    }
}
