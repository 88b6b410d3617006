//! The search: race, freeze, certify, shrink, certify once more.

use super::found::{Finalist, Found, SearchError};
use super::race::{Budget, Entrant, Meter, OWN, Race};
use super::shrink::shrink;
use super::source::PairSource;
use crate::audit::{Audit, Evidence, Listener, Pair, PairPlan, Plan, SearchHistory};
use crate::model::checked::Positive;
use crate::model::{Settings, Until};
use crate::target::{PrepareError, Target};

/// How many pairs of the race are certified at most. Their number is fixed in advance, because α is
/// divided over them.
pub const FINALISTS: usize = 4;
/// The shares of α that a search takes: one for each of these pairs, and one for the smallest form
/// of a pair that refutes the claim.
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
    pub target: &'a MakeTarget<'a, P>,
    /// Whether several candidates are tried at the same time. Not for programs: they are busy on
    /// all cores anyway, and are used again.
    pub parallel: bool,
    /// What the search may cost.
    pub effort: Effort,
}

/// Makes the target of a candidate.
pub type MakeTarget<'a, P> =
    dyn Fn(&P, &PairPlan) -> Result<Box<dyn Target>, PrepareError> + Sync + 'a;

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

    fn part(self, part: f64) -> Budget {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a part of the draws
        let draws = (self.draws as f64 * part) as u64;
        Budget {
            draws,
            seconds: self.seconds.map_or(f64::INFINITY, |seconds| part * seconds.get()),
        }
    }
}

impl<P> Arena<'_, P> {
    /// The plan of a pair. Its streams are those of this search alone: `dp-audit run` makes other
    /// draws on the same pair.
    pub(super) fn plan(&self, pair: &Pair, draws: u64) -> PairPlan {
        let settings = Settings { draws: Some(draws), until: Until::Budget, ..self.settings };
        let mut plan = self.audit.plan(pair, settings, self.statements);
        plan.audit = format!("{OWN}{}", self.audit.name);
        plan
    }
}

/// Searches for a pair that refutes the claim. Runs on the rayon pool that it is called in.
///
/// The bounds of all finalists hold together with the other statements of the run, whatever the
/// search has tried: each finalist is chosen before the draws that judge it, and each has its own
/// share of α that was reserved in advance.
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
    let budget = arena.effort.part(RACE);
    let mut frozen: Vec<usize> = Vec::new();
    let mut refuted = None;
    while refuted.is_none() && finalists.len() < FINALISTS {
        let racing = !race.dry && !race.is_over(budget);
        let ready = if racing { race.generation(budget)? } else { None };
        if racing && ready.is_none() {
            continue;
        }
        let is_new = |entrant: &Entrant<S::Pair>| {
            entrant.racer.is_some_and(|racer| !frozen.contains(&racer))
        };
        let certain = ready.is_some();
        let Some(entrant) = ready
            .filter(is_new)
            .or_else(|| race.elite.iter().find(|entrant| is_new(entrant)).cloned())
        else {
            if racing {
                continue;
            }
            break;
        };
        frozen.extend(entrant.racer);
        let left = left(arena, &meter, &finalists);
        let draws = if certain {
            (AMPLE * entrant.draws).clamp(LEAST_CERTIFY, (left.draws / 2).max(LEAST_CERTIFY))
        } else {
            (left.draws / 2).max(1)
        };
        let finalist = race.certify(
            entrant.pair,
            entrant.racer,
            &free_name(arena.audit, finalists.len()),
            draws,
            left.seconds / 2.0,
            listener,
        );
        // It has had its chance: nothing is gained by its relatives.
        race.elite.retain(|other| other.racer != entrant.racer);
        refuted = finalist.refutes.then_some(entrant.draws);
        finalists.push(finalist);
    }
    if finalists.is_empty() {
        return Err(race.none_fits());
    }
    let mut shrinks = 0;
    if let (Some(draws), Some(found)) =
        (refuted, finalists.last().map(|finalist| finalist.candidate.clone()))
    {
        let left_now = left(arena, &meter, &finalists);
        let budget = Budget {
            draws: meter.draws() + left_now.draws / 2,
            seconds: meter.seconds() + left_now.seconds / 2.0,
        };
        let shrunk = shrink(&mut race, &found, draws, budget);
        shrinks = shrunk.tried;
        if let Some(smallest) = shrunk.pair {
            let left = left(arena, &meter, &finalists);
            let draws =
                (AMPLE * shrunk.draws).max(LEAST_CERTIFY).min(left.draws.max(LEAST_CERTIFY));
            finalists.push(race.certify(
                smallest,
                None,
                &free_name(arena.audit, finalists.len()),
                draws,
                left.seconds,
                listener,
            ));
        }
    }
    let (racers, heats) = (std::mem::take(&mut race.racers), std::mem::take(&mut race.heats));
    let mut misfits: Vec<(String, usize)> = std::mem::take(&mut race.misfits).into_iter().collect();
    misfits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let draws = meter.made() + certified(&finalists);
    let certified = finalists.iter().filter(|finalist| finalist.result.outcome.is_ok()).count();
    let undecided = race.undecided.take();
    let history = SearchHistory {
        racers,
        heats,
        misfits,
        shrinks,
        draws,
        certified,
        seconds: meter.seconds(),
    };
    Ok(Found { finalists, undecided, history })
}

/// What is left of draws and time.
fn left<P>(arena: &Arena<'_, P>, meter: &Meter, finalists: &[Finalist<P>]) -> Budget {
    let Budget { draws, seconds } = arena.effort.part(1.0);
    Budget {
        draws: draws.saturating_sub(meter.draws() + certified(finalists)),
        seconds: (seconds - meter.seconds()).max(0.0),
    }
}

/// The draws that certified these.
fn certified<P>(finalists: &[Finalist<P>]) -> u64 {
    finalists
        .iter()
        .filter_map(|finalist| finalist.result.outcome.as_ref().ok())
        .map(Evidence::draws)
        .sum()
}

/// A name that no statement of the audit has.
fn free_name(audit: &Audit, taken: usize) -> String {
    let name = |number: usize| format!("found {number}");
    let is_free = |name: &String| audit.statements().all(|statement| statement.name() != name);
    (1..).map(name).filter(is_free).nth(taken).unwrap_or_default()
}

impl<S: PairSource, L: Listener + ?Sized> Race<'_, S, L> {
    /// Judges a frozen pair on draws that nothing was chosen by.
    fn certify(
        &self,
        candidate: S::Pair,
        racer: Option<usize>,
        name: &str,
        draws: u64,
        seconds: f64,
        listener: &L,
    ) -> Finalist<S::Pair> {
        /// The shortest time limit.
        const SHORTEST: f64 = 0.05;
        let pair = self.source.pair(&candidate, name.to_owned());
        let mut plan = self.arena.plan(&pair, draws);
        plan.max_seconds =
            if seconds.is_finite() { Positive::try_from(seconds.max(SHORTEST)).ok() } else { None };
        let target = (self.arena.target)(&candidate, &plan);
        let plan = Plan::of_claim(plan);
        let result = plan.run_prepared(target, &listener);
        let refutes = result.outcome.as_ref().is_ok_and(|evidence| plan.refuted_by(evidence));
        Finalist { candidate, pair, racer, result, refutes }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;

    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::model::{Claim, Dataset, Side, Truth};
    use crate::noise::{Generator, laplace};
    use crate::output::{Cell, Rows};
    use crate::target::{Phase, StreamSeed, TargetError};

    /// Pairs of numbers, which no audit file could write. Smaller are pairs of smaller numbers.
    struct Numbers;

    impl PairSource for Numbers {
        type Pair = (u32, u32);

        fn next(&mut self, rng: &mut Generator, _: &[(u32, u32)]) -> Option<(u32, u32)> {
            let left = rng.random_range(0..100);
            Some((left, left + 1))
        }

        fn pair(&self, _: &(u32, u32), name: String) -> Pair {
            Pair {
                name,
                left: Dataset::default(),
                right: Dataset::default(),
                expect: None,
                truth: Truth::default(),
            }
        }

        fn origin(&self, (left, right): &(u32, u32)) -> String {
            format!("{left} and {right}")
        }

        fn smaller(&self, (left, _): &(u32, u32)) -> Vec<(u32, u32)> {
            (0..*left).map(|left| (left, left + 1)).collect()
        }
    }

    /// A noisy number that is exact beyond a limit, and the streams that it was drawn with.
    struct Noisy<'a> {
        sides: (u32, u32),
        exact_from: u32,
        scale: f64,
        streams: &'a Mutex<Vec<(Phase, [u8; 16])>>,
    }

    impl Target for Noisy<'_> {
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
            self.streams.lock().unwrap().push((seed.place().phase, seed.bytes()));
            let value = if side == Side::Left { self.sides.0 } else { self.sides.1 };
            let mut rng = Generator::from_seed(seed.bytes());
            let mut rows = Rows::new(1);
            for _ in 0..count {
                let noise =
                    if value >= self.exact_from { 0.0 } else { laplace(&mut rng, self.scale) };
                rows.push(&[Cell::number(f64::from(value) + noise)]);
            }
            sink(&rows);
            Ok(())
        }
    }

    fn found(
        exact_from: u32,
        scale: f64,
        seed: u64,
        streams: &'static Mutex<Vec<(Phase, [u8; 16])>>,
    ) -> Found<(u32, u32)> {
        let audit = Audit::given("numbers", "numbers", Claim::new(1.0, 0.0).unwrap(), []);
        let target =
            move |sides: &(u32, u32), _: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
                Ok(Box::new(Noisy { sides: *sides, exact_from, scale, streams }))
            };
        let settings =
            Settings { seed, confidence: 0.95.try_into().unwrap(), ..Settings::default() };
        let effort = Effort { draws: 400_000, seconds: None };
        search(
            &mut Numbers,
            &Arena {
                audit: &audit,
                settings,
                statements: SHARES,
                target: &target,
                parallel: true,
                effort,
            },
            &(),
        )
        .unwrap()
    }

    #[test]
    fn pairs_of_any_type_are_found_and_shrunk_and_judged_on_other_draws() {
        static STREAMS: Mutex<Vec<(Phase, [u8; 16])>> = Mutex::new(Vec::new());
        let found = found(37, 1.0, 1, &STREAMS);
        assert_eq!(found.smallest().expect("it is exact from 37 on").candidate, (36, 37));
        assert!(
            found.finalists.len() <= SHARES && found.history.certified == found.finalists.len()
        );
        let streams = STREAMS.lock().unwrap();
        let chosen: HashSet<[u8; 16]> = streams
            .iter()
            .filter(|(phase, _)| *phase == Phase::Search)
            .map(|(_, seed)| *seed)
            .collect();
        let judged: Vec<[u8; 16]> = streams
            .iter()
            .filter(|(phase, _)| *phase == Phase::Certify)
            .map(|(_, seed)| *seed)
            .collect();
        assert!(!judged.is_empty() && judged.iter().all(|seed| !chosen.contains(seed)));
        assert_eq!(judged.len(), judged.iter().collect::<HashSet<_>>().len(), "each judges once");
    }

    #[test]
    fn a_claim_that_is_just_met_is_hardly_ever_refuted() {
        static STREAMS: Mutex<Vec<(Phase, [u8; 16])>> = Mutex::new(Vec::new());
        // Each candidate is exactly on the edge. At 95 %, more than 10 of 60 searches are wrong
        // with probability 1.8e-4.
        let wrong = (0..60)
            .filter(|seed| found(u32::MAX, 1.0, 100 + seed, &STREAMS).smallest().is_some())
            .count();
        assert!(wrong <= 10, "{wrong} of 60");
    }

    /// Noise that can be looked at, but not judged.
    struct Shy<'a>(Noisy<'a>);

    const BROKEN: TargetError = TargetError::WrongCount { asked: 1, got: 0 };

    impl Target for Shy<'_> {
        fn open(&self) -> Result<usize, TargetError> {
            self.0.open()
        }

        fn draw(
            &self,
            side: Side,
            count: usize,
            seed: StreamSeed,
            sink: &mut dyn FnMut(&Rows),
        ) -> Result<(), TargetError> {
            if seed.place().phase == Phase::Certify {
                Err(BROKEN)
            } else {
                self.0.draw(side, count, seed, sink)
            }
        }
    }

    #[test]
    fn a_frozen_pair_that_cannot_be_judged_is_not_passed_over() {
        static STREAMS: Mutex<Vec<(Phase, [u8; 16])>> = Mutex::new(Vec::new());
        let audit = Audit::given("numbers", "numbers", Claim::new(1.0, 0.0).unwrap(), []);
        let target = |sides: &(u32, u32), _: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
            Ok(Box::new(Shy(Noisy {
                sides: *sides,
                exact_from: 37,
                scale: 1.0,
                streams: &STREAMS,
            })))
        };
        let effort = Effort { draws: 400_000, seconds: None };
        let arena = Arena {
            audit: &audit,
            settings: Settings::default(),
            statements: SHARES,
            target: &target,
            parallel: true,
            effort,
        };
        let found = search(&mut Numbers, &arena, &()).unwrap();
        assert_eq!(found.unjudged().map(|(_, error)| error), Some(&BROKEN));
        assert_eq!(found.history.certified, 0);
        assert!(found.smallest().is_none());
    }

    #[test]
    fn the_pairs_of_an_audit_keep_their_names() {
        let audit = Audit::given(
            "a",
            "closure",
            Claim::new(1.0, 0.0).unwrap(),
            ["found 1".to_owned(), "found 3".to_owned()],
        );
        assert_eq!(
            [0, 1, 2].map(|taken| free_name(&audit, taken)),
            ["found 2", "found 4", "found 5"]
        );
    }
}
