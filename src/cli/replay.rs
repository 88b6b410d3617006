//! The command `dp-audit replay`.

use super::args::ReplayArgs;
use super::screen::{print, print_error};
use super::tables;
use super::wrap::{width, wrapped_lines};
use crate::audit::{Preparer, TargetSource as _};
use crate::model::{Error, Settings};
use crate::report::gate::exit_code::ExitCode;
use crate::report::persistence::replay::{self, ReplaySettings};
use crate::suite;

/// Checks a witness with fresh draws.
pub fn replay(args: &ReplayArgs) -> Result<ExitCode, Error> {
    let witness = replay::read(&args.witness)?;
    let outdated = |reason| Error::Witness { path: args.witness.clone(), reason };
    let paths =
        if args.paths.is_empty() { vec![witness.file.clone().into()] } else { args.paths.clone() };
    let audit = suite::one(suite::load(&paths)?, &witness.audit)?;
    if args.no_programs {
        suite::refuse_programs(std::slice::from_ref(&audit))?;
    }
    let pair = replay::pair(&witness, &audit).map_err(outdated)?;
    let target = Preparer::default()
        .target(&audit.plan(pair, Settings::default(), 1))
        .map_err(|error| outdated(error.to_string()))?;
    witness.check(&audit, pair, target.as_ref()).map_err(outdated)?;
    // A seed that the witness could choose would let a forged rule memorise the draws that it is
    // judged on.
    let seed = args.seed.map_or_else(fresh_seed, Ok)?;
    let settings = ReplaySettings {
        draws: args.draws.unwrap_or(witness.draws),
        seed,
        confidence: args.confidence,
    };
    match replay::replay(&witness, target.as_ref(), settings, &|_| ()) {
        Ok(result) => {
            print(wrapped_lines(&tables::replay_result(&witness, settings, &result), width()))?;
            Ok(if result.confirmed { ExitCode::AsExpected } else { ExitCode::Surprise })
        }
        Err(error) => {
            print_error(format_args!(
                "{} / {}: could not be run: {error}",
                witness.audit, witness.pair
            ));
            Ok(ExitCode::NotRun)
        }
    }
}

/// A seed from the operating system.
fn fresh_seed() -> Result<u64, Error> {
    getrandom::u64().map_err(|error| Error::Entropy { reason: error.to_string() })
}
