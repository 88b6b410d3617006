//! Stability claims: the outputs of a transformation without noise are compared exactly.
//!
//! Nothing is left to chance here, so there is no confidence to divide and no rule to learn. One
//! evaluation of each side would do; a few more show that there is no noise.

mod explain;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(super) use explain::explanation;

use super::pair::PairStatement;
use super::row::Row;
use super::words::rounded;
use super::{Kind, Scale, Shown, TableCell, Whole, Words};
use crate::audit::PairPlan;
use crate::model::exact::Exact;
use crate::model::number::{Brief, grouped};
use crate::model::{Bounds, Expectation, Metric, Side, Verdict};
use crate::output::{Cell, Distance, Symbols};
use crate::target::{PairStream, Phase, Target, TargetError};

/// Evaluations of each side with each of two seeds. All must be equal. Noise that shows in one draw
/// of twenty is noticed with probability 0.96.
const EVALUATIONS: usize = 32;

/// All evaluations of a pair.
pub const EVALUATIONS_OF_PAIR: u64 = 4 * EVALUATIONS as u64;

/// The most components of an output that are written out.
const SHOWN: usize = 12;

/// What was found on a pair about a stability claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StabilityEvidence {
    /// The distance of the outputs. It exceeds the claim if and only if the exact distance does.
    pub distance: f64,
    /// The outputs on the left and on the right in words.
    pub outputs: [String; 2],
    /// All evaluations.
    pub draws: u64,
    /// Whether the same seed gives the same result. A program may ignore its seeds.
    pub reproducible: bool,
    /// A note about the draws for the reader of a report.
    pub note: Option<String>,
}

/// Compares the outputs on the two sides of a pair.
pub(super) fn compare(
    plan: &PairPlan,
    metric: Metric,
    target: &dyn Target,
) -> Result<StabilityEvidence, TargetError> {
    target.open()?;
    let mut rows = [evaluate(plan, target, Side::Left)?, evaluate(plan, target, Side::Right)?];
    // Distances are between values, whatever their types are.
    if let Some(own) = target.own_cells() {
        rows.iter_mut().for_each(|row| row.truncate(own));
    }
    let (symbols, [left, right]) = (target.symbols(), &rows);
    // A dictionary, a set or the end of a list that is too long arrives as one text. However much
    // changes in it, it would count once.
    let is_structure =
        |cell: &Cell| cell.as_number().is_none() && symbols.text(*cell).starts_with(['{', '[']);
    if let Some(index) = (0..left.len()).find(|index| {
        left[*index] != right[*index] && [left, right].iter().any(|row| is_structure(&row[*index]))
    }) {
        let column = Symbols::unnamed_column(index, left.len());
        return Err(TargetError::Structured {
            column,
            left: symbols.text(left[index]),
            right: symbols.text(right[index]),
        });
    }
    let distance =
        Distance::between(metric, left, right).map_err(|index| TargetError::NotNumbers {
            metric,
            column: Symbols::unnamed_column(index, left.len()),
            left: symbols.text(left[index]),
            right: symbols.text(right[index]),
        })?;
    let (claimed, down) = (plan.claim.main().value, distance.rounded_down());
    // A distance that exceeds the claim by less than a rounding error is rounded up: the verdict
    // must not depend on rounding.
    let rounded = if distance.exceeds(claimed) { down.max(claimed.next_up()) } else { down };
    Ok(StabilityEvidence {
        distance: rounded,
        outputs: rows.each_ref().map(|row| in_words(row, &symbols)),
        draws: EVALUATIONS_OF_PAIR,
        reproducible: target.reproducible(),
        note: target.note(),
    })
}

/// The output on one side, which must always be the same.
fn evaluate(plan: &PairPlan, target: &dyn Target, side: Side) -> Result<Vec<Cell>, TargetError> {
    let stream = PairStream::new(plan.seed, &plan.audit, &plan.pair.name);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for seed in 0..2 {
        target.draw(side, EVALUATIONS, stream.side(Phase::Explore, seed, side), &mut |drawn| {
            rows.extend(drawn.iter().map(<[Cell]>::to_vec));
        })?;
    }
    let mut rows = rows.into_iter();
    let first = rows.next().ok_or(TargetError::WrongCount { asked: EVALUATIONS, got: 0 })?;
    match rows.find(|row| *row != first) {
        None => Ok(first),
        Some(other) => {
            let symbols = target.symbols();
            Err(TargetError::NotDeterministic {
                side,
                one: in_words(&first, &symbols),
                other: in_words(&other, &symbols),
            })
        }
    }
}

/// An output in words. What is absent at the end of a short list is left out.
fn in_words(row: &[Cell], symbols: &Symbols) -> String {
    let length = row.iter().rposition(|cell| *cell != Cell::ABSENT).map_or(0, |last| last + 1);
    let mut texts: Vec<String> =
        row[..length.min(SHOWN)].iter().map(|cell| symbols.text(*cell)).collect();
    if length > SHOWN {
        texts.push(format!("… ({length} components)"));
    }
    if row.len() == 1 { texts.concat() } else { format!("[{}]", texts.join(", ")) }
}

/// A pair and what was found on it.
pub struct Stability<'a> {
    /// The pair.
    pub statement: PairStatement<'a>,
    /// How distances are measured.
    pub metric: Metric,
    /// The evidence, if there is any.
    pub evidence: Option<&'a StabilityEvidence>,
}

impl Stability<'_> {
    fn claimed(&self) -> f64 {
        self.statement.audit.claim.main().value
    }

    fn bounds(&self) -> Option<Bounds> {
        let (lower, detectable) = (self.evidence?.distance, self.claimed());
        Some(Bounds { lower, epsilon_lower: 0.0, delta_lower: 0.0, detectable, resolved: 0.0 })
    }

    /// In full: an excess may be as small as a rounding error.
    fn sentence(&self) -> Option<String> {
        let (metric, claimed, distance) = (self.metric, self.claimed(), self.evidence?.distance);
        Some(format!("sees outputs at {metric} distance {distance}; the claim allows {claimed}"))
    }

    fn outputs(&self) -> Option<String> {
        let [left, right] = &self.evidence?.outputs;
        Some(format!("{left} on left, {right} on right"))
    }
}

impl Kind for Stability<'_> {
    fn expected(&self) -> Option<Expectation> {
        self.statement.expected()
    }

    fn verdict(&self, whole: Whole) -> Option<Verdict> {
        Some(self.statement.verdict(self.bounds()?, &[], whole))
    }

    fn reach(&self) -> Option<f64> {
        Some(self.bounds()?.reach(&self.statement.audit.claim))
    }

    fn weight(&self) -> f64 {
        self.evidence.map_or(0.0, |evidence| evidence.distance)
    }

    fn contradicts_truth(&self) -> bool {
        self.bounds().is_some_and(|bounds| self.statement.pair.truth.is_exceeded(bounds))
    }

    fn needed_draws(&self, _: Verdict, _: Whole) -> Option<u64> {
        None
    }

    fn columns(&self, row: &mut Row) {
        self.statement.columns(self.bounds(), row);
        // An exact distance may exceed the claim by a rounding error.
        row.lower = self.evidence.map(|evidence| Exact(evidence.distance));
        if let Some(outputs) = self.outputs() {
            row.rule = outputs;
        }
    }

    fn properties(&self) -> &'static [&'static str] {
        PROPERTIES
    }

    fn cells(&self, row: &Row) -> Vec<TableCell> {
        PairStatement::cells(row)
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = self.statement.details(self.evidence.is_some());
        details.insert("sentence".to_owned(), json!(self.sentence()));
        details
    }

    fn shown(&self) -> Option<Shown> {
        Some(self.statement.shown(self.bounds()?))
    }

    fn words(&self) -> Words {
        let (claim, sentence) = (&self.statement.audit.claim, self.sentence().unwrap_or_default());
        let distance = self.evidence.map_or(0.0, |evidence| evidence.distance);
        let reach = self.reach().unwrap_or(0.0);
        Words {
            claim: claim.to_string(),
            observer: Some("attacker"),
            rule: self.outputs().map(|outputs| ("Seen:", outputs)),
            clues: Vec::new(),
            bounds: format!(
                "distance {distance} of {}; reach {}",
                self.claimed(),
                rounded(reach, 4, 1.0)
            ),
            measured: format!(
                "outputs on neighbouring datasets are {distance} apart ({} distance)",
                self.metric
            ),
            truth: "The distance is above the truth that the audit file states".to_owned(),
            truth_excluded: super::pair::TRUTH_EXCEEDED,
            circumstances: format!("{} An attacker {sentence}.", self.statement.place()),
            sentence,
            after_refutation: "compare the two outputs; correct the transformation or the claimed \
                               distance, because noise that is scaled to this distance is too \
                               small",
            remedy: "limit what one record can change, or claim a larger distance. If this is \
                     known, write expect = \"violated\" into the audit file."
                .to_owned(),
            after_survival: super::pair::AFTER_SURVIVAL,
        }
    }

    fn meaning(&self, verdict: Verdict, _: &str) -> [String; 2] {
        let (verdict, more) = match verdict {
            Verdict::Violated => {
                ("The claim is refuted.", "There is no noise, so this is certain.".to_owned())
            }
            Verdict::Consistent => {
                ("Not refuted.", "Another pair may still refute the claim.".to_owned())
            }
            Verdict::Inconclusive(reason) => {
                ("Not refuted, but inconclusive.", format!("Reason: {reason}."))
            }
        };
        let sentence = self.sentence().unwrap_or_default();
        [verdict.to_owned(), format!("The attacker {sentence}. {more}")]
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = self.statement.facts();
        let Some(evidence) = self.evidence else { return facts };
        let [left, right] = evidence.outputs.clone();
        facts.push(("output on D", left));
        facts.push(("output on D′", right));
        facts.push(("draws", grouped(evidence.draws)));
        facts.push(("reach", rounded(self.reach().unwrap_or(0.0), 4, 1.0)));
        facts
    }

    fn scale(&self) -> Option<Scale> {
        let (audit, claimed) = (self.statement.audit, self.claimed());
        let (bounds, reach) = (self.bounds()?, self.reach()?);
        let symbol = audit.claim.main().measure.symbol();
        let shown = vec![(
            format!("{symbol} ≥ "),
            rounded(bounds.lower, 4, claimed),
            format!(", claimed {}", Brief(claimed)),
        )];
        Some(Scale { reach, estimate: 0.0, asked: audit.reach.at_least(), shown })
    }
}

/// The columns that CI servers show.
const PROPERTIES: &[&str] =
    &["unit", "claimed", "lower", "reach", "asked_reach", "control", "draws", "rule"];
