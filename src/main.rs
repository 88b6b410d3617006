//! Parse, call, map the outcome to an exit code; nothing else.

use std::process;
use std::time::Instant;

use clap::Parser;
use dp_audit::cli::{Cli, Command, ListArgs, RunArgs, SamplesArgs, ShowArgs};
use dp_audit::error::Error;
use dp_audit::exit_code::ExitCode;
use dp_audit::recorded::Recording;
use dp_audit::report::RunReport;
use dp_audit::report::csv::CsvFile;
use dp_audit::report::terminal::{self, Progress};
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
    // A panic has printed its message already; what is left is to say that it was ours.
    let outcome = std::panic::catch_unwind(|| match &cli.command {
        Command::Run(args) => run_audits(args),
        Command::Samples(args) => samples(args),
        Command::List(args) => list(args),
        Command::Show(args) => show(args),
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
    let audits = spec::select(spec::load(&args.paths)?, args.filter.as_deref())?;
    let audits = spec::select_pairs(audits, args.pair.as_deref())?;
    let csv = CsvFile::open(&args.csv)?;
    run::use_threads(args.threads)?;
    let report = run_and_report(&audits, args.settings(), csv, args.quiet)?;
    Ok(ExitCode::of_run(&report, args.require_power))
}

fn samples(args: &SamplesArgs) -> Result<ExitCode, Error> {
    run::use_threads(args.threads)?;
    let recording = Recording::read(&args.left, &args.right, args.header)?;
    let csv = CsvFile::open(&args.csv)?;
    if !args.quiet {
        println!("{recording}");
    }
    let settings = args.settings(recording.draws());
    let audit = recording.into_audit(args.claim(), &args.attacks, args.order(), args.seed);
    let report = run_and_report(&[audit], settings, csv, args.quiet)?;
    Ok(ExitCode::of_run(&report, args.require_power))
}

/// Runs audits while a CSV file and a person follow.
fn run_and_report(audits: &[Audit], settings: Settings, csv: CsvFile, quiet: bool) -> Result<RunReport, Error> {
    let started = Instant::now();
    let progress = Progress::new(audits.len(), quiet);
    let report = run::run(audits, settings, &[&progress, &csv]);
    if !quiet {
        println!("{}", terminal::closing(&report, started.elapsed().as_secs_f64()));
        println!("Report: {}", csv.path().display());
    }
    csv.close()?;
    Ok(report)
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
