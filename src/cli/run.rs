//! `dp-audit run`.

use std::fmt::Write as _;
use std::time::Instant;

use super::args::{Reports, RunArgs};
use super::progress::Progress;
use super::screen::{Screen, say, warn};
use super::tables;
use crate::audit::{self, Audit, Listener, PairResult, RunReport, TargetSource};
use crate::model::{Error, Settings};
use crate::report::baseline::Comparison;
use crate::report::exit_code::ExitCode;
use crate::report::gate::Gate;
use crate::report::github::GitHub;
use crate::report::journal::Journal;
use crate::report::json::JsonReport;
use crate::report::store::Destination;
use crate::report::witnesses::Witnesses;
use crate::suite;

/// Runs audits, writes reports, and says how it went.
pub fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    let audits = suite::filter_pairs(suite::filter(suite::load(&args.paths)?, args.filter.as_deref())?, args.pair.as_deref())?;
    suite::check(&audits)?;
    let (settings, gate) = (args.settings(), args.gate.gate());
    let baseline = args.gate.baseline.as_deref().map(JsonReport::read).transpose()?;
    let csv = Destination::open(&args.csv)?;
    let reports = args.reports.open(csv.clone(), &gate)?;
    let screen = Screen::new(args.quiet, reports.take_standard_output());
    let witnesses = Witnesses::open(&args.witnesses, settings)?;
    let journal = Journal::open(&csv, &audits, settings, args.start(), |text| warn(text))?;
    if let Some(notice) = journal.as_ref().and_then(Journal::notice).filter(|_| !args.quiet) {
        warn(notice);
    }
    let known = |audit: &Audit| journal.as_ref()?.found(audit);
    let mut listeners: Vec<&dyn Listener> = vec![&witnesses];
    listeners.extend(journal.as_ref().map(|journal| journal as &dyn Listener));
    let work = Work { audits: &audits, settings, source: &crate::prepare, known: &known };
    let (report, mut text) = work.run_and_report(reports, &listeners, screen)?;
    let written = witnesses.close()?;
    if let Some(journal) = journal.map_or(Ok(None), |journal| journal.close(&report))? {
        let _ = writeln!(text, "Journal: {}; with --resume only what could not be run is run again", journal.display());
    }
    if written > 0 {
        let _ = writeln!(text, "Witnesses: {written} in {}; check one with `dp-audit replay FILE`", args.witnesses.display());
    }
    let comparison = baseline.map(|before| Comparison::new(&before, &JsonReport::new(&report)));
    if let Some(comparison) = &comparison {
        text.push_str(&comparison.text());
    }
    // Everything is written by now, so nothing is lost if nobody can be told.
    screen.say(text)?;
    tell_github(&report, &gate, comparison.as_ref())?;
    Ok(gate.exit_code(&report, comparison.is_some_and(|comparison| !comparison.worse.is_empty())))
}

/// Audits to be run.
pub struct Work<'a> {
    /// Which.
    pub audits: &'a [Audit],
    /// How.
    pub settings: Settings,
    /// What makes their targets.
    pub source: &'a (dyn TargetSource + Sync),
    /// Results that are known already.
    pub known: &'a dyn Fn(&Audit) -> Option<Vec<PairResult>>,
}

impl Work<'_> {
    /// Runs the audits while files, a person and others follow. Returns what was found, and the words about it.
    pub fn run_and_report(&self, reports: Reports, others: &[&dyn Listener], screen: Screen) -> Result<(RunReport, String), Error> {
        let started = Instant::now();
        let progress = Progress::new(self.audits.len(), screen == Screen::Quiet);
        let places: Vec<Destination> = reports.places().filter(|place| !place.is_standard_output()).cloned().collect();
        let files = reports.into_files(self.settings, self.audits.iter().map(|audit| audit.pairs.len()).sum());
        let mut listeners: Vec<&dyn Listener> = vec![&progress];
        listeners.extend(others);
        listeners.push(&files);
        let report = audit::run_rest(self.audits, self.settings, self.source, self.known, listeners.as_slice());
        let mut text = format!("{}\n", tables::closing(&report, started.elapsed().as_secs_f64()));
        if let Err(error) = files.close() {
            // The reports are lost; what was found is not.
            screen.say(text)?;
            return Err(error);
        }
        for place in &places {
            let _ = writeln!(text, "Report: {}", place.path().display());
        }
        Ok((report, text))
    }
}

/// In GitHub Actions: annotations and the job's summary.
pub fn tell_github(report: &RunReport, gate: &Gate, comparison: Option<&Comparison>) -> Result<(), Error> {
    let Some(github) = GitHub::from_environment() else { return Ok(()) };
    say(github.annotations(report, gate, comparison))?;
    github.summarise(report)
}
