//! Privacy on a pair of neighbours: rules are learned, frozen, and judged on fresh draws.
//!
//! | file | what it does |
//! |---|---|
//! | `run.rs` | one pair from its first draw to its evidence |
//! | `explore.rs` | the first step: learn rules and freeze them |
//! | `certify.rs` | the second step: judge them on fresh draws, in parts if that helps |
//! | `conclude.rs` | the third step: from tallies to bounds, without draws |
//! | `path.rs` | how the evidence grows from look to look |
//! | `growth.rs` | whether more exploration would show more |
//! | `curves.rs` | the evidence as curves |
//! | `evidence.rs` | what was found |
//! | `clues.rs` | what people can act on, in words |
//! | `explain.rs` | the claim in plain words |

mod certify;
mod clues;
mod conclude;
mod curves;
mod evidence;
mod explain;
mod explore;
mod growth;
mod path;
mod run;

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

pub use certify::{CertifyPart, LookTallies, Piece, certify_range};
pub use conclude::{PartsError, conclude};
pub use curves::{Curves, ProfilePoint, WealthPoint};
pub use evidence::{FrozenTally, PrivacyEvidence, RuleJudgement, SimplestRule};
pub(super) use explain::explanation;
pub use explore::{Exploration, explore};
pub use growth::{Earlier, Growth};
pub use path::EvidencePath;
pub(super) use run::audit;
pub use run::behaviour;

use super::pair::{AFTER_SURVIVAL, PairStatement};
use super::row::{Row, lower, upper};
use super::words::rounded;
use super::{Clue, Kind, Picture, Scale, Shown, TableCell, Whole, Words};
use crate::audit::advice::more;
use crate::audit::{AFTER_CERTAINTY, AFTER_REFUTATION, AcrossRuns};
use crate::model::exact::Exact;
use crate::model::number::{Brief, counted, grouped, percent, round_down};
use crate::model::{AskedReach, Bounds, Claim, Expectation, Reason, Truth, Verdict};

/// A pair and what was found on it.
pub struct Privacy<'a> {
    /// The pair.
    pub statement: PairStatement<'a>,
    /// The evidence, if there is any.
    pub evidence: Option<&'a PrivacyEvidence>,
}

impl Privacy<'_> {
    fn claim(&self) -> &Claim {
        &self.statement.audit.claim
    }

    fn bounds(&self) -> Option<Bounds> {
        self.evidence.map(|evidence| evidence.bounds)
    }

    /// What was measured, in the unit of the claim. The bound that is farther above the claim
    /// speaks.
    fn measured(&self) -> Option<String> {
        let (claim, bounds) = (self.claim(), self.bounds()?);
        let brief = |value: f64| Brief(round_down(value, 4));
        Some(if claim.second().is_none() {
            let symbol = claim.main().measure.symbol();
            format!("its {symbol} is at least {}", brief(bounds.lower))
        } else if bounds.refute(claim) && bounds.lower <= claim.main().value {
            let epsilon = Brief(claim.epsilon());
            format!("its δ at ε = {epsilon} is at least {}", brief(bounds.delta_lower))
        } else {
            let at = if claim.delta() > 0.0 {
                format!(" at δ = {}", Brief(claim.delta()))
            } else {
                String::new()
            };
            format!("its ε{at} is at least {}", brief(bounds.epsilon_lower))
        })
    }

    /// What people can act on.
    fn clues(&self) -> Vec<Clue> {
        self.evidence.map_or_else(Vec::new, |evidence| evidence.clues(self.claim()))
    }

    /// What the attacker saw, and what was not seen.
    fn sentence(&self) -> Option<String> {
        let sentence = self.evidence?.sentence(self.claim());
        let unread = self.unread().join(", ");
        Some(if unread.is_empty() { sentence } else { format!("{sentence}; not read: {unread}") })
    }

    /// That more exploration would show more.
    fn growing(&self) -> Option<String> {
        let evidence = self.evidence?;
        let Growth { before, now, factor } = evidence.growth?;
        let brief = |value: f64| Brief(round_down(value, 3));
        Some(format!(
            "The bound still grows with exploration: rules from fewer draws showed {symbol} = {}, \
             the last one {symbol} = {}; about {} would show most of what is missing.",
            brief(before),
            brief(now),
            counted(more(evidence.draws, factor.sqrt()), "draw"),
            symbol = self.claim().main().measure.symbol(),
        ))
    }

    /// The columns that were not read, each with the reason for ignoring it if there is one.
    fn unread(&self) -> Vec<String> {
        let ignored = |column: &String| self.statement.audit.ignore.get(column);
        let columns = self.evidence.into_iter().flat_map(|evidence| &evidence.unread);
        columns
            .map(|column| match ignored(column) {
                Some(reason) => format!("{column} (ignored: {reason})"),
                None => column.clone(),
            })
            .collect()
    }

    /// All bounds in one line.
    fn bounds_text(&self) -> String {
        let (claim, Some(evidence)) = (self.claim(), self.evidence) else { return String::new() };
        let bounds = evidence.bounds;
        // Under a claim in another unit nobody has said at which δ.
        let at = if claim.second().is_none() {
            format!(" at δ = {}", Brief(claim.delta()))
        } else {
            String::new()
        };
        format!(
            "{}ε ≥ {}{at}, δ ≥ {} at ε = {}; reach {} with {}",
            bounds.in_unit(claim).map_or_else(String::new, |bound| format!("{bound}; ")),
            Brief(round_down(bounds.epsilon_lower, 4)),
            Brief(round_down(bounds.delta_lower, 4)),
            Brief(claim.epsilon()),
            Brief(round_down(bounds.reach(claim), 4)),
            counted(evidence.draws, "draw"),
        )
    }
}

impl Kind for Privacy<'_> {
    fn expected(&self) -> Option<Expectation> {
        self.statement.expected()
    }

    fn verdict(&self, whole: Whole) -> Option<Verdict> {
        let evidence = self.evidence?;
        Some(self.statement.verdict(evidence.bounds, &evidence.unread, whole))
    }

    fn reach(&self) -> Option<f64> {
        Some(self.bounds()?.reach(self.claim()))
    }

    fn weight(&self) -> f64 {
        self.bounds().map_or(0.0, |bounds| bounds.epsilon_lower)
    }

    fn contradicts_truth(&self) -> bool {
        self.bounds().is_some_and(|bounds| self.statement.pair.truth.is_exceeded(bounds))
    }

    /// A standard error is proportional to `1/√n`. So a precision that should be `f` times finer
    /// needs `f²` times as many draws, and a bound that should be `f` times closer to its estimate
    /// does too.
    fn needed_draws(&self, verdict: Verdict, whole: Whole) -> Option<u64> {
        let (audit, evidence) = (self.statement.audit, self.evidence?);
        let asked = audit.reach.at_least() * audit.claim.main().value;
        match verdict {
            Verdict::Inconclusive(Reason::TooFewDraws) => {
                let needed = audit.resolution * whole.reach.clamp(AskedReach::DEFAULT, 1.0);
                let factor = evidence.bounds.resolved / needed;
                factor.is_finite().then(|| more(evidence.draws, factor))
            }
            // The estimate is an ε. It is compared only with claims in this unit.
            Verdict::Inconclusive(Reason::ClaimNotReached) if audit.claim.second().is_some() => {
                let (estimate, lower) = (evidence.estimate.epsilon, evidence.bounds.lower);
                let factor = (estimate - lower) / (estimate - asked);
                if estimate.is_finite() && estimate > asked {
                    Some(more(evidence.draws, factor))
                } else {
                    evidence.growth.map(|growth| more(evidence.draws, growth.factor.sqrt()))
                }
            }
            _ => None,
        }
    }

    fn columns(&self, row: &mut Row) {
        let (claim, evidence) = (self.claim(), self.evidence);
        self.statement.columns(self.bounds(), row);
        row.claim_epsilon = Some(Exact(claim.epsilon()));
        row.claim_delta = Some(claim.delta());
        row.epsilon_lower = evidence.map(|evidence| lower(evidence.bounds.epsilon_lower).0);
        row.delta_lower = evidence.map(|evidence| lower(evidence.bounds.delta_lower).0);
        row.delta_excess = evidence.map(|evidence| lower(evidence.delta_excess(claim)).0);
        row.detectable_epsilon = row.detectable.filter(|_| claim.second().is_some());
        row.resolved = evidence.map(|evidence| upper(evidence.bounds.resolved));
        row.correct = evidence.map(|evidence| evidence.tally.correct);
        row.wrong = evidence.map(|evidence| evidence.tally.wrong);
        row.abstained = evidence.map(|evidence| evidence.tally.abstained);
        if let Some(evidence) = evidence {
            row.rule = evidence.rule_text();
            row.simplest_rule = evidence.simplest_text();
            row.simplest_lower = evidence.simplest.as_ref().and_then(|rule| rule.lower).map(lower);
        }
        let all = evidence.and_then(|evidence| evidence.across_runs.as_ref());
        row.evidence_runs = all.map(|all| all.runs() as u64);
        row.evidence_share = all.map(|all| round_down(all.share(), 4));
    }

    fn properties(&self) -> &'static [&'static str] {
        &[
            "unit",
            "claimed",
            "lower",
            "claim_epsilon",
            "claim_delta",
            "epsilon_lower",
            "delta_lower",
            "reach",
            "asked_reach",
            "control",
            "draws",
            "rule",
            "simplest_rule",
        ]
    }

    fn cells(&self, row: &Row) -> Vec<TableCell> {
        PairStatement::cells(row)
    }

    fn details(&self) -> Map<String, Value> {
        let evidence = self.evidence;
        let estimate = evidence.map(|evidence| evidence.estimate);
        let mut details = self.statement.details(evidence.is_some());
        details.extend([
            ("sentence".to_owned(), json!(self.sentence())),
            (
                "rule_epsilon_estimate".to_owned(),
                json!(estimate.map(|estimate| lower(estimate.epsilon))),
            ),
            (
                "rule_epsilon_upper".to_owned(),
                json!(estimate.map(|estimate| upper(estimate.epsilon_upper))),
            ),
            ("growth".to_owned(), json!(evidence.map(|evidence| evidence.growth))),
            ("unread".to_owned(), json!(evidence.map(|evidence| &evidence.unread))),
            ("contributions".to_owned(), json!(evidence.map(|evidence| &evidence.contributions))),
            ("examples".to_owned(), json!(evidence.map(|evidence| &evidence.examples))),
            ("picture".to_owned(), json!(evidence.map(|evidence| &evidence.curves))),
        ]);
        let all = evidence.and_then(|evidence| evidence.across_runs.as_ref());
        details.extend(all.map(|all| ("across_runs".to_owned(), json!(all))));
        details
    }

    fn shown(&self) -> Option<Shown> {
        Some(self.statement.shown(self.bounds()?))
    }

    fn words(&self) -> Words {
        let (audit, claim) = (self.statement.audit, self.claim());
        let refuted = self.bounds().is_some_and(|bounds| bounds.refute(claim));
        let sentence = self.sentence().unwrap_or_default();
        let known = if audit.is_from_file() {
            " If this is known, write expect = \"violated\" into the audit file."
        } else {
            ""
        };
        Words {
            claim: claim.to_string(),
            observer: Some(if refuted { "attacker" } else { "best attack" }),
            rule: self
                .evidence
                .filter(|evidence| evidence.rule.is_some())
                .map(|evidence| ("Rule:", evidence.rule_text())),
            clues: self.clues(),
            bounds: self.bounds_text(),
            measured: self.measured().unwrap_or_default(),
            truth: format!(
                "A bound is above the truth that the audit file states, {}",
                truth(self.statement.pair.truth)
            ),
            truth_excluded: super::pair::TRUTH_EXCEEDED,
            circumstances: format!(
                "{} An attacker who sees only the output, and says whether the data was D or D', \
                 {sentence}.",
                self.statement.place()
            ),
            sentence,
            after_refutation: if self.evidence.is_some_and(PrivacyEvidence::is_certain) {
                AFTER_CERTAINTY
            } else {
                AFTER_REFUTATION
            },
            remedy: format!(
                "correct the mechanism (often its noise is too small, or one record can change \
                 more than was assumed), or claim less.{known}"
            ),
            after_survival: AFTER_SURVIVAL,
        }
    }

    fn meaning(&self, verdict: Verdict, confidence: &str) -> [String; 2] {
        let (claim, Some(evidence)) = (self.claim(), self.evidence) else {
            return [String::new(), String::new()];
        };
        let bounds = &evidence.bounds;
        let (epsilon, delta) =
            (Brief(round_down(bounds.epsilon_lower, 4)), Brief(round_down(bounds.delta_lower, 4)));
        let in_unit = bounds
            .in_unit(claim)
            .map_or_else(String::new, |bound| format!("In the unit of the claim: {bound}. "));
        let detected = if bounds.detectable.is_finite() {
            format!(
                "A leak of this shape is flagged with probability 0.9 or more from {} = {} on.",
                claim.main().measure.symbol(),
                Brief(-round_down(-bounds.detectable, 4))
            )
        } else {
            "The attack sees no leak whose growth it could flag.".to_owned()
        };
        let growing = self.growing().map_or_else(String::new, |growing| format!(" {growing}"));
        let (verdict, reasons) = match verdict {
            Verdict::Violated => (
                "The claim is refuted.",
                format!(
                    "At δ = {} the mechanism's ε is at least {epsilon}, and at ε = {} its δ is at \
                     least {delta} (confidence {confidence}, for all bounds of the run together).",
                    Brief(claim.delta()),
                    Brief(claim.epsilon()),
                ),
            ),
            Verdict::Consistent => (
                "Not refuted.",
                format!(
                    "The measured bound is ε ≥ {epsilon} (confidence {confidence}). {detected}\
                     {growing} Another pair or a better attack may still refute the claim."
                ),
            ),
            Verdict::Inconclusive(reason) => (
                "Not refuted, but inconclusive.",
                format!(
                    "The measured bound is ε ≥ {epsilon}. {detected}{growing} Reason: {reason}."
                ),
            ),
        };
        [verdict.to_owned(), format!("{in_unit}{reasons}")]
    }

    fn missed(&self) -> Option<String> {
        let (bounds, main) = (self.bounds()?, self.claim().main());
        let (detectable, claimed) = (bounds.detectable, main.value);
        if !detectable.is_finite() || claimed <= 0.0 {
            return None;
        }
        let symbol = main.measure.symbol();
        // Rounded up: what is said to be caught is caught.
        let from = Brief(-round_down(-detectable, 4));
        let excess = percent((detectable / claimed - 1.0).max(0.0));
        Some(format!(
            "a leak of the shape that was seen is caught in at least 90 % of runs from {symbol} = \
             {from} on, {excess} above the claim; a smaller excess, another pair or a better attack \
             could have been missed"
        ))
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.statement.facts();
        let Some(evidence) = self.evidence else { return facts };
        let (tally, truth) = (evidence.tally, self.statement.pair.truth);
        let counts = [tally.correct, tally.wrong, tally.abstained].map(grouped);
        facts.push(("guess rule", evidence.rule_text()));
        facts.extend(self.clues().into_iter().map(|clue| (clue.title, clue.text)));
        facts.push((
            "guesses",
            format!("{} right, {} wrong, {} without a guess", counts[0], counts[1], counts[2]),
        ));
        facts.extend(self.growing().map(|growing| ("still growing", growing)));
        if !evidence.unread.is_empty() {
            facts.push(("not read", self.unread().join("; ")));
        }
        facts.push(("draws", grouped(evidence.draws)));
        facts.extend(evidence.across_runs.as_ref().map(|all| ("all runs", across_runs(all))));
        facts.push(("reach", rounded(evidence.bounds.reach(self.claim()), 4, 1.0)));
        facts.extend(truth.epsilon.map(|truth| ("exact ε", Brief(truth).to_string())));
        facts.extend(truth.delta.map(|truth| ("exact δ", Brief(truth).to_string())));
        facts
    }

    fn scale(&self) -> Option<Scale> {
        let (audit, evidence) = (self.statement.audit, self.evidence?);
        let (claim, bounds) = (audit.claim.main(), evidence.bounds);
        let (reach, delta) = (bounds.reach(&audit.claim), audit.claim.delta());
        let mut shown = vec![(
            format!("{} ≥ ", claim.measure.symbol()),
            rounded(bounds.lower, 4, claim.value),
            format!(", claimed {}", Brief(claim.value)),
        )];
        // In other words, δ shows more of the claim than ε does.
        if reach > bounds.lower / claim.value && bounds.delta_lower > 0.0 {
            shown.push((
                "; δ ≥ ".to_owned(),
                Brief(round_down(bounds.delta_lower, 4)).to_string(),
                format!(", claimed {}", Brief(delta)),
            ));
        } else if audit.claim.second().is_some() && delta > 0.0 {
            let _ = write!(shown[0].2, " (δ = {})", Brief(delta));
        }
        let estimate = evidence.estimate.epsilon / audit.claim.epsilon();
        Some(Scale { reach, estimate, asked: audit.reach.at_least(), shown })
    }

    fn pictures(&self) -> Vec<Picture<'_>> {
        let (claim, Some(evidence)) = (self.claim(), self.evidence) else { return Vec::new() };
        let curves = &evidence.curves;
        let wealth = Picture::Wealth(curves, evidence.bounds.refute(claim));
        let outputs = curves.distribution.as_ref().map(Picture::Outputs);
        let profile = Picture::Profile(curves, claim, evidence.bounds);
        let wealth = Some(wealth).filter(|_| !curves.wealth.is_empty());
        let runs = evidence.across_runs.as_ref().map(Picture::AcrossRuns);
        outputs.into_iter().chain([profile]).chain(wealth).chain(runs).collect()
    }
}

/// How far all runs together are.
fn across_runs(all: &AcrossRuns) -> String {
    let runs = counted(all.runs(), "run");
    match all.refuted_after() {
        Some(after) => format!("{runs}; the evidence of the first {after} refutes the claim"),
        None => {
            format!("the evidence of {runs} is {} of the way to a refutation", percent(all.share()))
        }
    }
}

/// The truth that an audit file states.
fn truth(truth: Truth) -> String {
    let stated = [("ε", truth.epsilon), ("δ", truth.delta)];
    let stated: Vec<String> = stated
        .iter()
        .filter_map(|(symbol, value)| value.map(|value| format!("{symbol} = {}", Brief(value))))
        .collect();
    stated.join(" and ")
}
