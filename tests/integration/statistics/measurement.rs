//! Measurements without a claim: what is shown is above the truth no more often than the
//! confidence allows, for all δ and all units at once, and not far below it.

use dp_audit::{Audit, Measurement, Preparer};

use crate::harness::{assert_rare, committed, laplace, settings};

/// The δ of the table. A bound at any of them counts.
const DELTAS: [f64; 6] = [0.0, 1e-5, 1e-3, 1e-2, 0.05, 0.1];

fn measured(audits: &[Audit], draws: u64, seed: u64) -> Measurement {
    let lenses: Vec<Audit> = audits
        .iter()
        .flat_map(|audit| {
            let lenses = audit.lenses().expect("lenses");
            lenses.into_iter().map(|lens| Audit { draws: Some(draws), ..lens })
        })
        .collect();
    let settings = dp_audit::Settings { draws: None, ..settings(1, seed) };
    let run = dp_audit::run(&lenses, settings, &Preparer::default(), &());
    let mut found = Measurement::all(audits, &run, &DELTAS);
    assert_eq!((found.len(), found[0].error.as_ref()), (1, None));
    found.remove(0)
}

/// The true profile, with the smallest number of a double above it.
struct Truth {
    epsilon: fn(f64) -> f64,
    delta: fn(f64) -> f64,
    mu: f64,
    rho: f64,
}

impl Truth {
    fn is_exceeded(&self, found: &Measurement) -> bool {
        const ROUNDING: f64 = 1e-9;
        found.epsilon.iter().any(|at| at.epsilon_lower > (self.epsilon)(at.delta) + ROUNDING)
            || found.profile.iter().any(|at| at.delta_lower > (self.delta)(at.epsilon) + ROUNDING)
            || found.mu_lower > self.mu + ROUNDING
            || found.rho_lower > self.rho + ROUNDING
    }
}

/// Over seeds: how often anything is above the truth, and the means of the bounds on ε at the first
/// δ and on μ.
fn check(audits: &[Audit], truth: &Truth, draws: u64, seeds: u64) -> [f64; 2] {
    let found: Vec<Measurement> = (0..seeds).map(|seed| measured(audits, draws, seed)).collect();
    let above = found.iter().filter(|found| truth.is_exceeded(found)).count();
    assert_rare("measurements above the truth", above, seeds, 0.05);
    let mean = |of: &dyn Fn(&Measurement) -> f64| found.iter().map(of).sum::<f64>() / seeds as f64;
    [mean(&|found| found.epsilon[0].epsilon_lower), mean(&|found| found.mu_lower)]
}

#[test]
fn a_laplace_profile_is_measured_from_below_everywhere() {
    // δ(ε) = 1 − e^((ε−1)/2) for noise of scale 1. Its largest μ is that of the event at ½:
    // Φ⁻¹(0.69673) − Φ⁻¹(0.30327) = 1.03. ρ is at most ε²/2 (Bun & Steinke 2016).
    let truth = Truth {
        epsilon: |delta| (1.0 + 2.0 * (1.0 - delta).ln()).max(0.0),
        delta: |epsilon| (1.0 - (0.5 * (epsilon - 1.0)).exp()).max(0.0),
        mu: 1.031,
        rho: 0.5,
    };
    let [epsilon, mu] = check(&laplace(1.0), &truth, 20_000, 60);
    // A single audit of 20,000 draws shows 0.95; three lenses share α.
    assert!(epsilon > 0.85 && mu > 0.85, "ε {epsilon}, μ {mu}");
}

#[test]
fn a_gaussian_profile_is_measured_from_below_in_its_own_unit() {
    // σ = 1.8779: exactly (1, 0.01), μ = 1/σ and ρ = 1/(2σ²). Without δ there is no ε.
    let truth = Truth {
        epsilon: |delta| if delta >= 0.01 { 1.0 } else { f64::INFINITY },
        delta: |epsilon| if epsilon >= 1.0 { 0.01 } else { 1.0 },
        mu: 1.0 / 1.877_875_560_907_386,
        rho: 0.5 / 1.877_875_560_907_386_f64.powi(2),
    };
    let [_, mu] = check(&committed("basics/gaussian-exact.toml"), &truth, 20_000, 40);
    assert!(mu > 0.4, "μ {mu}");
}
