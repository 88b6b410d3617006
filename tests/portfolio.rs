//! Leaks that no single component shows must be found by the portfolio of attacks.

mod common;

use common::{audit, committed, report, settings};
use dp_audit::cell::Cell;
use dp_audit::mechanism::{InProcess, Mechanism, Universe};
use dp_audit::noise::{Generator, bernoulli, gaussian, laplace};
use dp_audit::spec::{Audit, Dataset};
use dp_audit::verdict::Verdict;

const WIDTH: usize = 10;

/// The audit of a mechanism defined here, on `[0]` against `[1]`, under a claim of ε.
fn audit_of<M: Mechanism<Params = ()>>(epsilon: f64) -> Vec<Audit> {
    let text = format!(
        r#"
        name = "{}"
        mechanism = "laplace"
        params = {{ query = "count", epsilon = 1.0 }}
        claim = {{ epsilon = {epsilon:?} }}
        relation = "replace-one"
        [[pair]]
        name = "0 or 1"
        left = [0]
        right = [1]
        "#,
        M::NAME
    );
    let mut audits = audit(&text);
    let pair = &mut audits[0].pairs[0];
    pair.target = Box::new(InProcess::<M>::prepare(&(), &pair.left, &pair.right).unwrap());
    audits
}

fn bit(data: &Dataset) -> Result<bool, String> {
    Ok(data.numbers()? == [1.0])
}

/// Ten Gaussian components; the bit shows only in whether components 3 and 8 have the same sign (e^1 to 1).
struct Parity(f64);

impl Mechanism for Parity {
    const NAME: &'static str = "parity";
    const SUMMARY: &'static str = "leaks in the parity of two signs";
    type Params = ();

    fn prepare((): &(), data: &Dataset, _: &Universe) -> Result<Self, String> {
        let keep = 1.0 / (1.0 + (-1.0_f64).exp());
        Ok(Self(if bit(data)? { keep } else { 1.0 - keep }))
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let mut values = [0.0; WIDTH];
        values.iter_mut().for_each(|value| *value = gaussian(rng, 1.0));
        let same = bernoulli(rng, self.0);
        if (values[2] * values[7] > 0.0) != same {
            values[7] = -values[7];
        }
        row.iter_mut().zip(values).for_each(|(cell, value)| *cell = Cell::number(value));
    }
}

/// Ten components that share one large noise; the bit shows only in the difference of components 2 and 6 (true ε = 1 there).
struct SharedNoise(f64);

impl Mechanism for SharedNoise {
    const NAME: &'static str = "shared noise";
    const SUMMARY: &'static str = "leaks in the difference of two components";
    type Params = ();

    fn prepare((): &(), data: &Dataset, _: &Universe) -> Result<Self, String> {
        Ok(Self(f64::from(u8::from(bit(data)?))))
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
        let shared = laplace(rng, 1000.0);
        for (index, cell) in row.iter_mut().enumerate() {
            // Noise of its own on every component keeps all other differences silent.
            let own = match index {
                1 => 0.0,
                5 => self.0 + laplace(rng, 1.0),
                _ => laplace(rng, 1000.0),
            };
            *cell = Cell::number(shared + own);
        }
    }
}

#[test]
fn a_leak_in_the_parity_of_two_signs_is_found() {
    let found = report(&audit_of::<Parity>(0.5), settings(400_000, 1));
    assert_eq!(found.verdict, Verdict::Violated, "{:?}", found.bounds);
    assert!(found.bounds.epsilon_lower > 0.9 && found.bounds.epsilon_lower <= 1.0, "{:?}", found.bounds);
}

#[test]
fn a_leak_in_the_difference_of_two_components_is_found() {
    let found = report(&audit_of::<SharedNoise>(0.1), settings(400_000, 1));
    assert_eq!(found.verdict, Verdict::Violated, "{:?}", found.bounds);
    assert!(found.bounds.epsilon_lower > 0.9 && found.bounds.epsilon_lower <= 1.001, "{:?}", found.bounds);
}

#[test]
fn many_weak_components_add_up() {
    // Sixteen counts that all move by one, Laplace noise for an ε of 0.1 each: 1.6 in all, of which the attack must get most.
    let categories: Vec<String> = (0..16).map(|index| format!("\"{}\"", char::from(b'a' + index))).collect();
    let audits = audit(&format!(
        r#"
        name = "sixteen"
        mechanism = "laplace"
        params = {{ query = "histogram", epsilon = 0.1 }}
        claim = {{ epsilon = 0.1 }}
        relation = "custom"
        reason = "a person has one record in each of sixteen categories"
        [[pair]]
        name = "one person more"
        left = [{0}]
        right = [{0}, {0}]
        "#,
        categories.join(", ")
    ));
    let found = report(&audits, settings(2_000_000, 1));
    assert!(found.bounds.epsilon_lower > 1.0 && found.bounds.epsilon_lower <= 1.6, "{:?}", found.bounds);
}

#[test]
fn a_rare_row_is_followed_to_the_end() {
    // Ten answers of a sparse vector: the worst output has a mass of 0.022 and an odds ratio of e^0.08823 (numerical integration, as in the audit file). With 26 million draws to certify on,
    // a rule that knows it has a standard error of 1/√(26e6 · 0.022 / 4) = 0.0026, less 1.65 of them for the confidence; five more for luck and learning.
    let mut audits = committed("benchmark/svt2.toml");
    audits[0].pairs.retain(|pair| pair.name == "1^10 / 2^5 0^5");
    let found = report(&audits, settings(30_000_000, 1));
    assert!(found.bounds.epsilon_lower > 0.08823 - 6.65 * 0.0026, "{:?}", found.bounds);
    assert!(found.bounds.epsilon_lower <= 0.088_231, "{:?}", found.bounds);
}
