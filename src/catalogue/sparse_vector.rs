//! The sparse vector technique: it says which of many answers are above a threshold, and it pays
//! only for those that are.
//!
//! *Claim*: ε, for queries of sensitivity 1. *Neighbours*: component-wise. *Source*: Lyu, Su & Li
//! 2017, "Understanding the sparse vector technique for differential privacy", algorithms 1 to 6,
//! and a variant that releases numbers, as the benchmark of DP-Sniper (Bichsel et al. 2021) defines
//! it.
//!
//! All algorithms are one procedure. ρ is the noise on the threshold t, and `ν_i` is the noise on
//! the i-th answer. `q_i` is above iff `q_i + ν_i ≥ t + ρ`. After c answers above the threshold,
//! the output is "aborted" for all others. `Configuration` holds the differences. *The bug*, by
//! algorithm: 3 releases the same `q_i + ν_i` that it compared; 4 has noise on the answers that
//! does not grow with c; 5 has no noise on the answers and no cut-off; 6 has no cut-off. *True
//! leakage* with k queries: of 3 at most `k·ε/(2c)`, reached when all answers rise by 1; of 4 up to
//! `(1 + 6c)·ε/4`; of 5 infinite; of 6 at most `k·ε/2`.

use std::num::NonZeroUsize;

use serde::Deserialize;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::{Epsilon, Finite};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// One of the published algorithms.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Algorithm {
    /// Correct: ρ = Lap(2/ε), ν = Lap(4c/ε).
    Svt1,
    /// Correct: ρ = Lap(2c/ε), drawn again after every answer above; ν = Lap(4c/ε).
    Svt2,
    /// Broken: ρ = Lap(2/ε), ν = Lap(2c/ε), and `q_i + ν_i` is released instead of ⊤.
    Svt3,
    /// Broken: ρ = Lap(4/ε), ν = Lap(4/(3ε)).
    Svt4,
    /// Broken: ρ = Lap(2/ε), no ν, no cut-off.
    Svt5,
    /// Broken: ρ = Lap(2/ε), ν = Lap(2/ε), no cut-off.
    Svt6,
    /// Correct: ρ = Lap(3/ε), ν = Lap(6c/ε); releases `q_i + Lap(3c/ε)` with fresh noise if above,
    /// else 0.
    Numerical,
}

/// How the algorithms differ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Configuration {
    /// The scale of ρ.
    threshold_scale: f64,
    /// Whether ρ is drawn again after every answer above.
    redrawn: bool,
    /// The scale of ν; 0 for no noise.
    query_scale: f64,
    /// The algorithm stops after this many answers above.
    cutoff: usize,
    above: Above,
    /// What is released for an answer below the threshold.
    below: Cell,
}

/// What is released for an answer above the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Above {
    /// Only that it is above.
    Symbol(Cell),
    /// The noisy answer that was compared.
    Compared,
    /// The answer with fresh noise of this scale.
    Fresh(f64),
}

impl Algorithm {
    fn configuration(
        self,
        epsilon: f64,
        cutoff: Option<NonZeroUsize>,
        universe: &Universe,
    ) -> Result<Configuration, Misfit> {
        let cutoff = match (self, cutoff) {
            (Self::Svt5 | Self::Svt6, None) => usize::MAX,
            (Self::Svt5 | Self::Svt6, Some(_)) => {
                return Err(Misfit::params(
                    "cutoff",
                    "svt5 and svt6 have no cut-off; remove the key",
                ));
            }
            (_, Some(cutoff)) => cutoff.get(),
            (_, None) => {
                return Err(Misfit::params(
                    "cutoff",
                    "is missing; set it to the number of answers above the threshold after which the algorithm stops",
                ));
            }
        };
        let c = cutoff as f64;
        let below = universe.symbol("⊥");
        let above = Above::Symbol(universe.symbol("⊤"));
        let plain = |threshold_scale, query_scale| Configuration {
            threshold_scale,
            redrawn: false,
            query_scale,
            cutoff,
            above,
            below,
        };
        Ok(match self {
            Self::Svt1 => plain(2.0 / epsilon, 4.0 * c / epsilon),
            Self::Svt2 => {
                Configuration { redrawn: true, ..plain(2.0 * c / epsilon, 4.0 * c / epsilon) }
            }
            Self::Svt3 => {
                Configuration { above: Above::Compared, ..plain(2.0 / epsilon, 2.0 * c / epsilon) }
            }
            Self::Svt4 => plain(4.0 / epsilon, 4.0 / (3.0 * epsilon)),
            Self::Svt5 => plain(2.0 / epsilon, 0.0),
            Self::Svt6 => plain(2.0 / epsilon, 2.0 / epsilon),
            Self::Numerical => {
                let above = Above::Fresh(3.0 * c / epsilon);
                Configuration {
                    above,
                    below: Cell::number(0.0),
                    ..plain(3.0 / epsilon, 6.0 * c / epsilon)
                }
            }
        })
    }
}

/// Parameters of one algorithm.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    query: Query,
    algorithm: Algorithm,
    epsilon: Epsilon,
    threshold: Finite,
    /// The algorithm stops after this many answers above the threshold.
    cutoff: Option<NonZeroUsize>,
}

/// One cell per query: ⊤ or a number if above the threshold, ⊥ or 0 if below, "aborted" after the
/// cut-off.
pub struct SparseVector {
    answers: Vec<f64>,
    threshold: f64,
    configuration: Configuration,
    aborted: Cell,
}

impl Mechanism for SparseVector {
    const NAME: &'static str = "sparse-vector";
    const SUMMARY: &'static str = "which answers are above a threshold: svt1, svt2, numerical (correct), svt3 to svt6 (broken)";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        Ok(Self {
            configuration: params.algorithm.configuration(
                params.epsilon.get(),
                params.cutoff,
                universe,
            )?,
            answers: params.query.answer(data, universe)?.values,
            threshold: params.threshold.get(),
            aborted: universe.symbol("aborted"),
        })
    }

    fn width(&self) -> usize {
        self.answers.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let configuration = &self.configuration;
        let mut threshold = self.threshold + noise::laplace(rng, configuration.threshold_scale);
        let mut remaining = configuration.cutoff;
        for (cell, answer) in row.iter_mut().zip(&self.answers) {
            if remaining == 0 {
                *cell = self.aborted;
                continue;
            }
            let noisy = if configuration.query_scale > 0.0 {
                answer + noise::laplace(rng, configuration.query_scale)
            } else {
                *answer
            };
            if noisy < threshold {
                *cell = configuration.below;
                continue;
            }
            *cell = match configuration.above {
                Above::Symbol(symbol) => symbol,
                Above::Compared => Cell::number(noisy),
                Above::Fresh(scale) => Cell::number(answer + noise::laplace(rng, scale)),
            };
            remaining -= 1;
            if configuration.redrawn {
                threshold = self.threshold + noise::laplace(rng, configuration.threshold_scale);
            }
        }
    }
}

/// Parameters of several algorithms on one input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParallelParams {
    query: Query,
    algorithms: Vec<Algorithm>,
    epsilon: Epsilon,
    threshold: Finite,
    cutoff: Option<NonZeroUsize>,
}

/// Several algorithms on the same input, each with its own noise. Their leaks add up.
pub struct Parallel(Vec<SparseVector>);

impl Mechanism for Parallel {
    const NAME: &'static str = "sparse-vector/parallel";
    const SUMMARY: &'static str = "several sparse vector algorithms on the same input";
    type Params = ParallelParams;

    fn prepare(
        params: &ParallelParams,
        data: &Dataset,
        universe: &Universe,
    ) -> Result<Self, Misfit> {
        if params.algorithms.is_empty() {
            return Err(Misfit::params("algorithms", "is empty; name at least one algorithm"));
        }
        let prepare_one = |&algorithm| {
            let ParallelParams { ref query, epsilon, threshold, cutoff, .. } = *params;
            SparseVector::prepare(
                &Params { query: query.clone(), algorithm, epsilon, threshold, cutoff },
                data,
                universe,
            )
        };
        params.algorithms.iter().map(prepare_one).collect::<Result<_, _>>().map(Self)
    }

    fn width(&self) -> usize {
        self.0.iter().map(SparseVector::width).sum()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let mut rest = row;
        for part in &self.0 {
            let (cells, after) = rest.split_at_mut(part.width());
            part.run(rng, cells);
            rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use rand::SeedableRng;

    use super::*;

    /// Hoeffding: the error of a frequency of n draws is more than √(ln(2/α)/2n) with probability
    /// at most α.
    const FALSE_ALARM: f64 = 1e-6;
    const N: usize = 200_000;

    fn epsilon() -> Epsilon {
        Epsilon::try_from(2.0).unwrap()
    }

    fn prepare(algorithm: Algorithm, cutoff: Option<usize>, answers: &[f64]) -> SparseVector {
        let cutoff = cutoff.and_then(NonZeroUsize::new);
        let params = Params {
            query: Query::Values,
            algorithm,
            epsilon: epsilon(),
            threshold: Finite::try_from(1.0).unwrap(),
            cutoff,
        };
        let data = Dataset::of_numbers(answers);
        SparseVector::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
    }

    fn rows(mechanism: &impl Mechanism, count: usize) -> Vec<Vec<Cell>> {
        let mut rng = Generator::seed_from_u64(9);
        let mut row = vec![Cell::ABSENT; mechanism.width()];
        let mut draw = || {
            mechanism.run(&mut rng, &mut row);
            row.clone()
        };
        (0..count).map(|_| draw()).collect()
    }

    /// How often each pattern of above (T), below (_) and aborted (x) occurs.
    fn patterns(rows: &[Vec<Cell>], below: Cell) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for row in rows {
            let symbol = |cell: &Cell| {
                if *cell == below {
                    '_'
                } else if *cell == Cell::symbol("aborted") {
                    'x'
                } else {
                    'T'
                }
            };
            *counts.entry(row.iter().map(symbol).collect()).or_default() += 1;
        }
        counts
    }

    fn cdf(x: f64, scale: f64) -> f64 {
        if x < 0.0 { 0.5 * (x / scale).exp() } else { 1.0 - 0.5 * (-x / scale).exp() }
    }

    /// The integral of g against the density of Lap(scale), by the midpoint rule over its
    /// quantiles.
    fn expectation(scale: f64, g: impl Fn(f64) -> f64) -> f64 {
        const STEPS: u32 = 20_000;
        let at = |i: u32| {
            let u = (f64::from(i) + 0.5) / f64::from(STEPS);
            g(if u < 0.5 { scale * (2.0 * u).ln() } else { -scale * (2.0 * (1.0 - u)).ln() })
        };
        (0..STEPS).map(at).sum::<f64>() / f64::from(STEPS)
    }

    /// The probability of a pattern by the definition: given ρ, answers are independent. If ρ is
    /// redrawn, there is a new ρ after every T.
    fn probability(pattern: &str, answers: &[f64], rho: f64, nu: f64, redrawn: bool) -> f64 {
        let mut parts: Vec<Vec<(char, f64)>> = vec![Vec::new()];
        for (symbol, answer) in pattern.chars().zip(answers.iter().copied()) {
            if symbol != 'x' {
                parts.last_mut().unwrap().push((symbol, answer));
            }
            if redrawn && symbol == 'T' {
                parts.push(Vec::new());
            }
        }
        let below = |r: f64, q: f64| {
            if nu > 0.0 { cdf(1.0 + r - q, nu) } else { f64::from(u8::from(q < 1.0 + r)) }
        };
        let given = |part: &[(char, f64)], r: f64| {
            part.iter()
                .map(|&(s, q)| if s == 'T' { 1.0 - below(r, q) } else { below(r, q) })
                .product()
        };
        parts.iter().map(|part| expectation(rho, |r| given(part, r))).product()
    }

    /// ε = 2, t = 1. The scales of ρ and ν are computed by hand from each algorithm's definition.
    #[test]
    fn every_pattern_has_the_probability_from_the_definition() {
        let answers = [0.0, 1.0, 2.0, 1.5];
        let cases = [
            (Algorithm::Svt1, Some(1), 1.0, 2.0, false),
            (Algorithm::Svt1, Some(2), 1.0, 4.0, false),
            (Algorithm::Svt2, Some(2), 2.0, 4.0, true),
            (Algorithm::Svt3, Some(2), 1.0, 2.0, false),
            (Algorithm::Svt4, Some(2), 2.0, 2.0 / 3.0, false),
            (Algorithm::Svt5, None, 1.0, 0.0, false),
            (Algorithm::Svt6, None, 1.0, 1.0, false),
            (Algorithm::Numerical, Some(2), 1.5, 6.0, false),
        ];
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        for (algorithm, cutoff, rho, nu, redrawn) in cases {
            let mechanism = prepare(algorithm, cutoff, &answers);
            let seen = patterns(&rows(&mechanism, N), mechanism.configuration.below);
            let mut total = 0.0;
            for (pattern, k) in seen {
                let above = pattern.matches('T').count();
                let cut = pattern.find('x').unwrap_or(answers.len());
                assert!(
                    pattern[cut..].chars().all(|symbol| symbol == 'x'),
                    "{algorithm:?}: {pattern} continues after its end"
                );
                assert!(
                    cut == answers.len()
                        || (Some(above) == cutoff && pattern[..cut].ends_with('T')),
                    "{algorithm:?}: {pattern}"
                );
                assert!(cutoff.is_none_or(|cutoff| above <= cutoff), "{algorithm:?}: {pattern}");
                let p = probability(&pattern, &answers, rho, nu, redrawn);
                assert!(
                    (k as f64 / N as f64 - p).abs() <= allowed,
                    "{algorithm:?}: {pattern} {k} of {N}, expected {p}, α = {FALSE_ALARM}"
                );
                total += p;
            }
            assert!((total - 1.0).abs() < 1e-3, "{algorithm:?}: {total}");
        }
    }

    #[test]
    fn released_numbers_are_the_compared_answers_or_have_fresh_noise() {
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        let follows = |values: &[f64], x: f64, p: f64| {
            let k = values.iter().filter(|value| **value <= x).count();
            assert!(
                (k as f64 / N as f64 - p).abs() <= allowed,
                "at {x}: {k} of {N}, expected {p}, α = {FALSE_ALARM}"
            );
        };
        let numbers = |mechanism: &SparseVector| -> Vec<f64> {
            rows(mechanism, N)
                .iter()
                .filter(|row| row[0] != mechanism.configuration.below)
                .map(|row| row[0].raw())
                .collect()
        };
        // Svt3, one query q = 1 at t = 1: above and at most x iff 1 + ρ ≤ 1 + ν ≤ x, where ρ =
        // Lap(1) and ν = Lap(1).
        let compared = numbers(&prepare(Algorithm::Svt3, Some(1), &[1.0]));
        for x in [-1.0, 0.5, 1.0, 3.0] {
            let expected = expectation(1.0, |nu| if 1.0 + nu <= x { cdf(nu, 1.0) } else { 0.0 });
            follows(&compared, x, expected);
        }
        // Numerical, c = 1: above with probability ½, and then 1 + Lap(1.5), independent of what
        // was compared.
        let fresh = numbers(&prepare(Algorithm::Numerical, Some(1), &[1.0]));
        for x in [-3.0, 0.0, 1.0, 2.0, 4.0] {
            follows(&fresh, x, 0.5 * cdf(x - 1.0, 1.5));
        }
    }

    #[test]
    fn parallel_algorithms_are_independent_and_each_has_its_own_cells() {
        let params = ParallelParams {
            query: Query::Values,
            algorithms: vec![Algorithm::Svt3, Algorithm::Svt4],
            epsilon: epsilon(),
            threshold: Finite::try_from(1.0).unwrap(),
            cutoff: NonZeroUsize::new(2),
        };
        let answers = [0.0, 2.0];
        let data = Dataset::of_numbers(&answers);
        let parallel = Parallel::prepare(&params, &data, &Universe::of(&data, &data)).unwrap();
        assert_eq!(parallel.width(), 4);
        let seen = patterns(&rows(&parallel, N), Cell::symbol("⊥"));
        let allowed = ((2.0 / FALSE_ALARM).ln() / (2.0 * N as f64)).sqrt();
        for (pattern, k) in seen {
            let p = probability(&pattern[..2], &answers, 1.0, 2.0, false)
                * probability(&pattern[2..], &answers, 2.0, 2.0 / 3.0, false);
            assert!(
                (k as f64 / N as f64 - p).abs() <= allowed,
                "{pattern} {k} of {N}, expected {p}, α = {FALSE_ALARM}"
            );
        }
    }

    #[test]
    fn a_cutoff_is_required_if_and_only_if_the_algorithm_has_one() {
        let universe = Universe::of(&Dataset::default(), &Dataset::default());
        assert!(
            Algorithm::Svt1
                .configuration(1.0, None, &universe)
                .unwrap_err()
                .to_string()
                .contains("params.cutoff is missing")
        );
        assert!(
            Algorithm::Svt6
                .configuration(1.0, NonZeroUsize::new(1), &universe)
                .unwrap_err()
                .to_string()
                .contains("params.cutoff: svt5 and svt6")
        );
    }
}
