//! The command `dp-audit run`.

use std::io;

use super::args::{RunArgs, SearchEffort};
use super::report::Reporting;
use super::screen::{Screen, print_error};
use super::search::{refuse_unsearched, search_all};
use super::shards::run_shard;
use super::smoke::smoke;
use crate::audit::{Here, Preparer};
use crate::model::Error;
use crate::report::gate::exit_code::ExitCode;
use crate::report::persistence::evidence_file::EvidenceFile;
use crate::report::persistence::journal::Journal;

/// Runs audits, writes reports, and prints the results.
pub fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    let mut audits = args.plan.audits()?;
    if !args.search {
        refuse_unsearched(&audits)?;
    }
    let settings = args.settings();
    let quiet = args.output.shown.quiet;
    if args.smoke {
        return smoke(&audits, settings, Screen::new(quiet, false));
    }
    if let Some((shard, out)) = args.shard.zip(args.out.as_deref()) {
        return run_shard(args, &audits, shard, out);
    }
    let evidence = args.evidence().map(|options| EvidenceFile::open(options, &mut audits));
    let evidence = evidence.transpose()?;
    let searched;
    let mut reporting = Reporting::open(&args.output, &audits, settings, &args.plan.selection())?;
    if let Some(path) = args.evidence.as_deref().filter(|path| reporting.writes(path)) {
        let reason = "it is the file of a report; the evidence of all runs needs one of its own";
        return Err(Error::Write { path: path.to_owned(), source: io::Error::other(reason) });
    }
    if args.search {
        searched = search_all(&audits, settings, &SearchEffort::default(), quiet);
        reporting = reporting.with_search(&searched);
    }
    let journal =
        Journal::open(reporting.csv(), reporting.audits(), settings, args.start(), |text| {
            print_error(text);
        })?;
    if let Some(notice) = journal.as_ref().and_then(Journal::notice).filter(|_| !quiet) {
        print_error(notice);
    }
    reporting.run(&Here(&Preparer::default()), journal, evidence)
}
