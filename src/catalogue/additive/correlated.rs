//! A query's answers plus correlated Gaussian noise.
//!
//! *Claim*: the noise is `σ·L·z`, where L is a lower triangular matrix and z has independent
//! standard normal numbers, so its covariance matrix is `σ²·L·Lᵀ`. L⁻¹ can be applied to the output
//! and undone, so the release is as private as `L⁻¹·f(D) + σ·z`: the Gaussian mechanism for answers
//! whose ℓ₂ sensitivity is the largest length of `L⁻¹·(f(D) − f(D'))`. If neighbours differ in one
//! answer, by at most Δ, that is Δ times the length of the longest column of L⁻¹, and σ is
//! calibrated to it. *Neighbours*: those that differ in one answer. *Source*: the analytic Gaussian
//! mechanism (Balle & Wang 2018) after a change of coordinates. *The bug*, one parameter away:
//! `scale_factor` below 1 adds too little noise. *True leakage*: that of one Gaussian number whose
//! two means are `|L⁻¹·(f(D) − f(D'))|` apart.

use serde::Deserialize;

use crate::catalogue::additive::continuous::{Calibration, one};
use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::{Finite, Positive};
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of correlated noise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    query: Query,
    calibration: Calibration,
    /// The rows of L, without the zeros above the diagonal: one number in the first row, two in the
    /// second, and so on.
    factor: Vec<Vec<Finite>>,
    /// Multiplies the noise; 1 is correct.
    #[serde(default = "one")]
    scale_factor: Positive,
}

/// `f(D) + σ·L·z`.
pub struct CorrelatedGaussian {
    values: Vec<f64>,
    /// The rows of `σ·L`.
    factor: Vec<Vec<f64>>,
}

/// The rows of a lower triangular matrix with a positive diagonal, one row for each answer.
fn lower_triangular(rows: &[Vec<Finite>], answers: usize) -> Result<Vec<Vec<f64>>, Misfit> {
    let problem = |text: &str| Err(Misfit::params("factor", text));
    if rows.len() != answers {
        return problem(&format!(
            "has {} rows, must have one for each of the {answers} answers",
            rows.len()
        ));
    }
    for (index, row) in rows.iter().enumerate() {
        if row.len() != index + 1 {
            return problem(&format!(
                "has {} numbers in row {}, must have {}",
                row.len(),
                index + 1,
                index + 1
            ));
        }
        if row[index].get() <= 0.0 {
            return problem(&format!(
                "has {} at the end of row {}, must be positive there",
                row[index].get(),
                index + 1
            ));
        }
    }
    Ok(rows.iter().map(|row| row.iter().map(|number| number.get()).collect()).collect())
}

/// The length of the longest column of L⁻¹. Column k solves `L·x = e_k`, by forward substitution.
fn longest_column_of_inverse(factor: &[Vec<f64>]) -> f64 {
    let column = |k: usize| {
        let mut x: Vec<f64> = Vec::with_capacity(factor.len());
        for (i, row) in factor.iter().enumerate() {
            let known: f64 = row.iter().zip(&x).map(|(a, b)| a * b).sum();
            x.push((f64::from(u8::from(i == k)) - known) / row[i]);
        }
        x.iter().map(|x| x * x).sum::<f64>().sqrt()
    };
    (0..factor.len()).map(column).fold(0.0, f64::max)
}

impl Mechanism for CorrelatedGaussian {
    const NAME: &'static str = "gaussian/correlated";
    const SUMMARY: &'static str = "a query plus Gaussian noise with covariance σ²·L·Lᵀ, σ given or calibrated to (ε, δ), μ or ρ";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let answers = params.query.answer(data, universe)?;
        let mut factor = lower_triangular(&params.factor, answers.values.len())?;
        let sensitivity = answers.sensitivity * longest_column_of_inverse(&factor);
        let sigma = params.calibration.sigma(sensitivity, params.scale_factor)?;
        factor.iter_mut().flatten().for_each(|entry| *entry *= sigma);
        Ok(Self { values: answers.values, factor })
    }

    fn width(&self) -> usize {
        self.values.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row.iter_mut().for_each(|cell| *cell = Cell::number(noise::gaussian(rng, 1.0)));
        // From the last row up: row i needs the first i + 1 normal numbers and replaces the last of
        // them.
        for (i, (factor, value)) in self.factor.iter().zip(&self.values).enumerate().rev() {
            let noise: f64 = factor.iter().zip(&*row).map(|(entry, z)| entry * z.raw()).sum();
            row[i] = Cell::number(value + noise);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::catalogue::registry::read_toml;

    fn prepared(text: &str, values: &[f64]) -> Result<CorrelatedGaussian, Misfit> {
        let data = Dataset::of_numbers(values);
        let params: Params = read_toml(&format!("query = 'values'\n{text}"));
        CorrelatedGaussian::prepare(&params, &data, &Universe::of(&data, &data))
    }

    #[test]
    fn noise_is_the_factor_times_independent_normal_numbers() {
        let mechanism = prepared(
            "calibration = { sigma = 2.0 }\nfactor = [[3], [-1, 2], [0.5, 4, 1]]",
            &[10.0, 20.0, 30.0],
        )
        .unwrap();
        let (mut one, mut other) = (Generator::seed_from_u64(5), Generator::seed_from_u64(5));
        for _ in 0..100 {
            let mut row = [Cell::ABSENT; 3];
            mechanism.run(&mut one, &mut row);
            let z = [0; 3].map(|_| noise::gaussian(&mut other, 2.0));
            let expected = [
                10.0 + 3.0 * z[0],
                20.0 - z[0] + 2.0 * z[1],
                30.0 + 0.5 * z[0] + 4.0 * z[1] + z[2],
            ];
            assert!(
                row.iter()
                    .zip(expected)
                    .all(|(cell, expected)| (cell.raw() - expected).abs() < 1e-12)
            );
        }
    }

    #[test]
    fn noise_is_calibrated_to_the_longest_column_of_the_inverse() {
        // The inverse of [[2, 0], [3, 4]] is [[1/2, 0], [-3/8, 1/4]]: its columns have the lengths
        // 5/8 and 1/4.
        assert!((longest_column_of_inverse(&[vec![2.0], vec![3.0, 4.0]]) - 0.625).abs() < 1e-15);
        let factor = "factor = [[2], [3, 4]]";
        let classic = |epsilon: f64| {
            format!(
                "calibration = {{ classic = {{ epsilon = {epsilon:?}, delta = 0.1 }} }}\n{factor}"
            )
        };
        let sigma = |mechanism: CorrelatedGaussian| mechanism.factor[0][0] / 2.0;
        let found = sigma(prepared(&classic(0.5), &[0.0, 0.0]).unwrap());
        assert!((found - 0.625 * (2.0 * 12.5_f64.ln()).sqrt() / 0.5).abs() < 1e-12, "{found}");
        // The broken twin: less noise, nothing else.
        let short =
            sigma(prepared(&format!("{}\nscale_factor = 0.9", classic(0.5)), &[0.0, 0.0]).unwrap());
        assert!((short / found - 0.9).abs() < 1e-12);
    }

    #[test]
    fn a_factor_that_does_not_fit_is_refused() {
        let problem = |factor: &str| {
            let text = format!("calibration = {{ sigma = 1.0 }}\nfactor = {factor}");
            prepared(&text, &[0.0, 0.0]).err().unwrap().to_string()
        };
        assert_eq!(
            problem("[[1]]"),
            "params.factor has 1 rows, must have one for each of the 2 answers"
        );
        assert_eq!(problem("[[1], [1]]"), "params.factor has 1 numbers in row 2, must have 2");
        assert_eq!(
            problem("[[1], [1, 0]]"),
            "params.factor has 0 at the end of row 2, must be positive there"
        );
    }
}
