//! The third step of a pair: from the tallies of all looks to bounds, verdict and evidence. It
//! makes no draws.

use thiserror::Error;

use super::certify::CertifyPart;
use super::curves::CurveData;
use super::evidence::{FrozenTally, PrivacyEvidence, RuleJudgement, SimplestRule};
use super::explore::Exploration;
use super::explore::add;
use super::path::EvidencePath;
use crate::attack::{Clues, Grouped, GuessRule, Learned, Role};
use crate::audit::PairPlan;
use crate::model::{RuleEstimate, Tally};
use crate::output::{Cell, Symbols};
use crate::sample::WATCHED;
use crate::stats::{Certified, GroupEvidence, bounds, nights, strongest};

/// What is known about a pair after some of its looks.
pub struct Standing<'a> {
    plan: &'a PairPlan,
    exploration: Exploration,
    /// The tallies of all rules.
    sums: Vec<Tally>,
    /// The first rule as it was frozen, and its tally on the certifying draws.
    first: Option<nights::Judged>,
    /// Whether the sample is complete, whose size was fixed before its first draw.
    complete: bool,
}

/// What a target says about its draws.
pub struct DrawFacts<B: FnOnce() -> Option<String>> {
    /// Whether the same seed gives the same draws.
    pub reproducible: bool,
    /// A note for the reader of a report.
    pub note: Option<String>,
    /// What identifies the mechanism. It is asked only if the claim is refuted.
    pub behaviour: B,
}

impl<'a> Standing<'a> {
    /// After exploration.
    pub fn new(plan: &'a PairPlan, exploration: Exploration) -> Self {
        let sums = vec![Tally::default(); exploration.rules().len()];
        let first = exploration.learned.first().map(|first| nights::Judged {
            forecast: first.forecast,
            regions: first.rule.regions(),
            tally: Tally::default(),
        });
        Self { plan, exploration, sums, first, complete: true }
    }

    /// The evidence so far.
    pub fn path(&self) -> &EvidencePath {
        &self.exploration.path
    }

    /// Whether all planned looks were made.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The next look. `tallies` has one tally for each rule.
    /// `predicted` is the logarithm of the wealth of bets on predictions, if there are any.
    pub fn look(&mut self, draws: u64, tallies: &[Tally], predicted: Option<f64>) {
        let Exploration { learned, path, .. } = &mut self.exploration;
        path.draws += draws;
        path.look(learned, tallies, predicted);
        add(&mut self.sums, tallies);
        if let Some((first, tally)) = self.first.as_mut().zip(tallies.first()) {
            first.tally += *tally;
        }
        learned
            .iter_mut()
            .zip(tallies)
            .for_each(|(learned, tally)| learned.forecast = learned.forecast.and(*tally));
    }

    /// There are no more looks, although some were planned. The reported tallies then cover all
    /// draws, including exploration.
    pub fn stop(&mut self) {
        self.complete = false;
        add(&mut self.sums, &self.exploration.tallies);
    }

    /// Bounds, verdict, and the rule that did best.
    pub fn evidence<B: FnOnce() -> Option<String>>(self, facts: DrawFacts<B>) -> PrivacyEvidence {
        let (certified, groups) = self.certified();
        let judged_simplest = self.judged_simplest();
        let Self { plan, exploration, first, complete, .. } = self;
        let Exploration { learned, unread, earlier, learned_from, symbols, path, clues, .. } =
            exploration;
        let PairPlan { ref claim, level, .. } = *plan;
        // Fixed-sample limits hold only for the sample size that was fixed in advance.
        let fixed: &[Certified] = if complete { &certified } else { &[] };
        let mut bounds = bounds(&path.ledger, fixed, groups, claim, level);
        let by_rules = fixed.iter().map(Certified::lower).fold(0.0, f64::max);
        let by_groups = groups.is_some_and(|groups| {
            groups.lower >= bounds.lower
                && groups.lower > by_rules
                && by_rules <= claim.main().value
        });
        let by_predictions = bounds.refute(claim)
            && path.ledger.lower_by_rules(claim.main(), level.anytime()) <= claim.main().value
            && by_rules <= claim.main().value;
        let mut across_runs = plan.earlier.as_ref().map(|earlier| {
            let own = path.ledger.path(claim.main()).last().unwrap_or(0.0);
            earlier.and(nights::won(first, claim.main(), own))
        });
        if let Some(all) = across_runs.as_mut().filter(|all| all.refute() && !bounds.refute(claim))
        {
            all.decides = true;
            // That the claim does not hold is all that is known.
            bounds.lower = claim.main().value.next_up();
            if claim.second().is_some() {
                bounds.epsilon_lower = bounds.lower;
            }
        }
        let estimates: Vec<RuleEstimate> = certified.iter().map(Certified::estimate).collect();
        let best = strongest(&certified, claim).map(|(best, _)| best);
        let (tally, regions) = best
            .map_or((Tally::default(), 0), |best| (certified[best].tally, certified[best].regions));
        // There is no upper limit if the sample size was not fixed in advance.
        let limited = estimates.iter().filter(|_| complete).map(|estimate| estimate.epsilon_upper);
        let estimate = RuleEstimate {
            epsilon: best.map_or(0.0, |best| estimates[best].epsilon),
            epsilon_upper: limited.reduce(f64::max).unwrap_or(f64::INFINITY),
        };
        let first = learned.first().zip(certified.first()).zip(earlier);
        let growth = first.and_then(|((first, found), earlier)| {
            let regions = first.rule.regions();
            earlier.growth(&claim.main().measure, learned_from, regions, found.tally)
        });
        let frozen = fixed.iter().zip(&learned).map(|(certified, learned)| FrozenTally {
            tally: certified.tally,
            regions: certified.regions,
            judged_by: RuleJudgement { alpha: certified.alpha(), method: learned.method },
        });
        let frozen = frozen.filter(|frozen| frozen.judged_by.alpha > 0.0).collect();
        let learned = best.map(|best| &learned[best]);
        let judged_by = best.filter(|_| complete).zip(learned).map(|(best, learned)| {
            RuleJudgement { alpha: certified[best].alpha(), method: learned.method }
        });
        let behaviour =
            if bounds.refute(claim) && facts.reproducible { (facts.behaviour)() } else { None };
        let (ledger, draws_at_looks) = (&path.ledger, path.draws_at_looks.as_slice());
        let curves = CurveData {
            learned,
            certified: fixed,
            ledger,
            draws_at_looks,
            claim,
            bounds,
            level,
            symbols: &symbols,
        }
        .curves();
        let rule = learned.map(|learned| learned.rule.clone());
        // Of a claim that is not refuted, nothing is betrayed.
        let Clues { simplest, contributions, examples } =
            if bounds.refute(claim) { clues } else { Clues::default() };
        let simplest = simplest
            .filter(|_| rule.as_ref().is_none_or(|rule| !rule.is_plain()))
            .and_then(|simplest| SimplestRule::new(simplest.rule, judged_simplest, bounds, claim));
        let rules = rule.iter().chain(simplest.iter().map(|simplest| &simplest.rule));
        let named: Vec<Cell> = rules.flat_map(GuessRule::symbols).collect();
        PrivacyEvidence {
            symbols: if rule.is_some() { symbols.only(named) } else { Symbols::default() },
            simplest,
            contributions,
            examples,
            bounds,
            unread,
            growth,
            estimate,
            draws: path.draws,
            tally,
            regions,
            judged_by,
            frozen,
            by_groups,
            by_predictions,
            across_runs,
            rule,
            curves,
            behaviour,
            reproducible: facts.reproducible,
            note: facts.note,
        }
    }

    /// What the simplest rule shows by itself, on the complete sample.
    fn judged_simplest(&self) -> Option<Certified> {
        let PairPlan { claim, level, .. } = self.plan;
        let simplest = self.exploration.clues.simplest.as_ref().filter(|_| self.complete)?;
        // Its tally comes last. At the level of the whole fixed sample: it is not one of the rules
        // that bounds are made of, see `SimplestRule`.
        let tally = *self.sums.last()?;
        let (rule, method) = (&simplest.rule, simplest.method);
        Some(Certified::new(tally, rule.regions(), level.fixed(1.0), claim, method))
    }

    /// What the frozen rules show, and what groups of outputs show.
    fn certified(&self) -> (Vec<Certified>, Option<GroupEvidence>) {
        let Self {
            plan: PairPlan { claim, level, .. },
            exploration: Exploration { learned, groups, .. },
            sums,
            complete,
            ..
        } = self;
        let of_groups = if groups.is_some() { Role::GROUPS_SHARE } else { 0.0 };
        let certified = learned.iter().zip(sums).zip(shares(learned, 1.0 - of_groups));
        let certified = certified.map(|((learned, tally), share)| {
            Certified::new(
                *tally,
                learned.rule.regions(),
                level.fixed(share),
                claim,
                learned.method,
            )
        });
        let groups =
            groups.as_ref().filter(|_| *complete).map(|Grouped { moment, rules, .. }| {
                // The tallies of the groups come after those of the rules.
                let of_groups_rules = &sums[learned.len()..learned.len() + rules.len()];
                moment.evidence(of_groups_rules, &claim.main().measure, level.fixed(of_groups))
            });
        (certified.collect(), groups)
    }
}

/// How the part `all` of α is divided over the frozen rules: the first one, which is for the main
/// limit, gets what the others leave. If the rule for δ promises clearly more of the claim, these
/// two change places.
fn shares(learned: &[Learned], all: f64) -> Vec<f64> {
    /// How many times more of the claim it must promise.
    const CLEARLY: f64 = 2.0;
    let mut shares: Vec<f64> = learned.iter().map(|learned| learned.role.share()).collect();
    if let Some(first) = learned.first() {
        shares[0] = all - shares[1..].iter().sum::<f64>();
        let delta = learned
            .iter()
            .position(|rule| rule.role == Role::Delta && rule.promise > CLEARLY * first.promise);
        shares.swap(0, delta.unwrap_or(0));
    }
    shares
}

/// Why parts are not the certification of a pair.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartsError {
    /// The pair has no parts.
    #[error("the draws of this pair cannot be divided")]
    Undivided,
    /// A batch is in no part.
    #[error("the batches {from} to {to} are in no part")]
    Missing {
        /// The first one.
        from: u64,
        /// The first one that is in a part again.
        to: u64,
    },
    /// A batch is in two parts, or is not one of the pair.
    #[error("the batches {from} to {to} overlap another part, or are not batches of the pair")]
    Overlapping {
        /// The first batch of the part.
        from: u64,
        /// The end of the part.
        to: u64,
    },
    /// The first batches are not in one part.
    #[error(
        "a part begins at batch {from}, and the first {WATCHED} batches must be in one part: they are checked for dependence together"
    )]
    Unchecked {
        /// The first batch of the part.
        from: u64,
    },
    /// A part judged other rules.
    #[error(
        "the batches {from} to {to} were judged with other rules than those that the pair has; machines that differ in the last bit of a logarithm learn different rules: run all parts on machines of one kind"
    )]
    OtherRules {
        /// The first batch of the part.
        from: u64,
        /// The end of the part.
        to: u64,
    },
    /// The tallies of a part do not count all of its draws.
    #[error("the tallies of the batches {from} to {to} do not count each draw of each look once")]
    WrongTallies {
        /// The first batch of the part.
        from: u64,
        /// The end of the part.
        to: u64,
    },
}

/// The evidence on a pair from the parts of its certification, in any order. It is the evidence of
/// [`Plan::run`](crate::audit::Plan::run).
///
/// # Errors
/// When the parts do not belong together or are not all of them.
pub fn conclude(
    plan: &PairPlan,
    exploration: &Exploration,
    parts: &[&CertifyPart],
) -> Result<PrivacyEvidence, PartsError> {
    let batches = plan.divisible_batches().ok_or(PartsError::Undivided)?;
    let mut parts = parts.to_vec();
    parts.sort_by_key(|part| (part.batches.start, part.batches.end));
    let (fingerprint, rules) = (exploration.fingerprint(), exploration.rules().len());
    let mut looks: Vec<(u64, Vec<Tally>)> = Vec::new();
    let mut next = 0;
    for part in &parts {
        let (from, to) = (part.batches.start, part.batches.end);
        if from > next {
            return Err(PartsError::Missing { from: next, to: from });
        }
        if from < next || to <= from || to > batches {
            return Err(PartsError::Overlapping { from, to });
        }
        if (1..WATCHED).contains(&from) {
            return Err(PartsError::Unchecked { from });
        }
        if part.exploration != fingerprint {
            return Err(PartsError::OtherRules { from, to });
        }
        let pieces = plan.pieces(&part.batches);
        let counted = |tally: &Tally| {
            tally
                .correct
                .checked_add(tally.wrong)
                .and_then(|guesses| guesses.checked_add(tally.abstained))
        };
        let is_counted = part.looks.len() == pieces.len()
            && part.looks.iter().zip(&pieces).all(|(look, piece)| {
                let each = look.tallies.iter().all(|tally| counted(tally) == Some(piece.draws));
                look.look == piece.look && look.tallies.len() == rules && each
            });
        if !is_counted {
            return Err(PartsError::WrongTallies { from, to });
        }
        for (look, piece) in part.looks.iter().zip(pieces) {
            if looks.len() == piece.look {
                looks.push((0, Vec::new()));
            }
            let (draws, sums) = &mut looks[piece.look];
            *draws += piece.draws;
            add(sums, &look.tallies);
        }
        next = to;
    }
    if next < batches {
        return Err(PartsError::Missing { from: next, to: batches });
    }
    let mut standing = Standing::new(plan, exploration.clone());
    looks.iter().for_each(|(draws, tallies)| standing.look(*draws, tallies, None));
    Ok(standing.evidence(DrawFacts {
        reproducible: parts.iter().all(|part| part.reproducible),
        note: parts.iter().find_map(|part| part.note.clone()),
        behaviour: || parts.first().and_then(|part| part.behaviour.clone()),
    }))
}
