//! One audit on the page: a line that says what happened, and behind it why.

use maud::{Markup, display, html};

use super::plot;
use crate::audit::{Audit, AuditReport, Evidence, PairResult, RunReport};
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Agreement, Claim, Verdict};

/// The class and the chip of a verdict; none for what could not be run.
pub fn chip(verdict: Option<Verdict>) -> (&'static str, &'static str) {
    match verdict {
        Some(Verdict::Violated) => ("violated", "✗ violated"),
        Some(Verdict::Consistent) => ("consistent", "✓ consistent"),
        Some(Verdict::Inconclusive) => ("inconclusive", "? inconclusive"),
        None => ("failed", "! not run"),
    }
}

/// The audit as a card, open or closed.
pub fn card(run: &RunReport, report: &AuditReport, open: bool) -> Markup {
    let audit = &report.audit;
    let (class, label) = chip(report.verdict());
    let surprise = report.agreement() == Agreement::Differs;
    let best = report.most_significant();
    // The most significant pair comes first, with pictures.
    let (first, others): (Vec<_>, Vec<_>) =
        report.results.iter().partition(|result| best.is_some_and(|(best, _)| best.pair == result.pair));
    html! {
        details.card.(class).surprise[surprise] open[open] {
            summary {
                span.chip { (label) }
                span.name {
                    (audit.name)
                    @if surprise { " " em { "expected " (display(audit.expect)) } }
                    small { (why(report)) }
                }
                @if let Some((_, found)) = best { (bar(found, audit.claim)) }
            }
            div.body {
                @for result in first { (pair_body(run, audit, result, true)) }
                @if best.is_none() { (facts(audit)) }
                @for result in others { (other_pair(run, audit, result)) }
            }
        }
    }
}

/// A pair that is not the most significant one: a line, and behind it why.
fn other_pair(run: &RunReport, audit: &Audit, result: &PairResult) -> Markup {
    let found = result.outcome.as_ref().ok();
    let (class, label) = chip(found.map(|found| found.verdict));
    html! {
        details.pair.(class) {
            summary {
                span.chip { (label) }
                span.name { (result.pair) }
                @if let Some(found) = found { (bar(found, audit.claim)) }
            }
            (pair_body(run, audit, result, false))
        }
    }
}

/// One line under the name.
fn why(report: &AuditReport) -> String {
    let claim = report.audit.claim;
    match (report.most_significant(), report.errors().next()) {
        (Some((_, found)), _) if found.verdict == Verdict::Violated => format!("The attacker {}.", found.sentence(claim)),
        (_, Some((_, error))) => format!("Could not be run: {error}."),
        (Some((_, found)), None) => format!("The best attack {}.", found.sentence(claim)),
        (None, None) => String::new(),
    }
}

/// The bound against the claim, up to twice the claim.
fn bar(found: &Evidence, claim: Claim) -> Markup {
    let (epsilon, delta) = (claim.epsilon.get(), claim.delta.get());
    // In per cent of the bar; the claim stands in the middle.
    let place = |value: f64| (50.0 * value / epsilon).clamp(0.0, 100.0);
    let lower = found.bounds.epsilon_lower;
    html! {
        span.scale {
            span.bar.over[lower > 2.0 * epsilon] style=(format_args!("--b:{:.1}%;--u:{:.1}%", place(lower), place(found.estimate.epsilon))) {}
            span.num {
                "ε ≥ " b { (display(Brief(round_down(lower, 4)))) } ", claimed " (display(Brief(epsilon)))
                @if delta > 0.0 { " (δ = " (display(Brief(delta))) ")" }
            }
        }
    }
}

/// The verdict in words.
fn words(run: &RunReport, found: &Evidence, claim: Claim) -> Markup {
    let (bounds, confidence) = (&found.bounds, percent(run.settings.confidence.get()));
    let (epsilon, delta) = (Brief(round_down(bounds.epsilon_lower, 4)), Brief(round_down(bounds.delta_lower, 4)));
    let detectable = Brief(-round_down(-bounds.detectable_epsilon, 4));
    let (verdict, reasons) = match found.verdict {
        Verdict::Violated => (
            "The claim is refuted.",
            format!(
                "At δ = {} the mechanism's ε is at least {epsilon}, and at ε = {} its δ is at least {delta} (confidence {confidence}, for all bounds of the run together).",
                Brief(claim.delta.get()),
                Brief(claim.epsilon.get()),
            ),
        ),
        Verdict::Consistent => (
            "Not refuted.",
            format!(
                "The measured bound is ε ≥ {epsilon} (confidence {confidence}). A leak of ε = {detectable} that this attack can see would have been caught with probability 0.9. Another pair or a cleverer attack may still break the claim."
            ),
        ),
        Verdict::Inconclusive => {
            let caught = if bounds.detectable_epsilon.is_finite() {
                format!("only a leak of ε = {detectable} or more would have been caught")
            } else {
                "too few guesses to catch any leak".to_owned()
            };
            ("Not refuted, but too weak to tell.", format!("The measured bound is ε ≥ {epsilon}; {caught}. More draws say more."))
        }
    };
    html! { p { b { (verdict) } " " (reasons) } }
}

fn pair_body(run: &RunReport, audit: &Audit, result: &PairResult, pictures: bool) -> Markup {
    let found = match &result.outcome {
        Ok(found) => found,
        Err(error) => {
            return html! {
                p { b { "Pair “" (result.pair) "” could not be run:" } " " (display(error)) ". Its claim was not judged." }
            };
        }
    };
    html! {
        (words(run, found, audit.claim))
        @if result.exceeds_truth() {
            p { b { "The bound lies above the truth that the audit file states" } "; one of them is wrong." }
        }
        @if pictures { (figures(found, audit.claim)) }
        div.facts {
            (pair_facts(audit, result, found))
            @if pictures { (facts(audit)) }
        }
    }
}

fn figures(found: &Evidence, claim: Claim) -> Markup {
    let certified =
        if found.curves.profile.iter().any(|point| point.delta_lower.is_some()) { "certified" } else { "certified at the claim" };
    html! {
        div.figures {
            @if let Some(drawn) = &found.curves.distribution {
                figure {
                    figcaption {
                        b { "What came out" } " on " i.kl { "D" } " and on " i.kr { "D′" }
                        ". Shaded: where the rule guesses " i.ksl { "D" } " or " i.ksr { "D′" } "."
                        @if !drawn.bars.is_empty() { " Bars in per cent, D | D′." }
                    }
                    (plot::distribution(drawn))
                }
            }
            figure {
                figcaption {
                    b { "How much leaks" } ": δ at each ε, " i.kb { (certified) } " and " i.ke { "estimated" }
                    ", against what the " i.kc { "claim" } " allows (grey)."
                }
                (plot::profile(found, claim))
            }
            @if !found.curves.wealth.is_empty() {
                figure {
                    figcaption {
                        b { "How the evidence grew" } ": the wealth of a gambler who bets against the claim. Above the " i.kc { "line" }
                        " the claim is refuted."
                    }
                    (plot::wealth(&found.curves, found.verdict))
                }
            }
        }
    }
}

/// What is known of a pair.
fn pair_facts(audit: &Audit, result: &PairResult, found: &Evidence) -> Markup {
    let tally = found.tally;
    let mut facts = vec![("pair", result.pair.clone())];
    // Outputs that came without their datasets have none to show.
    if audit.is_from_file() {
        facts.push(("D (left)", result.left.clone()));
        facts.push(("D′ (right)", result.right.clone()));
    }
    facts.push(("guess rule", found.rule_text()));
    let counts = [tally.correct, tally.wrong, tally.abstained].map(grouped);
    facts.push(("guesses", format!("{} right, {} wrong, {} without a guess", counts[0], counts[1], counts[2])));
    facts.push(("draws", grouped(found.draws)));
    facts.extend(result.truth.epsilon.map(|truth| ("exact ε", Brief(truth).to_string())));
    facts.extend(result.truth.delta.map(|truth| ("exact δ", Brief(truth).to_string())));
    facts.extend(found.note.clone().map(|note| ("note", note)));
    list(&facts)
}

/// What is known of an audit.
fn facts(audit: &Audit) -> Markup {
    let params: Vec<String> = audit.subject.params().into_iter().flatten().map(|(key, value)| format!("{key} = {value}")).collect();
    let mechanism = audit.subject.command().map_or_else(|| audit.subject.mechanism().to_owned(), ToString::to_string);
    let mechanism = if params.is_empty() { mechanism } else { format!("{mechanism} ({})", params.join(", ")) };
    let mut facts = vec![
        ("mechanism", mechanism),
        ("claim", format!("{} for {} neighbours", audit.claim, audit.relation)),
        ("expected", audit.expect.to_string()),
    ];
    if audit.is_from_file() {
        facts.push(("file", audit.file.display().to_string()));
    }
    facts.extend(audit.source.clone().map(|source| ("source", source)));
    list(&facts)
}

/// Names and what they stand for.
fn list(entries: &[(&str, String)]) -> Markup {
    html! {
        dl {
            @for (name, value) in entries {
                dt { (name) }
                dd { (value) }
            }
        }
    }
}
