//! The pipeline: explore, freeze, certify, judge.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::attack::{Explorer, GuessRule, Learned, Plan};
use crate::error::{Error, TargetError};
use crate::evidence::fixed::Shown;
use crate::evidence::wealth::{Bet, Ledger};
use crate::evidence::{Bounds, Certified, Level};
use crate::report::picture::Sketch;
use crate::report::{AuditReport, Listener, PairReport, RunReport};
use crate::sample::{PairStream, Phase, Sampler, Schedule, Tally};
use crate::spec::{Audit, Confidence, Pair};
use crate::verdict::Verdict;
use crate::witness::{Found, Witness};

/// Draws per pair when neither the command line nor the audit file says.
pub const DEFAULT_DRAWS: u64 = 10_000_000;

/// More draws per pair than this are taken for a slip of the pen.
pub const MOST_DRAWS: u64 = 1_000_000_000_000;

/// A number of draws per pair, if it is one.
///
/// # Errors
/// What it is and must be.
pub fn check_draws(draws: u64) -> Result<u64, String> {
    if (1..=MOST_DRAWS).contains(&draws) { Ok(draws) } else { Err(format!("is {draws}, must be a whole number from 1 to {MOST_DRAWS:e}")) }
}

/// Up to so many exploration draws, every round is learned from.
const EARLY: u64 = 4096;

/// Rules that bet from the beginning. A bold one comes too late for that and is only certified.
const PURSES: usize = 2;

/// The share of the frozen rules' α that a bold one takes.
const SHARE_OF_BOLD: f64 = 0.4;

/// When to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// When the budget is spent: the tightest bounds.
    #[default]
    Budget,
    /// As soon as the claim is refuted.
    Decided,
}

/// The settings of a run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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
    run_rest(audits, settings, &|_| None, listeners)
}

/// Does the same, but for audits whose pairs are reported on already.
pub fn run_rest(
    audits: &[Audit],
    settings: Settings,
    found: &dyn Fn(&Audit) -> Option<Vec<PairReport>>,
    listeners: &[&dyn Listener],
) -> RunReport {
    let pairs = audits.iter().map(|audit| audit.pairs.len()).sum();
    let level = Level::of_pair(settings.confidence.get(), pairs);
    let mut report = RunReport { settings, pairs, audits: Vec::new() };
    for audit in audits {
        listeners.iter().for_each(|listener| listener.audit_started(audit, budget(audit, settings)));
        let pairs = match found(audit) {
            Some(reports) => reports.into_iter().map(Ok).collect(),
            None => audit.pairs.iter().map(|pair| run_pair(audit, pair, level, settings, listeners)).collect(),
        };
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
    let mut game = Game { audit, pair, level, settings, listeners, ledger: Ledger::default(), looked_at: Vec::new(), draws: 0 };
    let schedule = Schedule::new(budget(audit, settings));
    let certified = game.explore(&schedule).and_then(|explored| game.certify(explored, &schedule.looks));
    let report = certified.map(|certified| game.report(certified, started));
    pair.target.close();
    report
}

/// One pair being audited.
struct Game<'a> {
    audit: &'a Audit,
    pair: &'a Pair,
    level: Level,
    settings: Settings,
    listeners: &'a [&'a dyn Listener],
    ledger: Ledger,
    /// The draws made before each look.
    looked_at: Vec<u64>,
    draws: u64,
}

/// Rules on their way: learned so far, and how each purse's rules did on the draws they were judged on.
#[derive(Default)]
struct Played {
    learned: Vec<Learned>,
    tallies: Vec<Tally>,
}

impl Played {
    fn rules(&self) -> Vec<GuessRule> {
        self.learned.iter().map(|learned| learned.rule.clone()).collect()
    }

    fn add(&mut self, tallies: &[Tally]) {
        self.tallies.resize(tallies.len().max(self.tallies.len()), Tally::default());
        self.tallies.iter_mut().zip(tallies).for_each(|(sum, tally)| *sum += *tally);
    }
}

/// What the certify phase left: the frozen rules, and their tallies if the fixed sample was completed.
struct Certification {
    learned: Vec<Learned>,
    certified: Vec<Certified>,
    complete: bool,
}

impl Game<'_> {
    /// Learns rules in doubling rounds; each round is already judged with the rules of the rounds before it.
    fn explore(&mut self, schedule: &Schedule) -> Result<Played, TargetError> {
        let listeners = self.listeners;
        let drawn = |draws| listeners.iter().for_each(|listener| listener.drawn(draws));
        let mut sampler = Sampler::open(self.pair.target.as_ref(), self.stream(), Phase::Explore, &drawn)?;
        let rounds = &schedule.rounds;
        let plan = Plan { explore: rounds.iter().sum(), certify: schedule.certify(), alpha: self.level.fixed(SHARE_OF_BOLD) };
        let mut explorer = Explorer::new(sampler.width(), &self.audit.attacks, self.audit.claim, plan);
        let mut played = Played::default();
        let mut learned_at = 0;
        for (index, &round) in rounds.iter().enumerate() {
            let tallies = explorer.absorb(&mut sampler, round, &played.rules())?.0;
            self.draws += round;
            if !tallies.is_empty() {
                self.look(&played.learned, &tallies);
                played.add(&tallies);
            }
            if self.decided() {
                break;
            }
            // Early rounds are cheap to learn from and may settle the matter; later on, fourfold draws are worth a new rule, and the last round is.
            let last = index + 1 == rounds.len();
            if last || self.draws <= EARLY || self.draws >= 4 * learned_at {
                played.learned = explorer.learn();
                learned_at = self.draws;
            }
            if last {
                let bold = played.learned.first().and_then(|first| explorer.bolder(first));
                played.learned.extend(bold);
            }
        }
        sampler.check_independence()?;
        Ok(played)
    }

    /// Judges the frozen rules on fresh draws, in doubling looks.
    fn certify(&mut self, explored: Played, looks: &[u64]) -> Result<Certification, TargetError> {
        let listeners = self.listeners;
        let drawn = |draws| listeners.iter().for_each(|listener| listener.drawn(draws));
        let mut sampler = Sampler::open(self.pair.target.as_ref(), self.stream(), Phase::Certify, &drawn)?;
        let rules = explored.rules();
        let mut learned = explored.learned;
        let mut played = Played::default();
        played.add(&vec![Tally::default(); rules.len()]);
        let mut complete = true;
        for &size in looks {
            if self.decided() {
                complete = false;
                // What there is to show is then the whole path, exploration included.
                played.add(&explored.tallies);
                break;
            }
            let tallies = sampler.judge(size, &rules)?.0;
            self.draws += size;
            self.look(&learned, &tallies);
            played.add(&tallies);
            learned.iter_mut().zip(&tallies).for_each(|(learned, tally)| learned.forecast = learned.forecast.and(*tally));
        }
        sampler.check_independence()?;
        let shares = shares(&rules);
        let certified = rules.iter().zip(&played.tallies).zip(shares);
        let certified = certified.map(|((rule, tally), share)| Certified::new(*tally, rule.regions(), self.level.fixed(share))).collect();
        Ok(Certification { learned, certified, complete })
    }

    /// Bounds, verdict, and the rule that did best.
    fn report(self, certification: Certification, started: Instant) -> PairReport {
        let Certification { learned, certified, complete } = certification;
        let claim = self.audit.claim;
        // Fixed-sample limits hold only for the sample size that was fixed beforehand.
        let fixed: &[Certified] = if complete { &certified } else { &[] };
        let bounds = Bounds::new(&self.ledger, fixed, claim, self.level);
        let reached = |part: usize| certified[part].limits().epsilon_lower(claim.delta.get());
        let shows: Vec<Shown> = certified.iter().map(|part| part.shown(claim.delta.get())).collect();
        // The first of equals.
        let best = (0..certified.len()).reduce(|best, next| if reached(next) > reached(best) { next } else { best });
        let (tally, regions) = best.map_or((Tally::default(), 0), |best| (certified[best].tally, certified[best].regions));
        // A rule without a share of α has no limit, and is another one's double.
        let limited = certified.iter().zip(&shows).filter(|(part, _)| part.alpha() > 0.0);
        let shown = Shown {
            estimate: best.map_or(0.0, |best| shows[best].estimate),
            upper: limited.map(|(_, shown)| shown.upper).reduce(f64::max).unwrap_or(f64::INFINITY),
        };
        let learned = best.map(|best| &learned[best]);
        let verdict = Verdict::new(&bounds, claim, self.audit.resolution);
        let witness = match learned {
            // Without a file there is nothing to find the audit by.
            Some(Learned { rule, .. }) if verdict == Verdict::Violated && self.audit.is_from_file() => {
                let Settings { seed, confidence, .. } = self.settings;
                Some(Witness::new(self.audit, self.pair, &Found { seed, confidence, draws: self.draws, tally, bounds, rule }))
            }
            _ => None,
        };
        let (ledger, looked_at, level) = (&self.ledger, self.looked_at.as_slice(), self.level);
        let picture = Sketch { learned, certified: fixed, ledger, looked_at, claim, bounds, level }.picture();
        PairReport {
            pair: self.pair.name.clone(),
            left: self.pair.left.to_string(),
            right: self.pair.right.to_string(),
            expect: self.pair.expect,
            truth: self.pair.truth,
            verdict,
            bounds,
            shown,
            draws: self.draws,
            tally,
            regions,
            rule: learned.map(|learned| learned.rule.clone()),
            picture,
            witness,
            reproducible: self.pair.target.reproducible(),
            seconds: started.elapsed().as_secs_f64(),
        }
    }

    fn stream(&self) -> PairStream {
        PairStream::new(self.settings.seed, &self.audit.name, &self.pair.name)
    }

    /// Enters the bets on draws that were just judged; their forecasts are from before.
    fn look(&mut self, learned: &[Learned], tallies: &[Tally]) {
        let bets = learned.iter().zip(tallies).take(PURSES);
        self.looked_at.push(self.draws);
        self.ledger.push(bets.map(|(l, tally)| Bet { forecast: l.forecast, regions: l.rule.regions(), tally: *tally }).collect());
        // In small audits the bound takes longer than the draws: it is computed if somebody wants to hear it.
        if !self.listeners.is_empty() {
            let bound = self.anytime_bound();
            self.listeners.iter().for_each(|listener| listener.looked(bound));
        }
    }

    /// Whether nothing more needs to be drawn.
    fn decided(&self) -> bool {
        self.settings.until == Until::Decided && self.anytime_bound() > self.audit.claim.epsilon.get()
    }

    /// The ε bound that holds at any time.
    fn anytime_bound(&self) -> f64 {
        let claim = self.audit.claim;
        self.ledger.epsilon_lower(claim.epsilon.get(), claim.delta.get(), self.level.anytime())
    }
}

/// How α is divided over the frozen rules: most for the ε bound, a tenth for the second rule unless it is the same, and two fifths for a bold one.
fn shares(rules: &[GuessRule]) -> Vec<f64> {
    match rules {
        [] => Vec::new(),
        [_] => vec![1.0],
        [first, second, bold @ ..] => {
            let for_second = if first == second { 0.0 } else { 0.1 };
            let for_bold = if bold.is_empty() { 0.0 } else { SHARE_OF_BOLD };
            [1.0 - for_second - for_bold, for_second].into_iter().chain(bold.iter().map(|_| for_bold / bold.len() as f64)).collect()
        }
    }
}
