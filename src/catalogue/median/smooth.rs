//! Medians with noise at the smooth sensitivity: `f(D) + (S(D)/α)·Z`, where S is a β-smooth upper
//! bound of the local sensitivity.
//!
//! *Claim*: ε for noise with a power tail; (ε, (e^(ε/2)+1)·δ/2) for Laplace and Gaussian noise. The
//! claim has two parts. Moving the centre by at most `S` costs ε/2 (sliding). Stretching the scale
//! by at most e^β costs ε/2 (dilation). α and β are chosen so that the noise allows both.
//! *Neighbours*: replace-one; all values are in the public range `[lower, upper]`. *Source*:
//! lecture notes "Smoothed sensitivity and median", after Nissim, Raskhodnikova & Smith (STOC
//! 2007).
//!
//! *The bugs*, one parameter each: `constants = "epsilon"` uses α = β = ε for every noise.
//! Stretching noise `∝ 1/(1+|z|^γ)` by e^β costs `max(1, γ−1)·β`: *true leakage* 3ε at γ = 4 if
//! only S changes, and more if the median moves too. `constants = "half"` uses α = β = ε/2. For
//! Laplace noise its *true leakage* is ∞: a stretched tail has no bounded ratio. `constants =
//! "printed"` with a power tail in d dimensions: the notes' β lacks a factor 1/d, *true leakage* up
//! to `d·(γ−1)·β`. `sensitivity = "easier"` is the last formula of the notes, with ε instead of β
//! and 2 instead of e. It is only (ε·ln 2)-smooth: *true leakage* up to 2.14 at ε = 1 with γ = 4,
//! and δ(1) = 0.10 (Laplace) or 0.197 (Gaussian) where 0.013 is claimed at δ = 0.01.

use std::f64::consts::LN_2;

use serde::Deserialize;

use crate::catalogue::median::sorted::Sorted;
use crate::model::checked::{Epsilon, Finite, PositiveDelta};
use crate::model::{Dataset, Record};
use crate::noise;
use crate::noise::{Generator, PowerTail};
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// Parameters of the median with smooth sensitivity.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    /// The δ of the sliding and dilation properties, not the δ of the claim. For Laplace and
    /// Gaussian noise.
    delta: Option<PositiveDelta>,
    noise: Noise,
    #[serde(default)]
    constants: Constants,
    #[serde(default)]
    sensitivity: Sensitivity,
    lower: Finite,
    upper: Finite,
}

/// The distribution of Z.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Noise {
    /// Density proportional to `1/(1 + |z|^γ)`.
    PowerTail(f64),
    /// Density `e^(-|z|)/2`.
    Laplace,
    /// The standard normal distribution.
    Gaussian,
}

/// How α and β follow from ε, δ and the dimension d.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Constants {
    /// As in the notes. Power tail: α = β = ε/(2γ+1) in every dimension.
    #[default]
    Printed,
    /// As in the original paper. Power tail: α = ε/(2(γ+1)), β = α/d. For the other noises the same
    /// as in the notes.
    Original,
    /// α = β = ε: the constants are forgotten (broken).
    Epsilon,
    /// α = β = ε/2: enough for sliding Laplace noise, but not for stretching it (broken).
    Half,
}

/// Which bound of the local sensitivity the noise is scaled to.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Sensitivity {
    /// `max over k ≥ 0 of e^(-kβ)·A(k)`: the definition.
    #[default]
    Smooth,
    /// `max over k ≥ 1 of 2^(-kε)·A(k)`: the last formula of the notes, exactly as printed
    /// (broken).
    Easier,
    /// `max over k ≥ 1 of 2^(-kβ)·A(k)`: the same with ε replaced by β. It is smooth, and at least
    /// 2^-β times the local sensitivity.
    EasierWithBeta,
}

/// α and β.
struct Admissible {
    alpha: f64,
    beta: f64,
}

impl Params {
    fn admissible(&self, dimension: f64) -> Result<Admissible, Misfit> {
        let epsilon = self.epsilon.get();
        let alpha_and_beta = |alpha: f64, beta: f64| Ok(Admissible { alpha, beta });
        let log_delta = || match self.delta {
            Some(delta) => Ok((2.0 / delta.get()).ln()),
            None => Err(Misfit::params("delta", "is missing; Laplace and Gaussian noise need it")),
        };
        match (self.constants, self.noise) {
            (Constants::Epsilon, _) => alpha_and_beta(epsilon, epsilon),
            (Constants::Half, _) => alpha_and_beta(epsilon / 2.0, epsilon / 2.0),
            (Constants::Printed, Noise::PowerTail(gamma)) => {
                let alpha = epsilon / (2.0 * gamma + 1.0);
                alpha_and_beta(alpha, alpha)
            }
            (Constants::Original, Noise::PowerTail(gamma)) => {
                let alpha = epsilon / (2.0 * (gamma + 1.0));
                alpha_and_beta(alpha, alpha / dimension)
            }
            (_, Noise::Laplace) if dimension == 1.0 => {
                alpha_and_beta(epsilon / 2.0, epsilon / (2.0 * log_delta()?))
            }
            (_, Noise::Laplace) => {
                alpha_and_beta(epsilon / 2.0, epsilon / (4.0 * (dimension + log_delta()?)))
            }
            (_, Noise::Gaussian) => alpha_and_beta(
                epsilon / (5.0 * (2.0 * log_delta()?).sqrt()),
                epsilon / (4.0 * (dimension + log_delta()?)),
            ),
        }
    }
}

impl Sensitivity {
    fn of(self, data: &Sorted, epsilon: f64, beta: f64) -> f64 {
        match self {
            Self::Smooth => data.smooth_sensitivity(beta, 0),
            Self::Easier => data.smooth_sensitivity(epsilon * LN_2, 1),
            Self::EasierWithBeta => data.smooth_sensitivity(beta * LN_2, 1),
        }
    }
}

/// Z, ready to draw.
enum Sampler {
    PowerTail(PowerTail),
    Laplace,
    Gaussian,
}

/// The median of each attribute plus independent noise. All noise has the scale of one smooth
/// bound.
pub struct SmoothMedian {
    medians: Vec<f64>,
    scale: f64,
    noise: Sampler,
}

/// The values of each attribute. Records are numbers, or they all have the same number of numeric
/// fields.
fn attributes(data: &Dataset) -> Result<Vec<Vec<f64>>, Misfit> {
    let Some(Record::Fields(first)) = data.records().first() else {
        return Ok(vec![data.numbers()?]);
    };
    let mut columns = vec![Vec::with_capacity(data.len()); first.len()];
    for record in data.records() {
        let fields = match record {
            Record::Fields(fields) if fields.len() == columns.len() => fields,
            _ => {
                return Err(Misfit::Data(format!(
                    "the record {record} does not have {} fields like the first record; make all records the same length",
                    columns.len()
                )));
            }
        };
        for (column, field) in columns.iter_mut().zip(fields) {
            column.push(field.number().ok_or_else(|| {
                format!("the field {field} is not a number; this mechanism needs numbers")
            })?);
        }
    }
    Ok(columns)
}

impl Mechanism for SmoothMedian {
    const NAME: &'static str = "median/smooth-sensitivity";
    const SUMMARY: &'static str = "median plus noise at the smooth sensitivity: power-tail, Laplace or Gaussian; correct or broken constants";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, _: &Universe) -> Result<Self, Misfit> {
        let noise = match params.noise {
            Noise::PowerTail(gamma) => Sampler::PowerTail(
                PowerTail::new(gamma)
                    .map_err(|problem| Misfit::params("noise.power-tail", &problem))?,
            ),
            Noise::Laplace => Sampler::Laplace,
            Noise::Gaussian => Sampler::Gaussian,
        };
        let columns = attributes(data)?;
        let Admissible { alpha, beta } = params.admissible(columns.len() as f64)?;
        let sorted: Vec<Sorted> = columns
            .into_iter()
            .map(|column| Sorted::of_values(column, params.lower, params.upper))
            .collect::<Result<_, _>>()?;
        // One record moves all medians. The ℓ₁ sensitivity is at most the sum of theirs, and a sum
        // of β-smooth bounds is β-smooth.
        let smooth: f64 = sorted
            .iter()
            .map(|sorted| params.sensitivity.of(sorted, params.epsilon.get(), beta))
            .sum();
        Ok(Self {
            medians: sorted.iter().map(Sorted::median).collect(),
            scale: smooth / alpha,
            noise,
        })
    }

    fn width(&self) -> usize {
        self.medians.len()
    }

    #[inline]
    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        for (cell, &median) in row.iter_mut().zip(&self.medians) {
            let noise = match &self.noise {
                Sampler::PowerTail(power_tail) => self.scale * power_tail.sample(rng),
                Sampler::Laplace => noise::laplace(rng, self.scale),
                Sampler::Gaussian => noise::gaussian(rng, self.scale),
            };
            *cell = Cell::number(median + noise);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepare(params: &str, records: &str) -> Result<SmoothMedian, String> {
        #[derive(Deserialize)]
        struct File {
            params: Params,
            records: Dataset,
        }
        let file: File = toml::from_str(&format!("params = {params}\nrecords = {records}"))
            .map_err(|error| error.to_string())?;
        SmoothMedian::prepare(
            &file.params,
            &file.records,
            &Universe::of(&file.records, &file.records),
        )
        .map_err(|misfit| misfit.to_string())
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    /// Nine zeros and six eights: A(k) is 0 for k = 0, and 8 from the distance k = 1 on.
    const DATA: &str = "[{ value = 0, times = 9 }, { value = 8, times = 6 }]";

    #[test]
    fn the_scale_is_the_smooth_sensitivity_over_alpha() {
        let cases = [
            ("noise = { power-tail = 4 }", 1.0 / 9.0, 1.0 / 9.0),
            ("noise = { power-tail = 4 }, constants = \"original\"", 0.1, 0.1),
            ("noise = { power-tail = 4 }, constants = \"epsilon\"", 1.0, 1.0),
            ("noise = \"laplace\", constants = \"half\"", 0.5, 0.5),
            ("noise = \"laplace\", delta = 0.01", 0.5, 0.5 / 200f64.ln()),
            (
                "noise = \"gaussian\", delta = 0.01",
                0.2 / (2.0 * 200f64.ln()).sqrt(),
                0.25 / (1.0 + 200f64.ln()),
            ),
        ];
        for (case, alpha, beta) in cases {
            let mechanism =
                prepare(&format!("{{ epsilon = 1, lower = 0, upper = 8, {case} }}"), DATA).unwrap();
            assert!(
                close(mechanism.scale, 8.0 * (-beta).exp() / alpha),
                "{case}: {}",
                mechanism.scale
            );
            assert_eq!(mechanism.medians, [0.0]);
        }
    }

    #[test]
    fn the_easier_formula_starts_at_distance_one() {
        // Local sensitivity 8 at the data itself.
        let data = "[{ value = 0, times = 8 }, { value = 8, times = 7 }]";
        let scale = |sensitivity: &str| {
            let params = format!(
                "{{ epsilon = 2, lower = 0, upper = 8, noise = {{ power-tail = 2 }}, sensitivity = \"{sensitivity}\" }}"
            );
            prepare(&params, data).unwrap().scale
        };
        let alpha = 0.4;
        assert!(close(scale("smooth"), 8.0 / alpha));
        assert!(close(scale("easier"), 8.0 / 4.0 / alpha));
        assert!(close(scale("easier-with-beta"), 8.0 / 0.4_f64.exp2() / alpha));
    }

    #[test]
    fn attributes_share_one_scale() {
        let records = "[{ value = [0, 8], times = 9 }, { value = [8, 8], times = 6 }]";
        let mechanism =
            prepare("{ epsilon = 1, lower = 0, upper = 8, noise = { power-tail = 4 }, constants = \"original\" }", records).unwrap();
        assert_eq!(mechanism.medians, [0.0, 8.0]);
        // The second attribute is always 8: seven more changes are needed for its median to fall to
        // 0.
        let beta: f64 = 0.05;
        assert!(
            close(mechanism.scale, (8.0 * (-beta).exp() + 8.0 * (-7.0 * beta).exp()) / 0.1),
            "{}",
            mechanism.scale
        );
    }

    #[test]
    fn errors_name_what_does_not_fit() {
        let params = |rest: &str| format!("{{ epsilon = 1, lower = 0, upper = 8, {rest} }}");
        let problem = |rest: &str, records: &str| prepare(&params(rest), records).err().unwrap();
        assert_eq!(
            problem("noise = { power-tail = 1 }", DATA),
            "params.noise.power-tail is 1, must be greater than 1 and finite"
        );
        assert_eq!(
            problem("noise = \"laplace\"", DATA),
            "params.delta is missing; Laplace and Gaussian noise need it"
        );
        let ragged = problem("noise = { power-tail = 2 }", "[[0, 1], [2]]");
        assert_eq!(
            ragged,
            "the record [2] does not have 2 fields like the first record; make all records the same length"
        );
    }
}
