//! The command `dp-audit report`: every format from a finished run.

use super::args::FinishedArgs;
use super::report::{Closing, Writing, notes, timings};
use super::screen::Screen;
use super::summary::{View, run_summary};
use super::wrap::width;
use crate::audit::Event;
use crate::model::Error;
use crate::report::formats::json::JsonReport;
use crate::report::gate::exit_code::ExitCode;
use crate::report::gate::problem::DEFAULT_WITNESSES;
use crate::report::persistence::store::{Destination, OutputPath};

/// Makes the reports that are asked for. Nothing is drawn.
pub fn report(args: &FinishedArgs) -> Result<ExitCode, Error> {
    let (report, selection) = JsonReport::read_run(&args.result)?;
    let folder = OutputPath::new(args.witnesses.as_deref(), DEFAULT_WITNESSES);
    let folder = folder.path();
    let closing = Closing::open(&args.gate, &selection, folder)?;
    let csv = args.csv.as_deref().map(Destination::open).transpose()?;
    let origin = args.reports.origin(report.audits.iter().map(|found| found.audit.as_ref()));
    let html = closing.html(origin, folder);
    let reports =
        args.reports.open(csv, None, &selection, &closing.finder, closing.compared(), html)?;
    if let Some(same) = reports.destinations().find(|place| place.is_file_at(&args.result)) {
        let source = std::io::Error::other("it is the result that reports are made of");
        return Err(Error::Write { path: same.path().to_owned(), source });
    }
    let taken = reports.use_standard_output();
    let screen = Screen::new(args.shown.quiet, taken);
    let writing = Writing::new(reports, report.settings, report.statements);
    for found in &report.audits {
        writing.listeners().for_each(|file| file.hear(Event::AuditFinished { report: found }));
    }
    let view = View { verbose: args.shown.verbose, width: width(), witnesses: Some(folder) };
    let text = format!("{}\n{}", run_summary(&report, None, view), notes(&report));
    let mut text = writing.close(text, screen)?;
    if args.shown.verbose {
        text.push_str(&timings(&report));
    }
    closing.close(&report, text, view.width, screen, taken)
}
