//! One pair: explore, freeze, certify, compute the verdict.

use std::time::Instant;

use super::curves::CurveData;
use super::stability::compare;
use super::time_limit::PairClock;
use super::{Event, Evidence, Listener, PairPlan, PairResult};
use crate::attack::{DrawBudget, Explorer, Grouped, GuessRule, Learned, Role, Tallies, judge};
use crate::model::{Grounds, RuleEstimate, Side, Tally, Until, Verdict};
use crate::output::{Symbols, fingerprint};
use crate::sample::{Sampler, Schedule};
use crate::stats::wealth::{Bet, Ledger};
use crate::stats::{Certified, GroupEvidence, bounds, strongest};
use crate::target::{PairStream, Phase, Target, TargetError};

/// Up to this many exploration draws, rules are learned after every round.
const EARLY_DRAWS: u64 = 4096;

/// Outputs of each side that identify a mechanism.
const FINGERPRINT_DRAWS: usize = 512;

/// Audits one pair on the rayon pool that it is called in. The result depends only on the plan and the target.
pub fn run_pair(plan: &PairPlan, target: &dyn Target, listener: &(impl Listener + ?Sized)) -> PairResult {
    let mut audit = PairAudit {
        plan,
        target,
        listener,
        clock: PairClock::start(plan.max_seconds, plan.until),
        symbols: Symbols::default(),
        ledger: Ledger::default(),
        draws_at_looks: Vec::new(),
        draws: 0,
        interrupted: false,
    };
    let started = Instant::now();
    if let Some(metric) = plan.claim.metric() {
        let outcome = compare(plan, metric, target);
        target.close();
        return PairResult { timing: target.timing(), ..PairResult::new(plan, outcome, started.elapsed().as_secs_f64()) };
    }
    // The draws of a program may take a second each. Those of a function are fast, and more of them show better whether they are independent.
    let slow = plan.until == Until::Decided && plan.subject.command().is_some();
    let schedule = if slow { Schedule::frequent(plan.draws) } else { Schedule::new(plan.draws) };
    let certified = audit.explore(&schedule).and_then(|explored| audit.certify(explored, &schedule));
    let outcome = certified.map(|certified| audit.evidence(certified));
    target.close();
    PairResult { timing: target.timing(), ..PairResult::new(plan, outcome, started.elapsed().as_secs_f64()) }
}

/// The state of the audit of one pair.
struct PairAudit<'a, L: ?Sized> {
    plan: &'a PairPlan,
    target: &'a dyn Target,
    listener: &'a L,
    clock: PairClock,
    /// The names of the symbols that occurred in exploration.
    symbols: Symbols,
    ledger: Ledger,
    /// The draws made before each look.
    draws_at_looks: Vec<u64>,
    draws: u64,
    /// Whether the caller interrupted the run. Then only the bound that holds at any time is used.
    interrupted: bool,
}

/// The rules learned so far. `tallies[i]` sums the counts of the i-th rule over all rounds, although the rule changes between rounds.
#[derive(Default)]
struct Exploration {
    learned: Vec<Learned>,
    tallies: Vec<Tally>,
    /// Groups of outputs, for a claim that limits a Rényi divergence.
    groups: Option<Grouped>,
    /// Whether every output was a different symbol.
    outputs_never_repeat: bool,
}

impl Exploration {
    fn rules(&self) -> Vec<GuessRule> {
        self.learned.iter().map(|learned| learned.rule.clone()).collect()
    }
}

fn add(sums: &mut Vec<Tally>, tallies: &[Tally]) {
    sums.resize(tallies.len().max(sums.len()), Tally::default());
    sums.iter_mut().zip(tallies).for_each(|(sum, tally)| *sum += *tally);
}

/// The result of certification: the frozen rules, and their tallies if the fixed sample was completed.
struct Certification {
    learned: Vec<Learned>,
    certified: Vec<Certified>,
    groups: Option<GroupEvidence>,
    complete: bool,
    outputs_never_repeat: bool,
}

impl<L: Listener + ?Sized> PairAudit<'_, L> {
    /// Learns rules in rounds that double in size. Each round also judges the rules of the rounds before it.
    fn explore(&mut self, schedule: &Schedule) -> Result<Exploration, TargetError> {
        let listener = self.listener;
        let drawn = |draws| listener.hear(Event::Drawn { draws });
        let mut sampler = Sampler::open(self.target, self.stream(), Phase::Explore, &drawn)?;
        self.clock.open(self.target.timing(), rayon::current_num_threads());
        let rounds = self.clock.rounds(schedule);
        let budget = DrawBudget { explore: rounds.iter().sum(), certify: schedule.certify(), alpha: self.plan.level.fixed(1.0) };
        let mut explorer = Explorer::new(sampler.width(), &self.plan.attacks, &self.plan.claim, budget);
        let mut explored = Exploration::default();
        let mut learned_at = 0;
        for (index, &round) in rounds.iter().enumerate() {
            let begun = Instant::now();
            let tallies = match explorer.absorb(&mut sampler, round, &explored.rules()) {
                Ok(Tallies(tallies)) => tallies,
                Err(TargetError::Interrupted) if index > 0 => {
                    self.interrupted = true;
                    break;
                }
                Err(error) => return Err(error),
            };
            self.clock.drew(round, begun.elapsed());
            self.draws += round;
            if !tallies.is_empty() {
                self.look(&explored.learned, &tallies);
                add(&mut explored.tallies, &tallies);
            }
            if self.decided() {
                break;
            }
            // Learning is cheap in early rounds and may already decide. Later, rules are learned again after four times as many draws, and
            // after the last round.
            let last = rounds.get(index + 1).is_none_or(|next| !self.clock.allows_round(*next));
            if last {
                explorer
                    .set_budget(if index + 1 == rounds.len() { budget.explore } else { self.draws }, self.clock.certify(budget.certify));
            }
            if last || self.draws <= EARLY_DRAWS || self.draws >= 4 * learned_at {
                explored.learned = explorer.learn();
                learned_at = self.draws;
            }
            if last {
                explored.groups = explored.learned.first().and_then(|first| explorer.groups(first));
                let tail = explored.learned.first().filter(|_| explored.groups.is_none()).and_then(|first| explorer.tail_rule(first));
                explored.learned.extend(tail);
                break;
            }
        }
        sampler.check_independence()?;
        self.symbols = self.target.symbols().of_width(sampler.width());
        explored.outputs_never_repeat = explorer.outputs_never_repeat();
        explorer.name_rows(&mut self.symbols);
        Ok(explored)
    }

    /// Judges the frozen rules on fresh draws, in looks that double in size.
    fn certify(&mut self, explored: Exploration, schedule: &Schedule) -> Result<Certification, TargetError> {
        let listener = self.listener;
        let drawn = |draws| listener.hear(Event::Drawn { draws });
        let mut sampler = Sampler::open(self.target, self.stream(), Phase::Certify, &drawn)?;
        let mut rules = explored.rules();
        rules.extend(explored.groups.iter().flat_map(|groups| groups.rules.iter().cloned()));
        let outputs_never_repeat = explored.outputs_never_repeat;
        let mut learned = explored.learned;
        let mut sums = vec![Tally::default(); rules.len()];
        let mut complete = true;
        // The size of the sample is fixed here, before its first draw.
        let looks = schedule.looks_for(self.draws, self.clock.certify(schedule.certify()));
        self.cut(looks.iter().sum());
        for (index, &size) in looks.iter().enumerate() {
            let begun = Instant::now();
            let stops = self.interrupted || self.decided() || index > 0 && self.clock.is_overdue(size);
            let judged = if stops { Err(TargetError::Interrupted) } else { judge(&mut sampler, size, &rules) };
            let tallies = match judged {
                Ok(Tallies(tallies)) => tallies,
                Err(TargetError::Interrupted) => {
                    self.interrupted |= !stops;
                    complete = false;
                    // The reported tallies then cover all draws, including exploration.
                    add(&mut sums, &explored.tallies);
                    break;
                }
                Err(error) => return Err(error),
            };
            self.clock.drew(size, begun.elapsed());
            self.draws += size;
            self.look(&learned, &tallies);
            add(&mut sums, &tallies);
            learned.iter_mut().zip(&tallies).for_each(|(learned, tally)| learned.forecast = learned.forecast.and(*tally));
        }
        sampler.check_independence()?;
        let of_groups = if explored.groups.is_some() { Role::GROUPS_SHARE } else { 0.0 };
        let shares = shares(&learned, 1.0 - of_groups);
        let PairPlan { claim, level, .. } = self.plan;
        let certified = learned.iter().zip(&sums).zip(shares);
        let certified = certified
            .map(|((learned, tally), share)| Certified::new(*tally, learned.rule.regions(), level.fixed(share), claim, learned.method));
        let certified = certified.collect();
        let groups = explored.groups.filter(|_| complete).map(|Grouped { moment, .. }| {
            // The tallies of the groups come after those of the rules.
            moment.evidence(&sums[learned.len()..], &claim.main().measure, level.fixed(of_groups))
        });
        Ok(Certification { learned, certified, groups, complete, outputs_never_repeat })
    }

    /// Bounds, verdict, and the rule that did best.
    fn evidence(self, certification: Certification) -> Evidence {
        let Certification { learned, certified, groups, complete, outputs_never_repeat } = certification;
        let decided = self.decided();
        let PairPlan { ref claim, level, resolution, reach: asked_reach, .. } = *self.plan;
        // Fixed-sample limits hold only for the sample size that was fixed in advance.
        let fixed: &[Certified] = if complete { &certified } else { &[] };
        let bounds = bounds(&self.ledger, fixed, groups, claim, level);
        let by_rules = fixed.iter().map(Certified::lower).fold(0.0, f64::max);
        let by_groups =
            groups.is_some_and(|groups| groups.lower >= bounds.lower && groups.lower > by_rules && by_rules <= claim.main().value);
        let estimates: Vec<RuleEstimate> = certified.iter().map(Certified::estimate).collect();
        let best = strongest(&certified, claim).map(|(best, _)| best);
        let (tally, regions) = best.map_or((Tally::default(), 0), |best| (certified[best].tally, certified[best].regions));
        // There is no upper limit if the sample size was not fixed in advance.
        let limited = estimates.iter().filter(|_| complete).map(|estimate| estimate.epsilon_upper);
        let estimate = RuleEstimate {
            epsilon: best.map_or(0.0, |best| estimates[best].epsilon),
            epsilon_upper: limited.reduce(f64::max).unwrap_or(f64::INFINITY),
        };
        let learned = best.map(|best| &learned[best]);
        // The verdict on this pair alone. In an audit, the other pairs count too.
        let reach = bounds.reach(claim);
        let grounds = Grounds { claim: claim.clone(), bounds, outputs_never_repeat, reach, asked_reach, resolution, control: None };
        let verdict = Verdict::new(&grounds);
        let reproducible = self.target.reproducible();
        let in_time = !self.interrupted && !self.clock.is_overdue(2 * FINGERPRINT_DRAWS as u64);
        let behaviour = if verdict == Verdict::Violated && reproducible && in_time { behaviour(self.target).ok() } else { None };
        let (ledger, draws_at_looks) = (&self.ledger, self.draws_at_looks.as_slice());
        let curves = CurveData { learned, certified: fixed, ledger, draws_at_looks, claim, bounds, level, symbols: &self.symbols }.curves();
        let rule = learned.map(|learned| learned.rule.clone());
        let cut = self.clock.note(self.draws, self.plan.draws, complete).filter(|_| !decided && !self.interrupted);
        let interrupted = self.interrupted.then(|| "the run was interrupted, so only the bound that holds at any time counts".to_owned());
        let note = cut.or(interrupted).into_iter().chain(self.target.note()).reduce(|cut, note| format!("{cut}; {note}"));
        Evidence {
            verdict,
            bounds,
            outputs_never_repeat,
            estimate,
            draws: self.draws,
            tally,
            regions,
            by_groups,
            outputs: None,
            symbols: rule.as_ref().map(|rule| self.symbols.only(rule.symbols())).unwrap_or_default(),
            rule,
            curves,
            behaviour,
            reproducible,
            note,
        }
    }

    /// Tells the listener how many of the planned draws will not be made.
    fn cut(&self, certify: u64) {
        let draws = self.plan.draws.saturating_sub(self.draws + certify);
        if draws > 0 && !self.decided() {
            self.listener.hear(Event::Cut { draws });
        }
    }

    fn stream(&self) -> PairStream {
        PairStream::new(self.plan.seed, &self.plan.audit, &self.plan.pair.name)
    }

    /// Records the bets on draws that were just judged. The forecasts were made before these draws.
    fn look(&mut self, learned: &[Learned], tallies: &[Tally]) {
        // A tail rule is learned too late to bet and is only certified.
        let bets = learned.iter().zip(tallies).filter(|(learned, _)| learned.role != Role::Tail);
        let bets: Vec<Bet> = bets.map(|(l, tally)| Bet { forecast: l.forecast, regions: l.rule.regions(), tally: *tally }).collect();
        self.draws_at_looks.push(self.draws);
        // There are two purses: for the first rule, which is for the main limit, and for the last one, which is for δ if there is such a rule.
        self.ledger.push([bets.first(), bets.last()].into_iter().flatten().copied().collect());
        // In small audits the bound takes longer than the draws. It is computed only for a listener.
        if self.listener.is_listening() {
            self.listener.hear(Event::Looked { epsilon_lower: self.anytime_bound() });
        }
    }

    /// Whether no more draws are needed.
    fn decided(&self) -> bool {
        let PairPlan { claim, level, until, .. } = self.plan;
        let second = || claim.second().is_some_and(|limit| self.ledger.lower(limit, level.anytime_second()) > limit.value);
        *until == Until::Decided && (self.anytime_bound() > claim.main().value || second())
    }

    /// The bound in the unit of the claim that holds at any time.
    fn anytime_bound(&self) -> f64 {
        self.ledger.lower(self.plan.claim.main(), self.plan.level.anytime())
    }
}

/// How the part `all` of α is divided over the frozen rules: the first one, which is for the main limit, gets what the others leave. If the rule for δ promises clearly
/// more of the claim, these two change places.
fn shares(learned: &[Learned], all: f64) -> Vec<f64> {
    /// How many times more of the claim it must promise.
    const CLEARLY: f64 = 2.0;
    let mut shares: Vec<f64> = learned.iter().map(|learned| learned.role.share()).collect();
    if let Some(first) = learned.first() {
        shares[0] = all - shares[1..].iter().sum::<f64>();
        let delta = learned.iter().position(|rule| rule.role == Role::Delta && rule.promise > CLEARLY * first.promise);
        shares.swap(0, delta.unwrap_or(0));
    }
    shares
}

/// A hash of the first outputs on a stream that no audit uses. It identifies a mechanism. Numbers are rounded, so that a platform with a
/// slightly different logarithm gives the same hash.
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
