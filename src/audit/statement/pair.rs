//! What the statements about pairs share: the claim of the audit, its bounds, and how they decide.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::row::{Row, lower, upper};
use super::{Shown, TableCell, Whole};
use crate::audit::{Audit, Pair};
use crate::model::exact::Exact;
use crate::model::number::Brief;
use crate::model::{Bounds, Dataset, Expectation, Grounds, Record, Relation, Verdict};

/// The advice about a claim that was expected to be refuted and was not.
pub(super) const AFTER_SURVIVAL: &str = "if the mechanism was corrected, state expect = \
     \"consistent\"; otherwise choose a pair on which more leaks, or use more draws";

/// That a bound contradicts a truth.
pub(super) const TRUTH_EXCEEDED: &str = "The bound is above the truth that the audit file states";

/// A pair of an audit.
#[derive(Clone, Copy, Debug)]
pub struct PairStatement<'a> {
    /// The audit.
    pub audit: &'a Audit,
    /// The pair.
    pub pair: &'a Pair,
}

impl PairStatement<'_> {
    /// The verdict that is expected of this pair alone.
    pub(super) fn expected(self) -> Option<Expectation> {
        self.pair.expect
    }

    /// The verdict on the claim from these bounds.
    pub(super) fn verdict(self, bounds: Bounds, unread: &[String], whole: Whole) -> Verdict {
        Verdict::new(&Grounds {
            claim: self.audit.claim.clone(),
            bounds,
            unread: unread.iter().any(|column| !self.audit.ignore.contains_key(column)),
            reach: whole.reach,
            asked_reach: self.audit.reach.at_least(),
            resolution: self.audit.resolution,
            control: whole.control,
        })
    }

    /// The columns of every pair.
    pub(super) fn columns(self, bounds: Option<Bounds>, row: &mut Row) {
        let Self { audit, pair } = self;
        row.relation = audit.relation.to_string();
        row.asked_reach = Some(audit.reach.at_least());
        row.unit = audit.claim.main().measure.name().into_owned();
        row.claimed = Some(audit.claim.main().value);
        row.lower = bounds.map(|bounds| lower(bounds.lower));
        row.detectable = bounds.map(|bounds| upper(bounds.detectable));
        row.truth_epsilon = bounds.and(pair.truth.epsilon).map(Exact);
        [row.left, row.right] = self.data().map_or([None, None], |data| data.map(Some));
    }

    /// The cells of every pair.
    pub(super) fn cells(row: &Row) -> Vec<TableCell> {
        let exact = |value: Option<Exact>| value.map(|value| value.0);
        vec![
            TableCell::number("claim ε", exact(row.claim_epsilon)),
            TableCell::number("δ", row.claim_delta),
            TableCell::number("ε ≥", row.epsilon_lower),
            TableCell::number("δ ≥", row.delta_lower),
            TableCell::number("reach", exact(row.reach)),
            TableCell::text("in its unit", row.in_unit().unwrap_or_default()),
            TableCell::text(
                "control",
                row.control.map_or_else(String::new, |control| control.to_string()),
            ),
        ]
    }

    /// What the JSON report has for every pair besides the columns. What a kind does not have is null.
    pub(super) fn details(self, was_run: bool) -> Map<String, Value> {
        let pair = self.pair;
        let datasets = self
            .has_data()
            .then(|| json!({ "left": exact(&pair.left), "right": exact(&pair.right) }));
        let absent = [
            "sentence",
            "rule_epsilon_estimate",
            "rule_epsilon_upper",
            "growth",
            "unread",
            "picture",
            "contributions",
            "examples",
        ];
        let mut details = Map::from_iter(absent.map(|key| (key.to_owned(), Value::Null)));
        details.extend([
            ("truth_delta".to_owned(), json!(pair.truth.delta.filter(|_| was_run))),
            ("datasets".to_owned(), json!(datasets)),
        ]);
        details
    }

    /// The bound that shows most of the claim: that of δ if it shows more than the main one.
    pub(super) fn shown(self, bounds: Bounds) -> Shown {
        let claim = &self.audit.claim;
        let main = claim.main();
        let of_main = if bounds.lower > 0.0 { bounds.lower / main.value } else { 0.0 };
        match claim.second() {
            Some(second) if bounds.reach(claim) > of_main => {
                Shown { symbol: "δ", lower: bounds.delta_lower, claimed: second.value }
            }
            _ => Shown { symbol: main.measure.symbol(), lower: bounds.lower, claimed: main.value },
        }
    }

    /// What the audit file states, as keys and values.
    pub(super) fn stated(self) -> Vec<(&'static str, String)> {
        let pair = self.pair;
        let mut stated = vec![
            ("pair", pair.name.clone()),
            ("  left", pair.left.to_string()),
            ("  right", pair.right.to_string()),
        ];
        stated.extend(pair.expect.map(|expect| ("  expected", expect.to_string())));
        stated.extend(pair.truth.epsilon.map(|epsilon| ("  truth", format!("ε = {epsilon}"))));
        let delta = |delta| ("  truth", format!("δ = {delta} at the claimed ε"));
        stated.extend(pair.truth.delta.map(delta));
        stated
    }

    /// Whether it is known what the datasets are. Those of recorded outputs are not.
    fn has_data(self) -> bool {
        let Pair { left, right, .. } = self.pair;
        self.audit.is_from_file() || !left.is_empty() || !right.is_empty()
    }

    /// D and D' in short, if it is known what they are.
    pub(super) fn data(self) -> Option<[String; 2]> {
        self.has_data().then(|| [self.pair.left.brief(), self.pair.right.brief()])
    }

    /// The facts about the datasets.
    pub(super) fn facts(self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("pair", self.pair.name.clone())];
        if let Some([left, right]) = self.data() {
            facts.push(("D (left)", left));
            facts.push(("D′ (right)", right));
        }
        facts
    }

    /// On which pair something was measured.
    pub(super) fn place(self) -> String {
        let data = self
            .data()
            .map_or_else(String::new, |[left, right]| format!(", D = {left} and D' = {right}"));
        format!("Measured on the pair “{}”{data}.", self.pair.name)
    }
}

/// A dataset in full, in the notation of audit files.
fn exact(data: &Dataset) -> Value {
    let run = |(record, times): (&Record, usize)| {
        if times == 1 { json!(record) } else { json!({ "value": record, "times": times }) }
    };
    data.runs().into_iter().map(run).collect()
}

/// Two neighbours in words.
pub(super) fn neighbours(relation: &Relation) -> String {
    match relation {
        Relation::AddRemove => "two datasets where one has one record more".to_owned(),
        Relation::ReplaceOne => {
            "two datasets of the same size that differ in one record".to_owned()
        }
        Relation::ComponentWise => {
            "two vectors of query answers that differ by at most 1 in each component".to_owned()
        }
        Relation::SingleComponent => {
            "two vectors of query answers that differ by at most 1 in one component".to_owned()
        }
        Relation::Custom { reason } => format!("the neighbours of this audit ({reason})"),
    }
}

/// The pairs in words, and how they are used.
pub(super) fn pairs(audit: &Audit, how: &str) -> String {
    let mut text = format!("Each pair is two neighbouring datasets, D (left) and D' (right).{how}");
    for pair in &audit.pairs {
        let _ = write!(text, "\n{}\n  D  = {}\n  D' = {}", pair.name, pair.left, pair.right);
        if let Some(epsilon) = pair.truth.epsilon {
            let _ = write!(text, "\n  the exact ε at the claimed δ is {}", Brief(epsilon));
        }
        if let Some(delta) = pair.truth.delta {
            let _ = write!(text, "\n  the exact δ at the claimed ε is {}", Brief(delta));
        }
    }
    text
}
