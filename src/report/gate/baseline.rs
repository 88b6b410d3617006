//! Compares a run with an earlier report: what is worse, what is better.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::number::Brief;
use crate::model::{Conclusion, Measure};
use crate::report::formats::csv::PairRow;
use crate::report::formats::json::{JsonPair, JsonReport};

/// The differences between two reports, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What is worse than before. It fails the run.
    pub worse: Vec<String>,
    /// What is better than before.
    pub better: Vec<String>,
    /// What could not be compared, and what weakens the comparison.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Compares a report with an earlier one, pair by pair.
    #[must_use]
    pub fn new(before: &JsonReport, now: &JsonReport) -> Self {
        let mut comparison = Self::default();
        if before.settings.draws != now.settings.draws
            || before.settings.confidence != now.settings.confidence
        {
            comparison.notes.push("the baseline has a different --draws or --confidence, which alone can change verdicts".to_owned());
        }
        if !before.complete {
            comparison.notes.push(
                "the run of the baseline was interrupted, so audits may be missing in it"
                    .to_owned(),
            );
        }
        let mut earlier = pairs(before);
        for (name, pair) in pairs(now) {
            match earlier.remove(&name) {
                Some(before) => comparison.compare(&name, before, pair),
                None => comparison.notes.push(format!("{name}: not in the baseline")),
            }
        }
        let mut earlier_accuracy = accuracy_rows(before);
        for (name, row) in accuracy_rows(now) {
            match earlier_accuracy.remove(&name) {
                Some(before) => comparison.compare_accuracy(&name, before, row),
                None => comparison.notes.push(format!("{name}: not in the baseline")),
            }
        }
        // A deleted or renamed audit is a claim that nobody checks any more.
        let missing = earlier.into_keys().chain(earlier_accuracy.into_keys());
        comparison
            .worse
            .extend(missing.map(|name| format!("{name}: in the baseline, but not run now")));
        comparison
    }

    /// Compares one pair. It is worse if its claim was not refuted before and is now, if its
    /// mechanism can no longer be run, if a consistent claim is inconclusive, or if its ε bound has
    /// risen by more than chance explains: more than the audit's resolution above the upper limit
    /// of what the earlier rules showed. Then the mechanism leaks more or the attack is better;
    /// random variation of the counts is not enough.
    fn compare(
        &mut self,
        name: &str,
        (_, before): (f64, &JsonPair),
        (resolution, now): (f64, &JsonPair),
    ) {
        let in_unit = |row: &PairRow| row.claimed.filter(|_| row.unit != Measure::EPSILON);
        let claim = |pair: &JsonPair| {
            (
                pair.row.claim_epsilon,
                pair.row.claim_delta,
                pair.row.unit.clone(),
                in_unit(&pair.row),
            )
        };
        if claim(before) != claim(now) {
            self.notes
                .push(format!("{name}: the claim has changed, so the results are not compared"));
            return;
        }
        self.compare_verdicts(name, &before.row, &now.row);
        // The resolution of a claim in another unit is not one of ε.
        if let (Some(upper), Some(lower)) = (before.rule_epsilon_upper, now.row.epsilon_lower)
            && now.row.unit == Measure::EPSILON
            && lower > upper.0 + resolution
        {
            self.worse.push(format!(
                "{name}: ε is at least {}; in the baseline, the attack showed at most {}",
                Brief(lower),
                Brief(upper.0)
            ));
        }
    }

    /// Compares one accuracy claim. Besides a worse verdict, it is worse if its event fails more
    /// often than chance explains: if the present limits are above the earlier ones.
    fn compare_accuracy(&mut self, name: &str, before: &PairRow, now: &PairRow) {
        let claim = |row: &PairRow| (row.accuracy_event.clone(), row.accuracy_probability);
        if claim(before) != claim(now) {
            self.notes
                .push(format!("{name}: the claim has changed, so the results are not compared"));
            return;
        }
        self.compare_verdicts(name, before, now);
        if let (Some(upper), Some(lower)) = (before.failure_upper, now.failure_lower)
            && lower > upper
        {
            let (lower, upper) = (Brief(lower), Brief(upper));
            self.worse.push(format!("{name}: fails with probability at least {lower}; in the baseline, it was at most {upper}"));
        }
    }

    /// Whether the verdict is worse or better than before.
    fn compare_verdicts(&mut self, name: &str, before: &PairRow, now: &PairRow) {
        let (earlier, present) = (before.verdict, now.verdict);
        let why = now.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let change = format!("{name}: was {earlier}, is {present}{why}");
        match (earlier, present) {
            (earlier, present) if earlier == present => {}
            (_, Conclusion::Violated | Conclusion::Error) | (Conclusion::Consistent, _) => {
                self.worse.push(change);
            }
            (Conclusion::Violated | Conclusion::Error, _) => self.better.push(change),
            _ => self.notes.push(change),
        }
    }

    /// The comparison for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (title, lines) in [
            ("WORSE than the baseline", &self.worse),
            ("Better than the baseline", &self.better),
            ("Note", &self.notes),
        ] {
            for line in lines {
                let _ = writeln!(text, "{title}: {line}.");
            }
        }
        if self.worse.is_empty() {
            text.push_str("Nothing is worse than in the baseline.\n");
        } else {
            text.push_str("If this is intended, run once with --update-baseline and commit the new baseline.\n");
        }
        text
    }
}

/// The pairs by name, with the resolution of their audits.
fn pairs(report: &JsonReport) -> BTreeMap<String, (f64, &JsonPair)> {
    let pairs = report
        .audits
        .iter()
        .flat_map(|audit| audit.pairs.iter().map(|pair| (audit.resolution, pair)));
    pairs
        .map(|(resolution, pair)| {
            (format!("{} / {}", pair.row.audit, pair.row.pair), (resolution, pair))
        })
        .collect()
}

/// The accuracy claims by name.
fn accuracy_rows(report: &JsonReport) -> BTreeMap<String, &PairRow> {
    let rows =
        report.audits.iter().flat_map(|audit| audit.accuracy.iter().map(|accuracy| &accuracy.row));
    rows.map(|row| (format!("{} / {}", row.audit, row.pair), row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{PairResult, RunReport};
    use crate::model::exact::Exact;
    use crate::model::{Expectation, Verdict};
    use crate::report::testing::{INCONCLUSIVE, audit, not_run, pair, run, run_of};

    fn result(verdict: Verdict) -> PairResult {
        pair(verdict, Expectation::Consistent)
    }

    fn compared(before: &RunReport, now: &RunReport) -> Comparison {
        Comparison::new(&JsonReport::new(before), &JsonReport::new(now))
    }

    #[test]
    fn each_change_of_a_verdict_is_worse_better_or_a_note() {
        let conclusions = || {
            [
                result(Verdict::Consistent),
                result(INCONCLUSIVE),
                result(Verdict::Violated),
                not_run(),
            ]
        };
        let names = ["consistent", "inconclusive", "violated", "error"];
        let (worse, better, note, same) = ("worse", "better", "note", "same");
        // Rows: before. Columns: now.
        let expected = [
            [same, worse, worse, worse],
            [note, same, worse, worse],
            [better, better, same, worse],
            [better, better, worse, same],
        ];
        for (before, row) in expected.iter().enumerate() {
            for (now, kind) in row.iter().enumerate() {
                let found = compared(
                    &run(vec![conclusions()[before].clone()]),
                    &run(vec![conclusions()[now].clone()]),
                );
                let why = if names[now] == "inconclusive" { " (too-few-draws)" } else { "" };
                let change = vec![format!(
                    "count / one more: was {}, is {}{why}",
                    names[before], names[now]
                )];
                let change_if =
                    |wanted: &str| if *kind == wanted { change.clone() } else { Vec::new() };
                let expected = Comparison {
                    worse: change_if(worse),
                    better: change_if(better),
                    notes: change_if(note),
                };
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_bound_is_worse_only_above_the_earlier_limit_and_the_resolution() {
        // The sums are exact in binary.
        let mut before = JsonReport::new(&run(vec![result(Verdict::Consistent)]));
        before.audits[0].pairs[0].rule_epsilon_upper = Some(Exact(0.5));
        let mut now = before.clone();
        now.audits[0].resolution = 0.25;
        let mut worse = |bound: f64| {
            now.audits[0].pairs[0].row.epsilon_lower = Some(bound);
            Comparison::new(&before, &now).worse
        };
        assert!(worse(0.0).is_empty() && worse(0.75).is_empty());
        assert_eq!(
            worse(0.8),
            ["count / one more: ε is at least 0.8; in the baseline, the attack showed at most 0.5"]
        );
        assert_eq!(worse(0.75_f64.next_up()).len(), 1);
    }

    #[test]
    fn a_bound_below_an_unlimited_or_unknown_upper_limit_is_not_worse() {
        let mut before = JsonReport::new(&run(vec![result(Verdict::Consistent)]));
        let mut now = before.clone();
        now.audits[0].pairs[0].row.epsilon_lower = Some(1e9);
        for upper in [Some(Exact(f64::INFINITY)), None] {
            before.audits[0].pairs[0].rule_epsilon_upper = upper;
            assert_eq!(Comparison::new(&before, &now), Comparison::default());
        }
    }

    #[test]
    fn a_changed_claim_is_noted_and_not_compared() {
        let before = run(vec![result(Verdict::Consistent)]);
        let mut stricter = audit("count");
        stricter.claim = crate::model::Claim::new(0.5, 0.0).unwrap();
        let found = compared(&before, &run_of(vec![(stricter, vec![result(Verdict::Violated)])]));
        let notes = vec![
            "count / one more: the claim has changed, so the results are not compared".to_owned(),
        ];
        assert_eq!(found, Comparison { notes, ..Comparison::default() });
    }

    #[test]
    fn a_baseline_that_names_no_units_is_compared() {
        let mut before =
            serde_json::to_value(JsonReport::new(&run(vec![result(Verdict::Consistent)]))).unwrap();
        let row = before["audits"][0]["pairs"][0].as_object_mut().unwrap();
        assert!(
            ["unit", "claimed", "lower", "detectable"].iter().all(|key| row.remove(*key).is_some())
        );
        let before: JsonReport = serde_json::from_value(before).unwrap();
        let found =
            Comparison::new(&before, &JsonReport::new(&run(vec![result(Verdict::Violated)])));
        assert_eq!(found.worse, ["count / one more: was consistent, is violated"]);
    }

    #[test]
    fn a_new_pair_is_noted_and_one_that_is_missing_is_worse() {
        let named = |name: &str| PairResult { pair: name.to_owned(), ..result(Verdict::Violated) };
        let found = compared(
            &run(vec![named("old"), named("both")]),
            &run(vec![named("both"), named("new")]),
        );
        let (notes, worse) =
            ("count / new: not in the baseline", "count / old: in the baseline, but not run now");
        assert_eq!(
            found,
            Comparison {
                notes: vec![notes.to_owned()],
                worse: vec![worse.to_owned()],
                ..Comparison::default()
            }
        );
    }

    #[test]
    fn other_settings_and_an_interrupted_baseline_are_noted() {
        type Change = fn(&mut RunReport);
        let now = run(vec![result(Verdict::Consistent)]);
        let notes = |change: &dyn Fn(&mut RunReport)| {
            let mut before = now.clone();
            change(&mut before);
            compared(&before, &now).notes
        };
        assert!(notes(&|_| ()).is_empty());
        assert!(
            notes(&|before| before.settings.seed = 5).is_empty(),
            "another seed is a fair comparison"
        );
        let changes: [(Change, &str); 3] = [
            (|before| before.settings.draws = Some(5), "different --draws or --confidence"),
            (
                |before| before.settings.confidence = 0.9.try_into().unwrap(),
                "different --draws or --confidence",
            ),
            (|before| before.pairs = 2, "interrupted"),
        ];
        for (change, reason) in changes {
            let notes = notes(&change);
            assert!(notes.len() == 1 && notes[0].contains(reason), "{notes:?}");
        }
    }

    #[test]
    fn the_text_has_a_line_for_each_difference() {
        let [worse, better, notes] =
            [["a"], ["b"], ["c"]].map(|lines| lines.map(str::to_owned).to_vec());
        let text = "WORSE than the baseline: a.\nBetter than the baseline: b.\nNote: c.\n\
                    If this is intended, run once with --update-baseline and commit the new baseline.\n";
        assert_eq!(Comparison { worse, better, notes }.text(), text);
        assert_eq!(Comparison::default().text(), "Nothing is worse than in the baseline.\n");
    }
}
