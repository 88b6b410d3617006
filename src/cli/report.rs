//! What `run`, `merge` and `report` do with results: progress, report files, witnesses, gates, and
//! the text at the end.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::args::{GateArgs, OutputArgs, ReportDestinations};
use super::progress::Progress;
use super::screen::Screen;
use super::search::SearchedAudits;
use super::summary::{View, run_summary};
use super::wrap::{width, wrapped_lines};
use crate::audit::{self, Audit, Known, Listener, RunReport, Worker};
use crate::model::number::{counted, percent};
use crate::model::{Agreement, Error, Settings};
use crate::report::ci::github::{self, GitHub};
use crate::report::ci::origin::Origin;
use crate::report::formats::csv;
use crate::report::formats::html::Html;
use crate::report::formats::json::{Json, JsonReport};
use crate::report::formats::plots::Plots;
use crate::report::gate::Gate;
use crate::report::gate::baseline::{Comparison, Difference};
use crate::report::gate::exit_code::ExitCode;
use crate::report::gate::problem::ProblemFinder;
use crate::report::persistence::evidence_file::{Added, EvidenceFile};
use crate::report::persistence::files::{Format as _, ReportFiles};
use crate::report::persistence::journal::Journal;
use crate::report::persistence::shard_file::Selection;
use crate::report::persistence::store::{Destination, unwritable};
use crate::report::persistence::witnesses::Witnesses;

/// Everything that a run writes, checked before the first draw.
pub struct Reporting<'a> {
    args: &'a OutputArgs,
    audits: &'a [Audit],
    settings: Settings,
    closing: Closing,
    csv: Destination,
    /// Audits of an earlier CSV report that are not part of this run.
    replaced: usize,
    reports: ReportDestinations,
    witnesses: Witnesses,
    /// What a search found before.
    searched: Option<&'a SearchedAudits>,
}

impl<'a> Reporting<'a> {
    /// Checks that everything can be written.
    pub fn open(
        args: &'a OutputArgs,
        audits: &'a [Audit],
        settings: Settings,
        selection: &Selection,
    ) -> Result<Self, Error> {
        let witness_folder = args.witnesses();
        let closing = Closing::open(&args.gate, selection, witness_folder.path())?;
        let csv_path = args.csv(selection);
        let csv = Destination::at(&csv_path)?;
        let json = args.json(&csv_path)?;
        let replaced = csv::other_audits(&csv, audits);
        let reports = args.reports.open(
            Some(csv.clone()),
            json,
            selection,
            &closing.finder,
            closing.baseline.compared(),
            closing.html(args.reports.origin(audits), witness_folder.path()),
        )?;
        let witnesses = Witnesses::open(&witness_folder, settings)?;
        Ok(Self {
            args,
            audits,
            settings,
            closing,
            csv,
            replaced,
            reports,
            witnesses,
            searched: None,
        })
    }

    /// The same for audits with the pairs that a search has found.
    pub fn with_search(self, searched: &'a SearchedAudits) -> Self {
        Self { audits: &searched.audits, searched: Some(searched), ..self }
    }

    /// Whether a report is written to this path.
    pub fn writes(&self, path: &Path) -> bool {
        self.reports.destinations().any(|destination| destination.is_file_at(path))
    }

    /// The audits.
    pub fn audits(&self) -> &'a [Audit] {
        self.audits
    }

    /// The CSV report.
    pub fn csv(&self) -> &Destination {
        &self.csv
    }

    /// Gets all results from the worker, writes the reports, and prints the end of the run.
    pub fn run(
        self,
        worker: &dyn Worker,
        journal: Option<Journal>,
        evidence: Option<EvidenceFile>,
    ) -> Result<ExitCode, Error> {
        let Self { args, audits, settings, closing, csv, replaced, reports, witnesses, searched } =
            self;
        let taken = reports.use_standard_output();
        let screen = Screen::new(args.shown.quiet, taken);
        let of_search = |audit: &Audit| searched?.known.get(&audit.name).cloned();
        let known = |audit: &Audit| of_search(audit).or_else(|| journal.as_ref()?.found(audit));
        let mut listeners: Vec<&dyn Listener> = vec![&witnesses];
        listeners.extend(journal.as_ref().map(|journal| journal as &dyn Listener));
        listeners.extend(evidence.as_ref().map(|evidence| evidence as &dyn Listener));
        let witness_folder = args.witnesses();
        let folder = Some(witness_folder.path());
        let view = View { verbose: args.shown.verbose, width: width(), witnesses: folder };
        let input = RunInput { audits, settings, worker, known: &known, view };
        let (report, mut text) = input.run_and_report(reports, &listeners, screen)?;
        text.push_str(searched.map_or("", |searched| searched.efforts.as_str()));
        if args.shown.verbose {
            text.push_str(&timings(&report));
        }
        let added = evidence.map(EvidenceFile::close);
        if let Some(Ok(added)) = &added {
            text.push_str(&evidence_line(added));
        }
        let written = witnesses.close()?;
        if let Some(journal) = journal.map_or(Ok(None), |journal| journal.close(&report))? {
            let _ = writeln!(
                text,
                "Journal: {}; with --resume only what could not be run is run again",
                journal.display()
            );
        }
        if written > 0 {
            let _ = writeln!(
                text,
                "Witnesses: {written} in {}; check one with `dp-audit replay FILE`",
                witness_folder.path().display()
            );
        }
        if replaced > 0 {
            let audits = counted(replaced, "audit");
            let _ = writeln!(
                text,
                "Note: {} has replaced a report with {audits} that this run does not have",
                csv.path().display()
            );
        }
        let code = closing.close(&report, text, view.width, screen, taken)?;
        // The results of this run are printed in any case.
        added.transpose()?;
        Ok(code)
    }
}

/// What a run is compared with, and what fails it.
pub struct Closing {
    gate: Gate,
    baseline: Baseline,
    /// Finds the problems of the run.
    pub finder: ProblemFinder,
}

impl Closing {
    /// Reads the baseline.
    pub fn open(args: &GateArgs, selection: &Selection, witnesses: &Path) -> Result<Self, Error> {
        let gate = args.gate();
        let finder = ProblemFinder::from_environment(&gate, Some(witnesses));
        Ok(Self { gate, baseline: Baseline::open(args, selection)?, finder })
    }

    /// What reports compare the run with.
    pub fn compared(&self) -> Option<&JsonReport> {
        self.baseline.compared()
    }

    /// The HTML report.
    pub fn html(&self, origin: Origin, witnesses: &Path) -> Html {
        let baseline = self.baseline.before.clone();
        Html { origin, witnesses: Some(witnesses.to_owned()), baseline }
    }

    /// Compares the run, prints the text and what follows it, and returns the exit code.
    pub fn close(
        self,
        report: &RunReport,
        mut text: String,
        width: usize,
        screen: Screen,
        taken: bool,
    ) -> Result<ExitCode, Error> {
        let Self { gate, baseline, finder } = self;
        let comparison = baseline
            .before
            .as_ref()
            .map(|before| Comparison::new(before, &JsonReport::new(report)));
        if let Some(comparison) = &comparison {
            text.push_str(&comparison.text());
        }
        // What replaces the baseline is not worse than it.
        let worse = comparison
            .filter(|_| baseline.update.is_none())
            .map(|comparison| comparison.worse)
            .unwrap_or_default();
        let is_worse = !worse.is_empty();
        text.extend(baseline.update(report)?);
        text.extend(gate.allowed_line(report).map(|line| line + "\n"));
        text.extend(gate.closing_line(report, is_worse).map(|line| line + "\n"));
        // All files are written at this point, so a failure to print loses no results.
        screen.print(wrapped_lines(&text, width))?;
        report_to_github(report, &finder, &worse, taken)?;
        Ok(gate.exit_code(report, is_worse))
    }
}

/// What was added to the evidence of earlier runs, and how far it is.
fn evidence_line(added: &Added) -> String {
    let nearest = added.nearest.as_ref().map_or_else(String::new, |(name, share)| {
        if *share >= 1.0 {
            format!("; {name} is refuted by it")
        } else {
            format!("; {name} is {} of the way to a refutation", percent(*share))
        }
    });
    let pairs = counted(added.pairs, "pair");
    format!("Evidence: {}, this run added to {pairs}{nearest}\n", added.path.display())
}

/// Where the time of programs went, one line for each statement.
pub fn timings(report: &RunReport) -> String {
    let timings = report.judged().filter_map(|judged| {
        let (audit, timing) = (&judged.report.audit.name, judged.result.timing?);
        Some(format!("Time: {audit} / {}: {timing}\n", judged.name()))
    });
    timings.collect()
}

/// What a time limit changed, one line for each statement.
pub fn notes(report: &RunReport) -> String {
    let Settings { max_seconds, max_seconds_total, .. } = report.settings;
    let of_run = max_seconds.or(max_seconds_total).is_some();
    if !of_run && report.audits.iter().all(|found| found.audit.max_seconds.is_none()) {
        return String::new();
    }
    let notes = report.judged().filter_map(|judged| {
        let (audit, note) = (&judged.report.audit.name, judged.evidence()?.note()?);
        Some(format!("{audit} / {}: {note}.\n", judged.name()))
    });
    notes.collect()
}

/// The baseline of a run: what it is compared with, and where the next one is written.
#[derive(Default)]
struct Baseline {
    before: Option<Arc<JsonReport>>,
    update: Option<Destination>,
}

impl Baseline {
    /// Reads the baseline before anything is measured. A run with filters is compared with the same
    /// part of it. A baseline that is to be written need not exist.
    fn open(args: &GateArgs, selection: &Selection) -> Result<Self, Error> {
        let Some(path) = args.baseline.as_deref() else { return Ok(Self::default()) };
        if args.update_baseline && *selection != Selection::default() {
            return Err(Error::PartialBaseline);
        }
        let is_new = args.update_baseline && !path.exists();
        let before = if is_new {
            None
        } else {
            Some(
                JsonReport::read(path)?
                    .selected(selection.filter.as_deref(), selection.pair.as_deref()),
            )
        };
        let before = before.map(Arc::new);
        Ok(Self {
            before,
            update: args.update_baseline.then(|| Destination::open(path)).transpose()?,
        })
    }

    /// What reports compare the run with. A run that replaces the baseline cannot be worse than it.
    fn compared(&self) -> Option<&JsonReport> {
        self.before.as_deref().filter(|_| self.update.is_none())
    }

    /// Writes the baseline, if that was asked for, and says so. A run in which something could not
    /// be run is no baseline.
    fn update(&self, report: &RunReport) -> Result<Option<String>, Error> {
        let Some(destination) = &self.update else { return Ok(None) };
        let path = destination.path();
        let missing = report.audits.iter().any(|audit| audit.agreement() == Agreement::NotRun);
        if missing || !report.is_complete() {
            return Ok(Some(format!(
                "Baseline: {} was not written, because something could not be run\n",
                path.display()
            )));
        }
        let content = Json::default().render(report).map_err(|source| unwritable(path, source))?;
        destination.replace(&content).map_err(|source| unwritable(path, source))?;
        Ok(Some(format!("Baseline: {}; commit it\n", path.display())))
    }
}

/// The input of a run.
pub struct RunInput<'a> {
    /// The audits.
    pub audits: &'a [Audit],
    /// The settings of the run.
    pub settings: Settings,
    /// Gets the results.
    pub worker: &'a dyn Worker,
    /// The results of audits that are already finished.
    pub known: &'a dyn Fn(&Audit) -> Option<Known>,
    /// How the results are shown.
    pub view: View<'a>,
}

impl RunInput<'_> {
    /// Runs the audits, shows progress, writes the report files and passes events to `others`.
    /// Returns the report and the text to print.
    pub fn run_and_report(
        &self,
        reports: ReportDestinations,
        others: &[&dyn Listener],
        screen: Screen,
    ) -> Result<(RunReport, String), Error> {
        let started = Instant::now();
        let progress = Progress::new(self.audits.len(), screen == Screen::Quiet);
        progress.begin();
        let statements = self.audits.iter().map(Audit::statement_count).sum();
        let writing = Writing::new(reports, self.settings, statements);
        let mut listeners: Vec<&dyn Listener> = vec![&progress];
        listeners.extend(others);
        listeners.extend(writing.listeners());
        let report = audit::run_with(
            self.audits,
            self.settings,
            self.worker,
            self.known,
            listeners.as_slice(),
        );
        let seconds = started.elapsed().as_secs_f64();
        let mut text = format!("{}\n", run_summary(&report, Some(seconds), self.view));
        text.push_str(&notes(&report));
        text = writing.close(text, screen)?;
        Ok((report, text))
    }
}

/// The report files of a run that goes on, or has ended.
pub struct Writing {
    files: ReportFiles,
    plots: Option<Plots>,
    destinations: Vec<Destination>,
}

impl Writing {
    /// The files of a run with so many statements.
    pub fn new(reports: ReportDestinations, settings: Settings, statements: usize) -> Self {
        let named = reports.destinations().filter(|place| !place.is_standard_output());
        let destinations = named.cloned().collect();
        let (files, plots) = reports.into_files(settings, statements);
        Self { files, plots, destinations }
    }

    /// Who must hear what is found.
    pub fn listeners(&self) -> impl Iterator<Item = &dyn Listener> {
        let plots = self.plots.as_ref().map(|plots| plots as &dyn Listener);
        plots.into_iter().chain([&self.files as &dyn Listener])
    }

    /// Writes everything, and adds a line about each file to the text. If a report cannot be
    /// written, the text is printed at once, because the results count.
    pub fn close(self, mut text: String, screen: Screen) -> Result<String, Error> {
        let Self { files, plots, destinations } = self;
        let drawn = match files.close().and(plots.map(Plots::close).transpose()) {
            Ok(drawn) => drawn,
            Err(error) => {
                screen.print(text)?;
                return Err(error);
            }
        };
        for destination in &destinations {
            let _ = writeln!(text, "Report: {}", destination.path().display());
        }
        if let Some(drawn) = drawn {
            let _ = writeln!(text, "Pictures: {drawn} in the folder of --plots");
        }
        Ok(text)
    }
}

/// In GitHub Actions, prints annotations and writes the job's summary.
pub fn report_to_github(
    report: &RunReport,
    finder: &ProblemFinder,
    worse: &[Difference],
    output_is_taken: bool,
) -> Result<(), Error> {
    let Some(github) = GitHub::from_environment() else { return Ok(()) };
    // The runner reads annotations from both streams.
    Screen::new(false, output_is_taken)
        .print_commands(&github::annotations(&finder.problems(report, worse)))?;
    github.summarise(report)
}
