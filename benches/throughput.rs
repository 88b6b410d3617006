//! Where the time of an audit goes: `cargo bench --bench throughput [-- DRAWS]`.
//!
//! Every stage of a Laplace audit, as a ratio to a bare loop that draws the same noise with the same generator on the same threads. All are
//! measured in turn in one run and the fastest of each counts, because machines are shared.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use dp_audit::attack::{Attack, Explorer, GuessRule};
use dp_audit::evidence::wealth::{Bet, Ledger};
use dp_audit::evidence::{Bounds, Certified, Level};
use dp_audit::noise::{self, Generator};
use dp_audit::run::{self, Settings, Until};
use dp_audit::sample::{PairStream, Phase, Sampler, Tally};
use dp_audit::spec::{self, Audit};
use rand::SeedableRng;
use rayon::prelude::*;

const ROUNDS: usize = 3;

/// What is timed: a name, the draws it makes, and the work.
type Stage<'a> = (&'a str, u64, Box<dyn Fn() + 'a>);

fn main() {
    let draws: u64 = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(100_000_000);
    let file: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits", "basics", "laplace-count.toml"].iter().collect();
    let audits = spec::load(&[file]).unwrap_or_else(|error| panic!("{error}"));
    let audit = &audits[0];
    let settings = Settings { draws: Some(draws), seed: 1, confidence: spec::Confidence::default(), until: Until::Budget };
    let (rules, bets) = learn(audit, draws / 8);
    let stages: [Stage; 6] = [
        ("bare loop", draws, Box::new(|| bare_loop(draws))),
        ("sampling", draws, Box::new(|| sample(audit, draws))),
        ("exploring (draws/8)", draws / 8, Box::new(|| drop(black_box(learn(audit, draws / 8))))),
        ("certifying", draws, Box::new(|| certify(audit, draws, &rules))),
        ("bounds", draws, Box::new(|| bounds(audit, &rules, &bets))),
        ("whole audit", draws, Box::new(|| drop(black_box(run::run(&audits, settings, &[]))))),
    ];
    let mut fastest = vec![f64::INFINITY; stages.len()];
    for _ in 0..ROUNDS {
        for ((_, _, work), fastest) in stages.iter().zip(&mut fastest) {
            *fastest = fastest.min(seconds(work));
        }
    }
    let threads = rayon::current_num_threads();
    println!("{draws} draws on {threads} threads");
    println!("{:<20} {:>9} {:>17} {:>11}", "", "seconds", "M draws/s per core", "ratio");
    for ((name, draws, _), seconds) in stages.iter().zip(&fastest) {
        let rate = *draws as f64 / seconds / 1e6 / threads as f64;
        println!("{name:<20} {seconds:>9.4} {rate:>17.1} {:>12.3}", seconds / fastest[0]);
    }
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
    let count = |sum: &mut usize, _, rows: &dp_audit::cell::Rows| *sum += black_box(rows).len();
    let _ = black_box(sampler(audit, Phase::Certify).fold(draws, || 0, count, |all, next| *all += next));
}

/// Exploration in two rounds: draws that are kept, then draws that are counted. The rules, and a bet on each.
fn learn(audit: &Audit, draws: u64) -> (Vec<GuessRule>, Vec<Bet>) {
    let mut sampler = sampler(audit, Phase::Explore);
    let mut explorer = Explorer::new(1, &Attack::DEFAULT, audit.claim, draws);
    for part in [draws / 8, draws - draws / 8] {
        explorer.absorb(&mut sampler, part, &[]).unwrap_or_else(|error| panic!("{error}"));
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
    let certified: Vec<Certified> =
        rules.iter().zip(bets).map(|(rule, bet)| Certified { tally: bet.tally, regions: rule.regions(), share: 0.5 }).collect();
    black_box(Bounds::new(&ledger, &certified, audit.claim, Level::of_pair(0.999, 1)));
}
