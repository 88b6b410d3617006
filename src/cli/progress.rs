//! Shows progress on standard error during a run.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::screen::{Look, Styled, print_error, styled};
use crate::audit::{Audit, AuditReport, Event, Evidence, Judged, Listener};
use crate::model::number::{Brief, round_down};
use crate::model::text::printable;
use crate::model::{Agreement, Limit, Verdict};

/// Progress on standard error: a bar for the running audit on a terminal, and one line for each
/// finished audit.
pub struct Progress {
    quiet: bool,
    audits: usize,
    running: Mutex<Option<Running>>,
}

struct Running {
    bar: ProgressBar,
    started: Instant,
    number: usize,
}

impl Progress {
    /// Progress of a run with `audits` audits. If `quiet`, nothing is shown.
    #[must_use]
    pub fn new(audits: usize, quiet: bool) -> Self {
        Self { quiet, audits, running: Mutex::new(None) }
    }

    /// One item of a shard has ended.
    pub fn item_finished(&self, item: &str) {
        self.with(|running| {
            running.bar.finish_and_clear();
            if !self.quiet {
                print_error(format_args!(
                    "[{}/{}] {item}  ({:.1} s)",
                    running.number,
                    self.audits,
                    running.started.elapsed().as_secs_f64()
                ));
            }
        });
    }

    /// Removes the bar, when what it showed has ended without a report.
    pub fn clear(&self) {
        self.with(|running| running.bar.finish_and_clear());
    }

    fn with(&self, act: impl FnOnce(&mut Running)) {
        if let Ok(mut running) = self.running.lock()
            && let Some(running) = running.as_mut()
        {
            act(running);
        }
    }
}

impl Listener for Progress {
    fn hear(&self, event: Event<'_>) {
        match event {
            Event::AuditStarted { audit, draws } => self.started(audit, draws),
            Event::Drawn { draws } => self.with(|running| running.bar.inc(draws)),
            // The bar ends with the draws that are still to be made.
            Event::Cut { draws } => self.with(|running| {
                running.bar.set_length(running.bar.length().unwrap_or(0).saturating_sub(draws));
            }),
            Event::Looked { epsilon_lower } => self.looked(epsilon_lower),
            Event::AuditFinished { report } => self.finished(report),
        }
    }

    fn is_listening(&self) -> bool {
        !self.quiet
    }
}

impl Progress {
    fn started(&self, audit: &Audit, draws: u64) {
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
        if let Ok(mut running) = self.running.lock() {
            let number = running.as_ref().map_or(0, |running| running.number) + 1;
            bar.set_prefix(format!("[{number}/{}]", self.audits));
            bar.set_message(printable(&audit.name));
            *running = Some(Running { bar, started: Instant::now(), number });
        }
    }

    fn looked(&self, epsilon_lower: f64) {
        self.with(|running| {
            let message = running.bar.message();
            let name = message.split("  ε ≥ ").next().unwrap_or_default();
            running.bar.set_message(format!("{name}  ε ≥ {}", Brief(round_down(epsilon_lower, 3))));
        });
    }

    fn finished(&self, audit: &AuditReport) {
        self.with(|running| {
            running.bar.finish_and_clear();
            if !self.quiet {
                let line = summary_line(audit, running.started.elapsed().as_secs_f64());
                print_error(format_args!("[{}/{}] {line}", running.number, self.audits));
            }
        });
    }
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
    let best = audit
        .statements()
        .filter(about_claim)
        .filter_map(Judged::evidence)
        .map(Evidence::lower)
        .fold(0.0, f64::max);
    let Limit { measure, value } = audit.audit.claim.main();
    let (symbol, bound) = (measure.symbol(), Brief(round_down(best, 3)));
    let mut findings = Vec::new();
    findings.extend(
        audit.audit.is_about_claim().then(|| format!("{symbol} ≥ {bound}, claimed {value}")),
    );
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
