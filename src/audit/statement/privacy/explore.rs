//! The first step of a pair: learn rules and freeze them.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::growth::Earlier;
use super::path::EvidencePath;
use crate::attack::{DrawBudget, Explorer, Grouped, GuessRule, Learned};
use crate::audit::time_limit::PairClock;
use crate::audit::{Event, Listener, PairPlan};
use crate::model::Tally;
use crate::output::{Symbols, fingerprint};
use crate::sample::{Sampler, Schedule};
use crate::target::{Phase, Target, TargetError};

/// Up to this many exploration draws, rules are learned after every round.
const EARLY_DRAWS: u64 = 4096;

/// The frozen rules of a pair, with all that certification and conclusion need. It depends only on
/// the plan and the target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Exploration {
    /// The rules.
    pub learned: Vec<Learned>,
    /// `tallies[i]` sums the counts of the i-th rule over all rounds, although the rule changes
    /// between rounds.
    pub tallies: Vec<Tally>,
    /// Groups of outputs, for a claim that limits a Rényi divergence.
    pub groups: Option<Grouped>,
    /// The names of the columns that no learner can read.
    pub unread: Vec<String>,
    /// The rule that the first of the rules replaced.
    pub earlier: Option<Earlier>,
    /// The draws that the rules were learned from.
    pub learned_from: u64,
    /// The names of the symbols that occurred.
    pub symbols: Symbols,
    /// The evidence so far.
    pub path: EvidencePath,
}

impl Exploration {
    /// All rules that are judged: those that guess, then those that recognise groups.
    #[must_use]
    pub fn rules(&self) -> Vec<GuessRule> {
        let groups = self.groups.iter().flat_map(|groups| &groups.rules);
        self.learned.iter().map(|learned| &learned.rule).chain(groups).cloned().collect()
    }

    /// A hash of everything in it. Parts of a pair belong together only if they judged the same
    /// rules.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        // Rules are plain data: writing them to memory does not fail.
        fingerprint(&[&serde_json::to_string(self).unwrap_or_default()])
    }
}

/// Learns the rules of a pair on the rayon pool that it is called in, as
/// [`Plan::run`](crate::audit::Plan::run) does first.
///
/// # Errors
/// When the mechanism could not be run.
pub fn explore(
    plan: &PairPlan,
    target: &dyn Target,
    listener: &(impl Listener + ?Sized),
) -> Result<Exploration, TargetError> {
    explore_in_time(
        plan,
        target,
        &plan.schedule(),
        &mut PairClock::start(plan.max_seconds, plan.until),
        listener,
    )
}

/// Learns rules in rounds that double in size. Each round also judges the rules of the rounds
/// before it.
pub fn explore_in_time(
    plan: &PairPlan,
    target: &dyn Target,
    schedule: &Schedule,
    clock: &mut PairClock,
    listener: &(impl Listener + ?Sized),
) -> Result<Exploration, TargetError> {
    let drawn = |draws| listener.hear(Event::Drawn { draws });
    let mut sampler = Sampler::open(target, plan.stream(), Phase::Explore, &drawn)?;
    clock.open(target.timing(), rayon::current_num_threads());
    let rounds = clock.rounds(schedule);
    let budget = DrawBudget {
        explore: rounds.iter().sum(),
        certify: schedule.certify(),
        alpha: plan.level.fixed(1.0),
    };
    let mut explorer = Explorer::new(sampler.width(), &plan.attacks, &plan.claim, budget);
    let mut explored = Exploration::default();
    // What the first rule did since it was learned.
    let mut since = Tally::default();
    for (index, &round) in rounds.iter().enumerate() {
        let begun = Instant::now();
        let tallies = match explorer.absorb(&mut sampler, round, &explored.rules()) {
            // What the rounds before it have shown is kept.
            Err(TargetError::Interrupted) if index > 0 => {
                clock.interrupt();
                break;
            }
            absorbed => absorbed?.0,
        };
        clock.drew(round, begun.elapsed());
        explored.path.draws += round;
        if !tallies.is_empty() {
            explored.path.look(&explored.learned, &tallies);
            tell(&explored.path, plan, listener);
            add(&mut explored.tallies, &tallies);
            since += tallies[0];
        }
        if explored.path.decides(plan) {
            break;
        }
        // Learning is cheap in early rounds and may already decide. Later, rules are learned again
        // after four times as many draws, and after the last round.
        let draws = explored.path.draws;
        let last = rounds.get(index + 1).is_none_or(|next| !clock.allows_round(*next));
        if last {
            explorer.set_budget(
                if index + 1 == rounds.len() { budget.explore } else { draws },
                clock.certify(budget.certify),
            );
        }
        if last || draws <= EARLY_DRAWS || draws >= 4 * explored.learned_from {
            explored.earlier = explored.learned.first().map(|learned| Earlier {
                learned_from: explored.learned_from,
                regions: learned.rule.regions(),
                tally: since,
            });
            explored.learned = explorer.learn();
            explored.learned_from = draws;
            since = Tally::default();
        }
        if last {
            explored.groups = explored.learned.first().and_then(|first| explorer.groups(first));
            let tail = explored
                .learned
                .first()
                .filter(|_| explored.groups.is_none())
                .and_then(|first| explorer.tail_rule(first));
            explored.learned.extend(tail);
            break;
        }
    }
    sampler.check_independence()?;
    explored.symbols = target.symbols().of_width(sampler.width());
    let unread = explorer.unread(&explored.symbols).into_iter();
    explored.unread = unread.map(|column| explored.symbols.column(column)).collect();
    explorer.name_rows(&mut explored.symbols);
    Ok(explored)
}

/// Tells the listener the bound so far. In small audits the bound takes longer than the draws, so
/// it is computed only for a listener.
pub fn tell(path: &EvidencePath, plan: &PairPlan, listener: &(impl Listener + ?Sized)) {
    if listener.is_listening() {
        listener.hear(Event::Looked { epsilon_lower: path.anytime_bound(plan) });
    }
}

/// Adds tallies to sums of the same rules.
pub fn add(sums: &mut Vec<Tally>, tallies: &[Tally]) {
    sums.resize(tallies.len().max(sums.len()), Tally::default());
    sums.iter_mut().zip(tallies).for_each(|(sum, tally)| *sum += *tally);
}
