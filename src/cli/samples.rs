//! The command `dp-audit samples`.

use std::sync::Mutex;

use super::args::SamplesArgs;
use super::report::{RunInput, report_to_github};
use super::screen::Screen;
use super::summary::View;
use super::wrap::{width, wrapped_lines};
use crate::audit::{Audit, Here, PairPlan};
use crate::model::Error;
use crate::report::formats::html::Html;
use crate::report::gate::exit_code::ExitCode;
use crate::report::gate::problem::ProblemFinder;
use crate::report::persistence::shard_file::Selection;
use crate::report::persistence::store::Destination;
use crate::target::recorded::Recording;
use crate::target::{PrepareError, Target};

/// Audits outputs that were collected before.
pub fn samples(args: &SamplesArgs) -> Result<ExitCode, Error> {
    let recording = Recording::read(&args.left, &args.right, args.header, args.separator)?;
    let gate = args.gate();
    let html = Html { origin: args.reports.origin(&[]), ..Html::default() };
    let finder = ProblemFinder::from_environment(&gate, None);
    let csv = Destination::at(&args.csv())?;
    let reports = args.reports.open(Some(csv), None, &Selection::default(), &finder, None, html)?;
    let taken = reports.use_standard_output();
    let screen = Screen::new(args.shown.quiet, taken);
    screen.print(wrapped_lines(&recording.to_string(), width()))?;
    let settings = args.settings(recording.draws());
    let mut audit = Audit::given("recorded outputs", "recorded", args.claim(), [recording.name()]);
    audit.reach = args.asked_reach();
    audit.ignore = args.ignore.iter().cloned().collect();
    if !args.attacks.is_empty() {
        audit.attacks.clone_from(&args.attacks);
    }
    // There is only one pair, so the recording is needed only once.
    let recording = Mutex::new(Some(recording));
    let source = |plan: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
        let recording = recording.lock().ok().and_then(|mut recording| recording.take());
        let recording = recording.ok_or_else(|| PrepareError::Given("recording".to_owned()))?;
        Ok(Box::new(recording.into_target(args.order(), plan.seed)))
    };
    let view = View { verbose: args.shown.verbose, width: width(), witnesses: None };
    let input =
        RunInput { audits: &[audit], settings, worker: &Here(&source), known: &|_| None, view };
    let (report, mut text) = input.run_and_report(reports, &[], screen)?;
    text.extend(gate.closing_line(&report, false).map(|line| line + "\n"));
    screen.print(wrapped_lines(&text, view.width))?;
    report_to_github(&report, &finder, &[], taken)?;
    Ok(gate.exit_code(&report, false))
}
