//! Checks a witness: its frozen rule is judged on fresh draws.

use std::path::Path;

use crate::attack::judge;
use crate::audit::{Audit, Pair};
use crate::model::file::read_text;
use crate::model::{Confidence, Error, Tally};
use crate::report::persistence::witness::Witness;
use crate::sample::Sampler;
use crate::stats::fixed::Limits;
use crate::stats::{Method, Rates};
use crate::target::{PairStream, Phase, Target, TargetError};

/// How a witness is checked.
#[derive(Clone, Copy, Debug)]
pub struct ReplaySettings {
    /// The number of draws. It is fixed before the replay, which allows the tightest bounds.
    pub draws: u64,
    /// The seed of the random streams. A replay has its own streams: no seed repeats the draws of
    /// the run that wrote the witness.
    pub seed: u64,
    /// The confidence of this replay alone.
    pub confidence: Confidence,
}

/// The result of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayResult {
    /// The counts of the rule on the fresh draws.
    pub tally: Tally,
    /// The bound in the claim's unit.
    pub lower: f64,
    /// The mechanism's ε at the claimed δ is at least this.
    pub epsilon_lower: f64,
    /// Its δ at the claimed ε is at least this.
    pub delta_lower: f64,
    /// Whether the claim is refuted again.
    pub confirmed: bool,
}

/// The pair that a witness is about.
///
/// # Errors
/// When the audit has no such pair.
pub fn pair<'a>(witness: &Witness, audit: &'a Audit) -> Result<&'a Pair, String> {
    let pair = audit.pairs.iter().find(|pair| pair.name == witness.pair);
    pair.ok_or_else(|| {
        format!(
            "is about the pair \"{}\", which {} no longer has",
            witness.pair,
            audit.file.display()
        )
    })
}

/// Judges the witness's rule on fresh draws.
///
/// # Errors
/// When the mechanism could not be run.
pub fn replay(
    witness: &Witness,
    target: &dyn Target,
    settings: ReplaySettings,
    drawn: &(dyn Fn(u64) + Sync),
) -> Result<ReplayResult, TargetError> {
    let stream = PairStream::new(settings.seed, &witness.audit, &witness.pair);
    let judged = Sampler::open(target, stream, Phase::Replay, drawn).and_then(|mut sampler| {
        let tallies = judge(&mut sampler, settings.draws, std::slice::from_ref(&witness.rule))?;
        sampler.check_independence().map(|()| tallies)
    });
    target.close();
    let tally = judged?.0.into_iter().sum::<Tally>();
    // The witness is what is known before these draws. Whatever it says, the bounds hold.
    let claim = &witness.claim;
    let regions = witness.rule.regions();
    let forecast = Rates::of(witness.tally);
    // A witness that refutes only δ is checked for δ.
    let only_delta = claim.second().filter(|_| witness.epsilon_lower <= claim.main().value);
    let method =
        Method::new(&only_delta.unwrap_or(claim.main()).measure, forecast, regions, settings.draws);
    let limits = Limits::new(tally, regions, 1.0 - settings.confidence.get(), claim, method);
    let bounds = claim.limits().iter().map(|limit| (limits.lower(&limit.measure), limit.value));
    let confirmed = bounds.clone().any(|(lower, claimed)| lower > claimed);
    let lower = bounds.map(|(lower, _)| lower).next().unwrap_or(0.0);
    let (epsilon_lower, delta_lower) =
        (limits.epsilon_lower(claim.delta()), limits.delta_lower(claim.epsilon()));
    Ok(ReplayResult { tally, lower, epsilon_lower, delta_lower, confirmed })
}

/// Reads a witness.
///
/// # Errors
/// When it cannot be read, is not a witness, or was changed after it was written.
pub fn read(path: &Path) -> Result<Witness, Error> {
    let text = read_text(path)
        .map_err(|error| Error::Read { path: path.to_owned(), reason: error.to_string() })?;
    Witness::from_json(&text).map_err(|reason| Error::Witness { path: path.to_owned(), reason })
}
