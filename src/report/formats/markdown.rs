//! The Markdown report: a summary, the unexpected results, and the same table as in the terminal.

use std::fmt::Write as _;
use std::io;

use crate::audit::{AuditReport, Row, RunReport};
use crate::model::number::{counted, percent};
use crate::model::{Agreement, Conclusion, Reason, Verdict};
use crate::report::persistence::files::Format;

/// The format of `--markdown`, and of the summary page of a GitHub Actions job.
pub struct Markdown;

impl Format for Markdown {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        Ok(markdown(report).into_bytes())
    }
}

fn markdown(report: &RunReport) -> String {
    let mut text = format!(
        "# dp-audit: {} of {} refuted, {} of {} as expected\n\n",
        report.count(Conclusion::Violated),
        counted(report.audits.len(), "claim"),
        report.with(Agreement::Agrees).count(),
        counted(report.audits.len(), "verdict")
    );
    if !report.is_complete() {
        text.push_str(
            "**Not all audits have ended**: the run was interrupted or is still running.\n\n",
        );
    }
    let _ = writeln!(
        text,
        "All bounds hold together with confidence {}. A claim that is not refuted is not proven.\n",
        percent(report.settings.confidence.get())
    );
    for (agreement, title) in [
        (Agreement::Differs, "Not as expected"),
        (Agreement::NotRun, "Could not be run"),
        (Agreement::Undecided, "Inconclusive"),
    ] {
        let named = |report: &AuditReport| {
            let why = report
                .verdict()
                .and_then(Verdict::reason)
                .map_or_else(String::new, |reason| format!(" ({reason})"));
            format!("{}{why}", escape(&report.audit.name))
        };
        let names: Vec<String> = report.with(agreement).map(named).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "**{title}**: {}.\n", names.join("; "));
        }
    }
    let mut reasons: Vec<Reason> = Vec::new();
    for reason in report.audits.iter().filter_map(|audit| audit.verdict()?.reason()) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    for reason in &reasons {
        let _ = writeln!(text, "- `{reason}`: {}", escape(reason.advice()));
    }
    if !reasons.is_empty() {
        text.push('\n');
    }
    let tables: Vec<String> =
        report.counts().into_iter().map(|(noun, _)| table(report, noun)).collect();
    text + &tables.join("\n")
}

/// The statements with this noun.
fn table(report: &RunReport, noun: &str) -> String {
    let mut text = String::new();
    let of_noun = report.most_severe_first().into_iter().flat_map(AuditReport::statements);
    for judged in of_noun.filter(|judged| judged.kind().noun() == noun) {
        let row = Row::new(report.settings, judged);
        let cells = judged.kind().cells(&row);
        if text.is_empty() {
            let titles: Vec<&str> = cells.iter().map(|cell| cell.title).collect();
            let lines: String =
                cells.iter().map(|cell| if cell.is_number { "--:|" } else { "---|" }).collect();
            let _ = writeln!(text, "| | verdict | audit | {noun} | {} |", titles.join(" | "));
            let _ = writeln!(text, "|---|---|---|---|{lines}");
        }
        let _ = write!(
            text,
            "| {} | {}{} | {} | {} |",
            judged.agreement().mark(),
            row.verdict,
            row.reason.map_or_else(String::new, |reason| format!(": {reason}")),
            escape(&row.audit),
            escape(&row.pair),
        );
        for cell in cells {
            let shown = if cell.is_number { cell.text } else { escape(&cell.text) };
            let _ = write!(text, " {shown} |");
        }
        text.push('\n');
    }
    text
}

/// Escapes a text so that a Markdown table shows it unchanged, except for control characters.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "|\\`*_<>[]".contains(c) {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Expectation;
    use crate::report::testing::{INCONCLUSIVE, audit, not_run, pair, run, run_of};

    #[test]
    fn characters_with_a_meaning_in_markdown_are_escaped() {
        assert_eq!(escape("a|b"), r"a\|b");
        assert_eq!(escape(r"\`*_<>[]"), r"\\\`\*\_\<\>\[\]");
        assert_eq!(escape("two\nlines\tand\u{1b}[0m"), r"two lines and \[0m");
        assert_eq!(escape("ε ≥ 0.5, (50 %)"), "ε ≥ 0.5, (50 %)");
    }

    #[test]
    fn a_name_cannot_add_columns_or_rows() {
        let name = "x | y\n| z |";
        let text = markdown(&run_of(vec![(
            audit(name),
            vec![pair(Verdict::Violated, Expectation::Violated)],
        )]));
        let row = text.lines().last().unwrap();
        assert_eq!(
            row,
            r"| ✓ | violated | x \| y \| z \| | one more | 1 | 0 | 1.25 | 0 | 1.25 |  |  |"
        );
        let header = text.lines().rev().nth(2).unwrap();
        assert_eq!(row.replace(r"\|", "").matches('|').count(), header.matches('|').count());
    }

    #[test]
    fn the_summary_names_what_is_not_as_expected() {
        let results = [
            ("agrees", pair(Verdict::Violated, Expectation::Violated)),
            ("differs", pair(Verdict::Violated, Expectation::Consistent)),
            ("undecided", pair(INCONCLUSIVE, Expectation::Consistent)),
            ("failed", not_run()),
        ];
        let text = markdown(&run_of(
            results.into_iter().map(|(name, result)| (audit(name), vec![result])).collect(),
        ));
        assert!(
            text.starts_with("# dp-audit: 2 of 4 claims refuted, 1 of 4 verdicts as expected\n\n"),
            "{text}"
        );
        for line in [
            "**Not as expected**: differs.\n",
            "**Could not be run**: failed.\n",
            "**Inconclusive**: undecided (too-few-draws).\n",
            "- `too-few-draws`: the draws are too few",
        ] {
            assert!(text.contains(line), "no «{line}» in {text}");
        }
        assert!(!text.contains("Not all audits have ended"));
        assert!(text.contains("confidence 99.9 %"), "the default confidence is 0.999");
    }

    #[test]
    fn an_unfinished_run_says_so() {
        let mut unfinished = run(vec![pair(Verdict::Consistent, Expectation::Consistent)]);
        unfinished.statements = 2;
        assert!(markdown(&unfinished).contains("**Not all audits have ended**"));
    }
}
