//! The command `dp-audit calibrate`.

use super::args::CalibrateArgs;
use super::rates;
use super::screen::{Screen, print_error};
use crate::audit::Preparer;
use crate::calibrate::files::CalibrationFiles;
use crate::calibrate::{self, Outcome};
use crate::model::Error;
use crate::model::text::printable;
use crate::report::gate::exit_code::ExitCode;
use crate::suite;

/// Measures the auditor's rates of false alarms, or its power.
pub fn calibrate(args: &CalibrateArgs) -> Result<ExitCode, Error> {
    let (audits, budgets, repetition) = (args.audits()?, args.budgets(), args.repetition());
    suite::check(&audits)?;
    let files = CalibrationFiles::open(&args.csv(), args.pictures.clone())?;
    let screen = Screen::new(args.quiet, files.to_standard_output());
    let bar = rates::progress((audits.len() * budgets.len()) as u64 * repetition.seeds, args.quiet);
    let preparer = Preparer::default();
    let mut outcomes = Vec::new();
    let mut written = Ok(());
    for (audit, draws) in
        audits.iter().flat_map(|audit| budgets.iter().map(move |draws| (audit, *draws)))
    {
        bar.set_message(printable(&audit.name));
        match calibrate::repeat(audit, draws, repetition, &preparer, &|| bar.inc(1)) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => {
                bar.abandon();
                print_error(format_args!("{}: could not be run: {error}", audit.name));
                return Ok(ExitCode::NotRun);
            }
        }
        written = files.write(&outcomes, outcomes.len() == audits.len() * budgets.len());
    }
    bar.finish_and_clear();
    screen.print(rates::table(&outcomes))?;
    written?;
    Ok(if outcomes.iter().any(Outcome::exceeds_allowed) {
        ExitCode::Surprise
    } else {
        ExitCode::AsExpected
    })
}
