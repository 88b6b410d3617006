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
    /// What is neither: what is new, what could not be compared.
    pub others: Vec<Difference>,
    /// What weakens the comparison, in sentences.
    pub notes: Vec<String>,
}

/// What is different about a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The audit.
    pub audit: String,
    /// The statement.
    pub statement: String,
    /// What kind of difference it is.
    pub change: Change,
    /// What was there before, and what is there now, in a few characters.
    pub values: [String; 2],
    /// What is different, in a sentence.
    pub what: String,
}

/// A kind of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The verdict.
    Verdict,
    /// A bound, by more than chance explains.
    Bound,
    /// What is claimed. Then nothing else is compared.
    Claim,
    /// There was no such statement.
    New,
    /// There is no such statement any more.
    Gone,
}

/// Which differences fail a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FailOnChange {
    /// Something is worse: a verdict, a bound that has risen, an audit that is gone
    Worse,
    /// Anything but the seconds
    Change,
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
                None => comparison.others.push(difference(
                    statement,
                    Change::New,
                    ["", &statement.row.verdict.to_string()],
                    "not in the baseline",
                )),
            }
        }
        // A deleted or renamed audit is a claim that nobody checks.
        let missing = earlier.into_values().map(|(_, before)| {
            let verdict = before.row.verdict.to_string();
            difference(before, Change::Gone, [&verdict, ""], "in the baseline, but not run now")
        });
        comparison.worse.extend(missing);
        comparison
    }

    /// Whether there is no difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences().next().is_none()
    }

    /// All differences.
    pub fn differences(&self) -> impl Iterator<Item = &Difference> {
        self.worse.iter().chain(&self.better).chain(&self.others)
    }

    /// Compares one statement. It is worse if its claim was not refuted before and is now, if its
    /// mechanism can no longer be run, if a consistent claim is inconclusive, or if a bound has
    /// risen by more than chance explains.
    fn compare(&mut self, before: &JsonStatement, now: &JsonStatement, resolution: f64) {
        if before.row.claim() != now.row.claim() {
            let what = "the claim has changed, so the results are not compared";
            self.others.push(difference(now, Change::Claim, ["", ""], what));
            return;
        }
        self.compare_verdicts(before, now);
        let moved = Moved::of(before, now, resolution);
        match moved {
            Some((Moved::Up, change)) => self.worse.push(change),
            Some((Moved::Down, change)) => self.others.push(change),
            None => {}
        }
    }

    /// Whether the verdict is worse or better than before.
    fn compare_verdicts(&mut self, before: &JsonStatement, now: &JsonStatement) {
        let (earlier, present) = (before.row.verdict, now.row.verdict);
        let why = now.row.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let values = [earlier.to_string(), present.to_string()];
        let what = format!("was {earlier}, is {present}{why}");
        let change = difference(now, Change::Verdict, values.each_ref().map(String::as_str), &what);
        match (earlier, present) {
            (earlier, present) if earlier == present => {}
            (_, Conclusion::Violated | Conclusion::Error) | (Conclusion::Consistent, _) => {
                self.worse.push(change);
            }
            (Conclusion::Violated | Conclusion::Error, _) => self.better.push(change),
            _ => self.others.push(change),
        }
    }

    /// What is worse, what is better, and what else there is to say, a sentence each.
    #[must_use]
    pub fn lines(&self) -> [Vec<String>; 3] {
        let [worse, better, others] = [&self.worse, &self.better, &self.others]
            .map(|differences| differences.iter().map(ToString::to_string));
        [worse.collect(), better.collect(), self.notes.iter().cloned().chain(others).collect()]
    }

    /// The comparison for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        let titles = ["WORSE than the baseline", "Better than the baseline", "Note"];
        for (title, lines) in titles.iter().zip(self.lines()) {
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

fn difference(
    statement: &JsonStatement,
    change: Change,
    values: [&str; 2],
    what: &str,
) -> Difference {
    let row = &statement.row;
    Difference {
        audit: row.audit.clone(),
        statement: row.pair.clone(),
        change,
        values: values.map(str::to_owned),
        what: what.to_owned(),
    }
}

/// In which direction a bound has moved by more than chance explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moved {
    /// The mechanism leaks or fails more, or the attack is better.
    Up,
    /// The mechanism leaks or fails less, or the attack is worse.
    Down,
}

impl Moved {
    /// The bound of a privacy claim has moved if it is more than the audit's resolution above the
    /// upper limit of what the earlier rules showed, or if the same holds with the runs exchanged.
    /// The failures of an accuracy claim have moved if the limits of both runs are apart.
    fn of(
        before: &JsonStatement,
        now: &JsonStatement,
        resolution: f64,
    ) -> Option<(Self, Difference)> {
        let leak = |statement: &JsonStatement| {
            // The resolution of a claim in another unit is not one of ε.
            let in_epsilon = statement.row.unit == Measure::EPSILON;
            let lower = statement.row.epsilon_lower.filter(|_| in_epsilon);
            Some((lower?, statement.detail("rule_epsilon_upper")))
        };
        let failures = |statement: &JsonStatement| {
            Some((statement.row.failure_lower?, statement.row.failure_upper))
        };
        let change = |values: [String; 2], what: String| {
            difference(now, Change::Bound, values.each_ref().map(String::as_str), &what)
        };
        if let Some(((low, high), (lower, upper))) = leak(before).zip(leak(now)) {
            if let Some(high) = high.filter(|high| lower > high + resolution) {
                let [high, lower] = [high, lower].map(Brief);
                let what = format!(
                    "ε is at least {lower}; in the baseline, the attack showed at most {high}"
                );
                return Some((
                    Self::Up,
                    change([format!("ε ≤ {high}"), format!("ε ≥ {lower}")], what),
                ));
            }
            if let Some(upper) = upper.filter(|upper| low > upper + resolution) {
                let [low, upper] = [low, upper].map(Brief);
                let what = format!(
                    "the attack shows at most ε = {upper}; in the baseline, ε was at least {low}"
                );
                return Some((
                    Self::Down,
                    change([format!("ε ≥ {low}"), format!("ε ≤ {upper}")], what),
                ));
            }
        }
        let ((low, high), (lower, upper)) = failures(before).zip(failures(now))?;
        if let Some(high) = high.filter(|high| lower > *high) {
            let [high, lower] = [high, lower].map(Brief);
            let what = format!(
                "fails with probability at least {lower}; in the baseline, it was at most {high}"
            );
            return Some((Self::Up, change([format!("p ≤ {high}"), format!("p ≥ {lower}")], what)));
        }
        let (low, upper) = (Brief(low), Brief(upper.filter(|upper| low > *upper)?));
        let what = format!(
            "fails with probability at most {upper}; in the baseline, it was at least {low}"
        );
        Some((Self::Down, change([format!("p ≥ {low}"), format!("p ≤ {upper}")], what)))
    }
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
    fn changed(change: Change, values: [&str; 2], what: &str) -> Difference {
        let (audit, statement) = ("count".to_owned(), "one more".to_owned());
        let (values, what) = (values.map(str::to_owned), what.to_owned());
        Difference { audit, statement, change, values, what }
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
                let values = [names[before], names[now]];
                let what = format!("was {}, is {}{why}", values[0], values[1]);
                let change = changed(Change::Verdict, values, &what);
                let change_if =
                    |wanted: &str| Some(change.clone()).filter(|_| *kind == wanted).into_iter();
                let expected = Comparison {
                    worse: change_if(worse).collect(),
                    better: change_if(better).collect(),
                    others: change_if(note).collect(),
                    notes: Vec::new(),
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
            [changed(
                Change::Bound,
                ["ε ≤ 0.5", "ε ≥ 0.8"],
                "ε is at least 0.8; in the baseline, the attack showed at most 0.5"
            )]
        );
        assert_eq!(worse(0.75_f64.next_up()).len(), 1);
    }

    #[test]
    fn a_bound_has_fallen_only_below_the_earlier_bound_and_the_resolution() {
        // The sums are exact in binary.
        let mut before = JsonReport::new(&run(vec![result(Verdict::Consistent)]));
        before.audits[0].statements[0].row.epsilon_lower = Some(0.75);
        let mut now = before.clone();
        now.audits[0].resolution = 0.25;
        let mut found = |upper: f64| {
            now.audits[0].statements[0].row.epsilon_lower = Some(0.0);
            now.audits[0].statements[0].details["rule_epsilon_upper"] = upper.into();
            Comparison::new(&before, &now)
        };
        assert_eq!(found(0.5), Comparison::default());
        let fallen = found(0.375);
        let what = "the attack shows at most ε = 0.375; in the baseline, ε was at least 0.75";
        let change = changed(Change::Bound, ["ε ≥ 0.75", "ε ≤ 0.375"], what);
        assert_eq!(fallen, Comparison { others: vec![change], ..Comparison::default() });
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
        let what = "the claim has changed, so the results are not compared";
        let others = vec![changed(Change::Claim, ["", ""], what)];
        assert_eq!(found, Comparison { others, ..Comparison::default() });
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
        let values = ["consistent", "violated"];
        assert_eq!(found.worse, [changed(Change::Verdict, values, "was consistent, is violated")]);
    }

    #[test]
    fn a_new_pair_is_noted_and_one_that_is_missing_is_worse() {
        let named = |name: &str| result(Verdict::Violated).named(name);
        let found = compared(
            &run(vec![named("old"), named("both")]),
            &run(vec![named("both"), named("new")]),
        );
        let named = |name: &str, difference: Difference| {
            vec![Difference { statement: name.to_owned(), ..difference }]
        };
        let new = changed(Change::New, ["", "violated"], "not in the baseline");
        let gone = changed(Change::Gone, ["violated", ""], "in the baseline, but not run now");
        let (worse, others) = (named("old", gone), named("new", new));
        assert_eq!(found, Comparison { worse, others, ..Comparison::default() });
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
        let [worse, better, others] =
            ["a", "b", "d"].map(|what| vec![changed(Change::Verdict, ["", ""], what)]);
        let notes = vec!["c".to_owned()];
        let text = "WORSE than the baseline: count / one more: a.\n\
                    Better than the baseline: count / one more: b.\nNote: c.\nNote: count / one more: d.\n\
                    If this is intended, run once with --update-baseline and commit the new baseline.\n";
        assert_eq!(Comparison { worse, better, others, notes }.text(), text);
        assert_eq!(Comparison::default().text(), "Nothing is worse than in the baseline.\n");
    }
}
