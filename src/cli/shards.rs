//! A run on many machines: `dp-audit run --shard` and `dp-audit merge`.

use std::cell::RefCell;
use std::path::Path;

use super::args::{MergeArgs, RunArgs};
use super::progress::Progress;
use super::report::Reporting;
use super::screen::print_error;
use crate::audit::{
    Audit, Costs, Event, Exploration, Listener as _, PairPlan, Part, Preparer, WorkItem, divide,
    explore, run_item,
};
use crate::model::Error;
use crate::report::gate::exit_code::ExitCode;
use crate::report::persistence::costs::read_costs;
use crate::report::persistence::identity::RunIdentity;
use crate::report::persistence::merge::{MergedRun, described};
use crate::report::persistence::shard::ShardChoice;
use crate::report::persistence::shard_file::{Definition, ShardFile, ShardHeader};

/// Runs one shard and writes its file. Verdicts are judged when all shards are merged, so they do
/// not change the exit code.
pub fn run_shard(
    args: &RunArgs,
    audits: &[Audit],
    shard: ShardChoice,
    out: &Path,
) -> Result<ExitCode, Error> {
    let shard = shard.resolve(|name| std::env::var(name).ok()).map_err(Error::NoShard)?;
    let settings = args.settings();
    let costs = match &args.costs {
        Some(path) => read_costs(path, audits, settings)?,
        None => Costs::default(),
    };
    let items = divide(audits, settings, shard.of, &costs).swap_remove(shard.index());
    let definitions: Vec<Definition> = audits.iter().map(Definition::new).collect();
    let header = ShardHeader::new(
        &definitions,
        RunIdentity::new(audits, settings),
        args.plan.selection(),
        costs,
        shard,
    );
    let (name, all) = (header.name(), items.len());
    let mut file = ShardFile::open(out, header, args.start())?;
    let quiet = args.output.shown.quiet;
    let say = |text: String| {
        if !quiet {
            print_error(text);
        }
    };
    if file.finished() > 0 {
        say(format!("Resuming {name}: {} of {all} items are finished already.", file.finished()));
    }
    // What is in the file is not run again.
    let rest: Vec<WorkItem> = items.into_iter().filter(|item| !file.has(item)).collect();
    let progress = Progress::new(rest.len(), quiet);
    let (preparer, learned) = (Preparer::default(), LastLearned::default());
    let mut failed = 0;
    for item in rest {
        let draws = audits[item.audit].budget(settings);
        progress.hear(Event::AuditStarted { audit: &audits[item.audit], draws });
        let explored = |plan: &PairPlan| learned.of(&item, plan, &preparer, &progress);
        let Some(result) = run_item(&item, audits, settings, &preparer, &explored, &progress)
        else {
            continue;
        };
        let text = described(&item, audits);
        progress.item_finished(&text);
        if let Some(error) = result.error() {
            failed += 1;
            say(format!("{text} could not be run: {error}"));
        }
        file.append(item, result, &definitions)?;
    }
    let path = file.close()?;
    let errors = if failed > 0 {
        format!(", {failed} of which could not be run; --resume tries these again")
    } else {
        String::new()
    };
    say(format!("{}: {name}, {all} items{errors}", path.display()));
    Ok(ExitCode::AsExpected)
}

/// Merges shards: the reports and the exit code of a run on one machine.
pub fn merge(args: &MergeArgs) -> Result<ExitCode, Error> {
    let MergedRun { audits, settings, selection, results, .. } = MergedRun::read(&args.shards)?;
    Reporting::open(&args.output, &audits, settings, &selection)?.run(&results, None, None)
}

/// The rules that were learned for the last part. A shard may have several parts of one pair.
#[derive(Default)]
struct LastLearned(RefCell<Option<(usize, usize, Exploration)>>);

impl LastLearned {
    fn of(
        &self,
        item: &WorkItem,
        plan: &PairPlan,
        preparer: &Preparer,
        progress: &Progress,
    ) -> Option<Exploration> {
        use crate::audit::TargetSource as _;
        let Part::Batches(pair, _) = item.part else { return None };
        let mut last = self.0.borrow_mut();
        let is_known =
            |(audit, known, _): &(usize, usize, _)| (*audit, *known) == (item.audit, pair);
        if !last.as_ref().is_some_and(is_known) {
            // An error occurs again when the part itself explores, and is its result.
            *last = explore(plan, preparer.target(plan).ok()?.as_ref(), progress)
                .ok()
                .map(|exploration| (item.audit, pair, exploration));
        }
        last.as_ref().map(|(.., exploration)| exploration.clone())
    }
}
