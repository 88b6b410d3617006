//! The search: race, freeze, certify, shrink, certify once more.

use super::found::{Finalist, Found, SearchError};
use super::race::{Entrant, Limit, Meter, OWN, Race};
use super::shrink::shrink;
use super::source::PairSource;
use crate::audit::{Audit, Listener, Pair, PairPlan, PairResult, SearchHistory, run_pair};
use crate::model::checked::Positive;
use crate::model::{Settings, Until, Verdict};
use crate::target::{PrepareError, Target, TargetError};

/// How many pairs of the race are certified at most. Their number is fixed in advance, because α is divided over them.
pub const FINALISTS: usize = 4;
/// The shares of α that a search takes: one for each of these pairs, and one for the smallest form of a pair that refutes the claim.
pub const SHARES: usize = FINALISTS + 1;

/// The part of draws and time that the race may take.
const RACE: f64 = 0.5;
/// How many times as many draws certify a pair as were needed to be certain of it.
const AMPLE: u64 = 32;
/// The fewest draws that certify.
const LEAST_CERTIFY: u64 = 50_000;

/// What is searched, and how its targets are made.
pub struct Arena<'a, P> {
    /// The audit: its name, claim, attacks and what it asks for. Its pairs are not used.
    pub audit: &'a Audit,
    /// The seed and the confidence of the run.
    pub settings: Settings,
    /// Over how many statements the run's α is divided, the [`SHARES`] of this search included.
    pub statements: usize,
    /// Makes the target of a candidate. The plan has the random streams and the time limit.
    pub target: &'a (dyn Fn(&P, &PairPlan) -> Result<Box<dyn Target>, PrepareError> + Sync),
    /// Whether several candidates are tried at the same time. Not for programs: they are busy on all cores anyway, and are used again.
    pub parallel: bool,
    /// What the search may cost.
    pub effort: Effort,
}

/// What a search may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// All draws together.
    pub draws: u64,
    /// All seconds together. With a limit, what is found depends on the speed of the machine.
    pub seconds: Option<Positive>,
}

impl Effort {
    /// The draws of a search if nobody says how many.
    pub const DRAWS: u64 = 20_000_000;
    /// The seconds of a search if nobody says how many.
    pub const SECONDS: f64 = 60.0;

    fn part(self, part: f64) -> Limit {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a part of the draws
        let draws = (self.draws as f64 * part) as u64;
        Limit { draws, seconds: self.seconds.map_or(f64::INFINITY, |seconds| part * seconds.get()) }
    }
}

impl<P> Arena<'_, P> {
    /// The plan of a pair. Its streams are those of this search alone: `dp-audit run` makes other draws on the same pair.
    pub(super) fn plan(&self, pair: Pair, draws: u64) -> PairPlan {
        let settings = Settings { draws: Some(draws), until: Until::Budget, ..self.settings };
        let mut plan = self.audit.plan(&pair, settings, self.statements);
        plan.audit = format!("{OWN}{}", self.audit.name);
        plan
    }
}

/// Searches for a pair that refutes the claim. Runs on the rayon pool that it is called in.
///
/// The bounds of all finalists hold together with the other statements of the run, whatever the search has tried: each finalist is chosen
/// before the draws that judge it, and each has its own share of α that was reserved in advance.
///
/// # Errors
/// When the mechanism cannot be run at all, or on no candidate.
pub fn search<S: PairSource>(
    source: &mut S,
    arena: &Arena<'_, S::Pair>,
    listener: &(impl Listener + ?Sized),
) -> Result<Found<S::Pair>, SearchError> {
    let meter = Meter::start();
    let mut race = Race::new(arena, source, &meter, listener);
    let mut finalists: Vec<Finalist<S::Pair>> = Vec::new();
    let limit = arena.effort.part(RACE);
    let mut frozen: Vec<usize> = Vec::new();
    let mut refuted = None;
    while refuted.is_none() && finalists.len() < FINALISTS {
        let racing = !race.dry && !race.is_over(limit);
        let ready = if racing { race.generation(limit)? } else { None };
        if racing && ready.is_none() {
            continue;
        }
        let is_new = |entrant: &Entrant<S::Pair>| entrant.racer.is_some_and(|racer| !frozen.contains(&racer));
        let certain = ready.is_some();
        let Some(entrant) = ready.filter(is_new).or_else(|| race.elite.iter().find(|entrant| is_new(entrant)).cloned()) else {
            if racing {
                continue;
            }
            break;
        };
        frozen.extend(entrant.racer);
        let left = left(arena, &meter, &finalists);
        let draws = if certain { (AMPLE * entrant.draws).clamp(LEAST_CERTIFY, (left.draws / 2).max(LEAST_CERTIFY)) } else { (left.draws / 2).max(1) };
        let finalist = race.certify(entrant.pair, entrant.racer, &free_name(arena.audit, finalists.len()), draws, left.seconds / 2.0, listener);
        // It has had its chance: nothing is gained by its relatives.
        race.elite.retain(|other| other.racer != entrant.racer);
        refuted = finalist.refutes.then_some(entrant.draws);
        finalists.push(finalist);
    }
    if finalists.is_empty() {
        return Err(race.none_fits());
    }
    let mut shrinks = 0;
    if let (Some(draws), Some(found)) = (refuted, finalists.last().map(|finalist| finalist.candidate.clone())) {
        let left_now = left(arena, &meter, &finalists);
        let limit = Limit { draws: meter.draws() + left_now.draws / 2, seconds: meter.seconds() + left_now.seconds / 2.0 };
        let shrunk = shrink(&mut race, &found, draws, limit);
        shrinks = shrunk.tried;
        if let Some(smallest) = shrunk.pair {
            let left = left(arena, &meter, &finalists);
            let draws = (AMPLE * shrunk.draws).max(LEAST_CERTIFY).min(left.draws.max(LEAST_CERTIFY));
            finalists.push(race.certify(smallest, None, &free_name(arena.audit, finalists.len()), draws, left.seconds, listener));
        }
    }
    let (racers, heats) = (std::mem::take(&mut race.racers), std::mem::take(&mut race.heats));
    let mut misfits: Vec<(String, usize)> = std::mem::take(&mut race.misfits).into_iter().collect();
    misfits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let draws = meter.draws() + certified(&finalists);
    let history = SearchHistory { racers, heats, misfits, shrinks, draws, certified: finalists.len(), seconds: meter.seconds() };
    Ok(Found { finalists, history })
}

/// What is left of draws and time.
fn left<P>(arena: &Arena<'_, P>, meter: &Meter, finalists: &[Finalist<P>]) -> Limit {
    let Limit { draws, seconds } = arena.effort.part(1.0);
    Limit { draws: draws.saturating_sub(meter.draws() + certified(finalists)), seconds: (seconds - meter.seconds()).max(0.0) }
}

/// The draws that certified these.
fn certified<P>(finalists: &[Finalist<P>]) -> u64 {
    finalists.iter().filter_map(|finalist| finalist.result.outcome.as_ref().ok()).map(|evidence| evidence.draws).sum()
}

/// A name that no pair of the audit has.
fn free_name(audit: &Audit, taken: usize) -> String {
    let name = |number: usize| format!("found {number}");
    let is_free = |name: &String| audit.pairs.iter().all(|pair| pair.name != *name) && audit.accuracy.iter().all(|claim| claim.name != *name);
    (1..).map(name).filter(is_free).nth(taken).unwrap_or_default()
}

impl<S: PairSource, L: Listener + ?Sized> Race<'_, S, L> {
    /// Judges a frozen pair on draws that nothing was chosen by.
    fn certify(&self, candidate: S::Pair, racer: Option<usize>, name: &str, draws: u64, seconds: f64, listener: &L) -> Finalist<S::Pair> {
        /// The shortest time limit.
        const SHORTEST: f64 = 0.05;
        let pair = self.source.pair(&candidate, name.to_owned());
        let mut plan = self.arena.plan(pair.clone(), draws);
        plan.max_seconds = if seconds.is_finite() { Positive::try_from(seconds.max(SHORTEST)).ok() } else { None };
        let result = match (self.arena.target)(&candidate, &plan) {
            Ok(target) => run_pair(&plan, target.as_ref(), listener),
            Err(error) => PairResult::new(&plan, Err(TargetError::NotPrepared(error)), 0.0),
        };
        let refutes = result.outcome.as_ref().is_ok_and(|evidence| evidence.verdict == Verdict::Violated);
        Finalist { candidate, pair, racer, result, refutes }
    }
}
