//! Work that is shared by several threads and delivered in order.
//!
//! These threads wait for programs and compute nothing, so they are not those of the rayon pool: a
//! rayon thread that waits takes up other work, and the outputs that are ready would wait for that.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Does `jobs` jobs on up to `lanes` threads and passes their results to `sink`, in the order of
/// the jobs.
///
/// A lane is one thread. It calls `lane` once with a function that returns the next job, until
/// there are none, and another one that takes its result. After an error no new jobs are given out.
pub fn in_order<T: Send, E: Send>(
    lanes: usize,
    jobs: usize,
    lane: impl Fn(&dyn Fn() -> Option<usize>, &mut dyn FnMut(usize, T)) -> Result<(), E> + Sync,
    sink: &mut dyn FnMut(T),
) -> Result<(), E> {
    let (taken, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let next = || {
        let job = taken.fetch_add(1, Ordering::Relaxed);
        (job < jobs && !stopped.load(Ordering::Relaxed)).then_some(job)
    };
    let mut waiting = BTreeMap::new();
    let mut delivered = 0;
    let mut deliver = |job, result| {
        waiting.insert(job, result);
        while let Some(result) = waiting.remove(&delivered) {
            sink(result);
            delivered += 1;
        }
    };
    let error = Mutex::new(None);
    let fail = |found: E| {
        stopped.store(true, Ordering::Relaxed);
        error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(found);
    };
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        let spawned = |_: &usize| {
            let (lane, next, fail, sender) = (&lane, &next, &fail, sender.clone());
            let run = move || {
                lane(next, &mut |job, result| _ = sender.send((job, result))).unwrap_or_else(fail);
            };
            // If the system has no more threads, there are fewer lanes.
            thread::Builder::new().spawn_scoped(scope, run).is_ok()
        };
        let lanes = lanes.min(jobs);
        let others = if lanes > 1 { (0..lanes).filter(spawned).count() } else { 0 };
        drop(sender);
        if others > 0 {
            results.into_iter().for_each(|(job, result)| deliver(job, result));
        } else {
            lane(&next, &mut deliver).unwrap_or_else(fail);
        }
    });
    error.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Limits how many lanes work at the same time.
#[derive(Default)]
pub struct Slots {
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A lane's right to work. Dropping it lets another lane work.
pub struct Slot<'a>(&'a Slots);

impl Slots {
    /// Waits until fewer than `limit` lanes work.
    pub fn take(&self, limit: usize) -> Slot<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self
            .freed
            .wait_while(taken, |taken| *taken >= limit.max(1))
            .unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of all jobs, where each job takes as long as `wait` says.
    fn run(lanes: usize, jobs: usize, wait: impl Fn(usize) + Sync) -> Vec<usize> {
        let mut found = Vec::new();
        let lane = |next: &dyn Fn() -> Option<usize>, done: &mut dyn FnMut(usize, usize)| {
            while let Some(job) = next() {
                wait(job);
                done(job, 10 * job);
            }
            Ok::<(), ()>(())
        };
        in_order(lanes, jobs, lane, &mut |result| found.push(result)).unwrap();
        found
    }

    #[test]
    fn results_come_in_order_on_any_number_of_lanes() {
        let expected: Vec<usize> = (0..40).map(|job| 10 * job).collect();
        for lanes in [0, 1, 2, 7, 100] {
            // Earlier jobs take longer.
            assert_eq!(
                run(lanes, 40, |job| thread::sleep(std::time::Duration::from_micros(
                    50 * (40 - job as u64)
                ))),
                expected
            );
        }
        assert!(run(4, 0, |_| ()).is_empty());
    }

    #[test]
    fn several_lanes_work_at_the_same_time() {
        // Each of the four jobs waits until all have begun. With fewer lanes this would never end.
        let barrier = std::sync::Barrier::new(4);
        assert_eq!(run(4, 4, |_| _ = barrier.wait()), [0, 10, 20, 30]);
    }

    #[test]
    fn an_error_of_one_lane_is_the_result() {
        for lanes in [1, 4] {
            let mut delivered = 0;
            let lane = |next: &dyn Fn() -> Option<usize>, done: &mut dyn FnMut(usize, ())| {
                while let Some(job) = next() {
                    if job == 5 {
                        return Err("five");
                    }
                    done(job, ());
                }
                Ok(())
            };
            assert_eq!(in_order(lanes, 1000, lane, &mut |()| delivered += 1), Err("five"));
            assert_eq!(delivered, 5, "what comes after the error is not delivered");
        }
    }

    #[test]
    fn no_more_lanes_work_than_there_are_slots() {
        let (slots, working, most) = (Slots::default(), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _slot = slots.take(3);
                    most.fetch_max(working.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(std::time::Duration::from_millis(2));
                    working.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(most.into_inner() <= 3);
    }
}
