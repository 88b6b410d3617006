//! The HTML report: a single file that needs no network. Its small script searches, filters and
//! sorts; without it everything is shown.

mod bar;
mod card;
mod header;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::audit::{AuditReport, Judged, Row, RunReport};
use crate::model::number::counted;
use crate::model::{Agreement, Conclusion};
use crate::report::ci::origin::Origin;
use crate::report::formats::json::JsonReport;
use crate::report::gate::baseline::Comparison;
use crate::report::persistence::files::Format;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The page may use its own style and script, and nothing else: no request can leave it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// How many cards with unexpected results are open initially.
const MAX_OPEN_CARDS: usize = 3;

/// The format of `--html`.
#[derive(Clone, Debug, Default)]
pub struct Html {
    /// Date and commit.
    pub origin: Origin,
    /// Where the witnesses are; `None` if there are none.
    pub witnesses: Option<PathBuf>,
    /// An earlier report to compare with.
    pub baseline: Option<Arc<JsonReport>>,
}

impl Format for Html {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        Ok(Page::new(self, report).render().into_string().into_bytes())
    }
}

/// What the rules for a notebook are nested in. The class counts twice, so they win over the rules
/// that the notebook has for the same elements, such as `.jp-RenderedHTMLCommon dt`.
const IN_NOTEBOOK: &str = ".dp-audit.dp-audit";

/// Undoes what notebooks say about lists of facts: names float there and get a fifth of the width.
const AS_A_GRID: &str = "dt,dd{float:none;width:auto;clear:none;min-height:0;padding:0}\
    dt{overflow-wrap:normal;font-weight:inherit}table{width:auto}";

/// The card of each audit of a report, for a page that is not ours: a notebook. The style applies
/// only to the cards.
#[must_use]
pub fn cards(run: &RunReport) -> String {
    let html = Html::default();
    let page = Page::new(&html, run);
    let cards = html! {
        div.dp-audit {
            // Nested rules apply only inside.
            style { (PreEscaped(format!("{IN_NOTEBOOK}{{{STYLE}{AS_A_GRID}}}"))) }
            div.page { @for audit in &run.audits { (page.card(audit, [0, 0], true)) } }
        }
    };
    cards.into_string()
}

/// A page and what its parts need.
struct Page<'a> {
    html: &'a Html,
    run: &'a RunReport,
    /// What has changed since the baseline; absent until the run is complete.
    comparison: Option<Comparison>,
    /// The results in the baseline, by audit and pair.
    before: HashMap<(&'a str, &'a str), &'a Row>,
    /// The folders of the audit files.
    suites: Vec<String>,
}

impl<'a> Page<'a> {
    fn new(html: &'a Html, run: &'a RunReport) -> Self {
        let baseline = html.baseline.as_deref();
        let comparison = baseline
            .filter(|_| run.is_complete())
            .map(|baseline| Comparison::new(baseline, &JsonReport::new(run)));
        let audits = baseline.into_iter().flat_map(|report| &report.audits);
        let rows = audits.flat_map(|audit| &audit.statements).map(|statement| &statement.row);
        let before = rows.map(|row| ((row.audit.as_str(), row.pair.as_str()), row)).collect();
        let mut suites: Vec<String> = run.audits.iter().map(|audit| audit.suite()).collect();
        suites.sort_unstable();
        suites.dedup();
        Self { html, run, comparison, before, suites }
    }

    fn render(&self) -> Markup {
        let groups = groups(self.run);
        // The place of a card in the order of severity, and in the order of the files.
        let order: HashMap<*const AuditReport, usize> = self
            .run
            .audits
            .iter()
            .enumerate()
            .map(|(index, audit)| (Arc::as_ptr(audit), index))
            .collect();
        let mut place = 0;
        let mut next = || {
            place += 1;
            place
        };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    link rel="icon" href="data:,";
                    title { "dp-audit: " (header::headline(self.run)) }
                    style { (PreEscaped(STYLE)) }
                }
                body.page {
                    (self.header())
                    @for (title, hint, audits) in groups.iter().filter(|(.., audits)| !audits.is_empty()) {
                        section.group {
                            h2 { (title) " " span { (audits.len()) } }
                            p.hint { (hint) }
                            @for (index, audit) in audits.iter().enumerate() {
                                @let file = order.get(&std::ptr::from_ref(*audit)).copied().unwrap_or_default();
                                (self.card(audit, [next(), file], index < MAX_OPEN_CARDS && audit.agreement() == Agreement::Differs))
                            }
                        }
                    }
                    (footer(self.run))
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    }
}

/// The conclusion that a card shows: the verdict on the mechanism, or an error if there is one. So
/// an error is not hidden behind pairs that could be run.
fn conclusion(report: &AuditReport) -> Conclusion {
    let has_error = report.statements().any(|judged| judged.conclusion() == Conclusion::Error);
    if has_error { Conclusion::Error } else { report.verdict().into() }
}

/// A group of cards: its title, a hint, and its audits.
type Group<'a> = (&'static str, &'static str, Vec<&'a AuditReport>);

/// The audits in groups, unexpected results first. Within each group the largest reach comes first.
fn groups(report: &RunReport) -> [Group<'_>; 5] {
    let of = |agreement: Agreement, verdict: Option<Conclusion>| {
        let mut audits: Vec<&AuditReport> = report.with(agreement).collect();
        audits.retain(|audit| verdict.is_none_or(|verdict| conclusion(audit) == verdict));
        let reach = |audit: &AuditReport| audit.worst().and_then(Judged::reach).unwrap_or(0.0);
        audits.sort_by(|one, other| reach(other).total_cmp(&reach(one)));
        audits
    };
    [
        (
            "Not as expected",
            "The verdict differs from what the audit file expects.",
            of(Agreement::Differs, None),
        ),
        (
            "Could not be run",
            "At least one pair of each audit could not be run, so it was not judged.",
            of(Agreement::NotRun, None),
        ),
        (
            "Inconclusive",
            "At least one pair of each audit is not refuted, but this says nothing; each card says why.",
            of(Agreement::Undecided, None),
        ),
        (
            "Refuted, as expected",
            "The measured bound exceeds the claim.",
            of(Agreement::Agrees, Some(Conclusion::Violated)),
        ),
        (
            "Not refuted",
            "There were enough draws, and the attack was seen to reach as much of the claim as the audit asks for.",
            of(Agreement::Agrees, Some(Conclusion::Consistent)),
        ),
    ]
}

/// How many statements there are: `2 pairs and 1 accuracy claim`.
fn counts(report: &RunReport) -> String {
    let counts: Vec<String> =
        report.counts().into_iter().map(|(noun, count)| counted(count, noun)).collect();
    counts.join(" and ")
}

fn footer(report: &RunReport) -> Markup {
    html! {
        footer {
            p {
                "A claim that is not refuted is not proven: another pair of datasets or a better attack may still refute it. "
                "If a claim is refuted, the true leak may be larger than the bound."
            }
            p {
                (counted(report.draws(), "draw")) " on " (counts(report))
                ". The same seed gives the same results."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::audit::{self, Audit, Evidence};
    use crate::model::{Dataset, Expectation, Params, Relation, Settings, Until, Verdict};
    use crate::report::testing::{INCONCLUSIVE, Ran, audit, not_run, pair, run, run_of};
    use crate::suite;
    use crate::target::{Subject, TargetError};

    /// A run of two audits. The first has too little noise and is refuted, which was not expected.
    /// The second could not be run on one pair.
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
        let mut report =
            audit::run(&[audit("short", 0.2), audit("exact", 1.0)], settings, &crate::prepare, &());
        change(&mut report, 1, |exact| {
            exact.results[1].outcome = Err(TargetError::AlwaysPanics { message: "no".to_owned() });
        });
        report
    }

    fn change(report: &mut RunReport, index: usize, change: impl FnOnce(&mut AuditReport)) {
        let AuditReport { audit, results, control, .. } = {
            change(Arc::make_mut(&mut report.audits[index]));
            (*report.audits[index]).clone()
        };
        report.audits[index] = Arc::new(AuditReport::new(audit, results, control));
    }

    /// Gives this name to everything that has one.
    fn rename(report: &mut AuditReport, name: &str) {
        let params = Params::from_iter([(name.to_owned(), name.into())]);
        let mut audit = Audit {
            name: name.to_owned(),
            file: name.into(),
            subject: Subject::Registered { mechanism: name.to_owned(), params },
            relation: Relation::Custom { reason: name.to_owned() },
            source: Some(name.to_owned()),
            ..(*report.audit).clone()
        };
        let dataset: Dataset = serde_json::from_value(serde_json::json!([name])).unwrap();
        for (index, pair) in audit.pairs.iter_mut().enumerate() {
            pair.name = format!("{name}{index}");
            (pair.left, pair.right) = (dataset.clone(), dataset.clone());
        }
        report.audit = Arc::new(audit);
        for (index, result) in report.results.iter_mut().enumerate() {
            result.name = format!("{name}{index}");
            match &mut result.outcome {
                Ok(Evidence::Privacy(evidence)) => {
                    evidence.note = Some(name.to_owned());
                    let drawn = evidence.curves.distribution.as_mut().expect("a rule was learned");
                    name.clone_into(&mut drawn.score);
                }
                Ok(_) => unreachable!("all claims are about privacy"),
                Err(error) => *error = TargetError::AlwaysPanics { message: name.to_owned() },
            }
        }
    }

    fn page(report: &RunReport) -> Markup {
        Page::new(&Html::default(), report).render()
    }

    /// All tags with their attributes, in order. Links and their targets are made from names,
    /// without special characters.
    fn tags(page: &str) -> Vec<&str> {
        page.split('<')
            .skip(1)
            .map(|part| part.split_once('>').expect("every tag ends").0)
            .collect()
    }

    /// The tags without links and their targets.
    fn unlinked(page: &str) -> Vec<String> {
        let without = |tag: &str, name: &str| match tag.split_once(name) {
            Some((before, rest)) => {
                format!("{before}{}", rest.split_once('"').expect("a value ends").1)
            }
            None => tag.to_owned(),
        };
        tags(page).into_iter().map(|tag| without(&without(tag, " id=\""), " href=\"#")).collect()
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
        // Both have a folder, which is shown as the suite.
        let sneaky = r#"<script>alert("1")</script> & </details></svg><b onclick='x'>"#;
        let escaped = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &lt;/details&gt;&lt;/svg&gt;&lt;b onclick='x'&gt;";
        let (page, tame) = (named(sneaky), named("tame/x"));
        assert_eq!(unlinked(&page), unlinked(&tame));
        // It is shown wherever a harmless name is shown, except in links. Parameters are written as
        // JSON, which has its own quotes.
        let in_links = tags(&tame).iter().map(|tag| tag.matches("tame").count()).sum::<usize>();
        assert_eq!(page.matches("alert(").count(), tame.matches("tame").count() - in_links);
        assert!(page.matches(escaped).count() > 20);
        assert!(!page.contains(sneaky));
    }

    #[test]
    fn unexpected_results_come_first_are_explained_at_the_top_and_are_open() {
        let page = page(&report()).into_string();
        assert!(page.contains(r#"<h1 class="bad">1 not as expected, 1 could not be run</h1>"#));
        assert!(page.contains("<b>1</b> of 2 claims refuted, 0 of 2 verdicts as expected."));
        let top = page.split("<section").next().unwrap();
        for part in [
            ">short</a></b> / first: violated, expected consistent, <b>ε ≥ ",
            "The attacker guessed right",
            "Next: ",
            ">exact</a>",
        ] {
            assert!(top.contains(part), "no {part} in {top}");
        }
        assert!(!page.contains("Not all audits have ended"));
        let cards: Vec<&str> =
            tags(&page).into_iter().filter(|tag| tag.starts_with("details class=\"card")).collect();
        assert!(
            cards[0].starts_with(r#"details class="card violated surprise" id="short-"#)
                && cards[0].contains(" open "),
            "{cards:?}"
        );
        // One of its pairs could be run and passes. The card says that another could not.
        assert!(
            cards[1].starts_with(r#"details class="card failed" id="exact-"#)
                && !cards[1].contains(" open"),
            "{cards:?}"
        );
        assert_eq!(cards.len(), 2);
        assert!(page.contains(r#"<span class="name">short <em>expected consistent</em>"#));
        assert!(
            page.contains("<b>Pair “second” could not be run:</b> it panics on every draw of both sides: no. Its claim was not judged.")
        );
    }

    #[test]
    fn what_is_refuted_comes_first_in_a_card() {
        let text = r#"
            name = "count"
            mechanism = "laplace"
            params = { query = "count", epsilon = 1.0 }
            claim = { epsilon = 1.0 }
            relation = "add-remove"
            [[pair]]
            name = "one more"
            left = ["x"]
            right = ["x", "x"]
            [[accuracy]]
            name = "far too close"
            data = ["x"]
            event = { within = 0.01, of = 1 }
            probability = 0.99
        "#;
        let audit = suite::parse(Path::new("audit.toml"), text).unwrap();
        let settings = Settings { draws: Some(100_000), ..Settings::default() };
        let mut report = audit::run(&[audit], settings, &crate::prepare, &());
        let card = |report: &RunReport| {
            page(report).into_string().split_once("<details class=\"card ").unwrap().1.to_owned()
        };
        let refuted = card(&report);
        let (summary, body) = refuted.split_once("</summary>").unwrap();
        assert!(summary.contains("fails ≥ ") && !summary.contains("ε ≥ "), "{summary}");
        assert!(body.find("far too close") < body.find("one more"), "{body}");
        assert_eq!(body.matches("<details class=\"pair violated\" open").count(), 1, "{body}");
        // Where nothing is refuted, the pair speaks for the mechanism.
        change(&mut report, 0, |report| {
            Arc::make_mut(&mut report.audit).accuracy.clear();
            report.results.truncate(1);
        });
        assert!(card(&report).split_once("</summary>").unwrap().0.contains("ε ≥ "));
    }

    #[test]
    fn a_run_without_surprises_says_so_first() {
        let calm = run(vec![pair(Verdict::Violated, Expectation::Violated)]);
        assert!(page(&calm).into_string().contains(">Nothing unexpected</h1>"));
        let mut weak = pair(INCONCLUSIVE, Expectation::Consistent);
        // The precision is known, so the draws that would do are too.
        weak.outcome.as_mut().unwrap().bounds.resolved = 1.0;
        let page = page(&run(vec![weak])).into_string();
        assert!(
            page.contains(r#"<h1 class="bad">1 inconclusive</h1>"#)
                && page.contains("draws would do")
        );
    }

    #[test]
    fn every_audit_has_a_card() {
        let verdicts = [Verdict::Violated, Verdict::Consistent, INCONCLUSIVE];
        let expectations = [Expectation::Violated, Expectation::Consistent];
        let mut results: Vec<Vec<Ran>> = vec![vec![not_run()]];
        for (first, expected) in
            verdicts.iter().flat_map(|verdict| expectations.map(|expected| (*verdict, expected)))
        {
            results.extend(
                verdicts.iter().map(|second| {
                    vec![pair(first, expected), pair(*second, Expectation::Consistent)]
                }),
            );
            results.push(vec![pair(first, expected), not_run()]);
        }
        let report = run_of(
            results
                .into_iter()
                .enumerate()
                .map(|(index, results)| (audit(&index.to_string()), results))
                .collect(),
        );
        assert_eq!(
            page(&report).into_string().matches("<details class=\"card ").count(),
            report.audits.len()
        );
    }

    #[test]
    fn every_refuted_pair_has_its_pictures() {
        let violated = || pair(Verdict::Violated, Expectation::Violated);
        let (first, second) = (violated().named("a"), violated().named("b"));
        let other = pair(Verdict::Consistent, Expectation::Consistent);
        assert_eq!(
            page(&run(vec![first, second, other])).into_string().matches("<svg ").count(),
            2
        );
    }

    #[test]
    fn the_replay_command_the_origin_and_the_baseline_are_shown() {
        let before = run(vec![pair(Verdict::Consistent, Expectation::Consistent)]);
        let now = run(vec![pair(Verdict::Violated, Expectation::Consistent)]);
        let html = Html {
            origin: Origin {
                date: Some("2026-01-31 12:00 UTC".to_owned()),
                commit: Some("abc1234".to_owned()),
            },
            witnesses: Some("my witnesses".into()),
            baseline: Some(Arc::new(JsonReport::new(&before))),
        };
        let page = String::from_utf8(html.render(&now).unwrap()).unwrap();
        for part in [
            "2026-01-31 12:00 UTC",
            "commit abc1234",
            "dp-audit replay 'my witnesses/count-",
            "1 worse, 0 better, 0 notes",
            "count / one more: was consistent, is violated",
            "<dt>in the baseline</dt><dd>consistent, ε ≥ 0.5</dd>",
        ] {
            assert!(page.contains(part), "no {part} in {page}");
        }
    }

    #[test]
    fn every_verdict_has_a_tile_and_one_is_selected() {
        let mut report = report();
        let tiles = |report: &RunReport| {
            let page = page(report).into_string();
            let inputs: Vec<String> = tags(&page)
                .into_iter()
                .filter(|tag| tag.starts_with("input"))
                .map(str::to_owned)
                .collect();
            assert!(
                inputs[0].contains(r#"id="show-all""#) && inputs[0].ends_with(" checked"),
                "{inputs:?}"
            );
            assert!(inputs[1..].iter().all(|input| !input.contains("checked")), "{inputs:?}");
            inputs.len()
        };
        // The search field is an input too.
        assert_eq!(tiles(&report), 7);
        // Surprises and audits that could not be run have their own tiles, if there are any.
        change(&mut report, 1, |exact| exact.results.retain(|result| result.outcome.is_ok()));
        assert_eq!(tiles(&report), 6);
        assert!(
            page(&report).into_string().contains("Not all audits have ended"),
            "a pair is missing"
        );
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
