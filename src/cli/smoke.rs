//! `dp-audit run --smoke`: can everything be run? A few draws of each pair, no judgement.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::screen::{Screen, print_error};
use crate::audit::{Audit, PairPlan, Preparer, TargetSource};
use crate::model::checked::Positive;
use crate::model::number::{counted, grouped};
use crate::model::{Error, Settings, Side};
use crate::report::gate::exit_code::ExitCode;
use crate::target::{PairStream, Phase, ProcessProblem, TargetError};

/// Draws of each side of each pair.
const DRAWS: usize = 8;
/// The time limit of each pair. It only limits how many first outputs of a program are looked at;
/// eight draws are made in any case.
const SECONDS: f64 = 16.0;

/// One reason why something cannot be run, and what it stops.
struct Cause {
    /// What makes it the same cause.
    key: String,
    error: String,
    pairs: Vec<String>,
    /// Pairs of the same program that were not tried, because it could not be started.
    untried: usize,
}

/// Makes a few draws of every statement, and prints each cause of failure once.
pub fn smoke(audits: &[Audit], settings: Settings, screen: Screen) -> Result<ExitCode, Error> {
    let settings = Settings { max_seconds: Positive::try_from(SECONDS).ok(), ..settings };
    let preparer = Preparer::default();
    let mut causes: Vec<Cause> = Vec::new();
    // Programs that do not start, and the cause.
    let mut broken: HashMap<String, usize> = HashMap::new();
    let mut tried = 0;
    for audit in audits {
        let command = audit.subject.command().map(|command| format!("{command:?}"));
        for plan in audit.plans(settings, 1) {
            let plan = plan.pair();
            tried += 1;
            if let Some(&cause) = command.as_ref().and_then(|command| broken.get(command)) {
                causes[cause].untried += 1;
                continue;
            }
            let Err(error) = draw_a_few(plan, &preparer) else { continue };
            let (stops_all, key) = (is_about_the_program(&error), key(&error));
            let cause = causes.iter().position(|cause| cause.key == key).unwrap_or_else(|| {
                causes.push(Cause { key, error: error.to_string(), pairs: Vec::new(), untried: 0 });
                causes.len() - 1
            });
            causes[cause].pairs.push(format!("{} / {}", plan.audit, plan.pair.name));
            if let Some(command) = command.as_ref().filter(|_| stops_all) {
                broken.insert(command.clone(), cause);
            }
        }
    }
    screen.print(summary(&causes, tried))?;
    if !causes.is_empty() && screen == Screen::Quiet {
        print_error(format_args!("{} of {} cannot be run", failures(&causes), checks(tried)));
    }
    Ok(if causes.is_empty() { ExitCode::AsExpected } else { ExitCode::NotRun })
}

/// Makes a few draws of both sides.
fn draw_a_few(plan: &PairPlan, preparer: &Preparer) -> Result<(), TargetError> {
    let target = preparer.target(plan).map_err(TargetError::NotPrepared)?;
    let stream = PairStream::new(plan.seed, &plan.audit, &plan.pair.name);
    let drawn = target.open().and_then(|_| {
        Side::BOTH.iter().try_for_each(|side| {
            let mut got = 0;
            target.draw(*side, DRAWS, stream.side(Phase::Probe, 0, *side), &mut |rows| {
                got += rows.len();
            })?;
            if got == DRAWS { Ok(()) } else { Err(TargetError::WrongCount { asked: DRAWS, got }) }
        })
    });
    target.close();
    drawn
}

/// Whether the program would fail on other pairs too: it did not start, or it did not say hello.
fn is_about_the_program(error: &TargetError) -> bool {
    matches!(error, TargetError::Process(error) if error.problem.is_before_hello())
}

/// A text that is equal for equal causes. Two command lines that fail in the same way have the same
/// cause, for example a module that is not installed. If a program cannot be started, its name
/// belongs to the cause.
fn key(error: &TargetError) -> String {
    match error {
        TargetError::Process(error) => {
            let program = error
                .command
                .split(' ')
                .next()
                .filter(|_| matches!(error.problem, ProcessProblem::NotStarted { .. }));
            format!("{} {:?} {}", program.unwrap_or_default(), error.problem, error.stderr)
        }
        other => other.to_string(),
    }
}

/// How many pairs and accuracy claims there are.
fn checks(count: usize) -> String {
    counted(count, "check")
}

fn failures(causes: &[Cause]) -> usize {
    causes.iter().map(|cause| cause.pairs.len() + cause.untried).sum()
}

fn summary(causes: &[Cause], tried: usize) -> String {
    /// More pairs are counted and not named.
    const NAMED: usize = 3;
    let mut text = String::new();
    for Cause { error, pairs, untried, .. } in causes {
        let _ = writeln!(text, "{error}");
        for pair in pairs.iter().take(NAMED) {
            let _ = writeln!(text, "    {pair}");
        }
        let more = pairs.len().saturating_sub(NAMED);
        if more > 0 {
            let _ = writeln!(text, "    and {} more", grouped(more as u64));
        }
        if *untried > 0 {
            let _ = writeln!(
                text,
                "    and {} more of the same program, not tried",
                grouped(*untried as u64)
            );
        }
        text.push('\n');
    }
    let all = checks(tried);
    let _ = if causes.is_empty() {
        writeln!(text, "Smoke test: everything can be run ({all}). Nothing was judged.")
    } else {
        let (failures, reasons) =
            (grouped(failures(causes) as u64), counted(causes.len(), "reason"));
        writeln!(
            text,
            "Smoke test: {failures} of {all} cannot be run, for {reasons}. Nothing was judged."
        )
    };
    text
}
