//! The program: parses the command line, runs the command, and returns an exit code.
//!
//! | file | what it contains |
//! |---|---|
//! | `args.rs` | the command line |
//! | `run.rs`, `search.rs`, `samples.rs`, `measure.rs`, `canaries.rs`, `replay.rs`, `calibrate.rs` | the commands that measure |
//! | `report.rs` | what `run`, `merge` and `report` write, and what fails them |
//! | `finished.rs`, `compare.rs` | `report` and `compare`: what a finished run has left |
//! | `shards.rs` | `run --shard` and `merge` |
//! | `smoke.rs` | `run --smoke`: a few draws of each pair |
//! | `show.rs` | `show`: audits and mechanisms |
//! | `inform.rs` | `init`, `export`, `completions`, `man` |
//! | `progress.rs` | progress during a run |
//! | `summary.rs` | the text at the end of a run |
//! | `tables.rs`, `rates.rs` | the text at the end of other commands |
//! | `wrap.rs` | lines of text |
//! | `screen.rs` | standard output and standard error |

mod args;
mod calibrate;
mod canaries;
mod compare;
mod finished;
mod inform;
mod measure;
mod progress;
mod rates;
mod replay;
mod report;
mod run;
mod samples;
mod screen;
mod search;
mod shards;
mod show;
mod smoke;
mod summary;
mod tables;
mod wrap;

use std::ffi::OsString;
use std::process;

use clap::Parser;

use crate::model::Error;
use crate::report::ci::github::{self, GitHub};
pub use crate::report::gate::exit_code::ExitCode;
use crate::target::process::end_on_signals;
use args::{Cli, Command};
use screen::{Screen, print_error};

/// The whole program, with the arguments of this process.
#[must_use]
pub fn main() -> process::ExitCode {
    main_with(std::env::args_os()).into()
}

/// The whole program. The first argument is its own name.
#[must_use]
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                // It quotes what was typed, which may be names of files.
                print_error(error.to_string().trim_end());
                annotate(|| github::usage_annotation(&error.to_string()));
                return ExitCode::Usage;
            }
            let _ = error.print();
            return ExitCode::AsExpected;
        }
    };
    let farewell = cli.command.farewell();
    if let Err(error) = end_on_signals(move || farewell.iter().for_each(print_error)) {
        print_error(format_args!(
            "cannot handle signals: {error}; if this run is interrupted, programs under audit may continue to run"
        ));
    }
    // A panic has already printed its message. The exit code says that it is an error of dp-audit.
    match std::panic::catch_unwind(|| dispatch(&cli.command)) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            annotate(|| github::error_annotations(&error));
            print_error(error);
            ExitCode::Usage
        }
        Err(_) => ExitCode::Internal,
    }
}

/// In GitHub Actions, annotates an error that ended the program. Standard output may be a report,
/// and the runner also reads standard error.
fn annotate(annotation: impl FnOnce() -> String) {
    if GitHub::from_environment().is_some() {
        // Errors are ignored, because there is nowhere else to report them.
        let _ = Screen::Stderr.print_commands(&annotation());
    }
}

fn dispatch(command: &Command) -> Result<ExitCode, Error> {
    match command {
        Command::Run(args) => on_threads(args.plan.threads, || run::run(args)),
        Command::Search(args) => on_threads(args.threads, || search::search(args)),
        Command::Merge(args) => on_threads(None, || shards::merge(args)),
        Command::Samples(args) => on_threads(args.threads, || samples::samples(args)),
        Command::Measure(args) => on_threads(args.threads, || measure::measure(args)),
        Command::Canaries(args) => canaries::canaries(args),
        Command::Replay(args) => on_threads(args.threads, || replay::replay(args)),
        Command::Calibrate(args) => on_threads(args.threads, || calibrate::calibrate(args)),
        Command::Show(args) => show::show(args),
        Command::Report(args) => finished::report(args),
        Command::Compare(args) => compare::compare(args),
        Command::Init(args) => inform::init(args),
        Command::Export(args) => inform::export(args),
        Command::Completions(args) => inform::completions(args),
        Command::Man(args) => inform::man(args),
    }
}

/// Runs `work` on this many threads; without a number, on one thread per core.
fn on_threads<T: Send>(
    threads: Option<u16>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let threads = threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })?.install(work)
}
