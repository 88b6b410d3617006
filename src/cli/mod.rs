//! The program: parse, call, map the outcome to an exit code.
//!
//! | file | |
//! |---|---|
//! | `args.rs` | the command line |
//! | `run.rs`, `samples.rs`, `replay.rs`, `calibrate.rs` | commands that measure |
//! | `inform.rs` | commands that only say something |
//! | `progress.rs` | progress while a run goes on |
//! | `tables.rs`, `rates.rs` | what a person reads at the end |
//! | `screen.rs` | standard output and standard error |

mod args;
mod calibrate;
mod inform;
mod progress;
mod rates;
mod replay;
mod run;
mod samples;
mod screen;
mod tables;

use std::process;

use clap::Parser;

use crate::model::Error;
use crate::report::exit_code::ExitCode;
use crate::target::process::end_on_signals;
use args::{Cli, Command};
use screen::warn;

/// The whole program.
#[must_use]
pub fn main() -> process::ExitCode {
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
    let code = match std::panic::catch_unwind(|| dispatch(&cli.command)) {
        Ok(Ok(code)) => code,
        Ok(Err(error)) => {
            warn(error);
            ExitCode::Usage
        }
        Err(_) => ExitCode::Internal,
    };
    code.into()
}

fn dispatch(command: &Command) -> Result<ExitCode, Error> {
    match command {
        Command::Run(args) => on_threads(args.threads, || run::run(args)),
        Command::Samples(args) => on_threads(args.threads, || samples::samples(args)),
        Command::Replay(args) => on_threads(args.threads, || replay::replay(args)),
        Command::Calibrate(args) => on_threads(args.threads, || calibrate::calibrate(args)),
        Command::List(args) => inform::list(args),
        Command::Show(args) => inform::show(args),
        Command::Explain(args) => inform::explain(args),
        Command::Export(args) => inform::export(args),
        Command::Completions(args) => inform::completions(args),
        Command::Man(args) => inform::man(args),
    }
}

/// Does the work on so many threads, or on all cores.
fn on_threads<T: Send>(threads: Option<u16>, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    let threads = threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })?.install(work)
}
