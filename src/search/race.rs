//! The race: many candidates with few draws each, the better half gets twice as many.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rand::SeedableRng;
use rayon::prelude::*;

use super::find::Arena;
use super::found::SearchError;
use super::promise::{Look, Promise, promise};
use super::source::PairSource;
use crate::audit::{Event, Heat, Listener, Pair, PairPlan, Placing, Racer};
use crate::model::checked::Positive;
use crate::noise::Generator;
use crate::target::{PrepareError, ProcessProblem, TargetError};

/// Candidates that start together.
const ENTRANTS: usize = 64;
/// The draws of each in the first heat.
const FIRST_DRAWS: std::ops::RangeInclusive<u64> = 1024..=131_072;
/// The same for programs. They are slow, and what they leak when they fail on some data shows in
/// few draws.
const FIRST_DRAWS_OF_PROGRAMS: std::ops::RangeInclusive<u64> = 256..=2048;
/// The race of a generation ends with this many.
const WINNERS: usize = 4;
/// Candidates that are remembered as parents of new ones.
const ELITE: usize = 16;
/// With at most so many draws, a look is quick. All looks in a heat are.
const FEW: u64 = 1 << 15;
/// How many times more draws must confirm a candidate that looks certain.
const CONFIRM: u64 = 4;
/// At most so many times as many draws as in the heats settle what the best candidates promise: a
/// claim that is just met looks broken half of the time.
const SETTLE: u64 = 4;
/// If none of so many candidates can be run, none will be.
const GIVE_UP: usize = 2 * ENTRANTS;
/// No stream of an audit has such a name, because names in files have no control characters.
pub const OWN: char = '\u{1}';

/// A candidate and what it promised last.
#[derive(Clone, Debug)]
pub struct Entrant<P> {
    /// Its number among all racers; `None` for a pair that shrinking made.
    pub racer: Option<usize>,
    /// The candidate.
    pub pair: P,
    /// The draws of its last heat.
    pub draws: u64,
    /// What it promised there.
    pub promise: Promise,
    /// Whether it was looked at with as many draws as it deserves.
    settled: bool,
}

/// The draws and the time that were spent.
pub struct Meter {
    started: Instant,
    draws: AtomicU64,
    made: AtomicU64,
}

impl Meter {
    /// Starts now.
    pub fn start() -> Self {
        Self { started: Instant::now(), draws: AtomicU64::new(0), made: AtomicU64::new(0) }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The draws that were spent.
    pub fn draws(&self) -> u64 {
        self.draws.load(Ordering::Relaxed)
    }

    /// The draws that were really made. Without noise, one draw is as good as all of them.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// More draws were spent and made.
    pub fn add(&self, draws: u64, made: u64) {
        self.draws.fetch_add(draws, Ordering::Relaxed);
        self.made.fetch_add(made, Ordering::Relaxed);
    }
}

/// How far a part of the search may go.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Until so many draws were made in all.
    pub draws: u64,
    /// Until so many seconds have passed.
    pub seconds: f64,
}

/// The race.
pub struct Race<'a, S: PairSource, L: ?Sized> {
    pub(super) arena: &'a Arena<'a, S::Pair>,
    pub(super) source: &'a mut S,
    pub(super) meter: &'a Meter,
    listener: &'a L,
    rng: Generator,
    pub(super) elite: Vec<Entrant<S::Pair>>,
    pub(super) racers: Vec<Racer>,
    pub(super) heats: Vec<Heat>,
    pub(super) misfits: BTreeMap<String, usize>,
    /// A candidate on which the mechanism went wrong in a way that is not about its data, and how.
    pub(super) undecided: Option<(Pair, TargetError)>,
    fit: bool,
    /// The number of promises that were asked for: each has its own random streams.
    asked: u64,
    /// The draws of all heats.
    raced: u64,
    /// The draws that settled what candidates promise.
    settling: u64,
    pub(super) dry: bool,
}

impl<'a, S: PairSource, L: Listener + ?Sized> Race<'a, S, L> {
    /// A race without racers.
    pub fn new(
        arena: &'a Arena<'a, S::Pair>,
        source: &'a mut S,
        meter: &'a Meter,
        listener: &'a L,
    ) -> Self {
        Self {
            arena,
            source,
            meter,
            listener,
            rng: Generator::seed_from_u64(arena.settings.seed),
            elite: Vec::new(),
            racers: Vec::new(),
            heats: Vec::new(),
            misfits: BTreeMap::new(),
            undecided: None,
            fit: false,
            asked: 0,
            raced: 0,
            settling: 0,
            dry: false,
        }
    }

    /// Whether the budget is used up.
    pub fn is_over(&self, budget: Budget) -> bool {
        self.meter.draws() >= budget.draws || self.meter.seconds() >= budget.seconds
    }

    /// One generation of candidates. Returns a candidate that is almost certain to refute the claim,
    /// as soon as there is one.
    pub fn generation(&mut self, budget: Budget) -> Result<Option<Entrant<S::Pair>>, SearchError> {
        let parents: Vec<S::Pair> = self.elite.iter().map(|entrant| entrant.pair.clone()).collect();
        let mut entrants = Vec::new();
        while entrants.len() < ENTRANTS {
            let Some(pair) = self.source.next(&mut self.rng, &parents) else { break };
            let shown = self.source.pair(&pair, String::new());
            self.racers.push(Racer {
                origin: self.source.origin(&pair),
                left: shown.left.to_string(),
                right: shown.right.to_string(),
            });
            entrants.push(Self::entrant(pair, Some(self.racers.len() - 1)));
        }
        self.dry = entrants.is_empty();
        let mut draws = self.first_draws();
        loop {
            entrants = self.heat(entrants, draws, budget)?;
            if let Some(ready) = self.confirmed(&entrants, budget) {
                self.remember(entrants);
                return Ok(Some(ready));
            }
            if entrants.len() <= WINNERS || self.is_over(budget) {
                break;
            }
            entrants.truncate(entrants.len().div_ceil(2));
            draws *= 2;
        }
        self.remember(entrants);
        Ok(self.settle(budget))
    }

    /// The draws of the first heat. To tell a small ε from none takes 1/ε² draws.
    fn first_draws(&self) -> u64 {
        let range = if self.arena.parallel { FIRST_DRAWS } else { FIRST_DRAWS_OF_PROGRAMS };
        let epsilon = self.arena.audit.claim.epsilon();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturates
        let draws = (*range.start() as f64 / (epsilon * epsilon)) as u64;
        // A small budget must allow some heats.
        draws
            .clamp(*range.start(), *range.end())
            .min(self.arena.effort.draws / (4 * ENTRANTS as u64))
            .max(64)
    }

    /// A candidate without draws.
    fn entrant(pair: S::Pair, racer: Option<usize>) -> Entrant<S::Pair> {
        Entrant {
            racer,
            pair,
            draws: 0,
            promise: Promise { share: 0.0, sure: 0.0, draws: 0 },
            settled: false,
        }
    }

    /// Gives each candidate fresh draws, and returns those that can be run, the best first.
    fn heat(
        &mut self,
        mut entrants: Vec<Entrant<S::Pair>>,
        draws: u64,
        budget: Budget,
    ) -> Result<Vec<Entrant<S::Pair>>, SearchError> {
        let plans: Vec<PairPlan> =
            entrants.iter().map(|entrant| self.plan(&entrant.pair, draws)).collect();
        let (arena, meter, listener) = (self.arena, self.meter, self.listener);
        let score = |(entrant, plan): (&Entrant<S::Pair>, &PairPlan)| {
            (meter.seconds() < budget.seconds)
                .then(|| arena.promise(&entrant.pair, plan, draws, Look::Quick, meter, listener))
        };
        let promises: Vec<_> = if arena.parallel {
            entrants.par_iter().zip(&plans).map(score).collect()
        } else {
            entrants.iter().zip(&plans).map(score).collect()
        };
        let (mut kept, mut untried) = (Vec::new(), Vec::new());
        for (mut entrant, promise) in entrants.drain(..).zip(promises) {
            match promise {
                Some(Ok(promise)) => {
                    self.fit = true;
                    (entrant.draws, entrant.promise) = (draws, promise);
                    self.raced += draws;
                    kept.push(entrant);
                }
                Some(Err(error)) if is_fatal(&error) => return Err(SearchError::Target(error)),
                Some(Err(error)) => {
                    self.note(&entrant.pair, &error);
                    *self.misfits.entry(short(&error)).or_default() += 1;
                }
                None => untried.push(entrant),
            }
        }
        let misfits: usize = self.misfits.values().sum();
        if !self.fit && misfits >= GIVE_UP {
            return Err(self.none_fits());
        }
        // The first of equal ones stays in front: earlier candidates are simpler.
        kept.sort_by(|one, other| other.promise.share.total_cmp(&one.promise.share));
        let going_on = if kept.len() > WINNERS { kept.len().div_ceil(2) } else { kept.len() };
        let placing = |(place, entrant): (usize, &Entrant<S::Pair>)| {
            Some(Placing {
                racer: entrant.racer?,
                share: entrant.promise.share,
                kept: place < going_on,
            })
        };
        let placings: Vec<Placing> = kept.iter().enumerate().filter_map(placing).collect();
        if !placings.is_empty() {
            self.heats.push(Heat { draws, placings });
        }
        // What there was no time for stays what it was in an earlier heat.
        kept.extend(untried.into_iter().filter(|entrant| entrant.draws > 0));
        Ok(kept)
    }

    /// Why nothing could be run.
    pub fn none_fits(&self) -> SearchError {
        let most = self.misfits.iter().max_by_key(|(_, count)| **count);
        let reason = most.map_or_else(
            || "there was no time to try one".to_owned(),
            |(reason, _)| reason.clone(),
        );
        SearchError::NoneFits { tried: self.misfits.values().sum(), reason }
    }

    /// The plan of a look at a candidate. Each look has its own streams.
    fn plan(&mut self, pair: &S::Pair, draws: u64) -> PairPlan {
        /// Seconds of a look. They only limit how many first outputs of a program are looked at: a
        /// few are enough here.
        const SECONDS: f64 = 0.1;
        self.asked += 1;
        let mut plan =
            self.arena.plan(&self.source.pair(pair, format!("{OWN}{}", self.asked)), draws);
        plan.max_seconds = Positive::try_from(SECONDS).ok();
        plan
    }

    /// A fresh look at one pair.
    pub fn look(&mut self, pair: &S::Pair, draws: u64) -> Result<Promise, TargetError> {
        let plan = self.plan(pair, draws);
        let look = if draws <= FEW { Look::Quick } else { Look::Thorough };
        let promised = self.arena.promise(pair, &plan, draws, look, self.meter, self.listener);
        if let Err(error) = &promised {
            self.note(pair, error);
        }
        promised
    }

    /// Remembers the first candidate that nobody can judge. Where a mechanism is not made for its
    /// data there is nothing to judge.
    fn note(&mut self, pair: &S::Pair, error: &TargetError) {
        if self.undecided.is_none() && !is_misfit(error) {
            self.undecided = Some((self.source.pair(pair, String::new()), error.clone()));
        }
    }

    /// The best candidate that looks certain, if more draws say so too.
    fn confirmed(
        &mut self,
        entrants: &[Entrant<S::Pair>],
        budget: Budget,
    ) -> Option<Entrant<S::Pair>> {
        let mut certain: Vec<&Entrant<S::Pair>> =
            entrants.iter().filter(|entrant| entrant.promise.sure > 1.0).collect();
        certain.sort_by(|one, other| other.promise.sure.total_cmp(&one.promise.sure));
        for entrant in certain.into_iter().take(3) {
            if self.is_over(budget) {
                break;
            }
            if let Ok(promise) = self.look(&entrant.pair, CONFIRM * entrant.draws)
                && promise.sure > 1.0
            {
                return Some(Entrant {
                    promise,
                    draws: CONFIRM * entrant.draws,
                    ..entrant.clone()
                });
            }
        }
        None
    }

    /// Looks at the best candidates again with more and more draws, as long as they promise more
    /// than is claimed.
    fn settle(&mut self, budget: Budget) -> Option<Entrant<S::Pair>> {
        for index in 0..self.elite.len().min(2) {
            while !self.elite[index].settled {
                let entrant = &self.elite[index];
                let draws = CONFIRM * entrant.draws;
                let most = budget.draws.saturating_sub(self.meter.draws()) / 4;
                if entrant.promise.share <= 1.0 || draws > most || self.is_over(budget) {
                    self.elite[index].settled = true;
                    break;
                }
                if self.settling + draws > SETTLE * self.raced {
                    // It goes on after some more heats.
                    return None;
                }
                self.settling += draws;
                let Ok(promise) = self.look(&entrant.pair.clone(), draws) else {
                    self.elite[index].settled = true;
                    break;
                };
                let entrant = &mut self.elite[index];
                (entrant.draws, entrant.promise, entrant.settled) =
                    (draws, promise, promise.sure > 1.0);
                if entrant.settled {
                    let entrant = entrant.clone();
                    if let Some(ready) = self.confirmed(&[entrant], budget) {
                        return Some(ready);
                    }
                }
            }
        }
        None
    }

    /// Adds candidates to those that are remembered.
    fn remember(&mut self, entrants: Vec<Entrant<S::Pair>>) {
        self.elite.extend(entrants);
        self.elite.sort_by(|one, other| other.promise.share.total_cmp(&one.promise.share));
        self.elite.truncate(ELITE);
    }
}

impl<P> Arena<'_, P> {
    /// What a candidate promises, from so many fresh draws.
    fn promise(
        &self,
        pair: &P,
        plan: &PairPlan,
        draws: u64,
        look: Look,
        meter: &Meter,
        listener: &(impl Listener + ?Sized),
    ) -> Result<Promise, TargetError> {
        let target = (self.target)(pair, plan).map_err(TargetError::NotPrepared)?;
        let promised = promise(plan, target.as_ref(), draws, look)?;
        meter.add(draws, promised.draws);
        listener.hear(Event::Drawn { draws });
        Ok(promised)
    }
}

/// Whether no other candidate could be run either.
fn is_fatal(error: &TargetError) -> bool {
    match error {
        TargetError::NotPrepared(error) => !matches!(error, PrepareError::Data { .. }),
        TargetError::Process(error) => {
            matches!(
                error.problem,
                ProcessProblem::NotStarted { .. } | ProcessProblem::Version { .. }
            )
        }
        TargetError::Interrupted => true,
        _ => false,
    }
}

/// Whether the mechanism only says that it cannot be run on this data: it is not made for them, or
/// fails on both sides in the same way.
fn is_misfit(error: &TargetError) -> bool {
    match error {
        TargetError::NotPrepared(_)
        | TargetError::AlwaysPanics { .. }
        | TargetError::Misfit { .. } => true,
        TargetError::Process(error) => matches!(error.problem, ProcessProblem::Misfit { .. }),
        _ => false,
    }
}

/// The first line of a message.
fn short(error: &TargetError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
