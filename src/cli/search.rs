//! The command `dp-audit search`, and the search of `dp-audit run --search`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::args::{SearchArgs, SearchEffort};
use super::progress::Progress;
use super::screen::Screen;
use super::wrap::{width, wrapped, wrapped_lines};
use crate::audit::{
    self, Audit, AuditReport, Event, Known, Listener, PairPlan, Plan, Preparer, SearchHistory,
    StatementResult, TargetSource,
};
use crate::model::checked::Positive;
use crate::model::file::read_text;
use crate::model::number::percent;
use crate::model::{Error, Expectation, FileProblem, Settings};
use crate::report::formats::html::Html;
use crate::report::formats::plots::Plots;
use crate::report::gate::exit_code::ExitCode;
use crate::report::gate::problem::ProblemFinder;
use crate::report::persistence::shard_file::Selection;
use crate::report::persistence::store::{Destination, unwritable};
use crate::report::persistence::witness::Witness;
use crate::search::{
    Arena, DataPair, DomainPairs, Effort, Finalist, Found, SHARES, SearchError, pair_toml,
    search as find,
};
use crate::suite;
use crate::target::{PrepareError, Subject, TargetError};

/// What a search found in one audit.
pub struct Searched {
    /// The audit, with the pairs that are reported.
    pub audit: Audit,
    /// Their results.
    pub results: Vec<StatementResult>,
    /// What was found, or why there was no search.
    pub found: Result<Found<DataPair>, SearchError>,
}

impl Searched {
    fn history(&self) -> Option<Arc<SearchHistory>> {
        self.found.as_ref().ok().map(|found| Arc::new(found.history.clone()))
    }

    /// What a run need not do again.
    fn known(&self) -> Known {
        Known::Searched(self.results.clone(), self.history())
    }

    /// The report of its pairs, all of which the search has judged.
    fn report(&self) -> AuditReport {
        AuditReport::new(Arc::new(self.audit.clone()), self.results.clone(), None)
            .with_search(self.history())
    }
}

/// Searches for pairs of one audit. The pairs that refute its claim are added to it; if there are
/// none and it has no others, the best one.
pub fn searched(
    audit: &Audit,
    settings: Settings,
    statements: usize,
    effort: &SearchEffort,
    listener: &dyn Listener,
) -> Searched {
    let request = audit.search.as_ref();
    let effort = Effort {
        draws: effort.draws.or(request.and_then(|request| request.draws)).unwrap_or(Effort::DRAWS),
        seconds: effort
            .seconds
            .or(request.and_then(|request| request.seconds))
            .or(Positive::try_from(Effort::SECONDS).ok()),
    };
    listener.hear(Event::AuditStarted { audit, draws: effort.draws });
    let preparer = Preparer::default();
    let target = |_: &DataPair, plan: &PairPlan| preparer.target(plan);
    let parallel = matches!(audit.subject, Subject::Registered { .. });
    let arena = Arena { audit, settings, statements, target: &target, parallel, effort };
    // Audit files without candidates are refused when they are read.
    let source = request
        .ok_or_else(String::new)
        .and_then(|request| DomainPairs::new(audit, &request.domain));
    let none = |reason: String| SearchError::NoneFits { tried: 0, reason };
    let found = source.map_err(none).and_then(|mut source| find(&mut source, &arena, listener));
    let mut searched = Searched { audit: audit.clone(), results: Vec::new(), found };
    let add = |searched: &mut Searched, finalist: Finalist<DataPair>| {
        searched.audit.pairs.push(finalist.pair);
        searched.audit.reserved = searched.audit.reserved.saturating_sub(1);
        searched.results.push(finalist.result);
    };
    let fail = |searched: &mut Searched, pair: audit::Pair, error: TargetError| {
        let plan = Plan::of_claim(audit.plan(&pair, settings, statements));
        searched.results.push(StatementResult::new(&plan, Err(error), 0.0));
        searched.audit.pairs.push(pair);
    };
    match &searched.found {
        Ok(found) => {
            let refuting = found.finalists.iter().filter(|finalist| finalist.refutes);
            let mut kept: Vec<Finalist<DataPair>> = refuting.cloned().collect();
            if kept.is_empty() && audit.pairs.is_empty() {
                kept.extend(found.best().filter(|best| best.result.outcome.is_ok()).cloned());
            }
            // What could not be judged is an error of the audit, whatever its other pairs show.
            let unjudged = found.unjudged().map(|(pair, error)| (pair, error.clone()));
            kept.into_iter().for_each(|finalist| add(&mut searched, finalist));
            if let Some((pair, error)) = unjudged {
                fail(&mut searched, pair, error);
            }
        }
        Err(error) => {
            let error = match error {
                SearchError::Target(error) => error.clone(),
                other @ SearchError::NoneFits { .. } => {
                    TargetError::NotPrepared(PrepareError::Data {
                        side: None,
                        problem: other.to_string(),
                    })
                }
            };
            let pair = audit::Pair {
                name: "search".to_owned(),
                left: crate::model::Dataset::default(),
                right: crate::model::Dataset::default(),
                expect: None,
                truth: crate::model::Truth::default(),
            };
            fail(&mut searched, pair, error);
        }
    }
    searched
}

/// Audits after a search.
pub struct SearchedAudits {
    /// The audits, with the pairs that were found.
    pub audits: Vec<Audit>,
    /// What a run need not do again, by the names of the audits.
    pub known: HashMap<String, Known>,
    /// How many candidates and draws it took, one line for each audit.
    pub efforts: String,
}

/// Searches in all audits that say where, and adds what was found to them. The number of statements
/// over which α is divided is fixed before.
pub fn search_all(
    audits: &[Audit],
    settings: Settings,
    effort: &SearchEffort,
    quiet: bool,
) -> SearchedAudits {
    let mut audits = audits.to_vec();
    audits
        .iter_mut()
        .filter(|audit| audit.search.is_some())
        .for_each(|audit| audit.reserved = SHARES);
    let statements = audits.iter().map(Audit::uncertain_statements).sum::<usize>().max(1);
    let progress =
        Progress::new(audits.iter().filter(|audit| audit.search.is_some()).count(), quiet);
    let (mut known, mut efforts) = (HashMap::new(), String::new());
    for audit in audits.iter_mut().filter(|audit| audit.search.is_some()) {
        let searched = searched(audit, settings, statements, effort, &progress);
        progress.clear();
        if let Ok(found) = &searched.found {
            let _ = writeln!(efforts, "{}: {}.", audit.name, found.history.effort());
        }
        known.insert(audit.name.clone(), searched.known());
        *audit = searched.audit;
    }
    SearchedAudits { audits, known, efforts }
}

/// Refuses audits that only say where to search: without a search nothing would be judged.
pub fn refuse_unsearched(audits: &[Audit]) -> Result<(), Error> {
    let only_search =
        audits.iter().filter(|audit| audit.search.is_some() && audit.pairs.is_empty());
    let problem = |audit: &Audit| {
        let file = audit.file.display();
        let message = format!(
            "the audit \"{}\" has no pair, only a [search]; search for one with `dp-audit search {file}` (--add writes what it finds to the \
             file), or run with --search",
            audit.name
        );
        FileProblem::new(&audit.file, message)
    };
    let problems: Vec<FileProblem> = only_search.map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Input(problems)) }
}

/// Searches for pairs and reports what was found.
pub fn search(args: &SearchArgs) -> Result<ExitCode, Error> {
    let mut audits = audits(args)?;
    let settings = args.settings();
    audits.iter_mut().for_each(|audit| audit.reserved = SHARES);
    let statements = audits.iter().map(|audit| audit.reserved).sum::<usize>().max(1);
    let html = Html { origin: args.reports.origin(&audits), ..Html::default() };
    let finder = ProblemFinder::from_environment(&crate::report::gate::Gate::default(), None);
    let csv = Destination::at(&args.csv())?;
    let reports = args.reports.open(Some(csv), None, &Selection::default(), &finder, None, html)?;
    let taken = reports.use_standard_output();
    let screen = Screen::new(args.shown.quiet, taken);
    let progress = Progress::new(audits.len(), args.shown.quiet);
    let (mut all, mut code) = (Vec::new(), ExitCode::AsExpected);
    for audit in &audits {
        // Given pairs are where the search starts; they are not judged again.
        let mut searched = searched(audit, settings, statements, &args.effort(), &progress);
        progress.clear();
        let given = audit.pairs.len();
        searched.audit.pairs.drain(..given);
        searched.audit.keep_own_claim();
        if searched.results.is_empty()
            && let Ok(found) = &searched.found
            && let Some(best) = found.best()
        {
            searched.audit.pairs.push(best.pair.clone());
            searched.results.push(best.result.clone());
        }
        let report = searched.report();
        // What was found is shown at once: the next search may take a minute.
        screen.print(in_words(audit, &searched, &report, settings))?;
        if args.add {
            screen
                .print(wrapped_lines(&add(audit, &searched, &report, settings, args)?, width()))?;
        }
        code = worse(code, exit_code(audit, &searched));
        all.push(searched);
    }
    let found: Vec<Audit> = all.iter().map(|searched| searched.audit.clone()).collect();
    let known: HashMap<&str, Arc<AuditReport>> = all
        .iter()
        .map(|searched| (searched.audit.name.as_str(), Arc::new(searched.report())))
        .collect();
    let paths: Vec<Destination> =
        reports.destinations().filter(|place| !place.is_standard_output()).cloned().collect();
    let (files, plots) =
        reports.into_files(settings, found.iter().map(Audit::statement_count).sum());
    let mut listeners: Vec<&dyn Listener> = vec![&files];
    listeners.extend(plots.as_ref().map(|plots| plots as &dyn Listener));
    let lookup = |audit: &Audit| known.get(audit.name.as_str()).cloned().map(Known::Finished);
    audit::run_rest(&found, settings, &Preparer::default(), &lookup, listeners.as_slice());
    let mut text = String::new();
    let written = files.close().and(plots.map(Plots::close).transpose());
    if written.is_ok() {
        paths.iter().for_each(|place| _ = writeln!(text, "Report: {}", place.path().display()));
    }
    let _ = writeln!(
        text,
        "All bounds hold together with confidence {}, however many candidates were tried.",
        percent(settings.confidence.get())
    );
    screen.print(wrapped_lines(&text, width()))?;
    written.map(|_| code)
}

/// The audits to search: those of a file, or the one with this name.
fn audits(args: &SearchArgs) -> Result<Vec<Audit>, Error> {
    let path = std::path::Path::new(&args.audit);
    let audits = if path.exists() {
        let audits = suite::load(&[path.to_owned()])?;
        // Of a folder, or a file with several audits, those that say where to search.
        if audits.len() > 1 && audits.iter().any(|audit| audit.search.is_some()) {
            audits.into_iter().filter(|audit| audit.search.is_some()).collect()
        } else {
            audits
        }
    } else {
        vec![suite::one(suite::load(&args.paths)?, &args.audit)?]
    };
    if args.no_programs {
        suite::refuse_programs(&audits)?;
    }
    let without = audits.iter().find(|audit| audit.search.is_none());
    match without {
        None => Ok(audits),
        Some(audit) => {
            let message = format!(
                "the audit \"{}\" does not say what a dataset may be; add for example\n\n    [search]\n    record = {{ type = \"number\", lower = \
                 0, upper = 100 }}\n    size = {{ least = 0, most = 20 }}\n\ndocs/search.md describes it",
                audit.name
            );
            Err(Error::Input(vec![FileProblem::new(&audit.file, message)]))
        }
    }
}

/// The exit code for one audit.
fn exit_code(audit: &Audit, searched: &Searched) -> ExitCode {
    let Ok(found) = &searched.found else { return ExitCode::NotRun };
    let refuted = found.smallest().is_some();
    match refuted == (audit.expect == Expectation::Violated) {
        _ if found.unjudged().is_some() => ExitCode::NotRun,
        true => ExitCode::AsExpected,
        false => ExitCode::Surprise,
    }
}

/// Of two exit codes, the one that counts: 2 before 5 before 0.
fn worse(one: ExitCode, other: ExitCode) -> ExitCode {
    [ExitCode::Surprise, ExitCode::NotRun]
        .into_iter()
        .find(|code| [one, other].contains(code))
        .unwrap_or(ExitCode::AsExpected)
}

/// What was found, in words.
fn in_words(
    audit: &Audit,
    searched: &Searched,
    report: &AuditReport,
    settings: Settings,
) -> String {
    let width = width();
    let mut text = String::new();
    let Ok(found) = &searched.found else {
        let error = searched.found.as_ref().err().map(ToString::to_string).unwrap_or_default();
        return wrapped(
            &format!("{}: the search could not be made: {error}", audit.name),
            "✗ ",
            "  ",
            width,
        );
    };
    // The same sentence, rule and advice as in a run.
    let statement = |name: &str| report.statements().find(|statement| statement.name() == name);
    if let Some(smallest) = found.smallest() {
        let mark = if audit.expect == Expectation::Violated { "✓" } else { "✗" };
        let _ = writeln!(text, "{mark} {}: a pair refutes the claim {}.", audit.name, audit.claim);
        let _ = writeln!(
            text,
            "\n{}",
            pair_toml(&smallest.pair, if audit.one_of_several { "audit.pair" } else { "pair" })
        );
        if let Some(statement) = statement(&smallest.pair.name) {
            let bound = statement.bound().unwrap_or_default();
            text.push_str(&wrapped(
                &format!("{bound}, with confidence {}.", percent(settings.confidence.get())),
                "    Bound: ",
                "           ",
                width,
            ));
            text.push_str(&wrapped(&statement.sentence(), "    Why:   ", "           ", width));
            if let Some((what, rule)) = statement.words().rule {
                text.push_str(&wrapped(
                    &format!("{rule}."),
                    &format!("    {what:<7}"),
                    "           ",
                    width,
                ));
            }
        }
        if let Some(racer) = found.origin().and_then(|racer| found.history.racers.get(racer)) {
            text.push_str(&wrapped(
                &format!("{}: {} and {}.", racer.origin, racer.left, racer.right),
                "    From:  ",
                "           ",
                width,
            ));
        }
    } else {
        let mark = match (found.unjudged(), audit.expect) {
            (None, Expectation::Violated) | (Some(_), _) => "✗",
            _ => "✓",
        };
        let _ = writeln!(
            text,
            "{mark} {}: no pair was found that refutes the claim {}.",
            audit.name, audit.claim
        );
        text.push_str("  That is no proof: another pair or a cleverer attack may refute it.\n");
        let judged = found.best().filter(|best| best.result.outcome.is_ok());
        if let Some((best, bound)) =
            judged.and_then(|best| Some((best, statement(&best.pair.name)?.bound()?)))
        {
            let line = format!("{bound}, on {} and {}.", best.pair.left, best.pair.right);
            text.push_str(&wrapped(&line, "    Best:  ", "           ", width));
        }
        if let Some((pair, error)) = found.unjudged() {
            let line =
                format!("The pair {} and {} could not be judged: {error}", pair.left, pair.right);
            text.push_str(&wrapped(&line, "    ", "    ", width));
        }
    }
    text.push_str(&wrapped(&format!("{}.", found.history.effort()), "    ", "    ", width));
    text.push_str(&misfits(&found.history, width));
    text.push('\n');
    text
}

/// The most frequent reasons why candidates could not be run.
fn misfits(history: &SearchHistory, width: usize) -> String {
    const SHOWN: usize = 3;
    let line = |(reason, count): &(String, usize)| {
        wrapped(&format!("{count} could not be run: {reason}"), "    - ", "      ", width)
    };
    history.misfits.iter().take(SHOWN).map(line).collect()
}

/// Adds the smallest pair to the audit's file and writes its witness. Returns what was done.
fn add(
    audit: &Audit,
    searched: &Searched,
    report: &AuditReport,
    settings: Settings,
    args: &SearchArgs,
) -> Result<String, Error> {
    let Some(smallest) = searched.found.as_ref().ok().and_then(Found::smallest) else {
        return Ok("Nothing was added: no pair refutes the claim.\n".to_owned());
    };
    let paste = |why: &str| {
        Ok(format!(
            "{} was not changed, because {why}; paste the [[pair]] above.\n",
            audit.file.display()
        ))
    };
    if audit.one_of_several {
        return paste("it has several audits");
    }
    let read =
        |error: std::io::Error| Error::Read { path: audit.file.clone(), reason: error.to_string() };
    let before = read_text(&audit.file).map_err(read)?;
    let after = format!(
        "{}\n\n# Found by dp-audit search.\n{}",
        before.trim_end(),
        pair_toml(&smallest.pair, "pair")
    );
    if suite::parse(&audit.file, &after).is_err() {
        return paste("a [[pair]] at its end would not be read");
    }
    let (folder, name) = (audit.file.parent(), audit.file.file_name());
    let (folder, name) = (folder.unwrap_or(Path::new("")), name.unwrap_or_default());
    let destination = Destination::inside(folder, name)?;
    destination.replace(after.as_bytes()).map_err(|source| unwritable(&audit.file, source))?;
    let mut text =
        format!("Added to {}: the pair \"{}\".\n", audit.file.display(), smallest.pair.name);
    // Of the smallest pair alone, because that is the one in the file.
    let mut audit_of_one = (*report.audit).clone();
    audit_of_one.retain(|name| name == smallest.pair.name);
    let only = report.results.iter().filter(|result| result.name == smallest.pair.name);
    let only = AuditReport::new(Arc::new(audit_of_one), only.cloned().collect(), None);
    if let Some(witness) = Witness::of(settings, &only) {
        let folder = args.witnesses();
        folder.check_folder()?;
        let path = folder.path().join(witness.file_name());
        let place = Destination::inside(folder.path(), witness.file_name())?;
        place
            .replace((witness.sealed().to_string() + "\n").as_bytes())
            .map_err(|source| unwritable(&path, source))?;
        let _ = writeln!(
            text,
            "Witness: {}; check it with `dp-audit replay {}`",
            path.display(),
            path.display()
        );
    }
    Ok(text)
}
