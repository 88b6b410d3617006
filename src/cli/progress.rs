//! Shows progress on standard error during a run.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::screen::{Look, Styled, print_error, styled};
use crate::audit::{Audit, AuditReport, Event, Evidence, Judged, Listener};
use crate::model::number::{Brief, counted, round_down};
use crate::model::text::printable;
use crate::model::{Agreement, Limit, Verdict};

/// Progress on standard error: a bar for the running audits on a terminal, and one line for each
/// finished audit.
pub struct Progress {
    quiet: bool,
    audits: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// There is one while audits are running.
    bar: Option<ProgressBar>,
    running: Vec<Running>,
    finished: usize,
}

struct Running {
    name: String,
    draws: u64,
    started: Instant,
    /// The last bound of the audit, if it is the only one that is running.
    epsilon_lower: Option<f64>,
}

impl Progress {
    /// Progress of a run with `audits` audits. If `quiet`, nothing is shown.
    #[must_use]
    pub fn new(audits: usize, quiet: bool) -> Self {
        Self { quiet, audits, state: Mutex::new(State::default()) }
    }

    /// Says that the run begins. Where there is no bar, the first audit may end much later.
    pub fn begin(&self) {
        if !self.quiet {
            print_error(format_args!("Running {}.", counted(self.audits, "audit")));
        }
    }

    /// One item of a shard has ended.
    pub fn item_finished(&self, item: &str) {
        self.with(|state| {
            let Some(running) = state.running.pop() else { return };
            self.end(
                state,
                running.draws,
                |seconds| format!("{item}  ({seconds:.1} s)"),
                running.started,
            );
        });
    }

    /// Removes the bar, when what it showed has ended without a report.
    pub fn clear(&self) {
        self.with(|state| {
            state.finished += state.running.drain(..).len();
            if let Some(bar) = state.bar.take() {
                bar.finish_and_clear();
            }
        });
    }

    fn with(&self, act: impl FnOnce(&mut State)) {
        if let Ok(mut state) = self.state.lock() {
            act(&mut state);
        }
    }
}

impl Listener for Progress {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::AuditStarted { audit, draws } => {
                self.with(|state| self.start(state, audit, draws));
            }
            Event::Drawn { draws } => self.with(|state| {
                state.bar.iter().for_each(|bar| bar.inc(draws));
            }),
            // The bar ends with the draws that are still to be made.
            Event::Cut { draws } => self.with(|state| state.shorten(draws)),
            Event::Looked { epsilon_lower } => self.with(|state| {
                if let [running] = state.running.as_mut_slice() {
                    running.epsilon_lower = Some(epsilon_lower);
                    self.show(state);
                }
            }),
            Event::AuditFinished { report } => self.with(|state| {
                let name = &report.audit.name;
                let place = state.running.iter().position(|running| running.name == *name);
                let Some(running) = place.map(|place| state.running.remove(place)) else { return };
                self.end(
                    state,
                    running.draws.saturating_sub(drawn(report)),
                    |seconds| summary_line(report, seconds),
                    running.started,
                );
            }),
        }
    }

    fn is_listening(&self) -> bool {
        !self.quiet
    }
}

impl Progress {
    fn start(&self, state: &mut State, audit: &Audit, draws: u64) {
        match &state.bar {
            Some(bar) => bar.inc_length(draws),
            None => {
                let bar = if self.quiet { ProgressBar::hidden() } else { ProgressBar::new(draws) };
                let template = "{prefix} {bar:24} {percent:>3} % {wide_msg} {speed}";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style.with_key(
                        "speed",
                        |state: &indicatif::ProgressState, w: &mut dyn std::fmt::Write| {
                            let _ = w.write_str(&speed(state.per_sec(), state.eta()));
                        },
                    ));
                }
                state.bar = Some(bar);
            }
        }
        let (name, started) = (audit.name.clone(), Instant::now());
        state.running.push(Running { name, draws, started, epsilon_lower: None });
        self.show(state);
    }

    /// Shows which audits are running.
    fn show(&self, state: &State) {
        let Some(bar) = &state.bar else { return };
        bar.set_prefix(format!("[{}/{}]", state.finished + 1, self.audits));
        bar.set_message(state.message());
    }

    /// An audit, or an item of a shard, has ended. Of its draws, `unused` were not made.
    fn end(
        &self,
        state: &mut State,
        unused: u64,
        line: impl FnOnce(f64) -> String,
        started: Instant,
    ) {
        state.finished += 1;
        let last = state.running.is_empty();
        if last && let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
        if !self.quiet {
            let line = line(started.elapsed().as_secs_f64());
            let print = || print_error(format_args!("[{}/{}] {line}", state.finished, self.audits));
            match &state.bar {
                Some(bar) => bar.suspend(print),
                None => print(),
            }
        }
        state.shorten(unused);
        self.show(state);
    }
}

impl State {
    /// So many draws will not be made.
    fn shorten(&self, draws: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(bar.length().unwrap_or(0).saturating_sub(draws));
        }
    }

    /// The names of the running audits, with the bound if there is one for all draws.
    fn message(&self) -> String {
        if let [Running { name, epsilon_lower: Some(bound), .. }] = self.running.as_slice() {
            return format!("{}  ε ≥ {}", printable(name), Brief(round_down(*bound, 3)));
        }
        let names: Vec<String> =
            self.running.iter().map(|running| printable(&running.name)).collect();
        names.join(", ")
    }
}

/// The draws of all statements of an audit.
fn drawn(audit: &AuditReport) -> u64 {
    audit.statements().filter_map(Judged::evidence).map(Evidence::draws).sum()
}

/// The speed in a unit that fits it, and the time that is left.
fn speed(per_second: f64, left: Duration) -> String {
    // An estimate that is not a number or is too large is none.
    let left = if left.as_secs() > 0 && left.as_secs() < 100 * 24 * 3600 {
        format!(", {} left", duration(left.as_secs()))
    } else {
        String::new()
    };
    let speed = match per_second {
        speed if !speed.is_finite() || speed <= 0.0 => return "no draws yet".to_owned(),
        speed if speed < 1.0 => format!("{:.1} draws/min", speed * 60.0),
        speed if speed < 10.0 => format!("{speed:.1} draws/s"),
        speed if speed < 1e3 => format!("{speed:.0} draws/s"),
        speed if speed < 1e6 => format!("{:.1} k draws/s", speed / 1e3),
        speed => format!("{:.1} M draws/s", speed / 1e6),
    };
    speed + &left
}

/// A duration in the two largest units that it has.
fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

fn summary_line(audit: &AuditReport, seconds: f64) -> String {
    let verdict = audit.verdict().map_or_else(|| styled("error".to_owned(), Look::Red), coloured);
    let (mark, name, findings) =
        (mark(audit.agreement()), &audit.audit.name, findings(audit).join("; "));
    format!("{mark} {verdict:<12} {name}  ({findings}; {seconds:.1} s)")
}

/// The largest bound against its claim, and what is farthest from another claim.
fn findings(audit: &AuditReport) -> Vec<String> {
    let about_claim = |judged: &Judged<'_>| judged.kind().is_about_claim();
    let lower = audit.statements().filter(about_claim).filter_map(Judged::evidence);
    let best = lower.map(Evidence::lower).reduce(f64::max);
    let Limit { measure, value } = audit.audit.claim.main();
    let mut findings = Vec::new();
    findings.extend(best.map(|best| {
        format!("{} ≥ {}, claimed {value}", measure.symbol(), Brief(round_down(best, 3)))
    }));
    let others = audit.statements().filter(|judged| !about_claim(judged));
    // If several are equal, the first.
    let worst =
        others.reduce(|worst, next| if next.reach() > worst.reach() { next } else { worst });
    findings.extend(worst.and_then(Judged::bound));
    if findings.is_empty() { vec!["nothing could be run".to_owned()] } else { findings }
}

/// The mark of an agreement, in its colour.
pub fn mark(agreement: Agreement) -> Styled<&'static str> {
    let look = match agreement {
        Agreement::Agrees => Look::Green,
        Agreement::Undecided => Look::Yellow,
        Agreement::NotRun | Agreement::Differs => Look::Red,
    };
    styled(agreement.mark(), look)
}

fn coloured(verdict: Verdict) -> Styled<String> {
    let look = match verdict {
        Verdict::Violated => Look::Red,
        Verdict::Consistent => Look::Green,
        Verdict::Inconclusive(_) => Look::Yellow,
    };
    styled(verdict.to_string(), look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_has_a_unit_that_fits_it() {
        let none = Duration::ZERO;
        let speeds = [0.0, f64::NAN, 0.05, 3.17, 92.4, 1234.0, 999_900.0, 3.17e6]
            .map(|speed_of| speed(speed_of, none));
        let expected = [
            "no draws yet",
            "no draws yet",
            "3.0 draws/min",
            "3.2 draws/s",
            "92 draws/s",
            "1.2 k draws/s",
            "999.9 k draws/s",
            "3.2 M draws/s",
        ];
        assert_eq!(speeds, expected);
    }

    #[test]
    fn the_time_that_is_left_is_shown_if_it_is_known() {
        let left = |seconds| speed(92.0, Duration::from_secs(seconds));
        assert_eq!(left(0), "92 draws/s");
        assert_eq!(left(45), "92 draws/s, 45 s left");
        assert_eq!(left(125), "92 draws/s, 2 min 5 s left");
        assert_eq!(left(7500), "92 draws/s, 2 h 5 min left");
        assert_eq!(left(200_000), "92 draws/s, 2 days 7 h left");
        assert_eq!(left(u64::MAX), "92 draws/s");
    }
}
