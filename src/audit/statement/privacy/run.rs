//! One pair: explore, freeze, certify, conclude.

use std::time::Instant;

use super::certify::Certifier;
use super::conclude::{DrawFacts, Standing};
use super::evidence::PrivacyEvidence;
use super::explore::{Explored, explore_in_time, tell};
use crate::attack::Gambler;
use crate::audit::time_limit::PairClock;
use crate::audit::{Event, Listener, PairPlan};
use crate::model::Side;
use crate::model::number::counted;
use crate::output::{Symbols, fingerprint};
use crate::target::{PairStream, Phase, Target, TargetError};

/// Outputs of each side that identify a mechanism.
const FINGERPRINT_DRAWS: usize = 512;

/// Explores, then judges the frozen rules on fresh draws, in looks that double in size.
pub fn audit(
    plan: &PairPlan,
    target: &dyn Target,
    listener: &dyn Listener,
) -> Result<PrivacyEvidence, TargetError> {
    let mut clock = PairClock::start(plan.max_seconds, plan.until);
    let schedule = plan.schedule();
    let explored = explore_in_time(plan, target, &schedule, &mut clock, listener)?;
    let Explored { exploration, mut gambler, mut further } = explored;
    let drawn = |draws| listener.hear(Event::Drawn { draws });
    let mut certifier = Certifier::open(plan, &exploration, target, &drawn)?;
    let mut standing = Standing::new(plan, exploration);
    // The size of the sample is fixed here, before its first draw.
    let looks = schedule.looks_for(standing.path().draws, clock.certify(schedule.certify()));
    let cut = plan.draws.saturating_sub(standing.path().draws + looks.iter().sum::<u64>());
    if cut > 0 && !standing.path().decides(plan) {
        listener.hear(Event::Cut { draws: cut });
    }
    for (index, &size) in looks.iter().enumerate() {
        if standing.path().decides(plan) || index > 0 && clock.is_overdue(size) {
            standing.stop();
            break;
        }
        let begun = Instant::now();
        let tallies = match certifier.judge_and_bet(size, gambler.as_mut()) {
            Err(TargetError::Interrupted) => {
                clock.interrupt();
                standing.stop();
                break;
            }
            judged => judged?,
        };
        clock.drew(size, begun.elapsed());
        standing.look(size, &tallies, gambler.as_ref().map(Gambler::log_wealth));
        tell(standing.path(), plan, listener);
    }
    if further == 0 && !standing.is_complete() && standing.path().decides(plan) {
        further = certifier.look_further(target)?;
    }
    certifier.check_independence()?;
    let cut = clock
        .note(standing.path().draws, plan.draws, standing.is_complete())
        .filter(|_| !standing.path().decides(plan));
    let looked = (further > 0).then(|| {
        format!("after the decision, {} were checked for dependence", counted(further, "draw"))
    });
    let in_time = !clock.is_overdue(2 * FINGERPRINT_DRAWS as u64);
    Ok(standing.evidence(DrawFacts {
        reproducible: target.reproducible(),
        note: cut
            .into_iter()
            .chain(looked)
            .chain(target.note())
            .reduce(|cut, note| format!("{cut}; {note}")),
        behaviour: || if in_time { behaviour(target).ok() } else { None },
    }))
}

/// A hash of the first outputs on a stream that no audit uses. It identifies a mechanism. Numbers
/// are rounded, so that a platform with a slightly different logarithm gives the same hash.
///
/// # Errors
/// When the mechanism could not be run.
pub fn behaviour(target: &dyn Target) -> Result<String, TargetError> {
    let (stream, names) = (PairStream::new(0, "", ""), Symbols::default());
    let mut outputs = String::new();
    for side in Side::BOTH {
        target.draw(side, FINGERPRINT_DRAWS, stream.side(Phase::Replay, 0, side), &mut |rows| {
            for cell in rows.cells() {
                #[allow(clippy::cast_possible_truncation)] // rounding is intended
                match cell.as_number() {
                    Some(number) => outputs.push_str(&(number as f32).to_string()),
                    // Without names, the text of a symbol is its identity.
                    None => outputs.push_str(&names.text(*cell)),
                }
                outputs.push(' ');
            }
        })?;
    }
    Ok(fingerprint(&[&outputs]))
}
