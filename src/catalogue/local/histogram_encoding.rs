//! Histogram encoding: one number for each value, 1 for the true value and 0 for the others, all
//! with Laplace noise.
//!
//! *Claim*: ε, with noise of scale 2/ε: two values differ by 1 in two places. The numbers are
//! released as they are (SHE), or only whether each is above `threshold` (THE). *Neighbours*:
//! replace-one. *Source*: Wang, Blocki, Li, Jha 2017. *The bugs*: `sensitivity = 1` forgets the
//! second place. `noise = "own"` adds noise to the true value's place only. `noise = "shared"`
//! draws one noise for all places. *True leakage*: of SHE ε, 2ε with half the noise, and infinite.
//! A threshold θ between 0 and 1 turns the numbers into bits that are 1 with probability `p = 1 −
//! e^(−(1−θ)ε/2)/2` in the true place and `q = e^(−θε/2)/2` elsewhere. They leak
//! `ln(p(1−q)/(q(1−p)))`, less than ε.

use serde::Deserialize;

use super::Randomizer;
use crate::model::checked::{Epsilon, Positive};
use crate::noise::{self, Generator};
use crate::output::Cell;
use crate::target::Misfit;

/// Which places get noise.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Noise {
    /// Each gets its own: correct.
    #[default]
    Each,
    /// Only that of the true value.
    Own,
    /// All get the same.
    Shared,
}

/// Parameters of histogram encodings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    epsilon: Epsilon,
    size: u16,
    /// Without one, the numbers themselves are released.
    threshold: Option<f64>,
    /// How far two values are apart; 2 when absent.
    sensitivity: Option<Positive>,
    #[serde(default)]
    noise: Noise,
}

/// A noisy histogram of one value.
pub struct HistogramEncoding {
    size: u16,
    scale: f64,
    noise: Noise,
    threshold: Option<f64>,
}

impl Randomizer for HistogramEncoding {
    const NAME: &'static str = "local/histogram-encoding";
    const SUMMARY: &'static str =
        "a number with Laplace noise for each value, SHE or THE; bugs: sensitivity, noise";
    type Params = Params;

    fn new(params: &Params) -> Result<Self, Misfit> {
        if let Some(threshold) = params.threshold.filter(|threshold| !threshold.is_finite()) {
            return Err(Misfit::params("threshold", &format!("is {threshold}, must be finite")));
        }
        let scale = params.sensitivity.map_or(2.0, Positive::get) / params.epsilon.get();
        Ok(Self { size: params.size, scale, noise: params.noise, threshold: params.threshold })
    }

    fn size(&self) -> u16 {
        self.size
    }

    #[inline]
    fn report(&self, value: u16, rng: &mut Generator, report: &mut [Cell]) {
        let shared = noise::laplace(rng, self.scale);
        for (place, cell) in (0..self.size).zip(report) {
            let is_own = place == value;
            let noise = match self.noise {
                Noise::Each => noise::laplace(rng, self.scale),
                Noise::Own if !is_own => 0.0,
                Noise::Own | Noise::Shared => shared,
            };
            let number = f64::from(u8::from(is_own)) + noise;
            *cell = Cell::number(
                self.threshold.map_or(number, |threshold| f64::from(u8::from(number > threshold))),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::randomizer::tests::{follows, made};
    use super::*;

    #[test]
    fn bits_above_a_threshold_follow_the_definition() {
        // P(1 + z > 0.75) and P(z > 0.75) for Laplace noise of scale 2, and of scale 1.
        for (sensitivity, scale) in [(2, 2.0_f64), (1, 1.0)] {
            let (p, q) = (1.0 - 0.5 * (-0.25 / scale).exp(), 0.5 * (-0.75 / scale).exp());
            let the: HistogramEncoding = made(&format!(
                "epsilon = 1\nsize = 3\nthreshold = 0.75\nsensitivity = {sensitivity}"
            ));
            let one = |place: usize| if place == 2 { p } else { q };
            follows(&the, 2, |report| {
                report
                    .iter()
                    .enumerate()
                    .map(|(place, bit)| if *bit == 1.0 { one(place) } else { 1.0 - one(place) })
                    .product()
            });
        }
    }

    #[test]
    fn the_bugs_leave_the_true_value_visible() {
        use rand::SeedableRng;
        let mut rng = Generator::seed_from_u64(1);
        let mut drawn = |noise: &str| -> Vec<f64> {
            let she: HistogramEncoding =
                made(&format!("epsilon = 1\nsize = 4\nnoise = \"{noise}\""));
            let mut report = [Cell::ABSENT; 4];
            she.report(1, &mut rng, &mut report);
            report.iter().map(|cell| cell.as_number().unwrap()).collect()
        };
        let own = drawn("own");
        assert!(own[1] != 0.0 && own[1] != 1.0 && [own[0], own[2], own[3]] == [0.0; 3], "{own:?}");
        let shared = drawn("shared");
        assert!(
            (shared[1] - shared[0] - 1.0).abs() < 1e-12
                && shared[0] == shared[2]
                && shared[2] == shared[3],
            "{shared:?}"
        );
        let each = drawn("each");
        assert!(each[0] != each[2] && each[2] != each[3], "{each:?}");
    }
}
