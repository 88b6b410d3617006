//! Pairs of the catalogue run side by side: with the same results, told in the same order.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dp_audit::{
    Audit, Control, ControlResult, Event, Listener, PairPlan, PrepareError, Rows, RunReport,
    Settings, Side, StreamSeed, Symbols, Target, TargetError, TargetSource,
};

use crate::harness::program::laplace;
use crate::harness::{audit, committed, settings};

/// Targets of the catalogue, of which it counts how many there are at once.
#[derive(Default)]
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
    /// The first pair waits until this many are there.
    awaited: usize,
    waits: Mutex<bool>,
}

struct Counted<'a>(Box<dyn Target>, &'a AtomicUsize);

impl Target for Counted<'static> {
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
        self.0.draw(side, count, seed, sink)
    }

    fn symbols(&self) -> Symbols {
        self.0.symbols()
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

impl TargetSource for &'static Counting {
    fn target(&self, plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let target = Counted(dp_audit::prepare(plan)?, &self.now);
        if std::mem::take(&mut *self.waits.lock().unwrap()) {
            let start = Instant::now();
            while self.most.load(Ordering::SeqCst) < self.awaited {
                assert!(start.elapsed() < Duration::from_secs(60), "pairs wait for each other");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(Box::new(target))
    }
}

/// The names of the audits that have started and finished.
#[derive(Default)]
struct Heard(Mutex<[Vec<String>; 2]>);

impl Listener for Heard {
    fn hear(&self, event: Event<'_>) {
        let mut heard = self.0.lock().unwrap();
        match event {
            Event::AuditStarted { audit, .. } => heard[0].push(audit.name.clone()),
            Event::AuditFinished { report } => heard[1].push(report.audit.name.clone()),
            _ => {}
        }
    }
}

/// Runs audits on so many threads, where the first pair waits for so many others. Returns the
/// report, what was heard, and the most pairs at once.
fn run_on(threads: usize, audits: &[Audit], settings: Settings) -> (RunReport, Heard, usize) {
    let counting = Counting { awaited: threads, waits: Mutex::new(true), ..Counting::default() };
    // The source of a run has no end in a test.
    let counting: &'static Counting = Box::leak(Box::new(counting));
    let heard = Heard::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let report = pool.install(|| dp_audit::run(audits, settings, &counting, &heard));
    (report, heard, counting.most.load(Ordering::SeqCst))
}

/// The report without what depends on the time.
fn timeless(mut report: RunReport) -> String {
    for audit in &mut report.audits {
        let mut changed = audit.as_ref().clone();
        changed.results.iter_mut().for_each(|result| result.seconds = 0.0);
        *audit = changed.into();
    }
    serde_json::to_string(&report).unwrap()
}

#[test]
fn pairs_run_at_once_with_the_results_and_the_order_of_one_after_the_other() {
    // Audits with one pair and with several; a twin that is the control of an earlier audit and so
    // comes before it; a control with parameters of its own, which makes draws.
    let mut audits: Vec<Audit> = (0..6)
        .flat_map(|index| audit(&laplace(&format!("count {index}"), 0.4, "violated")))
        .collect();
    audits.extend(committed("notes/mode-exact.toml"));
    let mut first = audit(&laplace("first", 1.0, "consistent"));
    first[0].control = Some(Control::Audit("count 5".to_owned()));
    let mut last = audit(&laplace("last", 1.0, "consistent"));
    let changes = serde_json::from_str(r#"{ "epsilon": 3.0 }"#).unwrap();
    last[0].control = Some(Control::Params(changes));
    audits = [first, audits, last].concat();

    let settings = Settings { controls: true, ..settings(200_000, 1) };
    let (alone, heard_alone, most_alone) = run_on(1, &audits, settings);
    let (together, heard, most) = run_on(3, &audits, settings);
    assert_eq!((most_alone, most), (1, 3), "as many pairs at once as there are threads");
    assert_eq!(timeless(together), timeless(alone.clone()));

    let expected: Vec<String> = alone.audits.iter().map(|audit| audit.audit.name.clone()).collect();
    assert_eq!(expected.len(), audits.len());
    assert_eq!(expected[..2], ["count 5", "first"], "a twin comes first");
    for heard in [heard_alone, heard] {
        let [started, finished] = heard.0.into_inner().unwrap();
        assert_eq!(started, expected);
        assert_eq!(finished, expected);
    }
    for name in ["first", "last"] {
        let found = alone.audits.iter().find(|audit| audit.audit.name == name).unwrap();
        assert_eq!(found.control, Some(ControlResult::Caught), "{name}");
    }
}
