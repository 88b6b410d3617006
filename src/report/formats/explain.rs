//! Explains one audit in plain words.

use std::fmt::Write as _;

use crate::attack::Attack;
use crate::audit::{Accuracy, Audit, Preparer, TargetSource as _};
use crate::catalogue::registry;
use crate::model::number::{Brief, counted, percent};
use crate::model::{Conclusion, Relation, Settings};
use crate::report::formats::json::{JsonReport, JsonStatement};

/// Explains what is claimed, on which pairs it is tested, what the attacker looks at, what each
/// verdict would mean, and, with a report, what was found.
#[must_use]
pub fn explain(audit: &Audit, report: Option<&JsonReport>) -> String {
    let mut text = format!("{}\n\n", audit.name);
    let mut paragraph = |title: &str, body: &str| {
        let _ = writeln!(text, "{title}\n  {}\n", body.replace('\n', "\n  "));
    };
    if audit.claim.metric().is_some() && audit.is_about_pairs() {
        paragraph("What is claimed", &stability(audit));
        paragraph("On which data it is tested", &pairs(audit, ""));
        paragraph("What a verdict would mean", &stability_verdicts(audit));
    } else if audit.is_about_pairs() {
        paragraph("What is claimed", &claim(audit));
        paragraph(
            "On which data it is tested",
            &pairs(
                audit,
                " For each draw, a fair coin decides on which of them the mechanism runs.",
            ),
        );
        paragraph("What the attacker looks at", &attacker(audit));
        paragraph("What a verdict would mean", &verdicts(audit));
    }
    if !audit.accuracy.is_empty() {
        paragraph("What is claimed about accuracy", &accuracy(audit));
    }
    if let Some(report) = report {
        paragraph("What the run found", &results(audit, report));
    }
    text
}

fn mechanism(audit: &Audit) -> String {
    let name = audit.subject.mechanism();
    match (audit.subject.command(), registry::find(name)) {
        (Some(command), _) => format!("program `{command}`"),
        (None, Some(entry)) => format!("mechanism {name} ({})", entry.summary),
        (None, None) => format!("mechanism {name}"),
    }
}

fn claim(audit: &Audit) -> String {
    let mechanism = mechanism(audit);
    let (epsilon, delta) = (audit.claim.epsilon(), audit.claim.delta());
    let slack = if delta > 0.0 {
        format!(", except for a slack of δ = {}", Brief(delta))
    } else {
        String::new()
    };
    let neighbours = neighbours(&audit.relation);
    let allowed = if audit.claim.second().is_some() {
        format!(
            "For {neighbours}, no output may be more than e^ε = {} times as likely on one as on the other{slack}.",
            Brief(epsilon.exp())
        )
    } else if epsilon.is_finite() {
        format!("For {neighbours}, this allows ε = {} at δ = {}.", Brief(epsilon), Brief(delta))
    } else {
        format!("For {neighbours}, it says nothing about ε at δ = {}.", Brief(delta))
    };
    format!(
        "The {mechanism} is claimed to be private with {}.\n{allowed}\n\
         So an attacker who sees an output and guesses which of the two datasets it came from is right at most {} of the time.{}",
        audit.claim,
        percent(audit.claim.main().allowed_right(1.0, 2)),
        audit.source.as_ref().map_or_else(String::new, |source| format!("\nSource: {source}")),
    )
}

/// What a stability claim says.
fn stability(audit: &Audit) -> String {
    let (steps, neighbours) = (audit.claim.input_distance(), neighbours(&audit.relation));
    let apart = if steps == 1.0 {
        neighbours
    } else {
        format!("datasets at most {} steps apart (one step: {neighbours})", Brief(steps))
    };
    format!(
        "The {} has no noise and is claimed to be stable.\nFor {apart}, it allows outputs with {}.\n\
         The noise of a mechanism that is built on it is scaled to this distance.{}",
        mechanism(audit),
        audit.claim,
        audit.source.as_ref().map_or_else(String::new, |source| format!("\nSource: {source}")),
    )
}

fn stability_verdicts(audit: &Audit) -> String {
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "violated      the outputs on a pair are farther apart than the claim allows; this is certain\n\
         consistent    not refuted; on the best pair the outputs are at least {} of the claimed distance apart{because}\n\
         inconclusive  not refuted, but no pair comes so close to the claim, or a control was not caught\n\
         A claim that is not refuted is not proven: other data may still refute it.\n\
         The audit file expects: {}.",
        percent(audit.reach.at_least()),
        audit.expect
    )
}

fn neighbours(relation: &Relation) -> String {
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

fn pairs(audit: &Audit, how: &str) -> String {
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

fn attacker(audit: &Audit) -> String {
    let width = audit.pairs.first().map_or(Ok(1), |pair| {
        let target = Preparer::default()
            .target(&audit.plan(pair, Settings::default(), 1))
            .map_err(|error| error.to_string())?;
        let width = target.open().map_err(|error| error.to_string());
        target.close();
        width
    });
    let view = if width == Ok(1) {
        let bits = if audit.attacks.contains(&Attack::FloatBits) {
            ", and at how many bits it uses"
        } else {
            ""
        };
        format!("An output is a single number or symbol. The attacker looks at it{bits}.")
    } else {
        let views: Vec<&str> = audit.attacks.iter().copied().map(attack_view).collect();
        let components = width.map_or_else(
            |error| format!("an unknown number of components ({error})"),
            |width| counted(width, "component"),
        );
        format!("An output has {components}. The attacker looks at: {}.", views.join("; "))
    };
    format!(
        "{view}\nFrom an eighth of the draws it learns which values are more likely on D and which on D'. This rule is then frozen and judged on all other draws."
    )
}

fn attack_view(attack: Attack) -> &'static str {
    match attack {
        Attack::Coordinates => "each component by itself",
        Attack::WholeRow => "the whole output as one symbol",
        Attack::Aggregates => {
            "sum, maximum and minimum, where the maximum is, how many values differ"
        }
        Attack::NaiveBayes => "the sum of the components' log-likelihood ratios",
        Attack::Differences => "the sum of the log-likelihood ratios of successive differences",
        Attack::Patterns => "which symbols are at which positions, together with the numbers",
        Attack::Pairs => "two components at a time",
        Attack::Directions => "weighted sums of the numbers that undo correlations",
        Attack::Interactions => "three components at a time, and decision trees over all of them",
        Attack::Fractions => "the fractional parts of the numbers",
        Attack::FloatBits => "how many bits the numbers use",
        Attack::Learner(learner) => learner.0,
    }
}

fn verdicts(audit: &Audit) -> String {
    let (asked, detectable) = (percent(audit.reach.at_least()), audit.detectable());
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "violated      the attacker was right more often than the claim allows; this is proven at the run's confidence\n\
         consistent    not refuted; the attacker was seen to reach at least {asked} of the claim{because}; the draws are precise enough to tell {detectable} from the claim\n\
         inconclusive  not refuted, but one of these is missing, or a control was not caught; the reason is given\n\
         A claim that is not refuted is not proven: other data or a better attack may still refute it.\n\
         The audit file expects: {}.{}",
        audit.expect,
        audit
            .allow_inconclusive
            .as_ref()
            .map_or_else(String::new, |reason| format!("\nIt may be inconclusive: {reason}."))
    )
}

fn accuracy(audit: &Audit) -> String {
    let mut text = format!(
        "The {} is run on each dataset, and the draws that are not in the event are counted.",
        mechanism(audit)
    );
    for accuracy in &audit.accuracy {
        let Accuracy { name, data, event, claim, expect, truth, source, .. } = accuracy;
        let _ = write!(
            text,
            "\n{name}\n  on {data}\n  {event}, with probability at least {}; expected {expect}",
            Brief(claim.probability.get())
        );
        let _ = write!(
            text,
            "\n  violated if it fails more often than {}, consistent if it does not fail more often than {}; both at the run's confidence",
            percent(claim.allowed()),
            percent(claim.noticed())
        );
        if let Some(truth) = truth {
            let _ = write!(text, "\n  the exact probability is {truth}");
        }
        if let Some(source) = source {
            let _ = write!(text, "\n  Source: {source}");
        }
    }
    match &audit.source {
        Some(source) if !audit.is_about_pairs() => text + "\nSource: " + source,
        _ => text,
    }
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
