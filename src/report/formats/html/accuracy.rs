//! The accuracy claims in the card of an audit: a line for each, and the interval below it.

use maud::{Markup, display, html};

use super::Page;
use super::bar::bar;
use super::card::{chip, list};
use crate::audit::{Accuracy, AccuracyResult, AuditReport};
use crate::model::checked::Share;
use crate::model::number::{Brief, counted, grouped};
use crate::report::statement::{capitalised, rounded, short};

impl Page<'_> {
    /// One accuracy claim, open or closed.
    pub(super) fn accuracy_claim(
        &self,
        report: &AuditReport,
        result: &AccuracyResult,
        open: bool,
    ) -> Markup {
        let name = &result.accuracy.name;
        let (class, label) = chip(result.agreement(), result.conclusion());
        html! {
            details.pair.(class) open[open] {
                summary {
                    (label)
                    span.name { (name) }
                    (accuracy_bar(result))
                }
                p { b { (result.meaning()) } " " (capitalised(&result.sentence())) }
                @if result.excludes_truth() {
                    p { b { "The limits exclude the truth that the audit file states" } "; one of them is wrong." }
                }
                div.facts { (list(&facts(result, self.earlier(&report.audit.name, name)))) }
            }
        }
    }
}

/// The reach of an accuracy claim as a bar, and the numbers behind it. Nothing if it could not be
/// run.
pub fn accuracy_bar(result: &AccuracyResult) -> Markup {
    let allowed = result.accuracy.claim.allowed();
    html! {
        @if let (Ok(evidence), Some(reach)) = (&result.outcome, result.reach()) {
            span.scale {
                (bar(reach, reach, 0.0))
                span.num {
                    "fails ≥ " b { (rounded(evidence.limits.lower, 4, allowed)) } ", allowed " (display(Brief(allowed)))
                    "; reach " (short(reach, 1.0))
                }
            }
        }
    }
}

fn facts(
    result: &AccuracyResult,
    earlier: Option<(&'static str, String)>,
) -> Vec<(&'static str, String)> {
    let Accuracy { data, event, claim, expect, truth, source, .. } = &result.accuracy;
    let mut facts = vec![
        (
            "accuracy claim",
            format!("{event}, with probability at least {}", Brief(claim.probability.get())),
        ),
        ("data", data.to_string()),
        ("expected", expect.to_string()),
    ];
    if let Ok(evidence) = &result.outcome {
        facts.push((
            "failure probability",
            format!("{}; {} is allowed", evidence.limits, Brief(claim.allowed())),
        ));
        facts.push((
            "failures",
            format!("{} of {}", grouped(evidence.failures), counted(evidence.draws, "draw")),
        ));
        facts.extend(evidence.note.clone().map(|note| ("note", note)));
    }
    facts.extend(truth.map(Share::get).map(|truth| ("exact probability", truth.to_string())));
    facts.extend(earlier);
    facts.extend(source.clone().map(|source| ("source", source)));
    facts
}
