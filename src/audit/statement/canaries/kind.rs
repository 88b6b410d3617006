//! What reports say about a canary audit.

use serde_json::{Map, Value, json};

use super::{Canaries, CanaryEvidence, ScoreSource, TrainingPlan};
use crate::audit::Audit;
use crate::audit::statement::row::{Row, lower, upper};
use crate::audit::statement::words::rounded;
use crate::audit::statement::{Kind, Picture, Scale, Shown, TableCell, Whole, Words};
use crate::model::exact::Exact;
use crate::model::number::{Brief, counted, grouped, percent, round_down};
use crate::model::{Bounds, Claim, Expectation, Grounds, Reason, Verdict};
use crate::stats::canary::{Sides, needed_canaries};

/// A canary audit and what was found.
pub struct CanaryStatement<'a> {
    /// The audit.
    pub audit: &'a Audit,
    /// What is stated.
    pub canaries: &'a Canaries,
    /// The evidence, if there is any.
    pub evidence: Option<&'a CanaryEvidence>,
}

impl CanaryStatement<'_> {
    fn claim(&self) -> &Claim {
        &self.audit.claim
    }

    fn bounds(&self) -> Option<Bounds> {
        self.evidence.map(|evidence| evidence.bounds)
    }

    fn symbol(&self) -> &'static str {
        self.claim().main().measure.symbol()
    }

    /// A value of the claim's unit, rounded down.
    fn valued(&self, value: f64) -> String {
        let delta = self.claim().delta();
        let at = if self.claim().second().is_some() && delta > 0.0 {
            format!(" at δ = {}", Brief(delta))
        } else {
            String::new()
        };
        format!("{} = {}{at}", self.symbol(), Brief(round_down(value, 3)))
    }

    /// "right 95 of the 100 surest guesses …".
    fn sentence(&self) -> Option<String> {
        let evidence = self.evidence?;
        let CanaryEvidence { canaries, runs, guesses, correct, .. } = *evidence;
        let effective = match self.canaries.sides {
            Sides::Both => canaries as f64,
            Sides::In | Sides::Out => canaries as f64 / 2.0,
        };
        let allowed = self.claim().main().allowed_right(guesses as f64 / effective, 2);
        let in_runs =
            if runs > 1 { format!(" in {}", counted(runs, "run")) } else { String::new() };
        let surest = if evidence.curves.roc.is_empty() { "" } else { "surest " };
        Some(format!(
            "guessed right {} of the {} {surest} guesses about {} canaries{in_runs} ({}); {} allows {} \
             in the mean",
            grouped(correct),
            grouped(guesses),
            grouped(canaries),
            percent(correct as f64 / guesses.max(1) as f64),
            self.claim(),
            percent(allowed),
        ))
    }

    /// "1,000 canaries can show at most ε = 5.81".
    fn ceiling(&self) -> Option<String> {
        let evidence = self.evidence?;
        Some(format!(
            "{} canaries can show at most {} at this confidence",
            grouped(evidence.canaries),
            self.valued(evidence.ceiling)
        ))
    }

    /// Where the scores come from.
    fn source(&self) -> String {
        match &self.canaries.scores {
            ScoreSource::Given(scores) if scores.guesses => "given guesses".to_owned(),
            ScoreSource::Given(_) => "given scores".to_owned(),
            ScoreSource::Counts(_) => "given counts of guesses".to_owned(),
            ScoreSource::File(path) => path.display().to_string(),
            ScoreSource::Training(TrainingPlan { canaries, runs, steps }) => {
                let steps = steps.map_or_else(String::new, |steps| {
                    format!(", fresh coins at each of {}", counted(steps, "step"))
                });
                format!(
                    "{} with {} canaries each{steps}",
                    counted(*runs, "run"),
                    grouped(*canaries)
                )
            }
        }
    }
}

impl Kind for CanaryStatement<'_> {
    fn noun(&self) -> &'static str {
        "canary audit"
    }

    fn list(&self) -> [&'static str; 2] {
        ["canaries", "canaries"]
    }

    fn expected(&self) -> Option<Expectation> {
        self.canaries.expect
    }

    fn verdict(&self, whole: Whole) -> Option<Verdict> {
        let verdict = Verdict::new(&Grounds {
            claim: self.claim().clone(),
            bounds: self.bounds()?,
            unread: false,
            reach: whole.reach,
            asked_reach: self.audit.reach.at_least(),
            resolution: self.audit.resolution,
            control: whole.control,
        });
        Some(match verdict {
            Verdict::Inconclusive(Reason::TooFewDraws) => {
                Verdict::Inconclusive(Reason::TooFewCanaries)
            }
            Verdict::Inconclusive(Reason::ClaimNotReached | Reason::NoDifferenceSeen) => {
                Verdict::Inconclusive(Reason::CanariesTooWeak)
            }
            other => other,
        })
    }

    fn reach(&self) -> Option<f64> {
        Some(self.bounds()?.reach(self.claim()))
    }

    fn weight(&self) -> f64 {
        self.bounds().map_or(0.0, |bounds| bounds.lower)
    }

    fn contradicts_truth(&self) -> bool {
        self.bounds().is_some_and(|bounds| self.canaries.truth.is_exceeded(bounds))
    }

    /// Draws are not what is missing.
    fn needed_draws(&self, _: Verdict, _: Whole) -> Option<u64> {
        None
    }

    fn columns(&self, row: &mut Row) {
        let (claim, evidence) = (self.claim(), self.evidence);
        let bounds = self.bounds();
        row.relation = self.audit.relation.to_string();
        row.asked_reach = Some(self.audit.reach.at_least());
        row.unit = claim.main().measure.name().into_owned();
        row.claimed = Some(claim.main().value);
        row.lower = bounds.map(|bounds| lower(bounds.lower));
        row.detectable = bounds.map(|bounds| upper(bounds.detectable));
        row.truth_epsilon = bounds.and(self.canaries.truth.epsilon).map(Exact);
        row.claim_epsilon = Some(Exact(claim.epsilon()));
        row.claim_delta = Some(claim.delta());
        row.resolved = bounds.map(|bounds| upper(bounds.resolved));
        if claim.second().is_some() {
            row.epsilon_lower = bounds.map(|bounds| lower(bounds.epsilon_lower).0);
            row.detectable_epsilon = row.detectable;
        }
        row.correct = evidence.map(|evidence| evidence.correct);
        row.wrong = evidence.map(|evidence| evidence.guesses - evidence.correct);
        row.abstained = evidence.map(|evidence| evidence.canaries - evidence.guesses);
        row.runs = evidence.map(|evidence| evidence.runs);
        row.ceiling = evidence.map(|evidence| lower(evidence.ceiling));
        if let Some(sentence) = self.sentence() {
            row.rule = sentence;
        }
    }

    fn properties(&self) -> &'static [&'static str] {
        &[
            "unit",
            "claimed",
            "lower",
            "claim_epsilon",
            "claim_delta",
            "ceiling",
            "reach",
            "asked_reach",
            "draws",
            "runs",
            "rule",
        ]
    }

    fn cells(&self, row: &Row) -> Vec<TableCell> {
        let exact = |value: Option<Exact>| value.map(|value| value.0);
        vec![
            TableCell::text("claim", self.claim().to_string()),
            TableCell {
                title: "shown",
                is_number: true,
                text: self.shown().map_or_else(String::new, |shown| shown.to_string()),
            },
            TableCell::number("at most", exact(row.ceiling)),
            TableCell::number("reach", exact(row.reach)),
            TableCell::number("guesses", row.correct.zip(row.wrong).map(|(a, b)| (a + b) as f64)),
            TableCell::number("right", row.correct.map(|right| right as f64)),
            TableCell::number("canaries", row.draws.map(|draws| draws as f64)),
        ]
    }

    fn details(&self) -> Map<String, Value> {
        Map::from_iter([
            ("scores".to_owned(), json!(self.source())),
            ("sides".to_owned(), json!(self.canaries.sides)),
            ("sentence".to_owned(), json!(self.sentence())),
            ("ceiling_sentence".to_owned(), json!(self.ceiling())),
            ("picture".to_owned(), json!(self.evidence.map(|evidence| &evidence.curves))),
        ])
    }

    fn shown(&self) -> Option<Shown> {
        let main = self.claim().main();
        Some(Shown { symbol: self.symbol(), lower: self.bounds()?.lower, claimed: main.value })
    }

    fn words(&self) -> Words {
        let sentence = self.sentence().unwrap_or_default();
        let refuted = self.bounds().is_some_and(|bounds| bounds.refute(self.claim()));
        let bound = self.shown().map_or_else(String::new, |shown| shown.to_string());
        Words {
            claim: self.claim().to_string(),
            observer: Some(if refuted { "attacker" } else { "best attack" }),
            rule: None,
            clues: Vec::new(),
            bounds: format!("{bound}; {}", self.ceiling().unwrap_or_default()),
            measured: self.bounds().map_or_else(String::new, |bounds| {
                format!("its {} is at least {}", self.symbol(), Brief(round_down(bounds.lower, 4)))
            }),
            truth: "A bound is above the truth that the audit file states".to_owned(),
            truth_excluded: crate::audit::statement::pair::TRUTH_EXCEEDED,
            circumstances: format!(
                "Measured with canaries ({}). An attacker who sees their scores {sentence}.",
                self.source()
            ),
            sentence,
            after_refutation: "check clipping, noise scale, sampling and the accountant of the \
                               training; check that each canary was in by its own coin and that no \
                               score was computed from the coins",
            remedy:
                "correct the training (often gradients are not clipped one by one, or noise is \
                     missing in some step), or claim less. If this is known, write expect = \
                     \"violated\"."
                    .to_owned(),
            after_survival: "if the training was corrected, state expect = \"consistent\"; otherwise \
                             use more canaries, stronger ones, or fresh coins at every step",
        }
    }

    fn meaning(&self, verdict: Verdict, confidence: &str) -> [String; 2] {
        let Some(evidence) = self.evidence else { return [String::new(), String::new()] };
        let bounds = evidence.bounds;
        let bound = format!("{} ≥ {}", self.symbol(), Brief(round_down(bounds.lower, 4)));
        let ceiling = self.ceiling().unwrap_or_default();
        match verdict {
            Verdict::Violated => [
                "The claim is refuted.".to_owned(),
                format!("The bound is {bound} (confidence {confidence}); {ceiling}."),
            ],
            Verdict::Consistent => [
                "Not refuted.".to_owned(),
                format!(
                    "The bound is {bound} (confidence {confidence}); {ceiling}. Other canaries or \
                     better scores may still refute the claim."
                ),
            ],
            Verdict::Inconclusive(reason) => {
                let needed = (evidence.ceiling <= self.claim().main().value)
                    .then(|| {
                        let limit = self.claim().main();
                        needed_canaries(limit.value, self.canaries.sides, limit, 0.05)
                    })
                    .flatten();
                let needed = needed.map_or_else(String::new, |canaries| {
                    format!(
                        " The claim is above that, so even an attacker who is always right refutes \
                         nothing. At 95 % confidence {} canaries are needed.",
                        grouped(canaries)
                    )
                });
                [
                    "Not refuted, but inconclusive.".to_owned(),
                    format!("The bound is {bound}; {ceiling}. Reason: {reason}.{needed}"),
                ]
            }
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("canaries", self.source())];
        let Some(evidence) = self.evidence else { return facts };
        facts.push(("runs", grouped(evidence.runs)));
        facts.push((
            "guesses",
            format!(
                "{} right, {} wrong, {} without a guess",
                grouped(evidence.correct),
                grouped(evidence.guesses - evidence.correct),
                grouped(evidence.canaries - evidence.guesses)
            ),
        ));
        facts.push(("at most", self.valued(evidence.ceiling)));
        facts.push(("reach", rounded(evidence.bounds.reach(self.claim()), 4, 1.0)));
        let truth = self.canaries.truth;
        facts.extend(truth.epsilon.map(|truth| ("exact ε", Brief(truth).to_string())));
        facts
    }

    fn scale(&self) -> Option<Scale> {
        let (evidence, main) = (self.evidence?, self.claim().main());
        let reach = self.reach()?;
        let shown = vec![(
            format!("{} ≥ ", self.symbol()),
            rounded(evidence.bounds.lower, 4, main.value),
            format!(", claimed {}", Brief(main.value)),
        )];
        Some(Scale { reach, estimate: reach, asked: self.audit.reach.at_least(), shown })
    }

    fn pictures(&self) -> Vec<Picture<'_>> {
        let Some(evidence) = self.evidence else { return Vec::new() };
        let curves = &evidence.curves;
        let rungs = (!curves.rungs.is_empty())
            .then(|| Picture::Rungs(curves, self.claim().main().value, evidence.bounds.lower));
        let are_scores = !curves.roc.is_empty();
        let roc = are_scores.then(|| Picture::Roc(curves, self.claim(), evidence.bounds));
        let scores = are_scores.then_some(Picture::Scores(curves));
        roc.into_iter().chain(rungs).chain(scores).collect()
    }
}
