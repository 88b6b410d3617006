//! Compares a run with an earlier report: what is worse, what is better.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;

use crate::model::number::Brief;
use crate::model::{Conclusion, Measure};
use crate::report::formats::json::{JsonReport, JsonStatement};

/// The differences between two reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// What is worse than before. It fails the run.
    pub worse: Vec<Difference>,
    /// What is better than before.
    pub better: Vec<Difference>,
    /// What could not be compared, and what weakens the comparison, in sentences.
    pub notes: Vec<String>,
}

/// What is different about a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The audit.
    pub audit: String,
    /// The statement.
    pub statement: String,
    /// What is different, in a sentence.
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {}: {}", self.audit, self.statement, self.what)
    }
}

impl Comparison {
    /// Compares a report with an earlier one, statement by statement.
    #[must_use]
    pub fn new(before: &JsonReport, now: &JsonReport) -> Self {
        let mut comparison = Self::default();
        if before.settings.draws != now.settings.draws
            || before.settings.confidence != now.settings.confidence
        {
            comparison.notes.push(
                "the baseline has a different --draws or --confidence, which alone can change \
                 verdicts"
                    .to_owned(),
            );
        }
        if !before.complete {
            comparison.notes.push(
                "the run of the baseline was interrupted, so audits may be missing in it"
                    .to_owned(),
            );
        }
        let mut earlier = statements(before);
        for (name, (resolution, statement)) in statements(now) {
            match earlier.remove(&name) {
                Some((_, before)) => comparison.compare(before, statement, resolution),
                None => comparison
                    .notes
                    .push(difference(statement, "not in the baseline".to_owned()).to_string()),
            }
        }
        // A deleted or renamed audit is a claim that nobody checks.
        let missing = earlier
            .into_values()
            .map(|(_, before)| difference(before, "in the baseline, but not run now".to_owned()));
        comparison.worse.extend(missing);
        comparison
    }

    /// Compares one statement. It is worse if its claim was not refuted before and is now, if its
    /// mechanism can no longer be run, if a consistent claim is inconclusive, or if a bound has
    /// risen by more than chance explains.
    fn compare(&mut self, before: &JsonStatement, now: &JsonStatement, resolution: f64) {
        if before.row.claim() != now.row.claim() {
            let what = "the claim has changed, so the results are not compared".to_owned();
            self.notes.push(difference(now, what).to_string());
            return;
        }
        self.compare_verdicts(before, now);
        self.worse.extend(risen(before, now, resolution).map(|what| difference(now, what)));
    }

    /// Whether the verdict is worse or better than before.
    fn compare_verdicts(&mut self, before: &JsonStatement, now: &JsonStatement) {
        let (earlier, present) = (before.row.verdict, now.row.verdict);
        let why = now.row.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let change = difference(now, format!("was {earlier}, is {present}{why}"));
        match (earlier, present) {
            (earlier, present) if earlier == present => {}
            (_, Conclusion::Violated | Conclusion::Error) | (Conclusion::Consistent, _) => {
                self.worse.push(change);
            }
            (Conclusion::Violated | Conclusion::Error, _) => self.better.push(change),
            _ => self.notes.push(change.to_string()),
        }
    }

    /// The comparison for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let lines = |differences: &[Difference]| {
            differences.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        for (title, lines) in [
            ("WORSE than the baseline", lines(&self.worse)),
            ("Better than the baseline", lines(&self.better)),
            ("Note", self.notes.clone()),
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

fn difference(statement: &JsonStatement, what: String) -> Difference {
    let row = &statement.row;
    Difference { audit: row.audit.clone(), statement: row.pair.clone(), what }
}

/// Which bound is higher than chance explains. The bound of a privacy claim: more than the audit's
/// resolution above the upper limit of what the earlier rules showed; then the mechanism leaks more
/// or the attack is better. The failures of an accuracy claim: above the earlier limits.
fn risen(before: &JsonStatement, now: &JsonStatement, resolution: f64) -> Option<String> {
    // The resolution of a claim in another unit is not one of ε.
    if let (Some(upper), Some(lower)) = (before.detail("rule_epsilon_upper"), now.row.epsilon_lower)
        && now.row.unit == Measure::EPSILON
        && lower > upper + resolution
    {
        let (lower, upper) = (Brief(lower), Brief(upper));
        return Some(format!(
            "ε is at least {lower}; in the baseline, the attack showed at most {upper}"
        ));
    }
    let (upper, lower) = (before.row.failure_upper?, now.row.failure_lower?);
    (lower > upper).then(|| {
        let (lower, upper) = (Brief(lower), Brief(upper));
        format!("fails with probability at least {lower}; in the baseline, it was at most {upper}")
    })
}

/// The statements by the names of audit and statement, with the resolution of their audits.
fn statements(report: &JsonReport) -> BTreeMap<(&str, &str), (f64, &JsonStatement)> {
    let mut found = BTreeMap::new();
    for audit in &report.audits {
        for statement in &audit.statements {
            let name = (statement.row.audit.as_str(), statement.row.pair.as_str());
            found.insert(name, (audit.resolution, statement));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::RunReport;
    use crate::model::{Expectation, Verdict};
    use crate::report::testing::{INCONCLUSIVE, Ran, audit, not_run, pair, run, run_of};

    fn result(verdict: Verdict) -> Ran {
        pair(verdict, Expectation::Consistent)
    }

    /// What is different about the pair "one more".
    fn changed(what: &str) -> Difference {
        let (audit, statement) = ("count".to_owned(), "one more".to_owned());
        Difference { audit, statement, what: what.to_owned() }
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
                let change = changed(&format!("was {}, is {}{why}", names[before], names[now]));
                let change_if =
                    |wanted: &str| Some(change.clone()).filter(|_| *kind == wanted).into_iter();
                let expected = Comparison {
                    worse: change_if(worse).collect(),
                    better: change_if(better).collect(),
                    notes: change_if(note).map(|change| change.to_string()).collect(),
                };
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_bound_is_worse_only_above_the_earlier_limit_and_the_resolution() {
        // The sums are exact in binary.
        let mut before = JsonReport::new(&run(vec![result(Verdict::Consistent)]));
        before.audits[0].statements[0].details["rule_epsilon_upper"] = 0.5.into();
        let mut now = before.clone();
        now.audits[0].resolution = 0.25;
        let mut worse = |bound: f64| {
            now.audits[0].statements[0].row.epsilon_lower = Some(bound);
            Comparison::new(&before, &now).worse
        };
        assert!(worse(0.0).is_empty() && worse(0.75).is_empty());
        assert_eq!(
            worse(0.8),
            [changed("ε is at least 0.8; in the baseline, the attack showed at most 0.5")]
        );
        assert_eq!(worse(0.75_f64.next_up()).len(), 1);
    }

    #[test]
    fn a_bound_below_an_unlimited_or_unknown_upper_limit_is_not_worse() {
        let mut before = JsonReport::new(&run(vec![result(Verdict::Consistent)]));
        let mut now = before.clone();
        now.audits[0].statements[0].row.epsilon_lower = Some(1e9);
        for upper in [serde_json::json!("inf"), serde_json::Value::Null] {
            before.audits[0].statements[0].details["rule_epsilon_upper"] = upper;
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
        assert_eq!(found.worse, [changed("was consistent, is violated")]);
    }

    #[test]
    fn a_new_pair_is_noted_and_one_that_is_missing_is_worse() {
        let named = |name: &str| result(Verdict::Violated).named(name);
        let found = compared(
            &run(vec![named("old"), named("both")]),
            &run(vec![named("both"), named("new")]),
        );
        let notes = "count / new: not in the baseline";
        let worse = changed("in the baseline, but not run now");
        assert_eq!(
            found,
            Comparison {
                notes: vec![notes.to_owned()],
                worse: vec![Difference { statement: "old".to_owned(), ..worse }],
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
            (|before| before.statements = 2, "interrupted"),
        ];
        for (change, reason) in changes {
            let notes = notes(&change);
            assert!(notes.len() == 1 && notes[0].contains(reason), "{notes:?}");
        }
    }

    #[test]
    fn the_text_has_a_line_for_each_difference() {
        let (worse, better, notes) = (vec![changed("a")], vec![changed("b")], vec!["c".to_owned()]);
        let text = "WORSE than the baseline: count / one more: a.\n\
                    Better than the baseline: count / one more: b.\nNote: c.\n\
                    If this is intended, run once with --update-baseline and commit the new baseline.\n";
        assert_eq!(Comparison { worse, better, notes }.text(), text);
        assert_eq!(Comparison::default().text(), "Nothing is worse than in the baseline.\n");
    }
}
