//! The accuracy claims in the card of an audit: a line for each, and the interval below it.

use maud::{Markup, display, html};

use super::card::{chip, list};
use crate::audit::{Accuracy, AccuracyResult};
use crate::model::checked::Share;
use crate::model::number::{Brief, grouped, round_down};

/// One accuracy claim, open or closed.
pub fn claim(result: &AccuracyResult, open: bool) -> Markup {
    let Accuracy { name, claim, .. } = &result.accuracy;
    let (class, label) = chip(result.verdict());
    html! {
        details.pair.(class) open[open] {
            summary {
                span.chip { (label) }
                span.name { (name) }
                @if let (Ok(evidence), Some(reach)) = (&result.outcome, result.reach()) {
                    span.scale {
                        span.bar.over[reach > 2.0] style=(format_args!("--b:{0:.1}%;--u:{0:.1}%;--r:0%", (50.0 * reach).clamp(0.0, 100.0))) {}
                        span.num {
                            "fails ≥ " b { (display(Brief(round_down(evidence.limits.lower, 4)))) } ", allowed " (display(Brief(claim.allowed())))
                            ", reach " (display(Brief(round_down(reach, 3))))
                        }
                    }
                }
            }
            p { b { (result.meaning()) } " " (sentence(result)) }
            @if result.excludes_truth() {
                p { b { "The limits exclude the truth that the audit file states" } "; one of them is wrong." }
            }
            div.facts { (facts(result)) }
        }
    }
}

/// The sentence with a full stop.
fn sentence(result: &AccuracyResult) -> String {
    let text = result.sentence();
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

fn facts(result: &AccuracyResult) -> Markup {
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
    facts.extend(source.clone().map(|source| ("source", source)));
    list(&facts)
}
