//! How much an audit costs beyond the noise it draws: `cargo bench --bench throughput [-- DRAWS]`.
//!
//! Prints the time of a Laplace audit as a ratio to a bare loop that draws the same noise with the same generator on the same threads. Both are
//! measured alternately in one run and the fastest of each counts, because machines are shared.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use dp_audit::noise::{self, Generator};
use dp_audit::run::{self, Settings, Until};
use dp_audit::spec;
use rand::SeedableRng;
use rayon::prelude::*;

const ROUNDS: usize = 3;

fn main() {
    let draws: u64 = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(100_000_000);
    let file: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits", "basics", "laplace-count.toml"].iter().collect();
    let audits = spec::load(&[file]).unwrap_or_else(|error| panic!("{error}"));
    let settings = Settings { draws: Some(draws), seed: 1, confidence: spec::Confidence::default(), until: Until::Budget };
    let (mut bare, mut audit) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        bare = bare.min(seconds(|| bare_loop(draws)));
        audit = audit.min(seconds(|| {
            black_box(run::run(&audits, settings, &[]));
        }));
    }
    let rate = |seconds: f64| draws as f64 / seconds / 1e6;
    println!("{draws} draws on {} threads", rayon::current_num_threads());
    println!("bare loop      {bare:8.3} s  {:7.1} M draws/s", rate(bare));
    println!("Laplace audit  {audit:8.3} s  {:7.1} M draws/s", rate(audit));
    println!("ratio          {:8.2}", audit / bare);
}

fn seconds(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

/// Noise and nothing else; the sum keeps the compiler from dropping it.
fn bare_loop(draws: u64) {
    const BATCH: u64 = 65_536;
    let sum: f64 = (0..draws.div_ceil(BATCH))
        .into_par_iter()
        .map(|batch| {
            let mut rng = Generator::seed_from_u64(batch);
            (0..BATCH.min(draws - batch * BATCH)).map(|_| noise::laplace(&mut rng, 1.0)).sum::<f64>()
        })
        .sum();
    black_box(sum);
}
