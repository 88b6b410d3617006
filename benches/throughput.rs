//! Where the time of an audit goes: `cargo bench --bench throughput [-- DRAWS]`.
//!
//! Every stage of a Laplace audit, as a ratio to a bare loop that draws the same noise with the same generator, on one thread and on all. Everything is
//! measured in turn in one run and the fastest of each counts, because machines are shared. What is not about a single number per draw follows with its own rate.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use dp_audit::attack::{Attack, Explorer, GuessRule, Plan};
use dp_audit::cell::Rows;
use dp_audit::evidence::wealth::{Bet, Ledger};
use dp_audit::evidence::{Bounds, Certified, Level};
use dp_audit::noise::{self, Generator};
use dp_audit::run::{self, Settings, Until};
use dp_audit::sample::{PairStream, Phase, Sampler, Schedule, Tally};
use dp_audit::spec::{self, Audit};
use rand::SeedableRng;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often everything is measured.
const ROUNDS: usize = 5;

/// The rows from which rules for a wide output are learned.
const WIDE_ROWS: u64 = 250_000;

/// What is timed: a name, the draws it makes, and the work.
type Stage<'a> = (&'a str, u64, Box<dyn Fn() + Send + Sync + 'a>);

fn main() {
    let draws: u64 = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(100_000_000);
    let audits = load("basics/laplace-count.toml");
    let audit = &audits[0];
    let explored = draws / 8;
    let (rules, bets) = learn(audit, explored);
    let stages: [Stage; 6] = [
        ("bare loop", draws, Box::new(|| bare_loop(draws))),
        ("sampling", draws, Box::new(|| sample(audit, draws))),
        ("exploring 1/8", explored, Box::new(|| drop(black_box(learn(audit, explored))))),
        ("certifying", draws, Box::new(|| certify(audit, draws, &rules))),
        ("bounds", 0, Box::new(|| bounds(audit, &rules, &bets))),
        ("whole audit", draws, Box::new(|| run_all(&audits, draws))),
    ];
    let cores = rayon::current_num_threads();
    let pools = [1, cores].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap_or_else(|error| panic!("{error}")));
    let times = measure(&stages, &pools);
    println!("{draws} draws");
    println!(
        "{:<14} {:>9} {:>8} {:>11}   {:>9} {:>8} {:>11}   {:>8}",
        "",
        "1 thread",
        "ratio",
        "M draws/s",
        format!("{cores} threads"),
        "ratio",
        "M draws/s",
        "faster by"
    );
    for ((name, draws, _), seconds) in stages.iter().zip(&times) {
        let columns = |pool: usize| {
            let rate = *draws as f64 / seconds[pool] / 1e6;
            format!("{:>7.4} s {:>8.3} {rate:>11.1}", seconds[pool], seconds[pool] / times[0][pool])
        };
        println!("{name:<14} {}   {}   {:>8.2}", columns(0), columns(1), seconds[0] / seconds[1]);
    }

    let wide = load("benchmark/laplace-parallel.toml");
    let seconds = seconds(|| drop(black_box(learn(&wide[0], WIDE_ROWS))));
    println!("\nlearning rules for 20 cells from {WIDE_ROWS} rows, drawing included: {seconds:.2} s");
    programs();
}

/// The fastest of all rounds, for each stage on each pool.
fn measure(stages: &[Stage], pools: &[ThreadPool; 2]) -> Vec<[f64; 2]> {
    let mut fastest = vec![[f64::INFINITY; 2]; stages.len()];
    for _ in 0..ROUNDS {
        for ((_, _, work), fastest) in stages.iter().zip(&mut fastest) {
            for (pool, fastest) in pools.iter().zip(fastest) {
                *fastest = fastest.min(pool.install(|| seconds(work)));
            }
        }
    }
    fastest
}

/// Programs in Python: one call a draw, and a batch of draws a call. Errors (no Python, no numpy) are shown in place of a rate.
fn programs() {
    for (name, file, draws) in [("one call a draw", "noisy-sum.toml", 400_000), ("vectorised", "noisy-sum-vectorised.toml", 20_000_000)] {
        let audits = load(&format!("examples/{file}"));
        let started = Instant::now();
        let report = run::run(&audits, settings(draws), &[]);
        let rate = draws as f64 / started.elapsed().as_secs_f64() / 1e6;
        match &report.audits[0].pairs[0].1 {
            Ok(_) => println!("a program in Python, {name}: {rate:.2} M draws/s"),
            Err(error) => println!("a program in Python, {name}: {error}"),
        }
    }
}

fn load(file: &str) -> Vec<Audit> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits", file].iter().collect();
    spec::load(&[path]).unwrap_or_else(|error| panic!("{error}"))
}

fn settings(draws: u64) -> Settings {
    Settings { draws: Some(draws), seed: 1, confidence: spec::Confidence::default(), until: Until::Budget }
}

fn run_all(audits: &[Audit], draws: u64) {
    black_box(run::run(audits, settings(draws), &[]));
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

fn sampler(audit: &Audit, phase: Phase) -> Sampler<'_> {
    let opened = Sampler::open(audit.pairs[0].target.as_ref(), PairStream::new(1, "throughput", ""), phase, &|_| ());
    opened.unwrap_or_else(|error| panic!("{error}"))
}

/// Rows that nobody looks at.
fn sample(audit: &Audit, draws: u64) {
    let count = |sum: &mut usize, _, rows: &Rows| *sum += black_box(rows).len();
    let _ = black_box(sampler(audit, Phase::Certify).fold(draws, || 0, count, |all, next| *all += next));
}

/// Exploration in the rounds of an audit. The rules, and a bet on each.
fn learn(audit: &Audit, draws: u64) -> (Vec<GuessRule>, Vec<Bet>) {
    let mut sampler = sampler(audit, Phase::Explore);
    let plan = Plan { explore: draws, certify: 7 * draws, alpha: 0.05 };
    let mut explorer = Explorer::new(sampler.width(), &Attack::DEFAULT, audit.claim, plan);
    for round in Schedule::new(8 * draws).rounds {
        explorer.absorb(&mut sampler, round, &[]).unwrap_or_else(|error| panic!("{error}"));
    }
    let learned = explorer.learn();
    let tally = Tally { correct: 4 * draws / 10, wrong: 15 * draws / 100, abstained: 45 * draws / 100 };
    let bets = learned.iter().map(|learned| Bet { forecast: learned.forecast, regions: learned.rule.regions(), tally }).collect();
    (learned.into_iter().map(|learned| learned.rule).collect(), bets)
}

fn certify(audit: &Audit, draws: u64, rules: &[GuessRule]) {
    let _ = black_box(sampler(audit, Phase::Certify).judge(draws, rules));
}

/// The bounds of a run with twenty looks.
fn bounds(audit: &Audit, rules: &[GuessRule], bets: &[Bet]) {
    let mut ledger = Ledger::default();
    (0..20).for_each(|_| ledger.push(bets.to_vec()));
    let level = Level::of_pair(0.999, 1);
    let certified: Vec<Certified> =
        rules.iter().zip(bets).map(|(rule, bet)| Certified::new(bet.tally, rule.regions(), level.fixed(0.5))).collect();
    black_box(Bounds::new(&ledger, &certified, audit.claim, level));
}
