//! Parse, call, map the outcome to an exit code; nothing else.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use dp_audit::cli::{Cli, Command, ListArgs, RunArgs, ShowArgs};
use dp_audit::error::Error;
use dp_audit::exit_code;
use dp_audit::report::csv::CsvFile;
use dp_audit::report::terminal::{self, Progress};
use dp_audit::{run, spec};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { exit_code::ExitCode::Usage.into() } else { ExitCode::SUCCESS };
        }
    };
    let outcome = match &cli.command {
        Command::Run(args) => run_audits(args),
        Command::List(args) => list(args),
        Command::Show(args) => show(args),
    };
    outcome
        .unwrap_or_else(|error| {
            eprintln!("{error}");
            exit_code::ExitCode::of_error(&error)
        })
        .into()
}

fn run_audits(args: &RunArgs) -> Result<exit_code::ExitCode, Error> {
    let started = Instant::now();
    let audits = spec::select(spec::load(&args.paths)?, args.filter.as_deref())?;
    let csv = CsvFile::open(&args.csv)?;
    run::use_threads(args.threads)?;
    let progress = Progress::new(audits.len(), args.quiet);
    let report = run::run(&audits, args.settings(), &[&progress, &csv]);
    if !args.quiet {
        println!("{}", terminal::closing(&report, started.elapsed().as_secs_f64()));
        println!("Report: {}", args.csv.display());
    }
    csv.close()?;
    Ok(exit_code::ExitCode::of_run(&report, args.require_power))
}

fn list(args: &ListArgs) -> Result<exit_code::ExitCode, Error> {
    if args.mechanisms {
        print!("{}", terminal::mechanisms());
    } else {
        print!("{}", terminal::audits(&spec::select(spec::load(&args.paths)?, args.filter.as_deref())?));
    }
    Ok(exit_code::ExitCode::AsExpected)
}

fn show(args: &ShowArgs) -> Result<exit_code::ExitCode, Error> {
    print!("{}", terminal::audit(&spec::one(spec::load(&args.paths)?, &args.audit)?));
    Ok(exit_code::ExitCode::AsExpected)
}
