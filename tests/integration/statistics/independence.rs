//! Draws that depend on each other are reported, not judged; draws that never vary are judged.
//!
//! `scripts/dependence.py` measures how often more mistakes are reported. Independent draws are
//! reported with probability 6e-7 at most (`stats::independence::FALSE_ALARM`, twice) and
//! refuted with 0.001.

use std::sync::atomic::{AtomicU64, Ordering};

use dp_audit::fronts::ExitCode;
use dp_audit::fronts::Gate;
use dp_audit::noise::{Generator, bernoulli, discrete_laplace, gaussian, laplace};
use dp_audit::parts::PairStream;
use dp_audit::{
    Cell, Rows, RunReport, Settings, Side, StreamSeed, Target, TargetError, Until, Verdict,
};
use rand::SeedableRng;

use crate::harness::{Runnable as _, audit_of, defaults, found};

/// A mechanism that adds noise to 0 or 1 and may go wrong from one call of a batch to the next.
struct Batchwise(fn(Side, StreamSeed, usize) -> Vec<f64>);

impl Target for Batchwise {
    fn open(&self) -> Result<usize, TargetError> {
        Ok(1)
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let mut rows = Rows::new(1);
        let shift = f64::from(u8::from(side == Side::Right));
        (self.0)(side, seed, count)
            .into_iter()
            .for_each(|noise| rows.push(&[Cell::number(shift + noise)]));
        sink(&rows);
        Ok(())
    }
}

fn generator(seed: StreamSeed) -> Generator {
    Generator::from_seed(seed.bytes())
}

fn run(target: impl Target + 'static, draws: u64, until: Until) -> RunReport {
    audit_of(1.0, 0.0, target).run(Settings { draws: Some(draws), until, ..defaults(1) })
}

/// The complaint about a mechanism, which must be there at any budget and however the run ends.
fn complaint(noise: fn(Side, StreamSeed, usize) -> Vec<f64>) -> String {
    let mut last = String::new();
    let budgets = [
        (40_000, Until::Budget),
        (1_000_000, Until::Budget),
        (1_000_000, Until::Refuted),
        (1_000_000, Until::Decided),
    ];
    for (draws, until) in budgets {
        let report = run(Batchwise(noise), draws, until);
        assert_eq!(Gate::default().exit_code(&report, false), ExitCode::NotRun);
        let error = report.audits[0].results[0].outcome.as_ref().expect_err("not judged").clone();
        assert!(matches!(error, TargetError::NotIndependent { .. }), "{error}");
        last = error.to_string();
    }
    last
}

#[test]
fn cached_noise_is_reported() {
    let said = complaint(|_, seed, count| {
        let mut rng = generator(seed);
        let fresh: Vec<f64> = (0..count.div_ceil(2)).map(|_| laplace(&mut rng, 1.0)).collect();
        (0..count).map(|index| fresh[index / 2]).collect()
    });
    assert!(said.contains("each output depends on the one before it"), "{said}");
}

#[test]
fn a_generator_that_is_seeded_anew_every_hundred_calls_is_reported() {
    let said = complaint(|_, seed, count| {
        let mut rng = generator(seed);
        (0..count)
            .map(|index| {
                if index % 100 == 0 {
                    rng = generator(seed);
                }
                laplace(&mut rng, 1.0)
            })
            .collect()
    });
    assert!(said.contains("outputs in a row come up again"), "{said}");
}

#[test]
fn drifting_noise_is_reported() {
    complaint(|_, seed, count| {
        let mut rng = generator(seed);
        let mut level = 0.0;
        (0..count)
            .map(|_| {
                level = 0.5 * level + gaussian(&mut rng, 1.0);
                level
            })
            .collect()
    });
}

#[test]
fn noise_whose_size_is_drawn_once_per_batch_is_reported() {
    let said = complaint(|_, seed, count| {
        let mut rng = generator(seed);
        let size = laplace(&mut rng, 1.0).exp();
        (0..count).map(|_| laplace(&mut rng, size)).collect()
    });
    assert!(said.contains("in the size of the noise"), "{said}");
}

#[test]
fn discrete_noise_that_comes_again_is_reported() {
    let said = complaint(|_, seed, count| {
        let mut rng = generator(seed);
        let mut noise: Vec<f64> = Vec::new();
        for index in 0..count {
            let is_old = index >= 8 && bernoulli(&mut rng, 0.5);
            let next = if is_old { noise[index - 8] } else { discrete_laplace(&mut rng, 1.0) };
            noise.push(next);
        }
        noise
    });
    assert!(said.contains("8 draws before it"), "{said}");
}

#[test]
fn a_level_that_stays_for_some_draws_is_reported() {
    let said = complaint(|_, seed, count| {
        let mut rng = generator(seed);
        let mut level = 0.0;
        (0..count)
            .map(|index| {
                if index % 50 == 0 {
                    level = gaussian(&mut rng, 1.0);
                }
                level + laplace(&mut rng, 1.0)
            })
            .collect()
    });
    assert!(said.contains("depends on") || said.contains("changes over time"), "{said}");
}

/// Counts its calls and seeds both sides of a batch alike: on one thread they follow each other.
struct Shared(AtomicU64);

impl Target for Shared {
    fn open(&self) -> Result<usize, TargetError> {
        Ok(1)
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let batch = self.0.fetch_add(1, Ordering::Relaxed) / 2;
        let stream = PairStream::new(batch, "", "").side(seed.place().phase, 0, Side::Left);
        Batchwise(|_, seed, count| {
            let mut rng = generator(seed);
            (0..count).map(|_| laplace(&mut rng, 1.0)).collect()
        })
        .draw(side, count, stream, sink)
    }
}

#[test]
fn one_stream_for_left_and_right_is_reported() {
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let report = one_thread.install(|| run(Shared(AtomicU64::new(0)), 100_000, Until::Budget));
    let error = report.audits[0].results[0].outcome.as_ref().expect_err("not judged").to_string();
    assert!(error.contains("left and right depend on each other"), "{error}");
}

#[test]
fn one_stream_for_all_batches_is_reported() {
    let said = complaint(|side, _, count| {
        let mut rng = Generator::seed_from_u64(side as u64);
        (0..count).map(|_| laplace(&mut rng, 1.0)).collect()
    });
    assert!(said.contains("outputs in a row come up again"), "{said}");
}

#[test]
fn a_fixed_seed_in_every_call_is_no_noise_and_violated() {
    // Outputs that never vary are independent draws of a constant: the two sides can be told apart
    // for certain.
    let report = run(
        Batchwise(|_, _, count| vec![laplace(&mut Generator::seed_from_u64(7), 1.0); count]),
        1_000_000,
        Until::Budget,
    );
    let found = found(&report).expect("judged");
    assert_eq!(found.verdict, Verdict::Violated);
    assert!(found.bounds.epsilon_lower > 10.0);
}

#[test]
fn independent_draws_are_judged() {
    let report = run(
        Batchwise(|_, seed, count| {
            let mut rng = generator(seed);
            (0..count).map(|_| laplace(&mut rng, 1.0)).collect()
        }),
        1_000_000,
        Until::Budget,
    );
    assert_eq!(found(&report).expect("judged").verdict, Verdict::Consistent);
}
