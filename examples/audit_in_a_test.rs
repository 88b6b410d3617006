//! How to audit a mechanism of your own in `cargo test`: `cargo run --release --example
//! audit_in_a_test` shows what the assertions say.

use dp_audit::Finding;
use dp_audit::{noise::Generator, noise::laplace};

/// The mean of values between 0 and 1 with Laplace noise, or nothing if there are too few of them.
///
/// *Claim*: ε. *Neighbours*: one value replaced. *The bug*: without `clamp` one wild value moves
/// the mean as far as it likes.
fn noisy_mean(values: &[f64], epsilon: f64, clamp: bool, rng: &mut Generator) -> Option<f64> {
    if values.len() < 3 {
        return None;
    }
    let sum: f64 =
        values.iter().map(|value| if clamp { value.clamp(0.0, 1.0) } else { *value }).sum();
    Some(sum / values.len() as f64 + laplace(rng, 1.0 / (values.len() as f64 * epsilon)))
}

fn audit(clamp: bool) -> Finding {
    dp_audit::audit(move |values: &Vec<f64>, rng| noisy_mean(values, 0.5, clamp, rng))
        .claim(0.5, 0.0)
        // As far apart as one value can be, and a value out of range.
        .pair(vec![0.0, 0.5, 1.0], vec![1.0, 0.5, 1.0])
        .pair(vec![0.0, 0.5, 1.0], vec![3.0, 0.5, 1.0])
        .draws(1_000_000)
        .seed(7)
        .run()
}

fn main() {
    let right = audit(true);
    println!("{right}\n");
    right.assert_consistent();
    let wrong = audit(false);
    println!("{wrong}");
    wrong.assert_violated();
}
