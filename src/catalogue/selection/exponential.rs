//! The exponential mechanism: candidate i with probability proportional to `e^(ε·u_i/2)`.
//!
//! *Claim*: ε, for utilities of sensitivity 1. *Neighbours*: component-wise. *Source*: `McSherry` &
//! Talwar 2007. *The bugs*, one parameter each: `exponent = "whole"` forgets the ½, which is needed
//! because one record may move the weight of the chosen candidate in one direction and all other
//! weights in the other. `weights = "raw"` computes `e^(ε·u_i/2)` directly. If all of them
//! underflow to 0, the probabilities are 0/0. *True leakage* without the ½: up to 2ε. With k
//! candidates of equal utility, of which one falls by 1 and the others rise by 1, it is `ln((1 +
//! (k−1)·e^(2ε))/k)`; with the ½ it is `ln((1 + (k−1)·e^ε)/k)`. Of the underflow: infinite if one
//! record makes the difference between a choice and an error.

use serde::Deserialize;

use crate::catalogue::query::Query;
use crate::model::Dataset;
use crate::model::checked::Epsilon;
use crate::noise;
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// The factor of the utilities.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Exponent {
    /// ε/2: correct.
    #[default]
    Half,
    /// ε.
    Whole,
}

/// How the weights are computed.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Weights {
    /// Relative to the best candidate, whose weight is then 1: correct.
    #[default]
    Relative,
    /// Computed directly.
    Raw,
}

/// Parameters of the exponential mechanism.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Its answers are the candidates' utilities.
    query: Query,
    epsilon: Epsilon,
    #[serde(default)]
    exponent: Exponent,
    #[serde(default)]
    weights: Weights,
}

/// The index of a candidate, counted from 0, or an error.
pub struct Exponential {
    /// The probability of this or an earlier candidate; absent if the weights cannot be normalised.
    cumulative: Option<Vec<f64>>,
    error: Cell,
}

impl Mechanism for Exponential {
    const NAME: &'static str = "exponential";
    const SUMMARY: &'static str =
        "a candidate with probability ∝ e^(εu/2); bugs: without the ½, weights that underflow";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let utilities = params.query.answer(data, universe)?.values;
        let best = utilities
            .iter()
            .copied()
            .reduce(f64::max)
            .ok_or("there is no candidate; give the dataset at least one record")?;
        let rate = match params.exponent {
            Exponent::Half => params.epsilon.get() / 2.0,
            Exponent::Whole => params.epsilon.get(),
        };
        let offset = match params.weights {
            Weights::Relative => best,
            Weights::Raw => 0.0,
        };
        let weights: Vec<f64> =
            utilities.iter().map(|utility| (rate * (utility - offset)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let cumulative = weights.iter().map(|weight| {
            sum += weight / total;
            sum
        });
        let cumulative: Vec<f64> = cumulative.collect();
        // 0/0 and ∞/∞ are not probabilities.
        Ok(Self {
            cumulative: (!sum.is_nan()).then_some(cumulative),
            error: universe.symbol("error"),
        })
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        row[0] = match &self.cumulative {
            Some(cumulative) => {
                let uniform = noise::uniform(rng);
                let chosen = cumulative.partition_point(|upto| *upto <= uniform);
                // The last sum may be less than 1 by a rounding error.
                Cell::number(chosen.min(cumulative.len() - 1) as f64)
            }
            None => self.error,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(utilities: &[f64], exponent: Exponent, weights: Weights) -> Exponential {
        let data = Dataset::of_numbers(utilities);
        let params = Params {
            query: Query::Values,
            epsilon: Epsilon::try_from(1.0).unwrap(),
            exponent,
            weights,
        };
        Exponential::prepare(&params, &data, &Universe::of(&data, &data)).unwrap()
    }

    fn first(mechanism: &Exponential) -> f64 {
        mechanism.cumulative.as_ref().unwrap()[0]
    }

    #[test]
    fn the_leak_on_the_worst_pair_equals_the_formula() {
        for (exponent, steps) in [(Exponent::Half, 1.0), (Exponent::Whole, 2.0)] {
            let level = prepared(&[0.0; 5], exponent, Weights::Relative);
            let fallen = prepared(&[-1.0, 1.0, 1.0, 1.0, 1.0], exponent, Weights::Relative);
            let expected = ((1.0 + 4.0 * f64::exp(steps)) / 5.0).ln();
            assert!(((first(&level) / first(&fallen)).ln() - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn raw_weights_are_the_same_until_they_underflow() {
        let raw = |utility: f64| prepared(&[utility, utility + 2.0], Exponent::Half, Weights::Raw);
        let relative =
            |utility: f64| prepared(&[utility, utility + 2.0], Exponent::Half, Weights::Relative);
        assert!((first(&raw(-100.0)) - first(&relative(-100.0))).abs() < 1e-12);
        // The smallest positive double is e^-744.44; half of it or less is rounded to 0.
        assert!(prepared(&[-1490.0; 2], Exponent::Half, Weights::Raw).cumulative.is_some());
        assert!(prepared(&[-1491.0; 2], Exponent::Half, Weights::Raw).cumulative.is_none());
        assert_eq!(first(&prepared(&[-1491.0; 2], Exponent::Half, Weights::Relative)), 0.5);
        assert!(prepared(&[2000.0; 2], Exponent::Half, Weights::Raw).cumulative.is_none());
    }
}
