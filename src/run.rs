//! The pipeline: explore, freeze, certify, judge.

use std::time::Instant;

use crate::attack::{Explorer, GuessRule, Learned};
use crate::error::{Error, TargetError};
use crate::evidence::fixed::Limits;
use crate::evidence::wealth::{Bet, Ledger};
use crate::evidence::{Bounds, Certified, Level};
use crate::report::{AuditReport, Listener, PairReport, RunReport};
use crate::sample::{PairStream, Phase, Sampler, Schedule, Tally};
use crate::spec::{Audit, Confidence, Pair};
use crate::verdict::Verdict;

/// Draws per pair when neither the command line nor the audit file says.
pub const DEFAULT_DRAWS: u64 = 10_000_000;

/// When to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Until {
    /// When the budget is spent: the tightest bounds.
    #[default]
    Budget,
    /// As soon as the claim is refuted.
    Decided,
}

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Draws per pair; overrides the audit files.
    pub draws: Option<u64>,
    /// From which all random streams derive.
    pub seed: u64,
    /// The confidence of all bounds of the run together.
    pub confidence: Confidence,
    /// When to stop.
    pub until: Until,
}

/// Sets the number of worker threads; all cores if none is given.
///
/// # Errors
/// When they cannot be started.
pub fn use_threads(threads: Option<u16>) -> Result<(), Error> {
    let Some(threads) = threads.map(usize::from) else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })
}

/// Runs all audits in order; listeners hear of each as it ends. A mechanism that cannot be run is reported, and the others still run.
pub fn run(audits: &[Audit], settings: Settings, listeners: &[&dyn Listener]) -> RunReport {
    let pairs = audits.iter().map(|audit| audit.pairs.len()).sum();
    let level = Level::of_pair(settings.confidence.get(), pairs);
    let mut report = RunReport { settings, pairs, audits: Vec::new() };
    for audit in audits {
        listeners.iter().for_each(|listener| listener.audit_started(audit, budget(audit, settings)));
        let pairs = audit.pairs.iter().map(|pair| run_pair(audit, pair, level, settings, listeners)).collect();
        report.audits.push(AuditReport::new(audit, pairs));
        listeners.iter().for_each(|listener| listener.audit_finished(&report));
    }
    report
}

/// The draws that an audit may make for each of its pairs.
fn budget(audit: &Audit, settings: Settings) -> u64 {
    settings.draws.or(audit.draws).unwrap_or(DEFAULT_DRAWS)
}

/// Audits one pair: the whole data flow.
fn run_pair(audit: &Audit, pair: &Pair, level: Level, settings: Settings, listeners: &[&dyn Listener]) -> Result<PairReport, TargetError> {
    let started = Instant::now();
    let claim = audit.claim;
    let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
    let schedule = Schedule::new(budget(audit, settings));
    let stream = PairStream::new(settings.seed, &audit.name, &pair.name);
    let drawn = |draws| listeners.iter().for_each(|listener| listener.drawn(draws));
    let mut ledger = Ledger::default();
    let mut draws = 0;
    let decided = |ledger: &Ledger| settings.until == Until::Decided && ledger.refutes(epsilon, delta, level.anytime());
    let look = |ledger: &Ledger| {
        let bound = ledger.epsilon_lower(delta, level.anytime());
        listeners.iter().for_each(|listener| listener.looked(bound));
    };

    let mut sampler = Sampler::new(pair.target.as_ref(), stream, Phase::Explore, &drawn);
    let mut explorer = Explorer::new(pair.target.width(), &audit.attacks, claim);
    let mut learned: Vec<Learned> = Vec::new();
    let mut judged: Vec<Tally> = Vec::new();
    for &round in &schedule.rounds {
        let rules: Vec<GuessRule> = learned.iter().map(|learned| learned.rule.clone()).collect();
        let tallies = explorer.absorb(&mut sampler, round, &rules)?.0;
        draws += round;
        if !learned.is_empty() {
            ledger.push(bets(&learned, &tallies));
            judged.resize(tallies.len(), Tally::default());
            judged.iter_mut().zip(&tallies).for_each(|(sum, tally)| *sum += *tally);
            look(&ledger);
        }
        if decided(&ledger) {
            break;
        }
        learned = explorer.learn();
    }

    let mut sampler = Sampler::new(pair.target.as_ref(), stream, Phase::Certify, &drawn);
    let rules: Vec<GuessRule> = learned.iter().map(|learned| learned.rule.clone()).collect();
    let shares = shares(&rules);
    let mut certified: Vec<Certified> = rules
        .iter()
        .zip(&shares)
        .map(|(rule, share)| Certified { tally: Tally::default(), regions: rule.regions(), share: *share })
        .collect();
    let mut complete = true;
    for &size in &schedule.looks {
        if decided(&ledger) {
            complete = false;
            break;
        }
        let tallies = sampler.judge(size, &rules)?.0;
        draws += size;
        ledger.push(bets(&learned, &tallies));
        for ((certified, learned), tally) in certified.iter_mut().zip(&mut learned).zip(&tallies) {
            certified.tally += *tally;
            learned.forecast = learned.forecast.and(*tally);
        }
        look(&ledger);
    }

    // Fixed-sample limits hold only for the sample size that was fixed beforehand.
    let bounds = Bounds::new(&ledger, if complete { &certified } else { &[] }, claim, level);
    let best = (0..certified.len()).max_by(|a, b| {
        let bound = |index: usize| {
            let Certified { tally, regions, share } = certified[index];
            Limits::new(tally, regions, level.fixed(share)).epsilon_lower(delta)
        };
        // The first of equals.
        bound(*a).total_cmp(&bound(*b)).then(b.cmp(a))
    });
    let tally = best.map_or_else(Tally::default, |best| {
        if complete { certified[best].tally } else { certified[best].tally + judged.get(best).copied().unwrap_or_default() }
    });
    Ok(PairReport {
        pair: pair.name.clone(),
        expect: pair.expect,
        truth: pair.truth,
        verdict: Verdict::new(&bounds, claim, audit.resolution),
        bounds,
        draws,
        tally,
        regions: best.map_or(0, |best| certified[best].regions),
        rule: best.map(|best| rules[best].clone()),
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Each rule's bet on the draws it was just judged on; the forecast is from before them.
fn bets(learned: &[Learned], tallies: &[Tally]) -> Vec<Bet> {
    learned
        .iter()
        .zip(tallies)
        .map(|(learned, tally)| Bet { forecast: learned.forecast, regions: learned.rule.regions(), tally: *tally })
        .collect()
}

/// How α is divided over the frozen rules: most for the ε bound. Equal rules need no division.
fn shares(rules: &[GuessRule]) -> Vec<f64> {
    match rules {
        [] => Vec::new(),
        [first, rest @ ..] if rest.iter().all(|rule| rule == first) => std::iter::once(1.0).chain(rest.iter().map(|_| 0.0)).collect(),
        [_, rest @ ..] => std::iter::once(0.9).chain(rest.iter().map(|_| 0.1 / rest.len() as f64)).collect(),
    }
}
