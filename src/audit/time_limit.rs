//! Time limits: how many draws a pair can make in the time that it has.
//!
//! Bounds stay valid, because the time never decides how draws are counted. The number of
//! certifying draws is fixed before the first of them is made, from the speed in exploration. If
//! the program becomes so slow that even they take too long, the looks end early, and only the
//! bound that holds at any time is used.

use std::time::{Duration, Instant};

use crate::model::Until;
use crate::model::checked::Positive;
use crate::model::number::{Brief, counted, grouped, round_down};
use crate::sample::Schedule;
use crate::target::Timing;

/// The part of the time that exploration may take.
const EXPLORE: f64 = 1.0 / 6.0;
/// The same in a run that ends as soon as its claim is refuted, and so is decided by what it
/// explores too.
const EXPLORE_UNTIL_DECIDED: f64 = 0.5;
/// The part of the remaining time for which certifying draws are planned. The rest is for what is
/// slower than expected.
const PLANNED: f64 = 0.8;
/// How much more than its limit a pair may take, in order to complete its sample.
const GRACE: f64 = 1.25;

/// What is left of a sample that is not complete.
const ANYTIME: &str = "only the bound that holds at any time counts";

/// The clock of one pair.
pub struct PairClock {
    started: Instant,
    limit: Option<f64>,
    /// The part of the time that exploration may take.
    explore: f64,
    speed: Speed,
    /// Whether the caller ended the run before its time.
    interrupted: bool,
}

/// How fast a pair draws.
#[derive(Clone, Copy, Default)]
struct Speed {
    /// Seconds before the first draw, for example because a program had to start.
    opened: f64,
    /// Draws per second; `None` if it is not known.
    draws: Option<f64>,
}

impl PairClock {
    /// The clock of a pair that starts now.
    pub fn start(limit: Option<Positive>, until: Until) -> Self {
        let explore = match until {
            Until::Budget | Until::Refuted => EXPLORE,
            Until::Decided => EXPLORE_UNTIL_DECIDED,
        };
        Self {
            started: Instant::now(),
            limit: limit.map(Positive::get),
            explore,
            speed: Speed::default(),
            interrupted: false,
        }
    }

    /// The caller has ended the run. The looks that are complete count, and no more draws are made.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Seconds since the start.
    pub fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The mechanism is ready. The first outputs of a program show how fast it is on `threads`
    /// threads.
    pub fn open(&mut self, timing: Option<Timing>, threads: usize) {
        self.speed.opened = self.elapsed();
        self.speed.draws = timing
            .filter(|timing| timing.draw > 0.0)
            .map(|timing| timing.draws as f64 / timing.draw * threads as f64);
    }

    /// Draws were made, and this is how long they took.
    pub fn drew(&mut self, draws: u64, took: Duration) {
        self.speed.draws = Some(draws as f64 / took.as_secs_f64().max(1e-9));
    }

    /// The explore rounds. If there is little time, they begin with fewer draws.
    pub fn rounds(&self, schedule: &Schedule) -> Vec<u64> {
        match self.limit {
            Some(limit) => schedule
                .rounds_from(self.speed.draws_in(self.explore / 2.0 * (limit - self.speed.opened))),
            None => schedule.rounds.clone(),
        }
    }

    /// Whether there is time to explore with so many more draws.
    pub fn allows_round(&self, draws: u64) -> bool {
        self.limit.is_none_or(|limit| {
            self.speed.explores(self.explore * (limit - self.speed.opened), self.elapsed(), draws)
        })
    }

    /// How many of the planned certifying draws there is time for; at least one.
    pub fn certify(&self, planned: u64) -> u64 {
        self.limit.map_or(planned, |limit| {
            self.speed.draws_in(PLANNED * (limit - self.elapsed())).clamp(1, planned.max(1))
        })
    }

    /// Whether so many more draws take far too long.
    pub fn is_overdue(&self, draws: u64) -> bool {
        self.interrupted
            || self
                .limit
                .is_some_and(|limit| self.elapsed() + self.speed.seconds(draws) > GRACE * limit)
    }

    /// What the time limit or an interruption changed, if it did.
    pub fn note(&self, made: u64, planned: u64, complete: bool) -> Option<String> {
        if self.interrupted {
            return Some(format!(
                "the run was interrupted after {} of {} draws, so {ANYTIME}",
                grouped(made),
                grouped(planned)
            ));
        }
        let limit = self.limit.filter(|_| made < planned)?;
        let early = if complete {
            ""
        } else {
            &format!("; it ended before the planned sample was complete, so {ANYTIME}")
        };
        Some(format!(
            "the time limit of {} s left time for {} of {}{early}",
            Brief(round_down(limit, 3)),
            grouped(made),
            counted(planned, "draw")
        ))
    }
}

impl Speed {
    /// How long so many draws take; no time if the speed is not known.
    fn seconds(self, draws: u64) -> f64 {
        self.draws.map_or(0.0, |speed| draws as f64 / speed)
    }

    /// How many draws take so many seconds.
    fn draws_in(self, seconds: f64) -> u64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // not negative; saturates
        self.draws.map_or(u64::MAX, |speed| (speed * seconds.max(0.0)) as u64)
    }

    /// Whether `draws` more of them are within the part of the time that is for exploring.
    fn explores(self, time: f64, elapsed: f64, draws: u64) -> bool {
        elapsed - self.opened + self.seconds(draws) <= time
    }
}

/// The clock of a run: divides the time that is left over the pairs and accuracy claims that are
/// left.
pub struct RunClock {
    ends: Option<Instant>,
    left: usize,
}

impl RunClock {
    /// The clock of a run with this many statements that starts now.
    pub fn start(limit: Option<Positive>, statements: usize) -> Self {
        // A limit that no clock can hold is none.
        let ends = limit
            .and_then(|limit| Duration::try_from_secs_f64(limit.get()).ok())
            .and_then(|limit| Instant::now().checked_add(limit));
        Self { ends, left: statements }
    }

    /// The time limit of the next statement, whose own limit is `own`.
    pub fn next(&mut self, own: Option<Positive>) -> Option<Positive> {
        let left =
            self.ends.map(|ends| ends.saturating_duration_since(Instant::now()).as_secs_f64());
        let share = left.map(|seconds| share(seconds, self.left));
        self.left = self.left.saturating_sub(1);
        match (own, share) {
            (Some(own), Some(share)) => Some(if own < share { own } else { share }),
            (own, share) => own.or(share),
        }
    }
}

/// An equal share of the seconds that are left, rounded to milliseconds. If there is no time left,
/// the shortest limit.
fn share(seconds: f64, statements: usize) -> Positive {
    const SHORTEST: f64 = 0.001;
    let share = (seconds / statements.max(1) as f64 / SHORTEST).round() * SHORTEST;
    Positive::try_from(share.max(SHORTEST)).unwrap_or(Positive::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speed(draws: f64) -> Speed {
        Speed { opened: 10.0, draws: Some(draws) }
    }

    #[test]
    fn exploration_takes_its_part_of_the_time() {
        // Ten seconds are over before the first draw, and ten are for exploring: 200 draws.
        let speed = speed(20.0);
        assert!(speed.explores(10.0, 15.0, 100));
        assert!(!speed.explores(10.0, 15.0, 101));
        assert!(!speed.explores(10.0, 20.1, 0));
        assert!(
            Speed { opened: 10.0, draws: None }.explores(10.0, 15.0, 1 << 40),
            "a speed that is not known stops nothing"
        );
    }

    #[test]
    fn certifying_draws_fit_the_time_and_are_never_none() {
        let limited = |limit: f64, draws| PairClock {
            started: Instant::now(),
            limit: Some(limit),
            explore: EXPLORE,
            speed: Speed { opened: 0.0, draws },
            interrupted: false,
        };
        assert_eq!(limited(1e9, Some(2.0)).certify(1000), 1000);
        assert_eq!(limited(1e-9, Some(2.0)).certify(1000), 1);
        let some = limited(1000.0, Some(2.0)).certify(1_000_000);
        assert!(
            (1500..=1600).contains(&some),
            "{some}: 80 % of 1000 s, less the time that this test took"
        );
        assert_eq!(PairClock { limit: None, ..limited(1.0, Some(2.0)) }.certify(1000), 1000);
    }

    #[test]
    fn a_limit_that_cuts_nothing_leaves_the_schedule_as_it_is() {
        let schedule = Schedule::new(1_000_000);
        let clock = |limit, draws| PairClock {
            started: Instant::now(),
            limit,
            explore: EXPLORE,
            speed: Speed { opened: 0.0, draws },
            interrupted: false,
        };
        for clock in [clock(None, None), clock(Some(60.0), None), clock(Some(60.0), Some(1e6))] {
            assert_eq!(clock.rounds(&schedule), schedule.rounds);
        }
        let slow = clock(Some(60.0), Some(2.0)).rounds(&schedule);
        assert_eq!(
            (slow[0], slow.iter().sum::<u64>()),
            (10, 125_000),
            "5 s of 60 s, two draws a second"
        );
        assert_eq!(clock(Some(1.0), Some(0.01)).rounds(&schedule)[0], 1);
    }

    #[test]
    fn a_note_says_what_was_cut() {
        let clock = PairClock::start(60.0.try_into().ok(), Until::Budget);
        assert_eq!(clock.note(100, 100, true), None);
        assert_eq!(
            clock.note(84, 10_000_000, true).unwrap(),
            "the time limit of 60 s left time for 84 of 10,000,000 draws"
        );
        assert!(
            clock
                .note(84, 10_000_000, false)
                .unwrap()
                .contains("only the bound that holds at any time")
        );
        let mut clock = PairClock::start(None, Until::Budget);
        assert_eq!(clock.note(84, 100, true), None);
        clock.interrupt();
        assert!(clock.is_overdue(0));
        assert!(clock.note(84, 100, false).unwrap().contains(
            "interrupted after 84 of 100 draws, so only the bound that holds at any time"
        ));
    }

    #[test]
    fn the_time_of_a_run_is_divided() {
        let seconds = |seconds: f64| Positive::try_from(seconds).unwrap();
        assert_eq!(
            (share(60.0, 4), share(60.0, 0), share(0.0, 4)),
            (seconds(15.0), seconds(60.0), seconds(0.001))
        );
        assert_eq!(RunClock::start(None, 2).next(None), None);
        assert_eq!(RunClock::start(None, 2).next(Some(seconds(3.0))), Some(seconds(3.0)));
        let mut clock = RunClock::start(Some(seconds(1000.0)), 2);
        assert_eq!(clock.next(Some(seconds(3.0))), Some(seconds(3.0)), "the smaller limit holds");
        let last = clock.next(None).unwrap().get();
        assert!(last > 900.0 && last <= 1000.0, "{last}: what is left, for the last one");
    }
}
