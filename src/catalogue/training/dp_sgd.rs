//! DP-SGD: logistic regression with Poisson sampling, clipped gradients and Gaussian noise, and the bugs
//! that implementations have had.
//!
//! In each step every record is sampled with probability q, its gradient is scaled to length 1 at most,
//! and the sum of the sample gets Gaussian noise of standard deviation σ in each coordinate. *Neighbours*:
//! add-remove. *Claim*: that of T Poisson-subsampled Gaussian mechanisms, which an accountant computes
//! (`scripts/training_claims.py`); that of one step with every canary sampled is 1/σ-GDP. *Source*: Abadi
//! et al. 2016.
//!
//! *White box*: the attacker sees all noisy sums. Canary i has a gradient ten times too long along a
//! coordinate of its own, which no other record has. Its score is the logarithm of the ratio of the
//! densities with it and without it, over all steps; how large the noise of a step was is estimated from
//! the spread of the sum. *Black box*: the attacker sees the final weights. A canary is a record with
//! random features and a random label, and its score is its margin: how surely the model gives the label.
//!
//! *Bugs*, all under the claim of the right one:
//!
//! - `batch-clipping`: the mean gradient of the batch is clipped instead of each gradient, so one
//!   gradient can be as long as it likes (a missing `vmap`, or `clip_grad_norm_` in place of the hook).
//! - `shared-noise`: each of W workers adds noise σ/W; their sum has σ/√W instead of σ.
//! - `bare-last-step`: the last step has no noise (an update after the loop that does not go through the
//!   private optimizer).
//! - `short-noise`: the noise is 0.8 of what the accountant was told.
//!
//! *True leakage* on pairs with a canary against none: `shared-noise` and `short-noise` are T
//! subsampled steps with the smaller σ; without noise in one step, ε is infinite with probability q;
//! with `batch-clipping` the gradient is ten times as long.

use rand::{RngExt, SeedableRng};
use serde::Deserialize;

use crate::model::Dataset;
use crate::model::checked::{Positive, PositiveDelta};
use crate::noise::{self, Generator};
use crate::output::Cell;
use crate::stats::binomial::logistic;
use crate::target::{Mechanism, Misfit, StreamSeed, TargetError, Training, Universe};

/// The name that audit files use.
pub const NAME: &str = "dp-sgd";
/// Its description in the list of mechanisms.
pub const SUMMARY: &str = "logistic regression by DP-SGD with canaries, right or with a bug (for [[canaries]]; with [[pair]] the noisy sums along the gradient of a canary)";

/// The length to which gradients are clipped.
const CLIP: f64 = 1.0;
/// The length of a white-box canary's gradient before it is clipped.
const CANARY: f64 = 10.0;
/// The step of the descent.
const LEARNING_RATE: f64 = 0.005;
/// The workers that share the noise.
const WORKERS: f64 = 4.0;
/// The part of the noise that is left.
const SHORT: f64 = 0.8;
/// The seed of the records that are no canaries: they are the same in all runs.
const RECORDS_SEED: u64 = 31;
/// A step whose sum has a smaller spread has no noise.
const LEAST_SPREAD: f64 = 1e-6;
/// The median absolute deviation of N(0, 1) is the inverse of this.
const MAD: f64 = 1.482_602_218_505_602;

/// What is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bug {
    /// Nothing.
    #[default]
    None,
    /// The batch is clipped instead of each gradient.
    BatchClipping,
    /// Each worker adds its share of the standard deviation.
    SharedNoise,
    /// The last step has no noise.
    BareLastStep,
    /// The noise is a fifth too small.
    ShortNoise,
}

/// What the attacker sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// All noisy sums.
    #[default]
    WhiteBox,
    /// The weights after training.
    BlackBox,
}

/// Parameters.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DpSgd {
    /// The standard deviation of the noise, where gradients have length 1 at most.
    noise_multiplier: Positive,
    /// The probability with which a record is in a batch.
    rate: PositiveDelta,
    /// The steps. With fresh coins at every step there are as many as lists of coins.
    steps: usize,
    /// The records that are no canaries.
    #[serde(default = "default_records")]
    records: usize,
    /// Their features.
    #[serde(default = "default_features")]
    features: usize,
    /// What the attacker sees.
    #[serde(default)]
    scores: Seen,
    /// What is wrong.
    #[serde(default)]
    bug: Bug,
}

fn default_records() -> usize {
    2000
}

fn default_features() -> usize {
    20
}

impl DpSgd {
    /// Checks the sizes.
    ///
    /// # Errors
    /// Which is wrong.
    pub fn check(&self) -> Result<(), Misfit> {
        for (key, value, most) in [
            ("steps", self.steps, 10_000),
            ("records", self.records, 1_000_000),
            ("features", self.features, 10_000),
        ] {
            if !(1..=most).contains(&value) {
                let problem = format!("is {value}, must be a whole number from 1 to {most}");
                return Err(Misfit::params(key, &problem));
            }
        }
        Ok(())
    }

    /// The noise of a step.
    fn noise(&self, is_last: bool) -> f64 {
        let factor = match self.bug {
            Bug::None | Bug::BatchClipping => 1.0,
            Bug::SharedNoise => 1.0 / WORKERS.sqrt(),
            Bug::BareLastStep => f64::from(u8::from(!is_last)),
            Bug::ShortNoise => SHORT,
        };
        factor * self.noise_multiplier.get() * CLIP
    }
}

/// An example: features and label.
#[derive(Clone)]
struct Example {
    features: Vec<f64>,
    length: f64,
    label: bool,
}

impl Example {
    fn new(features: Vec<f64>, label: bool) -> Self {
        let length = features.iter().map(|x| x * x).sum::<f64>().sqrt();
        Self { features, length, label }
    }

    /// Independent normal features. The label says whether the first `informative` have a positive sum.
    fn real(dimensions: usize, informative: usize, rng: &mut Generator) -> Self {
        let features: Vec<f64> = (0..dimensions).map(|_| noise::gaussian(rng, 1.0)).collect();
        let label = features[..informative].iter().sum::<f64>() > 0.0;
        Self::new(features, label)
    }

    fn margin(&self, weights: &[f64]) -> f64 {
        let dot: f64 = self.features.iter().zip(weights).map(|(x, w)| x * w).sum();
        if self.label { dot } else { -dot }
    }
}

/// The state of a training.
struct Descent<'a> {
    training: &'a DpSgd,
    weights: Vec<f64>,
    sum: Vec<f64>,
    batch: usize,
}

impl<'a> Descent<'a> {
    fn new(training: &'a DpSgd, dimensions: usize) -> Self {
        Self { training, weights: vec![0.0; dimensions], sum: vec![0.0; dimensions], batch: 0 }
    }

    /// How much of a gradient of this length is added.
    fn kept(&self, length: f64) -> f64 {
        if self.training.bug == Bug::BatchClipping || length <= CLIP { 1.0 } else { CLIP / length }
    }

    /// Adds the gradient of an example to the batch.
    fn add(&mut self, example: &Example) {
        // The derivative of ln(1 + e^−margin).
        let slope = logistic(-example.margin(&self.weights));
        let slope = slope * self.kept(slope * example.length);
        let slope = if example.label { -slope } else { slope };
        self.sum.iter_mut().zip(&example.features).for_each(|(sum, x)| *sum += slope * x);
        self.batch += 1;
    }

    /// Adds the gradient of a canary with a coordinate of its own.
    fn add_canary(&mut self, coordinate: usize, length: f64) {
        self.sum[coordinate] += length * self.kept(length.abs());
        self.batch += 1;
    }

    /// Begins a step: each example is in the batch with the probability of a batch.
    fn sample(&mut self, examples: &[Example], rng: &mut Generator) {
        self.sum.fill(0.0);
        self.batch = 0;
        for example in examples {
            if noise::bernoulli(rng, self.training.rate.get()) {
                self.add(example);
            }
        }
    }

    /// Ends a step: noise, and a step down the slope. Returns the noisy sum.
    fn step(&mut self, is_last: bool, rng: &mut Generator) -> &[f64] {
        if self.training.bug == Bug::BatchClipping {
            let length = self.sum.iter().map(|x| x * x).sum::<f64>().sqrt();
            let most = CLIP * self.batch.max(1) as f64;
            if length > most {
                self.sum.iter_mut().for_each(|x| *x *= most / length);
            }
        }
        let sigma = self.training.noise(is_last);
        if sigma > 0.0 {
            self.sum.iter_mut().for_each(|x| *x += noise::gaussian(rng, sigma));
        }
        self.weights.iter_mut().zip(&self.sum).for_each(|(w, x)| *w -= LEARNING_RATE * x);
        &self.sum
    }
}

impl Training for DpSgd {
    fn train(&self, coins: &[Vec<bool>], seed: StreamSeed) -> Result<Vec<Vec<f64>>, TargetError> {
        let mut rng = Generator::from_seed(seed.bytes());
        Ok(match (coins, self.scores) {
            ([coins], Seen::WhiteBox) => vec![self.white_box(coins, &mut rng)],
            ([coins], Seen::BlackBox) => vec![self.black_box(coins, &mut rng)],
            (steps, _) => self.fresh(steps, &mut rng),
        })
    }
}

impl DpSgd {
    fn examples(&self, dimensions: usize) -> Vec<Example> {
        let mut rng = Generator::seed_from_u64(RECORDS_SEED);
        let informative = self.features.min(dimensions);
        (0..self.records).map(|_| Example::real(dimensions, informative, &mut rng)).collect()
    }

    fn white_box(&self, coins: &[bool], rng: &mut Generator) -> Vec<f64> {
        let examples = self.examples(self.features);
        let mut descent = Descent::new(self, self.features + coins.len());
        let mut scores = vec![0.0; coins.len()];
        for step in 0..self.steps {
            descent.sample(&examples, rng);
            for (place, coin) in coins.iter().enumerate() {
                if *coin && noise::bernoulli(rng, self.rate.get()) {
                    descent.add_canary(self.features + place, CANARY);
                }
            }
            let seen = &descent.step(step + 1 == self.steps, rng)[self.features..];
            let spread = spread(seen);
            for (score, value) in scores.iter_mut().zip(seen) {
                *score += self.log_ratio(*value, spread);
            }
        }
        scores
    }

    /// The logarithm of the ratio of the densities with a canary and without it.
    fn log_ratio(&self, value: f64, sigma: f64) -> f64 {
        let exponent = (CLIP * (value - CLIP / 2.0) / (sigma * sigma)).min(500.0);
        (self.rate.get() * exponent.exp_m1()).ln_1p()
    }

    /// Fresh coins at every step: a canary that is in is in the batch, too.
    fn fresh(&self, steps: &[Vec<bool>], rng: &mut Generator) -> Vec<Vec<f64>> {
        let examples = self.examples(self.features);
        let canaries = steps.first().map_or(0, Vec::len);
        let mut descent = Descent::new(self, self.features + canaries);
        let mut scores = Vec::new();
        for (step, coins) in steps.iter().enumerate() {
            descent.sample(&examples, rng);
            for (place, _) in coins.iter().enumerate().filter(|(_, coin)| **coin) {
                descent.add_canary(self.features + place, CANARY);
            }
            scores.push(descent.step(step + 1 == steps.len(), rng)[self.features..].to_vec());
        }
        scores
    }

    /// Twice as many features as canaries, so that a canary is nearly at right angles to the others.
    fn black_box(&self, coins: &[bool], rng: &mut Generator) -> Vec<f64> {
        let dimensions = self.features.max(2 * coins.len());
        let mut examples = self.examples(dimensions);
        let canaries: Vec<Example> = coins
            .iter()
            .map(|_| {
                let label = rng.random();
                Example { label, ..Example::real(dimensions, 0, rng) }
            })
            .collect();
        let inside = canaries.iter().zip(coins).filter(|(_, coin)| **coin);
        examples.extend(inside.map(|(canary, _)| canary.clone()));
        let mut descent = Descent::new(self, dimensions);
        for step in 0..self.steps {
            descent.sample(&examples, rng);
            descent.step(step + 1 == self.steps, rng);
        }
        canaries.iter().map(|canary| canary.margin(&descent.weights)).collect()
    }
}

/// The standard deviation of normal values, whatever a few of them are.
fn spread(values: &[f64]) -> f64 {
    let middle = |values: &mut Vec<f64>| {
        let half = values.len() / 2;
        *values.select_nth_unstable_by(half, f64::total_cmp).1
    };
    let mut values = values.to_vec();
    let median = middle(&mut values);
    values.iter_mut().for_each(|x| *x = (*x - median).abs());
    (MAD * middle(&mut values)).max(LEAST_SPREAD)
}

/// The same training on pairs: a record is a canary, and its number is the length of its gradient along
/// one coordinate. The output is the noisy sum of that coordinate at every step.
pub struct OnPairs {
    training: DpSgd,
    examples: Vec<Example>,
    canaries: Vec<f64>,
}

impl Mechanism for OnPairs {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str = SUMMARY;
    type Params = DpSgd;

    fn prepare(training: &DpSgd, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        training.check()?;
        // A record is the length of a canary's gradient.
        let canaries = data.numbers()?;
        let training = training.clone();
        Ok(Self { examples: training.examples(training.features), canaries, training })
    }

    fn width(&self) -> usize {
        self.training.steps
    }

    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let last = self.training.features;
        let mut descent = Descent::new(&self.training, last + 1);
        let steps = row.len();
        for (step, cell) in row.iter_mut().enumerate() {
            descent.sample(&self.examples, rng);
            for length in &self.canaries {
                if noise::bernoulli(rng, self.training.rate.get()) {
                    descent.add_canary(last, *length);
                }
            }
            *cell = Cell::number(descent.step(step + 1 == steps, rng)[last]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn training(more: &str) -> DpSgd {
        crate::catalogue::registry::read_toml(&format!(
            "noise_multiplier = 1e-9\nrate = 0.999999999\nsteps = 1\nrecords = 40\nfeatures = 3\n{more}"
        ))
    }

    fn coins(m: usize) -> Vec<bool> {
        (0..m).map(|i| i % 3 == 0).collect()
    }

    /// The sums of one step in which everything is sampled and hardly any noise is added.
    fn sums(more: &str, coins: &[bool]) -> Vec<f64> {
        let steps = [coins.to_vec(), coins.to_vec()];
        training(more).fresh(&steps, &mut Generator::seed_from_u64(1)).swap_remove(0)
    }

    #[test]
    fn a_clipped_canary_has_length_one_and_one_in_a_clipped_batch_has_more() {
        let coins = coins(9);
        for (sum, coin) in sums("", &coins).iter().zip(&coins) {
            assert!((sum - f64::from(u8::from(*coin))).abs() < 1e-6, "{sum}");
        }
        // 43 gradients may have length 43 together: three of length 10 are not shortened.
        for (sum, coin) in sums("bug = \"batch-clipping\"", &coins).iter().zip(&coins) {
            assert!((sum - 10.0 * f64::from(u8::from(*coin))).abs() < 1e-6, "{sum}");
        }
    }

    #[test]
    fn every_bug_has_the_noise_that_its_name_says() {
        // 40,000 values of N(0, s²): the estimate of s errs by 0.35 % in one standard deviation, and by
        // 2 % with probability below 1e-6. The spread by MAD needs 0.6 %.
        let noise = |bug: &str| {
            let training: DpSgd = crate::catalogue::registry::read_toml(&format!(
                "noise_multiplier = 2.0\nrate = 0.5\nsteps = 2\nrecords = 1\nfeatures = 1\nbug = \"{bug}\""
            ));
            let none = vec![false; 40_000];
            let mut rng = Generator::seed_from_u64(7);
            training
                .fresh(&[none.clone(), none], &mut rng)
                .iter()
                .map(|step| spread(step))
                .collect()
        };
        let near = |found: Vec<f64>, expected: [f64; 2]| {
            let close =
                |(found, expected): (&f64, f64)| (found - expected).abs() <= 0.03 * expected;
            assert!(found.iter().zip(expected).all(close), "{found:?} against {expected:?}");
        };
        near(noise("none"), [2.0, 2.0]);
        near(noise("batch-clipping"), [2.0, 2.0]);
        near(noise("shared-noise"), [1.0, 1.0]);
        near(noise("short-noise"), [1.6, 1.6]);
        let bare: Vec<f64> = noise("bare-last-step");
        assert!((bare[0] - 2.0).abs() < 0.06 && bare[1] == LEAST_SPREAD, "{bare:?}");
    }

    #[test]
    fn all_gradients_of_examples_are_clipped() {
        let training = training("");
        let mut descent = Descent::new(&training, 3);
        for example in training.examples(3) {
            descent.sum.fill(0.0);
            descent.add(&example);
            let length = descent.sum.iter().map(|x| x * x).sum::<f64>().sqrt();
            // At weights 0 the derivative is ½.
            assert!((length - (0.5 * example.length).min(CLIP)).abs() < 1e-12, "{length}");
        }
    }

    #[test]
    fn training_learns_and_the_ratio_is_that_of_the_densities() {
        let training: DpSgd = crate::catalogue::registry::read_toml(
            "noise_multiplier = 1.0\nrate = 0.25\nsteps = 200\nrecords = 400\nfeatures = 4",
        );
        let (mut rng, examples) = (Generator::seed_from_u64(3), training.examples(4));
        let mut descent = Descent::new(&training, 4);
        for _ in 0..200 {
            descent.sample(&examples, &mut rng);
            descent.step(false, &mut rng);
        }
        let right = examples.iter().filter(|one| one.margin(&descent.weights) > 0.0).count();
        assert!(right > 340, "{right} of 400 are right");
        let density = |x: f64, mean: f64| (-(x - mean) * (x - mean) / (2.0 * 0.49)).exp();
        for x in [-1.0, 0.2, 0.5, 3.0] {
            let exact = (0.75 + 0.25 * density(x, 1.0) / density(x, 0.0)).ln();
            assert!((training.log_ratio(x, 0.7) - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn sizes_are_checked() {
        for (key, value) in [("steps", "0"), ("records", "0"), ("features", "100000")] {
            let text = "noise_multiplier = 1.0\nrate = 0.5\n".to_owned()
                + &[("steps", "2"), ("records", "9"), ("features", "2")]
                    .map(|(k, v)| format!("{k} = {}\n", if k == key { value } else { v }))
                    .concat();
            let training: DpSgd = crate::catalogue::registry::read_toml(&text);
            let problem = training.check().unwrap_err().to_string();
            assert!(problem.starts_with(&format!("params.{key} is {value}")), "{problem}");
        }
    }
}
