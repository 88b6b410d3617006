//! A run on many machines: `dp-audit run --shard`, `dp-audit explore` and `dp-audit merge`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use super::args::{ExploreArgs, MergeArgs, PlanArgs, RunArgs};
use super::progress::Progress;
use super::report::Reporting;
use super::screen::print_error;
use crate::audit::{
    Audit, Event, Exploration, Listener as _, PairPlan, Part, Preparer, WorkItem, WorkResult,
    divide, explorations, explore as learn, run_item,
};
use crate::model::{Error, Settings};
use crate::report::gate::exit_code::ExitCode;
use crate::report::persistence::identity::RunIdentity;
use crate::report::persistence::journal::Start;
use crate::report::persistence::merge::{MergedRun, described};
use crate::report::persistence::shard::ShardChoice;
use crate::report::persistence::shard_file::{Definition, ShardFile, ShardHeader, explored_rules};

/// Runs one shard and writes its file. Verdicts are judged when all shards are merged, so they do
/// not change the exit code.
pub fn run_shard(
    args: &RunArgs,
    audits: &[Audit],
    shard: ShardChoice,
    out: &Path,
) -> Result<ExitCode, Error> {
    let shard = shard.resolve(|name| std::env::var(name).ok()).map_err(Error::NoShard)?;
    let items = divide(audits, args.settings(), shard.of).swap_remove(shard.index());
    let work = Work::new(&args.plan, audits, Some(shard.number), shard.of, args.output.shown.quiet);
    let rules = explored_rules(out, &work.header)?;
    work.run(items, &rules, out, args.start())
}

/// Learns the rules of all pairs that the shards cut into parts.
pub fn explore(args: &ExploreArgs) -> Result<ExitCode, Error> {
    let audits = args.plan.audits()?;
    let shards = usize::try_from(args.shards).unwrap_or(usize::MAX);
    let items = explorations(&audits, args.plan.settings(), shards);
    Work::new(&args.plan, &audits, None, shards, args.quiet).run(
        items,
        &HashMap::new(),
        &args.out,
        Start::of(args.resume),
    )
}

/// Merges shards: the reports and the exit code of a run on one machine.
pub fn merge(args: &MergeArgs) -> Result<ExitCode, Error> {
    let MergedRun { audits, settings, selection, results, .. } = MergedRun::read(&args.shards)?;
    Reporting::open(&args.output, &audits, settings, &selection)?.run(&results, None)
}

/// The items of one file.
struct Work<'a> {
    audits: &'a [Audit],
    settings: Settings,
    definitions: Vec<Definition>,
    header: ShardHeader,
    quiet: bool,
}

impl<'a> Work<'a> {
    fn new(
        plan: &PlanArgs,
        audits: &'a [Audit],
        number: Option<usize>,
        of: usize,
        quiet: bool,
    ) -> Self {
        let settings = plan.settings();
        let definitions: Vec<Definition> = audits.iter().map(Definition::new).collect();
        let header = ShardHeader::new(
            &definitions,
            RunIdentity::new(audits, settings),
            plan.selection(),
            number,
            of,
        );
        Self { audits, settings, definitions, header, quiet }
    }

    /// Runs what is not in the file yet.
    fn run(
        &self,
        items: Vec<WorkItem>,
        rules: &HashMap<WorkItem, WorkResult>,
        out: &Path,
        start: Start,
    ) -> Result<ExitCode, Error> {
        let mut file = ShardFile::open(out, self.header.clone(), start)?;
        let (name, all) = (self.header.name(), items.len());
        let say = |text: String| {
            if !self.quiet {
                print_error(text);
            }
        };
        if file.finished() > 0 {
            say(format!(
                "Resuming {name}: {} of {all} items are finished already.",
                file.finished()
            ));
        }
        let rest: Vec<WorkItem> = items.into_iter().filter(|item| !file.has(item)).collect();
        let progress = Progress::new(rest.len(), self.quiet);
        let preparer = Preparer::default();
        let explorations = Explorations { rules, last: RefCell::default() };
        let mut failed = 0;
        for item in rest {
            let draws = self.audits[item.audit].budget(self.settings);
            progress.hear(Event::AuditStarted { audit: &self.audits[item.audit], draws });
            let explored = |plan: &PairPlan| explorations.of(&item, plan, &preparer, &progress);
            let Some(result) =
                run_item(&item, self.audits, self.settings, &preparer, &explored, &progress)
            else {
                continue;
            };
            let text = described(&item, self.audits);
            progress.item_finished(&text);
            if let Some(error) = result.error() {
                failed += 1;
                say(format!("{text} could not be run: {error}"));
            }
            file.append(item, result, &self.definitions)?;
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
}

/// Rules that are known when a part needs them: read from a file, or learned for the part before.
struct Explorations<'a> {
    rules: &'a HashMap<WorkItem, WorkResult>,
    last: RefCell<Option<(WorkItem, Exploration)>>,
}

impl Explorations<'_> {
    fn of(
        &self,
        item: &WorkItem,
        plan: &PairPlan,
        preparer: &Preparer,
        progress: &Progress,
    ) -> Option<Exploration> {
        use crate::audit::TargetSource as _;
        let Part::Batches(pair, _) = item.part else { return None };
        let wanted = WorkItem { audit: item.audit, part: Part::Explore(pair) };
        if let Some(WorkResult::Explored(explored)) = self.rules.get(&wanted) {
            return explored.as_ref().as_ref().ok().cloned();
        }
        let mut last = self.last.borrow_mut();
        if last.as_ref().is_none_or(|(known, _)| *known != wanted) {
            // An error occurs again when the part itself explores, and is its result.
            *last = learn(plan, preparer.target(plan).ok()?.as_ref(), progress)
                .ok()
                .map(|exploration| (wanted, exploration));
        }
        last.as_ref().map(|(_, exploration)| exploration.clone())
    }
}
