//! What was found on a pair about a privacy claim.

use serde::{Deserialize, Serialize};

use super::curves::Curves;
use super::growth::Growth;
use crate::attack::{Contribution, Example, GuessRule};
use crate::audit::{AcrossRuns, PairPlan};
use crate::model::number::{counted, percent};
use crate::model::{Bounds, Claim, RuleEstimate, Tally, Until};
use crate::output::Symbols;
use crate::stats::{Certified, Method};

/// What groups of outputs are called in a sentence.
const GROUPS: &str = "groups of outputs together";

/// That the bets decided, at the end of a sentence about a rule.
const PREDICTED: &str = "; bets on predictions from earlier draws refute it";

/// The evidence on one pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PrivacyEvidence {
    /// The bounds.
    pub bounds: Bounds,
    /// The names of the columns that no learner can read.
    #[serde(default)]
    pub unread: Vec<String>,
    /// That rules from more draws show clearly more.
    #[serde(default)]
    pub growth: Option<Growth>,
    /// The point estimate of ε from the reported rule, and an upper limit for the ε that any of the
    /// frozen rules can show.
    pub estimate: RuleEstimate,
    /// All draws, including exploration.
    pub draws: u64,
    /// The counts of the reported rule on the draws it was judged on.
    pub tally: Tally,
    /// How many of the two answers, left and right, the rule ever gives.
    pub regions: u8,
    /// How the counts were judged; absent if the sample was not completed, so that only the wealth
    /// judges them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_by: Option<RuleJudgement>,
    /// The counts of every frozen rule and how they are judged, for bounds in any unit and at any
    /// δ, all of which hold together. Empty if the sample was not completed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<FrozenTally>,
    /// Whether groups of outputs show more than the rules, none of which refutes the claim.
    #[serde(default)]
    pub by_groups: bool,
    /// Whether bets on predictions refute the claim, and no single rule does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_predictions: bool,
    /// The evidence of all runs, in a run with evidence over many runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub across_runs: Option<AcrossRuns>,
    /// The rule; absent if the budget was too small to learn one.
    pub rule: Option<GuessRule>,
    /// The names of the symbols that the rules use.
    pub symbols: Symbols,
    /// The simplest rule that refutes the claim too, if the reported one is not as simple.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simplest: Option<SimplestRule>,
    /// What each column should show by itself, the largest first, if the claim is refuted: an
    /// estimate from exploration. Empty if there is only one column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contributions: Vec<Contribution>,
    /// Outputs that betray the dataset, if the claim is refuted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// The evidence as curves.
    pub curves: Curves,
    /// A hash of the first outputs on a fixed stream, if the claim is refuted. Different code has a
    /// different hash.
    pub behaviour: Option<String>,
    /// Whether the same seed gives the same result. A program may ignore its seeds.
    pub reproducible: bool,
    /// A note about the draws for the reader of a report.
    pub note: Option<String>,
}

/// The counts of a frozen rule on the draws it was judged on, and how they are judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrozenTally {
    /// The counts.
    pub tally: Tally,
    /// How many of the two answers the rule gives.
    pub regions: u8,
    /// How the counts become bounds.
    pub judged_by: RuleJudgement,
}

/// How the counts of a rule become bounds. It is chosen before the draws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleJudgement {
    /// The level of the rule's limits.
    pub alpha: f64,
    /// How they are computed.
    pub method: Method,
}

/// A rule about one column with one threshold, one value or one symbol.
///
/// It was frozen in exploration and judged on the fresh draws, but it takes no share of α: its
/// bounds are cut at those of the pair, `min(own, pair's)`. What is below a bound that holds holds
/// too, so nothing is said about the mechanism that the bounds of the run do not say already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimplestRule {
    /// The rule.
    pub rule: GuessRule,
    /// The bound in the unit of the claim that it shows by itself; absent if the sample was not
    /// completed, so that it was learned from draws and not judged on others.
    #[serde(default, with = "crate::model::exact::option")]
    pub lower: Option<f64>,
    /// The same for δ at the claimed ε, if δ is claimed.
    #[serde(default)]
    pub delta_lower: Option<f64>,
}

impl SimplestRule {
    /// The rule with what it shows, if that refutes the claim. `judged` is absent if the sample was
    /// not completed.
    #[must_use]
    pub fn new(
        rule: GuessRule,
        judged: Option<Certified>,
        bounds: Bounds,
        claim: &Claim,
    ) -> Option<Self> {
        let Some(judged) = judged else {
            return Some(Self { rule, lower: None, delta_lower: None });
        };
        let lower = judged.lower().min(bounds.lower);
        let delta_lower = claim.second().map(|_| judged.second_lower().min(bounds.delta_lower));
        let refutes = lower > claim.main().value
            || claim.second().zip(delta_lower).is_some_and(|(limit, lower)| lower > limit.value);
        refutes.then_some(Self { rule, lower: Some(lower), delta_lower })
    }
}

impl PrivacyEvidence {
    /// `max(0, δ_lower − δ)`: by how much the claimed δ is exceeded at least.
    #[must_use]
    pub fn delta_excess(&self, claim: &Claim) -> f64 {
        (self.bounds.delta_lower - claim.delta()).max(0.0)
    }

    /// The rule in words.
    #[must_use]
    pub fn rule_text(&self) -> String {
        self.rule.as_ref().map_or_else(
            || "none: too few draws to learn one".to_owned(),
            |rule| rule.describe(&self.symbols),
        )
    }

    /// Whether the attacker guessed at nine outputs of ten or more, and was always right.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        let Tally { correct, wrong, abstained } = self.tally;
        correct > 0 && wrong == 0 && abstained <= correct / 9
    }

    /// One sentence: how often the attacker guessed right, and what the claim allows. If the claim
    /// is not refuted, the sentence does not read as if it were.
    #[must_use]
    pub fn sentence(&self, claim: &Claim) -> String {
        let guesses = self.tally.guesses() as f64;
        let draws = self.tally.draws() as f64;
        let predicted = match &self.across_runs {
            Some(all) if all.decides => {
                format!("; refuted by the evidence of {}", counted(all.runs(), "run"))
            }
            _ if self.by_predictions => PREDICTED.to_owned(),
            _ => String::new(),
        };
        if guesses == 0.0 {
            return format!("made no guess{predicted}");
        }
        let right = self.tally.correct as f64 / guesses;
        let allowed = claim.main().allowed_right(guesses / draws.max(1.0), self.regions);
        let share = if guesses < draws {
            format!(" when answering on {} of the outputs", percent(guesses / draws))
        } else {
            String::new()
        };
        let groups = if self.by_groups {
            format!("; {GROUPS} show {}", self.bounds.in_unit(claim).unwrap_or_default())
        } else {
            String::new()
        };
        let by_runs = self.across_runs.as_ref().is_some_and(|all| all.decides);
        let chance = if (by_runs || !self.bounds.refute(claim)) && right > allowed {
            format!(", and {} cannot tell these apart", counted(self.tally.guesses(), "guess"))
        } else {
            String::new()
        };
        format!(
            "guessed right {} of the time{share}; {claim} allows {}{chance}{groups}{predicted}",
            percent(right),
            percent(allowed)
        )
    }

    /// Checks what can be known without making the draws again.
    pub(in crate::audit) fn check(&self, plan: &PairPlan) -> Result<(), String> {
        plan.check_draws(self.draws)?;
        let Tally { correct, wrong, abstained } = self.tally;
        let all = [correct, wrong, abstained].iter().try_fold(0_u64, |sum, n| sum.checked_add(*n));
        if all.is_none_or(|all| all > self.draws) {
            return Err("it counts more guesses than draws".to_owned());
        }
        self.check_bounds(plan)
    }

    /// Judges the counts again. The bounds are the best of all rules, so those of the reported rule
    /// are not above them.
    fn check_bounds(&self, plan: &PairPlan) -> Result<(), String> {
        let is_fixed = plan.max_seconds.is_none() && plan.until == Until::Budget;
        let Some(RuleJudgement { alpha, method }) = self.judged_by else {
            return if is_fixed && self.rule.is_some() {
                Err("it does not say how its counts were judged".to_owned())
            } else {
                Ok(())
            };
        };
        if !(0.0..=plan.level.whole()).contains(&alpha) || self.regions > 2 {
            return Err("its counts cannot have been judged like this".to_owned());
        }
        let again = Certified::new(self.tally, self.regions, alpha, &plan.claim, method);
        let shown = if plan.claim.second().is_some() { self.bounds.delta_lower } else { 0.0 };
        if again.lower() > self.bounds.lower || again.second_lower() > shown {
            return Err("its counts show more than its bounds say".to_owned());
        }
        let simplest = self.simplest.as_ref().and_then(|simplest| simplest.lower);
        if simplest.is_some_and(|lower| lower > self.bounds.lower) {
            return Err("its simplest rule shows more than its bounds say".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Weights;

    fn plain_rule() -> GuessRule {
        let rule = serde_json::json!({
            "score": "output", "edges": [0.5], "answers": ["left", "abstain"], "symbols": [],
            "other": "abstain",
        });
        serde_json::from_value(rule).unwrap()
    }

    fn bounds(lower: f64) -> Bounds {
        let (delta_lower, detectable, resolved) = (0.0, 1.0, 0.1);
        Bounds { lower, epsilon_lower: lower, delta_lower, detectable, resolved }
    }

    #[test]
    fn the_simplest_rule_never_shows_more_than_the_pair() {
        let claim = Claim::new(1.0, 0.0).unwrap();
        let method = Method::Region(Weights::ONLY_RIGHT);
        let judged = |correct| {
            let tally = Tally { correct, wrong: 100, abstained: 1000 };
            Certified::new(tally, 1, 1e-3, &claim, method)
        };
        // ln 50 = 3.9 by itself.
        let own = judged(5000).lower();
        assert!(own > 3.0, "{own}");
        for pairs in [0.5, 1.5, 2.5, 10.0] {
            let found = SimplestRule::new(plain_rule(), Some(judged(5000)), bounds(pairs), &claim);
            let shown = found.and_then(|rule| rule.lower);
            assert_eq!(shown, (pairs > 1.0).then_some(pairs.min(own)), "cut at {pairs}");
        }
        let weak = SimplestRule::new(plain_rule(), Some(judged(150)), bounds(10.0), &claim);
        assert_eq!(weak, None);
        // Without a complete sample nothing is said about what it shows.
        let seen = SimplestRule::new(plain_rule(), None, bounds(10.0), &claim).unwrap();
        assert_eq!((seen.lower, seen.delta_lower), (None, None));
    }
}
