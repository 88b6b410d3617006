//! Audits mechanisms whose best attack is known from theory, with many seeds, and prints one CSV
//! row per seed.
//!
//! ```sh
//! cargo run --release --example known_leaks -- CASE STRENGTH EPSILON DELTA DRAWS CONFIDENCE FIRST_SEED SEEDS [LEARNER]
//! ```
//!
//! STRENGTH says how much the mechanism leaks; [`mechanism`] gives its meaning for each case.
//! EPSILON and DELTA are the claim. LEARNER is switched off. The scripts in `scripts/known_leaks` run this program and
//! compare its figures with theory.

use std::error::Error;
use std::io;
use std::str::FromStr;

use dp_audit::parts::Learner;
use dp_audit::{Attack, Finding, Output, OutputRow};
use dp_audit::{
    noise::Generator, noise::bernoulli, noise::discrete_laplace, noise::gaussian, noise::laplace,
};
use dp_audit::{rand::RngExt, rand::SeedableRng};
use rayon::prelude::*;

/// What a mechanism releases.
enum Release {
    Number(f64),
    Numbers(Vec<f64>),
    Bits([bool; 20]),
    Text(String),
}

impl Output for Release {
    fn write(&self, row: &mut OutputRow) {
        match self {
            Self::Number(number) => number.write(row),
            Self::Numbers(numbers) => numbers.write(row),
            Self::Bits(bits) => bits.write(row),
            Self::Text(text) => text.write(row),
        }
    }
}

/// A mechanism on one of two neighbours: the true answer is 0 on the left and 1 on the right.
type Mechanism = Box<dyn Fn(f64, &mut Generator) -> Release + Send + Sync>;

/// The mechanism of a case. The strength `s` is
///
/// - ε for pure mechanisms: `randomized-response`, `laplace`, `discrete-laplace`, `laplace-8` and
///   `laplace-20` (all releases together), `three-bits`, `sentence` and `json`, and the ε that
///   `table` would have with fresh noise;
/// - the distance of the two answers in standard deviations for `gaussian`, `subsampled-gaussian`,
///   `random-covariance-5`, `-10` and `-50`, and `equal-correlation-10`, where the covariance
///   matrix defines the distance;
/// - the number of random bits for `few-bits`, ε of the digit, parity or position for `last-digit`,
///   `five-bits` and `permutation`, and the share of the draws that tell everything for `spike` and
///   `rare-slice`.
fn mechanism(case: &str, s: f64) -> Option<Mechanism> {
    Some(match case {
        "laplace" => Box::new(move |answer, rng| Release::Number(answer + laplace(rng, 1.0 / s))),
        "discrete-laplace" => {
            Box::new(move |answer, rng| Release::Number(answer + discrete_laplace(rng, s)))
        }
        "gaussian" => Box::new(move |answer, rng| Release::Number(answer + gaussian(rng, 1.0 / s))),
        "randomized-response" => Box::new(move |answer, rng| {
            Release::Number(if lies(rng, s) { 1.0 - answer } else { answer })
        }),
        // The record is in the sample with probability 0.1.
        "subsampled-gaussian" => Box::new(move |answer, rng| {
            let sampled = if bernoulli(rng, 0.1) { answer } else { 0.0 };
            Release::Number(sampled + gaussian(rng, 1.0 / s))
        }),
        "laplace-8" => releases(8, s),
        "laplace-20" => releases(20, s),
        "random-covariance-5" => random_covariance(5, s),
        "random-covariance-10" => random_covariance(10, s),
        "random-covariance-50" => random_covariance(50, s),
        "equal-correlation-10" => equal_correlation(s),
        "three-bits" => Box::new(move |answer, rng| {
            let mut bits: [bool; 20] = std::array::from_fn(|_| rng.random());
            // The parity of bits 3, 8 and 15 is the answer, or the opposite if the mechanism lies.
            // All other bits are noise.
            bits[15] = bits[3] ^ bits[8] ^ (answer == 1.0) ^ lies(rng, s);
            Release::Bits(bits)
        }),
        "sentence" => Box::new(move |answer, rng| {
            Release::Text(format!(
                "About {:.9} people live in this street.",
                40.0 + answer + laplace(rng, 1.0 / s)
            ))
        }),
        "json" => Box::new(move |answer, rng| {
            Release::Text(format!(
                r#"{{"street": "Elm", "people": {:.9}, "year": 2024}}"#,
                40.0 + answer + laplace(rng, 1.0 / s)
            ))
        }),
        // Noise of ε = 1 from a generator with few random bits: each answer has its own outputs.
        "few-bits" => Box::new(move |answer, rng| {
            let values = s.exp2();
            let uniform = ((rng.random::<f64>() * values).floor() + 0.5) / values - 0.5;
            Release::Number(answer - (1.0 - 2.0 * uniform.abs()).ln().copysign(uniform))
        }),
        // Noise of ε = 1, except for a few draws, which have hardly any.
        "spike" => Box::new(move |answer, rng| {
            let scale = if bernoulli(rng, s) { 1e-6 } else { 1.0 };
            Release::Number(answer + laplace(rng, scale))
        }),
        // A first number that depends on nothing. Where it is largest, the second has no noise.
        "rare-slice" => Box::new(move |answer, rng| {
            let mark = laplace(rng, 1.0);
            let scale = if mark > -(2.0 * s).ln() { 1e-3 } else { 1.0 };
            Release::Numbers(vec![mark, answer + laplace(rng, scale)])
        }),
        // A whole number whose last digit is below five or not.
        "last-digit" => Box::new(move |answer, rng| {
            let upper = (answer == 1.0) ^ lies(rng, s);
            let digit = f64::from(rng.random_range(0..5_u8)) + if upper { 5.0 } else { 0.0 };
            Release::Number(gaussian(rng, 1e4).round() * 10.0 + digit)
        }),
        // The parity of five of twenty bits, beside a number that depends on nothing.
        "five-bits" => Box::new(move |answer, rng| {
            let mut bits: [bool; 20] = std::array::from_fn(|_| rng.random());
            bits[17] = bits[2] ^ bits[5] ^ bits[9] ^ bits[12] ^ (answer == 1.0) ^ lies(rng, s);
            let bits = bits.into_iter().map(|bit| f64::from(u8::from(bit)));
            Release::Numbers(bits.chain([laplace(rng, 1.0)]).collect())
        }),
        // Twelve items in random order; one of them is in the first half or in the second.
        "permutation" => Box::new(move |answer, rng| {
            let mut items: Vec<f64> = (1..12).map(f64::from).collect();
            (1..items.len()).rev().for_each(|last| items.swap(last, rng.random_range(0..=last)));
            let later = (answer == 1.0) ^ lies(rng, s);
            items.insert(rng.random_range(0..6) + if later { 6 } else { 0 }, 0.0);
            Release::Numbers(items)
        }),
        "table" => Box::new(move |answer, rng| Release::Numbers(table(answer, rng, s))),
        _ => return None,
    })
}

/// Whether randomized response at this ε gives the wrong answer.
fn lies(rng: &mut Generator, epsilon: f64) -> bool {
    bernoulli(rng, 1.0 / (1.0 + epsilon.exp()))
}

/// The same answer several times, with noise of its own each time.
fn releases(count: usize, epsilon: f64) -> Mechanism {
    let scale = count as f64 / epsilon;
    Box::new(move |answer, rng| {
        Release::Numbers((0..count).map(|_| answer + laplace(rng, scale)).collect())
    })
}

/// Gaussian noise with a random covariance matrix, and answers that differ in a random direction.
/// Both come from a fixed seed.
///
/// The matrix is `L·Lᵀ` with the lower triangular factor of Bartlett's decomposition: normal
/// entries below the diagonal, and on it the square roots of chi-squared variables with n, n − 1, …
/// 1 degrees of freedom. So it is distributed like `A·Aᵀ`, where all n² entries of A are
/// independent normal numbers. The answers differ by `v`, and `v` is scaled to `|L⁻¹·v| =
/// distance`.
fn random_covariance(n: usize, distance: f64) -> Mechanism {
    let mut rng = Generator::seed_from_u64(n as u64);
    let factor: Vec<Vec<f64>> = (0..n)
        .map(|row| {
            let diagonal = (row..n).map(|_| gaussian(&mut rng, 1.0).powi(2)).sum::<f64>().sqrt();
            (0..row).map(|_| gaussian(&mut rng, 1.0)).chain([diagonal]).collect()
        })
        .collect();
    let direction: Vec<f64> = (0..n).map(|_| gaussian(&mut rng, 1.0)).collect();
    // Forward substitution.
    let mut white: Vec<f64> = Vec::with_capacity(n);
    for (row, entries) in factor.iter().enumerate() {
        let known: f64 = entries.iter().zip(&white).map(|(a, b)| a * b).sum();
        white.push((direction[row] - known) / entries[row]);
    }
    let length = white.iter().map(|x| x * x).sum::<f64>().sqrt();
    let shift: Vec<f64> = direction.iter().map(|x| x * distance / length).collect();
    Box::new(move |answer, rng| {
        let noise: Vec<f64> = (0..n).map(|_| gaussian(rng, 1.0)).collect();
        let correlated =
            |row: usize| factor[row].iter().zip(&noise).map(|(a, b)| a * b).sum::<f64>();
        Release::Numbers((0..n).map(|row| answer * shift[row] + correlated(row)).collect())
    })
}

/// Ten numbers with Gaussian noise of variance 1, any two with correlation 0.9. Only the first
/// answer differs.
///
/// The covariance matrix is `C = 0.1·I + 0.9·J`, where J has only ones. Its inverse is `10·(I −
/// 9/91·J)`, so the first entry on the diagonal of the inverse is 820/91, and a step of 1 has the
/// length `√(820/91)`.
fn equal_correlation(distance: f64) -> Mechanism {
    let shift = distance / (820.0_f64 / 91.0).sqrt();
    Box::new(move |answer, rng| {
        let common = gaussian(rng, 0.9_f64.sqrt());
        let mut numbers: Vec<f64> =
            (0..10).map(|_| common + gaussian(rng, 0.1_f64.sqrt())).collect();
        numbers[0] += answer * shift;
        Release::Numbers(numbers)
    })
}

/// Nine cells of a table with noise of scale 2/ε, then its three row sums. The right dataset has
/// one more record in row 0, column 1.
///
/// One record changes one cell and one row sum, so fresh noise for each would be ε-DP. The bug: a
/// row sum gets the noise of the cells of the *column* with the same number. So a row sum minus the
/// noisy cells of that column has no noise at all, and ε is infinite.
fn table(answer: f64, rng: &mut Generator, epsilon: f64) -> Vec<f64> {
    let mut cells = [[12.0, 7.0, 9.0], [4.0, 15.0, 8.0], [11.0, 6.0, 10.0]];
    cells[0][1] += answer;
    let noise: [[f64; 3]; 3] =
        std::array::from_fn(|_| std::array::from_fn(|_| laplace(rng, 2.0 / epsilon)));
    let noisy_cells = cells
        .iter()
        .zip(&noise)
        .flat_map(|(cells, noise)| cells.iter().zip(noise).map(|(cell, noise)| cell + noise));
    let noisy_sums =
        (0..3).map(|i| cells[i].iter().sum::<f64>() + noise.iter().map(|row| row[i]).sum::<f64>());
    noisy_cells.chain(noisy_sums).collect()
}

/// One audit of the mechanism on the pair (0, 1).
fn audit(
    mechanism: Mechanism,
    claim: (f64, f64),
    draws: u64,
    confidence: f64,
    seed: u64,
    without: &str,
) -> Finding {
    dp_audit::audit(move |answer: &f64, rng| mechanism(*answer, rng))
        .claim(claim.0, claim.1)
        .pair(0.0, 1.0)
        .draws(draws)
        .confidence(confidence)
        .seed(seed)
        .attacks(&Learner::all_but(&Attack::DEFAULT, without))
        .run()
}

/// The argument at this place.
fn argument<T: FromStr<Err: Error + 'static>>(
    arguments: &[String],
    index: usize,
    name: &str,
) -> Result<T, Box<dyn Error>> {
    let text =
        arguments.get(index).ok_or_else(|| format!("argument {} is missing: {name}", index + 1))?;
    text.parse().map_err(|error| format!("{name} is \"{text}\": {error}").into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let case: String = argument(&arguments, 0, "the case")?;
    let strength: f64 = argument(&arguments, 1, "the strength")?;
    let claim: (f64, f64) = (
        argument(&arguments, 2, "the claimed epsilon")?,
        argument(&arguments, 3, "the claimed delta")?,
    );
    let draws: u64 = argument(&arguments, 4, "the number of draws")?;
    let confidence: f64 = argument(&arguments, 5, "the confidence")?;
    let first: u64 = argument(&arguments, 6, "the first seed")?;
    let seeds: u64 = argument(&arguments, 7, "the number of seeds")?;

    let without = arguments.get(8).map_or("", String::as_str);

    let findings: Vec<(u64, Finding)> = (first..first + seeds)
        .into_par_iter()
        .map(|seed| {
            let mechanism =
                mechanism(&case, strength).ok_or_else(|| format!("there is no case \"{case}\""))?;
            Ok((seed, audit(mechanism, claim, draws, confidence, seed, without)))
        })
        .collect::<Result<_, String>>()?;
    let mut csv = csv::Writer::from_writer(io::stdout());
    csv.write_record([
        "case",
        "seed",
        "verdict",
        "epsilon_lower",
        "delta_lower",
        "detectable_epsilon",
        "guesses",
        "rule",
    ])?;
    for (seed, finding) in findings {
        let verdict = finding.verdict().map_err(|error| format!("{case}, seed {seed}: {error}"))?;
        let Some((_, evidence)) = finding.report().audits[0].privacy().next() else { continue };
        let bounds = evidence.bounds;
        csv.write_record([
            case.clone(),
            seed.to_string(),
            verdict.to_string(),
            bounds.epsilon_lower.to_string(),
            bounds.delta_lower.to_string(),
            bounds.detectable.to_string(),
            (evidence.tally.guesses() as f64 / evidence.tally.draws() as f64).to_string(),
            evidence.rule_text(),
        ])?;
    }
    csv.flush()?;
    Ok(())
}
