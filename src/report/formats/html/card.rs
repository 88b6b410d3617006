//! The card of one audit: a summary line, and the details that open below it.

use maud::{Markup, display, html};

use super::Page;
use super::bar::bar;
use crate::audit::{Audit, AuditReport, Evidence, Judged, Picture, short};
use crate::model::number::{Brief, percent, round_down};
use crate::model::{Agreement, Conclusion, Settings, Verdict};
use crate::output::fingerprint;
use crate::report::commands;
use crate::report::formats::plot::Plot;
use crate::report::formats::race::race;
use crate::report::persistence::witness::file_words;

/// The CSS class of a conclusion, and its name. The mark before it says whether it was expected, as
/// in the terminal.
pub fn chip(agreement: Agreement, conclusion: Conclusion) -> (&'static str, Markup) {
    let class = match conclusion {
        Conclusion::Violated => "violated",
        Conclusion::Consistent => "consistent",
        Conclusion::Inconclusive => "inconclusive",
        Conclusion::Error => "failed",
    };
    (class, html! { span.chip { (agreement.mark()) " " (display(conclusion)) } })
}

/// The name of a card in links. It depends only on the audit's name.
pub fn anchor(report: &AuditReport) -> String {
    let name = &report.audit.name;
    // The hash is needed because different names can have the same readable part.
    format!("{}-{}", file_words(name), &fingerprint(&[name])[..4])
}

/// A command that can be copied.
pub fn command(text: &str) -> Markup {
    html! { p.command { code { (text) } " " button.copy type="button" { "copy" } } }
}

impl Page<'_> {
    /// The audit as a card, open or closed. Its places are those in the order of severity and in
    /// the order of the files.
    pub(super) fn card(&self, report: &AuditReport, places: [usize; 2], open: bool) -> Markup {
        let audit = &report.audit;
        let conclusion = super::conclusion(report);
        let (class, label) = chip(report.agreement(), conclusion);
        let (surprise, anchor) = (report.agreement() == Agreement::Differs, anchor(report));
        let worst = report.worst();
        let best = report.most_significant();
        let is = |one: Option<Judged<'_>>, other: Judged<'_>| {
            one.is_some_and(|one| std::ptr::eq(one.result, other.result))
        };
        // The statement that leads: the most significant one about the claim, unless another one
        // speaks for the audit because it does not hold, or because there is nothing else.
        let lead = worst
            .filter(|worst| {
                !worst.kind().is_about_claim()
                    && (worst.conclusion() != Conclusion::Consistent || best.is_none())
            })
            .or_else(|| best.filter(|_| conclusion != Conclusion::Error));
        let speaks = lead.filter(|lead| !is(best, *lead));
        // The most significant one about the claim is open.
        let (first, others): (Vec<_>, Vec<_>) = report
            .statements()
            .filter(|judged| !is(speaks, *judged))
            .partition(|judged| is(best, *judged));
        let suite = self.suites.binary_search(&report.suite()).unwrap_or_default();
        html! {
            details.card.(class).surprise[surprise] id=(anchor) open[open] data-suite=(suite) data-place=(places[0]) data-file=(places[1]) {
                summary {
                    (label)
                    span.name {
                        (audit.name)
                        @if let Some(reason) = worst.and_then(Judged::reason) { " " em { (display(reason)) } }
                        @if let Some(worst) = worst.filter(|_| surprise) {
                            " "
                            em {
                                @if worst.contradicts_truth() { "above the stated truth" }
                                @else { "expected " (display(worst.expected())) }
                            }
                        }
                        " " a.link href={ "#" (anchor) } title="link to this card" { "#" }
                        small { (worst.map_or_else(String::new, Judged::sentence)) }
                    }
                    @if let Some(lead) = lead { (scale(lead)) }
                }
                div.body {
                    @if let Some(worst) = worst { (self.next(worst)) }
                    @if let Some(judged) = speaks { (self.details(judged, true)) }
                    @for judged in first { (self.body(judged, true)) }
                    @if best.is_none() { (facts(audit)) }
                    @for judged in others { (self.details(judged, false)) }
                    @if let Some(history) = &report.search {
                        p { (history.effort()) "." }
                        @if !history.heats.is_empty() { div.figures { (race(history)) } }
                    }
                    @if let Some(control) = report.control { p { "Control: " (display(control)) "." } }
                    @if let Some(again) = commands::run_alone(report, &options(self.run.settings)) {
                        p.again { "Run this audit alone; the whole confidence is then its own:" }
                        (command(&again))
                    }
                }
            }
        }
    }

    /// A statement that is not the most significant one: a summary line, and the details that open
    /// below it.
    fn details(&self, judged: Judged<'_>, open: bool) -> Markup {
        let (class, label) = chip(judged.agreement(), judged.conclusion());
        html! {
            details.pair.(class) open[open] {
                summary {
                    (label)
                    span.name { (judged.name()) }
                    (scale(judged))
                }
                (self.body(judged, false))
            }
        }
    }

    /// What the baseline says about a statement.
    fn earlier(&self, audit: &str, name: &str) -> Option<(&'static str, String)> {
        let row = self.before.get(&(audit, name))?;
        let bound = row
            .epsilon_lower
            .map_or_else(String::new, |lower| format!(", ε ≥ {}", Brief(round_down(lower, 4))));
        let fails = row
            .failure_lower
            .map_or_else(String::new, |lower| format!(", fails ≥ {}", Brief(round_down(lower, 4))));
        Some(("in the baseline", format!("{}{bound}{fails}", row.verdict)))
    }
}

/// The options that repeat a run.
fn options(settings: Settings) -> String {
    let draws = settings.draws.map_or_else(String::new, |draws| format!(" --draws {draws}"));
    let until = settings.until;
    let until =
        if until.ends_early() { format!(" --until {}", until.name()) } else { String::new() };
    let controls = if settings.controls { " --controls" } else { "" };
    format!(
        "--seed {} --confidence {}{draws}{until}{controls}",
        settings.seed,
        settings.confidence.get()
    )
}

/// The reach of a statement as a bar, and the numbers behind it. Nothing if it could not be run.
fn scale(judged: Judged<'_>) -> Markup {
    html! {
        @if let Some(scale) = judged.kind().scale() {
            span.scale {
                (bar(scale.reach, scale.estimate, scale.asked))
                span.num {
                    @for (symbol, bound, claimed) in &scale.shown {
                        (symbol) b { (bound) } (claimed)
                    }
                    "; reach " (short(scale.reach, 1.0))
                }
            }
        }
    }
}

impl Page<'_> {
    /// The details of a statement. The most significant one and every refuted one have pictures.
    fn body(&self, judged: Judged<'_>, first: bool) -> Markup {
        let kind = judged.kind();
        let Some(verdict) = judged.verdict() else {
            let noun = capitalised_noun(kind.noun());
            return html! {
                p {
                    b { (noun) " “" (judged.name()) "” could not be run:" }
                    @if let Some(error) = judged.error() { " " (display(error)) "." }
                    " Its claim was not judged."
                }
            };
        };
        let [meaning, reasons] =
            kind.meaning(verdict, &percent(self.run.settings.confidence.get()));
        let mut facts_of_statement = kind.facts();
        facts_of_statement.extend(self.earlier(&judged.report.audit.name, judged.name()));
        let note = judged.evidence().and_then(Evidence::note);
        facts_of_statement.extend(note.map(|note| ("note", note.to_owned())));
        html! {
            p { b { (meaning) } " " (reasons) }
            @if judged.contradicts_truth() {
                p { b { (judged.words().truth_excluded) } "; one of them is wrong." }
            }
            @if first || verdict == Verdict::Violated { (figures(&kind.pictures())) }
            div.facts {
                (list(&facts_of_statement))
                @if first { (facts(&judged.report.audit)) }
            }
        }
    }
}

/// The noun at the beginning of a sentence.
fn capitalised_noun(noun: &str) -> String {
    let mut letters = noun.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

fn figures(pictures: &[Picture<'_>]) -> Markup {
    html! {
        @if !pictures.is_empty() {
            div.figures {
                @for picture in pictures {
                    figure {
                        figcaption { (caption(picture)) }
                        (Plot::of(picture).embedded())
                    }
                }
            }
        }
    }
}

/// What a picture shows.
fn caption(picture: &Picture<'_>) -> Markup {
    match picture {
        Picture::Outputs(drawn) => html! {
            b { "What came out" } " on " i.kl { "D" } " and on " i.kr { "D′" }
            ". Shaded: where the rule guesses " i.ksl { "D" } " or " i.ksr { "D′" } "."
            @if !drawn.bars.is_empty() { " Bars in percent, D | D′." }
        },
        Picture::Profile(curves, ..) => html! {
            b { "How much leaks" } ": δ at each ε, "
            i.kb {
                @if curves.profile.iter().any(|point| point.delta_lower.is_some()) { "certified" }
                @else { "certified at the claim" }
            }
            " and " i.ke { "estimated" } ", against what the " i.kc { "claim" } " allows (grey)."
        },
        Picture::Wealth(..) => html! {
            b { "How the evidence grew" }
            ": the wealth of a gambler who bets against the claim. Above the " i.kc { "line" }
            " the claim is refuted."
        },
        Picture::AcrossRuns(_) => html! {
            b { "All runs" }
            ": the evidence against the claim after each of them. Above the " i.kc { "line" }
            " the claim is refuted."
        },
        Picture::Roc(..) => html! {
            b { "Which canaries were in" } ": true against false positives, both logarithmic, "
            i.kl { "measured" } ", against what the " i.kc { "claim" } " allows (grey) and what the "
            i.kb { "bound" } " refutes."
        },
        Picture::Rungs(..) => html! {
            b { "How many guesses" } ": what each number of the surest guesses shows for itself, the "
            i.kb { "bound" } " of all together, and the " i.kc { "claim" } "."
        },
        Picture::Scores(..) => html! {
            b { "Scores" } " of canaries that were " i.kl { "in" } " and " i.kr { "out" } "."
        },
    }
}

/// The facts about an audit.
fn facts(audit: &Audit) -> Markup {
    let params: Vec<String> = audit
        .subject
        .params()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    let mechanism = audit
        .subject
        .command()
        .map_or_else(|| audit.subject.mechanism().to_owned(), ToString::to_string);
    let mechanism =
        if params.is_empty() { mechanism } else { format!("{mechanism} ({})", params.join(", ")) };
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(" ({reason})"));
    let asked = format!("{}{because}", Brief(audit.reach.at_least()));
    let mut facts = vec![("mechanism", mechanism)];
    if audit.is_about_claim() {
        facts.push(("claim", format!("{} for {} neighbours", audit.claim, audit.relation)));
        facts.push(("expected", audit.expect.to_string()));
        facts.push(("reach asked for", asked));
    }
    if audit.is_from_file() {
        facts.push(("file", audit.file.display().to_string()));
    }
    facts.extend(audit.source.clone().map(|source| ("source", source)));
    list(&facts)
}

/// A list of names and values.
pub fn list(facts: &[(&str, String)]) -> Markup {
    html! {
        dl {
            @for (name, value) in facts {
                dt { (name) }
                dd { (value) }
            }
        }
    }
}
