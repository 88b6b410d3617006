//! The command `dp-audit run`.

use super::args::RunArgs;
use super::report::Reporting;
use super::screen::{Screen, print_error};
use super::shards::run_shard;
use super::smoke::smoke;
use crate::audit::{Here, Preparer};
use crate::model::Error;
use crate::report::exit_code::ExitCode;
use crate::report::journal::Journal;

/// Runs audits, writes reports, and prints the results.
pub fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    let audits = args.plan.audits()?;
    let settings = args.settings();
    if args.smoke {
        return smoke(&audits, settings, Screen::new(args.output.shown.quiet, false));
    }
    if let Some((shard, out)) = args.shard.zip(args.out.as_deref()) {
        return run_shard(args, &audits, shard, out);
    }
    let reporting = Reporting::open(&args.output, &audits, settings, &args.plan.selection())?;
    let journal = Journal::open(reporting.csv(), &audits, settings, args.start(), |text| print_error(text))?;
    if let Some(notice) = journal.as_ref().and_then(Journal::notice).filter(|_| !args.output.shown.quiet) {
        print_error(notice);
    }
    reporting.run(&Here(&Preparer::default()), journal)
}
