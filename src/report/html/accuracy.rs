//! The accuracy claims in the card of an audit: a line for each, and the interval below it.

use maud::{Markup, display, html};

use super::Page;
use super::bar::bar;
use super::card::{chip, list};
use crate::audit::{Accuracy, AccuracyResult, AuditReport};
use crate::model::checked::Share;
use crate::model::number::{Brief, grouped};
use crate::report::statement::{capitalised, rounded, short};

impl Page<'_> {
    /// One accuracy claim, open or closed.
    pub(super) fn accuracy_claim(&self, report: &AuditReport, result: &AccuracyResult, open: bool) -> Markup {
        let Accuracy { name, claim, .. } = &result.accuracy;
        let (class, label) = chip(result.agreement(), result.conclusion());
        html! {
            details.pair.(class) open[open] {
                summary {
                    (label)
                    span.name { (name) }
                    @if let (Ok(evidence), Some(reach)) = (&result.outcome, result.reach()) {
                        span.scale {
                            (bar(reach, reach, 0.0))
                            span.num {
                                "fails ≥ " b { (rounded(evidence.limits.lower, 4, claim.allowed())) } ", allowed " (display(Brief(claim.allowed())))
                                "; reach " (short(reach, 1.0))
                            }
                        }
                    }
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

fn facts(result: &AccuracyResult, earlier: Option<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let Accuracy { data, event, claim, expect, truth, source, .. } = &result.accuracy;
    let mut facts = vec![
        ("accuracy claim", format!("{event}, with probability at least {}", Brief(claim.probability.get()))),
        ("data", data.to_string()),
        ("expected", expect.to_string()),
    ];
    if let Ok(evidence) = &result.outcome {
        facts.push(("failure probability", format!("{}; {} is allowed", evidence.limits, Brief(claim.allowed()))));
        facts.push(("failures", format!("{} of {} draws", grouped(evidence.failures), grouped(evidence.draws))));
        facts.extend(evidence.note.clone().map(|note| ("note", note)));
    }
    facts.extend(truth.map(Share::get).map(|truth| ("exact probability", truth.to_string())));
    facts.extend(earlier);
    facts.extend(source.clone().map(|source| ("source", source)));
    facts
}
