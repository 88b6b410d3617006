//! Where the time of an audit goes: `cargo bench --bench throughput [-- DRAWS]`.
//!
//! Every stage of a Laplace audit, as a ratio to a bare loop that draws the same noise with the
//! same generator, on one thread and on all. Everything is measured in turn in one run and the
//! fastest of each counts, because machines are shared. What is not about a single number per draw
//! follows with its own rate.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use dp_audit::parts::{Bet, Ledger};
use dp_audit::parts::{Certified, Level, Method, Weights, bounds};
use dp_audit::parts::{DrawBudget, Explorer, GuessRule, judge};
use dp_audit::parts::{PairStream, Phase};
use dp_audit::parts::{Sampler, Schedule};
use dp_audit::{Attack, Audit, Finding, Output, Rows, Settings, Tally, Target, suite};
use dp_audit::{noise, noise::Generator};
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// How often everything is measured.
const ROUNDS: usize = 5;

/// The rows from which rules for a wide output are learned.
const WIDE_ROWS: u64 = 250_000;

/// What is timed: a name, the draws it makes, and the work.
type Stage<'a> = (&'a str, u64, Box<dyn Fn() + Send + Sync + 'a>);

fn main() {
    let draws: u64 =
        std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(100_000_000);
    let audits = load("basics/laplace-count.toml");
    let audit = &audits[0];
    let explored = draws / 8;
    let target = &prepared(audit);
    let (rules, bets) = learn(audit, target.as_ref(), explored);
    let stages: [Stage; 6] = [
        ("bare loop", draws, Box::new(|| bare_loop(draws))),
        ("sampling", draws, Box::new(|| sample(target.as_ref(), draws))),
        (
            "exploring 1/8",
            explored,
            Box::new(|| drop(black_box(learn(audit, target.as_ref(), explored)))),
        ),
        ("certifying", draws, Box::new(|| certify(target.as_ref(), draws, &rules))),
        ("bounds", 0, Box::new(|| all_bounds(audit, &rules, &bets))),
        ("whole audit", draws, Box::new(|| run_all(&audits, draws))),
    ];
    let cores = rayon::current_num_threads();
    let pools = [1, cores].map(|threads| {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap_or_else(|error| panic!("{error}"))
    });
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
    let seconds =
        seconds(|| drop(black_box(learn(&wide[0], prepared(&wide[0]).as_ref(), WIDE_ROWS))));
    println!(
        "\nlearning rules for 20 cells from {WIDE_ROWS} rows, drawing included: {seconds:.2} s"
    );
    closures(&pools);
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

/// Closures of a test: what a draw costs when the output is a number, a truth value or a text.
fn closures(pools: &[ThreadPool; 2]) {
    const DRAWS: u64 = 10_000_000;
    let stages: [Stage; 3] = [
        (
            "f64",
            DRAWS,
            Box::new(|| closure(DRAWS, |bits| f64::from_bits(0x3ff0_0000_0000_0000 | bits >> 12))),
        ),
        ("bool", DRAWS, Box::new(|| closure(DRAWS, |bits| bits >> 63 == 0))),
        (
            "&str",
            DRAWS / 10,
            Box::new(|| {
                closure(DRAWS / 10, |bits| if bits >> 63 == 0 { "heads" } else { "tails" });
            }),
        ),
    ];
    let times = measure(&stages, pools);
    println!("\nclosures, whole audit, ns per draw on 1 thread and on all, and as ratios to f64");
    let per_draw = |kind: usize, pool: usize| 1e9 * times[kind][pool] / stages[kind].1 as f64;
    for (kind, (name, ..)) in stages.iter().enumerate() {
        let columns = |pool| {
            format!(
                "{:>8.1} {:>8.2}",
                per_draw(kind, pool),
                per_draw(kind, pool) / per_draw(0, pool)
            )
        };
        println!(
            "{name:<14} {}   {}   {:>8.2}",
            columns(0),
            columns(1),
            times[kind][0] / times[kind][1]
        );
    }
}

fn closure<O: Output + 'static>(draws: u64, output: fn(u64) -> O) {
    let audited = dp_audit::audit(move |(): &(), rng| output(rng.next_u64()));
    let finding: Finding = audited.claim(1.0, 0.0).pair((), ()).draws(draws).run();
    black_box(finding);
}

/// Programs in Python: one call a draw, and a batch of draws a call. Errors (no Python, no numpy)
/// are shown in place of a rate.
fn programs() {
    for (name, file, draws) in [
        ("one call a draw", "noisy-sum.toml", 400_000),
        ("vectorised", "noisy-sum-vectorised.toml", 20_000_000),
    ] {
        let audits = load(&format!("examples/{file}"));
        let started = Instant::now();
        let report = dp_audit::run(&audits, settings(draws), &dp_audit::prepare, &());
        let rate = draws as f64 / started.elapsed().as_secs_f64() / 1e6;
        match &report.audits[0].results[0].outcome {
            Ok(_) => println!("a program in Python, {name}: {rate:.2} M draws/s"),
            Err(error) => println!("a program in Python, {name}: {error}"),
        }
    }
}

fn load(file: &str) -> Vec<Audit> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits", file].iter().collect();
    suite::load(&[path]).unwrap_or_else(|error| panic!("{error}"))
}

fn settings(draws: u64) -> Settings {
    Settings { draws: Some(draws), seed: 1, ..Settings::default() }
}

fn run_all(audits: &[Audit], draws: u64) {
    black_box(dp_audit::run(audits, settings(draws), &dp_audit::prepare, &()));
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
            (0..BATCH.min(draws - batch * BATCH))
                .map(|_| noise::laplace(&mut rng, 1.0))
                .sum::<f64>()
        })
        .sum();
    black_box(sum);
}

/// The target of an audit's first pair.
fn prepared(audit: &Audit) -> Box<dyn Target> {
    let plan =
        audit.plans(settings(1), 1).next().unwrap_or_else(|| panic!("{} has no pair", audit.name));
    dp_audit::prepare(plan.pair()).unwrap_or_else(|error| panic!("{error}"))
}

fn sampler(target: &dyn Target, phase: Phase) -> Sampler<'_> {
    let opened = Sampler::open(target, PairStream::new(1, "throughput", ""), phase, &|_| ());
    opened.unwrap_or_else(|error| panic!("{error}"))
}

/// Rows that nobody looks at.
fn sample(target: &dyn Target, draws: u64) {
    let count = |sum: &mut usize, _, rows: &Rows| *sum += black_box(rows).len();
    let _ = black_box(sampler(target, Phase::Certify).fold(
        draws,
        || 0,
        count,
        |all, next| *all += next,
    ));
}

/// Exploration in the rounds of an audit. The rules, and a bet on each.
fn learn(audit: &Audit, target: &dyn Target, draws: u64) -> (Vec<GuessRule>, Vec<Bet>) {
    let mut sampler = sampler(target, Phase::Explore);
    let budget = DrawBudget { explore: draws, certify: 7 * draws, alpha: 0.05 };
    let mut explorer = Explorer::new(sampler.width(), &Attack::DEFAULT, &audit.claim, budget);
    for round in Schedule::new(8 * draws).rounds {
        explorer.absorb(&mut sampler, round, &[]).unwrap_or_else(|error| panic!("{error}"));
    }
    let learned = explorer.learn();
    let tally =
        Tally { correct: 4 * draws / 10, wrong: 15 * draws / 100, abstained: 45 * draws / 100 };
    let bets = learned
        .iter()
        .map(|learned| Bet { forecast: learned.forecast, regions: learned.rule.regions(), tally })
        .collect();
    (learned.into_iter().map(|learned| learned.rule).collect(), bets)
}

fn certify(target: &dyn Target, draws: u64, rules: &[GuessRule]) {
    let _ = black_box(judge(&mut sampler(target, Phase::Certify), draws, rules));
}

/// The bounds of a run with twenty looks.
fn all_bounds(audit: &Audit, rules: &[GuessRule], bets: &[Bet]) {
    let mut ledger = Ledger::default();
    (0..20).for_each(|_| ledger.push(bets.to_vec()));
    let level = Level::of_pair(0.001, 1);
    let certified: Vec<Certified> = rules
        .iter()
        .zip(bets)
        .map(|(rule, bet)| {
            Certified::new(
                bet.tally,
                rule.regions(),
                level.fixed(0.5),
                &audit.claim,
                Method::Region(Weights::ONLY_RIGHT),
            )
        })
        .collect();
    black_box(bounds(&ledger, &certified, None, &audit.claim, level));
}
