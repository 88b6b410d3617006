//! Audits mechanisms whose draws depend on each other, although each single draw is exactly on its
//! claim, and prints one CSV row per case: how many of the runs were refused, flagged and passed.
//!
//! ```sh
//! cargo run --release --example dependence -- [--seeds 300] [--independent 500] [--draws 20000] [CASE …]
//! ```
//!
//! A run of `scripts/dependence.py` makes `results/reference/dependence.md` from it. All audits
//! have a claim of ε = 1 and a confidence of 95 %. Every random number comes from the seed, except
//! that of programs, which have fresh randomness in each process.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, BufRead, Write as _};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use dp_audit::fronts::{Recorded, RowOrder, SampleNames, draws};
use dp_audit::noise::{Generator, discrete_laplace, gaussian, laplace};
use dp_audit::rand::{RngExt, SeedableRng, seq::SliceRandom};
use dp_audit::{
    Audit, Cell, Claim, Output, OutputRow, PairPlan, PrepareError, Rows, RunReport, Settings,
    Target, Until, Verdict,
};
use rayon::prelude::*;
use serde_json::{Value, json};

/// How a case ends: of all runs, those that are an error and those that are violated.
#[derive(Clone, Copy, Default)]
struct Ends {
    refused: u32,
    flagged: u32,
    runs: u32,
}

/// What a run is asked for.
#[derive(Clone, Copy)]
struct Asked {
    seed: u64,
    draws: u64,
}

/// The next noise of a mechanism that remembers. It gets the number of draws before this one.
type Noise = Box<dyn FnMut(u64) -> f64 + Send>;

/// A released output.
enum Release {
    Number(f64),
    Numbers([f64; 3]),
    Text(String),
}

impl Output for Release {
    fn write(&self, row: &mut OutputRow) {
        match self {
            Self::Number(number) => number.write(row),
            Self::Numbers(numbers) => numbers.write(row),
            Self::Text(text) => text.write(row),
        }
    }
}

/// Laplace noise of scale 1 from a uniform number.
fn laplace_at(uniform: f64) -> f64 {
    let from_middle = uniform.clamp(1e-12, 1.0 - 1e-12) - 0.5;
    -from_middle.signum() * (1.0 - 2.0 * from_middle.abs()).ln()
}

/// The standard normal distribution function (Abramowitz, Stegun 26.2.17; error below 1e-7).
fn normal_below(value: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * value.abs());
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = series * (-0.5 * value * value).exp() / std::f64::consts::TAU.sqrt();
    if value > 0.0 { 1.0 - tail } else { tail }
}

/// Noise of which a part is repeated from `lag` draws earlier.
fn repeated(seed: u64, lag: usize, part: f64, fresh: fn(&mut Generator) -> f64) -> Noise {
    let mut rng = Generator::seed_from_u64(seed);
    let mut past = VecDeque::new();
    Box::new(move |_| {
        let old = if past.len() == lag { past.pop_front() } else { None };
        let noise = old.filter(|_| rng.random_bool(part)).unwrap_or_else(|| fresh(&mut rng));
        past.push_back(noise);
        noise
    })
}

/// Laplace noise from a Gaussian process with this correlation between neighbours.
fn autoregressive(seed: u64, rho: f64) -> Noise {
    let mut rng = Generator::seed_from_u64(seed);
    let mut level = gaussian(&mut rng, 1.0);
    Box::new(move |_| {
        level = rho * level + gaussian(&mut rng, (1.0 - rho * rho).sqrt());
        laplace_at(normal_below(level))
    })
}

/// Fresh Laplace noise on an offset that both sides share and that depends on the time.
fn drifting(seed: u64, offset: impl Fn(f64) -> f64 + Send + 'static) -> Noise {
    let mut rng = Generator::seed_from_u64(seed);
    Box::new(move |index| offset(index as f64) + laplace(&mut rng, 1.0))
}

/// A pool of noise that is dealt out like cards, and shuffled when it is used up.
fn dealt(seed: u64, size: usize) -> Noise {
    let mut rng = Generator::seed_from_u64(seed);
    let mut pool: Vec<f64> = (0..size).map(|_| laplace(&mut rng, 1.0)).collect();
    let mut next = size;
    Box::new(move |_| {
        if next == size {
            pool.shuffle(&mut rng);
            next = 0;
        }
        next += 1;
        pool[next - 1]
    })
}

/// Noise of a mechanism that remembers, by the name of the case.
fn noise(case: &str, Asked { seed, draws }: Asked) -> Option<Noise> {
    let discrete: fn(&mut Generator) -> f64 = |rng| discrete_laplace(rng, 1.0);
    let continuous: fn(&mut Generator) -> f64 = |rng| laplace(rng, 1.0);
    let length = draws as f64;
    Some(match case {
        "half of a discrete noise from 8 draws earlier" => repeated(seed, 8, 0.5, discrete),
        "half of a discrete noise from 16 draws earlier" => repeated(seed, 16, 0.5, discrete),
        "half of a discrete noise from 100 draws earlier" => repeated(seed, 100, 0.5, discrete),
        "half of a discrete noise from 1,000 draws earlier" => repeated(seed, 1000, 0.5, discrete),
        "a fifth of a discrete noise from 8 draws earlier" => repeated(seed, 8, 0.2, discrete),
        "half of a continuous noise from 100 draws earlier" => repeated(seed, 100, 0.5, continuous),
        "AR(1), correlation 0.05" => autoregressive(seed, 0.05),
        "AR(1), correlation 0.2" => autoregressive(seed, 0.2),
        "antithetic pairs" => {
            let mut rng = Generator::seed_from_u64(seed);
            let mut last = 0.0;
            Box::new(move |index| {
                last = if index % 2 == 0 { laplace(&mut rng, 1.0) } else { -last };
                last
            })
        }
        "low-discrepancy draws" => {
            let start: f64 = Generator::seed_from_u64(seed).random();
            // Multiples of the golden ratio, modulo 1.
            Box::new(move |index| laplace_at((start + index as f64 * 0.618_033_988_749_895) % 1.0))
        }
        "dealt from a pool of 1,000, shuffled when used up" => dealt(seed, 1000),
        "linear drift by 1 over the run" => drifting(seed, move |index| index / length),
        "linear drift by 0.2 over the run" => drifting(seed, move |index| 0.2 * index / length),
        "a wave of amplitude 0.5, one period in 3,000 draws" => {
            drifting(seed, |index| 0.5 * (std::f64::consts::TAU * index / 3000.0).sin())
        }
        "a level for 50 draws each, a tenth of the variance" => {
            let mut levels = Generator::seed_from_u64(seed + (1 << 32));
            let mut rng = Generator::seed_from_u64(seed);
            let mut level = 0.0;
            Box::new(move |index| {
                if index % 50 == 0 {
                    level = gaussian(&mut levels, 0.47);
                }
                level + laplace(&mut rng, 1.0)
            })
        }
        _ => return None,
    })
}

const REMEMBERING: [&str; 15] = [
    "half of a discrete noise from 8 draws earlier",
    "half of a discrete noise from 16 draws earlier",
    "half of a discrete noise from 100 draws earlier",
    "half of a discrete noise from 1,000 draws earlier",
    "a fifth of a discrete noise from 8 draws earlier",
    "half of a continuous noise from 100 draws earlier",
    "AR(1), correlation 0.05",
    "AR(1), correlation 0.2",
    "antithetic pairs",
    "low-discrepancy draws",
    "dealt from a pool of 1,000, shuffled when used up",
    "linear drift by 1 over the run",
    "linear drift by 0.2 over the run",
    "a wave of amplitude 0.5, one period in 3,000 draws",
    "a level for 50 draws each, a tenth of the variance",
];

const PROGRAMS: [&str; 4] = [
    "program: a pool of 1,000 whole numbers per process",
    "program: a level per request, a tenth of the variance",
    "program: a level per request, a hundredth of the variance",
    "program: linear drift by 1 in 20,000 draws",
];

const FILES: [&str; 5] = [
    "file: each row four times, shuffled",
    "file: each row four times, shuffled, discrete",
    "file: every second row twice, shuffled",
    "file: linear drift by 1",
    "file: a level for 50 rows each, a tenth of the variance",
];

const INDEPENDENT: [&str; 5] = [
    "independent: continuous",
    "independent: discrete",
    "independent: constant",
    "independent: vector",
    "independent: text",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1).peekable();
    if args.peek().map(String::as_str) == Some("--child") {
        return child(&args.nth(1).ok_or("no case")?);
    }
    let (mut seeds, mut independent, mut draws, mut cases) = (300, 500, 20_000, Vec::new());
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a number"));
        match arg.as_str() {
            "--seeds" => seeds = value()?.parse()?,
            "--independent" => independent = value()?.parse()?,
            "--draws" => draws = value()?.parse()?,
            _ => cases.push(arg),
        }
    }
    println!("case,runs,refused,flagged");
    let all = REMEMBERING.iter().chain(&PROGRAMS).chain(&FILES).chain(&INDEPENDENT);
    for case in all.filter(|case| cases.is_empty() || cases.iter().any(|part| case.contains(part)))
    {
        let runs = if INDEPENDENT.contains(case) { independent } else { seeds };
        let ends = (0..runs).into_par_iter().map(|seed| run(case, Asked { seed, draws })).reduce(
            Ends::default,
            |one, other| Ends {
                refused: one.refused + other.refused,
                flagged: one.flagged + other.flagged,
                runs: one.runs + other.runs,
            },
        );
        println!("\"{case}\",{},{},{}", ends.runs, ends.refused, ends.flagged);
    }
    Ok(())
}

fn settings(asked: Asked) -> Settings {
    Settings {
        draws: Some(asked.draws),
        seed: asked.seed,
        confidence: 0.95.try_into().expect("a confidence"),
        until: Until::Budget,
        controls: false,
        ..Settings::default()
    }
}

fn run(case: &str, asked: Asked) -> Ends {
    if PROGRAMS.contains(&case) {
        return ends(&program(case, asked));
    }
    if FILES.contains(&case) {
        return ends(&file(case, asked));
    }
    // One thread, so that a mechanism that remembers is called in a fixed order.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    alone.install(|| {
        let finding = dp_audit::audit(mechanism(case, asked))
            .claim(1.0, 0.0)
            .pair(0.0, 1.0)
            .draws(asked.draws)
            .seed(asked.seed)
            .confidence(0.95)
            .until(Until::Budget)
            .run();
        ends(finding.report())
    })
}

/// A mechanism on one of two neighbours, with the answers 0 and 1.
fn mechanism(
    case: &str,
    asked: Asked,
) -> impl Fn(&f64, &mut Generator) -> Release + Send + Sync + 'static {
    let state = noise(case, asked).map(|noise| Mutex::new((0, noise)));
    let case = case.to_owned();
    move |answer, rng| {
        if let Some(state) = &state {
            let (drawn, noise) = &mut *state.lock().expect("no panic");
            *drawn += 1;
            return Release::Number(answer + noise(*drawn - 1));
        }
        match case.as_str() {
            "independent: continuous" => Release::Number(answer + laplace(rng, 1.0)),
            "independent: discrete" => Release::Number(answer + discrete_laplace(rng, 1.0)),
            "independent: constant" => Release::Number(1.0),
            "independent: vector" => {
                Release::Numbers([0.0, 2.0 * answer, -answer].map(|at| at + laplace(rng, 3.0)))
            }
            "independent: text" => {
                let count = answer + discrete_laplace(rng, 1.0);
                Release::Text(format!("about {count} of them"))
            }
            other => unreachable!("no mechanism is called {other}"),
        }
    }
}

fn ends(report: &RunReport) -> Ends {
    let judged = report.audits[0].statements().next().expect("a pair");
    let refused = judged.result.outcome.is_err();
    let flagged = !refused && judged.verdict().is_some_and(|verdict| verdict == Verdict::Violated);
    Ends { refused: refused.into(), flagged: flagged.into(), runs: 1 }
}

/// The audit of a program: this one, as a child.
fn program(case: &str, asked: Asked) -> RunReport {
    let folder = tempfile::tempdir().expect("a folder");
    let this = std::env::current_exe().expect("a path");
    let text = format!(
        "name = \"program\"\nrelation = \"add-remove\"\nmechanism = \"command\"\ncommand = [{:?}, \"--child\", {case:?}]\n\
         claim = {{ epsilon = 1.0 }}\n[[pair]]\nname = \"0 or 1\"\nleft = []\nright = [\"x\"]\n",
        this.display().to_string()
    );
    let file = folder.path().join("audit.toml");
    std::fs::write(&file, text).expect("a file");
    let audits = dp_audit::suite::load(&[file]).unwrap_or_else(|error| panic!("{error}"));
    dp_audit::run(&audits, settings(asked), &dp_audit::prepare, &())
}

/// Answers requests.
fn child(case: &str) -> Result<(), Box<dyn Error>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let fresh = u64::from(std::process::id()) << 40 ^ u64::try_from(now & (u128::MAX >> 65))?;
    let mut rng = Generator::seed_from_u64(fresh);
    let pool: Vec<f64> = (0..1000).map(|_| discrete_laplace(&mut rng, 1.0)).collect();
    let mut drawn = 0_u32;
    let mut out = io::stdout().lock();
    for (index, line) in io::stdin().lock().lines().enumerate() {
        let message: Value = serde_json::from_str(&line?)?;
        if index == 0 {
            writeln!(out, "{}", json!({ "dp_audit": 1, "width": 1, "seeded": false }))?;
            out.flush()?;
            continue;
        }
        let at = f64::from(u8::from(message["side"] == "right"));
        let level = match case {
            "program: a level per request, a tenth of the variance" => gaussian(&mut rng, 0.47),
            "program: a level per request, a hundredth of the variance" => {
                gaussian(&mut rng, 0.142)
            }
            _ => 0.0,
        };
        let mut noise = || {
            drawn += 1;
            match case {
                "program: a pool of 1,000 whole numbers per process" => {
                    pool[rng.random_range(0..pool.len())]
                }
                "program: linear drift by 1 in 20,000 draws" => {
                    f64::from(drawn) / 20_000.0 + laplace(&mut rng, 1.0)
                }
                _ => level + laplace(&mut rng, 1.0),
            }
        };
        let count = message["count"].as_u64().unwrap_or(0);
        let outputs: Vec<f64> = (0..count).map(|_| at + noise()).collect();
        writeln!(out, "{}", Value::from(outputs))?;
        out.flush()?;
    }
    Ok(())
}

/// The audit of two files with as many rows as the draws need.
fn file(case: &str, asked: Asked) -> RunReport {
    let mut rng = Generator::seed_from_u64(asked.seed);
    let rows = usize::try_from(asked.draws / 2).expect("a small number");
    let [left, right] = [0.0, 1.0].map(|at| {
        let mut values: Vec<f64> = match case {
            "file: each row four times, shuffled" => {
                (0..rows / 4).flat_map(|_| [laplace(&mut rng, 1.0); 4]).collect()
            }
            "file: each row four times, shuffled, discrete" => {
                (0..rows / 4).flat_map(|_| [discrete_laplace(&mut rng, 1.0); 4]).collect()
            }
            "file: every second row twice, shuffled" => (0..rows / 3)
                .flat_map(|_| {
                    let twice = laplace(&mut rng, 1.0);
                    [twice, twice, laplace(&mut rng, 1.0)]
                })
                .collect(),
            "file: linear drift by 1" => {
                (0..rows).map(|index| index as f64 / rows as f64 + laplace(&mut rng, 1.0)).collect()
            }
            _ => {
                let mut level = 0.0;
                (0..rows)
                    .map(|index| {
                        if index % 50 == 0 {
                            level = gaussian(&mut rng, 0.47);
                        }
                        level + laplace(&mut rng, 1.0)
                    })
                    .collect()
            }
        };
        if case.contains("shuffled") {
            values.shuffle(&mut rng);
        }
        let mut rows = Rows::new(1);
        values.iter().for_each(|value| rows.push(&[Cell::number(at + value)]));
        rows
    });
    let asked = Asked { draws: draws(left.len() as u64, right.len() as u64), ..asked };
    let names = SampleNames::default();
    let target: Arc<dyn Target> =
        Arc::new(Recorded::new(left, right, names, RowOrder::AsDrawn, asked.seed));
    let claim = Claim::new(1.0, 0.0).expect("a claim");
    let audit = Audit::given("files", "files", claim, ["0 or 1".to_owned()]);
    let source = |_: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
        Ok(Box::new(Arc::clone(&target)))
    };
    dp_audit::run(&[audit], settings(asked), &source, &())
}
