//! Parse, call, map the outcome to an exit code; nothing else.

use std::process;
use std::time::Instant;

use clap::Parser;
use dp_audit::baseline::Comparison;
use dp_audit::calibrate::files::Files;
use dp_audit::calibrate::{self, Outcome, table};
use dp_audit::cli::{CalibrateArgs, Cli, Command, ExplainArgs, ListArgs, ReplayArgs, RunArgs, SamplesArgs, ShowArgs};
use dp_audit::error::Error;
use dp_audit::exit_code::ExitCode;
use dp_audit::gate::Gate;
use dp_audit::journal::Journal;
use dp_audit::mechanism::process::end_on_signals;
use dp_audit::recorded::Recording;
use dp_audit::replay;
use dp_audit::report::file::ReportFile;
use dp_audit::report::github::GitHub;
use dp_audit::report::json::JsonReport;
use dp_audit::report::terminal::{self, Progress, say, warn};
use dp_audit::report::witnesses::Witnesses;
use dp_audit::report::{Listener, PairReport, RunReport, explain};
use dp_audit::run::{self, Settings};
use dp_audit::spec::{self, Audit};

fn main() -> process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::Usage.into() } else { process::ExitCode::SUCCESS };
        }
    };
    if let Err(error) = end_on_signals() {
        warn(format_args!("cannot wait for signals: {error}; programs under audit that hang will outlive an interrupted run"));
    }
    // A panic has printed its message already; what is left is to say that it was ours.
    let outcome = std::panic::catch_unwind(|| match &cli.command {
        Command::Run(args) => run_audits(args),
        Command::Samples(args) => samples(args),
        Command::List(args) => list(args),
        Command::Show(args) => show(args),
        Command::Explain(args) => explain(args),
        Command::Replay(args) => replay_witness(args),
        Command::Calibrate(args) => calibrate(args),
    });
    let code = match outcome {
        Ok(Ok(code)) => match terminal::unsaid() {
            None => code,
            Some(error) => {
                warn(format_args!("cannot write to standard output: {error}; make room or write it elsewhere"));
                ExitCode::Usage
            }
        },
        Ok(Err(error)) => {
            warn(error);
            ExitCode::Usage
        }
        Err(_) => ExitCode::Internal,
    };
    code.into()
}

fn run_audits(args: &RunArgs) -> Result<ExitCode, Error> {
    let audits = spec::select(spec::load(&args.paths)?, args.filter.as_deref())?;
    let audits = spec::select_pairs(audits, args.pair.as_deref())?;
    let gate = args.gate.gate();
    let baseline = args.gate.baseline.as_deref().map(JsonReport::read).transpose()?;
    let files = args.reports.files(&args.csv, &gate)?;
    let witnesses = Witnesses::open(&args.witnesses)?;
    run::use_threads(args.threads)?;
    let journal = Journal::open(&args.csv, &audits, args.settings(), args.start())?;
    if let Some(notice) = journal.notice().filter(|_| !args.quiet) {
        warn(notice);
    }
    let found = |audit: &Audit| journal.found(audit);
    let report = run_and_report(&audits, args.settings(), &found, files, &[&witnesses, &journal], args.quiet)?;
    let written = witnesses.close()?;
    if let Some(journal) = journal.close(&report)?.filter(|_| !args.quiet) {
        say(format_args!("Journal: {}; with --resume only what could not be run is run again\n", journal.display()));
    }
    if written > 0 && !args.quiet {
        say(format_args!("Witnesses: {written} in {}; check one with `dp-audit replay FILE`\n", args.witnesses.display()));
    }
    let comparison = baseline.map(|before| Comparison::new(&before, &JsonReport::new(&report)));
    if let Some(comparison) = comparison.as_ref().filter(|_| !args.quiet) {
        say(comparison.text());
    }
    tell_github(&report, &gate, comparison.as_ref())?;
    Ok(gate.exit_code(&report, comparison.is_some_and(|comparison| !comparison.worse.is_empty())))
}

fn samples(args: &SamplesArgs) -> Result<ExitCode, Error> {
    run::use_threads(args.threads)?;
    let recording = Recording::read(&args.left, &args.right, args.header)?;
    let gate = args.gate();
    let files = args.reports.files(&args.csv, &gate)?;
    if !args.quiet {
        say(format_args!("{recording}\n"));
    }
    let settings = args.settings(recording.draws());
    let audit = recording.into_audit(args.claim(), &args.attacks, args.order(), args.seed);
    let report = run_and_report(&[audit], settings, &|_| None, files, &[], args.quiet)?;
    tell_github(&report, &gate, None)?;
    Ok(gate.exit_code(&report, false))
}

/// Runs audits while files, a person and others follow.
fn run_and_report(
    audits: &[Audit],
    settings: Settings,
    found: &dyn Fn(&Audit) -> Option<Vec<PairReport>>,
    files: Vec<ReportFile>,
    others: &[&dyn Listener],
    quiet: bool,
) -> Result<RunReport, Error> {
    let started = Instant::now();
    let progress = Progress::new(audits.len(), quiet);
    let mut listeners: Vec<&dyn Listener> = vec![&progress];
    listeners.extend(others);
    listeners.extend(files.iter().map(|file| file as &dyn Listener));
    let report = run::run_rest(audits, settings, found, &listeners);
    if !quiet {
        say(format_args!("{}\n", terminal::closing(&report, started.elapsed().as_secs_f64())));
        files.iter().for_each(|file| say(format_args!("Report: {}\n", file.path().display())));
    }
    files.into_iter().try_for_each(ReportFile::close)?;
    Ok(report)
}

/// In GitHub Actions: annotations and the job's summary.
fn tell_github(report: &RunReport, gate: &Gate, comparison: Option<&Comparison>) -> Result<(), Error> {
    let Some(github) = GitHub::from_environment() else { return Ok(()) };
    say(github.annotations(report, gate, comparison));
    github.summarise(report)
}

fn explain(args: &ExplainArgs) -> Result<ExitCode, Error> {
    let audit = spec::one(spec::load(&args.which.paths)?, &args.which.audit)?;
    let report = args.json.as_deref().map(JsonReport::read).transpose()?;
    say(explain::explain(&audit, report.as_ref()));
    Ok(ExitCode::AsExpected)
}

fn replay_witness(args: &ReplayArgs) -> Result<ExitCode, Error> {
    let witness = replay::read(&args.witness)?;
    let stale = |reason| Error::Witness { path: args.witness.clone(), reason };
    let paths = if args.paths.is_empty() { vec![witness.file.clone()] } else { args.paths.clone() };
    let audit = spec::one(spec::load(&paths)?, &witness.audit)?;
    let pair = replay::pair(&witness, &audit).map_err(stale)?;
    witness.check(&audit, pair).map_err(stale)?;
    run::use_threads(args.threads)?;
    let settings = replay::Settings {
        draws: args.draws.unwrap_or(witness.draws),
        seed: args.seed.unwrap_or(witness.seed),
        confidence: args.confidence,
    };
    match replay::replay(&witness, pair, settings, &|_| ()) {
        Ok(found) => {
            say(format_args!("{}\n", terminal::replayed(&witness, settings, &found)));
            Ok(if found.confirmed { ExitCode::AsExpected } else { ExitCode::Surprise })
        }
        Err(error) => {
            warn(format_args!("{} / {}: could not be run: {error}", witness.audit, witness.pair));
            Ok(ExitCode::NotRun)
        }
    }
}

fn list(args: &ListArgs) -> Result<ExitCode, Error> {
    if args.mechanisms {
        say(terminal::mechanisms());
    } else {
        say(terminal::audits(&spec::select(spec::load(&args.paths)?, args.filter.as_deref())?));
    }
    Ok(ExitCode::AsExpected)
}

fn show(args: &ShowArgs) -> Result<ExitCode, Error> {
    say(terminal::audit(&spec::one(spec::load(&args.paths)?, &args.audit)?));
    Ok(ExitCode::AsExpected)
}

fn calibrate(args: &CalibrateArgs) -> Result<ExitCode, Error> {
    let (audits, budgets, plan) = (args.audits()?, args.budgets(), args.plan());
    let files = Files::open(args.csv(), args.pictures.clone())?;
    run::use_threads(args.threads)?;
    let bar = table::progress((audits.len() * budgets.len()) as u64 * plan.seeds, args.quiet);
    let mut outcomes = Vec::new();
    let mut written = Ok(());
    for (audit, draws) in audits.iter().flat_map(|audit| budgets.iter().map(move |draws| (audit, *draws))) {
        bar.set_message(audit.name.clone());
        match calibrate::repeat(audit, draws, plan, &|| bar.inc(1)) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => {
                bar.abandon();
                warn(format_args!("{}: could not be run: {error}", audit.name));
                return Ok(ExitCode::NotRun);
            }
        }
        written = files.write(&outcomes);
    }
    bar.finish_and_clear();
    if !args.quiet {
        say(table::table(&outcomes));
    }
    written?;
    Ok(if outcomes.iter().any(Outcome::broken) { ExitCode::Surprise } else { ExitCode::AsExpected })
}
