//! How fast a program is: how long it takes to start, to prepare and to draw.
//!
//! Only the number of busy processes and the patience with a slow answer depend on it. What is
//! drawn never does.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::target::Timing;

/// Another process is started if the work takes longer than this part of its start, because later
/// work profits from it too.
const PART_OF_START: f64 = 0.25;
/// Work that takes less time than this is not worth another process.
const WORTH_A_PROCESS: f64 = 0.02;
/// How many times longer than expected an answer may take, if that is more than the time limit.
const PATIENCE: f64 = 8.0;

/// The times of all processes of a pair.
#[derive(Default)]
pub struct Pace(Mutex<Timing>);

impl Pace {
    fn update(&self, change: impl FnOnce(&mut Timing)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// A process said hello after `waited`. Of this, starting took `start_up`.
    pub fn greeted(&self, waited: Duration, start_up: Duration) {
        self.update(|timing| {
            timing.processes += 1;
            timing.start_up += start_up.as_secs_f64();
            timing.prepare += waited.saturating_sub(start_up).as_secs_f64();
        });
    }

    /// A process made this many draws.
    pub fn drew(&self, draws: usize, took: Duration) {
        self.update(|timing| {
            timing.draws += draws as u64;
            timing.draw += took.as_secs_f64();
        });
    }

    /// All times so far.
    pub fn timing(&self) -> Timing {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long one process should need for these draws; zero if nothing is known.
    pub fn expected(&self, draws: usize) -> f64 {
        let Timing { draws: made, draw, .. } = self.timing();
        if made == 0 { 0.0 } else { draw / made as f64 * draws as f64 }
    }

    /// How long to wait for these draws beyond doubt.
    pub fn patience(&self, draws: usize) -> Duration {
        Duration::try_from_secs_f64(PATIENCE * self.expected(draws)).unwrap_or(Duration::MAX)
    }

    /// How many processes should make these draws: more if they take long, but another one is
    /// started only if that is worth its start.
    pub fn lanes(&self, draws: usize, most: usize) -> usize {
        let Timing { processes, start_up, prepare, .. } = self.timing();
        let expected = self.expected(draws);
        let start = (start_up + prepare) / (processes as f64).max(1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // not negative; saturates
        let worth = |cost: f64| (expected / cost.max(WORTH_A_PROCESS)).ceil() as usize;
        worth(PART_OF_START * start)
            .max(processes)
            .min(worth(WORTH_A_PROCESS))
            .clamp(1, most.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(per_draw: f64, start: f64) -> Pace {
        let pace = Pace::default();
        pace.greeted(Duration::from_secs_f64(start), Duration::from_secs_f64(start));
        pace.drew(1000, Duration::from_secs_f64(1000.0 * per_draw));
        pace
    }

    #[test]
    fn slow_draws_are_divided_and_fast_ones_are_not() {
        assert_eq!(Pace::default().lanes(1000, 8), 1, "nothing is known yet");
        assert_eq!(pace(1e-6, 0.1).lanes(10_000, 8), 1);
        assert_eq!(pace(0.01, 0.1).lanes(256, 8), 8);
        assert_eq!(pace(0.01, 0.1).lanes(1, 8), 1);
    }

    #[test]
    fn a_process_that_starts_slowly_is_started_only_for_long_work() {
        let slow = pace(0.01, 10.0);
        assert_eq!((slow.lanes(250, 8), slow.lanes(700, 8), slow.lanes(100_000, 8)), (1, 3, 8));
        // Those that have started already are used.
        (1..6).for_each(|_| slow.greeted(Duration::from_secs(10), Duration::from_secs(10)));
        assert_eq!(slow.lanes(256, 8), 6);
    }

    #[test]
    fn patience_grows_with_what_is_expected() {
        assert_eq!(Pace::default().patience(1000), Duration::ZERO);
        let patience = pace(0.005, 0.1).patience(12_627).as_secs_f64();
        assert!((patience - 8.0 * 0.005 * 12_627.0).abs() < 1e-3, "{patience}");
    }
}
