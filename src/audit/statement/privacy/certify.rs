//! The second step of a pair: judge its frozen rules on fresh draws. The draws can be divided into
//! parts that different machines make: a part is a range of batches, and its result is a few
//! integers for each look.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::explore::{Exploration, look_further};
use super::run::behaviour;
use crate::attack::{Gambler, GuessRule, judge, judge_and_keep};
use crate::audit::{Event, Listener, PairPlan};
use crate::model::{Tally, Until};
use crate::sample::{BATCH, Sampler, Schedule, WATCHED};
use crate::target::{PairStream, Phase, Subject, Target, TargetError};

/// The draws of one look that are in one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The look.
    pub look: usize,
    /// Its draws that are in the part.
    pub draws: u64,
}

/// A part of the certification of a pair, which any process can make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CertifyPart {
    /// The batches of the part.
    pub batches: Range<u64>,
    /// The [fingerprint](Exploration::fingerprint) of the rules that were judged.
    pub exploration: String,
    /// The tallies of all rules on the draws of each look that are in the part.
    pub looks: Vec<LookTallies>,
    /// What identifies the mechanism, in the first part. A hash of its first outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<String>,
    /// Whether the same seed gives the same draws.
    pub reproducible: bool,
    /// A note about the draws for the reader of a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The tallies of all rules on draws of one look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookTallies {
    /// The look.
    pub look: usize,
    /// One tally per rule.
    pub tallies: Vec<Tally>,
}

impl PairPlan {
    /// The batches that certify the rules, if they can be divided. They cannot:
    ///
    /// - if the number of draws depends on what they show or on the time: until decided, or with a
    ///   time limit;
    /// - if the outputs come from a program: whether two of its processes share noise is only seen
    ///   where both are run;
    /// - if only the caller can create the target.
    #[must_use]
    pub fn divisible_batches(&self) -> Option<u64> {
        let fixed = self.until == Until::Budget && self.max_seconds.is_none();
        let divisible =
            fixed && matches!(self.subject, Subject::Registered { .. } | Subject::Function { .. });
        divisible.then(|| self.schedule().looks.iter().map(|look| look.div_ceil(BATCH)).sum())
    }

    /// `parts` ranges of nearly equally many batches. There are fewer if a range would be shorter
    /// than what is checked for dependence.
    #[must_use]
    pub fn ranges(&self, parts: u64) -> Vec<Range<u64>> {
        let Some(batches) = self.divisible_batches() else { return Vec::new() };
        let parts = parts.min(batches / WATCHED).max(1);
        let cut = |part: u64| {
            u64::try_from(u128::from(batches) * u128::from(part) / u128::from(parts))
                .unwrap_or(batches)
        };
        (0..parts).map(|part| cut(part)..cut(part + 1)).collect()
    }

    /// The draws of a range of batches, look by look.
    #[must_use]
    pub fn pieces(&self, range: &Range<u64>) -> Vec<Piece> {
        let mut first = 0;
        let mut pieces = Vec::new();
        for (look, size) in self.schedule().looks.into_iter().enumerate() {
            let batches = size.div_ceil(BATCH);
            let (from, to) = (
                range.start.clamp(first, first + batches) - first,
                range.end.clamp(first, first + batches) - first,
            );
            first += batches;
            if from < to {
                // Only the last batch of a look may be smaller than the others.
                pieces.push(Piece { look, draws: (to * BATCH).min(size) - from * BATCH });
            }
        }
        pieces
    }

    /// Checks a number of draws, where it does not depend on what they show or on the time.
    pub(in crate::audit) fn check_draws(&self, draws: u64) -> Result<(), String> {
        let is_fixed = self.max_seconds.is_none() && self.until == Until::Budget;
        if draws > self.draws || is_fixed && draws != self.draws {
            return Err(format!("it has {draws} draws of {}", self.draws));
        }
        Ok(())
    }

    /// How the draws are divided into rounds and looks.
    pub(in crate::audit) fn schedule(&self) -> Schedule {
        match self.until {
            Until::Budget => Schedule::new(self.draws),
            Until::Refuted | Until::Decided => Schedule::frequent(self.draws),
        }
    }

    /// A sampler at the beginning of a phase.
    pub(in crate::audit) fn sampler<'a>(
        &self,
        target: &'a dyn Target,
        phase: Phase,
        drawn: &'a (dyn Fn(u64) + Sync),
    ) -> Result<Sampler<'a>, TargetError> {
        let sampler = Sampler::open(target, self.stream(), phase, drawn)?;
        Ok(match self.until {
            Until::Budget => sampler,
            Until::Refuted | Until::Decided => sampler.in_small_batches(),
        })
    }

    /// The random streams.
    pub(in crate::audit) fn stream(&self) -> PairStream {
        PairStream::new(self.seed, &self.audit, &self.pair.name)
    }
}

/// Judges frozen rules on fresh draws.
pub struct Certifier<'a> {
    sampler: Sampler<'a>,
    rules: Vec<GuessRule>,
}

impl<'a> Certifier<'a> {
    /// A certifier at the first draw.
    pub fn open(
        plan: &PairPlan,
        exploration: &Exploration,
        target: &'a dyn Target,
        drawn: &'a (dyn Fn(u64) + Sync),
    ) -> Result<Self, TargetError> {
        Ok(Self {
            sampler: plan.sampler(target, Phase::Certify, drawn)?,
            rules: exploration.rules(),
        })
    }

    /// The tallies of all rules on the next draws.
    pub fn judge(&mut self, draws: u64) -> Result<Vec<Tally>, TargetError> {
        Ok(judge(&mut self.sampler, draws, &self.rules)?.0)
    }

    /// The same, while somebody bets on these draws.
    pub fn judge_and_bet(
        &mut self,
        draws: u64,
        gambler: Option<&mut Gambler>,
    ) -> Result<Vec<Tally>, TargetError> {
        let Some(gambler) = gambler.filter(|gambler| gambler.is_playing()) else {
            return self.judge(draws);
        };
        let (tallies, [left, right]) = judge_and_keep(&mut self.sampler, draws, &self.rules)?;
        gambler.see(&left, &right);
        Ok(tallies.0)
    }

    /// Makes further draws after a decision, and says how many.
    pub fn look_further(&mut self, target: &dyn Target) -> Result<u64, TargetError> {
        look_further(&mut self.sampler, target)
    }

    /// Looks for dependence among the draws.
    pub fn check_independence(&self) -> Result<(), TargetError> {
        self.sampler.check_independence()
    }
}

/// Makes one part of the certifying draws of a pair, on the rayon pool that it is called in. All
/// parts together make the draws that [`Plan::run`](crate::audit::Plan::run) makes, and
/// [`conclude`](super::conclude()) makes its evidence from them.
///
/// # Errors
/// When the mechanism could not be run, or when its first draws are not independent. Then nothing
/// is known about the pair.
pub fn certify_range(
    plan: &PairPlan,
    exploration: &Exploration,
    target: &dyn Target,
    batches: Range<u64>,
    listener: &(impl Listener + ?Sized),
) -> Result<CertifyPart, TargetError> {
    let drawn = |draws| listener.hear(Event::Drawn { draws });
    let mut certifier = Certifier::open(plan, exploration, target, &drawn)?;
    for piece in plan.pieces(&(0..batches.start)) {
        certifier.sampler.skip(piece.draws);
    }
    let pieces = plan.pieces(&batches).into_iter();
    let looks = pieces
        .map(|Piece { look, draws }| Ok(LookTallies { look, tallies: certifier.judge(draws)? }));
    let looks = looks.collect::<Result<_, TargetError>>()?;
    certifier.check_independence()?;
    let reproducible = target.reproducible();
    let behaviour = if batches.start == 0 && reproducible { behaviour(target).ok() } else { None };
    Ok(CertifyPart {
        batches,
        exploration: exploration.fingerprint(),
        looks,
        behaviour,
        reproducible,
        note: target.note(),
    })
}
