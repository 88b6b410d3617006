//! Parse, call, map the outcome to an exit code; nothing else.

use std::process;
use std::time::Instant;

use clap::Parser;
use dp_audit::calibrate::files::Files;
use dp_audit::calibrate::{self, Outcome, table};
use dp_audit::cli::{CalibrateArgs, Cli, Command, ListArgs, RunArgs, ShowArgs};
use dp_audit::error::Error;
use dp_audit::exit_code::ExitCode;
use dp_audit::report::csv::CsvFile;
use dp_audit::report::terminal::{self, Progress};
use dp_audit::{run, spec};

fn main() -> process::ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::Usage.into() } else { process::ExitCode::SUCCESS };
        }
    };
    // A panic has printed its message already; what is left is to say that it was ours.
    let outcome = std::panic::catch_unwind(|| match &cli.command {
        Command::Run(args) => run_audits(args),
        Command::List(args) => list(args),
        Command::Show(args) => show(args),
        Command::Calibrate(args) => calibrate(args),
    });
    let code = match outcome {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            eprintln!("{error}");
            ExitCode::Usage
        }
        Err(_) => ExitCode::Internal,
    };
    code.into()
}

fn run_audits(args: &RunArgs) -> Result<ExitCode, Error> {
    let started = Instant::now();
    let audits = spec::select(spec::load(&args.paths)?, args.filter.as_deref())?;
    let audits = spec::select_pairs(audits, args.pair.as_deref())?;
    let csv = CsvFile::open(&args.csv)?;
    run::use_threads(args.threads)?;
    let progress = Progress::new(audits.len(), args.quiet);
    let report = run::run(&audits, args.settings(), &[&progress, &csv]);
    if !args.quiet {
        println!("{}", terminal::closing(&report, started.elapsed().as_secs_f64()));
        println!("Report: {}", args.csv.display());
    }
    csv.close()?;
    Ok(ExitCode::of_run(&report, args.require_power))
}

fn list(args: &ListArgs) -> Result<ExitCode, Error> {
    if args.mechanisms {
        print!("{}", terminal::mechanisms());
    } else {
        print!("{}", terminal::audits(&spec::select(spec::load(&args.paths)?, args.filter.as_deref())?));
    }
    Ok(ExitCode::AsExpected)
}

fn show(args: &ShowArgs) -> Result<ExitCode, Error> {
    print!("{}", terminal::audit(&spec::one(spec::load(&args.paths)?, &args.audit)?));
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
                eprintln!("{}: could not be run: {error}", audit.name);
                return Ok(ExitCode::NotRun);
            }
        }
        written = files.write(&outcomes);
    }
    bar.finish_and_clear();
    if !args.quiet {
        print!("{}", table::table(&outcomes));
    }
    written?;
    Ok(if outcomes.iter().any(Outcome::broken) { ExitCode::Surprise } else { ExitCode::AsExpected })
}
