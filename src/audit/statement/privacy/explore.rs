//! The first step of a pair: learn rules and freeze them.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::growth::Earlier;
use super::path::EvidencePath;
use crate::attack::{Clues, DrawBudget, Explorer, Gambler, Grouped, GuessRule, Learned};
use crate::audit::time_limit::PairClock;
use crate::audit::{Event, Listener, PairPlan};
use crate::model::Tally;
use crate::output::{Symbols, fingerprint};
use crate::sample::{Sampler, Schedule};
use crate::target::{Phase, Target, TargetError};

/// Up to this many exploration draws, rules are learned again when there are twice as many.
const EARLY_DRAWS: u64 = 4096;

/// The same for a program whose run ends as soon as its claim is refuted: its draws may take a second
/// each, so learning costs nothing beside them.
const OFTEN: f64 = 1.25;

/// What the first step leaves to the second.
pub struct Explored {
    /// The frozen rules.
    pub exploration: Exploration,
    /// Who bets on predictions, in a run that ends as soon as its claim is refuted.
    pub gambler: Option<Gambler>,
    /// Draws after a decision that were only checked for dependence.
    pub further: u64,
}

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
    /// What people can act on.
    #[serde(default)]
    pub clues: Clues,
}

impl Exploration {
    /// All rules that are judged: those that guess, those that recognise groups, and the simplest
    /// one for people.
    #[must_use]
    pub fn rules(&self) -> Vec<GuessRule> {
        let groups = self.groups.iter().flat_map(|groups| &groups.rules);
        let simplest = self.clues.simplest.iter().map(|simplest| &simplest.rule);
        let learned = self.learned.iter().map(|learned| &learned.rule);
        learned.chain(groups).chain(simplest).cloned().collect()
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
    .map(|explored| explored.exploration)
}

/// Learns rules in rounds that double in size. Each round also judges the rules of the rounds
/// before it.
pub fn explore_in_time(
    plan: &PairPlan,
    target: &dyn Target,
    schedule: &Schedule,
    clock: &mut PairClock,
    listener: &(impl Listener + ?Sized),
) -> Result<Explored, TargetError> {
    let drawn = |draws| listener.hear(Event::Drawn { draws });
    let mut sampler = plan.sampler(target, Phase::Explore, &drawn)?;
    clock.open(target.timing(), rayon::current_num_threads());
    let rounds = clock.rounds(schedule);
    let budget = DrawBudget {
        explore: rounds.iter().sum(),
        certify: schedule.certify(),
        alpha: plan.level.fixed(1.0),
    };
    let mut explorer = Explorer::new(sampler.width(), &plan.attacks, &plan.claim, budget);
    let mut explored = Exploration::default();
    let mut gambler =
        plan.until.ends_early().then(|| Gambler::new(sampler.width(), plan.claim.main()));
    // What the first rule did since it was learned.
    let mut since = Tally::default();
    for (index, &round) in rounds.iter().enumerate() {
        let (begun, before) = (Instant::now(), explorer.kept_rows());
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
        if let Some(gambler) = gambler.as_mut().filter(|gambler| gambler.is_playing()) {
            let [left, right] = explorer.kept_after(before);
            gambler.see(&left, &right);
        }
        let predicted = gambler.as_ref().map(Gambler::log_wealth);
        if !tallies.is_empty() || predicted.is_some() {
            explored.path.look(&explored.learned, &tallies, predicted);
            tell(&explored.path, plan, listener);
            add(&mut explored.tallies, &tallies);
            since += tallies.first().copied().unwrap_or_default();
        }
        if explored.path.decides(plan) {
            // The rule that is reported, and that a witness keeps, knows all of these draws.
            if explored.learned_from < explored.path.draws {
                explored.learned = explorer.learn();
                explored.learned_from = explored.path.draws;
                explored.tallies.resize(explored.learned.len(), Tally::default());
            }
            break;
        }
        // Learning is cheap after few draws and may already decide. Later, rules are learned again
        // after four times as many draws, and after the last round.
        let draws = explored.path.draws;
        let last = rounds.get(index + 1).is_none_or(|next| !clock.allows_round(*next));
        if last {
            explorer.set_budget(
                if index + 1 == rounds.len() { budget.explore } else { draws },
                clock.certify(budget.certify),
            );
        }
        let patience = match (draws <= EARLY_DRAWS, plan.subject.command()) {
            (true, Some(_)) if gambler.is_some() => OFTEN,
            (true, _) => 2.0,
            (false, _) => 4.0,
        };
        if last || draws as f64 >= patience * explored.learned_from as f64 {
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
    let further = if explored.path.decides(plan) { look_further(&mut sampler, target)? } else { 0 };
    sampler.check_independence()?;
    explored.symbols = target.symbols().of_width(sampler.width());
    let unread = explorer.unread(&explored.symbols).into_iter();
    explored.unread = unread.map(|column| explored.symbols.column(column)).collect();
    explorer.name_rows(&mut explored.symbols);
    explored.clues = explorer.clues(&explored.learned, &explored.symbols);
    Ok(Explored { exploration: explored, gambler, further })
}

/// After a decision from few draws, makes more of them to look for dependence, and says how many. An
/// interruption ends them.
pub fn look_further(sampler: &mut Sampler, target: &dyn Target) -> Result<u64, TargetError> {
    let draws = target.further_draws();
    if draws == 0 {
        return Ok(0);
    }
    match sampler.look_further(draws) {
        Err(TargetError::Interrupted) => Ok(0),
        made => made.map(|()| draws),
    }
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
