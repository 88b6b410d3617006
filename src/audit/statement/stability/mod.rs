//! Stability claims: the outputs of a transformation without noise are compared exactly.
//!
//! Nothing is left to chance here, so there is no confidence to divide and no rule to learn. One
//! evaluation of each side would do; a few more show that there is no noise.

use super::curves::Curves;
use super::{Evidence, PairPlan};
use crate::model::{Bounds, Grounds, Metric, RuleEstimate, Side, Tally, Verdict};
use crate::output::{Cell, Distance, Symbols};
use crate::target::{PairStream, Phase, Target, TargetError};

/// Evaluations of each side with each of two seeds. All must be equal. Noise that shows in one draw
/// of twenty is noticed with probability 0.96.
const EVALUATIONS: usize = 32;

/// All evaluations of a pair.
pub const EVALUATIONS_OF_PAIR: u64 = 4 * EVALUATIONS as u64;

/// The most components of an output that are written out.
const SHOWN: usize = 12;

/// Compares the outputs on the two sides of a pair.
pub fn compare(
    plan: &PairPlan,
    metric: Metric,
    target: &dyn Target,
) -> Result<Evidence, TargetError> {
    target.open()?;
    let rows = [evaluate(plan, target, Side::Left)?, evaluate(plan, target, Side::Right)?];
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
    let (claim, claimed) = (&plan.claim, plan.claim.main().value);
    let down = distance.rounded_down();
    // A distance that exceeds the claim by less than a rounding error is rounded up: the verdict
    // must not depend on rounding.
    let lower = if distance.exceeds(claimed) && down <= claimed { claimed.next_up() } else { down };
    let bounds =
        Bounds { lower, epsilon_lower: 0.0, delta_lower: 0.0, detectable: claimed, resolved: 0.0 };
    let grounds = Grounds {
        claim: claim.clone(),
        bounds,
        outputs_never_repeat: false,
        reach: bounds.reach(claim),
        asked_reach: plan.reach,
        resolution: plan.resolution,
        control: None,
    };
    Ok(Evidence {
        verdict: Verdict::new(&grounds),
        bounds,
        outputs_never_repeat: false,
        estimate: RuleEstimate { epsilon: 0.0, epsilon_upper: f64::INFINITY },
        draws: EVALUATIONS_OF_PAIR,
        tally: Tally::default(),
        regions: 0,
        by_groups: false,
        outputs: Some(rows.each_ref().map(|row| in_words(row, &symbols))),
        rule: None,
        symbols: Symbols::default(),
        curves: Curves::default(),
        behaviour: None,
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
