//! Outputs that occur equally often too often: rows that were copied, or draws without replacement.
//!
//! Suppose first that the number of draws is Poisson with mean `n`. Then the output with
//! probability `p` occurs `N ~ Poisson(λ)` times, `λ = n·p`, independently of all others. For any λ
//! and j ≥ 2
//!
//! ```text
//! P(N = j) / (P(N = j − 1) + P(N = j + 1)) = 1 / (j/λ + λ/(j + 1)) ≤ ½·√((j + 1)/j),
//! ```
//!
//! because the sum of two numbers is at least twice the root of their product. So among the outputs
//! that occur j − 1, j or j + 1 times, each occurs j times with probability at most `c = 1 / (1 +
//! 2·√(j/(j + 1)))`, between 0.33 and 0.38, and the number that do is at most Binomial(m, c) in
//! distribution, whatever the distribution of outputs. Values without an atom occur at most once and
//! never j times.
//!
//! The number of draws is `n` with probability `e^−n·n^n/n! ≥ 1/(e·√n)` (Stirling). So with exactly
//! `n` draws an event is at most `e·√n` times as likely (Mitzenmacher, Upfal 2005, theorem 5.7, with
//! this constant). The order of draws plays no part, so files of sorted rows can be tested too.
//!
//! *Multiples.* A few frequent outputs show no excess at one number, but if rows are copied `d`
//! times, all numbers are multiples of d. Given `N ≥ 1`, N is a multiple of d with probability at
//! most
//!
//! - ½, ⅓ and ¼ for d = 2, 3 and 4. With the roots of unity `ω` of order d, `P(d | N) = 1/d·∑
//!   e^(−λ(1 − ω))`. Besides the term 1 for ω = 1, every term is at most `e^−λ`, because the real
//!   part of ω is at most 0 for d ≤ 4. So `P(d | N, N ≥ 1) ≤ (1 + (d − 1)·e^−λ)/d − e^−λ =
//!   (1 − e^−λ)/d`.
//! - 0.366 for any d ≥ 3: sum the inequality above over j = d, 2d, …, whose neighbours are all
//!   different.

use super::episode::Episode;
use super::found::Dependence;
use crate::model::Side;
use crate::stats::binomial::upper_tail;

/// The test for one side. The numbers of times `j` share α in proportion to `1/(j·(j − 1))`, which
/// sums to 1.
pub(super) fn test_even(
    episodes: &[Episode],
    side: Side,
    track: usize,
    alpha: f64,
) -> Option<Dependence> {
    let draws = draws_of(episodes, side, track);
    let mut times = times_of(&draws);
    times.sort_unstable();
    // How many outputs occur once, twice, …: only the numbers that do occur.
    let counts: Vec<(u64, u64)> =
        times.chunk_by(|a, b| a == b).map(|equal| (equal[0] as u64, equal.len() as u64)).collect();
    let count = |times: u64| {
        counts.binary_search_by_key(&times, |(times, _)| *times).map_or(0, |found| counts[found].1)
    };
    let alpha = alpha / fixed_number(draws.len());
    counts.iter().filter(|(times, _)| *times >= 2).find_map(|&(times, equal)| {
        let about = equal + count(times - 1) + count(times + 1);
        let j = times as f64;
        let most = 1.0 / (1.0 + 2.0 * (j / (j + 1.0)).sqrt());
        (upper_tail(equal, about, most) <= alpha / (j * (j - 1.0)))
            .then_some(Dependence::Even(side, times, equal, about))
    })
}

/// Copies that are looked for, each with the largest probability that an output occurs a multiple
/// of so many times.
const COPIES: [(usize, f64); 9] = [
    (2, 1.0 / 2.0),
    (3, 1.0 / 3.0),
    (4, 1.0 / 4.0),
    (5, 0.366_026),
    (6, 0.366_026),
    (7, 0.366_026),
    (8, 0.366_026),
    (9, 0.366_026),
    (10, 0.366_026),
];

/// The test for numbers that are all multiples of something, on both sides together.
pub(super) fn test_multiples(episodes: &[Episode], track: usize, alpha: f64) -> Option<Dependence> {
    let mut times = Vec::new();
    let mut alpha = alpha / COPIES.len() as f64;
    for side in Side::BOTH {
        let draws = draws_of(episodes, side, track);
        alpha /= fixed_number(draws.len());
        times.extend(times_of(&draws));
    }
    COPIES.iter().find_map(|&(copies, most)| {
        let multiples = times.iter().filter(|times| *times % copies == 0).count() as u64;
        let all = times.len() as u64;
        (multiples > 0 && upper_tail(multiples, all, most) <= alpha).then_some(Dependence::Copies(
            copies as u64,
            multiples,
            all,
        ))
    })
}

/// The draws of one side, sorted.
fn draws_of(episodes: &[Episode], side: Side, track: usize) -> Vec<u64> {
    let mut draws: Vec<u64> =
        episodes.iter().flat_map(|episode| episode.track(side, track)).copied().collect();
    draws.sort_unstable();
    draws
}

/// How often each output occurs.
fn times_of(sorted: &[u64]) -> Vec<usize> {
    sorted.chunk_by(|a, b| a == b).map(<[u64]>::len).collect()
}

/// How many times as likely an event can be if the number of draws is not random.
fn fixed_number(draws: usize) -> f64 {
    std::f64::consts::E * (draws.max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};

    use super::super::tests::batch;
    use super::*;
    use crate::noise::{Generator, gaussian, laplace};

    fn found(draws: &[f64], alpha: f64) -> Option<Dependence> {
        test_even(&[batch(Side::Left, draws)], Side::Left, 0, alpha)
    }

    #[test]
    fn the_ratio_of_poisson_probabilities_is_bounded() {
        // P(N = j) = e^−λ·λ^j/j!, with the same factor in all three.
        for j in 2..50_i32 {
            let most = 1.0 / (1.0 + 2.0 * (f64::from(j) / f64::from(j + 1)).sqrt());
            let share = |lambda: f64| {
                let (less, more) = (f64::from(j) / lambda, lambda / f64::from(j + 1));
                1.0 / (1.0 + less + more)
            };
            assert!((1..10_000).all(|step| share(f64::from(step) / 100.0) <= most + 1e-12));
            assert!((share(f64::from(j * (j + 1)).sqrt()) - most).abs() < 1e-12, "it is tight");
        }
    }

    #[test]
    fn copied_rows_are_found_in_any_order() {
        let mut rng = Generator::seed_from_u64(1);
        for times in [2, 3, 4, 7] {
            let mut draws: Vec<f64> = (0..500)
                .flat_map(|_| vec![gaussian(&mut rng, 1.0); times])
                .chain((0..500).map(|index| f64::from(index) + 100.0))
                .collect();
            draws.shuffle(&mut rng);
            let found = found(&draws, 1e-8);
            // Rows that occur once look like those that occur twice would by chance, if many do.
            assert!(
                times == 2 || matches!(found, Some(Dependence::Even(_, _, 500, 500))),
                "{times}: {found:?}"
            );
        }
        let mut draws: Vec<f64> = (0..500).flat_map(|_| [gaussian(&mut rng, 1.0); 2]).collect();
        draws.shuffle(&mut rng);
        let said = found(&draws, 1e-8).map(|found| found.to_string()).unwrap_or_default();
        assert!(said.contains("500 occur 2 times each"), "{said}");
    }

    #[test]
    fn copies_of_few_different_rows_are_found() {
        let mut rng = Generator::seed_from_u64(4);
        let mut side = |copies: usize| {
            let mut draws: Vec<f64> = (0..2500)
                .flat_map(|_| vec![(laplace(&mut rng, 1.0) * 2.0).round(); copies])
                .collect();
            draws.shuffle(&mut rng);
            draws
        };
        let mut found = |copies: usize| {
            let [left, right] =
                [batch(Side::Left, &side(copies)), batch(Side::Right, &side(copies))];
            test_multiples(&[left, right], 0, 1e-8)
        };
        assert_eq!(found(1), None);
        for copies in [3, 4, 5] {
            let Some(Dependence::Copies(_, multiples, all)) = found(copies) else {
                panic!("{copies} copies")
            };
            assert_eq!(multiples, all);
        }
    }

    #[test]
    fn multiples_have_at_most_the_probability_that_is_used() {
        // Poisson probabilities summed up to 200.
        for (copies, most) in COPIES {
            for step in 1..400 {
                let lambda = f64::from(step) / 10.0;
                let (mut term, mut multiples) = ((-lambda).exp(), 0.0);
                let nothing = term;
                for times in 1..200_u32 {
                    term *= lambda / f64::from(times);
                    if (times as usize).is_multiple_of(copies) {
                        multiples += term;
                    }
                }
                assert!(multiples / (1.0 - nothing) <= most + 1e-9, "{copies}, {lambda}");
            }
        }
    }

    #[test]
    fn draws_without_replacement_are_found() {
        let mut rng = Generator::seed_from_u64(2);
        let mut pool: Vec<f64> = (0..300).map(|_| gaussian(&mut rng, 1.0)).collect();
        let mut draws = Vec::new();
        for _ in 0..10 {
            pool.shuffle(&mut rng);
            draws.extend(&pool);
        }
        draws.truncate(2800);
        assert!(found(&draws, 1e-8).is_some());
    }

    #[test]
    fn independent_draws_of_any_distribution_keep_the_level() {
        // 300 seeds of each kind at α = 0.01, which is far from reached: the bound is meant for the
        // worst distribution and for all numbers of draws. Uniform draws from n/2, n/4, … values
        // are the worst.
        let kinds: [fn(&mut Generator) -> f64; 6] = [
            |rng| laplace(rng, 1.0),
            |rng| laplace(rng, 20.0).round(),
            |rng| f64::from(rng.random_range(0..500)),
            |rng| f64::from(rng.random_range(0..250)),
            |rng| (rng.random::<f64>().powi(-2)).floor(),
            |rng| f64::from(u8::from(rng.random::<bool>())),
        ];
        for (kind, fresh) in kinds.into_iter().enumerate() {
            let alarms = (0..300)
                .filter(|seed| {
                    let mut rng = Generator::seed_from_u64(*seed);
                    let draws: Vec<f64> = (0..1000).map(|_| fresh(&mut rng)).collect();
                    found(&draws, 0.01).is_some()
                })
                .count();
            assert!(upper_tail(alarms as u64, 300, 0.01) > 1e-6, "kind {kind}: {alarms} of 300");
        }
    }
}
