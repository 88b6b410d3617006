//! The audits that calibration repeats: ordinary audit files that are part of the program.

use std::path::Path;

use crate::audit::Audit;
use crate::model::Error;
use crate::suite;

/// Mechanisms that leak exactly as much as they claim. To add one, add a file and a line here.
const BOUNDARY: &[(&str, &str)] = &[
    ("laplace.toml", include_str!("boundary/laplace.toml")),
    ("laplace-small-epsilon.toml", include_str!("boundary/laplace-small-epsilon.toml")),
    ("laplace-printed.toml", include_str!("boundary/laplace-printed.toml")),
    ("laplace-vector.toml", include_str!("boundary/laplace-vector.toml")),
    ("discrete-laplace.toml", include_str!("boundary/discrete-laplace.toml")),
    ("randomized-response.toml", include_str!("boundary/randomized-response.toml")),
    ("histogram-exact-threshold.toml", include_str!("boundary/histogram-exact-threshold.toml")),
    ("gaussian.toml", include_str!("boundary/gaussian.toml")),
    ("gaussian-correlated.toml", include_str!("boundary/gaussian-correlated.toml")),
    ("gaussian-sampled.toml", include_str!("boundary/gaussian-sampled.toml")),
    ("gaussian-mu.toml", include_str!("boundary/gaussian-mu.toml")),
    ("gaussian-profile.toml", include_str!("boundary/gaussian-profile.toml")),
    ("randomized-response-renyi.toml", include_str!("boundary/randomized-response-renyi.toml")),
    ("randomized-response-rho.toml", include_str!("boundary/randomized-response-rho.toml")),
    (
        "canaries-randomized-response.toml",
        include_str!("boundary/canaries-randomized-response.toml"),
    ),
    (
        "canaries-randomized-response-3.toml",
        include_str!("boundary/canaries-randomized-response-3.toml"),
    ),
    ("canaries-revealed-together.toml", include_str!("boundary/canaries-revealed-together.toml")),
    ("canaries-all-or-nothing.toml", include_str!("boundary/canaries-all-or-nothing.toml")),
    ("canaries-sharp.toml", include_str!("boundary/canaries-sharp.toml")),
    ("canaries-shared-loss.toml", include_str!("boundary/canaries-shared-loss.toml")),
    ("canaries-shared-loss-runs.toml", include_str!("boundary/canaries-shared-loss-runs.toml")),
    ("canaries-shared-loss-steps.toml", include_str!("boundary/canaries-shared-loss-steps.toml")),
    ("canaries-gaussian.toml", include_str!("boundary/canaries-gaussian.toml")),
];

/// By which factors the noise of the power curves is too small.
const NOISE_FACTORS: [f64; 7] = [1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0];

/// The audits of mechanisms that leak exactly as much as they claim.
///
/// # Errors
/// When one of the files is not a valid audit.
pub fn boundary_audits() -> Result<Vec<Audit>, Error> {
    BOUNDARY.iter().map(|(file, text)| suite::parse(Path::new(file), text)).collect()
}

/// The audits of the power curves: Laplace noise that is too small, one audit for each factor.
///
/// # Errors
/// Never, as long as [`too_little_noise`] creates a valid audit.
pub fn power_audits() -> Result<Vec<Audit>, Error> {
    NOISE_FACTORS.into_iter().map(too_little_noise).collect()
}

/// A Laplace count that claims ε = 1 and whose noise is too small by this factor.
///
/// Its ε is the factor `f`. Its δ at ε = 1 is the integral of `max(0, p − e·q)`, where `p` and `q`
/// are the densities on the smaller and on the larger count: `1 − e^((1 − f)/2)`.
///
/// # Errors
/// When the factor is below 1, or not finite.
pub fn too_little_noise(factor: f64) -> Result<Audit, Error> {
    let text = format!(
        r#"
        name = "noise {factor} times too small"
        mechanism = "laplace"
        params = {{ query = "count", epsilon = 1.0, scale_factor = {scale:?} }}
        claim = {{ epsilon = 1.0 }}
        relation = "add-remove"
        expect = "violated"
        truth = {{ epsilon = {factor:?}, delta = {delta:?} }}

        [[pair]]
        name = "one record more"
        left = ["x"]
        right = ["x", "x"]
        "#,
        scale = 1.0 / factor,
        delta = 1.0 - ((1.0 - factor) / 2.0).exp(),
    );
    suite::parse(Path::new("laplace-short.toml"), &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Expectation;

    #[test]
    fn every_file_in_the_folder_is_part_of_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/calibrate/boundary");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut known: Vec<&str> = BOUNDARY.iter().map(|(file, _)| *file).collect();
        files.sort_unstable();
        known.sort_unstable();
        assert_eq!(files, known);
    }

    #[test]
    fn boundary_audits_expect_a_claim_that_holds_and_state_the_truth() {
        let audits = boundary_audits().unwrap();
        for audit in &audits {
            assert_eq!(audit.expect, Expectation::Consistent, "{}", audit.name);
            // A truth is an ε and a δ. In other units the comment of the file derives the claim.
            let in_epsilon = audit.claim.second().is_some();
            for pair in audit.pairs.iter().filter(|_| in_epsilon) {
                let (epsilon, delta) = (pair.truth.epsilon.unwrap(), pair.truth.delta.unwrap());
                // On the boundary, the claimed δ is used up; if it is zero, the claimed ε.
                assert_eq!(delta, audit.claim.delta(), "{}", audit.name);
                assert!(epsilon == audit.claim.epsilon() || delta > 0.0, "{}", audit.name);
            }
        }
    }

    #[test]
    fn the_stated_delta_is_the_integral_over_the_densities() {
        // δ = ∫ max(0, p − e·q) for counts 0 and 1 and noise of scale 1/f, by the midpoint rule.
        for factor in [1.1, 2.0] {
            let density = |x: f64, centre: f64| 0.5 * factor * (-(x - centre).abs() * factor).exp();
            let step = 1e-4;
            let integral: f64 = (-200_000..200_000)
                .map(|i| (f64::from(i) + 0.5) * step)
                .map(|x| (density(x, 0.0) - 1_f64.exp() * density(x, 1.0)).max(0.0))
                .sum();
            let stated = too_little_noise(factor).unwrap().pairs[0].truth.delta.unwrap();
            assert!(
                (integral * step - stated).abs() < 1e-6,
                "{} against {stated}",
                integral * step
            );
        }
    }
}
