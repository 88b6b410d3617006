//! What training reveals about canaries, without the training: laws of scores that sit exactly on
//! their claims, for calibration and planning.
//!
//! *Neighbours*: one canary in or out. *Claims*, each exact for every canary and all coins of the
//! others:
//!
//! - `randomized-response`: each coin is reported, and wrongly with probability 1/(1 + e^ε). (ε, 0).
//! - `revealed-together`: the same, and with probability mδ/group a random group of canaries is
//!   revealed. A canary is in it with probability δ, so this is (ε, δ).
//! - `all-or-nothing`: with probability δ all coins are revealed, else nothing. (0, δ).
//! - `gaussian`: canary i adds a unit vector to a sum with noise 1/μ in each coordinate. μ-GDP. Without
//!   `dimensions` each canary has a coordinate of its own, and scores are N(0, 1) and N(μ, 1); else the
//!   vectors are random.
//! - `shared-loss`: one ℓ = μ·|N(μ/2, 1)| is drawn for all canaries, and each coin is reported wrongly with
//!   probability 1/(1 + e^ℓ). N(±μ/2, 1) has the log-odds ±ℓ, so each canary alone is exactly μ-GDP; but
//!   in some runs all of them leak together.
//! - `sharp`: of all m guesses, W are right, at random places, and W is binomial below v and jumps at v by as
//!   much as mδ allows. (ε, δ), and v right guesses are as probable as they can be under that claim.

use rand::seq::{SliceRandom, index};
use rand::{RngExt, SeedableRng};
use serde::Deserialize;

use crate::model::checked::{NonNegative, Positive, Share};
use crate::noise::{Generator, gaussian};
use crate::stats::binomial::{logistic, point};
use crate::target::{StreamSeed, TargetError, Training};

/// The name that audit files use.
pub const NAME: &str = "canary-model";
/// Its description in the list of mechanisms.
pub const SUMMARY: &str = "training with canaries as a law of scores: model = \"gaussian\", \"shared-loss\", … (for [[canaries]])";

/// A law of scores.
#[derive(Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Model {
    /// Reports each coin, sometimes wrongly.
    RandomizedResponse {
        /// ε.
        epsilon: NonNegative,
    },
    /// Sometimes reveals a group.
    RevealedTogether {
        /// ε.
        epsilon: NonNegative,
        /// δ.
        delta: Share,
        /// How many are revealed at once.
        group: usize,
    },
    /// Reveals everything or nothing.
    AllOrNothing {
        /// δ.
        delta: Share,
    },
    /// A noisy sum.
    Gaussian {
        /// μ.
        mu: Positive,
        /// The length of the sum; as many as canaries if absent.
        dimensions: Option<usize>,
    },
    /// One loss for all canaries.
    SharedLoss {
        /// μ.
        mu: Positive,
    },
    /// The worst law of (ε, δ).
    Sharp {
        /// ε.
        epsilon: NonNegative,
        /// δ.
        delta: Share,
        /// The number of right guesses that is as probable as it can be.
        jump: u64,
    },
}

impl Training for Model {
    fn train(&self, coins: &[Vec<bool>], seed: StreamSeed) -> Result<Vec<Vec<f64>>, TargetError> {
        let mut rng = Generator::from_seed(seed.bytes());
        Ok(coins.iter().map(|coins| self.scores(coins, &mut rng)).collect())
    }
}

/// 1 for in, −1 for out.
fn sign(coin: bool) -> f64 {
    if coin { 1.0 } else { -1.0 }
}

/// The coins, each wrong with probability 1/(1 + e^ε).
fn responses(coins: &[bool], epsilon: f64, rng: &mut Generator) -> Vec<f64> {
    let keep = logistic(epsilon);
    coins.iter().map(|coin| sign(*coin == (rng.random::<f64>() < keep))).collect()
}

impl Model {
    fn scores(&self, coins: &[bool], rng: &mut Generator) -> Vec<f64> {
        let m = coins.len();
        match self {
            Self::RandomizedResponse { epsilon } => responses(coins, epsilon.get(), rng),
            Self::RevealedTogether { epsilon, delta, group } => {
                let mut scores = responses(coins, epsilon.get(), rng);
                let group = (*group).clamp(1, m.max(1));
                if rng.random::<f64>() < m as f64 * delta.get() / group as f64 {
                    for place in index::sample(rng, m, group) {
                        scores[place] = 2.0 * sign(coins[place]);
                    }
                }
                scores
            }
            Self::AllOrNothing { delta } => {
                let reveal = rng.random::<f64>() < delta.get();
                coins
                    .iter()
                    .map(|coin| if reveal { sign(*coin) } else { gaussian(rng, 1.0) })
                    .collect()
            }
            Self::Gaussian { mu, dimensions: None } => {
                let in_shift = |coin: bool| if coin { mu.get() } else { 0.0 };
                coins.iter().map(|coin| in_shift(*coin) + gaussian(rng, 1.0)).collect()
            }
            Self::Gaussian { mu, dimensions: Some(dimensions) } => {
                projected(coins, mu.get(), (*dimensions).max(1), rng)
            }
            Self::SharedLoss { mu } => {
                let loss = mu.get() * (mu.get() / 2.0 + gaussian(rng, 1.0)).abs();
                responses(coins, loss, rng).into_iter().map(|one| one * loss).collect()
            }
            Self::Sharp { epsilon, delta, jump } => {
                let right = sharp_count(m as u64, epsilon.get(), delta.get(), *jump, rng);
                let mut is_right: Vec<bool> = (0..m as u64).map(|i| i < right).collect();
                is_right.shuffle(rng);
                coins.iter().zip(is_right).map(|(coin, right)| sign(*coin == right)).collect()
            }
        }
    }
}

/// Random unit vectors, a noisy sum of those that are in, and how far each points along it.
fn projected(coins: &[bool], mu: f64, dimensions: usize, rng: &mut Generator) -> Vec<f64> {
    let vectors: Vec<Vec<f64>> = coins
        .iter()
        .map(|_| {
            let vector: Vec<f64> = (0..dimensions).map(|_| gaussian(rng, 1.0)).collect();
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            vector.into_iter().map(|x| x / length).collect()
        })
        .collect();
    let mut sum: Vec<f64> = (0..dimensions).map(|_| gaussian(rng, 1.0 / mu)).collect();
    for (vector, _) in vectors.iter().zip(coins).filter(|(_, coin)| **coin) {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    vectors.iter().map(|vector| vector.iter().zip(&sum).map(|(x, y)| x * y).sum()).collect()
}

/// A number of right guesses from the worst law, by the inverse of its distribution function.
fn sharp_count(m: u64, epsilon: f64, delta: f64, jump: u64, rng: &mut Generator) -> u64 {
    let q = logistic(epsilon);
    let mass = |c: u64| point(c, m, q, 1.0 - q);
    let v = jump.clamp(1, m.max(1));
    let extra: f64 = (v..=m).map(|c| m as f64 * delta / v as f64 * mass(c) / mass(v)).sum();
    let extra = extra.min(1.0);
    let beyond: f64 = (v..=m).map(mass).sum();
    let from = |first: u64, whole: f64, rng: &mut Generator| {
        let mut left = whole * rng.random::<f64>();
        (first..=m)
            .find(|c| {
                left -= mass(*c);
                left < 0.0
            })
            .unwrap_or(m)
    };
    if rng.random::<f64>() < extra { from(v, beyond, rng) } else { from(0, 1.0, rng) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coins(m: usize) -> Vec<bool> {
        let mut rng = Generator::seed_from_u64(5);
        (0..m).map(|_| rng.random()).collect()
    }

    #[test]
    fn responses_are_right_as_often_as_epsilon_allows() {
        // 20,000 answers with q = .731: ±4.9 standard deviations of .0031, below 1e-6.
        let coins = coins(20_000);
        let scores = responses(&coins, 1.0, &mut Generator::seed_from_u64(1));
        let right = coins.iter().zip(&scores).filter(|(coin, score)| sign(**coin) == **score);
        let share = right.count() as f64 / 20_000.0;
        assert!((share - logistic(1.0)).abs() < 0.0154, "{share}");
    }

    #[test]
    fn the_sharp_law_has_its_jump() {
        // P[W ≥ v] = f(v) + mδ·f(v)(1 − f(v))/(v·b(v)); 40,000 draws.
        let (m, epsilon, delta, v) = (100, 1.0, 1e-3, 83);
        let mut rng = Generator::seed_from_u64(2);
        let hits = (0..40_000).filter(|_| sharp_count(m, epsilon, delta, v, &mut rng) >= v).count()
            as f64
            / 40_000.0;
        let counted = crate::stats::canary::Counted { canaries: 100.0, guesses: m, correct: v };
        let exact = crate::stats::canary::count_p(counted, epsilon, delta);
        let error = (exact * (1.0 - exact) / 40_000.0).sqrt();
        assert!((hits - exact).abs() < 4.9 * error, "{hits} against {exact} ± {error}");
    }

    #[test]
    fn a_canary_of_the_gaussian_sum_shifts_its_own_projection_by_one() {
        let mut coins = coins(60);
        let score = |coins: &[bool]| projected(coins, 2.0, 8, &mut Generator::seed_from_u64(3))[7];
        coins[7] = false;
        let out = score(&coins);
        coins[7] = true;
        assert!((score(&coins) - out - 1.0).abs() < 1e-12);
    }
}
