//! How few draws refute a broken claim? Each mechanism is audited with many seeds until its claim is
//! refuted, and the draws of both sides together are counted.
//!
//! ```sh
//! cargo run --release --example few_draws -- 100
//! ```
//!
//! A second argument selects the mechanisms whose name contains it. `scripts/few_draws.py` makes the
//! table of programs, Rust closures and Python functions.

use std::env;

use dp_audit::noise::{Generator, below, bernoulli, gaussian, laplace};
use dp_audit::{Finding, MechanismAudit, Output, Until};

/// The most draws of an audit.
const DRAWS: u64 = 20_000;

fn main() {
    let mut args = env::args().skip(1);
    let seeds: u64 = args.next().and_then(|count| count.parse().ok()).unwrap_or(100);
    let only = args.next().unwrap_or_default();
    let measure = |name: &str, audit: &dyn Fn(u64) -> Finding| {
        if name.contains(&only) {
            let counts = (0..seeds).map(|seed| draws(&audit(seed))).collect();
            println!("{}", row(name, counts));
        }
    };
    println!("mechanism,runs,mean,lower,upper,median,missed");
    for epsilon in [0.01, 0.1, 0.9, 1.0] {
        measure(&format!("mean + Laplace (2/(nε)) ε = {epsilon}"), &|seed| {
            let noise = move |values: &Vec<f64>, rng: &mut Generator| {
                mean(values) + laplace(rng, 2.0 / (values.len() as f64 * epsilon))
            };
            found(dp_audit::audit(noise).claim(epsilon, 0.0), seed)
        });
    }
    for epsilon in [0.01, 0.1] {
        measure(&format!("mean + Gaussian of (ε; 1e-5) ε = {epsilon}"), &|seed| {
            let sigma = 2.0 * (2.0 * (1.25e5_f64).ln()).sqrt() / epsilon;
            let noise = move |values: &Vec<f64>, rng: &mut Generator| {
                mean(values) + gaussian(rng, sigma / values.len() as f64)
            };
            found(dp_audit::audit(noise).claim(epsilon, 1e-5), seed)
        });
    }
    for mu in [0.5, 0.8] {
        measure(&format!("N(0;1) / N(1;1) claim μ = {mu}"), &|seed| {
            let noise = |values: &Vec<f64>, rng: &mut Generator| count(values) + gaussian(rng, 1.0);
            found(dp_audit::audit(noise).claim_of(dp_audit::Claim::mu(mu)), seed)
        });
    }
    measure("Laplace(1) claim ε = 0.8", &|seed| {
        let noise = |values: &Vec<f64>, rng: &mut Generator| count(values) + laplace(rng, 1.0);
        found(dp_audit::audit(noise).claim(0.8, 0.0), seed)
    });
    measure("Laplace half the noise claim 1", &|seed| {
        let noise = |values: &Vec<f64>, rng: &mut Generator| count(values) + laplace(rng, 0.5);
        found(dp_audit::audit(noise).claim(1.0, 0.0), seed)
    });
    measure("a constant that differs claim 1", &|seed| {
        let constant = |values: &Vec<f64>, _: &mut Generator| count(values);
        found(dp_audit::audit(constant).claim(1.0, 0.0), seed)
    });
    measure("vector of ten with half the noise claim 1", &|seed| {
        let noise = |values: &Vec<f64>, rng: &mut Generator| {
            (0..10).map(|_| count(values) + laplace(rng, 5.0)).collect::<Vec<f64>>()
        };
        found(dp_audit::audit(noise).claim(1.0, 0.0), seed)
    });
    measure("symbols: randomized response of 2 claim 1", &|seed| {
        let answer = |values: &Vec<f64>, rng: &mut Generator| {
            let truth = if values.len() > 1 { 3 } else { 0 };
            let kept = bernoulli(rng, 2.0_f64.exp() / (2.0_f64.exp() + 3.0));
            let shown = if kept { truth } else { (truth + 1 + below(rng, 3)) % 4 };
            ["red", "green", "blue", "black"][usize::from(shown)].to_owned()
        };
        found(dp_audit::audit(answer).claim(1.0, 0.0), seed)
    });
    measure("text with a noisy number half the noise claim 1", &|seed| {
        let text = |values: &Vec<f64>, rng: &mut Generator| {
            format!("there are {:.2} records", count(values) + laplace(rng, 0.5))
        };
        found(dp_audit::audit(text).claim(1.0, 0.0), seed)
    });
    measure("list of random length half the noise claim 1", &|seed| {
        let list = |values: &Vec<f64>, rng: &mut Generator| {
            let length = 1 + below(rng, 3);
            (0..length).map(|_| count(values) + laplace(rng, 0.5)).collect::<Vec<f64>>()
        };
        found(dp_audit::audit(list).claim(1.0, 0.0), seed)
    });
}

fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count(values)
}

/// One audit at a confidence of 95 % that ends as soon as it is decided.
fn found<O, F>(audit: MechanismAudit<Vec<f64>, O, F>, seed: u64) -> Finding
where
    O: Output + 'static,
    F: Fn(&Vec<f64>, &mut Generator) -> O + Send + Sync + 'static,
{
    audit
        .pair(vec![0.0], vec![0.0, 1.0])
        .draws(DRAWS)
        .seed(seed)
        .confidence(0.95)
        .until(Until::Decided)
        .run()
}

/// The draws until the claim was refuted; none if it was not.
fn draws(finding: &Finding) -> Option<u64> {
    let (_, evidence) = finding.report().audits[0].privacy().next().expect("the mechanism runs");
    let refuted = finding.verdict() == Ok(dp_audit::Verdict::Violated);
    refuted.then_some(evidence.draws)
}

/// Mean with a 99 % interval, median, and how many runs refuted nothing; these count with all draws.
fn row(name: &str, counts: Vec<Option<u64>>) -> String {
    let missed = counts.iter().filter(|count| count.is_none()).count();
    let mut counts: Vec<f64> =
        counts.into_iter().map(|count| count.unwrap_or(DRAWS) as f64).collect();
    counts.sort_by(f64::total_cmp);
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let margin = 2.626 * (variance / n).sqrt();
    format!(
        "{name},{n},{mean:.0},{:.0},{:.0},{:.0},{missed}",
        mean - margin,
        mean + margin,
        counts[counts.len() / 2]
    )
}
