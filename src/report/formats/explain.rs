//! Explains one audit in plain words.

use std::fmt::Write as _;

use crate::audit::Audit;
use crate::model::Conclusion;
use crate::model::number::{Brief, percent};
use crate::report::formats::json::{JsonReport, JsonStatement};

/// Explains what is claimed, on which pairs it is tested, what the attacker looks at, what each
/// verdict would mean, and, with a report, what was found.
#[must_use]
pub fn explain(audit: &Audit, report: Option<&JsonReport>) -> String {
    let mut text = format!("{}\n\n", audit.name);
    let mut paragraph = |title: &str, body: &str| {
        let _ = writeln!(text, "{title}\n  {}\n", body.replace('\n', "\n  "));
    };
    for (title, body) in audit.explanation() {
        paragraph(title, &body);
    }
    if let Some(report) = report {
        paragraph("What the run found", &results(audit, report));
    }
    text
}

fn results(audit: &Audit, report: &JsonReport) -> String {
    let Some(reported) = report.audits.iter().find(|reported| reported.audit == audit.name) else {
        return "The report does not contain this audit.".to_owned();
    };
    let confidence = percent(report.settings.confidence.get());
    let lines: Vec<String> =
        reported.statements.iter().map(|statement| result(statement, &confidence)).collect();
    lines.join("\n")
}

fn result(statement: &JsonStatement, confidence: &str) -> String {
    let (row, sentence) = (&statement.row, statement.text("sentence"));
    if let (Some(meaning), Some(sentence)) = (statement.text("meaning"), sentence) {
        return format!(
            "{}: {}. {meaning}\n  {sentence}, with confidence {confidence}.",
            row.pair, row.verdict
        );
    }
    let (Some(epsilon), Some(delta), Some(sentence)) =
        (row.epsilon_lower, row.delta_lower, sentence)
    else {
        let found = sentence.map_or_else(String::new, |sentence| {
            format!("{}. The attacker {sentence}: ", row.verdict)
        });
        return format!("{}: {found}{}", row.pair, row.rule);
    };
    let why =
        row.reason.map_or_else(String::new, |reason| format!(" ({reason}: {})", reason.advice()));
    let mut text = format!("{}: {}{why}. The attacker {sentence}.\n", row.pair, row.verdict);
    let _ = write!(
        text,
        "  The rule: {}.\n  So {}ε ≥ {} at the claimed δ and δ ≥ {} at the claimed ε, with confidence {confidence}",
        row.rule,
        row.in_unit().map_or_else(String::new, |bound| format!("{bound}, ")),
        Brief(epsilon),
        Brief(delta)
    );
    if let Some(reach) = row.reach.filter(|reach| reach.0.is_finite()) {
        let _ = write!(text, "; that is {} of the claim", percent(reach.0));
    }
    match row.detectable_epsilon {
        Some(detectable) if row.verdict != Conclusion::Violated && detectable.0.is_finite() => {
            let _ = write!(
                text,
                "; a leak of this shape is flagged with probability 0.9 or more from ε = {} on",
                Brief(detectable.0)
            );
        }
        _ => {}
    }
    text.push('.');
    text
}
