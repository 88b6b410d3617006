//! The HTML report: a single file that needs no network and no script.

mod accuracy;
mod card;
mod plot;

use std::io;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::files::Format;
use crate::audit::{AuditReport, RunReport};
use crate::model::number::{grouped, percent};
use crate::model::{Agreement, Conclusion, Verdict};

const STYLE: &str = include_str!("style.css");

/// How many cards with unexpected results are open initially.
const MAX_OPEN_CARDS: usize = 3;

/// The format of `--html`.
pub struct Html;

impl Format for Html {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        Ok(page(report).into_string().into_bytes())
    }
}

fn page(report: &RunReport) -> Markup {
    let (violated, all) = (report.count(Conclusion::Violated), report.audits.len());
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { "dp-audit: " (violated) " of " (all) " claims refuted" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (header(report))
                @for (title, hint, audits) in groups(report).iter().filter(|(.., audits)| !audits.is_empty()) {
                    section {
                        h2 { (title) " " span { (audits.len()) } }
                        p.hint { (hint) }
                        @for (index, audit) in audits.iter().enumerate() {
                            (card::card(report, audit, index < MAX_OPEN_CARDS && audit.agreement() == Agreement::Differs))
                        }
                    }
                }
                (footer(report))
            }
        }
    }
}

/// The audits in groups, each with a title and a hint: unexpected results first, then audits that could not be run.
fn groups(report: &RunReport) -> [(&'static str, &'static str, Vec<&AuditReport>); 5] {
    let of = |agreement: &dyn Fn(Agreement) -> bool, verdict: &dyn Fn(Option<Verdict>) -> bool| {
        report
            .audits
            .iter()
            .map(AsRef::as_ref)
            .filter(|audit: &&AuditReport| agreement(audit.agreement()) && verdict(audit.verdict()))
            .collect::<Vec<_>>()
    };
    let settled = |agreement| matches!(agreement, Agreement::Agrees | Agreement::Undecided);
    [
        ("Not as expected", "The verdict differs from what the audit file expects.", of(&|a| a == Agreement::Differs, &|_| true)),
        (
            "Could not be run",
            "At least one pair of each audit could not be run, so it was not judged.",
            of(&|a| a == Agreement::NotRun, &|_| true),
        ),
        ("Refuted, as expected", "The measured bound exceeds the claim.", of(&settled, &|v| v == Some(Verdict::Violated))),
        (
            "Inconclusive",
            "Not refuted, but this says nothing; each card says why.",
            of(&settled, &|v| matches!(v, Some(Verdict::Inconclusive(_)))),
        ),
        (
            "Not refuted",
            "There were enough draws, and the attack was seen to reach as much of the claim as the audit asks for.",
            of(&settled, &|v| v == Some(Verdict::Consistent)),
        ),
    ]
}

fn header(report: &RunReport) -> Markup {
    let (violated, all) = (report.count(Conclusion::Violated), report.audits.len());
    let names = |agreement| report.with(agreement).map(|audit| audit.audit.name.as_str()).collect::<Vec<_>>().join("; ");
    let (differs, not_run) = (names(Agreement::Differs), names(Agreement::NotRun));
    html! {
        header {
            p.brand { "dp-audit" }
            h1 { b { (violated) } " of " (all) " claims refuted" }
            @if !report.is_complete() {
                p.alert { "Not all audits have ended: the run was interrupted or is still running." }
            }
            @if !differs.is_empty() {
                p.alert { b { "Not as expected:" } " " (differs) }
            }
            @if !not_run.is_empty() {
                p.alert { b { "Could not be run:" } " " (not_run) }
            }
            p.lead {
                "All bounds hold together with confidence " (percent(report.settings.confidence.get())) "."
                @if differs.is_empty() && not_run.is_empty() { " No verdict differs from what its audit file expects." }
            }
            div.tiles {
                (tile("all", "audits", all))
                (tile("violated", "violated", violated))
                (tile("consistent", "consistent", report.count(Conclusion::Consistent)))
                (tile("inconclusive", "inconclusive", report.count(Conclusion::Inconclusive)))
                @if report.count(Conclusion::Error) > 0 { (tile("failed", "not run", report.count(Conclusion::Error))) }
            }
            p.key {
                span.bar style="--b:70%;--u:76%;--r:25%" {}
                " The bar ends at the reach: the part of the claim that the certified bounds show. The tall tick is the claim, the short one the "
                "reach that the audit asks for, and the thin line the estimate. If the bar ends beyond the tall tick, the claim is refuted."
            }
        }
    }
}

/// A count that is also a button. It shows only the cards of its class.
fn tile(class: &str, label: &str, count: usize) -> Markup {
    html! {
        label.(class) {
            input #{ "show-" (class) } type="radio" name="show" checked[class == "all"];
            b { (count) }
            (label)
        }
    }
}

fn footer(report: &RunReport) -> Markup {
    html! {
        footer {
            p {
                "A claim that is not refuted is not proven: another pair of datasets or a better attack may still refute it. "
                "If a claim is refuted, the true leak may be larger than the bound."
            }
            p {
                "dp-audit " (env!("CARGO_PKG_VERSION")) ", " (grouped(report.draws())) " draws on " (report.pairs - report.accuracy_claims().min(report.pairs)) " pairs"
                @if report.accuracy_claims() > 0 { " and " (report.accuracy_claims()) " accuracy claims" }
                ", seed " (report.settings.seed) ". The same seed gives the same report."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::audit::{self, Audit};
    use crate::model::{Params, Relation, Settings, Until};
    use crate::suite;
    use crate::target::{Subject, TargetError};

    /// A run of two audits. The first has too little noise and is refuted, which was not expected. The second could not be run on one pair.
    fn report() -> RunReport {
        let audit = |name: &str, scale_factor: f64| {
            let text = format!(
                r#"
                name = "{name}"
                mechanism = "laplace"
                params = {{ query = "count", epsilon = 1.0, scale_factor = {scale_factor:?} }}
                claim = {{ epsilon = 1.0 }}
                relation = "add-remove"
                [[pair]]
                name = "first"
                left = ["x"]
                right = ["x", "x"]
                [[pair]]
                name = "second"
                left = ["x", "x"]
                right = ["x"]
                "#
            );
            suite::parse(Path::new("audit.toml"), &text).unwrap()
        };
        let settings = Settings {
            draws: Some(4_000),
            seed: 1,
            confidence: 0.95.try_into().unwrap(),
            until: Until::Budget,
            controls: false,
            ..Settings::default()
        };
        let mut report = audit::run(&[audit("short", 0.2), audit("exact", 1.0)], settings, &crate::prepare, &());
        change(&mut report, 1, |exact| exact.results[1].outcome = Err(TargetError::AlwaysPanics { message: "no".to_owned() }));
        report
    }

    fn change(report: &mut RunReport, index: usize, change: impl FnOnce(&mut AuditReport)) {
        change(Arc::make_mut(&mut report.audits[index]));
    }

    /// Gives this name to everything that has one.
    fn rename(report: &mut AuditReport, name: &str) {
        let params = Params::from_iter([(name.to_owned(), name.into())]);
        report.audit = Arc::new(Audit {
            name: name.to_owned(),
            file: name.into(),
            subject: Subject::Registered { mechanism: name.to_owned(), params },
            relation: Relation::Custom { reason: name.to_owned() },
            source: Some(name.to_owned()),
            ..(*report.audit).clone()
        });
        for (index, result) in report.results.iter_mut().enumerate() {
            result.pair = format!("{name}{index}");
            match &mut result.outcome {
                Ok(evidence) => {
                    evidence.note = Some(name.to_owned());
                    let drawn = evidence.curves.distribution.as_mut().expect("a rule was learned");
                    name.clone_into(&mut drawn.score);
                }
                Err(error) => *error = TargetError::AlwaysPanics { message: name.to_owned() },
            }
            for text in [&mut result.left, &mut result.right] {
                name.clone_into(text);
            }
        }
    }

    /// All tags with their attributes, in order.
    fn tags(page: &str) -> Vec<&str> {
        page.split('<').skip(1).map(|part| part.split_once('>').expect("every tag ends").0).collect()
    }

    #[test]
    fn no_name_can_become_markup() {
        let named = |name: &str| {
            let mut report = report();
            for index in 0..report.audits.len() {
                change(&mut report, index, |report| rename(report, name));
            }
            page(&report).into_string()
        };
        let sneaky = r#"<script>alert("1")</script> & </details></svg><b onclick='x'>"#;
        let escaped = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &lt;/details&gt;&lt;/svg&gt;&lt;b onclick='x'&gt;";
        let (page, tame) = (named(sneaky), named("tame"));
        assert_eq!(tags(&page), tags(&tame));
        // It is shown wherever a harmless name is shown. Parameters are written as JSON, which has its own quotes.
        assert_eq!(page.matches("alert(").count(), tame.matches("tame").count());
        assert!(page.matches(escaped).count() > 20);
        assert!(!page.contains(sneaky));
    }

    #[test]
    fn unexpected_results_come_first_are_named_at_the_top_and_are_open() {
        let page = page(&report()).into_string();
        assert!(page.contains("<h1><b>1</b> of 2 claims refuted</h1>"));
        assert!(page.contains(r#"<p class="alert"><b>Not as expected:</b> short</p>"#));
        assert!(page.contains(r#"<p class="alert"><b>Could not be run:</b> exact</p>"#));
        assert!(!page.contains("No verdict differs") && !page.contains("Not all audits have ended"));
        let cards: Vec<&str> = tags(&page).into_iter().filter(|tag| tag.starts_with("details class=\"card")).collect();
        assert_eq!(cards[0], r#"details class="card violated surprise" open"#);
        assert!(cards.len() == 2 && cards[1].ends_with('"') && !cards[1].contains("surprise"), "{cards:?}");
        assert!(page.contains(r#"<span class="name">short <em>expected consistent</em>"#));
        assert!(
            page.contains("<b>Pair “second” could not be run:</b> it panics on every draw of both sides: no. Its claim was not judged.")
        );
    }

    #[test]
    fn every_verdict_has_a_tile_and_one_is_selected() {
        let mut report = report();
        let tiles = |report: &RunReport| {
            let page = page(report).into_string();
            let inputs: Vec<String> = tags(&page).into_iter().filter(|tag| tag.starts_with("input")).map(str::to_owned).collect();
            assert!(inputs[0].contains(r#"id="show-all""#) && inputs[0].ends_with(" checked"), "{inputs:?}");
            assert!(inputs[1..].iter().all(|input| !input.contains("checked")), "{inputs:?}");
            inputs.len()
        };
        assert_eq!(tiles(&report), 4);
        // Audits that could not be run have their own tile.
        change(&mut report, 1, |exact| exact.results.retain(|result| result.outcome.is_err()));
        assert_eq!(tiles(&report), 5);
        assert!(page(&report).into_string().contains("Not all audits have ended"), "a pair is missing");
    }

    #[test]
    fn every_element_that_is_opened_is_closed() {
        let page = page(&report()).into_string();
        let mut open = Vec::new();
        for tag in tags(&page).into_iter().skip(1) {
            let name = tag.split(' ').next().unwrap_or_default();
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name)),
                None if ["meta", "link", "input"].contains(&name) => {}
                None => open.push(name),
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}
