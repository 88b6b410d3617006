//! The card of one audit: a summary line, and the details that open below it.

use maud::{Markup, display, html};

use super::{accuracy, plot};
use crate::audit::{Audit, AuditReport, Evidence, PairResult, RunReport};
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Agreement, Claim, Verdict};

/// The CSS class and the label of a verdict. `None` means that the pair could not be run.
pub fn chip(verdict: Option<Verdict>) -> (&'static str, &'static str) {
    match verdict {
        Some(Verdict::Violated) => ("violated", "✗ violated"),
        Some(Verdict::Consistent) => ("consistent", "✓ consistent"),
        Some(Verdict::Inconclusive(_)) => ("inconclusive", "? inconclusive"),
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
                    @if let Some(reason) = report.verdict().and_then(Verdict::reason) { " " em { (display(reason)) } }
                    @if surprise && audit.is_about_pairs() { " " em { "expected " (display(audit.expect)) } }
                    small { (subtitle(report)) }
                }
                @if let Some((_, evidence)) = best { (bar(evidence, audit)) }
            }
            div.body {
                @for result in first { (pair_body(run, audit, result, true)) }
                @if best.is_none() { (facts(audit)) }
                @for result in others { (other_pair(run, audit, result)) }
                @for result in &report.accuracy { (accuracy::claim(result, report.results.is_empty() && report.accuracy.len() == 1)) }
                @if let Some(control) = report.control { p { "Control: " (display(control)) "." } }
            }
        }
    }
}

/// A pair that is not the most significant one: a summary line, and the details that open below it.
fn other_pair(run: &RunReport, audit: &Audit, result: &PairResult) -> Markup {
    let evidence = result.outcome.as_ref().ok();
    let (class, label) = chip(evidence.map(|evidence| evidence.verdict));
    html! {
        details.pair.(class) {
            summary {
                span.chip { (label) }
                span.name { (result.pair) }
                @if let Some(evidence) = evidence { (bar(evidence, audit)) }
            }
            (pair_body(run, audit, result, false))
        }
    }
}

/// The line under the name.
fn subtitle(report: &AuditReport) -> String {
    let claim = &report.audit.claim;
    match (report.most_significant(), report.errors().next()) {
        (Some((_, evidence)), _) if evidence.verdict == Verdict::Violated => format!("The attacker {}.", evidence.sentence(claim)),
        (_, Some((_, error))) => format!("Could not be run: {error}."),
        (Some((_, evidence)), None) => format!("The attacker {}.", evidence.sentence(claim)),
        (None, None) => {
            report.worst_accuracy().map_or_else(String::new, |result| format!("{}: {}.", result.accuracy.name, result.sentence()))
        }
    }
}

/// A bar that shows the reach, up to twice the claim, with a mark at the reach that the audit asks for.
fn bar(evidence: &Evidence, audit: &Audit) -> Markup {
    let (epsilon, claim) = (audit.claim.epsilon(), audit.claim.main());
    // In percent of the bar. The claim is in the middle.
    let position = |share: f64| (50.0 * share).clamp(0.0, 100.0);
    let (lower, reach) = (evidence.bounds.lower, evidence.bounds.reach(&audit.claim));
    let (bound, estimate, asked) = (position(reach), position(evidence.estimate.epsilon / epsilon), position(audit.reach.at_least()));
    html! {
        span.scale {
            span.bar.over[reach > 2.0] style=(format_args!("--b:{bound:.1}%;--u:{estimate:.1}%;--r:{asked:.1}%")) {}
            span.num {
                (claim.measure.symbol()) " ≥ " b { (display(Brief(round_down(lower, 4)))) } ", claimed " (display(Brief(claim.value)))
                @if audit.claim.second().is_some() && audit.claim.delta() > 0.0 { " (δ = " (display(Brief(audit.claim.delta()))) ")" }
                ", reach " (display(Brief(round_down(reach, 3))))
            }
        }
    }
}

/// Explains the verdict on a stability claim, which is exact.
fn exact_text(evidence: &Evidence, claim: &Claim) -> Markup {
    let (verdict, more) = match evidence.verdict {
        Verdict::Violated => ("The claim is refuted.", " There is no noise, so this is certain.".to_owned()),
        Verdict::Consistent => ("Not refuted.", " Another pair may still refute the claim.".to_owned()),
        Verdict::Inconclusive(reason) => ("Not refuted, but inconclusive.", format!(" Reason {reason}: {}.", reason.advice())),
    };
    html! { p { b { (verdict) } " The attacker " (evidence.sentence(claim)) "." (more) } }
}

/// Explains the verdict.
fn verdict_text(run: &RunReport, evidence: &Evidence, audit: &Audit) -> Markup {
    let claim = &audit.claim;
    let (bounds, confidence) = (&evidence.bounds, percent(run.settings.confidence.get()));
    let (epsilon, delta) = (Brief(round_down(bounds.epsilon_lower, 4)), Brief(round_down(bounds.delta_lower, 4)));
    let symbol = claim.main().measure.symbol();
    let detected = if bounds.detectable.is_finite() {
        let detectable = Brief(-round_down(-bounds.detectable, 4));
        format!("A leak of this shape is flagged with probability 0.9 from {symbol} = {detectable} on.")
    } else {
        "The attack sees no leak whose growth it could flag.".to_owned()
    };
    if claim.metric().is_some() {
        return exact_text(evidence, claim);
    }
    let in_unit = bounds.in_unit(claim).map_or_else(String::new, |bound| format!("In the unit of the claim: {bound}. "));
    let (verdict, reasons) = match evidence.verdict {
        Verdict::Violated => (
            "The claim is refuted.",
            format!(
                "{in_unit}At δ = {} the mechanism's ε is at least {epsilon}, and at ε = {} its δ is at least {delta} (confidence {confidence}, for all bounds of the run together).",
                Brief(claim.delta()),
                Brief(claim.epsilon()),
            ),
        ),
        Verdict::Consistent => (
            "Not refuted.",
            format!(
                "{in_unit}The measured bound is ε ≥ {epsilon} (confidence {confidence}). {detected} Another pair or a better attack may still refute the claim."
            ),
        ),
        Verdict::Inconclusive(reason) => (
            "Not refuted, but inconclusive.",
            format!("{in_unit}The measured bound is ε ≥ {epsilon}. {detected} Reason {reason}: {}.", reason.advice()),
        ),
    };
    html! { p { b { (verdict) } " " (reasons) } }
}

fn pair_body(run: &RunReport, audit: &Audit, result: &PairResult, pictures: bool) -> Markup {
    let evidence = match &result.outcome {
        Ok(evidence) => evidence,
        Err(error) => {
            return html! {
                p { b { "Pair “" (result.pair) "” could not be run:" } " " (display(error)) ". Its claim was not judged." }
            };
        }
    };
    html! {
        (verdict_text(run, evidence, audit))
        @if result.exceeds_truth() {
            p { b { "The bound is above the truth that the audit file states" } "; one of them is wrong." }
        }
        @if pictures && audit.claim.metric().is_none() { (figures(evidence, &audit.claim)) }
        div.facts {
            (pair_facts(audit, result, evidence))
            @if pictures { (facts(audit)) }
        }
    }
}

fn figures(evidence: &Evidence, claim: &Claim) -> Markup {
    let certified =
        if evidence.curves.profile.iter().any(|point| point.delta_lower.is_some()) { "certified" } else { "certified at the claim" };
    html! {
        div.figures {
            @if let Some(drawn) = &evidence.curves.distribution {
                figure {
                    figcaption {
                        b { "What came out" } " on " i.kl { "D" } " and on " i.kr { "D′" }
                        ". Shaded: where the rule guesses " i.ksl { "D" } " or " i.ksr { "D′" } "."
                        @if !drawn.bars.is_empty() { " Bars in percent, D | D′." }
                    }
                    (plot::distribution(drawn))
                }
            }
            figure {
                figcaption {
                    b { "How much leaks" } ": δ at each ε, " i.kb { (certified) } " and " i.ke { "estimated" }
                    ", against what the " i.kc { "claim" } " allows (grey)."
                }
                (plot::profile(evidence, claim))
            }
            @if !evidence.curves.wealth.is_empty() {
                figure {
                    figcaption {
                        b { "How the evidence grew" } ": the wealth of a gambler who bets against the claim. Above the " i.kc { "line" }
                        " the claim is refuted."
                    }
                    (plot::wealth(&evidence.curves, evidence.verdict))
                }
            }
        }
    }
}

/// The facts about a pair.
fn pair_facts(audit: &Audit, result: &PairResult, evidence: &Evidence) -> Markup {
    let tally = evidence.tally;
    let mut facts = vec![("pair", result.pair.clone())];
    // Recorded outputs have no datasets to show.
    if audit.is_from_file() {
        facts.push(("D (left)", result.left.clone()));
        facts.push(("D′ (right)", result.right.clone()));
    }
    if let Some([left, right]) = &evidence.outputs {
        facts.push(("output on D", left.clone()));
        facts.push(("output on D′", right.clone()));
    } else {
        facts.push(("guess rule", evidence.rule_text()));
        let counts = [tally.correct, tally.wrong, tally.abstained].map(grouped);
        facts.push(("guesses", format!("{} right, {} wrong, {} without a guess", counts[0], counts[1], counts[2])));
    }
    facts.push(("draws", grouped(evidence.draws)));
    facts.push(("reach", Brief(round_down(evidence.bounds.reach(&audit.claim), 4)).to_string()));
    facts.extend(result.truth.epsilon.map(|truth| ("exact ε", Brief(truth).to_string())));
    facts.extend(result.truth.delta.map(|truth| ("exact δ", Brief(truth).to_string())));
    facts.extend(evidence.note.clone().map(|note| ("note", note)));
    list(&facts)
}

/// The facts about an audit.
fn facts(audit: &Audit) -> Markup {
    let params: Vec<String> = audit.subject.params().into_iter().flatten().map(|(key, value)| format!("{key} = {value}")).collect();
    let mechanism = audit.subject.command().map_or_else(|| audit.subject.mechanism().to_owned(), ToString::to_string);
    let mechanism = if params.is_empty() { mechanism } else { format!("{mechanism} ({})", params.join(", ")) };
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(" ({reason})"));
    let asked = format!("{}{because}", Brief(audit.reach.at_least()));
    let mut facts = vec![("mechanism", mechanism)];
    if audit.is_about_pairs() {
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
